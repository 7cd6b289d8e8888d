//===- kernel_times.cpp - what each kernel of a product takes -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For each shape M N K on the command line ("64x128x64:f32", with :tf32 to let
// f32 use tf32) and each gemm kind: microseconds of every kernel that takes it,
// as one of 20 calls in a captured graph (each waits for the one before), the
// median of 9 launches. The shapes' products of a training step: forward NT,
// input gradient NN, weight gradient TN.
//===----------------------------------------------------------------------===//

#include "aicf/Device.h"
#include "kernels/KernelTable.h"
#include "lib/Base/Element.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

using namespace aicf;

namespace {

constexpr int kCallsPerGraph = 20, kLaunches = 9;

struct Shape {
  int64_t m, n, k;
  DType dtype = DType::F32;
};

/// Exits on an error: a benchmark without its device has nothing to say.
template <typename T> T check(StatusOr<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "kernel_times: %s\n",
                 result.status().toString().c_str());
    std::exit(3);
  }
  return std::move(*result);
}
void check(const Status &status) {
  if (!status.ok())
    check(StatusOr<int>(status));
}

struct Bench {
  std::shared_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  std::vector<void *> allocations;

  TensorView make(const TensorDesc &desc) {
    std::vector<uint8_t> bytes(desc.numBytes());
    std::mt19937 random(uint32_t(allocations.size() + 1));
    std::normal_distribution<float> normal;
    size_t size = sizeOf(desc.dtype);
    // A block of noise, repeated.
    size_t block = std::min<size_t>(bytes.size(), size_t(1) << 18);
    for (size_t at = 0; at + size <= block; at += size)
      storeElement(desc.dtype, bytes.data() + at, double(normal(random)));
    for (size_t at = block; at < bytes.size(); at += block)
      std::memcpy(bytes.data() + at, bytes.data(),
                  std::min(block, bytes.size() - at));
    void *memory = check(device->allocate(bytes.size()));
    allocations.push_back(memory);
    check(device->copyToDevice(*stream, memory, bytes.data(), bytes.size()));
    return {memory, desc};
  }
  void clear() {
    for (void *memory : allocations)
      device->deallocate(memory);
    allocations.clear();
  }
  /// Microseconds a call, or a negative number if the kernel refuses.
  double time(const CallRequest &request) {
    StatusOr<ResolvedCall> call = resolve(*device, request);
    if (!call.ok()) {
      std::printf("    %s\n", call.status().message().c_str());
      return -1;
    }
    check(launch(*call, *stream));
    check(graph_begin(*stream));
    for (int i = 0; i < kCallsPerGraph; ++i)
      check(launch(*call, *stream));
    auto graph = check(graph_end(*stream));
    std::vector<double> times;
    for (int i = 0; i < kLaunches + 2; ++i) {
      double micros = check(stream->launchTimed(*graph)) / kCallsPerGraph;
      if (i >= 2)
        times.push_back(micros);
    }
    std::nth_element(times.begin(), times.begin() + kLaunches / 2, times.end());
    return times[kLaunches / 2];
  }
};

void timeCall(Bench &bench, OpKind kind, const char *what, const Shape &s,
              int transA, int transB) {
  TensorDesc a(s.dtype, {transA ? s.k : s.m, transA ? s.m : s.k});
  TensorDesc b(s.dtype, {transB ? s.n : s.k, transB ? s.k : s.n});
  TensorDesc c(s.dtype, {s.m, s.n});
  std::vector<TensorDesc> in = {a, b}, out = {c};
  std::vector<uint8_t> attrs = encodeAttrs(GemmAttrs{transA, transB});
  if (kind == OpKind::GemmBias) {
    attrs = encodeAttrs(GemmBiasAttrs{transA, transB, 1});
    in.push_back(TensorDesc(s.dtype, {s.n}));
  } else if (kind == OpKind::GemmReluBwd) {
    in.push_back(c);
  } else if (kind == OpKind::GemmReduce) {
    out.push_back(TensorDesc(s.dtype, {s.m}));
  } else if (kind == OpKind::BiasAdd) {
    in = {c, TensorDesc(s.dtype, {s.n})};
    attrs = encodeAttrs(BiasAddAttrs{-1});
  } else if (kind == OpKind::ReluBwdReduce || kind == OpKind::ReluBwd) {
    in = {c, c};
    attrs = {};
    if (kind == OpKind::ReluBwdReduce)
      out.push_back(TensorDesc(s.dtype, {s.n}));
  } else if (kind == OpKind::ReduceSum) {
    in = {c};
    out = {TensorDesc(s.dtype, {s.n})};
    attrs = encodeAttrs(ReduceSumAttrs{0});
  }
  std::vector<TensorView> ins, outs;
  for (const TensorDesc &d : in)
    ins.push_back(bench.make(d));
  for (const TensorDesc &d : out)
    outs.push_back(bench.make(d));
  for (const KernelRow &row : kernelTable()) {
    if (row.device != DeviceKind::CUDA || row.kind != kind ||
        row.in0 != s.dtype || row.out0 != s.dtype)
      continue;
    TensorView workspace;
    if (uint64_t bytes = row.workspaceBytes(in, out))
      workspace = bench.make(TensorDesc(DType::I32, {int64_t(bytes / 4)}));
    if (!row.accepts(kind, in, out))
      continue;
    double micros = bench.time(
        {kind, ins, outs, infoOf(kind).schema, attrs, row.kid, workspace});
    std::printf("%-18s %5ldx%5ldx%5ld %-34s %9.2f us\n", what, long(s.m),
                long(s.n), long(s.k), std::string(row.kid).c_str(), micros);
  }
  bench.clear();
}

/// Or ends the program.
template <typename Enum>
Enum given(const char *what, std::optional<Enum> value, const char *text) {
  if (value)
    return *value;
  std::fprintf(stderr, "kernel_times: %s is '%s'\n", what, text);
  std::exit(2);
}

} // namespace

int main(int argc, char **argv) {
  CUDADeviceOptions options;
  if (const char *tune = std::getenv("AICF_TUNE"))
    options.tuning =
        given("AICF_TUNE", parseEnum<Tuning>(tune, kNumTunings), tune);
  Bench bench;
  bench.device = check(createCUDADevice(options));
  bench.stream = check(bench.device->createStream());
  std::printf("%s\n", bench.device->description().c_str());
  for (int i = 1; i < argc; ++i) {
    Shape s;
    char type[8] = "f32";
    if (std::sscanf(argv[i], "%ldx%ldx%ld:%7s", &s.m, &s.n, &s.k, type) < 3) {
      std::fprintf(stderr, "kernel_times: '%s' is not MxNxK[:dtype]\n",
                   argv[i]);
      return 2;
    }
    s.dtype = given("the dtype", parseEnum<DType>(type, kNumDTypes), type);
    timeCall(bench, OpKind::Gemm, "forward", s, 0, 1);
    timeCall(bench, OpKind::GemmBias, "forward bias relu", s, 0, 1);
    timeCall(bench, OpKind::BiasAdd, "bias", s, 0, 0);
    // x [m,k], dy [m,n]: dx [m,k] = dy·W, dW [n,k] = dyᵀ·x
    Shape dx{s.m, s.k, s.n, s.dtype}, dw{s.n, s.k, s.m, s.dtype};
    timeCall(bench, OpKind::Gemm, "dx", dx, 0, 0);
    timeCall(bench, OpKind::GemmReluBwd, "dx relu_bwd", dx, 0, 0);
    timeCall(bench, OpKind::ReluBwd, "relu_bwd", dx, 0, 0);
    timeCall(bench, OpKind::ReluBwdReduce, "relu_bwd db", dx, 0, 0);
    timeCall(bench, OpKind::ReduceSum, "db", s, 0, 0);
    timeCall(bench, OpKind::Gemm, "dW", dw, 1, 0);
    timeCall(bench, OpKind::GemmReduce, "dW db", dw, 1, 0);
  }
  return 0;
}
