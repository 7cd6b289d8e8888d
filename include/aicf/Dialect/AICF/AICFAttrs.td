//===- AICFAttrs.td - targets, optimizers and schedules -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// These attributes are what `aicf.target` and `aicf.optimizer` on an entry may be.
// The steps themselves are ops (kernels/optimizer/Family.td). An attribute says which of
// them to use, and with which numbers.
//===----------------------------------------------------------------------===//
#ifndef AICF_ATTRS_TD
#define AICF_ATTRS_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "mlir/IR/AttrTypeBase.td"

def AICF_TargetAttr : AttrDef<AICF_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "what an entry is compiled for";
  let description = [{
    An entry says by `aicf.target = #aicf.target<cuda>` for which device it is compiled. Passes
    and kernels ask it, and they have no option for it. An entry without one gets that of
    `--aicf-set-target`, which the pipeline runs first, with its own options.

    - The device is `cpu` or `cuda`.
    - `costs` names a profile of the device: the numbers by which passes decide what is faster.
      `aicf-plan costs` lists them. Without it, it is the first one of the device: `cpu`, or
      `h200`. A card that has no profile is served by one of a card like it.
    - `math = "tf32"` lets products of f32 be computed by tensor cores, which round their
      operands to 11 bits. `"f32"` is the default.
    - A number of the profile may be given under its name: of a card that has no profile, or
      in a test.

    Which plan is made follows from the target, and whether a plan runs does not: a plan for
    `costs = "a100"` runs on an H200.

    ```mlir
    func.func private @default() attributes {aicf.target = #aicf.target<cuda>}
    func.func private @named() attributes {aicf.target = #aicf.target<cuda, costs = "a100", math = "tf32">}
    func.func private @own() attributes {aicf.target = #aicf.target<cuda, costs = "rtx4090", multiprocessors = 36>}
    ```
  }];
  let parameters = (ins AttrParameter<"::aicf::DeviceKind", "cpu or cuda">:$device,
                        "::mlir::DictionaryAttr":$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    A schedule gives the learning rate as a function of the step. It stands in an optimizer in
    place of the name of a hyper. An attribute of another dialect may implement this interface.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the rate of the current step, a 0-d tensor of `element`. `step` is the number of
      the step. A state of the entry counts it from 1. `table` is what getTableRows() asks for.
    }], "::mlir::Value", "buildRate",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::Value":$step, "::mlir::Value":$table,
         "::mlir::Type":$element)>,
    InterfaceMethod<[{
      Returns the number of rows of the schedule's table of rates. The table is a state of f32
      beside the state that counts the steps; buildRate() gets it as `table`. A schedule without
      a table returns 0, and gets null.
    }], "int64_t", "getTableRows", (ins), [{}], [{ return 0; }]>
  ];
}

def OptimizerAttrInterface : AttrInterface<"OptimizerAttrInterface"> {
  let cppNamespace = "aicf::step";
  let description = [{
    An optimizer says how to train parameters. `--aicf-append-optimizer` asks `aicf.optimizer`
    through this interface. An attribute of another dialect may implement it.
  }];
  let methods = [
    InterfaceMethod<"Returns the learning rate: the name of a hyper, or a schedule.",
                    "::mlir::Attribute", "getRate">,
    InterfaceMethod<"Returns the weight decay of parameters that do not have their own.",
                    "double", "getWeightDecay">,
    InterfaceMethod<"Returns the limit that the global norm of all gradients is clipped to. "
                    "0 means that they are not clipped.",
                    "double", "getClipNorm", (ins), "", "return 0;">,
    InterfaceMethod<"Returns the number of batches whose mean gradient makes one update.",
                    "int64_t", "getAccumulate", (ins), "", "return 1;">,
    InterfaceMethod<"Returns the names of the states of a parameter W, without the prefix "
                    "`W.`. They are PyTorch's names.",
                    "::llvm::SmallVector<::llvm::StringRef>", "getStateNames">,
    InterfaceMethod<"Returns how many numbers the hyper of a group of parameters holds, "
                    "in a tensor of f32: the learning rate and others. 0 means that the "
                    "hyper is the learning rate alone, 0-d and of the parameters' type.",
                    "int64_t", "getGroupSize", (ins), "", "return 0;">,
    InterfaceMethod<"Returns whether buildShared() needs the number of the step.",
                    "bool", "countsSteps", (ins), "", "return false;">,
    InterfaceMethod<"Builds the value that all parameters of one element type and one hyper "
                    "share, so that it is computed once. `rate` is that hyper. Returns null "
                    "if there is nothing to share.",
                    "::mlir::Value", "buildShared",
                    (ins "::mlir::OpBuilder &":$builder,
                         "::mlir::Location":$loc, "::mlir::Value":$step,
                         "::mlir::Value":$rate, "::mlir::Type":$element),
                    "", "return {};">,
    InterfaceMethod<"Builds the new values of a parameter and of its states.",
                    "::llvm::SmallVector<::mlir::Value>", "buildStep",
                    (ins "::mlir::OpBuilder &":$builder,
                         "::mlir::Location":$loc,
                         "const ::aicf::step::ParameterStep &":$step)>
  ];
}

/// An attribute of named numbers, `#aicf.name<beta1 = 0.9, ...>`. A number that
/// is left out has its default. With `rate` it also takes a learning rate `lr`.
///   together   checks what the fields must fulfil together, as the rules of its
///              ops ask it: statements on `get(name)` that return
///              emitError() << ... if they do not
///   text       more about it, for its page
class AICF_FieldsAttr<string cppName, string attrMnemonic, list<Field> all,
                      bit rate, list<Trait> traits, code together = "">
    : AttrDef<AICF_Dialect, cppName, traits> {
  string text = "";
  let mnemonic = attrMnemonic;
  let description = text
      # !if(rate, "\n    - `lr` is the name of a hyper, or a schedule. It must be given.", "")
      # FieldList<all>.text # "\n";
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

/// Adds the fields that every optimizer takes. `decay` is the weight decay without one
/// given, which is PyTorch's.
class AICF_Optimizer<string name, string mnemonic, list<Field> fields,
                     list<string> more = [], code together = "",
                     string decay = "0.0">
    : AICF_FieldsAttr<name, mnemonic,
          fields # [F64Field<"weight_decay", NonNegative, decay>,
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
  let summary = "use the same learning rate in every step";
}
def AICF_LinearAttr : AICF_Schedule<"LinearSchedule", "linear", [
    F64Field<"start", NonNegative>, F64Field<"end", NonNegative, "0.0">,
    I64Field<"steps", Positive31>]> {
  let summary = "go linearly from `start` to `end` in `steps` steps, then stay at `end`";
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
  let summary = "go linearly from 0 to `peak` in `warmup` steps, then along a cosine to "
                "`end` at `steps` (Loshchilov & Hutter 2017)";
}

def AICF_CosineAttr : AICF_Schedule<"Cosine", "cosine", [
    F64Field<"start", NonNegative>, I64Field<"steps", Positive31>,
    F64Field<"end", NonNegative, "0.0">]> {
  let summary = "go along a cosine from `start` to `end` at `steps`, then stay at `end` "
                "(Loshchilov & Hutter 2017)";
}
def AICF_StepDecayAttr : AICF_Schedule<"StepDecay", "step_decay", [
    F64Field<"start", NonNegative>, F64Field<"factor", Fraction>,
    I64Field<"every", Positive31>]> {
  let summary = "start at `start`, and multiply by `factor` after each `every` steps";
}
def AICF_PolynomialAttr : AICF_Schedule<"Polynomial", "polynomial", [
    F64Field<"start", NonNegative>, I64Field<"steps", Positive31>,
    F64Field<"end", NonNegative, "0.0">, F64Field<"power", NonNegative, "1.0">]> {
  let summary = "use end + (start - end)·(1 - step/steps)^power, and `end` from `steps` on";
}
def AICF_TableAttr : AICF_Schedule<"Table", "table", [
    I64Field<"rows", Positive31>], "", ["getTableRows"]> {
  let summary = "use a rate for each of `rows` steps, then the last one";
  let text = [{
    The rates are a state `lr_table`, which stands beside the state `step`. Whoever runs the
    entry writes the rates into it.
  }];
}

def AICF_AdamWAttr : AICF_Optimizer<"AdamW", "adamw", [
    F64Field<"beta1", BelowOne, "0.9">, F64Field<"beta2", BelowOne, "0.999">,
    F64Field<"eps", NonNegative, "1e-8">], ["countsSteps", "buildShared"], "", "0.01"> {
  let summary = "train with aicf.adam_step; the states are W.exp_avg and W.exp_avg_sq";
  let text = [{
    ```mlir
    aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 0.01, clip_norm = 1.0>
    ```
    Every optimizer has `clip_norm` and `accumulate`. `clip_norm` is the limit that the norm of
    all gradients together is clipped to; with 0 it is not clipped. `accumulate` is the number
    of batches whose mean gradient makes one update.
  }];
}
def AICF_AdamAttr : AICF_Optimizer<"Adam", "adam", [
    F64Field<"beta1", BelowOne, "0.9">, F64Field<"beta2", BelowOne, "0.999">,
    F64Field<"eps", NonNegative, "1e-8">], ["countsSteps", "buildShared"]> {
  let summary = "train with aicf.adam_l2_step; the states are W.exp_avg and W.exp_avg_sq";
  let text = [{
    This optimizer adds `weight_decay` to the gradient, as torch.optim.Adam does. adamw decays
    the parameter itself.
  }];
}
def AICF_SGDAttr : AICF_Optimizer<"SGD", "sgd", [
    F64Field<"momentum", NonNegative, "0.0">, BoolField<"nesterov">], [], [{
      if (get("nesterov") != 0 && get("momentum") == 0) {
        return emitError() << "nesterov is true, but momentum is 0";
      }
    }]> {
  let summary = "train with aicf.sgd_step; with momentum, the state is W.momentum_buffer";
}
def AICF_LionAttr : AICF_Optimizer<"Lion", "lion", [
    F64Field<"beta1", BelowOne, "0.9">, F64Field<"beta2", BelowOne, "0.99">]> {
  let summary = "train with aicf.lion_step; the state is W.exp_avg";
}

/// An optimizer that reads its numbers from hypers, one tensor for each group of
/// parameters.
class AICF_GroupOptimizer<string name, string mnemonic, list<Field> fields,
                          list<string> more, code together = "">
    : AICF_FieldsAttr<name, mnemonic,
          fields # [F64Field<"clip_norm", NonNegative, "0.0">,
                    I64Field<"accumulate", Positive31, "1">], 1,
          [DeclareAttrInterfaceMethods<OptimizerAttrInterface,
               ["getClipNorm", "getAccumulate", "getGroupSize"] # more>],
          together> {
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
  let summary = "train groups with aicf.adam_group_step; the states are W.exp_avg and W.exp_avg_sq";
  let text = [{
    ```mlir
    aicf.optimizer = #aicf.adam_groups<lr = "group0", l2 = true, clip_norm = 1.0>
    ```
    Each parameter belongs to a group, whose hyper holds its numbers. `aicf.group` on the
    parameter names the hyper; without it, `lr` does. The hyper is [5] of f32, in the op's
    order, and the host may change each of its numbers between steps. With `l2`, the weight
    decay is added to the gradient.
  }];
}
def AICF_SGDGroupsAttr : AICF_GroupOptimizer<"SGDGroups", "sgd_groups",
    [BoolField<"momentum">, BoolField<"nesterov">], [], [{
      if (get("nesterov") != 0 && get("momentum") == 0) {
        return emitError() << "nesterov is true, but momentum is false";
      }
    }]> {
  let summary = "train groups with aicf.sgd_group_step; with momentum, the state is "
                "W.momentum_buffer";
  let text = [{
    This works as adam_groups, with hypers of [3]. Without `momentum`, the state does not
    exist, and the step does not read the number for momentum.
  }];
}

#endif // AICF_ATTRS_TD
