//===- MapOp.td - functions that nobody has named --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_MAP_OP_TD
#define AICF_MAP_OP_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def AICF_MapOp : AICF_Op<"map", [IsolatedFromAbove,
                                 SingleBlock]> {
  let summary = "y = what the body computes for each element of the operands";
  let description = [{
    The body has one argument for each operand, which is the element of that operand.
    It consists of scalar ops of `arith` and `math`. `--aicf-expand-maps` replaces the
    map by ops of this dialect, which have derivatives. A scalar op that has no
    counterpart in this dialect is an error there.

    ```mlir
    %y = aicf.map %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32> {
    ^bb0(%x: f32, %z: f32):
      %s = math.sin %x : f32
      %p = arith.mulf %s, %z : f32
      aicf.yield %p : f32
    }
    ```

    - C1: there is an operand, and all have one shape.
    - C2: the body has an argument of each operand's element type.
    - C3: y has the operands' shape and the element type that the body yields.
  }];
  let arguments = (ins Variadic<AICF_Any>:$operands);
  let results = (outs AICF_Any:$y);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $operands attr-dict `:` type($operands) `->` type($y) $body
  }];
  let extraClassDeclaration = [{
    aicf::Phase getPhase() { return aicf::Phase::Forward; }
    // Never asked: expanded before mixed precision.
    aicf::Precision getPrecision() { return aicf::Precision::Wide; }
  }];
}

def AICF_YieldOp : Op<AICF_Dialect, "yield", [Pure, Terminator, ReturnLike,
                                              HasParent<"MapOp">]> {
  let summary = "end the body of a map";
  let description = "\n    The value is the element of y.\n";
  let arguments = (ins AnyTypeOf<[AnyFloat, AnyInteger]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // AICF_MAP_OP_TD
