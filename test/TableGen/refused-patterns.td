// Tests that patterns which contradict themselves, or which the matcher could not
// tell apart, build nothing.

// RUN: split-file %s %t
// RUN: not %tblgen -I %t -gen-patterns %t/place.td 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not %tblgen -I %t -gen-patterns %t/side.td 2>&1 | FileCheck %s --check-prefix=SIDE
// RUN: not %tblgen -I %t -gen-patterns %t/before.td 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not %tblgen -I %t -gen-patterns %t/maybe.td 2>&1 | FileCheck %s --check-prefix=MAYBE
// RUN: not %tblgen -I %t -gen-patterns %t/either.td 2>&1 | FileCheck %s --check-prefix=EITHER
// RUN: %tblgen -I %t -gen-patterns %t/twice.td | FileCheck %s --check-prefix=TWICE
// RUN: not %tblgen -I %t -gen-patterns %t/any.td 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: not %tblgen -I %t -gen-patterns %t/open.td 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not %tblgen -I %t -gen-patterns %t/kept.td 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not %tblgen -I %t -gen-patterns %t/found.td 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: not %tblgen -I %t -gen-patterns %t/size.td 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not %tblgen -I %t -gen-patterns %t/repeated.td 2>&1 | FileCheck %s --check-prefix=REPEATED
// RUN: not %tblgen -I %t -gen-patterns %t/elementwise.td 2>&1 | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: not %tblgen -I %t -gen-patterns %t/sum.td 2>&1 | FileCheck %s --check-prefix=SUM

//--- base.td
include "lib/Ops/KernelFamily.td"

class Record<string name, int number> : Primitive<name, number> {
  let summary = "a record";
  let operandList = [In<"x">];
  let resultList = [Like<"y", "x">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = []<string>;
}
def Right : Record<"right", 0>;
def Other : Record<"other", 1>;
def Third : Record<"third", 2> {
  let operandList = [In<"x">, Opt<"z">];
}

//--- place.td
include "base.td"
// PLACE: 'wrong' has no 'a.z'
def Wrong : BodyPattern<"wrong", [Node<"a", Right>, Node<"b", Other>]> {
  let bindings = ["b.x = a.z"];
}

//--- side.td
include "base.td"
// SIDE: 'wrong': 'a.x' is not a result
def Wrong : BodyPattern<"wrong", [Node<"a", Right>, Node<"b", Other>]> {
  let keeps = ["a.x"];
}

//--- before.td
include "base.td"
// BEFORE: 'wrong': 'a.x = b.y' refers to no node before
def Wrong : BodyPattern<"wrong", [Node<"a", Right>, Node<"b", Other>]> {
  let bindings = ["a.x = b.y"];
}

//--- maybe.td
include "base.td"
// MAYBE: 'wrong': 'b.x = a.y' refers to a node that may be absent
def Wrong : BodyPattern<"wrong", [Node<"c", Third>, Maybe<"a", Right>,
                                  Node<"b", Other>]> {
  let bindings = ["b.x = a.y"];
}

//--- either.td
include "base.td"
// EITHER: 'wrong': a 'right' could be 'c', or the node before it that may be absent
def Wrong : BodyPattern<"wrong", [Node<"a", Third>, Maybe<"b", Right>,
                                  Maybe<"d", Other>, Node<"c", Right>]> {
  let bindings = ["b.x = a.y", "d.x = a.y", "c.x = a.y"];
}

//--- twice.td
include "base.td"
// Two nodes of one kind have names. What may be absent in front of the last one is of
// another kind.
// TWICE: kFineNodes[] = {{.*}}"a", OpKind::Right, false}, {"b", OpKind::Right, true}, {"c", OpKind::Other, false}, {"d", OpKind::Right, false}
def Fine : BodyPattern<"fine", [Node<"a", Right>, Maybe<"b", Right>,
                                Node<"c", Other>, Node<"d", Right>]> {
  let bindings = ["b.x = a.y", "c.x = a.y", "d.x = c.y"];
}

//--- any.td
include "base.td"
// ANY: 'wrong': 'b' takes any number of operands
def All : Record<"all", 3> { let operandList = [Each<"x">]; }
def Wrong : BodyPattern<"wrong", [Node<"a", Right>, Node<"b", All>]>;

//--- open.td
include "base.td"
// OPEN: 'wrong': groups could differ in whether 'a.z' is there
def Wrong : BatchPattern<"wrong", [Node<"a", Third>, Node<"b", Right>],
                         4> {
  let bindings = ["b.x = a.y"];
}

//--- kept.td
include "base.td"
// KEPT: 'wrong': 'b.y' is a result of a node that may be absent
def Wrong : BodyPattern<"wrong", [Node<"a", Right>, Maybe<"b", Other>]> {
  let bindings = ["b.x = a.y"];
  let mayKeep = ["b.y"];
}

//--- found.td
include "base.td"
// FOUND: 'wrong': nothing binds an operand that 'b' always has, by which it could be found
def Wrong : BodyPattern<"wrong", [Node<"a", Right>, Node<"b", Third>]> {
  let bindings = ["b.z = a.y"];
}

//--- size.td
include "base.td"
// SIZE: 'wrong' must have 2 to 8 nodes, the first of which is there
def Wrong : BodyPattern<"wrong", [Node<"a", Right>]>;

//--- repeated.td
include "base.td"
// REPEATED: 'wrong' is not 'right' with an operand that is repeated along all dimensions but `axis`
def Wrong : Record<"wrong", 3> {
  let spreadOperand = "x";
  let spreadAs = "right";
}

//--- elementwise.td
include "base.td"
// ELEMENTWISE: 'wrong': an elementwise primitive has one result and plain operands
def Wrong : Record<"wrong", 3> {
  let operandList = [In<"x">, Opt<"z">];
  let elementwise = 1;
}

//--- sum.td
include "base.td"
// SUM: 'wrong': a sum has one operand, one result and the field `axis`
def Wrong : Record<"wrong", 3> {
  let reduction = SumReduction;
}
