//===- Storage.h - values that share storage --------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reads the decisions written on aicf_rt ops (`inplace`, `stream`, ...) and on
// the entry's results (`aicf.updates`) and answers: which storages are there,
// which values live in each, which calls access them. Decides nothing.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_STORAGE_H
#define AICF_LIB_TRANSFORMS_RT_STORAGE_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/Entry.h"
#include "lib/Schedule/HappensBefore.h"

#include "llvm/ADT/DenseMap.h"

namespace aicf::rt {
using namespace mlir;

/// The label (vid) of an argument or of a primitive's result; -1 without one.
int64_t labelOf(Value value);
/// One each.
SmallVector<int64_t> labelsOfEach(ArrayRef<Value> values);

/// 'relu' for a call of that, for messages.
std::string nameOfCall(Operation *op);

/// What every aicf_rt pass relies on: one block of primitives that ends in a
/// return, tensors that a plan can hold, and updates that name an argument
/// once, of its type, with role param or state. Emits a diagnostic otherwise.
LogicalResult checkEntryForm(func::FuncOp func);

/// After --aicf-rt-materialize-updates: no two results share a value, and no
/// argument is returned as another or as an output. Storage, and so the plan,
/// has one place for a value. Emits a diagnostic otherwise.
LogicalResult checkMaterialized(func::FuncOp func,
                                const step::EntrySignature &signature);

/// The calls of an entry in program order, with their happens-before.
struct CallList {
  step::EntrySignature signature;
  SmallVector<CallOp> calls;
  llvm::DenseMap<Operation *, uint32_t> indexOf;
  HappensBefore order;

  /// Emits a diagnostic when checkEntryForm() does, or at the function when its
  /// streams are malformed.
  static FailureOr<CallList> create(func::FuncOp func);
  /// Adds the calls that access `value`: its producer and its readers.
  void addAccesses(Value value, AccessSet &accesses) const;

private:
  explicit CallList(func::FuncOp func) : signature(func) {}
};

/// One piece of memory of an entry.
struct Storage {
  enum class Kind { Argument, Output, Temp };
  Kind kind = Kind::Temp;
  int64_t number = -1;          ///< argument or result position
  SmallVector<Value, 2> values; ///< that live in it, in order of definition
  RankedTensorType type;
  AccessSet accesses;
};

class StorageAnalysis {
public:
  StorageAnalysis(func::FuncOp func, const CallList &list);

  ArrayRef<Storage> getStorages() const { return storages; }
  size_t getStorageOf(Value value) const { return storageOf.at(value); }
  const Storage &getStorage(Value value) const {
    return storages[storageOf.at(value)];
  }
  /// The storage of `result` becomes part of that of `operand`, which its op
  /// overwrites. Whether it may is the caller's decision.
  void takeOver(OpResult result, Value operand);

  /// Emits an error when two values that share a storage overlap in time: the
  /// rule of design section 4.
  LogicalResult verify() const;

private:
  LogicalResult verifyArgument(const Storage &storage) const;
  LogicalResult verifyChain(const Storage &storage) const;
  size_t makeStorage(Storage::Kind kind, int64_t number, Value value);

  func::FuncOp func;
  const CallList &list;
  SmallVector<Storage> storages;
  llvm::DenseMap<Value, size_t> storageOf;
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_STORAGE_H
