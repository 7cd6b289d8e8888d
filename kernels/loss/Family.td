//===- Family.td - losses -------------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOSS_FAMILY_TD
#define AICF_KERNELS_LOSS_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// A mean over the elements of pred and target. With `optional`, its gradient.
class MeanLossPrimitive<string mnemonic, int number, string schema, int optional>
    : Primitive<mnemonic, number, schema> {
  let operandList = [In<"pred">, In<"target">]
      # !if(optional, [Opt<"loss_scale">], []<Operand>);
  let precision = Keep<"pred">;
  let constraints = [
    "pred and target have the same shape. They have the same element type, or pred is "
    "f16 or bf16 and target is f32."]
      # !if(optional, ["loss_scale is 0-d and has target's element type."],
            []<string>);
}
class MeanLossValuePrimitive<string mnemonic, int number>
    : MeanLossPrimitive<mnemonic, number, "", 0> {
  let text = [{
    The loss has target's element type.
  }];
  let resultList = [ScalarOf<"loss", "target">];
  let phase = ForwardPhase;
}
class MeanLossGradPrimitive<string mnemonic, int number, string schema>
    : MeanLossPrimitive<mnemonic, number, schema, 1> {
  let resultList = [Like<"dpred", "pred">];
  let ties = [Tie<"dpred", "pred">, Tie<"dpred", "target">];
  let fields = [F64Field<"scale", FiniteNumber, "computed">];
  let phase = BackwardPhase;
}

def MseLossPrimitive : MeanLossValuePrimitive<"mse_loss", 8> {
  let summary = "loss = mean((pred - target)^2)";
}
def MseGradPrimitive : MeanLossGradPrimitive<"mse_grad", 9, "MSEG"> {
  let summary = "dpred = scale · (pred - target) [· loss_scale]";
  let text = [{
    The default of `scale` is 2/numel(pred), which makes this the gradient of `mse_loss`.
  }];
}

def BceWithLogitsPrimitive : MeanLossValuePrimitive<"bce_with_logits", 49> {
  let summary = "loss = mean(max(pred, 0) - pred·target + log(1 + exp(-|pred|)))";
  let text = [{
    This is the binary cross entropy of sigmoid(pred) against target in [0, 1], computed
    without overflow. The loss has target's element type.
  }];
}
def BceWithLogitsGradPrimitive
    : MeanLossGradPrimitive<"bce_with_logits_grad", 50, "BCEG"> {
  let summary = "dpred = scale · (sigmoid(pred) - target) [· loss_scale]";
  let text = [{
    The default of `scale` is 1/numel(pred), which makes this the gradient of
    `bce_with_logits`.
  }];
}

def L1LossPrimitive : MeanLossValuePrimitive<"l1_loss", 51> {
  let summary = "loss = mean(|pred - target|)";
}
def L1GradPrimitive : MeanLossGradPrimitive<"l1_grad", 52, "L1GR"> {
  let summary = "dpred = scale · sign(pred - target) [· loss_scale]";
  let text = [{
    The default of `scale` is 1/numel(pred), which makes this the gradient of `l1_loss`.
    The sign of 0 is 0, and the sign of NaN is NaN.
  }];
}

def MeanPrimitive : Primitive<"mean", 53> {
  let summary = "y = the mean of all elements of x";
  let text = [{
    If x has 16 bits, y is f32.
  }];
  let operandList = [In<"x">];
  let resultList = [WideScalarOf<"y", "x">];
  let phase = ForwardPhase;
  let precision = Keep<"x">;
  let constraints = []<string>;
}

def CountEqualPrimitive : Primitive<"count_equal", 59> {
  let summary = "count = the number of positions at which a and b are equal";
  let text = [{
    If a is the `argmax` of predictions and b holds the labels, this counts the right
    predictions.
  }];
  let operandList = [In<"a", IntElement>, In<"b", IntElement>];
  let resultList = [ScalarI32<"count">];
  let phase = ForwardPhase;
  let precision = Wide;
  let constraints = ["a has fewer than 2^31 elements.", "b has a's shape."];
}

class CrossEntropyPrimitive<string mnemonic, int number, string schema>
    : Primitive<mnemonic, number, schema> {
  let fields = [F64Field<"label_smoothing", BelowOne, "0.0">,
                I64Field<"ignore_index", AnyNumber, "-100">];
  let precision = Keep<"logits">;
}

def SoftmaxCrossEntropyPrimitive
    : CrossEntropyPrimitive<"softmax_cross_entropy", 33, "SXEL"> {
  let summary = "loss = the mean over all rows of -log softmax(logits)[label]";
  let text = [{
    This is PyTorch's cross_entropy over class numbers. Rows whose label is
    `ignore_index` do not count. With `label_smoothing` s, the target of a row is (1-s)
    on its label plus s/C on each of the C classes (Szegedy et al. 2016). The loss is NaN
    if a label is neither a class nor `ignore_index`, or if no row of the batch counts.
    For 16-bit logits, the loss is computed in f32 or wider, and its type is f32.
  }];
  let operandList = [In<"logits">, Index<"labels", "logits", -1, "ignore_index">];
  let resultList = [WideScalarOf<"loss", "logits">];
  let phase = ForwardPhase;
  let constraints = ["logits has rank 1 or more.",
                     "labels has logits' shape without the last dimension."];
}

def SoftmaxCrossEntropyGradPrimitive
    : CrossEntropyPrimitive<"softmax_cross_entropy_grad", 34, "SXEG"> {
  let summary = "dlogits = the gradient of softmax_cross_entropy [· loss_scale]";
  let text = [{
    dlogits is (softmax(logits) - target) / n, where n is the number of rows that count.
    It is 0 in rows that are ignored, and NaN in rows whose label is not a class.
  }];
  let operandList = [In<"logits">, Index<"labels", "logits", -1, "ignore_index">,
                     Opt<"loss_scale">];
  let resultList = [Like<"dlogits", "logits">];
  let ties = [Tie<"dlogits", "logits">];
  let phase = BackwardPhase;
  let constraints = ["logits has rank 1 or more.",
                     "labels has logits' shape without the last dimension.",
                     "loss_scale is 0-d. It has logits' element type, or is f32 if "
                     "that has 16 bits."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

/// A function of pred - target that is the same for target - pred.
class AICF_SymmetricLoss<Primitive record, string gradOp>
    : AICF_OpOf<record> {
  let gradient = [{
    auto grad = [&](::mlir::Value pred, ::mlir::Value target) {
      return }] # gradOp # [{::create(b, loc, g.saved(pred), g.saved(target),
                                   g.factor(getLoss()),
                                   /*scale=*/::mlir::FloatAttr()).getDpred();
    };
    ::mlir::Value dpred;
    bool isMixed = getPred().getType() != getTarget().getType();
    if (g.isNeeded(getPred()) || isMixed) {
      g.add(getPred(), dpred = grad(getPred(), getTarget()));
    }
    if (!g.isNeeded(getTarget())) {
      return ::mlir::success();
    }
    if (!isMixed) {
      g.add(getTarget(), grad(getTarget(), getPred()));
      return ::mlir::success();
    }
    // Of a 16-bit pred only its own gradient has an op: target's is minus that.
    ::mlir::Type wide =
        ::llvm::cast<::mlir::ShapedType>(getTarget().getType()).getElementType();
    g.add(getTarget(), ScaleOp::create(
        b, loc, CastOp::create(b, loc, dpred, ::mlir::TypeAttr::get(wide)),
        ::llvm::APFloat(-1.0)));
  }];
}
def AICF_MseLossOp : AICF_SymmetricLoss<MseLossPrimitive, "MseGradOp">;
def AICF_L1LossOp : AICF_SymmetricLoss<L1LossPrimitive, "L1GradOp">;
def AICF_BceWithLogitsOp : AICF_OpOf<BceWithLogitsPrimitive> {
  let gradient = [{
    if (g.isNeeded(getTarget())) {
      return emitOpError() << "no derivative with respect to its target: "
                              "use stop_gradient if that is intended";
    }
    g.add(getPred(), BceWithLogitsGradOp::create(
        b, loc, g.saved(getPred()), g.saved(getTarget()), g.factor(getLoss()),
        /*scale=*/::mlir::FloatAttr()));
  }];
}

def AICF_MeanOp : AICF_OpOf<MeanPrimitive> {
  let gradient = [{
    auto x = ::llvm::cast<::mlir::RankedTensorType>(getX().getType());
    ::mlir::Value share = ScaleOp::create(b, loc, g.cotangent(getY()),
        ::llvm::APFloat(1.0 / double(x.getNumElements())));
    if (getY().getType().getElementType() != x.getElementType()) {
      share = CastOp::create(b, loc, share,
                             ::mlir::TypeAttr::get(x.getElementType()));
    }
    g.add(getX(), b.createOrFold<BroadcastOp>(
                      loc, share, b.getDenseI64ArrayAttr(x.getShape())));
  }];
}

def AICF_CountEqualOp : AICF_OpOf<CountEqualPrimitive>;

class AICF_LossGrad<Primitive record> : AICF_OpOf<record> {
  let assemblyFormat = [{
    $pred `,` $target (`,` $loss_scale^)? attr-dict
    `:` type($pred) `,` type($target) (`,` type($loss_scale)^)?
  }];
}
// dpred = scale · (pred - target) [· loss_scale], in pred's type
def AICF_MseGradOp : AICF_LossGrad<MseGradPrimitive> {
  let gradient = [{
    auto type = ::llvm::cast<::mlir::RankedTensorType>(getPred().getType());
    double count = double(type.getNumElements());
    double scale = getScale() ? getScale()->convertToDouble() : 2.0 / count;
    ::mlir::Value c = g.cotangent(getDpred());
    if (getLossScale() && g.isNeeded(getLossScale())) {
      ::mlir::Value plain = MseGradOp::create(b, loc, g.saved(getPred()),
          g.saved(getTarget()), /*loss_scale=*/::mlir::Value(), getScaleAttr()).getDpred();
      ::mlir::Value mean = MeanOp::create(b, loc, times(b, c, plain));
      g.add(getLossScale(), scaled(b, likeElementsOf(b, mean, getLossScale()), count));
    }
    c = scaled(b, c, scale);
    if (getLossScale()) {
      ::mlir::Value factor = likeElementsOf(b, g.saved(getLossScale()), c);
      c = times(b, c, BroadcastOp::create(b, loc, factor, type.getShape()));
    }
    g.add(getPred(), c);
    if (g.isNeeded(getTarget())) {
      g.add(getTarget(), NegOp::create(b, loc, likeElementsOf(b, c, getTarget())));
    }
  }];
}
def AICF_L1GradOp : AICF_LossGrad<L1GradPrimitive>;
def AICF_BceWithLogitsGradOp : AICF_LossGrad<BceWithLogitsGradPrimitive>;

def AICF_SoftmaxCrossEntropyOp : AICF_OpOf<SoftmaxCrossEntropyPrimitive> {
  let gradient = [{
    g.add(getLogits(), SoftmaxCrossEntropyGradOp::create(
        b, loc, g.saved(getLogits()), g.saved(getLabels()),
        g.factor(getLoss()), getLabelSmoothing(), getIgnoreIndex()));
  }];
}
def AICF_SoftmaxCrossEntropyGradOp
    : AICF_OpOf<SoftmaxCrossEntropyGradPrimitive> {
  let assemblyFormat = [{
    $logits `,` $labels (`,` $loss_scale^)? attr-dict
    `:` type($logits) `,` type($labels) (`,` type($loss_scale)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// `loss` is a functor of the kernels: Mse, BceWithLogits, L1.
multiclass MeanLoss<Primitive value, Primitive grad,
                    string functor, string fused, int v> {
  def Cpu : KernelFamily<"loss", CPU> {
    let kinds = [value];
    let variants = EveryFloat.each # HalfToSingle.each;
    let kernel = "meanLoss<" # functor # ", $Args, $T, $U>";
  }
  def GradCpu : KernelFamily<"loss", CPU> {
    let kinds = [grad];
    let variants = EveryFloat.each;
    let version = v;
    let kernel = "lossGrad<" # functor # ", $Args, $T>";
  }
  def GradCuda : KernelFamily<"loss", CUDA> {
    let kinds = [grad];
    let variants = Vectors.each;
    let version = v;
    let kernel = "lossGrad<" # functor # ", $Args, $T, $V>";
  }
  /// The workspace holds one partial sum for each block.
  def Cuda : KernelFamily<"loss", CUDA> {
    let kinds = [value];
    let variants = EveryFloat.each # HalfToSingle.each;
    let workspace = "lossWorkspace(c.pred(), c.target())";
    let workspaceCap = "kLossWorkspaceBytes";
    let kernel = "meanLoss<" # functor # ", $Args, $T>";
  }
  def Both : BodyPattern<fused, [Node<"loss", value>, Node<"grad", grad>]> {
    let bindings = ["grad.pred = loss.pred", "grad.target = loss.target"];
    let ties = ["grad.dpred = loss.pred", "grad.dpred = loss.target"];
  }
  /// Result 0 is the loss, which has target's type.
  def BothCuda : KernelFamily<"loss", CUDA> {
    let patterns = [!cast<BodyPattern>(NAME # "Both")];
    let variants = EveryFloat.each # HalfToSingle.each;
    let version = v;
    let workspace = "lossWorkspace(c.loss().pred(), c.loss().target())";
    let workspaceCap = "kLossWorkspaceBytes";
    let kernel = "lossAndGrad<" # functor # ", $Args, $T>";
  }
}
defm Mse : MeanLoss<MseLossPrimitive, MseGradPrimitive, "Mse", "mse_loss_grad",
                    1>;
defm Bce : MeanLoss<BceWithLogitsPrimitive, BceWithLogitsGradPrimitive,
                    "BceWithLogits", "bce_with_logits_loss_grad", 0>;
defm L1 : MeanLoss<L1LossPrimitive, L1GradPrimitive, "L1", "l1_loss_grad", 0>;

class Mean<Device device, string planner> : KernelFamily<"loss", device> {
  let kinds = [MeanPrimitive];
  let variants = SingleAndDouble.each # HalfToSingle.each;
  let kernel = planner;
}
def MeanCpu : Mean<CPU, "mean<$T, $U>">;
def MeanCuda : Mean<CUDA, "mean<$T>"> {
  let workspace = "lossWorkspace(c.x())";
  let workspaceCap = "kLossWorkspaceBytes";
}

class CountEqual<Device device> : KernelFamily<"loss", device> {
  let kinds = [CountEqualPrimitive];
  let variants = [From<"i32", "i32">, From<"i64", "i32">];
  let kidTypes = KidTypesFirst;
  let kernel = "countEqual<$T>";
}
def CountEqualCpu : CountEqual<CPU>;
def CountEqualCuda : CountEqual<CUDA>;

class CrossEntropy<Device device, string planner>
    : KernelFamily<"loss", device> {
  let kinds = [SoftmaxCrossEntropyPrimitive];
  let variants = [On<"f32">, On<"f64">] # HalfToSingle.each;
  let kernel = planner;
}
def CrossEntropyCpu : CrossEntropy<CPU, "crossEntropy<$T, $U>">;
/// A sum of losses and a count of rows, both f64, for each of 4 blocks per
/// multiprocessor. As many blocks reduce as have room. One block does a small batch.
defvar CrossEntropyPartials = "64 * kMultiprocessors";
class CrossEntropyOnCuda<string planner> : CrossEntropy<CUDA, planner> {
  let workspace = !strconcat("c.logits()->elements() <= kSingleBlockElements "
                             "? 0 : ", CrossEntropyPartials);
  let workspaceCap = CrossEntropyPartials;
}
def CrossEntropyCuda : CrossEntropyOnCuda<"crossEntropy<$T, $U>"> {
  let version = 1;
}
/// For long rows, which it reads in vectors. Plans before version 4.3 use the other
/// kernel for them.
def WideCrossEntropyCuda : CrossEntropyOnCuda<"crossEntropy<$T, $U, true>"> {
  let variantName = "wide";
  let pays = "isLongRow(*c.logits())";
  let preference = 0;
}
def CrossEntropyGradCpu : KernelFamily<"loss", CPU> {
  let kinds = [SoftmaxCrossEntropyGradPrimitive];
  let variants = EveryFloat.each;
  let kernel = "crossEntropyGrad<$T>";
}
/// The loss and its gradient of long rows, which are read once.
def CrossEntropyBoth : BodyPattern<"softmax_cross_entropy_loss_grad",
                                   [Node<"loss", SoftmaxCrossEntropyPrimitive>,
                                    Node<"grad", SoftmaxCrossEntropyGradPrimitive>]> {
  let bindings = ["grad.logits = loss.logits", "grad.labels = loss.labels"];
  let ties = ["grad.dlogits = loss.logits"];
}
def CrossEntropyBothCuda : KernelFamily<"loss_of_rows", CUDA> {
  let patterns = [CrossEntropyBoth];
  let variants = [On<"f32">, On<"f64">] # HalfToSingle.each;
  let takes = "haveOneTarget(c)";
  let pays = "isLongRow(*c.loss().logits())";
  let workspace = "kRowLossWorkspaceBytes";
  let workspaceCap = "kRowLossWorkspaceBytes";
  let kernel = "crossEntropyLossGrad<$T, $U>";
}
/// Of 16-bit logits, with an exponential of one instruction.
def FastCrossEntropyCuda : KernelFamily<"loss_of_rows", CUDA> {
  let kinds = [SoftmaxCrossEntropyPrimitive];
  let variants = HalfToSingle.each;
  let variantName = "wide";
  let version = 1;
  let pays = "isLongRow(*c.logits())";
  let workspace = "kRowLossWorkspaceBytes";
  let workspaceCap = "kRowLossWorkspaceBytes";
  let kernel = "crossEntropyOfRows<$T, $U>";
  let preference = -1;
}
class CrossEntropyGradOnCuda<string planner> : KernelFamily<"loss", CUDA> {
  let kinds = [SoftmaxCrossEntropyGradPrimitive];
  let variants = EveryFloat.each;
  let workspace = !strconcat("c.labels()->elements() <= kSingleBlockElements "
                             "? 0 : ", CrossEntropyPartials);
  let workspaceCap = CrossEntropyPartials;
  let kernel = planner;
}
def CrossEntropyGradCuda : CrossEntropyGradOnCuda<"crossEntropyGrad<$T>">;
def WideCrossEntropyGradCuda : CrossEntropyGradOnCuda<"crossEntropyGrad<$T, true>"> {
  let variantName = "wide";
  let pays = "isLongRow(*c.logits())";
  let preference = 0;
}

#endif // AICF_KERNELS_LOSS_FAMILY_TD
