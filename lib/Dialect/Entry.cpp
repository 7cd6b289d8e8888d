//===- Entry.cpp - the signature of an entry ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/Tensors.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static bool hasAicfAttr(ArrayAttr dictionaries) {
  if (!dictionaries)
    return false;
  for (Attribute dictionary : dictionaries)
    for (NamedAttribute attr : cast<DictionaryAttr>(dictionary))
      if (attr.getName().strref().starts_with("aicf."))
        return true;
  return false;
}

bool aicf::step::isEntry(func::FuncOp func) {
  if (!func.isPublic() || func.isDeclaration())
    return false; // MLIR itself refuses public declarations
  for (NamedAttribute attr : func->getDiscardableAttrs())
    if (attr.getName().strref().starts_with("aicf."))
      return true;
  return hasAicfAttr(func.getArgAttrsAttr()) ||
         hasAicfAttr(func.getResAttrsAttr());
}

LogicalResult aicf::step::checkOneBlock(func::FuncOp func) {
  if (llvm::hasSingleElement(func.getBody()) &&
      isa<func::ReturnOp>(func.front().back()))
    return success();
  return func.emitError() << "entry @" << func.getName()
                          << " must have one block that ends in func.return, "
                             "got "
                          << func.getBody().getBlocks().size() << " blocks";
}

std::string aicf::step::describeDerived(const EntrySignature &signature,
                                        size_t i) {
  const EntrySignature::Argument &arg = signature.arguments[i];
  return ("argument " + Twine(i) + " (\"" + arg.name +
          "\") is derived from \"" + arg.derivedFrom + "\": ")
      .str();
}

LogicalResult aicf::step::checkDerived(func::FuncOp func,
                                       const EntrySignature &signature) {
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    if (arg.derivedFrom.empty())
      continue;
    auto refuse = [&](const Twine &why) -> LogicalResult {
      return func.emitError() << describeDerived(signature, i) << why;
    };
    int64_t source = signature.findArgument(arg.derivedFrom);
    if (source < 0 || source > static_cast<int64_t>(i))
      return refuse("no argument before it has that name");
    auto from = cast<RankedTensorType>(func.getArgumentTypes()[source]);
    auto to = cast<RankedTensorType>(func.getArgumentTypes()[i]);
    const auto &sourceArg = signature.arguments[source];
    if (arg.role != Role::State || arg.initAttr ||
        !sourceArg.derivedFrom.empty() ||
        (sourceArg.role != Role::Param && sourceArg.role != Role::State))
      return refuse("a state without 'aicf.init' may be derived from a param "
                    "or state that is not derived itself");
    if (from.getShape() != to.getShape() ||
        from.getElementType() == to.getElementType() ||
        !isa<FloatType>(from.getElementType()) ||
        !isa<FloatType>(to.getElementType()))
      return refuse("expected the same shape and another float type");
  }
  return success();
}

LogicalResult aicf::step::checkStepForm(func::FuncOp func) {
  if (failed(checkOneBlock(func)))
    return failure();
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (failed(checkTensorType(func, "argument " + Twine(i), type)))
      return failure();
  return checkDerived(func, EntrySignature(func));
}

llvm::DenseSet<Operation *> aicf::step::findUpdateOps(func::FuncOp func) {
  llvm::DenseSet<Operation *> update;
  for (Operation &op : func.front().without_terminator()) {
    auto step = dyn_cast<StepOpInterface>(op);
    bool reads = llvm::any_of(op.getOperands(), [&](Value v) {
      return update.contains(v.getDefiningOp());
    });
    if (reads || (step && isUpdateHalf(step.getPhase())))
      update.insert(&op);
  }
  return update;
}

bool aicf::step::hasLoss(func::FuncOp func) {
  return llvm::any_of(llvm::seq(func.getNumResults()), [&](unsigned i) {
    return bool(func.getResultAttr(i, kMinimizeAttr));
  });
}

Training aicf::step::trainingOf(Operation *op) {
  auto step = dyn_cast<StepOpInterface>(op);
  return step ? step.getTraining() : Training();
}

SmallVector<func::FuncOp> aicf::step::getEntries(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto func : module.getOps<func::FuncOp>())
    if (isEntry(func))
      entries.push_back(func);
  return entries;
}

LogicalResult aicf::step::checkTensorType(Operation *op, const Twine &what,
                                          Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding() || !toDType(tensor.getElementType()))
    return op->emitError() << what << " is " << type
                           << ", expected a ranked tensor of f16, bf16, f32, "
                              "f64, i32, i64 or i1 without encoding";
  if (!tensor.hasStaticShape())
    return op->emitError()
           << what << " is " << type
           << " with a dynamic dimension; shapes are static: give every "
              "dimension a number, and compile one entry per batch size";
  if (llvm::is_contained(tensor.getShape(), 0))
    return op->emitError() << what << " is " << type
                           << " with a dimension of size 0, expected 1 or more";
  if (tensor.getRank() > static_cast<int64_t>(kMaxRank))
    return op->emitError() << what << " is " << type << " of rank "
                           << tensor.getRank() << ", the limit is " << kMaxRank;
  if (!checkedBytes(toDenseDesc(tensor)))
    return op->emitError() << what << " is " << type
                           << ", expected dimensions below 2^31 and up to 64 "
                              "TiB";
  return success();
}

std::optional<Role> aicf::step::parseArgumentRole(StringRef name) {
  std::optional<Role> role = parseEnum<Role>(name, kNumRoles);
  return role && isArgument(*role) ? role : std::nullopt;
}

static StringRef textOf(StringAttr text) {
  return text ? text.getValue() : StringRef();
}

static DictionaryAttr dictionaryAt(ArrayAttr dictionaries, size_t i,
                                   MLIRContext *context) {
  return dictionaries ? cast<DictionaryAttr>(dictionaries[i])
                      : DictionaryAttr::get(context);
}

Initializer EntrySignature::Argument::init() const {
  if (!derivedFrom.empty())
    return {};
  if (initAttr)
    return *parseInitializer(initAttr);
  return {role == Role::State ? InitKind::Zeros : InitKind::None};
}

// Every pass makes one: attributes are found by their interned names, and
// arguments by theirs.
EntrySignature::EntrySignature(Operation *op) : context(op->getContext()) {
  auto func = cast<func::FuncOp>(op);
  StringAttr nameKey = StringAttr::get(context, kNameAttr),
             roleKey = StringAttr::get(context, kRoleAttr),
             initKey = StringAttr::get(context, kInitAttr),
             dataKey = StringAttr::get(context, kDataAttr),
             derivedFromKey = StringAttr::get(context, kDerivedFromAttr),
             updatesKey = StringAttr::get(context, kUpdatesAttr);
  ArrayAttr argAttrs = func.getArgAttrsAttr(),
            resAttrs = func.getResAttrsAttr();
  arguments.reserve(func.getNumArguments());
  byName.reserve(func.getNumArguments());
  for (size_t i = 0, e = func.getNumArguments(); i < e; ++i) {
    DictionaryAttr attrs = dictionaryAt(argAttrs, i, context);
    Argument arg;
    auto name = attrs.getAs<StringAttr>(nameKey);
    arg.name = textOf(name);
    arg.roleName = textOf(attrs.getAs<StringAttr>(roleKey));
    arg.role = parseArgumentRole(arg.roleName).value_or(Role::Input);
    arg.initAttr = attrs.get(initKey);
    arg.data = attrs.getAs<DenseElementsAttr>(dataKey);
    arg.derivedFrom = textOf(attrs.getAs<StringAttr>(derivedFromKey));
    arg.isScratch = attrs.contains(kScratchAttr);
    if (name)
      byName.try_emplace(name, i);
    arguments.push_back(arg);
  }
  for (size_t i = 0, e = func.getNumResults(); i < e; ++i) {
    DictionaryAttr attrs = dictionaryAt(resAttrs, i, context);
    auto updates = attrs.getAs<StringAttr>(updatesKey);
    auto it = updates ? byName.find(updates) : byName.end();
    results.push_back({textOf(attrs.getAs<StringAttr>(nameKey)),
                       textOf(updates), it == byName.end() ? -1 : it->second});
  }
}

int64_t EntrySignature::findArgument(StringRef name) const {
  auto it = byName.find(StringAttr::get(context, name));
  return it == byName.end() ? -1 : it->second;
}
