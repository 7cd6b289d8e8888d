//===- Definitions.cpp - scalar expressions that are an aicf op -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The way back of what records build: their definitions are what is looked for.
// Some are of types that their record does not have; build() refuses them.
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
  Type element; ///< of every leaf, of a condition, too: none is asked
  bool ofGradients;

  Writer(Definitions &into, Type element, bool ofGradients)
      : into(into), builder(element.getContext()), loc(builder.getUnknownLoc()),
        element(element), ofGradients(ofGradients) {
    builder.setInsertionPointToEnd(into.scratch.get());
  }

  Scalar leaf() {
    return {builder, loc, into.scratch->addArgument(element, loc)};
  }
  static unsigned sizeOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
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
    definition.isSum = std::is_same_v<Op, AddOp>;
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

  /// The record's own definition, with each value of a flag.
  template <typename Op> void addRecord() {
    const OpInfo &info = infoOf(Op::getKind());
    if (info.phase == Phase::Backward && !ofGradients)
      return;
    SmallVector<Scalar> leaves;
    SmallVector<Value> tensors;
    for (size_t i = 0; i < info.numOperands; ++i) {
      leaves.push_back(leaf());
      tensors.push_back(into.scratch->addArgument(
          RankedTensorType::get({1}, element), loc));
    }
    SmallVector<StringRef> numbers;
    SmallVector<NamedAttrList> variants(1);
    for (size_t i = 0; i < info.numFields; ++i) {
      StringRef name = info.fields[i].name;
      if (info.fields[i].format != 'd') { // a flag
        variants.push_back(variants[0]);
        variants[0].set(name, builder.getBoolAttr(false));
        variants[1].set(name, builder.getBoolAttr(true));
        continue;
      }
      for (NamedAttrList &attrs : variants)
        attrs.set(name, builder.getF64FloatAttr(kFieldMarks[numbers.size()]));
      numbers.push_back(name);
    }
    for (const NamedAttrList &attrs : variants) {
      auto op = Op::create(builder, loc, TypeRange(tensors[0].getType()),
                           ValueRange(tensors), attrs.getAttrs());
      add<Op>(definitionOf(op, leaves), leaves, attrs, numbers);
    }
  }
  template <typename... Ops> void addRecords(std::tuple<Ops...> *) {
    (addRecord<Ops>(), ...);
  }

  /// What people and frontends write for the same functions.
  void addOtherWays() {
    Scalar x = leaf(), zero = x.constant(0);
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

template <typename... Ops>
static bool isAnyOf(Operation *op, std::tuple<Ops...> *) {
  return isa<Ops...>(op);
}
bool isPointwise(Operation *op) {
  return isAnyOf(op, static_cast<PointwiseOps *>(nullptr));
}

Definitions::Definitions(Type element, bool ofGradients)
    : scratch(std::make_unique<Block>()) {
  Writer writer(*this, element, ofGradients);
  writer.addRecords(static_cast<PointwiseOps *>(nullptr));
  writer.addOtherWays();
  llvm::stable_sort(all, [](const Definition &a, const Definition &b) {
    return a.size > b.size;
  });
}

} // namespace aicf::scalars
