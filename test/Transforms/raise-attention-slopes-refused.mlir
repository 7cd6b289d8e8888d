// RUN: aicf-opt %s --aicf-raise-attention | FileCheck %s
// RUN: aicf-opt %s --aicf-raise-attention --remarks-filter=aicf -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Nothing here becomes one op: what comes of the gradient of its scores is something else.
// CHECK-NOT: aicf.attention

!x = tensor<2x2xf32>

// Tests zeros where keys are seen.
// REMARK: Function=unseen | Remark="two products and a softmax stay as they are: other elements are hidden from its gradients"
func.func @unseen(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %c = aicf.constant dense<[[1, 0], [1, 1]]> : tensor<2x2xi1>
  %f = aicf.masked_fill %s, %c {value = 0xFFF0000000000000 : f64, inverted = true} : !x, tensor<2x2xi1>
  %p = aicf.softmax %f : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %g = aicf.masked_fill %ds, %c {value = 0.0 : f64} : !x, tensor<2x2xi1>
  %dq = aicf.matmul %g, %q : !x, !x
  return %y, %dq : !x, !x
}

// REMARK: Function=not_zero | Remark="two products and a softmax stay as they are: other elements are hidden from its gradients"
func.func @not_zero(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %c = aicf.constant dense<[[1, 0], [1, 1]]> : tensor<2x2xi1>
  %f = aicf.masked_fill %s, %c {value = 0xFFF0000000000000 : f64, inverted = true} : !x, tensor<2x2xi1>
  %p = aicf.softmax %f : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %g = aicf.masked_fill %ds, %c {value = 1.0 : f64, inverted = true} : !x, tensor<2x2xi1>
  %dq = aicf.matmul %g, %q : !x, !x
  return %y, %dq : !x, !x
}

// REMARK: Function=factor | Remark="two products and a softmax stay as they are: its gradients have another factor"
func.func @factor(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %g = aicf.scale %ds {factor = 0.5 : f64} : !x
  %dq = aicf.matmul %g, %q : !x, !x
  return %y, %dq : !x, !x
}

// REMARK: Function=read_slopes | Remark="two products and a softmax stay as they are: other ops read the gradients of its scores"
func.func @read_slopes(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}, !x {aicf.name = "y2"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  return %y, %dq, %ds : !x, !x, !x
}

// REMARK: Function=other_slopes | Remark="two products and a softmax stay as they are: other products read the gradients of its scores"
func.func @other_slopes(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %d : !x, !x
  return %y, %dq : !x, !x
}

// Tests weights that are not turned.
// REMARK: Function=other_weights | Remark="two products and a softmax stay as they are: other products read its weights"
func.func @other_weights(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}, !x {aicf.name = "y2"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  %dv = aicf.matmul %p, %d : !x, !x
  return %y, %dq, %dv : !x, !x, !x
}

// REMARK: Function=in_front | Remark="two products and a softmax stay as they are: its gradients stand in front of it"
func.func @in_front(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}, !x {aicf.name = "y2"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %dv = aicf.matmul %p, %d {transA = true} : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  %y = aicf.matmul %p, %q : !x, !x
  return %y, %dq, %dv : !x, !x, !x
}

// Tests two heads of q that share one of k, whose gradients are added up behind the product.
// REMARK: Function=groups | Remark="two products and a softmax stay as they are: its gradients are those of heads that are not added up yet"
func.func @groups(%q: tensor<1x2x4x8xf32> {aicf.role = "input", aicf.name = "q"}, %k: tensor<1x1x4x8xf32> {aicf.role = "input", aicf.name = "k"})
    -> (tensor<1x2x4x8xf32> {aicf.name = "y0"}, tensor<1x2x4x8xf32> {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %k {transB = true} : tensor<1x2x4x8xf32>, tensor<1x1x4x8xf32>
  %p = aicf.softmax %s : tensor<1x2x4x4xf32>
  %y = aicf.matmul %p, %k : tensor<1x2x4x4xf32>, tensor<1x1x4x8xf32>
  %dp = aicf.matmul %q, %k {transB = true} : tensor<1x2x4x8xf32>, tensor<1x1x4x8xf32>
  %ds = aicf.softmax_bwd %dp, %p : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
  %dk = aicf.matmul %ds, %q {transA = true} : tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>
  return %y, %dk : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
}

// Tests one gradient of all heads.
// REMARK: Function=repeated | Remark="two products and a softmax stay as they are: the gradient of its result is repeated"
func.func @repeated(%q: tensor<4x2x2xf32> {aicf.role = "input", aicf.name = "q"}, %d: tensor<1x2x2xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x2x2xf32> {aicf.name = "y0"}, tensor<4x2x2xf32> {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<4x2x2xf32>, tensor<4x2x2xf32>
  %p = aicf.softmax %s : tensor<4x2x2xf32>
  %y = aicf.matmul %p, %q : tensor<4x2x2xf32>, tensor<4x2x2xf32>
  %dp = aicf.matmul %d, %q {transB = true} : tensor<1x2x2xf32>, tensor<4x2x2xf32>
  %ds = aicf.softmax_bwd %dp, %p : tensor<4x2x2xf32>, tensor<4x2x2xf32>
  %dq = aicf.matmul %ds, %q : tensor<4x2x2xf32>, tensor<4x2x2xf32>
  return %y, %dq : tensor<4x2x2xf32>, tensor<4x2x2xf32>
}

// Tests weights that are turned, and multiplied by something else than the gradient of the result.
// REMARK: Function=other_gradient | Remark="two products and a softmax stay as they are: other products read its weights"
func.func @other_gradient(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}, !x {aicf.name = "y2"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  %dv = aicf.matmul %p, %q {transA = true} : !x, !x
  return %y, %dq, %dv : !x, !x, !x
}
