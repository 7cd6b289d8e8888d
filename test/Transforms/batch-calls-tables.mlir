// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-batch-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-batch-calls --split-input-file | aicf-opt --split-input-file -o /dev/null
// RUN: aicf-opt %s --aicf-rt-batch-calls --split-input-file | FileCheck %s --check-prefix=CPU
// CPU-NOT: aicf_rt.call {

// Tests lookups in tables of different sizes, by columns of one matrix.
// CHECK-LABEL: func.func @lookups
// CHECK: %[[A:.*]], %[[B:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = embedding(%arg0, %{{.*}})
// CHECK-NEXT: t1 = embedding(%arg1, %{{.*}})
// CHECK-NEXT: yield t0, t1
// CHECK: return %[[A]], %[[B]]
func.func @lookups(%t: tensor<10x4xf32> {aicf.role = "input", aicf.name = "t"},
                   %u: tensor<30x8xf32> {aicf.role = "input", aicf.name = "u"},
                   %i: tensor<6x2xi64> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<6x4xf32> {aicf.name = "a"}, tensor<6x8xf32> {aicf.name = "b"}) {
  %0 = aicf_rt.view %i[0] : tensor<6x2xi64> to tensor<6xi64, #aicf_rt.strided<[2]>>
  %1 = aicf_rt.view %i[1] : tensor<6x2xi64> to tensor<6xi64, #aicf_rt.strided<[2]>>
  %2 = aicf_rt.call embedding(%t, %0) : (tensor<10x4xf32>, tensor<6xi64, #aicf_rt.strided<[2]>>) -> tensor<6x4xf32>
  %3 = aicf_rt.call embedding(%u, %1) : (tensor<30x8xf32>, tensor<6xi64, #aicf_rt.strided<[2]>>) -> tensor<6x8xf32>
  return %2, %3 : tensor<6x4xf32>, tensor<6x8xf32>
}

// -----

// Tests gradients of tables, each with its own number of rows.
// CHECK-LABEL: func.func @gradients
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = embedding_bwd(%arg0, %arg2) {rows = 10}
// CHECK-NEXT: t1 = embedding_bwd(%arg1, %arg2) {rows = 30, padding = 3}
// CHECK-NEXT: yield t0, t1
func.func @gradients(%d: tensor<6x4xf32> {aicf.role = "input", aicf.name = "d"},
                     %e: tensor<6x8xf32> {aicf.role = "input", aicf.name = "e"},
                     %i: tensor<6xi64> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<10x4xf32> {aicf.name = "a"}, tensor<30x8xf32> {aicf.name = "b"}) {
  %0 = aicf_rt.call embedding_bwd(%d, %i) {rows = 10} : (tensor<6x4xf32>, tensor<6xi64>) -> tensor<10x4xf32>
  %1 = aicf_rt.call embedding_bwd(%e, %i) {rows = 30, padding = 3} : (tensor<6x8xf32>, tensor<6xi64>) -> tensor<30x8xf32>
  return %0, %1 : tensor<10x4xf32>, tensor<30x8xf32>
}

// -----

// Tests that tables of other types stay apart.
// CHECK-LABEL: func.func @types
// CHECK-NOT: aicf_rt.call {
func.func @types(%t: tensor<10x4xf32> {aicf.role = "input", aicf.name = "t"},
                 %u: tensor<30x8xbf16> {aicf.role = "input", aicf.name = "u"},
                 %i: tensor<6xi64> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<6x4xf32> {aicf.name = "a"}, tensor<6x8xbf16> {aicf.name = "b"}) {
  %0 = aicf_rt.call embedding(%t, %i) : (tensor<10x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %1 = aicf_rt.call embedding(%u, %i) : (tensor<30x8xbf16>, tensor<6xi64>) -> tensor<6x8xbf16>
  return %0, %1 : tensor<6x4xf32>, tensor<6x8xbf16>
}

// -----

// Tests that a lookup which depends on another one stays apart.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: aicf_rt.call {
func.func @chain(%t: tensor<10x4xf32> {aicf.role = "input", aicf.name = "t"},
                 %i: tensor<6xi64> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<6x4xf32> {aicf.name = "a"}) {
  %0 = aicf_rt.call embedding(%t, %i) : (tensor<10x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %1 = aicf_rt.call embedding(%0, %i) : (tensor<6x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}
