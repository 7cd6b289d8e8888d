//===- HappensBefore.cpp - the order of the calls of an entry -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/HappensBefore.h"

#include <algorithm>
#include <unordered_map>

namespace aicf {

StatusOr<HappensBefore> HappensBefore::create(Span<const CallOrder> calls) {
  HappensBefore order;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].stream >= kMaxStreams)
      return makeError(StatusCode::InvalidArgument, "call ", i, ": stream is ",
                       calls[i].stream, ", the limit is ", kMaxStreams - 1);
    order.numStreams = std::max(order.numStreams, calls[i].stream + 1);
  }
  const uint32_t n = order.numStreams;
  order.streams.reserve(calls.size());
  order.positions.reserve(calls.size());
  order.clocks.resize(calls.size() * n);
  std::vector<uint32_t> counts(n, 0);
  std::vector<int64_t> lastOfStream(n, -1);
  std::unordered_map<int64_t, size_t> signalledBy;

  // Merges "everything up to and with call p" into the clock of call c.
  auto join = [&](size_t c, size_t p) {
    for (uint32_t s = 0; s < n; ++s)
      order.clocks[c * n + s] =
          std::max(order.clocks[c * n + s], order.clocks[p * n + s]);
    uint32_t &own = order.clocks[c * n + order.streams[p]];
    own = std::max(own, order.positions[p] + 1);
  };
  int64_t lastOfParts = -1; // of the parts before
  size_t firstOfPart = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const CallOrder &call = calls[i];
    if (i > 0 && call.part != calls[i - 1].part) {
      AICF_RETURN_IF_ERROR(order.checkJoined(lastOfStream));
      lastOfParts = lastOfStream[0];
      firstOfPart = i;
      std::fill(lastOfStream.begin(), lastOfStream.end(), -1);
    }
    order.streams.push_back(call.stream);
    order.positions.push_back(counts[call.stream]++);
    if (int64_t last = lastOfStream[call.stream]; last >= 0)
      join(i, static_cast<size_t>(last));
    else if (lastOfParts >= 0)
      join(i, static_cast<size_t>(lastOfParts));
    lastOfStream[call.stream] = static_cast<int64_t>(i);
    for (int64_t event : call.waits) {
      auto it = signalledBy.find(event);
      if (it == signalledBy.end() || it->second < firstOfPart)
        return makeError(StatusCode::InvalidArgument, "call ", i,
                         ": waits for event ", event,
                         ", which no earlier call signals (a cycle?)");
      join(i, it->second);
    }
    for (int64_t event : call.signals)
      if (!signalledBy.emplace(event, i).second)
        return makeError(StatusCode::InvalidArgument, "call ", i,
                         ": signals event ", event, ", which call ",
                         signalledBy[event], " signals too");
  }
  AICF_RETURN_IF_ERROR(order.checkJoined(lastOfStream));
  order.findSafeEnds();
  return order;
}

Status HappensBefore::checkJoined(Span<const int64_t> lastOfStream) const {
  for (uint32_t s = 1; s < lastOfStream.size(); ++s)
    if (lastOfStream[s] >= 0 &&
        (lastOfStream[0] < 0 || !before(static_cast<size_t>(lastOfStream[s]),
                                        static_cast<size_t>(lastOfStream[0]))))
      return makeError(StatusCode::InvalidArgument, "stream ", s,
                       ": its last call, ", lastOfStream[s],
                       ", is not joined into stream 0, whose last call is ",
                       lastOfStream[0]);
  return {};
}

void HappensBefore::findSafeEnds() {
  safeEnds.resize(size());
  // What happens after a call happens after those before it on its stream, too.
  std::vector<uint32_t> ends(numStreams, static_cast<uint32_t>(size()));
  for (size_t call = size(); call-- > 0;) {
    uint32_t &end = ends[streams[call]];
    while (before(call, end - 1)) // no call is before itself
      --end;
    safeEnds[call] = end;
  }
}

void AccessSet::add(PerStream access) {
  if (!hasOne) {
    one = access;
    hasOne = true;
    first = access.first;
    last = access.last;
    return;
  }
  first = std::min(first, access.first);
  last = std::max(last, access.last);
  for (size_t i = 0; i < size(); ++i)
    if (PerStream &a = at(i); a.stream == access.stream) {
      a.first = std::min(a.first, access.first);
      a.last = std::max(a.last, access.last);
      return;
    }
  more.push_back(access);
}

void AccessSet::add(const HappensBefore &order, uint32_t call) {
  add({order.streamOf(call), call, call});
}

void AccessSet::merge(const AccessSet &other) {
  for (size_t i = 0; i < other.size(); ++i)
    add(other.at(i));
}

bool AccessSet::allBeforeCall(const HappensBefore &order, uint32_t call) const {
  for (size_t i = 0; i < size(); ++i)
    if (at(i).last != call && !order.before(at(i).last, call))
      return false;
  return true;
}

uint32_t AccessSet::safeEnd(const HappensBefore &order) const {
  uint32_t end = 0;
  for (size_t i = 0; i < size(); ++i)
    end = std::max(end, order.safeEnd(at(i).last));
  return end;
}

bool AccessSet::allBefore(const HappensBefore &order, const AccessSet &other,
                          bool sameCallIsOrdered) const {
  for (size_t i = 0; i < size(); ++i)
    for (size_t j = 0; j < other.size(); ++j) {
      const PerStream &a = at(i), &b = other.at(j);
      if (!order.before(a.last, b.first) &&
          !(sameCallIsOrdered && a.last == b.first))
        return false;
    }
  return true;
}

} // namespace aicf
