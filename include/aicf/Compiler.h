//===- Compiler.h - passes, pipelines, translation --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For embedding: registerAllDialects(), then registerAllPasses() and
// registerAllPipelines() for textual pipelines, or
// buildLowerToBackendPipeline() on a pass manager of your own, and
// translateToPlan(). examples/embed is a compiler that does so.
//===----------------------------------------------------------------------===//
#ifndef AICF_COMPILER_H
#define AICF_COMPILER_H

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"

#include "aicf/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/Support/CommandLine.h"

namespace aicf {

// Values of options, which passes, pipelines and aicf-compile share: an unknown
// value is an error of the command line, before any input is read.

enum class OptLevel { O0, O1, O2 };
/// What forward and backward compute in; None: as they are written.
enum class MixedDType { None, BF16, F16 };
/// How products of f32 round what they multiply.
enum class ProductMath { F32, TF32 };
/// Values that become outputs.
enum class Keep { None, Grad, All };

inline llvm::cl::ValuesClass targetValues() {
  return llvm::cl::values(
      clEnumValN(DeviceKind::CPU, nameOf(DeviceKind::CPU),
                 "kernels of this machine"),
      clEnumValN(DeviceKind::CUDA, nameOf(DeviceKind::CUDA), "an NVIDIA GPU"));
}
inline llvm::cl::ValuesClass optLevelValues() {
  return llvm::cl::values(
      clEnumValN(OptLevel::O0, "0",
                 "every value and view its own storage, explicit copies"),
      clEnumValN(OptLevel::O1, "1", "in place and without copies where safe"),
      clEnumValN(
          OptLevel::O2, "2",
          "also saves eliminated, and tensors padded and calls fused where "
          "the target has kernels"));
}
inline llvm::cl::ValuesClass precisionValues() {
  return llvm::cl::values(
      clEnumValN(MixedDType::None, "none", "as written"),
      clEnumValN(MixedDType::BF16, "bf16", "f32 masters and moments"),
      clEnumValN(MixedDType::F16, "f16", "likewise, with a loss scale"));
}
inline llvm::cl::ValuesClass mathValues() {
  return llvm::cl::values(
      clEnumValN(ProductMath::F32, "f32", "not at all"),
      clEnumValN(ProductMath::TF32, "tf32",
                 "to 11 bits, where a kernel is faster for it"));
}
inline llvm::cl::ValuesClass keepValues() {
  return llvm::cl::values(clEnumValN(Keep::None, "none", "nothing"),
                          clEnumValN(Keep::Grad, "grad", "gradients"),
                          clEnumValN(Keep::All, "all", "every value"));
}

#define GEN_PASS_DECL
#include "aicf/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "aicf/Passes.h.inc"

/// Options of --lower-to-backend.
struct LowerToBackendOptions
    : public mlir::PassPipelineOptions<LowerToBackendOptions> {
  Option<DeviceKind> target{*this, "target",
                            llvm::cl::desc("Compile for this device"),
                            llvm::cl::init(DeviceKind::CPU), targetValues()};
  Option<std::string> costs{
      *this, "costs",
      llvm::cl::desc("Decide by this profile of the device (aicf-plan costs)"),
      llvm::cl::init("")};
  Option<ProductMath> math{
      *this, "math", llvm::cl::desc("Round the operands of products of f32"),
      llvm::cl::init(ProductMath::F32), mathValues()};
  Option<OptLevel> optLevel{*this, "opt-level",
                            llvm::cl::desc("How much to optimize"),
                            llvm::cl::init(OptLevel::O2), optLevelValues()};
  Option<MixedDType> mixedPrecision{
      *this, "mixed-precision", llvm::cl::desc("Compute forward and backward in 16 bits"),
      llvm::cl::init(MixedDType::None), precisionValues()};
  Option<int64_t> numStreams{*this, "streams",
                             llvm::cl::desc("Use at most this many streams"),
                             llvm::cl::init(1)};
  Option<int64_t> maxGroups{
      *this, "max-groups",
      llvm::cl::desc("Update at most this many params in one call"),
      llvm::cl::init(int64_t(kMaxUpdateGroups))};
  Option<double> recomputeRate{
      *this, "recompute-rate",
      llvm::cl::desc("Bytes to move at most for each byte that is not kept for "
                     "the backward pass"),
      llvm::cl::init(0.0)};
  Option<std::string> profile{
      *this, "profile",
      llvm::cl::desc("Choose kernels by the measured times in this file"),
      llvm::cl::init("")};
  Option<bool> splitStep{*this, "split-step",
                         llvm::cl::desc("Make gradients and update two entries"),
                         llvm::cl::init(false)};
  Option<bool> requireInplace{
      *this, "require-inplace",
      llvm::cl::desc("Refuse an update that needs a copy"),
      llvm::cl::init(false)};
  Option<Keep> keep{*this, "keep", llvm::cl::desc("Make these values outputs"),
                    llvm::cl::init(Keep::None), keepValues()};

  /// Makes them flags of a tool, listed in `category`: declared once, here.
  void addToCommandLine(llvm::cl::OptionCategory &category);
};

namespace step {
/// An aicf.map that computes `element` for each element of the operands. `body`
/// says how: its arguments are the elements as 0-d tensors, its ops pointwise ops
/// of aicf on them. Fails with a diagnostic where an op is not pointwise.
mlir::FailureOr<mlir::Value> buildMap(mlir::OpBuilder &builder,
                                      mlir::Location loc,
                                      mlir::ValueRange operands,
                                      mlir::Block &body, mlir::Value element);
} // namespace step

/// From now on the passes' remarks (category "aicf": what was fused, copied and
/// chosen, and why) are diagnostics of `context`, as with aicf-opt's
/// --remarks-filter=aicf.
mlir::LogicalResult enableRemarks(mlir::MLIRContext &context);

/// Where --lower-to-backend may stop: with the whole step in `aicf`, its calls
/// on tensors in `aicf_rt`, or `aicf_rt.plan`.
enum class LoweredTo { AICF, AICFRT, Plan };

/// Everything from `aicf` to `aicf_rt.plan`, or to `to`.
void buildLowerToBackendPipeline(mlir::OpPassManager &pm,
                                 const LowerToBackendOptions &options,
                                 LoweredTo to = LoweredTo::Plan);
/// The calls of each entry as text, a line a primitive, with the labels of
/// their values; of a module at any stage. Emits a diagnostic on failure.
mlir::FailureOr<std::string> dumpCalls(mlir::ModuleOp module);
/// Registers every pass; like the next function, as often as you like.
void registerAllPasses();
/// Registers --lower-to-backend and a pipeline for each phase.
void registerAllPipelines();

/// The one aicf_rt.plan of `module` as a plan, verified by the loader's own
/// checks. Copies, decides nothing. Emits a diagnostic on failure.
mlir::FailureOr<Plan> translateToPlan(mlir::ModuleOp module);
/// The way back: a verified plan as a module with one aicf_rt.plan, which
/// translateToPlan() turns into the same plan.
mlir::OwningOpRef<mlir::ModuleOp> translateFromPlan(const Plan &plan,
                                                    mlir::MLIRContext *context);

} // namespace aicf

#endif // AICF_COMPILER_H
