//===- AICF.h - the aicf dialect --------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_DIALECT_AICF_AICF_H
#define AICF_DIALECT_AICF_AICF_H

#include "aicf/Dialect/AICF/GradientBuilder.h"
#include "aicf/Dialect/AICF/Optimizer.h"
#include "aicf/Ops.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace aicf::step {
/// A state of an optimizer and its new value, with their names in the record.
struct Moment {
  llvm::StringRef name, nextName;
  mlir::Value state;
  mlir::OpResult next;
};
/// What an optimizer trains; `param` and `grad` are null where an op is none.
struct Training {
  mlir::OpOperand *param = nullptr;
  mlir::OpOperand *grad = nullptr;
  llvm::SmallVector<Moment, 2> moments;
  explicit operator bool() const { return param && grad; }
};

/// Ok if the op stands where ops run in their order, which the body of a module
/// does not give, and all operands and results are tensors that a plan can
/// hold.
llvm::LogicalResult verifyStepOp(mlir::Operation *op);

/// An op that shows its operand in another shape or order.
template <typename ConcreteOp>
class ViewOfOperand
    : public mlir::OpTrait::TraitBase<ConcreteOp, ViewOfOperand> {};

/// An op that multiplies matrices.
template <typename ConcreteOp>
class Product : public mlir::OpTrait::TraitBase<ConcreteOp, Product> {};
} // namespace aicf::step

#include "aicf/Dialect/AICF/AICFAttrInterfaces.h.inc"
#include "aicf/Dialect/AICF/AICFDialect.h.inc"
#include "aicf/Dialect/AICF/AICFInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "aicf/Dialect/AICF/AICFAttrs.h.inc"
#define GET_OP_CLASSES
#include "aicf/Dialect/AICF/AICFOps.h.inc"

namespace aicf {
/// aicf, aicf_rt and func.
void registerAllDialects(mlir::DialectRegistry &registry);
} // namespace aicf

namespace aicf::step {

/// f16, bf16, f32 or f64.
bool isFloatElement(mlir::Type type);
/// A tensor that ops take: static, of a type, a rank and a size that the
/// runtime knows. Inference asks before ODS has verified an op.
bool isAbiTensor(mlir::Type type);

/// Names of the attributes users write on entries.
inline constexpr llvm::StringLiteral kRoleAttr = "aicf.role";
inline constexpr llvm::StringLiteral kNameAttr = "aicf.name";
inline constexpr llvm::StringLiteral kInitAttr = "aicf.init";
inline constexpr llvm::StringLiteral kUpdatesAttr = "aicf.updates";
inline constexpr llvm::StringLiteral kDerivedFromAttr = "aicf.derived_from";
/// The elements of an argument of role constant.
inline constexpr llvm::StringLiteral kDataAttr = "aicf.data";
inline constexpr llvm::StringLiteral kHistoryAttr = "aicf.history";
/// On entries: a TargetAttr.
inline constexpr llvm::StringLiteral kTargetAttr = "aicf.target";
/// On the result that is the loss, on parameters that are not trained, on ops
/// whose results backward computes again; on results, written by
/// --aicf-autodiff: the parameter whose gradient it is.
inline constexpr llvm::StringLiteral kMinimizeAttr = "aicf.minimize";
inline constexpr llvm::StringLiteral kFrozenAttr = "aicf.frozen";
inline constexpr llvm::StringLiteral kRecomputeAttr = "aicf.recompute";
inline constexpr llvm::StringLiteral kGradAttr = "aicf.grad";
/// On an argument of role input: the name of the parameter or input whose gradient
/// it stands for. --aicf-autodiff puts the gradient in its place.
inline constexpr llvm::StringLiteral kGradientOfAttr = "aicf.gradient_of";
/// On a 16-bit arith.constant in a map: the f64 that it was before it was rounded,
/// which a field of an op keeps.
inline constexpr llvm::StringLiteral kExactAttr = "aicf.exact";
/// On a matmul, written by --aicf-rematerialize: whether its readers take its
/// matrices turned (isReadTurned()).
inline constexpr llvm::StringLiteral kReadTurnedAttr = "aicf.read_turned";
/// On entries: the optimizer, and the state that multiplies the loss before it
/// is differentiated.
inline constexpr llvm::StringLiteral kOptimizerAttr = "aicf.optimizer";
inline constexpr llvm::StringLiteral kLossScaleAttr = "aicf.loss_scale";
inline constexpr llvm::StringLiteral kStepCountAttr = "aicf.step_count";
/// On parameters, instead of what the optimizer says: its weight decay, and
/// what multiplies its learning rate.
inline constexpr llvm::StringLiteral kWeightDecayAttr = "aicf.weight_decay";
inline constexpr llvm::StringLiteral kRateScaleAttr = "aicf.lr_scale";
/// On a parameter: how many updates fewer than the entry counts it has had.
inline constexpr llvm::StringLiteral kStepLagAttr = "aicf.step_lag";
/// On a parameter: the hyper with the numbers of its group of parameters.
inline constexpr llvm::StringLiteral kGroupAttr = "aicf.group";
/// Labels written by --aicf-number-values: on ops (array of result labels), on
/// arguments, and the counts on the function.
inline constexpr llvm::StringLiteral kVidsAttr = "aicf.vids";
inline constexpr llvm::StringLiteral kVidAttr = "aicf.vid";
inline constexpr llvm::StringLiteral kValuesAttr = "aicf.values";
inline constexpr llvm::StringLiteral kNodesAttr = "aicf.nodes";
/// How many batches make an update of an entry, 2 or more.
inline constexpr llvm::StringLiteral kAccumulateAttr = "aicf.accumulate";
/// On a state: it is written before it is read in each run of an entry, so that
/// no checkpoint needs it.
inline constexpr llvm::StringLiteral kScratchAttr = "aicf.scratch";
/// On an entry: the entry of which it is a part, and how often the part runs.
inline constexpr llvm::StringLiteral kPartOfAttr = "aicf.part_of";
inline constexpr llvm::StringLiteral kRepeatAttr = "aicf.repeat";
/// Further outputs of a step: "grad_norm", "grad:W".
inline constexpr llvm::StringLiteral kOutputsAttr = "aicf.outputs";
/// nameOf(OutputForm) of an entry's outputs.
inline constexpr llvm::StringLiteral kOutputFormAttr = "aicf.output_form";

} // namespace aicf::step

#endif // AICF_DIALECT_AICF_AICF_H
