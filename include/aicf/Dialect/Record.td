//===- Record.td - what the record of a primitive says --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A record of class Primitive holds everything that is true of a primitive. Both
// dialects use it. If an AICF_OpOf<record> stands beside it, mlir-tblgen makes the
// aicf op from it. aicf-tblgen makes from it the ABI header, the typed views of a
// call, the page of primitives and the Python table. Records stand in
// kernels/<family>/Family.td, beside the code.
//===----------------------------------------------------------------------===//
#ifndef AICF_RECORD_TD
#define AICF_RECORD_TD

include "mlir/IR/OpBase.td"
include "aicf/Dialect/Scalar.td"
include "aicf/Dialect/Types.td"

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

/// The element types that an operand may have. `cpp` is an enumerator of
/// aicf::ElementTypes.
class ElementTypes<string enumerator, string inWords, Type type> {
  string cpp = enumerator;
  string text = inWords;
  Type stepType = type; ///< the type of the aicf op's operand
}
def AnyElement : ElementTypes<"Any", "any element type", AICF_Any>;
def FloatElement : ElementTypes<"Float", "a float type", AICF_Float>;
def IntElement : ElementTypes<"Int", "i32 or i64", AICF_Int>;
def BoolElement : ElementTypes<"Bool", "i1", AICF_Bool>;
def NumberElement : ElementTypes<"Number", "a float type, i32 or i64",
                                 AICF_Number>;
def I32Element : ElementTypes<"I32", "i32", AICF_I32>;
def F32Element : ElementTypes<"F32", "f32", AICF_F32>;
/// Mixed precision leaves such an operand as it is.
def WideElement : ElementTypes<"Wide", "f32 or f64", AICF_Wide>;

/// An operand. A plain operand is always there, and an optional one may be absent.
/// A variadic operand stands once or more. A record has at most one of these, and it
/// comes first.
class Operand<string operandName, ElementTypes of, string presenceOf,
              string sameAs = ""> {
  string name = operandName;
  string like = sameAs; ///< the operand whose type it must have, if there is such a rule
  ElementTypes elementTypes = of;
  string presence = presenceOf; ///< an enumerator of aicf::Presence
  string indexed = "";
  int axis = 0;
  string exempt = "";
  /// The result that has as many elements as the primitive reads of this operand, where
  /// it looks up some of many. Empty: it reads all.
  string lookedUp = "";
  bit isVariadic = !eq(presenceOf, "Variadic");
  bit isOptional = !eq(presenceOf, "Optional");
  TypeConstraint stepType = !if(!eq(presenceOf, "Optional"),
      !cast<TypeConstraint>(Optional<of.stepType>),
      !cast<TypeConstraint>(of.stepType));
}
class In<string name, ElementTypes of = FloatElement> : Operand<name, of, "Plain">;
/// An operand of which the primitive reads as many elements as the result has.
class LookedUp<string name, string result, ElementTypes of = FloatElement>
    : In<name, of> {
  let lookedUp = result;
}
/// An operand with the type of an operand before it.
class Same<string name, string operand, ElementTypes of = FloatElement>
    : Operand<name, of, "Plain", operand>;
/// An operand of indices: numbers in [0, size), where size is that of dimension `axis`
/// (-1 is the last) of an operand before it. If there is a field `exempt`, the number
/// in it stands for no index.
class Index<string name, string operand, int axisOf, string exemptField = "">
    : In<name, IntElement> {
  let indexed = operand;
  let axis = axisOf;
  let exempt = exemptField;
}
class Opt<string name, ElementTypes of = FloatElement>
    : Operand<name, of, "Optional">;
class Each<string name, ElementTypes of = FloatElement>
    : Operand<name, of, "Variadic">;

/// A result and the rule that gives its type. `rule` is an enumerator of
/// aicf::TypeRule.
class Result<string resultName, string ruleOf, string operand,
             ElementTypes typesOf = AnyElement, string presenceOf = "Plain"> {
  string name = resultName;
  string rule = ruleOf;
  string of = operand;
  ElementTypes elementTypes = typesOf;
  string presence = presenceOf;
  bit isOptional = !eq(presenceOf, "Optional");
  bit isInferred = 0;
}
/// A result with the type of an operand.
class Like<string name, string of> : Result<name, "Like", of>;
/// A result with the type of an optional operand. It is absent if the operand is.
class OptLike<string name, string of>
    : Result<name, "Like", of, AnyElement, "Optional">;
/// A 0-d result with an operand's element type.
class ScalarOf<string name, string of> : Result<name, "ScalarOf", of>;
/// A result with an operand's element type, and its shape without the last dimension.
class RowsOf<string name, string of> : Result<name, "RowsOf", of>;
/// A 0-d result with an operand's element type, or f32 if that has 16 bits.
class WideScalarOf<string name, string of> : Result<name, "WideScalarOf", of>;
/// A result of i1 with an operand's shape.
class BoolLike<string name, string of>
    : Result<name, "BoolLike", of, BoolElement>;
/// A result of float type `element` with an operand's shape.
class FloatLike<string name, string of, string element>
    : Result<name, !toupper(element) # "Like", of, FloatElement>;
/// A 0-d result of i32: a flag that is 1 or 0, or a count.
class ScalarI32<string name> : Result<name, "ScalarI32", "">;
/// A result whose type the numbered constraints check. With `infers` it may stand
/// inside a body, where no type is given. There infer_<op>_<result>(call) of the rules
/// says which type it has.
class Checked<string name, ElementTypes of, bit infers = 0>
    : Result<name, "Checked", "", of> {
  let isInferred = infers;
}

/// Says that the result named `result` may take the storage of the operand named
/// `operand`. This holds if the kernel reads element i of the operand before it writes
/// element i of any result.
class Tie<string r, string o> {
  string result = r;
  string operand = o;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// The values that a number may have. `cpp` is an enumerator of aicf::Range.
class Range<string enumerator, string inWords> {
  string cpp = enumerator;
  string text = inWords;
}
def AnyNumber : Range<"Any", "any number">;
def NotNaN : Range<"NotNaN", "a number or an infinity">;
def FiniteNumber : Range<"Finite", "a finite number">;
def Positive : Range<"Positive", "a finite number > 0">;
def NonNegative : Range<"NonNegative", "a finite number >= 0">;
def AtLeastOne : Range<"AtLeastOne", "a finite number >= 1">;
def BelowOne : Range<"BelowOne", "a number in [0, 1)">;
def Fraction : Range<"Fraction", "a number in (0, 1]">;
def NonNegative31 : Range<"NonNegative31", "a number in [0, 2^31)">;
def AtLeastMinusOne31 : Range<"AtLeastMinusOne31", "a number in [-1, 2^31)">;
def Below31 : Range<"Below31", "a number in (-2^31, 2^31)">;
def Positive31 : Range<"Positive31", "a number in [1, 2^31)">;
def ZeroOrOne : Range<"ZeroOrOne", "0 or 1">;

/// One field of a primitive's attr blob. `format` is the character of Python's struct.
/// A field without a default must be given. If the default is "computed", the function
/// default_<op>_<field>(call) of the rules computes it.
class Field<string fieldName, string cType, string pyFormat, Attr attr, Range of,
            string dflt> {
  string name = fieldName;
  string type = cType;
  string format = pyFormat;
  Range range = of;
  string defaultValue = dflt;
  Attr odsAttr = !cond(!eq(dflt, "") : attr,
                       !eq(dflt, "computed") : !cast<Attr>(OptionalAttr<attr>),
                       true : !cast<Attr>(DefaultValuedAttr<attr, dflt>));
}
class F64Field<string name, Range of, string dflt = "">
    : Field<name, "double", "d", F64Attr, of, dflt>;
class I64Field<string name, Range of, string dflt = "">
    : Field<name, "int64_t", "q", I64Attr, of, dflt>;
class BoolField<string name> : Field<name, "int32_t", "i", BoolAttr, ZeroOrOne,
                                     "false">;

//===----------------------------------------------------------------------===//
// Facts that passes ask for. None of them has a default
//===----------------------------------------------------------------------===//

class Fact<string enumerator> { string cpp = enumerator; }

/// Where in a step a primitive stands.
///   ForwardPhase   computes; it may serve the backward pass too
///   BackwardPhase  makes gradients
///   GuardPhase     checks gradients, to say whether an update may happen
///   CounterPhase   counts steps, or computes what depends on the count alone
///   UpdatePhase    makes new values of params and states from gradients, or
///                  computes a number for that from all gradients
///   DataPhase      moves rows of data
class Phase<string enumerator> : Fact<enumerator>;
def ForwardPhase : Phase<"Forward">;
def BackwardPhase : Phase<"Backward">;
def GuardPhase : Phase<"Guard">;
def CounterPhase : Phase<"Counter">;
def UpdatePhase : Phase<"Update">;
def DataPhase : Phase<"Data">;

/// What mixed precision does to a primitive.
///   Narrow  all its floats have 16 bits
///   Keep    one operand stays as wide as it was computed; the others have 32 bits
///   Wide    all its floats have 32 bits
class Precision<string enumerator, string keptOperand = "">
    : Fact<enumerator> {
  string kept = keptOperand;
}
def Narrow : Precision<"Narrow">;
class Keep<string operand> : Precision<"Keep", operand>;
def Wide : Precision<"Wide">;

/// What a primitive makes of the elements that go together.
class Reduction<string enumerator> : Fact<enumerator>;
def NoReduction : Reduction<"None">;
def SumReduction : Reduction<"Sum">;
def MeanReduction : Reduction<"Mean">;

/// Where zeros in all operands give zeros in all results: nowhere, in padded columns,
/// or in padded rows and columns.
class KeepsZeros<string enumerator> : Fact<enumerator>;
def ZerosKeptNo : KeepsZeros<"No">;
def ZerosKeptInColumns : KeepsZeros<"InColumns">;
def ZerosKeptEverywhere : KeepsZeros<"Everywhere">;

/// How many operations on numbers a primitive takes, as reports count them: one for each
/// element of its results, none, because it only moves elements, or what the function
/// flops_<op>(call) of the rules returns.
class Flops<string enumerator> : Fact<enumerator>;
def FlopsOfElements : Flops<"OfElements">;
def NoFlops : Flops<"None">;
def FlopsOfRule : Flops<"OfRule">;

//===----------------------------------------------------------------------===//
// Definitions by rows
//===----------------------------------------------------------------------===//

/// The words of `rows` in a record, beside primitives. A row is along the last dimension.
/// RowSum, RowMean and RowMax leave one number of each row, in the type that is computed
/// in, and EachRow gives all of a row what one of them has left. OfEachRow is an operand
/// that has one row, which all rows read. `step` is an enumerator of aicf::RowStep, and
/// `kind` that of the primitive whose attributes such a step has.
class RowWord<string of, string as> {
  string step = of;
  string kind = as;
}
def RowSum : RowWord<"Sum", "ReduceSum">;
def RowMean : RowWord<"Mean", "ReduceSum">;
def RowMax : RowWord<"Max", "ReduceSum">;
def EachRow : RowWord<"Repeat", "Expand">;
def OfEachRow : RowWord<"", "">;

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

/// Lists constraints with their numbers, for a description.
class Bullets<list<string> texts> {
  string text = !foldl("", !range(texts), all, i,
                       all # "\n    - C" # !add(i, 1) # ": " # texts[i]);
}

/// Lists the operands that have the type of another one, for a description.
class Sames<list<Operand> operands> {
  string text = !foldl("", operands, all, o,
      all # !if(!eq(o.like, ""), "", "\n    - " # o.name # " has the type of "
                                     # o.like # "."));
}

/// Lists the ranges of the fields of a record, for a description.
class Ranges<list<Field> fields> {
  string text = !foldl("", fields, all, f,
      all # "\n    - `" # f.name # "` is " # f.range.text # ".");
}

/// Lists fields with their ranges and defaults, for a description.
class FieldList<list<Field> fields> {
  string text = !foldl("", fields, all, f,
      all # "\n    - `" # f.name # "` is " # f.range.text
          # !if(!eq(f.defaultValue, ""), ". It must be given.",
                "; the default is " # f.defaultValue # "."));
}

class HasManyOptional<list<bit> flags> {
  bit yes = !gt(!foldl(0, flags, n, flag, !add(n, flag)), 1);
}

/// A number that a kind once had. Plans of old formats contain it, so no other kind
/// may take it.
class ReservedKind<int number> { int kind = number; }

/// A backend primitive. One record defines its OpKind number, the layout of its attr
/// blob, the numbers of its rules and its aliasing facts. The OpKind number is never
/// used again, because plans store it. aicf-tblgen reports an error for a fact without
/// a value.
class Primitive<string mnemonic, int number, string schema = ""> {
  string kindName = mnemonic;
  int kind = number;
  string fourCC = schema;
  string summary = ?;
  string text = "";
  list<Operand> operandList = ?;
  list<Result> resultList = ?;
  list<Field> fields = [];
  list<Tie> ties = [];
  Phase phase = ?;
  Precision precision = ?;
  /// The constraints C1..Cn in plain words. The function <op>_c<n> of the rules checks
  /// each of them.
  list<string> constraints = ?;
  string variadicName = ""; ///< the name of the aicf op's variadic operand
  /// Whether a kernel may compute the pads of padded tensors as if they were values. It
  /// may if the pads of the results come from zeros alone and are zeros. The answer is
  /// No, Everywhere or InColumns. InColumns means only the pads behind the columns, if
  /// the field `axis` is the last dimension: a bias is added to rows that are pads, too.
  KeepsZeros keepsZeros = ZerosKeptNo;
  /// For a pointwise primitive, the result as a function of its operands and fields.
  dag scalar = (none);
  /// For a primitive that is defined row by row, each of its results: of words (RowWord),
  /// of elementwise primitives, and of `$x`, which is an operand, or a field behind a
  /// primitive's operands. A dag that stands twice is computed once, so it is a defvar.
  /// Kernels of graphs with reductions are made of it.
  list<dag> rows = [];
  Flops flops = FlopsOfElements;
  /// Each element of the one result depends on the element at the same place of each
  /// operand, and on nothing else. A primitive with a scalar definition is elementwise
  /// in any case; this says it of others.
  bit elementwise = 0;
  /// Whether the result is the sum of operand 0 over dimensions, or the mean. Which ones,
  /// the shape of the result and the field `axis` say, as in the record of reduce_sum. It
  /// may be the end of a graph (see GraphPattern in KernelFamily.td).
  Reduction reduction = NoReduction;
  /// The primitive is the elementwise `spreadAs` of operand 0 and of this operand, which
  /// has one dimension, that of number `axis` (a field) of operand 0, and is repeated over
  /// the others. A primitive that is `spreadAs` itself has a 0-d operand there, which is
  /// repeated over all dimensions; an element may also depend on its own number.
  string spreadOperand = "";
  string spreadAs = "";

  list<Operand> plain = !filter(o, operandList, !not(o.isVariadic));
  bit hasVariadic = !ne(!size(plain), !size(operandList));
  string description = text # Sames<operandList>.text
      # Bullets<constraints>.text # Ranges<fields>.text # "\n";
}

#endif // AICF_RECORD_TD
