// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-fuse-calls -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"},
             %W: tensor<2x8xf32> {aicf.name = "W", aicf.role = "param"},
             %b: tensor<2xf32> {aicf.name = "b", aicf.role = "param"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %xW = aicf_rt.call gemm(%x, %W) {transB = true}
      : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %y = aicf_rt.call bias_add(%xW, %b) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %h = aicf_rt.call relu(%y) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %h : tensor<4x2xf32>
}

//--- after.mlir
func.func @f(%x: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"},
             %W: tensor<2x8xf32> {aicf.name = "W", aicf.role = "param"},
             %b: tensor<2xf32> {aicf.name = "b", aicf.role = "param"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %h = aicf_rt.call {
    t0 = gemm(%x, %W) {transB = true}
    t1 = bias_add(t0, %b)
    t2 = relu(t1)
    yield t2
  } : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %h : tensor<4x2xf32>
}
