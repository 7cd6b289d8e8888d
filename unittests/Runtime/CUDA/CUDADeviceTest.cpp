//===- CUDADeviceTest.cpp - the CUDA device over its table of calls -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over a fake table, which needs no GPU: what fails when, what is leaked, which
// nodes belong to which call. With AICF_TEST_DEVICE=cuda over the real table,
// where results are compared with the CPU too.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/CUDADevice.h"
#include "FakeCuda.h"
#include "aicf/Executor.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Runtime/CUDA/CUDAStream.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

using namespace aicf;
using namespace aicf::test;

namespace {

bool isReal() {
  const char *name = std::getenv("AICF_TEST_DEVICE");
  return name && std::string_view(name) == "cuda";
}
const CudaApi &baseApi() { return isReal() ? realCudaApi() : fakeCudaApi(); }

/// A sample plan with the kernels of another device.
std::shared_ptr<const Plan> toCuda(Plan plan) {
  plan = withKernelsOf(std::move(plan), DeviceKind::CUDA);
  for (PlanEntry &entry : plan.entries)
    for (PlanCall &call : entry.calls) // one product by the library
      if (call.body->primitives[0].kind == OpKind::Gemm &&
          entry.name == "predict")
        call.kid = "gemm_f32_lt_v0";
  EXPECT_TRUE(verifyPlan(plan).ok()) << verifyPlan(plan).message();
  return std::make_shared<const Plan>(std::move(plan));
}

std::shared_ptr<Device> makeDevice(const CudaApi &api = baseApi(),
                                   CUDADeviceOptions options = {}) {
  auto device = CUDADevice::create(api, options);
  EXPECT_TRUE(device.ok()) << device.status().toString();
  return device.ok() ? *device : nullptr;
}

const float kX[8] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1};
const float kT[6] = {1, 0, 0, 0, 1, 0};

Status writeInputs(Executor &e) {
  float lr = 0.1f;
  AICF_RETURN_IF_ERROR(e.write("train/x", kX, sizeof(kX)));
  AICF_RETURN_IF_ERROR(e.write("predict/x", kX, sizeof(kX)));
  AICF_RETURN_IF_ERROR(e.write("t", kT, sizeof(kT)));
  return e.write("lr", &lr, sizeof(lr));
}

std::unique_ptr<Executor> makeTrainer(std::shared_ptr<Device> device,
                                      ExecutorOptions options = {}) {
  auto executor = Executor::create(toCuda(makeTrainPlan()), device, options);
  EXPECT_TRUE(executor.ok()) << executor.status().toString();
  Status written = writeInputs(**executor);
  EXPECT_TRUE(written.ok()) << written.toString();
  return std::move(*executor);
}

std::vector<uint8_t> stateOf(Executor &executor) {
  std::vector<uint8_t> all;
  for (const char *name : {"W", "b", "mW", "mb", "step", "loss"}) {
    std::vector<uint8_t> bytes(executor.find(name)->desc.spanBytes());
    Status read = executor.read(name, bytes.data(), bytes.size());
    EXPECT_TRUE(read.ok()) << read.toString();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

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

TEST(CUDADevice, EveryNodeBelongsToACall) {
  auto executor = makeTrainer(makeDevice());
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<TraceRecord> eager = executor->trace();
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->run(GraphKey{"train"}).ok());
  std::vector<TraceRecord> replay = executor->trace();
  ASSERT_EQ(eager.size(), replay.size());
  for (size_t i = 0; i < eager.size(); ++i) {
    EXPECT_EQ(eager[i].kid, replay[i].kid);
    EXPECT_EQ(eager[i].inVids, replay[i].inVids);
    EXPECT_EQ(eager[i].outVids, replay[i].outVids);
    EXPECT_GT(replay[i].micros, 0);
  }
  EXPECT_GE(executor->statistics().graphNodes, eager.size());
}

TEST(CUDADevice, BranchesForkAndJoin) {
  auto made = Executor::create(toCuda(makeTwoStreamPlan()), makeDevice());
  ASSERT_TRUE(made.ok()) << made.status().toString();
  Executor &e = **made;
  float x[8] = {1, -2, 3, -4, 5, -6, 7, -8}, y[8];
  ASSERT_TRUE(e.write("x", x, sizeof(x)).ok());
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(e.run("fork").ok());
  Status status = e.run(GraphKey{"fork", 3});
  ASSERT_TRUE(status.ok()) << status.toString();
  ASSERT_TRUE(e.run("fork").ok()) << "events of a capture must not stay";
  ASSERT_TRUE(e.read("y", y, sizeof(y)).ok());
  for (int i = 0; isReal() && i < 8; ++i)
    EXPECT_EQ(y[i], x[i] + std::max(x[i], 0.0f));
}

/// Nodes that no plan explains end the capture; the entry still runs eagerly.
TEST(CUDADevice, RefusesStrangeNodes) {
  if (isReal())
    GTEST_SKIP() << "needs the fake table";
  for (int extra :
       {-1, int(cudaGraphNodeTypeHost), int(cudaGraphNodeTypeMemAlloc),
        int(cudaGraphNodeTypeMemcpy)}) {
    auto executor = makeTrainer(makeDevice());
    ASSERT_TRUE(executor->prepare().ok());
    fakeSpoilNextKernel(extra < 0, extra);
    ASSERT_TRUE(executor->capture("train").ok()) << "the second try is clean";
    EXPECT_TRUE(executor->resetGraphs().ok());
    auto device = makeDevice();
    auto stream = device->createStream();
    float zero = 0;
    auto memory = device->allocate(4);
    TensorView scalar{*memory, TensorDesc(DType::F32, {})};
    ASSERT_TRUE((*stream)->beginCapture().ok());
    fakeSpoilNextKernel(extra < 0, extra);
    Status status =
        opCall(*device, OpKind::Relu, {scalar}, {scalar}, 0, {}, **stream);
    EXPECT_EQ(status.code(), StatusCode::DeviceError) << status.toString();
    (void)(*stream)->endCapture();
    EXPECT_TRUE(device->copyToDevice(**stream, *memory, &zero, 4).ok());
    device->deallocate(*memory);
  }
}

/// One captured call, with its next node spoilt: what it answers.
Status captureSpoilt(OpKind kind, bool otherFunction, int extraNodeType) {
  auto device = makeDevice();
  auto stream = device->createStream();
  auto memory = device->allocate(4096);
  EXPECT_TRUE(stream.ok() && memory.ok());
  char *at = static_cast<char *>(*memory);
  bool isRelu = kind == OpKind::Relu;
  TensorDesc desc(DType::F32, {8, 8});
  std::vector<TensorView> ins(isRelu ? 1 : 2, TensorView{at, desc}),
      outs = {{at + 1024, desc}};
  std::vector<uint8_t> attrs(isRelu ? 0 : sizeof(GemmAttrs));
  EXPECT_TRUE((*stream)->beginCapture().ok());
  fakeSpoilNextKernel(otherFunction, extraNodeType);
  Status status = opCall(*device, kind, ins, outs, infoOf(kind).schema, attrs,
                         **stream, isRelu ? "auto" : "gemm_f32_lt_v0");
  (void)(*stream)->endCapture();
  device->deallocate(*memory);
  return status;
}

/// What each spoilt node is called: none of the checks stands for another.
TEST(CUDADevice, SaysWhatIsStrangeAboutANode) {
  if (isReal())
    GTEST_SKIP() << "needs the fake table";
  auto says = [](const Status &status, const char *text) {
    return status.message().find(text) != std::string::npos;
  };
  EXPECT_TRUE(captureSpoilt(OpKind::Relu, false, -1).ok());
  EXPECT_TRUE(says(captureSpoilt(OpKind::Relu, false, cudaGraphNodeTypeMemset),
                   "captured 2 nodes, expected 1"));
  EXPECT_TRUE(says(captureSpoilt(OpKind::Relu, true, -1), "another kernel"));
  EXPECT_TRUE(says(captureSpoilt(OpKind::Relu, true, cudaGraphNodeTypeMemcpy),
                   "expected a kernel"));
#ifdef AICF_HAVE_CUBLASLT
  for (cudaGraphNodeType plain :
       {cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy,
        cudaGraphNodeTypeMemset})
    EXPECT_TRUE(captureSpoilt(OpKind::Gemm, false, plain).ok()) << plain;
  EXPECT_TRUE(says(captureSpoilt(OpKind::Gemm, false, cudaGraphNodeTypeHost),
                   "a kernel, memcpy or memset"));
  EXPECT_TRUE(says(captureSpoilt(OpKind::Gemm, true, -1),
                   "captured 0 nodes, expected one or more"));
#endif
}

/// A call on a branch, or with an event, that nobody reserved.
TEST(CUDADevice, RefusesWhatIsNotReserved) {
  auto device = makeDevice();
  auto stream = device->createStream();
  auto memory = device->allocate(4);
  ASSERT_TRUE(stream.ok() && memory.ok());
  TensorView scalar{*memory, TensorDesc(DType::F32, {})};
  std::vector<TensorView> views = {scalar};
  auto call = resolve(*device, {std::make_shared<Body>(
                                    makeBody(OpKind::Relu, {}, {true}, {true})),
                                views, views});
  ASSERT_TRUE(call.ok()) << call.status().toString();
  ResolvedCall branch = *call, waits = *call, signals = *call;
  branch.stream = 1;
  waits.waits = {0};
  signals.signals = {0};
  for (const ResolvedCall &bad : {branch, waits, signals}) {
    EXPECT_EQ((*stream)->enqueue(bad).code(), StatusCode::InvalidArgument);
    EXPECT_EQ((*stream)->enqueueTimed(bad).status().code(),
              StatusCode::InvalidArgument);
  }
  ASSERT_TRUE((*stream)->reserve(2, 1).ok());
  ASSERT_TRUE((*stream)->fork().ok());
  for (const ResolvedCall &good : {branch, signals, waits}) {
    EXPECT_TRUE((*stream)->enqueue(good).ok());
    EXPECT_TRUE((*stream)->enqueueTimed(good).ok());
  }
  device->deallocate(*memory);
}

/// A kernel of the library that reads pairs would read behind the last row of a
/// view with an odd number of columns.
TEST(CUDADevice, AsksForKernelsThatReadNothingBehindARow) {
  if (isReal())
    GTEST_SKIP() << "needs the fake table";
  auto device = makeDevice();
  auto memory = device->allocate(1024);
  ASSERT_TRUE(memory.ok());
  auto *start = static_cast<uint8_t *>(*memory);
  auto alignmentFor = [&](int64_t columns, int64_t pitch) {
    std::vector<TensorView> ins = {
        {*memory, TensorDesc::strided(
                      DType::BF16, std::vector<int64_t>{4, columns},
                      std::vector<int64_t>{pitch, 1})},
        {start + 256, TensorDesc(DType::BF16, {columns, 8})}};
    std::vector<TensorView> outs = {
        {start + 512, TensorDesc(DType::BF16, {4, 8})}};
    GemmAttrs attrs{0, 0};
    CallRequest request{std::make_shared<Body>(makeBody(
                            OpKind::Gemm, encodeAttrs(attrs), {true, true},
                            {true})),
                        ins, outs};
    request.kid = "gemm_bf16_lt_v0";
    auto call = resolve(*device, request);
    EXPECT_TRUE(call.ok()) << call.status().toString();
    // Our a is the second operand of a library that stores columns.
    return fakeMinAlignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  };
  EXPECT_EQ(alignmentFor(8, 8), 256u) << "dense: no row ends before the next";
  EXPECT_EQ(alignmentFor(8, 16), 16u);
  EXPECT_EQ(alignmentFor(6, 16), 4u);
  EXPECT_EQ(alignmentFor(7, 16), 2u);
  device->deallocate(*memory);
}

/// More than two staging slots hold, there and back.
TEST(CUDADevice, LargeCopiesGoInParts) {
  auto device = makeDevice();
  auto stream = device->createStream();
  std::vector<uint8_t> sent(11 << 20), received(sent.size());
  for (size_t i = 0; i < sent.size(); ++i)
    sent[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  auto memory = device->allocate(sent.size());
  ASSERT_TRUE(stream.ok() && memory.ok());
  ASSERT_TRUE(
      device->copyToDevice(**stream, *memory, sent.data(), sent.size()).ok());
  ASSERT_TRUE(
      device->copyToHost(**stream, received.data(), *memory, sent.size()).ok());
  EXPECT_TRUE(sent == received);
  device->deallocate(*memory);
}

TEST(CUDADevice, CaptureRulesAreErrorsNotHangs) {
  auto device = makeDevice();
  auto a = device->createStream(), b = device->createStream();
  auto memory = device->allocate(4);
  ASSERT_TRUE(a.ok() && b.ok() && memory.ok());
  ASSERT_TRUE((*a)->beginCapture().ok());
  EXPECT_EQ((*a)->beginCapture().code(), StatusCode::FailedState);
  EXPECT_EQ((*b)->beginCapture().code(), StatusCode::FailedState)
      << "one capture a thread";
  std::thread([&] {
    EXPECT_FALSE(isCapturingThread()) << "another thread may time and wait";
    Status again = (*a)->beginCapture();
    EXPECT_EQ(again.code(), StatusCode::FailedState) << again.toString();
  }).join();
  EXPECT_TRUE(isCapturingThread());
  EXPECT_EQ((*a)->synchronize().code(), StatusCode::FailedState);
  float value = 1;
  EXPECT_EQ(device->copyToHost(**a, &value, *memory, 4).code(),
            StatusCode::FailedState);
  EXPECT_EQ(device->fill(**a, *memory, 0, 4).code(), StatusCode::FailedState);
  EXPECT_EQ(device->copyOnDevice(**a, *memory, *memory, 4).code(),
            StatusCode::FailedState);
  EXPECT_EQ(device->copy2D(**a, *memory, 1, *memory, 1, 1, 2).code(),
            StatusCode::FailedState);
  EXPECT_EQ(device->copyToDevice(**a, *memory, &value, 4).code(),
            StatusCode::FailedState);
  TensorView scalar{*memory, TensorDesc(DType::F32, {})};
  ASSERT_TRUE(
      opCall(*device, OpKind::Relu, {scalar}, {scalar}, 0, {}, **a).ok());
  std::thread([&] {
    EXPECT_EQ((*a)->endCapture().status().code(), StatusCode::FailedState)
        << "another thread's capture";
  }).join();
  auto graph = (*a)->endCapture();
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  EXPECT_EQ((*graph)->numNodes(), 1u);
  EXPECT_FALSE(isCapturingThread());
  EXPECT_EQ((*a)->endCapture().status().code(), StatusCode::FailedState);
  ASSERT_TRUE((*a)->beginCapture().ok());
  EXPECT_EQ((*a)->launch(**graph).code(), StatusCode::FailedState);
  EXPECT_TRUE((*a)->endCapture().ok());
  EXPECT_TRUE((*b)->launch(**graph).ok());
  ASSERT_TRUE((*b)->synchronize().ok());
  (*graph).reset();
  device->deallocate(*memory);
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

/// Two executors in two threads, while a third thread allocates, waits and
/// destroys on the same device.
/// A longer plan costs three allocations (its param, its io, its temps) and
/// what one small tensor's first value needs: nothing else is copied, no graph
/// is captured or destroyed. Each of these calls fails once; then the executor
/// goes on as it was.
TEST(CUDADevice, ALongerPlanTakesOverWithoutCopies) {
  CudaApi api = faultyCudaApi(baseApi());
  auto longer = toCuda(makeLongerTrainPlan());
  uint64_t calls = 1, quiet = 0;
  for (uint64_t n = 0; n <= calls; ++n) {
    failCall(UINT64_MAX);
    auto executor = makeTrainer(makeDevice(api));
    Executor &e = *executor;
    ASSERT_TRUE(e.run(GraphKey{"train"}).ok());
    std::vector<uint8_t> before = stateOf(e);
    size_t alive = isReal() ? 0 : fakeObjectsAlive();
    failCall(n == 0 ? UINT64_MAX : n - 1);
    Status status = e.extend(longer);
    std::string name = failedCall();
    calls = n == 0 ? callsMade() : calls;
    failCall(UINT64_MAX);
    // Where nobody counts the free bytes, they are taken to be enough.
    quiet += status.ok() && !name.empty();
    EXPECT_TRUE(status.ok() || !name.empty()) << status.toString();
    if (!isReal()) {
      EXPECT_EQ(fakeObjectsAlive(), alive + (status.ok() ? 3 : 0)) << name;
    }
    EXPECT_EQ(stateOf(e), before) << name;
    EXPECT_TRUE(e.replay("train").ok()) << name;
    EXPECT_EQ(e.statistics().captures, 1u) << name;
    EXPECT_EQ(e.find("wide/y").ok(), status.ok()) << name;
  }
  EXPECT_LE(quiet, 2u);
  EXPECT_GT(calls, 5u);
  EXPECT_LT(calls, 35u) << "a copy for each tensor?";
}

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

TEST(CUDADevice, TuningIsKeptAndBadFilesAreRefused) {
  std::string file = testing::TempDir() + "aicf-tuning.json";
  std::remove(file.c_str());
  ASSERT_TRUE(wholeLife(baseApi(), file).ok());
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("\"choices\""), std::string::npos);
  EXPECT_NE(text.find("micros"), std::string::npos);
  ASSERT_TRUE(wholeLife(baseApi(), file).ok()) << "read back";
  for (const char *bad :
       {"", "[]", "{\"device\": 3}",
        "{\"device\": \"fake, CUDA driver 13000, cuBLASLt 1\", "
        "\"choices\": {\"a\": 1}}"}) {
    std::ofstream(file) << bad;
    CUDADeviceOptions options;
    options.tuningFile = file;
    auto device = CUDADevice::create(fakeCudaApi(), options);
    EXPECT_EQ(device.status().code(), StatusCode::InvalidFile) << bad;
  }
  std::remove(file.c_str());
}

TEST(CUDADevice, OrdinalsThatAreNotThere) {
  for (int ordinal : {-1, 99}) {
    CUDADeviceOptions options;
    options.ordinal = ordinal;
    EXPECT_EQ(CUDADevice::create(baseApi(), options).status().code(),
              StatusCode::InvalidArgument);
  }
}

/// The library beside the program; on a machine without a GPU it says so.
TEST(CUDALoader, LoadsOrSaysWhyNot) {
  auto device = createCUDADevice();
  if (isReal()) {
    EXPECT_TRUE(device.ok()) << device.status().toString();
    return;
  }
  // Not "no such library": it was built with this test, and loads anywhere.
  if (!device.ok()) {
    EXPECT_EQ(device.status().code(), StatusCode::DeviceError)
        << device.status().toString();
  }
}

} // namespace
