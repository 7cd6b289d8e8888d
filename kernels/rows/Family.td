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
  let summary = "rows[i] = data[index[i]]; an index outside data is clamped";
  let text = [{
    Makes a batch of a dataset that lives on the device.
  }];
  let operandList = [In<"data", AnyElement>, In<"index", IntElement>];
  let resultList = [Checked<"rows", AnyElement>];
  let constraints = ["data has rank 1 or more.", "index has rank 1.",
                     "rows is data's type with index's size for its first "
                     "dimension."];
}

def ShufflePrimitive : RowMoverPrimitive<"shuffle", 29, "SHUF"> {
  let summary = "the rows of batch `step` in an endless shuffled walk over `size` rows";
  let text = [{
    Position k = step·B + i is row π_e(k mod size) of epoch e = k / size; π_e is
    a permutation of 0..size-1 that depends on (seed, e) only: a 6-round Feistel
    network over the next even power of two with Philox's multiply as round
    function, walked until it lands below `size` (cycle walking: Black & Rogaway
    2002, "Ciphers with arbitrary finite domains"). A negative step counts as 0.
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
  let constraints = ["history is [K, value's shape...].",
                     "value has history's element type.", "step is 0-d."];
}

//===----------------------------------------------------------------------===//
// Their ops of a step
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
  let stepConstraints = ["`batch`, index's size, is in [1, 2^31)."];
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

/// `--aicf-expand-history` makes these from `aicf.history`.
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
