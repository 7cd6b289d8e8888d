// Tests definitions by rows, and that those which cannot be read build nothing.

// RUN: split-file %s %t
// RUN: %tblgen -I %t -gen-patterns %t/rows.td | FileCheck %s --check-prefix=ROWS
// RUN: not %tblgen -I %t -gen-patterns %t/rows-count.td 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not %tblgen -I %t -gen-patterns %t/rows-name.td 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not %tblgen -I %t -gen-patterns %t/rows-number.td 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not %tblgen -I %t -gen-patterns %t/rows-field.td 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not %tblgen -I %t -gen-patterns %t/rows-word.td 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not %tblgen -I %t -gen-patterns %t/rows-arity.td 2>&1 | FileCheck %s --check-prefix=ROWARITY
// RUN: not %tblgen -I %t -gen-patterns %t/rows-each.td 2>&1 | FileCheck %s --check-prefix=EACH

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

//--- words.td
include "base.td"
def Right : Record<"right", 0>;
def Plus : Record<"plus", 1> {
  let operandList = [In<"a">, In<"b">];
  let resultList = [Like<"y", "a">];
  let elementwise = 1;
}
def Raised : Record<"raised", 2> {
  let fields = [F64Field<"by", AnyNumber>];
  let elementwise = 1;
}

//--- rows.td
include "words.td"
// What stands twice is one step. A name is an operand, and a field behind operands.
// ROWS: kFineRowNodes[] = {
// ROWS-NEXT: {RowStep::Sum, OpKind::ReduceSum, {-1}, 1},
// ROWS-NEXT: {RowStep::Elementwise, OpKind::Raised, {0}, 1, 0},
// ROWS-NEXT: {RowStep::Repeat, OpKind::Expand, {1}, 1},
// ROWS-NEXT: {RowStep::Elementwise, OpKind::Plus, {-1, 2}, 2}};
// ROWS-NEXT: kFineRowResults[] = {3, 1};
defvar left = (Raised (RowSum $x), $eps);
def Fine : Record<"fine", 3> {
  let resultList = [Like<"y", "x">, RowsOf<"left", "x">];
  let fields = [F64Field<"eps", AnyNumber>];
  let rows = [(Plus $x, (EachRow left)), left];
}

//--- rows-count.td
include "words.td"
// COUNT: 'wrong' has 1 results, and defines 2 by rows
def Wrong : Record<"wrong", 3> { let rows = [(RowSum $x), (RowMean $x)]; }

//--- rows-name.td
include "words.td"
// NAME: no operand or result is called 'z'
def Wrong : Record<"wrong", 3> { let rows = [(Plus $x, $z)]; }

//--- rows-number.td
include "words.td"
// NUMBER: 'wrong' has a definition by rows with an argument that is not a name
def Wrong : Record<"wrong", 3> { let rows = [(RowSum 3)]; }

//--- rows-field.td
include "words.td"
// FIELD: 'wrong' has no field 'eps'
def Wrong : Record<"wrong", 3> { let rows = [(Raised $x, $eps)]; }

//--- rows-word.td
include "words.td"
// WORD: 'wrong' has 'addf' in a definition by rows
def Wrong : Record<"wrong", 3> { let rows = [(addf $x, $x)]; }

//--- rows-arity.td
include "words.td"
// ROWARITY: 'wrong' has 'plus' in a definition by rows
def Wrong : Record<"wrong", 3> { let rows = [(Plus $x)]; }

//--- rows-each.td
include "words.td"
// EACH: 'wrong' has a row of all rows that is not an operand
def Wrong : Record<"wrong", 3> { let rows = [(OfEachRow (RowSum $x))]; }
