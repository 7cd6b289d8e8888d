//===- AICFRT.cpp - the aicf_rt dialect -----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Primitives are as their records say: see Record.h. The plan has its own
// checks here.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/Record.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

#include "aicf/Dialect/AICFRT/AICFRTDialect.cpp.inc"
#include "aicf/Dialect/AICFRT/AICFRTInterfaces.cpp.inc"

std::optional<DType> aicf::rt::toDType(Type element) {
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF64())
    return DType::F64;
  if (element.isSignlessInteger(32))
    return DType::I32;
  if (element.isSignlessInteger(64))
    return DType::I64;
  return std::nullopt;
}

TensorDesc aicf::rt::toTensorDesc(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ArrayRef<int64_t> shape = tensor.getShape();
  return TensorDesc(*toDType(tensor.getElementType()),
                    {shape.data(), shape.size()});
}

/// Operands and segments of a primitive from its slots, null for absent ones.
template <typename Properties>
static void buildFromSlots(OpBuilder &builder, OperationState &state,
                           OpKind kind, TypeRange types, ValueRange slots,
                           ArrayRef<int64_t> vids) {
  const OpInfo &info = infoOf(kind);
  std::optional<CallSlots> layout = CallSlots::of(info, slots.size());
  assert(layout && "give a slot for each operand of the record");
  size_t numGrouped = info.groupOperands * layout->groups;
  SmallVector<int32_t> segments;
  if (info.groupOperands)
    segments.push_back(int32_t(numGrouped));
  for (Value slot : slots.drop_front(numGrouped))
    segments.push_back(slot ? 1 : 0);
  for (Value slot : slots)
    if (slot)
      state.addOperands(slot);
  state.addTypes(types);
  auto &properties = state.getOrAddProperties<Properties>();
  if constexpr (HasOperandSegments<Properties>::value)
    llvm::copy(segments, properties.operandSegmentSizes.begin());
  if constexpr (HasResultSegments<Properties>::value) {
    auto numUpdated = int32_t(layout->groupedResults());
    properties.resultSegmentSizes = {numUpdated,
                                     int32_t(types.size()) - numUpdated};
  }
  properties.vids = builder.getDenseI64ArrayAttr(vids);
}

SmallVector<uint8_t> PrimitiveOpInterface::getAttrBlob() {
  Operation *op = getOperation();
  SmallVector<TensorDesc> descs = getOperandDescs();
  return encodeFields(
      getOpKind(),
      [&](StringRef name) {
        return op->getInherentAttr(name).value_or(Attribute());
      },
      descs);
}

SmallVector<TensorDesc> PrimitiveOpInterface::getOperandDescs() {
  return describeSlots(getOperandSlots());
}

/// Only the last result may be absent; aicf-tblgen refuses other records.
SmallVector<TensorDesc> PrimitiveOpInterface::getResultDescs() {
  SmallVector<TensorDesc> descs;
  for (Type type : getOperation()->getResultTypes())
    descs.push_back(toTensorDesc(type));
  const OpInfo &info = infoOf(getOpKind());
  bool isOptional =
      info.results[info.numResults - 1].presence == Presence::Optional;
  if (isOptional && descs.size() + 1 == info.numResults)
    descs.push_back(TensorDesc::absent());
  return descs;
}

bool PrimitiveOpInterface::mayShareStorage(unsigned result, unsigned operand) {
  SmallVector<Value> slots = getOperandSlots();
  unsigned slot = 0;
  for (unsigned present = 0;; ++slot)
    if (slots[slot] && present++ == operand)
      break;
  std::optional<CallSlots> layout =
      CallSlots::of(infoOf(getOpKind()), slots.size());
  return layout &&
         layout->mayShareStorage(result, getResultDescs().size(), slot);
}

/// Shapes the ABI cannot hold are refused before they become a TensorDesc.
static LogicalResult checkAbiShape(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getRank() > static_cast<int64_t>(kMaxRank))
    return op->emitOpError() << type << " has rank " << tensor.getRank()
                             << ", the limit is " << kMaxRank;
  for (int64_t d : tensor.getShape())
    if (d <= 0 || d > INT32_MAX)
      return op->emitOpError() << type << " has a dimension of " << d
                               << ", expected 1 to " << INT32_MAX;
  if (!checkedBytes(toTensorDesc(type)))
    return op->emitOpError() << type << " is larger than 64 TiB";
  return success();
}

/// The decisions on an op fit its operands and results.
static LogicalResult checkDecisions(PrimitiveOpInterface op) {
  ArrayRef<int64_t> vids = op.getVids(), inplace = op.getInplace();
  size_t numResults = op->getNumResults();
  if (!vids.empty() && vids.size() != numResults)
    return op->emitOpError()
           << "has " << vids.size() << " vids for " << numResults << " results";
  if (!op.getSlots().empty() && op.getSlots().size() != numResults)
    return op->emitOpError() << "has " << op.getSlots().size() << " slots for "
                             << numResults << " results";
  if (!inplace.empty() && inplace.size() != numResults)
    return op->emitOpError()
           << "has " << inplace.size() << " inplace entries for " << numResults
           << " results";
  for (auto [result, operand] : llvm::enumerate(inplace)) {
    if (operand == -1)
      continue;
    if (operand < 0 || operand >= op->getNumOperands())
      return op->emitOpError()
             << "inplace of result " << result << " is operand " << operand
             << ", but there are " << op->getNumOperands() << " operands";
    if (!op.mayShareStorage(result, operand))
      return op->emitOpError()
             << "result " << result << " may not share storage with operand "
             << operand;
    Type in = op->getOperand(operand).getType();
    Type out = op->getResult(result).getType();
    if (in != out)
      return op->emitOpError()
             << "inplace of result " << result << ": it is " << out
             << ", but operand " << operand << " is " << in;
  }
  return success();
}

static LogicalResult verifyPrimitive(PrimitiveOpInterface op) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (failed(checkAbiShape(op, type)))
        return failure();
  auto lookup = [&](StringRef name) {
    return op->getInherentAttr(name).value_or(Attribute());
  };
  if (std::optional<std::string> error = checkByRecord(
          op.getOpKind(), op.getOperandDescs(), op.getResultDescs(), lookup))
    return op->emitOpError() << *error;
  return checkDecisions(op);
}

#define GET_OP_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTOps.cpp.inc"

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Tids count up from `next`, which they leave behind the last one.
static LogicalResult checkTids(Block &block, int64_t &next) {
  for (auto tensor : block.getOps<TensorOp>())
    if (static_cast<int64_t>(tensor.getTid()) != next++)
      return tensor.emitOpError()
             << "has tid " << tensor.getTid() << ", expected " << next - 1;
  return success();
}

static LogicalResult checkEntry(EntryOp entry, int64_t numPersistent) {
  Block &body = entry.getBody().front();
  int64_t count = numPersistent;
  if (failed(checkTids(body, count)))
    return failure();
  for (Operation &op : body)
    if (!isa<TensorOp, CallOp>(op))
      return op.emitOpError() << "is not legal in aicf_rt.entry";
  for (auto call : body.getOps<CallOp>())
    for (ArrayRef<int64_t> tids : {call.getIns(), call.getOuts()})
      for (int64_t tid : tids)
        if (tid < -1 || tid >= count) // -1: absent
          return call.emitOpError()
                 << "refers to tid " << tid << ", but there are " << count;
  return success();
}

LogicalResult PlanOp::verifyRegions() {
  if (!parseEnum<DeviceKind>(getTarget(), kNumDeviceKinds))
    return emitOpError() << "target is \"" << getTarget()
                         << "\", expected \"cpu\" or \"cuda\"";
  int64_t numPersistent = 0;
  if (failed(checkTids(getBody().front(), numPersistent)))
    return failure();
  llvm::StringSet<> entries;
  for (Operation &op : getBody().front()) {
    if (!isa<TensorOp, EntryOp>(op))
      return op.emitOpError() << "is not legal in aicf_rt.plan";
    auto entry = dyn_cast<EntryOp>(op);
    if (entry && !entries.insert(entry.getSymName()).second)
      return op.emitOpError() << "entry \"" << entry.getSymName()
                              << "\" stands twice in the plan";
    if (entry && failed(checkEntry(entry, numPersistent)))
      return failure();
  }
  return success();
}

LogicalResult TensorOp::verify() {
  std::optional<Role> role = parseEnum<Role>(getRole(), kNumRoles);
  if (!role)
    return emitOpError() << "unknown role \"" << getRole() << "\"";
  StringRef segment = nameOf(segmentOf(*role));
  if (getSegment() != segment)
    return emitOpError() << "role " << getRole() << " lives in segment "
                         << segment << ", not " << getSegment();
  return checkAbiShape(*this, getType());
}

LogicalResult CallOp::verify() {
  std::optional<OpKind> kind = parseEnum<OpKind>(getKind(), kNumOpKinds);
  const OpInfo *info = kind ? &infoOf(*kind) : nullptr;
  if (!info)
    return emitOpError() << "unknown op kind \"" << getKind() << "\"";
  if (getSchema() != info->schema)
    return emitOpError() << "attr schema of " << getKind() << " is "
                         << getSchema() << ", expected " << info->schema;
  if (getAttrs().size() != info->attrBytes)
    return emitOpError() << "attr blob of " << getKind() << " has "
                         << getAttrs().size() << " bytes, expected "
                         << info->attrBytes;
  if (getInVids().size() != getIns().size())
    return emitOpError() << "has " << getInVids().size() << " labels for "
                         << getIns().size() << " operands";
  if (getOutVids().size() != getOuts().size())
    return emitOpError() << "has " << getOutVids().size() << " labels for "
                         << getOuts().size() << " results";
  return success();
}

void AICFRTDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "aicf/Dialect/AICFRT/AICFRTOps.cpp.inc"
      >();
}
