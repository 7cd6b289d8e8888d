//===- CudaProgram.cpp - the text of a graph's kernel ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Only moves: loads, stores and addresses. All that computes is text of nvcc's
// (CudaScalars.h). Names of registers begin with %a, as none of nvcc's does.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaProgram.h"
#include "kernels/graph/CudaScalars.h"
#include "lib/Base/FastDivisor.h"
#include "lib/Base/Walk.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>
#include <cstring>

namespace aicf::cuda {
namespace {

using rules::wide;

constexpr uint32_t kThreads = 256;
/// Operands and results of the largest graph.
constexpr size_t kMaxTensors = 24;
/// Lines of a function that is called; shorter ones are part of the kernel,
/// while it has fewer than kMaxLines.
constexpr size_t kLongFunction = 160, kMaxLines = 6000;

std::string name(DType dtype) { return std::string(nameOf(dtype)); }

/// How a tensor lies.
enum class Lie { Dense, OneElement, Strided };

class KernelWriter {
public:
  KernelWriter(const Body &body, Span<const TensorView> values)
      : body(body), values(values) {
    for (uint32_t i = 0; i < body.numOperands; ++i)
      tensors.push_back(i);
    tensors.insert(tensors.end(), body.results.begin(), body.results.end());
    for (uint32_t value : tensors)
      lies.push_back(lieOf(values[value].desc));
    elements = values[0].desc.elements();
    const TensorDesc *descs[kMaxTensors];
    std::fill_n(descs, kMaxTensors, &values[0].desc);
    size_t count = 0;
    for (size_t t = 0; t < tensors.size(); ++t)
      if (lies[t] == Lie::Strided)
        std::fill(descs + count++, descs + kMaxTensors, &descOf(t));
    hasStrides = count > 0;
    walks = Walks<kMaxTensors>(descs);
  }

  StatusOr<GraphKernel> run();

private:
  static Lie lieOf(const TensorDesc &desc) {
    if (desc.layout != Layout::Strided)
      return Lie::Dense;
    for (size_t i = 0; i < desc.rank; ++i)
      if (desc.stride(i) != 0)
        return Lie::Strided;
    return Lie::OneElement;
  }
  const TensorDesc &descOf(size_t tensor) const {
    return values[tensors[tensor]].desc;
  }

  //===--- Text -----------------------------------------------------------===//

  template <typename... Args> void line(const Args &...args) {
    ((code += args), ...);
    code += ";\n";
  }
  std::string newRegister(bool is64Bits) {
    return is64Bits ? "%ax" + std::to_string(num64++)
                    : "%aw" + std::to_string(num32++);
  }
  static std::string at(const std::string &address, int64_t bytes) {
    return "[" + address + "+" + std::to_string(bytes) + "]";
  }
  static bool is64Bits(DType dtype) { return sizeOf(dtype) == 8; }

  //===--- Where elements lie ----------------------------------------------===//

  bool fits(int64_t lanes) const;
  void chooseLanes();
  bool isVector(size_t tensor) const {
    return lies[tensor] == Lie::Dense ||
           (lies[tensor] == Lie::Strided && stepOf(tensor) == 1);
  }
  // Of a strided tensor.
  size_t walkOf(size_t tensor) const {
    return size_t(std::count(lies.begin(), lies.begin() + int64_t(tensor),
                             Lie::Strided));
  }
  int64_t stepOf(size_t tensor) const { return walks.step(walkOf(tensor)); }
  void writeIndex();
  void writeCoordinates();
  std::string addressOf(size_t tensor);

  //===--- Values ----------------------------------------------------------===//

  using Lanes = std::vector<std::string>; ///< a register for each element
  Lanes load(size_t tensor);
  void store(size_t tensor, const Lanes &lanes);
  Lanes unpacked(const Lanes &words, size_t size);
  Lanes packed(const Lanes &lanes, size_t size);
  std::string vectorOf(const Lanes &words) const;
  StatusOr<std::string> call(const std::string &function,
                             const Lanes &arguments, bool returns64Bits);
  StatusOr<Lanes> each(const std::string &function,
                       const std::vector<Lanes> &arguments, DType result);
  StatusOr<Lanes> convert(const Lanes &lanes, DType from, DType to);
  StatusOr<Lanes> compute(size_t primitive);
  Lanes fieldsOf(const Primitive &primitive);

  const Body &body;
  Span<const TensorView> values;
  std::vector<uint32_t> tensors; ///< values: operands, then results
  std::vector<Lie> lies;         ///< of each tensor
  int64_t elements = 0, lanes = 1;
  bool hasStrides = false;
  Walks<kMaxTensors> walks; ///< of the strided tensors, in order

  std::string code;
  size_t num32 = 0, num64 = 0, numScopes = 0, numLines = 0;
  std::string index;                    ///< of the first element, 64 bits
  std::vector<std::string> coordinates; ///< 64 bits each
  std::vector<Lanes> lanesOf;           ///< of each value
  // As they were loaded, of operands and copies of them: NaNs stay what they
  // are.
  std::vector<Lanes> loadedOf;
  std::set<std::string> called;
};

//===----------------------------------------------------------------------===//
// Where elements lie
//===----------------------------------------------------------------------===//

/// True if each tensor can be accessed in vectors of so many elements.
bool KernelWriter::fits(int64_t count) const {
  if (elements % count != 0 ||
      (hasStrides && walks.dims[walks.rank - 1] % count != 0))
    return false;
  for (size_t t = 0; t < tensors.size(); ++t) {
    // Distances within a vector are numbers of 32 bits in the text.
    if (lies[t] == Lie::Strided &&
        stepOf(t) > INT32_MAX / (count * int64_t(sizeOf(descOf(t).dtype))))
      return count == 1;
    if (!isVector(t))
      continue;
    uint64_t bytes = sizeOf(descOf(t).dtype) * uint64_t(count);
    auto address = reinterpret_cast<uintptr_t>(values[tensors[t]].start());
    if (bytes > 16 || address % bytes != 0 ||
        (lies[t] == Lie::Strided && !walks.hasVectors(walkOf(t), count)))
      return false;
  }
  return true;
}

void KernelWriter::chooseLanes() {
  for (lanes = 8; lanes > 1 && !fits(lanes);)
    lanes /= 2;
}

/// The thread's first element; threads without one return.
void KernelWriter::writeIndex() {
  std::string block = newRegister(false), thread = newRegister(false);
  std::string number = newRegister(true), wideThread = newRegister(true);
  index = newRegister(true);
  line("mov.u32 ", block, ", %ctaid.x");
  line("mov.u32 ", thread, ", %tid.x");
  line("cvt.u64.u32 ", wideThread, ", ", thread);
  line("mad.wide.u32 ", number, ", ", block, ", ", std::to_string(kThreads),
       ", ", wideThread);
  line("setp.ge.u64 %aq0, ", number, ", ", std::to_string(elements / lanes));
  line("@%aq0 ret");
  line("mul.lo.u64 ", index, ", ", number, ", ", std::to_string(lanes));
}

/// The index along each loop of the strided tensors.
void KernelWriter::writeCoordinates() {
  coordinates.resize(size_t(walks.rank));
  std::string rest = index;
  const bool isSmall = elements < (int64_t(1) << 31);
  for (int d = walks.rank - 1; d > 0; --d) {
    const std::string size = std::to_string(walks.dims[d]);
    std::string quotient = newRegister(true), &along = coordinates[size_t(d)];
    along = newRegister(true);
    if (isSmall) {
      FastDivisor divisor(walks.dims[d]);
      std::string n = newRegister(false), high = newRegister(false);
      line("cvt.u32.u64 ", n, ", ", rest);
      line("mul.hi.u32 ", high, ", ", n, ", ", std::to_string(divisor.factor));
      line("add.u32 ", high, ", ", high, ", ", n);
      line("shr.u32 ", high, ", ", high, ", ", std::to_string(divisor.shift));
      line("cvt.u64.u32 ", quotient, ", ", high);
    } else {
      line("div.u64 ", quotient, ", ", rest, ", ", size);
    }
    line("mul.lo.u64 ", along, ", ", quotient, ", ", size);
    line("sub.u64 ", along, ", ", rest, ", ", along);
    rest = quotient;
  }
  coordinates[0] = rest;
}

/// The address of the thread's first element of a tensor.
std::string KernelWriter::addressOf(size_t tensor) {
  std::string address = newRegister(true);
  line("ld.param.u64 ", address, ", ", at("aicf_addresses", int64_t(8 * tensor)));
  line("cvta.to.global.u64 ", address, ", ", address);
  const std::string size = std::to_string(sizeOf(descOf(tensor).dtype));
  if (lies[tensor] == Lie::Dense)
    line("mad.lo.u64 ", address, ", ", index, ", ", size, ", ", address);
  for (int d = 0; lies[tensor] == Lie::Strided && d < walks.rank; ++d)
    if (int64_t stride = walks.strides[walkOf(tensor)][d])
      line("mad.lo.u64 ", address, ", ", coordinates[size_t(d)], ", ",
           std::to_string(stride * int64_t(sizeOf(descOf(tensor).dtype))), ", ",
           address);
  return address;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// "{%aw0, %aw1}", or the one register.
std::string KernelWriter::vectorOf(const Lanes &words) const {
  if (words.size() == 1)
    return words[0];
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "{" : ", ") + word;
  return text + "}";
}

/// Elements of `size` bytes, below four, out of 32-bit words or a part of one.
KernelWriter::Lanes KernelWriter::unpacked(const Lanes &words, size_t size) {
  Lanes all;
  const int64_t inWord = std::min<int64_t>(4 / int64_t(size), lanes);
  for (const std::string &word : words)
    for (int64_t k = 0; k < inWord; ++k) {
      all.push_back(newRegister(false));
      line("bfe.u32 ", all.back(), ", ", word, ", ",
           std::to_string(8 * int64_t(size) * k), ", ",
           std::to_string(8 * size));
    }
  return all;
}
KernelWriter::Lanes KernelWriter::packed(const Lanes &lanes, size_t size) {
  Lanes words;
  const size_t inWord = std::min<size_t>(4 / size, lanes.size());
  for (size_t first = 0; first < lanes.size(); first += inWord) {
    std::string word = lanes[first];
    for (size_t k = 1; k < inWord; ++k) {
      std::string next = newRegister(false);
      line("bfi.b32 ", next, ", ", lanes[first + k], ", ", word, ", ",
           std::to_string(8 * size * k), ", ", std::to_string(8 * size));
      word = next;
    }
    words.push_back(word);
  }
  return words;
}

/// ".v4.b32" for the words of a vector; a part of a word is moved as `.u16` or
/// `.u8`.
static std::string accessType(size_t numWords, size_t bytes) {
  if (bytes < 4)
    return bytes == 2 ? ".u16" : ".u8";
  std::string vector = numWords == 1 ? "" : ".v" + std::to_string(numWords);
  return vector + (bytes / numWords == 8 ? ".b64" : ".b32");
}

KernelWriter::Lanes KernelWriter::load(size_t tensor) {
  const DType dtype = descOf(tensor).dtype;
  const size_t size = sizeOf(dtype);
  std::string address = addressOf(tensor);
  if (!isVector(tensor) || lanes == 1) {
    const bool isOne = lies[tensor] == Lie::OneElement ||
                       (lies[tensor] == Lie::Strided && stepOf(tensor) == 0);
    Lanes all;
    for (int64_t k = 0; k < lanes; ++k) {
      if (k > 0 && isOne) {
        all.push_back(all[0]);
        continue;
      }
      all.push_back(newRegister(size == 8));
      int64_t step = isVector(tensor) ? 0 : k * (isOne ? 0 : stepOf(tensor));
      line("ld.global", accessType(1, size), " ", all.back(), ", ",
           at(address, step * int64_t(size)));
    }
    return all;
  }
  const size_t bytes = size * size_t(lanes);
  Lanes words;
  for (size_t i = 0; i < (size == 8 ? bytes / 8 : (bytes + 3) / 4); ++i)
    words.push_back(newRegister(size == 8));
  line("ld.global", accessType(words.size(), bytes), " ", vectorOf(words), ", ",
       at(address, 0));
  return size >= 4 ? words : unpacked(words, size);
}

void KernelWriter::store(size_t tensor, const Lanes &all) {
  const size_t size = sizeOf(descOf(tensor).dtype);
  std::string address = addressOf(tensor);
  if (!isVector(tensor) || lanes == 1) {
    for (int64_t k = 0; k < lanes; ++k)
      line("st.global", accessType(1, size), " ",
           at(address, k * (lanes == 1 ? 0 : stepOf(tensor)) * int64_t(size)),
           ", ", all[size_t(k)]);
    return;
  }
  Lanes words = size >= 4 ? all : packed(all, size);
  line("st.global", accessType(words.size(), size * size_t(lanes)), " ",
       at(address, 0), ", ", vectorOf(words));
}

/// A function of scalars of one element: its text, or a call of it.
StatusOr<std::string> KernelWriter::call(const std::string &function,
                                         const Lanes &arguments,
                                         bool returns64Bits) {
  const std::string full = "aicf_" + function;
  const ScalarFunction *found = ScalarText::get().find(full);
  if (!found)
    return makeError(StatusCode::NotImplemented, function,
                     " is not among the functions of generated kernels");
  std::string result = newRegister(returns64Bits);
  if (found->lines.size() < kLongFunction &&
      numLines + found->lines.size() < kMaxLines) {
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
  line("call.uni (aicf_out), ", full, ", (", list, ")");
  line("ld.param", type(returns64Bits), result, ", [aicf_out]");
  code += "}\n";
  return result;
}

StatusOr<KernelWriter::Lanes>
KernelWriter::each(const std::string &function,
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

StatusOr<KernelWriter::Lanes> KernelWriter::convert(const Lanes &all,
                                                    DType from, DType to) {
  if (from == to)
    return all;
  return each("cast_" + name(from) + "_" + name(to), {all}, to);
}

/// The fields of a primitive in registers.
KernelWriter::Lanes KernelWriter::fieldsOf(const Primitive &primitive) {
  const OpInfo &info = infoOf(primitive.kind);
  Lanes fields;
  for (size_t f = 0; f < info.numFields; ++f) {
    const bool isWide = info.fields[f].format != 'i';
    uint64_t bits = 0;
    std::memcpy(&bits, primitive.attrs.data() + info.fields[f].offset,
                isWide ? 8 : 4);
    fields.push_back(newRegister(isWide));
    line(isWide ? "mov.b64 " : "mov.b32 ", fields.back(), ", ",
         std::to_string(bits));
  }
  return fields;
}

StatusOr<KernelWriter::Lanes> KernelWriter::compute(size_t index) {
  const Primitive &primitive = body.primitives[index];
  auto typeOf = [&](int32_t value) {
    return values[size_t(value)].desc.dtype;
  };
  const DType result = values[body.numOperands + index].desc.dtype;
  if (isCopy(primitive.kind))
    return lanesOf[size_t(primitive.operands[0])];
  if (primitive.kind == OpKind::Cast) {
    AICF_ASSIGN_OR_RETURN(Lanes all,
                          convert(lanesOf[size_t(primitive.operands[0])],
                                  wide(typeOf(primitive.operands[0])),
                                  wide(result)));
    AICF_ASSIGN_OR_RETURN(Lanes rounded, convert(all, wide(result), result));
    return convert(rounded, result, wide(result));
  }
  const OpKind kind = elementwiseKind(primitive.kind);
  std::vector<Lanes> arguments;
  if (kind == primitive.kind)
    for (const std::string &field : fieldsOf(primitive))
      arguments.push_back({field});
  DType computed = DType::I1;
  for (int32_t operand : primitive.operands) {
    arguments.push_back(lanesOf[size_t(operand)]);
    if (computed == DType::I1)
      computed = wide(typeOf(operand));
  }
  AICF_ASSIGN_OR_RETURN(Lanes all,
                        each(std::string(nameOf(kind)) + "_" + name(computed),
                             arguments, wide(result)));
  AICF_ASSIGN_OR_RETURN(Lanes rounded, convert(all, wide(result), result));
  return convert(rounded, result, wide(result));
}

StatusOr<GraphKernel> KernelWriter::run() {
  chooseLanes();
  writeIndex();
  if (hasStrides)
    writeCoordinates();
  for (size_t t = 0; t < body.numOperands; ++t) {
    const DType dtype = descOf(t).dtype;
    loadedOf.push_back(load(t));
    AICF_ASSIGN_OR_RETURN(Lanes all,
                          convert(loadedOf.back(), dtype, wide(dtype)));
    lanesOf.push_back(std::move(all));
  }
  for (size_t p = 0; p < body.primitives.size(); ++p) {
    AICF_ASSIGN_OR_RETURN(Lanes all, compute(p));
    lanesOf.push_back(std::move(all));
    const Primitive &primitive = body.primitives[p];
    loadedOf.push_back(isCopy(primitive.kind)
                           ? loadedOf[size_t(primitive.operands[0])]
                           : Lanes());
  }
  for (size_t t = body.numOperands; t < tensors.size(); ++t) {
    const DType dtype = descOf(t).dtype;
    if (!loadedOf[tensors[t]].empty()) {
      store(t, loadedOf[tensors[t]]);
      continue;
    }
    AICF_ASSIGN_OR_RETURN(
        Lanes all, convert(lanesOf[tensors[t]], wide(dtype), dtype));
    store(t, all);
  }
  const int64_t blocks = (elements / lanes + kThreads - 1) / kThreads;
  if (blocks > INT32_MAX)
    return makeError(StatusCode::NotImplemented, "a graph over ", elements,
                     " elements needs ", blocks, " blocks of threads, at most ",
                     INT32_MAX, " can be launched");
  GraphKernel kernel;
  const std::string bytes = std::to_string(8 * tensors.size());
  kernel.text = ScalarText::get().header() + ScalarText::get().define(called) +
                ".visible .entry " + kGraphEntry +
                "(.param .align 8 .b8 aicf_addresses[" + bytes +
                "])\n.maxntid " + std::to_string(kThreads) +
                ", 1, 1\n{\n.reg .pred %aq<1>;\n.reg .b32 %aw<" +
                std::to_string(num32 + 1) + ">;\n.reg .b64 %ax<" +
                std::to_string(num64 + 1) + ">;\n" + code + "ret;\n}\n";
  kernel.launch.block[0] = kThreads;
  kernel.launch.grid[0] = uint32_t(blocks);
  for (uint32_t value : tensors)
    kernel.launch.params.push_back(
        uint64_t(reinterpret_cast<uintptr_t>(values[value].start())));
  return kernel;
}

} // namespace

StatusOr<GraphKernel> writeGraphKernel(const Body &body,
                                       Span<const TensorView> values) {
  const std::vector<TensorView> seen = graphTensors(body, values);
  return KernelWriter(body, seen).run();
}

} // namespace aicf::cuda
