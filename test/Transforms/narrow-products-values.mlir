// RUN: sed "s/, narrow_product_bytes = 0//" %s | aicf-compile - -o %t.plain.plan
// RUN: aicf-opt %s --aicf-narrow-products -o %t.mlir
// RUN: aicf-compile %t.mlir -o %t.narrow.plan
// RUN: aicf-plan interpret %t.plain.plan --steps 4 --seed 5 --set lr=0.1 --input x=2x2xf64=1,-2,3,0.5 --input t=2x2xf64=1,2,-1,0 | FileCheck %s
// RUN: aicf-plan interpret %t.narrow.plan --steps 4 --seed 5 --set lr=0.1 --input x=2x2xf64=1,-2,3,0.5 --input t=2x2xf64=1,2,-1,0 | FileCheck %s
// RUN: aicf-plan dump %t.narrow.plan | FileCheck %s --check-prefix=NARROW
// RUN: aicf-plan dump %t.plain.plan | FileCheck %s --check-prefix=PLAIN

// Tests that a step trains as before: products of one term, of one column of a concat, and
// of a column that lies the other way.
// CHECK: loss = 0.3671255429349
// PLAIN-COUNT-11: gemm(
// NARROW-COUNT-3: gemm(
// NARROW-NOT: gemm(
func.func @train(%x: tensor<2x2xf64> {aicf.role = "input", aicf.name = "x"},
                 %t: tensor<2x2xf64> {aicf.role = "input", aicf.name = "t"},
                 %w: tensor<6x1xf64> {aicf.role = "param", aicf.name = "w", aicf.init = "uniform_fan_in"},
                 %b: tensor<6xf64> {aicf.role = "param", aicf.name = "b", aicf.init = 0.25 : f64},
                 %u: tensor<5x6xf64> {aicf.role = "param", aicf.name = "u", aicf.init = "uniform_fan_in"},
                 %v: tensor<1x11xf64> {aicf.role = "param", aicf.name = "v", aicf.init = "uniform_fan_in"},
                 %c: tensor<1xf64> {aicf.role = "param", aicf.name = "c", aicf.init = 0.5 : f64},
                 %s: tensor<11x1xf64> {aicf.role = "param", aicf.name = "s", aicf.init = "uniform_fan_in"},
                 %lr: tensor<f64> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f64> {aicf.name = "loss", aicf.minimize}) attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 0>, aicf.optimizer = #aicf.sgd<lr = "lr">} {
  %0 = aicf.reshape %x to [2, 2, 1] : tensor<2x2xf64>
  %1 = aicf.linear %0, %w, %b : tensor<2x2x1xf64>, tensor<6x1xf64>, tensor<6xf64>
  %2 = aicf.relu %1 : tensor<2x2x6xf64>
  %3 = aicf.linear %2, %u : tensor<2x2x6xf64>, tensor<5x6xf64>
  %4 = aicf.tanh %3 : tensor<2x2x5xf64>
  %5 = aicf.concat %2, %4 {axis = 2 : i64} : tensor<2x2x6xf64>, tensor<2x2x5xf64>
  %6 = aicf.linear %5, %v, %c : tensor<2x2x11xf64>, tensor<1x11xf64>, tensor<1xf64>
  %7 = aicf.concat %4, %2 {axis = 2 : i64} : tensor<2x2x5xf64>, tensor<2x2x6xf64>
  %8 = aicf.linear %7, %s {transW = false} : tensor<2x2x11xf64>, tensor<11x1xf64>
  %9 = aicf.mul %6, %8 : tensor<2x2x1xf64>, tensor<2x2x1xf64>
  %10 = aicf.reshape %9 to [2, 2] : tensor<2x2x1xf64>
  %11 = aicf.mse_loss %10, %t : tensor<2x2xf64>, tensor<2x2xf64>
  return %11 : tensor<f64>
}
