//===- Entry.h - the signature of an entry ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reads roles, names and updates once, unchecked: --aicf-verify-entries runs the
// checks that are declared here, and everybody else runs after it.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_DIALECT_ENTRY_H
#define AICF_LIB_DIALECT_ENTRY_H

#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Dialect/AICF/Initializer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace aicf::step {
using namespace mlir;

/// The role of that name that an argument may have.
std::optional<Role> parseArgumentRole(StringRef name);

/// Emits an error unless the entry has one block that ends in func.return.
LogicalResult checkOneBlock(func::FuncOp func);
/// Emits an error unless passes can read the entry: it has one block, its
/// arguments are tensors that a plan can hold, and a derived one fits its
/// source. A pass that is run alone asks this before it makes ops of them,
/// whose types could not be inferred.
LogicalResult checkStepForm(func::FuncOp func);

/// An entry is a public function with a body and any `aicf.*` attribute on
/// itself, its arguments or its results.
bool isEntry(func::FuncOp func);
/// The entries of a module, in order.
SmallVector<func::FuncOp> getEntries(ModuleOp module);

/// The ops of the update half of a step, and whatever reads their results.
llvm::DenseSet<Operation *> findUpdateOps(func::FuncOp func);

/// Whether a result of the entry is marked `aicf.minimize`.
bool hasLoss(func::FuncOp func);

/// What `op` trains; nothing unless it is an optimizer.
Training trainingOf(Operation *op);

/// Emits an error at `op` unless `type` is a tensor that a plan can hold: a
/// supported element type, static dimensions of 1 or more, rank and size within
/// the ABI. `what` names it in the message.
LogicalResult checkTensorType(Operation *op, const Twine &what, Type type);

/// The signature of an entry; missing attributes are empty strings.
struct EntrySignature {
  struct Argument {
    StringRef name;
    StringRef roleName;
    Role role = Role::Input; ///< only if roleName is set
    Attribute initAttr;      ///< as written, null if absent
    DenseElementsAttr data;  ///< of a constant, else null
    StringRef derivedFrom;   ///< the argument that a derived state is a cast of
    bool isScratch = false;

    /// What is written, which the dialect's verifier has checked. A state
    /// starts with zeros, and a derived one as its source: it is cast from it.
    Initializer init() const;
  };
  struct Result {
    StringRef name;      ///< an output
    StringRef updates;   ///< or the name of the argument that takes the value
    int64_t target = -1; ///< its position, or -1 if no argument is called so
  };
  SmallVector<Argument> arguments;
  SmallVector<Result> results;

  /// Reads the attributes of an entry; as an analysis, too.
  explicit EntrySignature(Operation *func);
  /// The position of the argument called `name`, or -1.
  int64_t findArgument(StringRef name) const;

private:
  MLIRContext *context;
  llvm::DenseMap<StringAttr, int64_t> byName;
};

/// Emits an error unless each derived state has no initialiser, and the shape
/// of its source in another float type. The source is a param or state before
/// it that is not derived itself.
LogicalResult checkDerived(func::FuncOp func, const EntrySignature &signature);
/// What errors about derived argument `i` begin with.
std::string describeDerived(const EntrySignature &signature, size_t i);

} // namespace aicf::step

#endif // AICF_LIB_DIALECT_ENTRY_H
