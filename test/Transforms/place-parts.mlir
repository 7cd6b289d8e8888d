// RUN: aicf-opt %s --split-input-file --aicf-rt-place-parts | FileCheck %s
// RUN: aicf-opt %s --split-input-file --aicf-set-target=target=cuda --aicf-rt-place-parts | FileCheck %s

// Tests where parts go: rows, columns, heads of a product, parts of parts, and rows
// of a state.

// What products and functions make goes to columns; what an argument has is copied there.
// CHECK-LABEL: @columns
func.func @columns(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<8x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x24xf32> {aicf.name = "c"}) {
  // CHECK: %[[A:.*]] = aicf_rt.call gemm({{.*}} -> tensor<4x8xf32, #aicf_rt.strided<[24, 1]>>
  %a = aicf_rt.call gemm(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[B:.*]] = aicf_rt.call exp({{.*}} -> tensor<4x8xf32, #aicf_rt.strided<[24, 1]>>
  %b = aicf_rt.call exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[X:.*]] = aicf_rt.call copy(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[24, 1]>>
  // CHECK: %[[C:.*]] = aicf_rt.join %[[A]][0], %[[B]][8], %[[X]][16] :
  %c = aicf_rt.call concat(%a, %b, %x) {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  // CHECK: return %[[C]]
  return %c : tensor<4x24xf32>
}

// -----

// Rows of the whole are dense, and any kernel writes them.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8x8xf32> {aicf.name = "c"}) {
  // CHECK: softmax(%arg0){{.*}} -> tensor<4x8xf32>
  // CHECK: softmax(%arg0){{.*}} -> tensor<4x8xf32>
  %a = aicf_rt.call softmax(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aicf_rt.call softmax(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: aicf_rt.join %{{.*}}[0], %{{.*}}[32] : tensor<4x8xf32>, tensor<4x8xf32> to tensor<8x8xf32>
  %c = aicf_rt.call concat(%a, %b) {axis = 0} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// -----

// The heads of attention are written beside each other: no copy turns them. Who reads
// the heads reads them there.
// CHECK-LABEL: @heads
func.func @heads(%p: tensor<2x3x5x5xf32> {aicf.role = "input", aicf.name = "p"},
                 %v: tensor<2x3x5x4xf32> {aicf.role = "input", aicf.name = "v"})
    -> (tensor<2x5x12xf32> {aicf.name = "y"}, tensor<2x3x4x4xf32> {aicf.name = "g"}) {
  // CHECK: %[[O:.*]] = aicf_rt.call batched_gemm({{.*}} -> tensor<2x3x5x4xf32, #aicf_rt.strided<[60, 4, 12, 1]>>
  %o = aicf_rt.call batched_gemm(%p, %v) : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  // CHECK: aicf_rt.call batched_gemm(%[[O]], %[[O]])
  %g = aicf_rt.call batched_gemm(%o, %o) {transA = true} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x4x4xf32>
  // CHECK-NOT: copy
  // CHECK: %[[Y:.*]] = aicf_rt.join %[[O]][0] : tensor<2x3x5x4xf32, #aicf_rt.strided<[60, 4, 12, 1]>> to tensor<2x5x3x4xf32>
  %t = aicf_rt.view %o[0] : tensor<2x3x5x4xf32> to tensor<2x5x3x4xf32, #aicf_rt.strided<[60, 4, 20, 1]>>
  %d = aicf_rt.call copy(%t) : (tensor<2x5x3x4xf32, #aicf_rt.strided<[60, 4, 20, 1]>>) -> tensor<2x5x3x4xf32>
  %u = aicf_rt.view %d[0] : tensor<2x5x3x4xf32> to tensor<2x5x12xf32>
  // CHECK: aicf_rt.view %[[Y]][0]
  %y = aicf_rt.call exp(%u) : (tensor<2x5x12xf32>) -> tensor<2x5x12xf32>
  return %y, %g : tensor<2x5x12xf32>, tensor<2x3x4x4xf32>
}

// -----

// A slice of a part is a slice of the whole. The inner concat is a part of the outer one.
// CHECK-LABEL: @nested
func.func @nested(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x24xf32> {aicf.name = "c"}, tensor<4x2xf32> {aicf.name = "s"}) {
  // CHECK: %[[A:.*]] = aicf_rt.call exp({{.*}} -> tensor<4x8xf32, #aicf_rt.strided<[24, 1]>>
  %a = aicf_rt.call exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[S:.*]] = aicf_rt.view %[[A]][3] : tensor<4x8xf32, #aicf_rt.strided<[24, 1]>> to tensor<4x2xf32, #aicf_rt.strided<[24, 2]>>
  // CHECK: aicf_rt.call mul(%[[S]], %[[S]])
  %part = aicf_rt.view %a[3] : tensor<4x8xf32> to tensor<4x2xf32, #aicf_rt.strided<[8, 2]>>
  %s = aicf_rt.call mul(%part, %part) : (tensor<4x2xf32, #aicf_rt.strided<[8, 2]>>, tensor<4x2xf32, #aicf_rt.strided<[8, 2]>>) -> tensor<4x2xf32>
  // CHECK: %[[B:.*]] = aicf_rt.call tanh({{.*}} -> tensor<4x8xf32, #aicf_rt.strided<[24, 1]>>
  %b = aicf_rt.call tanh(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[AB:.*]] = aicf_rt.join %[[A]][0], %[[B]][8] : {{.*}} to tensor<4x16xf32, #aicf_rt.strided<[24, 1]>>
  %ab = aicf_rt.call concat(%a, %b) {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %d = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: aicf_rt.join %[[AB]][0], %{{.*}}[16] : {{.*}} to tensor<4x24xf32>
  %c = aicf_rt.call concat(%ab, %d) {axis = 1} : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  return %c, %s : tensor<4x24xf32>, tensor<4x2xf32>
}

// -----

// One row of a state is written. What reads it before, and what reads others, may.
// CHECK-LABEL: @row
func.func @row(%r: tensor<1x8xf32> {aicf.role = "input", aicf.name = "r"},
               %s: tensor<6x8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<6x8xf32> {aicf.updates = "s"}, tensor<3x8xf32> {aicf.name = "y"}) {
  %old = aicf_rt.view %s[16] : tensor<6x8xf32> to tensor<1x8xf32>
  %sum = aicf_rt.call add(%old, %r) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  // CHECK: %[[N:.*]] = aicf_rt.call relu({{.*}} -> tensor<1x8xf32>
  %n = aicf_rt.call relu(%sum) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %before = aicf_rt.view %s[0] : tensor<6x8xf32> to tensor<2x8xf32>
  %behind = aicf_rt.view %s[24] : tensor<6x8xf32> to tensor<3x8xf32>
  // CHECK: %[[S:.*]] = aicf_rt.join %[[N]][16] into %arg1 : tensor<1x8xf32> to tensor<6x8xf32>
  %t = aicf_rt.call concat(%before, %n, %behind) {axis = 0} : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
  %y = aicf_rt.call exp(%behind) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  // CHECK: return %[[S]]
  return %t, %y : tensor<6x8xf32>, tensor<3x8xf32>
}
