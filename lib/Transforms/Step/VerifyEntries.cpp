//===- VerifyEntries.cpp - signatures and bodies of entries ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Checks arguments, results, derived states and the body of each entry, then
// what entries share by name. Checks that look at one attribute alone are in
// the dialect.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryParts.h"

namespace aicf {
#define GEN_PASS_DEF_VERIFYENTRIES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static LogicalResult checkInit(func::FuncOp func, Twine what,
                               const EntrySignature::Argument &arg, Type type) {
  if (!arg.initAttr)
    return success();
  if (arg.role != Role::Param && arg.role != Role::State)
    return func.emitError() << what << " has 'aicf.init' but its role is "
                            << arg.roleName << ", expected param or state";
  if (arg.init().kind == InitKind::UniformFanIn &&
      cast<RankedTensorType>(type).getRank() < 2)
    return func.emitError() << what << " is " << type
                            << ": uniform_fan_in needs rank 2 or more, to know "
                               "the fan-in";
  bool random = arg.init().kind == InitKind::UniformFanIn ||
                arg.init().kind == InitKind::Normal;
  if (random && !isa<FloatType>(cast<RankedTensorType>(type).getElementType()))
    return func.emitError() << what << " is " << type
                            << ": random initial values need a float type";
  return success();
}

static LogicalResult checkArguments(func::FuncOp func,
                                    const EntrySignature &signature) {
  llvm::StringMap<size_t> seen;
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    Type type = func.getArgumentTypes()[i];
    std::string what = "argument " + std::to_string(i);
    if (!arg.name.empty())
      what += " (\"" + arg.name.str() + "\")";
    if (arg.roleName.empty())
      return func.emitError() << what
                              << " has no 'aicf.role': expected input, param, "
                                 "state, hyper or constant";
    if (arg.name.empty())
      return func.emitError() << what << " has no 'aicf.name'";
    if (failed(checkTensorType(func, what, type)))
      return failure();
    auto [it, fresh] = seen.try_emplace(arg.name, i);
    if (!fresh)
      return func.emitError() << "arguments " << it->second << " and " << i
                              << " are both named \"" << arg.name << "\"";
    if (arg.role == Role::Hyper && cast<RankedTensorType>(type).getRank() > 1)
      return func.emitError() << what << " is a hyper of type " << type
                              << ", expected a tensor of rank 0 or 1";
    if (failed(checkInit(func, what, arg, type)))
      return failure();
    if ((arg.role == Role::Constant) != bool(arg.data))
      return func.emitError()
             << what << " of role " << arg.roleName
             << (arg.data ? " has 'aicf.data': only constants have it"
                          : " has no 'aicf.data', expected its elements");
    if (arg.isScratch && arg.role != Role::State)
      return func.emitError() << what << " has 'aicf.scratch', but is of role "
                              << arg.roleName << ", expected state";
    for (StringRef mark :
         {kFrozenAttr, kWeightDecayAttr, kRateScaleAttr, kStepLagAttr,
          kGroupAttr})
      if (func.getArgAttr(i, mark) && arg.role != Role::Param)
        return func.emitError()
               << what << " has '" << mark << "', but is of role "
               << arg.roleName << "; only params are trained";
  }
  return success();
}

/// A derived state is updated with its source.
static LogicalResult checkDerivedUpdates(func::FuncOp func,
                                         const EntrySignature &signature) {
  llvm::StringMap<Value> updates;
  for (auto [result, value] : llvm::zip(
           signature.results, func.front().getTerminator()->getOperands()))
    updates[result.updates] = value; // "" where it updates nothing
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    if (arg.derivedFrom.empty())
      continue;
    Value newSource = updates.lookup(arg.derivedFrom);
    Value newValue = updates.lookup(arg.name);
    auto cast = newValue ? newValue.getDefiningOp<CastOp>() : CastOp();
    if (newSource ? !cast || cast.getX() != newSource : bool(newValue))
      return func.emitError()
             << describeDerived(signature, i)
             << "its update must be the aicf.cast of the update of its source";
  }
  return success();
}

static LogicalResult checkUpdate(func::FuncOp func, size_t i, StringRef name,
                                 const EntrySignature &signature,
                                 llvm::StringMap<size_t> &updatedBy) {
  int64_t target = signature.findArgument(name);
  if (target < 0)
    return func.emitError() << "result " << i << " updates \"" << name
                            << "\", but no argument has that name";
  const auto &arg = signature.arguments[target];
  if (arg.role != Role::Param && arg.role != Role::State)
    return func.emitError()
           << "result " << i << " updates \"" << name << "\", which is of role "
           << arg.roleName << "; only params and states may be updated";
  auto [it, fresh] = updatedBy.try_emplace(name, i);
  if (!fresh)
    return func.emitError() << "results " << it->second << " and " << i
                            << " both update \"" << name << "\"";
  Type from = func.getResultTypes()[i], to = func.getArgumentTypes()[target];
  if (from != to)
    return func.emitError() << "result " << i << " of type " << from
                            << " updates \"" << name << "\" of type " << to;
  return success();
}

static LogicalResult checkResults(func::FuncOp func,
                                  const EntrySignature &signature) {
  llvm::StringMap<size_t> outputs, updatedBy;
  for (auto [i, result] : llvm::enumerate(signature.results)) {
    if (result.name.empty() == result.updates.empty())
      return func.emitError()
             << "result " << i
             << (result.name.empty()
                     ? " has neither 'aicf.name' nor 'aicf.updates'"
                     : " has both 'aicf.name' and 'aicf.updates'")
             << ", expected one of them";
    if (!result.updates.empty()) {
      if (failed(checkUpdate(func, i, result.updates, signature, updatedBy)))
        return failure();
      continue;
    }
    auto [it, fresh] = outputs.try_emplace(result.name, i);
    if (!fresh)
      return func.emitError() << "results " << it->second << " and " << i
                              << " are both named \"" << result.name << "\"";
    if (int64_t arg = signature.findArgument(result.name); arg >= 0)
      return func.emitError() << "result " << i << " and argument " << arg
                              << " are both named \"" << result.name << "\"";
  }
  return success();
}

static LogicalResult checkOp(func::FuncOp func, Operation *op) {
  if (op == func || isa<func::ReturnOp>(op))
    return success();
  if (!isa_and_present<AICFDialect>(op->getDialect()))
    return op->emitError() << "'" << op->getName() << "' inside entry @"
                           << func.getName()
                           << ": only aicf ops are legal in an entry";
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(checkTensorType(op, "result " + Twine(i), type)))
      return failure();
  return success();
}

static LogicalResult checkBody(func::FuncOp func) {
  if (failed(checkOneBlock(func)))
    return failure();
  // In loops, too; a map is not expanded yet.
  auto check = [&](Operation *op) -> WalkResult {
    if (failed(checkOp(func, op)))
      return WalkResult::interrupt();
    return isa<MapOp>(op) ? WalkResult::skip() : WalkResult::advance();
  };
  return failure(func.walk<WalkOrder::PreOrder>(check).wasInterrupted());
}

namespace {
/// What the first entry with a persistent name says about it.
struct Shared {
  func::FuncOp func;
  Type type;
  EntrySignature::Argument arg;
};
} // namespace

static LogicalResult checkShared(func::FuncOp func,
                                 const EntrySignature &signature,
                                 llvm::StringMap<Shared> &shared) {
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    Type type = func.getArgumentTypes()[i];
    if (segmentOf(arg.role) != Segment::Persistent)
      continue;
    const Shared &other =
        shared.try_emplace(arg.name, Shared{func, type, arg}).first->second;
    auto text = [](Attribute attr) {
      std::string out = "no aicf.init";
      if (attr)
        llvm::raw_string_ostream(out = "") << attr;
      return out;
    };
    auto disagree = [&](auto ours, auto theirs) -> LogicalResult {
      return func.emitError()
             << "entries disagree about \"" << arg.name << "\": " << ours
             << " in @" << func.getName() << ", " << theirs << " in @"
             << func::FuncOp(other.func).getName();
    };
    if (type != other.type)
      return disagree(type, other.type);
    if (arg.role != other.arg.role)
      return disagree(arg.roleName, other.arg.roleName);
    if (!(arg.init() == other.arg.init()))
      return disagree(text(arg.initAttr), text(other.arg.initAttr));
    if (arg.isScratch != other.arg.isScratch)
      return disagree(arg.isScratch ? "aicf.scratch" : "no aicf.scratch",
                      arg.isScratch ? "no aicf.scratch" : "aicf.scratch");
    if (arg.data != other.arg.data)
      return disagree("some elements", "other elements");
    if (arg.derivedFrom != other.arg.derivedFrom)
      return disagree("derived from \"" + arg.derivedFrom + "\"",
                      "derived from \"" + other.arg.derivedFrom + "\"");
  }
  return success();
}

namespace {
struct VerifyEntries : aicf::impl::VerifyEntriesBase<VerifyEntries> {
  void runOnOperation() override {
    llvm::StringMap<Shared> shared;
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    for (func::FuncOp func : entries) {
      EntrySignature signature(func);
      if (failed(checkArguments(func, signature)) ||
          failed(checkResults(func, signature)) || failed(checkBody(func)) ||
          failed(checkDerived(func, signature)) ||
          failed(checkDerivedUpdates(func, signature)) ||
          failed(checkShared(func, signature, shared)))
        return signalPassFailure();
    }
    if (failed(checkParts(entries)))
      return signalPassFailure();
    for (func::FuncOp func : entries) {
      EntrySignature signature(func);
      for (auto [i, arg] : llvm::enumerate(signature.arguments))
        if (segmentOf(arg.role) == Segment::IO && shared.count(arg.name)) {
          func.emitError() << "argument " << i << " (\"" << arg.name
                           << "\") is an input here but a "
                           << shared[arg.name].arg.roleName << " in @"
                           << shared[arg.name].func.getName();
          return signalPassFailure();
        }
      for (auto [i, result] : llvm::enumerate(signature.results))
        if (shared.count(result.name)) {
          func.emitError() << "result " << i << " is named \"" << result.name
                           << "\" like a " << shared[result.name].arg.roleName
                           << " of @" << shared[result.name].func.getName();
          return signalPassFailure();
        }
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
