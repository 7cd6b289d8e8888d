// Tests which reductions stay apart on a CPU: it goes over whole rows, and one must fit a cache
// together with all that is computed on the way.

// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// The longest row that a call has.
// CHECK-LABEL: func.func @longest
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = softmax(
// CHECK-NEXT: t1 = scale(t0)
func.func @longest(%x: tensor<4x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8192xf32> {aicf.name = "y"}) {
  %s = aicf_rt.call softmax(%x) : (tensor<4x8192xf32>) -> tensor<4x8192xf32>
  %y = aicf_rt.call scale(%s) {factor = 0.5} : (tensor<4x8192xf32>) -> tensor<4x8192xf32>
  return %y : tensor<4x8192xf32>
}

// -----

// A longer one.
// CHECK-LABEL: func.func @longer
// CHECK: aicf_rt.call softmax(
// CHECK: aicf_rt.call scale(
func.func @longer(%x: tensor<4x8193xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8193xf32> {aicf.name = "y"}) {
  %s = aicf_rt.call softmax(%x) : (tensor<4x8193xf32>) -> tensor<4x8193xf32>
  // expected-remark @+1 {{'scale' is not fused to 'softmax', whose result it reads: the target has no kernel for them in one call; reduction_graph_v0: not (hasRows(GraphView(call)))}}
  %y = aicf_rt.call scale(%s) {factor = 0.5} : (tensor<4x8193xf32>) -> tensor<4x8193xf32>
  return %y : tensor<4x8193xf32>
}

// -----

// Many values of 8 bytes: the last of them has no room.
// CHECK-LABEL: func.func @many
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = softmax(
// CHECK-NEXT: t1 = scale(t0)
// CHECK-NEXT: t2 = tanh(t1)
// CHECK-NEXT: t3 = square(t2)
// CHECK-NEXT: t4 = relu(t3)
// CHECK-NEXT: t5 = abs(t4)
// CHECK-NEXT: yield t5
// CHECK: aicf_rt.call neg(
func.func @many(%x: tensor<4x8192xf64> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8192xf64> {aicf.name = "y"}) {
  %s = aicf_rt.call softmax(%x) : (tensor<4x8192xf64>) -> tensor<4x8192xf64>
  %f = aicf_rt.call scale(%s) {factor = 0.5} : (tensor<4x8192xf64>) -> tensor<4x8192xf64>
  %t = aicf_rt.call tanh(%f) : (tensor<4x8192xf64>) -> tensor<4x8192xf64>
  %q = aicf_rt.call square(%t) : (tensor<4x8192xf64>) -> tensor<4x8192xf64>
  %r = aicf_rt.call relu(%q) : (tensor<4x8192xf64>) -> tensor<4x8192xf64>
  %a = aicf_rt.call abs(%r) : (tensor<4x8192xf64>) -> tensor<4x8192xf64>
  // expected-remark @+1 {{the target has no kernel for them in one call; reduction_graph_v0: not (hasRows(GraphView(call)))}}
  %y = aicf_rt.call neg(%a) : (tensor<4x8192xf64>) -> tensor<4x8192xf64>
  return %y : tensor<4x8192xf64>
}

// -----

// Sums of rows at the end, and of columns, which are two calls.
// CHECK-LABEL: func.func @sums
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = square(
// CHECK-NEXT: t1 = reduce_sum(t0) {axis = 1}
// CHECK-NEXT: yield t1
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = exp(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t1
func.func @sums(%x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64xf32> {aicf.name = "r"}, tensor<32xf32> {aicf.name = "c"}) {
  %q = aicf_rt.call square(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = aicf_rt.call reduce_sum(%q) {axis = 1} : (tensor<64x32xf32>) -> tensor<64xf32>
  %e = aicf_rt.call exp(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %c = aicf_rt.call reduce_sum(%e) : (tensor<64x32xf32>) -> tensor<32xf32>
  return %r, %c : tensor<64xf32>, tensor<32xf32>
}

// -----

// Columns that something inside reads: a piece has whole rows.
// CHECK-LABEL: func.func @centred
// CHECK: aicf_rt.call reduce_mean(
// CHECK: aicf_rt.call expand(
func.func @centred(%x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64x32xf32> {aicf.name = "y"}) {
  %m = aicf_rt.call reduce_mean(%x) : (tensor<64x32xf32>) -> tensor<32xf32>
  // expected-remark @+1 {{'expand' is not fused to 'reduce_mean', whose result it reads: the target has no kernel for them in one call; reduction_graph_v0: not (hasRows(GraphView(call)))}}
  %e = aicf_rt.call expand(%m) : (tensor<32xf32>) -> tensor<64x32xf32>
  // expected-remark @+1 {{'sub' is not fused to 'expand', whose result it reads: one call would have too many primitives}}
  %y = aicf_rt.call sub(%x, %e) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}
