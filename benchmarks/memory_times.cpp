//===- memory_times.cpp - kernels that only move bytes --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//   aicf-memory-times copies|reductions cpu|cuda [THREADS]
// Copies of views, for each permutation of a list and each size of elements, and
// reductions over each place of axes and each type. Results are checked, copies
// bit for bit and reductions against f64. Printed are microseconds, and the rate
// of bytes that must move as a part of that of a copy of the operand's bytes in
// the same run: on a GPU cudaMemcpyAsync within the card, on the CPU memcpy by
// the same threads. Medians of rounds in which both take turns. "odd" marks
// shapes whose rows are no whole vectors or shorter than 32 elements.
//===----------------------------------------------------------------------===//

#include "aicf/Device.h"
#include "lib/Base/Element.h"
#include "lib/Base/Walk.h"
#include "lib/Ops/Launch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

using namespace aicf;

namespace {

constexpr int kRounds = 11;

struct Permutation {
  const char *name;
  std::vector<int64_t> shape; ///< of the tensor that lies dense
  std::vector<size_t> order;  ///< dimension i of the view is order[i] of it
  bool isOdd = false;
};

/// Those of rank 3 and of matrices; heads of attention to and fro; images; patches.
const std::vector<Permutation> &permutations() {
  static const std::vector<Permutation> all = {
      {"matrix", {4096, 4096}, {1, 0}},
      {"rank 3: 0 2 1", {64, 512, 512}, {0, 2, 1}},
      {"rank 3: 1 0 2", {64, 512, 512}, {1, 0, 2}},
      {"rank 3: 1 2 0", {64, 512, 512}, {1, 2, 0}},
      {"rank 3: 2 0 1", {64, 512, 512}, {2, 0, 1}},
      {"rank 3: 2 1 0", {64, 512, 512}, {2, 1, 0}},
      {"rank 3, last of 48", {256, 1024, 48}, {0, 2, 1}},
      {"rank 4: 3 2 1 0", {64, 64, 64, 64}, {3, 2, 1, 0}},
      {"NHWC to NCHW, 256 channels", {16, 56, 56, 256}, {0, 3, 1, 2}},
      {"NCHW to NHWC, 256 channels", {16, 256, 56, 56}, {0, 2, 3, 1}},
      {"NHWC to NCHW, 32 channels", {16, 112, 112, 32}, {0, 3, 1, 2}},
      {"NCHW to NHWC, 32 channels", {16, 32, 112, 112}, {0, 2, 3, 1}},
      {"NHWC to NCHW, 64 x 64", {16, 64, 64, 128}, {0, 3, 1, 2}},
      {"time to heads", {8, 2048, 16, 64}, {0, 2, 1, 3}},
      {"heads to time", {8, 16, 2048, 64}, {0, 2, 1, 3}},
      {"keys of heads", {8, 2048, 16, 64}, {0, 2, 3, 1}},
      {"keys back", {8, 16, 64, 2048}, {0, 3, 1, 2}},
      {"packed q, k, v to heads", {8, 1024, 3, 16, 64}, {2, 0, 3, 1, 4}},
      {"heads to packed q, k, v", {3, 8, 16, 1024, 64}, {1, 3, 0, 2, 4}},
      {"patches of 8 x 8, 32 channels", {8, 28, 8, 28, 8, 32}, {0, 1, 3, 2, 4, 5}},
      {"patches back", {8, 28, 28, 8, 8, 32}, {0, 1, 3, 2, 4, 5}},
      {"windows of 7 x 7, 96 channels", {8, 8, 7, 8, 7, 96}, {0, 1, 3, 2, 4, 5}},
      {"patches of 16 x 16, RGB", {64, 14, 16, 14, 16, 3}, {0, 1, 3, 2, 4, 5}, true},
      {"patches, channels last", {64, 3, 14, 16, 14, 16}, {0, 2, 4, 3, 5, 1}, true},
      {"RGB to planes", {64, 224, 224, 3}, {0, 3, 1, 2}, true},
      {"planes to RGB", {64, 3, 224, 224}, {0, 2, 3, 1}, true},
      {"1000 x 7777", {1000, 7777}, {1, 0}, true},
      {"33 x 333 x 777", {33, 333, 777}, {2, 0, 1}, true},
  };
  return all;
}

/// Exits on an error: a benchmark without its device has nothing to say.
template <typename T> T check(StatusOr<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "memory_times: %s\n", result.status().toString().c_str());
    std::exit(3);
  }
  return std::move(*result);
}
void check(const Status &status) {
  if (!status.ok())
    check(StatusOr<int>(status));
}

/// `times` as large in the first dimension.
TensorDesc viewOf(Permutation p, DType dtype, int64_t times) {
  p.shape[0] *= times;
  std::vector<int64_t> dense(p.shape.size(), 1), shape, strides;
  for (size_t i = p.shape.size() - 1; i > 0; --i)
    dense[i - 1] = dense[i] * p.shape[i];
  for (size_t from : p.order) {
    shape.push_back(p.shape[from]);
    strides.push_back(dense[from]);
  }
  return TensorDesc::strided(dtype, shape, strides);
}

double medianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + int64_t(values.size()) / 2,
                   values.end());
  return values[values.size() / 2];
}

/// A reduction of [outer, size, inner] over the middle one.
struct Reduction {
  const char *name;
  int64_t outer, size, inner;
  bool isOdd = false;
};

const std::vector<Reduction> &reductions() {
  static const std::vector<Reduction> all = {
      {"rows of 64", 1 << 18, 64, 1},
      {"rows of 256", 1 << 16, 256, 1},
      {"rows of 1,024", 1 << 14, 1024, 1},
      {"rows of 4,096", 1 << 12, 4096, 1},
      {"rows of 65,536", 1 << 8, 65536, 1},
      {"all of it", 1, 1 << 24, 1},
      {"columns of 4,096 x 4,096", 1, 4096, 4096},
      {"columns of 262,144 x 64", 1, 1 << 18, 64},
      {"columns of 64 x 262,144", 1, 64, 1 << 18},
      {"the middle of 64 x 512 x 512", 64, 512, 512},
      {"the middle of 4,096 x 64 x 64", 4096, 64, 64},
      {"rows of 1,000", 16384, 1000, 1},
      {"rows of 777 (odd)", 20000, 777, 1, true},
      {"columns of 20,000 x 777 (odd)", 1, 20000, 777, true},
  };
  return all;
}

class Bench {
public:
  Bench(std::shared_ptr<Device> made, uint64_t bytes)
      : device(std::move(made)), stream(check(device->createStream())),
        x(check(device->allocate(bytes))), y(check(device->allocate(bytes))),
        workspace(check(device->allocate(kWorkspaceBytes))), host(bytes) {}
  /// A copy of `view`.
  void timeCopy(const TensorDesc &view);
  /// A reduction of x of the shape that the struct says.
  void timeReduction(OpKind kind, const Reduction &shape, DType dtype);
  /// Fills x with random bytes, or with numbers around 1.
  void fill(DType dtype);

private:
  static constexpr uint64_t kWorkspaceBytes = 64 << 20;
  Status copyBytes(uint64_t bytes);
  bool isExact(const TensorDesc &view);
  bool isClose(OpKind kind, const Reduction &shape, DType dtype);
  template <typename Work> double micros(Work work);
  template <typename Work> void report(Work work, bool isRight, double bytes,
                                       uint64_t copied);

  std::shared_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  void *x, *y, *workspace;
  std::vector<uint8_t> host; ///< what x holds
};

void Bench::fill(DType dtype) {
  std::mt19937 random(1);
  size_t size = sizeOf(dtype);
  for (size_t i = 0; i + size <= host.size(); i += size) {
    if (dtype == DType::I1)
      host[i] = uint8_t(random());
    else
      storeElement(dtype, &host[i], 0.5 + double(random() % 4096) / 4096);
  }
  check(device->copyToDevice(*stream, x, host.data(), host.size()));
}

/// cudaMemcpyAsync within a card, memcpy by all threads of a CPU.
Status Bench::copyBytes(uint64_t bytes) {
  return device->copyOnDevice(*stream, y, x, bytes);
}

template <typename Work> double Bench::micros(Work work) {
  const int repeats = device->kind() == DeviceKind::CPU ? 2 : 20;
  check(stream->synchronize());
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i)
    check(work());
  check(stream->synchronize());
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - begin)
             .count() /
         repeats;
}

/// Of some millions of elements.
bool Bench::isExact(const TensorDesc &view) {
  const size_t size = sizeOf(view.dtype);
  std::vector<uint8_t> got(view.dense().spanBytes());
  check(device->copyToHost(*stream, got.data(), y, got.size()));
  const Walk walk(view);
  const int64_t step = view.elements() / 2000000 | 1;
  for (int64_t i = 0; i < view.elements(); i += step)
    if (std::memcmp(&host[size_t(walk.at(i)) * size], &got[size_t(i) * size],
                    size) != 0)
      return false;
  return true;
}

/// Of some thousand results.
bool Bench::isClose(OpKind kind, const Reduction &shape, DType dtype) {
  const auto &[name, outer, size, inner, isOdd] = shape;
  const size_t bytes = sizeOf(dtype);
  std::vector<uint8_t> got(size_t(outer * inner) * bytes);
  check(device->copyToHost(*stream, got.data(), y, got.size()));
  const double tolerance = bytes == 2 ? 1e-2 : bytes == 4 ? 1e-5 : 1e-12;
  const int64_t step = std::max<int64_t>(1, outer * inner / 2000) | 1;
  for (int64_t at = 0; at < outer * inner; at += step) {
    double expected = kind == OpKind::ReduceSum ? 0 : -INFINITY;
    for (int64_t i = 0; i < size; ++i) {
      int64_t from = (at / inner * size + i) * inner + at % inner;
      double value = loadElement(dtype, &host[size_t(from) * bytes]);
      expected = kind == OpKind::ReduceSum ? expected + value
                                           : std::max(expected, value);
    }
    double actual = loadElement(dtype, &got[size_t(at) * bytes]);
    if (!(std::abs(actual - expected) <= tolerance * std::abs(expected)))
      return false;
  }
  return true;
}

/// `bytes` must move; the copy beside reads and writes `copied` bytes.
template <typename Work>
void Bench::report(Work work, bool isRight, double bytes, uint64_t copied) {
  std::vector<double> ours, copies;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(micros(work));
    copies.push_back(micros([&] { return copyBytes(copied); }));
  }
  double micros = medianOf(ours);
  std::printf(" %.1f us, %.0f %%%s |", micros,
              100 * (bytes / micros) /
                  (2 * double(copied) / medianOf(copies)),
              isRight ? "" : " WRONG");
  std::fflush(stdout);
}

void Bench::timeCopy(const TensorDesc &view) {
  const uint64_t bytes = view.dense().spanBytes();
  auto work = [&] {
    return opCall(*device, OpKind::Copy, {{x, view}}, {{y, view.dense()}},
                  infoOf(OpKind::Copy).schema, {}, *stream);
  };
  check(device->fill(*stream, y, 0xcd, bytes));
  check(work());
  report(work, isExact(view), 2 * double(bytes), bytes);
}

void Bench::timeReduction(OpKind kind, const Reduction &shape, DType dtype) {
  const auto &[name, outer, size, inner, isOdd] = shape;
  TensorDesc from(dtype, {outer, size, inner}), to(dtype, {outer, inner});
  std::vector<TensorView> outs = {{y, to}};
  const uint64_t results = to.spanBytes();
  if (kind != OpKind::ReduceSum) // and where it stands
    outs.push_back({static_cast<char *>(y) + (results + 255) / 256 * 256,
                    TensorDesc(DType::I32, {outer, inner})});
  std::vector<uint8_t> attrs = encodeAttrs(ReduceSumAttrs{1});
  TensorView scratch(workspace, TensorDesc(DType::I32, {kWorkspaceBytes / 4}));
  auto work = [&] {
    return opCall(*device, kind, {{x, from}}, outs, infoOf(kind).schema, attrs,
                  *stream, "auto", scratch);
  };
  check(device->fill(*stream, y, 0xcd, results));
  check(work());
  uint64_t index = kind == OpKind::ReduceSum ? 0 : uint64_t(outer * inner) * 4;
  report(work, isClose(kind, shape, dtype),
         double(from.spanBytes() + results + index), from.spanBytes());
}

using Types = std::vector<std::pair<const char *, DType>>;

void printHead(std::string_view what, const Types &types) {
  std::printf("| %.*s |", int(what.size()), what.data());
  for (auto [title, dtype] : types)
    std::printf(" %s |", title);
  std::printf("\n|---|");
  for (size_t i = 0; i < types.size(); ++i)
    std::printf("---|");
  std::printf("\n");
}

void timeCopies(Bench &bench, int64_t times) {
  const Types types = {{"4 bytes", DType::F32},
                       {"2 bytes", DType::F16},
                       {"8 bytes", DType::F64},
                       {"1 byte", DType::I1}};
  bench.fill(DType::I1);
  printHead("view", types);
  for (const Permutation &p : permutations()) {
    std::printf("| %s%s |", p.name, p.isOdd ? " (odd)" : "");
    for (auto [title, dtype] : types)
      bench.timeCopy(viewOf(p, dtype, times));
    std::printf("\n");
  }
}

void timeReductions(Bench &bench, int64_t times) {
  const Types types = {
      {"f32", DType::F32}, {"bf16", DType::BF16}, {"f64", DType::F64}};
  for (OpKind kind : {OpKind::ReduceSum, OpKind::ReduceMax}) {
    printHead(infoOf(kind).name, types);
    for (Reduction shape : reductions()) {
      (shape.outer > 1 ? shape.outer : shape.size) *= times;
      std::printf("| %s |", shape.name);
      for (auto [title, dtype] : types) {
        bench.fill(dtype);
        bench.timeReduction(kind, shape, dtype);
      }
      std::printf("\n");
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  std::string part = argc > 1 ? argv[1] : "", name = argc > 2 ? argv[2] : "";
  if ((part != "copies" && part != "reductions") ||
      (name != "cpu" && name != "cuda")) {
    std::fprintf(stderr, "usage: aicf-memory-times copies|reductions "
                         "cpu|cuda [THREADS]\n");
    return 2;
  }
  auto device = name == "cpu"
                    ? createCPUDevice({argc > 3 ? std::atoi(argv[3]) : 2})
                    : check(createCUDADevice());
  std::printf("%s\n\n", device->description().c_str());
  // Four times as much as a GPU has caches, and more than a CPU's.
  const int64_t times = name == "cpu" ? 1 : 4;
  Bench bench(device, uint64_t(times) << 28);
  (part == "copies" ? timeCopies : timeReductions)(bench, times);
}
