// RUN: aicf-opt %s --aicf-rematerialize --aicf-lower-to-rt | FileCheck %s
// RUN: sed 's/{aicf.recompute}//' %s | aicf-opt --aicf-rematerialize --aicf-lower-to-rt \
// RUN:   | FileCheck %s

// Tests that a mark changes no product, whose form decides its bits: what is marked is
// lowered as what is not.

// A view that the user saves is dense for its readers, marked or not.
// CHECK-LABEL: func.func @saved_view
// CHECK: aicf_rt.call copy
// CHECK: aicf_rt.call gemm
// CHECK-NOT: batched_gemm
// CHECK: return
func.func @saved_view(%d: tensor<3x1x5xf32> {aicf.role = "input", aicf.name = "d"},
                      %dy: tensor<5x3x3xf32> {aicf.role = "input", aicf.name = "dy"},
                      %W: tensor<3x1xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<5x3x3xf32> {aicf.name = "y"}, tensor<3x1xf32> {aicf.name = "dW"}) {
  %e = aicf.neg %d : tensor<3x1x5xf32>
  %p = "aicf.transpose"(%e) <{permutation = array<i64: 2, 0, 1>}> {aicf.recompute} : (tensor<3x1x5xf32>) -> tensor<5x3x1xf32>
  %s = aicf.save %p : tensor<5x3x1xf32>
  %y = aicf.linear %s, %W : tensor<5x3x1xf32>, tensor<3x1xf32>
  %dx, %dW, %db = aicf.linear_bwd %dy, %s, %W : tensor<5x3x3xf32>, tensor<5x3x1xf32>, tensor<3x1xf32>
  return %y, %dW : tensor<5x3x3xf32>, tensor<3x1xf32>
}

// A product that is read turned, and saved as it is.
// CHECK-LABEL: func.func @read_turned
// CHECK: %[[C:.*]] = aicf_rt.call batched_gemm(%arg0, %arg1)
// CHECK-NOT: batched_gemm(%{{.*}}) {transA = true, transB = true}
// CHECK: return
func.func @read_turned(%x: tensor<3x4x5xf32> {aicf.role = "input", aicf.name = "x"},
                       %V: tensor<3x5x6xf32> {aicf.role = "param", aicf.name = "V"},
                       %dq: tensor<3x4x6xf32> {aicf.role = "input", aicf.name = "dq"})
    -> (tensor<3x6x4xf32> {aicf.name = "q"}, tensor<3x4x6xf32> {aicf.name = "g"}) {
  %c = aicf.matmul %x, %V {aicf.recompute} : tensor<3x4x5xf32>, tensor<3x5x6xf32>
  %s = aicf.save %c : tensor<3x4x6xf32>
  %p = aicf.transpose %c [0, 2, 1] : tensor<3x4x6xf32>
  %q = aicf.square %p : tensor<3x6x4xf32>
  %g = aicf.tanh_bwd %dq, %s : tensor<3x4x6xf32>, tensor<3x4x6xf32>
  return %q, %g : tensor<3x6x4xf32>, tensor<3x4x6xf32>
}
