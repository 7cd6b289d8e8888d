//===- KernelCase.cpp - a call with data, on a device ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include "lib/Base/Element.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/KernelTable.h"

#include <array>
#include <cmath>
#include <cstring>

namespace aicf::test {

double load(const Operand &o, size_t i) {
  DType dtype = o.reference.desc.dtype;
  return loadElement(dtype, o.bytes.data() + i * sizeOf(dtype));
}

void store(Operand &o, size_t i, double value) {
  DType dtype = o.reference.desc.dtype;
  storeElement(dtype, o.bytes.data() + i * sizeOf(dtype), value);
}

Operand makeOperand(TensorDesc desc, std::mt19937 &random, bool isPositive) {
  Operand o;
  o.reference.desc = desc;
  if (desc.isAbsent)
    return o;
  o.bytes.resize(desc.spanBytes(), 0xcd);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < size_t(desc.elements()); ++i) {
    // Exact zeros too: relu_bwd's border.
    double value = random() % 7 == 0 ? 0 : normal(random);
    if (isPositive)
      value = std::fabs(value) + 0.1;
    if (!isFloat(desc.dtype))
      value = double(int(value * 3));
    if (desc.dtype == DType::I64)
      value += 1;
    store(o, i, value);
    o.reference.values.push_back(load(o, i)); // as rounded
  }
  return o;
}

/// Second moments, what divides, what multiplies a step, and operands of
/// functions that have no value or a pole elsewhere.
static bool isPositive(OpKind kind, std::string_view operand) {
  for (const char *name : {"v", "bc", "lr", "inv_scale", "rstd", "norm"})
    if (operand == name)
      return true;
  for (OpKind positive :
       {OpKind::Reciprocal, OpKind::Log, OpKind::LogBwd, OpKind::Log1p,
        OpKind::Log1pBwd, OpKind::Sqrt, OpKind::SqrtBwd, OpKind::Rsqrt,
        OpKind::PowScalar, OpKind::PowScalarBwd, OpKind::Pow,
        OpKind::PowBaseBwd, OpKind::PowExponentBwd, OpKind::Log2,
        OpKind::Log2Bwd, OpKind::Log10, OpKind::Log10Bwd})
    if (kind == positive)
      return true;
  return operand == "b" && (kind == OpKind::Div || kind == OpKind::Fmod ||
                            kind == OpKind::FmodBwd);
}

/// Labels are classes, every fourth is to be ignored.
static void makeLabels(Operand &labels, int64_t numClasses) {
  for (size_t i = 0; i < labels.reference.values.size(); ++i) {
    int64_t label = int64_t(labels.reference.values[i]) % numClasses;
    store(labels, i, i % 4 == 3 ? -100 : double(label));
    labels.reference.values[i] = load(labels, i);
  }
}

Case makeCase(const KindRow &row, Sample sample, uint32_t seed,
              bool allPositive) {
  OpKind kind = row.kind;
  std::mt19937 random(seed);
  Case c;
  c.attrs = sample.attrs;
  c.body = sample.body;
  for (size_t i = 0; i < sample.ins.size(); ++i) {
    const OperandInfo &info = operandInfo(sample, i);
    std::string_view name = info.name;
    // Operands that are always integers are counts and indices.
    bool isCount = info.elementTypes == ElementTypes::Int ||
                   info.elementTypes == ElementTypes::I32;
    Operand o = makeOperand(sample.ins[i], random,
                            allPositive || isCount || isPositive(kind, name));
    if (name == "labels") {
      const TensorDesc &logits = sample.ins[0]; // of a fused call, too
      makeLabels(o, logits.dims[logits.rank - 1]);
    }
    // Logarithms of sums, of which weights below 1 are made.
    for (size_t at = 0; name == "lse" && at < o.reference.values.size(); ++at) {
      store(o, at, 5 + std::fabs(o.reference.values[at]));
      o.reference.values[at] = load(o, at);
    }
    // As an optimizer has them: lr, weight decay, then 1-β1 or the momentum.
    if (name == "group")
      for (size_t at = 0; at < o.reference.values.size(); ++at) {
        store(o, at, std::array{0.1, 0.25, 0.125, 0.0625, 1e-3}[at]);
        o.reference.values[at] = load(o, at);
      }
    // Keeps f16 gradients out of the subnormal numbers.
    if (name == "loss_scale" && !sample.ins[i].isAbsent) {
      store(o, 0, 1024);
      o.reference.values = {1024};
    }
    c.ins.push_back(o);
  }
  for (const TensorDesc &desc : sample.outs)
    c.outs.push_back(makeOperand(desc, random, false));
  std::vector<reference::Tensor> ins, outs;
  for (Operand &o : c.ins)
    ins.push_back(o.reference);
  for (Operand &o : c.outs)
    outs.push_back(o.reference);
  if (c.body)
    reference::run(*c.body, ins, outs);
  else
    reference::run(kind, ins, outs, c.attrs);
  for (size_t i = 0; i < outs.size(); ++i)
    c.outs[i].reference = outs[i];
  return c;
}

std::shared_ptr<Device> makeDevice(int numThreads) {
  const char *name = std::getenv("AICF_TEST_DEVICE");
  if (!name || std::string_view(name) == "cpu")
    return createCPUDevice({numThreads});
  static StatusOr<std::shared_ptr<Device>> device = createCUDADevice();
  EXPECT_TRUE(device.ok()) << device.status().toString();
  return device.ok() ? *device : nullptr;
}

Status call(OpKind kind, Case &c, int numThreads, std::string_view kid) {
  auto device = makeDevice(numThreads);
  OnDevice memory(*device, c);
  AICF_RETURN_IF_ERROR(memory.run(kind, kid));
  memory.fetch();
  return {};
}

std::vector<const KernelRow *> kernelsTaking(OpKind kind, Case &c) {
  std::vector<const KernelRow *> rows;
  StatusOr<TypedBody> typed = typedBodyOf(c.sample(kind));
  if (!typed.ok())
    return rows;
  for (const KernelRow &row :
       kernelsFor(makeDevice()->kind(), typed->pattern()))
    if (row.accepts(*typed))
      rows.push_back(&row);
  return rows;
}

double toleranceOf(const KindRow &row, const KernelRow &kernel, DType dtype) {
  if (kernel.math == Math::TF32)
    return 1e-3;
  // What the primitive itself says, whatever type is under test.
  if (row.kind != OpKind::Cast && elementwiseKind(row.kind) == OpKind::Cast)
    dtype = kernel.out0;
  switch (dtype) {
  case DType::F64:
    return 1e-12;
  case DType::F16:
    return 4e-3;
  case DType::BF16:
    return 2e-2;
  default:
    return row.tolerance;
  }
}

double relativeError(const Operand &o, const std::vector<uint8_t> &bytes) {
  double difference = 0, norm = 0;
  Operand actual{bytes, o.reference};
  for (size_t i = 0; i < o.reference.values.size(); ++i) {
    if (std::isinf(o.reference.values[i]) && load(actual, i) == o.reference.values[i])
      continue; // their difference is NaN
    difference += std::pow(load(actual, i) - o.reference.values[i], 2);
    norm += std::pow(o.reference.values[i], 2);
  }
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

Operand operandOf(DType dtype, std::vector<int64_t> shape,
                  const std::vector<double> &values) {
  Operand o;
  o.reference.desc = TensorDesc(dtype, shape);
  o.reference.values = values;
  o.bytes.resize(o.reference.desc.spanBytes());
  for (size_t i = 0; i < values.size(); ++i)
    store(o, i, values[i]);
  return o;
}

std::vector<double> resultOf(OpKind kind, Case c) {
  EXPECT_TRUE(call(kind, c, 1).ok());
  std::vector<reference::Tensor> ins, outs;
  for (Operand &o : c.ins)
    ins.push_back(o.reference);
  for (Operand &o : c.outs)
    outs.push_back(o.reference);
  reference::run(kind, ins, outs, c.attrs);
  std::vector<double> values;
  for (size_t i = 0; i < c.outs[0].reference.values.size(); ++i) {
    values.push_back(load(c.outs[0], i));
    double expected = outs[0].values[i];
    EXPECT_TRUE((std::isnan(expected) && std::isnan(values[i])) ||
                expected == values[i] ||
                std::fabs(expected - values[i]) <= 1e-5 * std::fabs(expected))
        << nameOf(kind) << " " << i << ": " << values[i] << ", " << expected;
  }
  return values;
}

std::vector<TensorDesc> valueTypes(const Case &c) {
  std::vector<TensorDesc> ins, outs;
  for (const Operand &o : c.ins)
    ins.push_back(o.reference.desc);
  for (const Operand &o : c.outs)
    outs.push_back(o.reference.desc);
  StatusOr<std::vector<TensorDesc>> types = describeValues(*c.body, ins, outs);
  EXPECT_TRUE(types.ok()) << types.status().toString();
  return types.ok() ? *types : std::vector<TensorDesc>();
}

Case withBody(OpKind kind, const Case &c) {
  if (c.body)
    return c;
  Case dense;
  dense.body = toCall(c.sample(kind)).body;
  for (auto [from, to] :
       {std::pair(&c.ins, &dense.ins), std::pair(&c.outs, &dense.outs)})
    for (const Operand &o : *from)
      if (!o.reference.desc.isAbsent)
        to->push_back(o);
  return dense;
}

} // namespace aicf::test
