//===- OpenBLAS.cpp - OpenBLAS as the runtime wants it --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gemm/OpenBLAS.h"

#ifdef AICF_HAVE_OPENBLAS

#include "kernels/cpu/Parallel.h"

#include <cblas.h>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

// Of builds that choose kernels when they are loaded; no header declares them.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace aicf::cpu {

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

/// OpenBLAS chooses as when it was loaded, but by a name that it knows.
static void chooseAgain() {
  constexpr const char *kVariable = "OPENBLAS_CORETYPE";
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || getenv(kVariable))
    return;
  setenv(kVariable,
         instructionSetOfMachine() == InstructionSet::AVX512 ? "SkylakeX"
                                                             : "Haswell",
         /*overwrite=*/0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(kVariable);
}

void initializeOpenBLAS() {
  openblas_set_num_threads(1);
  if (!suitsMachine() && isOurCopy())
    chooseAgain();
}

} // namespace aicf::cpu

#else

namespace aicf::cpu {

void initializeOpenBLAS() {}
bool openBLASSuitsMachine() { return true; }
std::string openBLASCore() { return {}; }

} // namespace aicf::cpu

#endif // AICF_HAVE_OPENBLAS
