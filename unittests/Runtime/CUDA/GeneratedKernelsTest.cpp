//===- GeneratedKernelsTest.cpp - kernels that are made of calls ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over the fake table: what is loaded, when it goes, and what fails. The text
// itself is given to ptxas, which needs no GPU. What the kernels compute, the
// tests of kernels/graph compare on a GPU.
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "GraphText.h"
#include "kernels/graph/Family.h"
#include "kernels/graph/SumsParams.h"
#include "lib/Runtime/CUDA/CUDADevice.h"
#include "lib/Runtime/CUDA/CUDAStream.h"
#include "unittests/Common/RandomReductions.h"

#include "aicf/OpCall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace aicf;
using namespace aicf::test;

namespace {

std::shared_ptr<Device> makeDevice(const CudaApi &api = fakeCudaApi()) {
  auto device = CUDADevice::create(api, {});
  EXPECT_TRUE(device.ok()) << device.status().toString();
  return device.ok() ? *device : nullptr;
}

using Shape = std::vector<int64_t>;

/// tanh(x) * x of `count` elements.
Sample makeGated(int64_t count) {
  GraphBuilder graph;
  GraphBuilder::Value x = graph.operand({DType::F32, {count}});
  return graph.finish(
      {graph.add(OpKind::Mul, {graph.add(OpKind::Tanh, {x}), x})});
}

/// A call of the sample on memory that nobody looks at.
StatusOr<ResolvedCall> resolveSample(Device &device, const Sample &sample) {
  static char memory[1 << 16];
  std::vector<TensorView> ins, outs;
  for (const TensorDesc &desc : sample.ins)
    ins.push_back({memory, desc});
  for (const TensorDesc &desc : sample.outs)
    outs.push_back({memory + (1 << 15), desc});
  return resolve(device, {sample.body, ins, outs});
}

TEST(GeneratedKernels, OfEqualCallsAreOne) {
  auto device = makeDevice();
  const size_t before = fakeObjectsAlive();
  {
    auto one = resolveSample(*device, makeGated(64));
    ASSERT_TRUE(one.ok()) << one.status().toString();
    EXPECT_EQ(fakeObjectsAlive(), before + 1);
    auto equal = resolveSample(*device, makeGated(64));
    auto other = resolveSample(*device, makeGated(32));
    ASSERT_TRUE(equal.ok() && other.ok());
    EXPECT_EQ(fakeObjectsAlive(), before + 2);
  }
  EXPECT_EQ(fakeObjectsAlive(), before);
  // One that is gone is loaded again.
  auto again = resolveSample(*device, makeGated(64));
  ASSERT_TRUE(again.ok()) << again.status().toString();
  EXPECT_EQ(fakeObjectsAlive(), before + 1);
}

/// A call of the sample that is not finished.
StatusOr<ResolvedCall> beginSample(Device &device, const Sample &sample) {
  static char memory[1 << 16];
  const TensorView in{memory, sample.ins[0]};
  const TensorView out{memory + (1 << 15), sample.outs[0]};
  return beginResolve(device, {sample.body, {&in, 1}, {&out, 1}});
}

std::atomic<int> numLoading{0}, mostLoading{0};

/// Calls that wait are loaded side by side, when the first of them is finished.
TEST(GeneratedKernels, AreLoadedTogether) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one thread loads here";
  CudaApi api = fakeCudaApi();
  numLoading = mostLoading = 0;
  api.cudaLibraryLoadData = [](auto... args) {
    mostLoading = std::max<int>(mostLoading, ++numLoading);
    // The other thread comes, if there is one.
    for (int i = 0; i < 5000 && mostLoading < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --numLoading;
    return fakeCudaApi().cudaLibraryLoadData(args...);
  };
  auto device = makeDevice(api);
  const size_t before = fakeObjectsAlive();
  std::vector<ResolvedCall> calls;
  for (int64_t count : {64, 32, 64, 16}) {
    auto call = beginSample(*device, makeGated(count));
    ASSERT_TRUE(call.ok()) << call.status().toString();
    calls.push_back(std::move(*call));
  }
  EXPECT_EQ(fakeObjectsAlive(), before);
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok());
  const size_t withStream = fakeObjectsAlive();
  Status early = launch(calls[0], **stream);
  EXPECT_EQ(early.code(), StatusCode::FailedState);
  EXPECT_EQ(early.message(),
            "pointwise_graph_v0: the call is not finished: its kernel is not "
            "loaded");
  ASSERT_TRUE(calls[0].deviceCall->finish().ok());
  EXPECT_EQ(fakeObjectsAlive(), withStream + 3);
  EXPECT_EQ(mostLoading, 2);
  for (ResolvedCall &call : calls) {
    ASSERT_TRUE(call.deviceCall->finish().ok());
    EXPECT_TRUE(launch(call, **stream).ok());
  }
  EXPECT_EQ(fakeObjectsAlive(), withStream + 3);
  EXPECT_EQ(fakeMisuses(), 0u);
}

/// One that the driver refuses fails alone, and is tried again.
TEST(GeneratedKernels, FailAlone) {
  CudaApi api = fakeCudaApi();
  static std::atomic<bool> isRefused;
  isRefused = true;
  api.cudaLibraryLoadData = [](cudaLibrary_t *library, const void *text,
                               auto... rest) {
    // 32 elements are 8 vectors.
    const std::string all(static_cast<const char *>(text));
    if (isRefused && all.find("%ax0, 8;") != std::string::npos)
      return cudaErrorInvalidPtx;
    return fakeCudaApi().cudaLibraryLoadData(library, text, rest...);
  };
  auto device = makeDevice(api);
  auto good = beginSample(*device, makeGated(64));
  auto bad = beginSample(*device, makeGated(32));
  ASSERT_TRUE(good.ok() && bad.ok());
  EXPECT_TRUE(good->deviceCall->finish().ok());
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(bad->deviceCall->finish().code(), StatusCode::DeviceError);
  isRefused = false;
  auto again = resolveSample(*device, makeGated(32));
  EXPECT_TRUE(again.ok()) << again.status().toString();
}

/// dy * y, and its sum over rows: 4 chunks of each column.
Sample makeSum() {
  GraphBuilder graph;
  TensorDesc desc(DType::F32, {2048, 8});
  GraphBuilder::Value product =
      graph.add(OpKind::Mul, {graph.operand(desc), graph.operand(desc)});
  return graph.finish({product, graph.add(OpKind::ReduceSum, {product},
                                          encodeAttrs(ReduceSumAttrs{0}),
                                          TensorDesc(DType::F32, {8}))});
}

/// Sums of chunks, and what puts them together: two kernels of one text.
TEST(GeneratedKernels, OfSumsInChunksAreTwo) {
  auto device = makeDevice();
  alignas(256) static char memory[1 << 20];
  Sample sample = makeSum();
  auto typed = typedBodyOf(sample);
  ASSERT_TRUE(typed.ok()) << typed.status().toString();
  const KernelRow *row = selectKernel(DeviceKind::CUDA, *typed);
  ASSERT_NE(row, nullptr);
  const auto bytes = int64_t(row->workspaceBytes(*typed));
  ASSERT_GT(bytes, 0);
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok());
  for (int64_t given : {bytes, int64_t(0)}) {
    std::vector<TensorView> ins, outs;
    for (const TensorDesc &desc : sample.ins)
      ins.push_back({memory, desc});
    for (const TensorDesc &desc : sample.outs)
      outs.push_back({memory + (outs.size() + 2) * (1 << 18), desc});
    CallRequest request{sample.body, ins, outs};
    if (given)
      request.workspace = {memory + (1 << 18),
                           TensorDesc(DType::I32, {given / 4})};
    const size_t before = fakeObjectsAlive();
    auto resolved = resolve(*device, request);
    ASSERT_TRUE(resolved.ok()) << resolved.status().toString();
    EXPECT_EQ(fakeObjectsAlive(), before + 1);
    ASSERT_TRUE((*stream)->beginCapture().ok());
    EXPECT_TRUE(launch(*resolved, **stream).ok());
    auto graph = (*stream)->endCapture();
    ASSERT_TRUE(graph.ok()) << graph.status().toString();
    EXPECT_EQ((*graph)->numNodes(), given ? 2u : 1u);
  }
  EXPECT_EQ(fakeMisuses(), 0u);
}

/// A captured node is proved through the driver.
TEST(GeneratedKernels, AreNodesOfAGraph) {
  auto device = makeDevice();
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok());
  auto call = resolveSample(*device, makeGated(64));
  ASSERT_TRUE(call.ok()) << call.status().toString();
  auto capture = [&](bool isSpoiled) {
    EXPECT_TRUE((*stream)->beginCapture().ok());
    fakeSpoilNextKernel(isSpoiled, -1);
    Status status = launch(*call, **stream);
    auto graph = (*stream)->endCapture();
    if (status.ok() && graph.ok()) {
      EXPECT_EQ((*graph)->numNodes(), 1u);
      status = (*stream)->launch(**graph);
    }
    return status;
  };
  EXPECT_TRUE(capture(false).ok());
  EXPECT_EQ(capture(true).message(),
            "pointwise_graph_v0: captured another kernel than the planned one");
  EXPECT_EQ(fakeMisuses(), 0u);
}

TEST(GeneratedKernels, AreNotLoadedWhileTheirThreadCaptures) {
  auto device = makeDevice();
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok());
  auto known = resolveSample(*device, makeGated(64));
  ASSERT_TRUE((*stream)->beginCapture().ok());
  EXPECT_TRUE(resolveSample(*device, makeGated(64)).ok());
  auto fresh = resolveSample(*device, makeGated(32));
  EXPECT_EQ(fresh.status().code(), StatusCode::FailedState);
  EXPECT_EQ(fresh.status().message(),
            "a kernel cannot be loaded while the thread captures: resolve the "
            "call before");
  EXPECT_FALSE((*stream)->endCapture().ok() && !known.ok());
}

TEST(GeneratedKernels, EveryFailingCallIsAnErrorWithoutALeak) {
  CudaApi api = faultyCudaApi(fakeCudaApi());
  failCall(UINT64_MAX);
  auto device = makeDevice(api);
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok());
  const size_t before = fakeObjectsAlive();
  auto run = [&]() -> Status {
    AICF_ASSIGN_OR_RETURN(ResolvedCall call,
                          resolveSample(*device, makeGated(64)));
    AICF_RETURN_IF_ERROR((*stream)->beginCapture());
    Status launched = launch(call, **stream);
    AICF_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph,
                          (*stream)->endCapture());
    return launched;
  };
  ASSERT_TRUE(run().ok());
  std::set<std::string> failed;
  for (uint64_t n = 0;; ++n) {
    failCall(n);
    Status status = run();
    std::string name = failedCall();
    failCall(UINT64_MAX);
    if (name.empty())
      break;
    failed.insert(name);
    bool isUnload = name.find("Unload") != std::string::npos ||
                    name.find("Destroy") != std::string::npos;
    EXPECT_EQ(status.ok(), isUnload) << name;
    EXPECT_EQ(fakeObjectsAlive(), before) << name;
  }
  for (const char *call :
       {"cudaLibraryLoadData", "cudaLibraryGetKernel", "cudaLibraryUnload",
        "cuGraphKernelNodeGetParams_v2", "cudaLaunchKernelExC"})
    EXPECT_TRUE(failed.count(call)) << call;
}

TEST(GeneratedKernels, SayThatTheDriverIsTooOld) {
  CudaApi api = fakeCudaApi();
  api.cudaLibraryLoadData = [](cudaLibrary_t *, const void *, cudaJitOption *,
                               void **, unsigned, cudaLibraryOption *, void **,
                               unsigned) {
    return cudaErrorUnsupportedPtxVersion;
  };
  Status status = resolveSample(*makeDevice(api), makeGated(64)).status();
  EXPECT_EQ(status.code(), StatusCode::DeviceError);
  EXPECT_EQ(
      status.message().rfind("the driver is older than the CUDA that AICF "
                             "was built with: cudaLibraryLoadData: ",
                             0),
      0u)
      << status.message();
}

/// What the kernels of the toolkit are made for, and what the record says.
TEST(GeneratedKernels, HaveRoomForTheLargestGraph) {
  const GraphInfo &graph = *patternOf(patterns::PointwiseSums)->graph;
  EXPECT_EQ(cuda::kMaxGraphTensors, graph.maxOperands + graph.maxResults);
  EXPECT_EQ(families::kGraphSums, graph.maxSums);
  EXPECT_EQ(std::size(cuda::SumsParams().divisors), graph.maxSums);
}

/// Few long rows: their chunks are whole vectors, and all of a row.
TEST(GeneratedKernels, SumRowsInChunksOfWholeVectors) {
  GraphBuilder graph;
  const int64_t size = 100004;
  GraphBuilder::Value x = graph.operand({DType::F32, {3, size}});
  Sample sample = graph.finish({graph.add(
      OpKind::ReduceMean, {graph.add(OpKind::Exp, {x})},
      encodeAttrs(ReduceMeanAttrs{1}), TensorDesc(DType::F32, {3}))});
  alignas(256) static char room[1 << 16];
  auto typed = typedBodyOf(sample);
  ASSERT_TRUE(typed.ok()) << typed.status().toString();
  std::vector<TensorView> values;
  for (const TensorDesc &desc : typed->values())
    values.push_back({nullptr, desc});
  auto kernel = cuda::writeGraphKernel(
      *sample.body, values, {room, TensorDesc(DType::I32, {sizeof(room) / 4})},
      kCard);
  ASSERT_TRUE(kernel.ok()) << kernel.status().toString();
  ASSERT_EQ(kernel->entries.size(), 2u);
  EXPECT_EQ(kernel->entries[0].name, "aicf_rows_f32_1_4_256");
  EXPECT_EQ(kernel->entries[1].name, "aicf_combine_f32_1_32");
  for (const cuda::GraphKernel::Entry &entry : kernel->entries) {
    cuda::SumsParams params;
    ASSERT_EQ(entry.launch.params.size() * 8, sizeof(params));
    std::memcpy(&params, entry.launch.params.data(), sizeof(params));
    EXPECT_EQ(params.outer, 3);
    EXPECT_EQ(params.size, size);
    EXPECT_EQ(params.inner, 1);
    EXPECT_GT(params.chunks, 1);
    EXPECT_EQ(params.perChunk % 4, 0);
    EXPECT_GE(params.chunks * params.perChunk, size);
    EXPECT_LT((params.chunks - 1) * params.perChunk, size + params.perChunk);
    EXPECT_EQ(params.states, uint64_t(reinterpret_cast<uintptr_t>(room)));
    EXPECT_EQ(params.divisors[0], double(size));
  }
}

/// x * repeat(mean of x over `axis`).
Sample makeNormed(const TensorDesc &x, int64_t axis) {
  GraphBuilder graph;
  GraphBuilder::Value in = graph.operand(x);
  TensorDesc left = x;
  for (size_t i = size_t(axis); i + 1 < x.rank; ++i)
    left.dims[i] = x.dims[i + 1];
  --left.rank;
  GraphBuilder::Value mean =
      graph.add(OpKind::ReduceMean, {in}, encodeAttrs(ReduceMeanAttrs{axis}),
                TensorDesc(x.dtype, left.shape()));
  return graph.finish({graph.add(
      OpKind::Mul, {in, graph.add(OpKind::Expand, {mean},
                                  encodeAttrs(ExpandAttrs{axis}), x)})});
}

/// True if a branch of the kernel goes back.
bool hasLoop(const std::string &text) {
  for (size_t at = 0; (at = text.find(" bra $A", at)) != std::string::npos;
       ++at) {
    const std::string label =
        text.substr(at + 5, text.find(';', at) - at - 5) + ":\n";
    if (text.find(label) < at)
      return true;
  }
  return false;
}

/// How often a part stands in a text.
size_t count(const std::string &text, const std::string &part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++n;
  return n;
}

/// Where a thread has few vectors, they are loaded once, and all in front of
/// what is computed. Else each phase is a loop.
TEST(GeneratedKernels, GoThroughWhatTheyReduceInPhases) {
  const std::string once = textOf(makeNormed({DType::F32, {64, 4096}}, 1));
  size_t at = 0;
  for (const char *part :
       {".maxntid 256", "ld.global.v4.b32", "ld.global.v4.b32",
        "ld.global.v4.b32", "ld.global.v4.b32", "add.rn.f32", "shfl.sync.bfly",
        "bar.sync", "bar.sync", "div.rn.f32", "mul.rn.f32",
        "st.global.v4.b32"}) {
    size_t found = once.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " in\n" << once;
    at = found + 1;
  }
  EXPECT_EQ(count(once, "ld.global"), 4u);
  EXPECT_FALSE(hasLoop(once));
  // A warp needs nobody else.
  const std::string warp = textOf(makeNormed({DType::F32, {64, 512}}, 1));
  EXPECT_EQ(count(warp, "ld.global"), 4u);
  EXPECT_EQ(count(warp, "bar.sync"), 0u);
  const std::string loops = textOf(makeNormed({DType::F32, {256, 32768}}, 1));
  EXPECT_TRUE(hasLoop(loops));
  EXPECT_GT(loops.find("st.global"), loops.rfind("ld.global"));
}

/// Loops keep what they load in shared memory, as far as there is room.
TEST(GeneratedKernels, KeepWhatTheyReadAgain) {
  struct Row {
    int64_t width;       ///< of rows of f32
    uint32_t limit;      ///< of the card
    uint32_t kept;       ///< KiB of a block
    size_t again, apart; ///< loads of the second phase: of either, of shared
  };
  for (Row row : {Row{16384, 226, 0, 0, 0},   // in registers
                  Row{20000, 226, 80, 0, 8},  // two blocks on a multiprocessor
                  Row{32768, 226, 128, 0, 8}, // one
                  Row{65536, 226, 192, 8, 0}, // one, which has three quarters
                  Row{65536, 98, 64, 8, 0}, Row{65536, 20, 0, 0, 0}}) {
    const cuda::DeviceLimits card = {132, 2048, row.limit << 10};
    StatusOr<cuda::GraphKernel> kernel =
        kernelFor(makeNormed({DType::F32, {256, row.width}}, 1), {}, card);
    ASSERT_TRUE(kernel.ok()) << kernel.status().toString();
    EXPECT_EQ(kernel->entries[0].launch.sharedBytes, row.kept << 10);
    const std::string &text = kernel->text;
    EXPECT_EQ(count(text, ".minnctapersm 2"), 1u);
    // A sum of warps is in shared memory, too, but in single words.
    EXPECT_EQ(count(text, "st.shared.v4.b32"), row.kept ? 8u : 0u);
    EXPECT_EQ(count(text, "ld.shared.v4.b32"), row.apart);
    EXPECT_EQ(count(text, "ld.v4.b32"), row.again);
    EXPECT_EQ(count(text, "ld.global.v4.b32"),
              row.kept || row.width == 16384 ? 8u : 16u);
  }
}

/// What is kept and what sums take together fit into what a block may have:
/// 1 KiB more than it may ask for. A part consists of whole turns.
TEST(GeneratedKernels, KeepWhatABlockHasRoomFor) {
  size_t numParts = 0, numWhole = 0;
  for (int64_t size : {9000, 40001, 65536})
    for (int64_t bytes : {1, 4, 16, 48, 128})
      for (int64_t own : {0, 1088, 17408, 40000})
        for (int64_t limit : {0, 20 << 10, 98 << 10, 226 << 10}) {
          const families::GroupPlan plan{256, size, 1, 4, 1, 512, 512, 8};
          const int64_t kept = families::keptTurns(plan, bytes, own, limit);
          const bool isPart = kept < plan.turns();
          EXPECT_TRUE(!isPart || kept % plan.turnsAtATime() == 0) << kept;
          EXPECT_LE(kept, plan.turns());
          if (kept > 0) {
            EXPECT_LE(own + kept * bytes * plan.threads, limit + 1024);
          }
          numParts += isPart && kept > 0;
          numWhole += !isPart;
        }
  EXPECT_GT(numParts, 10u);
  EXPECT_GT(numWhole, 10u);
}

/// Threads that hold much at a time have all registers.
TEST(GeneratedKernels, LimitRegistersOfLoopsOnly) {
  auto isLimited = [](const Sample &sample) {
    return textOf(sample).find(".minnctapersm") != std::string::npos;
  };
  auto makeProduct = [](int64_t width, bool isResult = false) {
    GraphBuilder graph;
    const TensorDesc x(DType::F32, {256, width});
    GraphBuilder::Value a = graph.operand(x), b = graph.operand(x);
    GraphBuilder::Value product = graph.add(OpKind::Mul, {a, b});
    GraphBuilder::Value sum =
        graph.add(OpKind::ReduceSum, {product}, encodeAttrs(ReduceSumAttrs{1}),
                  TensorDesc(DType::F32, {256}));
    std::vector<GraphBuilder::Value> results = {graph.add(
        OpKind::Sub,
        {a, graph.add(OpKind::Expand, {sum}, encodeAttrs(ExpandAttrs{1}), x)})};
    if (isResult)
      results.push_back(product);
    return graph.finish(results);
  };
  EXPECT_FALSE(isLimited(makeNormed({DType::F32, {256, 4096}}, 1)));
  EXPECT_FALSE(isLimited(makeProduct(16384)));
  EXPECT_TRUE(isLimited(makeProduct(32768)));
  EXPECT_FALSE(isLimited(makeProduct(32768, /*isResult=*/true)));
}

/// Of a body whose sums are of different elements: no family takes it.
TEST(GeneratedKernels, ReduceWhatGoesTogether) {
  Body body;
  body.numOperands = 1;
  body.primitives = {{OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{1}), {0}},
                     {OpKind::Expand, encodeAttrs(ExpandAttrs{1}), {1}},
                     {OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{0}), {2}}};
  body.results = {3};
  const TensorDesc x(DType::F32, {64, 512});
  std::vector<TensorView> values;
  for (const TensorDesc &desc :
       {x, TensorDesc(DType::F32, {64}), x, TensorDesc(DType::F32, {512})})
    values.push_back({nullptr, desc});
  EXPECT_EQ(cuda::writeGraphKernel(body, values, {}, kCard).status().message(),
            "the reductions of a graph do not go together");
}

/// Groups.cu has a function for each group that there is.
TEST(GeneratedKernels, HaveASumForEveryGroup) {
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (int64_t other :
         {int64_t(1), int64_t(7), int64_t(4096), int64_t(100000)})
      for (int64_t size = 2; size <= 8192; size += 1 + size / 7)
        for (int64_t axis : {0, 1}) {
          const TensorDesc x(dtype, axis == 0 ? Shape{size, other}
                                              : Shape{other, size});
          Sample sample = makeNormed(x, axis);
          StatusOr<TypedBody> typed = typedBodyOf(sample);
          ASSERT_TRUE(typed.ok()) << typed.status().toString();
          if (selectKernel(DeviceKind::CUDA, *typed)) {
            EXPECT_NE(textOf(sample), "") << x.toString() << " over " << axis;
          }
        }
}

/// Of a body that no family takes.
TEST(GeneratedKernels, AreMadeOfScalarFunctionsAlone) {
  Body body;
  body.numOperands = 1;
  body.primitives = {{OpKind::Relu, {}, {0}},
                     {OpKind::Cumsum, encodeAttrs(CumsumAttrs{0, 0}), {1}}};
  body.results = {2};
  std::vector<TensorView> values(
      3, TensorView(nullptr, TensorDesc(DType::F32, {8})));
  EXPECT_EQ(cuda::writeGraphKernel(body, values, {}, kCard).status().message(),
            "cumsum_f32 is not among the functions of generated kernels");
}

/// A vector of each operand, all that is computed, then a vector of the result.
TEST(GeneratedKernels, AreTextInThisOrder) {
  GraphBuilder graph;
  GraphBuilder::Value x = graph.operand({DType::BF16, {16, 8}}),
                      row = graph.operand(
                          TensorDesc::strided(DType::BF16, {16, 8}, {0, 1}));
  std::string text = textOf(graph.finish(
      {graph.add(OpKind::Relu, {graph.add(OpKind::Mul, {x, row})})}));
  size_t at = 0;
  for (const char *part :
       {".version ", ".target sm_80", ".visible .entry aicf_graph(",
        "aicf_addresses[24]", "setp.ge.u64 %aq0, %ax0, 16", "@%aq0 ret",
        "ld.global.v4.b32 ", "ld.global.v4.b32 ", "mul.rn.f32", "setp.lt.f32",
        "cvt.rn.bf16.f32", "bfi.b32", "st.global.v4.b32 "}) {
    size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " in\n" << text;
    at = found;
  }
  EXPECT_EQ(text.find("ld.global", text.find("mul.rn.f32")), std::string::npos);
  EXPECT_EQ(text.find("fma.rn", 0), std::string::npos);
}

/// Threads of a warp that have no elements do not call what the others do.
TEST(GeneratedKernels, CallLongFunctionsFromPartsOfAWarp) {
  GraphBuilder graph;
  const TensorDesc x(DType::F32, {717, 24});
  GraphBuilder::Value in = graph.operand(x);
  GraphBuilder::Value power =
      graph.add(OpKind::PowBaseBwd, {in, graph.operand(x), graph.operand(x)});
  GraphBuilder::Value sum =
      graph.add(OpKind::ReduceSum, {power}, encodeAttrs(ReduceSumAttrs{0}),
                TensorDesc(DType::F32, {24}));
  const std::string text = textOf(graph.finish({graph.add(
      OpKind::Mul, {power, graph.add(OpKind::Expand, {sum},
                                     encodeAttrs(ExpandAttrs{0}), x)})}));
  EXPECT_NE(text.find("\ncall (aicf_out), aicf_pow_base_bwd_f32"),
            std::string::npos);
  EXPECT_EQ(text.find("call.uni (aicf_out)"), std::string::npos);
}

/// ptxas 13.0 hands two constants of 64 bits over as one, if all calls have them
/// and their low halves are equal (docs/rationale/Graphs.md). So what has two is
/// never called, however long the text is; what has one, is.
TEST(GeneratedKernels, CallNoFunctionWithTwoConstants) {
  for (DType dtype : {DType::F32, DType::F64}) {
    GraphBuilder graph;
    const TensorDesc desc(dtype, {64, 256});
    GraphBuilder::Value x = graph.operand(desc), last = x;
    for (int i = 0; i < 30; ++i)
      last = graph.add(OpKind::PowScalar, {last},
                       encodeAttrs(PowScalarAttrs{0.5}));
    const std::string text = textOf(graph.finish(
        {graph.add(OpKind::ClampBwd, {last, x},
                   encodeAttrs(ClampBwdAttrs{-0.5, 0.75}))}));
    EXPECT_NE(text.find("call (aicf_out), aicf_pow_scalar_"),
              std::string::npos);
    EXPECT_EQ(text.find("call (aicf_out), aicf_clamp_bwd_"),
              std::string::npos);
    EXPECT_NE(text.find("{ // aicf_clamp_bwd_"), std::string::npos);
  }
}

TEST(GeneratedKernels, RunOnAsManyBlocksAsThereCanBe) {
  Body body;
  body.numOperands = 1;
  body.primitives = {{OpKind::LogicalNot, {}, {0}},
                     {OpKind::LogicalNot, {}, {1}}};
  body.results = {2};
  std::vector<TensorView> values(
      3, TensorView(nullptr, TensorDesc(DType::I1, {1 << 30, 1 << 13})));
  EXPECT_EQ(cuda::writeGraphKernel(body, values, {}, kCard).status().message(),
            "a graph over 8796093022208 elements needs 4294967296 blocks of "
            "threads, at most 2147483647 can be launched");
}

/// NaNs of 16 bits stay as they are: a copy has nothing between load and store.
TEST(GeneratedKernels, CopyBitForBit) {
  GraphBuilder graph;
  GraphBuilder::Value x = graph.operand({DType::F16, {8}});
  GraphBuilder::Value saved = graph.add(OpKind::CopySaved, {x});
  std::string text =
      textOf(graph.finish({saved, graph.add(OpKind::Copy, {saved})}));
  EXPECT_EQ(text.find("cvt.rn.f16"), std::string::npos) << text;
}

/// A distance in an address has 32 bits.
TEST(GeneratedKernels, HaveNoVectorsOfElementsThatLieTooFarApart) {
  auto textFor = [](int64_t step) {
    GraphBuilder graph;
    GraphBuilder::Value x = graph.operand({DType::F32, {4, 8}}),
                        far = graph.operand(
                            TensorDesc::strided(DType::F32, {4, 8}, {1, step}));
    return textOf(graph.finish(
        {graph.add(OpKind::Relu, {graph.add(OpKind::Mul, {x, far})})}));
  };
  EXPECT_NE(textFor(16).find("ld.global.v4.b32"), std::string::npos);
  EXPECT_EQ(textFor(int64_t(1) << 28).find("ld.global.v4.b32"),
            std::string::npos);
}

/// What the toolkit's assembler says of a text: nothing, if it takes it.
std::string problemsOf(const std::string &text,
                       const std::filesystem::path &folder) {
  const std::string path = (folder / "graph.ptx").string();
  std::ofstream(path) << text;
  const std::string log = (folder / "log").string();
  // sm_80 is the oldest card that the text is for.
  if (std::system((std::string(AICF_PTXAS) + " -arch=sm_80 -o " + path +
                   ".cubin " + path + " > " + log + " 2>&1")
                      .c_str()) == 0)
    return "";
  std::ifstream file(log);
  return std::string((std::istreambuf_iterator<char>(file)), {})
      .substr(0, 2000);
}
std::filesystem::path makeFolder() {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("aicf-ptx-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  return folder;
}

/// Sums of f32 and of f64 of columns, each as many as go together.
TEST(GeneratedKernels, HaveSharedMemoryForSumsOfBothTypes) {
  if (!std::filesystem::exists(AICF_PTXAS))
    GTEST_SKIP() << "no ptxas at " << AICF_PTXAS;
  const auto folder = makeFolder();
  GraphBuilder graph;
  const TensorDesc x(DType::F32, {1000, 4097}), left(DType::F32, {4097});
  const TensorDesc wide(DType::F64, {1000, 4097}), wideLeft(DType::F64, {4097});
  const std::vector<uint8_t> axis = encodeAttrs(ReduceSumAttrs{0});
  GraphBuilder::Value in = graph.operand(x);
  GraphBuilder::Value sum = graph.add(OpKind::ReduceSum, {in}, axis, left);
  GraphBuilder::Value less = graph.add(
      OpKind::Sub,
      {in, graph.add(OpKind::Expand, {sum}, encodeAttrs(ExpandAttrs{0}), x)});
  GraphBuilder::Value cast = graph.add(OpKind::Cast, {less}, {}, wide);
  Sample sample = graph.finish(
      {cast, graph.add(OpKind::ReduceSum, {cast}, axis, wideLeft)});
  EXPECT_EQ(problemsOf(textOf(sample), folder), "");
  std::filesystem::remove_all(folder);
}

/// A chain of long functions, and sums of it that wait for each other.
Sample makeHeavy(DType dtype, int64_t width, int numSums, int numSteps) {
  GraphBuilder graph;
  const TensorDesc x(dtype, {4096, width}), left(dtype, {4096});
  GraphBuilder::Value in = graph.operand(x), y = graph.operand(x), last = in;
  for (int i = 0; i < numSteps - 3 * numSums; ++i)
    last = i % 3 == 0   ? graph.add(OpKind::PowBaseBwd, {last, in, y})
           : i % 3 == 1 ? graph.add(OpKind::MishBwd, {last, y})
                        : graph.add(OpKind::GeluBwd, {last, y},
                                    encodeAttrs(GeluBwdAttrs{0}));
  for (int i = 0; i < numSums; ++i) {
    GraphBuilder::Value sum = graph.add(OpKind::ReduceSum, {last},
                                        encodeAttrs(ReduceSumAttrs{1}), left);
    last = graph.add(OpKind::Pow,
                     {last, graph.add(OpKind::Expand, {sum},
                                      encodeAttrs(ExpandAttrs{1}), x)});
  }
  return graph.finish({last});
}

/// The assembler takes up to 0.7 s for 13,000 lines (measured with that of CUDA
/// 13.0 on an EPYC of Zen 5).
TEST(GeneratedKernels, HaveTextsThatAreCompiledInASecond) {
  size_t numTexts = 0;
  for (DType dtype : {DType::F32, DType::BF16, DType::F64})
    for (int64_t width : {64, 4096, 40000})
      for (int numSums : {1, 2, 3})
        for (int numSteps : {10, 16, 22, 28, 32}) {
          Sample sample = makeHeavy(dtype, width, numSums, numSteps);
          StatusOr<TypedBody> typed = typedBodyOf(sample);
          ASSERT_TRUE(typed.ok()) << typed.status().toString();
          if (!selectKernel(DeviceKind::CUDA, *typed))
            continue;
          const std::string text = textOf(sample);
          EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 13000)
              << nameOf(dtype) << ", width " << width << ", " << numSums
              << " sums, " << numSteps << " steps";
          ++numTexts;
        }
  EXPECT_GT(numTexts, 100u);
}

/// Random texts are PTX: the toolkit's assembler takes them.
TEST(GeneratedKernels, AreTakenByTheAssembler) {
  if (!std::filesystem::exists(AICF_PTXAS))
    GTEST_SKIP() << "no ptxas at " << AICF_PTXAS;
  const auto folder = makeFolder();
  size_t numTexts = 0;
  const char *more = std::getenv("AICF_RANDOM_GRAPHS");
  const uint32_t numGraphs = more ? uint32_t(std::atoi(more)) : 40;
  for (uint32_t seed = 1; seed <= 4 * numGraphs; ++seed) {
    std::mt19937 random(seed);
    constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16,
                                DType::BF16};
    constexpr PatternId kPatterns[] = {patterns::PointwiseGraph,
                                       patterns::PointwiseSums,
                                       patterns::ReductionGraph,
                                       patterns::ProductGraph};
    const PatternId pattern = kPatterns[seed % 4];
    const DType dtype = kTypes[random() % 4];
    Sample sample =
        pattern == patterns::ReductionGraph
            ? RandomReductions(dtype, random).make()
            : RandomGraph(dtype, random, pattern == patterns::PointwiseSums,
                          pattern == patterns::ProductGraph)
                  .make();
    StatusOr<TypedBody> typed = typedBodyOf(sample);
    if (factsOf(*sample.body).pattern != pattern || !typed.ok() ||
        !selectKernel(DeviceKind::CUDA, *typed))
      continue;
    static char room[1 << 20]; // for chunks
    ASSERT_EQ(problemsOf(textOf(sample, {room, TensorDesc(DType::I32,
                                                          {sizeof(room) / 4})}),
                         folder),
              "")
        << "seed " << seed;
    ++numTexts;
  }
  std::filesystem::remove_all(folder);
  EXPECT_GT(numTexts, 3 * numGraphs);
}

/// Those of loops, which keep all operands, some, or none.
TEST(GeneratedKernels, OfLongRowsAreTakenByTheAssembler) {
  if (!std::filesystem::exists(AICF_PTXAS))
    GTEST_SKIP() << "no ptxas at " << AICF_PTXAS;
  const auto folder = makeFolder();
  for (DType dtype : {DType::F32, DType::F64, DType::BF16})
    for (const auto &[shape, axis] :
         {std::pair(Shape{256, 20000}, 1), std::pair(Shape{256, 65536}, 1),
          std::pair(Shape{256, 40001}, 1), std::pair(Shape{4096, 4096}, 0),
          std::pair(Shape{16384, 4096}, 0)})
      for (uint32_t limit : {0, 226}) {
        const cuda::DeviceLimits card = {132, 2048, limit << 10};
        auto kernel =
            kernelFor(makeNormed(TensorDesc(dtype, shape), axis), {}, card);
        ASSERT_TRUE(kernel.ok()) << kernel.status().toString();
        EXPECT_EQ(kernel->entries[0].launch.sharedBytes > 0, limit > 0);
        ASSERT_EQ(problemsOf(kernel->text, folder), "")
            << nameOf(dtype) << ", " << shape[0] << " x " << shape[1];
      }
  std::filesystem::remove_all(folder);
}

} // namespace
