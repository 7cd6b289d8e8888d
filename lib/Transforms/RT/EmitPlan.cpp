//===- EmitPlan.cpp - entries to one aicf_rt.plan -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Copies what the passes before decided.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/Storage.h"

namespace aicf {
#define GEN_PASS_DEF_EMITPLAN
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
/// Builds the plan of one module.
class Emitter {
public:
  Emitter(ModuleOp module, ArrayRef<func::FuncOp> entries)
      : builder(module.getBodyRegion()), entries(entries) {
    builder.setInsertionPointToEnd(module.getBody());
  }
  LogicalResult run();

private:
  LogicalResult emitEntry(func::FuncOp func);
  void emitPersistent(func::FuncOp func);
  SmallVector<int64_t> emitTensors(func::FuncOp func,
                                   const StorageAnalysis &analysis);
  /// Emits the workspaces; returns their tids by stream.
  llvm::DenseMap<int64_t, int64_t> emitWorkspaces(func::FuncOp func);
  void emitCall(PrimitiveOpInterface call, const StorageAnalysis &analysis,
                ArrayRef<int64_t> tids, int64_t workspace);
  void emitTensor(Location loc, int64_t tid, StringRef name, Role role,
                  int64_t offset, int64_t vid, Type type,
                  step::Initializer init = {}, int64_t derivedFrom = -1);

  OpBuilder builder;
  ArrayRef<func::FuncOp> entries;
  llvm::StringMap<int64_t> persistentTid;
  int64_t nextTid = 0;
};
} // namespace

static int64_t getInt(DictionaryAttr attrs, StringRef name) {
  auto value = attrs ? attrs.getAs<IntegerAttr>(name) : IntegerAttr();
  return value ? value.getInt() : -1;
}

static int64_t getInt(func::FuncOp func, StringRef name) {
  return getInt(func->getDiscardableAttrDictionary(), name);
}

void Emitter::emitTensor(Location loc, int64_t tid, StringRef name, Role role,
                         int64_t offset, int64_t vid, Type type,
                         step::Initializer init, int64_t derivedFrom) {
  StringRef segment = nameOf(segmentOf(role));
  auto number = [&](int64_t n) { return builder.getI64IntegerAttr(n); };
  auto text = [&](StringRef t) { return builder.getStringAttr(t); };
  aicf::rt::TensorOp::create(
      builder, loc, number(tid), text(name), text(nameOf(role)), text(segment),
      number(offset), number(vid), TypeAttr::get(type), text(nameOf(init.kind)),
      builder.getF64FloatAttr(init.value), number(derivedFrom));
}

void Emitter::emitPersistent(func::FuncOp func) {
  step::EntrySignature signature(func);
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    if (segmentOf(arg.role) != Segment::Persistent ||
        !persistentTid.try_emplace(arg.name, nextTid).second)
      continue;
    auto source = persistentTid.find(arg.derivedFrom);
    DictionaryAttr attrs = func.getArgAttrDict(i);
    emitTensor(func.getArgument(i).getLoc(), nextTid++, arg.name, arg.role,
               getInt(attrs, kOffsetAttr), getInt(attrs, step::kVidAttr),
               func.getArgumentTypes()[i], arg.init,
               source == persistentTid.end() ? -1 : source->second);
  }
}

/// Emits the io and temp tensors; returns the tid of every storage.
SmallVector<int64_t> Emitter::emitTensors(func::FuncOp func,
                                          const StorageAnalysis &analysis) {
  step::EntrySignature signature(func);
  SmallVector<int64_t> tids;
  for (const Storage &storage : analysis.getStorages()) {
    Value first = storage.values.front();
    if (storage.kind == Storage::Kind::Argument) {
      const auto &arg = signature.arguments[storage.number];
      if (auto it = persistentTid.find(arg.name);
          segmentOf(arg.role) == Segment::Persistent) {
        tids.push_back(it->second);
        continue;
      }
      DictionaryAttr attrs = func.getArgAttrDict(storage.number);
      emitTensor(first.getLoc(), nextTid, arg.name, arg.role,
                 getInt(attrs, kOffsetAttr), labelOf(first), storage.type);
    } else if (storage.kind == Storage::Kind::Output) {
      DictionaryAttr attrs = func.getResultAttrDict(storage.number);
      emitTensor(first.getLoc(), nextTid,
                 signature.results[storage.number].name, Role::Output,
                 getInt(attrs, kOffsetAttr), labelOf(first), storage.type);
    } else {
      auto producer = first.getDefiningOp<PrimitiveOpInterface>();
      bool saved = producer.getOpKind() == OpKind::CopySaved;
      emitTensor(first.getLoc(), nextTid, "", saved ? Role::Saved : Role::Temp,
                 producer.getSlots()[cast<OpResult>(first).getResultNumber()],
                 labelOf(first), storage.type);
    }
    tids.push_back(nextTid++);
  }
  return tids;
}

llvm::DenseMap<int64_t, int64_t> Emitter::emitWorkspaces(func::FuncOp func) {
  llvm::DenseMap<int64_t, int64_t> byStream;
  auto placed = func->getAttrOfType<DenseI64ArrayAttr>(kWorkspacesAttr);
  for (size_t i = 0; placed && i + 2 < size_t(placed.size()); i += 3) {
    // Bytes as i32: a plan has no type of one byte.
    Type type =
        RankedTensorType::get({placed[i + 1] / 4}, builder.getI32Type());
    byStream[placed[i]] = nextTid;
    emitTensor(func.getLoc(), nextTid++, "", Role::Workspace, placed[i + 2], -1,
               type);
  }
  return byStream;
}

void Emitter::emitCall(PrimitiveOpInterface call,
                       const StorageAnalysis &analysis, ArrayRef<int64_t> tids,
                       int64_t workspace) {
  SmallVector<uint8_t> blob = call.getAttrBlob();
  SmallVector<int8_t> attrs(blob.begin(), blob.end());
  SmallVector<int64_t> ins, outs, inVids, outVids;
  auto add = [&](Value value, SmallVectorImpl<int64_t> &to,
                 SmallVectorImpl<int64_t> &labels) {
    to.push_back(value ? tids[analysis.getStorageOf(value)] : -1);
    labels.push_back(value ? labelOf(value) : -1);
  };
  for (Value operand : call.getOperandSlots())
    add(operand, ins, inVids);
  SmallVector<Value> results(call->getResults());
  results.resize(call.getResultDescs().size()); // an absent one is the last
  for (Value result : results)
    add(result, outs, outVids);
  aicf::rt::CallOp::create(
      builder, call->getLoc(), StringRef(nameOf(call.getOpKind())),
      call.getKidOrEmpty(), call.getSchema(), attrs, ins, outs, inVids, outVids,
      workspace, call.getStream(), call.getWaits(), call.getSignals(),
      call->hasAttr(kProtectiveAttr));
}

LogicalResult Emitter::emitEntry(func::FuncOp func) {
  FailureOr<CallList> list = CallList::create(func);
  if (failed(list) || failed(checkMaterialized(func)))
    return failure();
  if (getInt(func, kTempBytesAttr) < 0)
    return func.emitError() << "entry @" << func.getName()
                            << " has no memory plan: run "
                               "--aicf-rt-plan-memory first";
  for (PrimitiveOpInterface call : list->calls)
    if (call.getKidOrEmpty().empty() ||
        call.getSlots().size() != call->getNumResults())
      return call->emitOpError()
             << "has no " << (call.getKidOrEmpty().empty() ? "kid" : "slots")
             << ": run the phases before --aicf-rt-emit-plan";
  OpBuilder::InsertionGuard guard(builder);
  auto entry = aicf::rt::EntryOp::create(
      builder, func.getLoc(), func.getName(), getInt(func, kIoBytesAttr),
      getInt(func, kTempBytesAttr), getInt(func, kTempBoundAttr),
      getInt(func, step::kValuesAttr), getInt(func, step::kNodesAttr));
  builder.createBlock(&entry.getBody());
  StorageAnalysis analysis(func, *list);
  if (failed(analysis.verify()))
    return failure();
  SmallVector<int64_t> tids = emitTensors(func, analysis);
  llvm::DenseMap<int64_t, int64_t> workspaces = emitWorkspaces(func);
  for (PrimitiveOpInterface call : list->calls) {
    int64_t workspace = -1;
    if (call.getWorkspace() > 0) {
      auto it = workspaces.find(call.getStream());
      if (it == workspaces.end())
        return call->emitOpError()
               << "wants a workspace of " << call.getWorkspace()
               << " bytes, but stream " << call.getStream()
               << " has none: run --aicf-rt-plan-memory";
      workspace = it->second;
    }
    emitCall(call, analysis, tids, workspace);
  }
  return success();
}

LogicalResult Emitter::run() {
  func::FuncOp first = entries.front();
  auto target = first->getAttrOfType<StringAttr>(kTargetAttr);
  if (!target)
    return first.emitError()
           << "entry @" << first.getName() << " has no '" << kTargetAttr
           << "': run --aicf-rt-select-kernels first";
  auto plan = aicf::rt::PlanOp::create(
      builder, first.getLoc(), target.getValue(),
      std::max<int64_t>(getInt(first, kPersistentBytesAttr), 0));
  builder.createBlock(&plan.getBody());
  for (func::FuncOp func : entries)
    emitPersistent(func);
  for (func::FuncOp func : entries) {
    int64_t firstLocal = nextTid;
    if (failed(emitEntry(func)))
      return failure();
    nextTid = firstLocal; // local tids count on from the persistent ones
  }
  for (func::FuncOp func : entries)
    func.erase();
  return success();
}

namespace {
struct EmitPlan : aicf::impl::EmitPlanBase<EmitPlan> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    if (!entries.empty() && failed(Emitter(getOperation(), entries).run()))
      signalPassFailure();
  }
};
} // namespace
