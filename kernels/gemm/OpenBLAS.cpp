//===- OpenBLAS.cpp - OpenBLAS as the runtime wants it --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gemm/OpenBLAS.h"

#ifdef AICF_HAVE_OPENBLAS

#include "kernels/cpu/Parallel.h"
#include "lib/Base/Machine.h"

#include <atomic>
#include <cblas.h>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <vector>

// Of builds that choose kernels when they are loaded; no header declares them.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
[[gnu::weak]] void *blas_memory_alloc(int);
[[gnu::weak]] void blas_memory_free(void *);
// With the linker's --wrap=getenv, which what has a copy of the library of its
// own is linked with (kernels/CMakeLists.txt): the C library's.
[[gnu::weak]] char *__real_getenv(const char *);
}

namespace aicf::cpu {

/// The name that OpenBLAS reads instead of OPENBLAS_CORETYPE, or null.
static std::atomic<const char *> coreType{nullptr};

std::string openBLASCore() { return openblas_get_corename(); }

/// "Prescott" is what the library falls back to.
static bool suitsMachine() {
  return openBLASCore() != "Prescott" ||
         instructionSetOfMachine() == InstructionSet::Baseline;
}
bool openBLASSuitsMachine() {
  static const bool suits = suitsMachine();
  return suits;
}

/// True if the library is a part of the file that this function is in, and that
/// is not a program: its own code might compute with it right now.
static bool isOurCopy() {
  Dl_info own, library;
  link_map *file = nullptr;
  return dladdr1(reinterpret_cast<void *>(&initializeOpenBLAS), &own,
                 reinterpret_cast<void **>(&file), RTLD_DL_LINKMAP) &&
         dladdr(reinterpret_cast<void *>(&openblas_get_corename), &library) &&
         own.dli_fbase == library.dli_fbase && file && file->l_name[0] != '\0';
}

/// OpenBLAS chooses as when it was loaded, but by a name that it knows. (In the
/// environment, a name would be a race with whoever reads that at this moment.)
static void chooseAgain() {
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || !__real_getenv ||
      getenv("OPENBLAS_CORETYPE"))
    return;
  coreType = instructionSetOfMachine() == InstructionSet::AVX512 ? "SkylakeX"
                                                                 : "Haswell";
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  coreType = nullptr;
}

void initializeOpenBLAS() {
  if (!isOurCopy())
    return;
  openblas_set_num_threads(1);
  if (!suitsMachine())
    chooseAgain();
}

/// How many of OneThreadOfOpenBLAS there are, and what the process had set
/// before.
static std::mutex usesMutex;
static int numUses = 0, threadsBefore = 1;

static bool isShared() {
  static const bool shared = !isOurCopy();
  return shared;
}

OneThreadOfOpenBLAS::OneThreadOfOpenBLAS() {
  if (!isShared())
    return;
  std::lock_guard<std::mutex> lock(usesMutex);
  if (numUses++ > 0)
    return;
  threadsBefore = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

OneThreadOfOpenBLAS::~OneThreadOfOpenBLAS() {
  if (!isShared())
    return;
  std::lock_guard<std::mutex> lock(usesMutex);
  if (--numUses == 0)
    openblas_set_num_threads(threadsBefore);
}

Status reserveOpenBLAS(int numThreads) {
  // The library keeps what it once mapped, for whichever thread comes: 128 MiB
  // of addresses for each that computes at the same time, of which it uses
  // little.
  constexpr uint64_t kBufferBytes = uint64_t(128) << 20, kMargin = 4 << 20;
  static std::mutex mutex;
  static std::vector<void *> reserved; // freed, and so in the library's table
  if (!blas_memory_alloc || !blas_memory_free)
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  const size_t had = reserved.size();
  if (had >= size_t(numThreads))
    return {};
  std::vector<void *> buffers;
  Status status;
  while (buffers.size() < size_t(numThreads) && status.ok()) {
    if (buffers.size() >= had && !hasAddressSpace(kBufferBytes + kMargin))
      status =
          makeError(StatusCode::DeviceError, "OpenBLAS needs ", kBufferBytes,
                    " bytes of addresses for each of ", numThreads,
                    " threads, of which there are too few (ulimit -v)");
    else
      buffers.push_back(blas_memory_alloc(0));
  }
  for (void *buffer : buffers)
    blas_memory_free(buffer);
  if (status.ok())
    reserved = std::move(buffers);
  return status;
}

} // namespace aicf::cpu

extern "C" char *__wrap_getenv(const char *name) {
  const char *forced = aicf::cpu::coreType;
  if (forced && std::strcmp(name, "OPENBLAS_CORETYPE") == 0)
    return const_cast<char *>(forced);
  return __real_getenv(name);
}

#else

namespace aicf::cpu {

void initializeOpenBLAS() {}
OneThreadOfOpenBLAS::OneThreadOfOpenBLAS() {}
OneThreadOfOpenBLAS::~OneThreadOfOpenBLAS() {}
Status reserveOpenBLAS(int) { return {}; }
bool openBLASSuitsMachine() { return true; }
std::string openBLASCore() { return {}; }

} // namespace aicf::cpu

#endif // AICF_HAVE_OPENBLAS
