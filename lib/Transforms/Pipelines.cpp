//===- Pipelines.cpp - the phases of --lower-to-backend -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each phase ends with a verify pass and is registered on its own, so that a
// test can start in the middle. A comment at each pass says why it stands there.
// O0 has nothing but what makes a plan, and computes all values as `aicf` says.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"

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

/// What entries that say no target are compiled for. In front of every phase:
/// passes ask the entry.
static void addSetTarget(OpPassManager &pm,
                         const LowerToBackendOptions &options) {
  SetTargetOptions target;
  target.target = options.target;
  target.costs = options.costs;
  target.math = options.math;
  target.only = options.target.hasValue();
  pm.addNestedPass<func::FuncOp>(createSetTarget(target));
}

//===----------------------------------------------------------------------===//
// Check: a step as its author wrote it
//===----------------------------------------------------------------------===//

static void buildCheckPhase(OpPassManager &pm, const LowerToBackendOptions &) {
  // Calls of private functions, and nothing but them: no simplification on the
  // way, which would change what the user's remarks and labels speak of.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  // In front of the checks, which do not look into the body of a map.
  pm.addPass(createExpandMaps());
  pm.addPass(createVerifyEntries());
  // In front of the outlining, behind which it could not see a whole step.
  pm.addNestedPass<func::FuncOp>(createCheckCaptureSafety());
  // Behind it, every pass sees functions without loops.
  pm.addPass(createOutlineRepeats());
}

//===----------------------------------------------------------------------===//
// Meaning: all that is computed, still in `aicf`
//===----------------------------------------------------------------------===//

static void addMeaning(OpPassManager &pm,
                       const LowerToBackendOptions &options) {
  pm.addNestedPass<func::FuncOp>(createExpandGradients()); // of x as it is
  pm.addPass(createExpandHistory()); // the passes behind it see no history
  // In front of mixed precision, which would round what one op keeps.
  if (options.optLevel > OptLevel::O1)
    pm.addNestedPass<func::FuncOp>(createRaiseAttention());
  // In front of autodiff, which goes through its casts.
  if (options.mixedPrecision != MixedDType::None) {
    MixedPrecisionOptions mixed;
    mixed.dtype = options.mixedPrecision;
    pm.addPass(createMixedPrecision(mixed));
  }
  // Likewise: the gradients of what it makes are elementwise, too.
  if (options.optLevel > OptLevel::O1)
    pm.addNestedPass<func::FuncOp>(createNarrowProducts());
  // Behind the passes that choose the types of constants.
  pm.addPass(createHoistConstants());
  pm.addPass(createAutodiff());
}

/// Fewer values and less memory, by rules that know no kernel.
static void addSimplifications(OpPassManager &pm,
                               const LowerToBackendOptions &options) {
  // In front of all that reads gradients, while all of them are there. A rate
  // of 0 leaves all as it is.
  RematerializeOptions again;
  again.rate = options.recomputeRate;
  pm.addNestedPass<func::FuncOp>(createRematerialize(again));
  if (options.optLevel == OptLevel::O0)
    return;
  // Behind autodiff, which makes a pad for each slice of a tensor. Their sum
  // may round in another order.
  pm.addNestedPass<func::FuncOp>(createConcatPads());
  // In front of lowering, which makes a view of each reshape.
  pm.addNestedPass<func::FuncOp>(createPropagateReshapes());
}

static void buildStepPhase(OpPassManager &pm,
                           const LowerToBackendOptions &options) {
  addMeaning(pm, options);
  addSimplifications(pm, options);
  // These read the gradients as they are to be.
  pm.addPass(createAppendOptimizer());
  pm.addPass(createReturnGradients());
  if (options.splitStep)
    pm.addPass(createSplitStep());
  pm.addPass(createVerifyEntries()); // of what these made
  // Behind all that makes values, and in front of lowering: a trace is of the
  // ops of `aicf`.
  pm.addNestedPass<func::FuncOp>(createNumberValues());
  // In front of lowering, because it returns values of `aicf`.
  if (options.keep != Keep::None) {
    KeepValuesOptions keep;
    keep.mode = options.keep;
    pm.addNestedPass<func::FuncOp>(createKeepValues(keep));
  }
}

//===----------------------------------------------------------------------===//
// Lower: each op becomes calls of primitives
//===----------------------------------------------------------------------===//

static void buildLowerPhase(OpPassManager &pm,
                            const LowerToBackendOptions &options) {
  buildStepPhase(pm, options);
  pm.addPass(createLowerToRT());
  addVerify(pm, "lowered");
}

//===----------------------------------------------------------------------===//
// Shape the calls: fewer of them, each as large as a kernel takes it. They are
// tied by values alone: no memory is shared yet.
//===----------------------------------------------------------------------===//

/// What several calls become, at O2.
static void addFusions(OpPassManager &pm,
                       const LowerToBackendOptions &options) {
  // In front of the fusions, which look for kernels that take pads.
  pm.addPass(createPadTensors());
  // In front of graphs, which would take parts of its patterns.
  pm.addNestedPass<func::FuncOp>(createFuseCalls());
  // Likewise: the casts beside an optimizer's updates are of its patterns.
  BatchCallsOptions batches;
  batches.maxGroups = options.maxGroups;
  pm.addNestedPass<func::FuncOp>(createBatchCalls(batches));
  // Behind the patterns, which no reshape may part, and in front of graphs,
  // whose values have one shape.
  pm.addNestedPass<func::FuncOp>(createFoldReshapes());
  pm.addNestedPass<func::FuncOp>(createFusePointwise());
  // Behind the fusion, which shares values where it can and repeats none.
  pm.addNestedPass<func::FuncOp>(createRecomputePointwise());
  // Behind all fusions, which look for values inside of calls, not for places.
  pm.addNestedPass<func::FuncOp>(createPlaceParts());
}

static void buildFusePhase(OpPassManager &pm,
                           const LowerToBackendOptions &options) {
  // In front of the fusions: a copy of what is saved would stand between.
  if (options.optLevel > OptLevel::O1)
    pm.addNestedPass<func::FuncOp>(createEliminateSaves());
  // In front of pads and fusions, which find only kernels that take the views
  // that are left.
  MaterializeViewsOptions views;
  views.every = options.optLevel == OptLevel::O0;
  pm.addNestedPass<func::FuncOp>(createMaterializeViews(views));
  if (options.optLevel > OptLevel::O1)
    addFusions(pm, options);
  addVerify(pm, "lowered");
}

//===----------------------------------------------------------------------===//
// Place: where results lie, which kernels compute them, and when
//===----------------------------------------------------------------------===//

static void buildUpdatesPhase(OpPassManager &pm,
                              const LowerToBackendOptions &) {
  // In front of in-place, which only drops: a copy is always right.
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
  // Behind in-place, which decides where results lie, and in front of streams:
  // a workspace needs an order, too.
  SelectKernelsOptions select;
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
  // Last: lifetimes depend on everything before.
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
  addSetTarget(pm, options);
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
        addSetTarget(pm, options);
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
