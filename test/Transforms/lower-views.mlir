// RUN: aicf-opt %s --aicf-lower-to-rt --split-input-file | FileCheck %s

// Tests that views are one view of their base, and that products and sums ask for
// the ones that they know.

// CHECK-LABEL: @chains
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x6xf32>
func.func @chains(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x4xf32> {aicf.name = "a"}, tensor<2xf32> {aicf.name = "b"}, tensor<4x6xf32> {aicf.name = "c"}) {
  // A slice of a transpose of a reshape: offset 1·2 + 6·1, strides of the base.
  // CHECK: %[[B:.*]] = aicf_rt.view %[[X]][8] : tensor<4x6xf32> to tensor<2xf32, #aicf_rt.strided<[12]>>
  %r = aicf.reshape %x to [4, 3, 2] : tensor<4x6xf32>
  %t = aicf.transpose %r [2, 1, 0] : tensor<4x3x2xf32>
  %s = aicf.slice %t from [0, 1, 1] to [1, 2, 4] step [1, 1, 2] : tensor<2x3x4xf32>
  %b = aicf.reshape %s to [2] : tensor<1x1x2xf32>
  // CHECK: aicf_rt.call relu(%[[B]])
  %rb = aicf.relu %b : tensor<2xf32>
  // Back and forth is the base itself: one read of it.
  %back = aicf.transpose %t [2, 1, 0] : tensor<2x3x4xf32>
  %again = aicf.reshape %back to [4, 6] : tensor<4x3x2xf32>
  // CHECK: aicf_rt.call relu(%[[X]])
  %c = aicf.relu %again : tensor<4x6xf32>
  // What is returned is copied where it is seen.
  // CHECK: %[[A:.*]] = aicf_rt.view %[[X]][0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  // CHECK-NEXT: %[[COPY:.*]] = aicf_rt.call copy(%[[A]])
  %a = aicf.transpose %x [1, 0] : tensor<4x6xf32>
  // CHECK: return %[[COPY]]
  return %a, %rb, %c : tensor<6x4xf32>, tensor<2xf32>, tensor<4x6xf32>
}

// -----

// No strides walk through a transposed matrix as rows: a copy does.
// CHECK-LABEL: @reshape_of_transpose
func.func @reshape_of_transpose(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<24xf32> {aicf.name = "a"}) {
  // CHECK: %[[T:.*]] = aicf_rt.view
  // CHECK: %[[D:.*]] = aicf_rt.call copy(%[[T]]) {{.*}} -> tensor<6x4xf32>
  // CHECK: %[[F:.*]] = aicf_rt.view %[[D]][0] : tensor<6x4xf32> to tensor<24xf32>
  // CHECK: aicf_rt.call relu(%[[F]])
  %t = aicf.transpose %x [1, 0] : tensor<4x6xf32>
  %r = aicf.reshape %t to [24] : tensor<6x4xf32>
  %a = aicf.relu %r : tensor<24xf32>
  return %a : tensor<24xf32>
}

// -----

// Heads of a packed product: transposes are flags, and batches have strides.
// CHECK-LABEL: @heads
func.func @heads(%qkv: tensor<2x5x24xf32> {aicf.role = "input", aicf.name = "qkv"})
    -> (tensor<2x2x5x5xf32> {aicf.name = "s"}) {
  // CHECK-DAG: %[[Q:.*]] = aicf_rt.view %{{.*}}[0] : tensor<2x5x24xf32> to tensor<2x2x5x4xf32, #aicf_rt.strided<[120, 4, 24, 1]>>
  // CHECK-DAG: %[[K:.*]] = aicf_rt.view %{{.*}}[8] : tensor<2x5x24xf32> to tensor<2x2x5x4xf32, #aicf_rt.strided<[120, 4, 24, 1]>>
  // CHECK: aicf_rt.call batched_gemm(%[[Q]], %[[K]]) {transB = true}
  // CHECK-NOT: copy
  %p = aicf.reshape %qkv to [2, 5, 3, 2, 4] : tensor<2x5x24xf32>
  %h = aicf.transpose %p [2, 0, 3, 1, 4] : tensor<2x5x3x2x4xf32>
  %q0 = aicf.slice %h from [0, 0, 0, 0, 0] to [1, 2, 2, 5, 4] : tensor<3x2x2x5x4xf32>
  %k0 = aicf.slice %h from [1, 0, 0, 0, 0] to [2, 2, 2, 5, 4] : tensor<3x2x2x5x4xf32>
  %q = aicf.reshape %q0 to [2, 2, 5, 4] : tensor<1x2x2x5x4xf32>
  %k = aicf.reshape %k0 to [2, 2, 5, 4] : tensor<1x2x2x5x4xf32>
  %kt = aicf.transpose %k [0, 1, 3, 2] : tensor<2x2x5x4xf32>
  %s = aicf.matmul %q, %kt : tensor<2x2x5x4xf32>, tensor<2x2x4x5xf32>
  return %s : tensor<2x2x5x5xf32>
}

// -----

// A bias along any dimension is one; rows of several dimensions are one matrix.
// CHECK-LABEL: @layers
func.func @layers(%x: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<4x5xf32> {aicf.role = "param", aicf.name = "w"},
                  %b: tensor<3xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<2x3x5xf32> {aicf.name = "y"}, tensor<5xf32> {aicf.name = "s"}, tensor<2x3xf32> {aicf.name = "m"}) {
  // CHECK: %[[C:.*]] = aicf_rt.call gemm(%{{.*}}, %{{.*}}) : (tensor<2x3x4xf32>, tensor<4x5xf32>)
  %c = aicf.matmul %x, %w : tensor<2x3x4xf32>, tensor<4x5xf32>
  %b1 = aicf.reshape %b to [3, 1] : tensor<3xf32>
  %bb = aicf.broadcast %b1 to [2, 3, 5] : tensor<3x1xf32>
  // CHECK: %[[Y:.*]] = aicf_rt.call bias_add(%[[C]], %{{.*}}) {axis = 1} : (tensor<2x3x5xf32>, tensor<3xf32>)
  %y = aicf.add %bb, %c : tensor<2x3x5xf32>, tensor<2x3x5xf32>
  // CHECK: aicf_rt.call reduce_sum(%[[Y]]) {axis = 1} : (tensor<2x3x5xf32>) -> tensor<5xf32>
  %s = aicf.reduce_sum %y over [0, 1] : tensor<2x3x5xf32>
  // CHECK: aicf_rt.call reduce_mean(%[[Y]]) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3xf32>
  %m = aicf.reduce_mean %y over [2] : tensor<2x3x5xf32>
  return %y, %s, %m : tensor<2x3x5xf32>, tensor<5xf32>, tensor<2x3xf32>
}

// -----

// A weight that is transposed in front of a layer is a flag of its products.
// CHECK-LABEL: @weights
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<6x4xf32>{{.*}}, %[[W:[a-z0-9]*]]: tensor<4x5xf32>
func.func @weights(%x: tensor<6x4xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<4x5xf32> {aicf.role = "param", aicf.name = "w"},
                   %dy: tensor<6x5xf32> {aicf.role = "input", aicf.name = "dy"})
    -> (tensor<6x5xf32> {aicf.name = "y"}, tensor<6x4xf32> {aicf.name = "dx"}, tensor<5x4xf32> {aicf.name = "dw"}) {
  // CHECK: aicf_rt.call gemm(%[[X]], %[[W]]) :
  %t = aicf.transpose %w [1, 0] : tensor<4x5xf32>
  %y = aicf.linear %x, %t : tensor<6x4xf32>, tensor<5x4xf32>
  // CHECK: aicf_rt.call gemm(%{{.*}}, %[[W]]) {transB = true}
  // CHECK: aicf_rt.call gemm(%{{.*}}, %[[X]]) {transA = true}
  %dx, %dw, %db = aicf.linear_bwd %dy, %x, %t : tensor<6x5xf32>, tensor<6x4xf32>, tensor<5x4xf32>
  return %y, %dx, %dw : tensor<6x5xf32>, tensor<6x4xf32>, tensor<5x4xf32>
}

// -----

// Tests a returned view of what no call of ours makes: a later pass refuses it.
// CHECK-LABEL: @foreign
// CHECK: %[[F:.*]] = call @other
// CHECK: %[[V:.*]] = aicf_rt.view %[[F]]
// CHECK: aicf_rt.call copy(%[[V]]) :
func.func @foreign(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x4xf32> {aicf.name = "y"}) {
  %0 = func.call @other(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = aicf.transpose %0 [1, 0] : tensor<4x6xf32>
  return %1 : tensor<6x4xf32>
}
func.func private @other(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  return %x : tensor<4x6xf32>
}

// -----

// A view that is returned twice is copied once.
// CHECK-LABEL: @returned_twice
// CHECK: %[[C:.*]] = aicf_rt.call copy(
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @returned_twice(%x: tensor<2x3xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<3x2xf32> {aicf.name = "y"}, tensor<3x2xf32> {aicf.name = "z"}) {
  %t = aicf.transpose %x [1, 0] : tensor<2x3xf32>
  return %t, %t : tensor<3x2xf32>, tensor<3x2xf32>
}
