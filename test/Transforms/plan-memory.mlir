// RUN: aicf-opt %s --aicf-rt-select-kernels --aicf-rt-emit-plan --aicf-rt-plan-memory --aicf-rt-verify-plan | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-select-kernels --aicf-rt-emit-plan --aicf-rt-plan-memory --remarks-filter-analyse=aicf -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// Tests the three segments; temps that are dead share bytes, live ones do not.
// CHECK: aicf_rt.plan cpu persistent(768)
// CHECK-NEXT: aicf_rt.global @w param offset(0)
// CHECK-NEXT: aicf_rt.global @lr hyper offset(512)
// CHECK-NEXT: aicf_rt.entry @f io(512) temp(512) bound(512)
// CHECK-NEXT: aicf_rt.alloc input "x" bytes(256) offset(0)
// CHECK: aicf_rt.alloc output "y" bytes(256) offset(256)
// CHECK: aicf_rt.alloc temp bytes(256) offset([[A:[0-9]+]])
// CHECK: aicf_rt.alloc temp bytes(256) offset([[B:[0-9]+]])
// CHECK: aicf_rt.alloc temp bytes(256) offset([[A]])
// REPORT: remark: [Analysis] PlanMemory | Category:aicf | Function=f | Reason="gap 0.00 %", max_live_bytes=512, temp_bytes=512
func.func @f(%x: tensor<64xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<100xf32> {aicf.role = "param", aicf.name = "w"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<64xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = aicf_rt.call relu(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = aicf_rt.call relu(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = aicf_rt.call relu(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}

// Tests that a shared parameter is one buffer, whatever the entries' order.
// CHECK: aicf_rt.entry @g io(0) temp(0) bound(0)
// CHECK-NEXT: aicf_rt.get @lr
// CHECK: aicf_rt.get @w
func.func @g(%lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
             %w: tensor<100xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}

// Tests that streams without an order between them share nothing.
// CHECK: aicf_rt.entry @streams io(512) temp(768)
func.func @streams(%x: tensor<64xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) launch<signals = [0]> : (tensor<64xf32>) -> tensor<64xf32>
  %1 = aicf_rt.call relu(%0) launch<stream = 1, waits = [0], signals = [1]> : (tensor<64xf32>) -> tensor<64xf32>
  %2 = aicf_rt.call relu(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = aicf_rt.call add(%1, %2) launch<waits = [1]> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}
