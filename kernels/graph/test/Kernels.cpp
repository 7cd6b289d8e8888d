//===- Kernels.cpp - random graphs beside their primitives ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A graph's kernel gives the bits of its primitives one by one. Sums of a graph
// are near those in f64, and do not depend on where operands lie. What reads a
// sum inside has the bits that come of the sum that the kernel gives. Graphs
// are made of whatever elementwise primitives there are samples of, of operands
// that lie anywhere, and any of their values are results. AICF_RANDOM_GRAPHS
// says how many (300), and AICF_RANDOM_SEED from which seed on (1).
//===----------------------------------------------------------------------===//

#include "kernels/graph/CpuProgram.h"
#include "kernels/graph/Family.h"
#include "unittests/Common/RandomReductions.h"
#include "unittests/Kernels/KernelCase.h"

#include "lib/Base/Element.h"
#include "lib/Base/Walk.h"

#include <cstdlib>
#include <cstring>

using namespace aicf;
using namespace aicf::test;

namespace {

int64_t numberFrom(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

int64_t numGraphs() { return numberFrom("AICF_RANDOM_GRAPHS", 300); }

bool isHalf(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }
DType wide(DType dtype) { return isHalf(dtype) ? DType::F32 : dtype; }

Operand randomOperand(const TensorDesc &desc, std::mt19937 &random) {
  Operand o;
  o.reference.desc = desc;
  o.bytes.resize(desc.spanBytes());
  std::normal_distribution<double> normal;
  const size_t size = sizeOf(desc.dtype);
  for (size_t i = 0; i < o.bytes.size() / size; ++i) {
    double value = random() % 50 == 0 ? 0 : normal(random);
    if (desc.dtype == DType::I1)
      value = value > 0;
    else if (desc.dtype == DType::I32 || desc.dtype == DType::I64)
      value = std::round(5 * value);
    storeElement(desc.dtype, &o.bytes[i * size], value);
  }
  return o;
}

/// The elements of a tensor in row-major order.
std::vector<uint8_t> denseBytes(const Operand &o) {
  const size_t size = sizeOf(o.reference.desc.dtype);
  std::vector<uint8_t> bytes(size_t(o.reference.desc.elements()) * size);
  Walk walk(o.reference.desc);
  for (int64_t i = 0; i < o.reference.desc.elements(); ++i)
    std::memcpy(&bytes[size_t(i) * size], &o.bytes[size_t(walk.at(i)) * size],
                size);
  return bytes;
}

/// One primitive on dense tensors.
Operand runOne(OpKind kind, const std::vector<uint8_t> &attrs,
               const std::vector<const Operand *> &ins,
               const TensorDesc &result) {
  Case one;
  for (const Operand *in : ins)
    one.ins.push_back(*in);
  one.outs.push_back({std::vector<uint8_t>(result.spanBytes()), {result, {}}});
  one.attrs = attrs;
  Status status = call(kind, one, 1);
  EXPECT_TRUE(status.ok()) << status.toString();
  return one.outs[0];
}
Operand castTo(const Operand &from, DType dtype) {
  return from.reference.desc.dtype == dtype
             ? from
             : runOne(OpKind::Cast, {}, {&from},
                      TensorDesc(dtype, from.reference.desc.shape()));
}

/// A result: its bytes, and for sums what they are in f64, and how far off they
/// may be.
struct Expected {
  std::vector<uint8_t> bytes;
  std::vector<double> sums, bounds;
};

int64_t axisOf(const Primitive &primitive) {
  int64_t axis = 0;
  std::memcpy(&axis, primitive.attrs.data(), sizeof(axis));
  return axis;
}

/// Element by element of x: that of y which it belongs to.
std::vector<size_t> sumOfEach(const TensorDesc &x, const TensorDesc &y,
                              int64_t axis) {
  // By the shape of y: one dimension is gone or 1, or all up to it are gone.
  const bool isLeading = y.rank + axis + 1 == x.rank;
  std::vector<size_t> all;
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t rest = i, place = 1, of = 0;
    for (int64_t d = x.rank - 1; d >= 0; rest /= x.dims[d--]) {
      if (d == axis || (isLeading && d < axis))
        continue;
      of += rest % x.dims[d] * place;
      place *= x.dims[d];
    }
    all.push_back(size_t(of));
  }
  return all;
}

/// Sums of `x`, which is dense, or means. What is summed in f32 is off by some
/// ulps of the numbers that are added.
Expected sumInF64(const Operand &x, const TensorDesc &y,
                  const Primitive &primitive) {
  Expected expected;
  expected.sums.assign(size_t(y.elements()), 0);
  expected.bounds = expected.sums;
  const std::vector<size_t> of =
      sumOfEach(x.reference.desc, y, axisOf(primitive));
  const size_t size = sizeOf(x.reference.desc.dtype);
  for (size_t i = 0; i < of.size(); ++i) {
    double number = loadElement(x.reference.desc.dtype, &x.bytes[i * size]);
    expected.sums[of[i]] += number;
    expected.bounds[of[i]] += std::abs(number);
  }
  const double count = primitive.kind == OpKind::ReduceMean
                           ? double(of.size() / expected.sums.size())
                           : 1;
  const double ulp = y.dtype == DType::F64 ? 1e-14 : 2e-6;
  const double rounding = y.dtype == DType::F16    ? 1e-3
                          : y.dtype == DType::BF16 ? 8e-3
                                                   : 0;
  for (size_t i = 0; i < expected.sums.size(); ++i) {
    expected.sums[i] /= count;
    expected.bounds[i] = ulp * expected.bounds[i] / count +
                         rounding * std::abs(expected.sums[i]) + 1e-7;
  }
  return expected;
}

/// What is left of a reduction, dense, in the shape of what was reduced.
Operand repeated(const Operand &left, const TensorDesc &whole, int64_t axis) {
  const size_t size = sizeOf(left.reference.desc.dtype);
  Operand all;
  all.reference.desc = TensorDesc(left.reference.desc.dtype, whole.shape());
  all.bytes.resize(all.reference.desc.spanBytes());
  const std::vector<size_t> of = sumOfEach(whole, left.reference.desc, axis);
  for (size_t i = 0; i < of.size(); ++i)
    std::memcpy(&all.bytes[i * size], &left.bytes[of[i] * size], size);
  return all;
}

/// What the graph's results should be: every primitive by itself, in the type
/// that it computes in, with its result rounded to its own. What reads a sum is
/// computed of the one among `given`, the results that a kernel gave.
std::vector<Expected> runApart(const Case &c,
                               const std::vector<Operand> &given) {
  const Body &body = *c.body;
  std::vector<Operand> values;
  for (const Operand &in : c.ins) {
    Operand dense{denseBytes(in), {in.reference.desc.dense(), {}}};
    values.push_back(castTo(dense, wide(dense.reference.desc.dtype)));
  }
  const std::vector<TensorDesc> types = valueTypes(c);
  std::vector<Expected> sums(body.numValues());
  for (const Primitive &primitive : body.primitives) {
    const TensorDesc &type = types[values.size()];
    DType stored = type.dtype;
    std::vector<const Operand *> of;
    for (int32_t operand : primitive.operands)
      of.push_back(&values[size_t(operand)]);
    if (infoOf(primitive.kind).isSum()) {
      Expected &sum = sums[values.size()];
      sum = sumInF64(*of[0], type, primitive);
      const Operand summed =
          castTo(*of[0], types[size_t(primitive.operands[0])].dtype);
      sum.bytes =
          runOne(primitive.kind, primitive.attrs, {&summed}, type.dense())
              .bytes;
      const auto result = std::find(body.results.begin(), body.results.end(),
                                    uint32_t(values.size())) -
                          body.results.begin();
      values.push_back(castTo(given[size_t(result)], wide(stored)));
      continue;
    }
    if (isRepeat(primitive.kind)) {
      values.push_back(repeated(*of[0], type, axisOf(primitive)));
      continue;
    }
    Operand made = elementwiseKind(primitive.kind) == OpKind::Cast
                       ? *of[0]
                       : runOne(primitive.kind, primitive.attrs, of,
                                TensorDesc(wide(stored), type.shape()));
    values.push_back(castTo(castTo(made, stored), wide(stored)));
  }
  std::vector<Expected> results;
  for (size_t r = 0; r < body.results.size(); ++r) {
    const uint32_t value = body.results[r];
    results.push_back(std::move(sums[value]));
    if (results.back().sums.empty())
      results.back().bytes =
          castTo(values[value], c.outs[r].reference.desc.dtype).bytes;
  }
  return results;
}

bool isNaN(DType dtype, const uint8_t *at) {
  return dtype != DType::I1 && dtype != DType::I32 && dtype != DType::I64 &&
         std::isnan(loadElement(dtype, at));
}

/// The same bits, where any NaN is one.
::testing::AssertionResult areEqual(DType dtype, const std::vector<uint8_t> &a,
                                    const std::vector<uint8_t> &b) {
  const size_t size = sizeOf(dtype);
  for (size_t i = 0; i < a.size(); i += size)
    if (std::memcmp(&a[i], &b[i], size) != 0 &&
        !(isNaN(dtype, &a[i]) && isNaN(dtype, &b[i])))
      return ::testing::AssertionFailure()
             << "element " << i / size << " of " << a.size() / size << " is "
             << loadElement(dtype, &a[i]) << ", expected "
             << loadElement(dtype, &b[i]);
  return ::testing::AssertionSuccess();
}

/// The sums, but where one is not a finite number.
::testing::AssertionResult areNear(DType dtype, const std::vector<uint8_t> &a,
                                   const Expected &expected) {
  for (size_t i = 0; i < expected.sums.size(); ++i) {
    const double sum = loadElement(dtype, &a[i * sizeOf(dtype)]);
    const double wanted = expected.sums[i];
    const double most = dtype == DType::F16 ? 6e4 : 1e38;
    if (!(std::abs(wanted) < most && expected.bounds[i] < most))
      continue;
    if (!(std::abs(sum - wanted) <= expected.bounds[i]))
      return ::testing::AssertionFailure()
             << "sum " << i << " of " << expected.sums.size() << " is " << sum
             << ", expected " << wanted << " to within " << expected.bounds[i];
  }
  return ::testing::AssertionSuccess();
}

Case caseOf(const Sample &sample, std::mt19937 &random) {
  Case c;
  c.body = sample.body;
  for (const TensorDesc &desc : sample.ins)
    c.ins.push_back(randomOperand(desc, random));
  for (const TensorDesc &desc : sample.outs)
    c.outs.push_back(
        {std::vector<uint8_t>(desc.spanBytes(), 0xa5), {desc, {}}});
  return c;
}

/// What is left of reductions is dense, and takes nobody's memory.
Extent extentOf(const Body &body, uint32_t value) {
  return graphExtents(body)[value];
}

/// Results that are views: every second column of something wider.
void spreadResults(Case &c, std::mt19937 &random) {
  for (Operand &o : c.outs) {
    const TensorDesc dense = o.reference.desc;
    const uint32_t value = c.body->results[size_t(&o - c.outs.data())];
    if (extentOf(*c.body, value) != Extent::Whole || random() % 3 ||
        dense.rank == 0)
      continue;
    std::vector<int64_t> strides;
    for (size_t i = 0; i < dense.rank; ++i)
      strides.push_back(2 * dense.stride(i));
    o.reference.desc = TensorDesc::strided(dense.dtype, dense.shape(), strides);
    o.bytes.assign(o.reference.desc.spanBytes(), 0xa5);
  }
}

/// Results on operands of their type; returns how many there are.
size_t overlay(OnDevice &memory, const Case &c) {
  size_t count = 0;
  std::vector<bool> isTaken(c.ins.size());
  for (size_t r = 0; r < c.outs.size(); ++r)
    for (size_t i = 0; i < c.ins.size(); ++i)
      if (!isTaken[i] &&
          extentOf(*c.body, c.body->results[r]) == Extent::Whole &&
          extentOf(*c.body, uint32_t(i)) == Extent::Whole &&
          c.ins[i].reference.desc == c.outs[r].reference.desc) {
        memory.outs[r] = memory.ins[i];
        isTaken[i] = true;
        ++count;
        break;
      }
  return count;
}

struct Counts {
  size_t ran = 0, inPlace = 0;
};

/// Runs a graph apart from its operands, and over them.
void check(const Case &fresh, Device &device, const std::string &where,
           Counts &counts) {
  for (bool isInPlace : {false, true}) {
    Case c = fresh;
    OnDevice memory(device, c);
    if (isInPlace)
      counts.inPlace += overlay(memory, c);
    Status status = memory.run(c.body->primitives.front().kind);
    ASSERT_TRUE(status.ok()) << status.toString() << where;
    std::vector<Operand> results;
    for (size_t r = 0; r < c.outs.size(); ++r) {
      Operand result{memory.download(memory.outs[r]),
                     {c.outs[r].reference.desc, {}}};
      results.push_back(
          {denseBytes(result), {result.reference.desc.dense(), {}}});
    }
    const std::vector<Expected> expected = runApart(fresh, results);
    for (size_t r = 0; r < c.outs.size(); ++r) {
      const DType dtype = results[r].reference.desc.dtype;
      const bool isSum = !expected[r].sums.empty();
      if (isSum) {
        EXPECT_TRUE(areNear(dtype, results[r].bytes, expected[r]))
            << where << ": result " << r;
      }
      // A GPU adds in another order in a graph.
      if (!isSum || device.kind() == DeviceKind::CPU) {
        EXPECT_TRUE(areEqual(dtype, results[r].bytes, expected[r].bytes))
            << where << ": result " << r << (isInPlace ? ", in place" : "");
      }
    }
    ++counts.ran;
  }
}

/// True if the device goes over the reductions of the graph in one call.
bool hasKernel(const Sample &sample, const Device &device) {
  StatusOr<TypedBody> typed = typedBodyOf(sample);
  EXPECT_TRUE(typed.ok()) << typed.status().toString();
  return typed.ok() && selectKernel(device.kind(), *typed);
}

/// Calls check(case, where) for random graphs of a pattern, until one fails.
template <typename Check>
void forRandomGraphs(PatternId pattern, const Device &device, Check check) {
  const auto first = uint32_t(numberFrom("AICF_RANDOM_SEED", 1));
  constexpr DType kTypes[] = {DType::F32, DType::F32, DType::F64, DType::F16,
                              DType::BF16};
  for (uint32_t seed = first; seed < first + numGraphs(); ++seed) {
    std::mt19937 random(seed);
    const bool hasSums = pattern == patterns::PointwiseSums;
    const bool hasProduct = pattern == patterns::ProductGraph;
    const DType dtype = kTypes[random() % 5];
    Sample sample =
        pattern == patterns::ReductionGraph
            ? RandomReductions(dtype, random).make()
            : RandomGraph(dtype, random, hasSums, hasProduct).make();
    if (sample.body->primitives.size() < 2 ||
        factsOf(*sample.body).pattern != pattern ||
        (pattern != patterns::PointwiseGraph && !hasKernel(sample, device)))
      continue;
    Case fresh = caseOf(sample, random);
    spreadResults(fresh, random);
    check(fresh, " (AICF_RANDOM_SEED=" + std::to_string(seed) +
                     "): " + primitiveNames(*fresh.body));
    if (testing::Test::HasFailure())
      return;
  }
}

/// Random graphs of a pattern, of which more than `leastInPlace` results take
/// the storage of an operand.
void checkBits(PatternId pattern, size_t leastInPlace) {
  auto device = makeDevice(2);
  if (kernelsFor(device->kind(), pattern).size() == 0)
    GTEST_SKIP() << "the device has no kernel of " << nameOfPattern(pattern);
  Counts counts;
  forRandomGraphs(pattern, *device,
                  [&](const Case &fresh, const std::string &where) {
                    check(fresh, *device, where, counts);
                  });
  EXPECT_GT(counts.ran, size_t(numGraphs())); // twice each
  EXPECT_GT(counts.inPlace, leastInPlace);
}
TEST(PointwiseGraph, HasTheBitsOfItsPrimitives) {
  checkBits(patterns::PointwiseGraph, size_t(numGraphs() / 4));
}
TEST(ProductGraph, HasTheBitsOfItsPrimitives) {
  checkBits(patterns::ProductGraph, size_t(numGraphs() / 8));
}

/// The same, and each sum twice: where the operands lie changes no bit.
void checkSums(PatternId pattern) {
  auto device = makeDevice(2);
  if (kernelsFor(device->kind(), pattern).size() == 0)
    GTEST_SKIP() << "the device has no kernel of graphs with sums";
  Counts counts;
  forRandomGraphs(
      pattern, *device, [&](const Case &fresh, const std::string &where) {
        check(fresh, *device, where, counts);
        Case elsewhere = fresh, dense = fresh;
        for (Operand &in : dense.ins)
          in = {denseBytes(in), {in.reference.desc.dense(), {}}};
        for (Case *c : {&elsewhere, &dense}) {
          OnDevice memory(*device, *c);
          ASSERT_TRUE(memory.run(c->body->primitives.front().kind).ok())
              << where;
          memory.fetch();
        }
        for (size_t r = 0; r < fresh.outs.size(); ++r)
          if (isSumOf(*fresh.body, fresh.body->results[r])) {
            EXPECT_TRUE(areEqual(fresh.outs[r].reference.desc.dtype,
                                 dense.outs[r].bytes, elsewhere.outs[r].bytes))
                << where;
          }
      });
  // Twice each. A CPU has no kernel for columns that are read again.
  const int64_t few =
      device->kind() == DeviceKind::CPU && pattern == patterns::ReductionGraph
          ? 4
          : 1;
  EXPECT_GT(counts.ran, size_t(numGraphs() / 2 / few));
  EXPECT_GT(counts.inPlace, size_t(numGraphs() / 16 / few));
}
/// A CPU goes over whole rows where something reads what is left of them,
/// whoever asks for more.
TEST(ReductionGraph, OfColumnsHasNoProgramOnTheCpu) {
  GraphBuilder graph;
  const TensorDesc x(DType::F32, {64, 32}), left(DType::F32, {32});
  GraphBuilder::Value in = graph.operand(x);
  GraphBuilder::Value sums =
      graph.add(OpKind::ReduceSum, {graph.add(OpKind::Square, {in})},
                encodeAttrs(ReduceSumAttrs{0}), left);
  const Sample sample = graph.finish({graph.add(
      OpKind::Add, {in, graph.add(OpKind::Expand, {sums},
                                  encodeAttrs(ExpandAttrs{0}), x)})});
  StatusOr<TypedBody> typed = typedBodyOf(sample);
  ASSERT_TRUE(typed.ok()) << typed.status().toString();
  std::vector<TensorView> values;
  for (const TensorDesc &desc : typed->values())
    values.push_back({nullptr, desc});
  const Status status =
      cpu::GraphProgram::create(*sample.body, values).status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_EQ(status.message(), "the reductions of a graph do not go together");
}

/// (x - mean) * gain, with 0 for x where a mask says so. x and the mask are
/// read once more when the mean is known. Rows of x may lie apart.
Sample makeLong(DType dtype, const std::vector<int64_t> &shape, size_t axis,
                int64_t padding) {
  GraphBuilder graph;
  const TensorDesc whole(dtype, shape);
  std::vector<int64_t> left = shape, strides, repeats(shape.size());
  left.erase(left.begin() + int64_t(axis));
  repeats[axis] = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    strides.push_back(whole.stride(i) / shape.back() *
                      (shape.back() + padding));
  strides.back() = 1;
  GraphBuilder::Value x = graph.operand(
      padding ? TensorDesc::strided(dtype, shape, strides) : whole);
  GraphBuilder::Value mask = graph.operand(TensorDesc(DType::I1, shape));
  GraphBuilder::Value gain =
      graph.operand(TensorDesc::strided(dtype, shape, repeats));
  GraphBuilder::Value masked = graph.add(
      OpKind::MaskedFill, {x, mask}, encodeAttrs(MaskedFillAttrs{0, 0}), whole);
  GraphBuilder::Value mean = graph.add(
      OpKind::ReduceMean, {masked}, encodeAttrs(ReduceMeanAttrs{int64_t(axis)}),
      TensorDesc(dtype, left));
  GraphBuilder::Value centred = graph.add(
      OpKind::Sub,
      {masked, graph.add(OpKind::Expand, {mean},
                         encodeAttrs(ExpandAttrs{int64_t(axis)}), whole)});
  return graph.finish({mean, graph.add(OpKind::Mul, {centred, gain})});
}

/// Rows and columns that are longer than the registers of a group, and than the
/// shared memory of a GPU, apart from their operands and over them.
TEST(ReductionGraph, OfLongRowsHasTheBitsOfItsPrimitives) {
  auto device = makeDevice(2);
  if (device->kind() == DeviceKind::CPU)
    GTEST_SKIP() << "a CPU has no such graphs of more than 8192 elements";
  struct Row {
    DType dtype;
    std::vector<int64_t> shape; ///< enough groups for each multiprocessor
    size_t axis;
    int64_t padding = 0;
  };
  std::mt19937 random(1);
  Counts counts;
  for (const Row &row : {Row{DType::F32, {140, 20002}, 1},
                         {DType::F32, {140, 50008}, 1},
                         {DType::F64, {140, 30000}, 1},
                         {DType::BF16, {140, 50008}, 1, 8},
                         {DType::F32, {5000, 2240}, 0},
                         {DType::F32, {2, 3001, 1120}, 1},
                         {DType::F64, {6000, 2240}, 0},
                         {DType::BF16, {12502, 2240}, 0, 8}}) {
    const Sample sample = makeLong(row.dtype, row.shape, row.axis, row.padding);
    const std::string where =
        sample.ins[0].toString() + ", axis " + std::to_string(row.axis);
    ASSERT_TRUE(hasKernel(sample, *device)) << where;
    check(caseOf(sample, random), *device, where, counts);
    if (HasFailure())
      return;
  }
  EXPECT_GE(counts.inPlace, 4u);
}

/// A family whose list the registry did not find would be slow in graphs. A
/// draw depends on an element's number.
TEST(PointwiseGraph, HasALoopForEachElementwisePrimitive) {
  for (size_t i = 0; i < kNumOpKinds; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (!mayBeInGraph(kind) || elementwiseKind(kind) != kind || isCopy(kind) ||
        knowsNumbers(kind))
      continue;
    const Span<const KernelRow> rows =
        kernelsFor(DeviceKind::CPU, PatternId(kind));
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                            [](const KernelRow &row) {
                              return cpu::findElementsFunction(row.kid);
                            }))
        << nameOf(kind);
  }
}

/// Kernels of single elements have a loop that a graph runs by itself; others
/// have none.
TEST(PointwiseGraph, HasLoopsOfElements) {
  for (const char *kid : {"gelu_f32_v0", "less_f64_i1_v0", "masked_fill_f32_v0",
                          "add_f32_v0", "cast_bf16_f32_v0"})
    EXPECT_TRUE(cpu::findElementsFunction(kid)) << kid;
  for (const char *kid :
       {"gelu_graph_v0", "softmax_f32_v0", "copy_f32_v0", "unknown"})
    EXPECT_FALSE(cpu::findElementsFunction(kid)) << kid;
}

/// A long chain of 16-bit values that are equal in all rows: each is computed
/// once, and takes room until the end.
TEST(ReductionGraph, HasRoomForWhatAllPiecesShare) {
  auto device = makeDevice(2);
  if (device->kind() != DeviceKind::CPU)
    GTEST_SKIP() << "a GPU has other limits";
  const TensorDesc x(DType::BF16, {8, 4096});
  GraphBuilder graph;
  GraphBuilder::Value last =
      graph.operand(TensorDesc::strided(DType::BF16, x.shape(), {0, 1}));
  for (int i = 0; i < 10; ++i)
    last = graph.add(i % 2 ? OpKind::Sigmoid : OpKind::Tanh, {last});
  GraphBuilder::Value sum = graph.add(OpKind::Add, {graph.operand(x), last});
  const Sample sample = graph.finish({graph.add(OpKind::Softmax, {sum})});
  ASSERT_TRUE(hasKernel(sample, *device));
  std::mt19937 random{1};
  Counts counts;
  check(caseOf(sample, random), *device, "shared", counts);
  EXPECT_EQ(counts.ran, 2u);
}

TEST(PointwiseSums, AreNearThoseInF64) { checkSums(patterns::PointwiseSums); }
TEST(ReductionGraph, HasSumsNearThoseInF64) {
  checkSums(patterns::ReductionGraph);
}

constexpr OpKind kDefinedByRows[] = {OpKind::Softmax, OpKind::SoftmaxBwd,
                                     OpKind::LogSoftmax, OpKind::LogSoftmaxBwd,
                                     OpKind::LayerNorm};

/// A call of one of these, with random operands.
Case makeRows(OpKind kind, DType dtype, int64_t rows, int64_t width) {
  const TensorDesc x(dtype, {rows, width}), row(dtype, {width}),
      left(dtype, {rows});
  std::mt19937 random{uint32_t(width)};
  Case c;
  const size_t numOperands = infoOf(kind).numOperands;
  for (size_t i = 0; i < numOperands; ++i)
    c.ins.push_back(randomOperand(numOperands == 3 && i > 0 ? row : x, random));
  for (size_t r = 0; r < infoOf(kind).numResults; ++r) {
    const TensorDesc &desc = r == 0 ? x : left;
    c.outs.push_back({std::vector<uint8_t>(desc.spanBytes()), {desc, {}}});
  }
  if (kind == OpKind::LayerNorm)
    c.attrs = encodeAttrs(LayerNormAttrs{1e-3});
  return c;
}

/// The same call in f64 on the CPU, whose kernels other tests compare.
Case inF64(OpKind kind, const Case &c) {
  Case wide;
  wide.attrs = c.attrs;
  for (const Operand &in : c.ins)
    wide.ins.push_back(castTo(in, DType::F64));
  for (const Operand &out : c.outs) {
    TensorDesc desc(DType::F64, out.reference.desc.shape());
    wide.outs.push_back({std::vector<uint8_t>(desc.spanBytes()), {desc, {}}});
  }
  Status status = call(kind, wide, 1);
  EXPECT_TRUE(status.ok()) << status.toString();
  return wide;
}

/// A step of f64 numbers over the middle of [outer, size, inner].
Operand runStep(const RowGraph &graph, size_t p,
                const std::vector<const Operand *> &of) {
  const Primitive &primitive = graph.body.primitives[p];
  if (graph.steps[p] == RowStep::Elementwise)
    return runOne(primitive.kind, primitive.attrs, of,
                  TensorDesc(DType::F64, of[0]->reference.desc.shape()));
  const TensorDesc desc(DType::F64, graph.types[graph.valueOf(p)].shape());
  Operand made{std::vector<uint8_t>(desc.spanBytes()), {desc, {}}};
  for (int64_t o = 0; o < graph.outer; ++o)
    for (int64_t i = 0; i < graph.inner; ++i) {
      const auto left = size_t(o * graph.inner + i);
      double reduced = graph.steps[p] == RowStep::Max ? -INFINITY : 0;
      for (int64_t s = 0; s < graph.size; ++s) {
        const auto at = size_t((o * graph.size + s) * graph.inner + i);
        if (graph.steps[p] == RowStep::Repeat)
          store(made, at, load(*of[0], left));
        else if (graph.steps[p] == RowStep::Max)
          reduced = std::max(reduced, load(*of[0], at));
        else
          reduced += load(*of[0], at);
      }
      if (graph.steps[p] == RowStep::Mean)
        reduced /= double(graph.size);
      if (graph.isReduction(p))
        store(made, left, reduced);
    }
  return made;
}

/// What a primitive is spelled out as computes what its own kernel does.
TEST(RowGraphs, ComputeWhatTheyDefine) {
  for (OpKind kind : kDefinedByRows) {
    Case c = makeRows(kind, DType::F64, 7, 33);
    const size_t numOperands = c.ins.size();
    StatusOr<TypedBody> typed = typedBodyOf(c.sample(kind));
    ASSERT_TRUE(typed.ok()) << typed.status().toString();
    auto graph = rowGraphOf(typed->body(), typed->values());
    ASSERT_TRUE(graph.has_value()) << nameOf(kind);
    std::vector<Operand> values;
    for (size_t i = 0; i < numOperands; ++i) {
      Operand seen{c.ins[i].bytes, {graph->types[i], {}}};
      values.push_back({denseBytes(seen), {graph->types[i].dense(), {}}});
    }
    for (size_t p = 0; p < graph->steps.size(); ++p) {
      std::vector<const Operand *> of;
      for (int32_t operand : graph->body.primitives[p].operands)
        of.push_back(&values[size_t(operand)]);
      values.push_back(runStep(*graph, p, of));
    }
    Case expected = inF64(kind, c);
    for (size_t r = 0; r < c.outs.size(); ++r)
      for (size_t i = 0; i < size_t(c.outs[r].reference.desc.elements()); ++i)
        ASSERT_NEAR(load(values[graph->body.results[r]], i),
                    load(expected.outs[r], i), 1e-12)
            << nameOf(kind) << ": element " << i << " of result " << r;
  }
}

/// A primitive of large tensors that is defined by rows, beside that in f64.
void checkRows(Device &device, OpKind kind, DType dtype, int64_t rows,
               int64_t width) {
  Case c = makeRows(kind, dtype, rows, width);
  const std::string where =
      std::string(nameOf(kind)) + " of " + c.ins[0].reference.desc.toString();
  StatusOr<TypedBody> typed = typedBodyOf(c.sample(kind));
  ASSERT_TRUE(typed.ok()) << typed.status().toString();
  const KernelRow *chosen = selectKernel(device.kind(), *typed);
  ASSERT_TRUE(chosen) << where;
  // The texts of other types may be too long; then a kernel by hand runs.
  if (dtype == DType::F32) {
    ASSERT_EQ(chosen->provider, KernelProvider::Generated) << where;
  }
  OnDevice memory(device, c);
  Status status = memory.run(kind);
  ASSERT_TRUE(status.ok()) << status.toString() << where;
  memory.fetch();
  Case wide = inF64(kind, c);
  const double tolerance = dtype == DType::F64   ? 1e-11
                           : dtype == DType::F32 ? 1e-4
                           : dtype == DType::F16 ? 2e-3
                                                 : 1.6e-2;
  for (size_t r = 0; r < c.outs.size(); ++r)
    for (int64_t i = 0; i < c.outs[r].reference.desc.elements(); ++i) {
      const double is =
          loadElement(dtype, &c.outs[r].bytes[size_t(i) * sizeOf(dtype)]);
      const double wanted =
          loadElement(DType::F64, &wide.outs[r].bytes[size_t(i) * 8]);
      // Sums of numbers around 1 are as large as the root of how many there
      // are.
      const double size = 0.1 + std::sqrt(double(width)) / 50;
      ASSERT_NEAR(is, wanted, tolerance * (std::abs(wanted) + size))
          << where << ": element " << i << " of result " << r;
    }
}

TEST(RowKernels, AreNearThoseInF64) {
  auto device = makeDevice();
  if (device->kind() == DeviceKind::CPU)
    GTEST_SKIP() << "a CPU has kernels by hand for these";
  for (OpKind kind : kDefinedByRows)
    for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
      for (auto [rows, width] :
           {std::pair(20000, 15), std::pair(4096, 96), std::pair(700, 515),
            std::pair(300, 1000), std::pair(64, 8192), std::pair(140, 20000)}) {
        checkRows(*device, kind, dtype, rows, width);
        if (testing::Test::HasFatalFailure())
          return;
      }
}

/// A row whose largest element is infinite, or which has a NaN, becomes NaN.
TEST(RowKernels, OfSoftmaxLetNaNsThrough) {
  auto device = makeDevice();
  if (device->kind() == DeviceKind::CPU)
    GTEST_SKIP() << "a CPU has kernels by hand for these";
  constexpr int64_t kRows = 2048, kWidth = 256;
  const TensorDesc x(DType::F32, {kRows, kWidth});
  for (OpKind kind : {OpKind::Softmax, OpKind::LogSoftmax}) {
    std::mt19937 random(1);
    Case c;
    c.ins = {randomOperand(x, random)};
    c.outs = {{std::vector<uint8_t>(x.spanBytes()), {x, {}}}};
    auto put = [&](int64_t row, int64_t column, float value) {
      std::memcpy(&c.ins[0].bytes[size_t(row * kWidth + column) * 4], &value,
                  4);
    };
    put(3, 77, INFINITY);
    put(5, 200, NAN);
    for (int64_t i = 0; i < kWidth; ++i)
      put(7, i, -INFINITY);
    put(9, 1, -INFINITY);
    OnDevice memory(*device, c);
    ASSERT_TRUE(memory.run(kind).ok());
    memory.fetch();
    for (int64_t row = 0; row < 12; ++row) {
      const bool isNaN = row == 3 || row == 5 || row == 7;
      for (int64_t i : {int64_t(0), kWidth - 1}) {
        const double is = loadElement(
            DType::F32, &c.outs[0].bytes[size_t(row * kWidth + i) * 4]);
        EXPECT_EQ(std::isnan(is), isNaN) << nameOf(kind) << " row " << row;
      }
    }
  }
}

/// On a CPU, such results go past the caches, in pieces that begin and end
/// within a line. Some are read inside.
TEST(PointwiseGraph, HasLargeResultsWithTheBitsOfItsPrimitives) {
  auto device = makeDevice(2);
  Counts counts;
  std::mt19937 random(1);
  for (bool hasSum : {false, true}) {
    GraphBuilder graph;
    const TensorDesc desc(DType::F32, {5003, 1051});
    GraphBuilder::Value x = graph.operand(desc), y = graph.operand(desc);
    GraphBuilder::Value z = graph.add(OpKind::Add, {x, y});
    GraphBuilder::Value last =
        hasSum ? graph.add(OpKind::ReduceSum, {z}, encodeAttrs(ReduceSumAttrs{0}),
                           TensorDesc(DType::F32, {1051}))
               : graph.add(OpKind::Mul, {z, y});
    check(caseOf(graph.finish({z, last}), random), *device,
          hasSum ? "with a sum" : "without", counts);
  }
  EXPECT_EQ(counts.inPlace, 3u);
}

/// Each copy lies over what the other one reads.
TEST(PointwiseGraph, MaySwapTwoTensors) {
  auto device = makeDevice();
  GraphBuilder graph;
  TensorDesc desc(DType::F32, {5000});
  GraphBuilder::Value x = graph.operand(desc), y = graph.operand(desc);
  Sample sample = graph.finish(
      {graph.add(OpKind::Copy, {x}), graph.add(OpKind::Copy, {y})});
  std::mt19937 random(1);
  Case c = caseOf(sample, random);
  OnDevice memory(*device, c);
  memory.outs = {memory.ins[1], memory.ins[0]};
  Status status = memory.run(OpKind::Copy);
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(memory.download(memory.ins[0]), c.ins[1].bytes);
  EXPECT_EQ(memory.download(memory.ins[1]), c.ins[0].bytes);
}

/// A cast to the type that is there is another name for its operand, which a
/// result lies over.
TEST(PointwiseGraph, MayOverwriteWhatACastOnlyNames) {
  auto device = makeDevice();
  for (DType dtype : {DType::F32, DType::F16}) {
    GraphBuilder graph;
    TensorDesc desc(dtype, {5000});
    GraphBuilder::Value x = graph.operand(desc);
    GraphBuilder::Value same = graph.add(OpKind::Cast, {x}, {}, desc);
    Sample sample = graph.finish(
        {same, graph.add(OpKind::Neg, {same}), graph.add(OpKind::Exp, {same})});
    std::mt19937 random(1);
    Case apart = caseOf(sample, random), c = apart;
    {
      OnDevice memory(*device, apart);
      ASSERT_TRUE(memory.run(OpKind::Cast).ok());
      memory.fetch();
    }
    OnDevice memory(*device, c);
    memory.outs[1] = memory.ins[0];
    ASSERT_TRUE(memory.run(OpKind::Cast).ok());
    memory.fetch();
    EXPECT_EQ(apart.outs[0].bytes, apart.ins[0].bytes);
    for (size_t r = 0; r < 3; ++r)
      EXPECT_EQ(c.outs[r].bytes, apart.outs[r].bytes) << r;
  }
}

/// Makes a body that no family takes.
TEST(PointwiseGraph, HasRoomForNoMoreThanTheFamilyTakes) {
  Body body;
  body.numOperands = 2;
  for (int32_t i = 0; i < 200; ++i)
    body.primitives.push_back({OpKind::Add, {}, {i ? i + 1 : 0, 1}});
  body.results = {201};
  TensorDesc desc(DType::F32, {8});
  std::vector<TensorView> values(202, TensorView(nullptr, desc));
  Status status = cpu::GraphProgram::create(body, values).status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_EQ(status.message().rfind("a graph of 200 primitives needs ", 0), 0u)
      << status.message();
}

} // namespace
