//===- Family.td - matrix products ----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_FAMILY_TD
#define AICF_KERNELS_GEMM_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"
include "kernels/norm/Family.td"
include "kernels/pointwise/Family.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def GemmPrimitive : Primitive<"gemm", 0> {
  let flops = FlopsOfRule;
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "c[M,N] = op(a) · op(b)";
  let text = [{
    This is a matrix product. `op` transposes a if `transA` is set, and b if `transB` is
    set. op(a) is [M,K], and op(b) is [K,N]. A tensor of higher rank counts as the matrix
    of its rows along the last dimension. a may be such a tensor. b may be one only if a
    is transposed and b is not, as in the gradient of a weight. If c exists only inside a
    body, it has a's element type.
  }];
  let operandList = [In<"a">, In<"b">];
  let resultList = [Checked<"c", FloatElement, 1>];
  let fields = [BoolField<"transA">, BoolField<"transB">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = [
    "a has rank 2 or more. b has rank 2, or more if a is transposed and b is not.",
    "a and b have the same element type. c has it too, or is f32 if they are f16 or "
    "bf16.",
    "op(a) has as many columns as op(b) has rows (K).",
    "c is [op(a)'s rows, op(b)'s columns]. If a is not transposed, all dimensions of a "
    "but the last stand for its rows.",
    "a and b have fewer than 2^31 rows."];
}

def BatchedGemmPrimitive : Primitive<"batched_gemm", 69, "BGEM"> {
  let flops = FlopsOfRule;
  let summary = "c[..., M,N] = op(a) · op(b), for each matrix of a batch";
  let text = [{
    The matrices are in the last two dimensions. `op` transposes those of a if `transA`
    is set, and those of b if `transB` is set. The dimensions before them are the same in
    a, b and c: an operand that is broadcast is a view.
  }];
  let operandList = [In<"a">, In<"b">];
  let resultList = [Checked<"c", FloatElement>];
  let fields = [BoolField<"transA">, BoolField<"transB">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = [
    "a has rank 3 or more, and b has the same rank.",
    "a, b and c have the same element type.",
    "op(a) has as many columns as op(b) has rows (K), and the dimensions before the "
    "last two are the same.",
    "c is [..., op(a)'s rows, op(b)'s columns] with the same dimensions before the last "
    "two."];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// CPU: a BLAS if the build found one, else a plain loop.
//===----------------------------------------------------------------------===//

/// Products read and write rows at any distance in place.
defvar ProductOperands = [Strided<GemmPrimitive, "a", RowsApart>,
                          Strided<GemmPrimitive, "b", RowsApart>];
defvar ProductViews = ProductOperands # [Strided<GemmPrimitive, "c", RowsApart>];

/// So do those that compute further primitives, if what is left in memory is that of
/// the last one.
defvar FusedViews = ProductViews # [Strided<BiasAddPrimitive, "out", RowsApart>,
                                    Strided<ReluPrimitive, "y", RowsApart>,
                                    Strided<ReluBwdPrimitive, "dx", RowsApart>];

def GemmBlas : KernelFamily<"gemm", CPU> {
  let strided = ProductViews;
  let kinds = [GemmPrimitive];
  let variants = SingleAndDouble.each;
  let provider = Blas;
  let variantName = "blas";
  let kernel = "gemm<$T>";
}
/// Batches also read and write matrices at any distances in place: the heads of
/// attention, and operands that are broadcast.
defvar BatchViews = [Strided<BatchedGemmPrimitive, "a", MatricesApart>,
                     Strided<BatchedGemmPrimitive, "b", MatricesApart>,
                     Strided<BatchedGemmPrimitive, "c", MatricesApart>];

def BatchedGemmBlas : KernelFamily<"gemm", CPU> {
  let kinds = [BatchedGemmPrimitive];
  let strided = BatchViews;
  let variants = SingleAndDouble.each;
  let provider = Blas;
  let variantName = "blas";
  let kernel = "batchedGemm<$T>";
}
/// 16-bit operands and f32 sums: oneDNN where the machine has instructions for bf16,
/// elsewhere products of f32 of what they are.
class HalvesBlas<Primitive kind, list<Strided> views, list<Variant> types>
    : KernelFamily<"gemm", CPU> {
  let kinds = [kind];
  let strided = views;
  let variants = types;
  let provider = Blas;
  let variantName = "blas";
  let preference = 0;
}
def GemmHalvesBlas
    : HalvesBlas<GemmPrimitive, ProductViews,
                 [On<"f16">, On<"bf16">] # HalfToSingle.each> {
  let kernel = "gemmOfHalves<$T, $U>";
}
def BatchedGemmHalvesBlas
    : HalvesBlas<BatchedGemmPrimitive, BatchViews, [On<"f16">, On<"bf16">]> {
  let kernel = "batchedGemmOfHalves<$T>";
}
/// Sums in the order of k, for plans of earlier versions.
def BatchedGemmHalf : KernelFamily<"gemm", CPU> {
  let kinds = [BatchedGemmPrimitive];
  let strided = BatchViews;
  let variants = [On<"f16">, On<"bf16">];
  let kernel = "batchedGemmHalf<$T>";
}
def GemmHalf : KernelFamily<"gemm", CPU> {
  let strided = ProductViews;
  let kinds = [GemmPrimitive];
  let variants = [On<"f16">, On<"bf16">] # HalfToSingle.each;
  let kernel = "gemmHalf<$T, $U>";
}

//===----------------------------------------------------------------------===//
// CUDA: tiles for small products, cuBLASLt for the others
//===----------------------------------------------------------------------===//

/// A linear layer with its activation.
def GemmBias : BodyPattern<"gemm_bias", [
    Node<"gemm", GemmPrimitive>, Node<"bias", BiasAddPrimitive>,
    Maybe<"relu", ReluPrimitive>]> {
  let bindings = ["bias.y = gemm.c", "relu.x = bias.out"];
}
/// A linear layer with gelu. The gradient may read gelu's operand.
def GemmBiasGelu : BodyPattern<"gemm_bias_gelu", [
    Node<"gemm", GemmPrimitive>, Node<"bias", BiasAddPrimitive>,
    Node<"gelu", GeluPrimitive>]> {
  let bindings = ["bias.y = gemm.c", "gelu.x = bias.out"];
  let mayKeep = ["bias.out"];
}
/// The gradient of the input of a layer that follows a gelu.
def GemmGeluBwd : BodyPattern<"gemm_gelu_bwd", [
    Node<"gemm", GemmPrimitive>, Node<"bwd", GeluBwdPrimitive>]> {
  let bindings = ["bwd.dy = gemm.c"];
}
/// The gradient of the input of a layer that follows a relu.
def GemmReluBwd : BodyPattern<"gemm_relu_bwd", [
    Node<"gemm", GemmPrimitive>, Node<"bwd", ReluBwdPrimitive>]> {
  let bindings = ["bwd.dy = gemm.c"];
  let ties = ["bwd.dx = bwd.saved"];
}
/// The weight and bias gradients of a linear layer: dW = dyᵀ · x, db = Σ_rows dy.
def GemmReduce : BodyPattern<"gemm_reduce", [
    Node<"gemm", GemmPrimitive>, Node<"sum", ReduceSumPrimitive>]> {
  let bindings = ["sum.x = gemm.a"];
}

class Tiles<list<Variant> types> : KernelFamily<"gemm", CUDA> {
  let strided = ProductViews;
  let variants = types;
  let variantName = "tile";
  let kernel = "gemm<$T, $U, $Args>";
}
/// Small products, and all products of f64, for which the library does not use tensor
/// cores either.
class TileFusion<BodyPattern pattern, string which, list<Variant> types,
                 bit isSmall = 1> : Tiles<types> {
  let patterns = [pattern];
  let strided = FusedViews;
  let takes = which;
  let pays = !if(isSmall, "isSmallProduct(c, costs)", "");
}
defvar HalfTypes = [On<"f16">, On<"bf16">];
defvar HalfAndSingle = [On<"f32">] # HalfTypes;
def GemmTiles : Tiles<HalfAndSingle> {
  let kinds = [GemmPrimitive];
  let pays = "isSmallProduct(c, costs)";
}
def GemmTilesToSingle : Tiles<HalfToSingle.each> {
  let kinds = [GemmPrimitive];
  let pays = "isSmallProduct(c, costs)";
}
def GemmTilesOfDouble : Tiles<[On<"f64">]> { let kinds = [GemmPrimitive]; }
def BatchedGemmTiles : Tiles<HalfAndSingle> {
  let kinds = [BatchedGemmPrimitive];
  let strided = BatchViews;
  let takes = "batchesFit(c)";
  let pays = "isSmallProduct(c, costs)";
}
def BatchedGemmTilesOfDouble : Tiles<[On<"f64">]> {
  let kinds = [BatchedGemmPrimitive];
  let strided = BatchViews;
  let takes = "batchesFit(c)";
}
foreach small = [0, 1] in {
  defvar types = !if(small, HalfAndSingle, [On<"f64">]);
  def : TileFusion<GemmBias, "isRowBias(c)", types, small>;
  def : TileFusion<GemmReluBwd, "", types, small>;
  def : TileFusion<GemmReduce, "sumsOverK(c)", types, small>;
}

class Library<list<Variant> types> : KernelFamily<"gemm", CUDA> {
  let strided = ProductViews;
  let variants = types;
  let provider = CublasLt;
  let variantName = "lt";
  let workspace = "libraryWorkspace(c)";
  let workspaceCap = "kLibraryWorkspaceBytes";
  let preference = 3;
}
class LibraryTF32 : Library<[On<"f32">]> {
  let math = TF32Math;
  let alignment = 16;
  let selection = AutoTF32;
  let preference = 2;
}
def GemmTF32 : LibraryTF32 { let kinds = [GemmPrimitive]; }
def GemmLt : Library<HalfAndSingle # HalfToSingle.each> {
  let kinds = [GemmPrimitive];
  let takes = "coversPads(c)";
  let fullSpeed = "suitsTensorCores(c)";
  let takesPads = 1;
}
def BatchedGemmTF32 : LibraryTF32 {
  let kinds = [BatchedGemmPrimitive];
  let strided = BatchViews;
}
def BatchedGemmLt : Library<HalfAndSingle> {
  let kinds = [BatchedGemmPrimitive];
  let strided = BatchViews;
}
def GemmBiasTF32 : LibraryTF32 {
  let patterns = [GemmBias];
  let strided = FusedViews;
  let takes = "isRowBias(c)";
  let fusesForFree = 1;
}
def GemmBiasLt : Library<HalfAndSingle> {
  let patterns = [GemmBias];
  let strided = FusedViews;
  let takes = "isRowBias(c) && coversPads(c)";
  let takesPads = 1;
  let fusesForFree = 1;
}
/// The library has only the gelu with tanh.
class GeluLt<BodyPattern pattern, string which> : Library<HalfTypes> {
  let patterns = [pattern];
  let strided = ProductOperands # [Strided<GeluPrimitive, "y", RowsApart>,
                                   Strided<GeluBwdPrimitive, "dx", RowsApart>];
  let takes = which;
  let fusesForFree = 1;
}
def GemmBiasGeluLt : GeluLt<GemmBiasGelu, "isRowBias(c) && hasLibraryGelu(c)">;
def GemmGeluBwdLt : GeluLt<GemmGeluBwd, "hasLibraryGelu(c)"> {
  let pays = "isGeluBwdSmall(c, costs)";
}
/// These take longer than a gemm and a separate reduction (benchmarks/results), so a
/// call must name them.
def GemmReduceTF32 : LibraryTF32 {
  let patterns = [GemmReduce];
  let takes = "sumsOverK(c)";
  let selection = Pinned;
  let strided = FusedViews;
}
def GemmReduceLt : Library<HalfAndSingle> {
  let patterns = [GemmReduce];
  let strided = FusedViews;
  let takes = "sumsOverK(c)";
  let selection = Pinned;
}

#endif // AICF_KERNELS_GEMM_FAMILY_TD
