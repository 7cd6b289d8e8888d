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
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// relu of the number at `memory`, in place.
ResolvedCall makeRelu(Device &device, void *memory) {
  std::vector<TensorView> views = {{memory, TensorDesc(DType::F32, {})}};
  auto call = resolve(device, {std::make_shared<Body>(
                                   makeBody(OpKind::Relu, {}, {true}, {true})),
                               views, views});
  EXPECT_TRUE(call.ok()) << call.status().toString();
  return std::move(*call);
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
                                      ExecutorOptions options = {},
                                      const Plan &plan = makeTrainPlan()) {
  auto executor = Executor::create(toCuda(plan), device, options);
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
Status captureSpoilt(OpKind kind, bool otherFunction, int extraNodeType,
                     const CudaApi &api = baseApi()) {
  auto device = makeDevice(api);
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
  Status other = captureSpoilt(OpKind::Relu, true, cudaGraphNodeTypeMemcpy);
  EXPECT_TRUE(says(other, "expected a kernel"));
  EXPECT_FALSE(says(other, "memcpy or memset"));
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

/// CUDA names the kernel of a node by its symbol or by what was loaded for it;
/// the second is asked for only where it is not the first.
TEST(CUDADevice, KnowsAKernelByItsSymbolOrByItsFunction) {
  if (isReal())
    GTEST_SKIP() << "needs the fake table";
  static int asked = 0;
  static char loaded;
  CudaApi api = baseApi();
  api.cudaGetFuncBySymbol = [](cudaFunction_t *function, const void *) {
    ++asked;
    *function = reinterpret_cast<cudaFunction_t>(&loaded);
    return cudaSuccess;
  };
  EXPECT_TRUE(captureSpoilt(OpKind::Relu, false, -1, api).ok());
  EXPECT_EQ(asked, 0);
  api.cudaGraphKernelNodeGetParams = [](cudaGraphNode_t,
                                        cudaKernelNodeParams *params) {
    params->func = &loaded;
    return cudaSuccess;
  };
  Status status = captureSpoilt(OpKind::Relu, false, -1, api);
  EXPECT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(asked, 1);
}

/// A call on a branch, or with an event, that nobody reserved.
TEST(CUDADevice, RefusesWhatIsNotReserved) {
  auto device = makeDevice();
  auto stream = device->createStream();
  auto memory = device->allocate(4);
  ASSERT_TRUE(stream.ok() && memory.ok());
  ResolvedCall branch = makeRelu(*device, *memory), waits = branch,
               signals = branch;
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

TEST(CUDADevice, ABranchWaitsOnceForItsFork) {
  CudaApi api = faultyCudaApi(baseApi());
  failCall(UINT64_MAX);
  auto device = makeDevice(api);
  auto stream = device->createStream();
  auto memory = device->allocate(4);
  ASSERT_TRUE(stream.ok() && memory.ok());
  ResolvedCall main = makeRelu(*device, *memory), side = main;
  side.stream = 1;
  auto callsOf = [](auto work) {
    uint64_t before = callsMade();
    Status done = work();
    EXPECT_TRUE(done.ok()) << done.toString();
    return callsMade() - before;
  };
  auto fork = [&] { return (*stream)->fork(); };
  auto onMain = [&] { return (*stream)->enqueue(main); };
  auto onSide = [&] { return (*stream)->enqueue(side); };
  EXPECT_EQ(callsOf(fork), 0u) << "there is no other branch";
  ASSERT_TRUE((*stream)->reserve(2, 0).ok());
  EXPECT_GT(callsOf(fork), 0u);
  uint64_t calls = callsOf(onMain);
  EXPECT_EQ(callsOf(onSide), calls + 1);
  EXPECT_EQ(callsOf(onSide), calls);
  device->deallocate(*memory);
}

#ifdef AICF_HAVE_CUBLASLT
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
#endif

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

/// Every call of a begin fails once. What is under way is done before.
TEST(CUDADevice, ACaptureThatCannotBeginLeavesNothingBehind) {
  CudaApi api = faultyCudaApi(baseApi());
  failCall(UINT64_MAX);
  auto device = makeDevice(api);
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok() && (*stream)->reserve(3, 0).ok());
  failCall(UINT64_MAX);
  ASSERT_TRUE((*stream)->beginCapture().ok());
  uint64_t calls = callsMade();
  EXPECT_EQ(calls, 6u) << "the card, three waits, begin and what it began";
  ASSERT_TRUE((*stream)->endCapture().ok());
  for (uint64_t n = 0; n < calls; ++n) {
    failCall(n);
    EXPECT_EQ((*stream)->beginCapture().code(), StatusCode::DeviceError);
    EXPECT_FALSE((*stream)->isCapturing()) << failedCall();
    EXPECT_FALSE(isCapturingThread()) << failedCall();
  }
  failCall(UINT64_MAX);
  ASSERT_TRUE((*stream)->beginCapture().ok());
  EXPECT_TRUE((*stream)->endCapture().ok());
}

TEST(CUDADevice, AStreamThatGoesEndsItsCapture) {
  auto device = makeDevice();
  size_t alive = isReal() ? 0 : fakeObjectsAlive();
  {
    auto stream = device->createStream();
    ASSERT_TRUE(stream.ok() && (*stream)->beginCapture().ok());
  }
  EXPECT_FALSE(isCapturingThread());
  if (!isReal()) {
    EXPECT_EQ(fakeObjectsAlive(), alive);
  }
  auto next = device->createStream();
  ASSERT_TRUE(next.ok() && (*next)->beginCapture().ok());
  EXPECT_TRUE((*next)->endCapture().ok());
}

TEST(CUDADevice, ACaptureWaitsForThatOfAnotherThread) {
  auto device = makeDevice();
  auto first = device->createStream(), second = device->createStream();
  ASSERT_TRUE(first.ok() && second.ok() && (*first)->beginCapture().ok());
  auto other = std::async(std::launch::async, [&] {
    Status begun = (*second)->beginCapture();
    EXPECT_TRUE(begun.ok()) << begun.toString();
    EXPECT_TRUE((*second)->endCapture().ok());
  });
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds(100)),
            std::future_status::timeout);
  EXPECT_TRUE((*first)->endCapture().ok());
  other.get();
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

#ifdef AICF_HAVE_CUBLASLT
/// Products of samples with 8 rows and 16 columns, over the fake library.
class CublasLt : public testing::Test {
protected:
  using Attributes = std::map<int, uint64_t>;
  using Numbers = std::vector<int64_t>;

  void SetUp() override {
    if (isReal())
      GTEST_SKIP() << "needs the fake table";
    fakeLibrary() = {};
    use(makeDevice());
  }
  void TearDown() override {
    if (device)
      device->deallocate(memory);
    fakeLibrary() = {};
  }
  /// Another device, which has chosen nothing yet.
  void use(std::shared_ptr<Device> other) {
    if (device)
      device->deallocate(memory);
    device = std::move(other);
    auto made = device->allocate(1 << 16);
    ASSERT_TRUE(made.ok());
    memory = static_cast<char *>(*made);
    stream = std::move(*device->createStream());
  }
  void tune(Tuning tuning, const std::string &file = {}) {
    CUDADeviceOptions options;
    options.tuning = tuning;
    options.tuningFile = file;
    use(makeDevice(baseApi(), options));
  }

  /// Reads the sample `name`. Its tensors lie 4096 bytes apart, operands first.
  void take(std::string_view name, DType dtype = DType::BF16) {
    const std::vector<KindRow> &rows = allCallRows();
    auto row = std::find_if(rows.begin(), rows.end(), [&](const KindRow &row) {
      return row.name == name;
    });
    ASSERT_NE(row, rows.end()) << name;
    sample = toCall(makeSample(*row, 8, 16, dtype));
    ins.clear();
    outs.clear();
    char *at = memory;
    for (const TensorDesc &desc : sample.ins)
      ins.push_back({std::exchange(at, at + 4096), desc});
    for (const TensorDesc &desc : sample.outs)
      outs.push_back({std::exchange(at, at + 4096), desc});
  }
  StatusOr<ResolvedCall> prepare(std::string_view kid = "gemm_bf16_lt_v0") {
    return resolve(*device, {sample.body, ins, outs, kid, workspace});
  }
  /// Runs the call, and returns what the library was told.
  FakeLibrary run(std::string_view kid = "gemm_bf16_lt_v0") {
    auto call = prepare(kid);
    EXPECT_TRUE(call.ok()) << call.status().toString();
    if (call.ok()) {
      Status status = stream->enqueue(*call);
      EXPECT_TRUE(status.ok()) << status.toString();
    }
    return fakeLibrary();
  }
  uint64_t addressOf(const TensorView &view) {
    return reinterpret_cast<uintptr_t>(view.start());
  }

  CudaApi api = baseApi(); ///< for devices of a test
  std::shared_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  char *memory = nullptr;
  Sample sample;
  std::vector<TensorView> ins, outs;
  TensorView workspace = {};
};

/// The library stores columns: its first matrix is our second one, and its rows
/// are our columns.
TEST_F(CublasLt, IsToldTheMatricesAsTheyAreStored) {
  take("gemm NN");
  FakeLibrary told = run();
  EXPECT_EQ(told.matrices[0].numbers, (Numbers{CUDA_R_16BF, 16, 13, 16}));
  EXPECT_EQ(told.matrices[1].numbers, (Numbers{CUDA_R_16BF, 13, 8, 13}));
  EXPECT_EQ(told.matrices[2].numbers, (Numbers{CUDA_R_16BF, 16, 8, 16}));
  for (const FakeLibrary::Object &matrix : told.matrices)
    EXPECT_EQ(matrix.attributes, Attributes()) << "one product";
  EXPECT_EQ(told.product.numbers, (Numbers{CUBLAS_COMPUTE_32F, CUDA_R_32F}));
  EXPECT_EQ(told.workspaceBytes, 0u);
  take("gemm TT");
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  told = run();
  EXPECT_EQ(told.matrices[0].numbers, (Numbers{CUDA_R_16BF, 13, 16, 13}));
  EXPECT_EQ(told.matrices[1].numbers, (Numbers{CUDA_R_16BF, 8, 13, 8}));
  EXPECT_EQ(told.matrices[2].numbers, (Numbers{CUDA_R_16BF, 16, 8, 16}));
  EXPECT_EQ(told.workspaceBytes, 1024u);
  take("batched_gemm NN");
  told = run("batched_gemm_bf16_lt_v0");
  const uint64_t strides[] = {7 * 16, 8 * 7, 8 * 16};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(told.matrices[i].attributes,
              (Attributes{{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 3},
                          {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                           strides[i]}}));
  take("gemm NN", DType::F32);
  told = run("gemm_tf32_lt_v0");
  EXPECT_EQ(told.product.numbers,
            (Numbers{CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F}));
}

/// Heads of attention lie side by side in a token, so that no stride leads from
/// each matrix to the next one. A kernel of ours writes the addresses to the
/// workspace, in front of the library's.
TEST_F(CublasLt, TakesTheAddressesOfSmallMatricesInNestedBatches) {
  take("batched_gemm NN");
  auto nest = [&](int64_t m, int64_t n, int64_t k) {
    ins[0].desc = TensorDesc::strided(DType::BF16, {2, 3, m, k},
                                      {m * k, 2 * m * k, k, 1});
    ins[1].desc = TensorDesc(DType::BF16, {2, 3, k, n});
    outs[0].desc = TensorDesc(DType::BF16, {2, 3, m, n});
  };
  auto runs = [&] {
    fakeLibrary().runs = 0;
    return run("batched_gemm_bf16_lt_v0").runs;
  };
  nest(8, 16, 7);
  EXPECT_EQ(runs(), 2u) << "without a workspace, a run for each outer index";
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  uint64_t before = fakeKernelsRun();
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(fakeKernelsRun() - before, 2u) << "ours and the library's";
  FakeLibrary told = fakeLibrary();
  for (const FakeLibrary::Object &matrix : told.matrices)
    EXPECT_EQ(matrix.attributes,
              (Attributes{{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 6},
                          {CUBLASLT_MATRIX_LAYOUT_BATCH_MODE,
                           CUBLASLT_BATCH_MODE_POINTER_ARRAY}}));
  EXPECT_EQ(told.workspaceBytes, 1024u - 256u) << "18 addresses, rounded up";
  tune(Tuning::Fast); // on memory of its own
  take("batched_gemm NN");
  nest(8, 16, 7);
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  runs();
  EXPECT_EQ(runs(), 1u);
  use(makeDevice());
  take("batched_gemm NN");
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {64})};
  nest(8, 16, 7);
  EXPECT_EQ(runs(), 2u) << "no room for the library behind the addresses";
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  fakeLibrary().takesAddresses = false;
  EXPECT_EQ(runs(), 2u) << "a library that has no such batches";
  EXPECT_EQ(fakeLibrary().workspaceBytes, 1024u);
  fakeLibrary().takesAddresses = true;
  // Nothing looks at these addresses.
  for (size_t i = 0; i < 3; ++i) {
    TensorView &view = i < 2 ? ins[i] : outs[0];
    view = {memory + ((i + 1) << 26), view.desc};
  }
  nest(256, 256, 65);
  EXPECT_EQ(runs(), 2u) << "large products are worth runs of their own";
}

TEST_F(CublasLt, IsToldOnlyWhatAProductHas) {
  Attributes expected = {{CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N},
                         {CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N}};
  take("gemm NN");
  EXPECT_EQ(run().product.attributes, expected);
  take("gemm_bias_gelu NN last tanh");
  expected[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_GELU_BIAS;
  expected[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE] = CUDA_R_16BF;
  expected[CUBLASLT_MATMUL_DESC_BIAS_POINTER] = addressOf(ins[2]);
  EXPECT_EQ(run("gemm_bias_gelu_bf16_lt_v0").product.attributes, expected);
  take("gemm_bias_gelu NN last tanh kept");
  expected[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  expected[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = 16;
  uint64_t &kept = expected[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER];
  kept = addressOf(outs[0]);
  Attributes told = run("gemm_bias_gelu_bf16_lt_v0").product.attributes;
  kept = addressOf(outs[told == expected ? 0 : 1]);
  EXPECT_EQ(told, expected);
  take("gemm TN");
  told = run().product.attributes;
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSA], uint64_t(CUBLAS_OP_N));
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSB], uint64_t(CUBLAS_OP_T));
  take("gemm NT");
  told = run().product.attributes;
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSA], uint64_t(CUBLAS_OP_T));
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSB], uint64_t(CUBLAS_OP_N));
}

/// Each is a pair of tensors that kernels of the library load in whole.
TEST_F(CublasLt, RefusesWhatTheLibraryIsNotToldTheAlignmentOf) {
  auto says = [&](std::string_view kid, const char *what) {
    Status status = prepare(kid).status();
    EXPECT_EQ(status.code(), StatusCode::Misaligned) << status.toString();
    EXPECT_NE(status.message().find(what), std::string::npos)
        << status.message();
  };
  auto move = [](TensorView &view) {
    view = {static_cast<char *>(view.start()) + 4, view.desc};
  };
  take("gemm_bias_gelu NN last tanh kept");
  move(ins[2]);
  says("gemm_bias_gelu_bf16_lt_v0", "operand 2 (bias)");
  take("gemm_gelu_bwd NN tanh");
  move(ins[2]);
  says("gemm_gelu_bwd_bf16_lt_v0", "gelu's operand");
  take("gemm_reduce TN 0");
  for (TensorView &out : outs)
    if (out.desc.rank == 1)
      move(out);
  says("gemm_reduce_bf16_lt_v0", "result 1 (sums)");
}

/// Files of earlier runs have these names: others would not be found in them.
TEST_F(CublasLt, KeepsItsChoicesUnderTheseNames) {
  std::string file = testing::TempDir() + "aicf-tuning-names.json";
  std::remove(file.c_str());
  tune(Tuning::Fast, file);
  take("gemm NN");
  run();
  auto strided = [&](size_t operand, int64_t pitch) {
    TensorDesc &desc = ins[operand].desc;
    desc = TensorDesc::strided(desc.dtype,
                               std::vector<int64_t>{desc.rows(), desc.width()},
                               std::vector<int64_t>{pitch, 1});
  };
  strided(0, 24);
  run();
  take("gemm TT");
  run();
  strided(1, 32);
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  run();
  workspace = {};
  take("gemm NN", DType::F32);
  run("gemm_tf32_lt_v0");
  take("batched_gemm NN");
  run("batched_gemm_bf16_lt_v0");
  take("gemm_bias_gelu NN last tanh kept");
  run("gemm_bias_gelu_bf16_lt_v0");
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {}), names;
  for (size_t at = 0; (at = text.find("\n  \"", at)) != std::string::npos;) {
    at += 4;
    names += text.substr(at, text.find('"', at) - at) + "\n";
  }
  EXPECT_EQ(names, "8x16x13_NN_bf16_bf16_e164_w0_256_256_256\n"
                   "8x16x13_NN_bf16_bf16_e1_w0_256_256_256\n"
                   "8x16x13_NN_bf16_bf16_e1_w0_2_256_256_p24_p16_p16\n"
                   "8x16x13_NN_f32tf32_f32_e1_w0_256_256_256\n"
                   "8x16x13_TT_bf16_bf16_e1_w0_256_256_256\n"
                   "8x16x13_TT_bf16_bf16_e1_w1024_256_2_256_p8_p32_p16\n"
                   "8x16x7_NN_bf16_bf16_e1_w0_16_32_256_b3_b56_b112_b128\n");
  std::remove(file.c_str());
}

/// Scratch memory as large as the tensors, one byte for what a product has not.
TEST_F(CublasLt, TimesOnScratchMemory) {
  static std::vector<size_t> sizes;
  api.cudaMalloc = [](void **at, size_t bytes) {
    sizes.push_back(bytes);
    return baseApi().cudaMalloc(at, bytes);
  };
  CUDADeviceOptions options;
  options.tuning = Tuning::Fast;
  use(makeDevice(api, options));
  auto isUsers = [&](uint64_t address) {
    return address - reinterpret_cast<uintptr_t>(memory) < 1 << 16;
  };
  take("gemm NN");
  sizes.clear();
  ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(sizes, (std::vector<size_t>{208, 416, 256, 32, 1, 1}));
  EXPECT_EQ(fakeLibrary().product.attributes.size(), 2u) << "trans, trans";
  take("gemm_bias_gelu NN last tanh kept");
  sizes.clear();
  ASSERT_TRUE(prepare("gemm_bias_gelu_bf16_lt_v0").ok());
  EXPECT_EQ(sizes, (std::vector<size_t>{208, 416, 256, 32, 256, 1}));
  for (auto name : {CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER}) {
    uint64_t address = fakeLibrary().product.attributes[name];
    EXPECT_NE(address, 0u) << name;
    EXPECT_FALSE(isUsers(address)) << name;
  }
}

TEST_F(CublasLt, AsksForAsManyAlgorithmsAsAreTimed) {
  for (auto [tuning, wanted] : {std::pair(Tuning::Off, 1),
                                std::pair(Tuning::Fast, 8),
                                std::pair(Tuning::Full, 64)}) {
    fakeLibrary() = {};
    tune(tuning);
    take("gemm NN");
    ASSERT_TRUE(prepare().ok());
    EXPECT_EQ(fakeLibrary().wanted, std::vector<int>{wanted});
    EXPECT_EQ(fakeLibrary().runs > 0, tuning != Tuning::Off);
  }
}

/// A later one has to be faster by two percent.
TEST_F(CublasLt, TakesTheFastest) {
  using Times = std::vector<float>;
  for (auto [times, chosen] :
       {std::pair(Times{1, 0.99f}, 1u), std::pair(Times{1, 0.9f}, 2u),
        std::pair(Times{1, 0.9f, 0.95f}, 2u), std::pair(Times{3, 1, 2}, 2u)}) {
    fakeLibrary().algorithms.clear();
    for (float time : times)
      fakeLibrary().algorithms.push_back({{}, {}, time});
    tune(Tuning::Fast);
    take("gemm NN");
    EXPECT_EQ(run().algorithm, chosen) << times.size() << " " << times[1];
  }
}

TEST_F(CublasLt, TakesNoneThatDoesNotRun) {
  FakeLibrary::Algorithm fails{{}, CUBLAS_STATUS_INTERNAL_ERROR},
      unfit{CUBLAS_STATUS_NOT_SUPPORTED};
  fakeLibrary().algorithms = {fails, {}};
  tune(Tuning::Fast);
  take("gemm NN");
  EXPECT_EQ(run().algorithm, 2u);
  fakeLibrary().algorithms = {fails, fails};
  tune(Tuning::Fast);
  take("gemm NN");
  Status status = prepare().status();
  EXPECT_EQ(status.code(), StatusCode::DeviceError);
  EXPECT_NE(status.message().find("none of the 2 algorithms"),
            std::string::npos)
      << status.message();
  fakeLibrary().algorithms = {unfit, {}};
  tune(Tuning::Fast);
  take("gemm NN");
  fakeLibrary().runs = 0;
  ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(fakeLibrary().runs, 0u) << "there is nothing to choose from";
  EXPECT_EQ(run().algorithm, 2u);
}

TEST_F(CublasLt, SaysWhetherItHasNoAlgorithmOrFailed) {
  take("gemm NN");
  fakeLibrary().offered = CUBLAS_STATUS_NOT_SUPPORTED;
  Status status = prepare().status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_NE(status.message().find("has no algorithm for 8x16x13"),
            std::string::npos)
      << status.message();
  fakeLibrary().offered = CUBLAS_STATUS_INTERNAL_ERROR;
  EXPECT_EQ(prepare().status().code(), StatusCode::DeviceError);
}

/// Not while a capture runs, which timing would spoil: that choice is not kept.
TEST_F(CublasLt, ChoosesOnce) {
  take("gemm NN");
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(fakeLibrary().wanted, (std::vector<int>{1}));
  fakeLibrary() = {};
  tune(Tuning::Fast);
  take("gemm NN");
  ASSERT_TRUE(stream->beginCapture().ok());
  ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(fakeLibrary().runs, 0u);
  EXPECT_EQ(fakeLibrary().wanted, (std::vector<int>{1}));
  ASSERT_TRUE(stream->endCapture().ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(prepare().ok());
    EXPECT_GT(fakeLibrary().runs, 0u);
    EXPECT_EQ(fakeLibrary().wanted, (std::vector<int>{1, 8}));
  }
}

TEST_F(CublasLt, AKeptChoiceIsUsedWhereTheLibraryStillTakesIt) {
  std::string file = testing::TempDir() + "aicf-tuning-kept.json";
  std::remove(file.c_str());
  fakeLibrary().algorithms[1].milliseconds = 0.0001f;
  tune(Tuning::Fast, file);
  take("gemm NN");
  EXPECT_EQ(run().algorithm, 2u);
  auto again = [&](cublasStatus_t checked, uint64_t needs) {
    fakeLibrary().wanted.clear();
    fakeLibrary().checked = checked;
    fakeLibrary().checkedWorkspace = needs;
    tune(Tuning::Off, file);
    take("gemm NN");
    return run();
  };
  FakeLibrary kept = again(CUBLAS_STATUS_SUCCESS, 0);
  EXPECT_EQ(kept.algorithm, 2u);
  EXPECT_TRUE(kept.wanted.empty());
  EXPECT_EQ(again(CUBLAS_STATUS_NOT_SUPPORTED, 0).algorithm, 1u);
  EXPECT_EQ(again(CUBLAS_STATUS_SUCCESS, 1).algorithm, 1u)
      << "it needs a workspace, and there is none";
  std::remove(file.c_str());
}

TEST_F(CublasLt, WithoutItsLibraryTheOtherKernelsRun) {
  api.cublasLtVersion = 0;
  api.cublasLtProblem = "it is gone";
  use(makeDevice(api));
  take("gemm NN");
  Status status = prepare().status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_NE(status.message().find("needs cuBLASLt: it is gone"),
            std::string::npos)
      << status.message();
  EXPECT_TRUE(stream->enqueue(makeRelu(*device, memory)).ok());
}
#endif

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

std::filesystem::path programFile() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

/// What a process loads that this variable names a file to.
Status loadFrom(const std::string &path) {
  const char *before = std::getenv("AICF_CUDA_LIBRARY");
  std::string kept = before ? before : "";
  ::setenv("AICF_CUDA_LIBRARY", path.c_str(), 1);
  Status status = createCUDADevice().status();
  if (before)
    ::setenv("AICF_CUDA_LIBRARY", kept.c_str(), 1);
  else
    ::unsetenv("AICF_CUDA_LIBRARY");
  return status;
}

TEST(CUDALoader, TakesOnlyTheNamedLibraryAndSaysWhyNot) {
  Status status = loadFrom("/nothing/libaicf_cuda.so");
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_EQ(status.message().find(
                "this build has no CUDA device: /nothing/libaicf_cuda.so: "
                "cannot open"),
            0u)
      << status.message();
}

/// Copies of the library in which a function has another name, or which says
/// that it was made of other headers.
TEST(CUDALoader, RefusesLibrariesOfOtherBuilds) {
  std::string path = programFile().parent_path() / "libaicf_cuda.so";
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::string interface = reinterpret_cast<const char *(*)()>(
      dlsym(library, "aicf_cuda_interface"))();
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::string other = "!" + interface.substr(1);
  for (const auto &[name, found] :
       {std::pair<std::string, std::string>("aicf_cuda_interface", "none"),
        {"aicf_cuda_create_device", interface},
        {interface, other}}) {
    std::string changed = bytes;
    for (size_t at = 0; (at = changed.find(name, at)) != std::string::npos;)
      changed[at] = '!';
    // What has the name of a library that is open is that library.
    std::string copy = testing::TempDir() + "aicf-without-" + name + ".so";
    std::ofstream(copy, std::ios::binary) << changed;
    Status status = loadFrom(copy);
    EXPECT_EQ(status.code(), StatusCode::NotImplemented) << name;
    EXPECT_NE(status.message().find(" has interface " + found + ","),
              std::string::npos)
        << status.message();
    std::remove(copy.c_str());
  }
}

/// What the first test of the loader prints in another process.
std::string loadedBy(const std::string &program,
                     std::vector<const char *> arguments) {
  std::string file = testing::TempDir() + "aicf-loader.txt";
  std::fflush(stdout); // or the child prints it, too
  pid_t child = fork();
  if (child == 0) {
    arguments.push_back("--gtest_filter=CUDALoader.LoadsOrSaysWhyNot");
    arguments.push_back(nullptr);
    ::unsetenv("AICF_CUDA_LIBRARY");
    if (std::freopen(file.c_str(), "w", stdout))
      execv(program.c_str(), const_cast<char **>(arguments.data()));
    _exit(127);
  }
  EXPECT_GT(child, 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::remove(file.c_str());
  return text;
}

/// Started under a name that says nothing, or by the system's loader, whose
/// folder is the program's then. With neither folder it says where it looked.
TEST(CUDALoader, LooksBesideTheProgramAndBesideItsOwnCode) {
  Dl_info loader{};
  std::string program = programFile();
  ASSERT_NE(dladdr(reinterpret_cast<void *>(getauxval(AT_BASE)), &loader), 0);
  const char *passed = "[  PASSED  ] 1 test", *file = program.c_str();
  std::string output = loadedBy(program, {"nowhere"});
  EXPECT_NE(output.find(passed), std::string::npos) << output;
  output = loadedBy(loader.dli_fname, {"loader", file});
  EXPECT_NE(output.find(passed), std::string::npos) << output;
  output = loadedBy(loader.dli_fname, {"loader", "--argv0", "nowhere", file});
  EXPECT_NE(output.find("no CUDA device: libaicf_cuda.so: cannot open"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("directory; "), std::string::npos) << output;
}

} // namespace
