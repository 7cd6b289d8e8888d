//===- Family.td - kernels of matrix products ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "kernels/KernelFamily.td"

//===----------------------------------------------------------------------===//
// CPU: a BLAS where the build found one, else a plain loop; 16-bit operands are
// references, not fast
//===----------------------------------------------------------------------===//

def GemmBlas : KernelFamily<"gemm", "CPU"> {
  let kinds = [AICFRT_GemmOp];
  let variants = SingleAndDouble.each;
  let provider = "Blas";
  let variantName = "blas";
  let determinism = "SameLibrary";
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
  let condition = "isSmallProduct";
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

/// The heuristic weighs split-K only when offered the 32 MiB that NVIDIA
/// recommends for Hopper, even where 8 MiB would do.
class Library<AICFRT_Primitive product, list<Variant> types>
    : KernelFamily<"gemm", "CUDA"> {
  let kinds = [product];
  let variants = types;
  let provider = "CublasLt";
  let variantName = "lt";
  let determinism = "SameLibrary";
  let workspace = "libraryWorkspace";
  let workspaceCap = 33554432;
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
