// RUN: aicf-opt %s --aicf-rt-select-kernels --aicf-rt-emit-plan --aicf-rt-plan-memory | aicf-translate --aicf-to-plan -o %t.plan
// RUN: aicf-plan dump %t.plan --lifetimes | FileCheck %s
// RUN: aicf-plan view %t.plan -o %t.html
// RUN: cat %t.html | FileCheck %s --check-prefix=PAGE

// Tests that memory is held ("-") while calls of another stream may still run: call 1 reads
// the first temp on stream 1, and call 4 is the first one that waits for stream 1.
//      CHECK: lifetimes in the temp segment
// CHECK-NEXT: calls 0..4 (1 per column)
//  CHECK-DAG: 256 {{.*}}##--.
//  CHECK-DAG: 256 {{.*}}.####
//  CHECK-DAG: 256 {{.*}}..##.
//  CHECK-DAG: 256 {{.*}}...##
// PAGE-DAG: "first":0,"last":1,"writers":[0],"readers":[1],"held":3
// PAGE-DAG: "first":2,"last":3,"writers":[2],"readers":[3],"held":3
// PAGE-DAG: "first":0,"last":4,"writers":[4],"readers":[],"held":4
func.func @streams(%x: tensor<64xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) launch<signals = [0]> : (tensor<64xf32>) -> tensor<64xf32>
  %1 = aicf_rt.call relu(%0) launch<stream = 1, waits = [0], signals = [1]> : (tensor<64xf32>) -> tensor<64xf32>
  %2 = aicf_rt.call relu(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = aicf_rt.call relu(%2) : (tensor<64xf32>) -> tensor<64xf32>
  %4 = aicf_rt.call add(%1, %3) launch<waits = [1]> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %4 : tensor<64xf32>
}
