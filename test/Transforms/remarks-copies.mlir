// RUN: aicf-opt %s --aicf-rt-materialize-updates --aicf-rt-annotate-inplace --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null
// RUN: aicf-opt %s --aicf-rt-materialize-updates --aicf-rt-annotate-inplace --remarks-filter-analyse=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s

// Tests an update that keeps its copy: who still reads the old value.
// CHECK: MaterializeUpdates | Category:aicf | Function=late_reader | copies_for_outputs=0, copies_for_updates=1
// CHECK: AnnotateInplace | Category:aicf | Function=late_reader | temps_in_place=1, update_copies_left=1
func.func @late_reader(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.name = "y"}) {
  // expected-remark @+1 {{the update of "p" needs a copy: 'add' still reads the old value when 'relu' would overwrite it}}
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call add(%0, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests outputs that need a copy, each for its reason.
// CHECK: MaterializeUpdates | Category:aicf | Function=outputs | copies_for_outputs=3, copies_for_updates=1
// CHECK: AnnotateInplace | Category:aicf | Function=outputs | temps_in_place=0, update_copies_left=1
func.func @outputs(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.name = "a"},
        tensor<4xf32> {aicf.name = "b"}, tensor<4xf32> {aicf.name = "c"},
        tensor<4xf32> {aicf.name = "d"}) {
  // expected-remark @+1 {{the update of "p" needs a copy: 'copy' still reads the old value when 'relu' would overwrite it}}
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+3 {{output "a" needs a copy: it is an argument, and an output has storage of its own}}
  // expected-remark @+2 {{output "b" needs a copy: it is an update too}}
  // expected-remark @+1 {{output "d" needs a copy: it is another output too}}
  return %0, %p, %0, %1, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that an update in place is none of these.
// CHECK: AnnotateInplace | Category:aicf | Function=legal | temps_in_place=0, update_copies_left=0
func.func @legal(%t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<i64> {aicf.updates = "t"}) {
  %0 = aicf_rt.call step_inc(%t) : (tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// Tests a swap: what is wrong is where the values live, and not who reads them.
func.func @swap(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                // expected-remark @+1 {{the update of "a" needs a copy: 'copy' reads a value that lives in another argument or is returned twice}}
                %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  // expected-remark @+1 {{the update of "b" needs a copy: 'copy' reads a value that lives in another argument or is returned twice}}
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
