//===- Contraction.cpp - sums of products as products of matrices ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each loop is one of the batch (in both factors and the result), of the rows,
// of the columns, or summed. Those of one kind become one dimension of a
// matrix, which is a view where they stand together.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/LinalgToAICF/Contraction.h"

#include "aicf/Dialect/AICF/AICF.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::linalg_bridge;

using Loops = SmallVector<int64_t>;

template <typename... Ranges> static Loops joined(const Ranges &...ranges) {
  Loops all;
  (llvm::append_range(all, ranges), ...);
  return all;
}

namespace {
class Contraction {
public:
  Contraction(OpBuilder &builder, Location loc, ArrayRef<int64_t> extents)
      : builder(builder), loc(loc), extents(extents) {}
  Value build(Factor a, Factor b, ArrayRef<int64_t> out, Type element);

private:
  bool sort(const Factor &a, const Factor &b, ArrayRef<int64_t> out);
  bool lay(Factor &factor, const Loops &rows, const Loops &columns);
  Value reshaped(Value tensor, ArrayRef<int64_t> shape) {
    return builder.createOrFold<ReshapeOp>(loc, tensor,
                                           builder.getDenseI64ArrayAttr(shape));
  }
  Value transposed(Value tensor, ArrayRef<int64_t> from, ArrayRef<int64_t> to);
  Loops sizesOf(ArrayRef<int64_t> loops) {
    return llvm::map_to_vector(loops, [&](int64_t l) { return extents[l]; });
  }
  int64_t elementsOf(ArrayRef<int64_t> loops) {
    return llvm::product_of(sizesOf(loops));
  }

  OpBuilder &builder;
  Location loc;
  ArrayRef<int64_t> extents;
  Loops batch, rows, columns, summed;
};
} // namespace

/// Without the transposes that make it.
static Factor sourceOf(Factor factor) {
  while (auto transpose = factor.tensor.getDefiningOp<TransposeOp>()) {
    Loops loops(factor.loops.size());
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
      loops[from] = factor.loops[i];
    factor = {transpose.getX(), loops};
  }
  return factor;
}

/// Sorts loops by their kind; false where one has none.
bool Contraction::sort(const Factor &a, const Factor &b,
                       ArrayRef<int64_t> out) {
  for (int64_t loop : out) {
    bool inA = llvm::is_contained(a.loops, loop),
         inB = llvm::is_contained(b.loops, loop);
    if (!inA && !inB)
      return false;
    (inA && inB ? batch : inA ? rows : columns).push_back(loop);
  }
  for (int64_t loop : a.loops)
    if (!llvm::is_contained(out, loop))
      summed.push_back(loop);
  auto isKnown = [](const Loops &known, ArrayRef<int64_t> loops) {
    return llvm::all_of(
        loops, [&](int64_t l) { return llvm::is_contained(known, l); });
  };
  return !rows.empty() && !columns.empty() && !summed.empty() &&
         isKnown(b.loops, summed) &&
         isKnown(joined(batch, columns, summed), b.loops);
}

Value Contraction::transposed(Value tensor, ArrayRef<int64_t> from,
                              ArrayRef<int64_t> to) {
  Loops order = llvm::map_to_vector(to, [&](int64_t loop) {
    return int64_t(llvm::find(from, loop) - from.begin());
  });
  return builder.createOrFold<TransposeOp>(loc, tensor,
                                           builder.getDenseI64ArrayAttr(order));
}

/// Makes matrices of a factor, transposed ones if true: its last dimension
/// stays the last one.
bool Contraction::lay(Factor &factor, const Loops &first, const Loops &second) {
  bool isTransposed = llvm::is_contained(first, factor.loops.back());
  factor.tensor = transposed(factor.tensor, factor.loops,
                             isTransposed ? joined(batch, second, first)
                                          : joined(batch, first, second));
  // Without a batch, rows may be several dimensions.
  bool keepsRows = batch.empty() && !isTransposed && &first == &rows;
  Loops shape = sizesOf(keepsRows ? rows : batch);
  if (!keepsRows)
    shape.push_back(elementsOf(isTransposed ? second : first));
  shape.push_back(elementsOf(isTransposed ? first : second));
  factor.tensor = reshaped(factor.tensor, shape);
  return isTransposed;
}

Value Contraction::build(Factor a, Factor b, ArrayRef<int64_t> out,
                         Type element) {
  a = sourceOf(a);
  b = sourceOf(b);
  auto isColumn = [&](int64_t loop) {
    return !llvm::is_contained(a.loops, loop);
  };
  auto isRow = [&](int64_t loop) { return !llvm::is_contained(b.loops, loop); };
  if (llvm::find_if(out, isColumn) < llvm::find_if(out, isRow))
    std::swap(a, b); // the rows are in front
  if (!sort(a, b, out))
    return {};
  for (Factor *factor : {&a, &b})
    if (getElementTypeOrSelf(factor->tensor.getType()) != element)
      factor->tensor =
          CastOp::create(builder, loc, factor->tensor, TypeAttr::get(element));
  bool transA = lay(a, rows, summed), transB = lay(b, summed, columns);
  Value product;
  if (batch.empty() && !transA && transB)
    product = LinearOp::create(builder, loc, a.tensor, b.tensor,
                               /*bias=*/Value(), builder.getBoolAttr(true));
  else
    product = MatmulOp::create(builder, loc, a.tensor, b.tensor,
                               builder.getBoolAttr(transA),
                               builder.getBoolAttr(transB));
  Loops made = joined(batch, rows, columns);
  return transposed(reshaped(product, sizesOf(made)), made, out);
}

Value linalg_bridge::contract(OpBuilder &builder, Location loc, Factor a,
                              Factor b, ArrayRef<int64_t> out,
                              ArrayRef<int64_t> extents, Type element) {
  return Contraction(builder, loc, extents)
      .build(std::move(a), std::move(b), out, element);
}
