// Tests which views of one argument are copied together.

// RUN: aicf-opt %s --aicf-rt-materialize-views --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-materialize-views=every --split-input-file | FileCheck %s --check-prefix=EVERY

// Columns that no kernel reads where they lie: one copy turns the matrix.
// CHECK-LABEL: func.func @columns
// CHECK: %[[T:.*]] = aicf_rt.view %[[X:.*]][0] : tensor<8x4xf32> to tensor<4x8xf32, #aicf_rt.strided<[1, 4]>>
// CHECK-NEXT: %[[C:.*]] = aicf_rt.call copy(%[[T]])
// CHECK-DAG: %[[A:.*]] = aicf_rt.view %[[C]][0] : tensor<4x8xf32> to tensor<8xf32>
// CHECK-DAG: %[[B:.*]] = aicf_rt.view %[[C]][8] : tensor<4x8xf32> to tensor<8xf32>
// CHECK-DAG: %[[D:.*]] = aicf_rt.view %[[C]][16] : tensor<4x8xf32> to tensor<8xf32>
// CHECK-DAG: %[[E:.*]] = aicf_rt.view %[[C]][24] : tensor<4x8xf32> to tensor<8xf32>
// CHECK-NOT: copy
// CHECK: aicf_rt.call relu(%[[A]]) : (tensor<8xf32>)
// CHECK: aicf_rt.call relu(%[[B]])
// CHECK: aicf_rt.call relu(%[[D]])
// CHECK: aicf_rt.call relu(%[[E]])
// EVERY-LABEL: func.func @columns
// EVERY-COUNT-4: aicf_rt.call copy(
func.func @columns(%x: tensor<8x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}, tensor<8xf32> {aicf.name = "b"},
        tensor<8xf32> {aicf.name = "c"}, tensor<8xf32> {aicf.name = "d"}) {
  %v0 = aicf_rt.view %x[0] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v1 = aicf_rt.view %x[1] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v2 = aicf_rt.view %x[2] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v3 = aicf_rt.view %x[3] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %a = aicf_rt.call relu(%v0) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %b = aicf_rt.call relu(%v1) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %c = aicf_rt.call relu(%v2) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %d = aicf_rt.call relu(%v3) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  return %a, %b, %c, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Tests two views: each has a copy.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-2: aicf_rt.call copy({{.*}}) : (tensor<8xf32, #aicf_rt.strided<[2]>>)
func.func @few(%x: tensor<8x2xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}, tensor<8xf32> {aicf.name = "b"}) {
  %v0 = aicf_rt.view %x[0] : tensor<8x2xf32> to tensor<8xf32, #aicf_rt.strided<[2]>>
  %v1 = aicf_rt.view %x[1] : tensor<8x2xf32> to tensor<8xf32, #aicf_rt.strided<[2]>>
  %a = aicf_rt.call relu(%v0) : (tensor<8xf32, #aicf_rt.strided<[2]>>) -> tensor<8xf32>
  %b = aicf_rt.call relu(%v1) : (tensor<8xf32, #aicf_rt.strided<[2]>>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// Tests four of ten columns: a copy of all would move more than twice as much.
// CHECK-LABEL: func.func @less_than_half
// CHECK-COUNT-4: aicf_rt.call copy({{.*}}) : (tensor<8xf32, #aicf_rt.strided<[10]>>)
func.func @less_than_half(%x: tensor<8x10xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}, tensor<8xf32> {aicf.name = "b"}) {
  %v0 = aicf_rt.view %x[0] : tensor<8x10xf32> to tensor<8xf32, #aicf_rt.strided<[10]>>
  %v1 = aicf_rt.view %x[1] : tensor<8x10xf32> to tensor<8xf32, #aicf_rt.strided<[10]>>
  %v2 = aicf_rt.view %x[2] : tensor<8x10xf32> to tensor<8xf32, #aicf_rt.strided<[10]>>
  %v3 = aicf_rt.view %x[9] : tensor<8x10xf32> to tensor<8xf32, #aicf_rt.strided<[10]>>
  %a = aicf_rt.call relu(%v0) : (tensor<8xf32, #aicf_rt.strided<[10]>>) -> tensor<8xf32>
  %b = aicf_rt.call softmax(%v1) : (tensor<8xf32, #aicf_rt.strided<[10]>>) -> tensor<8xf32>
  %c = aicf_rt.call softmax(%v2) : (tensor<8xf32, #aicf_rt.strided<[10]>>) -> tensor<8xf32>
  %d = aicf_rt.call softmax(%v3) : (tensor<8xf32, #aicf_rt.strided<[10]>>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// Tests columns of what a call makes: all copies would stay in memory until the
// last reader.
// CHECK-LABEL: func.func @made
// CHECK-COUNT-4: aicf_rt.call copy({{.*}}) : (tensor<8xf32, #aicf_rt.strided<[4]>>)
func.func @made(%x: tensor<8x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}) {
  %s = aicf_rt.call softmax(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %v0 = aicf_rt.view %s[0] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v1 = aicf_rt.view %s[1] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v2 = aicf_rt.view %s[2] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v3 = aicf_rt.view %s[3] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %a = aicf_rt.call relu(%v0) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %b = aicf_rt.call relu(%v1) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %c = aicf_rt.call relu(%v2) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %d = aicf_rt.call relu(%v3) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

// Tests a copy that the step asks for, of which a view is read: it stays.
// CHECK-LABEL: func.func @copied
// CHECK: aicf_rt.call copy(%{{.*}}) : (tensor<4x8xf32, #aicf_rt.strided<[1, 4]>>)
// CHECK: %[[K:.*]] = aicf_rt.call copy(%{{.*}}) : (tensor<8xf32, #aicf_rt.strided<[4]>>)
// CHECK: aicf_rt.view %[[K]][4] : tensor<8xf32> to tensor<4xf32>
func.func @copied(%x: tensor<8x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "d"}) {
  %v0 = aicf_rt.view %x[0] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v1 = aicf_rt.view %x[1] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v2 = aicf_rt.view %x[2] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %v3 = aicf_rt.view %x[3] : tensor<8x4xf32> to tensor<8xf32, #aicf_rt.strided<[4]>>
  %a = aicf_rt.call relu(%v0) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %b = aicf_rt.call relu(%v1) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %c = aicf_rt.call relu(%v2) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %k = aicf_rt.call copy(%v3) : (tensor<8xf32, #aicf_rt.strided<[4]>>) -> tensor<8xf32>
  %w = aicf_rt.view %k[4] : tensor<8xf32> to tensor<4xf32>
  %d = aicf_rt.call relu(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
