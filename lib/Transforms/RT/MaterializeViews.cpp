//===- MaterializeViews.cpp - copies where no kernel takes a view ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Asks the kernel table about each call that reads views: of each of them alone
// first, as if the other operands were dense, then of all that are left
// together. What nothing takes becomes a copy. Views that show one index each of
// an argument of the entry share a copy.
//===----------------------------------------------------------------------===//

#include "lib/Base/Views.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_MATERIALIZEVIEWS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// Gives the calls of one entry what their kernels take.
class ViewMaterializer {
public:
  ViewMaterializer(func::FuncOp func, bool every)
      : func(func), chooser(func), every(every) {}
  void run();

private:
  bool hasKernel(CallOp call) const;
  bool hasKernelForView(CallOp call, unsigned operand) const;
  bool mergeCopy(CallOp call);
  void copyOperands(CallOp call);
  Value copyOf(Value view, CallOp reader);
  bool copyTogether(ViewOp view, CallOp reader);

  func::FuncOp func;
  KernelChooser chooser;
  bool every;
  llvm::DenseMap<Value, Value> copies; ///< of views
  int64_t numCopies = 0;
};
} // namespace

bool ViewMaterializer::hasKernel(CallOp call) const {
  StatusOr<TypedBody> typed = typedBodyOf(call);
  return typed.ok() && chooser.choose(call, *typed);
}

/// With the other operands dense. For every type there is a kernel that takes any
/// address.
bool ViewMaterializer::hasKernelForView(CallOp call, unsigned operand) const {
  SmallVector<Type> types;
  for (auto [i, arg] : llvm::enumerate(call.getArgs())) {
    auto type = cast<RankedTensorType>(arg.getType());
    types.push_back(i == operand ? type
                                 : withLayout(type, aicf::Layout::Dense));
  }
  StatusOr<TypedBody> typed =
      typedBodyOf(call.getBody(), types, call->getResultTypes());
  return typed.ok() && chooser.choose(*typed, {});
}

namespace {
/// One index of a dimension of a dense tensor, with the others as they are.
struct IndexOf {
  size_t dimension;
  int64_t index;
};
} // namespace

static std::optional<IndexOf> indexShownBy(ViewOp view) {
  const TensorDesc base = toTensorDesc(view.getBase().getType());
  const TensorDesc seen = toTensorDesc(view.getType());
  for (size_t d = 0; base.isDense() && d < base.rank; ++d) {
    bool isRest = seen.rank + 1 == base.rank;
    for (size_t i = 0; isRest && i < seen.rank; ++i) {
      size_t same = i < d ? i : i + 1;
      isRest = seen.dims[i] == base.dims[same] &&
               seen.stride(i) == base.stride(same);
    }
    if (isRest && view.getOffset() % base.stride(d) == 0 &&
        view.getOffset() / base.stride(d) < base.dims[d])
      return IndexOf{d, view.getOffset() / base.stride(d)};
  }
  return std::nullopt;
}

/// Where several views show an index each of one dimension of an argument, copies
/// the argument with that dimension in front. Then they are dense, one behind the
/// other.
bool ViewMaterializer::copyTogether(ViewOp view, CallOp reader) {
  auto shown = indexShownBy(view);
  if (every || !shown || !isa<BlockArgument>(view.getBase()))
    return false;
  SmallVector<std::pair<ViewOp, int64_t>> alike;
  forEachView(view.getBase(), [&](ViewOp other) {
    auto index = indexShownBy(other);
    if (index && index->dimension == shown->dimension &&
        other.getType() == view.getType() && !copies.lookup(other))
      alike.push_back({other, index->index});
  });
  const TensorDesc base = toTensorDesc(view.getBase().getType());
  const auto count = int64_t(alike.size());
  if (count < chooser.costs().copiedViews || 2 * count < base.dims[shown->dimension])
    return false;
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < base.rank; ++d)
    order.insert(d == int64_t(shown->dimension) ? order.begin() : order.end(), d);
  const ViewDesc turned = transposed({base}, {order.data(), order.size()});
  OpBuilder builder(reader);
  Value whole = ViewOp::create(builder, view.getLoc(),
                               toTensorType(builder.getContext(), turned.desc),
                               view.getBase(), int64_t(0));
  Value copy = copyOfView(builder, view.getLoc(), whole);
  Type part = withLayout(cast<RankedTensorType>(view.getType()),
                         aicf::Layout::Dense);
  const int64_t elements = toTensorDesc(part).elements();
  for (auto [other, index] : alike)
    copies[other] = ViewOp::create(builder, other.getLoc(), part, copy,
                                   index * elements);
  return true;
}

Value ViewMaterializer::copyOf(Value view, CallOp reader) {
  if (Value copy = copies.lookup(view))
    return copy;
  OpBuilder builder(reader);
  if (!copyTogether(viewOf(view), reader))
    copies[view] = copyOfView(builder, view.getLoc(), view);
  Value copy = copies[view];
  ++numCopies;
  if (auto remark = remark::missed(
          reader.getLoc(), remarkOf("MaterializeViews", func.getSymName())))
    remark << nameOfCall(reader) + " needs a copy of " +
                  toTensorDesc(view.getType()).toString() +
                  (every ? ": every view is copied"
                         : ": none of its kernels takes that view");
  return copy;
}

void ViewMaterializer::copyOperands(CallOp call) {
  if (every && !call.isOnly(OpKind::Copy))
    for (OpOperand &operand : call.getArgsMutable())
      if (isView(operand.get()))
        operand.set(copyOf(operand.get(), call));
  for (bool isAlone : {true, false})
    for (unsigned i = 0; i < call.getArgs().size() && !hasKernel(call); ++i)
      if (Value operand = call.getArgs()[i];
          isView(operand) && !(isAlone && hasKernelForView(call, i)))
        call->setOperand(i, copyOf(operand, call));
}

/// True if `call` is a copy of a view that has one already, which takes its
/// place. What is returned has storage of its own.
bool ViewMaterializer::mergeCopy(CallOp call) {
  if (!call.isOnly(OpKind::Copy) || isReturned(call.getResult(0)))
    return false;
  Value &copy = copies[call.getOperand(0)];
  if (copy && viewOf(copy)) // of a copy of more, and the result may have views
    return false;
  if (!copy)
    copy = call.getResult(0);
  if (copy == call.getResult(0))
    return false;
  if (auto remark = remark::passed(
          call.getLoc(), remarkOf("MaterializeViews", func.getSymName())))
    remark << "a copy of " +
                  toTensorDesc(call.getOperand(0).getType()).toString() +
                  " is dropped: an earlier call makes an equal one";
  call.getResult(0).replaceAllUsesWith(copy);
  call.erase();
  return true;
}

void ViewMaterializer::run() {
  mergeEqualViews(func.front());
  // A body without a pattern has no kernel, whatever it reads.
  for (auto call : llvm::make_early_inc_range(func.getOps<CallOp>()))
    if (llvm::any_of(call.getArgs(), isView) && call.getFacts().pattern &&
        !mergeCopy(call))
      copyOperands(call);
  eraseUnreadViews(func.front());
  remarkCounts(func, "MaterializeViews", {{"copies_for_views", numCopies}});
}

namespace {
struct MaterializeViews
    : EntryPass<aicf::impl::MaterializeViewsBase<MaterializeViews>> {
  using EntryPass::EntryPass;
  void runOnEntry(func::FuncOp func) override {
    ViewMaterializer(func, every).run();
  }
};
} // namespace
