//===- Loss.td - losses and their gradients -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_PRIMITIVES_LOSS_TD
#define AICF_PRIMITIVES_LOSS_TD

include "aicf/Dialect/AICFRT/AICFRTBase.td"

class AICFRT_Mse<string mnemonic, int number, string schema, int optional>
    : AICFRT_Primitive<mnemonic, number, schema> {
  let operandList = [In<"pred">, In<"target">]
      # !if(optional, [Opt<"loss_scale">], []<Operand>);
  let precision = Keep;
  let constraints = [
    "pred and target have the same type, or the same shape with pred of f16 or "
    "bf16 and target of f32."]
      # !if(optional, ["loss_scale is 0-d of target's element type."],
            []<string>);
}

def AICFRT_MseLossOp : AICFRT_Mse<"mse_loss", 8, "", 0> {
  let summary = "loss = mean((pred - target)^2)";
  let text = "\n    The loss has target's element type.\n";
  let resultList = [ScalarOf<"loss", "target">];
  let phase = ForwardPhase;
  let scaling = NotScaled;
}

def AICFRT_MseGradOp : AICFRT_Mse<"mse_grad", 9, "MSEG", 1> {
  let summary = "dpred = scale · (pred - target) [· loss_scale]";
  let text = [{
    `scale` defaults to 2/numel(pred), the gradient of `mse_loss`.
  }];
  let resultList = [Like<"dpred", "pred">];
  let ties = [Tie<"dpred", "pred">, Tie<"dpred", "target">];
  let fields = [F64Field<"scale", FiniteNumber, "computed">];
  let phase = BackwardPhase;
  let scaling = Seed;
}

def AICFRT_MseLossGradOp : AICFRT_Mse<"mse_loss_grad", 23, "MSLG", 1> {
  let summary = "loss = mean((pred - target)^2); dpred as mse_grad";
  let text = [{
    mse_loss and mse_grad of the same operands in one call.
  }];
  let resultList = [ScalarOf<"loss", "target">, Like<"dpred", "pred">];
  let ties = [Tie<"dpred", "pred">, Tie<"dpred", "target">];
  let fields = [F64Field<"scale", FiniteNumber>];
  let phase = BackwardPhase;
  let scaling = Seed;
}

#endif // AICF_PRIMITIVES_LOSS_TD
