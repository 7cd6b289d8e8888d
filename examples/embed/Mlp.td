//===- Mlp.td - a dialect that is not AICF's ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mlp_Dialect : Dialect {
  let name = "mlp";
  let cppNamespace = "::mlp";
}

def Mlp_LayerOp : Op<Mlp_Dialect, "layer", [Pure]> {
  let summary = "activation(x·Wᵀ + b)";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                   AnyRankedTensor:$bias, UnitAttr:$relu);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = [{
    $x `,` $weight `,` $bias (`relu` $relu^)? attr-dict `:`
    functional-type(operands, results)
  }];
}
