//===- Record.td - what the record of a primitive says --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A record of class Primitive holds everything that is true of a primitive. Both
// dialects stand on it: its aicf op, where an AICF_OpOf<record> stands beside it
// (mlir-tblgen), and the ABI header, the typed views of a call, the page of
// primitives and the Python table (aicf-tblgen) come from it. Records stand in
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

/// Element types that an operand may have; `cpp` is an enumerator of
/// aicf::ElementTypes.
class ElementTypes<string enumerator, string inWords, Type type> {
  string cpp = enumerator;
  string text = inWords;
  Type stepType = type; ///< of the aicf op
}
def AnyElement : ElementTypes<"Any", "any element type", AICF_Any>;
def FloatElement : ElementTypes<"Float", "a float type", AICF_Float>;
def IntElement : ElementTypes<"Int", "i32 or i64", AICF_Int>;
def BoolElement : ElementTypes<"Bool", "i1", AICF_Bool>;
def NumberElement : ElementTypes<"Number", "a float type, i32 or i64",
                                 AICF_Number>;
def I32Element : ElementTypes<"I32", "i32", AICF_I32>;
def F32Element : ElementTypes<"F32", "f32", AICF_F32>;

/// An operand. Plain ones are always there, optional ones may be absent, and a
/// variadic one stands once or more: at most one a record, which stands first.
class Operand<string operandName, ElementTypes of, string presenceOf,
              string sameAs = ""> {
  string name = operandName;
  string like = sameAs; ///< the operand whose type it has, if that is a rule
  ElementTypes elementTypes = of;
  string presence = presenceOf; ///< an enumerator of aicf::Presence
  string indexed = "";
  int axis = 0;
  string exempt = "";
  bit isVariadic = !eq(presenceOf, "Variadic");
  bit isOptional = !eq(presenceOf, "Optional");
  TypeConstraint stepType = !if(!eq(presenceOf, "Optional"),
      !cast<TypeConstraint>(Optional<of.stepType>),
      !cast<TypeConstraint>(of.stepType));
}
class In<string name, ElementTypes of = FloatElement> : Operand<name, of, "Plain">;
/// Of the type of an operand before it.
class Same<string name, string operand, ElementTypes of = FloatElement>
    : Operand<name, of, "Plain", operand>;
/// Numbers in [0, size) of dimension `axis` (-1 is the last) of an operand before it.
/// A number of the field `exempt`, if there is one, stands for none.
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

/// A result and the rule that gives its type; `rule` is an enumerator of
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
/// The type of an operand.
class Like<string name, string of> : Result<name, "Like", of>;
/// The type of an optional operand, and absent where that is.
class OptLike<string name, string of>
    : Result<name, "Like", of, AnyElement, "Optional">;
/// 0-d, of an operand's element type.
class ScalarOf<string name, string of> : Result<name, "ScalarOf", of>;
/// An operand's shape without its last dimension, of its element type.
class RowsOf<string name, string of> : Result<name, "RowsOf", of>;
/// 0-d, of an operand's element type, or f32 where that has 16 bits.
class WideScalarOf<string name, string of> : Result<name, "WideScalarOf", of>;
/// An operand's shape, of i1.
class BoolLike<string name, string of>
    : Result<name, "BoolLike", of, BoolElement>;
/// 0-d i32: a flag that is 1 or 0, a count.
class ScalarI32<string name> : Result<name, "ScalarI32", "">;
/// What the numbered constraints say. With `infers` it may stand inside a body,
/// where no type is given: infer_<op>_<result>(call) of the rules says which it
/// has there.
class Checked<string name, ElementTypes of, bit infers = 0>
    : Result<name, "Checked", "", of> {
  let isInferred = infers;
}

/// Result `result` may take the storage of operand `operand`, named: the kernel
/// reads element i of the operand before it writes element i of any result.
class Tie<string r, string o> {
  string result = r;
  string operand = o;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// What a number may be; `cpp` is an enumerator of aicf::Range.
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
def Positive31 : Range<"Positive31", "a number in [1, 2^31)">;
def ZeroOrOne : Range<"ZeroOrOne", "0 or 1">;

/// One field of a primitive's attr blob. `format` is Python's struct character;
/// a field without default must be given, one whose default is "computed" gets
/// it from a function of the rules, default_<op>_<field>(call).
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
// Facts that passes ask for: none has a default
//===----------------------------------------------------------------------===//

class Fact<string enumerator> { string cpp = enumerator; }

/// Where in a step a primitive stands.
///   ForwardPhase   computes; may serve the backward pass too
///   BackwardPhase  makes gradients
///   GuardPhase     says of gradients whether an update may happen
///   CounterPhase   counts steps, and what depends on the count alone
///   UpdatePhase    makes new values of params and states from gradients, or says
///                  of all gradients how
///   DataPhase      moves rows of data
class Phase<string enumerator> : Fact<enumerator>;
def ForwardPhase : Phase<"Forward">;
def BackwardPhase : Phase<"Backward">;
def GuardPhase : Phase<"Guard">;
def CounterPhase : Phase<"Counter">;
def UpdatePhase : Phase<"Update">;
def DataPhase : Phase<"Data">;

/// What mixed precision does to it.
///   Narrow  all its floats have 16 bits
///   Keep    takes one operand as wide as that was computed, others wide
///   Wide    all its floats have 32 bits
class Precision<string enumerator, string keptOperand = "">
    : Fact<enumerator> {
  string kept = keptOperand;
}
def Narrow : Precision<"Narrow">;
class Keep<string operand> : Precision<"Keep", operand>;
def Wide : Precision<"Wide">;

/// Whether zeros in all operands are zeros in all results: nowhere, in padded
/// columns, or in padded rows and columns.
class KeepsZeros<string enumerator> : Fact<enumerator>;
def ZerosKeptNo : KeepsZeros<"No">;
def ZerosKeptInColumns : KeepsZeros<"InColumns">;
def ZerosKeptEverywhere : KeepsZeros<"Everywhere">;

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

/// A numbered list for a description.
class Bullets<list<string> texts> {
  string text = !foldl("", !range(texts), all, i,
                       all # "\n    - C" # !add(i, 1) # ": " # texts[i]);
}

/// Operands whose type is another's, for a description.
class Sames<list<Operand> operands> {
  string text = !foldl("", operands, all, o,
      all # !if(!eq(o.like, ""), "", "\n    - " # o.name # " has the type of "
                                     # o.like # "."));
}

/// What the fields of a record must be, for a description.
class Ranges<list<Field> fields> {
  string text = !foldl("", fields, all, f,
      all # "\n    - `" # f.name # "` is " # f.range.text # ".");
}

class HasManyOptional<list<bit> flags> {
  bit yes = !gt(!foldl(0, flags, n, flag, !add(n, flag)), 1);
}

/// A number that a kind had once: plans of old formats have it, so that nothing
/// else takes it.
class ReservedKind<int number> { int kind = number; }

/// A backend primitive: one record defines its OpKind number (never reused:
/// plans store it), the layout of its attr blob, its rules' numbers and its
/// aliasing facts. Facts without a value are errors of aicf-tblgen.
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
  /// C1..Cn, in plain words; each is a function <op>_c<n> of the rules.
  list<string> constraints = ?;
  string variadicName = ""; ///< of the aicf op's variadic operand
  /// Whether a kernel may compute the pads of padded tensors as if they were
  /// values: pads of the results come from zeros alone and are zeros. No;
  /// Everywhere; or, where the field `axis` is the last dimension, those behind
  /// the columns: a bias is added to rows that are pads, too.
  KeepsZeros keepsZeros = ZerosKeptNo;
  /// Pointwise primitives: the result as a function of operands and fields.
  dag scalar = (none);

  list<Operand> plain = !filter(o, operandList, !not(o.isVariadic));
  bit hasVariadic = !ne(!size(plain), !size(operandList));
  string description = text # Sames<operandList>.text
      # Bullets<constraints>.text # Ranges<fields>.text # "\n";
}

#endif // AICF_RECORD_TD
