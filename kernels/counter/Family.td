//===- Family.td - counters, loss scale and guards ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_COUNTER_FAMILY_TD
#define AICF_KERNELS_COUNTER_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def AllFinitePrimitive : Primitive<"all_finite", 13> {
  let summary = "ok = 1 if all elements of all operands are finite, else 0";
  let operandList = [Each<"grad">];
  let variadicName = "grads";
  let resultList = [ScalarI32<"ok">];
  let phase = GuardPhase;
  let precision = Wide;
  let constraints = ["all operands have the same element type."];
}

def GlobalNormPrimitive : Primitive<"global_norm", 47> {
  let summary = "norm = sqrt(Σ x²) over the elements x of all operands";
  let text = [{
    The squares are added in f64, in an order that depends only on the shapes.
  }];
  let operandList = [Each<"grad">];
  let variadicName = "grads";
  let resultList = [WideScalarOf<"norm", "grad">];
  let phase = UpdatePhase;
  let precision = Wide;
  let constraints = ["all operands have the same element type."];
}

def ClipFactorPrimitive : Primitive<"clip_factor", 48, "CLIP"> {
  let summary = "factor = inv_scale · min(1, max_norm / (norm·inv_scale + 1e-6))";
  let text = [{
    `norm` is the global norm of the gradients. After they are multiplied by this factor,
    their norm is at most `max_norm`, as in PyTorch's clip_grad_norm_. The factor includes
    inv_scale, by which the gradients are multiplied in any case. If inv_scale is absent,
    it counts as 1. NaN stays NaN.
  }];
  let operandList = [In<"norm">, Opt<"inv_scale">];
  let resultList = [Like<"factor", "norm">];
  let ties = [Tie<"factor", "norm">, Tie<"factor", "inv_scale">];
  let fields = [F64Field<"max_norm", NonNegative>];
  let phase = UpdatePhase;
  let precision = Wide;
  let constraints = ["norm is 0-d.", "inv_scale has norm's type."];
}

def LossScaleUpdatePrimitive : Primitive<"loss_scale_update", 14,
                                                "LSUP"> {
  let summary = "dynamic loss scale: shrinks on a bad step, grows after many good ones";
  let text = [{
    This is the rule of PyTorch's GradScaler. If ok is 0, the scale is multiplied by
    backoff_factor, and the streak becomes 0. Else the streak grows by 1. When it
    reaches growth_interval, the scale is multiplied by growth_factor, and the streak
    becomes 0. The scale is kept in [2^-24, 2^126], so that its reciprocal is finite. A
    scale of NaN becomes 2^-24.
  }];
  let operandList = [In<"scale">, In<"streak", I32Element>,
                     In<"ok", I32Element>];
  let resultList = [Like<"scale_out", "scale">, Like<"streak_out", "streak">];
  let ties = [Tie<"scale_out", "scale">, Tie<"streak_out", "streak">];
  let fields = [F64Field<"growth_factor", AtLeastOne, "2.0">,
                F64Field<"backoff_factor", Fraction, "0.5">,
                I64Field<"growth_interval", Positive31, "2000">];
  let phase = UpdatePhase;
  let precision = Wide;
  let constraints = ["scale, streak and ok are 0-d."];
}

def StepIncPrimitive : Primitive<"step_inc", 15> {
  let summary = "step_out = step + 1 (unchanged when ok = 0)";
  let text = [{
    A counter does not wrap: the largest number of its type stays as it is.
  }];
  let operandList = [In<"step", IntElement>, Opt<"ok", I32Element>];
  let resultList = [Like<"step_out", "step">];
  let ties = [Tie<"step_out", "step">];
  let phase = CounterPhase;
  let precision = Wide;
  let constraints = ["step and ok are 0-d."];
}

def BiasCorrPrimitive : Primitive<"bias_corr", 16, "BCOR"> {
  let summary = "bc = [1/(1 - beta1^t), 1/(1 - beta2^t)] for Adam";
  let text = [{
    t is the step. Each number is computed as 1/-expm1(t·log β) in f64 and rounded once.
  }];
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"bc", FloatElement>];
  let fields = [F64Field<"beta1", BelowOne, "0.9">,
                F64Field<"beta2", BelowOne, "0.999">];
  let phase = CounterPhase;
  let precision = Wide;
  let constraints = ["step is 0-d.", "bc has shape [2]."];
}

def GroupBiasCorrPrimitive : Primitive<"group_bias_corr", 157> {
  let summary = "bc = [1/(1 - β1^t), 1/(1 - β2^t)] for Adam, with the betas of a group";
  let text = [{
    t is the step. `group` is the operand of adam_group_step, which holds 1-β1 and 1-β2.
    Each number is computed as 1/-expm1(t·log1p(-(1-β))) in f64 and rounded once.
  }];
  let operandList = [In<"step", IntElement>, In<"group", F32Element>];
  let resultList = [Checked<"bc", FloatElement>];
  let phase = CounterPhase;
  let precision = Wide;
  let constraints = ["step is 0-d, and group has shape [5].", "bc has shape [2]."];
}

def LearningRatePrimitive : Primitive<"learning_rate", 45, "LRTE"> {
  let summary = "lr = a warmup, then a linear or cosine curve, over the steps";
  let text = [{
    Let t be the step. Up to t = warmup, lr is start + (peak - start)·t/warmup. From
    there to t = steps, let f be (t - warmup)/(steps - warmup). Then lr is
    peak + (end - peak)·f, or with `cosine` end + (peak - end)·(1 + cos(π·f))/2
    (Loshchilov & Hutter 2017). After that, lr is end. With steps = 0, lr stays at peak
    after the warmup. It is computed in f64 and rounded once.
  }];
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"lr", FloatElement>];
  let fields = [F64Field<"start", NonNegative>, F64Field<"peak", NonNegative>,
                F64Field<"end", NonNegative>, I64Field<"warmup", NonNegative>,
                I64Field<"steps", NonNegative>, BoolField<"cosine">];
  let phase = CounterPhase;
  let precision = Wide;
  let constraints = ["step and lr are 0-d, and lr is f32 or f64.",
                     "`steps` is 0 or greater than `warmup`."];
}

def StepDecayPrimitive : Primitive<"step_decay", 60, "LRSD"> {
  let summary = "lr = start · factor^floor((step - 1)/every)";
  let text = [{
    lr falls in stairs, as in PyTorch's StepLR. A step below 1 counts as 1. lr is
    computed in f64 and rounded once.
  }];
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"lr", FloatElement>];
  let fields = [F64Field<"start", NonNegative>, F64Field<"factor", Fraction>,
                I64Field<"every", Positive31>];
  let phase = CounterPhase;
  let precision = Wide;
  let constraints = ["step and lr are 0-d, and lr is f32 or f64."];
}

def PolynomialDecayPrimitive : Primitive<"polynomial_decay", 61, "LRPD"> {
  let summary = "lr = end + (start - end)·(1 - min(step, steps)/steps)^power";
  let text = [{
    This is PyTorch's PolynomialLR, with an `end`. A step below 0 counts as 0. lr is
    computed in f64 and rounded once.
  }];
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"lr", FloatElement>];
  let fields = [F64Field<"start", NonNegative>, F64Field<"end", NonNegative>,
                I64Field<"steps", Positive31>, F64Field<"power", NonNegative>];
  let phase = CounterPhase;
  let precision = Wide;
  let constraints = ["step and lr are 0-d, and lr is f32 or f64."];
}

def RateTablePrimitive : Primitive<"rate_table", 62> {
  let summary = "lr = table[min(step, n) - 1], where n is the length of the table";
  let text = [{
    A step below 1 reads the first number, and a step after the end of the table reads
    the last one.
  }];
  let operandList = [In<"step", IntElement>, In<"table">];
  let resultList = [ScalarOf<"lr", "table">];
  let phase = CounterPhase;
  let precision = Wide;
  let constraints = ["step is 0-d, and table has rank 1 and is f32 or f64."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

def AICF_AllFiniteOp : AICF_OpOf<AllFinitePrimitive>;

def AICF_GlobalNormOp : AICF_OpOf<GlobalNormPrimitive>;

def AICF_ClipFactorOp : AICF_OpOf<ClipFactorPrimitive> {
  let assemblyFormat = [{
    $norm (`,` $inv_scale^)? attr-dict
    `:` type($norm) (`,` type($inv_scale)^)?
  }];
}

def AICF_LossScaleUpdateOp : AICF_OpOf<LossScaleUpdatePrimitive>;

def AICF_StepIncOp : AICF_OpOf<StepIncPrimitive> {
  let assemblyFormat = [{
    $step (`,` $ok^)? attr-dict `:` type($step) (`,` type($ok)^)?
  }];
}

class AICF_OfCount<Primitive record, string result> : AICF_OpOf<record> {
  let stepAttrs = (ins OptionalAttr<TypeAttr>:$dtype);
  let stepConstraints = ["`dtype` is " # result # "'s element type: f16, bf16, f32 "
                         "(the default) or f64."];
  let counter = "step";
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}
def AICF_BiasCorrOp : AICF_OfCount<BiasCorrPrimitive, "bc">;
def AICF_GroupBiasCorrOp : AICF_OfCount<GroupBiasCorrPrimitive, "bc">;
def AICF_LearningRateOp : AICF_OfCount<LearningRatePrimitive, "lr">;
def AICF_StepDecayOp : AICF_OfCount<StepDecayPrimitive, "lr">;
def AICF_PolynomialDecayOp : AICF_OfCount<PolynomialDecayPrimitive, "lr">;
def AICF_RateTableOp : AICF_OpOf<RateTablePrimitive> {
  let counter = "step";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def StepIncCpu : KernelFamily<"counter", CPU> {
  let kinds = [StepIncPrimitive];
  let variants = [On<"i32">, On<"i64">];
  let kernel = "stepInc<$T>";
}
def StepIncCuda : KernelFamily<"counter", CUDA> {
  let kinds = [StepIncPrimitive];
  let variants = [On<"i32">, On<"i64">];
  let kernel = "stepInc<$T>";
}
def BiasCorrCpu : KernelFamily<"counter", CPU> {
  let kinds = [BiasCorrPrimitive];
  let variants = [From<"i32", "f32">, From<"i32", "f64">, From<"i64", "f32">,
                  From<"i64", "f64">];
  let kernel = "biasCorr<$T, $U>";
}
def BiasCorrCuda : KernelFamily<"counter", CUDA> {
  let kinds = [BiasCorrPrimitive];
  let variants = [From<"i32", "f32">, From<"i32", "f64">, From<"i64", "f32">,
                  From<"i64", "f64">];
  let kernel = "biasCorr<$T, $U>";
}
class GroupBiasCorr<Device device> : KernelFamily<"counter", device> {
  let kinds = [GroupBiasCorrPrimitive];
  let variants = [From<"i32", "f32">, From<"i32", "f64">, From<"i64", "f32">,
                  From<"i64", "f64">];
  let kernel = "groupBiasCorr<$T, $U>";
}
def GroupBiasCorrCpu : GroupBiasCorr<CPU>;
def GroupBiasCorrCuda : GroupBiasCorr<CUDA>;
class OfStep<Primitive record, Device device, string name>
    : KernelFamily<"counter", device> {
  let kinds = [record];
  let variants = [From<"i32", "f32">, From<"i32", "f64">, From<"i64", "f32">,
                  From<"i64", "f64">];
  let kernel = name # "<$T, $U>";
}
foreach device = [CPU, CUDA] in {
  def LearningRate#device : OfStep<LearningRatePrimitive, device, "learningRate">;
  def StepDecay#device : OfStep<StepDecayPrimitive, device, "stepDecay">;
  def PolynomialDecay#device
      : OfStep<PolynomialDecayPrimitive, device, "polynomialDecay">;
  def RateTable#device : OfStep<RateTablePrimitive, device, "rateTable">;
}
def LossScaleCpu : KernelFamily<"counter", CPU> {
  let kinds = [LossScaleUpdatePrimitive];
  let variants = SingleAndDouble.each;
  let version = 1;
  let kernel = "lossScaleUpdate<$T>";
}
def LossScaleCuda : KernelFamily<"counter", CUDA> {
  let kinds = [LossScaleUpdatePrimitive];
  let variants = SingleAndDouble.each;
  let version = 1;
  let kernel = "lossScaleUpdate<$T>";
}

class AllFinite<Device device> : KernelFamily<"counter", device> {
  let kinds = [AllFinitePrimitive];
  let variants = [From<"f32", "i32">, From<"f64", "i32">, From<"f16", "i32">,
                  From<"bf16", "i32">];
  let kidTypes = KidTypesFirst;
  let kernel = "allFinite<$T>";
}
def AllFiniteCpu : AllFinite<CPU>;
/// The workspace holds one verdict for each block.
def AllFiniteCuda : AllFinite<CUDA> {
  let workspace = "verdictsWorkspace(c)";
  let workspaceCap = "kVerdictsBytes";
}

class GlobalNorm<Device device> : KernelFamily<"counter", device> {
  let kinds = [GlobalNormPrimitive];
  let variants = SingleAndDouble.each # HalfToSingle.each;
  let kernel = "globalNorm<$T, $U>";
}
def GlobalNormCpu : GlobalNorm<CPU>;
/// The workspace holds one partial sum for each block.
def GlobalNormCuda : GlobalNorm<CUDA> {
  let workspace = "partialSquaresWorkspace(c)";
  let workspaceCap = "kPartialSquaresBytes";
}
class ClipFactor<Device device> : KernelFamily<"counter", device> {
  let kinds = [ClipFactorPrimitive];
  let variants = SingleAndDouble.each;
  let kernel = "clipFactor<$T>";
}
def ClipFactorCpu : ClipFactor<CPU>;
def ClipFactorCuda : ClipFactor<CUDA>;

#endif // AICF_KERNELS_COUNTER_FAMILY_TD
