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

def CheckCaptureSafety : Pass<"aicf-check-capture-safety", "ModuleOp"> {
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

def MixedPrecision : Pass<"aicf-mixed-precision", "ModuleOp"> {
  let summary = "forward and backward in 16 bits, masters and moments in f32";
  let description = [{
    Every op of every entry whose precision is Narrow runs on `dtype`. A param
    that one reads gets a state NAME.DTYPE with `aicf.derived_from`, updated by
    the cast of the param's new value: no step casts a param. Losses take the
    prediction in 16 bits and the target in f32; optimizers take 16-bit gradients
    and f32 params and moments; outputs keep their type.

    With f16 an entry that trains gets a dynamic loss scale: states `loss_scale`
    and `loss_scale.streak`, `all_finite` over the gradients, and its ok on every
    optimizer and step_inc (counters of batches aside), so that a bad step skips
    update and step count together. Refuses f16 with a gradient that does not come
    from a loss's gradient, and a step that has a loss scale or ok of its own.

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

def NumberValues : Pass<"aicf-number-values", "ModuleOp"> {
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

def KeepValues : Pass<"aicf-keep-values", "ModuleOp"> {
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
    %xW = aicf_rt.gemm %x, %W {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.bias_add %xW, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

def EliminateSaves : Pass<"aicf-rt-eliminate-saves", "ModuleOp"> {
  let summary = "read what was saved where it lies";
  let description = [{
    Replaces the result of every `copy_saved` by its operand. Always right: the
    in-place pass runs later, and overwrites nothing that is still read. Leaves
    `copy` alone.

    ```mlir
    %s = aicf_rt.copy_saved %h : (tensor<4xf32>) -> tensor<4xf32>
    %dx = aicf_rt.relu_bwd %dy, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %dx = aicf_rt.relu_bwd %dy, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def FuseEpilogues : Pass<"aicf-rt-fuse-epilogues", "ModuleOp"> {
  let summary = "one call for a product and what follows it";
  let description = [{
    Where the target has a kernel, and it is one of our own or the library's
    bias and relu epilogue (others measured slower than separate calls):
    gemm + bias_add (+ relu) becomes gemm_bias; gemm + relu_bwd becomes
    gemm_relu_bwd; gemm{transA} + reduce_sum of the same dy becomes gemm_reduce;
    relu_bwd + reduce_sum becomes relu_bwd_reduce; mse_loss + mse_grad becomes
    mse_loss_grad. A value between two fused calls must have no other reader and
    not be returned. Refuses nothing but an unknown target.

    ```mlir
    %xW = aicf_rt.gemm %x, %W {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.bias_add %xW, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %h = aicf_rt.relu %y : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // becomes
    %h = aicf_rt.gemm_bias %x, %W, %b {relu = true, transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "aicf::DeviceKind",
           "aicf::DeviceKind::CPU", "device of the plan",
           "aicf::targetValues()">
  ];
}

def FuseOptimizers : Pass<"aicf-rt-fuse-optimizers", "ModuleOp"> {
  let summary = "all parameter updates in one call";
  let description = [{
    Where the target has a kernel: adam_step (or sgd_step) calls with the same
    attributes, scalars and types become one adam_update (sgd_update,
    momentum_update) at the place of the last, with the 16-bit cast of a new
    param as a further result. An update whose results something reads before
    that place keeps its group unfused. At most `max-groups` params a call:
    fewer let an update start before the last gradient is there. Refuses an
    unknown target and a limit outside 1 to 256.

    ```mlir
    %p2 = aicf_rt.sgd_step %p, %g, %lr
        : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %q2 = aicf_rt.sgd_step %q, %g, %lr
        : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // becomes
    %updated:2 = aicf_rt.sgd_update[%p, %g, %q, %g], %lr {resultSegmentSizes = array<i32: 2, 0>}
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
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

def MaterializeUpdates : Pass<"aicf-rt-materialize-updates", "ModuleOp"> {
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
    %old_b = aicf_rt.copy %b {aicf_rt.protective, vids = array<i64: -1>}
        : (tensor<4xf32>) -> tensor<4xf32>
    %old_a = aicf_rt.copy %a {aicf_rt.protective, vids = array<i64: -1>}
        : (tensor<4xf32>) -> tensor<4xf32>
    %new_a = aicf_rt.copy %old_b {aicf_rt.protective, vids = array<i64: -1>}
        : (tensor<4xf32>) -> tensor<4xf32>
    %new_b = aicf_rt.copy %old_a {aicf_rt.protective, vids = array<i64: -1>}
        : (tensor<4xf32>) -> tensor<4xf32>
    return %new_a, %new_b : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

def AnnotateInplace : Pass<"aicf-rt-annotate-inplace", "ModuleOp"> {
  let summary = "drop protective copies and share storage where it is safe";
  let description = [{
    Only faster, never needed: leaving it out gives the same bits. Drops a
    protective copy when its source can be written straight into the argument,
    and writes `inplace` where a result may take over an operand's storage: when
    every other access to that storage happens before the op. An update that
    keeps its copy is reported by a remark naming the op that still reads the
    old value, or by an error with `require-inplace`.

    ```mlir
    %xW = aicf_rt.gemm %x, %W {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.bias_add %xW, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %h = aicf_rt.relu %y : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // becomes
    %xW = aicf_rt.gemm %x, %W {transB = true}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %y = aicf_rt.bias_add %xW, %b {inplace = array<i64: 0>}
        : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %h = aicf_rt.relu %y {inplace = array<i64: 0>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
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

def SelectKernels : Pass<"aicf-rt-select-kernels", "ModuleOp"> {
  let summary = "pin a kernel id (KID) to every call";
  let description = [{
    Writes `kid` from the first automatic row of the kernel table that takes the
    call's kind, dtypes, shapes and target (`aicf.math = "tf32"` on the function
    admits tf32 products), the bytes of `workspace` that the kernel makes use
    of, and `aicf_rt.target` on the function. A kid
    that is already there stays if its row takes the call. Diagnoses calls
    without a kernel.

    ```mlir
    %y = aicf_rt.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %y = aicf_rt.relu %x {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
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

def AssignStreams : Pass<"aicf-rt-assign-streams", "ModuleOp"> {
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
    %dx = aicf_rt.gemm %d, %W : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
    %dW = aicf_rt.gemm %d, %x {transA = true}
        : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
    %e = aicf_rt.relu %dx : (tensor<64x48xf32>) -> tensor<64x48xf32>
    %p_out = aicf_rt.sgd_step %W, %dW, %lr
        : (tensor<32x48xf32>, tensor<32x48xf32>, tensor<f32>) -> tensor<32x48xf32>
    return %e, %p_out : tensor<64x48xf32>, tensor<32x48xf32>
    // becomes
    %dx = aicf_rt.gemm %d, %W : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
    %dW = aicf_rt.gemm %d, %x {signals = array<i64: 1>, stream = 1 : i64, transA = true}
        : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
    %e = aicf_rt.relu %dx : (tensor<64x48xf32>) -> tensor<64x48xf32>
    %p_out = aicf_rt.sgd_step %W, %dW, %lr {waits = array<i64: 1>}
        : (tensor<32x48xf32>, tensor<32x48xf32>, tensor<f32>) -> tensor<32x48xf32>
    return %e, %p_out : tensor<64x48xf32>, tensor<32x48xf32>
    ```
  }];
  let options = [
    Option<"numStreams", "streams", "int64_t", "1", "how many streams to use">
  ];
}

def PlanMemory : Pass<"aicf-rt-plan-memory", "ModuleOp"> {
  let summary = "give every tensor a byte offset in its segment";
  let description = [{
    Lays out the persistent segment (one table a module, by name), the io
    segment of each entry (inputs, then outputs) and packs the temp segment by
    lifetimes (lib/Schedule/MemoryPlanner.h). Writes `slots` on calls,
    `aicf_rt.offset` on arguments and results, segment sizes and the max-live
    lower bound on the function. With `report`, prints bytes, bound and gap as a
    remark.

    ```mlir
    %h = aicf_rt.relu %x {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
    %y = aicf_rt.relu %h {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    func.func @f(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf_rt.offset = 0 : i64})
        -> (tensor<4xf32> {aicf.name = "y", aicf_rt.offset = 256 : i64})
        attributes {aicf_rt.io_bytes = 512 : i64, aicf_rt.persistent_bytes = 0 : i64, aicf_rt.temp_bound = 256 : i64, aicf_rt.temp_bytes = 256 : i64, aicf_rt.workspaces = array<i64>} {
      %h = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 0>}
          : (tensor<4xf32>) -> tensor<4xf32>
      %y = aicf_rt.relu %h {kid = "relu_f32_v0", slots = array<i64: -1>}
          : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"report", "report", "bool", "false", "remark with bytes and gap">
  ];
}

def EmitPlan : Pass<"aicf-rt-emit-plan", "ModuleOp"> {
  let summary = "replace the entries by one aicf_rt.plan";
  let description = [{
    Copies the decisions of the passes before into tensors and calls and removes
    the entries. Decides nothing. A module without entries is left alone.

    ```mlir
    func.func @predict(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64, aicf_rt.offset = 0 : i64})
        -> (tensor<4xf32> {aicf.name = "y", aicf_rt.offset = 256 : i64})
        attributes {aicf.nodes = 1 : i64, aicf.values = 2 : i64, aicf_rt.io_bytes = 512 : i64, aicf_rt.persistent_bytes = 0 : i64, aicf_rt.target = "cpu", aicf_rt.temp_bound = 0 : i64, aicf_rt.temp_bytes = 0 : i64, aicf_rt.workspaces = array<i64>} {
      %y = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: -1>, vids = array<i64: 1>}
          : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    // becomes
    aicf_rt.plan "cpu" persistent(0) {
      aicf_rt.entry "predict" io(512) temp(0) bound(0) values(2) nodes(1) {
        aicf_rt.tensor 0 "x" "input" "io"[0] vid(0) : tensor<4xf32>
        aicf_rt.tensor 1 "y" "output" "io"[256] vid(1) : tensor<4xf32>
        aicf_rt.call "relu" "relu_f32_v0" ins [0] outs [1] vids [0] -> [1] schema(0) attrs []
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

def VerifyRT : Pass<"aicf-rt-verify", "ModuleOp"> {
  let summary = "check what holds after a phase of --lower-to-backend";
  let description = [{
    Changes nothing. `phase` is one of
    - `lowered`: entries hold primitives only;
    - `updates`: also, every update and output has its own storage;
    - `inplace`: also, values that share a storage do not overlap in time;
    - `kernels`: also, every call has a KID whose row takes it;
    - `streams`: also, streams are joined and waits have signals;
    - `memory`: also, no two live tensors overlap in bytes;
    - `plan`: the plan is what the loader accepts (structure only).

    ```mlir
    // refused after `inplace`: relu overwrites what add still reads
    %y = aicf_rt.relu %h {inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    // read here
    %z = aicf_rt.add %h, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"lowered\"", "see above">
  ];
}

def DumpLowered : Pass<"aicf-dump-lowered", "ModuleOp"> {
  let summary = "print the calls of each entry";
  let description = [{
    Prints to standard output, one block an entry, the calls without protective
    copies; behind the fuse phase, the fused ones. Works on `aicf` (lowers a
    copy), on primitives and on the plan; changes nothing. Attributes at their
    default are left out.

    ```
    values: 10, nodes: 4, ops: 6
    gemm(v000, v001) -> v003 {transB = true}
    bias_add(v003, v002) -> v003
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

#endif // AICF_PASSES_TD
