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
  void importGlobal(const PlanTensor &tensor);
  void importEntry(const PlanEntry &entry);
  void importCall(const PlanCall &call);
  BufferType bufferOf(const PlanTensor &tensor);
  Location locationOf(const PlanCall &call);
  /// The buffer of a tid; a persistent one is looked up when it is first used.
  Value buffer(uint32_t tid);

  const Plan &plan;
  OpBuilder builder;
  MLIRContext *context;
  Block *entryBlock = nullptr;
  llvm::DenseMap<uint32_t, Value> buffers;
};
} // namespace

static Type elementOf(DType dtype, Builder &builder) {
  switch (dtype) {
  case DType::F32:
    return builder.getF32Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F64:
    return builder.getF64Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::I64:
    break;
  }
  return builder.getI64Type();
}

BufferType PlanImporter::bufferOf(const PlanTensor &tensor) {
  Span<const int64_t> shape = tensor.desc.shape();
  auto dense = RankedTensorType::get(ArrayRef(shape.data(), shape.size()),
                                     elementOf(tensor.desc.dtype, builder));
  return BufferType::get(context, withLayout(dense, tensor.desc.layout));
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

void PlanImporter::importGlobal(const PlanTensor &tensor) {
  auto global =
      GlobalOp::create(builder, builder.getUnknownLoc(), tensor.name,
                       RoleAttr::get(context, tensor.role),
                       int64_t(tensor.offset), tensor.vid, bufferOf(tensor),
                       tensor.init == aicf::InitKind::None
                           ? InitKindAttr()
                           : InitKindAttr::get(context, tensor.init),
                       APFloat(tensor.initValue), FlatSymbolRefAttr());
  if (tensor.derivedFrom >= 0)
    global.setDerivedFrom(plan.persistent[size_t(tensor.derivedFrom)].name);
}

Value PlanImporter::buffer(uint32_t tid) {
  Value &found = buffers[tid];
  if (!found) {
    OpBuilder atStart = OpBuilder::atBlockBegin(entryBlock);
    const PlanTensor &tensor = plan.persistent[tid];
    found = GetOp::create(atStart, builder.getUnknownLoc(), bufferOf(tensor),
                          tensor.name);
  }
  return found;
}

void PlanImporter::importCall(const PlanCall &call) {
  SmallVector<Value> args, dests;
  for (uint32_t tid : call.ins)
    args.push_back(buffer(tid));
  for (uint32_t tid : call.outs)
    dests.push_back(buffer(tid));
  auto launch = LaunchAttr::get(context, builder.getStringAttr(call.kid),
                                int64_t(call.workspaceBytes), call.stream,
                                call.waits, call.signals);
  auto op = CallOp::create(
      builder, locationOf(call), args, dests,
      call.workspace >= 0 ? buffer(uint32_t(call.workspace)) : Value(),
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
      int64_t(entry.tempBytes), int64_t(entry.tempLowerBound), entry.values,
      entry.nodes,
      entry.accumulate ? builder.getI64IntegerAttr(entry.accumulate)
                       : IntegerAttr(),
      entry.outputForm == OutputForm::Unknown
          ? StringAttr()
          : builder.getStringAttr(nameOf(entry.outputForm)));
  entryBlock = builder.createBlock(&op.getBody());
  buffers.clear();
  for (auto [i, tensor] : llvm::enumerate(entry.tensors))
    buffers[uint32_t(plan.persistent.size() + i)] = AllocOp::create(
        builder, builder.getUnknownLoc(), bufferOf(tensor),
        RoleAttr::get(context, tensor.role),
        tensor.name.empty() ? StringAttr() : builder.getStringAttr(tensor.name),
        int64_t(tensor.offset), tensor.vid);
  for (const PlanCall &call : entry.calls)
    importCall(call);
}

OwningOpRef<ModuleOp> PlanImporter::run() {
  context->loadDialect<AICFRTDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto op = PlanOp::create(builder, builder.getUnknownLoc(),
                           DeviceKindAttr::get(context, plan.device),
                           int64_t(plan.persistentBytes));
  builder.createBlock(&op.getBody());
  for (const PlanTensor &tensor : plan.persistent)
    importGlobal(tensor);
  for (const PlanEntry &entry : plan.entries)
    importEntry(entry);
  return module;
}

OwningOpRef<ModuleOp> aicf::translateFromPlan(const Plan &plan,
                                              MLIRContext *context) {
  return PlanImporter(plan, context).run();
}
