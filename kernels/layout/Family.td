//===- Family.td - parts of tensors ---------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// These primitives move elements to other places, and their results have bytes of their
// own. What only sees elements at other places is a view (lib/Dialect/AICF/ViewOps.td).
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LAYOUT_FAMILY_TD
#define AICF_KERNELS_LAYOUT_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def PadPrimitive : Primitive<"pad", 67, "PADZ"> {
  let summary = "y = x with zeros before, between and after it along dimension `axis`";
  let text = [{
    Along `axis`, index begin + i·step of y holds index i of x. All other elements are
    zero. This is the gradient of a slice.
  }];
  let operandList = [In<"x", AnyElement>];
  let resultList = [Checked<"y", AnyElement>];
  let fields = [I64Field<"axis", AnyNumber>, I64Field<"begin", NonNegative31, "0">,
                I64Field<"step", Positive31, "1">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of x.",
                     "x and y have the same element type.",
                     "y has x's shape except in dimension `axis`. There, begin + "
                     "(x's size - 1)·step is less than y's size."];
}

def ConcatPrimitive : Primitive<"concat", 68, "CCAT"> {
  let summary = "y = the parts, one after the other, along dimension `axis`";
  let operandList = [Each<"part", AnyElement>];
  let resultList = [Checked<"y", AnyElement>];
  let fields = [I64Field<"axis", AnyNumber>];
  let phase = ForwardPhase;
  let precision = Narrow;
  let variadicName = "parts";
  let constraints = ["`axis` is a dimension of the parts.",
                     "the parts and y have the same element type.",
                     "the parts have the same shape except in dimension `axis`. y has "
                     "it too, and its size in `axis` is the sum of the parts' sizes."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

def AICF_PadOp : AICF_OpOf<PadPrimitive> {
  let stepAttrs = (ins I64Attr:$size);
  let stepConstraints = ["`size`, a number in [1, 2^31), is y's size in dimension "
                         "`axis`."];
  let gradient = [{
    auto x = ::llvm::cast<::mlir::ShapedType>(getX().getType());
    int64_t axis = getAxis(), steps = x.getDimSize(axis) - 1;
    ::llvm::SmallVector<int64_t> begin(x.getRank(), 0), step(x.getRank(), 1);
    ::llvm::SmallVector<int64_t> end(x.getShape());
    begin[axis] = getBegin();
    step[axis] = getStep();
    end[axis] = getBegin() + steps * getStep() + 1;
    g.add(getX(), SliceOp::create(b, loc, g.cotangent(getY()),
                                  b.getDenseI64ArrayAttr(begin),
                                  b.getDenseI64ArrayAttr(end),
                                  b.getDenseI64ArrayAttr(step)));
  }];
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

def AICF_ConcatOp : AICF_OpOf<ConcatPrimitive> {
  let gradient = [{
    auto y = ::llvm::cast<::mlir::ShapedType>(getY().getType());
    ::llvm::SmallVector<int64_t> begin(y.getRank(), 0);
    for (::mlir::Value part : getParts()) {
      auto type = ::llvm::cast<::mlir::ShapedType>(part.getType());
      ::llvm::SmallVector<int64_t> end(type.getShape());
      end[getAxis()] += begin[getAxis()];
      if (g.isNeeded(part)) {
        g.add(part, SliceOp::create(b, loc, g.cotangent(getY()),
                                    b.getDenseI64ArrayAttr(begin),
                                    b.getDenseI64ArrayAttr(end),
                                    ::mlir::DenseI64ArrayAttr()));
      }
      begin[getAxis()] = end[getAxis()];
    }
  }];
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class LayoutKernels<Device on> : KernelFamily<"layout", on> {
  let variants = EveryType.each;
}
class PadKernels<Device on> : LayoutKernels<on> {
  let kinds = [PadPrimitive];
  let kernel = "pad";
  let strided = [Strided<PadPrimitive, "x", AnyStrides>];
}
class ConcatKernels<Device on> : LayoutKernels<on> {
  let kinds = [ConcatPrimitive];
  let kernel = "concat";
  let strided = [Strided<ConcatPrimitive, "part", AnyStrides>];
}
def PadCpu : PadKernels<CPU>;
def PadCuda : PadKernels<CUDA>;
def ConcatCpu : ConcatKernels<CPU>;
def ConcatCuda : ConcatKernels<CUDA>;

#endif // AICF_KERNELS_LAYOUT_FAMILY_TD
