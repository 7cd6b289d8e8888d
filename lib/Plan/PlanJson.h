//===- PlanJson.h - plans as JSON -------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_PLANJSON_H
#define AICF_LIB_PLAN_PLANJSON_H

#include "aicf/Plan.h"

#include <nlohmann/json.hpp>

namespace aicf {

using Json = nlohmann::ordered_json;

/// One line of JSON with every field of a record that counts when plans are
/// compared: all but those of the debug table.
std::string recordText(const PlanBuffer &record);
std::string recordText(const PlanValue &record);
std::string recordText(const PlanCall &record);

} // namespace aicf

#endif // AICF_LIB_PLAN_PLANJSON_H
