//===- Call.cpp - aicf_rt.call and its attributes -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a body is allowed to be, lib/Ops/BodyRules.cpp says; how a call is
// written, CallAssembly.cpp.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/AICFRT/AbiShape.h"
#include "lib/Dialect/Record.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Patterns.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

static llvm::hash_code hashOf(const Body &body) {
  llvm::hash_code hash = llvm::hash_combine(
      body.numOperands,
      llvm::hash_combine_range(body.results.begin(), body.results.end()));
  for (const Primitive &primitive : body.primitives)
    hash =
        llvm::hash_combine(hash, uint16_t(primitive.kind),
                           llvm::hash_combine_range(primitive.attrs.begin(),
                                                    primitive.attrs.end()),
                           llvm::hash_combine_range(primitive.operands.begin(),
                                                    primitive.operands.end()));
  return hash;
}

namespace aicf::rt::detail {
struct BodyAttrStorage : AttributeStorage {
  using KeyTy = Body;
  explicit BodyAttrStorage(const Body &body)
      : body(body), facts(factsOf(body)) {}
  bool operator==(const KeyTy &key) const { return body == key; }
  static llvm::hash_code hashKey(const KeyTy &key) { return hashOf(key); }
  static BodyAttrStorage *construct(AttributeStorageAllocator &allocator,
                                    const KeyTy &key) {
    return new (allocator.allocate<BodyAttrStorage>()) BodyAttrStorage(key);
  }
  Body body;
  BodyFacts facts;
};
} // namespace aicf::rt::detail

#define GET_ATTRDEF_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTAttrs.cpp.inc"

const Body &BodyAttr::getBody() const { return getImpl()->body; }
const BodyFacts &BodyAttr::getFacts() const { return getImpl()->facts; }

void AICFRTDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "aicf/Dialect/AICFRT/AICFRTAttrs.cpp.inc"
      >();
}

LogicalResult BodyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Body body) {
  Status status = checkForm(body);
  return status.ok() ? success() : emitError() << status.message();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

void CallOp::build(OpBuilder &builder, OperationState &state, TypeRange types,
                   ValueRange args, const Body &body, ArrayRef<int64_t> vids) {
  state.addOperands(args);
  state.addTypes(types);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {int32_t(state.operands.size()), 0, 0};
  properties.body = BodyAttr::get(builder.getContext(), body);
  properties.vids.assign(vids.begin(), vids.end());
}

void CallOp::build(OpBuilder &builder, OperationState &state, OpKind kind,
                   TypeRange types, ArrayRef<Value> slots,
                   ArrayRef<int64_t> vids) {
  std::vector<bool> hasOperand, hasResult(types.size(), true);
  for (Value slot : slots) {
    hasOperand.push_back(slot != nullptr);
    if (slot)
      state.addOperands(slot);
  }
  SmallVector<uint8_t> attrs = encodeFields(
      kind, [](StringRef) { return Attribute(); }, describeSlots(slots));
  build(builder, state, types, {},
        makeBody(kind, {attrs.begin(), attrs.end()}, hasOperand, hasResult),
        vids);
}

void CallOp::build(OpBuilder &, OperationState &state, ValueRange args,
                   ValueRange dests, Value scratch, BodyAttr body,
                   LaunchAttr launch) {
  state.addOperands(args);
  state.addOperands(dests);
  if (scratch)
    state.addOperands(scratch);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {int32_t(args.size()), int32_t(dests.size()),
                                    scratch ? 1 : 0};
  properties.body = body;
  properties.launch = launch;
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

std::string CallOp::getPrimitiveNames() { return primitiveNames(getCode()); }

Value CallOp::getPrimitiveOperand(size_t primitive, size_t slot) {
  const Body &body = getCode();
  int32_t number = body.primitives[primitive].operands[slot];
  return number >= 0 && uint32_t(number) < body.numOperands
             ? Value(getArgs()[unsigned(number)])
             : Value();
}

Value CallOp::getYielded(uint32_t number) {
  if (isInPlan())
    return {};
  const std::vector<uint32_t> &results = getCode().results;
  auto it = llvm::find(results, number);
  return it == results.end() ? Value()
                             : Value(getResult(unsigned(it - results.begin())));
}

static SmallVector<TensorDesc> describe(TypeRange types) {
  return llvm::map_to_vector(types, toTensorDesc);
}
SmallVector<TensorDesc> CallOp::getOperandDescs() {
  return describe(getArgs().getTypes());
}
SmallVector<TensorDesc> CallOp::getResultDescs() {
  return describe(getResultTypesOfBody());
}

bool CallOp::mayShareStorage(unsigned result, unsigned operand) {
  return getFacts().mayShareStorage(result, operand);
}

size_t CallOp::countValuesMade() { return getFacts().numMade; }

int64_t CallOp::getLabel(unsigned result) {
  ArrayRef<int64_t> vids = getVids();
  const Body &body = getCode();
  if (vids.empty())
    return -1;
  if (vids.size() == body.results.size()) // nothing stays inside
    return vids[result];
  std::vector<uint32_t> made = valuesMade(body);
  return vids[llvm::lower_bound(made, body.results[result]) - made.begin()];
}

StringRef CallOp::getKid() {
  LaunchAttr launch = getLaunchAttr();
  return launch && launch.getKernel() ? launch.getKernel().getValue() : "";
}
uint64_t CallOp::getWorkspace() {
  return getLaunchAttr() ? uint64_t(getLaunchAttr().getWorkspace()) : 0;
}
uint64_t CallOp::getStream() {
  return getLaunchAttr() ? uint64_t(getLaunchAttr().getStream()) : 0;
}
ArrayRef<int64_t> CallOp::getWaits() {
  return getLaunchAttr() ? getLaunchAttr().getWaits() : ArrayRef<int64_t>();
}
ArrayRef<int64_t> CallOp::getSignals() {
  return getLaunchAttr() ? getLaunchAttr().getSignals() : ArrayRef<int64_t>();
}

void CallOp::setKernel(StringRef kid, uint64_t workspaceBytes) {
  setLaunchAttr(LaunchAttr::get(
      getContext(),
      kid.empty() ? StringAttr() : StringAttr::get(getContext(), kid),
      int64_t(workspaceBytes), int64_t(getStream()), getWaits(), getSignals()));
}

void CallOp::setSchedule(int64_t stream, ArrayRef<int64_t> waits,
                         ArrayRef<int64_t> signals) {
  LaunchAttr launch = getLaunchAttr();
  StringAttr kernel = launch ? launch.getKernel() : StringAttr();
  auto workspace = int64_t(getWorkspace());
  bool isDefault = !kernel && workspace == 0 && stream == 0 && waits.empty() &&
                   signals.empty();
  setLaunchAttr(isDefault ? LaunchAttr()
                          : LaunchAttr::get(getContext(), kernel, workspace,
                                            stream, waits, signals));
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult checkCount(CallOp op, StringRef what, size_t count,
                                size_t expected, StringRef of) {
  if (count == 0 || count == expected)
    return success();
  return op.emitOpError() << "has " << count << " " << what << " for "
                          << expected << " " << of;
}

/// The decisions on a call fit its operands and results.
static LogicalResult checkDecisions(CallOp op) {
  ArrayRef<int64_t> vids = op.getVids(), inplace = op.getInplace();
  size_t numResults = op.getOuts().size();
  if (failed(checkCount(op, "vids", vids.size(), op.countValuesMade(),
                        "values")) ||
      failed(checkCount(op, "in_vids", op.getInVids().size(),
                        op.getArgs().size(), "operands")) ||
      failed(checkCount(op, "inplace entries", inplace.size(), numResults,
                        "results")))
    return failure();
  for (auto [result, operand] : llvm::enumerate(inplace)) {
    if (operand == -1)
      continue;
    if (operand < 0 || operand >= int64_t(op.getArgs().size()))
      return op.emitOpError()
             << "inplace of result " << result << " is operand " << operand
             << ", but there are " << op.getArgs().size() << " operands";
    if (!op.mayShareStorage(result, operand))
      return op.emitOpError()
             << "result " << result << " may not share storage with operand "
             << operand;
    Type in = op->getOperand(operand).getType();
    Type out = op->getResult(result).getType();
    if (in != out)
      return op.emitOpError()
             << "inplace of result " << result << ": it is " << out
             << ", but operand " << operand << " is " << in;
  }
  return success();
}

/// Tensors in and out, or buffers.
static LogicalResult checkLevel(CallOp op) {
  bool isInPlan = op.isInPlan();
  for (Type type : op.getArgs().getTypes())
    if (isa<ValueType>(type) != isInPlan)
      return op.emitOpError() << "takes " << type << ", but writes "
                              << (isInPlan ? "values" : "tensors")
                              << ": expected only values or only tensors";
  if (isInPlan && op->getNumResults() > 0)
    return op.emitOpError() << "writes values, expected no results, got "
                            << op->getNumResults();
  if (op.getScratch() && !isInPlan)
    return op.emitOpError() << "takes tensors, expected no workspace";
  return success();
}

LogicalResult CallOp::verify() {
  if (failed(checkLevel(*this)))
    return failure();
  for (TypeRange types :
       {TypeRange(getArgs().getTypes()), getResultTypesOfBody()})
    for (Type type : types)
      if (failed(checkAbiShape(*this, type)))
        return failure();
  SmallVector<TensorDesc> ins = getOperandDescs(), outs = getResultDescs();
  for (auto [i, out] : llvm::enumerate(outs))
    if (!out.hasDistinctElements())
      return emitOpError() << "result " << i << " is "
                           << getResultTypesOfBody()[i]
                           << ", expected elements that share no bytes";
  auto values = describeValues(getCode(), {ins.data(), ins.size()},
                               {outs.data(), outs.size()});
  if (!values.ok())
    return emitOpError() << values.status().message();
  // Printed, an operand is known by its name: one that stood twice would be
  // read back as one.
  llvm::SmallDenseSet<Value> seen;
  if (getCode().primitives.size() > 1)
    for (auto [i, operand] : llvm::enumerate(getArgs()))
      if (!seen.insert(operand).second)
        return emitOpError() << "operand " << i
                             << " is passed twice: a call of several "
                                "primitives takes each operand once";
  return checkDecisions(*this);
}
