//===- Family.td - movers of rows -----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ROWS_FAMILY_TD
#define AICF_KERNELS_ROWS_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

class RowMoverPrimitive<string mnemonic, int number, string schema>
    : Primitive<mnemonic, number, schema> {
  let phase = DataPhase;
  let precision = Wide;
}

def GatherRowsPrimitive : RowMoverPrimitive<"gather_rows", 28, ""> {
  let summary = "rows[i] = data[index[i]], where an index outside of data is clamped";
  let text = [{
    This makes a batch from a dataset that lies on the device.
  }];
  let operandList = [LookedUp<"data", "rows", AnyElement>, In<"index", IntElement>];
  let resultList = [Checked<"rows", AnyElement>];
  let constraints = ["data has rank 1 or more.", "index has rank 1.",
                     "rows has data's type, but its first dimension is index's size."];
}

def ShufflePrimitive : RowMoverPrimitive<"shuffle", 29, "SHUF"> {
  let summary = "index = the rows of batch `step` in an endless shuffled walk over "
                "`size` rows";
  let text = [{
    Let B be the size of index. Element i is at position k = step·B + i of the walk. Its
    row is π_e(k mod size) in epoch e = k / size. π_e is a permutation of 0..size-1 that
    depends on (seed, e) only. It is a 6-round Feistel network with Philox's multiply as
    round function, over the numbers below 4^h, the least power of 4 that is at least
    `size` (h >= 1). The network is applied until the result is below `size` (cycle
    walking: Black & Rogaway 2002, "Ciphers with arbitrary finite domains"). A negative
    step counts as 0.
  }];
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"index", IntElement>];
  let fields = [I64Field<"size", Positive31>,
                I64Field<"seed", AnyNumber, "0">];
  let constraints = ["step is 0-d.", "index has rank 1."];
}

def RecordPrimitive : RowMoverPrimitive<"record", 30, ""> {
  let summary = "history_out = history with row (step mod K) replaced by value";
  let text = [{
    A negative step counts as 0.
  }];
  let operandList = [In<"history", AnyElement>, In<"value", AnyElement>,
                     In<"step", IntElement>];
  let resultList = [Like<"history_out", "history">];
  let ties = [Tie<"history_out", "history">];
  let constraints = ["history has shape [K, value's shape...].",
                     "value has history's element type.", "step is 0-d."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

def AICF_GatherRowsOp : AICF_OpOf<GatherRowsPrimitive> {
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

def AICF_ShuffleOp : AICF_OpOf<ShufflePrimitive> {
  let stepAttrs = (ins I64Attr:$batch);
  let stepConstraints = ["`batch`, a number in [1, 2^31), is index's size."];
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

/// `--aicf-expand-history` makes these ops from `aicf.history`.
def AICF_RecordOp : AICF_OpOf<RecordPrimitive>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def GatherRowsCpu : KernelFamily<"rows", CPU> {
  let kinds = [GatherRowsPrimitive];
  let variants = EveryType.each;
  let kernel = "gatherRows";
}
def GatherRowsCuda : KernelFamily<"rows", CUDA> {
  let kinds = [GatherRowsPrimitive];
  let variants = EveryType.each;
  let kernel = "gatherRows<$T>";
}
def RecordCpu : KernelFamily<"rows", CPU> {
  let kinds = [RecordPrimitive];
  let variants = EveryType.each;
  let kernel = "record";
}
def RecordCuda : KernelFamily<"rows", CUDA> {
  let kinds = [RecordPrimitive];
  let variants = EveryType.each;
  let kernel = "record<$T>";
}
def ShuffleCpu : KernelFamily<"rows", CPU> {
  let kinds = [ShufflePrimitive];
  let variants = EveryIndex.each;
  let kidTypes = KidTypesBoth;
  let kernel = "shuffle";
}
def ShuffleCuda : KernelFamily<"rows", CUDA> {
  let kinds = [ShufflePrimitive];
  let variants = EveryIndex.each;
  let kidTypes = KidTypesBoth;
  let kernel = "shuffle<$T, $U>";
}

#endif // AICF_KERNELS_ROWS_FAMILY_TD
