// RUN: aicf-opt %s --aicf-split-step --split-input-file --verify-diagnostics

// Tests a state that the gradients half moves on before the update reads it.
// expected-error @+1 {{cannot split @schedule: its update reads "lr", which the gradients half would have updated already}}
func.func @schedule(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                    %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                    %lr: tensor<f32> {aicf.role = "state", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}, tensor<f32> {aicf.updates = "lr"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %l = aicf.add %lr, %lr : tensor<f32>, tensor<f32>
  return %n, %l : tensor<4xf32>, tensor<f32>
}

// -----

// Tests that a step that is all update stays whole.
func.func @whole(%g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                 %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests names that the halves need.
// expected-error @+1 {{cannot split @named: argument 1 is named "grad:w", as the state that would carry a gradient}}
func.func @named(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                 %s: tensor<4xf32> {aicf.role = "state", aicf.name = "grad:w"},
                 %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}, tensor<4xf32> {aicf.updates = "grad:w"}) {
  %g = aicf.relu %x : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{cannot split @f: there is a @f.update already}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %g = aicf.relu %x : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}
func.func @f.update(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

func.func @part(%s: tensor<f32> {aicf.role = "state", aicf.name = "s"})
    attributes {aicf.part_of = "step"} {
  return
}
// expected-error @+1 {{cannot split @step: it has parts, or is one}}
func.func @step(%s: tensor<4xf32> {aicf.role = "state", aicf.name = "s"},
                %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %g = aicf.relu %s : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}
