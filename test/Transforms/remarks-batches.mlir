// RUN: aicf-opt %s --aicf-rt-eliminate-saves --aicf-rt-batch-calls --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null
// RUN: aicf-opt %s --aicf-rt-eliminate-saves --aicf-rt-batch-calls --remarks-filter-analyse=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s

// Tests an update with a learning rate of its own, which stays alone, and a
// save that does not.
// CHECK: EliminateSaves | Category:aicf | Function=rates | eliminated=1
// CHECK: BatchCalls | Category:aicf | Function=rates | calls_batched=2
func.func @rates(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                 %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                 %r: tensor<4xf32> {aicf.role = "param", aicf.name = "r"},
                 %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                 %a: tensor<f32> {aicf.role = "hyper", aicf.name = "a"},
                 %b: tensor<f32> {aicf.role = "hyper", aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call copy_saved(%g) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = aicf_rt.call sgd_step(%p, %s, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-remark @+1 {{'sgd_step' is not batched with other calls: its fields, scalars or types differ}}
  %1 = aicf_rt.call sgd_step(%q, %g, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = aicf_rt.call sgd_step(%r, %g, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests an update that is read before the last one.
// CHECK: BatchCalls | Category:aicf | Function=early_reader | calls_batched=0
func.func @early_reader(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                        %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                        %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                        %a: tensor<f32> {aicf.role = "hyper", aicf.name = "a"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %g, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{'sgd_step' is not batched with other calls: a result of the batch is read before this call}}
  %2 = aicf_rt.call sgd_step(%q, %1, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests updates that no kernel takes together: of 16-bit params.
// CHECK: BatchCalls | Category:aicf | Function=none | calls_batched=0
func.func @none(%p: tensor<4xbf16> {aicf.role = "param", aicf.name = "p"},
                %q: tensor<4xbf16> {aicf.role = "param", aicf.name = "q"},
                %g: tensor<4xbf16> {aicf.role = "input", aicf.name = "g"},
                %a: tensor<bf16> {aicf.role = "hyper", aicf.name = "a"})
    attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{'sgd_step' is not batched with other calls: the target has no kernel for the batch}}
  %0 = aicf_rt.call sgd_step(%p, %g, %a) : (tensor<4xbf16>, tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %1 = aicf_rt.call sgd_step(%q, %g, %a) : (tensor<4xbf16>, tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return
}

// -----

// Tests that updates of two patterns, and one for which the target has no kernel, are
// each alone without a remark: nothing is there to go with them.
// CHECK: BatchCalls | Category:aicf | Function=alone | calls_batched=0
func.func @alone(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                 %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                 %m: tensor<4xf32> {aicf.role = "state", aicf.name = "m"},
                 %h: tensor<4xbf16> {aicf.role = "param", aicf.name = "h"},
                 %bc: tensor<2xbf16> {aicf.role = "input", aicf.name = "bc"},
                 %b: tensor<bf16> {aicf.role = "hyper", aicf.name = "b"},
                 %a: tensor<f32> {aicf.role = "hyper", aicf.name = "a"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %p, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1:2 = aicf_rt.call sgd_step(%q, %p, %a, m = %m) {momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2:3 = aicf_rt.call adam_step(%h, %h, %h, %h, %bc, %b) : (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<2xbf16>, tensor<bf16>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  return
}

// -----

// Tests that an update with its 16-bit copy is one call, but no batch.
// CHECK: BatchCalls | Category:aicf | Function=copied | calls_batched=0
func.func @copied(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                  %g: tensor<4xbf16> {aicf.role = "input", aicf.name = "g"},
                  %a: tensor<f32> {aicf.role = "hyper", aicf.name = "a"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %g, %a) : (tensor<4xf32>, tensor<4xbf16>, tensor<f32>) -> tensor<4xf32>
  %1 = aicf_rt.call cast(%0) : (tensor<4xf32>) -> tensor<4xbf16>
  return
}
