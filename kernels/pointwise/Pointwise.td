//===- Pointwise.td - classes of pointwise records -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A pointwise primitive has one result. A scalar definition gives each element of it
// from the operands' elements at the same place. The functors of both devices, the
// bridge to linalg and the kernels come from the record.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_POINTWISE_TD
#define AICF_KERNELS_POINTWISE_POINTWISE_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

/// Variants of the kernels of a pointwise primitive, for each device.
class PointwiseTypes<list<Variant> onCpu, list<Variant> onCuda> {
  list<Variant> cpu = onCpu;
  list<Variant> cuda = onCuda;
}
/// Wide variants before narrow ones, without the pairs that `Vectors` has.
def Lanes : Types<[On<"f32", 4>, On<"f32">, On<"f64">, On<"f16", 8>, On<"f16">,
                   On<"bf16", 8>, On<"bf16">]>;
def Integers : Types<[On<"i32">, On<"i64">]>;
def IntegerLanes : Types<[On<"i32", 4>, On<"i32">, On<"i64">]>;

def Floats : PointwiseTypes<EveryFloat.each, Lanes.each>;
def Numbers : PointwiseTypes<EveryFloat.each # Integers.each,
                             Lanes.each # IntegerLanes.each>;
/// Types with the pairs of `Vectors`, as the first primitives have them.
def FloatsInPairs : PointwiseTypes<EveryFloat.each, Vectors.each>;
def NumbersInPairs : PointwiseTypes<EveryFloat.each # Integers.each,
                                    Vectors.each # IntegerLanes.each>;
/// Numbers to i1.
defvar NumbersToBoolOnCpu = !foreach(v, EveryFloat.each # Integers.each,
                                     From<v.input, "i1">);
defvar NumbersToBoolOnCuda = !foreach(v, Lanes.each # IntegerLanes.each,
                                      From<v.input, "i1", v.width>);
def NumbersToBool : PointwiseTypes<NumbersToBoolOnCpu, NumbersToBoolOnCuda>;
def OnlyIntegers : PointwiseTypes<Integers.each, IntegerLanes.each>;
def Bools : PointwiseTypes<[On<"i1">], [On<"i1", 16>, On<"i1">]>;
def AnyToBool : PointwiseTypes<NumbersToBoolOnCpu # Bools.cpu,
                               NumbersToBoolOnCuda # Bools.cuda>;
/// An i1 operand chooses among operands of any type.
def BoolToAny : PointwiseTypes<
    !foreach(v, EveryFloat.each # Integers.each, From<"i1", v.input>)
      # Bools.cpu,
    !foreach(v, Lanes.each # IntegerLanes.each, From<"i1", v.input, v.width>)
      # Bools.cuda>;

/// The general form of a record. `unit` is the folder whose code makes the kernels.
class PointwiseRecord<string mnemonic, int number, string schema, string unitOf,
                      PointwiseTypes typesOf, list<Operand> operands,
                      Result result, list<Tie> tied, dag definition>
    : Primitive<mnemonic, number, schema> {
  string unit = unitOf;
  PointwiseTypes types = typesOf;
  let operandList = operands;
  let resultList = [result];
  let ties = tied;
  let scalar = definition;
  let constraints = []<string>;
}

/// All operands and the result have the same type. The kernels read all operands before
/// they write, so the result may take the storage of any operand.
class PointwisePrimitive<string mnemonic, int number, string schema,
                         list<string> operands, string result, dag definition,
                         string unit = "pointwise",
                         PointwiseTypes types = FloatsInPairs,
                         ElementTypes elements = FloatElement>
    : PointwiseRecord<mnemonic, number, schema, unit, types,
        [In<operands[0], elements>]
          # !foreach(o, !tail(operands), Same<o, operands[0], elements>),
        Like<result, operands[0]>, !foreach(o, operands, Tie<result, o>),
        definition>;

/// A function of x that has a derivative.
class PointwiseFunction<string mnemonic, int number, string unit, dag definition,
                        string schema = "">
    : PointwisePrimitive<mnemonic, number, schema, ["x"], "y", definition, unit,
                         Floats> {
  let phase = ForwardPhase;
}
/// <mnemonic>_bwd, a function of dy and of the x or y that it reads from the forward
/// pass. It has the fields and rules of the function.
class PointwiseDerivative<PointwiseRecord function, int number, string saved,
                          dag definition, string schema = "">
    : PointwiseRecord<function.kindName # "_bwd", number, schema, function.unit,
                      Floats, [In<"dy">, Same<saved, "dy">], Like<"dx", "dy">,
                      [Tie<"dx", "dy">, Tie<"dx", saved>], definition> {
  let text = "\n    " # saved # " is " # !if(!eq(saved, "x"), "the operand", "the result")
             # " of `" # function.kindName # "`.\n";
  let fields = function.fields;
  let constraints = function.constraints;
  let phase = BackwardPhase;
  let precision = function.precision;
  let keepsZeros = ZerosKeptEverywhere;
}
/// The second derivative. `slope` is the body of a function of v, the product of dy and the
/// cotangent of dx, and of s, what the derivative reads of the forward pass. It returns the
/// cotangent of s, and null for zero. Without it the derivative has no derivative.
class Second<code slope> {
  code gradient = !if(!empty(slope), "", [{
    return addSecond(g, *this, [&](::mlir::Value v, [[maybe_unused]] ::mlir::Value s)
                                   -> ::mlir::Value {
      }] # slope # [{
    });
  }]);
}
/// Of a function that is linear on each side of its kinks.
defvar Flat = "(void)v; return {};";

/// The op of the function, named AICF_<Name>Op.
multiclass PointwiseOpsWith<Primitive function, Primitive bwd> {
  defvar name = !substr(NAME, 5);
  defvar saved = !if(!eq(bwd.operandList[1].name, "x"), "getX()", "getY()");
  def Op : AICF_OpOf<function> {
    let gradient = "g.add(getX(), backwardOf<" # name
        # "BwdOp>(b, *this, {g.cotangent(getY()), g.saved(" # saved # ")}));";
  }
}
/// The ops of both, named AICF_<Name>Op and AICF_<Name>BwdOp.
multiclass PointwiseOps<Primitive function, Primitive bwd, code slope = "">
    : PointwiseOpsWith<function, bwd> {
  def BwdOp : AICF_OpOf<bwd> { let gradient = Second<slope>.gradient; }
}
/// The same where the derivative only compares what it reads of the forward pass.
multiclass ComparingOps<Primitive function, Primitive bwd, code alike,
                        code mask = ""> : PointwiseOpsWith<function, bwd> {
  def BwdOp : AICF_ComparingOpOf<bwd, "X", alike, mask> {
    let gradient = Second<Flat>.gradient;
  }
}

/// The kernels of a family on both devices, made from the template. They take dense
/// tensors; views are taken by a graph of one primitive (kernels/graph).
multiclass PointwiseKernels<string unit> {
  def Cpu : KernelFamily<unit, CPU> {
    let everyPointwise = 1;
    let kernel = "pointwise<functor::$Kind, $E>";
  }
  def Cuda : KernelFamily<unit, CUDA> {
    let everyPointwise = 1;
    let kernel = "pointwise<functor::$Kind, $E, $V>";
  }
}

#endif // AICF_KERNELS_POINTWISE_POINTWISE_TD
