//===- AppendOptimizer.cpp - updates of parameters from gradients ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Which ops a step consists of, `aicf.optimizer`
// says; here they get their operands, states and results.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

namespace aicf {
#define GEN_PASS_DEF_APPENDOPTIMIZER
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static constexpr llvm::StringLiteral kStepName = "step";

namespace {
struct Gradient {
  unsigned result; ///< that returned it
  BlockArgument param;
  StringRef name; ///< of the parameter
  Value value;
};

/// What the steps of one element type share.
struct Shared {
  Value rate, shared, gradFactor;
};

class Appender {
public:
  Appender(func::FuncOp func, OptimizerAttrInterface optimizer)
      : func(func), optimizer(optimizer), signature(func), entry(func),
        b(func.front().getTerminator()), loc(func.getLoc()) {}
  LogicalResult run();

private:
  LogicalResult findGradients();
  LogicalResult addRate();
  LogicalResult addLossScale();
  LogicalResult addCounter();
  LogicalResult addStep(const Gradient &gradient);
  /// An argument that is there already, or null; an error if it is another
  /// thing than `role` of `type`.
  FailureOr<BlockArgument> findArgument(StringRef name, Role role, Type type);
  /// A new state; an error if an argument is called so.
  FailureOr<BlockArgument> addState(Type type, const Twine &name);
  const Shared &sharedFor(Type element);
  Value castTo(Value value, Type element);
  /// A number of an argument's attribute.
  double numberOf(BlockArgument arg, StringRef name, double otherwise);

  func::FuncOp func;
  OptimizerAttrInterface optimizer;
  EntrySignature signature;
  EntryBuilder entry;
  OpBuilder b;
  Location loc;
  SmallVector<Gradient> gradients;
  Value rate;      ///< a hyper, or null for a schedule
  Value stepCount; ///< of the step that is taken, where somebody asks
  Value ok, inverseScale;
  /// States derived from a parameter: they follow it.
  llvm::StringMap<SmallVector<BlockArgument, 1>> copiesOf;
  llvm::DenseMap<Type, Shared> sharedOf;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> scaledRates;
};
} // namespace

static RankedTensorType scalarOf(Type element) {
  return RankedTensorType::get({}, element);
}

LogicalResult Appender::findGradients() {
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    if (func.getResultAttr(i, kMinimizeAttr))
      return func.emitError()
             << "result " << i
             << " has 'aicf.minimize': run --aicf-autodiff first";
    auto name = func.getResultAttrOfType<StringAttr>(i, kGradAttr);
    if (!name)
      continue;
    int64_t arg = signature.findArgument(name);
    if (arg < 0 || signature.arguments[arg].role != Role::Param)
      return func.emitError() << "result " << i << " is the gradient of "
                              << name << ", which is no parameter";
    gradients.push_back({i, func.getArgument(arg), name.getValue(),
                         func.front().getTerminator()->getOperand(i)});
  }
  if (gradients.empty())
    return func.emitError() << "has 'aicf.optimizer', but no gradients: mark "
                               "the loss, a result, "
                               "aicf.minimize";
  return success();
}

FailureOr<BlockArgument> Appender::findArgument(StringRef name, Role role,
                                                Type type) {
  int64_t i = signature.findArgument(name);
  if (i < 0)
    return BlockArgument();
  if (signature.arguments[i].role == role &&
      func.getArgument(i).getType() == type)
    return func.getArgument(i);
  return func.emitError() << "argument " << i << " (\"" << name
                          << "\") is of role "
                          << signature.arguments[i].roleName << " and type "
                          << func.getArgument(i).getType()
                          << ", but 'aicf.optimizer' needs a " << nameOf(role)
                          << " of " << type << " there";
}

FailureOr<BlockArgument> Appender::addState(Type type, const Twine &name) {
  std::string text = name.str();
  if (int64_t i = signature.findArgument(text); i >= 0)
    return func.emitError()
           << "argument " << i << " is named \"" << text
           << "\", as a state that 'aicf.optimizer' adds: rename it";
  return entry.addState(type, text);
}

/// The hyper that the optimizer names; it is added if it is not there.
LogicalResult Appender::addRate() {
  auto name = dyn_cast<StringAttr>(optimizer.getRate());
  if (!name)
    return success();
  Type type = scalarOf(getElementTypeOrSelf(gradients[0].param.getType()));
  FailureOr<BlockArgument> known =
      findArgument(name.getValue(), Role::Hyper, type);
  if (failed(known))
    return failure();
  rate = *known ? *known : entry.addHyper(type, name.getValue());
  return success();
}

/// With a loss scale: 1/scale, whether all gradients are finite, and the next
/// scale.
LogicalResult Appender::addLossScale() {
  auto name = func->getAttrOfType<StringAttr>(kLossScaleAttr);
  if (!name)
    return success();
  int64_t i = signature.findArgument(name);
  if (i < 0 || signature.arguments[i].role != Role::State)
    return func.emitError() << "'aicf.loss_scale' is " << name
                            << ", expected the name of a state";
  Value scale = func.getArgument(i);
  FailureOr<BlockArgument> streak =
      addState(scalarOf(b.getI32Type()), name.getValue() + ".streak");
  if (failed(streak))
    return failure();
  // One guard takes one element type; f32 holds every gradient of 16 bits.
  SmallVector<Value> values;
  bool isUniform =
      llvm::all_equal(llvm::map_range(gradients, [](const Gradient &g) {
        return getElementTypeOrSelf(g.value);
      }));
  for (const Gradient &g : gradients)
    values.push_back(isUniform ? g.value : castTo(g.value, b.getF32Type()));
  ok = AllFiniteOp::create(b, loc, values);
  inverseScale = ReciprocalOp::create(b, loc, scale);
  auto next = LossScaleUpdateOp::create(b, loc, scale, Value(*streak), ok,
                                        APFloat(2.0), APFloat(0.5), 2000);
  entry.addUpdate(next.getScaleOut(), name.getValue());
  entry.addUpdate(next.getStreakOut(), name.getValue() + ".streak");
  return success();
}

/// The number of the step, where the optimizer or its schedule counts.
LogicalResult Appender::addCounter() {
  if (rate && !optimizer.countsSteps())
    return success();
  FailureOr<BlockArgument> state =
      addState(scalarOf(b.getI64Type()), kStepName);
  if (failed(state))
    return failure();
  stepCount = StepIncOp::create(b, loc, Value(*state), ok);
  entry.addUpdate(stepCount, kStepName);
  return success();
}

Value Appender::castTo(Value value, Type element) {
  if (!value || getElementTypeOrSelf(value) == element)
    return value;
  return CastOp::create(b, loc, value, TypeAttr::get(element));
}

const Shared &Appender::sharedFor(Type element) {
  auto [it, fresh] = sharedOf.try_emplace(element);
  if (fresh) {
    Value ofType = rate ? castTo(rate, element)
                        : cast<ScheduleAttrInterface>(optimizer.getRate())
                              .buildRate(b, loc, stepCount, element);
    it->second = {ofType, optimizer.buildShared(b, loc, stepCount, element),
                  castTo(inverseScale, element)};
  }
  return it->second;
}

double Appender::numberOf(BlockArgument arg, StringRef name, double otherwise) {
  auto number = func.getArgAttrOfType<FloatAttr>(arg.getArgNumber(), name);
  return number ? number.getValueAsDouble() : otherwise;
}

LogicalResult Appender::addStep(const Gradient &g) {
  const Shared &shared = sharedFor(getElementTypeOrSelf(g.param.getType()));
  ParameterStep step{
      g.param,
      g.value,
      shared.rate,
      {},
      shared.shared,
      shared.gradFactor,
      ok,
      numberOf(g.param, kWeightDecayAttr, optimizer.getWeightDecay())};
  if (double factor = numberOf(g.param, kRateScaleAttr, 1); factor != 1) {
    Value &scaled = scaledRates[{shared.rate, b.getF64FloatAttr(factor)}];
    if (!scaled)
      scaled = ScaleOp::create(b, loc, shared.rate, APFloat(factor));
    step.rate = scaled;
  }
  SmallVector<StringRef> names = optimizer.getStateNames();
  for (StringRef name : names) {
    FailureOr<BlockArgument> state =
        addState(g.param.getType(), g.name + "." + name);
    if (failed(state))
      return failure();
    step.states.push_back(*state);
  }
  SmallVector<Value> next = optimizer.buildStep(b, g.value.getLoc(), step);
  for (auto [name, value] : llvm::zip_equal(names, ArrayRef(next).drop_front()))
    entry.addUpdate(value, g.name + "." + name);
  entry.addUpdate(next[0], g.name);
  for (BlockArgument copy : copiesOf.lookup(g.name))
    entry.addUpdate(castTo(next[0], getElementTypeOrSelf(copy.getType())),
                    signature.arguments[copy.getArgNumber()].name);
  return success();
}

LogicalResult Appender::run() {
  if (failed(findGradients()))
    return failure();
  llvm::DenseSet<unsigned> returned;
  for (const Gradient &g : gradients)
    returned.insert(g.result);
  entry.filterResults([&](unsigned i) { return !returned.contains(i); });
  if (failed(addRate()) || failed(addLossScale()) || failed(addCounter()))
    return failure();
  for (auto [i, arg] : llvm::enumerate(signature.arguments))
    if (!arg.derivedFrom.empty())
      copiesOf[arg.derivedFrom].push_back(func.getArgument(i));
  for (const Gradient &g : gradients)
    if (failed(addStep(g)))
      return failure();
  for (StringRef name : {kFrozenAttr, kWeightDecayAttr, kRateScaleAttr})
    entry.dropAttr(name);
  entry.finish();
  func->removeAttr(kOptimizerAttr);
  func->removeAttr(kLossScaleAttr);
  return success();
}

namespace {
struct AppendOptimizer : aicf::impl::AppendOptimizerBase<AppendOptimizer> {
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation())) {
      if (failed(checkOneBlock(func)))
        return signalPassFailure();
      auto optimizer =
          func->getAttrOfType<OptimizerAttrInterface>(kOptimizerAttr);
      if (optimizer && failed(Appender(func, optimizer).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
