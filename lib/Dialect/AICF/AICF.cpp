//===- AICF.cpp - the aicf dialect ----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Registration and the checks of aicf.* attributes that look at one attribute
// at a time. What needs the whole entry is --aicf-verify-entries.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/Tensors.h"
#include "lib/Dialect/Entry.h"
#include "lib/Dialect/AICF/Initializer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

#include <cmath>

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

#include "aicf/Dialect/AICF/AICFDialect.cpp.inc"
#include "aicf/Dialect/AICF/AICFInterfaces.cpp.inc"

namespace {
/// Ops have no regions and no side effects: they may stand wherever a call
/// stood.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
};
} // namespace

void AICFDialect::initialize() {
  registerAttributes();
  addInterfaces<Inliner>();
  addOperations<
#define GET_OP_LIST
#include "aicf/Dialect/AICF/AICFOps.cpp.inc"
      >();
}

/// `attr` must be a non-empty string, of no type: names are compared as
/// attributes.
static LogicalResult checkString(Operation *op, NamedAttribute attr) {
  auto text = dyn_cast<StringAttr>(attr.getValue());
  if (!text || text.empty() || !isa<NoneType>(text.getType()))
    return op->emitError() << "'" << attr.getName().getValue()
                           << "' must be a non-empty string, got "
                           << attr.getValue();
  return success();
}

static LogicalResult checkUnit(Operation *op, NamedAttribute attr) {
  if (isa<UnitAttr>(attr.getValue()))
    return success();
  return op->emitError() << "'" << attr.getName().getValue()
                         << "' takes no value, got " << attr.getValue();
}

static LogicalResult checkF64(Operation *op, NamedAttribute attr) {
  auto number = dyn_cast<FloatAttr>(attr.getValue());
  if (number && number.getType().isF64())
    return success();
  return op->emitError() << "'" << attr.getName().getValue()
                         << "' must be an f64, got " << attr.getValue();
}

/// 'aicf.exact' is the number that the constant rounds.
static LogicalResult checkExact(Operation *op, NamedAttribute attr) {
  auto rounded = dyn_cast<FloatAttr>(cast<arith::ConstantOp>(op).getValue());
  auto exact = cast<FloatAttr>(attr.getValue()).getValue();
  bool losesInfo;
  if (rounded)
    exact.convert(rounded.getValue().getSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  if (rounded && (exact.bitwiseIsEqual(rounded.getValue()) ||
                  (exact.isNaN() && rounded.getValue().isNaN())))
    return success();
  return op->emitError() << "'aicf.exact' is " << attr.getValue()
                         << ", expected a number that rounds to "
                         << cast<arith::ConstantOp>(op).getValue();
}

LogicalResult AICFDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kVidsAttr) {
    auto vids = dyn_cast<DenseI64ArrayAttr>(attr.getValue());
    if (!vids || vids.size() != static_cast<int64_t>(op->getNumResults()))
      return op->emitError()
             << "'aicf.vids' must be an array of " << op->getNumResults()
             << " labels, got " << attr.getValue();
    return success();
  }
  if (name == kRecomputeAttr && !isa<FunctionOpInterface>(op))
    return isa<UnitAttr>(attr.getValue()) ? success() : checkString(op, attr);
  if (name == kReadTurnedAttr && isa<MatmulOp>(op)) {
    if (isa<BoolAttr>(attr.getValue()))
      return success();
    return op->emitError() << "'aicf.read_turned' must be true or false, got "
                           << attr.getValue();
  }
  if (name == kExactAttr && isa<arith::ConstantOp>(op))
    return failure(failed(checkF64(op, attr)) || failed(checkExact(op, attr)));
  if (!isa<FunctionOpInterface>(op))
    return op->emitError() << "unexpected attribute '" << name
                           << "': only functions carry it";
  if (name == kLossScaleAttr || name == kStepCountAttr)
    return checkString(op, attr);
  if (name == kOptimizerAttr) {
    if (isa<OptimizerAttrInterface>(attr.getValue()))
      return success();
    return op->emitError() << "'aicf.optimizer' must be an optimizer, such as "
                              "#aicf.adamw<lr = \"lr\">, got "
                           << attr.getValue();
  }
  if (name == kTargetAttr) {
    if (isa<TargetAttr>(attr.getValue()))
      return success();
    return op->emitError() << "'aicf.target' must be a target, such as "
                              "#aicf.target<cuda>, got "
                           << attr.getValue();
  }
  if (name == kAccumulateAttr) {
    auto batches = dyn_cast<IntegerAttr>(attr.getValue());
    if (batches && batches.getType().isInteger(64) && batches.getInt() >= 2 &&
        batches.getInt() <= INT32_MAX)
      return success();
    return op->emitError() << "'aicf.accumulate' must be an i64 from 2 to "
                           << INT32_MAX << ", got " << attr.getValue();
  }
  if (name == kPartOfAttr)
    return checkString(op, attr);
  if (name == kRepeatAttr) {
    auto times = dyn_cast<IntegerAttr>(attr.getValue());
    if (times && times.getType().isInteger(64) && times.getInt() >= 1 &&
        times.getInt() <= INT32_MAX && op->hasAttr(kPartOfAttr))
      return success();
    return op->emitError() << "'aicf.repeat' must be an i64 from 1 to "
                           << INT32_MAX << " beside 'aicf.part_of', got "
                           << attr.getValue();
  }
  if (name == kOutputsAttr) {
    auto names = dyn_cast<ArrayAttr>(attr.getValue());
    if (names && !names.empty() && llvm::all_of(names, [](Attribute each) {
          return isa<StringAttr>(each);
        }))
      return success();
    return op->emitError() << "'aicf.outputs' must be an array of names, such "
                              "as [\"grad_norm\"], got "
                           << attr.getValue();
  }
  if (name == kOutputFormAttr) {
    auto form = dyn_cast<StringAttr>(attr.getValue());
    if (form && parseEnum<OutputForm>(form.strref(), kNumOutputForms))
      return success();
    return op->emitError() << "'aicf.output_form' must be the name of a form, "
                              "such as \"tuple\", got "
                           << attr.getValue();
  }
  if (name == kValuesAttr || name == kNodesAttr) {
    if (!isa<IntegerAttr>(attr.getValue()))
      return op->emitError()
             << "'" << name << "' must be an integer, got " << attr.getValue();
    return success();
  }
  return op->emitError() << "unknown attribute '" << name
                         << "' on a function; known are aicf.target, "
                            "aicf.optimizer, aicf.loss_scale, aicf.step_count, "
                            "aicf.accumulate, aicf.part_of, aicf.repeat, "
                            "aicf.outputs, aicf.output_form, "
                            "aicf.values and aicf.nodes";
}

/// A finite number may be infinite in the argument's type.
static LogicalResult checkInit(Operation *op, unsigned arg,
                               NamedAttribute attr) {
  auto init = parseInitializer(attr.getValue());
  if (!init)
    return op->emitError()
           << "'aicf.init' must be a finite number, \"none\", \"zeros\", "
              "\"ones\", \"uniform_fan_in\", \"normal\" or "
              "\"normal:STDDEV\", got "
           << attr.getValue();
  Type type = cast<FunctionOpInterface>(op).getArgumentTypes()[arg];
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element)
    return success();
  llvm::APFloat value(init->value);
  bool losesInfo;
  value.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  if (value.isFinite())
    return success();
  return op->emitError() << "'aicf.init' is " << attr.getValue()
                         << ", which is infinite in " << element;
}

static LogicalResult checkData(Operation *op, unsigned arg,
                               NamedAttribute attr) {
  auto data = dyn_cast<DenseElementsAttr>(attr.getValue());
  Type type = cast<FunctionOpInterface>(op).getArgumentTypes()[arg];
  if (data && data.getType() == type && isAbiTensor(type) &&
      toDenseDesc(cast<RankedTensorType>(type)).spanBytes() <=
          kMaxConstantBytes)
    return success();
  return op->emitError() << "'aicf.data' must be dense elements of " << type
                         << ", of up to " << kMaxConstantBytes << " bytes";
}

LogicalResult AICFDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned arg,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kNameAttr || name == kDerivedFromAttr || name == kGroupAttr)
    return checkString(op, attr);
  if (name == kRoleAttr) {
    auto role = dyn_cast<StringAttr>(attr.getValue());
    if (!role || !parseArgumentRole(role.getValue()))
      return op->emitError() << "'aicf.role' must be \"input\", \"param\", "
                                "\"state\", \"hyper\" or \"constant\", got "
                             << attr.getValue();
    return success();
  }
  if (name == kInitAttr)
    return checkInit(op, arg, attr);
  if (name == kDataAttr)
    return checkData(op, arg, attr);
  if (name == kGradientOfAttr)
    return checkString(op, attr);
  if (name == kFrozenAttr || name == kScratchAttr)
    return checkUnit(op, attr);
  if (name == kWeightDecayAttr || name == kRateScaleAttr) {
    auto number = dyn_cast<FloatAttr>(attr.getValue());
    if (number && number.getValueAsDouble() >= 0 &&
        std::isfinite(number.getValueAsDouble()))
      return success();
    return op->emitError() << "'" << name
                           << "' must be a finite number >= 0, got "
                           << attr.getValue();
  }
  if (name == kStepLagAttr) {
    auto steps = dyn_cast<IntegerAttr>(attr.getValue());
    if (steps && steps.getType().isInteger(64) && steps.getInt() >= 0 &&
        steps.getInt() <= INT32_MAX)
      return success();
    return op->emitError()
           << "'aicf.step_lag' must be a number of updates in [0, 2^31), got "
           << attr.getValue();
  }
  if (name == kVidAttr) {
    if (!isa<IntegerAttr>(attr.getValue()))
      return op->emitError()
             << "'aicf.vid' must be an integer, got " << attr.getValue();
    return success();
  }
  return op->emitError()
         << "unknown attribute '" << name
         << "' on an argument; known are aicf.role, aicf.name, "
            "aicf.init, aicf.data, aicf.frozen, aicf.weight_decay, "
            "aicf.lr_scale, aicf.step_lag, aicf.group, aicf.scratch, "
            "aicf.gradient_of, aicf.derived_from and aicf.vid";
}

LogicalResult AICFDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned,
                                                       NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kNameAttr || name == kUpdatesAttr || name == kGradAttr)
    return checkString(op, attr);
  if (name == kMinimizeAttr)
    return checkUnit(op, attr);
  if (name == kHistoryAttr) {
    auto steps = dyn_cast<IntegerAttr>(attr.getValue());
    if (!steps || steps.getInt() < 1 || steps.getInt() > INT32_MAX)
      return op->emitError()
             << "'aicf.history' must be a number of steps in [1, 2^31), got "
             << attr.getValue();
    return success();
  }
  return op->emitError() << "unknown attribute '" << name
                         << "' on a result; known are aicf.name, aicf.updates, "
                            "aicf.minimize, aicf.grad and aicf.history";
}
