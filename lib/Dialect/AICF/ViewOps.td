//===- ViewOps.td - the same elements as another tensor -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Their results are values as those of every other op. When they are lowered, they
// launch nothing: --aicf-lower-to-rt makes each an aicf_rt.view. Where no kernel takes
// the view, --aicf-rt-materialize-views makes it a copy.
//===----------------------------------------------------------------------===//
#ifndef AICF_VIEW_OPS_TD
#define AICF_VIEW_OPS_TD

include "aicf/Dialect/AICF/AICFBase.td"

/// The op gives x in another shape or order. Mixed precision narrows it as it narrows
/// a copy.
class AICF_View<string mnemonic>
    : AICF_Composite<mnemonic, ForwardPhase, Narrow, [AICF_ViewTrait]> {
  let results = (outs AICF_Any:$y);
  let hasFolder = 1;
}

def AICF_ReshapeOp : AICF_View<"reshape"> {
  let summary = "y = x's elements in row-major order in another shape";
  let description = [{
    - C1: `shape` is y's: up to 8 numbers in [1, 2^31), whose product is the number
      of x's elements.
  }];
  let arguments = (ins AICF_Any:$x, DenseI64ArrayAttr:$shape);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x)";
  let gradient = [{
    g.add(getX(), ReshapeOp::create(b, loc, g.cotangent(getY()),
                                    shapeAttrOf(b, getX())));
  }];
}

def AICF_TransposeOp : AICF_View<"transpose"> {
  let summary = "y = x with its dimensions in another order";
  let description = [{
    As in numpy.transpose, dimension i of y is dimension `permutation`[i] of x.
    - C1: `permutation` has each of x's dimensions once.
  }];
  let arguments = (ins AICF_Any:$x, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x)";
  let gradient = [{
    ::llvm::SmallVector<int64_t> inverse(getPermutation().size());
    for (auto [i, from] : ::llvm::enumerate(getPermutation())) {
      inverse[from] = int64_t(i);
    }
    g.add(getX(), TransposeOp::create(b, loc, g.cotangent(getY()),
                                      b.getDenseI64ArrayAttr(inverse)));
  }];
}

def AICF_SliceOp : AICF_View<"slice"> {
  let summary = "y = x[begin:end:step] in each dimension";
  let description = [{
    This is Python's slice. Index i of dimension d of y is index begin[d] + i·step[d]
    of dimension d of x, as long as that is below end[d]. Without `step`, the step is 1.
    - C1: `begin`, `end` and `step` have a number for each of x's dimensions.
    - C2: in each dimension 0 <= begin < end <= x's size, and step is in
      [1, 2^31).
  }];
  let arguments = (ins AICF_Any:$x, DenseI64ArrayAttr:$begin,
                       DenseI64ArrayAttr:$end,
                       OptionalAttr<DenseI64ArrayAttr>:$step);
  let assemblyFormat = [{
    $x `from` $begin `to` $end (`step` $step^)? attr-dict `:` type($x)
  }];
  let extraClassDeclaration = [{
    aicf::Phase getPhase() { return aicf::Phase::Forward; }
    aicf::Precision getPrecision() { return aicf::Precision::Narrow; }
    /// The steps, ones where none are given.
    ::llvm::SmallVector<int64_t> getSteps();
  }];
  // Puts zeros around the cotangent, dimension by dimension.
  let gradient = [{
    ::mlir::Value dy = g.cotangent(getY());
    auto x = ::llvm::cast<::mlir::ShapedType>(getX().getType());
    auto y = ::llvm::cast<::mlir::ShapedType>(getY().getType());
    for (int64_t d = 0; d < x.getRank(); ++d) {
      if (x.getDimSize(d) != y.getDimSize(d)) {
        dy = PadOp::create(b, loc, dy, b.getI64IntegerAttr(d),
                           b.getI64IntegerAttr(getBegin()[d]),
                           b.getI64IntegerAttr(getSteps()[d]),
                           b.getI64IntegerAttr(x.getDimSize(d)));
      }
    }
    g.add(getX(), dy);
  }];
}

def AICF_BroadcastOp : AICF_View<"broadcast"> {
  let summary = "y = x repeated to another shape, by NumPy's rule";
  let description = [{
    Dimensions are compared from the last one on. A dimension of x that has size 1, or
    that x does not have, is repeated.
    - C1: `shape` is y's: up to 8 numbers in [1, 2^31), and no fewer than x has
      dimensions.
    - C2: each of x's dimensions is 1 or y's, counted from the last.
  }];
  let arguments = (ins AICF_Any:$x, DenseI64ArrayAttr:$shape);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x)";
  let gradient = [{
    auto x = ::llvm::cast<::mlir::ShapedType>(getX().getType());
    int64_t added = int64_t(getShape().size()) - x.getRank();
    ::llvm::SmallVector<int64_t> axes;
    for (auto [i, size] : ::llvm::enumerate(getShape())) {
      if (int64_t(i) < added ||
          (size != 1 && x.getDimSize(int64_t(i) - added) == 1)) {
        axes.push_back(int64_t(i));
      }
    }
    ::mlir::Value dx = g.cotangent(getY());
    if (!axes.empty()) {
      dx = ReduceSumOp::create(b, loc, dx, b.getDenseI64ArrayAttr(axes),
                               /*keepdim=*/b.getBoolAttr(false));
    }
    g.add(getX(), ReshapeOp::create(b, loc, dx, shapeAttrOf(b, getX())));
  }];
}

#endif // AICF_VIEW_OPS_TD
