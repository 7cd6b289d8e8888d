//===- AICFOps.td - the ops of a training step ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// These ops lower to several primitives. Each other op is one primitive, and stands
// beside the record of its primitive, in kernels/<family>/Family.td.
//===----------------------------------------------------------------------===//
#ifndef AICF_OPS_TD
#define AICF_OPS_TD

include "aicf/Dialect/AICF/AICFAttrs.td"
include "kernels/Families.td"
include "lib/Dialect/AICF/ConstantOps.td"
include "lib/Dialect/AICF/MapOp.td"
include "lib/Dialect/AICF/RepeatOp.td"
include "lib/Dialect/AICF/ReduceOps.td"
include "lib/Dialect/AICF/ViewOps.td"

def AICF_LinearOp : AICF_Composite<"linear", ForwardPhase, Narrow,
                                   [AICF_ProductTrait]> {
  let summary = "y = x·Wᵀ + b, or x·W + b";
  let description = [{
    x is [..., K], b is [N] and y is [..., N]. The dots stand for one dimension or
    more. W is [N, K], as in PyTorch, or [K, N], as in JAX, where `transW` is false.
    - C1: x has rank 2 or more, W has rank 2.
    - C2: K of W is the last dimension of x.
    - C3: b is [N].
    - C4: x, W and b have the same element type.
  }];
  let arguments = (ins AICF_Float:$x, AICF_Float:$weight,
                       Optional<AICF_Float>:$bias,
                       DefaultValuedAttr<BoolAttr, "true">:$transW);
  let results = (outs AICF_Float:$y);
  let assemblyFormat = [{
    $x `,` $weight (`,` $bias^)? attr-dict
    `:` type($x) `,` type($weight) (`,` type($bias)^)?
  }];
  let gradient = [{
    auto bwd = LinearBwdOp::create(b, loc, g.cotangent(getY()),
                                   g.saved(getX()), g.saved(getWeight()),
                                   getTransWAttr());
    g.add(getX(), bwd.getDx());
    g.add(getWeight(), bwd.getDweight());
    if (getBias()) {
      g.add(getBias(), bwd.getDbias());
    }
  }];
}

def AICF_LinearBwdOp : AICF_Composite<"linear_bwd", BackwardPhase, Narrow,
                                      [AICF_ProductTrait]> {
  let summary = "gradients of linear";
  let description = [{
    With x and dy as matrices of rows, dx = dy·W, dW = dyᵀ·x and db = Σ_rows dy. Where
    `transW` is false, dx = dy·Wᵀ and dW = xᵀ·dy.
    - C1: x has rank 2 or more, W has rank 2.
    - C2: dy is [..., N] for x [..., K] and W [N, K], or [K, N].
    - C3: dy, x and W have the same element type.
  }];
  let arguments = (ins AICF_Float:$dy, AICF_Float:$x, AICF_Float:$weight,
                       DefaultValuedAttr<BoolAttr, "true">:$transW);
  let results = (outs AICF_Float:$dx, AICF_Float:$dweight, AICF_Float:$dbias);
  // Each result is linear in dy, and in x or W.
  let gradient = [{
    ::mlir::Value cx = g.cotangent(getDx()), cw = g.cotangent(getDweight()),
                  cb = g.cotangent(getDbias());
    ::mlir::Value dy = g.saved(getDy()), x = g.saved(getX()), w = g.saved(getWeight());
    auto bwd = [&](::mlir::Value in, ::mlir::Value weight) {
      return LinearBwdOp::create(b, loc, dy, in, weight, getTransWAttr());
    };
    if (g.isNeeded(getDy())) {
      if (cx) {
        g.add(getDy(), LinearOp::create(b, loc, cx, w, {}, getTransWAttr()));
      }
      if (cw) {
        g.add(getDy(), LinearOp::create(b, loc, x, cw, cb, getTransWAttr()));
      } else if (cb) {
        g.add(getDy(), BroadcastOp::create(
            b, loc, cb, ::llvm::cast<::mlir::ShapedType>(dy.getType()).getShape()));
      }
    }
    if (cw && g.isNeeded(getX())) {
      g.add(getX(), bwd(x, cw).getDx());
    }
    if (cx && g.isNeeded(getWeight())) {
      g.add(getWeight(), bwd(cx, w).getDweight());
    }
  }];
}

def AICF_StopGradientOp
    : AICF_Composite<"stop_gradient", ForwardPhase, Narrow> {
  let summary = "y = x, but no gradient goes back to x";
  let description = [{
    `--aicf-autodiff` does not carry a gradient back through this op, and removes it.
    An op that is left later stands for x itself and becomes no call.
  }];
  let arguments = (ins AICF_Any:$x);
  let results = (outs AICF_Any:$y);
}

def AICF_StraightThroughOp
    : AICF_Composite<"straight_through", ForwardPhase, Narrow> {
  let summary = "y = value, but its gradient goes to `way`";
  let description = [{
    `--aicf-autodiff` carries the whole gradient of y to `way` and none to `value`, and
    removes the op: no element of `way` is read. With `way` a linear function of x, this
    gives a computation of x any derivative, which is the transpose of that function. A
    straight-through estimator (Bengio, Léonard and Courville 2013) has x itself as `way`.
    An op that is left later stands for `value` and becomes no call.
    - C1: `value` and `way` have the same type.
  }];
  let arguments = (ins AICF_Float:$value, AICF_Float:$way);
  let results = (outs AICF_Float:$y);
  let gradient = "g.passOn(getY(), getWay());";
}

def AICF_GradientOp : AICF_Composite<"gradient", ForwardPhase, Narrow> {
  let summary = "dx = the derivative of y with respect to x";
  let description = [{
    y is computed from x, and dx has the type of x. The step may compute with dx, and its loss
    may depend on it. `--aicf-expand-gradients` puts the ops that compute dx in its place. Of a
    y that is a sum of the results of many rows, each row of dx is the derivative of its own.
    - C1: y is 0-d.
  }];
  let arguments = (ins AICF_Float:$y, AICF_Float:$x);
  let results = (outs AICF_Float:$dx);
}

#endif // AICF_OPS_TD
