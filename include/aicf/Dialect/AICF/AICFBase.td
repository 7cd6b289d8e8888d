//===- AICFBase.td - the aicf dialect and its types -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Included by AICFOps.td. AICFInterfaces.td holds the op interface.
//===----------------------------------------------------------------------===//
#ifndef AICF_BASE_TD
#define AICF_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "aicf/Dialect/AICF/AICFInterfaces.td"

def AICF_Dialect : Dialect {
  let name = "aicf";
  let cppNamespace = "::mlir::aicf";
  let summary = "What a training step means: values, no devices, no memory";
  let description = [{
    The top level of AICF. A training step is a public `func.func` on static
    tensors; the level below is `aicf_rt`, where one op is one kernel call.

    A public function with any `aicf.*` attribute on itself, its arguments or its
    results is an **entry**. Every argument of an entry has `aicf.role`
    (`input`, `param`, `state`, `hyper`) and `aicf.name`; every result has
    `aicf.name` (an output) or `aicf.updates` (the name of the param or state
    that takes the value at the end of the step). All updates are one parallel
    assignment: every read in the step sees the old value.

    `aicf.init` on a param or state says how it starts: `"zeros"` (default of a
    state), `"ones"`, `"uniform_fan_in"`, `"normal"` (standard deviation 1) or
    `"normal:0.02"`, or a number.

    What changes from step to step is a tensor, never an attribute: a captured
    graph would freeze it (`--aicf-check-capture-safety`).

    On entry: any module with such functions. On exit (`--aicf-lower-to-rt`): no
    `aicf` op is left inside an entry.

    ```mlir
    func.func @train_step(
        %x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
        %t: tensor<64x8xf32>  {aicf.role = "input", aicf.name = "target"},
        %W: tensor<8x32xf32>  {aicf.role = "param", aicf.name = "W",
                               aicf.init = "uniform_fan_in"},
        %lr: tensor<f32>      {aicf.role = "hyper", aicf.name = "lr"})
        -> (tensor<f32>       {aicf.name = "loss"},
            tensor<8x32xf32>  {aicf.updates = "W"}) {
      %y = aicf.linear %x, %W : tensor<64x32xf32>, tensor<8x32xf32>
      %loss = aicf.mse_loss %y, %t : tensor<64x8xf32>, tensor<64x8xf32>
      %dy = aicf.mse_grad %y, %t : tensor<64x8xf32>, tensor<64x8xf32>
      %dx, %dW, %db = aicf.linear_bwd %dy, %x, %W
          : tensor<64x8xf32>, tensor<64x32xf32>, tensor<8x32xf32>
      %W2, %m2 = aicf.sgd_step %W, %dW, %lr
          : tensor<8x32xf32>, tensor<8x32xf32>, tensor<f32>
      return %loss, %W2 : tensor<f32>, tensor<8x32xf32>
    }
    ```
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class AICF_TensorOf<list<Type> types, string text> : Type<
    And<[TensorOf<types>.predicate, HasStaticShapePred,
         CPred<"::llvm::none_of(::llvm::cast<::mlir::ShapedType>($_self)"
               ".getShape(), [](int64_t d) { return d == 0; })">]>,
    "tensor of " # text # " with static, non-zero dimensions (give every "
    "dimension a number, e.g. tensor<64x128xf32>: an entry is compiled per "
    "shape)", "::mlir::RankedTensorType">;

def AICF_Float : AICF_TensorOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def AICF_Int : AICF_TensorOf<[I32, I64], "i32 or i64">;
def AICF_I32 : AICF_TensorOf<[I32], "i32">;
def AICF_Any : AICF_TensorOf<[F16, BF16, F32, F64, I32, I64],
                             "f16, bf16, f32, f64, i32 or i64">;

/// Every op is Pure, infers its result types (all results are always there; an
/// unused one gets no call) and has its constraints C1..Cn in check(), which
/// inference and verifier share, or, where they look at numbers, in its verifier.
class AICF_Op<string mnemonic, list<Trait> traits = []>
    : Op<AICF_Dialect, mnemonic,
         traits # [Pure, InferTypeOpAdaptorBase<[{
                     static ::llvm::LogicalResult
                     check(Adaptor adaptor,
                           ::llvm::function_ref<::mlir::InFlightDiagnostic()>
                               report);
                   }]>,
                   DeclareOpInterfaceMethods<TrainingOpInterface>]> {
  let hasVerifier = 1;
}

#endif // AICF_BASE_TD
