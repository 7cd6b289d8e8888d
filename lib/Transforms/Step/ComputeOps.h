//===- ComputeOps.h - which ops run on 16 bits ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TRANSFORMS_STEP_COMPUTEOPS_H
#define AICF_TRANSFORMS_STEP_COMPUTEOPS_H

#include "lib/Dialect/Entry.h"

#include "llvm/ADT/DenseSet.h"

namespace aicf::step {
using namespace mlir;

/// Which ops of an entry --aicf-mixed-precision runs on 16-bit operands: those whose
/// record says so, but for
/// - what takes or makes single numbers only, such as the sum of two losses: it gains
///   nothing, and a scaled loss may not fit;
/// - what has a finite number that would be infinite in 16 bits;
/// - what reaches nothing but new values of states, which are f32: a running mean that
///   moves by less than 16 bits show would stand still. So would a parameter whose update
///   is written in the entry, beside its loss.
class ComputeOps {
public:
  ComputeOps(func::FuncOp func, const EntrySignature &signature,
             FloatType narrow);
  bool contains(Operation *op) const;
  /// Whether one of these ops reads the operand with 16 bits: its record does not ask for
  /// more.
  bool narrows(OpOperand &use) const;
  /// Whether one of these ops reads the value.
  bool read(Value value) const;

private:
  llvm::DenseSet<Operation *> stateOps;
  FloatType narrow;
};

} // namespace aicf::step

#endif // AICF_TRANSFORMS_STEP_COMPUTEOPS_H
