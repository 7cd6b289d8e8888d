//===- AICFAttrs.td - optimizers and schedules ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What `aicf.optimizer` on an entry may be. The steps themselves are ops
// (kernels/optimizer/Family.td); here is which of them, with which numbers.
//===----------------------------------------------------------------------===//
#ifndef AICF_ATTRS_TD
#define AICF_ATTRS_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "mlir/IR/AttrTypeBase.td"

def ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    A learning rate as a function of the step: what stands for the name of a hyper
    in an optimizer. An attribute of another dialect may be one.
  }];
  let methods = [
    InterfaceMethod<[{
      The rate of the step that is being taken, a 0-d tensor of `element`; `step`
      is its number, counted from 1 by a state of the entry.
    }], "::mlir::Value", "buildRate",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::Value":$step, "::mlir::Value":$table,
         "::mlir::Type":$element)>,
    InterfaceMethod<[{
      The rows of a table of rates, which is a state of f32 beside the one that
      counts the steps, and `table` above; 0, and null there: it has none.
    }], "int64_t", "getTableRows", (ins), [{}], [{ return 0; }]>
  ];
}

def OptimizerAttrInterface : AttrInterface<"OptimizerAttrInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    How parameters are trained: what `--aicf-append-optimizer` asks of
    `aicf.optimizer`. An attribute of another dialect may be one.
  }];
  let methods = [
    InterfaceMethod<"The name of a hyper, or a schedule.",
                    "::mlir::Attribute", "getRate">,
    InterfaceMethod<"Weight decay of parameters that have none of their own.",
                    "double", "getWeightDecay">,
    InterfaceMethod<"What the global norm of all gradients is clipped to; 0: they "
                    "are not.",
                    "double", "getClipNorm", (ins), "", "return 0;">,
    InterfaceMethod<"How many batches the mean gradient of an update is taken of.",
                    "int64_t", "getAccumulate", (ins), "", "return 1;">,
    InterfaceMethod<"What the states of a parameter W are called behind `W.`: "
                    "as PyTorch calls them.",
                    "::llvm::SmallVector<::llvm::StringRef>", "getStateNames">,
    InterfaceMethod<"How many numbers of a group of parameters the hyper holds, as "
                    "a tensor of f32: the learning rate and others. 0: it holds the "
                    "learning rate, 0-d and of the parameters' type.",
                    "int64_t", "getGroupSize", (ins), "", "return 0;">,
    InterfaceMethod<"Whether buildShared() needs the number of the step.",
                    "bool", "countsSteps", (ins), "", "return false;">,
    InterfaceMethod<"What the steps of all parameters of one element type and one "
                    "hyper, which is `rate`, read and is computed once; null if there "
                    "is nothing.",
                    "::mlir::Value", "buildShared",
                    (ins "::mlir::OpBuilder &":$builder,
                         "::mlir::Location":$loc, "::mlir::Value":$step,
                         "::mlir::Value":$rate, "::mlir::Type":$element),
                    "", "return {};">,
    InterfaceMethod<"The new values of a parameter and of its states.",
                    "::llvm::SmallVector<::mlir::Value>", "buildStep",
                    (ins "::mlir::OpBuilder &":$builder,
                         "::mlir::Location":$loc,
                         "const ::aicf::step::ParameterStep &":$step)>
  ];
}

/// An attribute of named numbers, `#aicf.name<beta1 = 0.9, ...>`: those that are
/// left out have their default. `rate` has it take a learning rate `lr` too.
///   together   what its fields must be together, as rules of its ops ask it:
///              statements on `get(name)` that end with emitError() << ... if not
class AICF_FieldsAttr<string cppName, string attrMnemonic, list<Field> all,
                      bit rate, list<Trait> traits, code together = "">
    : AttrDef<AICF_Dialect, cppName, traits> {
  let mnemonic = attrMnemonic;
  let parameters = (ins "::mlir::DictionaryAttr":$given);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::llvm::ArrayRef<FieldOfAttr> getFields();
    double get(::llvm::StringRef name) const {
      return numberOf(getGiven(), getFields(), name);
    }
  }];
  string definitions = [{
    ::llvm::ArrayRef<FieldOfAttr> $cppClass::getFields() {
      static const FieldOfAttr fields[] = }] # "{"
      # !interleave(!foreach(f, all,
          "{\"" # f.name # "\", aicf::Range::" # f.range.cpp # ", '" # f.format
          # "', " # !if(!eq(f.defaultValue, ""), "std::nullopt",
                        "double(" # f.defaultValue # ")") # "}"), ", ") # "};" # [{
      return fields;
    }
    ::llvm::LogicalResult $cppClass::verify(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> error,
        ::mlir::DictionaryAttr given) {
      [[maybe_unused]] auto get = [&](::llvm::StringRef name) {
        return numberOf(given, getFields(), name);
      };
      [[maybe_unused]] auto emitError = [&] {
        return error() << "#aicf." << getMnemonic() << ": ";
      };
      }] # together # [{
      return ::mlir::success();
    }
    ::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser,
                                       ::mlir::Type) {
      ::llvm::SMLoc start = parser.getCurrentLocation();
      ::mlir::DictionaryAttr given =
          parseFields(parser, getMnemonic(), getFields(), }] # rate # [{);
      return given ? parser.getChecked<$cppClass>(start, parser.getContext(),
                                                  given)
                   : $cppClass();
    }
    void $cppClass::print(::mlir::AsmPrinter &printer) const {
      printFields(printer, getGiven());
    }
  }];
  let extraClassDefinition = definitions;
}

class AICF_Schedule<string name, string mnemonic, list<Field> fields,
                    code together = "", list<string> more = []>
    : AICF_FieldsAttr<name, mnemonic, fields, 0,
                      [DeclareAttrInterfaceMethods<ScheduleAttrInterface, more>],
                      together>;

/// With what every optimizer takes.
class AICF_Optimizer<string name, string mnemonic, list<Field> fields,
                     list<string> more = [], code together = "">
    : AICF_FieldsAttr<name, mnemonic,
          fields # [F64Field<"weight_decay", NonNegative, "0.0">,
                    F64Field<"clip_norm", NonNegative, "0.0">,
                    I64Field<"accumulate", Positive31, "1">], 1,
          [DeclareAttrInterfaceMethods<OptimizerAttrInterface,
               ["getClipNorm", "getAccumulate"] # more>], together> {
  string common = [{
    ::mlir::Attribute $cppClass::getRate() const { return getGiven().get("lr"); }
    double $cppClass::getWeightDecay() const { return get("weight_decay"); }
    double $cppClass::getClipNorm() const { return get("clip_norm"); }
    int64_t $cppClass::getAccumulate() const {
      return int64_t(get("accumulate"));
    }
  }];
  let extraClassDefinition = definitions # common;
}

def AICF_ConstantAttr : AICF_Schedule<"Constant", "constant", [
    F64Field<"value", NonNegative>]> {
  let summary = "the same learning rate in every step";
}
def AICF_LinearAttr : AICF_Schedule<"LinearSchedule", "linear", [
    F64Field<"start", NonNegative>, F64Field<"end", NonNegative, "0.0">,
    I64Field<"steps", Positive31>]> {
  let summary = "from `start` to `end` in `steps` steps, then `end`";
}
def AICF_WarmupCosineAttr : AICF_Schedule<"WarmupCosine", "warmup_cosine", [
    F64Field<"peak", NonNegative>, I64Field<"warmup", Positive31>,
    I64Field<"steps", Positive31>, F64Field<"end", NonNegative, "0.0">], [{
      if (get("steps") <= get("warmup")) {
        return emitError() << "steps is " << int64_t(get("steps"))
                           << ", expected more than warmup, "
                           << int64_t(get("warmup"));
      }
    }]> {
  let summary = "linearly from 0 to `peak` in `warmup` steps, then along a cosine "
                "to `end` at `steps` (Loshchilov & Hutter 2017)";
}

def AICF_CosineAttr : AICF_Schedule<"Cosine", "cosine", [
    F64Field<"start", NonNegative>, I64Field<"steps", Positive31>,
    F64Field<"end", NonNegative, "0.0">]> {
  let summary = "along a cosine from `start` to `end` at `steps`, then `end` "
                "(Loshchilov & Hutter 2017)";
}
def AICF_StepDecayAttr : AICF_Schedule<"StepDecay", "step_decay", [
    F64Field<"start", NonNegative>, F64Field<"factor", Fraction>,
    I64Field<"every", Positive31>]> {
  let summary = "`start`, times `factor` after each `every` steps";
}
def AICF_PolynomialAttr : AICF_Schedule<"Polynomial", "polynomial", [
    F64Field<"start", NonNegative>, I64Field<"steps", Positive31>,
    F64Field<"end", NonNegative, "0.0">, F64Field<"power", NonNegative, "1.0">]> {
  let summary = "end + (start - end)·(1 - step/steps)^power, from `steps` on `end`";
}
def AICF_TableAttr : AICF_Schedule<"Table", "table", [
    I64Field<"rows", Positive31>], "", ["getTableRows"]> {
  let summary = "a rate for each of `rows` steps, then the last one";
  let description = [{
    The rates are a state, `lr_table` beside the state `step`, that whoever runs the
    entry writes.
  }];
}

def AICF_AdamWAttr : AICF_Optimizer<"AdamW", "adamw", [
    F64Field<"beta1", BelowOne, "0.9">, F64Field<"beta2", BelowOne, "0.999">,
    F64Field<"eps", NonNegative, "1e-8">], ["countsSteps", "buildShared"]> {
  let summary = "aicf.adam_step; states W.exp_avg and W.exp_avg_sq";
  let description = [{
    ```mlir
    aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 0.01, clip_norm = 1.0>
    ```
    As of every optimizer, `clip_norm` is what the norm of all gradients together
    is clipped to (0: it is not), and `accumulate` the number of batches that an
    update takes its mean gradient of.
  }];
}
def AICF_AdamAttr : AICF_Optimizer<"Adam", "adam", [
    F64Field<"beta1", BelowOne, "0.9">, F64Field<"beta2", BelowOne, "0.999">,
    F64Field<"eps", NonNegative, "1e-8">], ["countsSteps", "buildShared"]> {
  let summary = "aicf.adam_l2_step; states W.exp_avg and W.exp_avg_sq";
  let description = [{
    `weight_decay` is added to the gradient, as torch.optim.Adam does; adamw decays
    the parameter itself.
  }];
}
def AICF_SGDAttr : AICF_Optimizer<"SGD", "sgd", [
    F64Field<"momentum", NonNegative, "0.0">, BoolField<"nesterov">], [], [{
      if (get("nesterov") != 0 && get("momentum") == 0) {
        return emitError() << "nesterov is true, but momentum is 0";
      }
    }]> {
  let summary = "aicf.sgd_step; with momentum the state W.momentum_buffer";
}
def AICF_LionAttr : AICF_Optimizer<"Lion", "lion", [
    F64Field<"beta1", BelowOne, "0.9">, F64Field<"beta2", BelowOne, "0.99">]> {
  let summary = "aicf.lion_step; state W.exp_avg";
}

/// An optimizer whose numbers are hypers, one tensor for each group of parameters.
class AICF_GroupOptimizer<string name, string mnemonic, list<Field> fields,
                          list<string> more>
    : AICF_FieldsAttr<name, mnemonic,
          fields # [F64Field<"clip_norm", NonNegative, "0.0">,
                    I64Field<"accumulate", Positive31, "1">], 1,
          [DeclareAttrInterfaceMethods<OptimizerAttrInterface,
               ["getClipNorm", "getAccumulate", "getGroupSize"] # more>]> {
  string common = [{
    ::mlir::Attribute $cppClass::getRate() const { return getGiven().get("lr"); }
    double $cppClass::getWeightDecay() const { return 0; }
    double $cppClass::getClipNorm() const { return get("clip_norm"); }
    int64_t $cppClass::getAccumulate() const {
      return int64_t(get("accumulate"));
    }
  }];
  let extraClassDefinition = definitions # common;
}

def AICF_AdamGroupsAttr : AICF_GroupOptimizer<"AdamGroups", "adam_groups",
    [BoolField<"l2">], ["countsSteps", "buildShared"]> {
  let summary = "aicf.adam_group_step; states W.exp_avg and W.exp_avg_sq";
  let description = [{
    ```mlir
    aicf.optimizer = #aicf.adam_groups<lr = "group0", l2 = true, clip_norm = 1.0>
    ```
    Parameters are in groups. `lr` names the hyper of those that do not say another
    one by `aicf.group`. It is [5] of f32, as the op has it, and the host may change
    each of its numbers between steps. With `l2` the decay is in the gradient.
  }];
}
def AICF_SGDGroupsAttr : AICF_GroupOptimizer<"SGDGroups", "sgd_groups",
    [BoolField<"momentum">, BoolField<"nesterov">], []> {
  let summary = "aicf.sgd_group_step; with momentum the state W.momentum_buffer";
  let description = [{
    As adam_groups, with hypers of [3]. Without `momentum` there is no such state, and
    the number is not read.
  }];
}

#endif // AICF_ATTRS_TD
