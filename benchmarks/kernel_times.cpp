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
#include "lib/Base/Element.h"
#include "lib/Ops/KernelTable.h"

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
    std::vector<uint8_t> bytes(desc.spanBytes());
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
    check(stream->beginCapture());
    for (int i = 0; i < kCallsPerGraph; ++i)
      check(launch(*call, *stream));
    auto graph = check(stream->endCapture());
    std::vector<double> times;
    for (int i = 0; i < kLaunches + 2; ++i) {
      double micros =
          check(stream->launchTimed(*graph)).micros / kCallsPerGraph;
      if (i >= 2)
        times.push_back(micros);
    }
    std::nth_element(times.begin(), times.begin() + kLaunches / 2, times.end());
    return times[kLaunches / 2];
  }
};

/// What is timed: primitives in order, as in a call's body.
struct Problem {
  Body body;
  std::vector<TensorDesc> ins, outs;

  uint32_t operand(TensorDesc desc) {
    ins.push_back(std::move(desc));
    return uint32_t(ins.size() - 1);
  }
  /// Value numbers of results are given once all operands are known.
  template <typename Attrs>
  void add(OpKind kind, const Attrs &attrs, std::vector<int32_t> operands) {
    std::vector<uint8_t> blob;
    if constexpr (!std::is_same_v<Attrs, NoAttrs>)
      blob = encodeAttrs(attrs);
    body.primitives.push_back({kind, std::move(blob), std::move(operands)});
  }
  /// `yielded` counts results of all steps from 0.
  void yield(std::vector<uint32_t> yielded, std::vector<TensorDesc> types) {
    body.numOperands = uint32_t(ins.size());
    outs = std::move(types);
    for (uint32_t result : yielded)
      body.results.push_back(body.numOperands + result);
  }
};

void timeProblem(Bench &bench, const char *what, const Shape &s,
                 const Problem &problem) {
  auto body = std::make_shared<Body>(problem.body);
  StatusOr<TypedBody> typed =
      TypedBody::create(body, problem.ins, problem.outs);
  if (!typed.ok()) {
    std::printf("    %s: %s\n", what, typed.status().message().c_str());
    return;
  }
  std::vector<TensorView> ins, outs;
  for (const TensorDesc &d : problem.ins)
    ins.push_back(bench.make(d));
  for (const TensorDesc &d : problem.outs)
    outs.push_back(bench.make(d));
  for (const KernelRow &row : kernelsFor(DeviceKind::CUDA, typed->pattern())) {
    if (!row.accepts(*typed))
      continue;
    TensorView workspace;
    if (uint64_t bytes = row.workspaceBytes(*typed))
      workspace = bench.make(TensorDesc(DType::I32, {int64_t(bytes / 4)}));
    double micros = bench.time({body, ins, outs, row.kid, workspace});
    std::printf("%-18s %5ldx%5ldx%5ld %-34s %9.2f us\n", what, long(s.m),
                long(s.n), long(s.k), std::string(row.kid).c_str(), micros);
  }
  bench.clear();
}

/// The calls of a layer of one shape.
class Layer {
public:
  Layer(Bench &bench, const Shape &s)
      : bench(bench), s(s), x(s.dtype, {s.m, s.k}), w(s.dtype, {s.n, s.k}),
        y(s.dtype, {s.m, s.n}), b(s.dtype, {s.n}) {}

  void timeLinear();
  void timeGelu();
  void timeNorm();

private:
  static Problem product(const TensorDesc &a, const TensorDesc &b,
                         GemmAttrs attrs) {
    Problem p;
    p.operand(a);
    p.operand(b);
    p.add(OpKind::Gemm, attrs, {0, 1});
    return p;
  }
  void time(const char *what, Problem p, std::vector<uint32_t> yielded,
            std::vector<TensorDesc> types) {
    p.yield(std::move(yielded), std::move(types));
    timeProblem(bench, what, s, p);
  }
  template <typename Attrs>
  void single(const char *what, OpKind kind, const Attrs &attrs,
              const std::vector<TensorDesc> &ins,
              std::vector<TensorDesc> outs) {
    Problem p;
    std::vector<int32_t> numbers;
    for (const TensorDesc &in : ins)
      numbers.push_back(int32_t(p.operand(in)));
    p.add(kind, attrs, numbers);
    std::vector<uint32_t> yielded;
    for (uint32_t i = 0; i < outs.size(); ++i)
      yielded.push_back(i);
    time(what, p, yielded, std::move(outs));
  }

  Bench &bench;
  Shape s;
  TensorDesc x, w, y, b;
};

/// A linear layer x·Wᵀ + b behind a relu and its gradients, alone and with what
/// may stand in one call with them.
void Layer::timeLinear() {
  time("forward", product(x, w, {0, 1}), {0}, {y});
  Problem p = product(x, w, {0, 1});
  p.operand(b);
  p.add(OpKind::BiasAdd, BiasAddAttrs{-1}, {3, 2});
  time("forward bias", p, {1}, {y});
  p.add(OpKind::Relu, NoAttrs(), {4});
  time("forward bias relu", p, {2}, {y});
  single("bias", OpKind::BiasAdd, BiasAddAttrs{-1}, {y, b}, {y});
  time("dx", product(y, w, {0, 0}), {0}, {x});
  p = product(y, w, {0, 0});
  p.operand(x);
  p.add(OpKind::ReluBwd, NoAttrs(), {3, 2});
  time("dx relu_bwd", p, {1}, {x});
  single("relu_bwd", OpKind::ReluBwd, NoAttrs(), {x, x}, {x});
  Problem r;
  r.operand(x);
  r.operand(x);
  r.add(OpKind::ReluBwd, NoAttrs(), {0, 1});
  r.add(OpKind::ReduceSum, ReduceSumAttrs{0}, {2});
  time("relu_bwd db", r, {0, 1}, {x, TensorDesc(s.dtype, {s.k})});
  single("db", OpKind::ReduceSum, ReduceSumAttrs{0}, {y}, {b});
  time("dW", product(y, x, {1, 0}), {0}, {w});
  p = product(y, x, {1, 0});
  p.add(OpKind::ReduceSum, ReduceSumAttrs{0}, {0});
  time("dW db", p, {0, 1}, {w, b});
}

/// The same with gelu (tanh): in 16 bits the library does it on the way out.
void Layer::timeGelu() {
  single("gelu", OpKind::Gelu, GeluAttrs{1}, {y}, {y});
  single("gelu_bwd", OpKind::GeluBwd, GeluBwdAttrs{1}, {x, x}, {x});
  Problem p = product(x, w, {0, 1});
  p.operand(b);
  p.add(OpKind::BiasAdd, BiasAddAttrs{-1}, {3, 2});
  p.add(OpKind::Gelu, GeluAttrs{1}, {4});
  time("forward bias gelu", p, {2}, {y});
  time("... operand kept", p, {1, 2}, {y, y});
  p = product(y, w, {0, 0});
  p.operand(x);
  p.add(OpKind::GeluBwd, GeluBwdAttrs{1}, {3, 2});
  time("dx gelu_bwd", p, {1}, {x});
}

/// Rows of m x n: a residual and the norm behind it.
void Layer::timeNorm() {
  TensorDesc perRow(s.dtype, {s.m});
  single("add", OpKind::Add, NoAttrs(), {y, y}, {y});
  single("layer_norm", OpKind::LayerNorm, LayerNormAttrs{1e-5}, {y, b, b},
         {y, perRow, perRow});
  Problem p;
  for (const TensorDesc &operand : {y, y, b, b})
    p.operand(operand);
  p.add(OpKind::Add, NoAttrs(), {0, 1});
  p.add(OpKind::LayerNorm, LayerNormAttrs{1e-5}, {4, 2, 3});
  time("add layer_norm", p, {0, 1, 2, 3}, {y, y, perRow, perRow});
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
    Layer layer(bench, s);
    layer.timeLinear();
    layer.timeGelu();
    layer.timeNorm();
  }
  return 0;
}
