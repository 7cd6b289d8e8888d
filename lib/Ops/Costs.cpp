//===- Costs.cpp - what work costs on a device ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/Costs.h"

#include <algorithm>
#include <sstream>

namespace aicf {
namespace {

/// What does not depend on the device.
constexpr Costs anywhere(std::string_view name, DeviceKind device,
                         std::string_view origin) {
  Costs costs;
  costs.name = name;
  costs.device = device;
  costs.origin = origin;
  costs.callBytes = 1 << 20;
  costs.tiledRowBytes = 64;
  costs.copiedViews = 4;
  costs.nearCalls = 8;
  costs.repeatedPrimitives = 8;
  costs.freeBytes = 256 << 20;
  return costs;
}

constexpr Costs processor() {
  Costs costs =
      anywhere("cpu", DeviceKind::CPU, "measured on two x86-64 cores");
  costs.narrowProductBytes = -1;
  costs.cachedBytes = 1 << 20;
  return costs;
}

/// A card by its multiprocessors and the MiB of its L2 cache. The rest was
/// measured on an H200, and sizes are in proportion to its cache.
constexpr Costs card(std::string_view name, int64_t multiprocessors,
                     int64_t cacheMiB, std::string_view origin) {
  constexpr int64_t kCacheMiBOfH200 = 50;
  auto inProportion = [&](int64_t mib) {
    return (mib << 20) * cacheMiB / kCacheMiBOfH200;
  };
  Costs costs = anywhere(name, DeviceKind::CUDA, origin);
  costs.narrowProductBytes = inProportion(32);
  costs.cachedBytes = inProportion(64);
  costs.multiprocessors = multiprocessors;
  costs.smallProductTiles = 2;
  costs.smallBatchTiles = 4;
  costs.smallProductDepth = 512;
  costs.smallProductWork = 16384;
  costs.sumElements = 1 << 18;
  costs.manySums = 32;
  costs.groupTurns = 128;
  costs.groupReductions = 8;
  costs.groupFunctions = 800;
  costs.groupElements = 1 << 18;
  return costs;
}

constexpr std::string_view kFromItsSize =
    "an H200's, by its multiprocessors and cache; nothing was measured";
constexpr Costs kProfiles[] = {
    processor(),
    card("h200", 132, 50, "measured on an NVIDIA H200"),
    card("h100", 132, 50, "an H200's, which has the same chip"),
    card("a100", 108, 40, kFromItsSize),
    card("rtx4090", 128, 72, kFromItsSize),
};

constexpr CostField kFields[] = {
#define AICF_COST(MEMBER, NAME, UNIT, WHAT) {NAME, UNIT, WHAT, &Costs::MEMBER},
    AICF_COSTS(AICF_COST)
#undef AICF_COST
};

} // namespace

Span<const CostField> costFields() { return {kFields, std::size(kFields)}; }

const CostField *findCostField(std::string_view name) {
  auto *field =
      std::find_if(std::begin(kFields), std::end(kFields),
                   [&](const CostField &f) { return f.name == name; });
  return field == std::end(kFields) ? nullptr : field;
}

Span<const Costs> allCosts() { return {kProfiles, std::size(kProfiles)}; }

const Costs &defaultCosts(DeviceKind device) {
  auto *costs =
      std::find_if(std::begin(kProfiles), std::end(kProfiles),
                   [&](const Costs &c) { return c.device == device; });
  return costs == std::end(kProfiles) ? kProfiles[0] : *costs;
}

const Costs *findCosts(std::string_view name) {
  auto *costs = std::find_if(std::begin(kProfiles), std::end(kProfiles),
                             [&](const Costs &c) { return c.name == name; });
  return costs == std::end(kProfiles) ? nullptr : costs;
}

std::string Costs::toString() const {
  std::ostringstream os;
  os << name << ", a profile of " << nameOf(device) << ": " << origin << "\n";
  for (const CostField &field : costFields()) {
    os << "  " << field.name << " = " << this->*field.member;
    if (!field.unit.empty())
      os << " " << field.unit;
    os << ": " << field.what << "\n";
  }
  return os.str();
}

} // namespace aicf
