//===- AICFRT.cpp - the aicf_rt dialect -----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Verifiers turn the shared rules (aicf/Support/OpRules.h) into diagnostics.
// Methods that only repeat a record come from aicf-tblgen -gen-op-methods.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICFRT/AICFRT.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::aicf_rt;

#include "aicf/Dialect/AICFRT/AICFRTDialect.cpp.inc"
#include "aicf/Dialect/AICFRT/AICFRTInterfaces.cpp.inc"

std::optional<::aicf::DType> mlir::aicf_rt::toDType(Type element) {
  if (element.isF32())
    return ::aicf::DType::F32;
  if (element.isF16())
    return ::aicf::DType::F16;
  if (element.isBF16())
    return ::aicf::DType::BF16;
  if (element.isF64())
    return ::aicf::DType::F64;
  if (element.isSignlessInteger(32))
    return ::aicf::DType::I32;
  if (element.isSignlessInteger(64))
    return ::aicf::DType::I64;
  return std::nullopt;
}

::aicf::TensorDesc mlir::aicf_rt::toTensorDesc(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ArrayRef<int64_t> shape = tensor.getShape();
  return ::aicf::TensorDesc(*toDType(tensor.getElementType()),
                            {shape.data(), shape.size()});
}

template <typename T>
static void appendBytes(SmallVectorImpl<uint8_t> &bytes, const T &attrs) {
  const auto *at = reinterpret_cast<const uint8_t *>(&attrs);
  bytes.append(at, at + sizeof(T));
}

/// Shapes the ABI cannot hold are refused before they become a TensorDesc.
static LogicalResult checkAbiShape(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getRank() > static_cast<int64_t>(::aicf::kMaxRank))
    return op->emitOpError() << type << " has rank " << tensor.getRank()
                             << ", the limit is " << ::aicf::kMaxRank;
  for (int64_t d : tensor.getShape())
    if (d <= 0 || d > INT32_MAX)
      return op->emitOpError() << type << " has a dimension of " << d
                               << ", expected 1 to " << INT32_MAX;
  if (!::aicf::checkedBytes(toTensorDesc(type)))
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
    if (!::aicf::mayShareStorage(op.getOpKind(), result, operand))
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
  SmallVector<::aicf::TensorDesc> ins, outs;
  for (auto [types, descs] :
       {std::pair(TypeRange(op->getOperandTypes()), &ins),
        std::pair(TypeRange(op->getResultTypes()), &outs)})
    for (Type type : types) {
      if (failed(checkAbiShape(op, type)))
        return failure();
      descs->push_back(toTensorDesc(type));
    }
  SmallVector<uint8_t> attrs;
  op.encodeAttrs(attrs);
  ::aicf::Status status = ::aicf::checkCall(
      op.getOpKind(), {ins.data(), ins.size()}, {outs.data(), outs.size()},
      op.getSchema(), {attrs.data(), attrs.size()});
  if (!status.ok())
    return op->emitError() << status.message();
  return checkDecisions(op);
}

#include "aicf/Dialect/AICFRT/AICFRTOpMethods.cpp.inc"

#define GET_OP_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTOps.cpp.inc"

double MseGradOp::getScaleOrDefault() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  if (getIns().empty())
    return 0; // the count is refused right after
  return std::get<double>(*::aicf::fieldDefault(
      ::aicf::OpKind::MseGrad, 0, toTensorDesc(getIns()[0].getType())));
}

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
        if (tid < 0 || tid >= count)
          return call.emitOpError()
                 << "refers to tid " << tid << ", but there are " << count;
  return success();
}

LogicalResult PlanOp::verifyRegions() {
  if (getTarget() != "cpu" && getTarget() != "cuda")
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
  std::optional<::aicf::Role> role;
  for (uint8_t r = 0; r < ::aicf::kNumRoles; ++r)
    if (StringRef(::aicf::nameOf(static_cast<::aicf::Role>(r))) == getRole())
      role = static_cast<::aicf::Role>(r);
  if (!role)
    return emitOpError() << "unknown role \"" << getRole() << "\"";
  StringRef segment = ::aicf::nameOf(::aicf::segmentOf(*role));
  if (getSegment() != segment)
    return emitOpError() << "role " << getRole() << " lives in segment "
                         << segment << ", not " << getSegment();
  return checkAbiShape(*this, getType());
}

LogicalResult CallOp::verify() {
  const ::aicf::OpInfo *info = nullptr;
  for (const ::aicf::OpInfo &candidate : ::aicf::kOpInfos)
    if (getKind() == StringRef(candidate.name))
      info = &candidate;
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
