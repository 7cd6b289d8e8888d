//===- DumpLowered.cpp - the calls of each entry as text ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Takes the plan if there is one, else lowers a copy of the module to calls.
// Then walks each entry's calls primitive by primitive, with the labels of
// values that
// --aicf-number-values gave, and leaves protective copies out.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Rules.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"

#include "mlir/IR/Verifier.h"
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
/// One call, at either level.
struct DumpedCall {
  const Body *body;
  SmallVector<int64_t> labels;   ///< of all values, by the body's numbers
  std::vector<TensorDesc> types; ///< of the same
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

/// Labels by value number: of operands, where they have any, then of what the
/// body makes.
static DumpedCall readCall(CallOp call, ArrayRef<int64_t> operandLabels) {
  DumpedCall dumped{&call.getCode(), SmallVector<int64_t>(operandLabels), {}};
  dumped.labels.resize(dumped.body->numValues(), -1);
  ArrayRef<int64_t> vids = call.getVids();
  if (!vids.empty())
    for (auto [value, vid] : llvm::zip_equal(valuesMade(*dumped.body), vids))
      dumped.labels[value] = vid;
  SmallVector<TensorDesc> ins = call.getOperandDescs();
  SmallVector<TensorDesc> outs = call.getResultDescs();
  dumped.types = *describeValues(*dumped.body, {ins.data(), ins.size()},
                                 {outs.data(), outs.size()}); // verified
  return dumped;
}

static DumpedEntry readFunction(func::FuncOp func) {
  DumpedEntry entry{func.getName().str(),
                    getCount(func, step::kValuesAttr),
                    getCount(func, step::kNodesAttr),
                    {}};
  for (auto call : func.getOps<CallOp>())
    if (!call.getProtective())
      entry.calls.push_back(
          readCall(call, labelsOfEach(SmallVector<Value>(call.getArgs()))));
  return entry;
}

static DumpedEntry readPlanEntry(aicf::rt::EntryOp op) {
  DumpedEntry entry{
      op.getName().str(), int64_t(op.getValues()), int64_t(op.getNodes()), {}};
  op.walk([&](CallOp call) { // those of a part once
    if (!call.getProtective())
      entry.calls.push_back(readCall(call, call.getInVids()));
  });
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
static void printAttrs(const Primitive &primitive,
                       ArrayRef<TensorDesc> operands, raw_ostream &os) {
  const OpInfo &info = infoOf(primitive.kind);
  StringRef separator = " {";
  for (size_t i = 0; i < info.numFields; ++i) {
    const FieldInfo &field = info.fields[i];
    FieldValue value =
        decodeField(field, {primitive.attrs.data(), primitive.attrs.size()});
    if (value ==
        fieldDefault(primitive.kind, i, {operands.data(), operands.size()}))
      continue;
    os << separator << field.name << " = ";
    if (field.format == 'i')
      os << "true"; // the default is false
    else
      os << formatField(value);
    separator = ", ";
  }
  if (separator == ", ")
    os << "}";
}

/// A line for each primitive: fused or not, the same list.
static void printCall(const DumpedCall &call, raw_ostream &os) {
  std::vector<uint32_t> made = valuesMade(*call.body);
  uint32_t next = call.body->numOperands;
  for (const Primitive &primitive : call.body->primitives) {
    SmallVector<int64_t> ins, outs;
    SmallVector<TensorDesc> operands;
    for (int32_t value : primitive.operands) {
      operands.push_back(TensorDesc::absent());
      if (value == kAbsentValue)
        continue;
      operands.back() = call.types[size_t(value)];
      ins.push_back(call.labels[size_t(value)]);
    }
    for (uint32_t r = 0; r < primitive.numResults(); ++r, ++next)
      if (llvm::is_contained(made, next))
        outs.push_back(call.labels[next]);
    os << nameOf(primitive.kind) << "(";
    printLabels(ins, os);
    os << ") -> ";
    printLabels(outs, os);
    printAttrs(primitive, operands, os);
    os << "\n";
  }
}

static void printEntry(const DumpedEntry &entry, raw_ostream &os) {
  size_t ops = 0;
  for (const DumpedCall &call : entry.calls)
    ops += call.body->primitives.size();
  os << "values: " << entry.values << ", nodes: " << entry.nodes
     << ", ops: " << ops << "\n";
  for (const DumpedCall &call : entry.calls)
    printCall(call, os);
}

/// The entries of `module` at whatever stage they are.
static FailureOr<std::vector<DumpedEntry>> readModule(ModuleOp module) {
  std::vector<DumpedEntry> entries;
  bool needsLowering = false;
  for (func::FuncOp func : getEntries(module)) {
    if (failed(step::checkOneBlock(func)))
      return failure();
    for (Operation &op : func.front().without_terminator())
      needsLowering |= isa_and_nonnull<AICFDialect>(op.getDialect());
    needsLowering |= !func->hasAttr(step::kValuesAttr);
  }
  OwningOpRef<ModuleOp> lowered;
  if (needsLowering) {
    lowered = module.clone();
    for (func::FuncOp func : getEntries(*lowered))
      if (!func->hasAttr(step::kValuesAttr))
        numberValues(func);
    // No pass manager verifies this copy, and the rules may refuse its calls.
    if (failed(lowerEntriesToRT(*lowered)) || failed(verify(*lowered)))
      return failure();
  }
  for (func::FuncOp func : getEntries(lowered ? *lowered : module)) {
    if (failed(checkEntryForm(func)))
      return failure();
    entries.push_back(readFunction(func));
  }
  for (auto plan : module.getOps<aicf::rt::PlanOp>())
    for (auto entry : plan.getBody().front().getOps<aicf::rt::EntryOp>())
      entries.push_back(readPlanEntry(entry));
  return entries;
}

FailureOr<std::string> aicf::dumpCalls(ModuleOp module) {
  FailureOr<std::vector<DumpedEntry>> entries = readModule(module);
  if (failed(entries))
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const DumpedEntry &entry : *entries) {
    if (entries->size() > 1) // one block a function needs its name
      os << (&entry == &entries->front() ? "" : "\n") << "// @" << entry.name
         << "\n";
    printEntry(entry, os);
  }
  return text;
}

namespace {
struct DumpLowered : aicf::impl::DumpLoweredBase<DumpLowered> {
  void runOnOperation() override {
    FailureOr<std::string> text = dumpCalls(getOperation());
    if (failed(text))
      return signalPassFailure();
    llvm::outs() << *text;
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
