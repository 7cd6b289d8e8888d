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
def ExecutionOrder : Resource<"aicf::rt::ExecutionOrder">;

def PrimitiveOpInterface : OpInterface<"PrimitiveOpInterface"> {
  let cppNamespace = "aicf::rt";
  let description = [{
    One kernel call. Every operand is read, none is written: what is written are
    the results, and a result takes over an operand's storage where `inplace`
    says so. Facts that do not depend on the instance (kind, operand names, which
    result *may* share storage with which operand) come from the ABI tables
    generated from the same record.
  }];
  let methods = [
    InterfaceMethod<"The number of this primitive in the ABI: whose rules check "
                    "the call, and whose kernels run it.",
                    "aicf::OpKind", "getOpKind">,
    InterfaceMethod<"The operands as the record lists them, null where an "
                    "optional one is absent. Whoever counts operands of its own "
                    "instead takes one for another.",
                    "::llvm::SmallVector<::mlir::Value>", "getOperandSlots">,
    InterfaceMethod<"Labels of the results (see --aicf-number-values). Wrong "
                    "ones make dumps and traces name other values.",
                    "::llvm::ArrayRef<int64_t>", "getVids">,
    InterfaceMethod<"For each result the operand whose storage it takes, or -1; "
                    "empty means all -1. Who reads a pair that is not there "
                    "lets a result overwrite what is still needed.",
                    "::llvm::ArrayRef<int64_t>", "getInplace">,
    InterfaceMethod<"Decides that; who sets a pair that the record does not tie "
                    "makes a plan that the loader refuses.",
                    "void", "setInplace",
                    (ins "::llvm::ArrayRef<int64_t>":$operands)>,
    InterfaceMethod<"The kernel id, empty before selection. Another one is "
                    "refused, or computes with other bits.",
                    "::llvm::StringRef", "getKidOrEmpty">,
    InterfaceMethod<"Chooses the kernel; one that does not take the call fails "
                    "the verifier of phase `kernels`.",
                    "void", "setKid", (ins "::llvm::StringRef":$kid)>,
    InterfaceMethod<"Bytes of scratch memory that the kernel gets. Who counts "
                    "fewer places something else over what the kernel uses.",
                    "uint64_t", "getWorkspace">,
    InterfaceMethod<"Too few bytes cost speed, or split the sums otherwise.",
                    "void", "setWorkspace", (ins "uint64_t":$bytes)>,
    InterfaceMethod<"The stream the call runs on. Calls of one stream are "
                    "ordered: another answer is a race, or an order that is not "
                    "there.",
                    "uint64_t", "getStream">,
    InterfaceMethod<"Events the call waits for; one that is left out is a race.",
                    "::llvm::ArrayRef<int64_t>", "getWaits">,
    InterfaceMethod<"Events the call signals when done; without one its waiter "
                    "has nothing to wait for, which is refused.",
                    "::llvm::ArrayRef<int64_t>", "getSignals">,
    InterfaceMethod<"Sets stream, waits and signals. A wait that is left out is "
                    "a race, which the verifier of phase `inplace` and the "
                    "loader refuse; one too many costs time.",
                    "void", "setSchedule",
                    (ins "int64_t":$stream, "::llvm::ArrayRef<int64_t>":$waits,
                         "::llvm::ArrayRef<int64_t>":$signals), [{
      $_op.setStream(stream);
      $_op.setWaits(waits);
      $_op.setSignals(signals);
    }]>,
    InterfaceMethod<"Byte offset of each result in the temp segment, -1 for "
                    "results that live elsewhere. A wrong one reads another "
                    "value's bytes.",
                    "::llvm::ArrayRef<int64_t>", "getSlots">,
    InterfaceMethod<"Places the results; overlaps with what is live at the same "
                    "time fail the verifier of phase `memory`.",
                    "void", "setSlots",
                    (ins "::llvm::ArrayRef<int64_t>":$slots)>
  ];
  let extraClassDeclaration = [{
    /// The fourcc that names the layout of the attr blob.
    uint32_t getSchema() { return aicf::infoOf(getOpKind()).schema; }
    /// The attr blob that the kernel gets.
    ::llvm::SmallVector<uint8_t> getAttrBlob();
    /// What stands at each slot of the record, absent ones included.
    ::llvm::SmallVector<aicf::TensorDesc> getOperandDescs();
    ::llvm::SmallVector<aicf::TensorDesc> getResultDescs();
    /// True when result `result` may take the storage of operand number
    /// `operand`.
    bool mayShareStorage(unsigned result, unsigned operand);
  }];
  let extraSharedClassDeclaration = [{
    /// The operand number whose storage result `result` takes, or -1.
    int64_t getInplaceOperand(unsigned result) {
      ::llvm::ArrayRef<int64_t> operands = $_op.getInplace();
      return result < operands.size() ? operands[result] : -1;
    }
  }];
}

#endif // AICFRT_INTERFACES_TD
