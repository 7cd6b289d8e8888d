//===- Family.td - elements and rows that integers choose ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Indices are i32 or i64. An index that is out of range has a defined result. It never
// makes a kernel read or write outside of a tensor.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOOKUP_FAMILY_TD
#define AICF_KERNELS_LOOKUP_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def PickPrimitive : Primitive<"pick", 141> {
  let summary = "y[...] = x[..., index[...]]: one element of each row";
  let text = [{
    Rows lie along the last dimension. An index outside of the row gives NaN.
  }];
  let operandList = [LookedUp<"x", "y">, Index<"index", "x", -1>];
  let resultList = [RowsOf<"y", "x">];
  let phase = ForwardPhase;
  let precision = Keep<"x">;
  let constraints = ["x has rank 1 or more.",
                     "index has x's shape without the last dimension."];
}

def PickBwdPrimitive : Primitive<"pick_bwd", 142, "PICB"> {
  let summary = "dx[..., index[...]] = dy[...], and 0 elsewhere";
  let text = [{
    If an index is outside of [0, size), its row of dx is 0.
  }];
  let operandList = [In<"dy">, In<"index", IntElement>];
  let resultList = [Checked<"dx", FloatElement>];
  let fields = [I64Field<"size", Positive31>];
  let phase = BackwardPhase;
  let precision = Keep<"dy">;
  let constraints = ["index has dy's shape.",
                     "dx has dy's shape, with `size` as one more dimension at the "
                     "end, and dy's element type."];
}

def EmbeddingPrimitive : Primitive<"embedding", 143> {
  let summary = "y[i...] = table[index[i...]]: a row for each index";
  let text = [{
    An index outside of the table gives a row of NaN.
  }];
  let operandList = [LookedUp<"table", "y">, Index<"index", "table", 0>];
  let resultList = [Checked<"y", FloatElement>];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["table has rank 2.",
                     "y has index's shape, with the table's width as one more "
                     "dimension at the end, and the table's element type."];
}

def EmbeddingBwdPrimitive : Primitive<"embedding_bwd", 144, "EMBB"> {
  let summary = "dtable[r] = the sum of the rows of dy whose index is r";
  let text = [{
    The rows are added in f32 (f64 for f64) in the order of dy's rows, so the sum has the
    same bits every time. If no index is r, the sum is 0. Row `padding` gets 0, if
    `padding` is 0 or more. A row of dy whose index is outside of [0, rows) is ignored.
  }];
  let operandList = [In<"dy">, In<"index", IntElement>];
  let resultList = [Checked<"dtable", FloatElement>];
  let fields = [I64Field<"rows", Positive31>, I64Field<"padding", AnyNumber, "-1">];
  let phase = BackwardPhase;
  let precision = Narrow;
  let constraints = ["dy has index's shape, with one more dimension at the end.",
                     "dtable has shape [`rows`, dy's last dimension] and dy's element "
                     "type."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

class AICF_Lookup<Primitive record> : AICF_OpOf<record> {
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

def AICF_PickOp : AICF_OpOf<PickPrimitive> {
  let gradient = [{
    auto x = ::llvm::cast<::mlir::ShapedType>(getX().getType());
    g.add(getX(), PickBwdOp::create(b, loc, g.cotangent(getY()),
                                    g.saved(getIndex()),
                                    uint64_t(x.getShape().back())));
  }];
}
def AICF_PickBwdOp : AICF_Lookup<PickBwdPrimitive> {
  // An element that was not put anywhere gets 0, where a lookup gives NaN.
  let gradient = [{
    ::mlir::Value index = g.saved(getIndex());
    ::mlir::Value found = PickOp::create(b, loc, g.cotangent(getDx()), index);
    g.add(getDy(), MaskedFillOp::create(b, loc, found,
                                        isOutside(b, index, getSize()),
                                        ::llvm::APFloat(0.0), false));
  }];
}

def AICF_EmbeddingOp : AICF_Lookup<EmbeddingPrimitive> {
  let stepAttrs = (ins DefaultValuedAttr<I64Attr, "-1">:$padding);
  let stepConstraints = ["`padding` is -1, or a row of the table that gets no "
                         "gradient."];
  let more = [{
    ::llvm::LogicalResult verifyStep();
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
  let gradient = [{
    auto table = ::llvm::cast<::mlir::ShapedType>(getTable().getType());
    g.add(getTable(), EmbeddingBwdOp::create(
        b, loc, g.cotangent(getY()), g.saved(getIndex()),
        uint64_t(table.getDimSize(0)), getPadding()));
  }];
}
def AICF_EmbeddingBwdOp : AICF_Lookup<EmbeddingBwdPrimitive> {
  // A row that was not added gets 0, where a lookup gives NaN.
  let gradient = [{
    auto dy = ::llvm::cast<::mlir::ShapedType>(getDy().getType());
    ::mlir::Value index = g.saved(getIndex());
    ::mlir::Value isLeft = isOutside(b, index, getRows());
    if (int64_t padding = getPadding(); padding >= 0) {
      ::mlir::Value isPadding = EqualScalarOp::create(
          b, loc, index, ::llvm::APFloat(double(padding)));
      isLeft = LogicalOrOp::create(b, loc, isLeft, isPadding);
    }
    ::llvm::SmallVector<int64_t> kept(dy.getShape());
    kept.back() = 1;
    ::mlir::Value mask = ReshapeOp::create(b, loc, isLeft, kept);
    mask = BroadcastOp::create(b, loc, mask, dy.getShape());
    ::mlir::Value rows = EmbeddingOp::create(
        b, loc, g.cotangent(getDtable()), index);
    g.add(getDy(), MaskedFillOp::create(b, loc, rows, mask,
                                        ::llvm::APFloat(0.0), false));
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

multiclass Lookup<Primitive kind, string function, list<Strided> views = []> {
  def Cpu : KernelFamily<"lookup", CPU> {
    let kinds = [kind];
    let variants = EveryFloat.each;
    let kernel = function;
    let strided = views;
  }
  def Cuda : KernelFamily<"lookup", CUDA> {
    let kinds = [kind];
    let variants = EveryFloat.each;
    let kernel = function;
    let strided = views;
  }
}
defm Pick : Lookup<PickPrimitive, "pick<$T>">;
defm PickBwd : Lookup<PickBwdPrimitive, "pickBwd<$T>">;
/// Indices may be a column of a matrix, and rows a part of a concat.
defm Embedding : Lookup<EmbeddingPrimitive, "embedding<$T>",
                        [Strided<EmbeddingPrimitive, "index", AnyStrides>,
                         Strided<EmbeddingPrimitive, "y", RowsAnywhere>]>;

/// Lookups in several tables in one call, and their gradients. Tables differ in size.
/// A launch has room for kMostTables (Family.h).
defvar MostTables = 64;
def Embeddings
    : BatchPattern<"embeddings", [Node<"lookup", EmbeddingPrimitive>], MostTables>;
def EmbeddingsBwd
    : BatchPattern<"embeddings_bwd", [Node<"grad", EmbeddingBwdPrimitive>], MostTables> {
  let ownFields = 1;
}

/// The workspace holds the positions of dy's rows, sorted by the index of each row.
class EmbeddingBwd<Device device> : KernelFamily<"lookup", device> {
  let kinds = [EmbeddingBwdPrimitive];
  let variants = EveryFloat.each;
  let kernel = "embeddingBwd<$T>";
  let strided = [Strided<EmbeddingBwdPrimitive, "dy", RowsAnywhere>];
  let workspaceCap = "kSortedRowsBytes";
}
def EmbeddingBwdCpu : EmbeddingBwd<CPU> {
  let workspace = "sortedRowsWorkspace(c)";
}
def EmbeddingBwdCuda : EmbeddingBwd<CUDA> {
  let workspace = "listedRowsWorkspace(c)";
}

/// All tables have one element type.
def EmbeddingsCuda : KernelFamily<"lookup", CUDA> {
  let patterns = [Embeddings];
  let variants = EveryFloat.each;
  let takes = "tablesFit(c)";
  let kernel = "embeddings<$T>";
  let strided = [Strided<EmbeddingPrimitive, "index", AnyStrides>,
                 Strided<EmbeddingPrimitive, "y", RowsAnywhere>];
}
def EmbeddingsBwdCuda : KernelFamily<"lookup", CUDA> {
  let patterns = [EmbeddingsBwd];
  let variants = EveryFloat.each;
  let takes = "tablesFit(c)";
  let kernel = "embeddingsBwd<$T>";
  let strided = [Strided<EmbeddingBwdPrimitive, "dy", RowsAnywhere>];
  let workspace = "listedRowsWorkspace(c)";
  let workspaceCap = "kSortedRowsBytes";
}

#endif // AICF_KERNELS_LOOKUP_FAMILY_TD
