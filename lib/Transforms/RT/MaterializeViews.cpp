//===- MaterializeViews.cpp - copies where no kernel takes a view ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Asks the kernel table about each call that reads views: of each of them alone
// first, as if the other operands were dense, then of all that are left
// together. What nothing takes becomes a copy.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"
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
  ViewMaterializer(func::FuncOp func, DeviceKind target, bool every)
      : func(func), chooser(func, target), every(every) {}
  void run();

private:
  bool hasKernel(CallOp call) const;
  bool hasKernelForView(CallOp call, unsigned operand) const;
  void mergeEqualViews();
  bool mergeCopy(CallOp call);
  void copyOperands(CallOp call);
  Value copyOf(Value view, CallOp reader);

  func::FuncOp func;
  KernelChooser chooser;
  bool every;
  llvm::DenseMap<Value, Value> copies; ///< of views
  int64_t numCopies = 0;
};
} // namespace

static bool isView(Value value) { return baseOf(value) != value; }

bool ViewMaterializer::hasKernel(CallOp call) const {
  return chooser.choose(call, *typedBodyOf(call));
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
  return chooser.choose(
      *typedBodyOf(call.getBody(), types, call->getResultTypes()), {});
}

/// Leaves one view of each place of a base.
void ViewMaterializer::mergeEqualViews() {
  llvm::DenseMap<std::tuple<Value, int64_t, Type>, ViewOp> known;
  for (auto view : llvm::make_early_inc_range(func.getOps<ViewOp>())) {
    auto [it, isFresh] = known.try_emplace(
        {view.getBase(), view.getOffset(), view.getType()}, view);
    if (isFresh)
      continue;
    view.replaceAllUsesWith(it->second.getView());
    view.erase();
  }
}

Value ViewMaterializer::copyOf(Value view, CallOp reader) {
  Value &copy = copies[view];
  if (copy)
    return copy;
  OpBuilder builder(reader);
  copy = copyOfView(builder, view.getLoc(), view);
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
  mergeEqualViews();
  // A body without a pattern has no kernel, whatever it reads.
  for (auto call : llvm::make_early_inc_range(func.getOps<CallOp>()))
    if (llvm::any_of(call.getArgs(), isView) && call.getFacts().pattern &&
        !mergeCopy(call))
      copyOperands(call);
  eraseUnreadViews(func.front());
  remarkCounts(func, "MaterializeViews", {{"copies_for_views", numCopies}});
}

namespace {
struct MaterializeViews : aicf::impl::MaterializeViewsBase<MaterializeViews> {
  using MaterializeViewsBase::MaterializeViewsBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!step::isEntry(func))
      return markAllAnalysesPreserved();
    if (!getAnalysis<EntryForm>().isLegal)
      return signalPassFailure();
    markAnalysesPreserved<EntryForm, step::EntrySignature>();
    ViewMaterializer(func, target, every).run();
  }
};
} // namespace
