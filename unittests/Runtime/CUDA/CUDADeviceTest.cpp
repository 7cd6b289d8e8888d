//===- CUDADeviceTest.cpp - the CUDA device over its table of calls -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over a fake table, which needs no GPU: what fails when, and what is leaked.
// With AICF_TEST_DEVICE=cuda over the real table, where results are compared
// with the CPU too.
//===----------------------------------------------------------------------===//

#include "CUDATestDevice.h"
#include "lib/Runtime/CUDA/CUDAStream.h"

#include <cstring>
#include <fstream>
#include <thread>

using namespace aicf;
using namespace aicf::test;

namespace {

TEST(CUDADevice, EagerReplayAndSeveralStepsALaunchGiveTheSameBits) {
  auto device = makeDevice();
  auto eager = makeTrainer(device);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(eager->run("train").ok());
  std::vector<uint8_t> expected = stateOf(*eager);
  for (bool separate : {false, true}) {
    ExecutorOptions options;
    options.separateAllocations = separate;
    auto graph = makeTrainer(device, options);
    ASSERT_TRUE(graph->capture("train").ok());
    ASSERT_TRUE(graph->replay("train", 20).ok());
    EXPECT_EQ(stateOf(*graph), expected);
    auto keyed = makeTrainer(device, options);
    for (int i = 0; i < 4; ++i)
      ASSERT_TRUE(keyed->run(GraphKey{"train", 5}).ok());
    EXPECT_EQ(stateOf(*keyed), expected);
  }
  for (bool poison : {false, true}) {
    ExecutorOptions options;
    options.poison = poison;
    options.canary = !poison;
    auto debug = makeTrainer(device, options);
    for (int i = 0; i < 20; ++i) {
      Status status = debug->run("train");
      ASSERT_TRUE(status.ok()) << status.toString();
    }
    if (isReal()) {
      EXPECT_EQ(stateOf(*debug), expected);
    }
  }
}

TEST(CUDADevice, AgreesWithTheCPU) {
  if (!isReal())
    GTEST_SKIP() << "the fake table runs no kernels";
  auto cuda = makeTrainer(makeDevice());
  auto cpu = Executor::create(std::make_shared<const Plan>(makeTrainPlan()),
                              createCPUDevice({1}), {});
  ASSERT_TRUE(writeInputs(**cpu).ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(cuda->run("train").ok());
    ASSERT_TRUE((*cpu)->run("train").ok());
  }
  float a[12], b[12];
  ASSERT_TRUE(cuda->read("W", a, sizeof(a)).ok());
  ASSERT_TRUE((*cpu)->read("W", b, sizeof(b)).ok());
  for (int i = 0; i < 12; ++i)
    EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST(CUDADevice, RebindingDropsGraphs) {
  auto device = makeDevice();
  auto executor = makeTrainer(device);
  ASSERT_TRUE(executor->run(GraphKey{"train"}).ok());
  auto memory = device->allocate(sizeof(kX));
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(executor->bind("train/x", *memory, sizeof(kX)).ok());
  EXPECT_EQ(executor->replay("train").code(), StatusCode::FailedState);
  ASSERT_TRUE(executor->run(GraphKey{"train"}).ok());
  EXPECT_EQ(executor->statistics().captures, 2u);
  executor.reset();
  device->deallocate(*memory);
}

Plan withTempBytes(Plan plan, uint64_t bytesOfEachEntry) {
  for (PlanEntry &entry : plan.entries)
    entry.tempBytes = bytesOfEachEntry;
  return plan;
}

/// Extends a trained executor by an entry, while each call of CUDA fails once.
/// A longer plan costs three allocations (its param, its io, its temps) and
/// what one small tensor's first value needs: nothing else is copied. Where its
/// temps are larger, the old ones and the graph that holds their address go.
/// Returns for how many calls a failure was no error.
uint64_t extendWithFailures(const Plan &first, const Plan &longer,
                            bool doTempsGrow) {
  CudaApi api = faultyCudaApi(baseApi());
  uint64_t calls = 1, quiet = 0;
  for (uint64_t n = 0; n <= calls; ++n) {
    failCall(UINT64_MAX);
    auto executor = makeTrainer(makeDevice(api), {}, first);
    Executor &e = *executor;
    EXPECT_TRUE(e.run(GraphKey{"train"}).ok());
    std::vector<uint8_t> before = stateOf(e);
    size_t alive = isReal() ? 0 : fakeObjectsAlive();
    failCall(n == 0 ? UINT64_MAX : n - 1);
    Status status = e.extend(toCuda(longer));
    std::string name = failedCall();
    calls = n == 0 ? callsMade() : calls;
    failCall(UINT64_MAX);
    quiet += status.ok() && !name.empty();
    EXPECT_TRUE(status.ok() || !name.empty()) << status.toString();
    const bool doTempsMove = status.ok() && doTempsGrow;
    if (!isReal()) {
      // Come: param, io and, where they grow, temps. Go: temps, a graph in its
      // two forms.
      EXPECT_EQ(fakeObjectsAlive(),
                alive + (status.ok() ? 2 : 0) - (doTempsMove ? 2 : 0))
          << name;
    }
    EXPECT_EQ(stateOf(e), before) << name;
    EXPECT_TRUE(e.replay("train").ok()) << name;
    EXPECT_EQ(e.statistics().captures, doTempsMove ? 2u : 1u) << name;
    EXPECT_EQ(e.find("wide/y").ok(), status.ok()) << name;
  }
  EXPECT_GT(calls, 5u);
  EXPECT_LT(calls, 35u) << "a copy for each tensor?";
  return quiet;
}

TEST(CUDADevice, ALongerPlanTakesOverWithoutCopies) {
  const Plan longer = makeLongerTrainPlan();
  // Where nobody counts the free bytes, they are taken to be enough. Of old
  // temps and graphs nothing is left, also where CUDA has an error for it.
  EXPECT_EQ(extendWithFailures(makeTrainPlan(), longer, true), 5u);
  const uint64_t tempBytes = longer.entries[0].tempBytes;
  EXPECT_EQ(extendWithFailures(withTempBytes(makeTrainPlan(), tempBytes),
                               withTempBytes(longer, tempBytes), false),
            2u);
}

/// Two executors in two threads, while a third thread allocates, waits and
/// destroys on the same device.
TEST(CUDADevice, ThreadsDoNotDisturbEachOther) {
  auto device = makeDevice();
  auto reference = makeTrainer(device);
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(reference->run("train").ok());
  std::vector<uint8_t> expected = stateOf(*reference);
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    while (!stop) {
      auto stream = device->createStream();
      auto memory = device->allocate(4096);
      if (stream.ok()) {
        EXPECT_TRUE((*stream)->synchronize().ok());
      }
      if (memory.ok())
        device->deallocate(*memory);
    }
  });
  std::vector<std::vector<uint8_t>> results(2);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      auto executor = makeTrainer(device);
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(executor->resetGraphs().ok());
        Status status = executor->run(GraphKey{"train", 10});
        // A clean fallback.
        for (int step = 0; step < 10 && !status.ok(); ++step) {
          EXPECT_TRUE(executor->run("train").ok());
        }
      }
      results[t] = stateOf(*executor);
    });
  for (std::thread &thread : threads)
    thread.join();
  stop = true;
  neighbour.join();
  EXPECT_EQ(results[0], expected);
  EXPECT_EQ(results[1], expected);
}

/// Everything from device to destruction; stops at the first error.
Status wholeLife(const CudaApi &api, const std::string &tuningFile) {
  CUDADeviceOptions options;
  options.tuning = Tuning::Fast;
  options.tuningFile = tuningFile;
  AICF_ASSIGN_OR_RETURN(auto device, CUDADevice::create(api, options));
  AICF_ASSIGN_OR_RETURN(auto executor,
                        Executor::create(toCuda(makeTrainPlan()), device, {}));
  AICF_RETURN_IF_ERROR(writeInputs(*executor));
  AICF_RETURN_IF_ERROR(executor->run("train"));
  AICF_RETURN_IF_ERROR(executor->capture("train"));
  AICF_RETURN_IF_ERROR(executor->replay("train", 2));
  AICF_RETURN_IF_ERROR(executor->run(GraphKey{"predict", 2}));
  float loss = 0;
  AICF_RETURN_IF_ERROR(executor->read("loss", &loss, sizeof(loss)));
  AICF_ASSIGN_OR_RETURN(
      auto branches, Executor::create(toCuda(makeTwoStreamPlan()), device, {}));
  AICF_RETURN_IF_ERROR(branches->write("x", kX, sizeof(kX)));
  AICF_RETURN_IF_ERROR(branches->run("fork"));
  AICF_RETURN_IF_ERROR(branches->orderBehind(executor->nativeStream()));
  AICF_RETURN_IF_ERROR(branches->run(GraphKey{"fork"}));
  AICF_RETURN_IF_ERROR(branches->orderBefore(executor->nativeStream()));
  AICF_RETURN_IF_ERROR(branches->enableTrace(true));
  AICF_RETURN_IF_ERROR(branches->run("fork"));
  return branches->sync();
}

/// Every call of a whole life fails once: an error, nothing leaked, no misuse,
/// and the next life is untouched.
TEST(CUDADevice, EveryFailingCallIsAnErrorWithoutALeak) {
  CudaApi api = faultyCudaApi(baseApi());
  std::string file = testing::TempDir() + "aicf-tuning-faults.json";
  std::remove(file.c_str());
  failCall(UINT64_MAX);
  Status clean = wholeLife(api, file);
  ASSERT_TRUE(clean.ok()) << clean.toString();
  uint64_t calls = callsMade();
  ASSERT_GT(calls, 200u);
  size_t alive = isReal() ? 0 : fakeObjectsAlive();
  uint64_t misuses = isReal() ? 0 : fakeMisuses();
  size_t failures = 0;
  for (uint64_t n = 0; n < calls; ++n) {
    std::remove(file.c_str());
    failCall(n);
    Status status = wholeLife(api, file);
    std::string name = failedCall();
    failures += !status.ok();
    if (!status.ok()) {
      EXPECT_FALSE(status.message().empty()) << name;
    } else {
      // What frees has nobody to tell; a capture is tried again, and so is
      // tuning with the next algorithm, which shows in the number of calls.
      bool frees =
          name.find("Destroy") != std::string::npos ||
          name.find("Free") != std::string::npos ||
          name.find("Synchronize") != std::string::npos ||
          name.find("Elapsed") != std::string::npos || // last candidate
          name == "cudaMemGetInfo";                    // then nobody counts
      EXPECT_TRUE(frees || callsMade() != calls)
          << "call " << n << ", " << name << ", failed without an error";
    }
    if (!isReal()) {
      ASSERT_EQ(fakeObjectsAlive(), alive) << "leak after call " << n << ", "
                                           << name << ": " << status.toString();
      ASSERT_EQ(fakeMisuses(), misuses) << "call " << n << ", " << name;
    }
  }
  failCall(UINT64_MAX);
  EXPECT_GT(failures, calls / 3);
  EXPECT_TRUE(wholeLife(api, file).ok()) << "the process goes on";
  std::remove(file.c_str());
}

/// A record on one stream and a wait on the other, and none for itself.
TEST(CUDADevice, OrdersItsStreamWithAnother) {
  CudaApi api = faultyCudaApi(baseApi());
  failCall(UINT64_MAX);
  auto device = CUDADevice::create(api, {});
  ASSERT_TRUE(device.ok()) << device.status().toString();
  auto stream = (*device)->createStream();
  auto other = (*device)->createStream();
  ASSERT_TRUE(stream.ok() && other.ok());
  for (auto order : {&Stream::orderBehind, &Stream::orderBefore}) {
    uint64_t before = callsMade();
    EXPECT_TRUE(((**stream).*order)((*stream)->nativeHandle()).ok());
    EXPECT_EQ(callsMade(), before);
    EXPECT_TRUE(((**stream).*order)((*other)->nativeHandle()).ok());
    uint64_t calls = callsMade() - before;
    EXPECT_GE(calls, 2u);
    for (uint64_t n = 0; n < calls; ++n) {
      failCall(n);
      EXPECT_FALSE(((**stream).*order)((*other)->nativeHandle()).ok());
    }
    failCall(UINT64_MAX);
    ASSERT_TRUE((*stream)->beginCapture().ok());
    Status status = ((**stream).*order)((*other)->nativeHandle());
    EXPECT_EQ(status.code(), StatusCode::FailedState);
    EXPECT_TRUE((*stream)->endCapture().ok());
  }
}

TEST(CUDADevice, TuningIsKeptAndABadFileIsRefused) {
  std::string file = testing::TempDir() + "aicf-tuning.json";
  std::remove(file.c_str());
  ASSERT_TRUE(wholeLife(baseApi(), file).ok());
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("\"choices\""), std::string::npos);
  EXPECT_NE(text.find("micros"), std::string::npos);
  ASSERT_TRUE(wholeLife(baseApi(), file).ok()) << "read back";
  std::ofstream(file) << "[]";
  CUDADeviceOptions options;
  options.tuningFile = file;
  auto device = CUDADevice::create(fakeCudaApi(), options);
  EXPECT_EQ(device.status().code(), StatusCode::InvalidFile);
  std::remove(file.c_str());
}

/// Memory of no bytes is memory, and filling it is nothing to CUDA, which
/// knows no address of it.
TEST(CUDADevice, NothingIsAllocatedAndFilled) {
  auto device = makeDevice();
  auto stream = device->createStream();
  auto memory = device->allocate(0);
  ASSERT_TRUE(stream.ok() && memory.ok()) << memory.status().toString();
  EXPECT_NE(*memory, nullptr);
  EXPECT_TRUE(device->fill(**stream, nullptr, 1, 0).ok());
  device->deallocate(*memory);
}

TEST(CUDADevice, FreeBytesThatCannotBeAskedForAreNotCounted) {
  CudaApi api = baseApi();
  api.cudaMemGetInfo = [](size_t *available, size_t *) {
    *available = 1;
    return cudaErrorUnknown;
  };
  EXPECT_GT(makeDevice()->freeBytes(), 0u);
  EXPECT_EQ(makeDevice(api)->freeBytes(), 0u);
}

TEST(CUDADevice, CardsThatAreTooOldAreRefused) {
  static int major = 7;
  CudaApi api = baseApi();
  api.cudaGetDeviceProperties = [](cudaDeviceProp *properties, int) {
    *properties = {};
    std::strcpy(properties->name, "old");
    properties->major = major;
    properties->minor = 5;
    return cudaSuccess;
  };
  Status status = CUDADevice::create(api, {}).status();
  EXPECT_EQ(status.code(), StatusCode::DeviceError);
  EXPECT_EQ(status.message(),
            "old has compute capability 7.5, 8.0 or more is needed");
  major = 8;
  EXPECT_TRUE(CUDADevice::create(api, {}).ok());
}

TEST(CUDADevice, OrdinalsThatAreNotThere) {
  for (int ordinal : {-1, 99}) {
    CUDADeviceOptions options;
    options.ordinal = ordinal;
    EXPECT_EQ(CUDADevice::create(baseApi(), options).status().code(),
              StatusCode::InvalidArgument);
  }
}

TEST(CUDADevice, RefusesAKernelThatNoneOfItsLibrariesKnows) {
  auto device = makeDevice();
  auto memory = device->allocate(4);
  ASSERT_TRUE(memory.ok());
  ResolvedCall call = makeRelu(*device, *memory);
  KernelRow unknown = *call.row;
  unknown.kid = "relu_f32_v99";
  call.row = &unknown;
  Status status = device->prepareCall(call).status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
#ifdef AICF_HAVE_CUBLASLT
  EXPECT_EQ(status.message(), "relu_f32_v99: none of the kernel libraries of "
                              "this device runs it");
#endif
  device->deallocate(*memory);
}

} // namespace
