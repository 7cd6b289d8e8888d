//===- AssignStreams.cpp - one stream for now -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description.
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Entry.h"
#include "aicf/Analysis/Storage.h"
#include "aicf/Transforms/Passes.h"

namespace mlir::aicf {
#define GEN_PASS_DEF_ASSIGNSTREAMS
#include "aicf/Transforms/Passes.h.inc"
} // namespace mlir::aicf

using namespace mlir;
using namespace mlir::aicf;
using namespace mlir::aicf_rt;

namespace {
struct AssignStreams : mlir::aicf::impl::AssignStreamsBase<AssignStreams> {
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation()))
      for (auto op : func.getOps<PrimitiveOpInterface>())
        op.setSchedule(0, {}, {});
  }
};
} // namespace
