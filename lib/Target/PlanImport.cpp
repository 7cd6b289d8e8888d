//===- PlanImport.cpp - a plan to aicf_rt.plan ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The way back of PlanTranslation.cpp: nothing is lost but the plan's version,
// and what a location was beyond file, line and column.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
class PlanImporter {
public:
  PlanImporter(const Plan &plan, MLIRContext *context)
      : plan(plan), builder(context), context(context) {}

  OwningOpRef<ModuleOp> run();

private:
  void importGlobal(const PlanBuffer &buffer, const PlanValue &whole);
  void importEntry(const PlanEntry &entry);
  void importCall(const PlanEntry &entry, const PlanCall &call);
  ValueType typeOf(const PlanValue &value);
  Location locationOf(const PlanCall &call);
  /// A buffer or value by its number; a persistent one is looked up when it is
  /// first used.
  Value getBuffer(uint32_t number);
  Value getValue(const PlanEntry &entry, uint32_t number);

  const Plan &plan;
  OpBuilder builder;
  MLIRContext *context;
  llvm::DenseMap<uint32_t, Value> buffers, values; ///< of one entry
};
} // namespace

ValueType PlanImporter::typeOf(const PlanValue &value) {
  return ValueType::get(context, toTensorType(context, value.desc));
}

/// "file:line:column", as the encoder writes it.
Location PlanImporter::locationOf(const PlanCall &call) {
  auto [rest, column] = StringRef(call.location).rsplit(':');
  auto [file, line] = rest.rsplit(':');
  unsigned lineNumber = 0, columnNumber = 0;
  if (file.empty() || line.getAsInteger(10, lineNumber) ||
      column.getAsInteger(10, columnNumber))
    return builder.getUnknownLoc();
  return FileLineColLoc::get(context, file, lineNumber, columnNumber);
}

void PlanImporter::importGlobal(const PlanBuffer &buffer,
                                const PlanValue &whole) {
  auto global =
      GlobalOp::create(builder, builder.getUnknownLoc(), buffer.name,
                       RoleAttr::get(context, buffer.role),
                       int64_t(buffer.offset), whole.vid, typeOf(whole),
                       buffer.init == aicf::InitKind::None
                           ? InitKindAttr()
                           : InitKindAttr::get(context, buffer.init),
                       APFloat(buffer.initValue), FlatSymbolRefAttr(),
                       buffer.data.bytes.empty()
                           ? DenseElementsAttr()
                           : elementsOf(toDenseType(context, whole.desc),
                                        buffer.data.bytes));
  global.setScratch(buffer.isScratch);
  if (buffer.derivedFrom >= 0)
    global.setDerivedFrom(plan.buffers[size_t(buffer.derivedFrom)].name);
}

Value PlanImporter::getBuffer(uint32_t number) {
  Value &found = buffers[number];
  if (!found)
    found = GetOp::create(builder, builder.getUnknownLoc(),
                          BufferType::get(context), plan.buffers[number].name);
  return found;
}

Value PlanImporter::getValue(const PlanEntry &entry, uint32_t number) {
  Value &found = values[number];
  if (!found) {
    const PlanValue &value = plan.value(entry, number);
    Value buffer = getBuffer(value.buffer);
    found = ValueOp::create(builder, builder.getUnknownLoc(), typeOf(value),
                            buffer, int64_t(value.byteOffset), value.vid);
  }
  return found;
}

void PlanImporter::importCall(const PlanEntry &entry, const PlanCall &call) {
  SmallVector<Value> args, dests;
  for (uint32_t in : call.ins)
    args.push_back(getValue(entry, in));
  for (uint32_t out : call.outs)
    dests.push_back(getValue(entry, out));
  auto launch = LaunchAttr::get(context, builder.getStringAttr(call.kid),
                                int64_t(call.workspaceBytes), call.stream,
                                call.waits, call.signals);
  auto op = CallOp::create(
      builder, locationOf(call), args, dests,
      call.workspace >= 0 ? getBuffer(uint32_t(call.workspace)) : Value(),
      BodyAttr::get(context, *call.body), launch);
  auto widen = [](const std::vector<int32_t> &labels) {
    return SmallVector<int64_t>(labels.begin(), labels.end());
  };
  op.setInVids(widen(call.inVids));
  op.setVids(widen(call.vids));
  op.setProtective(call.isProtective);
}

void PlanImporter::importEntry(const PlanEntry &entry) {
  OpBuilder::InsertionGuard guard(builder);
  auto op = EntryOp::create(
      builder, builder.getUnknownLoc(), entry.name, int64_t(entry.ioBytes),
      int64_t(entry.tempBytes), int64_t(entry.tempLowerBound),
      entry.numStepValues, entry.numStepNodes,
      entry.accumulate ? builder.getI64IntegerAttr(entry.accumulate)
                       : IntegerAttr(),
      entry.outputForm == OutputForm::Unknown
          ? StringAttr()
          : builder.getStringAttr(nameOf(entry.outputForm)));
  builder.createBlock(&op.getBody());
  buffers.clear();
  values.clear();
  for (auto [i, buffer] : llvm::enumerate(entry.buffers))
    buffers[uint32_t(plan.buffers.size() + i)] = AllocOp::create(
        builder, builder.getUnknownLoc(), BufferType::get(context),
        RoleAttr::get(context, buffer.role),
        buffer.name.empty() ? StringAttr() : builder.getStringAttr(buffer.name),
        int64_t(buffer.bytes), int64_t(buffer.offset));
  for (size_t i = 0; i < entry.values.size(); ++i)
    getValue(entry, uint32_t(plan.values.size() + i));
  for (const PlanCall &call : entry.calls) {
    if (entry.parts.empty())
      break;
    for (const std::vector<uint32_t> *list : {&call.ins, &call.outs})
      for (uint32_t value : *list)
        getValue(entry, value); // in front: a part has calls alone
  }
  size_t next = 0;
  for (const PlanPart &part : entry.parts) {
    OpBuilder::InsertionGuard inside(builder);
    auto repeat =
        RepeatOp::create(builder, builder.getUnknownLoc(), part.times);
    builder.createBlock(&repeat.getBody());
    for (uint32_t i = 0; i < part.numCalls; ++i)
      importCall(entry, entry.calls[next++]);
  }
  while (next < entry.calls.size())
    importCall(entry, entry.calls[next++]);
}

OwningOpRef<ModuleOp> PlanImporter::run() {
  context->loadDialect<AICFRTDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto op = PlanOp::create(builder, builder.getUnknownLoc(),
                           DeviceKindAttr::get(context, plan.device),
                           int64_t(plan.persistentBytes));
  builder.createBlock(&op.getBody());
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    importGlobal(plan.buffers[i], plan.values[i]);
  for (const PlanEntry &entry : plan.entries)
    importEntry(entry);
  return module;
}

OwningOpRef<ModuleOp> aicf::translateFromPlan(const Plan &plan,
                                              MLIRContext *context) {
  return PlanImporter(plan, context).run();
}
