// Tests which sums become a part of the call that makes what they add.

// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// The gradient is a result, because something else reads it.
// CHECK-LABEL: func.func @bias_gradient
// CHECK: %[[DX:.*]], %{{.*}} = aicf_rt.call {
// CHECK-NEXT: t0 = gelu_bwd(%{{.*}}, %{{.*}})
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t0, t1
// CHECK: aicf_rt.call cumsum(%[[DX]])
// CPU-LABEL: func.func @bias_gradient
// CPU: t0 = gelu_bwd(
// CPU-NEXT: t1 = reduce_sum(t0)
func.func @bias_gradient(%dy: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "dy"},
                         %x: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "db"}, tensor<2097152x8xf32> {aicf.name = "p"}) {
  %dx = aicf_rt.call gelu_bwd(%dy, %x)
      : (tensor<2097152x8xf32>, tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %db = aicf_rt.call reduce_sum(%dx) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  %p = aicf_rt.call cumsum(%dx) {axis = 1} : (tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  return %db, %p : tensor<8xf32>, tensor<2097152x8xf32>
}

// -----

// Two sums of one shape, one of which reads an operand of the call.
// CHECK-LABEL: func.func @two_sums
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = mul(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: t2 = reduce_mean(
// CHECK-NEXT: yield t1, t2
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @two_sums(%dy: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "dy"},
                    %x: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}, tensor<8xf32> {aicf.name = "b"}) {
  %m = aicf_rt.call mul(%dy, %x)
      : (tensor<2097152x8xf32>, tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %a = aicf_rt.call reduce_sum(%m) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  %b = aicf_rt.call reduce_mean(%dy) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// The sum moves up to what it adds: the product in between reads that, too.
// CHECK-LABEL: func.func @sum_moves
// CHECK: %[[DX:.*]], %[[DB:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = tanh_bwd(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t0, t1
// CHECK: %[[P:.*]] = aicf_rt.call cumsum(%[[DX]])
// CHECK-NEXT: return %[[P]], %[[DB]]
func.func @sum_moves(%dy: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "dy"},
                     %y: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<2097152x8xf32> {aicf.name = "p"}, tensor<8xf32> {aicf.name = "db"}) {
  %dx = aicf_rt.call tanh_bwd(%dy, %y)
      : (tensor<2097152x8xf32>, tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %p = aicf_rt.call cumsum(%dx) {axis = 1} : (tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %db = aicf_rt.call reduce_sum(%dx) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  return %p, %db : tensor<2097152x8xf32>, tensor<8xf32>
}

// -----

// Tests a sum that is read, of more elements than a group of threads takes.
// CHECK-LABEL: func.func @sum_is_read
// CHECK: aicf_rt.call {
// CHECK: yield
// CHECK: aicf_rt.call relu(
func.func @sum_is_read(%x: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "y"}) {
  %e = aicf_rt.call exp(%x) : (tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %s = aicf_rt.call reduce_sum(%e) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{is not fused to 'exp, reduce_sum', whose result it reads: the target has no kernel for them in one call; reduction_graph_v0: it does not pay: not (groupsPay(GraphView(call), costs))}}
  %y = aicf_rt.call relu(%s) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Tests sums of different elements: rows and columns.
// CHECK-LABEL: func.func @rows_and_columns
// CHECK: aicf_rt.call {
// CHECK: t1 = reduce_sum(t0)
// CHECK: yield
// CHECK: aicf_rt.call reduce_sum(
func.func @rows_and_columns(%x: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}, tensor<2097152xf32> {aicf.name = "b"}) {
  %e = aicf_rt.call exp(%x) : (tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %a = aicf_rt.call reduce_sum(%e) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{the target has no kernel for them in one call}}
  %b = aicf_rt.call reduce_sum(%e) {axis = 1 : i64} : (tensor<2097152x8xf32>) -> tensor<2097152xf32>
  return %a, %b : tensor<8xf32>, tensor<2097152xf32>
}

// -----

// Tests a third sum: the family takes two.
// CHECK-LABEL: func.func @three_sums
// CHECK: yield t1, t3
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = neg(
// CHECK-NEXT: t1 = reduce_sum(t0)
func.func @three_sums(%x: tensor<2097152x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}, tensor<8xf32> {aicf.name = "b"},
        tensor<8xf32> {aicf.name = "c"}) {
  %e = aicf_rt.call exp(%x) : (tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %q = aicf_rt.call square(%x) : (tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %a = aicf_rt.call reduce_sum(%e) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  %b = aicf_rt.call reduce_sum(%q) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  %n = aicf_rt.call neg(%x) : (tensor<2097152x8xf32>) -> tensor<2097152x8xf32>
  %c = aicf_rt.call reduce_sum(%n) : (tensor<2097152x8xf32>) -> tensor<8xf32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
