//===- AICFOps.td - the ops of a training step ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Most are one primitive; what is true of those stands in their records
// (Dialect/Primitives), here only what a step shows otherwise.
//===----------------------------------------------------------------------===//
#ifndef AICF_OPS_TD
#define AICF_OPS_TD

include "aicf/Dialect/AICF/AICFBase.td"

def AICF_LinearOp : AICF_Composite<"linear", ForwardPhase, Narrow, Linear> {
  let summary = "y = x·Wᵀ + b";
  let description = [{
    x is [M, K], W is [N, K] (PyTorch's layout), b is [N], y is [M, N].
    - C1: x and W have rank 2.
    - C2: W's dimension 1 is x's dimension 1.
    - C3: b is [N].
    - C4: x, W and b have the same element type.
  }];
  let arguments = (ins AICF_Float:$x, AICF_Float:$weight,
                       Optional<AICF_Float>:$bias);
  let results = (outs AICF_Float:$y);
  let assemblyFormat = [{
    $x `,` $weight (`,` $bias^)? attr-dict
    `:` type($x) `,` type($weight) (`,` type($bias)^)?
  }];
}

def AICF_LinearBwdOp : AICF_Composite<"linear_bwd", BackwardPhase, Narrow,
                                      Linear> {
  let summary = "gradients of linear";
  let description = [{
    dx = dy·W, dW = dyᵀ·x, db = Σ_rows dy.
    - C1: dy, x and W have rank 2.
    - C2: dy is [M, N] for x [M, K] and W [N, K].
    - C3: dy, x and W have the same element type.
  }];
  let arguments = (ins AICF_Float:$dy, AICF_Float:$x, AICF_Float:$weight);
  let results = (outs AICF_Float:$dx, AICF_Float:$dweight, AICF_Float:$dbias);
}

//===----------------------------------------------------------------------===//
// Pointwise, copies, casts
//===----------------------------------------------------------------------===//

def AICF_ReluOp : AICF_OpOf<AICFRT_ReluOp> { let hasFolder = 1; }
def AICF_ReluBwdOp : AICF_OpOf<AICFRT_ReluBwdOp>;
def AICF_AddOp : AICF_OpOf<AICFRT_AddOp, "add", [Commutative]>;
def AICF_ReciprocalOp : AICF_OpOf<AICFRT_ReciprocalOp>;
def AICF_SaveOp : AICF_OpOf<AICFRT_CopySavedOp, "save">;
def AICF_CopyOp : AICF_OpOf<AICFRT_CopyOp>;

def AICF_CastOp : AICF_OpOf<AICFRT_CastOp> {
  let stepAttrs = (ins TypeAttr:$dtype);
  let stepConstraints = ["`dtype`, y's element type, is f16, bf16, f32 or f64."];
  let assemblyFormat = "$x `to` $dtype attr-dict `:` type($x)";
  let hasFolder = 1; // a cast to x's own type is x
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

//===----------------------------------------------------------------------===//
// Losses, sums, normalisation
//===----------------------------------------------------------------------===//

def AICF_MseLossOp : AICF_OpOf<AICFRT_MseLossOp>;

def AICF_MseGradOp : AICF_OpOf<AICFRT_MseGradOp> {
  let assemblyFormat = [{
    $pred `,` $target (`,` $loss_scale^)? attr-dict
    `:` type($pred) `,` type($target) (`,` type($loss_scale)^)?
  }];
}

def AICF_ReduceSumOp : AICF_OpOf<AICFRT_ReduceSumOp> {
  let stepAttrs = (ins DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

def AICF_LayerNormOp : AICF_OpOf<AICFRT_LayerNormOp>;
def AICF_LayerNormBwdOp : AICF_OpOf<AICFRT_LayerNormBwdOp>;

//===----------------------------------------------------------------------===//
// Guards, counters, optimizers
//===----------------------------------------------------------------------===//

def AICF_AllFiniteOp : AICF_OpOf<AICFRT_AllFiniteOp>;
def AICF_LossScaleUpdateOp : AICF_OpOf<AICFRT_LossScaleUpdateOp>;

def AICF_StepIncOp : AICF_OpOf<AICFRT_StepIncOp> {
  let assemblyFormat = [{
    $step (`,` $ok^)? attr-dict `:` type($step) (`,` type($ok)^)?
  }];
}

def AICF_BiasCorrOp : AICF_OpOf<AICFRT_BiasCorrOp> {
  let stepAttrs = (ins OptionalAttr<TypeAttr>:$dtype);
  let stepConstraints = ["`dtype`, bc's element type (default f32), is f16, "
                         "bf16, f32 or f64."];
  let more = [{
    int64_t getStepOperand() { return 0; }
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

def AICF_AdamStepOp : AICF_OpOf<AICFRT_AdamStepOp> {
  let stepConstraints = ["a bias_corr that makes bc has the same beta1 and "
                         "beta2."];
  let assemblyFormat = [{
    $p `,` $g `,` $m `,` $v `,` $bc `,` $lr
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($m) `,` type($v) `,` type($bc) `,`
    type($lr) (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let more = [{
    ::llvm::LogicalResult verifyStep();
    int64_t getStepOperand() { return 4; }
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getMoments() {
      return {{2, 1}, {3, 2}};
    }
    std::optional<std::pair<unsigned, unsigned>> getParamAndGrad() {
      return std::make_pair(0u, 1u);
    }
  }];
}

def AICF_SgdStepOp : AICF_OpOf<AICFRT_SgdStepOp> {
  let assemblyFormat = [{
    $p `,` $g `,` $lr (`momentum` $m^)?
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($lr) (`momentum` type($m)^)?
    (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let more = [{
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getMoments() {
      if (!getM())
        return {};
      return {{3, 1}};
    }
    std::optional<std::pair<unsigned, unsigned>> getParamAndGrad() {
      return std::make_pair(0u, 1u);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

def AICF_GatherRowsOp : AICF_OpOf<AICFRT_GatherRowsOp> {
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

def AICF_ShuffleOp : AICF_OpOf<AICFRT_ShuffleOp> {
  let stepAttrs = (ins I64Attr:$batch);
  let stepConstraints = ["`batch`, index's size, is in [1, 2^31)."];
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

/// `--aicf-expand-history` makes these from `aicf.history`.
def AICF_RecordOp : AICF_OpOf<AICFRT_RecordOp>;

#endif // AICF_OPS_TD
