//===- Family.td - comparisons, logic, choices -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Conditions are i1. Each is stored as a byte that is 0 or 1.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_COMPARE_FAMILY_TD
#define AICF_KERNELS_COMPARE_FAMILY_TD

include "kernels/pointwise/Pointwise.td"

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// Compares at the precision in which its operands were computed.
class Comparison<string mnemonic, int number, dag definition, string words,
                 ElementTypes elements, PointwiseTypes types>
    : PointwiseRecord<mnemonic, number, "", "compare", types,
                      [In<"a", elements>, Same<"b", "a", elements>],
                      BoolLike<"c", "a">, []<Tie>, definition> {
  let summary = "c = a " # words # " b, element by element";
  let phase = ForwardPhase;
  let precision = Wide;
}
def EqualPrimitive : Comparison<"equal", 107, (equalf $a, $b), "==", AnyElement,
                                AnyToBool> {
  let text = [{
    The result is false where a or b is NaN. -0 equals 0.
  }];
}
def NotEqualPrimitive : Comparison<"not_equal", 108, (notequalf $a, $b), "!=",
                                   AnyElement, AnyToBool> {
  let text = [{
    The result is true where a or b is NaN. -0 equals 0.
  }];
}
def LessPrimitive : Comparison<"less", 109, (lessf $a, $b), "<", NumberElement,
                               NumbersToBool> {
  let text = [{
    The result is false where a or b is NaN.
  }];
}
def LessEqualPrimitive : Comparison<"less_equal", 110, (lessequalf $a, $b), "<=",
                                    NumberElement, NumbersToBool> {
  let text = [{
    The result is false where a or b is NaN.
  }];
}
def AICF_EqualOp : AICF_OpOf<EqualPrimitive, "equal", [Commutative]>;
def AICF_NotEqualOp : AICF_OpOf<NotEqualPrimitive, "not_equal", [Commutative]>;
def AICF_LessOp : AICF_OpOf<LessPrimitive>;
def AICF_LessEqualOp : AICF_OpOf<LessEqualPrimitive>;

/// Compares with a number, which is first rounded to x's type (to f32 for 16 bits).
class ScalarComparison<string mnemonic, int number, string schema,
                       dag definition, string words>
    : PointwiseRecord<mnemonic, number, schema, "compare", NumbersToBool,
                      [In<"x", NumberElement>], BoolLike<"y", "x">, []<Tie>,
                      definition> {
  let summary = "y = x " # words # " value";
  let text = [{
    Every comparison with NaN is false, except `!=`, which is true.
  }];
  let fields = [F64Field<"value", NotNaN>];
  let constraints = ["if x holds integers, `value` is a number of x's type."];
  let phase = ForwardPhase;
  let precision = Wide;
}
def EqualScalarPrimitive : ScalarComparison<"equal_scalar", 111, "EQSC",
    (equalf $x, $value), "==">;
def NotEqualScalarPrimitive : ScalarComparison<"not_equal_scalar", 112, "NESC",
    (notequalf $x, $value), "!=">;
def LessScalarPrimitive : ScalarComparison<"less_scalar", 113, "LTSC",
    (lessf $x, $value), "<">;
def LessEqualScalarPrimitive : ScalarComparison<"less_equal_scalar", 114, "LESC",
    (lessequalf $x, $value), "<=">;
def GreaterScalarPrimitive : ScalarComparison<"greater_scalar", 115, "GTSC",
    (greaterf $x, $value), ">">;
def GreaterEqualScalarPrimitive : ScalarComparison<"greater_equal_scalar", 116,
    "GESC", (greaterequalf $x, $value), ">=">;
def AICF_EqualScalarOp : AICF_OpOf<EqualScalarPrimitive>;
def AICF_NotEqualScalarOp : AICF_OpOf<NotEqualScalarPrimitive>;
def AICF_LessScalarOp : AICF_OpOf<LessScalarPrimitive>;
def AICF_LessEqualScalarOp : AICF_OpOf<LessEqualScalarPrimitive>;
def AICF_GreaterScalarOp : AICF_OpOf<GreaterScalarPrimitive>;
def AICF_GreaterEqualScalarOp : AICF_OpOf<GreaterEqualScalarPrimitive>;

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

class Logic<string mnemonic, int number, dag definition>
    : PointwiseRecord<mnemonic, number, "", "compare", Bools,
                      [In<"a", BoolElement>, Same<"b", "a", BoolElement>],
                      Like<"c", "a">, [Tie<"c", "a">, Tie<"c", "b">],
                      definition> {
  let keepsZeros = ZerosKeptEverywhere;
  let phase = ForwardPhase;
  let precision = Narrow;
}
def LogicalAndPrimitive : Logic<"logical_and", 117, (andb $a, $b)> {
  let summary = "c = a and b, for booleans (i1)";
}
def LogicalOrPrimitive : Logic<"logical_or", 118, (orb $a, $b)> {
  let summary = "c = a or b, for booleans (i1)";
}
def LogicalXorPrimitive : Logic<"logical_xor", 119, (xorb $a, $b)> {
  let summary = "c = a xor b, for booleans (i1): exactly one of them is true";
}
def LogicalNotPrimitive : PointwiseRecord<"logical_not", 120, "", "compare",
    Bools, [In<"x", BoolElement>], Like<"y", "x">, [Tie<"y", "x">], (notb $x)> {
  let summary = "y = not x, for booleans (i1)";
  let phase = ForwardPhase;
  let precision = Narrow;
}
def AICF_LogicalAndOp : AICF_OpOf<LogicalAndPrimitive, "logical_and",
                                  [Commutative]>;
def AICF_LogicalOrOp : AICF_OpOf<LogicalOrPrimitive, "logical_or",
                                 [Commutative]>;
def AICF_LogicalXorOp : AICF_OpOf<LogicalXorPrimitive, "logical_xor",
                                  [Commutative]>;
def AICF_LogicalNotOp : AICF_OpOf<LogicalNotPrimitive>;

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

def WherePrimitive : PointwiseRecord<"where", 121, "", "compare", BoolToAny,
    [In<"condition", BoolElement>, In<"a", AnyElement>,
     Same<"b", "a", AnyElement>],
    Like<"c", "a">, [Tie<"c", "a">, Tie<"c", "b">],
    (pick $condition, $a, $b)> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "c = a where the condition is true, else b";
  let text = [{
    A NaN that is chosen stays NaN. An element that is not chosen gets the gradient 0,
    whatever its value is.
  }];
  let constraints = ["`condition` has a's shape."];
  let phase = ForwardPhase;
  let precision = Narrow;
}
def MaskedFillPrimitive : PointwiseRecord<"masked_fill", 122, "MFIL", "compare",
    Numbers, [In<"x", NumberElement>, In<"mask", BoolElement>], Like<"y", "x">,
    [Tie<"y", "x">],
    (pick $inverted, (pick $mask, $x, $value), (pick $mask, $value, $x))> {
  let summary = "y = value where the mask is true, else x";
  let text = [{
    With `inverted`, y is `value` where the mask is false, else x. `value` may be
    infinite, as it is for attention masks.
  }];
  let fields = [F64Field<"value", NotNaN>, BoolField<"inverted">];
  let constraints = ["`mask` has x's shape.",
                     "if x holds integers, `value` is a number of x's type."];
  let phase = ForwardPhase;
  let precision = Narrow;
}
def AICF_WhereOp : AICF_OpOf<WherePrimitive> {
  let gradient = [{
    for (auto [operand, isElse] :
         {std::pair{getA(), false}, std::pair{getB(), true}}) {
      if (g.isNeeded(operand)) {
        g.add(operand, MaskedFillOp::create(
            b, loc, g.cotangent(getC()), g.saved(getCondition()),
            ::llvm::APFloat(0.0), /*inverted=*/!isElse));
      }
    }
  }];
}
def AICF_MaskedFillOp : AICF_OpOf<MaskedFillPrimitive> {
  let gradient = [{
    g.add(getX(), MaskedFillOp::create(b, loc, g.cotangent(getY()),
                                       g.saved(getMask()),
                                       ::llvm::APFloat(0.0), getInverted()));
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

defm Compare : PointwiseKernels<"compare">;

#endif // AICF_KERNELS_COMPARE_FAMILY_TD
