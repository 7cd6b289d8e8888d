// RUN: aicf-opt %s --aicf-rt-materialize-updates --aicf-rt-annotate-inplace --aicf-rt-verify=phase=inplace 2>/dev/null | FileCheck %s

// Tests that a chain of temps shares one storage.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                 %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4x4xf32> {aicf.name = "y"}) {
  // CHECK: aicf_rt.call gemm(%{{.*}}, %{{.*}}) :
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: aicf_rt.call bias_add({{.*}}) inplace [0]
  %1 = aicf_rt.call bias_add(%0, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK: aicf_rt.call relu({{.*}}) inplace [0]
  %2 = aicf_rt.call relu(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// Tests the refusals: a value read later, an input, an output, a gemm.
// CHECK-LABEL: func.func @refusals
func.func @refusals(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x4xf32> {aicf.name = "y"}, tensor<4x4xf32> {aicf.name = "z"}) {
  // CHECK-NOT: inplace
  %0 = aicf_rt.call relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = aicf_rt.call gemm(%0, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = aicf_rt.call relu(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: aicf_rt.call add(%{{.*}}, %{{.*}}) inplace [0]
  %3 = aicf_rt.call add(%1, %2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NOT: inplace
  %4 = aicf_rt.call relu(%3) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Tests that an optimizer writes straight into param and moment.
// CHECK-LABEL: func.func @optimizer
func.func @optimizer(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                     %m: tensor<4xf32> {aicf.role = "state", aicf.name = "m"},
                     %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                     %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.updates = "m"}) {
  // CHECK-NEXT: %[[P:.*]], %[[M:.*]] = aicf_rt.call sgd_step({{.*}}) {momentum = 9.000000e-01} inplace [0, 3]
  // CHECK-NEXT: return %[[P]], %[[M]]
  %n:2 = aicf_rt.call sgd_step(%p, %g, %lr, m = %m) {momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %n#0, %n#1 : tensor<4xf32>, tensor<4xf32>
}

// Tests that a result without a tie is written into the param if nobody reads
// the old value any more: no copy, no inplace.
// CHECK-LABEL: func.func @direct
func.func @direct(%p: tensor<4x4xf32> {aicf.role = "param", aicf.name = "p"},
                  %x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x4xf32> {aicf.updates = "p"}) {
  // CHECK-NEXT: %[[R:.*]] = aicf_rt.call relu(
  %0 = aicf_rt.call relu(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[G:.*]] = aicf_rt.call gemm(%[[R]], %arg1) :
  %1 = aicf_rt.call gemm(%0, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: return %[[G]]
  return %1 : tensor<4x4xf32>
}

// Tests that a swap keeps one of its two staging copies, a rotation one of three.
// CHECK-LABEL: func.func @swap
// CHECK-COUNT-3: aicf_rt.call copy(
// CHECK-NEXT:    return
func.func @swap(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @rotation
// CHECK-COUNT-4: aicf_rt.call copy(
// CHECK-NEXT:    return
func.func @rotation(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                    %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"},
                    %c: tensor<4xf32> {aicf.role = "param", aicf.name = "c"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"},
        tensor<4xf32> {aicf.updates = "c"}) {
  return %b, %c, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Tests that a result that lives in an argument takes over no temp.
// CHECK-LABEL: func.func @update_of_a_temp
func.func @update_of_a_temp(%p: tensor<4x4xf32> {aicf.role = "param", aicf.name = "p"},
                            %x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x4xf32> {aicf.updates = "p"}) {
  %0 = aicf_rt.call gemm(%p, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK:      aicf_rt.call relu(%{{[^{]*}}) :
  // CHECK-NEXT: return
  %1 = aicf_rt.call relu(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Tests that a temp of another type is not taken over, whatever the ties say.
// CHECK-LABEL: func.func @other_type
func.func @other_type(%pred: tensor<4xbf16> {aicf.role = "input", aicf.name = "pred"},
                      %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xbf16> {aicf.name = "y"}) {
  %t = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call mse_grad(%{{.*}}, %{{.*}}) :
  %d = aicf_rt.call mse_grad(%pred, %t) {scale = 0.5} : (tensor<4xbf16>, tensor<4xf32>) -> tensor<4xbf16>
  return %d : tensor<4xbf16>
}

// Tests that an argument that updates itself too is read where it is.
// CHECK-LABEL: func.func @unchanged
// CHECK-NEXT: %[[C:.*]] = aicf_rt.call copy(%arg0)
// CHECK-NEXT: return %arg0, %[[C]]
func.func @unchanged(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                     %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  return %a, %a : tensor<4xf32>, tensor<4xf32>
}

// Tests that one operand is taken over by one result, though both may take it.
// CHECK-LABEL: func.func @taken_once
func.func @taken_once(%x: tensor<1xf32> {aicf.role = "input", aicf.name = "x"},
                      %b: tensor<1xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<1xf32> {aicf.name = "y"}, tensor<1xf32> {aicf.name = "sum"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK: yield t0, t1, t2, t3
  // CHECK-NEXT: } inplace [0, -1, -1, -1]
  %c, %y, %mean, %rstd = aicf_rt.call {
    t0 = add(%t, %b)
    t1, t2, t3 = layer_norm(t0, %b, %b)
    yield t0, t1, t2, t3
  } : (tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<f32>)
  return %y, %c : tensor<1xf32>, tensor<1xf32>
}
