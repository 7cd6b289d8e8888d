//===- Family.td - attention ----------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_FAMILY_TD
#define AICF_KERNELS_ATTENTION_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// What the op and its gradients share: fields, and what is true of the operands that
/// stand behind those of `front`.
class AttentionPrimitive<string mnemonic, int number, string schema, list<Operand> front,
                         Operand maskOperand>
    : Primitive<mnemonic, number, schema> {
  let operandList = front # [maskOperand, Opt<"segments", I32Element>,
                             Opt<"step", IntElement>];
  let fields = [F64Field<"scale", FiniteNumber, "computed">,
                F64Field<"softcap", NonNegative, "0.0">,
                I64Field<"window_left", AtLeastMinusOne31, "-1">,
                I64Field<"window_right", AtLeastMinusOne31, "-1">,
                I64Field<"offset", Below31, "0">,
                F64Field<"p", BelowOne, "0.0">,
                I64Field<"seed", AnyNumber, "0">];
  let precision = Narrow;
  let flops = FlopsOfRule;
  list<string> shared = [
    "q, k and v have rank 4, and the same element type. The size of a head is at most "
    "1024.",
    "k has q's batch and size of a head, and its heads divide q's: each head of k serves "
    "as many heads of q, one behind the other.",
    "v has k's batch, length and heads.",
    "each dimension of mask is 1 or that of the scores, [batch, heads, q's length, k's "
    "length]. It has q's element type, or f32, or i1.",
    "segments is [batch, length], and q and k have the same length.",
    "step is 0-d. It is there if `p` is not 0."];
  list<string> ofGradient = [
    "y and dy are [batch, q's length, heads, v's size of a head] and have q's element "
    "type.",
    "lse is [batch, heads, q's length], of f64 if q is, else of f32."];
  let constraints = shared # ofGradient;
}

def AttentionOpPrimitive
    : AttentionPrimitive<"attention", 181, "ATTN", [In<"q">, In<"k">, In<"v">],
                         Opt<"mask", AnyElement>> {
  let summary = "y = softmax(scores) · v for each head, where scores = scale · q · kᵀ + mask";
  let text = [{
    q is [batch, length, heads, size], and so are k and v, whose heads may be fewer. This is
    the attention of Vaswani et al. 2017; the matrix of scores is never in memory as a
    whole (Dao et al. 2022). In this order:
    - a score is scale · q · k. The default of `scale` is 1/√size.
    - With `softcap` c > 0 it becomes c·tanh(score/c) (Gemma Team 2024).
    - A mask of floats is added. Where one of i1 is false, the score is hidden.
    - Query i stands at key i + `offset`. It sees `window_left` keys before that one and
      `window_right` keys behind it; -1 stands for all of them. `window_right` = 0 is
      causal. With `offset` = k's length - q's length, the last query sees the last key.
    - Query i sees key j if segments[i] = segments[j]: documents that are packed into one
      row do not see each other.
    - With `p` > 0, weights are dropped as `dropout` drops elements of the scores' shape,
      by `seed` and `step`.
    A query that sees no key gives 0, and its gradients are 0. lse is the logarithm of the
    sum of exp(score) in each row, before weights are dropped; it is -∞ where nothing is
    seen. Scores, weights and sums have 32 bits or more.
  }];
  let resultList = [Checked<"y", FloatElement>, Checked<"lse", WideElement>];
  let phase = ForwardPhase;
  let constraints = shared # [
    "y is [batch, q's length, heads, v's size of a head] and has q's element type.",
    "lse is [batch, heads, q's length], of f64 if q is, else of f32."];
}

defvar GradientOperands = [In<"dy">, In<"q">, In<"k">, In<"v">, In<"y">,
                           In<"lse", WideElement>];

def AttentionBwdPrimitive
    : AttentionPrimitive<"attention_bwd", 182, "ATTB", GradientOperands,
                         Opt<"mask", AnyElement>> {
  let summary = "gradients of attention for q, k and v";
  let text = [{
    With weights P = exp(scores - lse), those that are kept and scaled P', and
    D = Σ dy · y of each row: dv = P'ᵀ · dy, dscores = P' · (dy · vᵀ) - P · D, and dq and
    dk are the products of dscores with k and q. Heads of q that share one of k add up in
    their order.
  }];
  let resultList = [Like<"dq", "q">, Like<"dk", "k">, Like<"dv", "v">];
  let phase = BackwardPhase;
}

def AttentionMaskBwdPrimitive
    : AttentionPrimitive<"attention_mask_bwd", 183, "ATTM", GradientOperands,
                         In<"mask">> {
  let summary = "the gradient of attention for a mask of floats";
  let text = [{
    These are dscores as in attention_bwd, added over the dimensions of mask that are 1.
  }];
  let resultList = [Like<"dmask", "mask">];
  let phase = BackwardPhase;
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

class AICF_AttentionLike<Primitive record, list<string> before, bit mayMask>
    : AICF_OpOf<record> {
  let counter = "step";
  defvar last = [" (`segments` $segments^)? (`step` $step^)? attr-dict `:` ",
                 " (`segments` type($segments)^)? (`step` type($step)^)?"];
  defvar mask = !if(mayMask, [" (`mask` $mask^)?", " (`mask` type($mask)^)?"], ["", ""]);
  let assemblyFormat =
      !interleave(!foreach(name, before, "$" # name), " `,` ") # mask[0] # last[0]
      # !interleave(!foreach(name, before, "type($" # name # ")"), " `,` ") # mask[1]
      # last[1];
}

def AICF_AttentionOp
    : AICF_AttentionLike<AttentionOpPrimitive, ["q", "k", "v"], 1> {
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
  let gradient = [{ return attentionGradients(*this, g); }];
}
def AICF_AttentionBwdOp
    : AICF_AttentionLike<AttentionBwdPrimitive, ["dy", "q", "k", "v", "y", "lse"], 1>;
def AICF_AttentionMaskBwdOp
    : AICF_AttentionLike<AttentionMaskBwdPrimitive,
                         ["dy", "q", "k", "v", "y", "lse", "mask"], 0>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Rows of a head lie together; heads, rows and batches may lie anywhere: as parts of one
/// tensor of q, k and v, with heads in front or behind. A mask may be broadcast.
class AttentionKernels<string unit, Primitive record, Device device, list<string> rows>
    : KernelFamily<unit, device> {
  let kinds = [record];
  let variants = EveryFloat.each;
  let strided = !foreach(name, rows, Strided<record, name, RowsAnywhere>)
      # [Strided<record, "mask", AnyStrides>];
}
defvar ForwardRows = ["q", "k", "v", "y"];
defvar BackwardRows = ["dy", "q", "k", "v", "y", "dq", "dk", "dv"];
defvar MaskRows = ["dy", "q", "k", "v", "y"];
/// A mask has q's type, or f32 (see maskFits in Rules.cpp).
defvar MaskTypes = EveryFloat.each # HalfToSingle.each # [From<"f64", "f32">];

def AttentionCpu : AttentionKernels<"attention", AttentionOpPrimitive, CPU, ForwardRows> {
  let kernel = "attention<$T>";
}
def AttentionBwdCpu
    : AttentionKernels<"attention_bwd", AttentionBwdPrimitive, CPU, BackwardRows> {
  let kernel = "attentionBwd<$T>";
}
def AttentionMaskBwdCpu
    : AttentionKernels<"attention_bwd", AttentionMaskBwdPrimitive, CPU, MaskRows> {
  let kernel = "attentionMaskBwd<$T>";
  let variants = MaskTypes;
}

def AttentionCuda : AttentionKernels<"attention", AttentionOpPrimitive, CUDA, ForwardRows> {
  let kernel = "attention<$T>";
}
def AttentionBwdCuda
    : AttentionKernels<"attention_bwd", AttentionBwdPrimitive, CUDA, BackwardRows> {
  let kernel = "attentionBwd<$T>";
}
def AttentionMaskBwdCuda
    : AttentionKernels<"attention_bwd", AttentionMaskBwdPrimitive, CUDA, MaskRows> {
  let kernel = "attentionMaskBwd<$T>";
  let variants = MaskTypes;
}
/// On tensor cores. For elements of 16 bits, weights and their gradients are rounded to
/// these; for f32, each product is three of tf32 (Mma.cuh).
class AttentionMma<string unit, Primitive record, list<string> rows>
    : AttentionKernels<unit, record, CUDA, rows> {
  let variants = [On<"f16">, On<"bf16">, On<"f32">];
  let variantName = "mma";
  let takes = "areVectorsOfHeads(c)";
  let alignment = 16;
  let preference = 0;
}
def AttentionMmaCuda : AttentionMma<"attention_mma", AttentionOpPrimitive, ForwardRows> {
  let kernel = "attentionByMma<$T>";
}
/// The workspace holds a number of each row.
def AttentionMmaBwdCuda
    : AttentionMma<"attention_mma_bwd", AttentionBwdPrimitive, BackwardRows> {
  let kernel = "attentionBwdByMma<$T>";
  let workspace = "rowsWorkspace(c)";
  let workspaceCap = "kAttentionWorkspaceBytes";
}

/// cuDNN's kernels, of a graph that is built for the call. Its deterministic gradients
/// need the matrix of scores in 16 bits; where that is too large, ours run.
class AttentionCudnn<Primitive record, list<string> rows>
    : AttentionKernels<"attention", record, CUDA, rows> {
  let variants = [On<"f16">, On<"bf16">];
  let variantName = "cudnn";
  let provider = Cudnn;
  let takes = "areVectorsOfHeads(c) && isPlainWindow(c) && isForCudnn(c)";
  let workspaceCap = "kCudnnWorkspaceBytes";
  let alignment = 16;
  let preference = -1;
}
def AttentionCudnnForward : AttentionCudnn<AttentionOpPrimitive, ForwardRows> {
  let workspace = "kCudnnSlackBytes";
}
def AttentionCudnnBwd : AttentionCudnn<AttentionBwdPrimitive, BackwardRows> {
  let pays = "cudnnWorkspace(c) <= kCudnnWorkspaceBytes";
  let workspace = "cudnnWorkspace(c)";
}

#endif // AICF_KERNELS_ATTENTION_FAMILY_TD
