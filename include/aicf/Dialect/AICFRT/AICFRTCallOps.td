//===- AICFRTCallOps.td - calls and their bodies --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICFRT_CALL_OPS_TD
#define AICFRT_CALL_OPS_TD

include "aicf/Dialect/AICFRT/AICFRTBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/Properties.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Written by every call: keeps them in program order under CSE, DCE and code
/// motion.
def ExecutionOrder : Resource<"aicf::rt::ExecutionOrder">;

class AICFRT_Attr<string name, string attrMnemonic>
    : AttrDef<AICFRT_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def AICFRT_BodyAttr : AICFRT_Attr<"Body", "body"> {
  let summary = "what a call computes";
  let description = [{
    One primitive or more, in order, without types: those follow from the call's
    operands and results by the primitives' rules. Equal bodies are one
    attribute, and one entry of the plan's table. Operands of the call are `i0`,
    `i1`, ...; results of primitives get names in order.

    ```mlir
    #aicf_rt.body<3 { t0 = gemm(i0, i1) {transB = true} t1 = bias_add(t0, i2) yield t1 }>
    ```
  }];
  let parameters = (ins AttrParameter<"::aicf::Body", "primitives in order",
                                      "const ::aicf::Body &">:$body);
  let genVerifyDecl = 1;
  let genStorageClass = 0;
  let extraClassDeclaration = [{
    /// What follows from the body, found once.
    const ::aicf::BodyFacts &getFacts() const;
  }];
}

def AICFRT_LaunchAttr : AICFRT_Attr<"Launch", "launch"> {
  let summary = "how a call is launched";
  let description = [{
    `kernel` is the kernel id (KID), or not there before selection; `workspace`
    the bytes of scratch memory that the kernel gets; `stream` where the call
    runs: calls of one stream are ordered. It waits for the events `waits` and
    signals the events `signals` when it is done.

    ```mlir
    #aicf_rt.launch<kernel = "relu_f32_v0", stream = 1, waits = [0]>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$kernel,
      DefaultValuedParameter<"int64_t", "0">:$workspace,
      DefaultValuedParameter<"int64_t", "0">:$stream,
      OptionalArrayRefParameter<"int64_t">:$waits,
      OptionalArrayRefParameter<"int64_t">:$signals);
}

def AICFRT_PaddedAttr : AttrDef<AICFRT_Dialect, "Padded",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "padded";
  let summary = "the layout of a padded tensor";
  let description = [{
    As a tensor's encoding: rows, and from rank 2 on their number, are rounded up
    to 8 elements in memory; the pads hold zeros. For 16-bit elements of rank 1 or
    2. Shapes and rules do not see it; kernels do.

    ```mlir
    tensor<1000x777xbf16, #aicf_rt.padded>
    ```
  }];
  let assemblyFormat = "";
}

def AICFRT_StridedAttr : AttrDef<AICFRT_Dialect, "Strided",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "strided";
  let summary = "the layout of a view";
  let description = [{
    As a tensor's encoding: for each dimension the elements from one index to the
    next, 0 where it repeats or has one index. A dense tensor has no encoding.
    (Builtin `strided` cannot be read back as the encoding of a tensor.)

    ```mlir
    tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$strides);
  let assemblyFormat = "`<` `[` $strides `]` `>`";
}

def AICFRT_Buffer : TypeDef<AICFRT_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a piece of memory";
  let description = [{
    What it is for, how large it is and where it lies, the op says that defines
    it.
  }];
}

def AICFRT_Value : TypeDef<AICFRT_Dialect, "Value"> {
  let mnemonic = "value";
  let summary = "a tensor in a buffer";
  let description = [{
    A tensor and its layout: dense, `padded` or `strided`. In which buffer it lies
    and where, the op says that defines it.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let hasCustomAssemblyFormat = 1;
}

/// A list that may be empty. It is not an attribute, because to unique the
/// numbers of every call takes a tenth of the time of a compilation; and it keeps
/// nothing inside of the op, because then walking over calls takes as much more.
def AICFRT_Numbers
    : Property<"::llvm::SmallVector<int64_t, 0>", "array of 64-bit integers",
               "::llvm::ArrayRef<int64_t>"> {
  let convertFromStorage = "::llvm::ArrayRef<int64_t>{$_storage}";
  let assignToStorage = "$_storage.assign($_value.begin(), $_value.end())";
  let hashProperty = "llvm::hash_combine_range($_storage)";
  let readFromMlirBytecode = [{
    if (::mlir::failed($_reader.readSignedVarInts($_storage)))
      return ::mlir::failure();
  }];
  let writeToMlirBytecode = "$_writer.writeSignedVarInts($_storage)";
  let defaultValue = "::llvm::ArrayRef<int64_t>{}";
  let storageTypeValueOverride = "::llvm::SmallVector<int64_t, 0>{}";
}

def AICFRT_CallOp : AICFRT_Op<"call", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    MemoryEffects<[MemWrite<ExecutionOrder>]>]> {
  let summary = "one kernel call";
  let description = [{
    Every operand is read, none is written: what is written are the results, and
    a result takes over an operand's storage where `inplace` says so: for each
    result the operand whose storage it takes, or -1. Which result *may* do so
    is a fact of the body. `vids` are labels of the values that the body makes,
    in order (see --aicf-number-values). `protective` marks a copy that the
    compiler inserted.

    A call of one primitive names its operands in the record's order, optional
    ones by name; where a primitive's fields are at their defaults they are left
    out:

    ```mlir
    %p2, %m2 = aicf_rt.call sgd_step(%p, %g, %lr, m = %m, ok = %ok)
        {momentum = 0.9} inplace [0, 3] launch<kernel = "sgd_step_f32_v0">
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<i32>)
        -> (tensor<8xf32>, tensor<8xf32>)
    ```

    A call of several lists them; a value that no later primitive of the call
    reads, or that is yielded, is a result:

    ```mlir
    %h = aicf_rt.call {
      t0 = gemm(%x, %W) {transB = true}
      t1 = bias_add(t0, %b)
      yield t1
    } vids [3, 3] : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```

    In a plan a call has no results: it takes values of buffers, writes `outs`,
    and works in place where one value stands among both. `in_vids` are labels of
    its operands then, and `workspace` is a buffer of scratch memory, of which it
    gets as many bytes as `launch` says.
  }];
  let arguments = (ins
      Variadic<AnyTypeOf<[AICFRT_Tensor, AICFRT_Value]>>:$args,
      Variadic<AICFRT_Value>:$dests, Optional<AICFRT_Buffer>:$scratch,
      AICFRT_BodyAttr:$body,
      AICFRT_Numbers:$vids, AICFRT_Numbers:$in_vids, AICFRT_Numbers:$inplace,
      OptionalAttr<AICFRT_LaunchAttr>:$launch, UnitAttr:$protective);
  let results = (outs Variadic<AICFRT_Tensor>:$outs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$types, "::mlir::ValueRange":$args,
                   "const ::aicf::Body &":$body,
                   "::llvm::ArrayRef<int64_t>":$vids)>,
    /// One primitive without fields that are not at their default; a null
    /// value stands for an absent operand.
    OpBuilder<(ins "::aicf::OpKind":$kind, "::mlir::TypeRange":$types,
                   "::llvm::ArrayRef<::mlir::Value>":$slots,
                   "::llvm::ArrayRef<int64_t>":$vids)>,
    /// In a plan; `scratch` may be null.
    OpBuilder<(ins "::mlir::ValueRange":$args, "::mlir::ValueRange":$dests,
                   "::mlir::Value":$scratch, "::aicf::rt::BodyAttr":$body,
                   "::aicf::rt::LaunchAttr":$launch)>];
  let extraClassDeclaration = [{
    const aicf::Body &getCode() { return getBody().getBody(); }
    const aicf::BodyFacts &getFacts() { return getBody().getFacts(); }
    /// True for a call of one primitive, of `kind`.
    bool isOnly(aicf::OpKind kind) { return getCode().isOnly(kind); }
    /// "gemm", or "gemm, bias_add, relu".
    std::string getPrimitiveNames();
    /// The value at a slot of a primitive; null where it is absent or none of the
    /// call's operands.
    ::mlir::Value getPrimitiveOperand(size_t primitive, size_t slot);
    /// The result that is value number `number` of the body; null where it stays
    /// inside or the call stands in a plan.
    ::mlir::Value getYielded(uint32_t number);
    /// The result at a slot of the first primitive; null as for getYielded().
    ::mlir::Value getFirstStepResult(size_t slot) {
      return getYielded(getCode().numOperands + uint32_t(slot));
    }
    /// True in a plan.
    bool isInPlan() { return !getDests().empty(); }
    /// Types of the body's results.
    ::mlir::TypeRange getResultTypesOfBody() {
      return isInPlan() ? ::mlir::TypeRange(getDests())
                           : ::mlir::TypeRange(getOuts());
    }
    /// Descs of the body's operands and results.
    ::llvm::SmallVector<aicf::TensorDesc> getOperandDescs();
    ::llvm::SmallVector<aicf::TensorDesc> getResultDescs();

    /// True when result `result` may take the storage of operand `operand`.
    bool mayShareStorage(unsigned result, unsigned operand);
    /// The operand whose storage result `result` takes, or -1.
    int64_t getInplaceOperand(unsigned result) {
      ::llvm::ArrayRef<int64_t> operands = getInplace();
      return result < operands.size() ? operands[result] : -1;
    }
    size_t countValuesMade();
    /// The label of result `result`, or -1.
    int64_t getLabel(unsigned result);

    /// The kernel id, empty before selection.
    ::llvm::StringRef getKid();
    uint64_t getWorkspace();
    uint64_t getStream();
    ::llvm::ArrayRef<int64_t> getWaits();
    ::llvm::ArrayRef<int64_t> getSignals();
    void setKernel(::llvm::StringRef kid, uint64_t workspaceBytes);
    void setSchedule(int64_t stream, ::llvm::ArrayRef<int64_t> waits,
                     ::llvm::ArrayRef<int64_t> signals);
  }];
}

def AICFRT_ViewOp : AICFRT_Op<"view", [Pure]> {
  let summary = "elements of a value as another tensor, without a call";
  let description = [{
    The tensor whose first element is element `offset` of `base`, with the strides
    of its type; without any it is dense. Launches nothing and takes no memory: in
    a plan it is another value of the same buffer. What is made of a view is a view
    of its base.

    ```mlir
    %t = aicf_rt.view %x[0] : tensor<4x8xf32> to tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>
    ```
  }];
  let arguments = (ins AICFRT_Tensor:$base,
                       DefaultValuedProp<I64Prop, "0">:$offset);
  let results = (outs AICFRT_Tensor:$view);
  let assemblyFormat = [{
    $base `[` $offset `]` attr-dict `:` type($base) `to` type($view)
  }];
  let hasVerifier = 1;
}

#endif // AICFRT_CALL_OPS_TD
