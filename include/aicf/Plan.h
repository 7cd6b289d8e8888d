//===- Plan.h - a verified plan in memory -----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Owned structs, decoded once from a verified file; nothing here refers to the
// file. Plan files are untrusted: parse() refuses whatever could make an
// executor read or write outside its segments.
//===----------------------------------------------------------------------===//
#ifndef AICF_PLAN_H
#define AICF_PLAN_H

#include "aicf/Body.h"
#include "aicf/Status.h"
#include "aicf/TensorDesc.h"

#include <memory>
#include <string>
#include <vector>

namespace aicf {

/// What serialize() writes.
inline constexpr uint16_t kPlanMajor = 4;
inline constexpr uint16_t kPlanMinor = 5;
/// The last version of the format before that, which is read from minor 0 on.
inline constexpr uint16_t kOldPlanMajor = 3;
inline constexpr uint16_t kOldPlanMinor = 2;
inline constexpr size_t kPlanTrailerBytes = 16;
inline constexpr char kPlanMagic[9] = "AICFPLAN";

/// Why a plan was refused; the name stands in brackets at the start of the
/// message ("[BufferOffset] entry 0 (train_step), buffer 3: ...").
#define AICF_PLAN_ERRORS(X)                                                    \
  X(TooSmall)      /* shorter than a trailer */                                \
  X(BadMagic)      /* no trailer: not a plan, or cut off */                    \
  X(BadChecksum)   /* the bytes changed */                                     \
  X(BadFlatBuffer) /* FlatBuffers' verifier refuses the structure */           \
  X(Oversized)     /* decodes to more than a file of its size can hold */      \
  X(BadVersion)                                                                \
  X(BadDevice)                                                                 \
  X(MissingField) /* a vector or string that must be there is not */           \
  X(NoEntries)                                                                 \
  X(EntryName)     /* empty or twice */                                        \
  X(EntryBatches)  /* accumulates no number of batches, or has no entry to */  \
  X(EntryParts)    /* not all its calls, of no runs, or too many runs */       \
  X(EntryOutputs)  /* a form that is unknown, or not of its outputs */         \
  X(BufferName)    /* missing where needed, or twice */                        \
  X(BufferRole)    /* unknown, or not legal in this table */                   \
  X(BufferOffset)  /* not aligned */                                           \
  X(BufferRange)   /* outside its segment */                                   \
  X(BufferInit)    /* unknown initialiser, or not legal for the buffer */      \
  X(BufferDerived) /* derived from no float param or state of its shape */     \
  X(BufferData)    /* bytes of no constant, too many, or not its type's */     \
  X(ValueBuffer)   /* lies in no buffer, or in a workspace */                  \
  X(ValueWhole)    /* not all of the buffer whose number it has */             \
  X(ValueDType)                                                                \
  X(ValueShape)      /* rank, zero, or more than 64 TiB */                     \
  X(ValueLayout)     /* unknown, or not legal for the value */                 \
  X(ValueRange)      /* outside its buffer, or in the middle of an element */  \
  X(ValueOverlaps)   /* too many values of one buffer share bytes */           \
  X(SegmentBytes)    /* a segment above the limit */                           \
  X(SegmentOverlap)  /* persistent or io buffers share bytes */                \
  X(BodyKind)        /* a primitive of unknown kind */                         \
  X(BodyForm)        /* not in normal form: see lib/Ops/BodyRules.h */         \
  X(BodyPattern)     /* no kernel family takes these primitives in one call */ \
  X(CallBody)        /* no such body, or other counts than it has */           \
  X(CallKid)         /* unknown on the device, or for another call */          \
  X(CallValue)       /* the number of no value */                              \
  X(CallLabels)      /* label counts differ from operand counts */             \
  X(DebugCounts)     /* the debug table is of another plan */                  \
  X(CallRules)       /* the primitives' own constraints */                     \
  X(CallWorkspace)   /* not one, too small, or more than the kernel takes */   \
  X(CallWrites)      /* writes what is only read, or the same bytes twice */   \
  X(CallInplace)     /* reads and writes bytes where the op may not */         \
  X(CallAlignment)   /* the kernel needs better aligned values */              \
  X(StreamOrder)     /* cycles, unjoined streams, events */                    \
  X(UnorderedAccess) /* two streams race on the same bytes */                  \
  X(ReadBeforeWrite) /* a temp or output read before, or never, written */     \
  X(LiveOverlap)     /* two live temps share bytes */                          \
  X(PartTemp)        /* a temp of two parts of an entry */

enum class PlanError : uint8_t {
#define AICF_PLAN_ERROR(NAME) NAME,
  AICF_PLAN_ERRORS(AICF_PLAN_ERROR)
#undef AICF_PLAN_ERROR
};
std::string_view nameOf(PlanError error);
/// Every PlanError, for tests.
Span<const PlanError> allPlanErrors();

/// The bytes of a constant, dense and little endian; none of other buffers.
struct PlanData {
  std::vector<uint8_t> bytes;

  bool operator==(const PlanData &o) const { return bytes == o.bytes; }
};

/// A piece of memory.
struct PlanBuffer {
  std::string name; ///< empty for most temps
  Role role = Role::Temp;
  uint64_t bytes = 0;
  uint64_t offset = 0; ///< bytes from the start of segmentOf(role)
  InitKind init = InitKind::None;
  double initValue = 0;
  /// The number of the persistent buffer that this state is a cast of, or -1.
  /// It is recomputed whenever that one is written from outside, and never
  /// saved.
  int32_t derivedFrom = -1;
  PlanData data;
  /// A state that each run of an entry writes before it reads it, such as what
  /// one part of the entry gives to another: checkpoints leave it out.
  bool isScratch = false;

  bool operator==(const PlanBuffer &o) const;
};

/// A tensor in a buffer: what calls take and make.
struct PlanValue {
  uint32_t buffer = 0;     ///< its number: see Plan::buffer()
  uint64_t byteOffset = 0; ///< of the first element, in the buffer
  TensorDesc desc;
  int32_t vid = -1; ///< debug: label of the first value that lives here

  bool operator==(const PlanValue &o) const;
};

/// A named buffer as callers see it, who read and write it as a whole.
struct TensorInfo {
  std::string name;
  Role role = Role::Input;
  TensorDesc desc; ///< dense: callers see no pads
  InitKind init = InitKind::None;
  double initValue = 0;
  std::string derivedFrom; ///< the name of what it is a cast of, or empty
  bool isScratch = false;
  int32_t vid = -1;

  bool isDerived() const { return !derivedFrom.empty(); }
  /// Whether checkpoints have it.
  bool isSaved() const {
    return (role == Role::Param || role == Role::State) && !isDerived() &&
           !isScratch;
  }
};

struct PlanCall {
  /// Never null. Equal calls share one; so they do in the file.
  std::shared_ptr<const Body> body;
  std::string kid;
  /// Numbers of values: the body's operands and results.
  std::vector<uint32_t> ins, outs;
  int32_t workspace = -1;      ///< number of a buffer, or -1
  uint64_t workspaceBytes = 0; ///< that the kernel gets, of that buffer
  uint32_t stream = 0;
  std::vector<int64_t> waits, signals;
  /// Debug: labels of operands, and of the values that the body makes (see
  /// valuesMade()); or both empty.
  std::vector<int32_t> inVids, vids;
  std::string location;      ///< debug: in the source
  bool isProtective = false; ///< debug: a copy that the compiler inserted

  /// All but the location.
  bool operator==(const PlanCall &o) const;
};

/// Calls of an entry that stand behind each other, and run several times before
/// what follows: the body of a loop. No call of a run starts before all calls of
/// the run before it have ended.
struct PlanPart {
  uint32_t numCalls = 0; ///< 1 or more
  uint32_t times = 1;

  bool operator==(const PlanPart &o) const {
    return numCalls == o.numCalls && times == o.times;
  }
};

/// The most calls that a run of an entry makes, each as often as it runs.
inline constexpr uint64_t kMaxRunCalls = uint64_t(1) << 24;

struct PlanEntry {
  std::string name;
  uint64_t ioBytes = 0, tempBytes = 0;
  uint64_t tempLowerBound = 0; ///< debug
  /// debug: of the entry in the aicf dialect
  uint32_t numStepValues = 0, numStepNodes = 0;
  /// Inputs and outputs first, then what lives in the temp segment. Numbers go
  /// on from the plan's.
  std::vector<PlanBuffer> buffers;
  /// First the values of inputs and outputs, as many and in the same order;
  /// then any of the plan's and the entry's buffers but workspaces. Numbers go
  /// on from the plan's.
  std::vector<PlanValue> values;
  std::vector<PlanCall> calls;
  /// All calls, in order; none if all of them run once. No temp lives in two
  /// parts. Since version 4.5.
  std::vector<PlanPart> parts;
  /// The parts, or all calls as one part.
  std::vector<PlanPart> runs() const;
  /// The number of each call's part. A call that no part has is in part 0.
  std::vector<uint32_t> partsOfCalls() const;
  /// How many batches make an update, 2 or more: all but the last of them go
  /// through the entry NAME.accumulate (aicf/EntryNames.h). 0: one batch does,
  /// or the plan is older than 3.1, which did not say.
  uint32_t accumulate = 0;
  /// How the entry returns its outputs; Unknown before version 3.2.
  OutputForm outputForm = OutputForm::Unknown;
};

struct PlanParseOptions {
  /// Off only in fuzzers, which would never get past it.
  bool verifyChecksum = true;
};

class Plan {
public:
  /// The version of the file that was read; serialize() writes
  /// kPlanMajor.kPlanMinor.
  uint16_t major = kPlanMajor, minor = kPlanMinor;
  DeviceKind device = DeviceKind::CPU;
  uint64_t persistentBytes = 0;
  /// Params, states, hypers and constants, which all entries share; and of each
  /// the value that is all of it.
  std::vector<PlanBuffer> buffers;
  std::vector<PlanValue> values;
  std::vector<PlanEntry> entries;

  /// Reads and verifies a file. Errors: FileNotFound, FileError, InvalidPlan.
  static StatusOr<Plan> load(const std::string &path);
  /// Verifies and decodes. Errors: InvalidPlan.
  static StatusOr<Plan> parse(Span<const uint8_t> bytes,
                              PlanParseOptions options = {});
  /// The file's bytes, trailer included. Does not verify. Without the debug
  /// table labels, locations and counts are lost; what runs is the same.
  std::vector<uint8_t> serialize(bool withDebug = true) const;

  /// The buffer and the value with a number, as seen from `entry`. The number
  /// must be valid. The value of a named buffer has the buffer's number.
  const PlanBuffer &buffer(const PlanEntry &entry, uint32_t number) const {
    return number < buffers.size() ? buffers[number]
                                   : entry.buffers[number - buffers.size()];
  }
  const PlanValue &value(const PlanEntry &entry, uint32_t number) const {
    return number < values.size() ? values[number]
                                  : entry.values[number - values.size()];
  }
  const PlanBuffer &bufferOf(const PlanEntry &entry, uint32_t value) const {
    return buffer(entry, this->value(entry, value).buffer);
  }
  /// Params, states and hypers as callers see them.
  std::vector<TensorInfo> tensors() const;
  /// Inputs and outputs of an entry of the plan.
  std::vector<TensorInfo> tensors(const PlanEntry &entry) const;
  /// The named buffer with a number, as seen from `entry`.
  TensorInfo tensor(const PlanEntry &entry, uint32_t number) const;
  /// The entry called `name`, or nullptr.
  const PlanEntry *findEntry(std::string_view name) const;
  /// The names of all entries, as an error lists them: "train_step, predict".
  std::string namesOfEntries() const;
  /// How many batches make an update of an entry: what the plan says, and for a
  /// plan that does not say `given`, where that is not 0. The result is 0 if
  /// neither says, though the entry accumulates; 1 if it does not.
  /// Errors: InvalidArgument (no such entry; `given` is another number than the
  /// plan's, or more than 1 for an entry that does not accumulate).
  StatusOr<uint32_t> batchesPerUpdate(std::string_view entry,
                                      uint32_t given = 0) const;
};

/// Semantic checks on decoded structs: everything that parse() checks but the
/// file's outer form. Errors: InvalidPlan.
Status verifyPlan(const Plan &plan);

/// Readable tables; with `lifetimes` also a chart of each temp segment.
std::string dumpPlan(const Plan &plan, bool lifetimes);
/// The same content as JSON.
std::string dumpPlanAsJson(const Plan &plan);
/// One line a difference; empty when the plans are equal.
std::string diffPlans(const Plan &a, const Plan &b);

} // namespace aicf

#endif // AICF_PLAN_H
