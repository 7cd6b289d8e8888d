//===- CUDACaptureTest.cpp - captured graphs on a CUDA device -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which nodes belong to which call, what a capture refuses, and what is asked of
// kernels in it.
//===----------------------------------------------------------------------===//

#include "CUDATestDevice.h"
#include "lib/Runtime/CUDA/CUDAStream.h"

#include <cstring>
#include <future>
#include <thread>

using namespace aicf;
using namespace aicf::test;

namespace {

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

} // namespace
