//===- OpRules.cpp - which operands a primitive accepts -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One function a kind, a list of checks each. The ids C1..Cn are those of the
// op descriptions.
//===----------------------------------------------------------------------===//

#include "aicf/Support/OpRules.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace aicf {
namespace {

/// A call under check. The helpers return the first violated constraint.
struct Call {
  OpKind kind;
  Span<const TensorDesc> ins, outs;
  Span<const uint8_t> attrs;

  std::string op() const { return std::string(nameOf(kind)); }
  std::string inName(size_t i) const {
    const OpInfo &info = infoOf(kind);
    size_t at = i < info.numOperands ? i : info.numOperands - 1;
    return "operand " + std::to_string(i) + " (" +
           std::string(info.operands[at].name) + ")";
  }
  std::string outName(size_t i) const {
    const OpInfo &info = infoOf(kind);
    size_t at = i < info.numResults ? i : info.numResults - 1;
    return "result " + std::to_string(i) + " (" +
           std::string(info.results[at].name) + ")";
  }

  Status dtype(const char *id, const std::string &name, const TensorDesc &desc,
               DType expected) const {
    if (desc.dtype == expected)
      return {};
    return makeError(StatusCode::DTypeMismatch, op(), ": ", id, ": ", name,
                     " has element type ", nameOf(desc.dtype), ", expected ",
                     nameOf(expected));
  }
  Status floating(const char *id, const std::string &name,
                  const TensorDesc &desc) const {
    if (isFloat(desc.dtype))
      return {};
    return makeError(StatusCode::DTypeMismatch, op(), ": ", id, ": ", name,
                     " has element type ", nameOf(desc.dtype),
                     ", expected a float type");
  }
  Status rank(const char *id, const std::string &name, const TensorDesc &desc,
              size_t expected) const {
    if (desc.rank == expected)
      return {};
    return makeError(StatusCode::ShapeMismatch, op(), ": ", id, ": ", name,
                     " is ", desc.toString(), " of rank ", int(desc.rank),
                     ", expected rank ", expected);
  }
  Status shape(const char *id, const std::string &name, const TensorDesc &desc,
               const TensorDesc &expected) const {
    if (desc.sameShape(expected))
      return {};
    return makeError(StatusCode::ShapeMismatch, op(), ": ", id, ": ", name,
                     " is ", desc.toString(), ", expected the shape of ",
                     expected.toString());
  }
  Status type(const char *id, const std::string &name, const TensorDesc &desc,
              const TensorDesc &expected) const {
    AICF_RETURN_IF_ERROR(shape(id, name, desc, expected));
    return dtype(id, name, desc, expected.dtype);
  }
  Status scalar(const char *id, const std::string &name, const TensorDesc &desc,
                DType expected) const {
    AICF_RETURN_IF_ERROR(dtype(id, name, desc, expected));
    return rank(id, name, desc, 0);
  }
  /// Every operand and result is a float of operand 0's element type.
  Status oneFloatType(const char *id) const {
    AICF_RETURN_IF_ERROR(floating(id, inName(0), ins[0]));
    for (size_t i = 1; i < ins.size(); ++i)
      AICF_RETURN_IF_ERROR(dtype(id, inName(i), ins[i], ins[0].dtype));
    for (size_t i = 0; i < outs.size(); ++i)
      AICF_RETURN_IF_ERROR(dtype(id, outName(i), outs[i], ins[0].dtype));
    return {};
  }
  Status value(const char *id, const char *name, double v, bool legal,
               const char *expected) const {
    if (legal)
      return {};
    return makeError(StatusCode::InvalidArgument, op(), ": ", id, ": ", name,
                     " is ", formatNumber(v), ", expected ", expected);
  }
  /// A finite number of at least `least`.
  Status atLeast(const char *id, const char *name, double v, double least,
                 const char *expected) const {
    return value(id, name, v, v >= least && std::isfinite(v), expected);
  }
  /// Operand 0's shape with its last dimension dropped (\`last\` false) or only
  /// that dimension (\`last\` true).
  TensorDesc part(bool last) const {
    const TensorDesc &x = ins[0];
    Span<const int64_t> shape = x.shape();
    return last ? TensorDesc(x.dtype, {shape.end() - 1, 1})
                : TensorDesc(x.dtype, {shape.begin(), size_t(x.rank) - 1});
  }
};

bool isHalf(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

/// The part that gemm and its fusions share: operands 0 and 1, result 0. Every
/// attr struct of theirs starts with transA and transB.
Status checkGemm(const Call &c) {
  auto attrs = decodeAttrs<GemmAttrs>(c.attrs);
  AICF_RETURN_IF_ERROR(c.value("attrs", "transA", attrs.transA,
                               attrs.transA == 0 || attrs.transA == 1,
                               "0 or 1"));
  AICF_RETURN_IF_ERROR(c.value("attrs", "transB", attrs.transB,
                               attrs.transB == 0 || attrs.transB == 1,
                               "0 or 1"));
  AICF_RETURN_IF_ERROR(c.rank("C1", c.inName(0), c.ins[0], 2));
  AICF_RETURN_IF_ERROR(c.rank("C1", c.inName(1), c.ins[1], 2));
  AICF_RETURN_IF_ERROR(c.rank("C1", c.outName(0), c.outs[0], 2));
  DType dtype = c.ins[0].dtype;
  AICF_RETURN_IF_ERROR(c.floating("C2", c.inName(0), c.ins[0]));
  AICF_RETURN_IF_ERROR(c.dtype("C2", c.inName(1), c.ins[1], dtype));
  if (!isHalf(dtype) || c.outs[0].dtype != DType::F32)
    AICF_RETURN_IF_ERROR(c.dtype("C2", c.outName(0), c.outs[0], dtype));
  const int64_t *a = c.ins[0].dims, *b = c.ins[1].dims;
  int64_t m = a[attrs.transA], ka = a[1 - attrs.transA];
  int64_t kb = b[attrs.transB], n = b[1 - attrs.transB];
  if (ka != kb)
    return makeError(StatusCode::ShapeMismatch, c.op(), ": C3: K is ", ka,
                     " in operand 0 (a, ", c.ins[0].toString(), ") but ", kb,
                     " in operand 1 (b, ", c.ins[1].toString(), ")");
  return c.shape("C4", c.outName(0), c.outs[0],
                 TensorDesc(c.ins[0].dtype, {m, n}));
}

Status checkGemmBias(const Call &c) {
  AICF_RETURN_IF_ERROR(checkGemm(c));
  int32_t relu = decodeAttrs<GemmBiasAttrs>(c.attrs).relu;
  AICF_RETURN_IF_ERROR(
      c.value("attrs", "relu", relu, relu == 0 || relu == 1, "0 or 1"));
  return c.type("C5", c.inName(2), c.ins[2],
                TensorDesc(c.outs[0].dtype, {c.outs[0].dims[1]}));
}

Status checkGemmReluBwd(const Call &c) {
  AICF_RETURN_IF_ERROR(checkGemm(c));
  return c.type("C5", c.inName(2), c.ins[2], c.outs[0]);
}

Status checkGemmReduce(const Call &c) {
  AICF_RETURN_IF_ERROR(checkGemm(c));
  return c.type("C5", c.outName(1), c.outs[1],
                TensorDesc(c.outs[0].dtype, {c.outs[0].dims[0]}));
}

Status checkBiasAdd(const Call &c) {
  AICF_RETURN_IF_ERROR(c.rank("C1", c.inName(1), c.ins[1], 1));
  AICF_RETURN_IF_ERROR(c.oneFloatType("C1"));
  const TensorDesc &y = c.ins[0];
  int64_t axis = decodeAttrs<BiasAddAttrs>(c.attrs).axis;
  AICF_RETURN_IF_ERROR(c.value("C2", "axis", static_cast<double>(axis),
                               y.rank > 0 && axis >= -1 && axis < y.rank,
                               "-1 or a dimension of operand 0 (y)"));
  int64_t size = y.dims[axis < 0 ? y.rank - 1 : axis];
  AICF_RETURN_IF_ERROR(
      c.shape("C3", c.inName(1), c.ins[1], TensorDesc(y.dtype, {size})));
  return c.shape("C4", c.outName(0), c.outs[0], y);
}

/// All operands and results are floats of one type.
Status checkSameFloats(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  for (size_t i = 1; i < c.ins.size(); ++i)
    AICF_RETURN_IF_ERROR(c.type("C1", c.inName(i), c.ins[i], c.ins[0]));
  return c.type("C1", c.outName(0), c.outs[0], c.ins[0]);
}

Status checkCopy(const Call &c) {
  return c.type("C1", c.outName(0), c.outs[0], c.ins[0]);
}

Status checkCast(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  AICF_RETURN_IF_ERROR(c.floating("C1", c.outName(0), c.outs[0]));
  return c.shape("C1", c.outName(0), c.outs[0], c.ins[0]);
}

/// Operands 0 and 1 of the mse kinds; pred may be narrower than target.
Status checkPredAndTarget(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.inName(1), c.ins[1], c.ins[0]));
  if (isHalf(c.ins[0].dtype) && c.ins[1].dtype == DType::F32)
    return {};
  return c.dtype("C1", c.inName(1), c.ins[1], c.ins[0].dtype);
}

Status checkMseLoss(const Call &c) {
  AICF_RETURN_IF_ERROR(checkPredAndTarget(c));
  return c.scalar("C2", c.outName(0), c.outs[0], c.ins[1].dtype);
}

Status checkMseGrad(const Call &c) {
  double scale = decodeAttrs<MseGradAttrs>(c.attrs).scale;
  AICF_RETURN_IF_ERROR(c.value("attrs", "scale", scale, std::isfinite(scale),
                               "a finite number"));
  AICF_RETURN_IF_ERROR(checkPredAndTarget(c));
  size_t dpred = c.kind == OpKind::MseLossGrad ? 1 : 0;
  AICF_RETURN_IF_ERROR(c.type("C1", c.outName(dpred), c.outs[dpred], c.ins[0]));
  if (dpred)
    AICF_RETURN_IF_ERROR(
        c.scalar("C2", c.outName(0), c.outs[0], c.ins[1].dtype));
  if (c.ins.size() > 2)
    return c.scalar("C2", c.inName(2), c.ins[2], c.ins[1].dtype);
  return {};
}

Status checkReluBwdReduce(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  AICF_RETURN_IF_ERROR(c.rank("C1", c.inName(0), c.ins[0], 2));
  AICF_RETURN_IF_ERROR(c.type("C1", c.inName(1), c.ins[1], c.ins[0]));
  AICF_RETURN_IF_ERROR(c.type("C1", c.outName(0), c.outs[0], c.ins[0]));
  return c.type("C2", c.outName(1), c.outs[1],
                TensorDesc(c.ins[0].dtype, {c.ins[0].dims[1]}));
}

Status checkReduceSum(const Call &c) {
  const TensorDesc &x = c.ins[0];
  int64_t axis = decodeAttrs<ReduceSumAttrs>(c.attrs).axis;
  AICF_RETURN_IF_ERROR(c.value("C1", "axis", static_cast<double>(axis),
                               axis >= 0 && axis < x.rank,
                               "a dimension of operand 0 (x)"));
  AICF_RETURN_IF_ERROR(c.oneFloatType("C2"));
  TensorDesc dropped = x, kept = x;
  kept.dims[axis] = 1;
  --dropped.rank;
  for (size_t i = static_cast<size_t>(axis); i < dropped.rank; ++i)
    dropped.dims[i] = x.dims[i + 1];
  if (c.outs[0].sameShape(kept))
    return {};
  return c.shape("C3", c.outName(0), c.outs[0], dropped);
}

Status checkLayerNorm(const Call &c) {
  if (c.ins[0].rank == 0)
    return makeError(StatusCode::ShapeMismatch, c.op(), ": C1: ", c.inName(0),
                     " is ", c.ins[0].toString(),
                     " of rank 0, expected rank 1 or more");
  AICF_RETURN_IF_ERROR(c.shape("C1", c.inName(1), c.ins[1], c.part(true)));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.inName(2), c.ins[2], c.part(true)));
  AICF_RETURN_IF_ERROR(c.oneFloatType("C2"));
  AICF_RETURN_IF_ERROR(c.shape("C3", c.outName(0), c.outs[0], c.ins[0]));
  AICF_RETURN_IF_ERROR(c.shape("C3", c.outName(1), c.outs[1], c.part(false)));
  AICF_RETURN_IF_ERROR(c.shape("C3", c.outName(2), c.outs[2], c.part(false)));
  double eps = decodeAttrs<LayerNormAttrs>(c.attrs).eps;
  return c.atLeast("attrs", "eps", eps, 0, "a finite number >= 0");
}

Status checkLayerNormBwd(const Call &c) {
  if (c.ins[0].rank == 0)
    return makeError(StatusCode::ShapeMismatch, c.op(), ": C1: ", c.inName(0),
                     " is ", c.ins[0].toString(),
                     " of rank 0, expected rank 1 or more");
  AICF_RETURN_IF_ERROR(c.shape("C1", c.inName(1), c.ins[1], c.ins[0]));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.inName(2), c.ins[2], c.part(true)));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.inName(3), c.ins[3], c.part(false)));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.inName(4), c.ins[4], c.part(false)));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.outName(0), c.outs[0], c.ins[0]));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.outName(1), c.outs[1], c.part(true)));
  AICF_RETURN_IF_ERROR(c.shape("C1", c.outName(2), c.outs[2], c.part(true)));
  return c.oneFloatType("C2");
}

Status checkAllFinite(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  for (size_t i = 1; i < c.ins.size(); ++i)
    AICF_RETURN_IF_ERROR(c.dtype("C1", c.inName(i), c.ins[i], c.ins[0].dtype));
  return c.scalar("C2", c.outName(0), c.outs[0], DType::I32);
}

Status checkLossScaleUpdate(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  AICF_RETURN_IF_ERROR(c.rank("C1", c.inName(0), c.ins[0], 0));
  AICF_RETURN_IF_ERROR(c.scalar("C1", c.outName(0), c.outs[0], c.ins[0].dtype));
  AICF_RETURN_IF_ERROR(c.scalar("C2", c.inName(1), c.ins[1], DType::I32));
  AICF_RETURN_IF_ERROR(c.scalar("C2", c.inName(2), c.ins[2], DType::I32));
  AICF_RETURN_IF_ERROR(c.scalar("C2", c.outName(1), c.outs[1], DType::I32));
  auto attrs = decodeAttrs<LossScaleUpdateAttrs>(c.attrs);
  AICF_RETURN_IF_ERROR(c.atLeast("C3", "growth_factor", attrs.growth_factor, 1,
                                 "a finite number >= 1"));
  AICF_RETURN_IF_ERROR(
      c.value("C3", "backoff_factor", attrs.backoff_factor,
              attrs.backoff_factor > 0 && attrs.backoff_factor <= 1,
              "a number in (0, 1]"));
  return c.value(
      "C3", "growth_interval", static_cast<double>(attrs.growth_interval),
      attrs.growth_interval >= 1 && attrs.growth_interval <= INT32_MAX,
      "a number in [1, 2^31)");
}

Status checkCounter(const Call &c) {
  DType dtype = c.ins[0].dtype;
  if (dtype != DType::I32 && dtype != DType::I64)
    return makeError(StatusCode::DTypeMismatch, c.op(), ": C1: ", c.inName(0),
                     " has element type ", nameOf(dtype),
                     ", expected i32 or i64");
  return c.rank("C1", c.inName(0), c.ins[0], 0);
}

Status checkStepInc(const Call &c) {
  AICF_RETURN_IF_ERROR(checkCounter(c));
  AICF_RETURN_IF_ERROR(c.scalar("C1", c.outName(0), c.outs[0], c.ins[0].dtype));
  if (c.ins.size() > 1)
    return c.scalar("C2", c.inName(1), c.ins[1], DType::I32);
  return {};
}

Status checkBetas(const Call &c, const char *id, double beta1, double beta2) {
  AICF_RETURN_IF_ERROR(
      c.value(id, "beta1", beta1, beta1 >= 0 && beta1 < 1, "in [0, 1)"));
  return c.value(id, "beta2", beta2, beta2 >= 0 && beta2 < 1, "in [0, 1)");
}

Status checkBiasCorr(const Call &c) {
  AICF_RETURN_IF_ERROR(checkCounter(c));
  AICF_RETURN_IF_ERROR(c.floating("C2", c.outName(0), c.outs[0]));
  AICF_RETURN_IF_ERROR(
      c.shape("C2", c.outName(0), c.outs[0], TensorDesc(c.outs[0].dtype, {2})));
  auto attrs = decodeAttrs<BiasCorrAttrs>(c.attrs);
  return checkBetas(c, "C3", attrs.beta1, attrs.beta2);
}

/// inv_scale and ok of an optimizer, which are the last operands.
Status checkOptionalScalars(const Call &c, size_t numRequired) {
  OptimizerOperands at = optimizerOperands(c.kind, c.ins, c.outs.size());
  size_t known = numRequired + (at.invScale >= 0) + (at.ok >= 0);
  if (c.ins.size() > known)
    return makeError(StatusCode::InvalidArgument, c.op(), ": operand ", known,
                     " is ", c.ins[known].toString(),
                     ", expected inv_scale (a float), then ok (i32)");
  if (at.invScale >= 0)
    AICF_RETURN_IF_ERROR(c.scalar("C2", c.inName(at.invScale),
                                  c.ins[at.invScale], c.ins[0].dtype));
  if (at.ok >= 0)
    return c.scalar("C3", c.inName(at.ok), c.ins[at.ok], DType::I32);
  return {};
}

/// g (operand 1) may be narrower than an f32 parameter.
Status checkGrad(const Call &c) {
  if (c.ins[0].dtype == DType::F32 && isHalf(c.ins[1].dtype))
    return c.shape("C1", c.inName(1), c.ins[1], c.ins[0]);
  return c.type("C1", c.inName(1), c.ins[1], c.ins[0]);
}

Status checkAdam(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  AICF_RETURN_IF_ERROR(checkGrad(c));
  for (size_t i = 2; i < 4; ++i)
    AICF_RETURN_IF_ERROR(c.type("C1", c.inName(i), c.ins[i], c.ins[0]));
  for (size_t i = 0; i < 3; ++i)
    AICF_RETURN_IF_ERROR(c.type("C1", c.outName(i), c.outs[i], c.ins[0]));
  DType dtype = c.ins[0].dtype;
  AICF_RETURN_IF_ERROR(
      c.type("C2", c.inName(4), c.ins[4], TensorDesc(dtype, {2})));
  AICF_RETURN_IF_ERROR(c.scalar("C2", c.inName(5), c.ins[5], dtype));
  AICF_RETURN_IF_ERROR(checkOptionalScalars(c, 6));
  auto attrs = decodeAttrs<AdamStepAttrs>(c.attrs);
  AICF_RETURN_IF_ERROR(checkBetas(c, "C4", attrs.beta1, attrs.beta2));
  AICF_RETURN_IF_ERROR(
      c.atLeast("C4", "eps", attrs.eps, 0, "a finite number >= 0"));
  return c.atLeast("C4", "weight_decay", attrs.weight_decay, 0,
                   "a finite number >= 0");
}

Status checkSgd(const Call &c) {
  AICF_RETURN_IF_ERROR(c.floating("C1", c.inName(0), c.ins[0]));
  AICF_RETURN_IF_ERROR(checkGrad(c));
  bool hasMoment = c.outs.size() == 2;
  if (hasMoment && c.ins.size() < 4)
    return makeError(StatusCode::InvalidArgument, c.op(),
                     ": C1: two results need operand 3 (m), got ", c.ins.size(),
                     " operands");
  if (hasMoment)
    AICF_RETURN_IF_ERROR(c.type("C1", c.inName(3), c.ins[3], c.ins[0]));
  for (size_t i = 0; i < c.outs.size(); ++i)
    AICF_RETURN_IF_ERROR(c.type("C1", c.outName(i), c.outs[i], c.ins[0]));
  AICF_RETURN_IF_ERROR(c.scalar("C2", c.inName(2), c.ins[2], c.ins[0].dtype));
  AICF_RETURN_IF_ERROR(checkOptionalScalars(c, hasMoment ? 4 : 3));
  auto attrs = decodeAttrs<SgdStepAttrs>(c.attrs);
  AICF_RETURN_IF_ERROR(c.value("C4", "momentum", attrs.momentum,
                               attrs.momentum >= 0 &&
                                   std::isfinite(attrs.momentum) &&
                                   (hasMoment || attrs.momentum == 0),
                               "finite and >= 0, and 0 without m"));
  AICF_RETURN_IF_ERROR(c.value("C4", "nesterov", attrs.nesterov,
                               (attrs.nesterov == 0 || attrs.nesterov == 1) &&
                                   (hasMoment || attrs.nesterov == 0),
                               "0 or 1, and 0 without m"));
  return c.atLeast("C4", "weight_decay", attrs.weight_decay, 0,
                   "a finite number >= 0");
}

/// Takes a multi-tensor call apart and checks each group as the single kind.
Status checkUpdate(const Call &c, OpKind single, int64_t count,
                   Span<const uint8_t> singleAttrs, size_t numScalars) {
  const OpInfo &info = infoOf(c.kind);
  int64_t perIn = int64_t(info.groupOperands),
          perOut = int64_t(info.groupResults);
  int64_t numIns = int64_t(c.ins.size()), numOuts = int64_t(c.outs.size());
  int64_t scalars = numIns - perIn * std::clamp<int64_t>(count, 0, numIns);
  bool counts = scalars >= int64_t(numScalars) &&
                scalars <= int64_t(numScalars) + 2 &&
                (numOuts == perOut * count || numOuts == (perOut + 1) * count);
  if (!counts)
    return makeError(StatusCode::InvalidArgument, c.op(), ": C1: count is ",
                     count, ", but there are ", numIns, " operands and ",
                     numOuts, " results");
  for (int64_t i = 0; i < count; ++i) {
    std::vector<TensorDesc> ins(c.ins.begin() + perIn * i,
                                c.ins.begin() + perIn * (i + 1));
    auto moment = ins.end();
    if (single == OpKind::SgdStep && perIn == 3)
      moment = ins.begin() + 2; // its place is behind lr
    std::vector<TensorDesc> late(moment, ins.end());
    ins.erase(moment, ins.end());
    const TensorDesc *scalar = c.ins.begin() + perIn * count;
    ins.insert(ins.end(), scalar, scalar + numScalars);
    ins.insert(ins.end(), late.begin(), late.end());
    ins.insert(ins.end(), scalar + numScalars, c.ins.end());
    Span<const TensorDesc> outs(c.outs.begin() + perOut * i, size_t(perOut));
    Status status =
        checkCall(single, ins, outs, infoOf(single).schema, singleAttrs);
    if (!status.ok())
      return status.withContext(c.op() + ": C2: group " + std::to_string(i));
    if (numOuts == perOut * count)
      continue;
    size_t copy = size_t(perOut * count + i);
    if (!isHalf(c.outs[copy].dtype))
      return makeError(StatusCode::DTypeMismatch, c.op(),
                       ": C3: ", c.outName(copy), " has element type ",
                       nameOf(c.outs[copy].dtype), ", expected f16 or bf16");
    AICF_RETURN_IF_ERROR(
        c.shape("C3", c.outName(copy), c.outs[copy], c.ins[size_t(perIn * i)]));
  }
  return {};
}

template <typename T> Span<const uint8_t> bytesOf(const T &attrs) {
  return {reinterpret_cast<const uint8_t *>(&attrs), sizeof(T)};
}

Status checkAdamUpdate(const Call &c) {
  auto attrs = decodeAttrs<AdamUpdateAttrs>(c.attrs);
  AdamStepAttrs single{attrs.beta1, attrs.beta2, attrs.eps, attrs.weight_decay};
  return checkUpdate(c, OpKind::AdamStep, attrs.count, bytesOf(single), 2);
}

Status checkSgdUpdate(const Call &c) {
  auto attrs = decodeAttrs<SgdUpdateAttrs>(c.attrs);
  SgdStepAttrs single{0, attrs.weight_decay, 0};
  return checkUpdate(c, OpKind::SgdStep, attrs.count, bytesOf(single), 1);
}

Status checkMomentumUpdate(const Call &c) {
  auto attrs = decodeAttrs<MomentumUpdateAttrs>(c.attrs);
  SgdStepAttrs single{attrs.momentum, attrs.weight_decay, attrs.nesterov};
  return checkUpdate(c, OpKind::SgdStep, attrs.count, bytesOf(single), 1);
}

/// An index operand or result: [B] of i32 or i64.
Status checkIndex(const Call &c, const char *id, const std::string &name,
                  const TensorDesc &desc) {
  if (desc.dtype != DType::I32 && desc.dtype != DType::I64)
    return makeError(StatusCode::DTypeMismatch, c.op(), ": ", id, ": ", name,
                     " has element type ", nameOf(desc.dtype),
                     ", expected i32 or i64");
  return c.rank(id, name, desc, 1);
}

Status checkGatherRows(const Call &c) {
  if (c.ins[0].rank == 0)
    return makeError(StatusCode::ShapeMismatch, c.op(), ": C1: ", c.inName(0),
                     " is ", c.ins[0].toString(),
                     " of rank 0, expected rank 1 or more");
  AICF_RETURN_IF_ERROR(checkIndex(c, "C1", c.inName(1), c.ins[1]));
  TensorDesc rows = c.ins[0];
  rows.dims[0] = c.ins[1].dims[0];
  return c.type("C2", c.outName(0), c.outs[0], rows);
}

Status checkShuffle(const Call &c) {
  AICF_RETURN_IF_ERROR(checkCounter(c));
  AICF_RETURN_IF_ERROR(checkIndex(c, "C2", c.outName(0), c.outs[0]));
  auto size = decodeAttrs<ShuffleAttrs>(c.attrs).size;
  return c.value("C3", "size", double(size), size >= 1 && size <= INT32_MAX,
                 "in [1, 2^31)");
}

Status checkRecord(const Call &c) {
  TensorDesc row = c.ins[0];
  if (row.rank == 0)
    return makeError(StatusCode::ShapeMismatch, c.op(), ": C1: ", c.inName(0),
                     " is ", row.toString(),
                     " of rank 0, expected rank 1 or more");
  row = TensorDesc(row.dtype, {row.dims + 1, size_t(row.rank) - 1});
  AICF_RETURN_IF_ERROR(c.type("C1", c.inName(1), c.ins[1], row));
  AICF_RETURN_IF_ERROR(c.type("C1", c.outName(0), c.outs[0], c.ins[0]));
  DType dtype = c.ins[2].dtype;
  if (dtype != DType::I32 && dtype != DType::I64)
    return makeError(StatusCode::DTypeMismatch, c.op(), ": C2: ", c.inName(2),
                     " has element type ", nameOf(dtype),
                     ", expected i32 or i64");
  return c.rank("C2", c.inName(2), c.ins[2], 0);
}

/// Checks a count against the op's signature: required, optional, variadic.
Status checkCount(const Call &c, const char *what, size_t count,
                  const OperandInfo *infos, size_t numInfos) {
  size_t least = 0;
  bool variadic = infos[numInfos - 1].variadic; // no op is without
  for (size_t i = 0; i < numInfos; ++i)
    least += !infos[i].optional;
  if (count >= least && (variadic || count <= numInfos))
    return {};
  return makeError(StatusCode::InvalidArgument, c.op(), ": got ", count, " ",
                   what, ", expected ", least,
                   variadic           ? " or more"
                   : least < numInfos ? " to " + std::to_string(numInfos)
                                      : std::string());
}

} // namespace

OptimizerOperands optimizerOperands(OpKind kind, Span<const TensorDesc> ins,
                                    size_t numOuts) {
  OptimizerOperands at;
  size_t next = kind == OpKind::AdamStep ? 6 : 3;
  if (kind == OpKind::SgdStep && numOuts == 2)
    at.moment = static_cast<int>(next++);
  if (next < ins.size() && isFloat(ins[next].dtype))
    at.invScale = static_cast<int>(next++);
  if (next < ins.size() && ins[next].dtype == DType::I32)
    at.ok = static_cast<int>(next++);
  return at;
}

FieldValue decodeField(const FieldInfo &field, Span<const uint8_t> attrs) {
  const uint8_t *at = attrs.data() + field.offset;
  auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  switch (field.format) {
  case 'd':
    return read(double());
  case 'q':
    return read(int64_t());
  default:
    return int64_t(read(int32_t()));
  }
}

std::string formatField(const FieldValue &value) {
  if (const int64_t *whole = std::get_if<int64_t>(&value))
    return std::to_string(*whole);
  return formatNumber(std::get<double>(value));
}

std::string formatNumber(double value) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return error == std::errc() ? std::string(text, end) : std::string("?");
}

std::optional<FieldValue> fieldDefault(OpKind kind, size_t field,
                                       const TensorDesc &operand0) {
  const FieldInfo &info = infoOf(kind).fields[field];
  if (info.hasDefault && info.format != 'd')
    return int64_t(info.defaultValue);
  if (info.hasDefault)
    return info.defaultValue;
  if (kind == OpKind::MseGrad) // the gradient of mse_loss
    return 2.0 / static_cast<double>(operand0.numElements());
  return std::nullopt;
}

std::optional<uint64_t> checkedBytes(const TensorDesc &desc) {
  uint64_t bytes = sizeOf(desc.dtype);
  if (desc.rank > kMaxRank)
    return std::nullopt;
  for (int64_t d : desc.shape())
    if (d <= 0 || d > INT32_MAX ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(d), &bytes) ||
        bytes > kMaxTensorBytes)
      return std::nullopt;
  return bytes;
}

Status checkCall(OpKind kind, Span<const TensorDesc> ins,
                 Span<const TensorDesc> outs, uint32_t schema,
                 Span<const uint8_t> attrs) {
  const OpInfo &info = infoOf(kind);
  Call c{kind, ins, outs, attrs};
  if (schema != info.schema)
    return makeError(StatusCode::BadSchema, c.op(), ": attr schema is ", schema,
                     ", expected ", info.schema);
  if (attrs.size() != info.attrBytes)
    return makeError(StatusCode::BadAttrSize, c.op(), ": attr blob has ",
                     attrs.size(), " bytes, expected ", info.attrBytes);
  AICF_RETURN_IF_ERROR(
      checkCount(c, "operands", ins.size(), info.operands, info.numOperands));
  AICF_RETURN_IF_ERROR(
      checkCount(c, "results", outs.size(), info.results, info.numResults));
  switch (kind) {
  case OpKind::Gemm:
    return checkGemm(c);
  case OpKind::BiasAdd:
    return checkBiasAdd(c);
  case OpKind::Relu:
  case OpKind::ReluBwd:
  case OpKind::Add:
    return checkSameFloats(c);
  case OpKind::Copy:
  case OpKind::CopySaved:
    return checkCopy(c);
  case OpKind::Cast:
    return checkCast(c);
  case OpKind::MseLoss:
    return checkMseLoss(c);
  case OpKind::MseGrad:
    return checkMseGrad(c);
  case OpKind::ReduceSum:
    return checkReduceSum(c);
  case OpKind::LayerNorm:
    return checkLayerNorm(c);
  case OpKind::LayerNormBwd:
    return checkLayerNormBwd(c);
  case OpKind::AllFinite:
    return checkAllFinite(c);
  case OpKind::LossScaleUpdate:
    return checkLossScaleUpdate(c);
  case OpKind::StepInc:
    return checkStepInc(c);
  case OpKind::BiasCorr:
    return checkBiasCorr(c);
  case OpKind::AdamStep:
    return checkAdam(c);
  case OpKind::SgdStep:
    return checkSgd(c);
  case OpKind::GemmBias:
    return checkGemmBias(c);
  case OpKind::GemmReluBwd:
    return checkGemmReluBwd(c);
  case OpKind::GemmReduce:
    return checkGemmReduce(c);
  case OpKind::ReluBwdReduce:
    return checkReluBwdReduce(c);
  case OpKind::MseLossGrad:
    return checkMseGrad(c);
  case OpKind::AdamUpdate:
    return checkAdamUpdate(c);
  case OpKind::SgdUpdate:
    return checkSgdUpdate(c);
  case OpKind::MomentumUpdate:
    return checkMomentumUpdate(c);
  case OpKind::Reciprocal:
    return checkSameFloats(c);
  case OpKind::GatherRows:
    return checkGatherRows(c);
  case OpKind::Shuffle:
    return checkShuffle(c);
  case OpKind::Record:
    return checkRecord(c);
  }
  return makeError(StatusCode::NotImplemented, "unknown op kind ",
                   static_cast<int>(kind));
}

} // namespace aicf
