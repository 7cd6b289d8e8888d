//===- Remarks.cpp - remarks of passes ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Remarks.h"
#include "lib/Transforms/Passes.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

LogicalResult aicf::enableRemarks(MLIRContext &context) {
  // `all` alone would be ignored.
  std::string ours = kRemarkCategory.str();
  remark::RemarkCategories categories{ours, ours, ours, ours, ours};
  return remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}
