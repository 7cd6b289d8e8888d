//===- AICFOps.td - the ops of a training step ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_OPS_TD
#define AICF_OPS_TD

include "aicf/Dialect/AICF/AICFBase.td"

def AICF_LinearOp : AICF_Op<"linear"> {
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

def AICF_LinearBwdOp : AICF_Op<"linear_bwd"> {
  let summary = "gradients of linear";
  let description = [{
    dx = dy·W, dW = dyᵀ·x, db = Σ_rows dy.
    - C1: dy, x and W have rank 2.
    - C2: dy is [M, N] for x [M, K] and W [N, K].
    - C3: dy, x and W have the same element type.
  }];
  let arguments = (ins AICF_Float:$dy, AICF_Float:$x, AICF_Float:$weight);
  let results = (outs AICF_Float:$dx, AICF_Float:$dweight, AICF_Float:$dbias);
  let assemblyFormat = [{
    operands attr-dict `:` type(operands)
  }];
}

class AICF_UnaryOp<string mnemonic, Type type = AICF_Any>
    : AICF_Op<mnemonic> {
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 0;
}

def AICF_ReluOp : AICF_UnaryOp<"relu", AICF_Float> {
  let summary = "y = max(x, 0)";
  let hasFolder = 1;
}

def AICF_SaveOp : AICF_UnaryOp<"save"> {
  let summary = "keeps a value of the forward pass for the backward pass";
  let description = [{
    Its result equals its operand. Never folded: only named passes remove it.
  }];
}

def AICF_CopyOp : AICF_UnaryOp<"copy"> {
  let summary = "a copy of a value";
  let description = [{
    Its result equals its operand. Never folded: only named passes remove it.
  }];
}

def AICF_CastOp : AICF_Op<"cast"> {
  let summary = "converts to another float type, rounding to nearest even";
  let description = [{
    Folds to its operand when the type does not change.
    - C1: `dtype` is f16, bf16, f32 or f64.
  }];
  let arguments = (ins AICF_Float:$x, TypeAttr:$dtype);
  let results = (outs AICF_Float:$y);
  let assemblyFormat = "$x `to` $dtype attr-dict `:` type($x)";
  let hasFolder = 1;
  let hasVerifier = 0; // C1 is checked by the inference of its result type
}

def AICF_AddOp : AICF_Op<"add", [Commutative]> {
  let summary = "c = a + b, element by element, no broadcasting";
  let description = [{
    - C1: a and b have the same type.
  }];
  let arguments = (ins AICF_Float:$a, AICF_Float:$b);
  let results = (outs AICF_Float:$c);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
}

def AICF_ReluBwdOp : AICF_Op<"relu_bwd"> {
  let summary = "dx = saved > 0 ? dy : 0";
  let description = [{
    `saved` is relu's input or output.
    - C1: dy and saved have the same type.
  }];
  let arguments = (ins AICF_Float:$dy, AICF_Float:$saved);
  let results = (outs AICF_Float:$dx);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def AICF_MseLossOp : AICF_Op<"mse_loss"> {
  let summary = "loss = mean((pred - target)²)";
  let description = [{
    The loss has target's element type.
    - C1: pred and target have the same type, or the same shape with pred of
      f16 or bf16 and target of f32.
  }];
  let arguments = (ins AICF_Float:$pred, AICF_Float:$target);
  let results = (outs AICF_Float:$loss);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def AICF_MseGradOp : AICF_Op<"mse_grad"> {
  let summary = "dpred = scale·(pred - target) [·loss_scale]";
  let description = [{
    `scale` defaults to 2/numel(pred): the gradient of `mse_loss`.
    - C1: pred and target have the same type, or the same shape with pred of
      f16 or bf16 and target of f32.
    - C2: loss_scale is 0-d of target's element type.
    - C3: `scale` is finite.
  }];
  let arguments = (ins AICF_Float:$pred, AICF_Float:$target,
                       Optional<AICF_Float>:$loss_scale,
                       OptionalAttr<F64Attr>:$scale);
  let results = (outs AICF_Float:$dpred);
  let assemblyFormat = [{
    $pred `,` $target (`,` $loss_scale^)? attr-dict
    `:` type($pred) `,` type($target) (`,` type($loss_scale)^)?
  }];
}

def AICF_ReduceSumOp : AICF_Op<"reduce_sum"> {
  let summary = "sums over one dimension";
  let description = [{
    - C1: 0 ≤ axis < rank of x.
  }];
  let arguments = (ins AICF_Float:$x,
                       DefaultValuedAttr<I64Attr, "0">:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs AICF_Float:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def AICF_LayerNormOp : AICF_Op<"layer_norm"> {
  let summary = "normalises the last dimension; also yields mean and rstd";
  let description = [{
    y = (x - mean)·rstd·gamma + beta, rstd = 1/√(biased variance + eps).
    mean and rstd have x's shape without the last dimension.
    - C1: x has rank 1 or more.
    - C2: gamma and beta are [last dimension of x].
    - C3: x, gamma and beta have the same element type.
    - C4: eps ≥ 0 and finite.
  }];
  let arguments = (ins AICF_Float:$x, AICF_Float:$gamma, AICF_Float:$beta,
                       DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let results = (outs AICF_Float:$y, AICF_Float:$mean, AICF_Float:$rstd);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def AICF_LayerNormBwdOp : AICF_Op<"layer_norm_bwd"> {
  let summary = "gradients of layer_norm";
  let description = [{
    - C1: dy and x have the same type, of rank 1 or more.
    - C2: gamma is [last dimension of x].
    - C3: mean and rstd have x's shape without the last dimension.
    - C4: all have the same element type.
  }];
  let arguments = (ins AICF_Float:$dy, AICF_Float:$x, AICF_Float:$gamma,
                       AICF_Float:$mean, AICF_Float:$rstd);
  let results = (outs AICF_Float:$dx, AICF_Float:$dgamma, AICF_Float:$dbeta);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def AICF_AllFiniteOp : AICF_Op<"all_finite"> {
  let summary = "ok = 1 when no element of any operand is Inf or NaN, else 0";
  let description = [{
    - C1: one operand or more.
    - C2: all operands have the same element type.
  }];
  let arguments = (ins Variadic<AICF_Float>:$grads);
  let results = (outs AICF_I32:$ok);
  let assemblyFormat = "$grads attr-dict `:` type($grads)";
}

def AICF_LossScaleUpdateOp : AICF_Op<"loss_scale_update"> {
  let summary = "dynamic loss scale (PyTorch's GradScaler rule)";
  let description = [{
    Not ok: scale·backoff_factor, streak 0. ok and streak + 1 = growth_interval:
    scale·growth_factor, streak 0. Else streak + 1. The scale is kept in
    [2^-24, 2^126], so that its reciprocal is finite; NaN becomes the least.
    - C1: scale, streak and ok are 0-d; streak and ok are i32.
    - C2: growth_factor ≥ 1 and finite, 0 < backoff_factor ≤ 1,
      1 ≤ growth_interval < 2^31.
  }];
  let arguments = (ins AICF_Float:$scale, AICF_I32:$streak, AICF_I32:$ok,
                       DefaultValuedAttr<F64Attr, "2.0">:$growth_factor,
                       DefaultValuedAttr<F64Attr, "0.5">:$backoff_factor,
                       DefaultValuedAttr<I64Attr, "2000">:$growth_interval);
  let results = (outs AICF_Float:$new_scale, AICF_I32:$new_streak);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def AICF_StepIncOp : AICF_Op<"step_inc"> {
  let summary = "the step counter plus one (unchanged when ok = 0)";
  let description = [{
    The largest number of its type stays: a counter does not wrap.
    - C1: step is 0-d.
    - C2: ok is 0-d.
  }];
  let arguments = (ins AICF_Int:$step, Optional<AICF_I32>:$ok);
  let results = (outs AICF_Int:$new_step);
  let assemblyFormat = [{
    $step (`,` $ok^)? attr-dict `:` type($step) (`,` type($ok)^)?
  }];
}

def AICF_BiasCorrOp : AICF_Op<"bias_corr"> {
  let summary = "bc = [1/(1-beta1^t), 1/(1-beta2^t)] for Adam";
  let description = [{
    Computed as 1/-expm1(t·log β) in f64 and rounded once to `dtype` (default f32).
    - C1: step is 0-d.
    - C2: 0 ≤ beta1, beta2 < 1.
    - C3: `dtype` is f16, bf16, f32 or f64.
  }];
  let arguments = (ins AICF_Int:$step,
                       DefaultValuedAttr<F64Attr, "0.9">:$beta1,
                       DefaultValuedAttr<F64Attr, "0.999">:$beta2,
                       OptionalAttr<TypeAttr>:$dtype);
  let results = (outs AICF_Float:$bc);
  let assemblyFormat = "$step attr-dict `:` type($step)";
  let extraClassDeclaration = [{
    int64_t getStepOperand() { return 0; }
  }];
}

def AICF_AdamStepOp : AICF_Op<"adam_step", [AttrSizedOperandSegments]> {
  let summary = "AdamW: p', m', v' from p, g, m, v";
  let description = [{
    g' = g·inv_scale; m' = β1·m + (1-β1)·g'; v' = β2·v + (1-β2)·g'²;
    p' = p·(1 - lr·weight_decay) - lr·m'·bc[0] / (√(v'·bc[1]) + eps)
    (Kingma & Ba 2015; decoupled decay of Loshchilov & Hutter 2019). With ok = 0
    the results are the old values.
    - C1: p, m and v have the same type; g has it too, or p's shape with f16 or
      bf16 where p is f32.
    - C2: bc is [2]; lr and inv_scale are 0-d; of p's element type.
    - C3: ok is 0-d.
    - C4: 0 ≤ beta1, beta2 < 1; eps ≥ 0 and weight_decay ≥ 0 are finite.
    - C5: a bias_corr that makes bc has the same beta1 and beta2.
  }];
  let arguments = (ins AICF_Float:$p, AICF_Float:$g, AICF_Float:$m,
                       AICF_Float:$v, AICF_Float:$bc, AICF_Float:$lr,
                       Optional<AICF_Float>:$inv_scale, Optional<AICF_I32>:$ok,
                       DefaultValuedAttr<F64Attr, "0.9">:$beta1,
                       DefaultValuedAttr<F64Attr, "0.999">:$beta2,
                       DefaultValuedAttr<F64Attr, "1e-8">:$eps,
                       DefaultValuedAttr<F64Attr, "0.0">:$weight_decay);
  let results = (outs AICF_Float:$new_p, AICF_Float:$new_m,
                      AICF_Float:$new_v);
  let assemblyFormat = [{
    $p `,` $g `,` $m `,` $v `,` $bc `,` $lr
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($m) `,` type($v) `,` type($bc) `,`
    type($lr) (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let extraClassDeclaration = [{
    int64_t getStepOperand() { return 4; }
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getMoments() {
      return {{2, 1}, {3, 2}};
    }
    std::optional<std::pair<unsigned, unsigned>> getParamAndGrad() {
      return std::make_pair(0u, 1u);
    }
  }];
}

def AICF_SgdStepOp : AICF_Op<"sgd_step", [AttrSizedOperandSegments]> {
  let summary = "SGD: p', m' from p, g and, with momentum, m";
  let description = [{
    d = g·inv_scale + weight_decay·p; m' = momentum·m + d;
    p' = p - lr·(nesterov ? d + momentum·m' : m') (PyTorch, dampening 0). With
    ok = 0 the results are the old values. Without m the second result may not
    be used.
    - C1: p and m have the same type; g has it too, or p's shape with f16 or
      bf16 where p is f32.
    - C2: lr and inv_scale are 0-d of p's element type.
    - C3: ok is 0-d.
    - C4: momentum ≥ 0 and weight_decay ≥ 0 are finite; momentum and nesterov
      need m.
  }];
  let arguments = (ins AICF_Float:$p, AICF_Float:$g, AICF_Float:$lr,
                       Optional<AICF_Float>:$m,
                       Optional<AICF_Float>:$inv_scale, Optional<AICF_I32>:$ok,
                       DefaultValuedAttr<F64Attr, "0.0">:$momentum,
                       DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
                       DefaultValuedAttr<BoolAttr, "false">:$nesterov);
  let results = (outs AICF_Float:$new_p, AICF_Float:$new_m);
  let assemblyFormat = [{
    $p `,` $g `,` $lr (`momentum` $m^)?
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($lr) (`momentum` type($m)^)?
    (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let extraClassDeclaration = [{
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

def AICF_ReciprocalOp : AICF_UnaryOp<"reciprocal", AICF_Float> {
  let summary = "y = 1/x";
}

def AICF_GatherRowsOp : AICF_Op<"gather_rows"> {
  let summary = "rows[i] = data[index[i]]";
  let description = [{
    Makes a batch of a dataset that lives on the device. An index outside data
    is clamped.
    - C1: data has rank 1 or more.
    - C2: index has rank 1.
  }];
  let arguments = (ins AICF_Any:$data, AICF_Int:$index);
  let results = (outs AICF_Any:$rows);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def AICF_ShuffleOp : AICF_Op<"shuffle"> {
  let summary = "the rows of batch `step` in an endless shuffled walk";
  let description = [{
    The indices [batch] (i32) of positions step·batch ... of a walk that visits
    each of 0..size-1 once an epoch, in an order that depends on `seed` and the
    epoch only. `step` is a state that a step_inc of its own advances.
    - C1: step is 0-d.
    - C2: 1 ≤ size < 2^31.
    - C3: 1 ≤ batch < 2^31.
  }];
  let arguments = (ins AICF_Int:$step, I64Attr:$size, I64Attr:$batch,
                       DefaultValuedAttr<I64Attr, "0">:$seed);
  let results = (outs AICF_I32:$index);
  let assemblyFormat = "$step attr-dict `:` type($step)";
}

def AICF_RecordOp : AICF_Op<"record"> {
  let summary = "history with row (step mod K) replaced by value";
  let description = [{
    `--aicf-expand-history` makes these from `aicf.history`.
    - C1: history has rank 1 or more and value's shape behind dimension 0.
    - C2: history and value have the same element type.
    - C3: step is 0-d.
  }];
  let arguments = (ins AICF_Any:$history, AICF_Any:$value, AICF_Int:$step);
  let results = (outs AICF_Any:$new_history);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

#endif // AICF_OPS_TD
