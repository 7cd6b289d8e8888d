// RUN: split-file %s %t
// RUN: aicf-opt %t/groups.mlir --aicf-append-optimizer --split-input-file | FileCheck %s
// RUN: aicf-opt %t/groups.mlir --split-input-file --lower-to-backend -o /dev/null
// RUN: aicf-opt %t/refused.mlir --aicf-append-optimizer --split-input-file --verify-diagnostics

// Tests optimizers whose numbers are hypers, one tensor for each group of parameters.

//--- groups.mlir
// A group's bias correction is shared, and made of its betas.
// CHECK-LABEL: func.func @adam
// CHECK-SAME: %[[G1:arg[0-9]+]]: tensor<5xf32> {aicf.name = "group1", aicf.role = "hyper"}, %[[G0:arg[0-9]+]]: tensor<5xf32> {aicf.name = "group0", aicf.role = "hyper"}
func.func @adam(
    %V: tensor<2xf32> {aicf.role = "param", aicf.name = "V", aicf.group = "group1"},
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
    %U: tensor<3xf32> {aicf.role = "param", aicf.name = "U", aicf.group = "group1"})
    -> (tensor<2xf32> {aicf.name = "grad:V", aicf.grad = "V"},
        tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"},
        tensor<3xf32> {aicf.name = "grad:U", aicf.grad = "U"})
    attributes {aicf.optimizer = #aicf.adam_groups<lr = "group0", l2 = true>} {
  // CHECK: %[[T:[0-9]+]] = aicf.step_inc
  // CHECK: %[[B1:[0-9]+]] = aicf.group_bias_corr %[[T]], %[[G1]]
  // CHECK: aicf.adam_group_step %arg0, %arg0, %{{.*}}, %[[B1]], %[[G1]] {l2 = true}
  // CHECK: %[[B0:[0-9]+]] = aicf.group_bias_corr %[[T]], %[[G0]]
  // CHECK: aicf.adam_group_step %arg1, %arg1, %{{.*}}, %[[B0]], %[[G0]] {l2 = true}
  // CHECK-NOT: group_bias_corr
  // CHECK: aicf.adam_group_step %arg2, %arg2, %{{.*}}, %[[B1]], %[[G1]] {l2 = true}
  return %V, %W, %U : tensor<2xf32>, tensor<4xf32>, tensor<3xf32>
}

// -----

// The factor of accumulated gradients is a scalar, which a group is not.
// CHECK-LABEL: func.func @sgd(
// CHECK: %[[FIRST:.*]] = aicf.slice %[[G:arg[0-9]+]] from [0] to [1] : tensor<3xf32>
// CHECK: %[[ONE:.*]] = aicf.reshape %[[FIRST]] to []
// CHECK: %[[HALF:.*]] = aicf.fill_like %[[ONE]] {value = 5.000000e-01
// CHECK: aicf.sgd_group_step %arg0, %{{.*}}, %[[G]] momentum %{{.*}} inv_scale %[[HALF]] {nesterov = true}
// CHECK-LABEL: @sgd.accumulate
// CHECK-NOT: group
func.func @sgd(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer =
        #aicf.sgd_groups<lr = "group0", momentum = true, nesterov = true, accumulate = 2>} {
  return %W : tensor<4xf32>
}

// -----

// Without momentum there is no state. The hyper may be there already.
// CHECK-LABEL: func.func @plain(%arg0: tensor<4xf64> {{.*}}, %arg1: tensor<3xf32> {aicf.name = "mine", aicf.role = "hyper"})
// CHECK-SAME: -> (tensor<4xf64> {aicf.updates = "W"})
func.func @plain(%W: tensor<4xf64> {aicf.role = "param", aicf.name = "W"},
                 %mine: tensor<3xf32> {aicf.role = "hyper", aicf.name = "mine"})
    -> (tensor<4xf64> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd_groups<lr = "mine">} {
  // CHECK-NEXT: aicf.sgd_group_step %arg0, %arg0, %arg1 :
  return %W : tensor<4xf64>
}

//--- refused.mlir
// expected-error @+1 {{parameter "W" has 'aicf.group' "group1", and 'aicf.optimizer' has no groups}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.group = "group1"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{parameter "W" has 'aicf.weight_decay', but its group sets that number}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.weight_decay = 0.1})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd_groups<lr = "g0">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{parameter "W" has 'aicf.lr_scale', but its group sets that number}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.lr_scale = 0.1})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd_groups<lr = "g0">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.optimizer' has groups, whose numbers are hypers: lr is a schedule, expected the name of a hyper}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd_groups<lr = #aicf.constant<value = 0.1>>} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 ("g0") is of role hyper and type 'tensor<f32>', but 'aicf.optimizer' needs a hyper of 'tensor<3xf32>' there}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %g: tensor<f32> {aicf.role = "hyper", aicf.name = "g0"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd_groups<lr = "g0">} {
  return %W : tensor<f32>
}
