//===- Family.td - losses -------------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOSS_FAMILY_TD
#define AICF_KERNELS_LOSS_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "kernels/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

class AICFRT_Mse<string mnemonic, int number, string schema, int optional>
    : AICFRT_Primitive<mnemonic, number, schema> {
  let operandList = [In<"pred">, In<"target">]
      # !if(optional, [Opt<"loss_scale">], []<Operand>);
  let precision = Keep<"pred">;
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

class AICFRT_CrossEntropy<string mnemonic, int number, string schema>
    : AICFRT_Primitive<mnemonic, number, schema> {
  let fields = [F64Field<"label_smoothing", BelowOne, "0.0">,
                I64Field<"ignore_index", AnyNumber, "-100">];
  let precision = Keep<"logits">;
}

def AICFRT_SoftmaxCrossEntropyOp
    : AICFRT_CrossEntropy<"softmax_cross_entropy", 33, "SXEL"> {
  let summary = "loss = mean over rows of -log softmax(logits)[label]";
  let text = [{
    PyTorch's cross_entropy over class numbers: rows whose label is
    `ignore_index` count for nothing; with `label_smoothing` s a row's target is
    (1-s) on its label plus s/C on every class (Szegedy et al. 2016). A label
    that is neither a class nor `ignore_index` makes the loss NaN, as does a
    batch in which no row counts. Computed in f32 for 16-bit logits.
  }];
  let operandList = [In<"logits">, In<"labels", I32Element>];
  let resultList = [WideScalarOf<"loss", "logits">];
  let phase = ForwardPhase;
  let scaling = NotScaled;
  let constraints = ["logits has rank 1 or more.",
                     "labels has logits' shape without the last dimension."];
}

def AICFRT_SoftmaxCrossEntropyGradOp
    : AICFRT_CrossEntropy<"softmax_cross_entropy_grad", 34, "SXEG"> {
  let summary = "gradient of softmax_cross_entropy [· loss_scale]";
  let text = [{
    dlogits = (softmax(logits) - target) / rows that count; 0 in rows that are
    ignored, NaN in rows whose label is not a class.
  }];
  let operandList = [In<"logits">, In<"labels", I32Element>,
                     Opt<"loss_scale">];
  let resultList = [Like<"dlogits", "logits">];
  let ties = [Tie<"dlogits", "logits">];
  let phase = BackwardPhase;
  let scaling = Seed;
  let constraints = ["logits has rank 1 or more.",
                     "labels has logits' shape without the last dimension.",
                     "loss_scale is 0-d, of logits' element type or f32 where "
                     "that has 16 bits."];
}

//===----------------------------------------------------------------------===//
// Their ops of a step
//===----------------------------------------------------------------------===//

def AICF_MseLossOp : AICF_OpOf<AICFRT_MseLossOp> {
  let gradient = [{
    if (g.isNeeded(getTarget()) &&
        getPred().getType() != getTarget().getType()) {
      return emitOpError() << "no derivative with respect to a target of "
                           << getTarget().getType() << " for a prediction of "
                           << getPred().getType();
    }
    auto grad = [&](::mlir::Value pred, ::mlir::Value target) {
      if (g.isNeeded(pred)) {
        g.add(pred, MseGradOp::create(b, loc, g.saved(pred), g.saved(target),
                                      g.factor(getLoss()),
                                      /*scale=*/::mlir::FloatAttr()));
      }
    };
    grad(getPred(), getTarget());
    grad(getTarget(), getPred());
  }];
}

def AICF_MseGradOp : AICF_OpOf<AICFRT_MseGradOp> {
  let assemblyFormat = [{
    $pred `,` $target (`,` $loss_scale^)? attr-dict
    `:` type($pred) `,` type($target) (`,` type($loss_scale)^)?
  }];
}

def AICF_SoftmaxCrossEntropyOp : AICF_OpOf<AICFRT_SoftmaxCrossEntropyOp> {
  let gradient = [{
    g.add(getLogits(), SoftmaxCrossEntropyGradOp::create(
        b, loc, g.saved(getLogits()), g.saved(getLabels()),
        g.factor(getLoss()), getLabelSmoothing(), getIgnoreIndex()));
  }];
}
def AICF_SoftmaxCrossEntropyGradOp
    : AICF_OpOf<AICFRT_SoftmaxCrossEntropyGradOp> {
  let assemblyFormat = [{
    $logits `,` $labels (`,` $loss_scale^)? attr-dict
    `:` type($logits) `,` type($labels) (`,` type($loss_scale)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def MseLossCpu : KernelFamily<"loss", "CPU"> {
  let kinds = [AICFRT_MseLossOp];
  let variants = EveryFloat.each # HalfToSingle.each;
  let kernel = "mseLoss<$T, $U>";
}
def MseGradCpu : KernelFamily<"loss", "CPU"> {
  let kinds = [AICFRT_MseGradOp];
  let variants = EveryFloat.each;
  let version = 1;
  let kernel = "mseGrad<$T>";
}

def MseGradCuda : KernelFamily<"loss", "CUDA"> {
  let kinds = [AICFRT_MseGradOp];
  let variants = Vectors.each;
  let version = 1;
  let kernel = "mseGrad<$T, $V>";
}
/// The workspace holds a partial sum a block.
def MseLossCuda : KernelFamily<"loss", "CUDA"> {
  let kinds = [AICFRT_MseLossOp];
  let variants = EveryFloat.each # HalfToSingle.each;
  let workspace = "mseWorkspace(c)";
  let workspaceCap = "kMseWorkspaceBytes";
  let kernel = "mseLoss<$T>";
}
def MseLossGrad : BodyPattern<"mse_loss_grad", [
    Element<"loss", AICFRT_MseLossOp>, Element<"grad", AICFRT_MseGradOp>]> {
  let bindings = ["grad.pred = loss.pred", "grad.target = loss.target"];
  let ties = ["grad.dpred = loss.pred", "grad.dpred = loss.target"];
}
/// Result 0 is the loss, of target's type.
def MseLossGradCuda : KernelFamily<"loss", "CUDA"> {
  let patterns = [MseLossGrad];
  let variants = EveryFloat.each # HalfToSingle.each;
  let version = 1;
  let workspace = "mseWorkspace(c)";
  let workspaceCap = "kMseWorkspaceBytes";
  let kernel = "mseLossGrad<$T>";
}

class CrossEntropy<string device, string planner>
    : KernelFamily<"loss", device> {
  let kinds = [AICFRT_SoftmaxCrossEntropyOp];
  let variants = [On<"f32">, On<"f64">] # HalfToSingle.each;
  let kernel = planner;
}
def CrossEntropyCpu : CrossEntropy<"CPU", "crossEntropy<$T, $U>">;
/// A sum of losses and a count of rows, both f64, for 4 blocks a multiprocessor: as
/// many blocks as have room reduce. A small batch is one block's work.
defvar CrossEntropyPartials = "64 * h200::kMultiprocessors";
def CrossEntropyCuda : CrossEntropy<"CUDA", "crossEntropy<$T, $U>"> {
  let version = 1;
  let workspace = !strconcat("c.logits()->elements() <= kSingleBlockElements "
                             "? 0 : ", CrossEntropyPartials);
  let workspaceCap = CrossEntropyPartials;
}
def CrossEntropyGradCpu : KernelFamily<"loss", "CPU"> {
  let kinds = [AICFRT_SoftmaxCrossEntropyGradOp];
  let variants = EveryFloat.each;
  let kernel = "crossEntropyGrad<$T>";
}
def CrossEntropyGradCuda : KernelFamily<"loss", "CUDA"> {
  let kinds = [AICFRT_SoftmaxCrossEntropyGradOp];
  let variants = EveryFloat.each;
  let workspace = !strconcat("c.labels()->elements() <= kSingleBlockElements "
                             "? 0 : ", CrossEntropyPartials);
  let workspaceCap = CrossEntropyPartials;
  let kernel = "crossEntropyGrad<$T>";
}

#endif // AICF_KERNELS_LOSS_FAMILY_TD
