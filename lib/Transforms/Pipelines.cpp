//===- Pipelines.cpp - the phases of --lower-to-backend -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each phase ends with a verify pass and is registered on its own, so that a
// test can start in the middle. The order matters:
//   - labels before lowering, because a trace meets aicf ops;
//   - mixed precision before autodiff, which goes through its casts;
//   - all that makes values before labels;
//   - saves are decided before anything reads gradients, when all are there;
//   - keep before lowering, because it returns aicf values;
//   - views before pads and fusions, which find only kernels that take them;
//   - pads before fusions, which look for kernels that take them;
//   - fusions before copies, while calls are tied by values alone;
//   - pointwise graphs behind patterns and batches, which have casts, too;
//   - copies before in-place: the first is always right, the second only drops;
//   - kernels before streams, because a workspace needs an order, too;
//   - memory last: lifetimes depend on everything before.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Remarks.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static void addVerify(OpPassManager &pm, StringRef phase) {
  VerifyRTOptions options;
  options.phase = phase.str();
  pm.addNestedPass<func::FuncOp>(createVerifyRT(options));
}

static void addVerifyPlan(OpPassManager &pm, bool memory) {
  VerifyPlanOptions options;
  options.memory = memory;
  pm.addPass(createVerifyPlan(options));
}

static void buildCheckPhase(OpPassManager &pm, const LowerToBackendOptions &) {
  // Calls of private functions, and nothing but them: no simplification on the
  // way, which would change what the user's remarks and labels speak of.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createExpandMaps());
  pm.addPass(createVerifyEntries());
  pm.addNestedPass<func::FuncOp>(createCheckCaptureSafety());
  pm.addPass(createOutlineRepeats());
}

/// The whole step, still in `aicf`.
static void buildStepPhase(OpPassManager &pm,
                           const LowerToBackendOptions &options) {
  pm.addPass(createExpandHistory());
  if (options.mixedPrecision != MixedDType::None) {
    MixedPrecisionOptions mixed;
    mixed.dtype = options.mixedPrecision;
    pm.addPass(createMixedPrecision(mixed));
  }
  if (options.target == DeviceKind::CUDA && options.optLevel > OptLevel::O1)
    pm.addNestedPass<func::FuncOp>(createNarrowProducts());
  pm.addPass(createHoistConstants()); // of the types that are computed in
  pm.addPass(createAutodiff());
  RematerializeOptions again;
  again.rate = options.recomputeRate;
  pm.addNestedPass<func::FuncOp>(createRematerialize(again));
  pm.addNestedPass<func::FuncOp>(createConcatPads());
  pm.addNestedPass<func::FuncOp>(createPropagateReshapes());
  pm.addPass(createAppendOptimizer());
  pm.addPass(createReturnGradients());
  if (options.splitStep)
    pm.addPass(createSplitStep());
  pm.addPass(createVerifyEntries()); // of what these made
  pm.addNestedPass<func::FuncOp>(createNumberValues());
  if (options.keep != Keep::None) {
    KeepValuesOptions keep;
    keep.mode = options.keep;
    pm.addNestedPass<func::FuncOp>(createKeepValues(keep));
  }
}

static void buildLowerPhase(OpPassManager &pm,
                            const LowerToBackendOptions &options) {
  buildStepPhase(pm, options);
  pm.addPass(createLowerToRT());
  addVerify(pm, "lowered");
}

static void buildFusePhase(OpPassManager &pm,
                           const LowerToBackendOptions &options) {
  if (options.optLevel > OptLevel::O1)
    pm.addNestedPass<func::FuncOp>(createEliminateSaves());
  MaterializeViewsOptions views;
  views.target = options.target;
  views.every = options.optLevel == OptLevel::O0;
  pm.addNestedPass<func::FuncOp>(createMaterializeViews(views));
  if (options.optLevel > OptLevel::O1) {
    PadTensorsOptions pads;
    pads.target = options.target;
    pm.addPass(createPadTensors(pads));
    FuseCallsOptions calls;
    calls.target = options.target;
    pm.addNestedPass<func::FuncOp>(createFuseCalls(calls));
    BatchCallsOptions batches;
    batches.target = options.target;
    batches.maxGroups = options.maxGroups;
    pm.addNestedPass<func::FuncOp>(createBatchCalls(batches));
    FoldReshapesOptions folds; // behind the patterns, which no reshape may part
    folds.target = options.target;
    pm.addNestedPass<func::FuncOp>(createFoldReshapes(folds));
    FusePointwiseOptions pointwise;
    pointwise.target = options.target;
    pm.addNestedPass<func::FuncOp>(createFusePointwise(pointwise));
    RecomputePointwiseOptions again;
    again.target = options.target;
    pm.addNestedPass<func::FuncOp>(createRecomputePointwise(again));
    PlacePartsOptions parts;
    parts.target = options.target;
    pm.addNestedPass<func::FuncOp>(createPlaceParts(parts));
  }
  addVerify(pm, "lowered");
}

static void buildUpdatesPhase(OpPassManager &pm,
                              const LowerToBackendOptions &) {
  pm.addNestedPass<func::FuncOp>(createMaterializeUpdates());
  addVerify(pm, "updates");
}

static void buildInplacePhase(OpPassManager &pm,
                              const LowerToBackendOptions &options) {
  if (options.optLevel > OptLevel::O0 || options.requireInplace) {
    AnnotateInplaceOptions inplace;
    inplace.requireInplace = options.requireInplace;
    inplace.numStreams = options.numStreams;
    pm.addNestedPass<func::FuncOp>(createAnnotateInplace(inplace));
  }
  addVerify(pm, "inplace");
}

static void buildKernelsPhase(OpPassManager &pm,
                              const LowerToBackendOptions &options) {
  SelectKernelsOptions select;
  select.target = options.target;
  select.profile = options.profile;
  pm.addNestedPass<func::FuncOp>(createSelectKernels(select));
  addVerify(pm, "kernels");
}

static void buildStreamsPhase(OpPassManager &pm,
                              const LowerToBackendOptions &options) {
  AssignStreamsOptions streams;
  streams.numStreams = options.numStreams;
  pm.addNestedPass<func::FuncOp>(createAssignStreams(streams));
  addVerify(pm, "streams");
}

static void buildMemoryPhase(OpPassManager &pm,
                             const LowerToBackendOptions &options) {
  pm.addNestedPass<rt::PlanOp>(createPlanMemory());
  addVerifyPlan(pm, /*memory=*/true);
}

static void buildPlanPhase(OpPassManager &pm, const LowerToBackendOptions &) {
  pm.addPass(createEmitPlan());
  addVerifyPlan(pm, /*memory=*/false);
}

void aicf::buildLowerToBackendPipeline(OpPassManager &pm,
                                       const LowerToBackendOptions &options,
                                       LoweredTo to) {
  buildCheckPhase(pm, options);
  if (to == LoweredTo::AICF)
    return buildStepPhase(pm, options);
  buildLowerPhase(pm, options);
  buildFusePhase(pm, options);
  buildUpdatesPhase(pm, options);
  buildInplacePhase(pm, options);
  buildKernelsPhase(pm, options);
  buildStreamsPhase(pm, options);
  if (to == LoweredTo::AICFRT)
    return;
  buildPlanPhase(pm, options);
  buildMemoryPhase(pm, options);
}

void LowerToBackendOptions::addToCommandLine(
    llvm::cl::OptionCategory &category) {
  // A copy: addArgument() changes the map.
  auto options = llvm::cl::getRegisteredOptions(*this);
  for (auto &[name, option] : options) {
    option->removeArgument();
    option->addSubCommand(llvm::cl::SubCommand::getTopLevel());
    option->addCategory(category);
    option->addArgument();
  }
}

LogicalResult aicf::enableRemarks(MLIRContext &context) {
  // `all` alone would be ignored.
  std::string ours = kRemarkCategory.str();
  remark::RemarkCategories categories{ours, ours, ours, ours, ours};
  return remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

/// A phase takes the options of --lower-to-backend; --help lists them there
/// alone.
static void registerPhase(StringRef name, StringRef description,
                          void (*build)(OpPassManager &,
                                        const LowerToBackendOptions &)) {
  registerPassPipeline(
      name, description,
      [build](OpPassManager &pm, StringRef text,
              function_ref<LogicalResult(const Twine &)>) {
        LowerToBackendOptions options;
        if (failed(options.parseFromString(text)))
          return failure(); // it has said why
        build(pm, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}

void aicf::registerAllPipelines() {
  static PassPipelineRegistration<LowerToBackendOptions> all(
      "lower-to-backend", "everything from aicf to aicf_rt.plan",
      [](OpPassManager &pm, const LowerToBackendOptions &options) {
        buildLowerToBackendPipeline(pm, options);
      });
  // Once: a second registration of a name is fatal.
  static bool arePhasesRegistered = false;
  if (std::exchange(arePhasesRegistered, true))
    return;
  registerPhase("aicf-phase-check", "check entries", buildCheckPhase);
  registerPhase("aicf-phase-lower", "label, keep, lower", buildLowerPhase);
  registerPhase("aicf-phase-fuse", "eliminate saves, fuse calls",
                buildFusePhase);
  registerPhase("aicf-phase-updates", "copies for updates", buildUpdatesPhase);
  registerPhase("aicf-phase-inplace", "drop copies, share storage",
                buildInplacePhase);
  registerPhase("aicf-phase-kernels", "select kernels", buildKernelsPhase);
  registerPhase("aicf-phase-streams", "assign streams", buildStreamsPhase);
  registerPhase("aicf-phase-memory", "plan memory", buildMemoryPhase);
  registerPhase("aicf-phase-plan", "emit the plan", buildPlanPhase);
}
