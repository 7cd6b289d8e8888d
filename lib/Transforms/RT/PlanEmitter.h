//===- PlanEmitter.h - entries to one aicf_rt.plan -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_PLANEMITTER_H
#define AICF_LIB_TRANSFORMS_RT_PLANEMITTER_H

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/Storage.h"

#include "mlir/Pass/AnalysisManager.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <optional>

namespace aicf::rt {

/// Builds the plan of one module.
class PlanEmitter {
public:
  PlanEmitter(ModuleOp module, ArrayRef<func::FuncOp> entries,
              AnalysisManager analyses)
      : builder(module.getBodyRegion()), entries(entries), analyses(analyses) {
    builder.setInsertionPointToEnd(module.getBody());
  }
  LogicalResult run();

private:
  /// The parts of an entry, the entry itself as the last one.
  LogicalResult emitEntry(ArrayRef<func::FuncOp> parts);
  LogicalResult checkPart(func::FuncOp func);
  void emitGlobals(func::FuncOp func);
  /// The inputs and outputs that no part before this one has.
  void emitIO(func::FuncOp func);
  /// The buffer of one, which its parts share, and the value that is all of it.
  std::pair<Value, Value> emitIO(const Storage &storage, Role role,
                                 StringRef name);
  void emitPart(func::FuncOp func, bool isAlone);
  /// A buffer for each storage, and the value that is all of it.
  void emitBuffers(const step::EntrySignature &signature,
                   const StoragePlan &storages);
  /// What a value or view is in its storage; made where nothing is there.
  Value emitValue(Value value, const StoragePlan &storages);
  /// `first`: the first that lives there.
  Value emitValue(size_t storage, int64_t byteOffset, RankedTensorType type,
                  Value first);
  /// One for each stream that needs any: its calls share it, which is as large
  /// as the largest of them wants.
  std::map<uint64_t, Value> emitWorkspaces(const CallList &list);
  Value emitBuffer(Location loc, Role role, StringRef name, uint64_t bytes);
  void emitCall(CallOp call, const StoragePlan &storages, Value workspace);
  /// A label, as no part before this one has it.
  int64_t labelIn(int64_t label) const {
    return label < 0 ? label : firstLabel + label;
  }
  /// With events that no part before this one has.
  LaunchAttr launchOf(CallOp call);

  OpBuilder builder;
  ArrayRef<func::FuncOp> entries;
  AnalysisManager analyses;
  llvm::StringSet<> globals;
  /// The buffer of each storage of one entry, and the values in them by byte
  /// offset and type.
  SmallVector<Value> buffers;
  llvm::DenseMap<std::tuple<size_t, int64_t, Type>, Value> values;
  std::optional<StorageOffsets> offsets; ///< of that entry
  /// The buffers of the inputs and outputs of one entry, which its parts share,
  /// and the values that are all of them.
  llvm::StringMap<std::pair<Value, Value>> named;
  llvm::StringMap<Value> gets; ///< persistent buffers, as the entry sees them
  int64_t firstLabel = 0;                ///< of one part
  int64_t firstEvent = 0, numEvents = 0; ///< of one part, and with it
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_PLANEMITTER_H
