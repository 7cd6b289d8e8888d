//===- Definitions.cpp - scalar expressions that are an aicf op -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The way back of AICFToLinalg: what a record's definition builds is what is
// looked for. Ops with a number for a field (scale, fill_like) are not here.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Scalar.h"
#include "lib/Conversion/LinalgToAICF/Elementwise.h"

#include "aicf/Dialect/AICF/AICF.h"

using namespace mlir;

namespace aicf::linalg_bridge {

#include "lib/Conversion/AICFToLinalg/Definitions.h.inc"

struct Definitions::Writer {
  Definitions &into;
  OpBuilder builder;
  Location loc;
  FloatType element;

  Writer(Definitions &into, FloatType element)
      : into(into), builder(element.getContext()), loc(builder.getUnknownLoc()),
        element(element) {
    builder.setInsertionPointToEnd(into.scratch.get());
  }

  Scalar leaf() {
    return {builder, loc, into.scratch->addArgument(element, loc)};
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
  void add(Scalar root, ArrayRef<Scalar> leaves, NamedAttrList attrs = {}) {
    Definition definition;
    definition.root = root.get();
    for (Scalar leaf : leaves)
      definition.leaves.push_back(leaf.get());
    definition.size = sizeOf(root.get());
    definition.build = [attrs](OpBuilder &b, Location loc, ValueRange tensors) {
      return Op::create(b, loc, TypeRange(tensors[0].getType()), tensors,
                        attrs.getAttrs())
          ->getResult(0);
    };
    into.all.push_back(std::move(definition));
  }

  /// The record's own definition, with each value of a flag.
  template <typename Op> void addRecord() {
    ArrayRef<StringRef> fields = Op::getAttributeNames();
    bool hasFlag = llvm::equal(fields, ArrayRef<StringRef>{"approximate"});
    if (!fields.empty() && !hasFlag)
      return;
    auto tensor = RankedTensorType::get({1}, element);
    SmallVector<Scalar> leaves;
    SmallVector<Value> tensors;
    for (size_t i = 0; i < infoOf(Op::getKind()).numOperands; ++i) {
      leaves.push_back(leaf());
      tensors.push_back(into.scratch->addArgument(tensor, loc));
    }
    for (bool flag : {false, true}) {
      NamedAttrList attrs;
      if (hasFlag)
        attrs.append("approximate", builder.getBoolAttr(flag));
      else if (flag)
        return;
      auto op = Op::create(builder, loc, TypeRange(tensor), ValueRange(tensors),
                           attrs.getAttrs());
      add<Op>(definitionOf(op, leaves), leaves, attrs);
    }
  }
  template <typename... Ops> void addRecords(std::tuple<Ops...> *) {
    (addRecord<Ops>(), ...);
  }

  /// What people and frontends write for the same functions.
  void addOtherWays() {
    using namespace aicf::step;
    Scalar x = leaf(), zero = x.constant(0);
    add<ReluOp>(maximum(x, zero), {x});
    add<ReluOp>(
        x.with(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGT,
                                     x.get(), zero.get()))
            .pick(x, zero),
        {x});
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

Definitions::Definitions(FloatType element)
    : scratch(std::make_unique<Block>()) {
  Writer writer(*this, element);
  writer.addRecords(static_cast<PointwiseOps *>(nullptr));
  writer.addOtherWays();
  llvm::stable_sort(all, [](const Definition &a, const Definition &b) {
    return a.size > b.size;
  });
}

} // namespace aicf::linalg_bridge
