//===- HappensBefore.h - the order of the calls of an entry -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The one rule about order: program order within a stream, plus signal -> wait.
// The in-place pass, the memory planner and the plan loader all ask here.
// Vector clocks (Mattern 1989): O(calls x streams) memory, O(1) queries.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_SCHEDULE_HAPPENSBEFORE_H
#define AICF_LIB_SCHEDULE_HAPPENSBEFORE_H

#include "aicf/Span.h"
#include "aicf/Status.h"

#include <cstdint>

namespace aicf {

/// The order facts of one call. Events are numbers local to the entry.
struct CallOrder {
  uint32_t stream = 0;
  Span<const int64_t> waits;   ///< events that must be signalled before
  Span<const int64_t> signals; ///< events signalled when the call is done
  /// Calls of one number stand behind each other. They happen after all calls
  /// of the numbers before.
  uint32_t part = 0;
};

class HappensBefore {
public:
  /// Most streams an entry may use.
  static constexpr uint32_t kMaxStreams = 64;

  /// Builds the order of `calls`, which are listed so that every signal stands
  /// before its waits. Errors (InvalidArgument): a stream number of kMaxStreams
  /// or more, an event signalled twice, a wait for an event that no earlier
  /// call of its part signals (which is how a cycle shows), a stream that is not
  /// joined into the last call of stream 0 of each part.
  static StatusOr<HappensBefore> create(Span<const CallOrder> calls);

  /// True when call `a` ends before call `b` starts on every schedule.
  bool before(size_t a, size_t b) const {
    // A call does not precede itself: its clock does not count it.
    return clocks[b * numStreams + streams[a]] > positions[a];
  }
  uint32_t streamCount() const { return numStreams; }
  uint32_t streamOf(size_t call) const { return streams[call]; }
  size_t size() const { return streams.size(); }
  /// The smallest e > `call` such that every call from e on happens after it.
  uint32_t safeEnd(size_t call) const { return safeEnds[call]; }

private:
  /// Ok if the last call of stream 0 is the last of all streams. `lastOfStream`:
  /// -1 for one without calls.
  Status checkJoined(Span<const int64_t> lastOfStream) const;
  void findSafeEnds();

  uint32_t numStreams = 1;
  std::vector<uint32_t> streams;   ///< of each call
  std::vector<uint32_t> positions; ///< of each call within its stream
  /// clocks[c * numStreams + s]: how many calls of stream s precede call c, c
  /// itself not counted.
  std::vector<uint32_t> clocks;
  std::vector<uint32_t> safeEnds; ///< of each call
};

/// The first and last access to one tensor on each stream; enough to answer
/// "does every access to a precede every access to b?".
class AccessSet {
public:
  void add(const HappensBefore &order, uint32_t call);
  /// Adds every access of `other`.
  void merge(const AccessSet &other);
  bool empty() const { return !hasOne; }
  uint32_t firstCall() const { return first; } ///< in list order
  uint32_t lastCall() const { return last; }   ///< in list order

  /// Every access in this set happens before every access in `other`; a call
  /// that is in both counts as ordered when `sameCallIsOrdered`.
  bool allBefore(const HappensBefore &order, const AccessSet &other,
                 bool sameCallIsOrdered = false) const;
  /// Every access in this set but those of `call` happens before `call`.
  bool allBeforeCall(const HappensBefore &order, uint32_t call) const;
  /// The smallest e > lastCall() such that every call from e on happens after
  /// every access: from there on others may have the memory. On one stream that
  /// is lastCall() + 1. Not for an empty set.
  uint32_t safeEnd(const HappensBefore &order) const;

private:
  struct PerStream {
    uint32_t stream, first, last;
  };
  void add(PerStream access);
  /// One for each stream. Most sets have one, which is kept apart: there are as
  /// many sets as values.
  size_t size() const { return hasOne ? 1 + more.size() : 0; }
  const PerStream &at(size_t i) const { return i == 0 ? one : more[i - 1]; }
  PerStream &at(size_t i) { return i == 0 ? one : more[i - 1]; }

  PerStream one = {};
  bool hasOne = false;
  std::vector<PerStream> more;
  uint32_t first = 0, last = 0;
};

} // namespace aicf

#endif // AICF_LIB_SCHEDULE_HAPPENSBEFORE_H
