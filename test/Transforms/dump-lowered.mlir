// RUN: aicf-opt %s --aicf-dump-lowered -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: aicf-opt %s --aicf-number-values --aicf-lower-to-rt --aicf-dump-lowered -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: aicf-opt %s --lower-to-backend --aicf-dump-lowered -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: aicf-opt %s --lower-to-backend=opt-level=0 --aicf-dump-lowered -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace

// Tests the dump at every stage: exactly these lines.
//      CHECK:values: 10, nodes: 4, ops: 6
// CHECK-NEXT:gemm(v000, v001) -> v003 {transB = true}
// CHECK-NEXT:bias_add(v003, v002) -> v003
// CHECK-NEXT:relu(v003) -> v004
// CHECK-NEXT:gemm(v004, v005) -> v007 {transB = true}
// CHECK-NEXT:bias_add(v007, v006) -> v007
// CHECK-NEXT:mse_grad(v007, v008) -> v009
//  CHECK-NOT:{{.}}
func.func @step(%x: tensor<64x64xf32> {aicf.role = "input", aicf.name = "x"},
                %W0: tensor<128x64xf32> {aicf.role = "param", aicf.name = "W0"},
                %b0: tensor<128xf32> {aicf.role = "param", aicf.name = "b0"},
                %W1: tensor<64x128xf32> {aicf.role = "param", aicf.name = "W1"},
                %b1: tensor<64xf32> {aicf.role = "param", aicf.name = "b1"},
                %t: tensor<64x64xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<64x64xf32> {aicf.name = "g"}) {
  %0 = aicf.linear %x, %W0, %b0 : tensor<64x64xf32>, tensor<128x64xf32>, tensor<128xf32>
  %1 = aicf.relu %0 : tensor<64x128xf32>
  %2 = aicf.linear %1, %W1, %b1 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64xf32>
  %3 = aicf.mse_grad %2, %t : tensor<64x64xf32>, tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}
