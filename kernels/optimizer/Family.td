//===- Family.td - optimizers ---------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_OPTIMIZER_FAMILY_TD
#define AICF_KERNELS_OPTIMIZER_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"
include "kernels/pointwise/Family.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// The part that all optimizers share.
class OptimizerPrimitive<string mnemonic, int number, string schema>
    : Primitive<mnemonic, number, schema> {
  let phase = UpdatePhase;
  let precision = Wide;
}

def AdamStepPrimitive : OptimizerPrimitive<"adam_step", 17, "ADAM"> {
  let summary = "AdamW (Kingma & Ba 2015, with the decay of Loshchilov & Hutter 2019)";
  let text = [{
    g' = g·inv_scale, m' = β1·m + (1-β1)·g', v' = β2·v + (1-β2)·g'² and
    p' = p·(1 - lr·weight_decay) - lr·(m'·bc[0]) / (sqrt(v'·bc[1]) + eps).
    If ok is 0, all three results are the old values.
  }];
  let operandList = [In<"p">, In<"g">, In<"m">, In<"v">, In<"bc">, In<"lr">,
                     Opt<"inv_scale">, Opt<"ok", I32Element>];
  let resultList = [Like<"p_out", "p">, Like<"m_out", "m">, Like<"v_out", "v">];
  let ties = [Tie<"p_out", "p">, Tie<"m_out", "m">, Tie<"v_out", "v">];
  let fields = [F64Field<"beta1", BelowOne, "0.9">,
                F64Field<"beta2", BelowOne, "0.999">,
                F64Field<"eps", NonNegative, "1e-8">,
                F64Field<"weight_decay", NonNegative, "0.0">];
  let constraints = [
    "m, v and g have p's type. If p is f32, g may be f16 or bf16 with p's shape.",
    "bc has shape [2], and lr and inv_scale are 0-d. They have p's element type.",
    "ok is 0-d."];
}

def AdamL2StepPrimitive : OptimizerPrimitive<"adam_l2_step", 150, "ADL2"> {
  let summary = "Adam, with the weight decay in the gradient (Kingma & Ba 2015)";
  let text = [{
    This is torch.optim.Adam. g' = g·inv_scale + weight_decay·p, m' and v' are those of
    adam_step, and p' = p - lr·(m'·bc[0]) / (sqrt(v'·bc[1]) + eps).
    If ok is 0, all three results are the old values.
  }];
  let operandList = AdamStepPrimitive.operandList;
  let resultList = AdamStepPrimitive.resultList;
  let ties = AdamStepPrimitive.ties;
  let fields = AdamStepPrimitive.fields;
  let constraints = AdamStepPrimitive.constraints;
}

def SgdStepPrimitive : OptimizerPrimitive<"sgd_step", 18, "SGDM"> {
  let summary = "SGD with momentum, Nesterov momentum and weight decay";
  let text = [{
    This is PyTorch's formula with dampening 0: d = g·inv_scale + weight_decay·p,
    m' = momentum·m + d and p' = p - lr·(nesterov ? d + momentum·m' : m').
    If ok is 0, the results are the old values.
  }];
  let operandList = [In<"p">, In<"g">, In<"lr">, Opt<"m">, Opt<"inv_scale">,
                     Opt<"ok", I32Element>];
  let resultList = [Like<"p_out", "p">, OptLike<"m_out", "m">];
  let ties = [Tie<"p_out", "p">, Tie<"m_out", "m">];
  let fields = [F64Field<"momentum", NonNegative, "0.0">,
                F64Field<"weight_decay", NonNegative, "0.0">,
                BoolField<"nesterov">];
  let constraints = [
    "m and g have p's type. If p is f32, g may be f16 or bf16 with p's shape.",
    "lr and inv_scale are 0-d and have p's element type.",
    "ok is 0-d.",
    "without m, `momentum` and `nesterov` are 0."];
}

def LionStepPrimitive : OptimizerPrimitive<"lion_step", 46, "LION"> {
  let summary = "Lion (Chen et al. 2023)";
  let text = [{
    g' = g·inv_scale, p' = p·(1 - lr·weight_decay) - lr·sign(β1·m + (1-β1)·g') and
    m' = β2·m + (1-β2)·g'. The sign of 0 is 0, and the sign of NaN is NaN. If ok is 0,
    the results are the old values.
  }];
  let operandList = [In<"p">, In<"g">, In<"m">, In<"lr">, Opt<"inv_scale">,
                     Opt<"ok", I32Element>];
  let resultList = [Like<"p_out", "p">, Like<"m_out", "m">];
  let ties = [Tie<"p_out", "p">, Tie<"m_out", "m">];
  let fields = [F64Field<"beta1", BelowOne, "0.9">,
                F64Field<"beta2", BelowOne, "0.99">,
                F64Field<"weight_decay", NonNegative, "0.0">];
  let constraints = [
    "m and g have p's type. If p is f32, g may be f16 or bf16 with p's shape.",
    "lr and inv_scale are 0-d and have p's element type.",
    "ok is 0-d."];
}

def AdamGroupStepPrimitive : OptimizerPrimitive<"adam_group_step", 155, "ADMG"> {
  let summary = "AdamW or Adam, with the hyperparameters of a group of parameters";
  let text = [{
    This computes the same as adam_step, or with `l2` the same as adam_l2_step. `group`
    holds lr, weight_decay, 1-β1, 1-β2 and eps, so that the host may change each of them
    between steps. It holds 1-β instead of β because β is close to 1: f32 holds 1-β to
    more digits. If ok is 0, all three results are the old values.
  }];
  let operandList = [In<"p">, In<"g">, In<"m">, In<"v">, In<"bc">,
                     In<"group", F32Element>, Opt<"inv_scale">, Opt<"ok", I32Element>];
  let resultList = AdamStepPrimitive.resultList;
  let ties = AdamStepPrimitive.ties;
  let fields = [BoolField<"l2">];
  let constraints = [
    "m, v and g have p's type. If p is f32, g may be f16 or bf16 with p's shape.",
    "bc has shape [2], and inv_scale is 0-d. Both have p's element type. group has shape "
    "[5].",
    "ok is 0-d."];
}

def SgdGroupStepPrimitive : OptimizerPrimitive<"sgd_group_step", 156, "SGDG"> {
  let summary = "SGD, with the hyperparameters of a group of parameters";
  let text = [{
    This computes the same as sgd_step. `group` holds lr, weight_decay and momentum, so
    that the host may change each of them between steps. Without m, momentum is not read.
    If ok is 0, the results are the old values.
  }];
  let operandList = [In<"p">, In<"g">, In<"group", F32Element>, Opt<"m">,
                     Opt<"inv_scale">, Opt<"ok", I32Element>];
  let resultList = SgdStepPrimitive.resultList;
  let ties = SgdStepPrimitive.ties;
  let fields = [BoolField<"nesterov">];
  let constraints = [
    "m and g have p's type. If p is f32, g may be f16 or bf16 with p's shape.",
    "inv_scale is 0-d and has p's element type. group has shape [3].",
    "ok is 0-d.",
    "without m, `nesterov` is 0."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

class AICF_Adam<Primitive record> : AICF_OpOf<record> {
  let stepConstraints = ["if a bias_corr makes bc, it has the same beta1 and beta2."];
  let assemblyFormat = [{
    $p `,` $g `,` $m `,` $v `,` $bc `,` $lr
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($m) `,` type($v) `,` type($bc) `,`
    type($lr) (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let counter = "bc";
  let param = "p";
  let grad = "g";
  let more = "::llvm::LogicalResult verifyStep();";
}
def AICF_AdamStepOp : AICF_Adam<AdamStepPrimitive>;
def AICF_AdamL2StepOp : AICF_Adam<AdamL2StepPrimitive>;

def AICF_SgdStepOp : AICF_OpOf<SgdStepPrimitive> {
  let assemblyFormat = [{
    $p `,` $g `,` $lr (`momentum` $m^)?
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($lr) (`momentum` type($m)^)?
    (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let param = "p";
  let grad = "g";
}

def AICF_AdamGroupStepOp : AICF_OpOf<AdamGroupStepPrimitive> {
  let stepConstraints = ["if a group_bias_corr makes bc, it has the same group."];
  let assemblyFormat = [{
    $p `,` $g `,` $m `,` $v `,` $bc `,` $group
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($m) `,` type($v) `,` type($bc) `,`
    type($group) (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let counter = "bc";
  let param = "p";
  let grad = "g";
  let more = "::llvm::LogicalResult verifyStep();";
}

def AICF_SgdGroupStepOp : AICF_OpOf<SgdGroupStepPrimitive> {
  let assemblyFormat = [{
    $p `,` $g `,` $group (`momentum` $m^)?
    (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($group) (`momentum` type($m)^)?
    (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let param = "p";
  let grad = "g";
}

def AICF_LionStepOp : AICF_OpOf<LionStepPrimitive> {
  let assemblyFormat = [{
    $p `,` $g `,` $m `,` $lr (`inv_scale` $inv_scale^)? (`ok` $ok^)? attr-dict
    `:` type($p) `,` type($g) `,` type($m) `,` type($lr)
    (`inv_scale` type($inv_scale)^)? (`ok` type($ok)^)?
  }];
  let param = "p";
  let grad = "g";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def AdamStepCpu : KernelFamily<"optimizer", CPU> {
  let kinds = [AdamStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "adamStep<$T>";
}
def AdamL2StepCpu : KernelFamily<"optimizer", CPU> {
  let kinds = [AdamL2StepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "adamL2Step<$T>";
}
def SgdStepCpu : KernelFamily<"optimizer", CPU> {
  let kinds = [SgdStepPrimitive];
  let variants = EveryFloat.each;
  let kernel = "sgdStep<$T>";
}

def AdamGroupStepCpu : KernelFamily<"optimizer", CPU> {
  let kinds = [AdamGroupStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "adamGroupStep<$T>";
}
def SgdGroupStepCpu : KernelFamily<"optimizer", CPU> {
  let kinds = [SgdGroupStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "sgdGroupStep<$T>";
}
def LionStepCpu : KernelFamily<"optimizer", CPU> {
  let kinds = [LionStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "lionStep<$T>";
}

def AdamStepCuda : KernelFamily<"optimizer", CUDA> {
  let kinds = [AdamStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "adamStep<$T>";
  let takesPads = 1;
}
def AdamL2StepCuda : KernelFamily<"optimizer", CUDA> {
  let kinds = [AdamL2StepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "adamL2Step<$T>";
  let takesPads = 1;
}
def AdamGroupStepCuda : KernelFamily<"optimizer", CUDA> {
  let kinds = [AdamGroupStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "adamGroupStep<$T>";
  let takesPads = 1;
}
def SgdGroupStepCuda : KernelFamily<"optimizer", CUDA> {
  let kinds = [SgdGroupStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "sgdGroupStep<$T>";
  let takesPads = 1;
}
def LionStepCuda : KernelFamily<"optimizer", CUDA> {
  let kinds = [LionStepPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "lionStep<$T>";
  let takesPads = 1;
}
def SgdStepCuda : KernelFamily<"optimizer", CUDA> {
  let takes = "isDenseParam(c)";
  let kinds = [SgdStepPrimitive];
  let variants = [On<"f32", 4>, On<"f32">, On<"f64">, On<"f16">, On<"bf16", 2>,
                  On<"bf16">];
  let kernel = "sgdStep<$T, $V>";
  let takesPads = 1;
}
/// The kernel keeps the name that it has in the seeds (docs/rationale/Records.md).
def SgdStepHalf2 : KernelFamily<"optimizer", CUDA> {
  let takes = "isDenseParam(c)";
  let kinds = [SgdStepPrimitive];
  let variants = [On<"f16", 2>];
  let variantName = "half2";
  let kernel = "sgdStep<$T, $V>";
  let takesPads = 1;
  let preference = 0;
}

/// The same update of many parameters in one call. Each may also make a 16-bit copy of
/// the new parameter.
class UpdatePattern<string name, Primitive step, list<string> scalars>
    : BatchPattern<name, [Node<"step", step>, Maybe<"copy", CastPrimitive>],
                   256> { // kMaxUpdateGroups
  let bindings = ["copy.x = step.p_out"];
  let keeps = ["step.p_out"];
  let shared = scalars;
}
def AdamUpdate : UpdatePattern<"adam_update", AdamStepPrimitive,
    ["step.bc", "step.lr", "step.inv_scale", "step.ok"]> {
  let ties = ["step.p_out = step.p", "step.m_out = step.m",
              "step.v_out = step.v"];
}
def AdamL2Update : UpdatePattern<"adam_l2_update", AdamL2StepPrimitive,
    ["step.bc", "step.lr", "step.inv_scale", "step.ok"]> {
  let ties = ["step.p_out = step.p", "step.m_out = step.m",
              "step.v_out = step.v"];
}
def SgdUpdate : UpdatePattern<"sgd_update", SgdStepPrimitive,
    ["step.lr", "step.inv_scale", "step.ok"]> {
  let hasNot = ["step.m"];
  let ties = ["step.p_out = step.p"];
}
def LionUpdate : UpdatePattern<"lion_update", LionStepPrimitive,
    ["step.lr", "step.inv_scale", "step.ok"]> {
  let ties = ["step.p_out = step.p", "step.m_out = step.m"];
}
def MomentumUpdate : UpdatePattern<"momentum_update", SgdStepPrimitive,
    ["step.lr", "step.inv_scale", "step.ok"]> {
  let has = ["step.m"];
  let ties = ["step.p_out = step.p", "step.m_out = step.m"];
}

def AdamGroupUpdate : UpdatePattern<"adam_group_update", AdamGroupStepPrimitive,
    ["step.bc", "step.group", "step.inv_scale", "step.ok"]> {
  let ties = ["step.p_out = step.p", "step.m_out = step.m",
              "step.v_out = step.v"];
}
def SgdGroupUpdate : UpdatePattern<"sgd_group_update", SgdGroupStepPrimitive,
    ["step.group", "step.inv_scale", "step.ok"]> {
  let hasNot = ["step.m"];
  let ties = ["step.p_out = step.p"];
}
def MomentumGroupUpdate : UpdatePattern<"momentum_group_update", SgdGroupStepPrimitive,
    ["step.group", "step.inv_scale", "step.ok"]> {
  let has = ["step.m"];
  let ties = ["step.p_out = step.p", "step.m_out = step.m"];
}

/// All parameters have one type, and all gradients have one type. If there are copies,
/// they have one 16-bit type: that of the gradients, if theirs is 16-bit.
class Updates<BodyPattern pattern, string planner>
    : KernelFamily<"optimizer", CUDA> {
  let patterns = [pattern];
  let variants = SingleAndDouble.each;
  let takes = "groupsFit(c)";
  let kernel = planner;
  let takesPads = 1;
}
def AdamUpdates : Updates<AdamUpdate, "adamUpdate<$T>">;
def AdamL2Updates : Updates<AdamL2Update, "adamL2Update<$T>">;
def SgdUpdates : Updates<SgdUpdate, "sgdUpdate<$T>">;
def LionUpdates : Updates<LionUpdate, "lionUpdate<$T>">;
def MomentumUpdates : Updates<MomentumUpdate, "momentumUpdate<$T>">;
def AdamGroupUpdates : Updates<AdamGroupUpdate, "adamGroupUpdate<$T>">;
def SgdGroupUpdates : Updates<SgdGroupUpdate, "sgdGroupUpdate<$T>">;
def MomentumGroupUpdates : Updates<MomentumGroupUpdate, "momentumGroupUpdate<$T>">;

#endif // AICF_KERNELS_OPTIMIZER_FAMILY_TD
