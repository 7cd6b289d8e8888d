//===- Passes.h - the passes and pipelines of AICF --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For embedding: call registerAICFPasses() and registerAICFPipelines(), or
// buildLowerToBackendPipeline() on a pass manager of your own.
//===----------------------------------------------------------------------===//
#ifndef AICF_TRANSFORMS_PASSES_H
#define AICF_TRANSFORMS_PASSES_H

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"

#include "aicf/Transforms/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::aicf {

#define GEN_PASS_DECL
#include "aicf/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "aicf/Transforms/Passes.h.inc"

/// Options of --lower-to-backend.
struct LowerToBackendOptions
    : public PassPipelineOptions<LowerToBackendOptions> {
  Option<::aicf::DeviceKind> target{
      *this, "target", llvm::cl::desc("Device of the plan"),
      llvm::cl::init(::aicf::DeviceKind::CPU), targetValues()};
  Option<OptLevel> optLevel{*this, "opt-level",
                            llvm::cl::desc("What is done for speed"),
                            llvm::cl::init(OptLevel::O2), optLevelValues()};
  Option<Precision> mixedPrecision{
      *this, "mixed-precision", llvm::cl::desc("Forward and backward in it"),
      llvm::cl::init(Precision::None), precisionValues()};
  Option<int64_t> numStreams{*this, "streams",
                             llvm::cl::desc("Streams that calls may use"),
                             llvm::cl::init(1)};
  Option<int64_t> maxGroups{
      *this, "max-groups",
      llvm::cl::desc("Params that one optimizer call may update"),
      llvm::cl::init(256)};
  Option<std::string> profile{
      *this, "profile",
      llvm::cl::desc("File of measured kernel times to choose by"),
      llvm::cl::init("")};
  Option<bool> splitStep{*this, "split-step",
                         llvm::cl::desc("Gradients and update as two entries"),
                         llvm::cl::init(false)};
  Option<bool> requireInplace{
      *this, "require-inplace",
      llvm::cl::desc("An update that needs a copy is an error"),
      llvm::cl::init(false)};
  Option<Keep> keep{*this, "keep", llvm::cl::desc("Values to make outputs"),
                    llvm::cl::init(Keep::None), keepValues()};
  Option<bool> report{*this, "report",
                      llvm::cl::desc("Remark with bytes and gap of the arena"),
                      llvm::cl::init(false)};
};

/// Everything from `aicf` to `aicf_rt.plan`.
void buildLowerToBackendPipeline(OpPassManager &pm,
                                 const LowerToBackendOptions &options);
/// Registers --lower-to-backend and a pipeline for each phase.
void registerAICFPipelines();

// The two rewrites that --aicf-dump-lowered applies to a copy of a function.

/// Writes the labels of --aicf-number-values.
void numberValues(func::FuncOp func);
/// Lowers the entries of `module`; emits diagnostics on failure.
LogicalResult lowerEntriesToRT(ModuleOp module);

} // namespace mlir::aicf

#endif // AICF_TRANSFORMS_PASSES_H
