//===- Npy.cpp - NumPy's array files --------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/IO/Npy.h"

#include "lib/Base/Element.h"

#include <cstring>

namespace aicf {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

/// NumPy's names of our dtypes, by number; bf16 has none.
constexpr const char *kDescrs[kNumDTypes] = {"<f4", "<f2", "",   "<f8",
                                             "<i4", "<i8", "|b1"};

template <typename... Args> Status refuse(const Args &...args) {
  return makeError(StatusCode::InvalidFile, "npy: ", args...);
}

/// Reads the Python dict literal of a header, in which NumPy writes the three
/// keys; any order and spacing is accepted, nothing else is.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  StatusOr<TensorDesc> parse() {
    TensorDesc desc;
    bool seen[4] = {false, false, false, true}; // the last: of no known key
    if (!take('{'))
      return refuse("the header does not start with '{'");
    while (!take('}')) {
      std::string_view key = quoted();
      int index = key == "descr"           ? 0
                  : key == "fortran_order" ? 1
                  : key == "shape"         ? 2
                                           : 3;
      if (seen[index])
        return refuse("the header has an unknown or repeated key \"", key,
                      "\"");
      if (!take(':'))
        return refuse("the header lacks a ':' behind \"", key, "\"");
      seen[index] = true;
      AICF_RETURN_IF_ERROR(index == 0   ? parseDescr(desc)
                           : index == 1 ? parseOrder()
                                        : parseShape(desc));
      if (!take(',') && peek() != '}')
        return refuse("the header lacks a ',' or '}'");
    }
    skipSpace();
    if (!text.empty() || !seen[0] || !seen[1] || !seen[2])
      return refuse("the header lacks a key or has text behind '}'");
    return desc;
  }

private:
  void skipSpace() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n'))
      text.remove_prefix(1);
  }
  char peek() {
    skipSpace();
    return text.empty() ? '\0' : text[0];
  }
  bool take(char c) {
    if (peek() != c) // never '\0', which stands for the end
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (text.substr(0, word.size()) != word)
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  std::string_view quoted() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return {};
    size_t end = text.find(quote, 1);
    if (end == std::string_view::npos)
      return {};
    std::string_view inner = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return inner;
  }
  Status parseDescr(TensorDesc &desc) {
    std::string_view descr = quoted();
    for (uint8_t d = 0; d < kNumDTypes; ++d)
      if (!descr.empty() && descr == kDescrs[d]) {
        desc.dtype = static_cast<DType>(d);
        return {};
      }
    return refuse("dtype \"", descr,
                  "\" is not one of <f4, <f8, <f2, <i4, <i8, |b1");
  }
  Status parseOrder() {
    if (takeWord("False"))
      return {};
    return refuse("fortran_order is not False: the array must be in C order");
  }
  Status parseShape(TensorDesc &desc) {
    if (!take('('))
      return refuse("shape is not a tuple");
    while (!take(')')) {
      int64_t d = 0;
      size_t digits = 0;
      for (peek(); digits < text.size() && text[digits] >= '0' &&
                   text[digits] <= '9' && digits < 10;
           ++digits)
        d = d * 10 + (text[digits] - '0');
      if (d == 0 || d > INT32_MAX || desc.rank == kMaxRank) // no digits: 0
        return refuse("shape has a dimension that is not in 1 to ", INT32_MAX,
                      ", or more than ", kMaxRank);
      text.remove_prefix(digits);
      desc.dims[desc.rank++] = d;
      if (!take(',') && peek() != ')')
        return refuse("shape lacks a ',' or ')'");
    }
    return {};
  }

  std::string_view text;
};

} // namespace

StatusOr<HostTensor> parseNpy(Span<const uint8_t> bytes) {
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kMagic, 6) != 0)
    return refuse("the file does not start with NumPy's magic");
  uint8_t major = bytes[6], minor = bytes[7];
  if ((major != 1 && major != 2) || minor != 0)
    return refuse("version ", int(major), ".", int(minor),
                  " is not 1.0 or 2.0");
  size_t start = major == 1 ? 10 : 12;
  size_t headerBytes = bytes[8] | size_t(bytes[9]) << 8;
  if (major == 2)
    headerBytes |= size_t(bytes[10]) << 16 | size_t(bytes[11]) << 24;
  if (headerBytes > bytes.size() - start)
    return refuse("the header of ", headerBytes,
                  " bytes does not fit in a file of ", bytes.size());
  std::string_view header(reinterpret_cast<const char *>(bytes.data()) + start,
                          headerBytes);
  AICF_ASSIGN_OR_RETURN(TensorDesc desc, HeaderParser(header).parse());
  uint64_t expected = sizeOf(desc.dtype);
  for (int64_t d : desc.shape())
    if (__builtin_mul_overflow(expected, uint64_t(d), &expected))
      return refuse("the shape of ", desc.toString(), " overflows");
  size_t dataBytes = bytes.size() - start - headerBytes;
  if (dataBytes != expected)
    return refuse("the array is ", desc.toString(), " of ", expected,
                  " bytes, but the file holds ", dataBytes);
  const uint8_t *data = bytes.data() + start + headerBytes;
  int64_t wrong = findWrongElement(desc.dtype, {data, dataBytes});
  if (wrong >= 0)
    return refuse("element ", wrong, " of ", desc.toString(), " is the byte ",
                  int(data[wrong]), ", expected 0 or 1");
  return HostTensor{desc, {data, data + dataBytes}};
}

StatusOr<std::vector<uint8_t>> serializeNpy(const TensorDesc &desc,
                                            Span<const uint8_t> bytes) {
  const char *descr = kDescrs[static_cast<uint8_t>(desc.dtype)];
  if (!*descr)
    return makeError(StatusCode::NotImplemented, "npy: NumPy has no ",
                     nameOf(desc.dtype));
  std::string header = "{'descr': '" + std::string(descr) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t d : desc.shape())
    header += std::to_string(d) + ",";
  header += "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::vector<uint8_t> out(kMagic, kMagic + 6);
  out.push_back(1);
  out.push_back(0);
  out.push_back(uint8_t(header.size()));
  out.push_back(uint8_t(header.size() >> 8));
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

} // namespace aicf
