//===- Family.td - softmax, the largest of a row --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_SOFTMAX_FAMILY_TD
#define AICF_KERNELS_SOFTMAX_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"
include "kernels/math/Family.td"
include "kernels/pointwise/Family.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// x without the largest element of its row.
defvar lessTheLargest = (SubPrimitive $x, (EachRow (RowMax $x)));

def SoftmaxPrimitive : Primitive<"softmax", 55> {
  let summary = "y = exp(x) / Σ exp(x) over the last dimension";
  let text = [{
    The largest element of each row is subtracted from x first, so that nothing
    overflows. A row whose largest element is infinite becomes NaN.
  }];
  let operandList = [In<"x">];
  let resultList = [Like<"y", "x">];
  let ties = [Tie<"y", "x">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["x has rank 1 or more."];
  defvar power = (ExpPrimitive lessTheLargest);
  let rows = [(MulPrimitive power, (EachRow (ReciprocalPrimitive (RowSum power))))];
}

def SoftmaxBwdPrimitive : Primitive<"softmax_bwd", 56> {
  let summary = "dx = y · (dy - Σ dy·y) over the last dimension, where y = softmax(x)";
  let operandList = [In<"dy">, Same<"y", "dy">];
  let resultList = [Like<"dx", "dy">];
  let ties = [Tie<"dx", "dy">, Tie<"dx", "y">];
  let phase = BackwardPhase;
  let precision = Narrow;
  let constraints = ["dy has rank 1 or more."];
  let rows = [(MulPrimitive $y,
                  (SubPrimitive $dy, (EachRow (RowSum (MulPrimitive $dy, $y)))))];
}

def LogSoftmaxPrimitive : Primitive<"log_softmax", 146> {
  let summary = "y = x - ln Σ exp(x) over the last dimension";
  let text = [{
    The largest element of each row is subtracted from x first, so that nothing
    overflows. A row whose largest element is infinite becomes NaN.
  }];
  let operandList = [In<"x">];
  let resultList = [Like<"y", "x">];
  let ties = [Tie<"y", "x">];
  let phase = ForwardPhase;
  let precision = Wide;
  let constraints = ["x has rank 1 or more."];
  let rows = [(SubPrimitive lessTheLargest,
                  (EachRow (LogPrimitive (RowSum (ExpPrimitive lessTheLargest)))))];
}

def LogSoftmaxBwdPrimitive : Primitive<"log_softmax_bwd", 147> {
  let summary = "dx = dy - exp(y) · Σ dy over the last dimension, where "
                "y = log_softmax(x)";
  let operandList = [In<"dy">, Same<"y", "dy">];
  let resultList = [Like<"dx", "dy">];
  let ties = [Tie<"dx", "dy">, Tie<"dx", "y">];
  let phase = BackwardPhase;
  let precision = Wide;
  let constraints = ["dy has rank 1 or more."];
  let rows = [(SubPrimitive $dy,
                  (MulPrimitive (ExpPrimitive $y), (EachRow (RowSum $dy))))];
}

def ArgmaxPrimitive : Primitive<"argmax", 58> {
  let summary = "index = the position of the largest element in each row";
  let text = [{
    Rows lie along the last dimension. Of equal elements, the first is taken. NaN counts
    as the largest value, as in NumPy and PyTorch.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"index", I32Element>];
  let phase = ForwardPhase;
  let precision = Keep<"x">;
  let constraints = ["x has rank 1 or more.",
                     "index has x's shape without the last dimension."];
}

def TopKPrimitive : Primitive<"top_k", 153, "TOPK"> {
  let summary = "index = the positions of the `k` largest elements in each row, in order";
  let text = [{
    Rows lie along the last dimension. The largest element comes first, and equal
    elements keep their order. NaN counts as the largest value.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"index", I32Element>];
  let fields = [I64Field<"k", Positive31>];
  let phase = ForwardPhase;
  let precision = Keep<"x">;
  let constraints = ["x has rank 1 or more.",
                     "`k` is at most the length of a row.",
                     "index has x's shape with `k` as the last dimension."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

def AICF_SoftmaxOp : AICF_OpOf<SoftmaxPrimitive> {
  let gradient = [{
    g.add(getX(), SoftmaxBwdOp::create(b, loc, g.cotangent(getY()),
                                       g.saved(getY())));
  }];
}
// dx = y·(dy - Σ dy·y): with c for its cotangent, that of y is
// c·(dy - Σ dy·y) - dy·Σ c·y.
def AICF_SoftmaxBwdOp : AICF_OpOf<SoftmaxBwdPrimitive> {
  let gradient = [{
    ::mlir::Value c = g.cotangent(getDx()), y = g.saved(getY()), dy = g.saved(getDy());
    if (g.isNeeded(getDy())) {
      g.add(getDy(), SoftmaxBwdOp::create(b, loc, c, y));
    }
    if (g.isNeeded(getY())) {
      ::mlir::Value left = times(b, c, less(b, dy, rowSums(b, times(b, dy, y))));
      g.add(getY(), less(b, left, times(b, dy, rowSums(b, times(b, c, y)))));
    }
  }];
}

def AICF_LogSoftmaxOp : AICF_OpOf<LogSoftmaxPrimitive> {
  let gradient = [{
    g.add(getX(), LogSoftmaxBwdOp::create(b, loc, g.cotangent(getY()),
                                          g.saved(getY())));
  }];
}
// dx = dy - exp(y)·Σ dy
def AICF_LogSoftmaxBwdOp : AICF_OpOf<LogSoftmaxBwdPrimitive> {
  let gradient = [{
    ::mlir::Value c = g.cotangent(getDx());
    ::mlir::Value parts = times(b, c, ExpOp::create(b, loc, g.saved(getY())));
    if (g.isNeeded(getDy())) {
      g.add(getDy(), less(b, c, rowSums(b, parts)));
    }
    if (g.isNeeded(getY())) {
      g.add(getY(), NegOp::create(b, loc, times(b, parts,
                                                rowSums(b, g.saved(getDy())))));
    }
  }];
}

/// The result is integers, so no gradient is carried back through it.
def AICF_ArgmaxOp : AICF_OpOf<ArgmaxPrimitive> {
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

def AICF_TopKOp : AICF_OpOf<TopKPrimitive> {
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class Softmax<Device device> : KernelFamily<"softmax", device> {
  let kinds = [SoftmaxPrimitive];
  let variants = EveryFloat.each;
  let kernel = "softmax<$T>";
}
def SoftmaxCpu : Softmax<CPU>;
def SoftmaxCuda : Softmax<CUDA>;
/// For long rows that vectors do not fill, and for huge rows. Plans before version 4.3
/// use the other kernel for them.
def WideSoftmaxCuda : Softmax<CUDA> {
  let variantName = "wide";
  let pays = "isUnevenRow(*c.x())";
  let preference = 0;
  let kernel = "softmax<$T, true>";
}
class SoftmaxBwd<Device device> : KernelFamily<"softmax", device> {
  let kinds = [SoftmaxBwdPrimitive];
  let variants = EveryFloat.each;
  let kernel = "softmaxBwd<$T>";
}
def SoftmaxBwdCpu : SoftmaxBwd<CPU>;
def SoftmaxBwdCuda : SoftmaxBwd<CUDA>;
def WideSoftmaxBwdCuda : SoftmaxBwd<CUDA> {
  let variantName = "wide";
  let pays = "isUnevenRow(*c.y())";
  let preference = 0;
  let kernel = "softmaxBwd<$T, true>";
}
class LogSoftmax<Device device> : KernelFamily<"softmax", device> {
  let kinds = [LogSoftmaxPrimitive];
  let variants = EveryFloat.each;
  let kernel = "logSoftmax<$T>";
}
def LogSoftmaxCpu : LogSoftmax<CPU>;
def LogSoftmaxCuda : LogSoftmax<CUDA>;
class LogSoftmaxBwd<Device device> : KernelFamily<"softmax", device> {
  let kinds = [LogSoftmaxBwdPrimitive];
  let variants = EveryFloat.each;
  let kernel = "logSoftmaxBwd<$T>";
}
def LogSoftmaxBwdCpu : LogSoftmaxBwd<CPU>;
def LogSoftmaxBwdCuda : LogSoftmaxBwd<CUDA>;
class Argmax<Device device> : KernelFamily<"softmax", device> {
  let kinds = [ArgmaxPrimitive];
  let variants = [From<"f32", "i32">, From<"f64", "i32">, From<"f16", "i32">,
                  From<"bf16", "i32">];
  let kidTypes = KidTypesFirst;
  let kernel = "argmax<$T>";
}
def ArgmaxCpu : Argmax<CPU>;
def ArgmaxCuda : Argmax<CUDA>;
class TopK<Device device> : KernelFamily<"softmax", device> {
  let kinds = [TopKPrimitive];
  let variants = [From<"f32", "i32">, From<"f64", "i32">, From<"f16", "i32">,
                  From<"bf16", "i32">];
  let kidTypes = KidTypesFirst;
  let kernel = "topK<$T>";
}
def TopKCpu : TopK<CPU>;
def TopKCuda : TopK<CUDA>;

#endif // AICF_KERNELS_SOFTMAX_FAMILY_TD
