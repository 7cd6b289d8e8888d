// RUN: aicf-compile %s -o %t.plan && aicf-plan verify %t.plan
// RUN: aicf-translate --plan-to-aicf %t.plan | FileCheck %s

// Tests that entries have a name space of their own: an entry may have the name of a
// parameter, of its learning rate or of its counter.
// CHECK-DAG: aicf_rt.global @w param
// CHECK-DAG: aicf_rt.global @step state
// CHECK-DAG: aicf_rt.entry @w
// CHECK-DAG: aicf_rt.entry @step
// CHECK-DAG: aicf_rt.entry @lr
func.func @w(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.add %x, %w : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  %loss = aicf.mse_loss %w, %x : tensor<4xf32>, tensor<4xf32>
  return %loss : tensor<f32>
}

func.func @lr(%lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "twice"}) {
  %y = aicf.add %lr, %lr : tensor<f32>, tensor<f32>
  return %y : tensor<f32>
}
