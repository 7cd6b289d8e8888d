// RUN: aicf-opt %s -aicf-expand-maps -split-input-file | FileCheck %s

// Conditions in a map: comparisons either way round, logic, and what they choose.

// CHECK-LABEL: func.func @floats
// CHECK-DAG: %[[A:.*]] = aicf.less %arg1, %arg0 : tensor<8xf32>
// CHECK-DAG: %[[B:.*]] = aicf.less_equal %arg1, %arg0 : tensor<8xf32>
// CHECK-DAG: %[[C:.*]] = aicf.less %arg0, %arg1 : tensor<8xf32>
// CHECK-DAG: %[[D:.*]] = aicf.equal %arg0, %arg1 : tensor<8xf32>
// CHECK-DAG: %[[E:.*]] = aicf.logical_and %[[A]], %[[B]]
// CHECK-DAG: %[[F:.*]] = aicf.logical_or %[[C]], %[[D]]
// CHECK: aicf.logical_xor %[[E]], %[[F]]
func.func @floats(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xi1> {
  %y = aicf.map %a, %b : tensor<8xf32>, tensor<8xf32> -> tensor<8xi1> {
  ^bb0(%x: f32, %z: f32):
    %c = arith.cmpf ogt, %x, %z : f32
    %d = arith.cmpf oge, %x, %z : f32
    %e = arith.cmpf olt, %x, %z : f32
    %f = arith.cmpf oeq, %x, %z : f32
    %g = arith.andi %c, %d : i1
    %h = arith.ori %e, %f : i1
    %r = arith.xori %g, %h : i1
    aicf.yield %r : i1
  }
  return %y : tensor<8xi1>
}

// -----

// CHECK-LABEL: func.func @integers
// CHECK-DAG: %[[A:.*]] = aicf.less %arg1, %arg0 : tensor<8xi64>
// CHECK-DAG: %[[B:.*]] = aicf.greater_scalar %arg0 {value = 5.000000e+00 : f64}
// CHECK-DAG: %[[C:.*]] = aicf.logical_not %[[B]]
// CHECK-DAG: %[[N:.*]] = aicf.neg %arg0 : tensor<8xi64>
// CHECK-DAG: %[[W:.*]] = aicf.where %[[A]], %[[N]], %arg1
// CHECK: aicf.masked_fill %[[W]], %[[C]] {inverted = true, value = 7.000000e+00 : f64}
func.func @integers(%a: tensor<8xi64>, %b: tensor<8xi64>) -> tensor<8xi64> {
  %y = aicf.map %a, %b : tensor<8xi64>, tensor<8xi64> -> tensor<8xi64> {
  ^bb0(%x: i64, %z: i64):
    %zero = arith.constant 0 : i64
    %five = arith.constant 5 : i64
    %seven = arith.constant 7 : i64
    %true = arith.constant true
    %c = arith.cmpi sgt, %x, %z : i64
    %d = arith.cmpi sgt, %x, %five : i64
    %e = arith.xori %d, %true : i1
    %n = arith.subi %zero, %x : i64
    %w = arith.select %c, %n, %z : i64
    %m = arith.select %e, %w, %seven : i64
    aicf.yield %m : i64
  }
  return %y : tensor<8xi64>
}

// -----

// A choice between conditions.
// CHECK-LABEL: func.func @choice
// CHECK: aicf.where %arg0, %arg1, %arg2 : tensor<8xi1>
func.func @choice(%a: tensor<8xi1>, %b: tensor<8xi1>, %c: tensor<8xi1>) -> tensor<8xi1> {
  %y = aicf.map %a, %b, %c : tensor<8xi1>, tensor<8xi1>, tensor<8xi1> -> tensor<8xi1> {
  ^bb0(%x: i1, %z: i1, %w: i1):
    %r = arith.select %x, %z, %w : i1
    aicf.yield %r : i1
  }
  return %y : tensor<8xi1>
}

// -----

// A number that is a condition is a tensor: no op fills one with it.
// CHECK-LABEL: func.func @known
// CHECK-DAG: %[[T:.*]] = aicf.constant dense<true> : tensor<i1>
// CHECK-DAG: %[[B:.*]] = aicf.broadcast %[[T]] to [8]
// CHECK: aicf.logical_or %arg0, %[[B]]
func.func @known(%a: tensor<8xi1>) -> tensor<8xi1> {
  %y = aicf.map %a : tensor<8xi1> -> tensor<8xi1> {
  ^bb0(%x: i1):
    %true = arith.constant true
    %r = arith.ori %x, %true : i1
    aicf.yield %r : i1
  }
  return %y : tensor<8xi1>
}
