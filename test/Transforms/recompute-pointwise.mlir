// Tests values that are computed again in the calls that read them.

// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-recompute-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-recompute-pointwise --remarks-filter-passed=aicf --split-input-file --verify-diagnostics -o /dev/null

// CHECK-LABEL: func.func @sums
// CHECK: %[[ROWS:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = relu(%[[X:.*]])
// CHECK-NEXT: t1 = reduce_sum(t0) {axis = 1
// CHECK-NEXT: yield t1
// CHECK: %[[COLUMNS:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = relu(%[[X]])
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t1
// CHECK: return %[[ROWS]], %[[COLUMNS]]
func.func @sums(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}) {
  // expected-remark @+1 {{computed again where it is read, which moves 134217728 bytes less}}
  %v, %rows = aicf_rt.call {
    t0 = relu(%x)
    t1 = reduce_sum(t0) {axis = 1 : i64}
    yield t0, t1
  } : (tensor<4096x8192xf32>) -> (tensor<4096x8192xf32>, tensor<4096xf32>)
  %columns = aicf_rt.call reduce_sum(%v)
      : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns : tensor<4096xf32>, tensor<8192xf32>
}

// -----

// What comes of it stays as it is.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: t0 = relu(
func.func @apart(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}) {
  %rows = aicf_rt.call {
    t0 = relu(%x)
    t1 = reduce_sum(t0) {axis = 1 : i64}
    yield t1
  } : (tensor<4096x8192xf32>) -> tensor<4096xf32>
  %columns = aicf_rt.call {
    t0 = relu(%x)
    t1 = reduce_sum(t0)
    yield t1
  } : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns : tensor<4096xf32>, tensor<8192xf32>
}

// -----

// A call of which nothing is left.
// CHECK-LABEL: func.func @gone
// CHECK-NOT: aicf_rt.call relu
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = relu(
// CHECK-NEXT: t1 = reduce_sum(t0) {axis = 1
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = relu(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t1
// CHECK-NOT: aicf_rt.call
func.func @gone(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}) {
  // expected-remark @+1 {{a result of 'relu' is computed again}}
  %v = aicf_rt.call relu(%x) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %rows = aicf_rt.call reduce_sum(%v) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns : tensor<4096xf32>, tensor<8192xf32>
}

// -----

// A value that is computed again is made of another one that is.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-2: t1 = exp(t0)
// CHECK-NOT: exp(
func.func @chain(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}) {
  // expected-remark @+1 {{a result of 'relu' is computed again}}
  %w = aicf_rt.call relu(%x) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  // expected-remark @+1 {{computed again}}
  %v, %rows = aicf_rt.call {
    t0 = exp(%w)
    t1 = reduce_sum(t0) {axis = 1 : i64}
    yield t0, t1
  } : (tensor<4096x8192xf32>) -> (tensor<4096x8192xf32>, tensor<4096xf32>)
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns : tensor<4096xf32>, tensor<8192xf32>
}

// -----

// A tensor that stands twice is read once.
// CHECK-LABEL: func.func @square
// CHECK-COUNT-3: t0 = mul(
func.func @square(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"},
                  %a: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "a"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"}, tensor<4096xf32> {aicf.name = "sums"}) {
  // expected-remark @+1 {{computed again where it is read, which moves 268435456 bytes less}}
  %v = aicf_rt.call mul(%x, %x) : (tensor<4096x8192xf32>, tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %rows = aicf_rt.call reduce_sum(%v) {axis = 1} : (tensor<4096x8192xf32>) -> tensor<4096xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  %sums = aicf_rt.call {
    t0 = add(%v, %a)
    t1 = reduce_sum(t0) {axis = 1 : i64}
    yield t1
  } : (tensor<4096x8192xf32>, tensor<4096x8192xf32>) -> tensor<4096xf32>
  return %rows, %columns, %sums : tensor<4096xf32>, tensor<8192xf32>, tensor<4096xf32>
}

// -----

// On a CPU, too, what does not stay in its second cache.
// RUN: aicf-opt %s --aicf-rt-recompute-pointwise --split-input-file | FileCheck %s --check-prefix=CPU
// CPU-LABEL: func.func @middle
// CPU-COUNT-2: t0 = relu(
// CHECK-LABEL: func.func @middle
// CHECK: aicf_rt.call relu(
func.func @middle(%x: tensor<1024x512xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<1024xf32> {aicf.name = "rows"}, tensor<512xf32> {aicf.name = "columns"}) {
  %v = aicf_rt.call relu(%x) : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %rows = aicf_rt.call reduce_sum(%v) {axis = 1} : (tensor<1024x512xf32>) -> tensor<1024xf32>
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<1024x512xf32>) -> tensor<512xf32>
  return %rows, %columns : tensor<1024xf32>, tensor<512xf32>
}

// -----

// A reader that reads what another one makes: both get the primitive.
// CHECK-LABEL: func.func @chain
// CHECK: %[[A:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = exp(%[[X:.*]])
// CHECK-NEXT: t1 = relu(t0)
// CHECK: %[[B:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = exp(%[[X]])
// CHECK-NEXT: t1 = mul(t0, %[[A]])
// CHECK: return %[[A]], %[[B]]
func.func @chain(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096x8192xf32> {aicf.name = "a"}, tensor<4096x8192xf32> {aicf.name = "b"}) {
  // expected-remark @+1 {{computed again where it is read}}
  %v = aicf_rt.call exp(%x) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %a = aicf_rt.call relu(%v) : (tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %b = aicf_rt.call mul(%v, %a) : (tensor<4096x8192xf32>, tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  return %a, %b : tensor<4096x8192xf32>, tensor<4096x8192xf32>
}
