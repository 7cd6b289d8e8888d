//===- FoldReshapes.cpp - calls take the shape of what they read ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A view with another shape launches nothing, but calls of different shapes do
// not fuse. An elementwise call computes the same in any shape, and a sum does in
// each in which the same elements are neighbours. Goes through the calls in
// order, so a chain of them takes the shape of its first one.
// Does not touch what is returned or becomes a part of a concat: there the shape
// matters.
//===----------------------------------------------------------------------===//

#include "lib/Base/Views.h"
#include "lib/Dialect/Entry.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/Remarks.h"

#include "llvm/ADT/SmallBitVector.h"

#include <numeric>

namespace aicf {
#define GEN_PASS_DEF_FOLDRESHAPES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

using Shape = SmallVector<int64_t>;

static Span<const int64_t> span(ArrayRef<int64_t> numbers) {
  return {numbers.data(), numbers.size()};
}
static Shape shapeOf(Value value) {
  return Shape(cast<RankedTensorType>(value.getType()).getShape());
}
static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// The dimension of `shape` that has `size` elements and `inner` behind each.
static std::optional<int64_t> dimensionOf(ArrayRef<int64_t> shape, int64_t size,
                                          int64_t inner) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == size && product(shape.drop_front(i + 1)) == inner)
      return int64_t(i);
  return std::nullopt;
}

/// True for elementwise primitives, and sums that nothing inside reads.
static bool isOfAnyShape(CallOp call) {
  const Body &body = call.getCode();
  return call.getKid().empty() &&
         llvm::all_of(body.primitives, [&](const Primitive &p) {
           return mayBeInGraph(p.kind) || infoOf(p.kind).isSum();
         }) && !readsItsSums(body);
}
/// A copy may move tiles.
static bool isOnlyCopy(CallOp call) {
  const Body &body = call.getCode();
  return body.primitives.size() == 1 && isCopy(body.primitives.front().kind);
}

/// The operands of a call that a primitive of it repeats: of one dimension or none.
static llvm::SmallBitVector repeatedOperands(CallOp call) {
  llvm::SmallBitVector repeated(call.getArgs().size());
  for (const Primitive &primitive : call.getCode().primitives)
    if (const SpreadInfo *spread = spreadOf(primitive.kind))
      repeated.set(size_t(primitive.operands[spread->operand]));
  return repeated;
}

namespace {
/// One call of elementwise primitives and sums in another shape.
class Reshaping {
public:
  /// `before` is the shape of all of its values but sums.
  Reshaping(CallOp call, ArrayRef<int64_t> before, ArrayRef<int64_t> shape)
      : call(call), before(before), shape(shape), body(call.getCode()) {}

  /// Returns false where the call cannot have that shape.
  bool plan();
  /// The call, in front of the one that it stands for.
  CallOp create(OpBuilder &builder);

private:
  bool planOperands();
  bool planPrimitives();
  std::optional<int64_t> planSum(int64_t size, int64_t inner, Shape &left) const;
  bool mayChangeType(Value result) const;

  CallOp call;
  ArrayRef<int64_t> before, shape;
  Body body;
  SmallVector<ViewDesc> operands;  ///< where they lie in their bases
  SmallVector<Shape> resultShapes; ///< in the order of the results
};
} // namespace

bool Reshaping::planOperands() {
  const llvm::SmallBitVector repeated = repeatedOperands(call);
  for (auto [i, operand] : llvm::enumerate(call.getArgs())) {
    ViewOp view = viewOf(operand);
    ViewDesc seen{toTensorDesc(operand.getType()),
                  view ? view.getOffset() : int64_t(0)};
    if (repeated[i]) {
      operands.push_back(seen);
      continue;
    }
    if (seen.desc.layout == aicf::Layout::Padded)
      return false;
    auto moved = reshaped(seen, span(shape));
    if (!moved)
      return false;
    operands.push_back(*moved);
  }
  return true;
}

/// The field `axis` for sums of `size` elements with `inner` behind each, and the
/// shape that is left of the new one.
std::optional<int64_t> Reshaping::planSum(int64_t size, int64_t inner,
                                          Shape &left) const {
  left.assign(shape.begin(), shape.end());
  if (auto axis = dimensionOf(shape, size, inner)) {
    left.erase(left.begin() + *axis);
    return axis;
  }
  // All that is in front of some dimension is summed.
  size_t first = shape.size();
  while (first > 0 && product(shape.drop_front(first)) < inner)
    --first;
  if (size * inner != product(shape) || first == 0 ||
      product(shape.drop_front(first)) != inner)
    return std::nullopt;
  left.erase(left.begin(), left.begin() + first);
  return int64_t(first) - 1;
}

/// Finds what the fields `axis` mean in the new shape, and the shapes of results.
bool Reshaping::planPrimitives() {
  for (auto [p, primitive] : llvm::enumerate(body.primitives)) {
    const OpInfo &info = infoOf(primitive.kind);
    auto result = llvm::find(body.results, body.numOperands + uint32_t(p));
    Shape left(shape);
    if (info.isSum() || hasSpreadAxis(primitive.kind)) {
      int64_t axis =
          std::get<int64_t>(decodeField(info.fields[0], primitive.attrs));
      axis = axis < 0 ? int64_t(before.size()) - 1 : axis;
      const int64_t inner = product(before.drop_front(size_t(axis) + 1));
      std::optional<int64_t> found;
      if (info.isSum()) {
        Value sums = call.getResult(result - body.results.begin());
        found = planSum(product(before) / product(shapeOf(sums)), inner, left);
      } else {
        found = dimensionOf(shape, before[size_t(axis)], inner);
      }
      if (!found)
        return false;
      encodeField(info.fields[0], *found, primitive.attrs);
    }
    if (result != body.results.end())
      resultShapes.push_back(left);
  }
  return true;
}

/// True unless somebody wants the result in the very shape that it has.
bool Reshaping::mayChangeType(Value result) const {
  return toTensorDesc(result.getType()).isDense() && !isReturned(result) &&
         !joinOf(result) && !anyRead(result, [](CallOp reader, unsigned) {
           return reader.isOnly(OpKind::Concat);
         });
}

bool Reshaping::plan() {
  if (!planOperands() || !planPrimitives())
    return false;
  return llvm::all_of(llvm::zip_equal(call.getResults(), resultShapes),
                      [&](auto both) {
                        auto [result, left] = both;
                        return left == shapeOf(result) || mayChangeType(result);
                      });
}

CallOp Reshaping::create(OpBuilder &builder) {
  SmallVector<Value> values;
  for (auto [operand, seen] : llvm::zip_equal(call.getArgs(), operands)) {
    Value base = baseOf(operand);
    Type type = toTensorType(builder.getContext(), seen.desc);
    values.push_back(
        seen.offset == 0 && type == base.getType()
            ? base
            : ViewOp::create(builder, call.getLoc(), type, base, seen.offset)
                  .getView());
  }
  SmallVector<Type> types;
  for (auto [result, left] : llvm::zip_equal(call.getResults(), resultShapes))
    types.push_back(cast<RankedTensorType>(result.getType()).clone(left));
  return CallOp::create(builder, call.getLoc(), types, values, body,
                        call.getVids());
}

/// Gives the readers of `before` the result `after`, in the shape that they know.
static void replaceResult(OpBuilder &builder, Value before, Value after) {
  if (before.getType() == after.getType())
    return before.replaceAllUsesWith(after);
  // A view of a view is one of its base.
  forEachView(before, [&](ViewOp view) {
    view.getBaseMutable().assign(after);
    if (view.getType() == after.getType() && view.getOffset() == 0)
      view.replaceAllUsesWith(after);
  });
  if (!before.use_empty())
    before.replaceAllUsesWith(ViewOp::create(
        builder, before.getLoc(), before.getType(), after, int64_t(0)));
}

namespace {
/// A shape that a call has, and the one that it should have.
struct Shapes {
  Shape before, after;
};
} // namespace

/// That of the call that makes one of the operands, which `call` reads in another
/// shape; or its own, in which a sum loses a dimension that it kept.
static std::optional<Shapes> shapeToTake(CallOp call) {
  const llvm::SmallBitVector repeated = repeatedOperands(call);
  for (auto [i, operand] : llvm::enumerate(call.getArgs())) {
    CallOp maker = makerOf(operand);
    if (!repeated[i] && viewOf(operand) && maker && isWhole(operand) &&
        isOfAnyShape(maker) &&
        toTensorDesc(operand.getType()).isDense())
      if (Shape shape = shapeOf(baseOf(operand)); shape != shapeOf(operand))
        return Shapes{shapeOf(operand), shape};
  }
  // Whoever repeats what is left of a sum finds it in one form.
  const Primitive &first = call.getCode().primitives.front();
  if (call.getCode().primitives.size() > 1 || !infoOf(first.kind).isSum())
    return std::nullopt;
  Shape shape = shapeOf(call.getArgs()[0]);
  const bool keeps = shapeOf(call.getResult(0)).size() == shape.size();
  return keeps ? std::optional(Shapes{shape, shape}) : std::nullopt;
}

namespace {
struct FoldReshapes : EntryPass<aicf::impl::FoldReshapesBase<FoldReshapes>> {
  using EntryPass::EntryPass;

  void runOnEntry(func::FuncOp func) override {
    KernelChooser chooser(func);
    int64_t numFolded = 0;
    for (auto call : llvm::make_early_inc_range(func.getOps<CallOp>()))
      numFolded += isOfAnyShape(call) && !isOnlyCopy(call) &&
                   fold(call, chooser);
    mergeEqualViews(func.front());
    eraseUnreadViews(func.front());
    remarkCounts(func, "FoldReshapes", {{"folded", numFolded}});
  }

private:
  static bool fold(CallOp call, const KernelChooser &chooser) {
    std::optional<Shapes> shapes = shapeToTake(call);
    if (!shapes)
      return false;
    Reshaping reshaping(call, shapes->before, shapes->after);
    if (!reshaping.plan())
      return false;
    OpBuilder builder(call);
    CallOp moved = reshaping.create(builder);
    StatusOr<TypedBody> typed = typedBodyOf(moved);
    if (!typed.ok() || !chooser.choose(moved, *typed)) {
      moved.erase();
      return false;
    }
    for (auto [result, after] :
         llvm::zip_equal(call.getResults(), moved.getResults()))
      replaceResult(builder, result, after);
    call.erase();
    return true;
  }
};
} // namespace
