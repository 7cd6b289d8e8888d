//===- SharedMemoryTest.cpp - kernels that keep rows in shared memory -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over the fake table, which refuses a launch with more shared memory than its
// kernel has asked for, as CUDA does. Which bits come out, the tests of
// kernels/loss and kernels/graph compare on a GPU.
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "lib/Runtime/CallArgs.h"
#include "lib/Runtime/CUDA/CUDADevice.h"
#include "unittests/Common/GraphBuilder.h"

#include "aicf/OpCall.h"

#include <gtest/gtest.h>

#include <utility>

using namespace aicf;
using namespace aicf::test;

namespace {

/// Cross-entropy of 3 rows of f16 with its gradient.
Sample makeLoss(int64_t classes) {
  for (const KindRow &row : allCallRows()) {
    Sample sample = makeSample(row, 3, classes - 8, DType::F16);
    if (row.takes(DType::F16) &&
        typedBodyOf(sample)->pattern() == patterns::SoftmaxCrossEntropyLossGrad)
      return sample;
  }
  ADD_FAILURE() << "no sample of the pattern";
  return {};
}

/// x * the mean of its row, repeated, for rows of `width` elements.
Sample makeNormed(int64_t width) {
  const TensorDesc x(DType::F32, {132, width});
  GraphBuilder graph;
  GraphBuilder::Value in = graph.operand(x);
  GraphBuilder::Value mean =
      graph.add(OpKind::ReduceMean, {in}, encodeAttrs(ReduceMeanAttrs{1}),
                TensorDesc(DType::F32, {132}));
  return graph.finish({graph.add(
      OpKind::Mul, {in, graph.add(OpKind::Expand, {mean},
                                  encodeAttrs(ExpandAttrs{1}), x)})});
}

/// The call on memory that nobody looks at.
StatusOr<ResolvedCall> resolveCall(Device &device, const Sample &sample) {
  constexpr size_t kRoom = 36 << 20; // of each tensor
  alignas(256) static char memory[16 * kRoom];
  char *next = memory;
  std::vector<TensorView> ins, outs;
  for (const TensorDesc &desc : sample.ins)
    ins.push_back({desc.isAbsent ? nullptr : std::exchange(next, next + kRoom), desc});
  for (const TensorDesc &desc : sample.outs)
    outs.push_back({std::exchange(next, next + kRoom), desc});
  const TensorView workspace(next, TensorDesc(DType::I32, {kRoom / 4}));
  return resolve(device, {sample.body, ins, outs, "auto", workspace});
}
/// Prepares the call and launches it.
Status run(Device &device, const Sample &sample) {
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, device.createStream());
  AICF_ASSIGN_OR_RETURN(ResolvedCall call, resolveCall(device, sample));
  return launch(call, *stream);
}

TEST(SharedMemory, IsAskedForWhereARowNeedsIt) {
  CudaApi api = faultyCudaApi(fakeCudaApi());
  auto device = CUDADevice::create(api, {});
  ASSERT_TRUE(device.ok()) << device.status().toString();
  struct Row {
    int64_t classes;
    bool isAskedFor;
  };
  // Of 40 KB, which every kernel has; of 100 KB; of more than a block has.
  for (Row row : {Row{20000, false}, {50257, true}, {200000, false}}) {
    failCall(UINT64_MAX);
    Status status = run(**device, makeLoss(row.classes));
    ASSERT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(callNames().find("cudaFuncSetAttribute") != std::string::npos,
              row.isAskedFor)
        << row.classes;
  }
}

/// What a kernel declares is a part of what every kernel has: with 48 KiB more it must ask.
TEST(SharedMemory, IsAskedForBesideWhatTheKernelDeclares) {
  CudaApi api = faultyCudaApi(fakeCudaApi());
  auto device = CUDADevice::create(api, {});
  ASSERT_TRUE(device.ok()) << device.status().toString();
  failCall(UINT64_MAX);
  const Sample sample =
      makeSample(sampleCallRow("attention_bwd"), 16, 64, DType::BF16);
  Status status = run(**device, toCall(sample));
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_NE(callNames().find("cudaFuncSetAttribute"), std::string::npos);
}

/// Kernels of ours ask for no more than cards have that have the least, of sm_86 and sm_89.
TEST(SharedMemory, FitsSmallCards) {
  constexpr cuda::DeviceLimits card = {82, 1536, 98 << 10};
  CudaApi api = fakeCudaApi();
  auto device = CUDADevice::create(api, {});
  ASSERT_TRUE(device.ok()) << device.status().toString();
  size_t numLaunches = 0;
  for (const char *name : {"attention", "attention_bwd", "attention_bwd many heads",
                           "layer_norm_bwd"})
    for (DType dtype : {DType::F32, DType::F16, DType::F64})
      for (int64_t n : {16, 48, 64, 128, 768, 4096}) {
        auto call = resolveCall(
            **device, toCall(makeSample(sampleCallRow(name), 600, n, dtype)));
        ASSERT_TRUE(call.ok()) << name << " " << n << ": " << call.status().toString();
        const cuda::Planner planner = cuda::findPlanner(call->row->kid);
        if (!planner)
          continue; // a library's, or generated
        for (const cuda::PlannedLaunch &launch : planner(call->launchArgs(), card)) {
          ++numLaunches;
          EXPECT_LE(launch.sharedBytes, card.sharedBytesOfBlock)
              << call->row->kid << ", " << n;
        }
      }
  EXPECT_GT(numLaunches, 50u);
}

/// Fails each call of CUDA once, of which `asks` is one.
void expectThatRefusalsAreErrors(const Sample &sample, const char *asks) {
  CudaApi api = faultyCudaApi(fakeCudaApi());
  auto device = CUDADevice::create(api, {});
  ASSERT_TRUE(device.ok()) << device.status().toString();
  const size_t before = fakeObjectsAlive();
  size_t refused = 0;
  for (uint64_t n = 0;; ++n) {
    failCall(n);
    Status status = run(**device, sample);
    std::string name = failedCall();
    failCall(UINT64_MAX);
    if (name.empty())
      break;
    EXPECT_EQ(fakeObjectsAlive(), before) << name;
    if (name != asks)
      continue;
    ++refused;
    EXPECT_EQ(status.code(), StatusCode::DeviceError) << status.toString();
    EXPECT_NE(status.message().find(name), std::string::npos)
        << status.message();
  }
  EXPECT_EQ(refused, 1u);
}
TEST(SharedMemory, ThatIsRefusedIsAnError) {
  expectThatRefusalsAreErrors(makeLoss(50257), "cudaFuncSetAttribute");
}
TEST(SharedMemory, ThatAGeneratedKernelIsRefusedIsAnError) {
  expectThatRefusalsAreErrors(makeNormed(32768),
                              "cudaKernelSetAttributeForDevice");
}

/// The fake adds up what the text declares: both together are what a block has.
TEST(SharedMemory, OfGeneratedKernelsIsThatOfABlock) {
  CudaApi api = faultyCudaApi(fakeCudaApi());
  auto device = CUDADevice::create(api, {});
  ASSERT_TRUE(device.ok()) << device.status().toString();
  struct Row {
    int64_t width;
    bool isAskedFor;
  };
  for (Row row :
       {Row{16384, false}, {20000, true}, {40000, true}, {70000, true}}) {
    failCall(UINT64_MAX);
    Status status = run(**device, makeNormed(row.width));
    ASSERT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(callNames().find("cudaKernelSetAttribute") != std::string::npos,
              row.isAskedFor)
        << row.width;
  }
}

/// A card whose blocks have no more than any kernel gets reads rows again.
TEST(SharedMemory, IsNotAskedForWhereTheCardHasLess) {
  CudaApi api = fakeCudaApi();
  static decltype(api.cudaGetDeviceProperties) original;
  original = api.cudaGetDeviceProperties;
  api.cudaGetDeviceProperties = [](cudaDeviceProp *properties, int ordinal) {
    cudaError_t error = original(properties, ordinal);
    properties->sharedMemPerBlockOptin = 48 << 10;
    return error;
  };
  CudaApi counted = faultyCudaApi(api);
  auto device = CUDADevice::create(counted, {});
  ASSERT_TRUE(device.ok()) << device.status().toString();
  failCall(UINT64_MAX);
  Status status = run(**device, makeLoss(50257));
  EXPECT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(callNames().find("cudaFuncSetAttribute"), std::string::npos);
}

} // namespace
