//===- Passes.td - the passes of AICF -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// In the order of --lower-to-backend. Each description is a contract: what the
// pass changes, what it leaves, what it diagnoses, IR before and after.
//===----------------------------------------------------------------------===//
#ifndef AICF_PASSES_TD
#define AICF_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyEntries : Pass<"aicf-verify-entries", "ModuleOp"> {
  let summary = "check the signatures and bodies of entries";
  let description = [{
    Changes nothing. Every entry must have a body of one block with only `aicf`
    ops; every argument a role and a unique name; every result a unique name or
    a legal `aicf.updates` (a param or state, once, same type). Hypers are 0-d;
    `aicf.init` stands on params and states only. Entries that share a
    persistent name must agree on type, role and initial value. Functions that
    are not entries are left alone.

    ```mlir
    // refused: an input is not updated
    func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.updates = "x"}) {
    ```
  }];
}

def CheckCaptureSafety : Pass<"aicf-check-capture-safety", "::mlir::func::FuncOp"> {
  let summary = "refuse optimizers that a captured graph would freeze";
  let description = [{
    Changes nothing. Refuses (1) a `bias_corr` or optimizer whose step does not
    come through a `step_inc` of a state that the same `step_inc` updates,
    (2) moments (m, v) that are not states updated by the optimizer's result.
    No kernel reads a scalar on the host, so nothing else can be frozen.

    ```mlir
    // refused: %t is a hyper, the bias correction would never advance
    %bc = aicf.bias_corr %t : tensor<i64>
    ```
  }];
}

def Autodiff : Pass<"aicf-autodiff", "ModuleOp"> {
  let summary = "gradients of a loss with respect to every parameter";
  let description = [{
    For each entry with a result marked `aicf.minimize`: adds the ops that compute
    the gradient of that loss with respect to every param that is not
    `aicf.frozen`, in reverse order of the forward ops, and for each an output
    `grad:NAME` with `aicf.grad = "NAME"`; removes the mark. Each op says its
    derivative itself (DifferentiableOpInterface). A value that is used n times
    has n cotangents, added in the order of its uses from the last; a cotangent
    that is zero is not computed, nor one that no parameter needs. What a state
    derived from a param gets counts for the param.

    What backward reads of forward is the result of an `aicf.save` behind the op
    that makes it; the results of an op with `aicf.recompute` are computed again
    instead, and a view is made again of what is saved of its operand. `aicf.stop_gradient` is carried nothing through, and removed. The
    cotangent of the loss is 1, or the argument that `aicf.loss_scale` on the
    entry names.

    Refuses two losses, one that is not a 0-d float, an integer parameter, a
    parameter that the loss does not reach (at the op that cuts it off, if there
    is one), an op without a derivative between a parameter and the loss, and a
    parameter with an update of its own beside `aicf.optimizer`.

    ```mlir
    func.func @step(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                    %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
                    %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"})
        -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
      %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
      %loss = aicf.mse_loss %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
      return %loss : tensor<f32>
    // becomes
    func.func @step(%x: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"},
                    %t: tensor<4x2xf32> {aicf.name = "t", aicf.role = "input"},
                    %W: tensor<2x8xf32> {aicf.name = "W", aicf.role = "param"})
        -> (tensor<f32> {aicf.name = "loss"},
            tensor<2x8xf32> {aicf.grad = "W", aicf.name = "grad:W"}) {
      %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
      %kept = aicf.save %y : tensor<4x2xf32>
      %loss = aicf.mse_loss %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
      %dy = aicf.mse_grad %kept, %t : tensor<4x2xf32>, tensor<4x2xf32>
      %dx, %dW, %db = aicf.linear_bwd %dy, %x, %W
          : tensor<4x2xf32>, tensor<4x8xf32>, tensor<2x8xf32>
      return %loss, %dW : tensor<f32>, tensor<2x8xf32>
    ```
  }];
  let dependentDialects = ["::aicf::step::AICFDialect"];
}

def AppendOptimizer : Pass<"aicf-append-optimizer", "ModuleOp"> {
  let summary = "updates of parameters from their gradients";
  let description = [{
    For each entry with `aicf.optimizer`: the results marked `aicf.grad` become
    updates of their parameters, by the ops that the optimizer names. Adds its
    states (`W.exp_avg`, `W.exp_avg_sq`, `W.momentum_buffer`: as PyTorch calls
    them), the counter `step` where it or its schedule counts, and the hyper that
    `lr` names if the entry has none. Entries that train a common parameter have
    one optimizer, and one counter; so have those whose `aicf.step_count` is the
    same. The first optimizer of a module counts in `step`, another one in
    `<entry>/step`, or as its `aicf.step_count` says. A `lr` is shared as written. `aicf.weight_decay` on a parameter stands
    for the optimizer's, `aicf.lr_scale` multiplies its learning rate. An optimizer
    of groups (`#aicf.adam_groups`) reads all numbers of a parameter from a hyper,
    which `aicf.group` on the parameter names, or else `lr`. With
    `aicf.loss_scale` gradients are unscaled, a step with one that is not finite
    is skipped, and the scale follows. States derived from a parameter are cast
    from its new value.

    With `clip_norm` gradients whose global norm is above it are scaled down to it
    (PyTorch's clip_grad_norm_), behind the loss scale. With `accumulate = K` the
    entry @F takes the mean gradient of K batches, of which the first K-1 go
    through a second entry, @F.accumulate: all of @F but its update, with sums of
    gradients in states `W.grad_acc`. Updates that are the user's own (counters of
    batches, dropout) are made by both. What `keep=grad` keeps is the sum.

    Refuses an optimizer without gradients, names that are taken by something
    else, a loss scale that is not a state, and two optimizers with a moment of the
    same parameter.

    ```mlir
    func.func @step(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                    %dW: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"})
        attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
      return %dW : tensor<4xf32>
    // becomes
    func.func @step(%W: tensor<4xf32> {aicf.name = "W", aicf.role = "param"},
                    %dW: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
                    %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"})
        -> (tensor<4xf32> {aicf.updates = "W"}) {
      %W2, %m = aicf.sgd_step %W, %dW, %lr
          : tensor<4xf32>, tensor<4xf32>, tensor<f32>
      return %W2 : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::aicf::step::AICFDialect"];
}

def MixedPrecision : Pass<"aicf-mixed-precision", "ModuleOp"> {
  let summary = "forward and backward in 16 bits, masters and moments in f32";
  let description = [{
    Every op of every entry whose precision is Narrow runs on `dtype`. A param
    that one reads gets a state NAME.DTYPE with `aicf.derived_from`, updated by
    the cast of the param's new value: no step casts a param. Losses take the
    prediction in 16 bits and the target in f32; optimizers take 16-bit gradients
    and f32 params and moments; outputs keep their type.

    With f16 a step with `aicf.minimize` gets a dynamic loss scale: a state
    `loss_scale`, from which --aicf-autodiff and --aicf-append-optimizer build the
    rest, so that a bad step skips update and step count together. Refuses f16 with
    `aicf.minimize` and no `aicf.optimizer`, and an optimizer without `inv_scale`
    in a step whose backward pass is written by hand: that has its loss scale
    written by hand, too.

    ```mlir
    %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
    // becomes, with %W16 a state derived from W
    %x16 = aicf.cast %x to bf16 : tensor<4x8xf32>
    %y16 = aicf.linear %x16, %W16 : tensor<4x8xbf16>, tensor<2x8xbf16>
    %y = aicf.cast %y16 to f32 : tensor<4x2xbf16>
    ```
  }];
  let options = [
    Option<"dtype", "dtype", "aicf::MixedDType",
           "MixedDType::BF16", "16-bit type; none: do nothing",
           "aicf::precisionValues()">,
    Option<"initialScale", "initial-scale", "double", "65536",
           "first loss scale of f16">
  ];
}

def SplitStep : Pass<"aicf-split-step", "ModuleOp"> {
  let summary = "split a step into a gradients-only and an update-only entry";
  let description = [{
    Replaces every entry @F that trains by @F.grads (everything but the
    optimizers, step counters and what reads their results) and @F.update. What
    the second needs of the first, the gradients above all, becomes states
    (`grad:NAME` for the gradient of the param NAME): one entry updates them,
    the other reads them, and nothing is copied. Running @F.grads and then
    @F.update gives the bits of @F. Entries without an optimizer stay.

    ```mlir
    %dW = aicf.relu %x : tensor<4xf32>
    %W2, %m = aicf.sgd_step %W, %dW, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
    return %W2 : tensor<4xf32>
    // becomes
    func.func @step.grads(%arg0: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
                          %arg1: tensor<4xf32> {aicf.name = "grad:W", aicf.role = "state"})
        -> (tensor<4xf32> {aicf.updates = "grad:W"}) {
      %dW = aicf.relu %arg0 : tensor<4xf32>
      return %dW : tensor<4xf32>
    }
    func.func @step.update(%arg0: tensor<4xf32> {aicf.name = "W", aicf.role = "param"},
                           %arg1: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"},
                           %arg2: tensor<4xf32> {aicf.name = "grad:W", aicf.role = "state"})
        -> (tensor<4xf32> {aicf.updates = "W"}) {
      %W2, %m = aicf.sgd_step %arg0, %arg2, %arg1 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
      return %W2 : tensor<4xf32>
    ```
  }];
}

def HoistConstants : Pass<"aicf-hoist-constants", "ModuleOp"> {
  let summary = "constants become arguments of an entry";
  let description = [{
    Each `constant` and `iota` of an entry becomes an argument of role constant,
    whose elements are its `aicf.data`. Equal ones become one, also of several
    entries: the name is made of type and elements. A number that repeats is held
    once and broadcast; so is the row of an iota. Refuses more than 64 MB in all.

    ```mlir
    func.func @f(%x: tensor<2xf32> {aicf.name = "x", aicf.role = "input"})
        -> (tensor<2xf32> {aicf.name = "y"}) {
      %c = aicf.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %y = aicf.add %x, %c : tensor<2xf32>, tensor<2xf32>
      return %y : tensor<2xf32>
    // becomes
    func.func @f(%x: tensor<2xf32> {aicf.name = "x", aicf.role = "input"},
                 %c: tensor<2xf32> {aicf.data = dense<[1.0, 2.0]> : tensor<2xf32>,
                                    aicf.name = "constant:2xf32:HASH",
                                    aicf.role = "constant"})
        -> (tensor<2xf32> {aicf.name = "y"}) {
      %y = aicf.add %x, %c : tensor<2xf32>, tensor<2xf32>
      return %y : tensor<2xf32>
    ```
  }];
}

def ExpandMaps : Pass<"aicf-expand-maps", "ModuleOp"> {
  let summary = "say the bodies of maps with ops of the dialect";
  let description = [{
    Each scalar op of an `aicf.map` becomes the op on whole tensors that computes
    it; several that are one function of the dialect, as sigmoid is, become that.
    Derivatives, mixed precision and kernels are theirs. Refuses a scalar op for
    which the dialect has none.

    ```mlir
    %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
    ^bb0(%x: f32):
      %s = math.sin %x : f32
      %p = arith.mulf %s, %x : f32
      aicf.yield %p : f32
    }
    // becomes
    %s = aicf.sin %a : tensor<8xf32>
    %z = aicf.mul %s, %a : tensor<8xf32>, tensor<8xf32>
    ```
  }];
}

def ExpandHistory : Pass<"aicf-expand-history", "ModuleOp"> {
  let summary = "keep an output of the last K steps";
  let description = [{
    An output NAME with `aicf.history = K` keeps its values of the last K runs:
    a state NAME.history of K rows, written by `record` at row (number of runs
    mod K), counted by a state ENTRY.history_step. Refuses a history on a result
    that is not an output.

    ```mlir
    func.func @step(%loss: tensor<f32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<f32> {aicf.name = "loss", aicf.history = 8}) {
      return %loss : tensor<f32>
    // becomes
    func.func @step(%loss: tensor<f32> {aicf.name = "x", aicf.role = "input"},
                    %n: tensor<i64> {aicf.name = "step.history_step", aicf.role = "state"},
                    %h: tensor<8xf32> {aicf.name = "loss.history", aicf.role = "state"})
        -> (tensor<f32> {aicf.name = "loss"},
            tensor<8xf32> {aicf.updates = "loss.history"},
            tensor<i64> {aicf.updates = "step.history_step"}) {
      %h2 = aicf.record %h, %loss, %n : tensor<8xf32>, tensor<f32>, tensor<i64>
      %n2 = aicf.step_inc %n : tensor<i64>
      return %loss, %h2, %n2 : tensor<f32>, tensor<8xf32>, tensor<i64>
    ```
  }];
}

def NumberValues : Pass<"aicf-number-values", "::mlir::func::FuncOp"> {
  let summary = "label the values of entries in trace order";
  let description = [{
    Numbers values as a trace meets them: for each op its operands, then its
    results; unused arguments last. Writes `aicf.vids` on ops, `aicf.vid` on
    arguments, `aicf.values` and `aicf.nodes` on the function; replaces older
    labels.

    ```mlir
    %y = aicf.relu %x : tensor<4xf32>
    // becomes; x is v000
    %y = aicf.relu %x {aicf.vids = array<i64: 1>} : tensor<4xf32>
    ```
  }];
}

def ReturnGradients : Pass<"aicf-return-gradients", "ModuleOp"> {
  let summary = "gradients and their norm as outputs, by name";
  let description = [{
    For each entry with `aicf.outputs`, behind `--aicf-append-optimizer`:
    `grad:W` is the gradient that the optimizer of the parameter W reads (before
    clipping; scaled with `aicf.loss_scale`; with `accumulate` the sum), and
    `grad_norm` the norm of all mean gradients together, unscaled and before
    clipping: what PyTorch's clip_grad_norm_ returns. Where gradients are clipped
    it is there already. Entries that only add up gradients return neither.

    Refuses names that are neither, a name that a result has, and an entry that
    trains nothing.

    ```mlir
    func.func @step(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                    %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                    %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
        -> (tensor<4xf32> {aicf.updates = "W"})
        attributes {aicf.outputs = ["grad_norm"]} {
      %W2, %m = aicf.sgd_step %W, %g, %lr
          : tensor<4xf32>, tensor<4xf32>, tensor<f32>
      return %W2 : tensor<4xf32>
    // becomes, with a result called so
      %norm = aicf.global_norm %g : tensor<4xf32>
      return %W2, %norm : tensor<4xf32>, tensor<f32>
    ```
  }];
  let dependentDialects = ["::aicf::step::AICFDialect",
                           "::mlir::func::FuncDialect"];
}

def KeepValues : Pass<"aicf-keep-values", "::mlir::func::FuncOp"> {
  let summary = "turn gradients or all values into outputs";
  let description = [{
    For checking. `mode=grad` adds an output `grad:NAME` for the gradient operand
    of each optimizer whose parameter is the argument NAME; `mode=all` adds an
    output `vNNN` for every used op result. Needs labels; refuses a name that is
    taken. Values are only returned, never recomputed.

    ```mlir
    %p2, %m2 = aicf.sgd_step %p, %g, %lr {aicf.vids = array<i64: 4, 5>}
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>
    return %p2 : tensor<4xf32>
    // becomes; the new result has aicf.name = "grad:W"
    return %p2, %g : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let options = [
    Option<"mode", "mode", "aicf::Keep", "aicf::Keep::Grad",
           "which values; none: do nothing", "aicf::keepValues()">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def LowerToRT : Pass<"aicf-lower-to-rt", "ModuleOp"> {
  let summary = "lower aicf ops to backend primitives";
  let description = [{
    Removes dead `aicf` ops, then rewrites each op of every entry to the
    primitives that its record or its lowering names; an unused result of
    `linear_bwd` gets no call. Carries `aicf.vids` over. Diagnoses the use of a
    result whose optional operand is absent, as `sgd_step`'s second without m.
    `copy` and `save` stay as `copy` and `copy_saved`.

    ```mlir
    %y = aicf.linear %x, %W, %b : tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>
    // becomes
    %xW = aicf_rt.call gemm(%x, %W) {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.call bias_add(%xW, %b) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

def EliminateSaves : Pass<"aicf-rt-eliminate-saves", "::mlir::func::FuncOp"> {
  let summary = "read what was saved where it lies";
  let description = [{
    Replaces the result of every `copy_saved` by its operand. Always right: the
    in-place pass runs later, and overwrites nothing that is still read. Leaves
    `copy` alone.

    ```mlir
    %s = aicf_rt.call copy_saved(%h) : (tensor<4xf32>) -> tensor<4xf32>
    %dx = aicf_rt.call relu_bwd(%dy, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %dx = aicf_rt.call relu_bwd(%dy, %h) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def MaterializeViews
    : Pass<"aicf-rt-materialize-views", "::mlir::func::FuncOp"> {
  let summary = "copy views that no kernel takes";
  let description = [{
    A view launches nothing: it is read where its base lies. Which operands its
    kernels take so, each family's record says (`strided` in KernelFamily.td).
    Where the target has none that takes a view, or none for the address where it
    begins, a `copy` makes it dense; calls that read the same view share it. A
    remark says which call asked for it. Equal views become one, and so do copies of
    them. With `every`, each view is copied that is not copied anyway: slower, with
    the same values.

    ```mlir
    %t = aicf_rt.view %x[0] : tensor<4x8xf32> to tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>
    %y = aicf_rt.call relu(%t) : (tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>) -> tensor<8x4xf32>
    // becomes
    %t = aicf_rt.view %x[0] : tensor<4x8xf32> to tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>
    %d = aicf_rt.call copy(%t) : (tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>) -> tensor<8x4xf32>
    %y = aicf_rt.call relu(%d) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "aicf::DeviceKind",
           "aicf::DeviceKind::CPU", "device of the plan",
           "aicf::targetValues()">,
    Option<"every", "every", "bool", "false", "copy all views">
  ];
}

def PadTensors : Pass<"aicf-rt-pad-tensors", "ModuleOp"> {
  let summary = "pad 16-bit matrices that a library multiplies";
  let description = [{
    cuBLASLt is several times as fast where M, N and K are multiples of 8. Where
    it runs a product of 16-bit matrices that are not, temps and derived states
    get the encoding `#aicf_rt.padded`, as many as have a kernel for every call
    that makes or reads them; the others, and tensors that calls connect
    with no product that gains by it, stay dense, as inputs, outputs, params and states do. A state
    that entries share is padded in all or in none. Shapes do not change, nor do
    values that are finite: pads are zeros, which products may sum up.

    ```mlir
    %w = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
    %y = aicf_rt.call gemm(%w, %w) {transB = true}
        : (tensor<1000x777xbf16>, tensor<1000x777xbf16>) -> tensor<1000x1000xf32>
    // becomes
    %w = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16, #aicf_rt.padded>
    %y = aicf_rt.call gemm(%w, %w) {transB = true}
        : (tensor<1000x777xbf16, #aicf_rt.padded>, tensor<1000x777xbf16, #aicf_rt.padded>) -> tensor<1000x1000xf32>
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
  let options = [
    Option<"target", "target", "aicf::DeviceKind",
           "aicf::DeviceKind::CPU", "device of the plan",
           "aicf::targetValues()">
  ];
}

def FuseCalls : Pass<"aicf-rt-fuse-calls", "::mlir::func::FuncOp"> {
  let summary = "neighbours in one call";
  let description = [{
    Merges the bodies of calls that match a pattern of a kernel family
    (BodyPattern, in kernels/<family>/Family.td): a product with its bias and
    relu, the two gradients of a layer, a loss with its gradient, ... Only where
    the target has a kernel, and it is one of our own or the library's that
    does with all of it at no cost. A value between two fused calls must have no
    other reader and not be returned, unless the pattern keeps it. Calls that
    name a kernel stay. A remark
    says what was fused, or why neighbours stay apart. Refuses nothing but an
    unknown target.

    ```mlir
    %xW = aicf_rt.call gemm(%x, %W) {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.call bias_add(%xW, %b) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %h = aicf_rt.call relu(%y) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // becomes
    %h = aicf_rt.call {
      t0 = gemm(%x, %W) {transB = true}
      t1 = bias_add(t0, %b)
      t2 = relu(t1)
      yield t2
    } : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "aicf::DeviceKind",
           "aicf::DeviceKind::CPU", "device of the plan",
           "aicf::targetValues()">
  ];
}

def BatchCalls : Pass<"aicf-rt-batch-calls", "::mlir::func::FuncOp"> {
  let summary = "the same call for many tensors as one call";
  let description = [{
    Where the target has a kernel: calls that match a batch pattern of a kernel
    family (the optimizers' updates) with the same fields, scalars and types
    become one call at the place of the last, each with the 16-bit cast of its
    new param. A call begins another batch if something reads a result of the
    batch before it, or if it uses what the batch updates. One call has at most
    `max-groups` params: fewer let an update start before the last gradient is
    there. Refuses an unknown target and a limit outside 1 to 256.

    ```mlir
    %p2 = aicf_rt.call sgd_step(%p, %g, %lr)
        : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %q2 = aicf_rt.call sgd_step(%q, %g, %lr)
        : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // becomes
    %p2, %q2 = aicf_rt.call {
      t0 = sgd_step(%p, %g, %lr)
      t1 = sgd_step(%q, %g, %lr)
      yield t0, t1
    } : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let options = [
    Option<"target", "target", "aicf::DeviceKind",
           "aicf::DeviceKind::CPU", "device of the plan",
           "aicf::targetValues()">,
    Option<"maxGroups", "max-groups", "int64_t",
           "int64_t(aicf::kMaxUpdateGroups)", "params a call">
  ];
}

def MaterializeUpdates : Pass<"aicf-rt-materialize-updates", "::mlir::func::FuncOp"> {
  let summary = "make the parallel assignment of updates explicit with copies";
  let description = [{
    Always right, never fast: afterwards every updated argument is written by
    one protective `copy` at the end of the entry, and every output is the only
    return of a value computed for it. An argument that updates another one, or
    is an output, goes through a copy made before any update; a value that is
    returned twice gets a copy for each further return. An argument returned
    into itself stays.

    ```mlir
    func.func @swap(%a: tensor<4xf32> {aicf.role = "state", aicf.name = "a"},
                    %b: tensor<4xf32> {aicf.role = "state", aicf.name = "b"})
        -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
      return %b, %a : tensor<4xf32>, tensor<4xf32>
    // becomes
    %old_b = aicf_rt.call copy(%b) protective
        : (tensor<4xf32>) -> tensor<4xf32>
    %old_a = aicf_rt.call copy(%a) protective
        : (tensor<4xf32>) -> tensor<4xf32>
    %new_a = aicf_rt.call copy(%old_b) protective
        : (tensor<4xf32>) -> tensor<4xf32>
    %new_b = aicf_rt.call copy(%old_a) protective
        : (tensor<4xf32>) -> tensor<4xf32>
    return %new_a, %new_b : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

def AnnotateInplace : Pass<"aicf-rt-annotate-inplace", "::mlir::func::FuncOp"> {
  let summary = "drop protective copies and share storage where it is safe";
  let description = [{
    Only faster, never needed: leaving it out gives the same bits. Drops a
    protective copy when its source can be written straight into the argument,
    and writes `inplace` where a result may take over an operand's storage: when
    every other access to that storage happens before the op. An update that
    keeps its copy is reported by a remark naming the op that still reads the
    old value, or by an error with `require-inplace`.

    ```mlir
    %xW = aicf_rt.call gemm(%x, %W) {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.call bias_add(%xW, %b) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %h = aicf_rt.call relu(%y) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // becomes
    %xW = aicf_rt.call gemm(%x, %W) {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.call bias_add(%xW, %b) inplace [0]
        : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %h = aicf_rt.call relu(%y) inplace [0] : (tensor<4x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let options = [
    Option<"requireInplace", "require-inplace", "bool", "false",
           "an update that needs a copy is an error">,
    Option<"numStreams", "streams", "int64_t", "1",
           "streams to come: with more than one, a call of forward and backward "
           "leaves alone what a side call reads">
  ];
}

def SelectKernels : Pass<"aicf-rt-select-kernels", "::mlir::func::FuncOp"> {
  let summary = "pin a kernel id (KID) to every call";
  let description = [{
    Writes `launch`: the kernel of the first automatic row of the kernel table
    that takes the call's body, dtypes, shapes and target (`aicf.math = "tf32"`
    on the function admits tf32 products) and the bytes of `workspace` that it
    makes use of; and `aicf_rt.target` on the function. A kernel that is already
    there stays if its row takes the call. Diagnoses calls without a kernel.

    ```mlir
    %y = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %y = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "aicf::DeviceKind",
           "aicf::DeviceKind::CPU", "device of the plan",
           "aicf::targetValues()">,
    Option<"profile", "profile", "std::string", "\"\"",
           "file of measured microseconds to choose by (aicf-run --profile)">
  ];
}

def AssignStreams : Pass<"aicf-rt-assign-streams", "::mlir::func::FuncOp"> {
  let summary = "assign every call to a stream";
  let description = [{
    With `streams=1` every call runs on stream 0: program order is the only
    order. With more, calls that nothing of forward and backward waits for (step
    counters, optimizers, and the weight and bias gradients that only they read)
    go to the other streams. Signals and waits keep every dependence of the
    program order: operands, and storage that a later call overwrites, so that
    an optimizer never runs before the backward pass has read its weights. The
    last call joins all streams on stream 0. Replaces an older assignment;
    refuses a number of streams outside the loader's limit.

    ```mlir
    %dx = aicf_rt.call gemm(%d, %W) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
    %dW = aicf_rt.call gemm(%d, %x) {transA = true}
        : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
    %e = aicf_rt.call relu(%dx) : (tensor<64x48xf32>) -> tensor<64x48xf32>
    %p_out = aicf_rt.call sgd_step(%W, %dW, %lr)
        : (tensor<32x48xf32>, tensor<32x48xf32>, tensor<f32>) -> tensor<32x48xf32>
    return %e, %p_out : tensor<64x48xf32>, tensor<32x48xf32>
    // becomes
    %dx = aicf_rt.call gemm(%d, %W) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
    %dW = aicf_rt.call gemm(%d, %x) {transA = true} launch<stream = 1, signals = [1]>
        : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
    %e = aicf_rt.call relu(%dx) : (tensor<64x48xf32>) -> tensor<64x48xf32>
    %p_out = aicf_rt.call sgd_step(%W, %dW, %lr) launch<waits = [1]>
        : (tensor<32x48xf32>, tensor<32x48xf32>, tensor<f32>) -> tensor<32x48xf32>
    return %e, %p_out : tensor<64x48xf32>, tensor<32x48xf32>
    ```
  }];
  let options = [
    Option<"numStreams", "streams", "int64_t", "1", "how many streams to use">
  ];
}

def EmitPlan : Pass<"aicf-rt-emit-plan", "ModuleOp"> {
  let summary = "replace the entries by one aicf_rt.plan";
  let description = [{
    Turns the storages that the passes before decided on into buffers, with role
    and name, and their calls into calls on buffers; a result in place is the
    same buffer among operands and `outs`. Params, states and hypers are symbols
    that all entries share. Calls of one stream that use scratch memory share one
    workspace. Offsets are open. Removes the entries; a module without them is
    left alone. Diagnoses calls without a kernel, and what the phases before
    would not leave.

    ```mlir
    func.func @predict(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64})
        -> (tensor<4xf32> {aicf.name = "y"})
        attributes {aicf.nodes = 1 : i64, aicf.values = 2 : i64, aicf_rt.target = "cpu"} {
      %y = aicf_rt.call relu(%x) vids [1] launch<kernel = "relu_f32_v0">
          : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes
    aicf_rt.plan cpu persistent(-1) {
      aicf_rt.entry @predict io(-1) temp(-1) bound(-1) values(2) nodes(1) {
        %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(-1)
        %x = aicf_rt.value %x_buffer[0] vid(0) : <4xf32>
        %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(-1)
        %y = aicf_rt.value %y_buffer[0] vid(1) : <4xf32>
        aicf_rt.call relu(%x) outs(%y) in_vids [0] vids [1] launch<kernel = "relu_f32_v0">
            : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

def PlanMemory : Pass<"aicf-rt-plan-memory", "::aicf::rt::PlanOp"> {
  let summary = "give every buffer a byte offset in its segment";
  let description = [{
    Lays out the persistent segment of a plan, the io segment of each entry
    (inputs, then outputs) and packs the temp segment by lifetimes
    (lib/Schedule/MemoryPlanner.h). Writes offsets, segment sizes and the
    max-live lower bound. Diagnoses streams that are malformed. A remark has
    bytes, bound and gap.

    ```mlir
    aicf_rt.plan cpu persistent(-1) {
      aicf_rt.entry @f io(-1) temp(-1) bound(-1) values(3) nodes(2) {
        %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(-1)
        %x = aicf_rt.value %x_buffer[0] vid(0) : <4xf32>
        %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(-1)
        %y = aicf_rt.value %y_buffer[0] vid(2) : <4xf32>
        %temp_buffer = aicf_rt.alloc temp bytes(16) offset(-1)
        %temp = aicf_rt.value %temp_buffer[0] vid(1) : <4xf32>
        aicf_rt.call relu(%x) outs(%temp) launch<kernel = "relu_f32_v0">
            : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
        aicf_rt.call relu(%temp) outs(%y) launch<kernel = "relu_f32_v0">
            : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
      }
    }
    // becomes
    aicf_rt.plan cpu persistent(0) {
      aicf_rt.entry @f io(512) temp(256) bound(256) values(3) nodes(2) {
        %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
        %x = aicf_rt.value %x_buffer[0] vid(0) : <4xf32>
        %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
        %y = aicf_rt.value %y_buffer[0] vid(2) : <4xf32>
        %temp_buffer = aicf_rt.alloc temp bytes(16) offset(0)
        %temp = aicf_rt.value %temp_buffer[0] vid(1) : <4xf32>
        aicf_rt.call relu(%x) outs(%temp) launch<kernel = "relu_f32_v0">
            : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
        aicf_rt.call relu(%temp) outs(%y) launch<kernel = "relu_f32_v0">
            : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
      }
    }
    ```
  }];
}

def VerifyRT : Pass<"aicf-rt-verify", "::mlir::func::FuncOp"> {
  let summary = "check what holds of entries after a phase of --lower-to-backend";
  let description = [{
    Changes nothing. `phase` is one of
    - `lowered`: entries hold calls only;
    - `updates`: also, every update and output has its own storage;
    - `inplace`: also, values that share a storage do not overlap in time;
    - `kernels`: also, every call has a KID whose row takes it;
    - `streams`: also, streams are joined and waits have signals.

    ```mlir
    // refused after `inplace`: relu overwrites what add still reads
    %y = aicf_rt.call relu(%h) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
    // read here
    %z = aicf_rt.call add(%h, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"lowered\"", "see above">
  ];
}

def VerifyPlan : Pass<"aicf-rt-verify-plan", "ModuleOp"> {
  let summary = "check what holds of a plan beyond its own verifier";
  let description = [{
    Changes nothing. No entry is left in the module. With `memory`, every buffer
    lies in its segment, and no two buffers that are live at the same time share
    bytes.

    ```mlir
    // refused: the buffer would end behind its segment
    aicf_rt.plan cpu persistent(16) {
      aicf_rt.global @W param offset(256) vid(1) : !aicf_rt.value<4xf32>
    }
    ```
  }];
  let options = [
    Option<"memory", "memory", "bool", "true", "memory is planned">
  ];
}

def DumpLowered : Pass<"aicf-dump-lowered", "ModuleOp"> {
  let summary = "print the calls of each entry";
  let description = [{
    Prints to standard output, one block an entry, the primitives of all calls
    but protective copies: fused or not, the same list. Works on `aicf` (lowers a
    copy), on calls and on the plan; changes nothing. Attributes at their
    default are left out.

    ```
    values: 10, nodes: 4, ops: 6
    gemm(v000, v001) -> v003 {transB = true}
    bias_add(v003, v002) -> v003
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

//===----------------------------------------------------------------------===//
// Bridges to and from MLIR's own dialects; no part of --lower-to-backend
//===----------------------------------------------------------------------===//

def ConvertAICFToLinalg : Pass<"convert-aicf-to-linalg", "ModuleOp"> {
  let summary = "aicf ops as linalg, arith and math on tensors";
  let description = [{
    Every `aicf` op, in entries and other functions, becomes what its record says
    it computes: products `linalg.matmul`, the rest `linalg.generic`, reductions
    one after the other along their loops. 16-bit numbers are computed in f32 and
    rounded at results; losses, means and global norms are summed in f64. Names, roles and
    updates stay as attributes of arguments and results, which say what a caller
    does with them; `strip-marks` removes them, for tools that do not know the
    dialect. Functions that still have a mark of a pass before it are refused
    (`aicf.minimize`, `aicf.optimizer`, `aicf.history`).

    ```mlir
    %y = aicf.relu %x : tensor<4x8xf32>
    // becomes
    %e = tensor.empty() : tensor<4x8xf32>
    %y = linalg.generic {indexing_maps = [#id, #id],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %zero = arith.constant 0.0 : f32
      %isNegative = arith.cmpf olt, %in, %zero : f32
      %r = arith.select %isNegative, %zero, %in : f32
      linalg.yield %r : f32
    } -> tensor<4x8xf32>
    ```
  }];
  let options = [Option<"stripMarks", "strip-marks", "bool", "false",
                        "Remove aicf attributes of functions">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
    "mlir::math::MathDialect", "mlir::scf::SCFDialect",
    "mlir::tensor::TensorDialect"];
}

def ConvertLinalgToAICF : Pass<"convert-linalg-to-aicf", "ModuleOp"> {
  let summary = "linalg ops on static tensors as aicf ops, where aicf has words";
  let description = [{
    For steps that come from another frontend. Named ops count as the generic ops
    that they stand for:
    - products of two matrices, or of rows and a matrix, in any order of their
      dimensions: `aicf.linear` for x·Wᵀ, also by way of `linalg.transpose`, and
      with what is added to it in each row for its bias; else `aicf.matmul`;
    - element by element: what is a record's definition, or a usual way to write
      it (relu, gelu, sigmoid, silu and their gradients), is that op; sums,
      differences, products, quotients, casts and constants are `aicf` ops one by
      one, a/b as a·(1/b). Operands that lack loops are expanded;
    - sums over any loops of such bodies; `linalg.softmax` along the last
      dimension.

    A 16-bit body rounds after each op on both sides. What has no word stays, with
    a remark that says for what; where it is part of an entry,
    `--aicf-verify-entries` refuses it.

    ```mlir
    %wt = linalg.transpose ins(%W : tensor<3x8xf32>) outs(%e0 : tensor<8x3xf32>)
        permutation = [1, 0]
    %y = linalg.matmul ins(%x, %wt : tensor<4x8xf32>, tensor<8x3xf32>)
        outs(%zeros : tensor<4x3xf32>) -> tensor<4x3xf32>
    // becomes
    %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<3x8xf32>
    ```
  }];
  let dependentDialects = [
    "aicf::step::AICFDialect", "mlir::arith::ArithDialect",
    "mlir::linalg::LinalgDialect", "mlir::math::MathDialect",
    "mlir::tensor::TensorDialect"];
}

#endif // AICF_PASSES_TD
