//===- CudaElements.cpp - the text of a graph for some elements -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaElements.h"
#include "kernels/graph/CudaScalars.h"
#include "kernels/random/Philox.h"
#include "lib/Base/FastDivisor.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>
#include <cstring>

namespace aicf::cuda {

using rules::wide;

/// Lines of a function that is called; shorter ones are part of the kernel,
/// while it has fewer than kMaxLines.
static constexpr size_t kLongFunction = 160, kMaxLines = 5500;

static std::string name(DType dtype) { return std::string(nameOf(dtype)); }
static bool is64Bits(DType dtype) { return sizeOf(dtype) == 8; }

ElementWriter::ElementWriter(const Body &body, Span<const TensorView> values,
                             const std::vector<Extent> &extents)
    : body(body), values(values), extents(extents), whole(noElements()),
      reduced(noElements()) {
  for (uint32_t i = 0; i < body.numOperands; ++i)
    tensors.push_back(i);
  tensors.insert(tensors.end(), body.results.begin(), body.results.end());
  const auto like =
      size_t(std::find(extents.begin(), extents.end(), Extent::Whole) -
             extents.begin());
  elements = values[like].desc.elements();
  const TensorDesc *descs[kMaxGraphTensors];
  std::fill_n(descs, kMaxGraphTensors, &values[like].desc);
  size_t count = 0;
  for (size_t t = 0; t < tensors.size(); ++t) {
    lies.push_back(extents[tensors[t]] == Extent::Whole ? lieOf(descOf(t))
                                                        : Lie::Dense);
    if (lies[t] == Lie::Strided)
      std::fill(descs + count++, descs + kMaxGraphTensors, &descOf(t));
  }
  hasStrides = count > 0;
  walks = Walks<kMaxGraphTensors>(descs);
}

/// A function of scalars of one element: its text, or a call of it.
StatusOr<std::string> ElementWriter::call(const std::string &function,
                                          const Lanes &arguments,
                                          bool returns64Bits) {
  const std::string full = "aicf_" + function;
  const ScalarFunction *found = ScalarText::get().find(full);
  if (!found)
    return makeError(StatusCode::NotImplemented, function,
                     " is not among the functions of generated kernels");
  std::string result = newRegister(returns64Bits);
  const bool isShort = found->lines.size() < kLongFunction &&
                       numLines + found->lines.size() < kMaxLines;
  // ptxas 13.0 hands equal constants of all calls over in uniform registers.
  // Of two with equal low halves it converts the first one for both
  // (docs/rationale/Graphs.md).
  const auto numConstants = std::count_if(
      arguments.begin(), arguments.end(), [&](const std::string &argument) {
        return wideConstants.count(argument) > 0;
      });
  if (isShort || numConstants > 1) {
    numLines += found->lines.size();
    called.insert(found->helpers.begin(), found->helpers.end());
    code += spliced(full, *found, arguments, result, numScopes++);
    return result;
  }
  called.insert(full);
  numLines += 2 * arguments.size() + 4;
  auto type = [](bool is64Bits) { return is64Bits ? ".b64 " : ".b32 "; };
  std::string list;
  code += "{\n";
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool isWide = arguments[i][2] == 'x';
    std::string parameter = "aicf_in" + std::to_string(i);
    line(".param ", type(isWide), parameter);
    line("st.param", type(isWide), "[", parameter, "], ", arguments[i]);
    list += (i ? ", " : "") + parameter;
  }
  line(".param ", type(returns64Bits), "aicf_out");
  // Not `call.uni`: where threads of a warp have no elements, the others
  // branch.
  line("call (aicf_out), ", full, ", (", list, ")");
  line("ld.param", type(returns64Bits), result, ", [aicf_out]");
  code += "}\n";
  return result;
}

StatusOr<ElementWriter::Lanes>
ElementWriter::each(const std::string &function,
                    const std::vector<Lanes> &arguments, DType result) {
  Lanes all;
  for (int64_t k = 0; k < lanes; ++k) {
    Lanes ofElement;
    for (const Lanes &argument : arguments)
      ofElement.push_back(argument.size() == 1 ? argument[0]
                                               : argument[size_t(k)]);
    AICF_ASSIGN_OR_RETURN(std::string one,
                          call(function, ofElement, is64Bits(result)));
    all.push_back(std::move(one));
  }
  return all;
}

StatusOr<ElementWriter::Lanes> ElementWriter::convert(const Lanes &all,
                                                      DType from, DType to) {
  if (from == to)
    return all;
  return each("cast_" + name(from) + "_" + name(to), {all}, to);
}

std::string ElementWriter::literal(uint64_t bits, bool is64Bits) {
  std::string to = newRegister(is64Bits);
  line(is64Bits ? "mov.b64 " : "mov.b32 ", to, ", ", std::to_string(bits));
  if (is64Bits)
    wideConstants.insert(to);
  return to;
}

/// The fields of a primitive in registers.
ElementWriter::Lanes ElementWriter::fieldsOf(const Primitive &primitive) {
  const OpInfo &info = infoOf(primitive.kind);
  Lanes fields;
  for (size_t f = 0; f < info.numFields; ++f) {
    const bool isWide = info.fields[f].format != 'i';
    uint64_t bits = 0;
    std::memcpy(&bits, primitive.attrs.data() + info.fields[f].offset,
                isWide ? 8 : 4);
    fields.push_back(literal(bits, isWide));
  }
  return fields;
}

/// What was computed for values of `type`, as those are.
StatusOr<ElementWriter::Lanes> ElementWriter::rounded(const Lanes &all,
                                                      DType type) {
  AICF_ASSIGN_OR_RETURN(Lanes stored, convert(all, wide(type), type));
  return convert(stored, type, wide(type));
}

/// The thread's elements, whose numbers follow each other from a multiple of
/// the lanes on. It draws once for those that are of one group of four.
StatusOr<ElementWriter::Lanes>
ElementWriter::computeDropout(const Primitive &primitive) {
  const auto x = uint32_t(primitive.operands[0]);
  const auto counter = uint32_t(primitive.operands[1]);
  const auto attrs = decodeAttrs<DropoutAttrs>(primitive.attrs);
  const double factor = 1 / (1 - attrs.p);
  uint64_t scaleBits;
  std::memcpy(&scaleBits, &factor, sizeof(scaleBits));
  std::string step = lanesOf(counter)[0];
  if (values[counter].desc.dtype == DType::I32) {
    AICF_ASSIGN_OR_RETURN(step, call("cast_i32_i64", {step}, true));
  }
  const std::string scale = literal(scaleBits, true),
                    seed = literal(uint64_t(attrs.seed), true),
                    threshold = literal(dropThreshold(attrs.p), false),
                    firstGroup = newRegister(true), first = newRegister(false);
  line("shr.u64 ", firstGroup, ", ", whole.first, ", 2");
  line("cvt.u32.u64 ", first, ", ", whole.first);
  line("and.b32 ", first, ", ", first, ", 3");
  const DType type = wide(values[x].desc.dtype);
  Lanes all;
  std::string kept;
  for (int64_t k = 0; k < lanes; ++k) {
    const std::string inGroup = newRegister(false);
    line("add.u32 ", inGroup, ", ", first, ", ", std::to_string(k % 4));
    if (k % 4 == 0) {
      const std::string group = newRegister(true);
      line("add.u64 ", group, ", ", firstGroup, ", ", std::to_string(k / 4));
      AICF_ASSIGN_OR_RETURN(
          kept, call("kept", {seed, step, group, threshold}, false));
    }
    AICF_ASSIGN_OR_RETURN(std::string one,
                          call("dropout_" + name(type),
                               {lanesOf(x)[size_t(k)], scale, kept, inGroup},
                               is64Bits(type)));
    all.push_back(std::move(one));
  }
  return all;
}

StatusOr<ElementWriter::Lanes> ElementWriter::compute(size_t index) {
  const Primitive &primitive = body.primitives[index];
  auto typeOf = [&](int32_t value) { return values[size_t(value)].desc.dtype; };
  const DType result = values[body.numOperands + index].desc.dtype;
  if (isCopy(primitive.kind))
    return lanesOf(uint32_t(primitive.operands[0]));
  const OpKind kind = elementwiseKind(primitive.kind);
  if (kind == OpKind::Cast) {
    AICF_ASSIGN_OR_RETURN(
        Lanes all, convert(lanesOf(uint32_t(primitive.operands[0])),
                           wide(typeOf(primitive.operands[0])), wide(result)));
    return rounded(all, result);
  }
  if (kind == OpKind::Dropout) {
    AICF_ASSIGN_OR_RETURN(Lanes all, computeDropout(primitive));
    return rounded(all, result);
  }
  std::vector<Lanes> arguments;
  if (kind == primitive.kind)
    for (const std::string &field : fieldsOf(primitive))
      arguments.push_back({field});
  DType computed = DType::I1;
  for (int32_t operand : primitive.operands) {
    arguments.push_back(lanesOf(uint32_t(operand)));
    if (computed == DType::I1)
      computed = wide(typeOf(operand));
  }
  AICF_ASSIGN_OR_RETURN(Lanes all,
                        each(std::string(nameOf(kind)) + "_" + name(computed),
                             arguments, wide(result)));
  return rounded(all, result);
}

void ElementWriter::goTo(const std::string &index, const std::string &row,
                         const std::string &column, int64_t columns) {
  whole.first = index;
  whole.coordinates.clear();
  bool isApart = crossesRows();
  for (size_t t = 0; t < tensors.size(); ++t)
    isApart |= lies[t] == Lie::Strided && isFar(t, lanes);
  if (hasStrides && !isApart && walks.rank == 2 && walks.dims[1] == columns) {
    whole.coordinates.push_back({row, column});
    return;
  }
  for (int64_t k = 0; hasStrides && k < (isApart ? lanes : 1); ++k) {
    std::string own = index;
    if (k > 0)
      line("add.u64 ", own = newRegister(true), ", ", index, ", ",
           std::to_string(k));
    whole.coordinates.push_back(coordinatesOf(own));
  }
}

void ElementWriter::beginLoad(uint32_t operand) {
  if (Lanes &loaded = of(operand).loaded[operand]; loaded.empty())
    loaded = load(operand);
}

Status ElementWriter::loadOperand(uint32_t operand) {
  beginLoad(operand);
  const DType dtype = descOf(operand).dtype;
  AICF_ASSIGN_OR_RETURN(
      Lanes all, convert(of(operand).loaded[operand], dtype, wide(dtype)));
  setLanesOf(operand, std::move(all));
  return {};
}

bool ElementWriter::mayBeKept(uint32_t operand) const {
  const TensorDesc &desc = descOf(operand);
  return (lanes == 1 || isVectorOf(operand, lanes, UINT64_MAX)) &&
         desc.spanBytes() >= uint64_t(elements) * sizeOf(desc.dtype);
}

void ElementWriter::keep(uint32_t operand, const Slot &slot) {
  const std::string guard =
      slot.isThere.empty() ? "" : "@" + slot.isThere + " ";
  storeVector(guard + "st.shared", slot.address, whole.loaded[operand],
              sizeOf(descOf(operand).dtype));
}

void ElementWriter::beginLoadKept(uint32_t operand, const Slot &slot) {
  Lanes &loaded = whole.loaded[operand];
  if (!loaded.empty())
    return;
  const size_t size = sizeOf(descOf(operand).dtype);
  if (slot.isThere.empty()) {
    loaded = loadVector(".shared", slot.address, size);
    return;
  }
  const std::string address = addressOf(operand), kept = newRegister(true);
  line("cvta.global.u64 ", address, ", ", address);
  line("cvta.shared.u64 ", kept, ", ", slot.address);
  line("selp.b64 ", address, ", ", kept, ", ", address, ", ", slot.isThere);
  loaded = loadVector("", address, size);
}

void ElementWriter::repeat(uint32_t value, uint32_t left) {
  for (auto of : {&Elements::registers, &Elements::loaded}) {
    Lanes all = (reduced.*of)[left];
    if (!all.empty())
      all.resize(size_t(lanes), all[0]);
    (whole.*of)[value] = std::move(all);
  }
}

Status ElementWriter::computePrimitive(size_t p) {
  const Primitive &primitive = body.primitives[p];
  const auto value = uint32_t(body.numOperands + p);
  AICF_ASSIGN_OR_RETURN(Lanes all, compute(p));
  setLanesOf(value, std::move(all));
  if (isCopy(primitive.kind))
    of(value).loaded[value] = of(value).loaded[size_t(primitive.operands[0])];
  return {};
}

Status ElementWriter::storeResult(uint32_t value) {
  const auto tensor = size_t(
      std::find(tensors.begin() + body.numOperands, tensors.end(), value) -
      tensors.begin());
  if (const Lanes &loaded = of(value).loaded[value]; !loaded.empty()) {
    store(tensor, loaded);
    return {};
  }
  const DType dtype = descOf(tensor).dtype;
  AICF_ASSIGN_OR_RETURN(Lanes all, convert(lanesOf(value), wide(dtype), dtype));
  store(tensor, all);
  return {};
}

Status ElementWriter::computeWhole() {
  for (uint32_t operand = 0; operand < body.numOperands; ++operand)
    if (extents[operand] == Extent::Whole)
      AICF_RETURN_IF_ERROR(loadOperand(operand));
  for (size_t p = 0; p < body.primitives.size(); ++p)
    if (const auto value = uint32_t(body.numOperands + p);
        extents[value] == Extent::Whole && lanesOf(value).empty())
      AICF_RETURN_IF_ERROR(computePrimitive(p));
  for (uint32_t result : body.results)
    if (extents[result] == Extent::Whole)
      AICF_RETURN_IF_ERROR(storeResult(result));
  return {};
}

StatusOr<std::string> ElementWriter::elementsFrom(const std::string &index) {
  whole = noElements();
  goTo(index);
  AICF_RETURN_IF_ERROR(computeWhole());
  return takeCode();
}

StatusOr<std::string> ElementWriter::elementsBehind(uint32_t made,
                                                    const Lanes &given,
                                                    const std::string &index) {
  whole = noElements();
  goTo(index);
  const DType type = values[made].desc.dtype;
  Lanes all;
  for (const std::string &one : given) {
    all.push_back(newRegister(is64Bits(wide(type))));
    line(is64Bits(wide(type)) ? "mov.b64 " : "mov.b32 ", all.back(), ", ", one);
  }
  AICF_ASSIGN_OR_RETURN(all, rounded(all, type));
  setLanesOf(made, std::move(all));
  AICF_RETURN_IF_ERROR(computeWhole());
  return takeCode();
}

StatusOr<std::string> ElementWriter::storeOne(uint32_t value,
                                              const std::string &sum,
                                              const std::string &index) {
  const int64_t before = std::exchange(lanes, 1);
  goToReduced(index);
  setLanesOf(value, {sum});
  AICF_RETURN_IF_ERROR(storeResult(value));
  lanes = before;
  return takeCode();
}

} // namespace aicf::cuda
