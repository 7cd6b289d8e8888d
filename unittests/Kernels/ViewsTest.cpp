//===- ViewsTest.cpp - kernels that read and write views ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a record says of strides holds: every kernel gets each operand and
// result that it takes as a view in random layouts, and is compared with the
// reference; every other one is refused. The device is that of KernelTest.
//===----------------------------------------------------------------------===//

#include "lib/Base/Runs.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/KernelTable.h"
#include "unittests/Kernels/KernelCase.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace aicf;
using namespace aicf::test;

namespace {

enum class Kind { Pitch, Permuted, Broadcast };

/// A view of the shape: rows further apart; dimensions in another order, with
/// something between them; or one dimension that repeats.
TensorDesc viewOf(const TensorDesc &dense, Kind kind, std::mt19937 &random) {
  std::vector<size_t> order(dense.rank);
  std::iota(order.begin(), order.end(), 0);
  if (kind == Kind::Permuted)
    std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> strides(dense.rank);
  int64_t next = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = next;
    next *= dense.dims[order[i]];
    if (kind == Kind::Permuted ? random() % 2 : i + 1 == order.size())
      next += 1 + int64_t(random() % 4);
  }
  if (kind == Kind::Broadcast && dense.rank > 0)
    strides[random() % dense.rank] = 0;
  return TensorDesc::strided(dense.dtype, dense.shape(), strides);
}

/// The operand with its values at the places of a view; where several elements
/// share one, the last stays.
void moveTo(Operand &o, const TensorDesc &view) {
  const size_t element = sizeOf(view.dtype);
  std::vector<uint8_t> bytes(view.spanBytes(), 0xa5);
  forEachRun(view, [&](int64_t first, int64_t start, int64_t count) {
    std::copy_n(&o.bytes[size_t(first) * element], size_t(count) * element,
                &bytes[size_t(start) * element]);
  });
  forEachRun(view, [&](int64_t first, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Operand at{{&bytes[size_t(start + i) * element],
                  &bytes[size_t(start + i) * element] + element},
                 {view, {}}};
      o.reference.values[size_t(first + i)] = load(at, 0);
    }
  });
  o.bytes = std::move(bytes);
  o.reference.desc = view;
}

void runReference(const KindRow &row, Case &c) {
  std::vector<reference::Tensor> ins, outs;
  for (Operand &o : c.ins)
    ins.push_back(o.reference);
  for (Operand &o : c.outs)
    outs.push_back(o.reference);
  if (c.body)
    reference::run(*c.body, ins, outs);
  else
    reference::run(row.kind, ins, outs, c.attrs);
  for (size_t i = 0; i < outs.size(); ++i)
    c.outs[i].reference = outs[i];
}

/// True if the row's record names a slot of a kind.
bool names(const KernelRow &row, OpKind kind, size_t slot, bool isResult) {
  return row.anyStrides || std::any_of(row.strided.begin(), row.strided.end(),
                                       [&](const StridedSlot &named) {
                                         return named.kind == kind &&
                                                named.slot == slot &&
                                                named.isResult == isResult;
                                       });
}

/// True if it names an operand that reads `value` of the body.
bool isNamed(const KernelRow &row, const Body &body, size_t value) {
  for (const Primitive &primitive : body.primitives) {
    CallSlots slots =
        *CallSlots::of(infoOf(primitive.kind), primitive.operands.size());
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot)
      if (primitive.operands[slot] == int32_t(value) &&
          names(row, primitive.kind, slots.operandAt(slot), false))
        return true;
  }
  return false;
}

/// True if it names the result of the body.
bool isResultNamed(const KernelRow &row, const Body &body, size_t result) {
  auto [primitive, slot] = body.makerOf(body.results[result]);
  return names(row, body.primitives[primitive].kind, slot, true);
}

/// The bytes of a view's elements in row-major order. What lies between them
/// has the bytes that it had.
std::vector<uint8_t> elementsOf(const TensorDesc &view,
                                const std::vector<uint8_t> &bytes) {
  const size_t element = sizeOf(view.dtype);
  std::vector<uint8_t> dense, between = bytes;
  forEachRun(view, [&](int64_t, int64_t start, int64_t count) {
    const uint8_t *from = &bytes[size_t(start) * element];
    dense.insert(dense.end(), from, from + size_t(count) * element);
    std::fill_n(&between[size_t(start) * element], size_t(count) * element,
                uint8_t(0xa5));
  });
  EXPECT_EQ(between, std::vector<uint8_t>(bytes.size(), 0xa5));
  return dense;
}

class ViewsTest : public testing::TestWithParam<size_t> {};

TEST_P(ViewsTest, AreTakenWhereTheRecordSaysSo) {
  const KindRow &row = allCallRows()[GetParam()];
  const DeviceKind device = makeDevice()->kind();
  std::mt19937 random{uint32_t(GetParam())};
  size_t numRun = 0, numRefused = 0;
  for (DType dtype : {DType::F32, DType::F64, DType::BF16})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{3, 5}, {64, 24}, {33, 40}})
      for (Kind kind : {Kind::Pitch, Kind::Permuted, Kind::Broadcast}) {
        if (!row.takes(dtype))
          continue;
        const Case fresh = withBody(
            row.kind, makeCase(row, makeSample(row, m, n, dtype), uint32_t(m)));
        for (size_t i = 0; i < fresh.ins.size(); ++i) {
          Case c = fresh;
          TensorDesc view = viewOf(c.ins[i].reference.desc, kind, random);
          if (view.isDense())
            continue;
          moveTo(c.ins[i], view);
          runReference(row, c);
          const Case viewed = c;
          StatusOr<TypedBody> typed = typedBodyOf(c.sample(row.kind));
          ASSERT_TRUE(typed.ok()) << typed.status().toString();
          for (const KernelRow &kernel : kernelsFor(device, typed->pattern())) {
            if (!isNamed(kernel, *c.body, i)) {
              EXPECT_FALSE(kernel.accepts(*typed)) << kernel.kid;
              ++numRefused;
            }
            if (!kernel.accepts(*typed))
              continue;
            c = viewed;
            Status status = call(row.kind, c, 2, kernel.kid);
            if (status.code() == StatusCode::Misaligned ||
                status.code() == StatusCode::NotImplemented)
              continue;
            ASSERT_TRUE(status.ok()) << kernel.kid << ": " << status.toString();
            for (Operand &o : c.outs)
              EXPECT_LE(relativeError(o, o.bytes),
                        toleranceOf(row, kernel, dtype))
                  << kernel.kid << " of " << view.toString();
            ++numRun;
          }
        }
      }
  if (numRun + numRefused == 0)
    GTEST_SKIP() << "no kernel on this device";
}

TEST_P(ViewsTest, AreWrittenWhereTheRecordSaysSo) {
  const KindRow &row = allCallRows()[GetParam()];
  const DeviceKind device = makeDevice()->kind();
  std::mt19937 random{uint32_t(GetParam())};
  for (DType dtype : {DType::F32, DType::F64, DType::BF16})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{3, 5}, {64, 24}})
      for (Kind kind : {Kind::Pitch, Kind::Permuted, Kind::Broadcast}) {
        if (!row.takes(dtype))
          continue;
        Case fresh = withBody(
            row.kind, makeCase(row, makeSample(row, m, n, dtype), uint32_t(m)));
        runReference(row, fresh);
        for (size_t i = 0; i < fresh.outs.size(); ++i) {
          Case written = fresh;
          const TensorDesc dense = fresh.outs[i].reference.desc;
          const TensorDesc view = viewOf(dense, kind, random);
          if (view.isDense())
            continue;
          written.outs[i].reference.desc = view;
          written.outs[i].bytes.assign(view.spanBytes(), 0xa5);
          StatusOr<TypedBody> typed = typedBodyOf(written.sample(row.kind));
          if (!typed.ok())
            continue; // another op: a result of a higher rank for a reduction
          for (const KernelRow &kernel : kernelsFor(device, typed->pattern())) {
            bool isTaken = isResultNamed(kernel, *fresh.body, i) &&
                           view.hasDistinctElements();
            if (!isTaken) {
              EXPECT_FALSE(kernel.accepts(*typed)) << kernel.kid;
            }
            if (!kernel.accepts(*typed))
              continue;
            Case c = written;
            Status status = call(row.kind, c, 2, kernel.kid);
            if (status.code() == StatusCode::Misaligned ||
                status.code() == StatusCode::NotImplemented)
              continue;
            ASSERT_TRUE(status.ok()) << kernel.kid << ": " << status.toString();
            std::vector<uint8_t> got = elementsOf(view, c.outs[i].bytes);
            c.outs[i].reference.desc = dense;
            EXPECT_LE(relativeError(c.outs[i], got),
                      toleranceOf(row, kernel, dtype))
                << kernel.kid << " to " << view.toString();
          }
        }
      }
}

/// Plans up to 4.5 name a kernel of each type for a primitive's views. No other
/// name of a kernel that is gone means anything.
TEST(Views, AGraphRunsForKernelsOfViewsThatAreGone) {
  for (DeviceKind device : kDeviceKinds) {
    for (auto [gone, now] :
         {std::pair{"exp_f32_strided_v0", "exp_graph_v0"},
          {"exp_bf16_strided_v0", "exp_graph_v0"},
          {"less_f64_i1_strided_v0", "less_graph_v0"},
          {"where_i1_f16_strided_v0", "where_graph_v0"},
          {"logical_not_i1_strided_v0", "logical_not_graph_v0"},
          {"bias_add_f32_strided_v0", "bias_add_graph_v0"}}) {
      const KernelRow *row = findKernel(device, gone);
      ASSERT_TRUE(row) << gone;
      EXPECT_EQ(row->kid, now);
    }
    for (const char *none :
         {"exp_f32_strided_v1", "softmax_f32_strided_v0", "f32_strided_v0",
          "_strided_v0", "_f32_strided_v0", "exp_f32_strided_v0_strided_v0",
          "exp_f32_tile_v0", "gemm_f32_strided_v0"})
      EXPECT_FALSE(findKernel(device, none)) << none;
    EXPECT_EQ(findKernel(device, "reduce_sum_f32_strided_v0")->kid,
              "reduce_sum_f32_strided_v0");
  }
}

/// A kernel of any types is made of kernels of one type, which must be there.
TEST(Views, HaveTheTypesOfDenseTensors) {
  size_t numTaken = 0;
  for (const KindRow &row : allCallRows())
    for (uint8_t type = 0; type < kNumDTypes; ++type) {
      Sample sample = row.make(24, 40);
      Span<const KernelRow> all =
          kernelsFor(DeviceKind::CPU, PatternId(row.kind));
      if (sample.body || !mayBeInGraph(row.kind) ||
          std::none_of(all.begin(), all.end(),
                       [](const KernelRow &own) { return own.anyTypes; }))
        continue;
      sample.kind = row.kind;
      for (std::vector<TensorDesc> *descs : {&sample.ins, &sample.outs})
        for (TensorDesc &desc : *descs)
          if (desc.dtype != DType::I1)
            desc.dtype = DType(type);
      const StatusOr<TypedBody> typed = typedBodyOf(sample);
      for (DeviceKind device : kDeviceKinds)
        if (typed.ok()) {
          ++numTaken;
          const KernelRow *kernel = selectKernel(device, *typed);
          ASSERT_TRUE(kernel) << row.name << " of " << nameOf(DType(type));
          EXPECT_FALSE(kernel->anyTypes) << row.name << ": " << kernel->kid;
        }
    }
  EXPECT_GE(numTaken, 700u);
}

/// Where a copy of the result would lie, with the bits that the copy would
/// have. cuBLASLt may choose another algorithm for another distance of rows.
TEST(Views, WrittenHaveTheBitsOfACopy) {
  std::mt19937 random(3);
  for (const KindRow &row : allCallRows()) {
    const Case fresh = withBody(
        row.kind, makeCase(row, makeSample(row, 24, 40, row.usualType()), 5));
    for (size_t i = 0; i < fresh.outs.size(); ++i) {
      Case dense = fresh, written = fresh;
      TensorDesc view =
          viewOf(fresh.outs[i].reference.desc, Kind::Pitch, random);
      written.outs[i].reference.desc = view;
      written.outs[i].bytes.assign(view.spanBytes(), 0xa5);
      StatusOr<TypedBody> typed = typedBodyOf(written.sample(row.kind));
      if (view.isDense() || !typed.ok())
        continue;
      const KernelRow *kernel = selectKernel(makeDevice()->kind(), *typed);
      if (!kernel || kernel->provider == KernelProvider::CublasLt)
        continue;
      ASSERT_TRUE(call(row.kind, dense, 1, "auto").ok()) << row.name;
      ASSERT_TRUE(call(row.kind, written, 1, "auto").ok()) << row.name;
      EXPECT_EQ(elementsOf(view, written.outs[i].bytes), dense.outs[i].bytes)
          << row.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ViewsTest,
                         testing::Range<size_t>(0, allCallRows().size()),
                         [](const auto &info) {
                           std::string name = allCallRows()[info.param].name;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name + "_" + std::to_string(info.param);
                         });

} // namespace
