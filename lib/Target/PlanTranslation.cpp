//===- PlanTranslation.cpp - aicf_rt.plan to a plan file ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Copies fields. Whatever is wrong with a hand-written plan is found by the
// loader's checks at the end, and reported at the plan.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/Entry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

/// file:line:column of the innermost file location, else nothing; behind the
/// name that a frontend gave it, "fc0 at file:line:column". A long path by its
/// end: every call has one, and the loader bounds what they take.
static std::string locationText(Location loc) {
  std::string text, layer;
  loc->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner))
      layer = (name.getName().getValue().take_front(100) + " at ").str();
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    StringRef path = file.getFilename().getValue();
    StringRef end = path.take_back(200);
    if (end != path) // not from the middle of a UTF-8 character
      end = end.drop_while([](char c) { return (c & 0xc0) == 0x80; });
    text = (Twine(layer) + (end == path ? "" : "...") + end + ":" +
            Twine(file.getLine()) + ":" + Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

/// Emits an error when a number does not fit the plan's field.
template <typename To>
static LogicalResult convert(Operation *op, StringRef field,
                             ArrayRef<int64_t> numbers, std::vector<To> &out) {
  for (int64_t n : numbers) {
    if (n < std::numeric_limits<To>::min() ||
        n > std::numeric_limits<To>::max())
      return op->emitOpError() << field << " holds " << n
                               << ", which does not fit the plan's field";
    out.push_back(static_cast<To>(n));
  }
  return success();
}

namespace {
/// Encodes one plan.
class PlanEncoder {
public:
  FailureOr<Plan> encode(PlanOp op);

private:
  LogicalResult encodeGlobal(GlobalOp op, Plan &plan);
  void encodeAlloc(AllocOp op, PlanBuffer &out);
  LogicalResult encodeValue(ValueOp op, PlanEntry &out);
  LogicalResult encodeWholes(EntryOp op, PlanEntry &out);
  LogicalResult encodeCall(CallOp op, PlanCall &out);
  LogicalResult encodeEntry(EntryOp op, PlanEntry &out);
  std::shared_ptr<const Body> share(BodyAttr body);

  llvm::StringMap<uint32_t> globals;
  SmallVector<Type> globalTypes;
  /// The numbers of the current entry's buffers and values.
  llvm::DenseMap<Value, uint32_t> buffers, values;
  llvm::DenseMap<Attribute, std::shared_ptr<const Body>> bodies;
};
} // namespace

std::shared_ptr<const Body> PlanEncoder::share(BodyAttr body) {
  std::shared_ptr<const Body> &shared = bodies[body];
  if (!shared)
    shared = std::make_shared<Body>(body.getBody());
  return shared;
}

LogicalResult PlanEncoder::encodeGlobal(GlobalOp op, Plan &plan) {
  std::vector<int32_t> vid;
  if (failed(convert(op, "vid", static_cast<int64_t>(op.getVid()), vid)))
    return failure();
  PlanBuffer &buffer = plan.buffers.emplace_back();
  PlanValue &value = plan.values.emplace_back();
  value.buffer = uint32_t(plan.buffers.size() - 1);
  value.desc = toTensorDesc(op.getType());
  value.vid = vid.front();
  buffer.name = op.getSymName().str();
  buffer.bytes = value.desc.spanBytes();
  buffer.role = op.getRole().getValue();
  buffer.offset = op.getOffset();
  buffer.isScratch = op.getScratch();
  if (op.getInitAttr())
    buffer.init = op.getInitAttr().getValue();
  buffer.initValue = op.getInitValue().convertToDouble();
  if (auto source = op.getDerivedFromAttr())
    buffer.derivedFrom = int32_t(globals.lookup(source.getValue()));
  if (auto data = dyn_cast_if_present<DenseElementsAttr>(op.getDataAttr()))
    buffer.data.bytes = bytesOf(data);
  return success();
}

void PlanEncoder::encodeAlloc(AllocOp op, PlanBuffer &out) {
  out.name = op.getName().value_or("").str();
  out.role = op.getRole().getValue();
  out.bytes = op.getBytes();
  out.offset = op.getOffset();
}

LogicalResult PlanEncoder::encodeValue(ValueOp op, PlanEntry &out) {
  if (values.contains(op.getValue()))
    return success(); // of an input or output
  uint32_t buffer = buffers.lookup(op.getBuffer());
  if (buffer < globals.size() && op.getByteOffset() == 0 &&
      op.getValue().getType() == globalTypes[buffer]) {
    values[op.getValue()] = buffer; // all of it
    return success();
  }
  std::vector<int32_t> vid;
  if (failed(convert(op, "vid", static_cast<int64_t>(op.getVid()), vid)))
    return failure();
  values[op.getValue()] = uint32_t(globals.size() + out.values.size());
  out.values.push_back({buffer, uint64_t(op.getByteOffset()),
                        toTensorDesc(op.getValue().getType()), vid.front()});
  return success();
}

/// The value of an input or output that is all of it, which has its number: the
/// first that names it.
LogicalResult PlanEncoder::encodeWholes(EntryOp op, PlanEntry &out) {
  llvm::DenseMap<Value, ValueOp> firstOf;
  for (auto value : op.getBody().front().getOps<ValueOp>())
    firstOf.try_emplace(value.getBuffer(), value);
  for (auto alloc : op.getBody().front().getOps<AllocOp>()) {
    if (segmentOf(alloc.getRole().getValue()) != Segment::IO)
      continue;
    ValueOp whole = firstOf.lookup(alloc.getBuffer());
    if (!whole)
      return alloc.emitOpError() << "is an input or output without a value";
    if (failed(encodeValue(whole, out)))
      return failure();
  }
  return success();
}

LogicalResult PlanEncoder::encodeCall(CallOp op, PlanCall &out) {
  std::vector<uint32_t> stream, waits, signals;
  if (failed(convert(op, "in_vids", op.getInVids(), out.inVids)) ||
      failed(convert(op, "vids", op.getVids(), out.vids)) ||
      failed(convert(op, "stream", static_cast<int64_t>(op.getStream()),
                     stream)) ||
      failed(convert(op, "waits", op.getWaits(), waits)) ||
      failed(convert(op, "signals", op.getSignals(), signals)))
    return failure();
  out.body = share(op.getBody());
  out.kid = op.getKid().str();
  for (Value arg : op.getArgs())
    out.ins.push_back(values.lookup(arg));
  for (Value dest : op.getDests())
    out.outs.push_back(values.lookup(dest));
  if (op.getScratch())
    out.workspace = int32_t(buffers.lookup(op.getScratch()));
  out.workspaceBytes = op.getWorkspace();
  out.stream = stream.front();
  out.waits.assign(waits.begin(), waits.end());
  out.signals.assign(signals.begin(), signals.end());
  out.location = locationText(op.getLoc());
  out.isProtective = op.getProtective();
  return success();
}

LogicalResult PlanEncoder::encodeEntry(EntryOp op, PlanEntry &out) {
  out.name = op.getName().str();
  out.ioBytes = op.getIoBytes();
  out.tempBytes = op.getTempBytes();
  out.tempLowerBound = op.getTempLowerBound();
  out.numStepValues = static_cast<uint32_t>(op.getValues());
  out.numStepNodes = static_cast<uint32_t>(op.getNodes());
  out.accumulate = static_cast<uint32_t>(op.getAccumulate().value_or(0));
  if (std::optional<StringRef> form = op.getOutputForm()) {
    auto parsed = parseEnum<OutputForm>(*form, kNumOutputForms);
    if (!parsed)
      return op.emitError() << "output_form is \"" << *form
                            << "\", expected a form such as \"tuple\"";
    out.outputForm = *parsed;
  }
  buffers.clear();
  values.clear();
  Block &body = op.getBody().front();
  for (auto alloc : body.getOps<AllocOp>()) {
    buffers[alloc.getBuffer()] = globals.size() + out.buffers.size();
    encodeAlloc(alloc, out.buffers.emplace_back());
  }
  for (auto get : body.getOps<GetOp>())
    buffers[get.getBuffer()] = globals.lookup(get.getName());
  if (failed(encodeWholes(op, out)))
    return failure();
  for (auto value : body.getOps<ValueOp>())
    if (failed(encodeValue(value, out)))
      return failure();
  for (auto repeat : body.getOps<aicf::rt::RepeatOp>()) {
    auto calls = repeat.getBody().getOps<CallOp>();
    out.parts.push_back({uint32_t(std::distance(calls.begin(), calls.end())),
                         uint32_t(repeat.getTimes())});
  }
  return failure(op.walk([&](CallOp call) -> WalkResult {
                     return encodeCall(call, out.calls.emplace_back());
                   }).wasInterrupted());
}

FailureOr<Plan> PlanEncoder::encode(PlanOp op) {
  Plan plan;
  plan.device = op.getDevice();
  plan.persistentBytes = op.getPersistentBytes();
  Block &body = op.getBody().front();
  for (auto global : body.getOps<GlobalOp>()) {
    globals.try_emplace(global.getSymName(), globals.size());
    globalTypes.push_back(global.getType());
  }
  for (auto global : body.getOps<GlobalOp>())
    if (failed(encodeGlobal(global, plan)))
      return failure();
  for (auto entry : body.getOps<EntryOp>())
    if (failed(encodeEntry(entry, plan.entries.emplace_back())))
      return failure();
  return plan;
}

FailureOr<Plan> aicf::translateToPlan(ModuleOp module) {
  auto plans = llvm::to_vector(module.getOps<aicf::rt::PlanOp>());
  if (plans.empty() && getEntries(module).empty()) {
    auto funcs = llvm::to_vector(module.getOps<func::FuncOp>());
    Operation *at = funcs.empty() ? module.getOperation() : funcs.front();
    return at->emitError()
           << "nothing to compile: an entry is a public function with "
              "'aicf.role' and 'aicf.name' on its arguments, and none of the "
           << funcs.size() << " functions of the module is one";
  }
  if (plans.size() != 1)
    return module.emitError()
           << "expected one aicf_rt.plan in the module, got " << plans.size()
           << (plans.empty() ? ": run --lower-to-backend first" : "");
  aicf::rt::PlanOp op = plans.front();
  FailureOr<Plan> plan = PlanEncoder().encode(op);
  if (failed(plan))
    return failure();
  Status status = verifyPlan(*plan);
  if (!status.ok())
    return op.emitError() << status.message();
  return plan;
}
