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
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/Remarks.h"

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

/// A call of one primitive that computes the same in another shape, but for
/// copies, which may move tiles.
static bool isOfAnyShape(CallOp call) {
  const Body &body = call.getCode();
  const OpKind kind = body.primitives.front().kind;
  return call.getKid().empty() && body.primitives.size() == 1 &&
         !isCopy(kind) && (mayBeInGraph(kind) || infoOf(kind).isSum());
}
static bool isElementwise(CallOp call) {
  return call.getKid().empty() &&
         llvm::all_of(call.getCode().primitives, [](const Primitive &p) {
           return mayBeInGraph(p.kind);
         });
}

namespace {
/// One call in another shape.
class Reshaping {
public:
  Reshaping(CallOp call, ArrayRef<int64_t> shape)
      : call(call), shape(shape), body(call.getCode()) {}

  /// Returns false where the call cannot have that shape.
  bool plan();
  /// The call, in front of the one that it stands for.
  CallOp create(OpBuilder &builder);

private:
  bool planOperands();
  bool planAxis();
  int64_t axisOf(const Primitive &primitive) const;
  bool mayChangeType(Value result) const;

  CallOp call;
  ArrayRef<int64_t> shape;
  Body body;
  SmallVector<ViewDesc> operands; ///< where they lie in their bases
  Shape resultShape;
};
} // namespace

/// The field `axis` of a sum, or of a primitive that repeats an operand.
int64_t Reshaping::axisOf(const Primitive &primitive) const {
  return std::get<int64_t>(
      decodeField(infoOf(primitive.kind).fields[0], primitive.attrs));
}

bool Reshaping::planOperands() {
  const SpreadInfo *spread = spreadOf(body.primitives.front().kind);
  for (auto [i, operand] : llvm::enumerate(call.getArgs())) {
    ViewOp view = viewOf(operand);
    ViewDesc seen{toTensorDesc(operand.getType()),
                  view ? view.getOffset() : int64_t(0)};
    if (spread && i == spread->operand) {
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

/// Finds the dimension that the field `axis` means in the new shape.
bool Reshaping::planAxis() {
  Primitive &primitive = body.primitives.front();
  const OpInfo &info = infoOf(primitive.kind);
  const SpreadInfo *spread = spreadOf(primitive.kind);
  resultShape.assign(shape.begin(), shape.end());
  if (!info.isSum() && !spread)
    return true;
  const Shape before = shapeOf(call.getArgs()[0]);
  int64_t axis = axisOf(primitive);
  axis = axis < 0 ? int64_t(before.size()) - 1 : axis;
  const int64_t inner =
      product(ArrayRef<int64_t>(before).drop_front(size_t(axis) + 1));
  int64_t size = before[size_t(axis)];
  if (info.isSum())
    size = product(before) / product(shapeOf(call.getResult(0)));
  std::optional<int64_t> found = dimensionOf(shape, size, inner);
  if (info.isSum() && found) {
    resultShape.erase(resultShape.begin() + *found);
  } else if (info.isSum() && size * inner == product(shape)) {
    // All that is in front of some dimension is summed.
    size_t left = shape.size();
    for (int64_t behind = 1; behind < inner && left > 0;)
      behind *= shape[--left];
    if (left == 0 || product(shape.drop_front(left)) != inner)
      return false;
    found = int64_t(left) - 1;
    resultShape.erase(resultShape.begin(), resultShape.begin() + left);
  }
  if (!found)
    return false;
  encodeField(info.fields[0], *found, primitive.attrs);
  return true;
}

/// True unless somebody wants the result in the very shape that it has.
bool Reshaping::mayChangeType(Value result) const {
  return !isReturned(result) && !anyRead(result, [](CallOp reader, unsigned) {
    return reader.isOnly(OpKind::Concat);
  });
}

bool Reshaping::plan() {
  return shape.size() <= kMaxRank && planOperands() && planAxis() &&
         (resultShape == shapeOf(call.getResult(0)) ||
          mayChangeType(call.getResult(0)));
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
  auto type = cast<RankedTensorType>(call.getResult(0).getType());
  return CallOp::create(builder, call.getLoc(),
                        TypeRange(type.clone(resultShape)), values, body,
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

/// The shape of the call that makes one of the operands, which `call` reads in
/// another one.
static std::optional<Shape> shapeToTake(CallOp call) {
  const SpreadInfo *spread = spreadOf(call.getCode().primitives.front().kind);
  for (auto [i, operand] : llvm::enumerate(call.getArgs())) {
    CallOp maker = makerOf(operand);
    if (viewOf(operand) && !(spread && i == spread->operand) && maker &&
        isWhole(operand) && isElementwise(maker) &&
        toTensorDesc(operand.getType()).isDense())
      if (Shape shape = shapeOf(baseOf(operand)); shape != shapeOf(operand))
        return shape;
  }
  return std::nullopt;
}

namespace {
struct FoldReshapes : aicf::impl::FoldReshapesBase<FoldReshapes> {
  using FoldReshapesBase::FoldReshapesBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!step::isEntry(func))
      return markAllAnalysesPreserved();
    if (!getAnalysis<EntryForm>().isLegal)
      return signalPassFailure();
    markAnalysesPreserved<EntryForm, step::EntrySignature>();
    KernelChooser chooser(func, target);
    int64_t numFolded = 0;
    for (auto call : llvm::make_early_inc_range(func.getOps<CallOp>()))
      numFolded += isOfAnyShape(call) && fold(call, chooser);
    eraseUnreadViews(func.front());
    remarkCounts(func, "FoldReshapes", {{"folded", numFolded}});
  }

private:
  static bool fold(CallOp call, const KernelChooser &chooser) {
    std::optional<Shape> shape = shapeToTake(call);
    if (!shape)
      return false;
    Reshaping reshaping(call, *shape);
    if (!reshaping.plan())
      return false;
    OpBuilder builder(call);
    CallOp moved = reshaping.create(builder);
    StatusOr<TypedBody> typed = typedBodyOf(moved);
    if (!typed.ok() || !chooser.choose(moved, *typed)) {
      moved.erase();
      return false;
    }
    replaceResult(builder, call.getResult(0), moved.getResult(0));
    call.erase();
    return true;
  }
};
} // namespace
