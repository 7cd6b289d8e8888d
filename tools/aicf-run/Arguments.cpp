//===- Arguments.cpp - tensors on the command line ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "lib/Base/Element.h"
#include "lib/Base/File.h"
#include "lib/Runtime/IO/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

namespace aicf {
namespace {

template <typename... Args> Status refuse(const Args &...args) {
  return makeError(StatusCode::InvalidArgument, args...);
}

StatusOr<double> parseNumber(const std::string &text) {
  char *end = nullptr;
  errno = 0;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end)
    return refuse("\"", text, "\" is not a number");
  if (errno == ERANGE && std::isinf(value))
    return refuse("\"", text, "\" is too large for a number");
  return value;
}

StatusOr<DType> parseDType(const std::string &text) {
  if (std::optional<DType> dtype = parseEnum<DType>(text, kNumDTypes))
    return *dtype;
  return refuse("\"", text,
                "\" is not a dtype, expected f16, bf16, f32, f64, i32, i64 or "
                "i1");
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Status store(double value, DType dtype, uint8_t *at) {
  // Beyond 2^53 a double is not the number that was written.
  double limit = dtype == DType::I1    ? 2
                 : dtype == DType::I32 ? 0x1p31
                                       : 0x1p53;
  double least = dtype == DType::I1    ? 0
                 : dtype == DType::I32 ? -limit
                                       : 1 - limit;
  if (!isFloat(dtype) &&
      (std::trunc(value) != value || value >= limit || value < least))
    return refuse(value, " is not an ", nameOf(dtype));
  storeElement(dtype, at, value);
  if (std::isfinite(value) && !std::isfinite(loadElement(dtype, at)))
    return refuse(value, " is too large for ", nameOf(dtype));
  return {};
}

StatusOr<HostTensor> makeTensor(const TensorDesc &desc,
                                const std::vector<double> &values) {
  HostTensor tensor{desc, std::vector<uint8_t>(desc.spanBytes())};
  size_t n = size_t(desc.elements()), size = sizeOf(desc.dtype);
  if (values.size() != n && values.size() != 1)
    return refuse(desc.toString(), " takes ", n,
                  " numbers or one for all, got ", values.size());
  for (size_t i = 0; i < n; ++i)
    AICF_RETURN_IF_ERROR(store(values[values.size() == 1 ? 0 : i], desc.dtype,
                               tensor.bytes.data() + i * size));
  return tensor;
}

/// "2x3xf32=1,2,3,4,5,6"
StatusOr<HostTensor> parseInline(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return refuse("\"", text, "\" is neither @FILE.npy nor TYPE=NUMBERS");
  std::vector<std::string> type = split(text.substr(0, equals), 'x');
  AICF_ASSIGN_OR_RETURN(DType dtype, parseDType(type.back()));
  type.pop_back();
  std::vector<int64_t> shape;
  double elements = 1;
  for (const std::string &part : type) {
    AICF_ASSIGN_OR_RETURN(double d, parseNumber(part));
    elements *= d;
    if (std::trunc(d) != d || d < 1 || elements > 1e8 ||
        shape.size() == kMaxRank)
      return refuse("\"", text.substr(0, equals),
                    "\" is not a shape of up to 1e8 elements");
    shape.push_back(int64_t(d));
  }
  std::vector<double> values;
  for (const std::string &part : split(text.substr(equals + 1), ',')) {
    AICF_ASSIGN_OR_RETURN(double value, parseNumber(part));
    values.push_back(value);
  }
  return makeTensor(TensorDesc(dtype, shape), values);
}

/// Splits "name=rest" at the first '=': a tensor whose name holds one cannot be
/// said here.
StatusOr<std::pair<std::string, std::string>>
splitName(const std::string &argument) {
  size_t equals = argument.find('=');
  if (equals == 0 || equals == std::string::npos)
    return refuse("\"", argument, "\" does not start with NAME=");
  return std::pair(argument.substr(0, equals), argument.substr(equals + 1));
}

} // namespace

StatusOr<NamedTensor> parseTensorArgument(const std::string &argument) {
  AICF_ASSIGN_OR_RETURN(auto parts, splitName(argument));
  const auto &[name, rest] = parts;
  if (rest.rfind("@", 0) != 0) {
    StatusOr<HostTensor> tensor = parseInline(rest);
    if (!tensor.ok())
      return tensor.status().withContext(name);
    return NamedTensor{name, std::move(*tensor)};
  }
  std::string path = rest.substr(1);
  StatusOr<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes.ok())
    return Status(StatusCode::InvalidFile, bytes.status().message());
  StatusOr<HostTensor> tensor = parseNpy(*bytes);
  if (!tensor.ok())
    return tensor.status().withContext("'" + path + "'");
  return NamedTensor{name, std::move(*tensor)};
}

StatusOr<NamedFile> parseFileArgument(const std::string &argument) {
  AICF_ASSIGN_OR_RETURN(auto parts, splitName(argument));
  const auto &[name, rest] = parts;
  if (rest.size() < 2 || rest.rfind("@", 0) != 0)
    return refuse("\"", argument, "\" is not NAME=@FILE.npy");
  return NamedFile{name, rest.substr(1)};
}

StatusOr<NamedTensor> parseSetArgument(const Plan &plan,
                                       const std::string &argument) {
  AICF_ASSIGN_OR_RETURN(auto parts, splitName(argument));
  const auto &[name, text] = parts;
  for (const TensorInfo &t : plan.tensors()) {
    if (t.name != name)
      continue;
    if (t.role != Role::Hyper)
      return refuse("--set ", name, ": it is of role ", nameOf(t.role),
                    ", expected hyper");
    std::vector<double> values;
    std::istringstream numbers(text);
    for (std::string number; std::getline(numbers, number, ',');) {
      StatusOr<double> value = parseNumber(number);
      if (!value.ok())
        return value.status().withContext("--set " + name);
      if (!std::isfinite(*value))
        return refuse("--set ", name, ": ", number, " is not a finite number");
      values.push_back(*value);
    }
    StatusOr<HostTensor> host = makeTensor(t.desc, values);
    if (!host.ok())
      return host.status().withContext("--set " + name);
    return NamedTensor{name, std::move(*host)};
  }
  return refuse("--set ", name, ": the plan has no hyper of that name");
}

std::string qualify(const Executor &executor, const std::string &entry,
                    const std::string &name) {
  for (const TensorInfo &t :
       executor.plan().tensors(*executor.plan().findEntry(entry)))
    if (t.name == name)
      return entry + "/" + name;
  return name;
}

Status writeTensor(Executor &executor, const NamedTensor &named) {
  AICF_ASSIGN_OR_RETURN(TensorInfo tensor, executor.find(named.name));
  if (tensor.desc != named.tensor.desc)
    return refuse("\"", named.name, "\" is ", tensor.desc.toString(),
                  " in the plan, got ", named.tensor.desc.toString());
  return executor.write(named.name, named.tensor.bytes.data(),
                        named.tensor.bytes.size());
}

StatusOr<HostTensor> readTensor(Executor &executor, const std::string &name) {
  AICF_ASSIGN_OR_RETURN(TensorInfo tensor, executor.find(name));
  HostTensor host{tensor.desc, std::vector<uint8_t>(tensor.desc.spanBytes())};
  AICF_RETURN_IF_ERROR(
      executor.read(name, host.bytes.data(), host.bytes.size()));
  return host;
}

double elementAsDouble(const HostTensor &tensor, size_t i) {
  return loadElement(tensor.desc.dtype,
                     tensor.bytes.data() + i * sizeOf(tensor.desc.dtype));
}

StatusOr<double> relativeError(const HostTensor &actual,
                               const HostTensor &expected) {
  if (!actual.desc.sameShape(expected.desc))
    return refuse("the result is ", actual.desc.toString(),
                  ", expected ", expected.desc.toString());
  // Scaled by the largest element, so that squares neither vanish nor overflow.
  size_t n = size_t(expected.desc.elements());
  double largest = 0;
  for (size_t i = 0; i < n; ++i)
    for (double x : {elementAsDouble(actual, i), elementAsDouble(expected, i)})
      if (std::isfinite(x))
        largest = std::max(largest, std::fabs(x));
  if (largest == 0)
    largest = 1;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < n; ++i) {
    double a = elementAsDouble(actual, i), e = elementAsDouble(expected, i);
    bool bothNaN = std::isnan(a) && std::isnan(e);
    if (!bothNaN && a != e) {
      if (!std::isfinite(a) || !std::isfinite(e))
        return std::numeric_limits<double>::infinity();
      difference += std::pow(a / largest - e / largest, 2);
    }
    norm += std::isfinite(e) ? std::pow(e / largest, 2) : 0;
  }
  return std::sqrt(difference) / (norm > 0 ? std::sqrt(norm) : 1);
}

std::vector<std::string> comparableNames(const Plan &plan,
                                         const std::string &entry) {
  std::vector<std::string> names;
  for (const TensorInfo &t : plan.tensors())
    if (t.role != Role::Hyper)
      names.push_back(t.name);
  for (const TensorInfo &t : plan.tensors(*plan.findEntry(entry)))
    if (t.role == Role::Output)
      names.push_back(entry + "/" + t.name);
  return names;
}

std::vector<std::string> scalarOutputs(const Plan &plan,
                                       const std::string &entry) {
  std::vector<std::string> names;
  for (const TensorInfo &t : plan.tensors(*plan.findEntry(entry)))
    if (t.role == Role::Output && t.desc.rank == 0)
      names.push_back(entry + "/" + t.name);
  return names;
}

} // namespace aicf
