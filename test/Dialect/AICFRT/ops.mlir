// RUN: aicf-opt %s --verify-roundtrip | FileCheck %s
// RUN: aicf-opt %s --cse --canonicalize | FileCheck %s --check-prefix=KEEP

// Tests that primitives and decisions round-trip, and that CSE, DCE and
// canonicalization leave every call: two equal ones, and unused ones.

// CHECK-LABEL: func.func @primitives
// KEEP-LABEL:  func.func @primitives
func.func @primitives(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // CHECK: aicf_rt.call gemm(%{{.*}}, %{{.*}}) {transB = true} vids [3] :
  // KEEP-COUNT-2: aicf_rt.call gemm(
  %0 = aicf_rt.call gemm(%x, %w) {transB = true} vids [3]
      : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %1 = aicf_rt.call gemm(%x, %w) {transB = true} vids [3]
      : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  // CHECK: aicf_rt.call bias_add(%{{.*}}, %{{.*}}) inplace [0] launch<kernel = "bias_add_f32_v0"> :
  // KEEP: aicf_rt.call bias_add(
  %2 = aicf_rt.call bias_add(%0, %b) {axis = -1} inplace [0] launch<kernel = "bias_add_f32_v0">
      : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK: aicf_rt.call relu(%{{.*}}) launch<workspace = 64, stream = 1, waits = [7], signals = [0]> attributes {test.note} :
  // KEEP: aicf_rt.call relu(
  %3 = aicf_rt.call relu(%2) launch<stream = 1, waits = [7], signals = [0], workspace = 64> attributes {test.note}
      : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: aicf_rt.call copy(%{{.*}}) protective :
  // KEEP-COUNT-2: aicf_rt.call copy(
  %4 = aicf_rt.call copy(%3) protective : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = aicf_rt.call copy(%3) protective : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// Tests fields at their defaults, which are left out, one that comes from types,
// and optional operands by name.
// CHECK-LABEL: func.func @fields
func.func @fields(%p: tensor<4xf32>, %s: tensor<f32>, %ok: tensor<i32>) {
  // CHECK: %dpred = aicf_rt.call mse_grad(%{{.*}}, %{{.*}}) :
  %0 = aicf_rt.call mse_grad(%p, %p) {scale = 0.5} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call mse_grad(%{{.*}}, %{{.*}}, loss_scale = %{{.*}}) {scale = 2.500000e-01} :
  %1 = aicf_rt.call mse_grad(%p, %p, loss_scale = %s) {scale = 0.25} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %p_out, %m_out = aicf_rt.call sgd_step(%{{.*}}, %{{.*}}, %{{.*}}, m = %{{.*}}, ok = %{{.*}}) {momentum = 9.000000e-01, nesterov = true} :
  %2:2 = aicf_rt.call sgd_step(%p, %p, %s, m = %p, ok = %ok) {momentum = 0.9, nesterov = true} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: aicf_rt.call all_finite(%{{.*}}, %{{.*}}, %{{.*}}) :
  %3 = aicf_rt.call all_finite(%p, %p, %p) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<i32>
  return
}

// Tests calls of several primitives: values inside, a value that two read, an
// absent result; and the body as an attribute.
// CHECK-LABEL: func.func @several
// KEEP-LABEL:  func.func @several
func.func @several(%x: tensor<4x4xf32>, %b: tensor<4xf32>, %s: tensor<f32>) {
  // CHECK: %y = aicf_rt.call {
  // CHECK-NEXT: t0 = gemm(%{{.*}}, %{{.*}}) {transA = true}
  // CHECK-NEXT: t1 = bias_add(t0, %{{.*}})
  // CHECK-NEXT: t2 = relu(t1)
  // CHECK-NEXT: yield t2
  // CHECK-NEXT: } vids [1, 1, 2] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // KEEP: t2 = relu(t1)
  %0 = aicf_rt.call {
    c = gemm(%x, %x) {transA = true}
    sum = bias_add(c, %b)
    t2 = relu(sum)
    yield t2
  } vids [1, 1, 2] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK: %p_out, %y_0 = aicf_rt.call {
  // CHECK-NEXT: t0 = sgd_step(%{{.*}}, %{{.*}}, %{{.*}})
  // CHECK-NEXT: t1 = cast(t0)
  // CHECK-NEXT: yield t0, t1
  %1:2 = aicf_rt.call {
    t0 = sgd_step(%x, %0, %s)
    t1 = cast(t0)
    yield t0, t1
  } : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xbf16>)
  // CHECK: #aicf_rt.body<2 { t0 = mse_loss(i0, i1) t1 = mse_grad(i0, i1) {scale = 5.000000e-01} yield t0, t1 }>
  return {body = #aicf_rt.body<2 { t0 = mse_loss(i0, i1) t1 = mse_grad(i0, i1) {scale = 0.5} yield t0, t1 }>}
}

// Tests padded tensors.
// CHECK-LABEL: func.func @padded
func.func @padded(%x: tensor<1000x777xf32>, %p: tensor<1000x777xbf16, #aicf_rt.padded>) {
  // CHECK: -> tensor<1000x777xbf16, #aicf_rt.padded>
  %w = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16, #aicf_rt.padded>
  %y = aicf_rt.call gemm(%w, %w) {transB = true}
      : (tensor<1000x777xbf16, #aicf_rt.padded>, tensor<1000x777xbf16, #aicf_rt.padded>) -> tensor<1000x1000xf32>
  return
}

// Tests the plan.
// CHECK-LABEL: aicf_rt.plan cpu persistent(512)
aicf_rt.plan cpu persistent(512) {
  // CHECK-NEXT: aicf_rt.global @w param offset(0) vid(1) init(normal, 5.000000e-01) : !aicf_rt.value<4xf32>
  aicf_rt.global @w param offset(0) vid(1) init(normal, 0.5) : !aicf_rt.value<4xf32>
  // CHECK-NEXT: aicf_rt.global @"w half" state offset(256) vid(-1) derived_from(@w) : !aicf_rt.value<4xbf16>
  aicf_rt.global @"w half" state offset(256) vid(-1) derived_from(@w) : !aicf_rt.value<4xbf16>
  // CHECK-NEXT: aicf_rt.entry @f io(512) temp(256) bound(256) values(2) nodes(1)
  aicf_rt.entry @f io(512) temp(256) bound(256) values(2) nodes(1) {
    // CHECK-NEXT: %w_buffer = aicf_rt.get @w
    // CHECK-NEXT: %w = aicf_rt.value %w_buffer[0] vid(-1) : <4xf32>
    %b0 = aicf_rt.get @w
    %0 = aicf_rt.value %b0[0] vid(-1) : <4xf32>
    // CHECK-NEXT: %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(0)
    // CHECK-NEXT: %y = aicf_rt.value %y_buffer[0] vid(2) : <4xf32>
    %b1 = aicf_rt.alloc output "y" bytes(16) offset(0)
    %1 = aicf_rt.value %b1[0] vid(2) : <4xf32>
    // CHECK-NEXT: %workspace_buffer = aicf_rt.alloc workspace bytes(256) offset(0)
    %b2 = aicf_rt.alloc workspace bytes(256) offset(0)
    // CHECK-NEXT: %temp_buffer = aicf_rt.alloc temp bytes(132) offset(0)
    // CHECK-NEXT: %temp = aicf_rt.value %temp_buffer[4] vid(-1) : <3x5xf16, padded>
    %b3 = aicf_rt.alloc temp bytes(132) offset(0)
    %3 = aicf_rt.value %b3[4] vid(-1) : <3x5xf16, padded>
    // CHECK-NEXT: aicf_rt.call relu(%w) outs(%y) workspace(%workspace_buffer) in_vids [1] vids [2] launch<kernel = "relu_f32_v0", workspace = 128> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%0) outs(%1) workspace(%b2) in_vids [1] vids [2] launch<kernel = "relu_f32_v0", workspace = 128> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}
