//===- AICFOps.cpp - result types, verifiers and folders ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Ops with a record are inferred and checked by it, with the same rules as the
// aicf_rt op, the plan loader and op_call. Checks on operands run when result
// types are inferred too, so that a wrong operand is reported here and not
// where a result of an unexpected type is used.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Dialect/AICF/Inference.h"
#include "lib/Dialect/Entry.h"
#include "lib/Dialect/Record.h"
#include "lib/Ops/Rules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

bool aicf::step::isFloatElement(Type t) {
  return t.isF16() || t.isBF16() || t.isF32() || t.isF64();
}

//===----------------------------------------------------------------------===//
// Ops with a record
//===----------------------------------------------------------------------===//

bool aicf::step::isAbiTensor(Type t) {
  auto type = dyn_cast<RankedTensorType>(t);
  return type && type.getRank() <= int64_t(kMaxRank) && !type.getEncoding() &&
         toDType(type.getElementType()) && checkedBytes(toDenseDesc(type));
}

/// The type that the record's rule gives result `info`.
static Type inferType(const ResultInfo &info, ArrayRef<Value> slots,
                      MLIRContext *context) {
  // Where an optional operand is absent, its result is there and unused.
  Value of = slots[info.of] ? slots[info.of] : slots.front();
  TensorDesc desc;
  if (info.rule != TypeRule::ScalarI32) { // that follows no operand
    if (!isAbiTensor(of.getType()))
      return of.getType();
    desc = toDenseDesc(cast<RankedTensorType>(of.getType()));
  }
  return toDenseType(context, typeByRule(info.rule, desc).value_or(desc));
}

/// Descs of the results; where an optional operand is absent, so is its result.
static SmallVector<TensorDesc>
describeResults(const OpInfo &info, TypeRange types, ArrayRef<Value> slots) {
  SmallVector<TensorDesc> descs;
  for (auto [i, type] : llvm::enumerate(types)) {
    const ResultInfo &result = info.results[i];
    bool isAbsent = result.presence == Presence::Optional && !slots[result.of];
    descs.push_back(isAbsent ? TensorDesc::absent()
                             : toDenseDesc(cast<RankedTensorType>(type)));
  }
  return descs;
}

template <typename Op, typename = void>
struct InfersByHand : std::false_type {};
template <typename Op>
struct InfersByHand<Op, std::void_t<decltype(&Op::inferTypes)>>
    : std::true_type {};
template <typename Op, typename = void>
struct VerifiesMore : std::false_type {};
template <typename Op>
struct VerifiesMore<Op, std::void_t<decltype(&Op::verifyStep)>>
    : std::true_type {};

template <typename Op>
static LogicalResult inferByRecord(std::optional<Location> location,
                                   typename Op::Adaptor adaptor,
                                   SmallVectorImpl<Type> &types) {
  const OpInfo &info = infoOf(Op::getKind());
  if (adaptor.getOperands().empty() || // the verifier says so
      failed(checkRanked(location, Op::getOperationName(),
                         adaptor.getOperands())))
    return failure();
  SmallVector<Value> slots = operandSlotsOf(adaptor, Op::getKind());
  MLIRContext *context = adaptor.getOperands()[0].getContext();
  // The parser infers while the attributes are still a dictionary, builders and
  // the verifier when they are properties.
  DictionaryAttr dictionary = adaptor.getAttributes();
  auto lookup = [&](StringRef name) -> Attribute {
    if (Attribute property =
            Op::getInherentAttr(context, adaptor.getProperties(), name)
                .value_or(Attribute()))
      return property;
    return dictionary ? dictionary.get(name) : Attribute();
  };
  const bool isDescribed =
      llvm::all_of(adaptor.getOperands().getTypes(), isAbiTensor);
  if constexpr (InfersByHand<Op>::value) {
    auto mayBeMissing = [&](size_t field) {
      if (!isDescribed)
        return info.fields[field].hasDefault;
      SmallVector<TensorDesc> descs = describeSlots(slots);
      return fieldDefault(Op::getKind(), field, {descs.data(), descs.size()})
          .has_value();
    };
    // ODS looks later, and types may follow from what is missing.
    for (size_t i = 0; i < info.numFields; ++i)
      if (!lookup(info.fields[i].name) && !mayBeMissing(i))
        return emitOptionalError(location, "'", Op::getOperationName(),
                                 "' op requires attribute '",
                                 info.fields[i].name, "'");
    if (failed(Op::inferTypes(location, adaptor, types)))
      return failure();
  } else {
    for (size_t i = 0; i < info.numResults; ++i)
      types.push_back(inferType(info.results[i], slots, context));
  }
  if (!isDescribed)
    return success(); // the verifier refuses them
  if (std::optional<std::string> error =
          checkByRecord(Op::getKind(), describeSlots(slots),
                        describeResults(info, types, slots), lookup))
    return emitOptionalError(location, "'", Op::getOperationName(), "' op ",
                             *error);
  return success();
}

LogicalResult aicf::step::verifyStepOp(Operation *op) {
  // Where ops have no order, one may read what it makes itself, also from
  // inside of another op.
  for (Region *region = op->getParentRegion(); region;) {
    Operation *parent = region->getParentOp();
    if (!mayHaveSSADominance(*region))
      return op->emitOpError()
             << "stands in the body of '" << parent->getName()
             << "', where ops have no order, expected a function's body";
    region = parent->hasTrait<OpTrait::IsIsolatedFromAbove>()
                 ? nullptr
                 : parent->getParentRegion();
  }
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (failed(checkTensorType(op, "operand " + Twine(i), type)))
      return failure();
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(checkTensorType(op, "result " + Twine(i), type)))
      return failure();
  return success();
}

/// The rules are of tensors that a plan holds, which verifyStepOp() has seen
/// to.
template <typename Op> static LogicalResult verifyByRecord(Op op) {
  SmallVector<Value> slots = operandSlotsOf(op, Op::getKind());
  const OpInfo &info = infoOf(Op::getKind());
  if (std::optional<std::string> error = checkByRecord(
          Op::getKind(), describeSlots(slots),
          describeResults(info, op->getResultTypes(), slots),
          [&](StringRef name) {
            return op->getInherentAttr(name).value_or(Attribute());
          }))
    return op.emitOpError() << *error;
  if constexpr (VerifiesMore<Op>::value)
    return op.verifyStep();
  return success();
}

/// Where ODS counts the record's operand `name`, which is not the grouped one:
/// that is one range, in front.
static unsigned odsIndexOf(OpKind kind, StringRef name) {
  const OpInfo &info = infoOf(kind);
  const OperandInfo *end = info.operands + info.numOperands;
  const OperandInfo *found = std::find_if(
      info.operands + info.hasVariadic, end,
      [&](const OperandInfo &o) { return StringRef(o.name) == name; });
  assert(found != end && "the record has no such operand");
  return found - info.operands;
}

/// The operand `name`, or null where it is absent or the name empty.
template <typename Op> static OpOperand *operandOf(Op op, StringRef name) {
  if (name.empty())
    return nullptr;
  auto [start, length] =
      op.getODSOperandIndexAndLength(odsIndexOf(Op::getKind(), name));
  return length ? &op->getOpOperand(start) : nullptr;
}

namespace aicf::step { // as trainingOf() of Entry.h
template <typename Op>
static Training trainingOf(Op op, StringRef param, StringRef grad) {
  Training training{operandOf(op, param), operandOf(op, grad), {}};
  const OpInfo &info = infoOf(Op::getKind());
  for (size_t i = 0; training && i < info.numTies; ++i) {
    const TieInfo &tie = info.ties[i];
    OpOperand *state = operandOf(op, info.operands[tie.operand].name);
    if (state && state != training.param)
      training.moments.push_back({info.operands[tie.operand].name,
                                  info.results[tie.result].name, state->get(),
                                  op->getResult(tie.result)});
  }
  return training;
}
} // namespace aicf::step

/// The place of an optional operand; assigning it keeps the segment sizes
/// right.
template <typename Op>
static MutableOperandRange optionalOperandOf(Op op, StringRef name) {
  unsigned index = odsIndexOf(Op::getKind(), name);
  auto [start, length] = op.getODSOperandIndexAndLength(index);
  using Properties = typename Op::Properties;
  if constexpr (HasOperandSegments<Properties>::value)
    return MutableOperandRange(
        op, start, length,
        MutableOperandRange::OperandSegment(
            index,
            {op.getOperandSegmentSizesAttrName(),
             DenseI32ArrayAttr::get(op->getContext(),
                                    op.getProperties().operandSegmentSizes)}));
  return MutableOperandRange(op, start, length);
}

/// Whether a kernel for tensors of `type`, which rounds numbers to f32 at most,
/// holds `number` as the elements of the tensors do.
static bool isExactIn(llvm::APFloat number, Type type) {
  auto element = cast<FloatType>(cast<RankedTensorType>(type).getElementType());
  bool losesInfo = false;
  if (element.getWidth() < 32)
    number.convert(element.getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo;
}

#define GET_OP_CLASSES
// Arithmetic of the second derivatives in records.

static Value scaled(OpBuilder &b, Value x, double factor) {
  return ScaleOp::create(b, x.getLoc(), x, llvm::APFloat(factor));
}
static Value times(OpBuilder &b, Value x, Value y) {
  return MulOp::create(b, x.getLoc(), x, y);
}
static Value less(OpBuilder &b, Value x, Value y) {
  return SubOp::create(b, x.getLoc(), x, y);
}
/// x in the element type of `other`.
static Value likeElementsOf(OpBuilder &b, Value x, Value other) {
  Type element = getElementTypeOrSelf(other);
  return getElementTypeOrSelf(x) == element
             ? x
             : CastOp::create(b, x.getLoc(), x, TypeAttr::get(element));
}
/// v where s is not above `bound`, else 0.
static Value whereLow(OpBuilder &b, Value v, Value s, double bound = 0) {
  if (bound != 0)
    s = AddScalarOp::create(b, v.getLoc(), s, llvm::APFloat(-bound));
  return less(b, v, ReluBwdOp::create(b, v.getLoc(), v, s));
}
/// v · sigmoid'(x), as exact far below 0 as far above.
static Value sigmoidSlope(OpBuilder &b, Value v, Value x) {
  Location loc = v.getLoc();
  Value low = NegOp::create(b, loc, AbsOp::create(b, loc, x));
  return SigmoidBwdOp::create(b, loc, v, SigmoidOp::create(b, loc, low));
}

/// The sum of each row, in the place of each of its elements.
static Value rowSums(OpBuilder &b, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> one(type.getShape());
  one.back() = 1;
  Value sums = ReduceSumOp::create(b, x.getLoc(), x, type.getRank() - 1);
  return BroadcastOp::create(b, x.getLoc(),
                             ReshapeOp::create(b, x.getLoc(), sums, one),
                             type.getShape());
}
/// Whether indices are outside of [0, size).
static Value isOutside(OpBuilder &b, Value index, uint64_t size) {
  Location loc = index.getLoc();
  Value below = LessScalarOp::create(b, loc, index, llvm::APFloat(0.0));
  Value above = GreaterEqualScalarOp::create(b, loc, index,
                                             llvm::APFloat(double(size)));
  return LogicalOrOp::create(b, loc, below, above);
}

/// The cotangents of dx = dy · f(s): dy gets the same of the cotangent of dx, and s
/// gets slope(cotangent · dy, s). The op's further operands get none.
template <typename Op>
static LogicalResult
addSecond(GradientBuilder &g, Op op,
          llvm::function_ref<Value(Value, Value)> slope) {
  OpBuilder &b = g.builder();
  Operation *of = op;
  Value cotangent = g.cotangent(of->getResult(0));
  SmallVector<Value> read = llvm::map_to_vector(
      of->getOperands(), [&](Value v) { return g.saved(v); });
  Value dy = read[0];
  read[0] = cotangent;
  if (g.isNeeded(of->getOperand(0)))
    g.add(of->getOperand(0), backwardOf<Op>(b, op, read));
  if (g.isNeeded(of->getOperand(1)))
    g.add(of->getOperand(1), slope(times(b, cotangent, dy), read[1]));
  return success();
}

#include "aicf/Dialect/AICF/AICFOps.cpp.inc"

LogicalResult CastOp::inferTypes(std::optional<Location> location, Adaptor a,
                                 SmallVectorImpl<Type> &types) {
  auto dtype = requiredAttr<CastOp>(location, a, a.getDtypeAttr(), "dtype");
  if (!dtype)
    return failure();
  if (!isAbiTensor(RankedTensorType::get({}, dtype.getValue())))
    return emitOptionalError(location, "'aicf.cast' op C2: dtype is ",
                             dtype.getValue(),
                             ", expected f16, bf16, f32, f64, i32, i64 or i1");
  types.push_back(typeOf(a.getX()).clone(dtype.getValue()));
  return success();
}

/// All dimensions but the last. A scalar has none, and is refused by C1.
static ArrayRef<int64_t> withoutLast(ArrayRef<int64_t> shape) {
  return shape.empty() ? shape : shape.drop_back();
}

LogicalResult ArgmaxOp::inferTypes(std::optional<Location>, Adaptor a,
                                   SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(a.getX());
  types.push_back(
      RankedTensorType::get(withoutLast(type.getShape()),
                            IntegerType::get(type.getContext(), 32)));
  return success();
}

LogicalResult TopKOp::inferTypes(std::optional<Location>, Adaptor a,
                                 SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(a.getX());
  SmallVector<int64_t> shape(withoutLast(type.getShape()));
  shape.push_back(attrForInference(a, a.getKAttr(), "k").getInt());
  types.push_back(
      RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32)));
  return success();
}

/// What is computed from a count alone has `dtype`, or f32.
template <typename Op>
static LogicalResult
inferFromCount(std::optional<Location> location, typename Op::Adaptor a,
               ArrayRef<int64_t> shape, SmallVectorImpl<Type> &types) {
  auto dtype = attrForInference(a, a.getDtypeAttr(), "dtype");
  Type element = Float32Type::get(a.getStep().getContext());
  if (dtype)
    element = dtype.getValue();
  if (!isFloatElement(element))
    return emitOptionalError(location, "'", Op::getOperationName(),
                             "' op C3: dtype is ", element,
                             ", expected f16, bf16, f32 or f64");
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult BiasCorrOp::inferTypes(std::optional<Location> location,
                                     Adaptor a, SmallVectorImpl<Type> &types) {
  return inferFromCount<BiasCorrOp>(location, a, {2}, types);
}

LogicalResult GroupBiasCorrOp::inferTypes(std::optional<Location> location,
                                          Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  return inferFromCount<GroupBiasCorrOp>(location, a, {2}, types);
}

LogicalResult LearningRateOp::inferTypes(std::optional<Location> location,
                                         Adaptor a,
                                         SmallVectorImpl<Type> &types) {
  return inferFromCount<LearningRateOp>(location, a, {}, types);
}

LogicalResult StepDecayOp::inferTypes(std::optional<Location> location,
                                      Adaptor a, SmallVectorImpl<Type> &types) {
  return inferFromCount<StepDecayOp>(location, a, {}, types);
}

LogicalResult PolynomialDecayOp::inferTypes(std::optional<Location> location,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  return inferFromCount<PolynomialDecayOp>(location, a, {}, types);
}

LogicalResult PadOp::inferTypes(std::optional<Location> location, Adaptor a,
                                SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(a.getX());
  int64_t axis = attrForInference(a, a.getAxisAttr(), "axis").getInt();
  auto size = requiredAttr<PadOp>(location, a, a.getSizeAttr(), "size");
  if (!size)
    return failure();
  if (size.getInt() < 1 || size.getInt() > INT32_MAX)
    return emitOptionalError(location, "'aicf.pad' op C4: size is ",
                             size.getInt(), ", expected a number in [1, 2^31)");
  SmallVector<int64_t> shape(type.getShape());
  if (axis >= 0 && axis < type.getRank()) // else C1 refuses it
    shape[axis] = size.getInt();
  types.push_back(type.clone(shape));
  return success();
}

LogicalResult ConcatOp::inferTypes(std::optional<Location>, Adaptor a,
                                   SmallVectorImpl<Type> &types) {
  int64_t axis = attrForInference(a, a.getAxisAttr(), "axis").getInt();
  RankedTensorType type = typeOf(a.getParts()[0]);
  SmallVector<int64_t> shape(type.getShape());
  for (Value part : a.getParts().drop_front()) {
    RankedTensorType other = typeOf(part);
    if (axis >= 0 && axis < std::min(type.getRank(), other.getRank()))
      shape[axis] += other.getDimSize(axis); // what is wrong C1 to C3 refuse
  }
  types.push_back(type.clone(shape));
  return success();
}

LogicalResult GatherRowsOp::inferTypes(std::optional<Location>, Adaptor a,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType data = typeOf(a.getData()), index = typeOf(a.getIndex());
  SmallVector<int64_t> shape = llvm::to_vector(data.getShape());
  if (!shape.empty() && index.getRank() > 0) // else C1 or C2 refuses it
    shape[0] = index.getDimSize(0);
  types.push_back(data.clone(shape));
  return success();
}

/// Two shapes behind each other.
static SmallVector<int64_t> joined(ArrayRef<int64_t> front,
                                   ArrayRef<int64_t> back) {
  SmallVector<int64_t> shape(front);
  llvm::append_range(shape, back);
  return shape;
}

LogicalResult PickBwdOp::inferTypes(std::optional<Location>, Adaptor a,
                                    SmallVectorImpl<Type> &types) {
  RankedTensorType dy = typeOf(a.getDy());
  int64_t size = attrForInference(a, a.getSizeAttr(), "size").getInt();
  types.push_back(dy.clone(joined(dy.getShape(), size)));
  return success();
}

LogicalResult EmbeddingOp::inferTypes(std::optional<Location>, Adaptor a,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType table = typeOf(a.getTable());
  types.push_back(table.clone(
      joined(typeOf(a.getIndex()).getShape(), table.getShape().take_back())));
  return success();
}

LogicalResult EmbeddingOp::verifyStep() {
  int64_t padding = int64_t(getPadding());
  int64_t rows = cast<ShapedType>(getTable().getType()).getDimSize(0);
  if (padding >= -1 && padding < rows)
    return success();
  return emitOpError() << "C3: padding is " << padding
                       << ", expected -1 or a row of the table, below " << rows;
}

LogicalResult EmbeddingBwdOp::inferTypes(std::optional<Location>, Adaptor a,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType dy = typeOf(a.getDy());
  int64_t rows = attrForInference(a, a.getRowsAttr(), "rows").getInt();
  types.push_back(dy.clone(joined(rows, dy.getShape().take_back())));
  return success();
}

/// The type of random numbers: what `shape` and `dtype` say.
template <typename Op>
static LogicalResult inferDrawn(std::optional<Location> location,
                                typename Op::Adaptor a,
                                SmallVectorImpl<Type> &types) {
  auto shape = requiredAttr<Op>(location, a, a.getShapeAttr(), "shape");
  if (!shape)
    return failure();
  TypeAttr dtype = attrForInference(a, a.getDtypeAttr(), "dtype");
  Type element = dtype ? dtype.getValue()
                       : Float32Type::get(a.getStep().getContext());
  auto isLegal = [](int64_t size) { return size >= 1 && size <= INT32_MAX; };
  // Behind the constraints of the record.
  StringRef number = std::is_same_v<Op, UniformOp> ? "C3" : "C2";
  if (shape.size() > int64_t(kMaxRank) ||
      !llvm::all_of(shape.asArrayRef(), isLegal))
    return emitOptionalError(
        location, "'", Op::getOperationName(), "' op ", number, ": shape is [",
        shape.asArrayRef(), "], expected up to 8 numbers in [1, 2^31)");
  if (!isFloatElement(element))
    return emitOptionalError(location, "'", Op::getOperationName(),
                             "' op ", number, ": dtype is ", element,
                             ", expected f16, bf16, f32 or f64");
  types.push_back(RankedTensorType::get(shape.asArrayRef(), element));
  return success();
}
LogicalResult UniformOp::inferTypes(std::optional<Location> location, Adaptor a,
                                    SmallVectorImpl<Type> &types) {
  return inferDrawn<UniformOp>(location, a, types);
}
LogicalResult NormalOp::inferTypes(std::optional<Location> location, Adaptor a,
                                   SmallVectorImpl<Type> &types) {
  return inferDrawn<NormalOp>(location, a, types);
}

LogicalResult ShuffleOp::inferTypes(std::optional<Location> location, Adaptor a,
                                    SmallVectorImpl<Type> &types) {
  auto batch =
      requiredAttr<ShuffleOp>(location, a, a.getBatchAttr(), "batch");
  if (!batch)
    return failure();
  int64_t size = batch.getInt();
  if (size < 1 || size > INT32_MAX)
    return emitOptionalError(location, "'aicf.shuffle' op C3: batch is ", size,
                             ", expected a number in [1, 2^31)");
  types.push_back(RankedTensorType::get(
      {size}, IntegerType::get(a.getStep().getContext(), 32)));
  return success();
}

/// C4 of adam_step and adam_l2_step.
template <typename Op> static LogicalResult agreesWithCorrection(Op op) {
  auto bc = op.getBc().template getDefiningOp<BiasCorrOp>();
  if (!bc || (bc.getBeta1Attr() == op.getBeta1Attr() &&
              bc.getBeta2Attr() == op.getBeta2Attr()))
    return success();
  return op.emitOpError() << "C4: beta1 and beta2 are " << op.getBeta1Attr()
                       << " and " << op.getBeta2Attr()
                       << ", but its bias_corr has " << bc.getBeta1Attr()
                       << " and " << bc.getBeta2Attr();
}
LogicalResult AdamStepOp::verifyStep() { return agreesWithCorrection(*this); }
LogicalResult AdamL2StepOp::verifyStep() {
  return agreesWithCorrection(*this);
}

/// C4: the correction is of the betas that the step has.
LogicalResult AdamGroupStepOp::verifyStep() {
  auto bc = getBc().getDefiningOp<GroupBiasCorrOp>();
  if (!bc || bc.getGroup() == getGroup())
    return success();
  return emitOpError() << "C4: group is another value than the group of its "
                          "group_bias_corr, expected the same";
}

/// relu(relu(x)) = relu(x), bit for bit.
OpFoldResult ReluOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<ReluOp>())
    return inner.getY();
  return {};
}

/// A cast to the same type is its operand.
OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() ? getX() : Value();
}

//===----------------------------------------------------------------------===//
// linear, linear_bwd
//===----------------------------------------------------------------------===//

/// C1: W is a matrix, x the rows of one.
static LogicalResult checkMatrices(Report report, Value x, Value weight) {
  if (typeOf(x).getRank() < 2)
    return report() << "C1: x is " << x.getType() << " of rank "
                    << typeOf(x).getRank() << ", expected rank 2 or more";
  if (typeOf(weight).getRank() != 2)
    return report() << "C1: W is " << weight.getType() << " of rank "
                    << typeOf(weight).getRank() << ", expected rank 2";
  return success();
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

/// Whether W is [N, K]: then N is dimension 0.
template <typename Adaptor> static bool isTransposed(Adaptor a) {
  auto transW = attrForInference(a, a.getTransWAttr(), "transW");
  return !transW || transW.getValue();
}
/// [N] of W, which is a matrix once C1 is checked.
template <typename Adaptor> static ArrayRef<int64_t> outputsOf(Adaptor a) {
  ArrayRef<int64_t> shape = typeOf(a.getWeight()).getShape();
  return isTransposed(a) ? shape.take_front() : shape.take_back();
}
/// [N, K] as W has it.
static SmallVector<int64_t, 2> weightShape(bool transW, int64_t n, int64_t k) {
  return transW ? SmallVector<int64_t, 2>{n, k} : SmallVector<int64_t, 2>{k, n};
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc, Adaptor a,
                                         SmallVectorImpl<Type> &types) {
  if (failed(checkRanked(loc, getOperationName(), a.getOperands())) ||
      failed(checkOperands<LinearOp>(loc, a)))
    return failure();
  RankedTensorType x = typeOf(a.getX());
  types.push_back(x.clone(joined(withoutLast(x.getShape()), outputsOf(a))));
  return success();
}

LogicalResult LinearOp::check(Adaptor a, Report report) {
  if (failed(checkMatrices(report, a.getX(), a.getWeight())))
    return failure();
  bool transW = isTransposed(a);
  int64_t k = typeOf(a.getX()).getShape().back(),
          n = typeOf(a.getWeight()).getDimSize(transW ? 0 : 1);
  if (failed(checkShape(report, "C2", "W", a.getWeight(),
                        weightShape(transW, n, k))))
    return failure();
  if (a.getBias() && failed(checkShape(report, "C3", "b", a.getBias(), {n})))
    return failure();
  Type element = typeOf(a.getX()).getElementType();
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
  if (failed(checkRanked(loc, getOperationName(), a.getOperands())) ||
      failed(checkOperands<LinearBwdOp>(loc, a)))
    return failure();
  types.assign({a.getX().getType(), a.getWeight().getType(),
                typeOf(a.getDy()).clone(outputsOf(a))});
  return success();
}

LogicalResult LinearBwdOp::check(Adaptor a, Report report) {
  if (failed(checkMatrices(report, a.getX(), a.getWeight())))
    return failure();
  SmallVector<int64_t> shape(typeOf(a.getX()).getShape());
  bool transW = isTransposed(a);
  int64_t k = shape.back(),
          n = typeOf(a.getWeight()).getDimSize(transW ? 0 : 1);
  shape.back() = n;
  if (failed(checkShape(report, "C2", "dy", a.getDy(), shape)) ||
      failed(checkShape(report, "C2", "W", a.getWeight(),
                        weightShape(transW, n, k))))
    return failure();
  Type element = typeOf(a.getX()).getElementType();
  if (failed(checkElement(report, "C3", "dy", a.getDy(), element)))
    return failure();
  return checkElement(report, "C3", "W", a.getWeight(), element);
}

LogicalResult LinearBwdOp::verify() { return checkOperands(*this); }

//===----------------------------------------------------------------------===//
// stop_gradient
//===----------------------------------------------------------------------===//

LogicalResult StopGradientOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor a,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(a.getX().getType());
  return success();
}

LogicalResult StopGradientOp::check(Adaptor, Report) { return success(); }
LogicalResult StopGradientOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// straight_through
//===----------------------------------------------------------------------===//

LogicalResult
StraightThroughOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                    Adaptor a, SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<StraightThroughOp>(loc, a)))
    return failure();
  types.push_back(a.getValue().getType());
  return success();
}

LogicalResult StraightThroughOp::check(Adaptor a, Report report) {
  if (a.getWay().getType() == a.getValue().getType())
    return success();
  return report() << "'way' is " << a.getWay().getType()
                  << ", expected the type of 'value', which is "
                  << a.getValue().getType() << " (C1)";
}
LogicalResult StraightThroughOp::verify() { return checkOperands(*this); }

//===----------------------------------------------------------------------===//
// gradient
//===----------------------------------------------------------------------===//

LogicalResult GradientOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor a,
                                           SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<GradientOp>(loc, a)))
    return failure();
  types.push_back(a.getX().getType());
  return success();
}

LogicalResult GradientOp::check(Adaptor a, Report report) {
  return checkShape(report, "C1", "y", a.getY(), {});
}
LogicalResult GradientOp::verify() { return checkOperands(*this); }
