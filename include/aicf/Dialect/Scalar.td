//===- Scalar.td - scalar opcodes, the words of pointwise definitions ---===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_SCALAR_TD
#define AICF_SCALAR_TD

include "mlir/IR/OpBase.td"

/// One scalar operation on numbers of the type that a kernel computes in. This is
/// f32 for 16-bit tensors, and an integer type for integers. `cpp` is a function of
/// kernels/pointwise/Scalars.h, which gives the domain, NaN and signed zeros of
/// each. In a definition, `$x` is an operand or a field, and a string or an integer
/// is a constant.
class ScalarOp<string function, int numOperands> {
  string cpp = function;
  int arity = numOperands;
  /// Whether the function takes the template argument kTo16Bits. The argument says whether
  /// the result is rounded to 16 bits. If so, a device may compute the result with an
  /// error that 16 bits do not show.
  bit knowsResultBits = 0;
}
def none : ScalarOp<"", 0>; ///< the primitive is not pointwise
def same : ScalarOp<"same", 1>;  ///< returns its operand; computes nothing
def addf : ScalarOp<"add", 2>;
def subf : ScalarOp<"sub", 2>;
def mulf : ScalarOp<"mul", 2>;
def divf : ScalarOp<"div", 2>;
def negf : ScalarOp<"neg", 1>;
def absf : ScalarOp<"abs", 1>;
def maxf : ScalarOp<"maximum", 2>; ///< NaN if an operand is NaN
def minf : ScalarOp<"minimum", 2>; ///< NaN if an operand is NaN

// Conditions. `pick` is c ? a : b; c is a condition, a field or an i1 operand.
def lessf : ScalarOp<"less", 2>;            ///< false for NaN
def lessequalf : ScalarOp<"lessEqual", 2>;  ///< false for NaN
def greaterf : ScalarOp<"greater", 2>;      ///< false for NaN
def greaterequalf : ScalarOp<"greaterEqual", 2>; ///< false for NaN
def equalf : ScalarOp<"equal", 2>;          ///< false for NaN
def notequalf : ScalarOp<"notEqual", 2>;    ///< true for NaN
def andb : ScalarOp<"logicalAnd", 2>;
def orb : ScalarOp<"logicalOr", 2>;
def xorb : ScalarOp<"logicalXor", 2>;
def notb : ScalarOp<"logicalNot", 1>;
def pick : ScalarOp<"pick", 3>;

def expf : ScalarOp<"exp", 1>;
def expm1f : ScalarOp<"expm1", 1>;
def logf : ScalarOp<"log", 1>;
def log1pf : ScalarOp<"log1p", 1> { let knowsResultBits = 1; }
def sqrtf : ScalarOp<"sqrt", 1>;
def powf : ScalarOp<"pow", 2> { let knowsResultBits = 1; }
def sinf : ScalarOp<"sin", 1>;
def cosf : ScalarOp<"cos", 1>;
def log2f : ScalarOp<"log2", 1>;   ///< exact for powers of 2
def log10f : ScalarOp<"log10", 1>;
def exp2f : ScalarOp<"exp2", 1>;   ///< exact for integers
def fmodf : ScalarOp<"fmod", 2>;   ///< C's: exact, with the sign of the first
def atan2f : ScalarOp<"atan2", 2>; ///< the angle of (second, first), in radians
def erff : ScalarOp<"erf", 1>;
def erfcf : ScalarOp<"erfc", 1>;
def tanhf : ScalarOp<"tanh", 1>;
def floorf : ScalarOp<"floor", 1>;
def ceilf : ScalarOp<"ceil", 1>;
def roundf : ScalarOp<"round", 1>; ///< rounds a half to even

// Of the bits of integers. A shift by less than 0, or by as many places as there are
// bits, leaves none: 0, and the sign of shiftRight.
def bitandi : ScalarOp<"bitAnd", 2>;
def bitori : ScalarOp<"bitOr", 2>;
def bitxori : ScalarOp<"bitXor", 2>;
def shlefti : ScalarOp<"shiftLeft", 2>;
def shrighti : ScalarOp<"shiftRight", 2>;            ///< the sign comes in
def shrightlogicali : ScalarOp<"shiftRightLogical", 2>; ///< zeros come in

#endif // AICF_SCALAR_TD
