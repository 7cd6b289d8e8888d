//===- ConcatPads.cpp - sums of padded tensors become concats -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The gradient of a tensor that is read in slices is a sum of such terms. It is
// rewritten dimension by dimension, so tiles of a matrix become concats of
// concats. A pad with another step than 1 is a term like any other.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Remarks.h"

#include "llvm/ADT/MapVector.h"

namespace aicf {
#define GEN_PASS_DEF_CONCATPADS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// The indices [begin, end) of one dimension that hold `value`, among zeros.
struct Part {
  int64_t begin, end;
  Value value;
};

/// Rewrites the sums of one entry.
class SumRewriter {
public:
  explicit SumRewriter(func::FuncOp func)
      : func(func), builder(func.getContext()) {}
  void run();

private:
  bool rewrite(AddOp sum);
  Value sumOf(ArrayRef<Value> terms);
  Value joined(SmallVector<Value> terms);
  bool joinAlong(int64_t axis, SmallVectorImpl<Value> &terms);
  Value concat(int64_t axis, int64_t size, ArrayRef<Part> parts);
  Value pad(int64_t axis, int64_t size, const Part &part);

  func::FuncOp func;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc(); ///< of the sum
};
} // namespace

/// True if a sum is all that reads `add`.
static bool isPartOfASum(AddOp add) {
  return add->hasOneUse() && isa<AddOp>(*add->user_begin());
}

/// What `sum` adds, from the left to the right. (No recursion: a sum may have
/// as many terms as a step has calls.)
static SmallVector<Value> termsOf(AddOp sum) {
  SmallVector<Value> terms, left = {sum.getB(), sum.getA()};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (auto add = value.getDefiningOp<AddOp>(); add && isPartOfASum(add))
      left.append({add.getB(), add.getA()});
    else
      terms.push_back(value);
  }
  return terms;
}

/// Erases the op of a value that nobody reads, and what it alone has read.
static void eraseDead(Value value) {
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Value dead = left.pop_back_val();
    if (!dead.use_empty())
      continue;
    Operation *maker = dead.getDefiningOp();
    left.append(maker->operand_begin(), maker->operand_end());
    maker->erase();
  }
}

Value SumRewriter::sumOf(ArrayRef<Value> terms) {
  Value sum = terms[0];
  for (Value term : terms.drop_front())
    sum = AddOp::create(builder, loc, sum, term);
  return sum;
}

Value SumRewriter::pad(int64_t axis, int64_t size, const Part &part) {
  if (part.end - part.begin == size)
    return part.value;
  return PadOp::create(builder, loc, part.value,
                       builder.getI64IntegerAttr(axis),
                       builder.getI64IntegerAttr(part.begin),
                       builder.getI64IntegerAttr(1),
                       builder.getI64IntegerAttr(size));
}

/// `parts` in their order, which do not overlap. Each takes the zeros behind
/// it, and the first one those before it.
Value SumRewriter::concat(int64_t axis, int64_t size, ArrayRef<Part> parts) {
  SmallVector<Value> pieces;
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t begin = i == 0 ? 0 : part.begin,
            end = i + 1 == parts.size() ? size : parts[i + 1].begin;
    pieces.push_back(pad(axis, end - begin,
                         {part.begin - begin, part.end - begin, part.value}));
  }
  return ConcatOp::create(builder, loc, pieces,
                          builder.getI64IntegerAttr(axis));
}

/// Puts fewer terms in the place of the pads along `axis`; false if there are
/// none to put together.
bool SumRewriter::joinAlong(int64_t axis, SmallVectorImpl<Value> &terms) {
  int64_t size = cast<ShapedType>(terms[0].getType()).getDimSize(axis);
  llvm::MapVector<std::pair<int64_t, int64_t>, SmallVector<Value>> byRange;
  SmallVector<Value> others;
  for (Value term : terms) {
    auto pad = term.getDefiningOp<PadOp>();
    if (!pad || int64_t(pad.getAxis()) != axis || pad.getStep() != 1 ||
        !term.hasOneUse()) {
      others.push_back(term);
      continue;
    }
    auto begin = int64_t(pad.getBegin());
    int64_t width = cast<ShapedType>(pad.getX().getType()).getDimSize(axis);
    byRange[{begin, begin + width}].push_back(pad.getX());
  }
  if (terms.size() - others.size() < 2)
    return false;
  SmallVector<Part> left;
  for (auto &[range, values] : byRange)
    left.push_back({range.first, range.second, joined(values)});
  llvm::sort(left, [](const Part &a, const Part &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  while (!left.empty()) { // one layer of parts that do not overlap
    SmallVector<Part> layer, later;
    for (const Part &part : left)
      (layer.empty() || part.begin >= layer.back().end ? layer : later)
          .push_back(part);
    others.push_back(layer.size() == 1 ? pad(axis, size, layer[0])
                                       : concat(axis, size, layer));
    left = std::move(later);
  }
  terms.assign(others.begin(), others.end());
  return true;
}

Value SumRewriter::joined(SmallVector<Value> terms) {
  int64_t rank = cast<ShapedType>(terms[0].getType()).getRank();
  for (int64_t axis = 0; axis < rank; ++axis)
    joinAlong(axis, terms);
  return sumOf(terms);
}

bool SumRewriter::rewrite(AddOp sum) {
  SmallVector<Value> terms = termsOf(sum);
  size_t numTerms = terms.size();
  builder.setInsertionPoint(sum);
  loc = sum.getLoc();
  bool isChanged = false;
  for (int64_t axis = 0, rank = sum.getC().getType().getRank(); axis < rank;
       ++axis)
    isChanged |= joinAlong(axis, terms);
  if (!isChanged)
    return false;
  if (auto remark = remark::passed(
          loc, remarkOf("ConcatPads", func.getSymName())))
    remark << "a sum of " + std::to_string(numTerms) + " terms has " +
                  std::to_string(terms.size()) + ": pads became concats";
  sum.getC().replaceAllUsesWith(sumOf(terms));
  eraseDead(sum.getC());
  return true;
}

void SumRewriter::run() {
  SmallVector<AddOp> sums;
  for (auto add : func.getOps<AddOp>())
    if (!isPartOfASum(add))
      sums.push_back(add);
  int64_t numRewritten =
      llvm::count_if(sums, [&](AddOp sum) { return rewrite(sum); });
  remarkCounts(func, "ConcatPads", {{"sums_of_pads", numRewritten}});
}

namespace {
struct ConcatPads : aicf::impl::ConcatPadsBase<ConcatPads> {
  void runOnOperation() override {
    if (isEntry(getOperation()))
      SumRewriter(getOperation()).run();
  }
};
} // namespace
