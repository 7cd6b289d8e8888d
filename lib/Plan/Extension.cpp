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
                       nameOf(plan.device), ", the one to go on with for ",
                       nameOf(next.device));
    AICF_RETURN_IF_ERROR(matchPersistent());
    AICF_RETURN_IF_ERROR(matchEntries());
    return std::move(found);
  }

private:
  Status matchPersistent() {
    std::unordered_map<std::string_view, uint32_t> byName;
    for (uint32_t tid = 0; tid < next.persistent.size(); ++tid)
      byName[next.persistent[tid].name] = tid;
    found.persistent.assign(next.persistent.size(), -1);
    for (uint32_t tid = 0; tid < plan.persistent.size(); ++tid) {
      const PlanTensor &t = plan.persistent[tid];
      auto it = byName.find(t.name);
      bool isDerived = t.derivedFrom >= 0;
      if (it == byName.end() && !isDerived)
        return makeError(StatusCode::InvalidArgument,
                         "the plan to go on with has no \"", t.name, "\"");
      if (it == byName.end())
        continue;
      const PlanTensor &o = next.persistent[it->second];
      bool isSame = t.role == o.role && t.desc == o.desc &&
                    sourceOf(plan, t) == sourceOf(next, o);
      if (isSame)
        found.persistent[it->second] = tid;
      else if (!isDerived)
        return makeError(StatusCode::InvalidArgument, "\"", t.name, "\" is a ",
                         nameOf(t.role), " of ", t.desc.toString(),
                         ", and in the plan to go on with a ", nameOf(o.role),
                         " of ", o.desc.toString());
    }
    return {};
  }

  /// The name of what a state is derived from, or "".
  static std::string_view sourceOf(const Plan &plan, const PlanTensor &t) {
    return t.derivedFrom < 0 ? std::string_view()
                             : plan.persistent[size_t(t.derivedFrom)].name;
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
                         "the plan to go on with has no entry \"",
                         plan.entries[i].name, "\"");
      found.named[it->second] = int64_t(i);
      if (isSame(plan.entries[i], next.entries[it->second]))
        found.entries[it->second] = int64_t(i);
    }
    return {};
  }

  /// A tensor of an entry of `next`, by its tid in `plan`; -1 if that has none.
  int64_t oldTid(int64_t tid) const {
    auto numOld = int64_t(plan.persistent.size());
    auto numNew = int64_t(next.persistent.size());
    if (tid < 0)
      return tid;
    return tid < numNew ? found.persistent[size_t(tid)] : tid - numNew + numOld;
  }

  bool isSame(const PlanEntry &a, const PlanEntry &b) const {
    if (a.ioBytes != b.ioBytes || a.tempBytes != b.tempBytes ||
        a.accumulate != b.accumulate || a.tensors.size() != b.tensors.size() ||
        a.calls.size() != b.calls.size())
      return false;
    for (size_t i = 0; i < a.tensors.size(); ++i)
      if (!isSame(a.tensors[i], b.tensors[i]))
        return false;
    for (size_t i = 0; i < a.calls.size(); ++i)
      if (!isSame(a.calls[i], b.calls[i]))
        return false;
    return true;
  }

  /// All but labels: they number the values of a whole module.
  bool isSame(PlanTensor a, const PlanTensor &b) const {
    a.vid = b.vid;
    return a == b;
  }

  bool isSame(const PlanCall &a, const PlanCall &b) const {
    auto areSame = [&](const std::vector<uint32_t> &old,
                       const std::vector<uint32_t> &now) {
      bool same = old.size() == now.size();
      for (size_t i = 0; same && i < old.size(); ++i)
        same = int64_t(old[i]) == oldTid(now[i]);
      return same;
    };
    PlanCall as = b;
    as.ins = a.ins;
    as.outs = a.outs;
    as.workspace = a.workspace;
    as.inVids = a.inVids;
    as.vids = a.vids;
    as.isProtective = a.isProtective;
    return as == a && areSame(a.ins, b.ins) && areSame(a.outs, b.outs) &&
           int64_t(a.workspace) == oldTid(b.workspace);
  }

  const Plan &plan, &next;
  PlanExtension found;
};

} // namespace

StatusOr<PlanExtension> matchExtension(const Plan &plan, const Plan &next) {
  return Matcher(plan, next).run();
}

} // namespace aicf
