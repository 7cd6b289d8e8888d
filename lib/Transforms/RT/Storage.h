//===- Storage.h - values that share storage --------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reads the decisions written on aicf_rt ops (`inplace`, `stream`, ...) and on
// the entry's results (`aicf.updates`) and answers: which storages are there,
// and which values live in each. takeOver() adds a decision of the in-place
// pass.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_STORAGE_H
#define AICF_LIB_TRANSFORMS_RT_STORAGE_H

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/RT/CallList.h"

#include "mlir/Pass/AnalysisManager.h"
#include "llvm/ADT/DenseMap.h"

namespace aicf::rt {
using namespace mlir;

/// One piece of memory of an entry.
struct Storage {
  enum class Kind { Argument, Output, Temp };
  Kind kind = Kind::Temp;
  int64_t number = -1;          ///< argument or result position
  /// That live in it one after the other, in order of definition. A join stands
  /// for its parts, and where the first of them is defined.
  SmallVector<Value, 2> values;
  RankedTensorType type;
  AccessSet accesses;
};

/// Which storage each value of an entry lives in.
class StoragePlan {
public:
  /// All must outlive it. `list` is valid.
  StoragePlan(func::FuncOp func, const step::EntrySignature &signature,
              const CallList &list);
  /// Builds the analysis of an entry whose calls are a valid list.
  StoragePlan(Operation *func, AnalysisManager &manager)
      : StoragePlan(cast<func::FuncOp>(func),
                    manager.getAnalysis<step::EntrySignature>(),
                    manager.getAnalysis<CallList>()) {}
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &preserved) {
    return !preserved.isPreserved<StoragePlan>() ||
           !preserved.isPreserved<step::EntrySignature>() ||
           !preserved.isPreserved<CallList>();
  }

  ArrayRef<Storage> getStorages() const { return storages; }
  /// A view lies in its base's storage, and a part in that of its whole.
  size_t getStorageOf(Value value) const;
  const Storage &getStorage(Value value) const {
    return storages[getStorageOf(value)];
  }
  /// The storage of `result` becomes part of that of `operand`, which its op
  /// overwrites. Whether it may is the caller's decision.
  void takeOver(OpResult result, Value operand);

  /// Emits an error when two values that share a storage are live at the same
  /// time.
  LogicalResult verify() const;

private:
  LogicalResult verifyArgument(const Storage &storage) const;
  LogicalResult verifyChain(const Storage &storage) const;
  LogicalResult verifyWriter(Value before, OpResult written) const;
  void findFixedStorages();
  size_t makeStorage(Storage::Kind kind, int64_t number, Value value);

  func::FuncOp func;
  const step::EntrySignature &signature;
  const CallList &list;
  SmallVector<Storage> storages;
  llvm::DenseMap<Value, size_t> storageOf;
  llvm::DenseMap<Value, size_t> fixed; ///< by what the entry returns
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_STORAGE_H
