//===- AICFInterfaces.td - how fast an operand must change ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_INTERFACES_TD
#define AICF_INTERFACES_TD

include "mlir/IR/OpBase.td"

def TrainingOpInterface : OpInterface<"TrainingOpInterface"> {
  let cppNamespace = "::mlir::aicf";
  let description = [{
    What capture safety and `keep=grad` ask of an op. The defaults fit every op
    that is neither an optimizer nor `bias_corr`.
  }];
  let methods = [
    InterfaceMethod<
      "The operand that must come (through `bias_corr`, or directly) from a "
      "`step_inc` whose state the same `step_inc` updates, or -1.",
      "int64_t", "getStepOperand", (ins), "", "return -1;">,
    InterfaceMethod<
      "(operand, result) pairs of moments: the operand must be a state that the "
      "result updates.",
      "::llvm::SmallVector<std::pair<unsigned, unsigned>>", "getMoments", (ins),
      "", "return {};">,
    InterfaceMethod<
      "(parameter, gradient) operand numbers of an optimizer.",
      "std::optional<std::pair<unsigned, unsigned>>", "getParamAndGrad", (ins),
      "", "return std::nullopt;">
  ];
}

#endif // AICF_INTERFACES_TD
