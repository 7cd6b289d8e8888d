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
#include "lib/Base/File.h"
#include "lib/Dialect/Entry.h"
#include "lib/Target/ToolOutput.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// file:line:column of the innermost file location, else nothing. A long path
/// by its end: every call has one, and the loader bounds what they take.
static std::string locationText(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    StringRef path = file.getFilename().getValue();
    StringRef end = path.take_back(200);
    if (end != path) // not from the middle of a UTF-8 character
      end = end.drop_while([](char c) { return (c & 0xc0) == 0x80; });
    text = ((end == path ? "" : "...") + end + ":" + Twine(file.getLine()) +
            ":" + Twine(file.getColumn()))
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

/// Tids; -1 is an absent operand or result.
static LogicalResult convertTids(Operation *op, StringRef field,
                                 ArrayRef<int64_t> tids,
                                 std::vector<uint32_t> &out) {
  SmallVector<int64_t> numbers(tids);
  llvm::replace(numbers, int64_t(-1), int64_t(kAbsentTensor));
  return convert(op, field, numbers, out);
}

static LogicalResult translateTensor(aicf::rt::TensorOp op, PlanTensor &out) {
  std::vector<int32_t> vid;
  std::vector<int32_t> derivedFrom;
  if (failed(convert(op, "vid", static_cast<int64_t>(op.getVid()), vid)) ||
      failed(convert(op, "derived_from",
                     static_cast<int64_t>(op.getDerivedFrom()), derivedFrom)))
    return failure();
  auto role = parseEnum<Role>(op.getRole(), kNumRoles);
  auto init = parseEnum<InitKind>(op.getInit(), kNumInitKinds);
  if (!role || !init)
    return op.emitOpError()
           << "unknown "
           << (role ? "initialiser " + op.getInit() : "role " + op.getRole());
  out.name = op.getTensorName().str();
  out.desc = aicf::rt::toTensorDesc(op.getType());
  out.role = *role;
  out.offset = op.getOffset();
  out.vid = vid.front();
  out.init = *init;
  out.initValue = op.getInitValue().convertToDouble();
  out.derivedFrom = derivedFrom.front();
  return success();
}

static LogicalResult translateCall(aicf::rt::CallOp op, PlanCall &out) {
  // The verifier knows the kind.
  out.kind = *parseEnum<OpKind>(op.getKind(), kNumOpKinds);
  out.kid = op.getKid().str();
  out.schema = static_cast<uint32_t>(op.getSchema());
  out.attrs.assign(op.getAttrs().begin(), op.getAttrs().end());
  std::vector<uint32_t> stream, waits, signals;
  std::vector<int32_t> workspace;
  if (failed(convertTids(op, "ins", op.getIns(), out.ins)) ||
      failed(convertTids(op, "outs", op.getOuts(), out.outs)) ||
      failed(convert(op, "vids", op.getInVids(), out.inVids)) ||
      failed(convert(op, "vids", op.getOutVids(), out.outVids)) ||
      failed(convert(op, "stream", static_cast<int64_t>(op.getStream()),
                     stream)) ||
      failed(convert(op, "workspace", static_cast<int64_t>(op.getWorkspace()),
                     workspace)) ||
      failed(convert(op, "waits", op.getWaits(), waits)) ||
      failed(convert(op, "signals", op.getSignals(), signals)))
    return failure();
  out.stream = stream.front();
  out.workspace = workspace.front();
  out.waits.assign(waits.begin(), waits.end());
  out.signals.assign(signals.begin(), signals.end());
  out.location = locationText(op.getLoc());
  out.isProtective = op.getProtective();
  return success();
}

template <typename Op, typename Record>
static LogicalResult translateAll(Block &block, std::vector<Record> &records,
                                  LogicalResult (*translate)(Op, Record &)) {
  for (auto op : block.getOps<Op>()) {
    records.emplace_back();
    if (failed(translate(op, records.back())))
      return failure();
  }
  return success();
}

static LogicalResult translateEntry(aicf::rt::EntryOp op, PlanEntry &out) {
  out.name = op.getSymName().str();
  out.ioBytes = op.getIoBytes();
  out.tempBytes = op.getTempBytes();
  out.tempLowerBound = op.getTempLowerBound();
  out.values = static_cast<uint32_t>(op.getValues());
  out.nodes = static_cast<uint32_t>(op.getNodes());
  Block &body = op.getBody().front();
  if (failed(
          translateAll<aicf::rt::TensorOp>(body, out.tensors, translateTensor)))
    return failure();
  return translateAll<aicf::rt::CallOp>(body, out.calls, translateCall);
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
  Plan plan;
  plan.device = *parseEnum<DeviceKind>(op.getTarget(), kNumDeviceKinds);
  plan.persistentBytes = op.getPersistentBytes();
  Block &body = op.getBody().front();
  if (failed(translateAll<aicf::rt::TensorOp>(body, plan.persistent,
                                              translateTensor)) ||
      failed(
          translateAll<aicf::rt::EntryOp>(body, plan.entries, translateEntry)))
    return failure();
  Status status = verifyPlan(plan);
  if (!status.ok())
    return op.emitError() << status.message();
  return plan;
}

LogicalResult aicf::writeToolOutput(StringRef path, ArrayRef<uint8_t> bytes,
                                    std::string &error) {
  if (path != "-") {
    Status written =
        writeFileAtomically(path.str(), {bytes.data(), bytes.size()});
    error = written.ok() ? "" : written.toString();
    return success(written.ok());
  }
  llvm::raw_fd_ostream &out = llvm::outs();
  out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  out.flush();
  if (!out.has_error())
    return success();
  error = "cannot write to standard output: " + out.error().message();
  out.clear_error(); // or it aborts at exit
  return failure();
}
