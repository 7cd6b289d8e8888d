//===- PlanEmitter.cpp - entries to one aicf_rt.plan ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/PlanEmitter.h"
#include "lib/Transforms/RT/EntryForm.h"

#include "aicf/Plan.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

static int64_t getInt(func::FuncOp func, StringRef name) {
  auto value = func->getAttrOfType<IntegerAttr>(name);
  return value ? value.getInt() : -1;
}

/// How often the part runs.
static uint64_t timesOf(func::FuncOp part) {
  return uint64_t(std::max<int64_t>(getInt(part, step::kRepeatAttr), 1));
}

void PlanEmitter::emitGlobals(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  const auto &signature =
      analyses.nest(func).getAnalysis<step::EntrySignature>();
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    if (segmentOf(arg.role) != Segment::Persistent ||
        !globals.insert(arg.name).second)
      continue;
    auto type = cast<RankedTensorType>(func.getArgumentTypes()[i]);
    step::Initializer init = arg.init();
    auto global =
        GlobalOp::create(builder, func.getArgument(i).getLoc(), arg.name,
                         RoleAttr::get(context, arg.role),
                         /*offset=*/-1, labelOf(func.getArgument(i)),
                         ValueType::get(context, type),
                         init.kind == aicf::InitKind::None
                             ? InitKindAttr()
                             : InitKindAttr::get(context, init.kind),
                         APFloat(init.value), FlatSymbolRefAttr(), arg.data);
    global.setScratch(arg.isScratch);
    if (!arg.derivedFrom.empty())
      global.setDerivedFrom(arg.derivedFrom);
  }
}

Value PlanEmitter::emitBuffer(Location loc, Role role, StringRef name,
                              uint64_t bytes) {
  MLIRContext *context = builder.getContext();
  return AllocOp::create(
      builder, loc, BufferType::get(context), RoleAttr::get(context, role),
      name.empty() ? StringAttr() : builder.getStringAttr(name), int64_t(bytes),
      /*offset=*/-1);
}

Value PlanEmitter::emitValue(Value value, const StoragePlan &storages) {
  auto type = cast<RankedTensorType>(value.getType());
  return emitValue(storages.getStorageOf(value), offsets->of(value), type,
                   value);
}

Value PlanEmitter::emitValue(size_t storage, int64_t byteOffset,
                             RankedTensorType type, Value first) {
  Value &emitted = values[{storage, byteOffset, type}];
  if (!emitted)
    emitted = ValueOp::create(
        builder, first.getLoc(), ValueType::get(builder.getContext(), type),
        buffers[storage], byteOffset, labelIn(labelOf(first)));
  return emitted;
}

/// The role and name of a storage; of temps a role alone.
static std::pair<Role, StringRef>
roleOf(const Storage &storage, const step::EntrySignature &signature) {
  if (storage.kind == Storage::Kind::Argument) {
    const auto &arg = signature.arguments[storage.number];
    return {arg.role, arg.name};
  }
  if (storage.kind == Storage::Kind::Output)
    return {Role::Output, signature.results[storage.number].name};
  CallOp maker = makerOf(storage.values.front());
  return {maker && maker.isOnly(OpKind::CopySaved) ? Role::Saved : Role::Temp,
          ""};
}

std::pair<Value, Value> PlanEmitter::emitIO(const Storage &storage, Role role,
                                            StringRef name) {
  std::pair<Value, Value> &io = named[name];
  if (!io.first) {
    Value first = storage.values.front();
    io.first = emitBuffer(first.getLoc(), role, name, bytesOf(storage.type));
    io.second = ValueOp::create(
        builder, first.getLoc(),
        ValueType::get(builder.getContext(), storage.type), io.first,
        /*byteOffset=*/0, labelOf(first));
  }
  return io;
}

void PlanEmitter::emitIO(func::FuncOp func) {
  AnalysisManager of = analyses.nest(func);
  const auto &signature = of.getAnalysis<step::EntrySignature>();
  for (const Storage &storage : of.getAnalysis<StoragePlan>().getStorages())
    if (auto [role, name] = roleOf(storage, signature);
        segmentOf(role) == Segment::IO)
      emitIO(storage, role, name);
}

void PlanEmitter::emitBuffers(const step::EntrySignature &signature,
                              const StoragePlan &storages) {
  MLIRContext *context = builder.getContext();
  buffers.clear();
  values.clear();
  for (const Storage &storage : storages.getStorages()) {
    Value first = storage.values.front();
    Location loc = first.getLoc();
    auto [role, name] = roleOf(storage, signature);
    if (segmentOf(role) == Segment::IO) {
      auto [buffer, whole] = emitIO(storage, role, name);
      values[{buffers.size(), 0, storage.type}] = whole;
      buffers.push_back(buffer);
      continue;
    }
    if (segmentOf(role) == Segment::Persistent) {
      Value &get = gets[name];
      if (!get)
        get = GetOp::create(builder, loc, BufferType::get(context), name);
      buffers.push_back(get);
    } else {
      buffers.push_back(emitBuffer(loc, role, name, bytesOf(storage.type)));
    }
    emitValue(buffers.size() - 1, /*byteOffset=*/0, storage.type, first);
  }
}

std::map<uint64_t, Value> PlanEmitter::emitWorkspaces(const CallList &list) {
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

LaunchAttr PlanEmitter::launchOf(CallOp call) {
  LaunchAttr launch = call.getLaunchAttr();
  auto numbered = [&](ArrayRef<int64_t> events) {
    SmallVector<int64_t> numbers;
    for (int64_t event : events) {
      numbers.push_back(firstEvent + event);
      numEvents = std::max(numEvents, numbers.back() + 1);
    }
    return numbers;
  };
  return LaunchAttr::get(builder.getContext(), launch.getKernel(),
                         launch.getWorkspace(), launch.getStream(),
                         numbered(launch.getWaits()),
                         numbered(launch.getSignals()));
}

void PlanEmitter::emitCall(CallOp call, const StoragePlan &storages,
                           Value workspace) {
  SmallVector<Value> args, dests;
  SmallVector<int64_t> inVids;
  for (Value operand : call.getArgs()) {
    args.push_back(emitValue(operand, storages));
    inVids.push_back(labelIn(labelOf(operand)));
  }
  for (Value result : call.getResults())
    dests.push_back(emitValue(result, storages));
  auto emitted = CallOp::create(builder, call.getLoc(), args, dests, workspace,
                                call.getBody(), launchOf(call));
  emitted.setInVids(inVids);
  SmallVector<int64_t> vids(call.getVids());
  if (vids.empty()) // as many as there are values
    vids.assign(call.countValuesMade(), -1);
  for (int64_t &vid : vids)
    vid = labelIn(vid);
  emitted.setVids(vids);
  emitted.setProtective(call.getProtective());
}

LogicalResult PlanEmitter::checkPart(func::FuncOp func) {
  AnalysisManager of = analyses.nest(func);
  if (!of.getAnalysis<EntryForm>().isLegal)
    return failure();
  const CallList &list = of.getAnalysis<CallList>();
  if (!list.isValid() ||
      failed(checkMaterialized(func, of.getAnalysis<step::EntrySignature>())))
    return failure();
  for (CallOp call : list.getCalls())
    if (call.getKid().empty())
      return call->emitOpError()
             << "has no kernel: run the phases before --aicf-rt-emit-plan";
  return of.getAnalysis<StoragePlan>().verify();
}

void PlanEmitter::emitPart(func::FuncOp func, bool isAlone) {
  AnalysisManager of = analyses.nest(func);
  const CallList &list = of.getAnalysis<CallList>();
  const StoragePlan &storages = of.getAnalysis<StoragePlan>();
  offsets = StorageOffsets::ofFixed(func);
  emitBuffers(of.getAnalysis<step::EntrySignature>(), storages);
  std::map<uint64_t, Value> workspaces = emitWorkspaces(list);
  OpBuilder::InsertionGuard guard(builder);
  if (!isAlone && list.getCalls().empty())
    return; // such as one that returns what others have made
  if (!isAlone) {
    for (CallOp call : list.getCalls()) { // the part has calls alone
      for (Value value : call->getOperands())
        emitValue(value, storages);
      for (Value value : call->getResults())
        emitValue(value, storages);
    }
    auto repeat =
        rt::RepeatOp::create(builder, func.getLoc(), int64_t(timesOf(func)));
    builder.createBlock(&repeat.getBody());
  }
  firstEvent = numEvents;
  for (CallOp call : list.getCalls())
    emitCall(call, storages,
             call.getWorkspace() ? workspaces.at(call.getStream()) : Value());
}

LogicalResult PlanEmitter::emitEntry(ArrayRef<func::FuncOp> parts) {
  func::FuncOp func = parts.back();
  int64_t numValues = 0, numNodes = 0;
  uint64_t numRun = 0;
  for (func::FuncOp part : parts) {
    if (failed(checkPart(part)))
      return failure();
    int64_t values = getInt(part, step::kValuesAttr);
    numValues = values < 0 || numValues < 0 ? -1 : numValues + values;
    numNodes = values < 0 ? -1 : numNodes + getInt(part, step::kNodesAttr);
    numRun +=
        timesOf(part) *
        uint64_t(analyses.nest(part).getAnalysis<CallList>().getCalls().size());
    if (parts.size() > 1 && numRun > kMaxRunCalls)
      return part.emitError()
             << "a run of @" << func.getName() << " makes " << numRun
             << " calls or more, the limit is " << kMaxRunCalls;
  }
  OpBuilder::InsertionGuard guard(builder);
  auto entry =
      EntryOp::create(builder, func.getLoc(), func.getName(),
                      /*io_bytes=*/-1, /*temp_bytes=*/-1,
                      /*temp_lower_bound=*/-1, numValues, numNodes,
                      func->getAttrOfType<IntegerAttr>(step::kAccumulateAttr),
                      func->getAttrOfType<StringAttr>(step::kOutputFormAttr));
  builder.createBlock(&entry.getBody());
  named.clear();
  gets.clear();
  numEvents = 0;
  if (parts.size() > 1) { // no temp may stand in front of inputs and outputs
    emitIO(func);         // in its order: callers give inputs by position
    for (func::FuncOp part : parts)
      emitIO(part);
  }
  firstLabel = 0;
  for (func::FuncOp part : parts) {
    emitPart(part, parts.size() == 1);
    firstLabel += std::max<int64_t>(getInt(part, step::kValuesAttr), 0);
  }
  return success();
}
