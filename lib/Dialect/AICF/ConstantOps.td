//===- ConstantOps.td - numbers that a plan holds -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// These numbers are known when a step is compiled. --aicf-hoist-constants turns them
// into arguments of role constant. In a plan they are persistent buffers that nobody
// writes.
//===----------------------------------------------------------------------===//
#ifndef AICF_CONSTANT_OPS_TD
#define AICF_CONSTANT_OPS_TD

include "aicf/Dialect/AICF/AICFBase.td"

def AICF_ConstantOp : AICF_Composite<"constant", ForwardPhase, Wide> {
  let summary = "y = these numbers";
  let description = [{
    The plan holds the numbers. It holds equal constants once. Where one number
    repeats everywhere (`dense<0.5>`), it holds a single number.
    - C1: `value` is dense, of an element type that tensors have, and of up to 1 MB
      unless one number repeats. Make larger ones states, which the caller writes.
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
    - C3: `dtype`, which is i32 unless it is given, can hold each of them.
  }];
  let arguments = (ins DenseI64ArrayAttr:$shape, I64Attr:$axis,
                       OptionalAttr<TypeAttr>:$dtype);
  let results = (outs AICF_Any:$y);
  let assemblyFormat = "$shape attr-dict";
}

#endif // AICF_CONSTANT_OPS_TD
