// RUN: aicf-opt %s --split-input-file --aicf-autodiff --verify-diagnostics | FileCheck %s

// Tests that an update that is written in the entry reads the gradient of the parameter,
// behind the backward pass, and that nothing else is returned.
// CHECK-LABEL: func.func @update
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {aicf.name = "w", aicf.role = "param"}, %[[X:[a-z0-9]+]]: tensor<4xf32> {aicf.name = "x", aicf.role = "input"})
// CHECK-SAME: -> (tensor<f32> {aicf.name = "loss"}, tensor<4xf32> {aicf.updates = "w"})
// CHECK: %[[Y:.*]] = aicf.mul %[[W]], %[[X]]
// CHECK: %[[L:.*]] = aicf.mean %[[Y]]
// CHECK: %[[G:.*]] = aicf.mul
// CHECK: %[[N:.*]] = aicf.sub %[[W]], %[[G]]
// CHECK: return %[[L]], %[[N]]
func.func @update(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                  %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = "w"},
                  %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<4xf32> {aicf.updates = "w"}) {
  %n = aicf.sub %w, %g : tensor<4xf32>, tensor<4xf32>
  %y = aicf.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %l = aicf.mean %y : tensor<4xf32>
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// -----

// Tests the gradient of an input, which is returned, beside an optimizer.
// CHECK-LABEL: func.func @input
// CHECK-SAME: tensor<4xf32> {aicf.name = "dx"}, tensor<4xf32> {aicf.grad = "w", aicf.name = "grad:w"})
// CHECK-NOT: aicf.gradient_of
func.func @input(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                 %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                 %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<4xf32> {aicf.name = "dx"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  %y = aicf.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %l = aicf.mean %y : tensor<4xf32>
  return %l, %g : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 1 is the gradient of "v", which is neither a trained parameter nor an input}}
func.func @unknown(%w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
                   %g: tensor<f32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = "v"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %l = aicf.mul %w, %w : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 is the gradient of "w" and 'tensor<2xf32>', expected 'tensor<f32>'}}
func.func @type(%w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
                %g: tensor<2xf32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %l = aicf.mul %w, %w : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{arguments 1 and 2 are both the gradient of "w"}}
func.func @twice(%w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
                 %g: tensor<f32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = "w"},
                 %h: tensor<f32> {aicf.role = "input", aicf.name = "h", aicf.gradient_of = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %l = aicf.mul %w, %w : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{input "i" is 'tensor<2xi32>': integers have no gradient}}
func.func @integers(%w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
                    %i: tensor<2xi32> {aicf.role = "input", aicf.name = "i"},
                    %g: tensor<2xi32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = "i"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %l = aicf.mul %w, %w : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 is a gradient, but no result has 'aicf.minimize'}}
func.func @lost(%w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
                %g: tensor<f32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = "w"})
    -> (tensor<f32> {aicf.name = "y"}) {
  return %g : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.gradient_of' must be a}}
func.func @text(%g: tensor<f32> {aicf.role = "input", aicf.name = "g", aicf.gradient_of = 3 : i64}) {
  return
}
