//===- Extension.cpp - a plan, and one that has more ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Extension.h"
#include "lib/Plan/Fields.h"

#include <unordered_map>

namespace aicf {
namespace {

class Matcher {
public:
  Matcher(const Plan &plan, const Plan &next) : plan(plan), next(next) {}

  StatusOr<PlanExtension> run() {
    if (plan.device != next.device)
      return makeError(StatusCode::InvalidArgument, "the plan is for ",
                       nameOf(plan.device), ", but the new plan is for ",
                       nameOf(next.device));
    AICF_RETURN_IF_ERROR(matchPersistent());
    AICF_RETURN_IF_ERROR(matchEntries());
    return std::move(found);
  }

private:
  Status matchPersistent() {
    std::unordered_map<std::string_view, uint32_t> byName;
    for (uint32_t i = 0; i < next.buffers.size(); ++i)
      byName[next.buffers[i].name] = i;
    found.persistent.assign(next.buffers.size(), -1);
    for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
      const PlanBuffer &b = plan.buffers[i];
      const TensorDesc &desc = plan.values[i].desc;
      auto it = byName.find(b.name);
      // Not the user's; the other plan may need none.
      bool isOurs = b.derivedFrom >= 0 || b.role == Role::Constant;
      if (it == byName.end() && !isOurs)
        return makeError(StatusCode::InvalidArgument,
                         "the new plan has no \"", b.name, "\"");
      if (it == byName.end())
        continue;
      const PlanBuffer &o = next.buffers[it->second];
      const TensorDesc &otherDesc = next.values[it->second].desc;
      bool isSame = b.role == o.role && desc == otherDesc &&
                    b.data == o.data &&
                    sourceOf(plan, b) == sourceOf(next, o);
      if (isSame)
        found.persistent[it->second] = i;
      else if (!isOurs)
        return makeError(StatusCode::InvalidArgument, "\"", b.name, "\" is a ",
                         nameOf(b.role), " of ", desc.toString(),
                         ", but in the new plan it is a ", nameOf(o.role),
                         " of ", otherDesc.toString());
    }
    return {};
  }

  /// The name of what a state is derived from, or "".
  static std::string_view sourceOf(const Plan &plan, const PlanBuffer &b) {
    return b.derivedFrom < 0 ? std::string_view()
                             : plan.buffers[size_t(b.derivedFrom)].name;
  }

  Status matchEntries() {
    std::unordered_map<std::string_view, size_t> byName;
    for (size_t i = 0; i < next.entries.size(); ++i)
      byName[next.entries[i].name] = i;
    found.entries.assign(next.entries.size(), -1);
    found.named.assign(next.entries.size(), -1);
    for (size_t i = 0; i < plan.entries.size(); ++i) {
      auto it = byName.find(plan.entries[i].name);
      if (it == byName.end())
        return makeError(StatusCode::InvalidArgument,
                         "the new plan has no entry \"",
                         plan.entries[i].name, "\"");
      found.named[it->second] = int64_t(i);
      if (isSame(plan.entries[i], next.entries[it->second]))
        found.entries[it->second] = int64_t(i);
    }
    return {};
  }

  /// A buffer of an entry of `next`, by its number in `plan`; -1 if that has
  /// none. Values of persistent buffers have the buffers' numbers, and each
  /// plan as many: the same is true of values.
  int64_t oldNumber(int64_t number) const {
    auto numOld = int64_t(plan.buffers.size());
    auto numNew = int64_t(next.buffers.size());
    if (number < 0)
      return number;
    return number < numNew ? found.persistent[size_t(number)]
                           : number - numNew + numOld;
  }

  bool isSame(const PlanEntry &a, const PlanEntry &b) const {
    return a.ioBytes == b.ioBytes && a.tempBytes == b.tempBytes &&
           a.accumulate == b.accumulate && a.parts == b.parts &&
           a.buffers == b.buffers &&
           areSame(a.values, b.values) && areSame(a.calls, b.calls);
  }
  template <typename Record>
  bool areSame(const std::vector<Record> &a,
               const std::vector<Record> &b) const {
    bool same = a.size() == b.size();
    for (size_t i = 0; same && i < a.size(); ++i)
      same = isSame(a[i], b[i]);
    return same;
  }

  /// All but labels, which are for readers.
  bool isSame(const PlanValue &a, PlanValue b) const {
    if (int64_t(a.buffer) != oldNumber(b.buffer))
      return false;
    b.buffer = a.buffer;
    b.vid = a.vid;
    return a == b;
  }
  /// Numbers of values.
  bool isSame(uint32_t a, uint32_t b) const {
    return int64_t(a) == oldNumber(b);
  }
  bool isSame(const PlanCall &a, const PlanCall &b) const {
    PlanCall as = b;
    as.ins = a.ins;
    as.outs = a.outs;
    as.workspace = a.workspace;
    as.inVids = a.inVids;
    as.vids = a.vids;
    as.isProtective = a.isProtective;
    return as == a && areSame(a.ins, b.ins) && areSame(a.outs, b.outs) &&
           int64_t(a.workspace) == oldNumber(b.workspace);
  }

  const Plan &plan, &next;
  PlanExtension found;
};

} // namespace

StatusOr<PlanExtension> matchExtension(const Plan &plan, const Plan &next) {
  return Matcher(plan, next).run();
}

} // namespace aicf
