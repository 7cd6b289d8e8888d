//===- AICFRTOps.td - the backend primitives ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One record a primitive. OpKind numbers are append-only: plans store them.
// After a change here run `cmake --build build --target update-abi`.
//===----------------------------------------------------------------------===//
#ifndef AICFRT_OPS_TD
#define AICFRT_OPS_TD

include "aicf/Dialect/AICFRT/AICFRTBase.td"

def AICFRT_GemmOp : AICFRT_Primitive<"gemm", 0, "",
    [LayoutField<"transA", "int32_t", "i", "getTransA()", "0">,
     LayoutField<"transB", "int32_t", "i", "getTransB()", "0">],
    Signature<["a", "b"], ["c"]>, [],
    (ins DefaultValuedAttr<BoolAttr, "false">:$transA,
         DefaultValuedAttr<BoolAttr, "false">:$transB)> {
  let summary = "c[M,N] = op(a) · op(b)";
  let description = [{
    Matrix product of rank-2 tensors of one float type; `op` transposes where
    `transA` or `transB` is set. op(a) is [M,K], op(b) is [K,N].

    - C1: a, b and c have rank 2.
    - C2: a, b and c have the same float element type, or a and b are f16 or
      bf16 and c is f32.
    - C3: op(a)'s columns are op(b)'s rows (K).
    - C4: c is [op(a)'s rows, op(b)'s columns].
  }];
}

def AICFRT_BiasAddOp : AICFRT_Primitive<"bias_add", 1, "BADD",
    [LayoutField<"axis", "int64_t", "q", "getAxis()", "-1">],
    Signature<["y", "b"], ["out"]>, [Tie<0, 0>],
    (ins DefaultValuedAttr<I64Attr, "-1">:$axis)> {
  let summary = "out = y + b, b broadcast along every dimension but `axis`";
  let description = [{
    - C1: b has rank 1, all have the same float element type.
    - C2: `axis` is -1 (last) or a dimension of y.
    - C3: b's size is y's dimension `axis`.
    - C4: out has y's type.
  }];
}

class AICFRT_Unary<string mnemonic, int number, string text>
    : AICFRT_Primitive<mnemonic, number, "", [], Signature<["x"], ["y"]>,
                       [Tie<0, 0>]> {
  let summary = text;
  let description = [{
    - C1: y has x's type.
  }];
}

def AICFRT_ReluOp : AICFRT_Unary<"relu", 2, "y = max(x, 0); NaN stays NaN">;

def AICFRT_ReluBwdOp : AICFRT_Primitive<"relu_bwd", 3, "", [],
    Signature<["dy", "saved"], ["dx"]>, [Tie<0, 0>, Tie<0, 1>]> {
  let summary = "dx = saved > 0 ? dy : 0";
  let description = [{
    `saved` is relu's input or its output: both have the same sign.
    - C1: dy, saved and dx have the same float type.
  }];
}

def AICFRT_AddOp : AICFRT_Primitive<"add", 4, "", [],
    Signature<["a", "b"], ["c"]>, [Tie<0, 0>, Tie<0, 1>]> {
  let summary = "c = a + b";
  let description = [{
    - C1: a, b and c have the same float type.
  }];
}

def AICFRT_CopyOp : AICFRT_Primitive<"copy", 5, "", [],
    Signature<["x"], ["y"]>, []> {
  let summary = "y = x, bit for bit";
  let description = [{
    Protective copies that `--aicf-rt-materialize-updates` inserts are copies
    with the discardable attribute `aicf_rt.protective`; only
    `--aicf-rt-annotate-inplace` removes those.
    - C1: y has x's type.
  }];
}

def AICFRT_CopySavedOp : AICFRT_Primitive<"copy_saved", 6, "", [],
    Signature<["x"], ["y"]>, []> {
  let summary = "y = x, kept for the backward pass";
  let description = [{
    - C1: y has x's type.
  }];
}

def AICFRT_CastOp : AICFRT_Primitive<"cast", 7, "", [],
    Signature<["x"], ["y"]>, []> {
  let summary = "y = x converted to y's element type";
  let description = [{
    Rounds to nearest even.
    - C1: x and y are floats of the same shape.
  }];
}

def AICFRT_MseLossOp : AICFRT_Primitive<"mse_loss", 8, "", [],
    Signature<["pred", "target"], ["loss"]>, []> {
  let summary = "loss = mean((pred - target)^2)";
  let description = [{
    - C1: pred and target are floats of one shape and one element type, or pred
      is f16 or bf16 and target f32.
    - C2: loss is a 0-d tensor of target's element type.
  }];
}

def AICFRT_MseGradOp : AICFRT_Primitive<"mse_grad", 9, "MSEG",
    [LayoutField<"scale", "double", "d", "getScaleOrDefault()">],
    Signature<["pred", "target", "loss_scale?"], ["dpred"]>,
    [Tie<0, 0>, Tie<0, 1>], (ins OptionalAttr<F64Attr>:$scale)> {
  let summary = "dpred = scale · (pred - target) [· loss_scale]";
  let description = [{
    `scale` defaults to 2/numel(pred), the gradient of `mse_loss`.
    - C1: pred and target are floats of one shape and one element type, or pred
      is f16 or bf16 and target f32; dpred has pred's type.
    - C2: loss_scale is a 0-d tensor of target's element type.
  }];
  let extraClassDeclaration = [{ double getScaleOrDefault(); }];
}

def AICFRT_ReduceSumOp : AICFRT_Primitive<"reduce_sum", 10, "RSUM",
    [LayoutField<"axis", "int64_t", "q", "getAxis()", "0">],
    Signature<["x"], ["y"]>, [],
    (ins DefaultValuedAttr<I64Attr, "0">:$axis)> {
  let summary = "y = x summed over dimension `axis`";
  let description = [{
    Whether the dimension is kept (as 1) or dropped shows in y's shape.
    - C1: `axis` is a dimension of x.
    - C2: x and y have the same float element type.
    - C3: y has x's shape with dimension `axis` dropped or 1.
  }];
}

def AICFRT_LayerNormOp : AICFRT_Primitive<"layer_norm", 11, "LNRM",
    [LayoutField<"eps", "double", "d", "getEps().convertToDouble()", "1e-5">],
    Signature<["x", "gamma", "beta"], ["y", "mean", "rstd"]>, [Tie<0, 0>],
    (ins DefaultValuedAttr<F64Attr, "1e-5">:$eps)> {
  let summary = "y = (x - mean) · rstd · gamma + beta over the last dimension";
  let description = [{
    Ba, Kiros, Hinton 2016; variance is the biased one,
    rstd = 1/sqrt(var + eps).
    - C1: x has rank 1 or more; gamma and beta are rank 1 of x's last dimension.
    - C2: all have the same float element type.
    - C3: y has x's type; mean and rstd have x's shape without the last dimension.
  }];
}

def AICFRT_LayerNormBwdOp : AICFRT_Primitive<"layer_norm_bwd", 12, "", [],
    Signature<["dy", "x", "gamma", "mean", "rstd"], ["dx", "dgamma", "dbeta"]>,
    []> {
  let summary = "gradients of layer_norm";
  let description = [{
    With h = (x - mean)·rstd and g = dy·gamma, a row's
    dx = rstd·(g - mean(g) - h·mean(g·h)); dgamma = Σ dy·h; dbeta = Σ dy.
    - C1: dy, x and dx have the same type; gamma, dgamma, dbeta are rank 1 of the
      last dimension; mean and rstd have x's shape without the last dimension.
    - C2: all have the same float element type.
  }];
}

def AICFRT_AllFiniteOp : AICFRT_Primitive<"all_finite", 13, "", [],
    Signature<["grad..."], ["ok"]>, []> {
  let summary = "ok = 1 when no element is Inf or NaN, else 0";
  let description = [{
    - C1: one operand or more, all of the same float element type.
    - C2: ok is a 0-d i32 tensor.
  }];
}

def AICFRT_LossScaleUpdateOp : AICFRT_Primitive<"loss_scale_update", 14, "LSUP",
    [LayoutField<"growth_factor", "double", "d",
                 "getGrowthFactor().convertToDouble()", "2">,
     LayoutField<"backoff_factor", "double", "d",
                 "getBackoffFactor().convertToDouble()", "0.5">,
     LayoutField<"growth_interval", "int64_t", "q", "getGrowthInterval()",
                 "2000">],
    Signature<["scale", "streak", "ok"], ["scale_out", "streak_out"]>,
    [Tie<0, 0>, Tie<1, 1>],
    (ins DefaultValuedAttr<F64Attr, "2.0">:$growth_factor,
         DefaultValuedAttr<F64Attr, "0.5">:$backoff_factor,
         DefaultValuedAttr<I64Attr, "2000">:$growth_interval)> {
  let summary = "dynamic loss scale: back off on a bad step, grow after a streak";
  let description = [{
    The rule of PyTorch's GradScaler: not ok -> scale·backoff_factor, streak 0;
    ok and streak + 1 = growth_interval -> scale·growth_factor, streak 0; else
    the streak grows by one. The scale is kept in [2^-24, 2^126], so that its
    reciprocal is finite; NaN becomes the least.
    - C1: scale and scale_out are 0-d floats of one type.
    - C2: streak, streak_out and ok are 0-d i32.
    - C3: growth_factor ≥ 1 and finite, 0 < backoff_factor ≤ 1,
      1 ≤ growth_interval < 2^31.
  }];
}

def AICFRT_StepIncOp : AICFRT_Primitive<"step_inc", 15, "", [],
    Signature<["step", "ok?"], ["step_out"]>, [Tie<0, 0>]> {
  let summary = "step_out = step + 1 (unchanged when ok = 0)";
  let description = [{
    The largest number of its type stays: a counter does not wrap.
    - C1: step and step_out are 0-d i32 or i64 of one type.
    - C2: ok is a 0-d i32 tensor.
  }];
}

def AICFRT_BiasCorrOp : AICFRT_Primitive<"bias_corr", 16, "BCOR",
    [LayoutField<"beta1", "double", "d", "getBeta1().convertToDouble()", "0.9">,
     LayoutField<"beta2", "double", "d", "getBeta2().convertToDouble()",
                 "0.999">],
    Signature<["step"], ["bc"]>, [],
    (ins DefaultValuedAttr<F64Attr, "0.9">:$beta1,
         DefaultValuedAttr<F64Attr, "0.999">:$beta2)> {
  let summary = "bc = [1/(1 - beta1^t), 1/(1 - beta2^t)]";
  let description = [{
    Computed as 1/-expm1(t·log β) in f64 and rounded once.
    - C1: step is a 0-d i32 or i64 tensor.
    - C2: bc is a float tensor of shape [2].
    - C3: 0 ≤ beta1, beta2 < 1.
  }];
}

def AICFRT_AdamStepOp : AICFRT_Primitive<"adam_step", 17, "ADAM",
    [LayoutField<"beta1", "double", "d", "getBeta1().convertToDouble()", "0.9">,
     LayoutField<"beta2", "double", "d", "getBeta2().convertToDouble()",
                 "0.999">,
     LayoutField<"eps", "double", "d", "getEps().convertToDouble()", "1e-8">,
     LayoutField<"weight_decay", "double", "d",
                 "getWeightDecay().convertToDouble()", "0">],
    Signature<["p", "g", "m", "v", "bc", "lr", "inv_scale?", "ok?"],
              ["p_out", "m_out", "v_out"]>,
    [Tie<0, 0>, Tie<1, 2>, Tie<2, 3>],
    (ins DefaultValuedAttr<F64Attr, "0.9">:$beta1,
         DefaultValuedAttr<F64Attr, "0.999">:$beta2,
         DefaultValuedAttr<F64Attr, "1e-8">:$eps,
         DefaultValuedAttr<F64Attr, "0.0">:$weight_decay)> {
  let summary = "AdamW (Kingma & Ba 2015; decay of Loshchilov & Hutter 2019)";
  let description = [{
    g' = g·inv_scale; m' = β1·m + (1-β1)·g'; v' = β2·v + (1-β2)·g'²;
    p' = p·(1 - lr·weight_decay) - lr·(m'·bc[0]) / (sqrt(v'·bc[1]) + eps).
    With ok = 0 all three results are the old values.
    - C1: p, m, v and the results have the same float type; g has it too, or is
      f16 or bf16 of the same shape while p is f32.
    - C2: bc is [2], lr and inv_scale are 0-d, of the same element type.
    - C3: ok is a 0-d i32 tensor.
    - C4: 0 ≤ beta1, beta2 < 1; eps ≥ 0 and weight_decay ≥ 0 are finite.
  }];
}

def AICFRT_SgdStepOp : AICFRT_Primitive<"sgd_step", 18, "SGDM",
    [LayoutField<"momentum", "double", "d", "getMomentum().convertToDouble()",
                 "0">,
     LayoutField<"weight_decay", "double", "d",
                 "getWeightDecay().convertToDouble()", "0">,
     LayoutField<"nesterov", "int32_t", "i", "getNesterov()", "0">],
    Signature<["p", "g", "lr", "m?", "inv_scale?", "ok?"], ["p_out", "m_out?"]>,
    [Tie<0, 0>, Tie<1, 3>],
    (ins DefaultValuedAttr<F64Attr, "0.0">:$momentum,
         DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
         DefaultValuedAttr<BoolAttr, "false">:$nesterov)> {
  let summary = "SGD with momentum, Nesterov momentum and weight decay";
  let description = [{
    PyTorch's formula with dampening 0: d = g·inv_scale + weight_decay·p;
    m' = momentum·m + d; p' = p - lr·(nesterov ? d + momentum·m' : m').
    Two results mean that operand 3 is m; with one result there is no m.
    With ok = 0 the results are the old values.
    - C1: p, m and the results have the same float type; g has it too, or is
      f16 or bf16 of the same shape while p is f32.
    - C2: lr and inv_scale are 0-d of the same element type.
    - C3: ok is a 0-d i32 tensor.
    - C4: momentum ≥ 0 and weight_decay ≥ 0 are finite; momentum or nesterov
      need m.
  }];
}

// Fused primitives: one kernel for what several ones above compute.
// `--aicf-rt-fuse` makes them where the target has a kernel for them.

class AICFRT_FusedGemm<string mnemonic, int number, string schema,
                       list<LayoutField> more, Signature sig, list<Tie> may,
                       dag moreAttrs = (ins)>
    : AICFRT_Primitive<mnemonic, number, schema,
        [LayoutField<"transA", "int32_t", "i", "getTransA()", "0">,
         LayoutField<"transB", "int32_t", "i", "getTransB()", "0">] # more,
        sig, may,
        !con((ins DefaultValuedAttr<BoolAttr, "false">:$transA,
                  DefaultValuedAttr<BoolAttr, "false">:$transB), moreAttrs)>;

def AICFRT_GemmBiasOp : AICFRT_FusedGemm<"gemm_bias", 19, "GMBI",
    [LayoutField<"relu", "int32_t", "i", "getRelu()", "0">],
    Signature<["a", "b", "bias"], ["c"]>, [],
    (ins DefaultValuedAttr<BoolAttr, "false">:$relu)> {
  let summary = "c[M,N] = op(a) · op(b) + bias[N], then max(c, 0) with `relu`";
  let description = [{
    gemm, bias_add{axis = -1} and, with `relu`, relu in one call; bias is added
    before the sum is rounded to c's type.
    - C1..C4: as gemm.
    - C5: bias is [N] of c's element type.
  }];
}

def AICFRT_GemmReluBwdOp : AICFRT_FusedGemm<"gemm_relu_bwd", 20, "GMRB", [],
    Signature<["a", "b", "saved"], ["c"]>, [Tie<0, 2>]> {
  let summary = "c[M,N] = saved > 0 ? op(a) · op(b) : 0";
  let description = [{
    gemm and relu_bwd in one call.
    - C1..C4: as gemm.
    - C5: saved has c's type.
  }];
}

def AICFRT_GemmReduceOp : AICFRT_FusedGemm<"gemm_reduce", 21, "GMRS", [],
    Signature<["a", "b"], ["c", "sums"]>, []> {
  let summary = "c[M,N] = op(a) · op(b); sums[M] = Σ_k op(a)[m,k]";
  let description = [{
    The weight and bias gradients of a linear layer in one call: dW = dyᵀ · x
    and db = Σ_rows dy.
    - C1..C4: as gemm.
    - C5: sums is [M] of c's element type.
  }];
}

def AICFRT_ReluBwdReduceOp : AICFRT_Primitive<"relu_bwd_reduce", 22, "", [],
    Signature<["dy", "saved"], ["dx", "sums"]>, [Tie<0, 0>, Tie<0, 1>]> {
  let summary = "dx = saved > 0 ? dy : 0; sums[j] = Σ_i dx[i,j]";
  let description = [{
    relu_bwd and the reduce_sum{axis = 0} of its result in one call.
    - C1: dy, saved and dx have the same float type, of rank 2.
    - C2: sums is [dx's columns] of the same element type.
  }];
}

def AICFRT_MseLossGradOp : AICFRT_Primitive<"mse_loss_grad", 23, "MSLG",
    [LayoutField<"scale", "double", "d", "getScale().convertToDouble()">],
    Signature<["pred", "target", "loss_scale?"], ["loss", "dpred"]>,
    [Tie<1, 0>, Tie<1, 1>], (ins F64Attr:$scale)> {
  let summary = "loss = mean((pred - target)^2); dpred as mse_grad";
  let description = [{
    mse_loss and mse_grad of the same operands in one call.
    - C1, C2: as mse_loss and mse_grad.
  }];
}

class AICFRT_MultiTensor<string mnemonic, int number, string schema,
                         list<LayoutField> fields, Signature sig,
                         list<Tie> may, int numIns, int numOuts, dag moreAttrs>
    : AICFRT_Primitive<mnemonic, number, schema,
        fields # [LayoutField<"count", "int64_t", "q", "getCount()">],
        sig, may, !con(moreAttrs, (ins I64Attr:$count))> {
  let groupOperands = numIns;
  let groupResults = numOuts;
}

def AICFRT_AdamUpdateOp : AICFRT_MultiTensor<"adam_update", 24, "ADMU",
    [LayoutField<"beta1", "double", "d", "getBeta1().convertToDouble()", "0.9">,
     LayoutField<"beta2", "double", "d", "getBeta2().convertToDouble()",
                 "0.999">,
     LayoutField<"eps", "double", "d", "getEps().convertToDouble()", "1e-8">,
     LayoutField<"weight_decay", "double", "d",
                 "getWeightDecay().convertToDouble()", "0">],
    Signature<["operand..."], ["result..."]>,
    [Tie<0, 0>, Tie<1, 2>, Tie<2, 3>], 4, 3,
    (ins DefaultValuedAttr<F64Attr, "0.9">:$beta1,
         DefaultValuedAttr<F64Attr, "0.999">:$beta2,
         DefaultValuedAttr<F64Attr, "1e-8">:$eps,
         DefaultValuedAttr<F64Attr, "0.0">:$weight_decay)> {
  let summary = "adam_step of `count` parameters in one call";
  let description = [{
    Operands: p, g, m, v of each parameter, then bc, lr, and optionally
    inv_scale and ok. Results: p', m', v' of each parameter, then either nothing
    or, for each, p' rounded to f16 or bf16.
    - C1: 4·count operands and 2 to 4 scalars; 3·count or 4·count results.
    - C2: each group obeys adam_step.
    - C3: a rounded copy has its parameter's shape and is f16 or bf16.
  }];
}

def AICFRT_SgdUpdateOp : AICFRT_MultiTensor<"sgd_update", 25, "SGDU",
    [LayoutField<"weight_decay", "double", "d",
                 "getWeightDecay().convertToDouble()", "0">],
    Signature<["operand..."], ["result..."]>, [Tie<0, 0>], 2, 1,
    (ins DefaultValuedAttr<F64Attr, "0.0">:$weight_decay)> {
  let summary = "sgd_step without momentum of `count` parameters in one call";
  let description = [{
    Operands: p, g of each parameter, then lr, and optionally inv_scale and ok.
    Results: p' of each parameter, then nothing or its copies in f16 or bf16.
    - C1: 2·count operands and 1 to 3 scalars; count or 2·count results.
    - C2: each group obeys sgd_step.
    - C3: a rounded copy has its parameter's shape and is f16 or bf16.
  }];
}

def AICFRT_MomentumUpdateOp : AICFRT_MultiTensor<"momentum_update", 26, "MOMU",
    [LayoutField<"momentum", "double", "d", "getMomentum().convertToDouble()",
                 "0">,
     LayoutField<"weight_decay", "double", "d",
                 "getWeightDecay().convertToDouble()", "0">,
     LayoutField<"nesterov", "int32_t", "i", "getNesterov()", "0">],
    Signature<["operand..."], ["result..."]>, [Tie<0, 0>, Tie<1, 2>], 3, 2,
    (ins DefaultValuedAttr<F64Attr, "0.0">:$momentum,
         DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
         DefaultValuedAttr<BoolAttr, "false">:$nesterov)> {
  let summary = "sgd_step with momentum of `count` parameters in one call";
  let description = [{
    Operands: p, g, m of each parameter, then lr, and optionally inv_scale and
    ok. Results: p', m' of each parameter, then nothing or p' in f16 or bf16.
    - C1: 3·count operands and 1 to 3 scalars; 2·count or 3·count results.
    - C2: each group obeys sgd_step.
    - C3: a rounded copy has its parameter's shape and is f16 or bf16.
  }];
}

def AICFRT_ReciprocalOp : AICFRT_Primitive<"reciprocal", 27, "", [],
    Signature<["x"], ["y"]>, [Tie<0, 0>]> {
  let summary = "y = 1/x";
  let description = [{
    - C1: x and y have the same float type.
  }];
}

def AICFRT_GatherRowsOp : AICFRT_Primitive<"gather_rows", 28, "", [],
    Signature<["data", "index"], ["rows"]>, []> {
  let summary = "rows[i] = data[index[i]]; an index outside data is clamped";
  let description = [{
    - C1: data has rank 1 or more; index is [B] of i32 or i64.
    - C2: rows is data's type with B for its first dimension.
  }];
}

def AICFRT_ShuffleOp : AICFRT_Primitive<"shuffle", 29, "SHUF",
    [LayoutField<"size", "int64_t", "q", "getSize()">,
     LayoutField<"seed", "int64_t", "q", "getSeed()", "0">],
    Signature<["step"], ["index"]>, [],
    (ins I64Attr:$size, DefaultValuedAttr<I64Attr, "0">:$seed)> {
  let summary = "the rows of batch `step` in an endless shuffled walk over `size` rows";
  let description = [{
    Position k = step·B + i is row π_e(k mod size) of epoch e = k / size; π_e is
    a permutation of 0..size-1 that depends on (seed, e) only: a 6-round Feistel
    network over the next even power of two with Philox's multiply as round
    function, walked until it lands below `size` (cycle walking: Black & Rogaway
    2002, "Ciphers with arbitrary finite domains").
    - C1: step is a 0-d i32 or i64 tensor; a negative step counts as 0.
    - C2: index is [B] of i32 or i64.
    - C3: 1 ≤ size < 2^31.
  }];
}

def AICFRT_RecordOp : AICFRT_Primitive<"record", 30, "", [],
    Signature<["history", "value", "step"], ["history_out"]>, [Tie<0, 0>]> {
  let summary = "history_out = history with row (step mod K) replaced by value";
  let description = [{
    - C1: history is [K, value's shape...] of value's element type, as is
      history_out.
    - C2: step is a 0-d i32 or i64 tensor; a negative step counts as 0.
  }];
}

#endif // AICFRT_OPS_TD
