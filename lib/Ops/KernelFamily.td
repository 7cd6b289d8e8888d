//===- KernelFamily.td - what a family record says ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A family is kernels that differ in types and widths only. Its record stands in
// kernels/<family>/Family.td, beside the code; aicf-tblgen makes a row of the
// kernel table for each kind and variant, the declaration that the row links
// against and, from `kernel`, the definition.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_KERNELFAMILY_TD
#define AICF_LIB_OPS_KERNELFAMILY_TD

include "aicf/Dialect/Record.td"

/// Element type of operand 0, of result 0, and elements that one instruction
/// moves: more than 1 means that operand 0's last dimension is a multiple.
class Variant<string operand, string result, int elements> {
  string input = operand;
  string output = result;
  int width = elements;
}
class On<string type, int width = 1> : Variant<type, type, width>;
class From<string operand, string result, int width = 1>
    : Variant<operand, result, width>;

/// Types that a kernel is instantiated for, and the widths that GPUs move best.
class Types<list<Variant> all> { list<Variant> each = all; }
def SingleAndDouble : Types<[On<"f32">, On<"f64">]>;
def EveryFloat : Types<[On<"f32">, On<"f64">, On<"f16">, On<"bf16">]>;
def EveryType : Types<[On<"f32">, On<"f64">, On<"f16">, On<"bf16">, On<"i32">,
                       On<"i64">, On<"i1">]>;
def EveryIndex : Types<[From<"i32", "i32">, From<"i32", "i64">,
                        From<"i64", "i32">, From<"i64", "i64">]>;
/// 16-bit operands with a result of f32.
def HalfToSingle : Types<[From<"f16", "f32">, From<"bf16", "f32">]>;
/// Wide before narrow: the first row that takes a call gets it.
def Vectors : Types<[On<"f32", 4>, On<"f32">, On<"f64">,
                     On<"f16", 8>, On<"f16", 2>, On<"f16">,
                     On<"bf16", 8>, On<"bf16", 2>, On<"bf16">]>;

/// Where kernels run. Their enumerators are those of the C++ enums that a row of
/// the table holds.
class Device<string enumerator> : Fact<enumerator>;
def CPU : Device<"CPU">;
def CUDA : Device<"CUDA">;

/// Who runs a kernel: we, or a library.
class Provider<string enumerator> : Fact<enumerator>;
def Own : Provider<"Own">;
def Blas : Provider<"Blas">;
def CublasLt : Provider<"CublasLt">;

/// How products round their operands.
class MathMode<string enumerator> : Fact<enumerator>;
def ExactMath : MathMode<"Exact">;
def TF32Math : MathMode<"TF32">;

/// Auto: the first row that takes a call gets it. AutoTF32: where aicf.math
/// allows it. Pinned: only by name.
class Selection<string enumerator> : Fact<enumerator>;
def Auto : Selection<"Auto">;
def AutoTF32 : Selection<"AutoTF32">;
def Pinned : Selection<"Pinned">;

/// Which types stand in a KID: the second where it differs from the first, both
/// even where they are the same, or the first alone.
class KidTypes<string enumerator> : Fact<enumerator>;
def KidTypesDifferent : KidTypes<"Different">;
def KidTypesBoth : KidTypes<"Both">;
def KidTypesFirst : KidTypes<"First">;

/// One node of a pattern: a primitive, and the name that kernels and conditions
/// know it by.
class Node<string nodeName, Primitive primitive, bit optional = 0> {
  string name = nodeName;
  Primitive kind = primitive;
  bit isOptional = optional;
}
class Maybe<string name, Primitive primitive>
    : Node<name, primitive, 1>;

/// Bodies of several primitives that a family takes. A body matches if its
/// primitives are the nodes in order, optional ones there or not, and
///   bindings  hold: "bias.y = gemm.c", an operand is a result of a node
///             before it, or the same value as an operand of one. No other slot
///             reads what the body makes: it has no memory
///   keeps     results that are read inside are results of the call as well;
///   mayKeep   they may be; others are not: they exist inside only
///   ties      "c = bwd.saved": results that may take an operand's storage. They
///             are the family's to say: what holds for each primitive need not
///             hold for the kernel that does all of them. A tie holds in a body
///             whose other slots do not read that value, or are of the same
///             node and tied to the same result: so a tie says that the kernel
///             reads this operand at the index that it writes, before it writes.
/// Types are the families' matter, in `condition`.
class BodyPattern<string patternName, list<Node> all> {
  string name = patternName;
  list<Node> nodes = all;
  list<string> bindings = [];
  list<string> keeps = [];
  list<string> mayKeep = [];
  list<string> ties = [];
}

/// The same for many tensors in one call: the nodes stand once or more, at
/// most `groups` times, each time with the same fields and the same optional
/// nodes, and
///   has, hasNot  optional operands that are there, or absent, in every group
///   shared       operands that are the same value in all groups
/// No group reads what another one makes or updates.
class BatchPattern<string patternName, list<Node> all, int groups>
    : BodyPattern<patternName, all> {
  int maxGroups = groups;
  list<string> has = [];
  list<string> hasNot = [];
  list<string> shared = [];
}

/// How an operand may lie that is a view; enumerators of aicf::StrideRule.
///   AnyStrides     anywhere
///   RowsApart      the rows of a matrix, at equal distances
///   MatricesApart  the same, and the matrices of higher ranks anywhere
class StrideRule<string enumerator> : Fact<enumerator>;
def AnyStrides : StrideRule<"Any">;
def RowsApart : StrideRule<"Rows">;
def MatricesApart : StrideRule<"Matrices">;

/// Operand `operand` of each primitive of this kind in a body.
class Strided<Primitive primitive, string operandName, StrideRule may> {
  Primitive kind = primitive;
  string operand = operandName;
  StrideRule rule = may;
}

/// `$T` and `$U` in `kernel` are the variant's types, `$E` the one of them that is
/// computed in (not i1 beside another), `$V` its width, `$Kind` the C++ name of the kind or pattern and `$Args` its typed arguments.
class KernelFamily<string codeUnit, Device on> {
  string unit = codeUnit;           ///< the file that includes the definitions
  Device device = on;
  list<Primitive> kinds = []; ///< bodies of one of these
  /// Or of one with a scalar definition, of the unit that the record names; the
  /// types are the record's, too. With `stridesEverywhere` those of two operands
  /// or more, and no vectors.
  bit everyPointwise = 0;
  list<BodyPattern> patterns = [];  ///< and bodies that match one of these
  list<Variant> variants = [];
  string kernel = "";               ///< empty: a library's, without code of ours
  /// Every kernel gives the same bits for the same call; a library's change with
  /// its version and the processor too.
  Provider provider = Own;
  MathMode math = ExactMath;
  /// In the KID behind the types: "tile", "lt"; behind it stands "vec4".
  string variantName = "";
  KidTypes kidTypes = KidTypesDifferent;
  int version = 0;                  ///< rises when bits can change
  /// C++ expressions of `c`, a <Kind>View<rules::Call>, or a view of the pattern
  /// with a function for each node, with the family's functions in Family.h:
  /// whether a kernel takes the call, and the bytes of workspace that it would
  /// use.
  string condition = "";
  string workspace = "";
  string workspaceCap = "";         ///< bytes; with `workspace`, or neither
  /// An expression as `condition`, true of calls that run at the kernel's full
  /// speed. Pads that make it true are worth their bytes. Empty: it always does.
  string fullSpeed = "";
  int alignment = 0;                ///< bytes of addresses; 0: an element's
  Selection selection = Auto;
  /// A library's kernel that does with more than one primitive at no measurable
  /// cost: it is worth fusing. Kernels of our own always are.
  bit fusesForFree = 0;
  /// The kernel itself knows dense and padded tensors, in any mix that
  /// `condition` admits, and writes zeros to the pads of its results. Without,
  /// it gets calls with padded tensors only where all are padded and every
  /// primitive keeps zeros: as dense ones of the padded shapes.
  bit takesPads = 0;
  /// Operands that the kernel takes as views; the others, and all results, are
  /// dense. At most 4.
  list<Strided> strided = [];
  bit stridesEverywhere = 0; ///< every operand, wherever it lies
  /// Order among the families of a kind: lower is asked first.
  int preference = 1;
}

#endif // AICF_LIB_OPS_KERNELFAMILY_TD
