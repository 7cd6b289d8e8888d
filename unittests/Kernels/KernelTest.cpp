//===- KernelTest.cpp - every kernel against the f64 reference ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One table: a row a kind and variant, which makes calls of several sizes. Each
// call runs through op_call in every float type and with every kernel that
// takes it, is compared with the reference, runs twice with the same bits (on
// the CPU with 1 and 2 threads), and in place where the op allows it. The
// device is the CPU, or with AICF_TEST_DEVICE=cuda the GPU. What the table does
// not reach is in kernels/<family>/test/Kernels.cpp.
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"
#include "lib/Ops/RowGraph.h"
#include "unittests/Common/SharedOperands.h"
#include "unittests/Kernels/KernelCase.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <set>

using namespace aicf;
using namespace aicf::test;

namespace {

const std::vector<KindRow> &kRows = allCallRows();

/// Of all operands and results.
size_t elementsOf(const Sample &sample) {
  size_t elements = 0;
  for (const auto *descs : {&sample.ins, &sample.outs})
    for (const TensorDesc &desc : *descs)
      elements += desc.isAbsent ? 0 : size_t(desc.elements());
  return elements;
}

class KernelTest : public testing::TestWithParam<size_t> {};

TEST_P(KernelTest, AgreesWithReferenceForEveryShape) {
  const KindRow &row = kRows[GetParam()];
  const std::pair<int64_t, int64_t> shapes[] = {
      {1, 1},    {1, 7},     {7, 1},    {3, 5},     {64, 16},
      {127, 33}, {128, 128}, {129, 65}, {300, 401}, {2, 1027},
      {2, 2048}, {1, 16397}};          // long rows have kernels of their own
  const size_t kMaxElements = 1 << 17; // not a matrix of that many columns
  size_t kernels = 0;
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    if (!row.takes(dtype))
      continue;
    for (auto [m, n] : shapes) {
      const Sample sample = makeSample(row, m, n, dtype);
      if (elementsOf(sample) > kMaxElements && n > 1000)
        continue;
      const Case fresh = makeCase(row, sample, uint32_t(m * 1000 + n));
      Case c = fresh;
      for (const KernelRow *kernel : kernelsTaking(row.kind, c)) {
        ++kernels;
        c = fresh;
        Status status = call(row.kind, c, 1, kernel->kid);
        // A library may have nothing for a shape: such rows are by name only.
        if (status.code() == StatusCode::NotImplemented &&
            kernel->selection == Selection::Pinned)
          continue;
        ASSERT_TRUE(status.ok()) << status.toString();
        double tolerance = toleranceOf(row, *kernel, dtype);
        for (Operand &o : c.outs)
          EXPECT_LE(relativeError(o, o.bytes), tolerance)
              << row.name << " " << kernel->kid << " " << m << "x" << n;
        Case again = fresh;
        ASSERT_TRUE(call(row.kind, again, 2, kernel->kid).ok());
        for (size_t i = 0; i < c.outs.size(); ++i)
          EXPECT_EQ(c.outs[i].bytes, again.outs[i].bytes)
              << row.name << " " << kernel->kid << ": two runs differ";
      }
    }
  }
  // Calls of several primitives have kernels on CUDA only: the compiler does
  // not fuse elsewhere.
  if (kernels == 0) {
    EXPECT_EQ(makeDevice()->kind(), DeviceKind::CPU);
    GTEST_SKIP() << "no kernel on this device";
  }
}

/// Every tie of the ABI: the result written over the operand has the same bits.
TEST_P(KernelTest, WorksInPlace) {
  const KindRow &row = kRows[GetParam()];
  DType dtype = row.usualType();
  const Sample sample = makeSample(row, 65, 130, dtype);
  const Case fresh = makeCase(row, sample, 5);
  Case apart = withBody(row.kind, fresh);
  if (kernelsTaking(row.kind, apart).empty())
    GTEST_SKIP() << "no kernel on this device";
  ASSERT_TRUE(call(row.kind, apart, 2).ok());
  // A case without absent operands: ties are of what is there.
  const Case dense = withBody(row.kind, fresh);
  BodyFacts facts = factsOf(*dense.body);
  for (size_t result = 0; result < dense.outs.size(); ++result)
    for (uint32_t operand : facts.ties[result]) {
      if (dense.outs[result].reference.desc !=
          dense.ins[operand].reference.desc)
        continue;
      Case c = dense;
      auto device = makeDevice(2);
      OnDevice memory(*device, c);
      memory.outs[result] = memory.ins[operand];
      Status status = memory.run(row.kind);
      ASSERT_TRUE(status.ok()) << status.toString();
      EXPECT_EQ(memory.download(memory.ins[operand]), apart.outs[result].bytes)
          << row.name << " result " << result << " on operand " << operand;
    }
}

/// A case with results over operands: the bits must be those of `apart`.
/// `overwritten`: the operand for each result, or -1.
void expectSameInPlace(const KindRow &row, const Case &fresh, const Case &apart,
                       const std::vector<int> &overwritten,
                       const std::string &where) {
  Case c = fresh;
  auto device = makeDevice(2);
  OnDevice memory(*device, c);
  for (size_t r = 0; r < overwritten.size(); ++r)
    if (overwritten[r] >= 0)
      memory.outs[r] = memory.ins[size_t(overwritten[r])];
  Status status = memory.run(row.kind);
  ASSERT_TRUE(status.ok()) << status.toString();
  for (size_t r = 0; r < overwritten.size(); ++r)
    EXPECT_EQ(memory.download(memory.outs[r]), apart.outs[r].bytes)
        << where << ": result " << r << " on operand " << overwritten[r];
}

/// Two operands that are one value: the reference's values, and the same bits
/// where results overwrite operands, each alone and as many as can be at once.
TEST_P(KernelTest, MayReadOneValueTwice) {
  const KindRow &row = kRows[GetParam()];
  size_t ran = 0;
  for (const Sample &sample : samplesForSharing(row, row.usualType()))
    for (const SharedSample &shared : withSharedOperands(sample)) {
      const Case fresh = makeCase(row, shared.sample, 5, true);
      Case apart = fresh;
      std::vector<const KernelRow *> kernels = kernelsTaking(row.kind, apart);
      if (kernels.empty())
        continue;
      ++ran;
      std::string where = row.name + ", operands " +
                          std::to_string(shared.first) + " and " +
                          std::to_string(shared.second);
      ASSERT_TRUE(call(row.kind, apart, 2).ok()) << where;
      double tolerance = toleranceOf(row, *kernels.front(), row.usualType());
      for (Operand &o : apart.outs)
        EXPECT_LE(relativeError(o, o.bytes), 4 * tolerance) << where;
      BodyFacts facts = factsOf(*fresh.body);
      std::vector<int> all(fresh.outs.size(), -1);
      for (size_t r = 0; r < all.size(); ++r)
        for (uint32_t operand : facts.ties[r]) {
          if (fresh.outs[r].reference.desc != fresh.ins[operand].reference.desc)
            continue;
          std::vector<int> one(all.size(), -1);
          one[r] = int(operand);
          expectSameInPlace(row, fresh, apart, one, where);
          if (all[r] < 0 &&
              std::find(all.begin(), all.end(), int(operand)) == all.end())
            all[r] = int(operand);
        }
      expectSameInPlace(row, fresh, apart, all, where);
    }
  if (ran == 0)
    GTEST_SKIP() << "one primitive, or no kernel on this device";
}

/// A slot that reads a value of the body has no memory to read from.
TEST_P(KernelTest, RefusesOtherReadsInside) {
  const KindRow &row = kRows[GetParam()];
  size_t refused = 0;
  for (const Sample &sample : samplesForSharing(row, row.usualType()))
    for (const Body &body : withReadsInside(*sample.body)) {
      std::vector<TensorView> ins, outs;
      std::vector<uint8_t> memory(1 << 16);
      for (size_t i = 0; i < body.numOperands; ++i)
        ins.push_back({memory.data(), sample.ins[i]});
      for (const TensorDesc &desc : sample.outs)
        outs.push_back({memory.data(), desc});
      EXPECT_FALSE(resolve(*makeDevice(), {std::make_shared<Body>(body), ins,
                                           outs, "auto", TensorView()})
                       .ok())
          << row.name;
      ++refused;
    }
  if (refused == 0)
    GTEST_SKIP() << "one primitive, or its operands are the first's";
}

/// One by one on the device: the primitives of a body, each by the kernel that
/// is taken for it. Operands of all values of the body.
std::vector<Operand> runApart(const Case &c) {
  const Body &body = *c.body;
  const std::vector<TensorDesc> types = valueTypes(c);
  std::vector<Operand> values = c.ins;
  for (const Primitive &primitive : body.primitives) {
    Case one;
    one.attrs = primitive.attrs;
    for (int32_t value : primitive.operands) {
      one.ins.emplace_back();
      if (value == kAbsentValue)
        one.ins.back().reference.desc = TensorDesc::absent();
      else
        one.ins.back() = values[size_t(value)];
    }
    for (uint32_t i = 0; i < primitive.numResults(); ++i) {
      one.outs.emplace_back();
      one.outs.back().reference.desc = types[values.size() + i];
      one.outs.back().bytes.resize(one.outs.back().reference.desc.spanBytes());
    }
    Status status = call(primitive.kind, one, 1);
    EXPECT_TRUE(status.ok()) << status.toString();
    values.insert(values.end(), one.outs.begin(), one.outs.end());
  }
  return values;
}

/// Values that are made element by element, from such values only: a tie says
/// that element i of a result needs only element i of the operand.
std::vector<bool> elementwiseValues(const Body &body) {
  std::vector<bool> is(body.numOperands, true);
  for (const Primitive &primitive : body.primitives) {
    const OpInfo &info = infoOf(primitive.kind);
    bool areOperands = true;
    for (int32_t value : primitive.operands)
      areOperands &= value == kAbsentValue || is[size_t(value)];
    for (uint32_t r = 0; r < primitive.numResults(); ++r) {
      bool isTied = primitive.kind == OpKind::Cast;
      for (size_t i = 0; i < info.numTies; ++i)
        isTied |= info.ties[i].result == r;
      // A softmax is done with a row before it writes it, and so is the
      // gradient of its cross-entropy.
      const bool isOfRows = isRowwise(primitive.kind) ||
                            primitive.kind == OpKind::SoftmaxCrossEntropyGrad;
      is.push_back(areOperands && isTied && !isOfRows);
    }
  }
  return is;
}

/// What is fused decides nothing: values inside a body are not rounded, but in
/// f32 and f64 there is nothing to round, and nothing is contracted
/// (docs/rationale/Records.md, "Numbers in a body").
TEST_P(KernelTest, HasTheBitsOfItsPrimitives) {
  const KindRow &row = kRows[GetParam()];
  size_t compared = 0;
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    // What is 16 bits wide is rounded between primitives, unless a cast says
    // so.
    if (!row.takes(dtype) || (sizeOf(dtype) == 2 && !row.isMixed))
      continue;
    Sample sample = makeSample(row, 65, 130, dtype);
    if (!sample.body)
      GTEST_SKIP() << "one primitive";
    const Case fresh = makeCase(row, sample, 7);
    std::vector<bool> isElementwise = elementwiseValues(*fresh.body);
    if (std::none_of(fresh.body->results.begin(), fresh.body->results.end(),
                     [&](uint32_t value) { return isElementwise[value]; }))
      GTEST_SKIP() << "products and sums only";
    Case any = fresh;
    std::vector<const KernelRow *> all = kernelsTaking(row.kind, any);
    std::vector<Operand> values;
    if (!all.empty())
      values = runApart(fresh);
    const auto &primitives = fresh.body->primitives;
    const bool hasRows = std::any_of(
        primitives.begin(), primitives.end(),
        [](const Primitive &p) { return isDefinedByRows(p.kind); });
    for (const KernelRow *kernel : all) {
      // A GPU's graph has an order of its own for sums of rows (RowKernels).
      if (hasRows && kernel->device == DeviceKind::CUDA &&
          kernel->provider == KernelProvider::Generated)
        continue;
      Case c = fresh;
      ASSERT_TRUE(call(row.kind, c, 1, kernel->kid).ok());
      for (size_t r = 0; r < c.outs.size(); ++r) {
        uint32_t value = fresh.body->results[r];
        compared += isElementwise[value];
        if (isElementwise[value]) {
          EXPECT_EQ(c.outs[r].bytes, values[value].bytes)
              << kernel->kid << ", result " << r;
        }
      }
    }
  }
  if (compared == 0)
    GTEST_SKIP() << "no kernel on this device";
}

/// Moves the rows of dense bytes to where `desc` has them, or back; pads are
/// zeros.
std::vector<uint8_t> moveRows(const std::vector<uint8_t> &bytes,
                              const TensorDesc &from, const TensorDesc &to) {
  std::vector<uint8_t> moved(to.spanBytes());
  size_t element = sizeOf(to.dtype), width = size_t(to.width()) * element;
  for (size_t row = 0; row < size_t(to.rows()); ++row)
    std::copy_n(&bytes[row * size_t(from.pitch()) * element], width,
                &moved[row * size_t(to.pitch()) * element]);
  return moved;
}

/// The case with some of its tensors padded, all that can be or a random part.
Case withPads(const Case &fresh, uint32_t seed) {
  std::mt19937 random(seed);
  Case c = fresh;
  for (auto *operands : {&c.ins, &c.outs})
    for (Operand &o : *operands) {
      TensorDesc desc = o.reference.desc;
      desc.layout = Layout::Padded;
      if (desc.isAbsent || !isLegalLayout(desc) || (seed && random() % 2))
        continue;
      o.bytes = moveRows(o.bytes, o.reference.desc, desc);
      o.reference.desc = desc;
    }
  for (Operand &o : c.outs) // pads are the kernel's to write
    std::fill(o.bytes.begin(), o.bytes.end(), 0xff);
  return c;
}

/// The values of a result, and zeros in its pads.
void expectPads(const Operand &o, std::string_view kid, double tolerance) {
  const TensorDesc &desc = o.reference.desc;
  if (desc.isAbsent)
    return;
  std::vector<uint8_t> dense = moveRows(o.bytes, desc, desc.dense());
  EXPECT_LE(relativeError(o, dense), tolerance) << kid << desc.toString();
  if (desc.isDense())
    return; // it has no pads, and its elements need not be of 16 bits
  std::vector<uint8_t> expected = moveRows(dense, desc.dense(), desc);
  auto number = [](const std::vector<uint8_t> &bytes, size_t i) {
    return bytes[2 * i] | bytes[2 * i + 1] << 8;
  };
  for (size_t i = 0; 2 * i < expected.size(); ++i) {
    int found = number(o.bytes, i); // -0 is a zero too
    ASSERT_TRUE(found == number(expected, i) || (found & 0x7fff) == 0)
        << kid << " leaves something in the pads of " << desc.toString();
  }
}

/// Any mix of dense and padded tensors that a row takes: the same values, and
/// zeros in the pads of the results.
TEST_P(KernelTest, TakesPaddedTensors) {
  const KindRow &row = kRows[GetParam()];
  const std::pair<int64_t, int64_t> shapes[] = {{3, 5}, {64, 16}, {128, 65}};
  size_t ran = 0, asked = 0;
  for (DType dtype : {DType::F16, DType::BF16})
    for (auto [m, n] : shapes)
      for (uint32_t seed = 0; row.takes(dtype) && seed < 4; ++seed) {
        Case fresh =
            withPads(makeCase(row, makeSample(row, m, n, dtype), 11), seed);
        StatusOr<TypedBody> typed = typedBodyOf(fresh.sample(row.kind));
        asked +=
            typed.ok() && !fresh.body && !typed->isDense() && typed->stored();
        for (const KernelRow *kernel : kernelsTaking(row.kind, fresh)) {
          Case c = fresh;
          Status status = call(row.kind, c, 2, kernel->kid);
          if (status.code() == StatusCode::NotImplemented &&
              kernel->selection == Selection::Pinned)
            continue;
          ASSERT_TRUE(status.ok()) << kernel->kid << ": " << status.toString();
          ran += !typed->isDense();
          for (Operand &o : c.outs)
            expectPads(o, kernel->kid, toleranceOf(row, *kernel, dtype));
        }
      }
  EXPECT_TRUE(ran > 0 || asked == 0);
  if (ran == 0)
    GTEST_SKIP() << "no kernel on this device, or none takes pads";
}

/// A kernel that gets less memory than it asked for is slower, not wrong: the
/// loader does not compare sizes.
TEST_P(KernelTest, KeepsToItsWorkspace) {
  const KindRow &row = kRows[GetParam()];
  constexpr size_t kRoom = size_t(1) << 20;
  PatternId pattern =
      typedBodyOf(makeSample(row, 3, 4, row.usualType()))->pattern();
  auto takesOne = [&](const KernelRow &kernel) {
    return kernel.pattern == pattern && kernel.workspaceCap != 0 &&
           (kernel.provider == KernelProvider::Own ||
            kernel.provider == KernelProvider::Generated);
  };
  Span<const KernelRow> all = kernelsOn(makeDevice()->kind());
  if (std::none_of(all.begin(), all.end(), takesOne))
    GTEST_SKIP() << "no kernel of ours with a workspace on this device";
  for (auto [m, n] : {std::pair<int64_t, int64_t>{300, 401}, {40000, 3}}) {
    const Case fresh = makeCase(row, makeSample(row, m, n, DType::F32), 3);
    Case c = fresh;
    for (const KernelRow *kernel : kernelsTaking(row.kind, c))
      for (int64_t bytes : {0, 4, 256}) {
        if (!takesOne(*kernel))
          continue;
        c = fresh;
        auto device = makeDevice();
        OnDevice memory(*device, c);
        void *room = memory.upload(std::vector<uint8_t>(kRoom, 0xa5));
        TensorView workspace;
        if (bytes)
          workspace = {room, TensorDesc(DType::I32, {bytes / 4})};
        Status status = memory.run(row.kind, kernel->kid, workspace);
        ASSERT_TRUE(status.ok()) << status.toString();
        memory.fetch();
        for (Operand &o : c.outs)
          EXPECT_LE(relativeError(o, o.bytes), row.tolerance)
              << kernel->kid << " with " << bytes << " bytes";
        std::vector<uint8_t> after = memory.download(
            {room, TensorDesc(DType::I32, {int64_t(kRoom / 4)})});
        after.erase(after.begin(), after.begin() + bytes);
        EXPECT_TRUE(std::all_of(after.begin(), after.end(),
                                [](uint8_t b) { return b == 0xa5; }))
            << kernel->kid << " writes beyond " << bytes << " bytes";
      }
  }
}

/// Every error code of op_call, from a legal call with one thing wrong.
TEST_P(KernelTest, RefusesWrongCalls) {
  const KindRow &row = kRows[GetParam()];
  const OpInfo &info = infoOf(row.kind);
  DType dtype = row.usualType();
  if (makeSample(row, 3, 5, dtype).body)
    GTEST_SKIP() << "op_call is of one primitive";
  Case c = makeCase(row, makeSample(row, 3, 5, dtype), 1);
  if (kernelsTaking(row.kind, c).empty())
    GTEST_SKIP() << "no kernel on this device";
  auto device = makeDevice();
  OnDevice memory(*device, c);
  std::vector<TensorView> ins = memory.ins, outs = memory.outs;
  auto *stream = &memory.stream;
  auto code = [&](std::vector<TensorView> i, std::vector<TensorView> o,
                  uint32_t schema, std::vector<uint8_t> attrs,
                  std::string_view kid = "auto") {
    Status status =
        opCall(*device, row.kind, i, o, schema, attrs, **stream, kid);
    EXPECT_NE(status.message().find(info.name), std::string::npos)
        << status.message();
    return status.code();
  };
  EXPECT_EQ(code(ins, outs, info.schema + 1, c.attrs), StatusCode::BadSchema);
  std::vector<uint8_t> longer = c.attrs;
  longer.push_back(0);
  EXPECT_EQ(code(ins, outs, info.schema, longer), StatusCode::BadAttrSize);
  EXPECT_EQ(code({}, outs, info.schema, c.attrs), StatusCode::InvalidArgument);
  EXPECT_EQ(code(ins, {}, info.schema, c.attrs), StatusCode::InvalidArgument);
  EXPECT_EQ(code(ins, outs, info.schema, c.attrs, "relu_f99_v0"),
            StatusCode::InvalidArgument);
  auto changed = [&](auto change) {
    std::vector<TensorView> views = outs; // the last that is there
    change(*std::find_if_not(views.rbegin(), views.rend(),
                             [](const TensorView &v) { return isAbsent(v); }));
    return code(ins, views, info.schema, c.attrs);
  };
  EXPECT_EQ(changed([](TensorView &v) { v = {nullptr, v.desc}; }),
            StatusCode::InvalidArgument);
  if (sizeOf(outs.back().desc.dtype) > 1) { // a byte lies anywhere
    EXPECT_EQ(changed([](TensorView &v) { v = {v.dense<char>() + 1, v.desc}; }),
              StatusCode::Misaligned);
  }
  // Random numbers have any shape.
  if (row.kind != OpKind::Uniform && row.kind != OpKind::Normal) {
    EXPECT_EQ(changed([](TensorView &v) { v.desc.dims[v.desc.rank++] = 2; }),
              StatusCode::ShapeMismatch);
  }
  EXPECT_EQ(changed([](TensorView &v) {
              v.desc.rank = 1;
              v.desc.dims[0] = 0;
            }),
            StatusCode::ShapeMismatch);
  DType wrong = isFloat(outs.back().desc.dtype) ? DType::I32 : DType::F64;
  if (row.kind == OpKind::Copy || row.kind == OpKind::CopySaved ||
      row.kind == OpKind::StepInc)
    wrong = DType::BF16;
  if (row.kind != OpKind::Cast) { // which has a kernel for every type
    EXPECT_EQ(changed([&](TensorView &v) { v.desc.dtype = wrong; }),
              StatusCode::DTypeMismatch);
  }
}

std::string rowName(const testing::TestParamInfo<size_t> &info) {
  std::string name = kRows[info.param].name;
  for (char &ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch)))
      ch = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, KernelTest,
                         testing::Range<size_t>(0, kRows.size()), rowName);

TEST(Kernels, TableCoversEveryKind) {
  std::set<OpKind> kinds;
  for (const KindRow &row : kRows)
    kinds.insert(row.kind);
  for (uint16_t kind = 0; kind < kNumOpKinds; ++kind)
    EXPECT_EQ(kinds.count(OpKind(kind)), isKnown(OpKind(kind))) << kind;
}

TEST(Kernels, TableCoversEveryPattern) {
  std::set<PatternId> patterns;
  for (const KindRow &row : kRows) {
    DType dtype = row.usualType();
    patterns.insert(typedBodyOf(makeSample(row, 3, 4, dtype))->pattern());
  }
  for (size_t i = 0; i < allPatterns().size(); ++i)
    EXPECT_TRUE(patterns.count(PatternId(kNumOpKinds + i)))
        << allPatterns()[i].name;
}

TEST(Kernels, NonFiniteValues) {
  auto device = createCPUDevice({2});
  auto stream = device->createStream();
  float x[3] = {NAN, -INFINITY, INFINITY}, y[3];
  TensorDesc desc(DType::F32, {3});
  TensorView in{x, desc}, out{y, desc};
  ASSERT_TRUE(opCall(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream).ok());
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], INFINITY);
  int32_t ok = 7;
  TensorView flag{&ok, TensorDesc(DType::I32, {})};
  ASSERT_TRUE(
      opCall(*device, OpKind::AllFinite, {in}, {flag}, 0, {}, **stream).ok());
  EXPECT_EQ(ok, 0);
  x[0] = x[1] = x[2] = 1;
  ASSERT_TRUE(
      opCall(*device, OpKind::AllFinite, {in}, {flag}, 0, {}, **stream).ok());
  EXPECT_EQ(ok, 1);
}

TEST(Kernels, RefusesIllegalAliasing) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  std::vector<float> m(64);
  TensorDesc desc(DType::F32, {4, 4});
  TensorView a{m.data(), desc}, shifted{m.data() + 4, desc};
  auto attrs = encodeAttrs(GemmAttrs{0, 0});
  EXPECT_EQ(
      opCall(*device, OpKind::Gemm, {a, a}, {a}, 0, attrs, **stream).code(),
      StatusCode::InvalidArgument);
  EXPECT_EQ(
      opCall(*device, OpKind::Relu, {a}, {shifted}, 0, {}, **stream).code(),
      StatusCode::InvalidArgument);
}

TEST(Kernels, RefusesBadWorkspaces) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  alignas(kTensorAlignment) float m[256] = {};
  TensorDesc desc(DType::F32, {4});
  TensorView in{m, desc}, out{m + 64, desc};
  auto code = [&](float *workspace) {
    return opCall(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream, "auto",
                  {workspace, desc})
        .code();
  };
  EXPECT_EQ(code(m + 128), StatusCode::Ok);
  EXPECT_EQ(code(m + 129), StatusCode::Misaligned);
  EXPECT_EQ(code(m), StatusCode::InvalidArgument) << "operand 0";
  EXPECT_EQ(code(m + 64), StatusCode::InvalidArgument) << "result 0";
}

TEST(Graphs, CaptureUserCalls) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok());
  float x = -3, y = 9;
  TensorDesc scalar(DType::F32, {});
  TensorView in{&x, scalar}, out{&y, scalar};
  ASSERT_TRUE((*stream)->beginCapture().ok());
  EXPECT_EQ((*stream)->beginCapture().code(), StatusCode::FailedState);
  ASSERT_TRUE(opCall(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream).ok());
  EXPECT_EQ(y, 9) << "captured, not run";
  EXPECT_EQ((*stream)->synchronize().code(), StatusCode::FailedState);
  auto graph = (*stream)->endCapture();
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ((*stream)->endCapture().status().code(), StatusCode::FailedState);
  EXPECT_EQ((*graph)->numNodes(), 1u);
  ASSERT_TRUE((*stream)->launch(**graph).ok());
  EXPECT_EQ(y, 0);
  (*graph).reset();
  (*graph).reset();
  EXPECT_EQ(graph->get(), nullptr);
}

} // namespace
