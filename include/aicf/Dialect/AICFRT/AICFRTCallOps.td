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

/// Every call writes this resource. So calls stay in program order under CSE, DCE
/// and code motion.
def ExecutionOrder : Resource<"aicf::rt::ExecutionOrder">;

class AICFRT_Attr<string name, string attrMnemonic>
    : AttrDef<AICFRT_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def AICFRT_BodyAttr : AICFRT_Attr<"Body", "body"> {
  let summary = "what a call computes";
  let description = [{
    A body is a list of one or more primitives, in order. It has no types: these follow from
    the call's operands and results by the rules of the primitives. Equal bodies are one
    attribute, and one entry of the plan's table. The operands of the call are `i0`, `i1`, ...;
    the results of primitives get names in order.

    ```mlir
    #aicf_rt.body<3 { t0 = gemm(i0, i1) {transB = true} t1 = bias_add(t0, i2) yield t1 }>
    ```
  }];
  let parameters = (ins AttrParameter<"::aicf::Body", "primitives in order",
                                      "const ::aicf::Body &">:$body);
  let genVerifyDecl = 1;
  let genStorageClass = 0;
  let extraClassDeclaration = [{
    /// What follows from the body. It is computed once.
    const ::aicf::BodyFacts &getFacts() const;
  }];
}

def AICFRT_LaunchAttr : AICFRT_Attr<"Launch", "launch"> {
  let summary = "how a call is launched";
  let description = [{
    `kernel` is the kernel id (KID); it is absent before kernels are selected. `workspace` is
    the number of bytes of scratch memory that the kernel gets. `stream` says where the call
    runs; the calls of one stream are ordered. The call waits for the events `waits`, and
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
    This is the encoding of a padded tensor. In memory, the length of its rows is rounded up to
    a multiple of 8 elements. From rank 2 on, so is the number of rows. The pads hold zeros.
    Only tensors of 16-bit elements and rank 1 or 2 may be padded. Kernels see the pads; shapes
    and rules do not.

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
    This is the encoding of a view. For each dimension, it gives the number of elements from
    one index to the next. This number is 0 for a dimension that repeats or has one index. A
    dense tensor has no encoding. (The builtin `strided` cannot be read back as the encoding of
    a tensor.)

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
    The op that defines the buffer says what it is for, how large it is and where it lies.
  }];
}

def AICFRT_Value : TypeDef<AICFRT_Dialect, "Value"> {
  let mnemonic = "value";
  let summary = "a tensor in a buffer";
  let description = [{
    This is a tensor and its layout: dense, `padded` or `strided`. The op that defines the
    value says in which buffer it lies, and where.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let hasCustomAssemblyFormat = 1;
}

/// A list that may be empty. It is not an attribute, because uniquing the numbers
/// of every call takes a tenth of the time of a compilation. It stores nothing
/// inside the op, because walking over calls would then take as much longer.
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
    A call reads every operand and writes only its results. A result may take over the storage
    of an operand. `inplace` has, for each result, the operand whose storage it takes, or -1.
    The body determines which results *may* do so. `vids` are the labels of the values that the
    body makes, in order (see --aicf-number-values). `protective` marks a copy that the
    compiler inserted.

    A call of one primitive lists its operands in the order of the record, with names for the
    optional ones. Fields that have their default are left out:

    ```mlir
    %p2, %m2 = aicf_rt.call sgd_step(%p, %g, %lr, m = %m, ok = %ok)
        {momentum = 0.9} inplace [0, 3] launch<kernel = "sgd_step_f32_v0">
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<i32>)
        -> (tensor<8xf32>, tensor<8xf32>)
    ```

    A call of several primitives lists them. A value is a result if no later primitive of the
    call reads it, or if it is yielded:

    ```mlir
    %h = aicf_rt.call {
      t0 = gemm(%x, %W) {transB = true}
      t1 = bias_add(t0, %b)
      yield t1
    } vids [3, 3] : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```

    In a plan, a call has no results. It reads values of buffers and writes the values in
    `outs`. If one value stands in both lists, the call works in place. `in_vids` are then the
    labels of its operands. `workspace` is a buffer of scratch memory, of which the call gets
    as many bytes as `launch` says.
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
    /// One primitive whose fields all have their default. A null value stands for
    /// an absent operand.
    OpBuilder<(ins "::aicf::OpKind":$kind, "::mlir::TypeRange":$types,
                   "::llvm::ArrayRef<::mlir::Value>":$slots,
                   "::llvm::ArrayRef<int64_t>":$vids)>,
    /// A call in a plan. `scratch` may be null.
    OpBuilder<(ins "::mlir::ValueRange":$args, "::mlir::ValueRange":$dests,
                   "::mlir::Value":$scratch, "::aicf::rt::BodyAttr":$body,
                   "::aicf::rt::LaunchAttr":$launch)>];
  let extraClassDeclaration = [{
    const aicf::Body &getCode() { return getBody().getBody(); }
    const aicf::BodyFacts &getFacts() { return getBody().getFacts(); }
    /// True for a call of one primitive, which is a `kind`.
    bool isOnly(aicf::OpKind kind) { return getCode().isOnly(kind); }
    /// "gemm", or "gemm, bias_add, relu".
    std::string getPrimitiveNames();
    /// The value at a slot of a primitive. It is null if it is absent or is not an
    /// operand of the call.
    ::mlir::Value getPrimitiveOperand(size_t primitive, size_t slot);
    /// The result that is value number `number` of the body. It is null if that value
    /// stays inside, or if the call stands in a plan.
    ::mlir::Value getYielded(uint32_t number);
    /// The result at a slot of the first primitive, or null as in getYielded().
    ::mlir::Value getFirstPrimitiveResult(size_t slot) {
      return getYielded(getCode().numOperands + uint32_t(slot));
    }
    /// True in a plan.
    bool isInPlan() { return !getDests().empty(); }
    /// The types of the body's results.
    ::mlir::TypeRange getResultTypesOfBody() {
      return isInPlan() ? ::mlir::TypeRange(getDests())
                           : ::mlir::TypeRange(getOuts());
    }
    /// The descriptors of the body's operands and results.
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

    /// The kernel id. It is empty before kernels are selected.
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
  let summary = "show elements of a tensor as another tensor, without a call";
  let description = [{
    The first element of the view is element `offset` of `base`. The view has the strides of
    its type; a type without strides is dense. A view launches nothing and takes no memory: in
    a plan it is another value of the same buffer. The base is never a view itself: a view of a
    view has the same base. If the base has strides, because it is a part of a join, `offset`
    still counts elements in memory.

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

def AICFRT_JoinOp : AICFRT_Op<"join", [AttrSizedOperandSegments, Pure]> {
  let summary = "tensors that were computed where they belong, as one tensor, without a call";
  let description = [{
    The first element of a part is element `offset` of the memory of `whole`, and the part has
    the strides of its type there; a type without strides is dense. Parts share no element.
    Without `into`, they have all elements. With it, the other elements are those of `into`,
    an argument of the entry that `whole` updates. A join launches nothing: the calls that make
    its parts write into the memory of `whole`. So a part is the result of a call or of another
    join, no other join has it, and the entry does not return it. `vid` is the label of the
    whole.

    ```mlir
    %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
    %b = aicf_rt.call exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
    %c = aicf_rt.join %a[0], %b[8] : tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>,
        tensor<4x8xf32, #aicf_rt.strided<[16, 1]>> to tensor<4x16xf32>
    ```
  }];
  let arguments = (ins Variadic<AICFRT_Tensor>:$parts, AICFRT_Numbers:$offsets,
                       Optional<AICFRT_Tensor>:$into,
                       DefaultValuedProp<I64Prop, "-1">:$vid);
  let results = (outs AICFRT_Tensor:$whole);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // AICFRT_CALL_OPS_TD
