//===- Passes.td - the passes of AICF -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The passes stand roughly in the order of --lower-to-backend; the exact order is
// in lib/Transforms/Pipelines.cpp. Each description is a contract. It says what the
// pass changes, what it leaves and what it refuses, and shows IR before and after.
//===----------------------------------------------------------------------===//
#ifndef AICF_PASSES_TD
#define AICF_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTarget : Pass<"aicf-set-target", "::mlir::func::FuncOp"> {
  let summary = "say what entries are compiled for";
  let description = [{
    This pass writes `aicf.target` on each entry that has none. All passes behind it ask the
    entry for its device, its profile of costs and its math, and have no options for them. An
    entry that says its own target keeps it: the options are for those that say nothing.

    The pass refuses a profile that the device does not have. With `only`, it also refuses an
    entry that says another device. The pipeline sets it where its own `target` is given.

    ```mlir
    func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.name = "y"}) {
    // becomes
    func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cpu>} {
    ```
  }];
  let options = [
    Option<"target", "target", "aicf::DeviceKind",
           "aicf::DeviceKind::CPU", "device that the plan is for",
           "aicf::targetValues()">,
    Option<"costs", "costs", "std::string", "\"\"",
           "profile of the device (aicf-plan costs), or its first one">,
    Option<"math", "math", "aicf::ProductMath", "aicf::ProductMath::F32",
           "how products of f32 round what they multiply", "aicf::mathValues()">,
    Option<"only", "only", "bool", "false", "refuse entries for another device">
  ];
  let dependentDialects = ["::aicf::step::AICFDialect"];
}

def VerifyEntries : Pass<"aicf-verify-entries", "ModuleOp"> {
  let summary = "check the signatures and bodies of entries";
  let description = [{
    This pass changes nothing. It checks that each entry keeps these rules:

    - The body is one block and holds only `aicf` ops.
    - Each argument has a role and a unique name. Hypers have rank 0 or 1. Only params and
      states have `aicf.init`.
    - Each result has either a unique name or `aicf.updates`: the name of a param or state of
      the same type, which no other result updates.
    - A state with `aicf.derived_from` is updated together with its source, by an `aicf.cast`
      of the new value.
    - Entries that share a persistent name agree on its type, role, initial value, source and
      data.

    The pass leaves other functions alone.

    ```mlir
    // refused: an input is not updated
    func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.updates = "x"}) {
    ```
  }];
}

def CheckCaptureSafety : Pass<"aicf-check-capture-safety", "::mlir::func::FuncOp"> {
  let summary = "refuse step counts and moments that a captured graph would freeze";
  let description = [{
    This pass changes nothing. A captured graph repeats the same launches with the same
    attributes, so the step itself must count its steps and update its moments. The pass
    refuses:

    - a `bias_corr`, a schedule or an optimizer whose step does not come from a `step_inc` that
      updates the state it counts;
    - an op before the update, such as `dropout`, whose step is neither an input nor a state
      that a `step_inc` counts;
    - a moment (m, v) that is not a state, or that the optimizer's result does not update.

    A graph can freeze nothing else, because no kernel reads a scalar on the host.

    ```mlir
    // refused: %t is a hyper, the bias correction would never advance
    %bc = aicf.bias_corr %t : tensor<i64>
    ```
  }];
}

def ExpandGradients : Pass<"aicf-expand-gradients", "func::FuncOp"> {
  let summary = "compute the gradients that a step itself reads";
  let description = [{
    An `aicf.gradient` stands for the derivative of a 0-d y with respect to a tensor x that y is
    computed from. This pass puts the ops that compute it in its place: those that
    `--aicf-autodiff` would add for a loss y and a parameter x. They are a part of the forward
    pass, so a loss that is made of them has a gradient, too, if their ops have derivatives.
    Products, sums, views and the derivatives of pointwise functions have; those of norms,
    attention, maxima along an axis and cross entropies have not.

    Gradients of the same y that stand one behind the other share one sweep. A later
    `aicf.gradient` may go through an earlier one, which gives derivatives of any order. With
    mixed precision, these gradients are not multiplied by a loss scale.

    The pass refuses:

    - a y that does not depend on x;
    - an op without a derivative between x and y;
    - an `aicf.straight_through` whose way reads an `aicf.stop_gradient`: the slope that it gives
      is a constant for whatever goes through it, so that a second derivative would lack a part.

    ```mlir
    func.func @square(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.name = "slope"}) {
      %square = aicf.mul %x, %x : tensor<4xf32>, tensor<4xf32>
      %y = aicf.mean %square : tensor<4xf32>
      %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4xf32>
      return %dx : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @square(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.name = "slope"}) {
      %square = aicf.mul %x, %x : tensor<4xf32>, tensor<4xf32>
      %y = aicf.mean %square : tensor<4xf32>
      %one = aicf.fill_like %y {value = 1.000000e+00 : f64} : tensor<f32>
      %part = aicf.scale %one {factor = 2.500000e-01 : f64} : tensor<f32>
      %dsquare = aicf.broadcast %part to [4] : tensor<f32>
      %left = aicf.mul %dsquare, %x : tensor<4xf32>, tensor<4xf32>
      %right = aicf.mul %dsquare, %x : tensor<4xf32>, tensor<4xf32>
      %dx = aicf.add %left, %right : tensor<4xf32>, tensor<4xf32>
      return %dx : tensor<4xf32>
    }
    ```
  }];
}

def Autodiff : Pass<"aicf-autodiff", "ModuleOp"> {
  let summary = "compute the gradient of a loss for every parameter";
  let description = [{
    For each entry with a result marked `aicf.minimize`, this pass adds the ops that compute
    the gradient of that loss with respect to every param that is not `aicf.frozen`. The new
    ops come in the reverse order of the forward ops. Each gradient becomes an output
    `grad:NAME` with `aicf.grad = "NAME"`. The pass removes the mark.

    Each op defines its own derivative (DifferentiableOpInterface). The cotangent of the loss
    is 1, or the argument that `aicf.loss_scale` on the entry names. A value that is used n
    times has n cotangents, and the pass adds them in the order of the uses, from the last to
    the first. It does not compute a cotangent that is zero or that no parameter needs. The
    gradient of a state that is derived from a param is added to the gradient of the param. No
    gradient goes back through `aicf.stop_gradient`, which the pass removes.

    An argument with `aicf.gradient_of = "W"` stands for the gradient of the parameter or input
    W in the entry itself, such as in an update that is written there. The pass puts the
    gradient, without the loss scale, in its place and removes the argument. Such a parameter
    has no output `grad:W` unless the entry has `aicf.optimizer`.

    The backward pass reads a forward value as the result of an `aicf.save`, which stands
    behind the op that makes the value. If that op is a view, the backward pass makes the same
    view of what is saved of its operand.

    The pass refuses:

    - two losses, or a loss that is not a 0-d float;
    - a loss without a parameter to train;
    - a parameter of integers;
    - a parameter that the loss does not reach (the error is at the op that cuts it off, if
      there is one);
    - an op without a derivative between a parameter and the loss;
    - a parameter with its own update, if the entry has `aicf.optimizer`.

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

def Rematerialize : Pass<"aicf-rematerialize", "::mlir::func::FuncOp"> {
  let summary = "compute values again for the backward pass, to keep fewer";
  let description = [{
    Each `aicf.save` keeps a forward value until the backward pass has read it, and so does a
    read without a save. This pass looks for another way to the value, so that it need not be
    kept. The backward pass begins with the first op that reads a save, or is a gradient.

    **Marked ops.** The results of an op with `aicf.recompute` are computed again from what is
    kept. If the mark names a block, a result that an op outside of the block reads, or that
    the entry returns, is kept. The pass removes all marks.

    **Other ops.** The pass looks at the kept values, the largest first. For each it takes the
    way that spares most among those that are cheap enough:

    - *The other side.* Some derivatives only compare what they read (ComparingOpInterface).
      The derivative of `relu` may read the operand or the result of `relu`. If one of them is
      kept for other readers, the derivative reads that one. This costs nothing.
    - *A mask.* Such a derivative may also read an i1 tensor, which is a byte for each element.
    - *Again.* Up to 16 ops that are not products compute the value from kept values. Where
      that needs a value that is not kept, the pass keeps that value instead if it is smaller.

    The model of the costs counts bytes. A way *spares* the bytes of the value, without those of
    what it keeps instead. It *moves* the bytes that its additional ops read and write, and
    the `call_bytes` of the target for each of them, because a call takes time of its own. Views
    move nothing.
    A way is cheap enough if it moves at most `rate` bytes for each byte that it spares. One
    unary op moves 2 bytes for each byte of its result, and a binary op 3. With the default
    rate of 0, the pass takes only ways that move nothing.

    A value that another way has as its source stays kept. Each value has ops of its own that
    compute it again, right in front of its first reader; marked ops are computed again once.

    ```mlir
    func.func @step(%x: tensor<64x64xf32> {aicf.role = "input", aicf.name = "x"},
                    %dy: tensor<64x64xf32> {aicf.role = "input", aicf.name = "dy"})
        -> (tensor<64x64xf32> {aicf.name = "y"}, tensor<64x64xf32> {aicf.name = "dx"}) {
      %h = aicf.gelu %x {aicf.recompute} : tensor<64x64xf32>
      %y = aicf.exp %h : tensor<64x64xf32>
      %kept = aicf.save %h : tensor<64x64xf32>
      %dx = aicf.mul %dy, %kept : tensor<64x64xf32>, tensor<64x64xf32>
      return %y, %dx : tensor<64x64xf32>, tensor<64x64xf32>
    // becomes
    func.func @step(%x: tensor<64x64xf32> {aicf.name = "x", aicf.role = "input"},
                    %dy: tensor<64x64xf32> {aicf.name = "dy", aicf.role = "input"})
        -> (tensor<64x64xf32> {aicf.name = "y"}, tensor<64x64xf32> {aicf.name = "dx"}) {
      %h = aicf.gelu %x : tensor<64x64xf32>
      %y = aicf.exp %h : tensor<64x64xf32>
      %again = aicf.gelu %x : tensor<64x64xf32>
      %dx = aicf.mul %dy, %again : tensor<64x64xf32>, tensor<64x64xf32>
      return %y, %dx : tensor<64x64xf32>, tensor<64x64xf32>
    ```
  }];
  let options = [
    Option<"rate", "rate", "double", /*default=*/"0.0",
           "bytes that may be moved for each byte spared">
  ];
}

def ConcatPads : Pass<"aicf-concat-pads", "::mlir::func::FuncOp"> {
  let summary = "turn sums of padded tensors into concats";
  let description = [{
    The gradient of a tensor that is read in slices is a sum: each slice gives a `pad` of its
    own gradient. This pass turns those of one dimension that do not overlap into one
    `concat`, which neither writes zeros nor adds them. Pads of the same range are added
    before they are padded. What remains zero is filled by a `pad` of the part in front of it.

    A pad stays where another op reads it, where its step is not 1, and where it is the only
    one along its dimension. A partial sum stays where another op reads it. The terms that are
    left are added in their order, and the concats come last. So the sum may round
    differently, and -0 is no longer turned into 0.

    ```mlir
    %dq = aicf.pad %a {axis = 0 : i64, size = 6 : i64} : tensor<2x4xf32>
    %dk = aicf.pad %b {axis = 0 : i64, begin = 2 : i64, size = 6 : i64} : tensor<4x4xf32>
    %dx = aicf.add %dq, %dk : tensor<6x4xf32>, tensor<6x4xf32>
    // becomes
    %dx = aicf.concat %a, %b {axis = 0 : i64} : tensor<2x4xf32>, tensor<4x4xf32>
    ```
  }];
}

def NarrowProducts : Pass<"aicf-narrow-products", "::mlir::func::FuncOp"> {
  let summary = "write products of one column or one term as elementwise ones";
  let description = [{
    A matrix product pays off because it uses each number many times. A product whose
    result has one column uses each element of x once: it is an elementwise product with the
    weights, summed over each row. One over a single term is an elementwise product of two
    repeated tensors. As such, they fuse with what is in front of them and behind them, and so
    do their gradients, which are outer products and sums of columns. If x is a concat
    that nothing else reads, each part is summed by itself, and the concat goes.

    A product stays in these cases:

    - It has more columns and more terms.
    - x and y are smaller than the target's `narrow_product_bytes`. A product takes little time
      then. A CPU has no such size, so all products stay.
    - The numbers have 16 bits. A product adds their products without rounding them first.

    The order of the additions changes, and with it the last bits. The pipeline runs this pass in
    front of autodiff. The pass refuses nothing.

    ```mlir
    %z = aicf.linear %x, %w, %b : tensor<4x8xf32>, tensor<1x8xf32>, tensor<1xf32>
    // becomes
    %r = aicf.reshape %w to [8] : tensor<1x8xf32>
    %v = aicf.broadcast %r to [4, 8] : tensor<8xf32>
    %m = aicf.mul %x, %v : tensor<4x8xf32>, tensor<4x8xf32>
    %s = aicf.reduce_sum %m over [1] {keepdim = true} : tensor<4x8xf32>
    %c = aicf.broadcast %b to [4, 1] : tensor<1xf32>
    %y = aicf.add %s, %c : tensor<4x1xf32>, tensor<4x1xf32>
    ```
  }];
}

def RaiseAttention : Pass<"aicf-raise-attention", "::mlir::func::FuncOp"> {
  let summary = "write attention as one op that was written by hand";
  let description = [{
    softmax(scale · q · kᵀ + mask) · v becomes one `aicf.attention`, which keeps no matrix of
    scores in memory. The pass starts at the product with v, and passes in this order:

    - dropout of the weights, which draws the same elements in the op;
    - the softmax;
    - masks that are constants: a bias of numbers up to 10,000 that is added, and what hides keys: a
      `masked_fill` or `where` that writes -65504 or less, or such numbers and zeros that are
      added. Every query must see a key. A triangle becomes the op's window, and other constants
      its mask;
    - a softcap, c · tanh(score / c), and factors, also as divisions by a number;
    - the product of q and kᵀ, of 2 to 4 dimensions.

    Casts on the way are passed: the op's scores and weights have 32 bits or more.

    A step of JAX brings its own gradients, and they read the weights. These become one
    `aicf.attention_bwd`: dv = weightsᵀ · dy, a `softmax_bwd` of dy · vᵀ and the weights, the same zeros
    and factor behind it, and its products with k and q. Each product may be written the other way
    round, with transposes.

    Ops stay as they are in these cases, and a remark says why:

    - Something else reads the scores or weights, or their gradients.
    - The gradients are there, and there is dropout or a softcap, heads of q share one of k, or the
      entry has a loss, whose derivative may go through these gradients.
    - A factor is infinite, or too large for f32.
    - A mask is known when the plan runs. A query that sees no key would give NaN here, or the mean
      of all values, and the op gives 0.
    - Two biases are added, or one is added in front of a factor.
    - q, k and v have different element types or batches, or heads have more than 1,024 elements.

    The last bits change. The pipeline runs this pass in front of mixed precision and autodiff.
    The pass refuses nothing.

    ```mlir
    %s = aicf.matmul %q, %k {transB = true} : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
    %p = aicf.softmax %s : tensor<2x4x8x8xf32>
    %y = aicf.matmul %p, %v : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>
    // becomes
    %0 = aicf.transpose %q [0, 2, 1, 3] : tensor<2x4x8x16xf32>
    %1 = aicf.transpose %k [0, 2, 1, 3] : tensor<2x4x8x16xf32>
    %2 = aicf.transpose %v [0, 2, 1, 3] : tensor<2x4x8x16xf32>
    %o, %lse = aicf.attention %0, %1, %2 {scale = 1.0}
        : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>
    %y = aicf.transpose %o [0, 2, 1, 3] : tensor<2x8x4x16xf32>
    ```
  }];
}

def PropagateReshapes : Pass<"aicf-propagate-reshapes", "::mlir::func::FuncOp"> {
  let summary = "move reshapes that would copy past pointwise ops";
  let description = [{
    A reshape of a transposed tensor launches nothing where strides say where its elements lie.
    Where they do not, it is lowered to a copy. This happens, for example, where a model puts
    the patches of an image together again. A pointwise op needs no such copy: it reads the
    transposed tensor where it lies, in the shape that it has before the reshape, and writes a
    dense result. The reshape of that result copies nothing. This pass moves such a reshape behind
    the op that reads it.

    The same holds for a pointwise op whose result is transposed and then reshaped: it reads its
    operands transposed instead. This needs the result to have no other reader. An op of
    repeated tensors or of other views, whose result pointwise ops alone read in another order
    or shape, is computed in their order and shape. So fusion makes one call of them.

    A reshape stays where another op reads it, too, where the result is returned, where another
    operand would have to be copied then, and where fewer bytes than the target's `tiled_row_bytes` lie together in a
    row of the transposed tensor. It also stays at an op of one operand, which has no kernel that reads
    a view. Values do not change.

    ```mlir
    %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32> // %t is transposed
    %y = aicf.mul %r, %r : tensor<4x32xf32>, tensor<4x32xf32>
    // becomes
    %z = aicf.mul %t, %t : tensor<2x2x2x16xf32>, tensor<2x2x2x16xf32>
    %y = aicf.reshape %z to [4, 32] : tensor<2x2x2x16xf32>
    ```
  }];
}

def AppendOptimizer : Pass<"aicf-append-optimizer", "ModuleOp"> {
  let summary = "update parameters from their gradients";
  let description = [{
    For each entry with `aicf.optimizer`, this pass turns the results marked `aicf.grad` into
    updates of their parameters, with the ops that the optimizer names. It also adds:

    - the states of the optimizer, under PyTorch's names (`W.exp_avg`, `W.exp_avg_sq`,
      `W.momentum_buffer`);
    - the counter `step`, if the optimizer or its schedule counts steps, and the state
      `lr_table`, if the schedule is a table;
    - the hyper that `lr` names, if the entry does not have it.

    A state that is derived from a parameter becomes the cast of the parameter's new value.

    Entries that train a common parameter share one optimizer and one counter. Entries with the
    same `aicf.step_count` do so, too. The first optimizer of a module counts in `step`, and
    another one in `<entry>/step`, unless `aicf.step_count` names the counter. The name in `lr`
    is used as it is written, so optimizers with the same `lr` share that hyper.

    `aicf.weight_decay` on a parameter replaces the weight decay of the optimizer.
    `aicf.lr_scale` multiplies the learning rate. `aicf.step_lag = 3` says that a parameter
    has had 3 updates fewer than the entry counts, as one that was frozen at first: an optimizer
    that counts takes its own count for it. An optimizer of groups (`#aicf.adam_groups`)
    reads all numbers of a parameter from one hyper. `aicf.group` on the parameter names this
    hyper; without it, `lr` does.

    With `aicf.loss_scale`, the update divides the gradients by the scale, skips a step in
    which a gradient is not finite, and adapts the scale. If the global norm of the gradients
    is larger than `clip_norm`, it scales them down to that norm, as PyTorch's clip_grad_norm_
    does. It takes the loss scale out before it clips.

    With `accumulate = K`, the entry @F takes the mean gradient of K batches. The first K-1
    batches go through a second entry, @F.accumulate. It does everything that @F does except
    the update, and sums the gradients in states `W.grad_acc`. Both entries make the updates
    that you wrote yourself, such as a counter of batches for dropout. `keep=grad` then returns
    the sum.

    The pass refuses:

    - an optimizer without gradients;
    - a name that the pass needs, if something else has it;
    - a loss scale that is not a state;
    - two optimizers with a moment of the same parameter;
    - a parameter with `aicf.group` if the optimizer has no groups, or with `aicf.weight_decay`
      or `aicf.lr_scale` if it has groups.

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
  let summary = "compute forward and backward in 16 bits, and keep params and moments in f32";
  let description = [{
    In every entry, this pass makes each op whose precision is Narrow compute in `dtype`. The
    op stays in f32 if its operands or its results are all 0-d, if it only serves new values of
    states, or if a number in it would be infinite in `dtype`. A param that a 16-bit op reads
    gets a state NAME.DTYPE with `aicf.derived_from`. The step updates this state with the cast
    of the param's new value, so no step casts a param. Losses take the prediction in 16 bits
    and the target in f32. Optimizers take 16-bit gradients, and f32 params and moments.
    Outputs keep their type.

    With f16, a step with `aicf.minimize` gets a dynamic loss scale. This pass adds the state
    `loss_scale`, from which --aicf-autodiff and --aicf-append-optimizer build the rest. A bad
    step then skips the update and the step count together. With f16, the pass refuses:

    - `aicf.minimize` without `aicf.optimizer`;
    - an optimizer without `inv_scale` in a step whose backward pass is written by hand. Write
      the loss scale of such a step by hand, too.

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
           "MixedDType::BF16", "16-bit type, or none to do nothing",
           "aicf::precisionValues()">,
    Option<"initialScale", "initial-scale", "double", "65536",
           "initial loss scale for f16">
  ];
}

def SplitStep : Pass<"aicf-split-step", "ModuleOp"> {
  let summary = "split a step into a gradients-only and an update-only entry";
  let description = [{
    This pass replaces every entry @F that trains by two entries. @F.update holds the
    optimizers, the step counters and everything that reads their results. @F.grads holds the
    rest. What @F.update needs from @F.grads, above all the gradients, becomes states
    (`grad:NAME` for the gradient of the param NAME). @F.grads updates these states and
    @F.update reads them, so nothing is copied. If you run @F.grads and then @F.update, you get
    the same bits as from @F. Entries without an optimizer stay. The pass refuses an update
    that reads the old value of a state that @F.grads updates.

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
  let summary = "turn constants into arguments of an entry";
  let description = [{
    This pass turns each `constant` and `iota` of an entry into an argument of role constant.
    `aicf.data` on the argument holds the elements. Its name is made of the type and the
    elements, so equal constants become one, also across entries. If one number repeats, the
    argument holds it once, and the entry broadcasts it. The same holds for the row of an
    `iota`. The pass refuses more than 64 MB of constants in all.

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
  let summary = "turn the bodies of maps into ops of the dialect";
  let description = [{
    This pass replaces each scalar op of an `aicf.map` by the op on whole tensors that computes
    it. If several scalar ops together are one function of the dialect, such as sigmoid, they
    become that one op. The new ops bring their derivatives, their mixed precision and their
    kernels. The pass refuses a scalar op for which the dialect has no op.

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

def OutlineRepeats : Pass<"aicf-outline-repeats", "ModuleOp"> {
  let summary = "make parts of an entry of its loops";
  let description = [{
    This pass cuts an entry at each `aicf.repeat`. What stands in front of it becomes a part of
    the entry, and its body one that runs `times` times (`aicf.part_of`, `aicf.repeat`). What
    stands behind the last one stays in the entry. A value that another part reads, and one
    that a run gives to the next, becomes a state that no checkpoint has (`aicf.scratch`):
    `@step` has the states `step.cross0`, `step.repeat0.1` and so on. Ops without operands are
    made again where they are read.

    If a param or state is nothing but an init, and the entry updates it by the result, the
    runs update it themselves. The pass refuses a repeat inside of a repeat,
    and a draw inside of one, which would be the same in each run.

    ```mlir
    func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.name = "y"}) {
      %y = aicf.repeat 9 %x : tensor<4xf32> -> tensor<4xf32> {
      ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
        %t = aicf.tanh %h : tensor<4xf32>
        aicf.next %t : tensor<4xf32>
      }
      return %y : tensor<4xf32>
    }
    // becomes
    func.func @f.part0(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
                       %s: tensor<4xf32> {aicf.name = "f.repeat0.0", aicf.role = "state",
                                          aicf.scratch})
        -> (tensor<4xf32> {aicf.updates = "f.repeat0.0"}) attributes {aicf.part_of = "f"} {
      return %x : tensor<4xf32>
    }
    func.func @f.part1(%h: tensor<4xf32> {aicf.name = "f.repeat0.0", aicf.role = "state",
                                          aicf.scratch})
        -> (tensor<4xf32> {aicf.updates = "f.repeat0.0"})
        attributes {aicf.part_of = "f", aicf.repeat = 9 : i64} {
      %t = aicf.tanh %h : tensor<4xf32>
      return %t : tensor<4xf32>
    }
    func.func @f(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
                 %s: tensor<4xf32> {aicf.name = "f.repeat0.0", aicf.role = "state", aicf.scratch})
        -> (tensor<4xf32> {aicf.name = "y"}) {
      return %s : tensor<4xf32>
    }
    ```
  }];
}

def ExpandHistory : Pass<"aicf-expand-history", "ModuleOp"> {
  let summary = "keep the values of an output for the last K steps";
  let description = [{
    An output NAME with `aicf.history = K` keeps its values of the last K runs. For it, this
    pass adds a state NAME.history with K rows. In each run, `record` writes row (number of
    runs mod K). A state ENTRY.history_step counts the runs. The pass refuses a history on a
    result that is not an output, and two entries with a history of the same name.

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
    This pass numbers values as a trace meets them: for each op first its operands and then its
    results. Unused arguments come last. The pass writes `aicf.vids` on ops and `aicf.vid` on
    arguments. On the function it writes the number of values (`aicf.values`) and of ops
    (`aicf.nodes`). It replaces older labels.

    ```mlir
    %y = aicf.relu %x : tensor<4xf32>
    // becomes; x is v000
    %y = aicf.relu %x {aicf.vids = array<i64: 1>} : tensor<4xf32>
    ```
  }];
}

def ReturnGradients : Pass<"aicf-return-gradients", "ModuleOp"> {
  let summary = "return gradients and their norm as outputs, by name";
  let description = [{
    For each entry with `aicf.outputs`, this pass adds the outputs that the attribute names. It
    runs after `--aicf-append-optimizer`. The names are:

    - `grad:W`, the gradient of the parameter W: of several batches the mean, without the loss
      scale, and not clipped.
      With `aicf.loss_scale` it is scaled, and with `accumulate` it is the sum. `grad:*` stands
      for the gradients of all parameters that no other name is of.
    - `grad_norm`, the norm of all mean gradients together, without the loss scale and before
      clipping. PyTorch's clip_grad_norm_ returns the same. A step that clips gradients has
      this norm already.

    Entries that only add up gradients return neither. The pass refuses other names, a name
    that a result already has, and an entry that trains nothing.

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
  let summary = "return gradients or all values as outputs";
  let description = [{
    This pass is for checking. With `mode=grad`, it adds an output `grad:NAME` for the gradient
    operand of each optimizer whose parameter is the argument NAME. With `mode=all`, it adds an
    output `vNNN` for every op result that is used; this needs labels. The pass only returns
    values, and never recomputes them. It refuses a name that is taken.

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
           "values to return, or none to do nothing", "aicf::keepValues()">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def LowerToRT : Pass<"aicf-lower-to-rt", "ModuleOp"> {
  let summary = "lower aicf ops to backend primitives";
  let description = [{
    This pass removes dead `aicf` ops. Then it rewrites each op of every entry to the
    primitives that its record or its lowering names. An unused result of `linear_bwd` gets no
    call. The ops `copy` and `save` become the primitives `copy` and `copy_saved`. The labels
    `aicf.vids` move to the calls. The pass refuses the use of a result whose optional operand
    is absent, such as the second result of `sgd_step` without m, and an entry that still has
    `aicf.minimize`, `aicf.optimizer` or `aicf.history`.

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
  let summary = "read saved values where they lie, without a copy";
  let description = [{
    This pass replaces the result of each `copy_saved` by its operand. This is always right,
    because the in-place pass runs later and overwrites nothing that is still read. A save of a
    view stays if the entry returns it, or if it has views itself and its operand is not dense.
    The pass leaves `copy` alone.

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
    A view launches nothing: a kernel reads it where its base lies. The record of each family
    says for which operands its kernels can do so (`strided` in KernelFamily.td). If the target
    has no kernel that takes a view, or none for the address where the view begins, this pass
    adds a `copy` that makes it dense. Calls that read the same view share the copy. So do four or
    more views that each show one index of a dimension of an argument, if they are at least half
    of its indices: the copy has that dimension in front, and each of them is a part of it. A
    remark says which call asked for it. Equal views become one, and so do copies of them. With
    `every`, the pass copies each view that is not copied anyway. This is slower and gives the
    same values.

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
    Option<"every", "every", "bool", "false", "copy all views">
  ];
}

def PlaceParts : Pass<"aicf-rt-place-parts", "::mlir::func::FuncOp"> {
  let summary = "compute the parts of a concat where they belong";
  let description = [{
    A part of a `concat` need not be copied if the call that makes it writes into the memory of
    the whole. The same holds for a `copy` that makes a view dense, if the view has each element
    of a result once, as a transpose has. The call then writes the result in another order. This
    pass first replaces such a `concat` by one `copy` for each part and an `aicf_rt.join`. This is
    always right. Then it drops each copy whose operand may lie in that place. That is so if a
    call makes the operand and has a kernel that writes there (`strided` in KernelFamily.td), if
    the entry does not return it, and if its other readers keep their kernels. The result has the
    same values. Where no copy can be dropped, the `concat` or `copy` stays. A remark says why.

    If a `concat` updates a state, and some of its parts are the state's own elements in their
    places, only the other parts are written, into the state. So one row of a state is written
    and the others stay. This needs all calls that read the old values of those parts to stand
    before the calls that make the new ones.

    With `keep-copies`, no copy is dropped. This is slower and gives the same values. The bits are
    the same too, but for cuBLASLt, which may choose another algorithm for another distance of rows.

    ```mlir
    %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %b = aicf_rt.call gemm(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %c = aicf_rt.call concat(%a, %b) {axis = 1}
        : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    // becomes
    %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
    %b = aicf_rt.call gemm(%x, %w)
        : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
    %c = aicf_rt.join %a[0], %b[8] : tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>,
        tensor<4x8xf32, #aicf_rt.strided<[16, 1]>> to tensor<4x16xf32>
    ```
  }];
  let options = [
    Option<"keepCopies", "keep-copies", "bool", "false", "drop no copy">
  ];
}

def PadTensors : Pass<"aicf-rt-pad-tensors", "ModuleOp"> {
  let summary = "pad 16-bit matrices that a library multiplies";
  let description = [{
    cuBLASLt is several times as fast if M, N and K are multiples of 8. If it runs a product of
    16-bit matrices with other sizes, this pass gives temps and derived states the encoding
    `#aicf_rt.padded`. It pads as many tensors as possible, but each call that makes or reads a
    padded tensor must have a kernel for it. A tensor stays dense if no chain of calls connects
    it with a product that gains by the pads. Inputs, outputs, params and other states always
    stay dense. A state that entries share is padded in all of them or in none.

    Shapes do not change. Finite values do not change either, because the pads are zeros. (A
    product may include pads in its sums.)

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
}

def FuseCalls : Pass<"aicf-rt-fuse-calls", "::mlir::func::FuncOp"> {
  let summary = "merge neighbouring calls into one";
  let description = [{
    This pass merges the bodies of calls that match a pattern of a kernel family (BodyPattern,
    in kernels/<family>/Family.td). Examples are a product with its bias and relu, the two
    gradients of a layer, and a loss with its gradient. The pass fuses calls only under these
    conditions:

    - The target has a kernel for all of them. The kernel is one of our own, or a library
      kernel that computes all of it at no cost.
    - Nothing else reads a value between two fused calls, and the entry does not return it,
      unless the pattern keeps it.
    - None of the calls names a kernel.

    A remark says what was fused, or why neighbours stay apart. The pass refuses
    nothing.

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
}

def FoldReshapes : Pass<"aicf-rt-fold-reshapes", "::mlir::func::FuncOp"> {
  let summary = "let elementwise calls and sums take the shape of what they read";
  let description = [{
    A view that only has another shape launches nothing. But calls of different shapes do not
    become one call. An elementwise call may have any shape of as many elements. A sum may have
    each shape in which the elements of a sum stand together. This pass gives such a call the
    shape of the elementwise call whose result it reads. The other operands become views of that
    shape, and so does the result for whoever reads it. A sum that keeps its dimension, with size
    1, loses it. Values do not change, and neither does the order in which a sum is added.

    A call stays as it is in these cases:

    - No strides show one of its other operands in that shape.
    - The elements of a sum, or of an operand that is repeated, do not stand together there.
    - Its result would get another shape, and it is returned or becomes a part of a concat.
    - It is a copy, names a kernel, or would have none.
    - A result that would get another shape is padded.

    The pass refuses nothing.

    ```mlir
    %e = aicf_rt.call exp(%x) : (tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
    %r = aicf_rt.view %e[0] : tensor<4x8x2xf32> to tensor<32x2xf32>
    %s = aicf_rt.call reduce_sum(%r) : (tensor<32x2xf32>) -> tensor<2xf32>
    // becomes
    %e = aicf_rt.call exp(%x) : (tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
    %s = aicf_rt.call reduce_sum(%e) {axis = 1} : (tensor<4x8x2xf32>) -> tensor<2xf32>
    ```
  }];
}

def FusePointwise : Pass<"aicf-rt-fuse-pointwise", "::mlir::func::FuncOp"> {
  let summary = "merge elementwise calls that read one tensor, or each other's results";
  let description = [{
    This pass merges a call of elementwise primitives with a call of such primitives that
    makes one of its operands, and goes on with the call that comes of it. So a whole graph
    becomes one launch, and a value that nothing else reads never goes to memory. A value
    that something else reads too becomes a result of the call. Then the pass merges calls that
    read the same tensor, which one launch reads once. It merges two calls only under these
    conditions:

    - The second one reads the result itself, or a view that repeats it along one dimension. What
      both read is one value and has more than one element in memory.
    - The body has at most as many primitives, operands and results as the kernel family
      takes (PointwiseGraph in kernels/graph/Family.td), and the target has a kernel for it.
    - Nothing between them reads a result of the first one, because the new call stands at the
      place of the second one. Or at most 8 calls stand between them, and the new call may stand
      at the place of the first one. Sums of the first one's results always move up to it.
    - If more than 8 calls stand between them, the operands of the first one do not take more
      memory than its results: they have to stay alive until the second one.
    - Neither of them names a kernel.

    A bias_add counts as elementwise: the kernel reads its bias as a view that repeats it. So does
    dropout, whose counter is repeated. A cast whose result stays inside says its type: it becomes
    to_f32, to_f64, to_f16 or to_bf16. A cast to integers or i1 is the last of its call.
    Sums and means (reduce_sum, reduce_mean) may be part of the call, too. Where something
    inside reads them, the call is a normalisation or the like: up to eight over one dimension
    (ReductionGraph in the same file). What is left of them is repeated by `expand`, which stands
    for a view between the calls, because a body has no views. A primitive that is defined by rows
    has such reductions, too: softmax has two of the eight. On CUDA, a kernel must have enough rows
    or columns for the whole card. On the CPU, all are over rows, of up to 8,192 elements.
    Where nothing inside reads the sums, they are up to two of one
    shape (PointwiseSums), of any length, over rows or columns. If the call has other results,
    too, this is done only where it moves more than 64 MiB, or 1 MiB on the CPU. Smaller
    tensors stay in a cache, and there a sum that runs beside the products on another stream
    is faster. So the pass begins with each sum that
    alone reads what it adds, and merges it with the call that makes that. If a call would
    compute the same twice, it computes it once.
    On CUDA, a small matrix product may be the first of a call. Its kernel has the numbers in
    registers, and the elementwise primitives go on with them there (ProductGraph in the same
    file). What the product multiplies is in memory, and nothing else of the call reads it.
    A copy of a view whose rows do not lie together stays apart, because the kernel of copies
    moves whole tiles. A remark says what was merged, or why calls stay apart. The pass refuses
    nothing.

    ```mlir
    %s = aicf_rt.call sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = aicf_rt.call mul(%x, %s)
        : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // becomes
    %y = aicf_rt.call {
      t0 = sigmoid(%x)
      t1 = mul(%x, t0)
      yield t1
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
}

def RecomputePointwise : Pass<"aicf-rt-recompute-pointwise", "::mlir::func::FuncOp"> {
  let summary = "compute a value in its readers where that moves less than reading it";
  let description = [{
    A result of an elementwise call is in memory because calls read it that cannot be one with
    its maker: a sum over rows and a sum over columns of one value, for example. This pass puts the
    primitives that make the result into all calls that read it, and drops the result. It does so
    only under these conditions:

    - The result is made by at most 8 elementwise primitives, without dropout. They may be some of
      a larger call, whose other results stay.
    - All readers take them: `--aicf-rt-fuse-pointwise` would merge each with a call of these
      primitives. None of the calls names a kernel, and none is a product.
    - Fewer bytes are read and written: the result is neither written nor read, and each reader
      reads what the result is made of, unless it reads that anyway.
    - Each reader moves more than 64 MiB, or 1 MiB on the CPU. Smaller tensors stay in a cache.
    - What the result is made of takes no more memory than the result until the last reader, and
      nothing updates it before.

    A result that the entry returns, or that is a part of a join, stays. A remark says what is
    computed again. The pass refuses nothing.

    ```mlir
    %v, %rows = aicf_rt.call {
      t0 = relu(%x)
      t1 = reduce_sum(t0) {axis = 1 : i64}
      yield t0, t1
    } : (tensor<4096x8192xf32>) -> (tensor<4096x8192xf32>, tensor<4096xf32>)
    %columns = aicf_rt.call reduce_sum(%v)
        : (tensor<4096x8192xf32>) -> tensor<8192xf32>
    // becomes
    %rows = aicf_rt.call {
      t0 = relu(%x)
      t1 = reduce_sum(t0) {axis = 1 : i64}
      yield t1
    } : (tensor<4096x8192xf32>) -> tensor<4096xf32>
    %columns = aicf_rt.call {
      t0 = relu(%x)
      t1 = reduce_sum(t0)
      yield t1
    } : (tensor<4096x8192xf32>) -> tensor<8192xf32>
    ```
  }];
}

def BatchCalls : Pass<"aicf-rt-batch-calls", "::mlir::func::FuncOp"> {
  let summary = "merge the same call for many tensors into one";
  let description = [{
    This pass merges calls that match a batch pattern of a kernel family (the updates of the
    optimizers). It does so if the target has a kernel for them and if the calls have the same
    fields, scalars and types. The new call stands at the place of the last one. It includes
    the 16-bit cast of each new param. A call begins another batch if something reads a result
    of the batch before it, or if the call uses what that batch updates. One call has at most
    `max-groups` params. With a lower limit, an update can start before the last gradient is
    there. The pass refuses a limit outside 1 to 256.

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
    Option<"maxGroups", "max-groups", "int64_t",
           "int64_t(aicf::kMaxUpdateGroups)", "largest number of params in one call">
  ];
}

def MaterializeUpdates : Pass<"aicf-rt-materialize-updates", "::mlir::func::FuncOp"> {
  let summary = "make the parallel assignment of updates explicit with copies";
  let description = [{
    This pass is always right and never fast; the next pass, --aicf-rt-annotate-inplace, drops
    copies. Afterwards, one protective `copy` at the end of the entry writes each updated
    argument. Each output is a value that was computed for it and is returned only once.

    - An argument that updates another one, or is an output, goes through a copy that is made
      before any update.
    - A value that is returned twice gets a copy for each further return.
    - An argument that is returned into itself stays.

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
    This pass only makes a step faster: without it, the results have the same bits. It drops a
    protective copy if the source can be written straight into the argument. It writes
    `inplace` if a result may take over the storage of an operand. It may do so if every other
    access to that storage happens before the op. If an update keeps its copy, a remark names
    the op that still reads the old value. With `require-inplace`, this is an error.

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
           "report an error for an update that needs a copy">,
    Option<"numStreams", "streams", "int64_t", "1",
           "number of streams that the calls will run on; with more than one, a call of "
           "forward or backward does not overwrite what a side call reads">
  ];
}

def SelectKernels : Pass<"aicf-rt-select-kernels", "::mlir::func::FuncOp"> {
  let summary = "choose a kernel id (KID) for every call";
  let description = [{
    This pass writes `launch` on each call: its kernel, and the bytes of `workspace` that the
    kernel uses. The kernel is the first automatic row of the kernel table that fits the body,
    dtypes and shapes of the call and the target. With `profile`, it is the kernel that was
    measured as the fastest for the call, if the file has one. `math = "tf32"` in the
    target allows tf32 products. A kernel that is already there stays if its row fits the
    call. The pass refuses calls without a kernel, and a profile of another device.

    ```mlir
    %y = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %y = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"profile", "profile", "std::string", "\"\"",
           "file with measured microseconds (aicf-run --profile), to choose the fastest "
           "kernel">
  ];
}

def AssignStreams : Pass<"aicf-rt-assign-streams", "::mlir::func::FuncOp"> {
  let summary = "assign every call to a stream";
  let description = [{
    With `streams=1`, every call runs on stream 0, and the program order is the only order.
    With more streams, the pass moves side calls to the other streams. A side call is one that
    forward and backward do not wait for: a step counter, an optimizer, or a weight or bias
    gradient that only those read, as it is or by way of elementwise calls. (A weight that is
    used several times has a sum of gradients.) Signals and waits keep every dependence of the program
    order, on operands and on storage that a later call overwrites. So an optimizer never runs
    before the backward pass has read its weights. The last call joins all streams on stream 0.

    A tensor that a side call reads can give its memory only to calls that wait for that side
    call. Where the temps of the schedule would take more memory than the target's `free_bytes`, and a
    sixteenth more than those of the serial order, calls of stream 0 wait for the oldest side
    call that holds a tensor.

    The pass replaces an older assignment. It refuses a number of streams outside the loader's
    limit.

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
    Option<"numStreams", "streams", "int64_t", "1", "number of streams to use">
  ];
}

def EmitPlan : Pass<"aicf-rt-emit-plan", "ModuleOp"> {
  let summary = "replace the entries by one aicf_rt.plan";
  let description = [{
    This pass turns the storages that earlier passes chose into buffers with a role and a name.
    It turns the calls into calls on these buffers. If a result is in place, the same buffer
    stands among the operands and among `outs`. Params, states, hypers and constants become
    symbols that all entries share. Calls of one stream that use scratch memory share one
    workspace. Offsets stay -1 until memory is planned. The pass removes the entries, and
    leaves a module without entries alone. It refuses calls without a kernel, and IR that the
    phases before it would not leave.

    ```mlir
    func.func @predict(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64})
        -> (tensor<4xf32> {aicf.name = "y"})
        attributes {aicf.nodes = 1 : i64, aicf.values = 2 : i64, aicf.target = #aicf.target<cpu>} {
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
    This pass lays out the persistent segment of a plan, and the io segment of each entry:
    first the inputs, then the outputs. It packs the temp segment by lifetimes
    (lib/Schedule/MemoryPlanner.h). It writes the offsets, the sizes of the segments and the
    max-live lower bound. A remark gives the bytes, the bound and the gap between them. The
    pass refuses streams that are malformed.

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
  let summary = "check entries after a phase of --lower-to-backend";
  let description = [{
    This pass changes nothing. `phase` says what it checks:

    - `lowered`: entries hold only calls and views;
    - `updates`: also, every update and output has its own storage;
    - `inplace`: also, values that share a storage do not overlap in time;
    - `kernels`: also, every call has the KID of a kernel that computes its body on the target;
    - `streams`: also, streams are joined and waits have signals.

    ```mlir
    // refused after `inplace`: relu overwrites what add still reads
    %y = aicf_rt.call relu(%h) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
    // read here
    %z = aicf_rt.call add(%h, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"lowered\"",
           "phase to check: lowered, updates, inplace, kernels or streams">
  ];
}

def VerifyPlan : Pass<"aicf-rt-verify-plan", "ModuleOp"> {
  let summary = "check a plan beyond what its own verifier checks";
  let description = [{
    This pass changes nothing. It checks that no entry is left in the module. With `memory`, it
    also checks that every buffer lies in its segment, and that no two buffers that are live at
    the same time share bytes.

    ```mlir
    // refused: the buffer would end behind its segment
    aicf_rt.plan cpu persistent(16) {
      aicf_rt.global @W param offset(256) vid(1) : !aicf_rt.value<4xf32>
    }
    ```
  }];
  let options = [
    Option<"memory", "memory", "bool", "true",
           "memory is planned: also check where buffers lie">
  ];
}

def DumpLowered : Pass<"aicf-dump-lowered", "ModuleOp"> {
  let summary = "print the calls of each entry";
  let description = [{
    This pass prints the primitives of all calls to standard output, with one block for each
    entry. The list is the same whether or not the calls are fused. It does not contain
    protective copies, or attributes that have their default. The pass accepts `aicf` (it
    lowers a copy), calls, or the plan. It changes nothing.

    ```
    values: 10, nodes: 4, ops: 6
    gemm(v000, v001) -> v003 {transB = true}
    bias_add(v003, v002) -> v003
    ```
  }];
  let dependentDialects = ["aicf::rt::AICFRTDialect"];
}

//===----------------------------------------------------------------------===//
// Bridges to and from MLIR's own dialects. --lower-to-backend does not run them.
//===----------------------------------------------------------------------===//

def ConvertAICFToLinalg : Pass<"convert-aicf-to-linalg", "ModuleOp"> {
  let summary = "convert aicf ops to linalg, arith and math on tensors";
  let description = [{
    This pass rewrites every `aicf` op, in entries and in other functions, as the computation
    that its record defines. Products become `linalg.matmul`. Almost everything else becomes
    `linalg.generic`. Reductions take one element after the other along their loops. The code
    computes 16-bit numbers in f32 and rounds the results. It sums losses, means and global
    norms in f64. `aicf.repeat` becomes `scf.for`.

    Names, roles and updates stay as attributes of arguments and results, to tell a caller what
    to do with them. `strip-marks` removes them for tools that do not know the dialect. The
    pass refuses functions that still have a mark of an earlier pass (`aicf.minimize`,
    `aicf.optimizer`, `aicf.history`).

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
                        "remove the aicf attributes of functions">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
    "mlir::math::MathDialect", "mlir::scf::SCFDialect",
    "mlir::tensor::TensorDialect"];
}

def ConvertLinalgToAICF : Pass<"convert-linalg-to-aicf", "ModuleOp"> {
  let summary = "convert linalg ops on static tensors to aicf ops, where aicf has them";
  let description = [{
    This pass serves steps that come from another frontend. It treats a named op as the generic
    op that it stands for. It converts:

    - products of two matrices, of rows and a matrix, or of batches of matrices, with their
      dimensions in any order. x·Wᵀ becomes `aicf.linear`, also if it comes through a
      `linalg.transpose`. What is added to it in each row becomes its bias. Other products
      become `aicf.matmul`;
    - ops that work element by element. The definition of a record, or a usual way to write it
      (relu, gelu, sigmoid, silu and their gradients), becomes that op. Sums, differences,
      products, quotients, casts and constants become `aicf` ops one by one. An operand that
      does not have all loops is expanded;
    - sums, maxima and minima of such bodies over any loops, and `linalg.softmax` along the
      last dimension;
    - constants, and transposes, reshapes, slices and concatenations with known numbers.

    A 16-bit body rounds after each op in both dialects. An op that `aicf` does not have stays,
    and a remark says why. If it is part of an entry, `--aicf-verify-entries` refuses it.

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
