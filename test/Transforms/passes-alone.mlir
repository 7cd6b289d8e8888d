// RUN: aicf-opt %s --split-input-file --aicf-append-optimizer --verify-diagnostics
// RUN: sed 's/{aicf.name = "grad:W", aicf.grad = "W"}/{aicf.name = "loss", aicf.minimize}/' %s \
// RUN:   | not aicf-opt --split-input-file --aicf-autodiff 2>&1 | FileCheck %s

// Tests that a pass which runs alone refuses what the passes before it would have refused:
// it would make ops whose types cannot be inferred, which ends the process.

// CHECK: argument 0 is 'tensor<*xf32>', expected a ranked tensor
// expected-error @+1 {{argument 0 is 'tensor<*xf32>', expected a ranked tensor of f16, bf16, f32, f64, i32, i64 or i1 without encoding}}
func.func @unranked(%W: tensor<*xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<*xf32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<*xf32>
}

// -----

// CHECK: result 0 has 'aicf.minimize' and is 'tensor<5xf32>'
// expected-error @+1 {{result 0 is the gradient of "W", 'tensor<4xf32>', and of type 'tensor<5xf32>': expected the parameter's type}}
func.func @other_shape(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                       %g: tensor<5xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<5xf32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %g : tensor<5xf32>
}

// -----

// expected-error @+1 {{result 0 is the gradient of "W", 'tensor<4xi64>', and of type 'tensor<4xi64>'}}
func.func @integers(%W: tensor<4xi64> {aicf.role = "param", aicf.name = "W"},
                    %g: tensor<4xi64> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<4xi64> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %g : tensor<4xi64>
}

// -----

// expected-error @+1 {{result 0 is the gradient of "W", 'tensor<4xf16>', and of type 'tensor<4xf32>'}}
func.func @wider(%W: tensor<4xf16> {aicf.role = "param", aicf.name = "W"},
                 %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %g : tensor<4xf32>
}

// -----

// expected-error @+1 {{'aicf.loss_scale' is "s", a state of 'tensor<2xf32>', expected a 0-d float}}
func.func @many_scales(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                       %s: tensor<2xf32> {aicf.role = "state", aicf.name = "s"},
                       %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.loss_scale = "s"} {
  return %g : tensor<4xf32>
}

// -----

// expected-error @+1 {{'aicf.loss_scale' is "s", a state of 'tensor<i32>', expected a 0-d float}}
func.func @whole_scale(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                       %s: tensor<i32> {aicf.role = "state", aicf.name = "s"},
                       %g: tensor<4xf16> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<4xf16> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.loss_scale = "s"} {
  return %g : tensor<4xf16>
}
