//===- Pointwise.td - one element of each operand a result element --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_PRIMITIVES_POINTWISE_TD
#define AICF_PRIMITIVES_POINTWISE_TD

include "aicf/Dialect/AICFRT/AICFRTBase.td"

/// A pointwise primitive: operands of one type, one result of that type, whose
/// elements are `definition` of the operands' elements. Both devices' functors
/// come from the definition; it reads all operands before it writes, so that
/// the result may take the storage of any of them.
class AICFRT_Pointwise<string mnemonic, int number, string schema,
                       list<string> operands, string result, dag definition>
    : AICFRT_Primitive<mnemonic, number, schema> {
  let operandList = !foreach(o, operands, In<o>);
  let resultList = [Like<result, operands[0]>];
  let ties = !foreach(o, operands, Tie<result, o>);
  let scalar = definition;
  let constraints = !if(!eq(!size(operands), 1), []<string>,
      [!interleave(operands, ", ") # " have the same type."]);
}

def AICFRT_ReluOp : AICFRT_Pointwise<"relu", 2, "", ["x"], "y",
    (pick (lessf $x, 0), 0, $x)> {
  let summary = "y = max(x, 0); NaN stays NaN";
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Linear; // max(s·x, 0) = s·max(x, 0) for s > 0
}

def AICFRT_ReluBwdOp : AICFRT_Pointwise<"relu_bwd", 3, "", ["dy", "saved"],
    "dx", (pick (greaterf $saved, 0), $dy, 0)> {
  let summary = "dx = saved > 0 ? dy : 0";
  let text = [{
    `saved` is relu's input or its output: both have the same sign.
  }];
  let phase = BackwardPhase;
  let precision = Narrow;
  let scaling = Linear;
}

def AICFRT_AddOp : AICFRT_Pointwise<"add", 4, "", ["a", "b"], "c",
    (addf $a, $b)> {
  let summary = "c = a + b, element by element, no broadcasting";
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Sum;
}

def AICFRT_ReciprocalOp : AICFRT_Pointwise<"reciprocal", 27, "", ["x"], "y",
    (divf 1, $x)> {
  let summary = "y = 1/x";
  let phase = ForwardPhase;
  let precision = Wide;
  let scaling = NotScaled;
}

def AICFRT_BiasAddOp : AICFRT_Primitive<"bias_add", 1, "BADD"> {
  let summary = "out = y + b, b broadcast along every dimension but `axis`";
  let text = "\n    `axis` -1 is the last dimension.\n";
  let operandList = [In<"y">, In<"b">];
  let resultList = [Like<"out", "y">];
  let ties = [Tie<"out", "y">];
  let fields = [I64Field<"axis", AnyNumber, "-1">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Sum;
  let constraints = ["b has rank 1 and y's element type.",
                     "`axis` is -1 or a dimension of y.",
                     "b's size is y's dimension `axis`."];
}

class AICFRT_CopyLike<string mnemonic, int number>
    : AICFRT_Primitive<mnemonic, number> {
  let operandList = [In<"x", AnyElement>];
  let resultList = [Like<"y", "x">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Linear;
  let constraints = []<string>;
}

def AICFRT_CopyOp : AICFRT_CopyLike<"copy", 5> {
  let summary = "y = x, bit for bit";
  let text = [{
    Never folded: only named passes remove it. Protective copies that
    `--aicf-rt-materialize-updates` inserts are copies with the discardable
    attribute `aicf_rt.protective`; only `--aicf-rt-annotate-inplace` removes
    those.
  }];
}

def AICFRT_CopySavedOp : AICFRT_CopyLike<"copy_saved", 6> {
  let summary = "y = x, kept for the backward pass";
  let text = "\n    Never folded: only named passes remove it.\n";
}

def AICFRT_CastOp : AICFRT_Primitive<"cast", 7> {
  let summary = "y = x converted to y's element type, rounded to nearest even";
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement>];
  let phase = ForwardPhase;
  let precision = Wide;
  let scaling = Linear;
  let constraints = ["y has x's shape."];
}

#endif // AICF_PRIMITIVES_POINTWISE_TD
