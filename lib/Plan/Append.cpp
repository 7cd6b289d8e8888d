//===- Append.cpp - a plan with the entries of another behind its own -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Extension.h"

#include <algorithm>
#include <unordered_map>

namespace aicf {
namespace {

/// Makes one list of the buffers that all entries share. Then the values of each
/// entry have other numbers. Labels stay: they count the values of one entry.
class Appender {
public:
  Appender(const Plan &plan, const Plan &more)
      : more(more), result(plan), sharedBefore(uint32_t(plan.buffers.size())) {}

  StatusOr<Plan> run() {
    if (result.device != more.device)
      return makeError(StatusCode::InvalidArgument, "the plan is for ",
                       nameOf(result.device), ", but its further entries for ",
                       nameOf(more.device));
    AICF_RETURN_IF_ERROR(sharePersistent());
    std::vector<uint32_t> kept(sharedBefore);
    for (uint32_t i = 0; i < sharedBefore; ++i)
      kept[i] = i;
    for (PlanEntry &entry : result.entries)
      renumber(entry, kept);
    for (const PlanEntry &entry : more.entries) {
      if (result.findEntry(entry.name))
        return makeError(StatusCode::InvalidArgument,
                         "the plan has an entry \"", entry.name, "\"");
      result.entries.push_back(entry);
      renumber(result.entries.back(), numbers);
    }
    return std::move(result);
  }

private:
  Status sharePersistent() {
    std::unordered_map<std::string, uint32_t> byName;
    for (uint32_t i = 0; i < result.buffers.size(); ++i)
      byName.emplace(result.buffers[i].name, i);
    for (uint32_t i = 0; i < more.buffers.size(); ++i) {
      auto [it, isNew] =
          byName.emplace(more.buffers[i].name, uint32_t(result.buffers.size()));
      numbers.push_back(it->second);
      if (isNew)
        add(i);
      else
        AICF_RETURN_IF_ERROR(checkSame(it->second, i));
    }
    for (uint32_t i = 0; i < more.buffers.size(); ++i) // may stand behind it
      if (more.buffers[i].derivedFrom >= 0)
        AICF_RETURN_IF_ERROR(deriveFrom(
            numbers[i], numbers[size_t(more.buffers[i].derivedFrom)]));
    return {};
  }

  void add(uint32_t i) {
    PlanBuffer buffer = more.buffers[i];
    PlanValue value = more.values[i];
    buffer.offset = alignedBytes(result.persistentBytes);
    result.persistentBytes = buffer.offset + alignedBytes(buffer.bytes);
    value.buffer = uint32_t(result.buffers.size());
    result.buffers.push_back(std::move(buffer));
    result.values.push_back(value);
  }

  Status checkSame(uint32_t own, uint32_t other) const {
    const PlanBuffer &a = result.buffers[own], &b = more.buffers[other];
    if (a.role == b.role && a.init == b.init && a.initValue == b.initValue &&
        a.data == b.data && a.isScratch == b.isScratch &&
        (a.derivedFrom < 0) == (b.derivedFrom < 0) &&
        result.values[own].desc == more.values[other].desc)
      return {};
    return makeError(StatusCode::InvalidArgument, "\"", a.name,
                     "\" is another tensor in the further entries");
  }

  /// Derives a state; one that both plans have is derived already.
  Status deriveFrom(uint32_t state, uint32_t source) {
    PlanBuffer &buffer = result.buffers[state];
    if (state < sharedBefore && buffer.derivedFrom != int32_t(source))
      return makeError(
          StatusCode::InvalidArgument, "\"", buffer.name,
          "\" is derived from another tensor in the further entries");
    buffer.derivedFrom = int32_t(source);
    return {};
  }

  /// Numbers below the size of `shared` are those of persistent buffers; those
  /// of the entry's own follow them. Values have the same rule.
  void renumber(PlanEntry &entry, const std::vector<uint32_t> &shared) const {
    auto numOld = uint32_t(shared.size());
    auto numNew = uint32_t(result.buffers.size());
    auto change = [&](uint32_t &number) {
      number = number < numOld ? shared[number] : number - numOld + numNew;
    };
    for (PlanValue &value : entry.values)
      change(value.buffer);
    for (PlanCall &call : entry.calls) {
      std::for_each(call.ins.begin(), call.ins.end(), change);
      std::for_each(call.outs.begin(), call.outs.end(), change);
      if (call.workspace >= 0)
        call.workspace = int32_t(uint32_t(call.workspace) - numOld + numNew);
    }
  }

  const Plan &more;
  Plan result;
  const uint32_t sharedBefore;
  std::vector<uint32_t> numbers; ///< by persistent buffer of `more`
};

} // namespace

StatusOr<Plan> appendEntries(const Plan &plan, const Plan &more) {
  AICF_ASSIGN_OR_RETURN(Plan result, Appender(plan, more).run());
  AICF_RETURN_IF_ERROR(verifyPlan(result));
  return result;
}

} // namespace aicf
