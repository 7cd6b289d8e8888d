//===- AICFRTPlanOps.td - the binding plan as IR --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICFRT_PLAN_OPS_TD
#define AICFRT_PLAN_OPS_TD

include "aicf/Dialect/AICFRT/AICFRTCallOps.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

/// An enum of aicf/Types.h. The IR shows the name of the enumerator.
class AICFRT_EnumAttr<string name, string attrMnemonic, string what>
    : AICFRT_Attr<name # "Attr", attrMnemonic> {
  let cppClassName = name # "Attr";
  let summary = what;
  let description = "\n    The IR shows it as its name, as `aicf-plan dump` does.\n";
  let parameters = (ins AttrParameter<"::aicf::" # name, what>:$value);
}
def AICFRT_DeviceKindAttr
    : AICFRT_EnumAttr<"DeviceKind", "device", "cpu or cuda">;
def AICFRT_RoleAttr : AICFRT_EnumAttr<"Role", "role", "what a tensor is for">;
def AICFRT_InitKindAttr
    : AICFRT_EnumAttr<"InitKind", "init", "how a tensor gets its first value">;

def AICFRT_PlanOp : AICFRT_Op<"plan", [NoTerminator, SingleBlock, SymbolTable,
                                       NoRegionArguments, IsolatedFromAbove]> {
  let summary = "the binding plan of a module";
  let description = [{
    A plan holds first the persistent buffers, which all entries share, and then the entries.
    `persistent` is the size of the persistent segment in bytes. This and all other sizes and
    offsets are -1 until memory is planned.

    ```mlir
    aicf_rt.plan cpu persistent(256) {
      aicf_rt.global @W param offset(0) vid(1) init(normal, 0.5)
          : !aicf_rt.value<4xf32>
      aicf_rt.entry @predict io(256) temp(0) bound(0) values(2) nodes(1) {
        %W_buffer = aicf_rt.get @W
        %W = aicf_rt.value %W_buffer[0] vid(1) : <4xf32>
        %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(0)
        %y = aicf_rt.value %y_buffer[0] vid(2) : <4xf32>
        aicf_rt.call relu(%W) outs(%y) in_vids [1] vids [2] launch<kernel = "relu_f32_v0">
            : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins AICFRT_DeviceKindAttr:$target,
                       DefaultValuedAttr<I64Attr, "-1">:$persistent_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<EnumName>($target) `persistent` `(` $persistent_bytes `)` attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    aicf::DeviceKind getDevice() { return getTarget().getValue(); }
  }];
}

def AICFRT_GlobalOp : AICFRT_Op<"global", [Symbol, HasParent<"PlanOp">]> {
  let summary = "a persistent buffer";
  let description = [{
    This is the param, state, hyper or constant of that name. Its type is that of the value
    that covers all of it, as callers read and write it. `vid` is the label of that value.
    `offset` counts bytes from the start of the persistent segment. `init` says how the buffer
    gets its first value, with a number for constant and normal. `derived_from` names the
    buffer that a state is the cast of. `data` holds the elements of a constant. `scratch` says
    that no checkpoint has the state.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, AICFRT_RoleAttr:$role,
      DefaultValuedProp<I64Prop, "-1">:$offset,
      DefaultValuedProp<I64Prop, "-1">:$vid,
      TypeAttrOf<AICFRT_Value>:$type,
      OptionalAttr<AICFRT_InitKindAttr>:$init,
      DefaultValuedAttr<F64Attr, "0.0">:$init_value,
      OptionalAttr<FlatSymbolRefAttr>:$derived_from,
      OptionalAttr<ElementsAttr>:$data, UnitAttr:$scratch);
  let assemblyFormat = [{
    $sym_name custom<EnumName>($role) `offset` `(` $offset `)` `vid` `(` $vid `)`
    (`scratch` $scratch^)?
    (`init` `(` custom<EnumName>($init)^ (`,` $init_value^)? `)`)?
    (`derived_from` `(` $derived_from^ `)`)? (`data` `(` $data^ `)`)? attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def AICFRT_EntryOp : AICFRT_Op<"entry", [NoTerminator, SingleBlock,
    NoRegionArguments, IsolatedFromAbove, HasParent<"PlanOp">]> {
  let summary = "an entry of a plan: its buffers and values, then its calls";
  let description = [{
    `io` and `temp` are the sizes of those segments in bytes. `bound` is the max-live lower
    bound of the temp segment. `values` and `nodes` are the numbers of values and ops that the
    entry had in `aicf` (for `--aicf-dump-lowered`). `accumulate` is the number of batches that
    make an update, if it is more than one. `outputs` says in which form a program gets the
    outputs (`aicf::OutputForm`), if that is known.

    Entries have a name space of their own: `@step` may be an entry and the counter of its
    optimizer.
  }];
  let arguments = (ins SymbolNameAttr:$name,
                       DefaultValuedAttr<I64Attr, "-1">:$io_bytes,
                       DefaultValuedAttr<I64Attr, "-1">:$temp_bytes,
                       DefaultValuedAttr<I64Attr, "-1">:$temp_lower_bound,
                       I64Attr:$values, I64Attr:$nodes,
                       OptionalAttr<I64Attr>:$accumulate,
                       OptionalAttr<StrAttr>:$output_form);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `io` `(` $io_bytes `)` `temp` `(` $temp_bytes `)`
    `bound` `(` $temp_lower_bound `)` `values` `(` $values `)`
    `nodes` `(` $nodes `)` (`accumulate` `(` $accumulate^ `)`)?
    (`outputs` `(` $output_form^ `)`)?
    attr-dict-with-keyword $body
  }];
}

def AICFRT_RepeatOp : AICFRT_Op<"repeat", [NoTerminator, SingleBlock,
    NoRegionArguments, HasParent<"EntryOp">]> {
  let summary = "calls of an entry that run several times in a row";
  let description = [{
    The calls inside run `times` times before what follows. No call of a run starts before all
    calls of the run before it have ended. Either all calls of an entry stand in such parts,
    or none. A temp is used in one part; what lives on is a state, an input or an output.

    ```mlir
    aicf_rt.repeat 100 {
      aicf_rt.call add(%h, %x) outs(%h) in_vids [1, 2] vids [3] launch<kernel = "add_f32_v0">
          : (!aicf_rt.value<4xf32>, !aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    }
    ```
  }];
  let arguments = (ins I64Prop:$times);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$times attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def AICFRT_GetOp : AICFRT_Op<"get", [HasParent<"EntryOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a persistent buffer as an entry sees it";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs AICFRT_Buffer:$buffer);
  let assemblyFormat = "$name attr-dict";
}

def AICFRT_AllocOp : AICFRT_Op<"alloc", [HasParent<"EntryOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a buffer of an entry";
  let description = [{
    This is an input, output, temp, saved or workspace buffer of `bytes` bytes. `offset` counts
    bytes from the start of the io or the temp segment; the role says which. Temps need no
    name.
  }];
  let arguments = (ins AICFRT_RoleAttr:$role, OptionalAttr<StrAttr>:$name,
      I64Prop:$bytes, DefaultValuedProp<I64Prop, "-1">:$offset);
  let results = (outs AICFRT_Buffer:$buffer);
  let assemblyFormat = [{
    custom<EnumName>($role) ($name^)? `bytes` `(` $bytes `)` `offset` `(` $offset `)`
    attr-dict
  }];
  let hasVerifier = 1;
}

def AICFRT_ValueOp : AICFRT_Op<"value", [HasParent<"EntryOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a tensor in a buffer";
  let description = [{
    This op names a range of a buffer and launches nothing. The first element of the tensor
    lies `byte_offset` bytes behind the start of the buffer. Several values may occupy one
    place, one after the other: a call that reads and writes that place works in place. `vid`
    is the label of the first of them. The first value of an input or output covers all of it.
  }];
  let arguments = (ins AICFRT_Buffer:$buffer, I64Prop:$byte_offset,
                       DefaultValuedProp<I64Prop, "-1">:$vid);
  let results = (outs AICFRT_Value:$value);
  let assemblyFormat = [{
    $buffer `[` $byte_offset `]` `vid` `(` $vid `)` attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

#endif // AICFRT_PLAN_OPS_TD
