//===- AppendOptimizer.cpp - updates of parameters from gradients ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which ops a step consists of, `aicf.optimizer`
// says; here they get their operands, states and results.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"
#include "lib/Transforms/Step/Gradients.h"
#include "lib/Transforms/Step/OptimizerRates.h"
#include "lib/Transforms/Step/OptimizerStates.h"

#include "mlir/IR/TypeUtilities.h"

namespace aicf {
#define GEN_PASS_DEF_APPENDOPTIMIZER
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// What the steps of one element type and one hyper share.
struct Shared {
  Value rate, shared, gradFactor;
};

class Appender {
public:
  Appender(func::FuncOp func, OptimizerAttrInterface optimizer,
           OptimizerStates &states)
      : func(func), optimizer(optimizer), states(states), signature(func),
        entry(func), b(func.front().getTerminator()), loc(func.getLoc()),
        rates(func, optimizer) {}
  LogicalResult run();

private:
  LogicalResult accumulate();
  LogicalResult addLossScale();
  void addClipping();
  LogicalResult addCounter();
  LogicalResult addPrimitive(const Gradient &gradient);
  /// A new state; an error if one is called so.
  FailureOr<BlockArgument> addState(Type type, const Twine &name,
                                    StringAttr init = {});
  /// One that belongs to this entry's optimizer alone.
  FailureOr<BlockArgument> addOwnState(Type type, const Twine &name) {
    return failed(states.claim(func, name.str())) ? FailureOr<BlockArgument>()
                                                  : addState(type, name);
  }
  const Shared &sharedFor(BlockArgument param);
  /// The number of the parameter's own update, which may have started late.
  Value countOf(BlockArgument param);
  /// All gradients in one type, as one op takes them. Casts are made once.
  ArrayRef<Value> allGradients();
  Value mean(Value like) {
    return meanFactor(b, loc, inverseScale, optimizer.getAccumulate(), like);
  }
  /// A number of an argument's attribute.
  double numberOf(BlockArgument arg, StringRef name, double otherwise);

  func::FuncOp func;
  OptimizerAttrInterface optimizer;
  OptimizerStates &states;
  EntrySignature signature;
  EntryBuilder entry;
  OpBuilder b;
  Location loc;
  SmallVector<Gradient> gradients;
  OptimizerRates rates;
  Value stepCount; ///< of the step that is taken, where somebody asks
  Value rateTable; ///< of a schedule that has one
  SmallVector<Value> gradientsOfOneType;
  Value ok, inverseScale;
  Value clipFactor; ///< instead of mean(), which it holds
  /// States derived from a parameter: they follow it.
  llvm::StringMap<SmallVector<BlockArgument, 1>> copiesOf;
  /// By element type, the numbers of the group and the count of updates.
  llvm::DenseMap<std::tuple<Type, Value, Value>, Shared> sharedOf;
  llvm::DenseMap<int64_t, Value> countBehind; ///< by 'aicf.step_lag'
  llvm::DenseMap<std::pair<Value, Attribute>, Value> scaledRates;
};
} // namespace

static RankedTensorType scalarOf(Type element) {
  return RankedTensorType::get({}, element);
}

FailureOr<BlockArgument> Appender::addState(Type type, const Twine &name,
                                            StringAttr init) {
  std::string text = name.str();
  if (int64_t i = signature.findArgument(text); i >= 0)
    return func.emitError()
           << "argument " << i << " is named \"" << text
           << "\", as a state that 'aicf.optimizer' adds: rename it";
  return entry.addState(type, text, init);
}

/// The batches before this one were added up in states: here the sums are used,
/// and start again at zero.
LogicalResult Appender::accumulate() {
  if (failed(addAccumulatingEntry(func, gradients)))
    return failure();
  for (Gradient &g : gradients) {
    FailureOr<BlockArgument> sum = addOwnState(g.param.getType(), sumName(g));
    if (failed(sum))
      return failure();
    g.value = addToSum(b, *sum, g.value);
    entry.addUpdate(FillLikeOp::create(b, loc, Value(*sum), APFloat(0.0)),
                    sumName(g));
  }
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
  if (scale.getType() != scalarOf(getElementTypeOrSelf(scale)) ||
      !isFloatElement(getElementTypeOrSelf(scale)))
    return func.emitError()
           << "'aicf.loss_scale' is " << name << ", a state of "
           << scale.getType() << ", expected a 0-d float";
  FailureOr<BlockArgument> streak =
      addState(scalarOf(b.getI32Type()), name.getValue() + ".streak");
  if (failed(streak))
    return failure();
  ok = AllFiniteOp::create(b, loc, allGradients());
  inverseScale = ReciprocalOp::create(b, loc, scale);
  auto next = LossScaleUpdateOp::create( // the factors are the record's
      b, loc, scale, Value(*streak), ok, FloatAttr(), FloatAttr(),
      IntegerAttr());
  entry.addUpdate(next.getScaleOut(), name.getValue());
  entry.addUpdate(next.getStreakOut(), name.getValue() + ".streak");
  return success();
}

ArrayRef<Value> Appender::allGradients() {
  if (gradientsOfOneType.empty())
    gradientsOfOneType = inOneType(b, gradients);
  return gradientsOfOneType;
}

/// The norm is that of the mean gradients, without the loss scale.
void Appender::addClipping() {
  if (optimizer.getClipNorm() == 0)
    return;
  Value norm = GlobalNormOp::create(b, loc, allGradients());
  Value factor = castTo(b, mean(norm), getElementTypeOrSelf(norm));
  clipFactor = ClipFactorOp::create(b, loc, norm, factor,
                                    APFloat(optimizer.getClipNorm()));
}

/// The number of the step, where the optimizer or its schedule counts.
LogicalResult Appender::addCounter() {
  auto schedule = dyn_cast<ScheduleAttrInterface>(optimizer.getRate());
  if (!schedule && !optimizer.countsSteps())
    return success();
  StringRef name = states.counterOf(func);
  FailureOr<BlockArgument> state = addState(scalarOf(b.getI64Type()), name);
  if (failed(state))
    return failure();
  stepCount = StepIncOp::create(b, loc, Value(*state), ok);
  entry.addUpdate(stepCount, name);
  if (!schedule || schedule.getTableRows() == 0)
    return success();
  FailureOr<BlockArgument> table =
      addState(RankedTensorType::get(schedule.getTableRows(), b.getF32Type()),
               states.rateTableOf(func), b.getStringAttr("none"));
  return failed(table) ? failure() : (rateTable = *table, success());
}

Value Appender::countOf(BlockArgument param) {
  auto lag =
      func.getArgAttrOfType<IntegerAttr>(param.getArgNumber(), kStepLagAttr);
  if (!lag || lag.getInt() == 0 || !stepCount)
    return stepCount;
  Value &count = countBehind[lag.getInt()];
  if (!count)
    count = AddScalarOp::create(b, loc, stepCount,
                                APFloat(double(-lag.getInt())));
  return count;
}

const Shared &Appender::sharedFor(BlockArgument param) {
  Type element = getElementTypeOrSelf(param.getType());
  Value hyper = rates.of(param), count = countOf(param);
  auto [it, fresh] = sharedOf.try_emplace({element, hyper, count});
  if (!fresh)
    return it->second;
  Value ofType = rates.areGroups() ? hyper
                 : hyper ? castTo(b, hyper, element)
                         : cast<ScheduleAttrInterface>(optimizer.getRate())
                               .buildRate(b, loc, stepCount, rateTable, element);
  Value factor = clipFactor;
  if (!factor)
    factor = mean(rates.areGroups() && optimizer.getAccumulate() > 1
                      ? firstOfGroup(b, loc, hyper, element)
                      : ofType);
  it->second = {ofType, optimizer.buildShared(b, loc, count, hyper, element),
                castTo(b, factor, element)};
  return it->second;
}

double Appender::numberOf(BlockArgument arg, StringRef name, double otherwise) {
  auto number = func.getArgAttrOfType<FloatAttr>(arg.getArgNumber(), name);
  return number ? number.getValueAsDouble() : otherwise;
}

LogicalResult Appender::addPrimitive(const Gradient &g) {
  const Shared &shared = sharedFor(g.param);
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
        addOwnState(g.param.getType(), g.name + "." + name);
    if (failed(state))
      return failure();
    step.states.push_back(*state);
  }
  SmallVector<Value> next = optimizer.buildStep(b, g.value.getLoc(), step);
  for (auto [name, value] : llvm::zip_equal(names, ArrayRef(next).drop_front()))
    entry.addUpdate(value, g.name + "." + name);
  entry.addUpdate(next[0], g.name);
  for (BlockArgument copy : copiesOf.lookup(g.name))
    entry.addUpdate(castTo(b, next[0], getElementTypeOrSelf(copy.getType())),
                    signature.arguments[copy.getArgNumber()].name);
  return success();
}

LogicalResult Appender::run() {
  FailureOr<SmallVector<Gradient>> found = findGradients(func);
  if (failed(found) || failed(checkNumbers(func, *found)))
    return failure();
  gradients = std::move(*found);
  dropGradients(func, entry);
  if ((optimizer.getAccumulate() > 1 && failed(accumulate())) ||
      failed(rates.add(signature, entry, gradients)) || failed(addLossScale()))
    return failure();
  addClipping();
  if (failed(addCounter()))
    return failure();
  for (auto [i, arg] : llvm::enumerate(signature.arguments))
    copiesOf[arg.derivedFrom].push_back(func.getArgument(i));
  for (const Gradient &g : gradients)
    if (failed(addPrimitive(g)))
      return failure();
  finishTrained(func, entry);
  return success();
}

namespace {
struct AppendOptimizer : aicf::impl::AppendOptimizerBase<AppendOptimizer> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    if (!llvm::all_of(entries, [](func::FuncOp func) {
          return succeeded(checkStepForm(func));
        }))
      return signalPassFailure();
    FailureOr<OptimizerStates> states = OptimizerStates::create(entries);
    if (failed(states))
      return signalPassFailure();
    for (func::FuncOp func : entries)
      if (auto optimizer =
              func->getAttrOfType<OptimizerAttrInterface>(kOptimizerAttr))
        if (failed(Appender(func, optimizer, *states).run()))
          return signalPassFailure();
  }
};
} // namespace
