//===- Family.td - matrix products ----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_FAMILY_TD
#define AICF_KERNELS_GEMM_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "kernels/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// What all products share: a, b, then more operands; transA and transB, then
/// more fields; C1 to C4, then more constraints.
class AICFRT_Product<string mnemonic, int number, string schema,
                     list<Operand> moreOperands, list<Result> moreResults,
                     list<Field> moreFields, list<string> moreConstraints>
    : AICFRT_Primitive<mnemonic, number, schema> {
  let operandList = [In<"a">, In<"b">] # moreOperands;
  let resultList = [Checked<"c", FloatElement>] # moreResults;
  let fields = [BoolField<"transA">, BoolField<"transB">] # moreFields;
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Linear;
  let constraints = [
    "a, b and c have rank 2.",
    "a, b and c have the same element type, or a and b are f16 or bf16 and c is "
    "f32.",
    "op(a)'s columns are op(b)'s rows (K).",
    "c is [op(a)'s rows, op(b)'s columns]."] # moreConstraints;
}

def AICFRT_GemmOp : AICFRT_Product<"gemm", 0, "", [], [], [], []> {
  let summary = "c[M,N] = op(a) · op(b)";
  let text = [{
    Matrix product of rank-2 tensors of one float type; `op` transposes where
    `transA` or `transB` is set. op(a) is [M,K], op(b) is [K,N].
  }];
}

def AICFRT_GemmBiasOp : AICFRT_Product<"gemm_bias", 19, "GMBI",
    [In<"bias">], [], [BoolField<"relu">],
    ["bias is [N] of c's element type."]> {
  let summary = "c[M,N] = op(a) · op(b) + bias[N], then max(c, 0) with `relu`";
  let text = [{
    gemm, bias_add{axis = -1} and, with `relu`, relu in one call; bias is added
    before the sum is rounded to c's type.
  }];
}

def AICFRT_GemmReluBwdOp : AICFRT_Product<"gemm_relu_bwd", 20, "GMRB",
    [In<"saved">], [], [], ["saved has c's type."]> {
  let summary = "c[M,N] = saved > 0 ? op(a) · op(b) : 0";
  let text = "\n    gemm and relu_bwd in one call.\n";
  let ties = [Tie<"c", "saved">];
}

def AICFRT_GemmReduceOp : AICFRT_Product<"gemm_reduce", 21, "GMRS",
    [], [Checked<"sums", FloatElement>], [],
    ["sums is [M] of c's element type."]> {
  let summary = "c[M,N] = op(a) · op(b); sums[M] = Σ_k op(a)[m,k]";
  let text = [{
    The weight and bias gradients of a linear layer in one call: dW = dyᵀ · x
    and db = Σ_rows dy.
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// CPU: a BLAS where the build found one, else a plain loop; 16-bit operands are
// references, not fast
//===----------------------------------------------------------------------===//

def GemmBlas : KernelFamily<"gemm", "CPU"> {
  let kinds = [AICFRT_GemmOp];
  let variants = SingleAndDouble.each;
  let provider = "Blas";
  let variantName = "blas";
  let kernel = "gemm<$T>";
}
def GemmHalf : KernelFamily<"gemm", "CPU"> {
  let kinds = [AICFRT_GemmOp];
  let variants = [On<"f16">, On<"bf16">] # HalfToSingle.each;
  let kernel = "gemmHalf<$T, $U>";
}

//===----------------------------------------------------------------------===//
// CUDA: tiles for small products, cuBLASLt for the others
//===----------------------------------------------------------------------===//

class Tiles<list<AICFRT_Primitive> products, list<Variant> types>
    : KernelFamily<"gemm", "CUDA"> {
  let kinds = products;
  let variants = types;
  let variantName = "tile";
  let condition = "isSmallProduct(c)";
  let kernel = "gemm<$T, $U, $Args>";
}
def TilesOfEachType : Tiles<[AICFRT_GemmOp, AICFRT_GemmBiasOp,
                             AICFRT_GemmReluBwdOp, AICFRT_GemmReduceOp],
                            [On<"f32">, On<"f16">, On<"bf16">]>;
def TilesToSingle : Tiles<[AICFRT_GemmOp], HalfToSingle.each>;
/// The library's f64 has no tensor cores here either.
def TilesOfDouble : Tiles<[AICFRT_GemmOp, AICFRT_GemmBiasOp,
                           AICFRT_GemmReluBwdOp, AICFRT_GemmReduceOp],
                          [On<"f64">]> {
  let condition = "";
}

class Library<AICFRT_Primitive product, list<Variant> types>
    : KernelFamily<"gemm", "CUDA"> {
  let kinds = [product];
  let variants = types;
  let provider = "CublasLt";
  let variantName = "lt";
  let workspace = "libraryWorkspace(c)";
  let workspaceCap = "h200::kLibraryWorkspaceBytes";
  let preference = 3;
}
class LibraryTF32<AICFRT_Primitive product> : Library<product, [On<"f32">]> {
  let math = "TF32";
  let alignment = 16;
  let selection = "AutoTF32";
  let preference = 2;
}
defvar HalfAndSingle = [On<"f32">, On<"f16">, On<"bf16">];
def GemmTF32 : LibraryTF32<AICFRT_GemmOp>;
def GemmLt : Library<AICFRT_GemmOp, HalfAndSingle # HalfToSingle.each>;
def GemmBiasTF32 : LibraryTF32<AICFRT_GemmBiasOp> { let fusesForFree = 1; }
def GemmBiasLt : Library<AICFRT_GemmBiasOp, HalfAndSingle> {
  let fusesForFree = 1;
}
/// They take longer than gemm and a reduction apart (benchmarks/results): only
/// by name.
def GemmReduceTF32 : LibraryTF32<AICFRT_GemmReduceOp> {
  let selection = "Pinned";
}
def GemmReduceLt : Library<AICFRT_GemmReduceOp, HalfAndSingle> {
  let selection = "Pinned";
}

#endif // AICF_KERNELS_GEMM_FAMILY_TD
