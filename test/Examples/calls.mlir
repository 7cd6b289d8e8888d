// RUN: aicf-opt %s --aicf-rt-verify=phase=inplace | aicf-opt --aicf-rt-verify=phase=inplace

// The example of the dialect's page.

func.func @f(%x: tensor<64x64xf32> {aicf.role = "input", aicf.name = "x"},
             %W: tensor<128x64xf32> {aicf.role = "param", aicf.name = "W"},
             %b: tensor<128xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<64x128xf32> {aicf.name = "y"}) {
  %y = aicf_rt.call gemm(%x, %W) {transB = true} vids [3]
      : (tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<64x128xf32>
  %z = aicf_rt.call bias_add(%y, %b) inplace [0] vids [3]
      : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
  return %z : tensor<64x128xf32>
}
