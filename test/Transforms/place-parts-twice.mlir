// RUN: aicf-opt %s --lower-to-backend=target=cuda --remarks-filter=aicf -o /dev/null 2>&1 | FileCheck %s
// RUN: aicf-compile %s -o %t.plan
// RUN: aicf-compile %s --target=cuda -o %t.plan
// RUN: aicf-plan interpret %t.plan --input a=2x3xf64=1,-2,3,4,-5,6 --input b=2x3xf64=0,0,0,0,0,0 --output y=@%t.npy

// Tests a call that reads a part and the whole: both would be one tensor, which a call of
// several primitives cannot be passed twice. So the copy stays.
// CHECK: PlaceParts{{.*}}a call reads both, the part and the whole
func.func @train(%a: tensor<2x3xf64> {aicf.role = "input", aicf.name = "a"},
                 %b: tensor<2x3xf64> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<3x2xf64> {aicf.name = "y"}) {
  %0 = aicf.add %a, %b : tensor<2x3xf64>, tensor<2x3xf64>
  %1 = aicf.transpose %0 [1, 0] : tensor<2x3xf64>
  %2 = aicf.relu %1 : tensor<3x2xf64>
  %3 = aicf.add %1, %2 : tensor<3x2xf64>, tensor<3x2xf64>
  return %3 : tensor<3x2xf64>
}
