//===- CPUDeviceTest.cpp - what the CPU does on its own -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What every device does: unittests/cts.
//===----------------------------------------------------------------------===//

#include "aicf/Device.h"
#include "lib/Base/Machine.h"
#include "lib/Ops/KernelTable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

using namespace aicf;

// Of the library that this program shares with the device, if there is one.
extern "C" {
[[gnu::weak]] void openblas_set_num_threads(int);
[[gnu::weak]] int openblas_get_num_threads();
}

/// What stands in for /proc/meminfo, if anything, and how often it was read.
static const char *fakeMeminfo = nullptr;
static int meminfoReads = 0;

/// The C++ library opens files with this.
extern "C" FILE *fopen64(const char *path, const char *mode) {
  static const auto real = reinterpret_cast<decltype(&fopen64)>(
      ::dlsym(RTLD_NEXT, "fopen64"));
  if (fakeMeminfo && std::strcmp(path, "/proc/meminfo") == 0) {
    path = fakeMeminfo;
    ++meminfoReads;
  }
  return real(path, mode);
}

namespace {

/// While it lives, the system says this about its memory.
class Meminfo {
public:
  explicit Meminfo(const char *text)
      : path(testing::TempDir() + "aicf-meminfo") {
    std::ofstream(path) << text;
    fakeMeminfo = path.c_str();
    meminfoReads = 0;
  }
  ~Meminfo() {
    fakeMeminfo = nullptr;
    std::filesystem::remove(path);
  }

private:
  std::string path;
};

constexpr uint64_t kMiB = 1 << 20;

Status tryToAllocate(Device &device, uint64_t bytes) {
  StatusOr<void *> memory = device.allocate(bytes);
  if (memory.ok())
    device.deallocate(*memory);
  return memory.status();
}

/// Large ones go to the threads in pieces.
TEST(CPUDevice, CopiesAndFillsEveryByte) {
  CPUDeviceOptions options;
  options.numThreads = 2;
  auto device = createCPUDevice(options);
  auto stream = std::move(*device->createStream());
  for (size_t bytes : {size_t(1), size_t(262144), size_t(262145),
                       size_t(3 * 262144 + 17)}) {
    std::vector<uint8_t> from(bytes), back(bytes + 1);
    for (size_t i = 0; i < bytes; ++i)
      from[i] = uint8_t(i * 7 + i / 251);
    back[bytes] = 99;
    auto *a = static_cast<uint8_t *>(*device->allocate(bytes));
    ASSERT_TRUE(device->fill(*stream, a, 5, bytes).ok());
    device->deallocate(a); // what was used before may come again
    a = static_cast<uint8_t *>(*device->allocate(bytes));
    auto *b = static_cast<uint8_t *>(*device->allocate(bytes));
    EXPECT_EQ(std::count(a, a + bytes, 0), int64_t(bytes));
    ASSERT_TRUE(device->copyToDevice(*stream, a, from.data(), bytes).ok());
    ASSERT_TRUE(device->copyOnDevice(*stream, b, a, bytes).ok());
    ASSERT_TRUE(device->copyToHost(*stream, back.data(), b, bytes).ok());
    EXPECT_TRUE(std::equal(from.begin(), from.end(), back.begin())) << bytes;
    EXPECT_EQ(back[bytes], 99);
    ASSERT_TRUE(device->copyToDevice(*stream, b + 1, b, bytes - 1).ok());
    EXPECT_TRUE(std::equal(b + 1, b + bytes, from.begin())) << "overlap";
    ASSERT_TRUE(device->fill(*stream, a, 5, bytes).ok());
    EXPECT_EQ(std::count(a, a + bytes, 5), int64_t(bytes));
    device->deallocate(a);
    device->deallocate(b);
  }
}

TEST(CPUDevice, FreeMemoryIsWhatTheSystemSaysIsAvailable) {
  auto device = createCPUDevice({1});
  {
    Meminfo meminfo("MemTotal:    90000 kB\nMemAvailable:    71680 kB\n");
    EXPECT_EQ(device->freeBytes(), 70 * kMiB);
    EXPECT_TRUE(tryToAllocate(*device, 66 * kMiB).ok());
    Status status = tryToAllocate(*device, 71 * kMiB);
    EXPECT_EQ(status.code(), StatusCode::DeviceError);
    EXPECT_NE(status.message().find("of which 73400320 are free"),
              std::string::npos)
        << status.message();
  }
  Meminfo older("MemTotal:    90000 kB\n");
  EXPECT_GT(device->freeBytes(), 0u); // less than there is, in a container
  EXPECT_LE(device->freeBytes(), uint64_t(::sysconf(_SC_PHYS_PAGES)) *
                                     uint64_t(::sysconf(_SC_PAGESIZE)));
}

TEST(CPUDevice, SmallAllocationsDoNotAskForFreeMemory) {
  auto device = createCPUDevice({1});
  Meminfo meminfo("MemAvailable:    1 kB\n");
  EXPECT_TRUE(tryToAllocate(*device, kMiB).ok());
  EXPECT_EQ(meminfoReads, 0);
}

TEST(CPUDevice, HasTheThreadsThatWereAskedFor) {
  EXPECT_EQ(createCPUDevice({3})->numThreads(), 3);
  EXPECT_EQ(createCPUDevice({0})->numThreads(),
            std::min(numUsableProcessors(), 256));
  EXPECT_EQ(createCPUDevice({1000})->numThreads(), 256);
}

/// Calls relu, or copy, on a stream that is capturing.
void recordCall(Device &device, Stream &stream, OpKind kind, const float *from,
                float *to, const TensorDesc &written) {
  TensorDesc desc = written.dense();
  TensorView x{const_cast<float *>(from), desc}, y{to, written};
  Status status = opCall(device, kind, {x}, {y}, 0, {}, stream);
  ASSERT_TRUE(status.ok()) << status.toString();
}

void recordRelu(Device &device, Stream &stream, const float *from, float *to,
                int64_t elements) {
  recordCall(device, stream, OpKind::Relu, from, to,
             TensorDesc(DType::F32, {elements}));
}

/// c = a·b of n x n, with what the calling thread has set.
std::vector<float> product(Device &device, const std::vector<float> &a,
                           const std::vector<float> &b, int64_t n) {
  auto stream = std::move(*device.createStream());
  const TensorDesc desc(DType::F32, {n, n});
  std::vector<float> c(a.size());
  auto view = [&](const std::vector<float> &v) {
    return TensorView{const_cast<float *>(v.data()), desc};
  };
  const GemmAttrs attrs{};
  std::vector<uint8_t> blob = encodeAttrs(attrs);
  Status status = opCall(device, OpKind::Gemm, {view(a), view(b)}, {view(c)}, 0,
                         blob, *stream);
  EXPECT_TRUE(status.ok()) << status.toString();
  return c;
}

#ifdef __SSE2__
/// Denormals are computed with, on whichever thread, and the caller's mode is
/// there again afterwards.
TEST(CPUDevice, BitsDoNotDependOnTheCallersMode) {
  constexpr int64_t n = 256; // two tiles or more, where there are processors
  std::vector<float> a(n * n, 3e-20f), b(n * n, 2e-20f);
  std::vector<float> want = product(*createCPUDevice({1}), a, b, n);
  EXPECT_NE(want[0], 0.0f); // 1.5e-37 of many denormal products
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040 | 0x2000); // flush to zero, as zero, round down
  for (int threads : {1, 2, 3})
    EXPECT_EQ(product(*createCPUDevice({threads}), a, b, n), want) << threads;
  EXPECT_EQ(_mm_getcsr() & 0xffc0, (before | 0x8040 | 0x2000) & 0xffc0);
  _mm_setcsr(before);
}
#endif

/// A program's own products run on as many threads as before.
TEST(CPUDevice, OpenBLASOfTheProcessKeepsItsThreads) {
  if (!openblas_set_num_threads)
    GTEST_SKIP() << "a build without OpenBLAS";
  openblas_set_num_threads(2);
  const int before = openblas_get_num_threads();
  auto device = createCPUDevice({2});
  EXPECT_EQ(openblas_get_num_threads(), before);
  const std::vector<float> ones(64 * 64, 1);
  EXPECT_EQ(product(*device, ones, ones, 64)[0], 64);
  EXPECT_EQ(openblas_get_num_threads(), before);
}

TEST(CPUDevice, KernelsOfAnotherBuildAreRefused) {
  auto device = createCPUDevice({1});
  float x[4] = {}, y[4];
  auto stream = device->createStream();
  ASSERT_TRUE((*stream)->beginCapture().ok());
  recordRelu(*device, **stream, x, y, 4);
  auto graph = (*stream)->endCapture();
  ASSERT_TRUE(graph.ok());
  ResolvedCall call = (*graph)->call(0);
  ASSERT_TRUE(device->prepareCall(call).ok());
  KernelRow other = *call.row;
  other.kid = "relu_of_tomorrow";
  call.row = &other;
  Status status = device->prepareCall(call).status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_EQ(status.message(),
            "relu: kernel relu_of_tomorrow is not in this build");
}

/// 64 floats at two addresses: who wrote last, shows.
struct Mirror {
  float *first, *second;
  Mirror() {
    int file = ::memfd_create("mirror", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(file, kBytes), 0);
    first = map(file);
    second = map(file);
    ::close(file);
  }
  ~Mirror() {
    ::munmap(first, kBytes);
    ::munmap(second, kBytes);
  }
  static float *map(int file) {
    return static_cast<float *>(::mmap(
        nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  }
  static constexpr size_t kBytes = 4096;
};

/// One thread follows the order of the calls, in which tensors are still in its
/// cache; more go level by level.
TEST(CPUGraph, ManyThreadsRunLevelByLevel) {
  for (int numThreads : {1, 2}) {
    Mirror mirror;
    std::vector<float> one(64, 1), two(64, 2), between(64);
    auto device = createCPUDevice({numThreads});
    auto stream = device->createStream();
    ASSERT_TRUE((*stream)->beginCapture().ok());
    recordRelu(*device, **stream, one.data(), between.data(), 64);
    recordRelu(*device, **stream, between.data(), mirror.first, 64); // level 1
    recordRelu(*device, **stream, two.data(), mirror.second, 64);
    auto graph = (*stream)->endCapture();
    ASSERT_TRUE(graph.ok()) << graph.status().toString();
    ASSERT_TRUE((*stream)->launch(**graph).ok());
    EXPECT_EQ(*mirror.first, numThreads == 1 ? 2 : 1) << "who came last";
  }
}

/// The threads of a new process after two independent calls on so many elements
/// each: the kernels themselves need no helper for them. If there are `rows`,
/// they write columns of one matrix.
int threadsAfterTwoCalls(int64_t elements, int64_t rows = 0) {
  pid_t child = ::fork();
  if (child == 0) {
    std::vector<float> x(size_t(2 * elements)), y(x.size());
    auto device = createCPUDevice({2});
    auto stream = device->createStream();
    bool isOk = (*stream)->beginCapture().ok();
    for (int64_t i : {0, 1})
      if (const int64_t width = rows > 0 ? elements / rows : 0; rows > 0)
        recordCall(
            *device, **stream, OpKind::Copy, x.data() + i * elements,
            y.data() + i * width,
            TensorDesc::strided(DType::F32, {rows, width}, {2 * width, 1}));
      else
        recordRelu(*device, **stream, x.data() + i * elements,
                   y.data() + i * elements, elements);
    auto graph = (*stream)->endCapture();
    isOk = isOk && graph.ok() && (*stream)->launch(**graph).ok();
    std::filesystem::directory_iterator threads("/proc/self/task");
    ::_exit(isOk ? int(std::distance(threads, {})) : 100);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CPUGraph, LargeCallsOfALevelRunSideBySide) {
  EXPECT_EQ(threadsAfterTwoCalls(16384), 2) << "128 KiB of each call";
  EXPECT_EQ(threadsAfterTwoCalls(16128), 1) << "not worth a helper";
}

TEST(CPUGraph, ColumnsOfAMatrixAreWrittenSideBySide) {
  EXPECT_EQ(threadsAfterTwoCalls(16384, 1024), 2);
  EXPECT_EQ(threadsAfterTwoCalls(16384, 2048), 1) << "too many rows to compare";
}

} // namespace
