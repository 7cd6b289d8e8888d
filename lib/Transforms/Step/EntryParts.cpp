//===- EntryParts.cpp - entries that run in parts -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/EntryParts.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// One entry will have these inputs and outputs.
static LogicalResult checkPartsIO(ArrayRef<func::FuncOp> parts) {
  llvm::StringMap<Type> inputs;
  llvm::StringSet<> outputs;
  for (func::FuncOp func : parts) {
    EntrySignature signature(func);
    for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
      Type type = func.getArgumentTypes()[i];
      if (segmentOf(arg.role) == Segment::IO &&
          inputs.try_emplace(arg.name, type).first->second != type)
        return func.emitError() << "\"" << arg.name << "\" is " << type
                                << ", and in another part of the entry "
                                << inputs[arg.name];
    }
    for (const auto &result : signature.results)
      if (!result.name.empty() && !outputs.insert(result.name).second)
        return func.emitError() << "\"" << result.name
                                << "\" is an output of two parts of an entry";
  }
  for (auto &name : outputs)
    if (inputs.contains(name.getKey()))
      return func::FuncOp(parts.back()).emitError()
             << "\"" << name.getKey() << "\" is an input of one part of the "
             << "entry, and an output of another one";
  return success();
}

LogicalResult aicf::step::checkParts(ArrayRef<func::FuncOp> entries) {
  llvm::StringMap<SmallVector<func::FuncOp>> open; // by the name of the entry
  for (func::FuncOp func : entries) {
    auto root = func->getAttrOfType<StringAttr>(kPartOfAttr);
    SmallVector<func::FuncOp> &parts =
        open[root ? root : func.getSymNameAttr()];
    parts.push_back(func);
    for (StringRef mark : {kOptimizerAttr, kAccumulateAttr})
      if (parts.size() + (root ? 1 : 0) > 1 && func->hasAttr(mark))
        return func.emitError() << "'" << mark << "' on an entry in parts: an "
                                << "optimizer wants the whole step in one";
    if (parts.size() + (root ? 1 : 0) > 1 && hasLoss(func))
      return func.emitError() << "'aicf.minimize' in an entry in parts: a loss "
                                 "is differentiated in one function";
    if (root)
      continue;
    if (failed(checkPartsIO(parts)))
      return failure();
    open.erase(func.getName());
  }
  for (auto &entry : open)
    return entry.second.front().emitError()
           << "'aicf.part_of' names @" << entry.first()
           << ", which is not an entry behind this one";
  return success();
}

bool aicf::step::hasRepeat(func::FuncOp func) {
  return func
      .walk([](RepeatOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// One op of an entry with loops.
static LogicalResult checkOp(func::FuncOp func, Operation *op) {
  if (op == func)
    return success();
  bool isInside = op->getParentOp() != func;
  if (isa<RepeatOp>(op) && isInside)
    return op->emitOpError() << "stands inside of another one: only the top "
                                "level of an entry has repeats";
  if (op->getNumRegions() > 0 && !isa<RepeatOp>(op))
    return op->emitOpError() << "has a region, in an entry with an aicf.repeat";
  // A record is told the run by its number. A draw would be the same in each
  // run, or by that number in each step.
  auto step = dyn_cast<StepOpInterface>(op);
  if (isInside && step && step.getCounterOperand() && !isa<RecordOp>(op))
    return op->emitOpError() << "capture safety: inside of an aicf.repeat it "
                                "would compute from the same count in each "
                                "run, or in each step";
  return success();
}

LogicalResult aicf::step::checkRepeats(func::FuncOp func,
                                       ArrayRef<func::FuncOp> entries) {
  if (failed(checkStepForm(func)) ||
      func.walk([&](Operation *op) -> WalkResult {
            return checkOp(func, op);
          }).wasInterrupted())
    return failure();
  std::string name = func.getName().str();
  auto isTaken = [&](StringRef other) {
    return other.starts_with(name + ".repeat") ||
           other.starts_with(name + ".cross");
  };
  for (func::FuncOp entry : entries) {
    if (entry.getName().starts_with(name + ".part"))
      return func.emitError() << "its loops become entries such as @"
                              << entry.getName() << ", which is there already";
    for (auto [i, arg] : llvm::enumerate(EntrySignature(entry).arguments))
      if (arg.name.empty() || isTaken(arg.name)) {
        InFlightDiagnostic error = entry.emitError() << "argument " << i;
        if (arg.name.empty())
          return error << " has no name, which an entry with loops needs";
        return error << " is named \"" << arg.name
                     << "\", as the states of the loops of @" << name
                     << " are: give it or the entry another name";
      }
  }
  return success();
}

PartBuilder::PartBuilder(func::FuncOp entry, unsigned number, Location loc,
                         int64_t times) {
  OpBuilder builder(entry);
  func = func::FuncOp::create(
      builder, loc, (entry.getName() + ".part" + Twine(number)).str(),
      builder.getFunctionType({}, {}));
  func.addEntryBlock();
  if (Attribute target = entry->getAttr(kTargetAttr))
    func->setAttr(kTargetAttr, target);
  func->setAttr(kPartOfAttr, entry.getSymNameAttr());
  if (times > 1)
    func->setAttr(kRepeatAttr, builder.getI64IntegerAttr(times));
}

Value PartBuilder::argument(const Carrier &carrier) {
  Value &argument = arguments[carrier.name];
  if (argument)
    return argument;
  Builder builder(func.getContext());
  NamedAttribute ofState[] = {
      builder.getNamedAttr(kNameAttr, builder.getStringAttr(carrier.name)),
      builder.getNamedAttr(kRoleAttr, builder.getStringAttr("state")),
      builder.getNamedAttr(kScratchAttr, builder.getUnitAttr())};
  argument = func.front().addArgument(carrier.type, func.getLoc());
  argAttrs.push_back(carrier.attrs ? carrier.attrs
                                   : builder.getDictionaryAttr(ofState));
  return argument;
}

void PartBuilder::update(Value value, const Carrier &carrier) {
  if (value == argument(carrier)) // which an update wants
    return;
  Builder builder(func.getContext());
  returned.push_back(value);
  resAttrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
      kUpdatesAttr, builder.getStringAttr(carrier.name))));
}

void PartBuilder::finish() {
  if (returned.empty())
    return func.erase();
  OpBuilder builder = OpBuilder::atBlockEnd(&func.front());
  func::ReturnOp::create(builder, func.getLoc(), returned);
  func.setFunctionType(builder.getFunctionType(
      func.front().getArgumentTypes(), ValueRange(returned).getTypes()));
  func.setAllArgAttrs(argAttrs);
  func.setAllResultAttrs(resAttrs);
}
