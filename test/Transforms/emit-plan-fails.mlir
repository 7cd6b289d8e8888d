// Tests that each error of the pass fails it: an error alone would let what follows run.
// RUN: split-file %s %t
// RUN: not aicf-opt %t/form.mlir --aicf-rt-emit-plan 2>&1 | FileCheck %t/form.mlir
// RUN: not aicf-opt %t/wait.mlir --aicf-rt-emit-plan 2>&1 | FileCheck %t/wait.mlir
// RUN: not aicf-opt %t/twice.mlir --aicf-rt-emit-plan 2>&1 | FileCheck %t/twice.mlir
// RUN: not aicf-opt %t/late.mlir --aicf-rt-emit-plan 2>&1 | FileCheck %t/late.mlir
// RUN: not aicf-opt %t/unnamed.mlir --aicf-rt-emit-plan 2>&1 | FileCheck %t/unnamed.mlir

//--- unnamed.mlir
// Tests an argument and an output that have no names.
// CHECK: error: result 0 returns argument 0 without a copy: run --aicf-rt-materialize-updates first
func.func @f(%x: tensor<4xf32> {aicf.role = "param"})
    -> (tensor<4xf32> {aicf.grad = "W"}) {
  return %x : tensor<4xf32>
}

//--- form.mlir
// Tests an update of an input.
// CHECK: error: result 0 updates "x", which is not a param or state of its type
// CHECK-NOT: aicf_rt.plan
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.updates = "x"}) attributes {aicf.target = #aicf.target<cpu>} {
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- wait.mlir
// Tests a wait for an event that no call signals.
// CHECK: error: {{.*}}event 3
// CHECK-NOT: aicf_rt.plan
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cpu>} {
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0", waits = [3]> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- twice.mlir
// Tests one value for two results.
// CHECK: error: results 0 and 1 return the same value
// CHECK-NOT: aicf_rt.plan
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"})
    attributes {aicf.target = #aicf.target<cpu>} {
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

//--- late.mlir
// Tests an update that overwrites what a later call reads.
// CHECK: error: {{.*}}result 0 overwrites a value that 'add' still reads
// CHECK-NOT: aicf_rt.plan
func.func @f(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cpu>} {
  %0 = aicf_rt.call relu(%a) launch<kernel = "relu_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call add(%a, %a) launch<kernel = "add_f32_v0"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
