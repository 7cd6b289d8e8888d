//===- DumpLowered.cpp - the calls of each entry as text ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Every stage is read into the same list of lines.
//===----------------------------------------------------------------------===//

#include "kernels/Rules.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/Storage.h"

#include "llvm/Support/Format.h"

namespace aicf {
#define GEN_PASS_DEF_DUMPLOWERED
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
/// One call, from a primitive or from the plan.
struct DumpedCall {
  OpKind kind;
  SmallVector<int64_t> ins, outs; ///< labels
  SmallVector<uint8_t> attrs;
  SmallVector<TensorDesc> operands; ///< in the record's order
};

struct DumpedEntry {
  std::string name;
  int64_t values = 0, nodes = 0;
  std::vector<DumpedCall> calls;
};
} // namespace

static int64_t getCount(func::FuncOp func, StringRef name) {
  auto count = func->getAttrOfType<IntegerAttr>(name);
  return count ? count.getInt() : 0;
}

static DumpedEntry readFunction(func::FuncOp func) {
  DumpedEntry entry{func.getName().str(),
                    getCount(func, step::kValuesAttr),
                    getCount(func, step::kNodesAttr),
                    {}};
  for (auto op : func.getOps<PrimitiveOpInterface>()) {
    if (op->hasAttr(kProtectiveAttr))
      continue;
    DumpedCall call;
    call.kind = op.getOpKind();
    for (Value operand : op->getOperands())
      call.ins.push_back(labelOf(operand));
    for (Value result : op->getResults())
      call.outs.push_back(labelOf(result));
    call.attrs = op.getAttrBlob();
    call.operands = op.getOperandDescs();
    entry.calls.push_back(std::move(call));
  }
  return entry;
}

static DumpedEntry readPlanEntry(aicf::rt::PlanOp plan, aicf::rt::EntryOp op) {
  DumpedEntry entry{op.getSymName().str(),
                    int64_t(op.getValues()),
                    int64_t(op.getNodes()),
                    {}};
  llvm::DenseMap<int64_t, Type> types;
  for (Region *region : {&plan.getBody(), &op.getBody()})
    for (auto tensor : region->front().getOps<aicf::rt::TensorOp>())
      types[tensor.getTid()] = tensor.getType();
  for (auto planCall : op.getBody().front().getOps<aicf::rt::CallOp>()) {
    if (planCall.getProtective())
      continue;
    DumpedCall call;
    call.kind = *parseEnum<OpKind>( // the verifier checked it
        std::string_view(planCall.getKind()), kNumOpKinds);
    for (auto [tids, vids, labels] :
         {std::tuple(planCall.getIns(), planCall.getInVids(), &call.ins),
          std::tuple(planCall.getOuts(), planCall.getOutVids(), &call.outs)})
      for (auto [tid, vid] : llvm::zip(tids, vids))
        if (tid >= 0)
          labels->push_back(vid);
    call.attrs.assign(planCall.getAttrs().begin(), planCall.getAttrs().end());
    for (int64_t tid : planCall.getIns())
      call.operands.push_back(tid < 0 ? TensorDesc::absent()
                                      : toTensorDesc(types.lookup(tid)));
    entry.calls.push_back(std::move(call));
  }
  return entry;
}

static void printLabels(ArrayRef<int64_t> labels, raw_ostream &os) {
  llvm::interleaveComma(labels, os, [&](int64_t label) {
    if (label < 0)
      os << "v?";
    else
      os << llvm::format("v%03lld", static_cast<long long>(label));
  });
}

/// {name = value, ...} of the fields that are not at their default.
static void printAttrs(const DumpedCall &call, raw_ostream &os) {
  const OpInfo &info = infoOf(call.kind);
  StringRef separator = " {";
  for (size_t i = 0; i < info.numFields; ++i) {
    const FieldInfo &field = info.fields[i];
    FieldValue value =
        decodeField(field, {call.attrs.data(), call.attrs.size()});
    if (value == fieldDefault(call.kind, i,
                              {call.operands.data(), call.operands.size()}))
      continue;
    os << separator << field.name << " = ";
    if (field.format == 'i')
      os << (value != FieldValue(int64_t(0)) ? "true" : "false");
    else
      os << formatField(value);
    separator = ", ";
  }
  if (separator == ", ")
    os << "}";
}

static void printEntry(const DumpedEntry &entry, raw_ostream &os) {
  os << "values: " << entry.values << ", nodes: " << entry.nodes
     << ", ops: " << entry.calls.size() << "\n";
  for (const DumpedCall &call : entry.calls) {
    os << nameOf(call.kind) << "(";
    printLabels(call.ins, os);
    os << ") -> ";
    printLabels(call.outs, os);
    printAttrs(call, os);
    os << "\n";
  }
}

/// The entries of `module` at whatever stage they are.
static FailureOr<std::vector<DumpedEntry>> readModule(ModuleOp module) {
  std::vector<DumpedEntry> entries;
  bool needsLowering = false;
  for (func::FuncOp func : getEntries(module)) {
    if (failed(step::checkOneBlock(func)))
      return failure();
    for (Operation &op : func.front().without_terminator())
      needsLowering |= isa<AICFDialect>(op.getDialect());
    needsLowering |= !func->hasAttr(step::kValuesAttr);
  }
  OwningOpRef<ModuleOp> lowered;
  if (needsLowering) {
    lowered = module.clone();
    for (func::FuncOp func : getEntries(*lowered))
      if (!func->hasAttr(step::kValuesAttr))
        numberValues(func);
    if (failed(lowerEntriesToRT(*lowered)))
      return failure();
  }
  for (func::FuncOp func : getEntries(lowered ? *lowered : module)) {
    if (failed(checkEntryForm(func)))
      return failure();
    entries.push_back(readFunction(func));
  }
  for (auto plan : module.getOps<aicf::rt::PlanOp>())
    for (auto entry : plan.getBody().front().getOps<aicf::rt::EntryOp>())
      entries.push_back(readPlanEntry(plan, entry));
  return entries;
}

namespace {
struct DumpLowered : aicf::impl::DumpLoweredBase<DumpLowered> {
  void runOnOperation() override {
    FailureOr<std::vector<DumpedEntry>> entries = readModule(getOperation());
    if (failed(entries))
      return signalPassFailure();
    std::string text;
    llvm::raw_string_ostream os(text);
    for (const DumpedEntry &entry : *entries) {
      if (entries->size() > 1) // one block a function needs its name
        os << (&entry == &entries->front() ? "" : "\n") << "// @" << entry.name
           << "\n";
      printEntry(entry, os);
    }
    llvm::outs() << text;
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
