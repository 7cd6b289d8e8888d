//===- AICFOps.cpp - verifiers, result types and folders ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Verifiers are lists of checks with the ids C1..Cn of the descriptions. Result
// types are inferred without checking: the verifier has the better message.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Support/OpRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::aicf;

#define GET_OP_CLASSES
#include "aicf/Dialect/AICF/AICFOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Checks: each names both values.
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value v) {
  return cast<RankedTensorType>(v.getType());
}

static LogicalResult checkRank(Operation *op, StringRef id, StringRef name,
                               Value v, int64_t rank) {
  if (typeOf(v).getRank() == rank)
    return success();
  return op->emitOpError() << id << ": " << name << " is " << v.getType()
                           << " of rank " << typeOf(v).getRank()
                           << ", expected rank " << rank;
}

static LogicalResult checkShape(Operation *op, StringRef id, StringRef name,
                                Value v, ArrayRef<int64_t> shape) {
  if (typeOf(v).getShape() == shape)
    return success();
  return op->emitOpError() << id << ": " << name << " is " << v.getType()
                           << ", expected shape [" << shape << "]";
}

static LogicalResult checkElement(Operation *op, StringRef id, StringRef name,
                                  Value v, Type element) {
  if (typeOf(v).getElementType() == element)
    return success();
  return op->emitOpError() << id << ": " << name << " has element type "
                           << typeOf(v).getElementType() << ", expected "
                           << element;
}

static LogicalResult checkType(Operation *op, StringRef id, StringRef name,
                               Value v, StringRef otherName, Value other) {
  if (v.getType() == other.getType())
    return success();
  return op->emitOpError() << id << ": " << name << " is " << v.getType()
                           << ", but " << otherName << " is "
                           << other.getType();
}

/// A 0-d tensor, of `element` if given.
static LogicalResult checkScalar(Operation *op, StringRef id, StringRef name,
                                 Value v, Type element = {}) {
  if (!v)
    return success();
  if (failed(checkRank(op, id, name, v, 0)))
    return failure();
  return element ? checkElement(op, id, name, v, element) : success();
}

static LogicalResult checkValue(Operation *op, StringRef id, StringRef name,
                                double value, bool legal, StringRef expected) {
  if (legal)
    return success();
  return op->emitOpError() << id << ": " << name << " is "
                           << ::aicf::formatNumber(value) << ", expected "
                           << expected;
}

static LogicalResult checkBetas(Operation *op, StringRef id, double beta1,
                                double beta2) {
  if (failed(checkValue(op, id, "beta1", beta1, beta1 >= 0 && beta1 < 1,
                        "a number in [0, 1)")))
    return failure();
  return checkValue(op, id, "beta2", beta2, beta2 >= 0 && beta2 < 1,
                    "a number in [0, 1)");
}

/// `value` has the type of `main`, or its shape and 16 bits where main is f32.
static LogicalResult checkTypeOrHalf(Operation *op, StringRef id,
                                     StringRef name, Value value,
                                     StringRef mainName, Value main) {
  Type element = typeOf(value).getElementType();
  if (typeOf(main).getElementType().isF32() &&
      (element.isF16() || element.isBF16()) &&
      typeOf(value).getShape() == typeOf(main).getShape())
    return success();
  return checkType(op, id, name, value, mainName, main);
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

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor a,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(
      {dimOr(a.getX(), 0), dimOr(a.getWeight(), 0)}, elementOf(a.getX())));
  return success();
}

LogicalResult LinearOp::verify() {
  if (failed(checkRank(*this, "C1", "x", getX(), 2)) ||
      failed(checkRank(*this, "C1", "W", getWeight(), 2)))
    return failure();
  int64_t k = typeOf(getX()).getDimSize(1),
          n = typeOf(getWeight()).getDimSize(0);
  if (failed(checkShape(*this, "C2", "W", getWeight(), {n, k})))
    return failure();
  if (getBias() && failed(checkShape(*this, "C3", "b", getBias(), {n})))
    return failure();
  Type element = elementOf(getX());
  if (failed(checkElement(*this, "C4", "W", getWeight(), element)))
    return failure();
  return getBias() ? checkElement(*this, "C4", "b", getBias(), element)
                   : success();
}

LogicalResult LinearBwdOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  types.assign(
      {a.getX().getType(), a.getWeight().getType(),
       RankedTensorType::get({dimOr(a.getDy(), 1)}, elementOf(a.getDy()))});
  return success();
}

LogicalResult LinearBwdOp::verify() {
  if (failed(checkRank(*this, "C1", "dy", getDy(), 2)) ||
      failed(checkRank(*this, "C1", "x", getX(), 2)) ||
      failed(checkRank(*this, "C1", "W", getWeight(), 2)))
    return failure();
  int64_t m = typeOf(getX()).getDimSize(0), k = typeOf(getX()).getDimSize(1);
  int64_t n = typeOf(getWeight()).getDimSize(0);
  if (failed(checkShape(*this, "C2", "dy", getDy(), {m, n})) ||
      failed(checkShape(*this, "C2", "W", getWeight(), {n, k})))
    return failure();
  Type element = elementOf(getX());
  if (failed(checkElement(*this, "C3", "dy", getDy(), element)))
    return failure();
  return checkElement(*this, "C3", "W", getWeight(), element);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

#define AICF_INFER_AS_FIRST_OPERAND(OpTy)                                      \
  LogicalResult OpTy::inferReturnTypes(MLIRContext *, std::optional<Location>, \
                                       Adaptor a,                              \
                                       SmallVectorImpl<Type> &types) {         \
    types.push_back(a.getOperands()[0].getType());                             \
    return success();                                                          \
  }
AICF_INFER_AS_FIRST_OPERAND(ReluOp)
AICF_INFER_AS_FIRST_OPERAND(SaveOp)
AICF_INFER_AS_FIRST_OPERAND(CopyOp)
AICF_INFER_AS_FIRST_OPERAND(AddOp)
AICF_INFER_AS_FIRST_OPERAND(ReluBwdOp)
AICF_INFER_AS_FIRST_OPERAND(MseGradOp)
AICF_INFER_AS_FIRST_OPERAND(StepIncOp)
AICF_INFER_AS_FIRST_OPERAND(ReciprocalOp)
AICF_INFER_AS_FIRST_OPERAND(RecordOp)
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

LogicalResult AddOp::verify() {
  return checkType(*this, "C1", "b", getB(), "a", getA());
}

LogicalResult ReluBwdOp::verify() {
  return checkType(*this, "C1", "saved", getSaved(), "dy", getDy());
}

//===----------------------------------------------------------------------===//
// Loss and reductions
//===----------------------------------------------------------------------===//

LogicalResult MseLossOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>, Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, elementOf(a.getTarget())));
  return success();
}

LogicalResult MseLossOp::verify() {
  return checkTypeOrHalf(*this, "C1", "pred", getPred(), "target", getTarget());
}

LogicalResult MseGradOp::verify() {
  if (failed(checkTypeOrHalf(*this, "C1", "pred", getPred(), "target",
                             getTarget())))
    return failure();
  return checkScalar(*this, "C2", "loss_scale", getLossScale(),
                     elementOf(getTarget()));
}

LogicalResult ReduceSumOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
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

LogicalResult ReduceSumOp::verify() {
  int64_t rank = typeOf(getX()).getRank(), axis = getAxis();
  if (axis >= 0 && axis < rank)
    return success();
  return emitOpError() << "C1: axis is " << axis << ", but x is "
                       << getX().getType() << " of rank " << rank;
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  auto rows = RankedTensorType::get(rowShape(a.getX()), elementOf(a.getX()));
  types.assign({a.getX().getType(), rows, rows});
  return success();
}

/// x has rank 1 or more.
static LogicalResult checkHasLastDim(Operation *op, Value x) {
  if (typeOf(x).getRank() > 0)
    return success();
  return op->emitOpError() << "C1: x is " << x.getType()
                           << " of rank 0, expected rank 1 or more";
}

LogicalResult LayerNormOp::verify() {
  if (failed(checkHasLastDim(*this, getX())))
    return failure();
  int64_t width = typeOf(getX()).getShape().back();
  Type element = elementOf(getX());
  double eps = getEps().convertToDouble();
  if (failed(checkShape(*this, "C2", "gamma", getGamma(), {width})) ||
      failed(checkShape(*this, "C2", "beta", getBeta(), {width})) ||
      failed(checkElement(*this, "C3", "gamma", getGamma(), element)) ||
      failed(checkElement(*this, "C3", "beta", getBeta(), element)))
    return failure();
  return checkValue(*this, "C4", "eps", eps, eps >= 0, "a number >= 0");
}

LogicalResult LayerNormBwdOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor a,
                                               SmallVectorImpl<Type> &types) {
  Type gamma = a.getGamma().getType();
  types.assign({a.getX().getType(), gamma, gamma});
  return success();
}

LogicalResult LayerNormBwdOp::verify() {
  if (failed(checkHasLastDim(*this, getX())) ||
      failed(checkType(*this, "C1", "dy", getDy(), "x", getX())))
    return failure();
  SmallVector<int64_t> rows = rowShape(getX());
  Type element = elementOf(getX());
  if (failed(checkShape(*this, "C2", "gamma", getGamma(),
                        {typeOf(getX()).getShape().back()})) ||
      failed(checkShape(*this, "C3", "mean", getMean(), rows)) ||
      failed(checkShape(*this, "C3", "rstd", getRstd(), rows)) ||
      failed(checkElement(*this, "C4", "gamma", getGamma(), element)) ||
      failed(checkElement(*this, "C4", "mean", getMean(), element)))
    return failure();
  return checkElement(*this, "C4", "rstd", getRstd(), element);
}

//===----------------------------------------------------------------------===//
// Loss scale, step count, optimizers
//===----------------------------------------------------------------------===//

LogicalResult AllFiniteOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult AllFiniteOp::verify() {
  if (getGrads().empty())
    return emitOpError() << "C1: got 0 operands, expected 1 or more";
  for (auto [i, grad] : llvm::enumerate(getGrads()))
    if (failed(checkElement(*this, "C2", "operand " + std::to_string(i), grad,
                            elementOf(getGrads()[0]))))
      return failure();
  return success();
}

LogicalResult
LossScaleUpdateOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor a, SmallVectorImpl<Type> &types) {
  types.assign({a.getScale().getType(), a.getStreak().getType()});
  return success();
}

LogicalResult LossScaleUpdateOp::verify() {
  if (failed(checkScalar(*this, "C1", "scale", getScale())) ||
      failed(checkScalar(*this, "C1", "streak", getStreak())) ||
      failed(checkScalar(*this, "C1", "ok", getOk())))
    return failure();
  double growth = getGrowthFactor().convertToDouble();
  double backoff = getBackoffFactor().convertToDouble();
  int64_t interval = getGrowthInterval();
  if (failed(checkValue(*this, "C2", "growth_factor", growth, growth >= 1,
                        "a number >= 1")) ||
      failed(checkValue(*this, "C2", "backoff_factor", backoff,
                        backoff > 0 && backoff <= 1, "a number in (0, 1]")))
    return failure();
  return checkValue(
      *this, "C2", "growth_interval", static_cast<double>(interval),
      interval >= 1 && interval <= INT32_MAX, "a number in [1, 2^31)");
}

LogicalResult StepIncOp::verify() {
  if (failed(checkScalar(*this, "C1", "step", getStep())))
    return failure();
  return checkScalar(*this, "C2", "ok", getOk());
}

LogicalResult BiasCorrOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>, Adaptor a,
                                           SmallVectorImpl<Type> &types) {
  TypeAttr dtype = attrForInference(a, a.getDtypeAttr(), "dtype");
  Type element = dtype ? dtype.getValue() : Float32Type::get(context);
  if (!isFloatElement(element)) // refused by the verifier
    element = Float32Type::get(context);
  types.push_back(RankedTensorType::get({2}, element));
  return success();
}

LogicalResult BiasCorrOp::verify() {
  if (failed(checkScalar(*this, "C1", "step", getStep())) ||
      failed(checkBetas(*this, "C2", getBeta1().convertToDouble(),
                        getBeta2().convertToDouble())))
    return failure();
  if (getDtype() && !isFloatElement(*getDtype()))
    return emitOpError() << "C3: dtype is " << *getDtype()
                         << ", expected f16, bf16, f32 or f64";
  return success();
}

LogicalResult AdamStepOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>, Adaptor a,
                                           SmallVectorImpl<Type> &types) {
  types.assign({a.getP().getType(), a.getM().getType(), a.getV().getType()});
  return success();
}

LogicalResult AdamStepOp::verify() {
  if (failed(checkTypeOrHalf(*this, "C1", "g", getG(), "p", getP())) ||
      failed(checkType(*this, "C1", "m", getM(), "p", getP())) ||
      failed(checkType(*this, "C1", "v", getV(), "p", getP())))
    return failure();
  Type element = elementOf(getP());
  if (failed(checkShape(*this, "C2", "bc", getBc(), {2})) ||
      failed(checkElement(*this, "C2", "bc", getBc(), element)) ||
      failed(checkScalar(*this, "C2", "lr", getLr(), element)) ||
      failed(checkScalar(*this, "C2", "inv_scale", getInvScale(), element)) ||
      failed(checkScalar(*this, "C3", "ok", getOk())) ||
      failed(checkBetas(*this, "C4", getBeta1().convertToDouble(),
                        getBeta2().convertToDouble())))
    return failure();
  auto bc = getBc().getDefiningOp<BiasCorrOp>();
  if (bc && (bc.getBeta1Attr() != getBeta1Attr() ||
             bc.getBeta2Attr() != getBeta2Attr()))
    return emitOpError() << "C5: beta1 and beta2 are " << getBeta1Attr()
                         << " and " << getBeta2Attr()
                         << ", but its bias_corr has " << bc.getBeta1Attr()
                         << " and " << bc.getBeta2Attr();
  double eps = getEps().convertToDouble();
  double decay = getWeightDecay().convertToDouble();
  if (failed(checkValue(*this, "C4", "eps", eps, eps >= 0, "a number >= 0")))
    return failure();
  return checkValue(*this, "C4", "weight_decay", decay, decay >= 0,
                    "a number >= 0");
}

LogicalResult SgdStepOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>, Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  types.assign({a.getP().getType(), a.getP().getType()});
  return success();
}

LogicalResult SgdStepOp::verify() {
  if (failed(checkTypeOrHalf(*this, "C1", "g", getG(), "p", getP())) ||
      (getM() && failed(checkType(*this, "C1", "m", getM(), "p", getP()))))
    return failure();
  Type element = elementOf(getP());
  if (failed(checkScalar(*this, "C2", "lr", getLr(), element)) ||
      failed(checkScalar(*this, "C2", "inv_scale", getInvScale(), element)) ||
      failed(checkScalar(*this, "C3", "ok", getOk())))
    return failure();
  double momentum = getMomentum().convertToDouble();
  double decay = getWeightDecay().convertToDouble();
  if (failed(checkValue(*this, "C4", "momentum", momentum,
                        momentum >= 0 && (getM() || momentum == 0),
                        "a number >= 0, and 0 without m")) ||
      failed(checkValue(*this, "C4", "nesterov", getNesterov(),
                        getM() || !getNesterov(), "false without m")))
    return failure();
  return checkValue(*this, "C4", "weight_decay", decay, decay >= 0,
                    "a number >= 0");
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult GatherRowsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>, Adaptor a,
                                             SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(a.getData().getType());
  if (!type)
    return failure();
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  if (!shape.empty())
    shape[0] = dimOr(a.getIndex(), 0);
  types.push_back(type.clone(shape));
  return success();
}

LogicalResult GatherRowsOp::verify() {
  if (typeOf(getData()).getRank() == 0)
    return emitOpError() << "C1: data is " << getData().getType()
                         << " of rank 0, expected rank 1 or more";
  return checkRank(*this, "C2", "index", getIndex(), 1);
}

LogicalResult ShuffleOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>, Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  auto batch = attrForInference(a, a.getBatchAttr(), "batch");
  int64_t size = batch && batch.getInt() > 0 ? batch.getInt() : 1;
  types.push_back(
      RankedTensorType::get({size}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult ShuffleOp::verify() {
  auto check = [&](StringRef id, StringRef name, IntegerAttr attr) {
    int64_t n = attr.getInt();
    return checkValue(*this, id, name, static_cast<double>(n),
                      n >= 1 && n <= INT32_MAX, "a number in [1, 2^31)");
  };
  if (failed(checkScalar(*this, "C1", "step", getStep())) ||
      failed(check("C2", "size", getSizeAttr())))
    return failure();
  return check("C3", "batch", getBatchAttr());
}

LogicalResult RecordOp::verify() {
  auto history = typeOf(getHistory()), value = typeOf(getValue());
  if (history.getRank() == 0 ||
      history.getShape().drop_front() != value.getShape())
    return emitOpError() << "C1: history is " << history
                         << ", expected rows of value's type " << value;
  if (failed(checkElement(*this, "C2", "value", getValue(),
                          history.getElementType())))
    return failure();
  return checkScalar(*this, "C3", "step", getStep());
}
