// Tests values that are read from memory, and not computed again. Each of these is relu as
// in recompute-pointwise.mlir, but for what its comment says.

// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-recompute-pointwise --split-input-file | FileCheck %s

// The entry returns it.
// CHECK-LABEL: func.func @returned
// CHECK: aicf_rt.call relu(
// CHECK-NOT: relu(
func.func @returned(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096x8192xf32> {aicf.name = "y"}, tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}) {
  %v = aicf_rt.call relu(%x) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %rows = aicf_rt.call reduce_sum(%v) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %v, %rows, %columns : tensor<4096x8192xf32>, tensor<4096xf32>, tensor<8192xf32>
}

// -----

// One of the readers is not elementwise.
// CHECK-LABEL: func.func @other
// CHECK: aicf_rt.call relu(
// CHECK-NOT: relu(
func.func @other(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096x8192xf32> {aicf.name = "sums"}, tensor<8192xf32> {aicf.name = "columns"}) {
  %v = aicf_rt.call relu(%x) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %sums = aicf_rt.call cumsum(%v) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %sums, %columns : tensor<4096x8192xf32>, tensor<8192xf32>
}

// -----

// It is made of three tensors: reading it twice and writing it once is as much.
// CHECK-LABEL: func.func @wide
// CHECK-COUNT-1: mul(
// CHECK-NOT: mul(
func.func @wide(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"},
                %z: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "z"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}) {
  %v, %rows = aicf_rt.call {
    t0 = mul(%x, %z)
    t1 = reduce_sum(t0) {axis = 1 : i64}
    yield t0, t1
  } : (tensor<4096x8192xf32>, tensor<4096x8192xf32>) -> (tensor<4096x8192xf32>, tensor<4096xf32>)
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns : tensor<4096xf32>, tensor<8192xf32>
}

// -----

// Its numbers come from a generator.
// CHECK-LABEL: func.func @dropped
// CHECK: aicf_rt.call dropout(
// CHECK-NOT: dropout(
func.func @dropped(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"},
                   %step: tensor<i64> {aicf.role = "state", aicf.name = "step"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}, tensor<i64> {aicf.updates = "step"}) {
  %v = aicf_rt.call dropout(%x, %step) {p = 0.5, seed = 1} : (tensor<4096x8192xf32>, tensor<i64>) -> tensor<4096x8192xf32>
  %rows = aicf_rt.call reduce_sum(%v) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  %n = aicf_rt.call step_inc(%step) : (tensor<i64>) -> tensor<i64>
  return %rows, %columns, %n : tensor<4096xf32>, tensor<8192xf32>, tensor<i64>
}

// -----

// What it is made of is updated in front of a reader.
// CHECK-LABEL: func.func @updated
// CHECK: aicf_rt.call relu(
// CHECK-NOT: relu(
func.func @updated(%s: tensor<4096x8192xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}, tensor<4096x8192xf32> {aicf.updates = "s"}) {
  %v = aicf_rt.call relu(%s) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %rows = aicf_rt.call reduce_sum(%v) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096xf32>
  %n = aicf_rt.call cumsum(%s) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns, %n : tensor<4096xf32>, tensor<8192xf32>, tensor<4096x8192xf32>
}

// -----

// Two tensors would be kept in place of it until the last reader.
// CHECK-LABEL: func.func @alive
// CHECK: aicf_rt.call mul(
func.func @alive(%a: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "a"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}) {
  %x = aicf_rt.call cumsum(%a) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %z = aicf_rt.call cumsum(%a) {axis = 0} : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %v = aicf_rt.call mul(%x, %z) : (tensor<4096x8192xf32>, tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %rows = aicf_rt.call {
    t0 = add(%v, %x)
    t1 = sub(t0, %z)
    t2 = reduce_sum(t1) {axis = 1 : i64}
    yield t2
  } : (tensor<4096x8192xf32>, tensor<4096x8192xf32>, tensor<4096x8192xf32>) -> tensor<4096xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns : tensor<4096xf32>, tensor<8192xf32>
}
