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

inline constexpr uint16_t kPlanMajor = 3;
inline constexpr uint16_t kPlanMinor = 2;
inline constexpr size_t kPlanTrailerBytes = 16;
inline constexpr char kPlanMagic[9] = "AICFPLAN";

/// Why a plan was refused; the name stands in brackets at the start of the
/// message ("[TensorOffset] entry 0 (train_step), tensor 3: ...").
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
  X(EntryName)    /* empty or twice */                                         \
  X(EntryBatches) /* accumulates no number of batches, or has no entry to */   \
  X(EntryOutputs) /* a form that is unknown, or not of its outputs */          \
  X(TensorName)   /* missing where needed, or twice */                         \
  X(TensorDType)                                                               \
  X(TensorRole)      /* unknown, or not legal in this table */                 \
  X(TensorShape)     /* rank, zero, or more than 64 TiB */                     \
  X(TensorOffset)    /* not aligned */                                         \
  X(TensorRange)     /* outside its segment */                                 \
  X(TensorLayout)    /* unknown, or not legal for the tensor */                \
  X(TensorInit)      /* unknown initialiser, or not legal for the tensor */    \
  X(TensorDerived)   /* derived from no float param or state of its shape */   \
  X(SegmentBytes)    /* a segment above the limit */                           \
  X(SegmentOverlap)  /* persistent or io tensors share bytes */                \
  X(BodyKind)        /* a primitive of unknown kind */                         \
  X(BodyForm)        /* not in normal form: see kernels/BodyRules.h */         \
  X(BodyPattern)     /* no kernel family takes these primitives in one call */ \
  X(CallBody)        /* no such body, or other counts than it has */           \
  X(CallKid)         /* unknown on the device, or for another call */          \
  X(CallTensor)      /* a tid that is not there */                             \
  X(CallLabels)      /* label counts differ from operand counts */             \
  X(DebugCounts)     /* the debug table is of another plan */                  \
  X(CallRules)       /* the primitives' own constraints */                     \
  X(CallWorkspace)   /* not one, too small, or more than the kernel takes */   \
  X(CallWrites)      /* writes an input or hyper, or one tensor twice */       \
  X(CallInplace)     /* reads and writes a tensor where the op may not */      \
  X(StreamOrder)     /* cycles, unjoined streams, events */                    \
  X(UnorderedAccess) /* two streams race on a tensor */                        \
  X(ReadBeforeWrite) /* a temp or output read before, or never, written */     \
  X(LiveOverlap)     /* two live temps share bytes */

enum class PlanError : uint8_t {
#define AICF_PLAN_ERROR(NAME) NAME,
  AICF_PLAN_ERRORS(AICF_PLAN_ERROR)
#undef AICF_PLAN_ERROR
};
std::string_view nameOf(PlanError error);
/// Every PlanError, for tests.
Span<const PlanError> allPlanErrors();

struct PlanTensor {
  std::string name; ///< empty for most temps
  TensorDesc desc;
  Role role = Role::Temp;
  uint64_t offset = 0; ///< bytes from the start of segmentOf(role)
  int32_t vid = -1;    ///< debug: label of the first value that lives here
  InitKind init = InitKind::None;
  double initValue = 0;
  /// The persistent tensor that this state is a cast of, by tid, or -1. It is
  /// recomputed whenever that one is written from outside, and never saved.
  int32_t derivedFrom = -1;

  bool operator==(const PlanTensor &o) const;
};

struct PlanCall {
  /// Never null. Equal calls share one; so they do in the file.
  std::shared_ptr<const Body> body;
  std::string kid;
  std::vector<uint32_t> ins, outs; ///< tids of the body's operands, results
  int32_t workspace = -1;          ///< tid, or -1
  uint64_t workspaceBytes = 0;     ///< that the kernel gets, of that tensor
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

struct PlanEntry {
  std::string name;
  uint64_t ioBytes = 0, tempBytes = 0;
  uint64_t tempLowerBound = 0;     ///< debug
  uint32_t values = 0, nodes = 0;  ///< debug: of the entry in the aicf dialect
  std::vector<PlanTensor> tensors; ///< io and temp; tids go on from persistent
  std::vector<PlanCall> calls;
  /// How many batches make an update, 2 or more: all but the last of them go
  /// through the entry NAME.accumulate (aicf/EntryNames.h). 0: one batch does,
  /// or the plan is older than 3.1, which did not say.
  uint32_t accumulate = 0;
  /// Of what the entry returns; Unknown before version 3.2.
  OutputForm outputForm = OutputForm::Unknown;
};

struct PlanParseOptions {
  /// Off only in fuzzers, which would never get past it.
  bool verifyChecksum = true;
};

class Plan {
public:
  /// Of the file that was read; serialize() writes kPlanMinor.
  uint16_t minor = kPlanMinor;
  DeviceKind device = DeviceKind::CPU;
  uint64_t persistentBytes = 0;
  std::vector<PlanTensor> persistent;
  std::vector<PlanEntry> entries;

  /// Reads and verifies a file. Errors: DeviceError (cannot be read),
  /// InvalidPlan.
  static StatusOr<Plan> load(const std::string &path);
  /// Verifies and decodes. Errors: InvalidPlan.
  static StatusOr<Plan> parse(Span<const uint8_t> bytes,
                              PlanParseOptions options = {});
  /// The file's bytes, trailer included. Does not verify. Without the debug
  /// table labels, locations and counts are lost; what runs is the same.
  std::vector<uint8_t> serialize(bool withDebug = true) const;

  /// The tensor `tid` as seen from `entry`. `tid` must be valid.
  const PlanTensor &tensor(const PlanEntry &entry, uint32_t tid) const {
    return tid < persistent.size() ? persistent[tid]
                                   : entry.tensors[tid - persistent.size()];
  }
  /// The entry called `name`, or nullptr.
  const PlanEntry *findEntry(std::string_view name) const;
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
