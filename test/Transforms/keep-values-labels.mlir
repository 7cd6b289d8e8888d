// RUN: aicf-opt %s --aicf-keep-values=mode=all | FileCheck %s

// Tests that labels have three digits or more.
// CHECK: aicf.name = "v099"}, tensor<4xf32> {aicf.name = "v1000"}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %a = aicf.relu %x {aicf.vids = array<i64: 99>} : tensor<4xf32>
  %b = aicf.relu %a {aicf.vids = array<i64: 1000>} : tensor<4xf32>
  return %b : tensor<4xf32>
}
