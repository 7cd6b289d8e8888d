//===- Profile.cpp - what kernels took ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/Profile.h"

#include <nlohmann/json.hpp>

namespace aicf {

using Json = nlohmann::ordered_json;

StatusOr<Profile> Profile::parse(std::string_view json) {
  auto bad = [] {
    return makeError(StatusCode::InvalidArgument,
                     "not a profile: expected an object with \"kernels\", as "
                     "aicf-run --profile writes it");
  };
  // nlohmann reads brackets in brackets without recursion.
  const Json top = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!top.is_object() || !top.contains("kernels") ||
      !top["kernels"].is_object())
    return bad();
  Profile profile;
  if (auto device = top.find("device"); device != top.end()) {
    if (!device->is_string())
      return bad();
    profile.device = device->get<std::string>();
  }
  for (const auto &[kid, problems] : top["kernels"].items()) {
    if (!problems.is_object())
      return bad();
    for (const auto &[problem, micros] : problems.items()) {
      if (!micros.is_number())
        return bad();
      profile.micros[kid][problem] = micros.get<double>();
    }
  }
  return profile;
}

std::string Profile::toJson() const {
  return Json({{"device", device}, {"kernels", micros}}).dump(1) + "\n";
}

std::optional<double> Profile::find(std::string_view kid,
                                    const std::string &problem) const {
  auto problems = micros.find(std::string(kid));
  if (problems == micros.end())
    return std::nullopt;
  auto found = problems->second.find(problem);
  return found == problems->second.end() ? std::nullopt
                                         : std::optional(found->second);
}

std::string problemOf(const std::vector<std::string> &operandTypes,
                      const std::vector<std::string> &resultTypes) {
  std::string text;
  for (const auto *side : {&operandTypes, &resultTypes}) {
    text += side == &resultTypes ? "->" : "";
    for (size_t i = 0; i < side->size(); ++i)
      text += (i ? "," : "") + (*side)[i];
  }
  return text;
}

std::string problemOf(Span<const TensorDesc> operands,
                      Span<const TensorDesc> results) {
  auto texts = [](Span<const TensorDesc> descs) {
    std::vector<std::string> types;
    for (const TensorDesc &desc : descs)
      types.push_back(desc.toString());
    return types;
  };
  return problemOf(texts(operands), texts(results));
}

std::string problemOf(const TypedBody &call) {
  std::vector<TensorDesc> results;
  for (size_t i = 0; i < call.body().results.size(); ++i)
    results.push_back(call.result(i));
  return problemOf({call.values().data(), call.body().numOperands}, results);
}

} // namespace aicf
