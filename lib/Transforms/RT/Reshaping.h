//===- Reshaping.h - an elementwise call in another shape -------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For --aicf-rt-fold-reshapes: what a call of elementwise primitives and sums
// would be in another shape. Changes nothing until it is created.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_RESHAPING_H
#define AICF_LIB_TRANSFORMS_RT_RESHAPING_H

#include "lib/Base/Views.h"
#include "lib/Transforms/RT/KernelChoice.h"

#include "llvm/ADT/SmallBitVector.h"

namespace aicf::rt {
using Shape = SmallVector<int64_t>;

inline Shape shapeOf(Value value) {
  return Shape(cast<RankedTensorType>(value.getType()).getShape());
}

/// The operands of a call that a primitive of it repeats: of one dimension or
/// none.
llvm::SmallBitVector repeatedOperands(CallOp call);

/// One call of elementwise primitives and sums in another shape.
class Reshaping {
public:
  /// `before` is the shape of all of its values but sums.
  Reshaping(CallOp call, ArrayRef<int64_t> before, ArrayRef<int64_t> shape)
      : call(call), before(before), shape(shape), body(call.getCode()) {}

  /// Returns false where the call cannot have that shape, or no kernel takes
  /// it.
  bool plan(const KernelChooser &chooser);
  /// The call, in front of the one that it stands for.
  CallOp create(OpBuilder &builder);

private:
  bool planOperands();
  bool planPrimitives();
  std::optional<int64_t> planSum(int64_t size, int64_t inner,
                                 Shape &left) const;
  bool mayChangeType(Value result) const;
  bool hasKernel(const KernelChooser &chooser);

  CallOp call;
  ArrayRef<int64_t> before, shape;
  Body body;
  SmallVector<ViewDesc> operands; ///< where they lie in their bases
  SmallVector<Type> resultTypes;
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_RESHAPING_H
