// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-batch-calls --split-input-file --verify-diagnostics | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-batch-calls --split-input-file --verify-diagnostics | aicf-opt --split-input-file -o /dev/null
// RUN: aicf-opt %s --aicf-rt-batch-calls --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-batch-calls=max-groups=1 --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: not aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-batch-calls=max-groups=0 --split-input-file 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-batch-calls=max-groups=257 --split-input-file 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: max-groups is 257, expected 1 to 256
// ZERO: max-groups is 0, expected 1 to 256
// CPU-NOT: aicf_rt.call {

!s = tensor<f32>
// Tests SGD of two parameters, and momentum apart from it.
// CHECK-LABEL: func.func @sgd
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = sgd_step(%[[P:.*]], %[[G:.*]], %[[LR:.*]]) {weight_decay = 1.000000e-01}
// CHECK-NEXT: t1 = sgd_step(%[[Q:.*]], %[[H:.*]], %[[LR]]) {weight_decay = 1.000000e-01}
// CHECK-NEXT: yield t0, t1
// CHECK-NEXT: }
// CHECK-NEXT: aicf_rt.call sgd_step({{.*}}) {momentum
// CHECK-NEXT: return %[[A]], %[[B]]
// ONE-LABEL: func.func @sgd
// ONE-NOT: aicf_rt.call {
func.func @sgd(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
               %q: tensor<2x2xf32> {aicf.role = "param", aicf.name = "q"},
               %r: tensor<4xf32> {aicf.role = "param", aicf.name = "r"},
               %m: tensor<4xf32> {aicf.role = "state", aicf.name = "m"},
               %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
               %h: tensor<2x2xf32> {aicf.role = "input", aicf.name = "h"},
               %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<2x2xf32> {aicf.updates = "q"},
        tensor<4xf32> {aicf.updates = "r"}, tensor<4xf32> {aicf.updates = "m"}) {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr) {weight_decay = 0.1} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%q, %h, %lr) {weight_decay = 0.1} : (tensor<2x2xf32>, tensor<2x2xf32>, !s) -> tensor<2x2xf32>
  %2:2 = aicf_rt.call sgd_step(%r, %g, %lr, m = %m) {momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, !s, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0, %1, %2#0, %2#1 : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

!s = tensor<f32>
// Tests that the 16-bit copy joins, also of a single parameter.
// CHECK-LABEL: func.func @copy
// ONE-LABEL: func.func @copy
// CHECK-NEXT: %[[P:.*]], %[[M:.*]], %[[C:.*]] = aicf_rt.call {
// CHECK-NEXT: t0, t1 = sgd_step({{.*}}) {momentum = 9.000000e-01}
// CHECK-NEXT: t2 = cast(t0)
// CHECK-NEXT: yield t0, t1, t2
// CHECK-NEXT: } : ({{.*}}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>)
// CHECK-NEXT: return %[[P]], %[[M]], %[[C]]
func.func @copy(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                %m: tensor<4xf32> {aicf.role = "state", aicf.name = "m"},
                %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "p"},
                %g: tensor<4xbf16> {aicf.role = "input", aicf.name = "g"},
                %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.updates = "m"}, tensor<4xbf16> {aicf.updates = "c"}) {
  %0:2 = aicf_rt.call sgd_step(%p, %g, %lr, m = %m) {momentum = 0.9} : (tensor<4xf32>, tensor<4xbf16>, !s, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = aicf_rt.call cast(%0#0) : (tensor<4xf32>) -> tensor<4xbf16>
  return %0#0, %0#1, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>
}

// -----

!s = tensor<f32>
// Tests that a call which may not join begins another batch: something reads a
// result of the batch before it.
// CHECK-LABEL: func.func @split
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = aicf_rt.call {
// CHECK: %[[R:.*]] = aicf_rt.call relu(%[[A]])
// CHECK-NEXT: %[[C:.*]], %[[D:.*]] = aicf_rt.call {
// CHECK-NEXT: sgd_step(%{{.*}}, %[[R]],
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @split(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                 %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                 %r: tensor<4xf32> {aicf.role = "param", aicf.name = "r"},
                 %s: tensor<4xf32> {aicf.role = "param", aicf.name = "s"},
                 %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                 %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.updates = "q"},
        tensor<4xf32> {aicf.updates = "r"}, tensor<4xf32> {aicf.updates = "s"}) {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%q, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call sgd_step(%r, %2, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %4 = aicf_rt.call sgd_step(%s, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  return %0, %1, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

!s = tensor<f32>
// Tests the refusals: other attributes, another learning rate, another type, a
// result that is read before the last update.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: aicf_rt.call {
func.func @apart(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                 %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                 %d: tensor<4xf64> {aicf.role = "param", aicf.name = "d"},
                 %lr: !s {aicf.role = "hyper", aicf.name = "lr"},
                 %l2: !s {aicf.role = "hyper", aicf.name = "l2"},
                 %l3: tensor<f64> {aicf.role = "hyper", aicf.name = "l3"})
    -> (tensor<4xf32> {aicf.name = "a"}, tensor<4xf32> {aicf.name = "b"}, tensor<4xf32> {aicf.name = "c"},
        tensor<4xf64> {aicf.name = "e"}, tensor<4xf32> {aicf.name = "f"}, tensor<4xf32> {aicf.name = "g"}) {
  %0 = aicf_rt.call sgd_step(%p, %q, %lr) {weight_decay = 0.1} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%p, %q, %lr) {weight_decay = 0.2} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %2 = aicf_rt.call sgd_step(%p, %q, %l2) {weight_decay = 0.1} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %3 = aicf_rt.call sgd_step(%d, %d, %l3) {weight_decay = 0.1} : (tensor<4xf64>, tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
  %4 = aicf_rt.call sgd_step(%p, %p, %lr) {weight_decay = 0.3} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %5 = aicf_rt.call relu(%4) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = aicf_rt.call sgd_step(%q, %5, %lr) {weight_decay = 0.3} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>
}

// -----

!s = tensor<f32>
// Tests two optimizers one behind the other: the second call reads the first's
// results.
// CHECK-LABEL: func.func @chained
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = aicf_rt.call {
// CHECK: %[[C:.*]], %[[D:.*]] = aicf_rt.call {
// CHECK-NEXT: sgd_step(%[[A]],
// CHECK-NEXT: sgd_step(%[[B]],
// CHECK: return %[[C]], %[[D]]
func.func @chained(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                   %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"},
                   %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                   %lr: !s {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.updates = "q"}) {
  %0 = aicf_rt.call sgd_step(%p, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %1 = aicf_rt.call sgd_step(%q, %g, %lr) : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %2 = aicf_rt.call sgd_step(%0, %g, %lr) {weight_decay = 0.5} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  %3 = aicf_rt.call sgd_step(%1, %g, %lr) {weight_decay = 0.5} : (tensor<4xf32>, tensor<4xf32>, !s) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}
