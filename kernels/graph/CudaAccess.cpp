//===- CudaAccess.cpp - where elements of a graph lie, and their loads ----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaElements.h"
#include "lib/Base/FastDivisor.h"

#include <algorithm>

namespace aicf::cuda {

/// What one instruction loads or stores.
static constexpr uint64_t kMaxAccessBytes = 16;

ElementWriter::Lie ElementWriter::lieOf(const TensorDesc &desc) {
  if (desc.layout != Layout::Strided)
    return Lie::Dense;
  for (size_t i = 0; i < desc.rank; ++i)
    if (desc.stride(i) != 0)
      return Lie::Strided;
  return Lie::OneElement;
}

std::vector<uint64_t> ElementWriter::addresses() const {
  std::vector<uint64_t> all;
  for (uint32_t value : tensors)
    all.push_back(uint64_t(reinterpret_cast<uintptr_t>(values[value].start())));
  return all;
}

std::string ElementWriter::registers() const {
  return ".reg .b32 %aw<" + std::to_string(num32 + 1) + ">;\n.reg .b64 %ax<" +
         std::to_string(num64 + 1) + ">;\n";
}

//===----------------------------------------------------------------------===//
// Where elements lie
//===----------------------------------------------------------------------===//

/// Distances between the lanes of a thread are numbers of 32 bits in the text.
bool ElementWriter::isFar(size_t t, int64_t count) const {
  return stepOf(t) > INT32_MAX / (count * int64_t(sizeOf(descOf(t).dtype)));
}

/// True if `count` elements from a multiple of `count` on are a vector, of
/// which each instruction accesses a part.
bool ElementWriter::isVectorOf(size_t t, int64_t count,
                               uint64_t mostBytes) const {
  const uint64_t bytes = sizeOf(descOf(t).dtype) * uint64_t(count);
  const auto address = reinterpret_cast<uintptr_t>(values[tensors[t]].start());
  return isVector(t) && bytes <= mostBytes &&
         address % std::min(bytes, kMaxAccessBytes) == 0 &&
         (lies[t] == Lie::Dense || walks.hasVectors(walkOf(t), count));
}

/// True if each tensor can be accessed in vectors of so many elements.
bool ElementWriter::fits(int64_t count) const {
  if (elements % count != 0 ||
      (hasStrides && walks.dims[walks.rank - 1] % count != 0))
    return false;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (lies[t] == Lie::Strided && isFar(t, count))
      return count == 1;
    if (isVector(t) && !isVectorOf(t, count, kMaxAccessBytes))
      return false;
  }
  return true;
}

int64_t ElementWriter::widestVector() const {
  int64_t count = 8;
  while (count > 1 && !fits(count))
    count /= 2;
  return count;
}

/// The index along each loop of the strided tensors.
std::vector<std::string>
ElementWriter::coordinatesOf(const std::string &index) {
  std::vector<std::string> all(size_t(walks.rank));
  std::string rest = index;
  const bool isSmall = elements < (int64_t(1) << 31);
  for (int d = walks.rank - 1; d > 0; --d) {
    const std::string size = std::to_string(walks.dims[d]);
    std::string quotient = newRegister(true), &along = all[size_t(d)];
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
  all[0] = rest;
  return all;
}

/// The address of a tensor's first element.
std::string ElementWriter::baseOf(size_t tensor) {
  std::string address = newRegister(true);
  line("ld.param.u64 ", address, ", ", at(parameter, int64_t(8 * tensor)));
  line("cvta.to.global.u64 ", address, ", ", address);
  return address;
}

/// The address of the thread's first element of a tensor, or of the element of
/// `lane`, which has coordinates of its own.
std::string ElementWriter::addressOf(size_t tensor, size_t lane) {
  std::string address = baseOf(tensor);
  const std::string size = std::to_string(sizeOf(descOf(tensor).dtype));
  if (lies[tensor] == Lie::Dense)
    line("mad.lo.u64 ", address, ", ", of(tensors[tensor]).first, ", ", size,
         ", ", address);
  for (int d = 0; lies[tensor] == Lie::Strided && d < walks.rank; ++d)
    if (int64_t stride = walks.strides[walkOf(tensor)][d])
      line("mad.lo.u64 ", address, ", ", whole.coordinates[lane][size_t(d)],
           ", ", std::to_string(stride * int64_t(sizeOf(descOf(tensor).dtype))),
           ", ", address);
  return address;
}

/// Where each element lies, "[...]": the same place for one element.
std::vector<std::string> ElementWriter::placesOf(size_t tensor) {
  const bool isApart =
      lies[tensor] == Lie::Strided && whole.coordinates.size() > 1;
  const int64_t step = stepOf(tensor) * int64_t(sizeOf(descOf(tensor).dtype));
  std::vector<std::string> places;
  std::string address;
  for (int64_t k = 0; k < lanes; ++k) {
    if (k == 0 || isApart)
      address = addressOf(tensor, isApart ? size_t(k) : 0);
    places.push_back(at(address, isApart ? 0 : k * step));
  }
  return places;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// "{%aw0, %aw1}", or the one register.
static std::string vectorOf(const std::vector<std::string> &words) {
  if (words.size() == 1)
    return words[0];
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "{" : ", ") + word;
  return text + "}";
}

/// `count` elements of `size` bytes, below four, out of 32-bit words or a part
/// of one.
ElementWriter::Lanes ElementWriter::unpacked(const Lanes &words, size_t size,
                                             size_t count) {
  Lanes all;
  const size_t inWord = std::min(4 / size, count);
  for (const std::string &word : words)
    for (size_t k = 0; k < inWord; ++k) {
      all.push_back(newRegister(false));
      line("bfe.u32 ", all.back(), ", ", word, ", ",
           std::to_string(8 * size * k), ", ", std::to_string(8 * size));
    }
  return all;
}
ElementWriter::Lanes ElementWriter::packed(const Lanes &lanes, size_t size) {
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

/// Elements of an access: all, or as many as 16 bytes hold.
static size_t inAccess(int64_t lanes, size_t size) {
  return std::min(size_t(lanes), kMaxAccessBytes / size);
}

ElementWriter::Lanes ElementWriter::loadVector(const std::string &space,
                                               const std::string &address,
                                               size_t size) {
  const size_t count = inAccess(lanes, size), bytes = size * count;
  Lanes all;
  for (size_t done = 0; done < size_t(lanes); done += count) {
    Lanes words;
    for (size_t i = 0; i < (size == 8 ? bytes / 8 : (bytes + 3) / 4); ++i)
      words.push_back(newRegister(size == 8));
    line("ld", space, accessType(words.size(), bytes), " ", vectorOf(words),
         ", ", at(address, int64_t(done * size)));
    if (size < 4)
      words = unpacked(words, size, count);
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

void ElementWriter::storeVector(const std::string &store,
                                const std::string &address, const Lanes &all,
                                size_t size) {
  const size_t count = inAccess(lanes, size);
  for (size_t done = 0; done < size_t(lanes); done += count) {
    Lanes words(all.begin() + int64_t(done),
                all.begin() + int64_t(done + count));
    if (size < 4)
      words = packed(words, size);
    line(store, accessType(words.size(), size * count), " ",
         at(address, int64_t(done * size)), ", ", vectorOf(words));
  }
}

ElementWriter::Lanes ElementWriter::load(size_t tensor) {
  const size_t size = sizeOf(descOf(tensor).dtype);
  if (lanes > 1 && isVectorOf(tensor, lanes, UINT64_MAX))
    return loadVector(".global", addressOf(tensor), size);
  Lanes all;
  for (const std::string &place : placesOf(tensor)) {
    if (!all.empty() && stepOf(tensor) == 0 && whole.coordinates.size() < 2) {
      all.push_back(all[0]);
      continue;
    }
    all.push_back(newRegister(size == 8));
    line("ld.global", accessType(1, size), " ", all.back(), ", ", place);
  }
  return all;
}

void ElementWriter::store(size_t tensor, const Lanes &all) {
  const size_t size = sizeOf(descOf(tensor).dtype);
  if (lanes > 1 && isVectorOf(tensor, lanes, UINT64_MAX))
    return storeVector("st.global", addressOf(tensor), all, size);
  const std::vector<std::string> places = placesOf(tensor);
  for (size_t k = 0; k < places.size(); ++k)
    line("st.global", accessType(1, size), " ", places[k], ", ", all[k]);
}

} // namespace aicf::cuda
