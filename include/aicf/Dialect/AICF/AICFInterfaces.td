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
    What passes over a training step ask of an op instead of listing ops. Phase
    and precision have no default: an op without them does not build. They are
    explained at their classes in Record.td.
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
      "The place of the optional operand `name`: empty if it is absent, to be "
      "assigned to. Asked only of ops that have it: another one aborts.",
      "::mlir::MutableOperandRange", "getOptionalOperand",
      (ins "::llvm::StringRef":$name), "",
      [{ llvm::report_fatal_error("no operand is called " + name); }]>,
    InterfaceMethod<
      "The operand that mixed precision leaves as wide as it was computed, where "
      "the precision is Keep, else null. Another one would be widened by a cast "
      "that its gradient does not have.",
      "::mlir::OpOperand *", "getKeptOperand", (ins), "", "return nullptr;">,
    InterfaceMethod<
      "The operand that must come (through `bias_corr`, or directly) from a "
      "`step_inc` whose state the same `step_inc` updates, or null. Of an op "
      "before the update half it must be that state, or an input. An op that "
      "hides it trains on a frozen step once captured.",
      "::mlir::OpOperand *", "getCounterOperand", (ins), "", "return nullptr;">,
    InterfaceMethod<
      "What an optimizer trains, by which gradient and with which moments; "
      "nothing for another op. `keep=grad` and the loss scale pass by an "
      "optimizer that hides it, and a moment that is left out never moves.",
      "aicf::step::Training", "getTraining", (ins), "", "return {};">
  ];
}

/// The op shows its operand in another shape or order: below, it launches nothing.
/// What backward reads of it is the same view of what is saved of its operand.
def AICF_ViewTrait : NativeOpTrait<"ViewOfOperand"> {
  let cppNamespace = "::aicf::step";
}

def RecordOpInterface : OpInterface<"RecordOpInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    An op that is one primitive: it lowers to a call of the same record's
    primitive, with the same operands, fields and results.
  }];
  let methods = [
    InterfaceMethod<"The primitive. Another one with as many operands would "
                    "be lowered to without a word.",
                    "aicf::OpKind", "getPrimitive">,
    InterfaceMethod<"The operands as the record lists them, null where an "
                    "optional one is absent. Who counts operands instead takes "
                    "one for another.",
                    "::llvm::SmallVector<::mlir::Value>", "getOperandSlots">
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    An op that `--aicf-autodiff` carries gradients back through. An op of another
    dialect joins by an external model; what it adds may be of that dialect too,
    whose lowering to `aicf` then runs before `--lower-to-backend`.
  }];
  let methods = [
    InterfaceMethod<[{
      Given the cotangents of its results, adds the ops that compute those of its
      operands, and gives them to `gradients` (GradientBuilder.h). It is asked
      only if a result has a cotangent and an operand needs one. An operand that
      it leaves out gets no gradient by way of this op. Fails with a diagnostic at
      the op where it cannot.
    }], "::llvm::LogicalResult", "buildGradients",
    (ins "::aicf::step::GradientBuilder &":$gradients)>
  ];
}

#endif // AICF_INTERFACES_TD
