// RUN: aicf-opt %s --aicf-rt-fuse-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-calls --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// Tests gelu behind a linear layer whose operand the gradient reads, and the
// gradient: the longer of two patterns that begin alike is taken.
// CHECK-LABEL: func.func @gelu
// CHECK-NEXT: %[[OUT:.*]], %[[Y:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%arg0, %arg1) {transB = true}
// CHECK-NEXT: t1 = bias_add(t0, %arg2)
// CHECK-NEXT: t2 = gelu(t1) {approximate = true}
// CHECK-NEXT: yield t1, t2
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%arg3, %arg1)
// CHECK-NEXT: t1 = gelu_bwd(t0, %[[OUT]]) {approximate = true}
func.func @gelu(%x: tensor<32x64xbf16> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<64x64xbf16> {aicf.role = "input", aicf.name = "w"},
                %b: tensor<64xbf16> {aicf.role = "input", aicf.name = "b"},
                %d: tensor<32x64xbf16> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<32x64xbf16> {aicf.name = "y"}, tensor<32x64xbf16> {aicf.name = "dx"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %p = aicf_rt.call gemm(%x, %w) {transB = true} : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
  %h = aicf_rt.call bias_add(%p, %b) : (tensor<32x64xbf16>, tensor<64xbf16>) -> tensor<32x64xbf16>
  %y = aicf_rt.call gelu(%h) {approximate = true} : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
  %g = aicf_rt.call gemm(%d, %w) : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
  %dx = aicf_rt.call gelu_bwd(%g, %h) {approximate = true} : (tensor<32x64xbf16>, tensor<32x64xbf16>) -> tensor<32x64xbf16>
  return %y, %dx : tensor<32x64xbf16>, tensor<32x64xbf16>
}

// -----

// Tests the gelu with erf, which the library does not have: the bias is taken.
// CHECK-LABEL: func.func @erf
// CHECK: t1 = bias_add(
// CHECK-NEXT: yield t1
// CHECK: aicf_rt.call gelu(
func.func @erf(%x: tensor<32x64xbf16> {aicf.role = "input", aicf.name = "x"},
               %w: tensor<64x64xbf16> {aicf.role = "input", aicf.name = "w"},
               %b: tensor<64xbf16> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<32x64xbf16> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{gemm is not fused to gemm_bias_gelu: the target has no kernel for them in one call}}
  %p = aicf_rt.call gemm(%x, %w) {transB = true} : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
  %h = aicf_rt.call bias_add(%p, %b) : (tensor<32x64xbf16>, tensor<64xbf16>) -> tensor<32x64xbf16>
  %y = aicf_rt.call gelu(%h) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
  return %y : tensor<32x64xbf16>
}

// -----

// Tests f32, of which small products have a kernel, and rows that are not a multiple of 16
// bytes, which the library does not take.
// CHECK-LABEL: func.func @types
// CHECK: aicf_rt.call {
// CHECK-NEXT: gemm(
// CHECK-NEXT: gelu_bwd(
// CHECK: aicf_rt.call gelu_bwd(
func.func @types(%d: tensor<32x64xf32> {aicf.role = "input", aicf.name = "d"},
                 %w: tensor<64x64xf32> {aicf.role = "input", aicf.name = "w"},
                 %h: tensor<32x64xf32> {aicf.role = "input", aicf.name = "h"},
                 %e: tensor<32x64xf16> {aicf.role = "input", aicf.name = "e"},
                 %v: tensor<64x65xf16> {aicf.role = "input", aicf.name = "v"},
                 %k: tensor<32x65xf16> {aicf.role = "input", aicf.name = "k"})
    -> (tensor<32x64xf32> {aicf.name = "dx"}, tensor<32x65xf16> {aicf.name = "dz"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %g = aicf_rt.call gemm(%d, %w) : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %dx = aicf_rt.call gelu_bwd(%g, %h) {approximate = true} : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  // expected-remark @+1 {{gemm is not fused to gemm_gelu_bwd: the target has no kernel for them in one call}}
  %f = aicf_rt.call gemm(%e, %v) : (tensor<32x64xf16>, tensor<64x65xf16>) -> tensor<32x65xf16>
  %dz = aicf_rt.call gelu_bwd(%f, %k) {approximate = true} : (tensor<32x65xf16>, tensor<32x65xf16>) -> tensor<32x65xf16>
  return %dx, %dz : tensor<32x64xf32>, tensor<32x65xf16>
}

// -----

// Tests a residual connection, whose sum goes on, and its norm.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT: %[[C:.*]], %[[N:.*]], %{{.*}}, %{{.*}} = aicf_rt.call {
// CHECK-NEXT: t0 = add(%arg0, %arg1)
// CHECK-NEXT: t1, t2, t3 = layer_norm(t0, %arg2, %arg2){{$}}
// CHECK-NEXT: yield t0, t1, t2, t3
// CHECK: return %[[C]], %[[N]]
func.func @residual(%x: tensor<4x9xf32> {aicf.role = "input", aicf.name = "x"},
                    %r: tensor<4x9xf32> {aicf.role = "input", aicf.name = "r"},
                    %g: tensor<9xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<4x9xf32> {aicf.name = "s"}, tensor<4x9xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call add(%x, %r) : (tensor<4x9xf32>, tensor<4x9xf32>) -> tensor<4x9xf32>
  %y, %m, %q = aicf_rt.call layer_norm(%s, %g, %g) : (tensor<4x9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<4x9xf32>, tensor<4xf32>, tensor<4xf32>)
  return %s, %y : tensor<4x9xf32>, tensor<4x9xf32>
}

// -----

// Tests the gradient of a norm behind a residual connection, with the sum of its rows and
// without it, and few rows, which have no kernel for it.
// CHECK-LABEL: func.func @residual_bwd
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0, t1, t2 = layer_norm_bwd(%arg0, %arg0, %arg1, %arg2, %arg2)
// CHECK-NEXT: t3 = add(%arg3, t0)
// CHECK-NEXT: t4 = reduce_sum(t3){{$}}
// CHECK-NEXT: yield t1, t2, t3, t4
// CHECK: aicf_rt.call {
// CHECK-NEXT: layer_norm_bwd
// CHECK-NEXT: t3 = add
// CHECK-NEXT: yield t1, t2, t3
// CHECK: aicf_rt.call layer_norm_bwd
func.func @residual_bwd(%x: tensor<512x64xf32> {aicf.role = "input", aicf.name = "x"}, %g: tensor<64xf32> {aicf.role = "input", aicf.name = "g"},
                        %m: tensor<512xf32> {aicf.role = "input", aicf.name = "m"}, %r: tensor<512x64xf32> {aicf.role = "input", aicf.name = "r"},
                        %z: tensor<8x64xf32> {aicf.role = "input", aicf.name = "z"}, %n: tensor<8xf32> {aicf.role = "input", aicf.name = "n"})
    -> (tensor<512x64xf32> {aicf.name = "s"}, tensor<64xf32> {aicf.name = "b"}, tensor<512x64xf32> {aicf.name = "t"}, tensor<8x64xf32> {aicf.name = "u"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %a, %b, %c = aicf_rt.call layer_norm_bwd(%x, %x, %g, %m, %m) : (tensor<512x64xf32>, tensor<512x64xf32>, tensor<64xf32>, tensor<512xf32>, tensor<512xf32>) -> (tensor<512x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %s = aicf_rt.call add(%r, %a) : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  %y = aicf_rt.call reduce_sum(%s) {axis = 0} : (tensor<512x64xf32>) -> tensor<64xf32>
  %d, %e, %f = aicf_rt.call layer_norm_bwd(%x, %s, %g, %m, %m) : (tensor<512x64xf32>, tensor<512x64xf32>, tensor<64xf32>, tensor<512xf32>, tensor<512xf32>) -> (tensor<512x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %t = aicf_rt.call add(%r, %d) : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  %h, %i, %j = aicf_rt.call layer_norm_bwd(%z, %z, %g, %n, %n) : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x64xf32>, tensor<64xf32>, tensor<64xf32>)
  // expected-remark @-1 {{layer_norm_bwd is not fused to layer_norm_bwd_add}}
  %u = aicf_rt.call add(%z, %h) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %s, %y, %t, %u : tensor<512x64xf32>, tensor<64xf32>, tensor<512x64xf32>, tensor<8x64xf32>
}

// -----

// Tests two gradients of one prediction: the first has another target.
// CHECK-LABEL: func.func @second_gradient
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call mse_grad(%arg0, %arg0)
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = mse_loss(%arg0, %arg1)
// CHECK-NEXT: t1 = mse_grad(%arg0, %arg1)
func.func @second_gradient(%p: tensor<8xf32> {aicf.role = "input", aicf.name = "p"},
                           %t: tensor<8xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8xf32> {aicf.name = "d"},
        tensor<8xf32> {aicf.name = "e"}) attributes {aicf.target = #aicf.target<cuda>} {
  %d = aicf_rt.call mse_grad(%p, %p) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %l = aicf_rt.call mse_loss(%p, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %e = aicf_rt.call mse_grad(%p, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %l, %d, %e : tensor<f32>, tensor<8xf32>, tensor<8xf32>
}
