//===- EntryParts.h - entries that run in parts -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_ENTRYPARTS_H
#define AICF_LIB_TRANSFORMS_STEP_ENTRYPARTS_H

#include "lib/Dialect/Entry.h"

#include "mlir/IR/IRMapping.h"

namespace aicf::step {

/// Emits an error unless the parts of each entry stand in front of it, agree
/// about its inputs, and return outputs of their own; and unless no optimizer
/// and no loss that is to be differentiated is in one. `entries`: those of a
/// module, in order.
LogicalResult checkParts(ArrayRef<func::FuncOp> entries);

/// Whether a loop stands anywhere in the entry.
bool hasRepeat(func::FuncOp func);

/// Emits an error unless the loops of an entry can become parts of it: they
/// stand on its top level, nothing else has a region, no draw is inside of one,
/// and the names that the parts and their states get are free in `entries`.
LogicalResult checkRepeats(func::FuncOp func, ArrayRef<func::FuncOp> entries);

/// A state that goes from part to part.
struct Carrier {
  std::string name;
  Type type;
  DictionaryAttr attrs = {}; ///< of an argument that the entry has, else null
};

/// Makes a part of an entry, in front of it.
class PartBuilder {
public:
  /// @ENTRY.part<number>, which runs `times` times.
  PartBuilder(func::FuncOp entry, unsigned number, Location loc,
              int64_t times);
  /// The argument of that name, added if there is none.
  Value argument(const Carrier &carrier);
  void update(Value value, const Carrier &carrier);
  Block &block() { return func.front(); }
  /// Ends the function, or removes it where it updates nothing.
  void finish();

  IRMapping mapping; ///< of the entry's values

private:
  func::FuncOp func;
  SmallVector<DictionaryAttr> argAttrs, resAttrs;
  llvm::StringMap<Value> arguments;
  SmallVector<Value> returned;
};

} // namespace aicf::step

#endif // AICF_LIB_TRANSFORMS_STEP_ENTRYPARTS_H
