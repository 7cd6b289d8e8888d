//===- AICFInterfaces.td - what passes ask of an op of a step -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_INTERFACES_TD
#define AICF_INTERFACES_TD

include "mlir/IR/OpBase.td"

def StepOpInterface : OpInterface<"StepOpInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    What passes over a training step ask of an op instead of listing ops. Phase,
    precision and scaling have no default: an op without them does not build.
    They are explained at their classes in AICFRTBase.td.
  }];
  let methods = [
    InterfaceMethod<
      "Where in a step it stands. Update and Counter ops belong to the update "
      "half of a split step: one that says otherwise runs before gradients are "
      "checked.",
      "aicf::Phase", "getPhase">,
    InterfaceMethod<
      "What mixed precision does to it. An op that is called Wide for want of a "
      "better answer silently stays in f32.",
      "aicf::Precision", "getPrecision">,
    InterfaceMethod<
      "How a loss scale on its operands shows in its results. A wrong answer "
      "trains on gradients that are off by the scale.",
      "aicf::Scaling", "getScaling">,
    InterfaceMethod<
      "The place of the optional operand `name`: empty if it is absent, to be "
      "assigned to. Asked only of ops that have it.",
      "::mlir::MutableOperandRange", "getOptionalOperand",
      (ins "::llvm::StringRef":$name), "",
      [{ llvm_unreachable("no optional operands"); }]>,
    InterfaceMethod<
      "The operand that must come (through `bias_corr`, or directly) from a "
      "`step_inc` whose state the same `step_inc` updates, or -1. An op that "
      "hides it trains on a frozen step once captured.",
      "int64_t", "getStepOperand", (ins), "", "return -1;">,
    InterfaceMethod<
      "(operand, result) pairs of moments: the operand must be a state that the "
      "result updates. One left out is a moment that never moves.",
      "::llvm::SmallVector<std::pair<unsigned, unsigned>>", "getMoments", (ins),
      "", "return {};">,
    InterfaceMethod<
      "(parameter, gradient) operand numbers of an optimizer. Without them "
      "`keep=grad` and the loss scale pass it by.",
      "std::optional<std::pair<unsigned, unsigned>>", "getParamAndGrad", (ins),
      "", "return std::nullopt;">
  ];
}

def RecordOpInterface : OpInterface<"RecordOpInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    An op that is one primitive: it lowers to the `aicf_rt` op of the same record
    with the same operands, fields and results.
  }];
  let methods = [
    InterfaceMethod<"The primitive. Another one with as many operands would "
                    "be lowered to without a word.",
                    "aicf::OpKind", "getPrimitive">
  ];
}

#endif // AICF_INTERFACES_TD
