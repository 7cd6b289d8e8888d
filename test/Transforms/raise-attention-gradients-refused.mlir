// RUN: aicf-opt %s --aicf-raise-attention | FileCheck %s
// RUN: aicf-opt %s --aicf-raise-attention --remarks-filter=aicf -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Nothing here becomes one op: what reads the weights is not its gradient.
// CHECK-NOT: aicf.attention

!x = tensor<2x2xf32>

// Tests the scores without gradients.
// REMARK: Function=scores | Remark="two products and a softmax stay as they are: other ops read its scores"
func.func @scores(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  return %y, %s : !x, !x
}

// Tests a gradient that is not one of the softmax.
// REMARK: Function=values_alone | Remark="two products and a softmax stay as they are: other ops read its weights"
func.func @values_alone(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dv = aicf.matmul %p, %d {transA = true} : !x, !x
  return %y, %dv : !x, !x
}

// Tests two of the softmax.
// REMARK: Function=twice | Remark="two products and a softmax stay as they are: other ops read its weights"
func.func @twice(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}, !x {aicf.name = "y2"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %e = aicf.softmax_bwd %d, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  %r = aicf.matmul %e, %q : !x, !x
  return %y, %dq, %r : !x, !x, !x
}

// Tests weights as the gradient.
// REMARK: Function=as_slopes | Remark="two products and a softmax stay as they are: other ops read its weights"
func.func @as_slopes(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %ds = aicf.softmax_bwd %p, %d : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  return %y, %dq : !x, !x
}

// REMARK: Function=softcap | Remark="two products and a softmax stay as they are: its gradients are there, and it has dropout or a softcap"
func.func @softcap(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %t = aicf.tanh %s : !x
  %u = aicf.scale %t {factor = 2.0 : f64} : !x
  %p = aicf.softmax %u : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  return %y, %dq : !x, !x
}

// REMARK: Function=no_product | Remark="two products and a softmax stay as they are: the gradient of its weights is not a product"
func.func @no_product(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %ds = aicf.softmax_bwd %d, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  return %y, %dq : !x, !x
}

// REMARK: Function=other_values | Remark="two products and a softmax stay as they are: the gradient of its weights is not a product with its values"
func.func @other_values(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  return %y, %dq : !x, !x
}

// Tests a loss, whose derivative goes through what the step calls a gradient.
// REMARK: Function=loss | Remark="two products and a softmax stay as they are: its gradients may be differentiated once more"
func.func @loss(%q: !x {aicf.role = "param", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, !x {aicf.name = "dq"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %dv = aicf.matmul %p, %d {transA = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dq = aicf.matmul %ds, %q : !x, !x
  %z = aicf.add %y, %dv : !x, !x
  %l = aicf.reduce_sum %z over [0, 1] : !x
  return %l, %dq : tensor<f32>, !x
}

// Tests a product in a loop.
// REMARK: Function=loop | Remark="two products and a softmax stay as they are: other ops read its weights"
func.func @loop(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}, !x {aicf.name = "y2"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %last = aicf.repeat 3 %q : !x -> !x {
  ^bb0(%i: tensor<i64>, %c: !x):
    %dv = aicf.matmul %p, %d {transA = true} : !x, !x
    %t = aicf.add %dv, %c : !x, !x
    aicf.next %t : !x
  }
  %dq = aicf.matmul %ds, %q : !x, !x
  return %y, %dq, %last : !x, !x, !x
}

// Tests gradients of scores that are turned, and multiplied by something else than the queries.
// REMARK: Function=other_queries | Remark="two products and a softmax stay as they are: other products read the gradients of its scores"
func.func @other_queries(%q: !x {aicf.role = "input", aicf.name = "q"}, %d: !x {aicf.role = "input", aicf.name = "d"})
    -> (!x {aicf.name = "y0"}, !x {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : !x, !x
  %p = aicf.softmax %s : !x
  %y = aicf.matmul %p, %q : !x, !x
  %dp = aicf.matmul %d, %q {transB = true} : !x, !x
  %ds = aicf.softmax_bwd %dp, %p : !x, !x
  %dk = aicf.matmul %ds, %d {transA = true} : !x, !x
  return %y, %dk : !x, !x
}
