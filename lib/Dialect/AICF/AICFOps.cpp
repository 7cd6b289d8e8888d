//===- AICFOps.cpp - verifiers, result types and folders ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Checks have the ids C1..Cn of the descriptions. Those on operands run when
// result types are inferred too, so that a wrong operand is reported here and
// not where a result of an unexpected type is used.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Support/OpRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <cmath>

using namespace mlir;
using namespace mlir::aicf;

#define GET_OP_CLASSES
#include "aicf/Dialect/AICF/AICFOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Checks: each names both values.
//===----------------------------------------------------------------------===//

/// Starts the diagnostic of a violated constraint.
using Report = llvm::function_ref<InFlightDiagnostic()>;

static RankedTensorType typeOf(Value v) {
  return cast<RankedTensorType>(v.getType());
}

static LogicalResult checkRank(Report report, StringRef id, StringRef name,
                               Value v, int64_t rank) {
  if (typeOf(v).getRank() == rank)
    return success();
  return report() << id << ": " << name << " is " << v.getType() << " of rank "
                  << typeOf(v).getRank() << ", expected rank " << rank;
}

static LogicalResult checkShape(Report report, StringRef id, StringRef name,
                                Value v, ArrayRef<int64_t> shape) {
  if (typeOf(v).getShape() == shape)
    return success();
  return report() << id << ": " << name << " is " << v.getType()
                  << ", expected shape [" << shape << "]";
}

static LogicalResult checkElement(Report report, StringRef id, StringRef name,
                                  Value v, Type element) {
  if (typeOf(v).getElementType() == element)
    return success();
  return report() << id << ": " << name << " has element type "
                  << typeOf(v).getElementType() << ", expected " << element;
}

static LogicalResult checkType(Report report, StringRef id, StringRef name,
                               Value v, StringRef otherName, Value other) {
  if (v.getType() == other.getType())
    return success();
  return report() << id << ": " << name << " is " << v.getType() << ", but "
                  << otherName << " is " << other.getType();
}

/// A 0-d tensor, of `element` if given.
static LogicalResult checkScalar(Report report, StringRef id, StringRef name,
                                 Value v, Type element = {}) {
  if (!v)
    return success();
  if (failed(checkRank(report, id, name, v, 0)))
    return failure();
  return element ? checkElement(report, id, name, v, element) : success();
}

static LogicalResult checkValue(Report report, StringRef id, StringRef name,
                                double value, bool legal, StringRef expected) {
  if (legal && std::isfinite(value))
    return success();
  return report() << id << ": " << name << " is " << ::aicf::formatNumber(value)
                  << ", expected " << expected;
}

static LogicalResult checkBetas(Report report, StringRef id, double beta1,
                                double beta2) {
  if (failed(checkValue(report, id, "beta1", beta1, beta1 >= 0 && beta1 < 1,
                        "a number in [0, 1)")))
    return failure();
  return checkValue(report, id, "beta2", beta2, beta2 >= 0 && beta2 < 1,
                    "a number in [0, 1)");
}

/// `value` has the type of `main`, or its shape and 16 bits where main is f32.
static LogicalResult checkTypeOrHalf(Report report, StringRef id,
                                     StringRef name, Value value,
                                     StringRef mainName, Value main) {
  Type element = typeOf(value).getElementType();
  if (typeOf(main).getElementType().isF32() &&
      (element.isF16() || element.isBF16()) &&
      typeOf(value).getShape() == typeOf(main).getShape())
    return success();
  return checkType(report, id, name, value, mainName, main);
}

static bool isFloatElement(Type t) {
  return t.isF16() || t.isBF16() || t.isF32() || t.isF64();
}

/// Dimension `i`, or 1 where the rank is too small: only for inference, whose
/// input is not verified yet.
static int64_t dimOr(Value v, int64_t i) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && i < type.getRank() ? type.getDimSize(i) : 1;
}

static Type elementOf(Value v) {
  auto type = dyn_cast<ShapedType>(v.getType());
  return type ? type.getElementType() : v.getType();
}

/// The parser infers while the attributes are still a dictionary, builders and
/// the verifier when they are properties; null means the default.
template <typename Adaptor, typename Attr>
static Attr attrForInference(Adaptor adaptor, Attr property, StringRef name) {
  if (property)
    return property;
  DictionaryAttr attrs = adaptor.getAttributes();
  return attrs ? attrs.getAs<Attr>(name) : Attr();
}

/// The checks on operands, while result types are inferred from them.
template <typename Op>
static LogicalResult checkOperands(std::optional<Location> loc,
                                   typename Op::Adaptor a) {
  if (!loc)
    return success();
  return Op::check(a, [&] {
    return emitError(*loc) << "'" << Op::getOperationName() << "' op ";
  });
}

/// The same checks on an op.
template <typename Op> static LogicalResult checkOperands(Op op) {
  return Op::check(typename Op::Adaptor(op), [&] { return op.emitOpError(); });
}

/// x's shape without its last dimension.
static SmallVector<int64_t> rowShape(Value x) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (!type || type.getRank() == 0)
    return {};
  return llvm::to_vector(type.getShape().drop_back());
}

//===----------------------------------------------------------------------===//
// linear, linear_bwd
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc, Adaptor a,
                                         SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<LinearOp>(loc, a)))
    return failure();
  types.push_back(RankedTensorType::get(
      {dimOr(a.getX(), 0), dimOr(a.getWeight(), 0)}, elementOf(a.getX())));
  return success();
}

LogicalResult LinearOp::check(Adaptor a, Report report) {
  if (failed(checkRank(report, "C1", "x", a.getX(), 2)) ||
      failed(checkRank(report, "C1", "W", a.getWeight(), 2)))
    return failure();
  int64_t k = typeOf(a.getX()).getDimSize(1),
          n = typeOf(a.getWeight()).getDimSize(0);
  if (failed(checkShape(report, "C2", "W", a.getWeight(), {n, k})))
    return failure();
  if (a.getBias() && failed(checkShape(report, "C3", "b", a.getBias(), {n})))
    return failure();
  Type element = elementOf(a.getX());
  if (failed(checkElement(report, "C4", "W", a.getWeight(), element)))
    return failure();
  return a.getBias() ? checkElement(report, "C4", "b", a.getBias(), element)
                     : success();
}

LogicalResult LinearOp::verify() { return checkOperands(*this); }

LogicalResult LinearBwdOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<LinearBwdOp>(loc, a)))
    return failure();
  types.assign(
      {a.getX().getType(), a.getWeight().getType(),
       RankedTensorType::get({dimOr(a.getDy(), 1)}, elementOf(a.getDy()))});
  return success();
}

LogicalResult LinearBwdOp::check(Adaptor a, Report report) {
  if (failed(checkRank(report, "C1", "dy", a.getDy(), 2)) ||
      failed(checkRank(report, "C1", "x", a.getX(), 2)) ||
      failed(checkRank(report, "C1", "W", a.getWeight(), 2)))
    return failure();
  int64_t m = typeOf(a.getX()).getDimSize(0),
          k = typeOf(a.getX()).getDimSize(1);
  int64_t n = typeOf(a.getWeight()).getDimSize(0);
  if (failed(checkShape(report, "C2", "dy", a.getDy(), {m, n})) ||
      failed(checkShape(report, "C2", "W", a.getWeight(), {n, k})))
    return failure();
  Type element = elementOf(a.getX());
  if (failed(checkElement(report, "C3", "dy", a.getDy(), element)))
    return failure();
  return checkElement(report, "C3", "W", a.getWeight(), element);
}

LogicalResult LinearBwdOp::verify() { return checkOperands(*this); }

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

#define AICF_INFER_AS_FIRST_OPERAND(OpTy, CHECKED)                             \
  LogicalResult OpTy::inferReturnTypes(MLIRContext *,                          \
                                       std::optional<Location> loc, Adaptor a, \
                                       SmallVectorImpl<Type> &types) {         \
    types.push_back(a.getOperands()[0].getType());                             \
    return CHECKED;                                                            \
  }
AICF_INFER_AS_FIRST_OPERAND(ReluOp, success())
AICF_INFER_AS_FIRST_OPERAND(SaveOp, success())
AICF_INFER_AS_FIRST_OPERAND(CopyOp, success())
AICF_INFER_AS_FIRST_OPERAND(ReciprocalOp, success())
AICF_INFER_AS_FIRST_OPERAND(AddOp, checkOperands<AddOp>(loc, a))
AICF_INFER_AS_FIRST_OPERAND(ReluBwdOp, checkOperands<ReluBwdOp>(loc, a))
AICF_INFER_AS_FIRST_OPERAND(MseGradOp, checkOperands<MseGradOp>(loc, a))
AICF_INFER_AS_FIRST_OPERAND(StepIncOp, checkOperands<StepIncOp>(loc, a))
AICF_INFER_AS_FIRST_OPERAND(RecordOp, checkOperands<RecordOp>(loc, a))
#undef AICF_INFER_AS_FIRST_OPERAND

/// relu(relu(x)) = relu(x), bit for bit.
OpFoldResult ReluOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<ReluOp>())
    return inner.getY();
  return {};
}

LogicalResult CastOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc, Adaptor a,
                                       SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(a.getX().getType());
  if (!type || !a.getDtypeAttr())
    return failure();
  if (!isFloatElement(a.getDtype()))
    return emitOptionalError(loc, "'aicf.cast' op C1: dtype is ", a.getDtype(),
                             ", expected f16, bf16, f32 or f64");
  types.push_back(type.clone(a.getDtype()));
  return success();
}

/// A cast to the same type is its operand.
OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() ? getX() : Value();
}

LogicalResult AddOp::check(Adaptor a, Report report) {
  return checkType(report, "C1", "b", a.getB(), "a", a.getA());
}

LogicalResult AddOp::verify() { return checkOperands(*this); }

LogicalResult ReluBwdOp::check(Adaptor a, Report report) {
  return checkType(report, "C1", "saved", a.getSaved(), "dy", a.getDy());
}

LogicalResult ReluBwdOp::verify() { return checkOperands(*this); }

//===----------------------------------------------------------------------===//
// Loss and reductions
//===----------------------------------------------------------------------===//

LogicalResult MseLossOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<MseLossOp>(loc, a)))
    return failure();
  types.push_back(RankedTensorType::get({}, elementOf(a.getTarget())));
  return success();
}

LogicalResult MseLossOp::check(Adaptor a, Report report) {
  return checkTypeOrHalf(report, "C1", "pred", a.getPred(), "target",
                         a.getTarget());
}

LogicalResult MseLossOp::verify() { return checkOperands(*this); }

LogicalResult MseGradOp::check(Adaptor a, Report report) {
  if (failed(checkTypeOrHalf(report, "C1", "pred", a.getPred(), "target",
                             a.getTarget())))
    return failure();
  return checkScalar(report, "C2", "loss_scale", a.getLossScale(),
                     elementOf(a.getTarget()));
}

LogicalResult MseGradOp::verify() {
  if (failed(checkOperands(*this)))
    return failure();
  double scale = getScale() ? getScale()->convertToDouble() : 0;
  return checkValue([&] { return emitOpError(); }, "C3", "scale", scale, true,
                    "a finite number");
}

LogicalResult ReduceSumOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<ReduceSumOp>(loc, a)))
    return failure();
  auto type = dyn_cast<RankedTensorType>(a.getX().getType());
  if (!type)
    return failure();
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  auto axisAttr = attrForInference(a, a.getAxisAttr(), "axis");
  auto keepdimAttr = attrForInference(a, a.getKeepdimAttr(), "keepdim");
  int64_t axis = axisAttr ? axisAttr.getInt() : 0;
  bool keepdim = keepdimAttr && keepdimAttr.getValue();
  if (axis >= 0 && axis < type.getRank()) {
    if (keepdim)
      shape[axis] = 1;
    else
      shape.erase(shape.begin() + axis);
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult ReduceSumOp::check(Adaptor a, Report report) {
  int64_t rank = typeOf(a.getX()).getRank();
  auto attr = attrForInference(a, a.getAxisAttr(), "axis");
  int64_t axis = attr ? attr.getInt() : 0;
  if (axis >= 0 && axis < rank)
    return success();
  return report() << "C1: axis is " << axis << ", but x is "
                  << a.getX().getType() << " of rank " << rank;
}

LogicalResult ReduceSumOp::verify() { return checkOperands(*this); }

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<LayerNormOp>(loc, a)))
    return failure();
  auto rows = RankedTensorType::get(rowShape(a.getX()), elementOf(a.getX()));
  types.assign({a.getX().getType(), rows, rows});
  return success();
}

/// x has rank 1 or more.
static LogicalResult checkHasLastDim(Report report, Value x) {
  if (typeOf(x).getRank() > 0)
    return success();
  return report() << "C1: x is " << x.getType()
                  << " of rank 0, expected rank 1 or more";
}

LogicalResult LayerNormOp::check(Adaptor a, Report report) {
  if (failed(checkHasLastDim(report, a.getX())))
    return failure();
  int64_t width = typeOf(a.getX()).getShape().back();
  Type element = elementOf(a.getX());
  if (failed(checkShape(report, "C2", "gamma", a.getGamma(), {width})) ||
      failed(checkShape(report, "C2", "beta", a.getBeta(), {width})) ||
      failed(checkElement(report, "C3", "gamma", a.getGamma(), element)))
    return failure();
  return checkElement(report, "C3", "beta", a.getBeta(), element);
}

LogicalResult LayerNormOp::verify() {
  auto report = [&] { return emitOpError(); };
  if (failed(checkOperands(*this)))
    return failure();
  double eps = getEps().convertToDouble();
  return checkValue(report, "C4", "eps", eps, eps >= 0, "a finite number >= 0");
}

LogicalResult LayerNormBwdOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor a,
                                               SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<LayerNormBwdOp>(loc, a)))
    return failure();
  Type gamma = a.getGamma().getType();
  types.assign({a.getX().getType(), gamma, gamma});
  return success();
}

LogicalResult LayerNormBwdOp::check(Adaptor a, Report report) {
  if (failed(checkHasLastDim(report, a.getX())) ||
      failed(checkType(report, "C1", "dy", a.getDy(), "x", a.getX())))
    return failure();
  SmallVector<int64_t> rows = rowShape(a.getX());
  Type element = elementOf(a.getX());
  if (failed(checkShape(report, "C2", "gamma", a.getGamma(),
                        {typeOf(a.getX()).getShape().back()})) ||
      failed(checkShape(report, "C3", "mean", a.getMean(), rows)) ||
      failed(checkShape(report, "C3", "rstd", a.getRstd(), rows)) ||
      failed(checkElement(report, "C4", "gamma", a.getGamma(), element)) ||
      failed(checkElement(report, "C4", "mean", a.getMean(), element)))
    return failure();
  return checkElement(report, "C4", "rstd", a.getRstd(), element);
}

LogicalResult LayerNormBwdOp::verify() { return checkOperands(*this); }

//===----------------------------------------------------------------------===//
// Loss scale, step count, optimizers
//===----------------------------------------------------------------------===//

LogicalResult AllFiniteOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<AllFiniteOp>(loc, a)))
    return failure();
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult AllFiniteOp::check(Adaptor a, Report report) {
  if (a.getGrads().empty())
    return report() << "C1: got 0 operands, expected 1 or more";
  for (auto [i, grad] : llvm::enumerate(a.getGrads()))
    if (failed(checkElement(report, "C2", "operand " + std::to_string(i), grad,
                            elementOf(a.getGrads()[0]))))
      return failure();
  return success();
}

LogicalResult AllFiniteOp::verify() { return checkOperands(*this); }

LogicalResult
LossScaleUpdateOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                    Adaptor a, SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<LossScaleUpdateOp>(loc, a)))
    return failure();
  types.assign({a.getScale().getType(), a.getStreak().getType()});
  return success();
}

LogicalResult LossScaleUpdateOp::check(Adaptor a, Report report) {
  if (failed(checkScalar(report, "C1", "scale", a.getScale())) ||
      failed(checkScalar(report, "C1", "streak", a.getStreak())))
    return failure();
  return checkScalar(report, "C1", "ok", a.getOk());
}

LogicalResult LossScaleUpdateOp::verify() {
  auto report = [&] { return emitOpError(); };
  if (failed(checkOperands(*this)))
    return failure();
  double growth = getGrowthFactor().convertToDouble();
  double backoff = getBackoffFactor().convertToDouble();
  int64_t interval = getGrowthInterval();
  if (failed(checkValue(report, "C2", "growth_factor", growth, growth >= 1,
                        "a finite number >= 1")) ||
      failed(checkValue(report, "C2", "backoff_factor", backoff,
                        backoff > 0 && backoff <= 1, "a number in (0, 1]")))
    return failure();
  return checkValue(
      report, "C2", "growth_interval", static_cast<double>(interval),
      interval >= 1 && interval <= INT32_MAX, "a number in [1, 2^31)");
}

LogicalResult StepIncOp::check(Adaptor a, Report report) {
  if (failed(checkScalar(report, "C1", "step", a.getStep())))
    return failure();
  return checkScalar(report, "C2", "ok", a.getOk());
}

LogicalResult StepIncOp::verify() { return checkOperands(*this); }

LogicalResult BiasCorrOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> loc,
                                           Adaptor a,
                                           SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<BiasCorrOp>(loc, a)))
    return failure();
  TypeAttr dtype = attrForInference(a, a.getDtypeAttr(), "dtype");
  Type element = dtype ? dtype.getValue() : Float32Type::get(context);
  if (!isFloatElement(element)) // refused by the verifier
    element = Float32Type::get(context);
  types.push_back(RankedTensorType::get({2}, element));
  return success();
}

LogicalResult BiasCorrOp::check(Adaptor a, Report report) {
  if (failed(checkScalar(report, "C1", "step", a.getStep())))
    return failure();
  TypeAttr dtype = attrForInference(a, a.getDtypeAttr(), "dtype");
  if (dtype && !isFloatElement(dtype.getValue()))
    return report() << "C3: dtype is " << dtype.getValue()
                    << ", expected f16, bf16, f32 or f64";
  return success();
}

LogicalResult BiasCorrOp::verify() {
  auto report = [&] { return emitOpError(); };
  if (failed(checkOperands(*this)))
    return failure();
  return checkBetas(report, "C2", getBeta1().convertToDouble(),
                    getBeta2().convertToDouble());
}

LogicalResult AdamStepOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor a,
                                           SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<AdamStepOp>(loc, a)))
    return failure();
  types.assign({a.getP().getType(), a.getM().getType(), a.getV().getType()});
  return success();
}

LogicalResult AdamStepOp::check(Adaptor a, Report report) {
  if (failed(checkTypeOrHalf(report, "C1", "g", a.getG(), "p", a.getP())) ||
      failed(checkType(report, "C1", "m", a.getM(), "p", a.getP())) ||
      failed(checkType(report, "C1", "v", a.getV(), "p", a.getP())))
    return failure();
  Type element = elementOf(a.getP());
  if (failed(checkShape(report, "C2", "bc", a.getBc(), {2})) ||
      failed(checkElement(report, "C2", "bc", a.getBc(), element)) ||
      failed(checkScalar(report, "C2", "lr", a.getLr(), element)) ||
      failed(checkScalar(report, "C2", "inv_scale", a.getInvScale(), element)))
    return failure();
  return checkScalar(report, "C3", "ok", a.getOk());
}

LogicalResult AdamStepOp::verify() {
  auto report = [&] { return emitOpError(); };
  if (failed(checkOperands(*this)))
    return failure();
  if (failed(checkBetas(report, "C4", getBeta1().convertToDouble(),
                        getBeta2().convertToDouble())))
    return failure();
  auto bc = getBc().getDefiningOp<BiasCorrOp>();
  if (bc && (bc.getBeta1Attr() != getBeta1Attr() ||
             bc.getBeta2Attr() != getBeta2Attr()))
    return report() << "C5: beta1 and beta2 are " << getBeta1Attr() << " and "
                    << getBeta2Attr() << ", but its bias_corr has "
                    << bc.getBeta1Attr() << " and " << bc.getBeta2Attr();
  double eps = getEps().convertToDouble();
  double decay = getWeightDecay().convertToDouble();
  if (failed(checkValue(report, "C4", "eps", eps, eps >= 0,
                        "a finite number >= 0")))
    return failure();
  return checkValue(report, "C4", "weight_decay", decay, decay >= 0,
                    "a finite number >= 0");
}

LogicalResult SgdStepOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<SgdStepOp>(loc, a)))
    return failure();
  types.assign({a.getP().getType(), a.getP().getType()});
  return success();
}

LogicalResult SgdStepOp::check(Adaptor a, Report report) {
  if (failed(checkTypeOrHalf(report, "C1", "g", a.getG(), "p", a.getP())) ||
      (a.getM() &&
       failed(checkType(report, "C1", "m", a.getM(), "p", a.getP()))))
    return failure();
  Type element = elementOf(a.getP());
  if (failed(checkScalar(report, "C2", "lr", a.getLr(), element)) ||
      failed(checkScalar(report, "C2", "inv_scale", a.getInvScale(), element)))
    return failure();
  return checkScalar(report, "C3", "ok", a.getOk());
}

LogicalResult SgdStepOp::verify() {
  auto report = [&] { return emitOpError(); };
  if (failed(checkOperands(*this)))
    return failure();
  double momentum = getMomentum().convertToDouble();
  double decay = getWeightDecay().convertToDouble();
  if (failed(checkValue(report, "C4", "momentum", momentum,
                        momentum >= 0 && (getM() || momentum == 0),
                        "a finite number >= 0, and 0 without m")) ||
      failed(checkValue(report, "C4", "nesterov", getNesterov(),
                        getM() || !getNesterov(), "false without m")))
    return failure();
  return checkValue(report, "C4", "weight_decay", decay, decay >= 0,
                    "a finite number >= 0");
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult GatherRowsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor a,
                                             SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<GatherRowsOp>(loc, a)))
    return failure();
  auto type = dyn_cast<RankedTensorType>(a.getData().getType());
  if (!type)
    return failure();
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  if (!shape.empty())
    shape[0] = dimOr(a.getIndex(), 0);
  types.push_back(type.clone(shape));
  return success();
}

LogicalResult GatherRowsOp::check(Adaptor a, Report report) {
  if (typeOf(a.getData()).getRank() == 0)
    return report() << "C1: data is " << a.getData().getType()
                    << " of rank 0, expected rank 1 or more";
  return checkRank(report, "C2", "index", a.getIndex(), 1);
}

LogicalResult GatherRowsOp::verify() { return checkOperands(*this); }

LogicalResult ShuffleOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<ShuffleOp>(loc, a)))
    return failure();
  auto batch = attrForInference(a, a.getBatchAttr(), "batch");
  int64_t size = batch && batch.getInt() > 0 ? batch.getInt() : 1;
  types.push_back(RankedTensorType::get({size}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult ShuffleOp::check(Adaptor a, Report report) {
  auto check = [&](StringRef id, StringRef name, IntegerAttr attr) {
    attr = attrForInference(a, attr, name);
    int64_t n = attr ? attr.getInt() : 1; // ODS refuses a missing one
    return checkValue(report, id, name, static_cast<double>(n),
                      n >= 1 && n <= INT32_MAX, "a number in [1, 2^31)");
  };
  if (failed(checkScalar(report, "C1", "step", a.getStep())) ||
      failed(check("C2", "size", a.getSizeAttr())))
    return failure();
  return check("C3", "batch", a.getBatchAttr());
}

LogicalResult ShuffleOp::verify() { return checkOperands(*this); }

LogicalResult RecordOp::check(Adaptor a, Report report) {
  auto history = typeOf(a.getHistory()), value = typeOf(a.getValue());
  if (history.getRank() == 0 ||
      history.getShape().drop_front() != value.getShape())
    return report() << "C1: history is " << history
                    << ", expected rows of value's type " << value;
  if (failed(checkElement(report, "C2", "value", a.getValue(),
                          history.getElementType())))
    return failure();
  return checkScalar(report, "C3", "step", a.getStep());
}

LogicalResult RecordOp::verify() { return checkOperands(*this); }
