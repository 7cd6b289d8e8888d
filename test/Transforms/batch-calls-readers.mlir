// RUN: aicf-opt %s --aicf-rt-batch-calls --split-input-file | FileCheck %s

!s = tensor<f32>
// Tests that the first reader of a batch's results, of whichever call, ends it. The
// earlier update has the earlier reader.
// CHECK-LABEL: func.func @first_read_first
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: sgd_step(
// CHECK-NEXT: sgd_step(
// CHECK-NEXT: yield
// CHECK-NEXT: }
// CHECK-NEXT: aicf_rt.call relu(
// CHECK-NEXT: aicf_rt.call sgd_step(
// CHECK-NEXT: aicf_rt.call relu(
func.func @first_read_first(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                            %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                            %r: tensor<4xf32> {aicf.role = "param", aicf.name = "r"},
                            %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                            %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%q, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call sgd_step(%r, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %4 = aicf_rt.call relu(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

!s = tensor<f32>
// Tests the same where the earlier update has the later reader.
// CHECK-LABEL: func.func @first_read_last
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: sgd_step(
// CHECK-NEXT: sgd_step(
// CHECK-NEXT: yield
// CHECK-NEXT: }
// CHECK-NEXT: aicf_rt.call relu(
// CHECK-NEXT: aicf_rt.call sgd_step(
// CHECK-NEXT: aicf_rt.call relu(
func.func @first_read_last(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                           %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                           %r: tensor<4xf32> {aicf.role = "param", aicf.name = "r"},
                           %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                           %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%q, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call sgd_step(%r, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %4 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

!s = tensor<f32>
// Tests that an update which reads a result of a batch is not in it.
// CHECK-LABEL: func.func @reads_result
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: sgd_step(
// CHECK-NEXT: sgd_step(
// CHECK-NEXT: yield
// CHECK-NEXT: }
// CHECK-NEXT: aicf_rt.call sgd_step(
func.func @reads_result(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                        %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                        %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                        %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%q, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %2 = aicf_rt.call sgd_step(%0, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  return
}

// -----

!s = tensor<f32>
// Tests a view of a result that stands before the batch's last update.
// CHECK-LABEL: func.func @view_between
// CHECK-NEXT: %[[A:.*]], %{{.*}} = aicf_rt.call {
// CHECK: aicf_rt.view %[[A]][0]
// CHECK-NEXT: aicf_rt.call relu(
func.func @view_between(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                        %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                        %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                        %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %v = aicf_rt.view %0[0] : tensor<4xf32> to tensor<2x2xf32>
  %1 = aicf_rt.call sgd_step(%q, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%v) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

!s = tensor<f32>
// Tests operands that are absent before one that is there.
// CHECK-LABEL: func.func @absent
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: sgd_step({{.*}}, ok = %[[OK:.*]])
// CHECK-NEXT: sgd_step({{.*}}, ok = %[[OK]])
// CHECK-NEXT: yield
func.func @absent(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                  %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                  %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                  %ok: tensor<i32> {aicf.role = "input", aicf.name = "ok"},
                  %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr, ok = %ok) : (tensor<4xf32>, tensor<4xf32>, !s, tensor<i32>) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%q, %g, %lr, ok = %ok) : (tensor<4xf32>, tensor<4xf32>, !s, tensor<i32>) -> tensor<4xf32>
  return
}
