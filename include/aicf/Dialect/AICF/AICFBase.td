//===- AICFBase.td - the aicf dialect and its types -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// kernels/<family>/Family.td includes this file and defines the ops.
// AICFInterfaces.td defines the op interfaces.
//===----------------------------------------------------------------------===//
#ifndef AICF_BASE_TD
#define AICF_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "aicf/Dialect/AICF/AICFInterfaces.td"
include "aicf/Dialect/Record.td"

def AICF_Dialect : Dialect {
  let name = "aicf";
  let cppNamespace = "aicf::step";
  let summary = "A training step as ops on tensors, without devices or memory";
  let description = [{
    This is the top level of AICF. A training step is a public `func.func` on static tensors.
    The level below is `aicf_rt`, where one op is one kernel call.

    A public function with any `aicf.*` attribute on itself, its arguments or its results is an
    **entry**. Every argument of an entry has `aicf.role` (`input`, `param`, `state` or
    `hyper`; the compiler adds `constant`) and `aicf.name`. Every result has either
    `aicf.name`, which makes it an output, or `aicf.updates`. The latter names the param or
    state that takes the value at the end of the step. All updates are one parallel assignment:
    every read in the step sees the old value.

    `aicf.init` on a param or state says how it starts: `"zeros"` (the default of a state),
    `"ones"`, `"uniform_fan_in"`, `"normal"` (with standard deviation 1), `"normal:0.02"` (with
    another one), or a number.

    You may write only the forward function of a step. `--aicf-autodiff` and
    `--aicf-append-optimizer` then add the rest. These attributes tell them what you want:

    - On a result, `aicf.minimize` marks the loss.
    - On the function, `aicf.optimizer` says how to train the parameters
      (`#aicf.adamw<lr = "lr">`). `aicf.loss_scale = "scale"` names a state that multiplies the
      loss. `aicf.step_count = "count"` names the state that counts the steps of the optimizer.
    - On a parameter, `aicf.frozen` excludes it from training. `aicf.weight_decay = 0.0`
      replaces the weight decay of the optimizer, and `aicf.lr_scale = 0.5` multiplies the
      learning rate. `aicf.step_lag = 3` says that the parameter has had 3 updates fewer than
      the step counts. `aicf.group = "group1"` names the hyper with the numbers of the
      parameter's group (`#aicf.adam_groups`).
    - On an op, `aicf.recompute` lets the backward pass compute the results again, so that the
      step need not keep them. `aicf.recompute = "block3"` makes the op a member of a block:
      what the block computes for other ops is kept, and nothing else of it.
    - On a 16-bit `arith.constant` in a map, `aicf.exact = 1.0e-8 : f64` is the number before
      it was rounded. A field of an op keeps this number.

    A step may be cut into **parts**, some of which run several times: the body of a loop is an
    entry. `aicf.part_of = "step"` makes a function a part of the entry `@step`, which stands
    behind all of its parts and is the last one itself. `aicf.repeat = 100` lets the part run
    100 times in a row. The parts share the inputs of `@step`, and each output comes from one
    of them. What one part gives to another, or a run to the next, is a state; `aicf.scratch` on
    it says that no checkpoint needs it, because each run of the entry writes it first.

    A value that changes from step to step is a tensor and never an attribute, because a
    captured graph would freeze an attribute (`--aicf-check-capture-safety`).

    The passes accept any module with such functions. After `--aicf-lower-to-rt`, no `aicf` op
    is left inside an entry.

    ```mlir
    func.func @train_step(
        %x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
        %t: tensor<64x8xf32>  {aicf.role = "input", aicf.name = "target"},
        %W: tensor<8x32xf32>  {aicf.role = "param", aicf.name = "W",
                               aicf.init = "uniform_fan_in"},
        %lr: tensor<f32>      {aicf.role = "hyper", aicf.name = "lr"})
        -> (tensor<f32>       {aicf.name = "loss"},
            tensor<8x32xf32>  {aicf.updates = "W"}) {
      %y = aicf.linear %x, %W : tensor<64x32xf32>, tensor<8x32xf32>
      %loss = aicf.mse_loss %y, %t : tensor<64x8xf32>, tensor<64x8xf32>
      %dy = aicf.mse_grad %y, %t : tensor<64x8xf32>, tensor<64x8xf32>
      %dx, %dW, %db = aicf.linear_bwd %dy, %x, %W
          : tensor<64x8xf32>, tensor<64x32xf32>, tensor<8x32xf32>
      %W2, %m2 = aicf.sgd_step %W, %dW, %lr
          : tensor<8x32xf32>, tensor<8x32xf32>, tensor<f32>
      return %loss, %W2 : tensor<f32>, tensor<8x32xf32>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  // The bodies of maps consist of their ops.
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let extraClassDeclaration = "void registerAttributes();";
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

/// Every op is Pure, infers its result types and answers what passes ask. All its
/// results always exist; an unused one gets no call.
///   gradient   the statements of buildGradients(g), where `b` is the builder and
///              `loc` the op's location. It is empty for an op that gradients do
///              not go back through
class AICF_Op<string mnemonic, list<Trait> ofOp = []>
    : Op<AICF_Dialect, mnemonic> {
  code gradient = "";
  let traits = ofOp # [Pure, StepOpInterface]
      # !if(!empty(gradient), []<Trait>,
            [DeclareOpInterfaceMethods<DifferentiableOpInterface>]);
  string buildGradients = !if(!empty(gradient), "", [{
    ::llvm::LogicalResult $cppClass::buildGradients(GradientBuilder &g) {
      [[maybe_unused]] ::mlir::OpBuilder &b = g.builder();
      [[maybe_unused]] ::mlir::Location loc = getLoc();
      }] # gradient # [{
      return ::mlir::success();
    }
  }]);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

/// MLIR's InferTypeOpAdaptor, which counts operands first: the parser infers types of
/// what is written, and adaptors read operands by their places.
class AICF_InfersTypes<code declarations = ""> : TraitList<[
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    NativeOpTrait<"InferTypeOpAdaptor", [], [{
      static ::llvm::LogicalResult inferReturnTypes(
          ::mlir::MLIRContext *context,
          std::optional<::mlir::Location> location, Adaptor adaptor,
          ::llvm::SmallVectorImpl<::mlir::Type> &types);
    }] # declarations, [{
      ::llvm::LogicalResult $cppClass::inferReturnTypes(
          ::mlir::MLIRContext *context,
          std::optional<::mlir::Location> location,
          ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
          ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
          ::llvm::SmallVectorImpl<::mlir::Type> &types) {
        if (::mlir::failed(checkOperandCount<$cppClass>(location, operands))) {
          return ::mlir::failure();
        }
        return inferReturnTypes(
            context, location,
            Adaptor(operands, attributes, properties, regions), types);
      }
    }]>]>;

/// An op that is one primitive. It has the operands, fields, rules and facts of the
/// primitive's record.
///   stepAttrs        attributes for what the primitive shows in its result types
///   stepConstraints  constraints that verifyStep() checks; their numbers follow
///                    those of the record
///   counter          the operand that must come from a step_inc, or ""
///   param, grad      of an optimizer, the operand that it trains and the gradient,
///                    else ""; its other ties are its moments
///   more             further declarations
///   moreDefinitions  their definitions
class AICF_OpOf<Primitive record, string mnemonic = record.kindName,
                list<Trait> traits = []>
    : AICF_Op<mnemonic,
          traits # [AICF_InfersTypes<>, RecordOpInterface]
          # !if(HasManyOptional<!foreach(o, record.plain, o.isOptional)>.yes,
                [AttrSizedOperandSegments], []<Trait>)> {
  Primitive primitive = record;
  dag stepAttrs = (ins);
  list<string> stepConstraints = []<string>;
  string counter = "";
  string param = "";
  string grad = "";
  string more = "";
  string moreDefinitions = "";
  let summary = record.summary;
  let description = record.text # Sames<record.operandList>.text
      # Bullets<record.constraints # stepConstraints>.text
      # Ranges<record.fields>.text # "\n";
  let arguments = !con(
      !if(record.hasVariadic, !dag(ins, [Variadic<record.operandList[0].elementTypes.stepType>],
                                 [record.variadicName]), (ins)),
      !dag(ins, !foreach(o, record.plain, o.stepType),
           !foreach(o, record.plain, o.name)),
      !dag(ins, !foreach(f, record.fields, f.odsAttr),
           !foreach(f, record.fields, f.name)),
      stepAttrs);
  let results = !dag(outs, !foreach(r, record.resultList, r.elementTypes.stepType),
                     !foreach(r, record.resultList, r.name));
  let extraClassDeclaration = [{
    static aicf::OpKind getKind() {
      return static_cast<aicf::OpKind>(}] # record.kind # [{);
    }
    aicf::OpKind getPrimitive() { return getKind(); }
    ::llvm::SmallVector<::mlir::Value> getOperandSlots();
    aicf::Phase getPhase() { return aicf::infoOf(getKind()).phase; }
    aicf::Precision getPrecision() {
      return aicf::infoOf(getKind()).precision;
    }
    ::mlir::MutableOperandRange getOptionalOperand(::llvm::StringRef name);
    ::mlir::OpOperand *getKeptOperand();
    ::mlir::OpOperand *getCounterOperand();
    aicf::step::Training getTraining();
  }] # more;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferByRecord<$cppClass>(location, adaptor, types);
    }
    ::llvm::LogicalResult $cppClass::verify() { return verifyByRecord(*this); }
    ::llvm::SmallVector<::mlir::Value> $cppClass::getOperandSlots() {
      return aicf::operandSlotsOf(*this, getKind());
    }
    ::mlir::MutableOperandRange $cppClass::getOptionalOperand(
        ::llvm::StringRef name) {
      return optionalOperandOf(*this, name);
    }
    ::mlir::OpOperand *$cppClass::getKeptOperand() {
      return operandOf(*this, "}] # record.precision.kept # [{");
    }
    ::mlir::OpOperand *$cppClass::getCounterOperand() {
      return operandOf(*this, "}] # counter # [{");
    }
    aicf::step::Training $cppClass::getTraining() {
      return trainingOf(*this, "}] # param # [{", "}] # grad # [{");
    }
  }] # buildGradients # moreDefinitions;
}

/// The derivative of a pointwise function that only compares the operand `compared`.
///   alike   an expression for comparesAlike(function); "" is false
///   mask    the statements of buildMask(b, x), in which `loc` is the op's location; ""
///           returns null. Each op is a statement of its own: C++ does not order arguments
class AICF_ComparingOpOf<Primitive record, string compared, code alike = "",
                         code mask = "">
    : AICF_OpOf<record, record.kindName,
          [DeclareOpInterfaceMethods<ComparingOpInterface,
              !if(!empty(alike), []<string>, ["comparesAlike"])
                # !if(!empty(mask), []<string>, ["buildMask"])>]> {
  let moreDefinitions = [{
    ::mlir::OpOperand &$cppClass::getComparedOperand() {
      return get}] # compared # [{Mutable();
    }
  }] # !if(!empty(alike), "", [{
    bool $cppClass::comparesAlike(::mlir::Operation *function) {
      return }] # alike # [{;
    }
  }]) # !if(!empty(mask), "", [{
    ::mlir::Value $cppClass::buildMask(::mlir::OpBuilder &b, ::mlir::Value x) {
      ::mlir::Location loc = getLoc();
      }] # mask # [{
    }
  }]);
}

/// An op that lowers to several primitives. Its check() tests the constraints
/// C1..Cn; type inference and the verifier both call it.
class AICF_Composite<string mnemonic, Phase phase, Precision precision,
                     list<Trait> more = []>
    : AICF_Op<mnemonic, [AICF_InfersTypes<[{
        static ::llvm::LogicalResult
        check(Adaptor adaptor,
              ::llvm::function_ref<::mlir::InFlightDiagnostic()> report);
      }]>] # more> {
  Phase stepPhase = phase;
  let extraClassDeclaration = [{
    aicf::Phase getPhase() { return aicf::Phase::}] # phase.cpp # [{; }
    aicf::Precision getPrecision() {
      return aicf::Precision::}] # precision.cpp # [{;
    }
  }];
  let extraClassDefinition = buildGradients;
}

#endif // AICF_BASE_TD
