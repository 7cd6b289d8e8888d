//===- AttentionGradients.cpp - gradients of attention by hand ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/AttentionGradients.h"

#include "lib/Dialect/Entry.h"

#include <cmath>

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

Transposed Transposed::at(Value value, bool turned) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, int64_t(dimensionsOf(value).size())));
  if (turned)
    std::swap(order.back(), order[order.size() - 2]);
  while (auto transpose = value.getDefiningOp<TransposeOp>()) {
    for (int64_t &dimension : order)
      dimension = transpose.getPermutation()[size_t(dimension)];
    value = transpose.getX();
  }
  return {value, order};
}

SmallVector<int64_t> Transposed::shape() const {
  return llvm::map_to_vector(
      order, [&](int64_t from) { return dimensionsOf(of)[size_t(from)]; });
}

Value Transposed::write(OpBuilder &b, Location loc) const {
  if (llvm::is_sorted(order))
    return of;
  return b.createOrFold<TransposeOp>(loc, of, b.getDenseI64ArrayAttr(order));
}

static bool turnsRows(TransposeOp transpose) {
  SmallVector<int64_t> order(transpose.getPermutation());
  if (order.size() < 2)
    return false;
  std::swap(order.back(), order[order.size() - 2]);
  return llvm::equal(order, llvm::seq<int64_t>(0, int64_t(order.size())));
}

//===----------------------------------------------------------------------===//
// Products that read a matrix
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ProductOf::shape() {
  return Transposed::at(op.getC(), isResultTurned).shape();
}

static bool isFloatCast(CastOp cast) {
  return isa<FloatType>(getElementTypeOrSelf(cast.getX().getType())) &&
         isa<FloatType>(getElementTypeOrSelf(cast.getY().getType()));
}

namespace {

/// What reads a matrix, through casts and as its transpose.
struct Readers {
  SmallVector<ProductOf> products;
  SmallVector<Operation *> others;

  explicit Readers(Value matrix) {
    SmallVector<std::pair<Value, bool>> from = {{matrix, false}};
    while (!from.empty()) {
      const auto [value, turned] = from.pop_back_val();
      for (OpOperand &use : value.getUses()) {
        Operation *op = use.getOwner();
        auto transpose = dyn_cast<TransposeOp>(op);
        auto cast = dyn_cast<CastOp>(op);
        if (op->getBlock() != matrix.getParentBlock())
          others.push_back(op); // in a loop
        else if (auto product = dyn_cast<MatmulOp>(op))
          addProduct(product, use.getOperandNumber() == 1, turned);
        else if (cast && isFloatCast(cast))
          from.emplace_back(cast.getY(), turned);
        else if (transpose && turnsRows(transpose))
          from.emplace_back(transpose.getY(), !turned);
        else
          others.push_back(op);
      }
    }
  }

private:
  /// a · b = (bᵀ · aᵀ)ᵀ
  void addProduct(MatmulOp op, bool isRight, bool turned) {
    if (isRight)
      products.push_back({op, turned == op.getTransB(), true,
                          Transposed::at(op.getA(), !op.getTransA())});
    else
      products.push_back({op, turned != op.getTransA(), false,
                          Transposed::at(op.getB(), op.getTransB())});
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

bool AttentionGradients::find() {
  SoftmaxOp softmax = parts.softmax;
  const Readers weights(softmax.getY());
  for (Operation *other : weights.others) {
    auto found = dyn_cast<SoftmaxBwdOp>(other);
    if (!found || softmaxBwd || found.getY() != softmax.getY())
      return no("other ops read its weights");
    softmaxBwd = found;
  }
  if (!softmaxBwd)
    return no("other ops read its weights");
  if (hasLoss(softmaxBwd->getParentOfType<func::FuncOp>()))
    return no("its gradients may be differentiated once more");
  if (parts.dropout || parts.softcap > 0)
    return no("its gradients are there, and it has dropout or a softcap");
  Value slopes = softmaxBwd.getDx();
  if (!findDy(softmaxBwd) || !passSlopes(slopes))
    return false;
  const Readers ofSlopes(slopes);
  if (!ofSlopes.others.empty())
    return no("other ops read the gradients of its scores");
  return sort(weights.products, ofSlopes.products);
}

/// softmax_bwd reads dy · vᵀ.
bool AttentionGradients::findDy(SoftmaxBwdOp softmax) {
  Value value = softmax.getDy();
  for (auto cast = value.getDefiningOp<CastOp>(); cast && isFloatCast(cast);
       cast = value.getDefiningOp<CastOp>())
    value = cast.getX();
  auto product = value.getDefiningOp<MatmulOp>();
  if (!product)
    return no("the gradient of its weights is not a product");
  MatmulOp forward = parts.product;
  if (Transposed::at(product.getB(), !product.getTransB()) !=
      Transposed::at(forward.getB(), forward.getTransB()))
    return no("the gradient of its weights is not a product with its values");
  dy = Transposed::at(product.getA(), product.getTransA());
  return ArrayRef(dy.shape()) == dimensionsOf(forward.getC()) ||
         no("the gradient of its result is repeated");
}

/// Behind softmax_bwd: zeros where keys are hidden, which the op writes too, and factors.
bool AttentionGradients::passSlopes(Value &slopes) {
  double factor = 1;
  while (slopes.hasOneUse()) {
    Operation *user = *slopes.user_begin();
    if (const auto found = factorOf(user); found && found->second == slopes) {
      factor *= found->first;
      slopes = user->getResult(0);
    } else if (auto fill = dyn_cast<MaskedFillOp>(user)) {
      const std::optional<Hidden> zeros = hiddenBy(fill.getMask(), fill.getInverted());
      if (!fill.getValue().isZero() || !zeros || !parts.hidden ||
          zeros->mask.getType() != parts.hidden->mask.getType() ||
          zeros->seen() != parts.hidden->seen())
        return no("other elements are hidden from its gradients");
      slopes = fill.getY();
    } else if (auto cast = dyn_cast<CastOp>(user); cast && isFloatCast(cast)) {
      slopes = cast.getY();
    } else {
      break;
    }
  }
  // A factor may be rounded once more in one of them.
  return std::abs(factor - parts.scale) <= 1e-6 * std::abs(parts.scale) ||
         no("its gradients have another factor");
}

bool AttentionGradients::sort(ArrayRef<ProductOf> ofWeights,
                              ArrayRef<ProductOf> ofSlopes) {
  MatmulOp scores = parts.scores, forward = parts.product;
  const Transposed q = Transposed::at(scores.getA()),
                   k = Transposed::at(scores.getB(), !scores.getTransB());
  for (ProductOf product : ofWeights) {
    if (product.op == forward)
      continue;
    if (!product.turned || product.right != dy)
      return no("other products read its weights");
    dv.push_back(product);
  }
  for (ProductOf product : ofSlopes) {
    const bool isDk = product.turned && product.right == q;
    if (!isDk && (product.turned || product.right != k))
      return no("other products read the gradients of its scores");
    (isDk ? dk : dq).push_back(product);
  }
  return fits(dq, q.shape()) && fits(dk, k.shape()) &&
         fits(dv, Transposed::at(forward.getB(), forward.getTransB()).shape());
}

bool AttentionGradients::fits(ArrayRef<ProductOf> products, ArrayRef<int64_t> shape) {
  MatmulOp forward = parts.product;
  for (ProductOf product : products) {
    if (product.shape() != shape)
      return no("its gradients are those of heads that are not added up yet");
    if (!forward->isBeforeInBlock(product.op))
      return no("its gradients stand in front of it");
  }
  return true;
}

SmallVector<ProductOf> AttentionGradients::all() const {
  SmallVector<ProductOf> products(dq);
  llvm::append_range(products, dk);
  llvm::append_range(products, dv);
  return products;
}

Operation *AttentionGradients::first() const {
  SmallVector<ProductOf> products = all();
  return llvm::min_element(products, [](ProductOf a, ProductOf b) {
           return a.op->isBeforeInBlock(b.op);
         })->op;
}
