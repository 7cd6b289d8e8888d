//===- AICFRTPlanOps.td - the binding plan as IR --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICFRT_PLAN_OPS_TD
#define AICFRT_PLAN_OPS_TD

include "aicf/Dialect/AICFRT/AICFRTBase.td"

def AICFRT_PlanOp : AICFRT_Op<"plan", [NoTerminator, SingleBlock,
                                       NoRegionArguments]> {
  let summary = "the binding plan of a module";
  let description = [{
    Holds the persistent tensors, which all entries share, then the entries.
    `target` is the device; `persistent_bytes` the size of the segment.

    ```mlir
    aicf_rt.plan "cpu" persistent(0) {
      aicf_rt.entry "predict" io(512) temp(0) bound(0) values(2) nodes(1) {
        aicf_rt.tensor 0 "x" "input" "io"[0] vid(0) : tensor<4xf32>
        aicf_rt.tensor 1 "y" "output" "io"[256] vid(1) : tensor<4xf32>
        aicf_rt.call "relu" "relu_f32_v0" ins [0] outs [1] vids [0] -> [1] schema(0) attrs []
      }
    }
    ```
  }];
  let arguments = (ins StrAttr:$target, I64Attr:$persistent_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $target `persistent` `(` $persistent_bytes `)` attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def AICFRT_EntryOp : AICFRT_Op<"entry", [NoTerminator, SingleBlock,
    NoRegionArguments, HasParent<"PlanOp">]> {
  let summary = "one entry of a plan: its io and temp tensors, then its calls";
  let description = [{
    `io` and `temp` are segment sizes in bytes; `bound` is the max-live lower
    bound of the temp segment; `values` and `nodes` count the entry as it stood
    in `aicf` (for `--aicf-dump-lowered`).
  }];
  let arguments = (ins StrAttr:$sym_name, I64Attr:$io_bytes,
                       I64Attr:$temp_bytes, I64Attr:$temp_lower_bound,
                       I64Attr:$values, I64Attr:$nodes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `io` `(` $io_bytes `)` `temp` `(` $temp_bytes `)`
    `bound` `(` $temp_lower_bound `)` `values` `(` $values `)`
    `nodes` `(` $nodes `)` attr-dict-with-keyword $body
  }];
}

def AICFRT_TensorOp : AICFRT_Op<"tensor", [
    ParentOneOf<["PlanOp", "EntryOp"]>]> {
  let summary = "one storage of the plan";
  let description = [{
    `tid` counts the persistent tensors of the plan first, then the tensors of
    each entry on from there. A name may be empty for temps. Several values may
    live in one tensor, one after the other: a call that reads and writes the
    same tid works in place. `init` and `init_value` say how a persistent tensor
    gets its first value; `derived_from` is the tid of the tensor that a state is
    the cast of.
  }];
  let arguments = (ins I64Attr:$tid, StrAttr:$tensor_name, StrAttr:$role,
                       StrAttr:$segment, I64Attr:$offset, I64Attr:$vid,
                       TypeAttrOf<AICFRT_Tensor>:$type,
                       DefaultValuedAttr<StrAttr, "\"none\"">:$init,
                       DefaultValuedAttr<F64Attr, "0.0">:$init_value,
                       DefaultValuedAttr<I64Attr, "-1">:$derived_from);
  let assemblyFormat = [{
    $tid $tensor_name $role $segment `[` $offset `]` `vid` `(` $vid `)`
    attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def AICFRT_CallOp : AICFRT_Op<"call", [HasParent<"EntryOp">]> {
  let summary = "one kernel call of an entry";
  let description = [{
    `kind` and `attrs` are as in the plan file: the OpKind's name and the attr
    blob that `schema` names. `workspace` is a tid, or -1. `in_vids` and `out_vids` are labels for dumps and
    traces. A `protective` call is a copy that the compiler inserted.
  }];
  let arguments = (ins StrAttr:$kind, StrAttr:$kid, I64Attr:$schema,
                       DenseI8ArrayAttr:$attrs,
                       DenseI64ArrayAttr:$ins, DenseI64ArrayAttr:$outs,
                       DenseI64ArrayAttr:$in_vids, DenseI64ArrayAttr:$out_vids,
                       DefaultValuedAttr<I64Attr, "-1">:$workspace,
                       DefaultValuedAttr<I64Attr, "0">:$stream,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$waits,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$signals,
                       UnitAttr:$protective);
  let assemblyFormat = [{
    $kind $kid `ins` $ins `outs` $outs `vids` $in_vids `->` $out_vids
    `schema` `(` $schema `)` `attrs` $attrs attr-dict
  }];
  let hasVerifier = 1;
}

#endif // AICFRT_PLAN_OPS_TD
