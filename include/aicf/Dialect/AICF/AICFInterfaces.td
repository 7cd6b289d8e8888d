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
    Passes over a training step ask an op through this interface, so that they need not list
    ops. Phase and precision have no default: an op without them does not build. Record.td
    explains them at their classes.
  }];
  let verify = [{ return ::aicf::step::verifyStepOp($_op); }];
  let methods = [
    InterfaceMethod<
      "Returns where in a step the op stands. Ops of Update and Counter belong to the "
      "update half of a split step. Such an op that says otherwise runs before the "
      "gradients are checked.",
      "aicf::Phase", "getPhase">,
    InterfaceMethod<
      "Returns what mixed precision does to the op. An op that says Wide without need "
      "stays in f32, and nothing reports it.",
      "aicf::Precision", "getPrecision">,
    InterfaceMethod<
      "Returns the place of the optional operand `name`, which a pass may assign to. It "
      "is empty if the operand is absent. Passes ask only ops that have such an operand; "
      "another op aborts.",
      "::mlir::MutableOperandRange", "getOptionalOperand",
      (ins "::llvm::StringRef":$name), "",
      [{ llvm::report_fatal_error("no operand is called " + name); }]>,
    InterfaceMethod<
      "Returns the operand that mixed precision leaves as wide as it was computed, if "
      "the precision is Keep, else null. If this names the wrong operand, a cast widens "
      "the right one, and its gradient does not have that cast.",
      "::mlir::OpOperand *", "getKeptOperand", (ins), "", "return nullptr;">,
    InterfaceMethod<
      "Returns the operand that counts steps, or null. It must come, through "
      "`bias_corr` or directly, from a `step_inc` that updates the state it counts. For "
      "an op before the update half, it must be that state, or an input. If an op hides "
      "this operand, a captured graph may train on a frozen step.",
      "::mlir::OpOperand *", "getCounterOperand", (ins), "", "return nullptr;">,
    InterfaceMethod<
      "Returns what an optimizer trains, by which gradient and with which moments, and "
      "nothing for another op. `keep=grad` and the loss scale skip an optimizer that "
      "hides this, and a moment that is left out never changes.",
      "aicf::step::Training", "getTraining", (ins), "", "return {};">
  ];
}

/// The op shows its operand in another shape or order, and launches nothing when it
/// is lowered. For the backward pass, its operand is saved, and the same view is
/// made of that.
def AICF_ViewTrait : NativeOpTrait<"ViewOfOperand"> {
  let cppNamespace = "::aicf::step";
}

/// The op multiplies matrices: its time is that of its multiplications, not that of
/// the bytes that it reads and writes.
def AICF_ProductTrait : NativeOpTrait<"Product"> {
  let cppNamespace = "::aicf::step";
}

def ComparingOpInterface : OpInterface<"ComparingOpInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    The op is the derivative of a pointwise function. It reads an operand only to compare it
    with numbers. So `--aicf-rematerialize` may give it another tensor that compares in the
    same way, or a mask.
  }];
  let methods = [
    InterfaceMethod<"Returns the operand that the op only compares.",
                    "::mlir::OpOperand &", "getComparedOperand">,
    InterfaceMethod<"Returns whether `function` is the function whose derivative the op is, "
                    "and its operand and its result compare alike. If an op answers true "
                    "where they do not, its gradient is wrong.",
                    "bool", "comparesAlike", (ins "::mlir::Operation *":$function), "",
                    "return false;">,
    InterfaceMethod<"Returns the i1 tensor that is true where the op passes dy on, and adds "
                    "the ops that compute it from `compared`. Elsewhere the result of the "
                    "op is 0. dy is its first operand. Returns null if the op computes "
                    "something else there.",
                    "::mlir::Value", "buildMask",
                    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$compared), "",
                    "return {};">
  ];
}

def RecordOpInterface : OpInterface<"RecordOpInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    The op is one primitive. It lowers to a call of the primitive with the same record, and has
    the same operands, fields and results.
  }];
  let methods = [
    InterfaceMethod<"Returns the primitive. If this is another one with as many "
                    "operands, the op lowers to that, and nothing reports it.",
                    "aicf::OpKind", "getPrimitive">,
    InterfaceMethod<"Returns the operands as the record lists them, with null for an "
                    "optional one that is absent. The op's own list leaves absent ones "
                    "out, so a position there may mean another operand.",
                    "::llvm::SmallVector<::mlir::Value>", "getOperandSlots">
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    `--aicf-autodiff` carries gradients back through an op with this interface. An op of
    another dialect joins by an external model. The ops that it adds may be of that dialect
    too; their lowering to `aicf` then runs before `--lower-to-backend`.
  }];
  let methods = [
    InterfaceMethod<[{
      Takes the cotangents of the op's results, adds the ops that compute the cotangents of its
      operands, and gives these to `gradients` (GradientBuilder.h). The pass calls it only if a
      result has a cotangent and an operand needs one. An operand that it leaves out gets no
      gradient through this op. If it cannot do this, it fails with a diagnostic at the op.
    }], "::llvm::LogicalResult", "buildGradients",
    (ins "::aicf::step::GradientBuilder &":$gradients)>
  ];
}

#endif // AICF_INTERFACES_TD
