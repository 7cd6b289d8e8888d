//===- ReduceOps.td - reductions over any axes, and products --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each op lowers to one primitive on a view of its operands. The primitives and their
// kernels are in kernels/norm and kernels/gemm.
//===----------------------------------------------------------------------===//
#ifndef AICF_REDUCE_OPS_TD
#define AICF_REDUCE_OPS_TD

include "aicf/Dialect/AICF/AICFBase.td"

/// Statements of a gradient: dy with x's shape, where y has lost axes.
class WithKeptAxes<string dy> {
  string text = [{
    ::mlir::Value kept = ReshapeOp::create(b, loc, }] # dy # [{,
        b.getDenseI64ArrayAttr(keptShapeOf(getX(), getAxes())));
    ::mlir::Value whole = BroadcastOp::create(b, loc, kept,
                                              shapeAttrOf(b, getX()));
  }];
}

class AICF_Reduction<string mnemonic>
    : AICF_Composite<mnemonic, ForwardPhase, Narrow> {
  string constraints = [{
    - C1: `axes` are different dimensions of x, in order.
  }];
  let arguments = (ins AICF_Float:$x, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs AICF_Float:$y);
  let assemblyFormat = "$x `over` $axes attr-dict `:` type($x)";
}

def AICF_ReduceSumOp : AICF_Reduction<"reduce_sum"> {
  let summary = "y = x summed over `axes`";
  let description = [{
    With `keepdim`, each of the axes stays as a dimension of size 1. Without axes, y is x.
  }] # constraints;
  let gradient = WithKeptAxes<"g.cotangent(getY())">.text # [{
    g.add(getX(), whole);
  }];
}

def AICF_ReduceMeanOp : AICF_Reduction<"reduce_mean"> {
  let summary = "y = the mean of x over `axes`";
  let description = [{
    With `keepdim`, each of the axes stays as a dimension of size 1. 16-bit values are
    summed and divided in f32 or wider.
  }] # constraints;
  let gradient = [{
    auto x = ::llvm::cast<::mlir::ShapedType>(getX().getType());
    int64_t count = 1;
    for (int64_t axis : getAxes()) {
      count *= x.getDimSize(axis);
    }
    ::mlir::Value dy = ScaleOp::create(b, loc, g.cotangent(getY()),
                                       ::llvm::APFloat(1.0 / double(count)));
  }] # WithKeptAxes<"dy">.text # [{
    g.add(getX(), whole);
  }];
}

class AICF_Extremum<string mnemonic, string what>
    : AICF_Reduction<mnemonic> {
  let summary = "y = the " # what # " of x over `axes`, and where it is";
  let description = [{
    `index` is the place of the result among the elements that are compared, counted
    in row-major order of the axes. If several elements are equal, the first one is
    taken. A NaN comes before every number, as in PyTorch. The gradient goes only to
    the element that was taken. With `keepdim`, each of the axes stays as a dimension
    of size 1.
  }] # constraints;
  let results = (outs AICF_Float:$y, AICF_I32:$index);
  let gradient = [{
    g.add(getX(), ExtremumBwdOp::create(b, loc, g.cotangent(getY()),
                                        g.saved(getIndex()), getAxesAttr(),
                                        shapeAttrOf(b, getX())));
  }];
}
def AICF_ReduceMaxOp : AICF_Extremum<"reduce_max", "largest">;
def AICF_ReduceMinOp : AICF_Extremum<"reduce_min", "smallest">;

def AICF_ExtremumBwdOp
    : AICF_Composite<"extremum_bwd", BackwardPhase, Narrow> {
  let summary = "gradient of reduce_max and reduce_min";
  let description = [{
    dx is dy at the element that `index` names, and zero at all others.
    - C1: `axes` are different dimensions of dx, in order; `shape` is dx's: up to 8
      numbers in [1, 2^31).
    - C2: dy and index have dx's shape without the axes, or with them as 1.
  }];
  let arguments = (ins AICF_Float:$dy, AICF_I32:$index,
                       DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$shape);
  let results = (outs AICF_Float:$dx);
  let assemblyFormat = [{
    $dy `,` $index `over` $axes `to` $shape attr-dict
    `:` type($dy) `,` type($index)
  }];
}

/// With C = op(a)·op(b), the gradient of op(a) is dC·op(b)ᵀ, and the gradient of
/// op(b) is op(a)ᵀ·dC. For a transposed operand it is the transpose of that. Each of
/// them is a product again. Where one matrix was multiplied with many, its gradient
/// is the sum of these products. If the many lie in one matrix, row below row, the
/// sum is part of one larger product.
def AICF_MatmulOp : AICF_Composite<"matmul", ForwardPhase, Narrow,
                                   [AICF_ProductTrait]> {
  let summary = "c = op(a) · op(b), matrix by matrix";
  let description = [{
    The last two dimensions are matrices: op(a) is [..., M, K], op(b) is [..., K, N]
    and c is [..., M, N]. `transA` and `transB` say that op transposes the matrices of
    a or b. The dimensions in front of the matrices are broadcast by NumPy's rule.
    - C1: a and b have rank 2 or more.
    - C2: a and b have the same element type.
    - C3: op(a) has as many columns as op(b) has rows (K).
    - C4: the batch dimensions, which stand in front of the matrices, are the same,
      counted from the last one, or one of them is 1 or absent.
  }];
  let arguments = (ins AICF_Float:$a, AICF_Float:$b,
                       DefaultValuedAttr<BoolAttr, "false">:$transA,
                       DefaultValuedAttr<BoolAttr, "false">:$transB);
  let results = (outs AICF_Float:$c);
  let gradient = "return matmulGradients(*this, g);";
}

#endif // AICF_REDUCE_OPS_TD
