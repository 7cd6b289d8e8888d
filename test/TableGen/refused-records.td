// Tests that records which contradict themselves, or leave a fact out, build
// nothing.

// RUN: split-file %s %t
// RUN: %tblgen -I %t -gen-abi-header %t/base.td | FileCheck %s --check-prefix=RIGHT
// RUN: not %tblgen -I %t -gen-abi-header %t/phase.td 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not %tblgen -I %t -gen-abi-header %t/constraints.td 2>&1 | FileCheck %s --check-prefix=CONSTRAINTS
// RUN: not %tblgen -I %t -gen-abi-header %t/number.td 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not %tblgen -I %t -gen-abi-header %t/fourcc.td 2>&1 | FileCheck %s --check-prefix=FOURCC
// RUN: not %tblgen -I %t -gen-abi-header %t/fourcc-twice.td 2>&1 | FileCheck %s --check-prefix=FOURCCS
// RUN: not %tblgen -I %t -gen-abi-header %t/tie.td 2>&1 | FileCheck %s --check-prefix=TIE
// RUN: not %tblgen -I %t -gen-abi-header %t/group.td 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not %tblgen -I %t -gen-abi-header %t/same.td 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not %tblgen -I %t -gen-abi-header %t/last.td 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not %tblgen -I %t -gen-abi-header %t/kept.td 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not %tblgen -I %t -gen-kernel-rows %t/kinds.td 2>&1 | FileCheck %s --check-prefix=KINDS
// RUN: not %tblgen -I %t -gen-kernel-rows %t/cap.td 2>&1 | FileCheck %s --check-prefix=CAP
// RUN: not %tblgen -I %t -gen-kernel-rows %t/twice.td 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not %tblgen -I %t -gen-kernel-rows %t/dtype.td 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not %tblgen -I %t -gen-functors %t/arity.td 2>&1 | FileCheck %s --check-prefix=ARITY

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
// RIGHT: Right = 0
def Right : Record<"right", 0>;

class Kernels<Device on> : KernelFamily<"unit", on> {
  let kinds = [Right];
  let variants = [On<"f32">];
}

//--- phase.td
include "base.td"
// PHASE: 'Wrong' does not say its phase: passes ask for it
def Wrong : Record<"wrong", 1> { let phase = ?; }

//--- constraints.td
include "base.td"
// CONSTRAINTS: {{.*}}'description' in 'Wrong' could not be fully resolved
def Wrong : Record<"wrong", 1> { let constraints = ?; }

//--- number.td
include "base.td"
// NUMBER: 'wrong' has 2 where 1 is expected
def Wrong : Record<"wrong", 2>;

//--- fourcc.td
include "base.td"
// FOURCC: fourCC must have 4 characters or none
def Wrong : Record<"wrong", 1> { let fourCC = "ABC"; }

//--- fourcc-twice.td
include "base.td"
// FOURCCS: 'b' and 'a' both name their attrs 'SAME'
def A : Record<"a", 1> { let fourCC = "SAME"; let fields = [F64Field<"f", AnyNumber>]; }
def B : Record<"b", 2> { let fourCC = "SAME"; let fields = [F64Field<"f", AnyNumber>]; }

//--- tie.td
include "base.td"
// TIE: no operand or result is called 'z'
def Wrong : Record<"wrong", 1> { let ties = [Tie<"y", "z">]; }

//--- group.td
include "base.td"
// GROUP: 'g' is variadic, so it must stand first
def Wrong : Record<"wrong", 1> { let operandList = [In<"x">, Each<"g">]; }

//--- same.td
include "base.td"
// SAME: 'wrong': a is the same as b, which must stand before it, both plain
def Wrong : Record<"wrong", 1> { let operandList = [Same<"a", "b">, In<"b">, In<"x">]; }

//--- last.td
include "base.td"
// LAST: 'wrong': z may be absent, so it must be the last result
def Wrong : Record<"wrong", 1> {
  let operandList = [In<"x">, Opt<"o">];
  let resultList = [OptLike<"z", "o">, Like<"y", "x">];
}

//--- kept.td
include "base.td"
// KEPT: no operand or result is called 'z'
def Wrong : Record<"wrong", 1> { let precision = Keep<"z">; }

//--- kinds.td
include "base.td"
// KINDS: 'Wrong' has either kinds, patterns or everyPointwise
def Wrong : Kernels<CPU> { let everyPointwise = 1; }

//--- cap.td
include "base.td"
// CAP: 'Wrong' has a workspace without cap, or a cap without workspace
def Wrong : Kernels<CPU> { let workspace = "4"; }

//--- twice.td
include "base.td"
// TWICE: there are two kernels 'right_f32_v0'
def First : Kernels<CPU>;
def Other : Kernels<CUDA>; // on another device it is another kernel
def Wrong : Kernels<CPU>;

//--- dtype.td
include "base.td"
// DTYPE: 'f12' is not an element type
def Wrong : Kernels<CPU> { let variants = [On<"f12">]; }

//--- arity.td
include "base.td"
// ARITY: 'addf' takes 2 operands, got 1
def Wrong : Record<"wrong", 1> { let scalar = (addf $x); }
