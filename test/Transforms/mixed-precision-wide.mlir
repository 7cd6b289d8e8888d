// RUN: aicf-opt %s --aicf-mixed-precision=dtype=f16 | FileCheck %s
// RUN: aicf-opt %s --aicf-mixed-precision=dtype=bf16 | FileCheck %s --check-prefix=BF16

// Tests what stays f32 though its kind could be narrow: what only leads to the new
// value of a state, and what has a number that the narrow type does not hold.

// The statistics of a batch norm: a bf16 mean would stop moving.
// CHECK-LABEL: @states
// CHECK-DAG: aicf.add %{{.*}}, %{{.*}} : tensor<4xf16>
// CHECK-DAG: %[[K:.*]] = aicf.scale %arg1 {factor = 9.000000e-01 : f64} : tensor<4xf32>
// CHECK: aicf.add %[[K]], %arg0 : tensor<4xf32>, tensor<4xf32>
func.func @states(
    %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
    %mean: tensor<4xf32> {aicf.role = "state", aicf.name = "mean"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.updates = "mean"}) {
  %y = aicf.add %x, %x : tensor<4xf32>, tensor<4xf32>
  %kept = aicf.scale %mean {factor = 0.9} : tensor<4xf32>
  %new = aicf.add %kept, %x : tensor<4xf32>, tensor<4xf32>
  return %y, %new : tensor<4xf32>, tensor<4xf32>
}

// A state that an output reads, too, is nothing apart.
// CHECK-LABEL: @shared
// CHECK: aicf.scale %{{.*}} {factor = 9.000000e-01 : f64} : tensor<4xf16>
func.func @shared(
    %mean: tensor<4xf32> {aicf.role = "state", aicf.name = "mean"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.updates = "mean"}) {
  %kept = aicf.scale %mean {factor = 0.9} : tensor<4xf32>
  return %kept, %kept : tensor<4xf32>, tensor<4xf32>
}

// -1e9 is not an f16, but a bf16: a softmax of such numbers only is not one of -inf only.
// What is infinite on purpose stays so.
// CHECK-LABEL: @numbers
// CHECK: aicf.masked_fill %{{.*}} {value = -1.000000e+09 : f64} : tensor<4xf32>
// CHECK: aicf.softmax %{{.*}} : tensor<4xf32>
// CHECK: aicf.masked_fill %{{.*}} {value = 0xFFF0000000000000 : f64} : tensor<4xf16>
// BF16-LABEL: @numbers
// BF16: aicf.masked_fill %{{.*}} {value = -1.000000e+09 : f64} : tensor<4xbf16>
// BF16: aicf.softmax %{{.*}} : tensor<4xbf16>
func.func @numbers(
    %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
    %m: tensor<4xi1> {aicf.role = "input", aicf.name = "m"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %s = aicf.masked_fill %x, %m {value = -1.0e9} : tensor<4xf32>, tensor<4xi1>
  %y = aicf.softmax %s : tensor<4xf32>
  %z = aicf.masked_fill %x, %m {value = 0xFFF0000000000000 : f64} : tensor<4xf32>, tensor<4xi1>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
