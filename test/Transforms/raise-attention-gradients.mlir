// RUN: aicf-opt %s --aicf-raise-attention --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-raise-attention --remarks-filter=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!heads = tensor<2x4x8x16xf32>
!scores = tensor<2x4x8x8xf32>

// Tests gradients as JAX derives them: a factor, and zeros where a triangle hides keys.
// REMARK: RaiseAttention | Category:aicf | Function=causal | Remark="products and a softmax are one attention, with its gradients"
// CHECK-LABEL: @causal
// CHECK-NOT: aicf.softmax
// CHECK: %[[Y:[a-z0-9]+]], %[[LSE:[a-z0-9_]+]] = aicf.attention %[[Q:.*]], %[[K:.*]], %[[V:.*]] {scale = 2.5{{[^,]*}}, window_right = 0 : i64}
// CHECK: %[[DY:.*]] = aicf.transpose %arg3 [0, 2, 1, 3]
// CHECK: %[[DQ:[a-z]+]], %[[DK:[a-z]+]], %[[DV:[a-z]+]] = aicf.attention_bwd %[[DY]], %[[Q]], %[[K]], %[[V]], %[[Y]], %[[LSE]] {scale = 2.5{{[^,]*}}, window_right = 0 : i64}
// CHECK-NOT: aicf.matmul
// CHECK-DAG: %[[RQ:.*]] = aicf.transpose %[[DQ]] [0, 2, 1, 3]
// CHECK-DAG: %[[RK:.*]] = aicf.transpose %[[DK]] [0, 2, 1, 3]
// CHECK-DAG: %[[RV:.*]] = aicf.transpose %[[DV]] [0, 2, 1, 3]
// CHECK: return %{{.*}}, %[[RQ]], %[[RK]], %[[RV]]
func.func @causal(%q: !heads {aicf.role = "input", aicf.name = "q"}, %k: !heads {aicf.role = "input", aicf.name = "k"},
                  %v: !heads {aicf.role = "input", aicf.name = "v"}, %dy: !heads {aicf.role = "input", aicf.name = "dy"})
    -> (!heads {aicf.name = "y"}, !heads {aicf.name = "dq"}, !heads {aicf.name = "dk"}, !heads {aicf.name = "dv"}) {
  %s = aicf.matmul %q, %k {transB = true} : !heads, !heads
  %t = aicf.scale %s {factor = 0.25 : f64} : !scores
  %c = aicf.constant dense<[[1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0],
                            [1, 1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1, 1]]> : tensor<8x8xi1>
  %m = aicf.broadcast %c to [2, 4, 8, 8] : tensor<8x8xi1>
  %n = aicf.logical_not %m : tensor<2x4x8x8xi1>
  %f = aicf.masked_fill %t, %n {value = 0xFFF0000000000000 : f64} : !scores, tensor<2x4x8x8xi1>
  %most, %index = aicf.reduce_max %f over [3] : !scores
  %p = aicf.softmax %f : !scores
  %y = aicf.matmul %p, %v : !scores, !heads
  %dp = aicf.matmul %dy, %v {transB = true} : !heads, !heads
  %dv = aicf.matmul %p, %dy {transA = true} : !scores, !heads
  %ds = aicf.softmax_bwd %dp, %p : !scores, !scores
  %df = aicf.masked_fill %ds, %m {value = 0.0 : f64, inverted = true} : !scores, tensor<2x4x8x8xi1>
  %dt = aicf.scale %df {factor = 0.25 : f64} : !scores
  %dq = aicf.matmul %dt, %k : !scores, !heads
  %dk = aicf.matmul %dt, %q {transA = true} : !scores, !heads
  return %y, %dq, %dk, %dv : !heads, !heads, !heads, !heads
}

// -----

// Tests 16 bits with a softmax in f32, products the other way round, transposes on the way, a gradient
// that is there twice, and one that nobody needs. No key is hidden, and there are no heads.
// CHECK-LABEL: @turned
// CHECK-NOT: aicf.softmax
// CHECK: aicf.attention %{{.*}} {scale = 1.0{{[^,]*}}} : tensor<2x8x1x16xbf16>
// CHECK: %[[DY:.*]] = aicf.reshape %arg2 to [2, 8, 1, 16]
// CHECK: %{{[a-z]+}}, %[[DK:[a-z]+]], %[[DV:[a-z]+]] = aicf.attention_bwd %[[DY]],
// CHECK-DAG: aicf.reshape %[[DK]] to [2, 8, 16]
// CHECK-DAG: aicf.reshape %[[DV]] to [2, 8, 16]
// CHECK-NOT: aicf.matmul
func.func @turned(%q: tensor<2x8x16xbf16> {aicf.role = "input", aicf.name = "q"}, %v: tensor<2x8x16xbf16> {aicf.role = "input", aicf.name = "v"},
                  %dy: tensor<2x8x16xbf16> {aicf.role = "input", aicf.name = "dy"})
    -> (tensor<2x8x16xbf16> {aicf.name = "y"}, tensor<2x16x8xbf16> {aicf.name = "dk"}, tensor<2x8x16xbf16> {aicf.name = "dk2"},
        tensor<2x16x8xbf16> {aicf.name = "dv"}) {
  %kt = aicf.transpose %q [0, 2, 1] : tensor<2x8x16xbf16>
  %s = aicf.matmul %q, %kt : tensor<2x8x16xbf16>, tensor<2x16x8xbf16>
  %w = aicf.cast %s to f32 : tensor<2x8x8xbf16>
  %p = aicf.softmax %w : tensor<2x8x8xf32>
  %h = aicf.cast %p to bf16 : tensor<2x8x8xf32>
  %y = aicf.matmul %h, %v : tensor<2x8x8xbf16>, tensor<2x8x16xbf16>
  %vt = aicf.transpose %v [0, 2, 1] : tensor<2x8x16xbf16>
  %dyt = aicf.transpose %dy [0, 2, 1] : tensor<2x8x16xbf16>
  %dp = aicf.matmul %dyt, %vt {transA = true} : tensor<2x16x8xbf16>, tensor<2x16x8xbf16>
  %dw = aicf.cast %dp to f32 : tensor<2x8x8xbf16>
  %ds = aicf.softmax_bwd %dw, %p : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  %dh = aicf.cast %ds to bf16 : tensor<2x8x8xf32>
  %dt = aicf.transpose %dh [0, 2, 1] : tensor<2x8x8xbf16>
  %dk = aicf.matmul %q, %dt {transA = true, transB = true} : tensor<2x8x16xbf16>, tensor<2x8x8xbf16>
  %dk2 = aicf.matmul %dt, %q : tensor<2x8x8xbf16>, tensor<2x8x16xbf16>
  %dv = aicf.matmul %dyt, %h : tensor<2x16x8xbf16>, tensor<2x8x8xbf16>
  return %y, %dk, %dk2, %dv : tensor<2x8x16xbf16>, tensor<2x16x8xbf16>, tensor<2x8x16xbf16>, tensor<2x16x8xbf16>
}

// -----

// Tests a bias that is a constant, a divisor of 3, and the gradient of values alone, which comes in front of the others' product.
// CHECK-LABEL: @bias
// CHECK: aicf.attention %{{.*}} mask %[[M:.*]] {scale = 0.333{{3+}}
// CHECK: %{{[a-z]+}}, %{{[a-z]+}}, %[[DV:[a-z]+]] = aicf.attention_bwd %{{.*}} mask %[[M]] {
// CHECK-NOT: aicf.softmax
func.func @bias(%q: tensor<8x16xf32> {aicf.role = "input", aicf.name = "q"}, %dy: tensor<8x16xf32> {aicf.role = "input", aicf.name = "dy"})
    -> (tensor<8x16xf32> {aicf.name = "y"}, tensor<8x16xf32> {aicf.name = "dv"}, tensor<8x16xf32> {aicf.name = "dq"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<8x16xf32>, tensor<8x16xf32>
  %c = aicf.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %b = aicf.broadcast %c to [8, 8] : tensor<8xf32>
  %t = aicf.div_scalar %s {value = 3.0 : f64} : tensor<8x8xf32>
  %a = aicf.add %t, %b : tensor<8x8xf32>, tensor<8x8xf32>
  %p = aicf.softmax %a : tensor<8x8xf32>
  %y = aicf.matmul %p, %q : tensor<8x8xf32>, tensor<8x16xf32>
  %dv = aicf.matmul %p, %dy {transA = true} : tensor<8x8xf32>, tensor<8x16xf32>
  %dp = aicf.matmul %dy, %q {transB = true} : tensor<8x16xf32>, tensor<8x16xf32>
  %ds = aicf.softmax_bwd %dp, %p : tensor<8x8xf32>, tensor<8x8xf32>
  %dt = aicf.div_scalar %ds {value = 3.0 : f64} : tensor<8x8xf32>
  %dq = aicf.matmul %dt, %q : tensor<8x8xf32>, tensor<8x16xf32>
  return %y, %dv, %dq : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
