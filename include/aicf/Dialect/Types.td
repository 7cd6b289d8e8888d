//===- Types.td - the tensors that ops of both dialects take ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TYPES_TD
#define AICF_TYPES_TD

include "mlir/IR/OpBase.td"

class AICF_TensorOf<list<Type> types, string text> : Type<
    And<[TensorOf<types>.predicate, HasStaticShapePred,
         CPred<"::llvm::none_of(::llvm::cast<::mlir::ShapedType>($_self)"
               ".getShape(), [](int64_t d) { return d == 0; })">]>,
    "tensor of " # text # " with static, non-zero dimensions (give every "
    "dimension a number, e.g. tensor<64x128xf32>: an entry is compiled per "
    "shape)", "::mlir::RankedTensorType">;

def AICF_Float : AICF_TensorOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def AICF_Int : AICF_TensorOf<[I32, I64], "i32 or i64">;
def AICF_F32 : AICF_TensorOf<[F32], "f32">;
def AICF_Wide : AICF_TensorOf<[F32, F64], "f32 or f64">;
def AICF_I32 : AICF_TensorOf<[I32], "i32">;
def AICF_Bool : AICF_TensorOf<[I1], "i1">;
def AICF_Number : AICF_TensorOf<[F16, BF16, F32, F64, I32, I64],
                                "f16, bf16, f32, f64, i32 or i64">;
def AICF_Any : AICF_TensorOf<[F16, BF16, F32, F64, I32, I64, I1],
                             "f16, bf16, f32, f64, i32, i64 or i1">;

#endif // AICF_TYPES_TD
