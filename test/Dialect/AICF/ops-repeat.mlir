// RUN: aicf-opt %s | aicf-opt | FileCheck %s
// RUN: aicf-opt %s --mlir-print-op-generic | aicf-opt | FileCheck %s

// CHECK-LABEL: @counts_and_rows
// CHECK: aicf.repeat 100 %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<100x8xf32> -> tensor<8xf32>, tensor<100x8xf32> {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i64>, %[[H:.*]]: tensor<8xf32>, %[[ROWS:.*]]: tensor<100x8xf32>):
// CHECK: aicf.next %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<100x8xf32>
func.func private @counts_and_rows(%h0: tensor<8xf32>, %none: tensor<100x8xf32>)
    -> (tensor<8xf32>, tensor<100x8xf32>) {
  %last, %all = aicf.repeat 100 %h0, %none
      : tensor<8xf32>, tensor<100x8xf32> -> tensor<8xf32>, tensor<100x8xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<8xf32>, %rows: tensor<100x8xf32>):
    %next = aicf.tanh %h : tensor<8xf32>
    %with = aicf.record %rows, %next, %i : tensor<100x8xf32>, tensor<8xf32>, tensor<i64>
    aicf.next %next, %with : tensor<8xf32>, tensor<100x8xf32>
  }
  return %last, %all : tensor<8xf32>, tensor<100x8xf32>
}
