// RUN: aicf-opt %s --aicf-rt-annotate-inplace --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not aicf-opt %s --aicf-rt-emit-plan --split-input-file -o /dev/null
// RUN: not aicf-opt %s --aicf-rt-materialize-updates --split-input-file -o /dev/null

// Tests that hand-written rt functions get diagnostics from every rt pass.
// expected-error @+1 {{result 0 updates "zz", which is not a param or state of its type, or is updated twice}}
func.func @missing(%x: tensor<4xf32> {aicf.role = "param", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.updates = "zz"}) {
  %0 = aicf_rt.call copy(%x) protective : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 is 'tensor<2000000000x2000000000xf32>', expected dimensions below 2^31 and up to 64 TiB}}
func.func @huge(%x: tensor<2000000000x2000000000xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// Tests that only copies that nobody else uses, and that order nothing, go.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: tensor<4xf32> {aicf.role = "param", aicf.name = "x"},
                %y: tensor<4xf32> {aicf.role = "param", aicf.name = "y"},
                %z: tensor<4xf32> {aicf.role = "param", aicf.name = "z"})
    -> (tensor<4xf32> {aicf.updates = "x"}, tensor<4xf32> {aicf.updates = "y"},
        tensor<4xf32> {aicf.updates = "z"}) {
  %0 = aicf_rt.call add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call relu({{.*}}) protective
  %1 = aicf_rt.call relu(%0) protective : (tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.call add(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[C:.*]] = aicf_rt.call copy(
  %3 = aicf_rt.call copy(%2) protective : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call relu(%[[C]])
  %4 = aicf_rt.call relu(%3) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = aicf_rt.call add(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call copy({{.*}}) protective launch<signals = [7]>
  %6 = aicf_rt.call copy(%5) protective launch<signals = [7]> : (tensor<4xf32>) -> tensor<4xf32>
  %7 = aicf_rt.call relu(%4) launch<waits = [7]> : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %3, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
