//===- EmitPlan.cpp - entries to one aicf_rt.plan -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Copies what the passes before decided; where
// buffers lie, --aicf-rt-plan-memory decides.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/Storage.h"

#include "llvm/ADT/StringSet.h"

#include <map>
#include <optional>

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
  Emitter(ModuleOp module, ArrayRef<func::FuncOp> entries,
          AnalysisManager analyses)
      : builder(module.getBodyRegion()), entries(entries), analyses(analyses) {
    builder.setInsertionPointToEnd(module.getBody());
  }
  LogicalResult run();

private:
  LogicalResult emitEntry(func::FuncOp func);
  void emitGlobals(func::FuncOp func);
  /// A buffer for each storage, and the value that is all of it.
  void emitBuffers(const step::EntrySignature &signature,
                   const StoragePlan &storages);
  /// What a value or view is in its storage; made where nothing is there.
  Value emitValue(Value value, const StoragePlan &storages);
  /// `first`: the first that lives there.
  Value emitValue(size_t storage, int64_t byteOffset, RankedTensorType type,
                  Value first);
  /// One for each stream that needs any: its calls share it, which is as large
  /// as the largest of them wants.
  std::map<uint64_t, Value> emitWorkspaces(const CallList &list);
  Value emitBuffer(Location loc, Role role, StringRef name, uint64_t bytes);
  void emitCall(CallOp call, const StoragePlan &storages, Value workspace);

  OpBuilder builder;
  ArrayRef<func::FuncOp> entries;
  AnalysisManager analyses;
  llvm::StringSet<> globals;
  /// The buffer of each storage of one entry, and the values in them by byte
  /// offset and type.
  SmallVector<Value> buffers;
  llvm::DenseMap<std::tuple<size_t, int64_t, Type>, Value> values;
  std::optional<StorageOffsets> offsets; ///< of that entry
};
} // namespace

static int64_t getInt(func::FuncOp func, StringRef name) {
  auto value = func->getAttrOfType<IntegerAttr>(name);
  return value ? value.getInt() : -1;
}

void Emitter::emitGlobals(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  const auto &signature =
      analyses.nest(func).getAnalysis<step::EntrySignature>();
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    if (segmentOf(arg.role) != Segment::Persistent ||
        !globals.insert(arg.name).second)
      continue;
    auto type = cast<RankedTensorType>(func.getArgumentTypes()[i]);
    step::Initializer init = arg.init();
    auto global = GlobalOp::create(builder, func.getArgument(i).getLoc(),
                                   arg.name, RoleAttr::get(context, arg.role),
                                   /*offset=*/-1, labelOf(func.getArgument(i)),
                                   ValueType::get(context, type),
                                   init.kind == aicf::InitKind::None
                                       ? InitKindAttr()
                                       : InitKindAttr::get(context, init.kind),
                                   APFloat(init.value), FlatSymbolRefAttr(),
                                   arg.data);
    if (!arg.derivedFrom.empty())
      global.setDerivedFrom(arg.derivedFrom);
  }
}

Value Emitter::emitBuffer(Location loc, Role role, StringRef name,
                          uint64_t bytes) {
  MLIRContext *context = builder.getContext();
  return AllocOp::create(
      builder, loc, BufferType::get(context), RoleAttr::get(context, role),
      name.empty() ? StringAttr() : builder.getStringAttr(name), int64_t(bytes),
      /*offset=*/-1);
}

Value Emitter::emitValue(Value value, const StoragePlan &storages) {
  auto type = cast<RankedTensorType>(value.getType());
  return emitValue(storages.getStorageOf(value), offsets->of(value), type,
                   value);
}

Value Emitter::emitValue(size_t storage, int64_t byteOffset,
                         RankedTensorType type, Value first) {
  Value &emitted = values[{storage, byteOffset, type}];
  if (!emitted)
    emitted = ValueOp::create(builder, first.getLoc(),
                              ValueType::get(builder.getContext(), type),
                              buffers[storage], byteOffset, labelOf(first));
  return emitted;
}

void Emitter::emitBuffers(const step::EntrySignature &signature,
                          const StoragePlan &storages) {
  MLIRContext *context = builder.getContext();
  buffers.clear();
  values.clear();
  for (const Storage &storage : storages.getStorages()) {
    Value first = storage.values.front();
    StringRef name;
    Role role = Role::Temp;
    if (storage.kind == Storage::Kind::Argument) {
      const auto &arg = signature.arguments[storage.number];
      role = arg.role;
      name = arg.name;
    } else if (storage.kind == Storage::Kind::Output) {
      role = Role::Output;
      name = signature.results[storage.number].name;
    } else if (CallOp maker = makerOf(first);
               maker && maker.isOnly(OpKind::CopySaved)) {
      role = Role::Saved;
    }
    Location loc = first.getLoc();
    Value buffer =
        segmentOf(role) == Segment::Persistent
            ? GetOp::create(builder, loc, BufferType::get(context), name)
                  .getBuffer()
            : emitBuffer(loc, role, name, bytesOf(storage.type));
    buffers.push_back(buffer);
    emitValue(buffers.size() - 1, /*byteOffset=*/0, storage.type, first);
  }
}

std::map<uint64_t, Value> Emitter::emitWorkspaces(const CallList &list) {
  std::map<uint64_t, uint64_t> bytes;
  for (CallOp call : list.getCalls())
    if (uint64_t wanted = call.getWorkspace())
      bytes[call.getStream()] = std::max(bytes[call.getStream()], wanted);
  std::map<uint64_t, Value> workspaces;
  for (auto [stream, size] : bytes)
    workspaces[stream] =
        emitBuffer(builder.getUnknownLoc(), Role::Workspace, "", size);
  return workspaces;
}

void Emitter::emitCall(CallOp call, const StoragePlan &storages,
                       Value workspace) {
  SmallVector<Value> args, dests;
  SmallVector<int64_t> inVids;
  for (Value operand : call.getArgs()) {
    args.push_back(emitValue(operand, storages));
    inVids.push_back(labelOf(operand));
  }
  for (Value result : call.getResults())
    dests.push_back(emitValue(result, storages));
  auto emitted = CallOp::create(builder, call.getLoc(), args, dests, workspace,
                                call.getBody(), call.getLaunchAttr());
  emitted.setInVids(inVids);
  emitted.setVids(call.getVids());
  if (call.getVids().empty()) // as many as there are values
    emitted.setVids(SmallVector<int64_t>(call.countValuesMade(), -1));
  emitted.setProtective(call.getProtective());
}

LogicalResult Emitter::emitEntry(func::FuncOp func) {
  AnalysisManager of = analyses.nest(func);
  if (!of.getAnalysis<EntryForm>().isLegal)
    return failure();
  const CallList &list = of.getAnalysis<CallList>();
  const auto &signature = of.getAnalysis<step::EntrySignature>();
  if (!list.isValid() || failed(checkMaterialized(func, signature)))
    return failure();
  for (CallOp call : list.getCalls())
    if (call.getKid().empty())
      return call->emitOpError()
             << "has no kernel: run the phases before --aicf-rt-emit-plan";
  OpBuilder::InsertionGuard guard(builder);
  auto entry =
      EntryOp::create(builder, func.getLoc(), func.getName(),
                      /*io_bytes=*/-1, /*temp_bytes=*/-1,
                      /*temp_lower_bound=*/-1, getInt(func, step::kValuesAttr),
                      getInt(func, step::kNodesAttr),
                      func->getAttrOfType<IntegerAttr>(step::kAccumulateAttr),
                      func->getAttrOfType<StringAttr>(step::kOutputFormAttr));
  builder.createBlock(&entry.getBody());
  const StoragePlan &storages = of.getAnalysis<StoragePlan>();
  if (failed(storages.verify()))
    return failure();
  offsets = StorageOffsets::ofFixed(func);
  emitBuffers(signature, storages);
  std::map<uint64_t, Value> workspaces = emitWorkspaces(list);
  for (CallOp call : list.getCalls())
    emitCall(call, storages,
             call.getWorkspace() ? workspaces.at(call.getStream()) : Value());
  return success();
}

LogicalResult Emitter::run() {
  func::FuncOp first = entries.front();
  auto target = first->getAttrOfType<StringAttr>(kTargetAttr);
  auto device =
      target ? parseEnum<aicf::DeviceKind>(std::string_view(target.getValue()),
                                           kNumDeviceKinds)
             : std::nullopt;
  if (!device)
    return first.emitError()
           << "entry @" << first.getName() << " has no '" << kTargetAttr
           << "': run --aicf-rt-select-kernels first";
  auto plan =
      PlanOp::create(builder, first.getLoc(),
                     DeviceKindAttr::get(builder.getContext(), *device));
  builder.createBlock(&plan.getBody());
  for (func::FuncOp func : entries)
    emitGlobals(func);
  for (func::FuncOp func : entries)
    if (failed(emitEntry(func)))
      return failure();
  for (func::FuncOp func : entries)
    func.erase();
  return success();
}

namespace {
struct EmitPlan : aicf::impl::EmitPlanBase<EmitPlan> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    if (!entries.empty() &&
        failed(Emitter(getOperation(), entries, getAnalysisManager()).run()))
      signalPassFailure();
  }
};
} // namespace
