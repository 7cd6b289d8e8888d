//===- ConstantOps.td - numbers that a plan holds -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Numbers that are known when a step is compiled. --aicf-hoist-constants makes
// arguments of role constant of them. In a plan they are persistent buffers that
// nobody writes.
//===----------------------------------------------------------------------===//
#ifndef AICF_CONSTANT_OPS_TD
#define AICF_CONSTANT_OPS_TD

include "aicf/Dialect/AICF/AICFBase.td"

def AICF_ConstantOp : AICF_Composite<"constant", ForwardPhase, Wide> {
  let summary = "y = these numbers";
  let description = [{
    The plan holds them. Equal ones are held once, and a number that repeats
    everywhere (`dense<0.5>`) is held as one.
    - C1: `value` is dense, of an element type that tensors have, and of up to 1 MB
      unless one number repeats. Larger ones are states that the caller writes.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AICF_Any:$y);
  let assemblyFormat = "$value attr-dict";
}

def AICF_IotaOp : AICF_Composite<"iota", ForwardPhase, Wide> {
  let summary = "y[..., i, ...] = i, along dimension `axis`";
  let description = [{
    - C1: `shape` is y's: up to 8 numbers in [1, 2^31).
    - C2: `axis` is a dimension of y, whose numbers take up to 1 MB.
    - C3: `dtype`, i32 unless it is given, has each of them.
  }];
  let arguments = (ins DenseI64ArrayAttr:$shape, I64Attr:$axis,
                       OptionalAttr<TypeAttr>:$dtype);
  let results = (outs AICF_Any:$y);
  let assemblyFormat = "$shape attr-dict";
}

#endif // AICF_CONSTANT_OPS_TD
