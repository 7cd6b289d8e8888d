// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-batch-calls -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%p: tensor<4xf32> {aicf.name = "p", aicf.role = "param"},
             %q: tensor<4xf32> {aicf.name = "q", aicf.role = "param"},
             %g: tensor<4xf32> {aicf.name = "g", aicf.role = "input"},
             %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"})
    -> (tensor<4xf32> {aicf.updates = "p"},
        tensor<4xf32> {aicf.updates = "q"}) attributes {aicf.target = #aicf.target<cuda>} {
  %p2 = aicf_rt.call sgd_step(%p, %g, %lr)
      : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %q2 = aicf_rt.call sgd_step(%q, %g, %lr)
      : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %p2, %q2 : tensor<4xf32>, tensor<4xf32>
}

//--- after.mlir
func.func @f(%p: tensor<4xf32> {aicf.name = "p", aicf.role = "param"},
             %q: tensor<4xf32> {aicf.name = "q", aicf.role = "param"},
             %g: tensor<4xf32> {aicf.name = "g", aicf.role = "input"},
             %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"})
    -> (tensor<4xf32> {aicf.updates = "p"},
        tensor<4xf32> {aicf.updates = "q"}) attributes {aicf.target = #aicf.target<cuda>} {
  %p2, %q2 = aicf_rt.call {
    t0 = sgd_step(%p, %g, %lr)
    t1 = sgd_step(%q, %g, %lr)
    yield t0, t1
  } : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %p2, %q2 : tensor<4xf32>, tensor<4xf32>
}
