// Tests which elementwise calls go on with a product in registers, and which do not.

// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s --check-prefix=CPU

// A layer whose activation no library has. A CPU has no kernel for it.
// CHECK-LABEL: func.func @layer
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%{{.*}}, %{{.*}}) {transB = true}
// CHECK-NEXT: t1 = bias_add(t0, %{{.*}})
// CHECK-NEXT: t2 = tanh(t1)
// CHECK-NEXT: yield t2
// CPU-LABEL: func.func @layer
// CPU: aicf_rt.call gemm(
func.func @layer(%x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<48x32xf32> {aicf.role = "param", aicf.name = "w"},
                 %b: tensor<48xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<64x48xf32> {aicf.name = "y"}) {
  %s = aicf_rt.call {
    t0 = gemm(%x, %w) {transB = true}
    t1 = bias_add(t0, %b) {axis = -1}
    yield t1
  } : (tensor<64x32xf32>, tensor<48x32xf32>, tensor<48xf32>) -> tensor<64x48xf32>
  %y = aicf_rt.call tanh(%s) : (tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}

// -----

// A gradient that is kept, and added to another one.
// CHECK-LABEL: func.func @kept
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(
// CHECK-NEXT: t1 = add(t0,
// CHECK-NEXT: yield t0, t1
func.func @kept(%x: tensor<2x32x32xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<32x48xf32> {aicf.role = "param", aicf.name = "w"},
                %g: tensor<2x32x48xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<2x32x48xf32> {aicf.name = "c"}, tensor<2x32x48xf32> {aicf.name = "y"}) {
  %c = aicf_rt.call gemm(%x, %w) {transA = 0, transB = 0} : (tensor<2x32x32xf32>, tensor<32x48xf32>) -> tensor<2x32x48xf32>
  %y = aicf_rt.call add(%c, %g) : (tensor<2x32x48xf32>, tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
  return %c, %y : tensor<2x32x48xf32>, tensor<2x32x48xf32>
}

// -----

// What a product multiplies is in memory. Nothing is said of it.
// CHECK-LABEL: func.func @factor
// CHECK: aicf_rt.call relu(
// CHECK: aicf_rt.call gemm(
func.func @factor(%x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<32x48xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<64x48xf32> {aicf.name = "y"}) {
  %r = aicf_rt.call relu(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = aicf_rt.call gemm(%r, %w) {transA = 0, transB = 0} : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}

// -----

// The sum of two products: the second one goes on with the first one's result.
// CHECK-LABEL: func.func @two
// CHECK: %[[A:.*]] = aicf_rt.call gemm(
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(
// CHECK-NEXT: add({{.*}}%[[A]]
func.func @two(%x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
               %w: tensor<32x48xf32> {aicf.role = "param", aicf.name = "w"},
               %u: tensor<32x48xf32> {aicf.role = "param", aicf.name = "u"})
    -> (tensor<64x48xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call gemm(%x, %w) {transA = 0, transB = 0} : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  // expected-remark @+1 {{a product goes together with elementwise primitives alone, in the limits of a graph}}
  %b = aicf_rt.call gemm(%x, %u) {transA = 0, transB = 0} : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %y = aicf_rt.call add(%b, %a) : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}

// -----

// A softmax needs all of a row.
// CHECK-LABEL: func.func @rows
// CHECK: aicf_rt.call gemm(
// CHECK: aicf_rt.call softmax(
func.func @rows(%x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<32x48xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<64x48xf32> {aicf.name = "y"}) {
  %c = aicf_rt.call gemm(%x, %w) {transA = 0, transB = 0} : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  // expected-remark @+1 {{a product goes together with elementwise primitives alone, in the limits of a graph}}
  %y = aicf_rt.call softmax(%c) : (tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}

// -----

// A large product is a library's.
// CHECK-LABEL: func.func @large
// CHECK: aicf_rt.call gemm(
// CHECK: aicf_rt.call tanh(
func.func @large(%x: tensor<1024x2048xf32> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<2048x1024xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<1024x1024xf32> {aicf.name = "y"}) {
  %c = aicf_rt.call gemm(%x, %w) {transA = 0, transB = 0} : (tensor<1024x2048xf32>, tensor<2048x1024xf32>) -> tensor<1024x1024xf32>
  // expected-remark @+1 {{the target has no kernel for them in one call}}
  %y = aicf_rt.call tanh(%c) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// A product of 16-bit numbers in f32: inside of a body, it would be one of 16 bits.
// CHECK-LABEL: func.func @wide
// CHECK: aicf_rt.call gemm(
// CHECK: aicf_rt.call cast(
func.func @wide(%x: tensor<64x32xf16> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<32x48xf16> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<64x48xf16> {aicf.name = "y"}) {
  %c = aicf_rt.call gemm(%x, %w) {transA = 0, transB = 0} : (tensor<64x32xf16>, tensor<32x48xf16>) -> tensor<64x48xf32>
  // expected-remark @+1 {{: the product would have the type of what it multiplies}}
  %y = aicf_rt.call cast(%c) : (tensor<64x48xf32>) -> tensor<64x48xf16>
  return %y : tensor<64x48xf16>
}

// -----

// Its own kernel adds the bias before it rounds.
// CHECK-LABEL: func.func @rounded
// CHECK: bias_add(
// CHECK: aicf_rt.call tanh(
func.func @rounded(%x: tensor<64x32xbf16> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<32x48xbf16> {aicf.role = "param", aicf.name = "w"},
                   %b: tensor<48xbf16> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<64x48xbf16> {aicf.name = "y"}) {
  %s = aicf_rt.call {
    t0 = gemm(%x, %w) {transA = 0, transB = 0}
    t1 = bias_add(t0, %b) {axis = -1}
    yield t1
  } : (tensor<64x32xbf16>, tensor<32x48xbf16>, tensor<48xbf16>) -> tensor<64x48xbf16>
  // expected-remark @+1 {{the kernel of the first one rounds its product later}}
  %y = aicf_rt.call tanh(%s) : (tensor<64x48xbf16>) -> tensor<64x48xbf16>
  return %y : tensor<64x48xbf16>
}
