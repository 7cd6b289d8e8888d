// Tests the dump of entries that no pass of ours would leave so, and of what it skips.
// RUN: split-file %s %t
// RUN: aicf-opt %t/swap.mlir --aicf-number-values --aicf-lower-to-rt --aicf-rt-materialize-updates --aicf-dump-lowered -o /dev/null | FileCheck %t/swap.mlir
// RUN: aicf-opt %t/swap.mlir --lower-to-backend --aicf-dump-lowered -o /dev/null | FileCheck %t/swap.mlir
// RUN: aicf-opt %t/lowered.mlir --aicf-dump-lowered -o /dev/null | FileCheck %t/lowered.mlir --match-full-lines
// RUN: aicf-opt %t/numbered.mlir --aicf-dump-lowered -o /dev/null | FileCheck %t/numbered.mlir --match-full-lines
// RUN: aicf-opt %t/numbered.mlir --aicf-dump-lowered -o /dev/null | sed -n 1p | FileCheck %t/numbered.mlir --check-prefix=FIRST
// RUN: not aicf-opt %t/blocks.mlir --aicf-dump-lowered 2>&1 | FileCheck %t/blocks.mlir
// RUN: not aicf-opt %t/refused.mlir --aicf-dump-lowered 2>&1 | FileCheck %t/refused.mlir
// RUN: not aicf-opt %t/rows.mlir --aicf-dump-lowered 2>&1 | FileCheck %t/rows.mlir
// RUN: not aicf-opt %t/view.mlir --aicf-dump-lowered 2>&1 | FileCheck %t/view.mlir
// RUN: not aicf-opt %t/foreign.mlir --aicf-dump-lowered 2>&1 | FileCheck %t/foreign.mlir
// RUN: not aicf-opt %t/unknown.mlir --allow-unregistered-dialect --aicf-dump-lowered 2>&1 | FileCheck %t/unknown.mlir

//--- swap.mlir
// Tests that copies which passes add are not listed. One entry needs no name.
// CHECK-NOT: {{.}}
// CHECK: values: 2, nodes: 0, ops: 0
// CHECK-NOT: {{.}}
func.func @swap(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

//--- lowered.mlir
// Tests calls without labels, a view of a labelled argument, absent results, and
// that a lowered entry is listed as it is: a call that nobody reads, too.
//      CHECK:values: 7, nodes: 0, ops: 3
// CHECK-NEXT:relu(v005) -> v?
// CHECK-NEXT:tanh(v?) -> v006
// CHECK-NEXT:sgd_step(v005, v005, v?, v?) -> v?
//  CHECK-NOT:{{.}}
func.func @lowered(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x", aicf.vid = 5 : i64},
                   %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
                   %ok: tensor<i32> {aicf.role = "input", aicf.name = "ok"})
    -> (tensor<4xf32> {aicf.name = "y"}) attributes {aicf.values = 7 : i64} {
  %v = aicf_rt.view %x[0] : tensor<4xf32> to tensor<2x2xf32>
  %0 = aicf_rt.call relu(%v) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = aicf_rt.call tanh(%0) vids [6] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = aicf_rt.call sgd_step(%x, %x, %lr, ok = %ok) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

//--- numbered.mlir
// Tests that labels of an entry which is not lowered stay, and that entries have
// their names with a line between.
//      FIRST: // @a
//      CHECK:// @a
// CHECK-NEXT:values: 9, nodes: 1, ops: 1
// CHECK-NEXT:relu(v007) -> v008
// CHECK-EMPTY:
// CHECK-NEXT:// @b
// CHECK-NEXT:values: 2, nodes: 1, ops: 1
// CHECK-NEXT:relu(v000) -> v001
func.func @a(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x", aicf.vid = 7 : i64})
    -> (tensor<4xf32> {aicf.name = "y"}) attributes {aicf.values = 9 : i64, aicf.nodes = 1 : i64} {
  %0 = aicf.relu %x {aicf.vids = array<i64: 8>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @b(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- blocks.mlir
// CHECK: entry @step must have one block that ends in func.return, got 2 blocks
// CHECK-NOT: error:
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

//--- refused.mlir
// Tests what lowering refuses.
// CHECK: result 0 has 'aicf.minimize': run --aicf-autodiff
func.func @step(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y", aicf.minimize}) {
  return %x : tensor<f32>
}

//--- rows.mlir
// Tests a call that the rules refuse: it is an error, and nothing is printed.
// CHECK: gemm: C5: operand 0 (a) is 2147483647x3x4xf32 of 6442450941 rows
func.func @step(%x: tensor<2147483647x3x4xf32> {aicf.role = "input", aicf.name = "x"},
                %b: tensor<4x5xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2147483647x3x5xf32> {aicf.name = "y"}) {
  %y = aicf.matmul %x, %b : tensor<2147483647x3x4xf32>, tensor<4x5xf32>
  return %y : tensor<2147483647x3x5xf32>
}

//--- view.mlir
// Tests that a lowered entry is not lowered once more: that would add a copy.
// CHECK: returns a view as result 0
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x2xf32> {aicf.name = "y"}) attributes {aicf.values = 1 : i64} {
  %0 = aicf_rt.view %x[0] : tensor<4xf32> to tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

//--- foreign.mlir
// Tests an op that lowering leaves.
// CHECK: 'func.call' op is not an aicf_rt.call
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  func.call @helper(%x) : (tensor<4xf32>) -> ()
  return
}
func.func private @helper(%x: tensor<4xf32>) {
  return
}

//--- unknown.mlir
// Tests an op of a dialect that is not registered.
// CHECK: 'other.op' op is not an aicf_rt.call
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  "other.op"(%x) : (tensor<4xf32>) -> ()
  return
}
