//===- KernelFamily.td - what a family record says ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A kernel family is a set of kernels that differ only in types and widths. Its
// record is in kernels/<family>/Family.td, beside the code. For each kind and
// variant, aicf-tblgen makes a row of the kernel table and the declaration that the
// row links against. From `kernel` it makes the definition, too.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_KERNELFAMILY_TD
#define AICF_LIB_OPS_KERNELFAMILY_TD

include "aicf/Dialect/Record.td"

/// The element type of operand 0, that of result 0, and the number of elements that
/// one instruction moves. If that is more than 1, operand 0's last dimension must be a
/// multiple of it.
class Variant<string operand, string result, int elements> {
  string input = operand;
  string output = result;
  int width = elements;
}
class On<string type, int width = 1> : Variant<type, type, width>;
/// Calls of any types, one element at a time.
def OfAnyTypes : Variant<"any", "any", 1>;
class From<string operand, string result, int width = 1>
    : Variant<operand, result, width>;

/// The types that a kernel is instantiated for, and the widths that GPUs move best.
class Types<list<Variant> all> { list<Variant> each = all; }
def SingleAndDouble : Types<[On<"f32">, On<"f64">]>;
def EveryFloat : Types<[On<"f32">, On<"f64">, On<"f16">, On<"bf16">]>;
def EveryType : Types<[On<"f32">, On<"f64">, On<"f16">, On<"bf16">, On<"i32">,
                       On<"i64">, On<"i1">]>;
def EveryIndex : Types<[From<"i32", "i32">, From<"i32", "i64">,
                        From<"i64", "i32">, From<"i64", "i64">]>;
/// 16-bit operands with an f32 result.
def HalfToSingle : Types<[From<"f16", "f32">, From<"bf16", "f32">]>;
/// Wide variants stand before narrow ones, because the first row that takes a call
/// gets it.
def Vectors : Types<[On<"f32", 4>, On<"f32">, On<"f64">,
                     On<"f16", 8>, On<"f16", 2>, On<"f16">,
                     On<"bf16", 8>, On<"bf16", 2>, On<"bf16">]>;

/// Where kernels run. Each fact below names an enumerator of a C++ enum that a row of
/// the table holds.
class Device<string enumerator> : Fact<enumerator>;
def CPU : Device<"CPU">;
def CUDA : Device<"CUDA">;

/// Whose code a kernel runs: our own, what is made of the call when it is prepared (a
/// list of small kernels, or text), or a library's. aicf-tblgen makes the enum
/// KernelProvider of these.
class Provider<string enumerator, bit ours = 0> : Fact<enumerator> { bit isOurs = ours; }
def Own : Provider<"Own", 1>;
def Generated : Provider<"Generated", 1>;
def Blas : Provider<"Blas">;
def CublasLt : Provider<"CublasLt">;
/// Where cuDNN is missing, or does not run a call, kernels of ours run in its place.
def Cudnn : Provider<"Cudnn">;

/// How products round their operands.
class MathMode<string enumerator> : Fact<enumerator>;
def ExactMath : MathMode<"Exact">;
def TF32Math : MathMode<"TF32">;

/// How a row gets a call.
///   Auto      the first row that takes a call gets it
///   AutoTF32  the same, but only where the target's `math` allows TF32
///   Pinned    the call must name the kernel
class Selection<string enumerator> : Fact<enumerator>;
def Auto : Selection<"Auto">;
def AutoTF32 : Selection<"AutoTF32">;
def Pinned : Selection<"Pinned">;

/// Which types a kernel id (KID) contains.
///   KidTypesDifferent  the first, and the second if it differs
///   KidTypesBoth       both, even if they are the same
///   KidTypesFirst      the first alone
class KidTypes<string enumerator> : Fact<enumerator>;
def KidTypesDifferent : KidTypes<"Different">;
def KidTypesBoth : KidTypes<"Both">;
def KidTypesFirst : KidTypes<"First">;

/// One node of a pattern: a primitive, and the name that kernels and conditions use
/// for it.
class Node<string nodeName, Primitive primitive, bit optional = 0> {
  string name = nodeName;
  Primitive kind = primitive;
  bit isOptional = optional;
}
class Maybe<string name, Primitive primitive>
    : Node<name, primitive, 1>;

/// Bodies of several primitives that a family takes. A body matches if its primitives
/// are the nodes, in order, and if these conditions hold. Optional nodes may be absent.
///   bindings  "bias.y = gemm.c": an operand is a result of an earlier node, or the
///             same value as an operand of one. No other slot reads what the body
///             makes, because such a value has no memory.
///   keeps     These results are read inside the body, and they are results of the
///             call as well.
///   mayKeep   These results may be results of the call as well. All others that are
///             read inside exist only there.
///   ties      "c = bwd.saved": this result may take the operand's storage. The family
///             states the ties, because what holds for each primitive need not hold for
///             the kernel that does all of them. A tie holds in a body if no other slot
///             reads that value, or if such slots belong to the same node and are tied
///             to the same result. So a tie says that the kernel reads this operand at
///             the index that it writes, before it writes.
/// Two nodes may be the same primitive: their names tell them apart. A node that may be
/// absent may not stand in front of one of its own primitive, though: a body could be
/// either. A pattern says nothing about types: the families check them in `takes`.
class BodyPattern<string patternName, list<Node> all> {
  string name = patternName;
  list<Node> nodes = all;
  list<string> bindings = [];
  list<string> keeps = [];
  list<string> mayKeep = [];
  list<string> ties = [];
}

/// The same for many tensors in one call. The nodes occur at least once and at most
/// `groups` times, each time with the same optional nodes, and with the same fields unless
/// each group has its own.
///   has, hasNot  optional operands that every group has, or that none has
///   shared       operands that are the same value in all groups
/// No group reads what another one makes or updates.
class BatchPattern<string patternName, list<Node> all, int groups>
    : BodyPattern<patternName, all> {
  int maxGroups = groups;
  list<string> has = [];
  list<string> hasNot = [];
  list<string> shared = [];
  bit ownFields = 0;
}

/// Bodies of 2 to `primitives` elementwise primitives (see Record.td), whichever they
/// are, also of those with an operand that is repeated, if nothing else reads it. They
/// take up to `operands` values and give up to `results`. Their order is the one in which
/// a walk from the results, in order, meets them behind their operands. So equal graphs
/// with equal lists of results are equal bodies. The kernel reads an element of every
/// operand before it writes the element at that place of any result. So each of these
/// results may take the storage of each operand.
/// With `reductions`, sums and means may be anywhere inside, up to so many, and what is
/// left of them is repeated where whole tensors read it (expand). Primitives that are
/// defined by rows (`rows` in Record.td) count as reductions. Then each value is a whole
/// tensor or what is left of one. A whole one may take the storage of another.
/// With `product`, one of the primitives is that product. It reads operands of the call
/// that nothing else reads, as matrices, and the graph goes on with what it gives.
/// Where `sums` is not 0, 1 to `sums` of the primitives are sums or means (reduction in Record.td) of
/// other values of the graph. Nothing inside reads a sum. It takes nobody's storage,
/// because it is written when all is read that belongs to it, and no more.
class GraphPattern<string patternName, int primitives, int operands, int results,
                   int sums = 0, int reductions = 0, list<Node> product = []>
    : BodyPattern<patternName, product> {
  int maxPrimitives = primitives;
  int maxOperands = operands;
  int maxResults = results;
  int maxSums = sums;
  int maxReductions = reductions;
}

/// How an operand or result that is a view may lie in memory. The names are enumerators of
/// aicf::StrideRule.
///   AnyStrides     with any strides
///   RowsApart      as a matrix whose rows are at equal distances
///   RowsAnywhere   with rows that lie together, each anywhere; rows may repeat
///   MatricesApart  as a matrix; for higher ranks, its matrices may lie anywhere
class StrideRule<string enumerator> : Fact<enumerator>;
def AnyStrides : StrideRule<"Any">;
def RowsApart : StrideRule<"Rows">;
def RowsAnywhere : StrideRule<"RowsAnywhere">;
def MatricesApart : StrideRule<"Matrices">;

/// Says that the operand or result `slot` may be a view, for each primitive of this kind
/// in a body.
class Strided<Primitive primitive, string slotName, StrideRule may> {
  Primitive kind = primitive;
  string slot = slotName;
  StrideRule rule = may;
}

/// In `kernel`, `$T` and `$U` are the variant's types, and `$V` is its width. `$E` is
/// the type that the kernel computes in: of two types, the one that is not i1. `$Kind`
/// is the C++ name of the kind or pattern, and `$Args` is its typed arguments.
class KernelFamily<string codeUnit, Device on> {
  string unit = codeUnit;           ///< the file that includes the definitions
  Device device = on;
  /// A family has exactly one of `kinds`, `everyPointwise` and `patterns`.
  list<Primitive> kinds = []; ///< bodies of one of these
  /// Bodies of any one primitive that has a scalar definition: without `variants`, of those
  /// that name this unit, with the types of their records.
  bit everyPointwise = 0;
  list<BodyPattern> patterns = [];  ///< bodies that match one of these
  list<Variant> variants = [];
  string kernel = "";               ///< empty: a library's, without code of ours
  /// Every kernel gives the same bits for the same call. The bits of a library's kernel
  /// also change with its version and with the processor.
  Provider provider = Own;
  MathMode math = ExactMath;
  /// Follows the types in the KID: "tile", "lt". The width, "vec4", follows it.
  string variantName = "";
  KidTypes kidTypes = KidTypesDifferent;
  /// Rises when bits can change: what a Schedule.h says decides bits, too.
  int version = 0;
  /// C++ expressions. In them, `c` is a <Kind>View<rules::Call>, or a view of the pattern
  /// that has a function for each node. They may call the family's functions in Family.h.
  /// `takes` says whether the kernel computes such a call rightly. A plan with another
  /// call of the kernel is refused, so it may never become narrower. `pays` says whether
  /// the kernel is worth choosing for a call that it takes, by the target's `costs`
  /// (lib/Ops/Costs.h). It is asked where a kernel is chosen, and nowhere else, so it may
  /// change from one version to the next.
  string takes = "";
  string pays = "";
  /// How many bytes of workspace the kernel would use.
  string workspace = "";
  string workspaceCap = "";         ///< most bytes; given with `workspace`
  /// An expression like `takes` that is true for calls that run at the kernel's full
  /// speed. Pads that make it true are worth their bytes. If it is empty, all calls run
  /// at full speed.
  string fullSpeed = "";
  int alignment = 0;                ///< of addresses, in bytes; 0: an element's
  Selection selection = Auto;
  /// The library's kernel computes further primitives at no measurable cost, so fusing
  /// pays off. For our own kernels it always does.
  bit fusesForFree = 0;
  /// The kernel itself handles dense and padded tensors, in any mix that `takes`
  /// admits, and it writes zeros to the pads of its results. Without this, it gets a call
  /// with padded tensors only if all are padded and every primitive keeps zeros. It then
  /// sees dense tensors of the padded shapes.
  bit takesPads = 0;
  /// Operands and results that the kernel takes as views. The others are dense.
  list<Strided> strided = [];
  /// Takes every operand and result as views with any strides, but for those that
  /// `strided` names. With `everyPointwise`, a single operand is dense, because a copy
  /// that moves whole tiles reads a view faster.
  bit stridesEverywhere = 0;
  /// The order among the families of a kind: the lowest is asked first.
  int preference = 1;
}

#endif // AICF_LIB_OPS_KERNELFAMILY_TD
