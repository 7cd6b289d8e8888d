//===- AICFRTBase.td - the aicf_rt dialect --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICFRT_BASE_TD
#define AICFRT_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def AICFRT_Dialect : Dialect {
  let name = "aicf_rt";
  let cppNamespace = "aicf::rt";
  let summary = "The kernel calls of a training step, and its binding plan";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let description = [{
    This is the level between `aicf` and the plan file. A **call** is one launch decision. Its
    **body** is one primitive or several, such as `gemm`, `bias_add` or `relu`, on static
    tensors. Lowering makes calls of one primitive, and fusion merges their bodies. No pass
    makes a new primitive.

    When `aicf` has just been lowered, every value is its own buffer, and calls run in program
    order. At the end there is one `aicf_rt.plan`. It has a byte offset for every tensor and a
    kernel id (KID) for every call. `aicf-translate` copies it into a file.

    Calls are not `Pure`. Each call writes an execution-order resource, so that generic CSE,
    DCE and code motion cannot undo what a pass has decided.

    ```mlir
    %y = aicf_rt.call gemm(%x, %W) {transB = true} vids [3]
        : (tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<64x128xf32>
    %z = aicf_rt.call bias_add(%y, %b) inplace [0] vids [3]
        : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
    ```

    The rules in `kernels/<family>/Rules.cpp` check which operands are there, their element
    types, the fields and the numbered constraints. The `aicf` verifier, the plan loader and
    `op_call` run the same code.
  }];
}

def AICFRT_Tensor : StaticShapeTensorOf<[F16, BF16, F32, F64, I32, I64, I1]>;

class AICFRT_Op<string mnemonic, list<Trait> traits = []>
    : Op<AICFRT_Dialect, mnemonic, traits>;

#endif // AICFRT_BASE_TD
