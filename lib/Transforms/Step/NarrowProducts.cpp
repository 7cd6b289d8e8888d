//===- NarrowProducts.cpp - products of one column or one term ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Runs in front of autodiff, so that the gradients of what it makes are
// elementwise products and sums, too. Which calls these become, fusion decides
// later.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Target.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_NARROWPRODUCTS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// Writes one product as elementwise ones and sums. What the product is marked
/// with (to be computed again, for example), they are marked with.
class ProductWriter : OpBuilder::Listener {
public:
  explicit ProductWriter(LinearOp product)
      : builder(product, this), loc(product.getLoc()), product(product),
        y(product.getY().getType()) {}

  Value write() {
    Value made = isOfOneTerm(product) ? ofOneTerm() : ofOneColumn();
    if (Value bias = product.getBias())
      made = AddOp::create(builder, loc, made, repeat(bias, y.getShape()));
    return made;
  }
  static bool isOfOneTerm(LinearOp product) {
    return cast<ShapedType>(product.getX().getType()).getShape().back() == 1;
  }
  static bool isOfOneColumn(LinearOp product) {
    return product.getY().getType().getShape().back() == 1;
  }

private:
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    op->setDiscardableAttrs(
        llvm::to_vector(product->getDiscardableAttrDictionary()));
  }
  Value repeat(Value x, ArrayRef<int64_t> shape) {
    return builder.createOrFold<BroadcastOp>(
        loc, x, builder.getDenseI64ArrayAttr(shape));
  }
  /// The weights [begin, end), which lie in a row or in a column. The slice
  /// stands in front of the reshape, so that the gradients of all slices become
  /// a concat.
  Value weights(int64_t begin, int64_t end) {
    Value part = product.getWeight();
    auto all = cast<ShapedType>(part.getType());
    if (end - begin < all.getNumElements()) {
      SmallVector<int64_t> first(2, 0), last(all.getShape());
      const size_t axis = all.getDimSize(0) == 1 ? 1 : 0;
      first[axis] = begin;
      last[axis] = end;
      part = SliceOp::create(builder, loc, part,
                             builder.getDenseI64ArrayAttr(first),
                             builder.getDenseI64ArrayAttr(last),
                             /*step=*/DenseI64ArrayAttr());
    }
    return builder.createOrFold<ReshapeOp>(
        loc, part, builder.getDenseI64ArrayAttr({end - begin}));
  }
  Value ofOneTerm() {
    return MulOp::create(builder, loc, repeat(product.getX(), y.getShape()),
                         repeat(weights(0, y.getShape().back()), y.getShape()));
  }
  /// The parts of a concat that nothing else reads are summed one by one.
  Value ofOneColumn() {
    const int64_t axis = y.getRank() - 1;
    Value x = product.getX(), sum;
    SmallVector<Value> parts = {x};
    auto concat = x.getDefiningOp<ConcatOp>();
    if (concat && int64_t(concat.getAxis()) == axis && x.hasOneUse())
      parts = llvm::to_vector(concat->getOperands());
    int64_t begin = 0;
    for (Value part : parts) {
      ArrayRef<int64_t> shape = cast<ShapedType>(part.getType()).getShape();
      const int64_t end = begin + shape.back();
      Value scaled =
          MulOp::create(builder, loc, part, repeat(weights(begin, end), shape));
      Value added = ReduceSumOp::create(builder, loc, scaled,
                                        builder.getDenseI64ArrayAttr({axis}),
                                        /*keepdim=*/builder.getBoolAttr(true));
      sum = sum ? Value(AddOp::create(builder, loc, sum, added)) : added;
      begin = end;
    }
    return sum;
  }

  OpBuilder builder;
  Location loc;
  LinearOp product;
  RankedTensorType y;
};

struct NarrowProducts : aicf::impl::NarrowProductsBase<NarrowProducts> {
  using NarrowProductsBase::NarrowProductsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isEntry(func))
      return markAllAnalysesPreserved();
    SmallVector<LinearOp> products;
    const int64_t leastBytes = targetOf(func).costs.narrowProductBytes;
    if (leastBytes < 0)
      return markAllAnalysesPreserved();
    for (auto product : func.getOps<LinearOp>())
      if (isWorthIt(product, leastBytes))
        products.push_back(product);
    for (LinearOp product : products)
      replace(product);
    remarkCounts(func, "NarrowProducts",
                 {{"products_replaced", int64_t(products.size())}});
  }

private:
  /// Products of 16-bit numbers are added unrounded by a product only.
  static bool isWorthIt(LinearOp product, int64_t leastBytes) {
    if (!ProductWriter::isOfOneTerm(product) &&
        !ProductWriter::isOfOneColumn(product))
      return false;
    auto x = cast<RankedTensorType>(product.getX().getType());
    auto y = product.getY().getType();
    const unsigned bits = x.getElementTypeBitWidth();
    const int64_t wide = std::max(x.getNumElements(), y.getNumElements());
    return bits >= 32 && wide * (bits / 8) >= leastBytes;
  }
  void replace(LinearOp product) {
    Value x = product.getX();
    product.getY().replaceAllUsesWith(ProductWriter(product).write());
    if (auto remark = remark::passed(
            product.getLoc(),
            remarkOf("NarrowProducts",
                     product->getParentOfType<func::FuncOp>().getSymName())))
      remark << "a product of one column or one term became elementwise "
                "products and sums";
    product.erase();
    if (Operation *concat = x.getDefiningOp<ConcatOp>();
        concat && concat->use_empty())
      concat->erase();
  }
};
} // namespace
