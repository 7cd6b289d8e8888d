//===- AICFRTInterfaces.td - what passes ask of a primitive ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICFRT_INTERFACES_TD
#define AICFRT_INTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Written by every primitive: keeps calls in program order under CSE, DCE and
/// code motion.
def ExecutionOrder : Resource<"::mlir::aicf_rt::ExecutionOrder">;

def PrimitiveOpInterface : OpInterface<"PrimitiveOpInterface"> {
  let cppNamespace = "::mlir::aicf_rt";
  let description = [{
    One kernel call. Every operand is read, none is written: what is written are
    the results, and a result takes over an operand's storage where `inplace`
    says so. Facts that do not depend on the instance (kind, operand names, which
    result *may* share storage with which operand) come from the ABI tables
    generated from the same record.
  }];
  let methods = [
    InterfaceMethod<"The number of this primitive in the ABI.",
                    "::aicf::OpKind", "getOpKind">,
    InterfaceMethod<"The fourcc that names the layout of encodeAttrs().",
                    "uint32_t", "getSchema">,
    InterfaceMethod<"Appends the attr blob that the kernel gets.",
                    "void", "encodeAttrs",
                    (ins "::llvm::SmallVectorImpl<uint8_t> &":$bytes)>,
    InterfaceMethod<"Labels of the results (see --aicf-number-values).",
                    "::llvm::ArrayRef<int64_t>", "getVids">,
    InterfaceMethod<"For each result the operand whose storage it takes, or -1; "
                    "empty means all -1.",
                    "::llvm::ArrayRef<int64_t>", "getInplace">,
    InterfaceMethod<"", "void", "setInplace",
                    (ins "::llvm::ArrayRef<int64_t>":$operands)>,
    InterfaceMethod<"The kernel id, empty before selection.",
                    "::llvm::StringRef", "getKidOrEmpty">,
    InterfaceMethod<"", "void", "setKid", (ins "::llvm::StringRef":$kid)>,
    InterfaceMethod<"Bytes of scratch memory that the kernel gets.", "uint64_t",
                    "getWorkspace">,
    InterfaceMethod<"", "void", "setWorkspace", (ins "uint64_t":$bytes)>,
    InterfaceMethod<"The stream the call runs on.", "uint64_t", "getStream">,
    InterfaceMethod<"Events the call waits for.",
                    "::llvm::ArrayRef<int64_t>", "getWaits">,
    InterfaceMethod<"Events the call signals when done.",
                    "::llvm::ArrayRef<int64_t>", "getSignals">,
    InterfaceMethod<"Sets stream, waits and signals.", "void", "setSchedule",
                    (ins "int64_t":$stream, "::llvm::ArrayRef<int64_t>":$waits,
                         "::llvm::ArrayRef<int64_t>":$signals), [{
      $_op.setStream(stream);
      $_op.setWaits(waits);
      $_op.setSignals(signals);
    }]>,
    InterfaceMethod<"Byte offset of each result in the temp segment, -1 for "
                    "results that live elsewhere.",
                    "::llvm::ArrayRef<int64_t>", "getSlots">,
    InterfaceMethod<"", "void", "setSlots",
                    (ins "::llvm::ArrayRef<int64_t>":$slots)>
  ];
  let extraSharedClassDeclaration = [{
    /// The operand number whose storage result `result` takes, or -1.
    int64_t getInplaceOperand(unsigned result) {
      ::llvm::ArrayRef<int64_t> operands = $_op.getInplace();
      return result < operands.size() ? operands[result] : -1;
    }
  }];
}

#endif // AICFRT_INTERFACES_TD
