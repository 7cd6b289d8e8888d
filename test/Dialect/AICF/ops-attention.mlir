// RUN: aicf-opt %s --verify-roundtrip | FileCheck %s

// Tests that attention and its gradients parse, print and infer their results' types.

// CHECK-LABEL: func.func @plain
func.func @plain(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x2x8xf32>,
                 %v: tensor<2x7x2x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>) {
  // CHECK: aicf.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64, window_right = 0 : i64} : tensor<2x5x4x8xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x6xf32>
  %y, %lse = aicf.attention %q, %k, %v {scale = 0.5, window_right = 0}
      : tensor<2x5x4x8xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x6xf32>
  return %y, %lse : tensor<2x5x4x6xf32>, tensor<2x4x5xf32>
}

// What is in 16 bits has the logarithms of sums in 32.
// CHECK-LABEL: func.func @all
func.func @all(%q: tensor<2x5x4x8xbf16>, %dy: tensor<2x5x4x6xbf16>,
               %v: tensor<2x5x4x6xbf16>, %mask: tensor<2x1x1x5xi1>,
               %bias: tensor<1x4x5x5xf32>, %segments: tensor<2x5xi32>, %step: tensor<i64>) {
  // CHECK: %[[Y:.*]], %[[LSE:.*]] = aicf.attention {{.*}} mask %{{.*}} segments %{{.*}} step %{{.*}} {p = 2.500000e-01 : f64, seed = 3 : i64, softcap = 3.000000e+01 : f64} : {{.*}} mask tensor<2x1x1x5xi1> segments tensor<2x5xi32> step tensor<i64>
  %y, %lse = aicf.attention %q, %q, %v mask %mask segments %segments step %step
      {softcap = 30.0, p = 0.25, seed = 3}
      : tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x6xbf16>
        mask tensor<2x1x1x5xi1> segments tensor<2x5xi32> step tensor<i64>
  // CHECK: aicf.attention_bwd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]], %[[LSE]] mask %{{.*}} : {{.*}}, tensor<2x4x5xf32> mask tensor<1x4x5x5xf32>
  %dq, %dk, %dv = aicf.attention_bwd %dy, %q, %q, %v, %y, %lse mask %bias
      : tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>,
        tensor<2x5x4x6xbf16>, tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>
        mask tensor<1x4x5x5xf32>
  // CHECK: %[[DMASK:.*]] = aicf.attention_mask_bwd {{.*}} : {{.*}}, tensor<1x4x5x5xf32>
  %dmask = aicf.attention_mask_bwd %dy, %q, %q, %v, %y, %lse, %bias
      : tensor<2x5x4x6xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>,
        tensor<2x5x4x6xbf16>, tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>,
        tensor<1x4x5x5xf32>
  // CHECK: aicf.relu %[[DMASK]] : tensor<1x4x5x5xf32>
  %used = aicf.relu %dmask : tensor<1x4x5x5xf32>
  return
}
