//===- RepeatOp.td - loops -------------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_REPEAT_OP_TD
#define AICF_REPEAT_OP_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def AICF_RepeatOp : Op<AICF_Dialect, "repeat", [
    SingleBlock, RecursiveMemoryEffects]> {
  let summary = "results = what the body makes of inits, `times` times in a row";
  let description = [{
    The first argument of the body counts the runs from 0. The others are what the run
    before has given to `aicf.next`, and in the first run inits. The body may read values
    that are made in front of the op. It stands on the top level of an entry, and
    `--aicf-outline-repeats` makes parts of that: the body is compiled once, and memory does
    not grow with `times`. It has no derivative.

    Rows of a tensor that differ from run to run are read by `aicf.gather_rows` and written
    by `aicf.record`, which works in place.

    ```mlir
    %last, %all = aicf.repeat 100 %h0, %none
        : tensor<8xf32>, tensor<100x8xf32> -> tensor<8xf32>, tensor<100x8xf32> {
    ^bb0(%i: tensor<i64>, %h: tensor<8xf32>, %rows: tensor<100x8xf32>):
      %next = aicf.tanh %h : tensor<8xf32>
      %with = aicf.record %rows, %next, %i
          : tensor<100x8xf32>, tensor<8xf32>, tensor<i64>
      aicf.next %next, %with : tensor<8xf32>, tensor<100x8xf32>
    }
    ```

    - C1: `times` is a number in [1, 2^31), and there is an init.
    - C2: the body has an argument tensor<i64>, and one of each init's type.
    - C3: the body ends in `aicf.next` with values of the inits' types, and the results
      have these types.
  }];
  let arguments = (ins I64Attr:$times, Variadic<AICF_Any>:$inits);
  let results = (outs Variadic<AICF_Any>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $times $inits attr-dict `:` type($inits) `->` type($results) $body
  }];
  let hasRegionVerifier = 1;
}

def AICF_NextOp : Op<AICF_Dialect, "next", [Pure, Terminator, ReturnLike,
                                            HasParent<"RepeatOp">]> {
  let summary = "end a run of a repeat";
  let description = "\n    The next run gets the values, or who reads the repeat's results.\n";
  let arguments = (ins Variadic<AICF_Any>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // AICF_REPEAT_OP_TD
