// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-assign-streams=streams=2 -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%d: tensor<64x32xf32> {aicf.name = "d", aicf.role = "input"},
             %x: tensor<64x48xf32> {aicf.name = "x", aicf.role = "input"},
             %W: tensor<32x48xf32> {aicf.name = "W", aicf.role = "param"},
             %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"})
    -> (tensor<64x48xf32> {aicf.name = "dx"},
        tensor<32x48xf32> {aicf.updates = "W"}) {
  %dx = aicf_rt.call gemm(%d, %W) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %dW = aicf_rt.call gemm(%d, %x) {transA = true}
      : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %e = aicf_rt.call relu(%dx) : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %p_out = aicf_rt.call sgd_step(%W, %dW, %lr)
      : (tensor<32x48xf32>, tensor<32x48xf32>, tensor<f32>) -> tensor<32x48xf32>
  return %e, %p_out : tensor<64x48xf32>, tensor<32x48xf32>
}

//--- after.mlir
func.func @f(%d: tensor<64x32xf32> {aicf.name = "d", aicf.role = "input"},
             %x: tensor<64x48xf32> {aicf.name = "x", aicf.role = "input"},
             %W: tensor<32x48xf32> {aicf.name = "W", aicf.role = "param"},
             %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"})
    -> (tensor<64x48xf32> {aicf.name = "dx"},
        tensor<32x48xf32> {aicf.updates = "W"}) {
  %dx = aicf_rt.call gemm(%d, %W) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %dW = aicf_rt.call gemm(%d, %x) {transA = true} launch<stream = 1, signals = [1]>
      : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %e = aicf_rt.call relu(%dx) : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %p_out = aicf_rt.call sgd_step(%W, %dW, %lr) launch<waits = [1]>
      : (tensor<32x48xf32>, tensor<32x48xf32>, tensor<f32>) -> tensor<32x48xf32>
  return %e, %p_out : tensor<64x48xf32>, tensor<32x48xf32>
}
