//===- AICFRTBase.td - the aicf_rt dialect and its record shapes ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Included by AICFRTOps.td (primitives), AICFRTPlanOps.td (the plan) and read
// by aicf-tblgen, which turns the `AICFRT_Primitive` records into the ABI
// header and the table of Python struct formats.
//===----------------------------------------------------------------------===//
#ifndef AICFRT_BASE_TD
#define AICFRT_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "aicf/Dialect/AICFRT/AICFRTInterfaces.td"

def AICFRT_Dialect : Dialect {
  let name = "aicf_rt";
  let cppNamespace = "::mlir::aicf_rt";
  let summary = "Backend primitives of a training step, and its binding plan";
  let description = [{
    The level below `aicf` and above the plan file. One primitive is one kernel
    call: `gemm`, `bias_add`, `relu`, ... on static tensors.

    **On entry** (from `aicf`): every value is its own buffer, in program order.

    **On exit**: one `aicf_rt.plan` with a byte offset for every tensor and a
    kernel id (KID) for every call, which `aicf-translate` copies into a file.

    Primitives are not `Pure`: each writes an execution-order resource, so that
    generic CSE, DCE and code motion cannot undo what a pass has decided.

    Decisions are attributes, written by one pass each and printed:
    `inplace` (which operand a result shares storage with), `kid`, `workspace`
    (bytes), `stream`, `waits`, `signals`, `slots` (byte offsets in the temp
    segment).

    ```mlir
    %y = aicf_rt.gemm %x, %W {transB = true, vids = array<i64: 3>}
        : (tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<64x128xf32>
    %z = aicf_rt.bias_add %y, %b {inplace = array<i64: 0>, vids = array<i64: 3>}
        : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
    ```

    Shapes, dtypes, operand counts and attr layouts are checked by the rules of
    `lib/Support/OpRules.cpp`: the same code that the plan loader and `op_call`
    run.
  }];
}

/// One field of a primitive's attr blob. `type` and `format` are the C type and
/// the Python struct character; `value` is how the C++ op yields it; `defaultValue`
/// is left out in dumps (empty: always shown when set).
class LayoutField<string fieldName, string cType, string pyFormat, string expr,
                  string dflt = ""> {
  string name = fieldName;
  string type = cType;
  string format = pyFormat;
  string value = expr;
  string defaultValue = dflt;
}

/// Result `result` may share storage with operand `operand`: the kernel reads
/// element i of the operand before it writes element i of any result.
class Tie<int r, int o> {
  int result = r;
  int operand = o;
}

/// The names of a primitive's operands and results, for messages. A name that
/// ends in "?" is optional, one in "..." repeats (only the last one).
class Signature<list<string> ins, list<string> outs> {
  list<string> operands = ins;
  list<string> results = outs;
}

class AICFRT_Op<string mnemonic, list<Trait> traits = []>
    : Op<AICFRT_Dialect, mnemonic, traits>;

def AICFRT_Tensor : StaticShapeTensorOf<[F16, BF16, F32, F64, I32, I64]>;

/// A backend primitive: one record defines the op, its OpKind number, the
/// layout of its attr blob and its aliasing facts.
class AICFRT_Primitive<string mnemonic, int number, string schema,
                       list<LayoutField> fields, Signature sig, list<Tie> may,
                       dag attrs = (ins)>
    : AICFRT_Op<mnemonic, [DeclareOpInterfaceMethods<PrimitiveOpInterface>,
                           MemoryEffects<[MemWrite<ExecutionOrder>]>]> {
  string kindName = mnemonic;
  int kind = number;
  string fourCC = schema;
  list<LayoutField> layout = fields;
  Signature signature = sig;
  list<Tie> ties = may;
  /// Operands and results a group, when the operands are groups that repeat
  /// (multi-tensor optimizers): ties hold within each group. 0: no groups.
  int groupOperands = 0;
  int groupResults = 0;

  let arguments = !con((ins Variadic<AICFRT_Tensor>:$ins), attrs,
      (ins DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$vids,
           DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$inplace,
           OptionalAttr<StrAttr>:$kid,
           DefaultValuedAttr<I64Attr, "0">:$workspace,
           DefaultValuedAttr<I64Attr, "0">:$stream,
           DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$waits,
           DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$signals,
           DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$slots));
  let results = (outs Variadic<AICFRT_Tensor>:$outs);
  let assemblyFormat = "$ins attr-dict `:` functional-type($ins, $outs)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outs,
                                 "::mlir::ValueRange":$ins,
                                 "::llvm::ArrayRef<int64_t>":$vids), [{
    $_state.addOperands(ins);
    $_state.addTypes(outs);
    $_state.getOrAddProperties<Properties>().vids =
        $_builder.getDenseI64ArrayAttr(vids);
  }]>];
  let skipDefaultBuilders = 1;
}

#endif // AICFRT_BASE_TD
