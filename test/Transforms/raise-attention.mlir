// RUN: aicf-opt %s --aicf-raise-attention --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-raise-attention --remarks-filter=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!heads = tensor<2x4x8x16xf32>
!scores = tensor<2x4x8x8xf32>

// Tests a causal mask, a factor, dropout and a product with kᵀ that was made by a transpose.
// REMARK: RaiseAttention | Category:aicf | Function=causal | Remark="two products and a softmax are one attention"
// CHECK-LABEL: @causal
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: {{.*}}, %[[K:[a-z0-9]+]]: {{.*}}, %[[V:[a-z0-9]+]]: {{.*}}, %[[STEP:[a-z0-9]+]]:
// CHECK-NOT: aicf.softmax
// CHECK-DAG: %[[Q1:.*]] = aicf.transpose %[[Q]] [0, 2, 1, 3]
// CHECK-DAG: %[[K1:.*]] = aicf.transpose %[[K]] [0, 2, 1, 3]
// CHECK-DAG: %[[V1:.*]] = aicf.transpose %[[V]] [0, 2, 1, 3]
// CHECK: %[[Y:[a-z0-9]+]], %{{.*}} = aicf.attention %[[Q1]], %[[K1]], %[[V1]] step %[[STEP]] {p = 2.5{{[^,]*}}, scale = 2.5{{[^,]*}}, seed = 7 : i64, window_right = 0 : i64}
// CHECK: %[[R:.*]] = aicf.transpose %[[Y]] [0, 2, 1, 3]
// CHECK: return %[[R]]
func.func @causal(%q: !heads {aicf.role = "input", aicf.name = "q"}, %k: !heads {aicf.role = "input", aicf.name = "k"},
                  %v: !heads {aicf.role = "input", aicf.name = "v"}, %step: tensor<i64> {aicf.role = "input", aicf.name = "step"})
    -> (!heads {aicf.name = "y"}) {
  %kt = aicf.transpose %k [0, 1, 3, 2] : !heads
  %s = aicf.matmul %q, %kt : !heads, tensor<2x4x16x8xf32>
  %t = aicf.scale %s {factor = 0.25 : f64} : !scores
  %c = aicf.constant dense<[[0, 1, 1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1],
                            [0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<8x8xi1>
  %m = aicf.broadcast %c to [2, 4, 8, 8] : tensor<8x8xi1>
  %f = aicf.masked_fill %t, %m {value = 0xFFF0000000000000 : f64} : !scores, tensor<2x4x8x8xi1>
  %p = aicf.softmax %f : !scores
  %d = aicf.dropout %p, %step {p = 0.25 : f64, seed = 7 : i64} : !scores, tensor<i64>
  %y = aicf.matmul %d, %v : !scores, !heads
  return %y : !heads
}

// -----

// Tests a mask that is added, a softcap, and heads in one dimension.
// CHECK-LABEL: @softcap
// CHECK: %[[M:.*]] = aicf.reshape %{{.*}} to [1, 1, 1, 8]
// CHECK: aicf.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] {scale = 5.0{{[^,]*}}, softcap = 1.0{{[^,]*}}} : tensor<6x8x1x16xf32>
// CHECK: aicf.reshape %{{.*}} to [6, 8, 16]
func.func @softcap(%q: tensor<6x8x16xf32> {aicf.role = "input", aicf.name = "q"}, %k: tensor<6x8x16xf32> {aicf.role = "input", aicf.name = "k"},
                   %v: tensor<6x8x16xf32> {aicf.role = "input", aicf.name = "v"})
    -> (tensor<6x8x16xf32> {aicf.name = "y"}) {
  %s = aicf.matmul %q, %k {transB = true} : tensor<6x8x16xf32>, tensor<6x8x16xf32>
  %a = aicf.scale %s {factor = 0.5 : f64} : tensor<6x8x8xf32>
  %t = aicf.tanh %a : tensor<6x8x8xf32>
  %c = aicf.scale %t {factor = 10.0 : f64} : tensor<6x8x8xf32>
  %m = aicf.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %b = aicf.broadcast %m to [6, 8, 8] : tensor<8xf32>
  %f = aicf.add %b, %c : tensor<6x8x8xf32>, tensor<6x8x8xf32>
  %p = aicf.softmax %f : tensor<6x8x8xf32>
  %y = aicf.matmul %p, %v : tensor<6x8x8xf32>, tensor<6x8x16xf32>
  return %y : tensor<6x8x16xf32>
}

// -----

// Tests a constant that is not a triangle: what it shows is the mask.
// CHECK-LABEL: @shown
// CHECK: %[[C:.*]] = aicf.constant dense<{{\[\[}}true, false], [false, true]]> : tensor<2x2xi1>
// CHECK: %[[M:.*]] = aicf.reshape %[[C]] to [1, 1, 2, 2]
// CHECK: aicf.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]]
func.func @shown(%q: tensor<2x4xf16> {aicf.role = "input", aicf.name = "q"}, %k: tensor<2x4xf16> {aicf.role = "input", aicf.name = "k"})
    -> (tensor<2x4xf16> {aicf.name = "y"}) {
  %s = aicf.matmul %q, %k {transB = true} : tensor<2x4xf16>, tensor<2x4xf16>
  %w = aicf.cast %s to f32 : tensor<2x2xf16>
  %c = aicf.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi1>
  %n = aicf.constant dense<-1.0e9> : tensor<2x2xf32>
  %f = aicf.where %c, %w, %n : tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>
  %p = aicf.softmax %f : tensor<2x2xf32>
  %h = aicf.cast %p to f16 : tensor<2x2xf32>
  %y = aicf.matmul %h, %k : tensor<2x2xf16>, tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}

// -----

// Tests a triangle that is added, and lengths that grow by one, which are not a triangle.
// CHECK-LABEL: @added
// CHECK: aicf.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.0{{[^,]*}}, window_right = 0 : i64}
// CHECK: %[[M:.*]] = aicf.reshape %{{.*}} to [2, 1, 1, 2]
// CHECK: aicf.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] {scale = 1.0{{[^,]*}}}
func.func @added(%q: tensor<2x2x4xf32> {aicf.role = "input", aicf.name = "q"})
    -> (tensor<2x2x4xf32> {aicf.name = "y"}, tensor<2x2x4xf32> {aicf.name = "z"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2x4xf32>, tensor<2x2x4xf32>
  %t = aicf.constant dense<[[0.0, -1.0e9], [0.0, 0.0]]> : tensor<2x2xf32>
  %u = aicf.broadcast %t to [2, 2, 2] : tensor<2x2xf32>
  %a = aicf.add %s, %u : tensor<2x2x2xf32>, tensor<2x2x2xf32>
  %p = aicf.softmax %a : tensor<2x2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2x2xf32>, tensor<2x2x4xf32>
  %r = aicf.matmul %y, %y {transB = true} : tensor<2x2x4xf32>, tensor<2x2x4xf32>
  %l = aicf.constant dense<[[[0, 1]], [[0, 0]]]> : tensor<2x1x2xi1>
  %m = aicf.broadcast %l to [2, 2, 2] : tensor<2x1x2xi1>
  %f = aicf.masked_fill %r, %m {value = 0xFFF0000000000000 : f64} : tensor<2x2x2xf32>, tensor<2x2x2xi1>
  %w = aicf.softmax %f : tensor<2x2x2xf32>
  %z = aicf.matmul %w, %y : tensor<2x2x2xf32>, tensor<2x2x4xf32>
  return %y, %z : tensor<2x2x4xf32>, tensor<2x2x4xf32>
}

// -----

// Tests a constant that shows all keys, which is not a mask.
// CHECK-LABEL: @all
// CHECK: aicf.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.0{{[^,]*}}} :
func.func @all(%q: tensor<2x4xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x4xf32> {aicf.name = "y"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x4xf32>, tensor<2x4xf32>
  %c = aicf.constant dense<false> : tensor<2x2xi1>
  %f = aicf.masked_fill %s, %c {value = 0xFFF0000000000000 : f64} : tensor<2x2xf32>, tensor<2x2xi1>
  %p = aicf.softmax %f : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// Tests the example of the page.
// CHECK-LABEL: @page
// CHECK: aicf.attention
func.func @page(%q: tensor<2x4x8x16xf32> {aicf.role = "input", aicf.name = "q"}, %k: tensor<2x4x8x16xf32> {aicf.role = "input", aicf.name = "k"},
                %v: tensor<2x4x8x16xf32> {aicf.role = "input", aicf.name = "v"})
    -> (tensor<2x4x8x16xf32> {aicf.name = "y"}) {
  %s = aicf.matmul %q, %k {transB = true} : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
  %p = aicf.softmax %s : tensor<2x4x8x8xf32>
  %y = aicf.matmul %p, %v : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>
  return %y : tensor<2x4x8x16xf32>
}

// -----

// Tests that what it becomes stays as it is.
// CHECK-LABEL: @became
// CHECK: aicf.attention
// CHECK-NOT: aicf.attention
// CHECK: return
func.func @became(%q: tensor<2x4x8x16xf32> {aicf.role = "input", aicf.name = "q"}, %k: tensor<2x4x8x16xf32> {aicf.role = "input", aicf.name = "k"},
                  %v: tensor<2x4x8x16xf32> {aicf.role = "input", aicf.name = "v"})
    -> (tensor<2x4x8x16xf32> {aicf.name = "y"}) {
  %0 = aicf.transpose %q [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %1 = aicf.transpose %k [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %2 = aicf.transpose %v [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %o, %lse = aicf.attention %0, %1, %2 {scale = 1.0}
      : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>
  %y = aicf.transpose %o [0, 2, 1, 3] : tensor<2x8x4x16xf32>
  return %y : tensor<2x4x8x16xf32>
}
