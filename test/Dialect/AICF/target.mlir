// RUN: aicf-opt %s | FileCheck %s

// Tests the text of targets: fields in the order of their names.
// CHECK: @default() attributes {aicf.target = #aicf.target<cuda>}
// CHECK: @named() attributes {aicf.target = #aicf.target<cuda, costs = "a100", math = "tf32">}
// CHECK: @own() attributes {aicf.target = #aicf.target<cuda, costs = "rtx4090", multiprocessors = 36>}
// CHECK: @sorted() attributes {aicf.target = #aicf.target<cuda, costs = "h200", math = "tf32">}
// CHECK: @negative() attributes {aicf.target = #aicf.target<cpu, cached_bytes = 4096, narrow_product_bytes = -1>}
func.func private @default() attributes {aicf.target = #aicf.target<cuda>}
func.func private @named() attributes {aicf.target = #aicf.target<cuda, costs = "a100", math = "tf32">}
func.func private @own() attributes {aicf.target = #aicf.target<cuda, costs = "rtx4090", multiprocessors = 36>}
func.func private @sorted() attributes {aicf.target = #aicf.target<cuda, math = "tf32", costs = "h200">}
func.func private @negative() attributes {
  aicf.target = #aicf.target<cpu, narrow_product_bytes = -1, cached_bytes = 4096>
}
