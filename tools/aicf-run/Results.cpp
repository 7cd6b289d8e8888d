//===- Results.cpp - what a run says of itself ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace aicf {
namespace {

template <typename... Args> Status refuse(const Args &...args) {
  return makeError(StatusCode::InvalidArgument, args...);
}

std::string textOf(const HostTensor &tensor, double value) {
  std::ostringstream text;
  int64_t whole = isFloat(tensor.desc.dtype) ? 0 : int64_t(value);
  if (tensor.desc.dtype == DType::I64) // above 2^53 no double has it
    std::memcpy(&whole, tensor.bytes.data(), sizeof(whole));
  if (isFloat(tensor.desc.dtype))
    text << std::setprecision(9) << value;
  else
    text << whole;
  return text.str();
}

/// "train_step/loss" or "loss".
bool isLoss(const Scalar &scalar) {
  size_t slash = scalar.name.rfind('/');
  return scalar.name.substr(slash == std::string::npos ? 0 : slash + 1) ==
         "loss";
}

} // namespace

StatusOr<std::vector<Scalar>> readScalars(Executor &executor,
                                          const std::string &entry) {
  std::vector<Scalar> scalars;
  for (const std::string &name : scalarOutputs(executor.plan(), entry)) {
    AICF_ASSIGN_OR_RETURN(HostTensor tensor, readTensor(executor, name));
    double value = elementAsDouble(tensor, 0);
    scalars.push_back({name, textOf(tensor, value), value});
  }
  std::stable_partition(scalars.begin(), scalars.end(),
                        [](const Scalar &s) { return !isLoss(s); });
  return scalars;
}

bool areFinite(const Executor &executor, const std::string &entry,
               const std::vector<Scalar> &scalars,
               const std::vector<NamedTensor> &expected, uint64_t steps) {
  bool finite = true;
  for (const Scalar &scalar : scalars) {
    bool isExpected = false;
    for (const NamedTensor &e : expected)
      isExpected |= qualify(executor, entry, e.name) == scalar.name;
    if (std::isfinite(scalar.value) || isExpected)
      continue;
    std::cerr << "aicf-run: \"" << scalar.name << "\" is " << scalar.value
              << " after " << steps << " steps, not a finite number\n";
    finite = false;
  }
  return finite;
}

void printScalars(const std::vector<Scalar> &scalars) {
  for (const Scalar &scalar : scalars)
    std::cout << scalar.name << " = " << scalar.text << "\n";
}

StatusOr<bool> compareExpected(Executor &executor, const std::string &entry,
                               const std::vector<NamedTensor> &expected,
                               double tolerance) {
  bool same = true;
  for (const NamedTensor &e : expected) {
    AICF_ASSIGN_OR_RETURN(
        HostTensor actual,
        readTensor(executor, qualify(executor, entry, e.name)));
    AICF_ASSIGN_OR_RETURN(double error, relativeError(actual, e.tensor));
    if (error <= tolerance)
      continue;
    std::cerr << "aicf-run: \"" << e.name
              << "\" differs from --expected: relative error " << error
              << " is above the tolerance, " << tolerance << "\n";
    same = false;
  }
  return same;
}

Status checkAccuracy(Executor &executor, const std::string &entry,
                     const NamedTensor &labels) {
  std::string name = qualify(executor, entry, labels.name);
  AICF_ASSIGN_OR_RETURN(TensorInfo tensor, executor.find(name));
  const TensorDesc &rows = tensor.desc, &given = labels.tensor.desc;
  if (rows.rank == 0 || !isFloat(rows.dtype))
    return refuse("--accuracy ", labels.name, " is ", rows.toString(),
                  ", expected floats whose last dimension is the classes");
  TensorDesc wanted(DType::I32, {rows.dims, size_t(rows.rank) - 1});
  if (isFloat(given.dtype) || !given.sameShape(wanted))
    return refuse("--accuracy ", labels.name, ": the labels are ",
                  given.toString(), ", expected ", wanted.toString());
  return executor.checkRead(name, entry);
}

Status showAccuracy(Executor &executor, const std::string &entry,
                    const NamedTensor &labels) {
  std::string name = qualify(executor, entry, labels.name);
  AICF_ASSIGN_OR_RETURN(HostTensor output, readTensor(executor, name));
  size_t classes = size_t(output.desc.width());
  size_t rows = size_t(output.desc.elements()) / classes, right = 0,
         outside = 0;
  for (size_t row = 0; row < rows; ++row) {
    size_t best = 0;
    bool isNumber = true;
    for (size_t c = 0; c < classes; ++c) {
      double value = elementAsDouble(output, row * classes + c);
      isNumber &= !std::isnan(value);
      if (value > elementAsDouble(output, row * classes + best))
        best = c;
    }
    double label = elementAsDouble(labels.tensor, row);
    outside += label < 0 || label >= double(classes);
    right += isNumber && label == double(best);
  }
  std::cout << "accuracy of " << name << " = " << std::setprecision(6)
            << double(right) / double(rows) << " (" << right << " of " << rows;
  if (outside)
    std::cout << "; " << outside << " labels lie outside of the " << classes
              << " classes and count as wrong";
  std::cout << ")\n";
  return {};
}

Status TrainingLog::open(uint64_t steps, const std::string &where,
                         bool append) {
  every = steps;
  path = where;
  start = std::chrono::steady_clock::now();
  if (path.empty())
    return {};
  file.open(path, append ? std::ios::app : std::ios::trunc);
  if (!file)
    return refuse("cannot write '", path, "'");
  return {};
}

Status TrainingLog::write(uint64_t step, const std::vector<Scalar> &scalars) {
  std::cout << "step " << step << ":";
  for (const Scalar &scalar : scalars)
    std::cout << " " << scalar.name << " = " << scalar.text;
  std::cout << std::endl; // whoever watches a pipe sees it now
  if (path.empty())
    return {};
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  nlohmann::ordered_json line = {{"step", step}, {"seconds", seconds.count()}};
  for (const Scalar &scalar : scalars) {
    line[scalar.name] = nullptr;
    if (std::isfinite(scalar.value)) // the number as it is printed
      line[scalar.name] = nlohmann::ordered_json::parse(scalar.text);
  }
  file << line.dump() << std::endl; // what was logged stays, whatever comes
  if (!file)
    return makeError(StatusCode::FileError, "cannot write '", path, "'");
  return {};
}

} // namespace aicf
