//===- Scalar.td - scalar opcodes, the words of pointwise definitions ---===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_SCALAR_TD
#define AICF_SCALAR_TD

include "mlir/IR/OpBase.td"

/// One scalar operation on numbers of the type that a kernel computes in (f32
/// for 16-bit tensors); `cpp` is a function of kernels/pointwise/Scalars.h,
/// which says domain, NaN and signed zeros of each. In a definition `$x` is
/// an operand or a field, a string or an integer is a constant.
class ScalarOp<string function, int numOperands> {
  string cpp = function;
  int arity = numOperands;
}
def none : ScalarOp<"", 0>; ///< not pointwise
def same : ScalarOp<"same", 1>;  ///< its operand: where nothing is computed
def addf : ScalarOp<"add", 2>;
def subf : ScalarOp<"sub", 2>;
def mulf : ScalarOp<"mul", 2>;
def divf : ScalarOp<"div", 2>;
def lessf : ScalarOp<"less", 2>;       ///< a condition; false for NaN
def greaterf : ScalarOp<"greater", 2>; ///< a condition; false for NaN
def pick : ScalarOp<"pick", 3>;        ///< condition (or field) ? a : b
def expf : ScalarOp<"exp", 1>;
def erfcf : ScalarOp<"erfc", 1>;
def tanhf : ScalarOp<"tanh", 1>;

#endif // AICF_SCALAR_TD
