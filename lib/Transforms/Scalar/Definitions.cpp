//===- Definitions.cpp - scalar expressions that are an aicf op -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The way back of what records build: their definitions are what is looked for.
// scale and fill_like, which every constant would match, are ScalarBody's.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Scalar/Scalar.h"
#include "lib/Transforms/Scalar/ScalarBody.h"

#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Ops/Rules.h"

using namespace mlir;
using namespace aicf::step;

namespace aicf::scalars {

#include "lib/Transforms/Scalar/Definitions.h.inc"

/// Stand for fields of a record while its definition is built: exact in every
/// type, and no constant of a definition.
constexpr double kFieldMarks[] = {97, 101, 103};

struct Definitions::Writer {
  Definitions &into;
  OpBuilder builder;
  Location loc;
  Type element; ///< of operands that are not i1
  bool ofGradients;

  Writer(Definitions &into, Type element, bool ofGradients)
      : into(into), builder(element.getContext()), loc(builder.getUnknownLoc()),
        element(element), ofGradients(ofGradients) {
    builder.setInsertionPointToEnd(into.scratch.get());
  }

  Scalar leaf(Type type) {
    return {builder, loc, into.scratch->addArgument(type, loc)};
  }
  static unsigned sizeOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->hasTrait<OpTrait::ConstantLike>())
      return 0;
    unsigned size = 1;
    for (Value operand : op->getOperands())
      size += sizeOf(operand);
    return size;
  }

  template <typename Op>
  void add(Scalar root, ArrayRef<Scalar> leaves, NamedAttrList attrs = {},
           ArrayRef<StringRef> fields = {}) {
    Definition definition;
    definition.root = root.get();
    for (Scalar leaf : leaves)
      definition.leaves.push_back(leaf.get());
    definition.fields.assign(kFieldMarks, kFieldMarks + fields.size());
    definition.size = sizeOf(root.get());
    SmallVector<StringRef> names(fields);
    definition.build = [attrs, names](OpBuilder &b, Location loc,
                                      ValueRange tensors,
                                      ArrayRef<double> numbers) -> Value {
      NamedAttrList all = attrs;
      for (auto [name, number] : llvm::zip(names, numbers))
        all.set(name, b.getF64FloatAttr(number));
      return makeIfLegal<Op>(b, loc, tensors, all.getAttrs());
    };
    into.all.push_back(std::move(definition));
  }

  /// Whether the record has operands of `element`: floats, numbers, or any.
  bool takesElement(const OpInfo &info) const {
    for (size_t i = 0; i < info.numOperands; ++i) {
      ElementTypes types = info.operands[i].elementTypes;
      if (types == ElementTypes::Bool)
        continue;
      return types == ElementTypes::Any ||
             (types == ElementTypes::Float ? isa<FloatType>(element)
                                           : !element.isInteger(1));
    }
    return element.isInteger(1);
  }

  /// The record's own definition, with each value of a flag.
  template <typename Op> void addRecord(Type result) {
    const OpInfo &info = infoOf(Op::getKind());
    if (std::is_same_v<Op, ScaleOp> || std::is_same_v<Op, FillLikeOp> ||
        !takesElement(info) ||
        (info.phase == Phase::Backward && !ofGradients))
      return;
    bool givesBool = info.results[0].rule == TypeRule::BoolLike;
    if ((givesBool ? Type(builder.getI1Type()) : element) != result)
      return;
    SmallVector<Scalar> leaves;
    SmallVector<Value> tensors;
    for (size_t i = 0; i < info.numOperands; ++i) {
      bool isBool = info.operands[i].elementTypes == ElementTypes::Bool;
      Type type = isBool ? Type(builder.getI1Type()) : element;
      leaves.push_back(leaf(type));
      tensors.push_back(into.scratch->addArgument(
          RankedTensorType::get({1}, type), loc));
    }
    SmallVector<StringRef> numbers;
    StringRef flag;
    NamedAttrList attrs;
    for (size_t i = 0; i < info.numFields; ++i) {
      if (info.fields[i].format != 'd') {
        flag = info.fields[i].name;
        continue;
      }
      attrs.set(info.fields[i].name,
                builder.getF64FloatAttr(kFieldMarks[numbers.size()]));
      numbers.push_back(info.fields[i].name);
    }
    for (bool isSet : {false, true}) {
      if (!flag.empty())
        attrs.set(flag, builder.getBoolAttr(isSet));
      else if (isSet)
        return;
      auto op = Op::create(builder, loc, TypeRange(tensors[0].getType()),
                           ValueRange(tensors), attrs.getAttrs());
      add<Op>(definitionOf(op, leaves), leaves, attrs, numbers);
    }
  }
  template <typename... Ops> void addRecords(Type result, std::tuple<Ops...> *) {
    (addRecord<Ops>(result), ...);
  }

  /// What people and frontends write for the same functions of floats.
  void addOtherWays() {
    Scalar x = leaf(element), zero = x.constant(0);
    add<ReluOp>(maximum(x, zero), {x});
    add<ReluOp>(
        x.with(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGT,
                                     x.get(), zero.get()))
            .pick(x, zero),
        {x});
    add<RsqrtOp>(x.make<math::RsqrtOp>(), {x});
    NamedAttrList byTanh;
    byTanh.append("approximate", builder.getBoolAttr(true));
    Scalar erf = (x * 0.7071067811865476).make<math::ErfOp>() + 1;
    Scalar cube = x * x * x, u = (cube * 0.044715 + x) * 0.7978845608028654;
    for (auto [cdf, attrs] :
         {std::pair{erf, NamedAttrList()}, std::pair{tanh(u) + 1, byTanh}}) {
      add<GeluOp>((x * 0.5) * cdf, {x}, attrs);
      add<GeluOp>(x * (cdf * 0.5), {x}, attrs);
      add<GeluOp>((x * cdf) * 0.5, {x}, attrs);
    }
  }
};

/// The definition of `op`, if it is an Op.
template <typename Op>
static Value defineAs(OpBuilder &builder, Operation *op, ValueRange elements) {
  auto typed = dyn_cast<Op>(op);
  if (!typed)
    return {};
  SmallVector<Scalar> in;
  for (Value element : elements)
    in.push_back({builder, op->getLoc(), element});
  return definitionOf(typed, in).get();
}
template <typename... Ops>
static Value defineAsAny(OpBuilder &builder, Operation *op, ValueRange elements,
                         std::tuple<Ops...> *) {
  Value made;
  (void)((made = defineAs<Ops>(builder, op, elements)) || ...);
  return made;
}

Value define(OpBuilder &builder, Operation *op, ValueRange elements) {
  // To an integer in one op, which stands for aicf's cast: what is beyond the type,
  // where arith has no value, is that cast's.
  auto cast = dyn_cast<CastOp>(op);
  if (cast && isa<FloatType>(elements[0].getType()) &&
      isa<IntegerType>(cast.getDtype()) && !cast.getDtype().isInteger(1))
    return arith::FPToSIOp::create(builder, op->getLoc(), cast.getDtype(),
                                   elements[0]);
  if (cast)
    return Scalar(builder, op->getLoc(), elements[0]).to(cast.getDtype()).get();
  if (auto constant = dyn_cast<ConstantOp>(op))
    return arith::ConstantOp::create(
        builder, op->getLoc(),
        mlir::cast<TypedAttr>(mlir::cast<DenseElementsAttr>(constant.getValue())
                                  .getSplatValue<Attribute>()));
  return defineAsAny(builder, op, elements,
                     static_cast<PointwiseOps *>(nullptr));
}

Definitions::Definitions(Type result, bool ofGradients)
    : scratch(std::make_unique<Block>()) {
  Builder b(result.getContext());
  SmallVector<Type> elements = {result};
  if (result.isInteger(1)) // comparisons are of every type
    elements.append({b.getF16Type(), b.getBF16Type(), b.getF32Type(),
                     b.getF64Type(), b.getI32Type(), b.getI64Type()});
  for (Type element : elements)
    Writer(*this, element, ofGradients)
        .addRecords(result, static_cast<PointwiseOps *>(nullptr));
  if (isa<FloatType>(result))
    Writer(*this, result, ofGradients).addOtherWays();
  llvm::stable_sort(all, [](const Definition &a, const Definition &b) {
    return a.size > b.size;
  });
}

} // namespace aicf::scalars
