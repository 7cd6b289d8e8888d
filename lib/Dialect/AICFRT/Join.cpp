//===- Join.cpp - aicf_rt.join --------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// How a join is written, and what of it can be checked at the op: where its
// parts lie. Who else reads a part, the passes look at.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/AICFRT/AbiShape.h"
#include "lib/Schedule/Region.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

/// %a[0], %b[8] into %c vid(3) {...} : type, type to type
ParseResult JoinOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> parts;
  SmallVector<Type> types;
  OpAsmParser::UnresolvedOperand into;
  Type whole;
  Properties &properties = state.getOrAddProperties<Properties>();
  auto parsePart = [&]() -> ParseResult {
    return failure(parser.parseOperand(parts.emplace_back()) ||
                   parser.parseLSquare() ||
                   parser.parseInteger(properties.offsets.emplace_back()) ||
                   parser.parseRSquare());
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(parsePart))
    return failure();
  bool hasInto = succeeded(parser.parseOptionalKeyword("into"));
  if (hasInto && parser.parseOperand(into))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("vid")) &&
      (parser.parseLParen() || parser.parseInteger(properties.vid) ||
       parser.parseRParen()))
    return failure();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parser.parseTypeList(types) || parser.parseKeyword("to") ||
      parser.parseType(whole) ||
      parser.resolveOperands(parts, types, loc, state.operands) ||
      (hasInto && parser.resolveOperand(into, whole, state.operands)))
    return failure();
  properties.operandSegmentSizes = {int32_t(parts.size()), int32_t(hasInto)};
  state.addTypes(whole);
  return success();
}

void JoinOp::print(OpAsmPrinter &p) {
  p << " ";
  llvm::interleaveComma(llvm::zip_equal(getParts(), getOffsets()), p,
                        [&](auto part) {
                          p << std::get<0>(part) << "[" << std::get<1>(part)
                            << "]";
                        });
  if (getInto())
    p << " into " << getInto();
  if (int64_t(getVid()) != -1)
    p << " vid(" << int64_t(getVid()) << ")";
  p.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  p << " : " << getParts().getTypes() << " to " << getWhole().getType();
}

/// Two regions that share bytes, the lower number first. Parts of a concat come
/// one behind the other: only those that reach into the next one are compared
/// with it.
static std::optional<std::pair<size_t, size_t>>
findOverlap(ArrayRef<aicf::Region> regions) {
  auto order = llvm::to_vector(llvm::seq<size_t>(regions.size()));
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return regions[a].begin() < regions[b].begin();
  });
  SmallVector<size_t> open;
  for (size_t next : order) {
    llvm::erase_if(open, [&](size_t r) {
      return regions[r].end() <= regions[next].begin();
    });
    for (size_t r : open)
      if (regions[r].overlaps(regions[next]))
        return std::pair(std::min(r, next), std::max(r, next));
    open.push_back(next);
  }
  return std::nullopt;
}

/// Parts lie in the whole, side by side, and have all of it if nothing else
/// does.
LogicalResult JoinOp::verify() {
  if (getParts().empty() || getParts().size() != getOffsets().size())
    return emitOpError() << "has " << getParts().size() << " parts and "
                         << getOffsets().size()
                         << " offsets, expected one offset for each part, and "
                            "one part or more";
  for (Type type : getOperandTypes())
    if (failed(checkAbiShape(*this, type)))
      return failure();
  if (failed(checkAbiShape(*this, getWhole().getType())))
    return failure();
  if (getInto() && getInto().getType() != getWhole().getType())
    return emitOpError() << "is made in " << getInto().getType()
                         << ", expected " << getWhole().getType();
  const TensorDesc whole = toTensorDesc(getWhole().getType());
  const aicf::Region all(0, whole);
  std::vector<aicf::Region> regions;
  for (auto [part, offset] : llvm::zip_equal(getParts(), getOffsets())) {
    if (!part.getDefiningOp<CallOp>() && !part.getDefiningOp<JoinOp>())
      return emitOpError() << "has a part that no call makes, nor a join";
    const TensorDesc desc = toTensorDesc(part.getType());
    if (desc.layout == aicf::Layout::Padded ||
        whole.layout == aicf::Layout::Padded || desc.dtype != whole.dtype)
      return emitOpError() << "joins " << part.getType() << " to "
                           << getWhole().getType()
                           << ", expected the same element type and no pads";
    auto size = int64_t(sizeOf(desc.dtype));
    int64_t last = offset + int64_t(desc.spanBytes()) / size;
    if (offset < 0 || last > int64_t(whole.spanBytes()) / size)
      return emitOpError() << "has the part " << part.getType()
                           << " at the elements [" << offset << ", " << last
                           << ") of " << getWhole().getType()
                           << ", which it does not lie in";
    regions.emplace_back(uint64_t(offset * size), desc);
  }
  if (auto pair = findOverlap(regions))
    return emitOpError() << "has parts " << pair->first << " and "
                         << pair->second << ", which share elements";
  if (!getInto() && !aicf::Region::isCovered(all, regions))
    return emitOpError() << "has parts that are not known to be all of "
                         << getWhole().getType();
  return success();
}
