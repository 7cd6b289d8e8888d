//===- Counter.td - step counts, loss scale, guards ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_PRIMITIVES_COUNTER_TD
#define AICF_PRIMITIVES_COUNTER_TD

include "aicf/Dialect/AICFRT/AICFRTBase.td"

def AICFRT_AllFiniteOp : AICFRT_Primitive<"all_finite", 13> {
  let summary = "ok = 1 when no element of any operand is Inf or NaN, else 0";
  let operandList = [Each<"grad">];
  let groupName = "grads";
  let resultList = [Flag<"ok">];
  let phase = GuardPhase;
  let precision = Wide;
  let scaling = NotScaled;
  let constraints = ["all operands have the same element type."];
}

def AICFRT_LossScaleUpdateOp : AICFRT_Primitive<"loss_scale_update", 14,
                                                "LSUP"> {
  let summary = "dynamic loss scale: back off on a bad step, grow after a streak";
  let text = [{
    The rule of PyTorch's GradScaler: not ok -> scale·backoff_factor, streak 0;
    ok and streak + 1 = growth_interval -> scale·growth_factor, streak 0; else
    the streak grows by one. The scale is kept in [2^-24, 2^126], so that its
    reciprocal is finite; NaN becomes the least.
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
  let scaling = NotScaled;
  let constraints = ["scale, streak and ok are 0-d."];
}

def AICFRT_StepIncOp : AICFRT_Primitive<"step_inc", 15> {
  let summary = "step_out = step + 1 (unchanged when ok = 0)";
  let text = [{
    The largest number of its type stays: a counter does not wrap.
  }];
  let operandList = [In<"step", IntElement>, Opt<"ok", I32Element>];
  let resultList = [Like<"step_out", "step">];
  let ties = [Tie<"step_out", "step">];
  let phase = CounterPhase;
  let precision = Wide;
  let scaling = NotScaled;
  let constraints = ["step and ok are 0-d."];
}

def AICFRT_BiasCorrOp : AICFRT_Primitive<"bias_corr", 16, "BCOR"> {
  let summary = "bc = [1/(1 - beta1^t), 1/(1 - beta2^t)] for Adam";
  let text = [{
    Computed as 1/-expm1(t·log β) in f64 and rounded once.
  }];
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"bc", FloatElement>];
  let fields = [F64Field<"beta1", BelowOne, "0.9">,
                F64Field<"beta2", BelowOne, "0.999">];
  let phase = CounterPhase;
  let precision = Wide;
  let scaling = NotScaled;
  let constraints = ["step is 0-d.", "bc has shape [2]."];
}

#endif // AICF_PRIMITIVES_COUNTER_TD
