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
  LogicalResult encodeGlobal(GlobalOp op, PlanTensor &out);
  LogicalResult encodeAlloc(AllocOp op, PlanTensor &out);
  LogicalResult encodeCall(CallOp op, PlanCall &out);
  LogicalResult encodeEntry(EntryOp op, PlanEntry &out);
  std::shared_ptr<const Body> share(BodyAttr body);

  llvm::StringMap<uint32_t> globalTids;
  llvm::DenseMap<Value, uint32_t> tids; ///< of one entry's buffers
  llvm::DenseMap<Attribute, std::shared_ptr<const Body>> bodies;
};
} // namespace

std::shared_ptr<const Body> PlanEncoder::share(BodyAttr body) {
  std::shared_ptr<const Body> &shared = bodies[body];
  if (!shared)
    shared = std::make_shared<Body>(body.getBody());
  return shared;
}

LogicalResult PlanEncoder::encodeGlobal(GlobalOp op, PlanTensor &out) {
  std::vector<int32_t> vid;
  if (failed(convert(op, "vid", static_cast<int64_t>(op.getVid()), vid)))
    return failure();
  out.name = op.getSymName().str();
  out.desc = toTensorDesc(op.getType());
  out.role = op.getRole().getValue();
  out.offset = op.getOffset();
  out.vid = vid.front();
  if (op.getInitAttr())
    out.init = op.getInitAttr().getValue();
  out.initValue = op.getInitValue().convertToDouble();
  if (auto source = op.getDerivedFromAttr())
    out.derivedFrom = int32_t(globalTids.lookup(source.getValue()));
  return success();
}

LogicalResult PlanEncoder::encodeAlloc(AllocOp op, PlanTensor &out) {
  std::vector<int32_t> vid;
  if (failed(convert(op, "vid", static_cast<int64_t>(op.getVid()), vid)))
    return failure();
  out.name = op.getName().value_or("").str();
  out.desc = toTensorDesc(op.getBuffer().getType());
  out.role = op.getRole().getValue();
  out.offset = op.getOffset();
  out.vid = vid.front();
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
    out.ins.push_back(tids.lookup(arg));
  for (Value dest : op.getDests())
    out.outs.push_back(tids.lookup(dest));
  if (op.getScratch())
    out.workspace = int32_t(tids.lookup(op.getScratch()));
  out.workspaceBytes = op.getWorkspace();
  out.stream = stream.front();
  out.waits.assign(waits.begin(), waits.end());
  out.signals.assign(signals.begin(), signals.end());
  out.location = locationText(op.getLoc());
  out.isProtective = op.getProtective();
  return success();
}

LogicalResult PlanEncoder::encodeEntry(EntryOp op, PlanEntry &out) {
  out.name = op.getSymName().str();
  out.ioBytes = op.getIoBytes();
  out.tempBytes = op.getTempBytes();
  out.tempLowerBound = op.getTempLowerBound();
  out.values = static_cast<uint32_t>(op.getValues());
  out.nodes = static_cast<uint32_t>(op.getNodes());
  out.accumulate = static_cast<uint32_t>(op.getAccumulate().value_or(0));
  if (std::optional<StringRef> form = op.getOutputForm()) {
    auto parsed = parseEnum<OutputForm>(*form, kNumOutputForms);
    if (!parsed)
      return op.emitError() << "\"" << *form << "\" is no form of outputs";
    out.outputForm = *parsed;
  }
  tids.clear();
  for (Operation &inner : op.getBody().front()) {
    if (auto get = dyn_cast<GetOp>(inner)) {
      tids[get.getBuffer()] = globalTids.lookup(get.getName());
    } else if (auto alloc = dyn_cast<AllocOp>(inner)) {
      tids[alloc.getBuffer()] = globalTids.size() + out.tensors.size();
      if (failed(encodeAlloc(alloc, out.tensors.emplace_back())))
        return failure();
    } else if (failed(
                   encodeCall(cast<CallOp>(inner), out.calls.emplace_back()))) {
      return failure();
    }
  }
  return success();
}

FailureOr<Plan> PlanEncoder::encode(PlanOp op) {
  Plan plan;
  plan.device = op.getDevice();
  plan.persistentBytes = op.getPersistentBytes();
  Block &body = op.getBody().front();
  for (auto global : body.getOps<GlobalOp>())
    globalTids.try_emplace(global.getSymName(), globalTids.size());
  for (auto global : body.getOps<GlobalOp>())
    if (failed(encodeGlobal(global, plan.persistent.emplace_back())))
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
