// RUN: aicf-opt %s --aicf-raise-attention --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-raise-attention --remarks-filter=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Nothing here becomes one op.
// CHECK-NOT: aicf.attention

// REMARK: Function=hidden_when_it_runs | Remark="two products and a softmax stay as they are: what is hidden is known when it runs, and a query may see no key"
func.func @hidden_when_it_runs(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}, %c: tensor<2x2xi1> {aicf.role = "input", aicf.name = "c"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %f = aicf.masked_fill %s, %c {value = 0xFFF0000000000000 : f64} : tensor<2x2xf32>, tensor<2x2xi1>
  %p = aicf.softmax %f : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=sees_nothing | Remark="two products and a softmax stay as they are: a query sees no key"
func.func @sees_nothing(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %c = aicf.constant dense<[[0, 1], [1, 1]]> : tensor<2x2xi1>
  %f = aicf.masked_fill %s, %c {value = 0xFFF0000000000000 : f64} : tensor<2x2xf32>, tensor<2x2xi1>
  %p = aicf.softmax %f : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=not_low | Remark="two products and a softmax stay as they are: what a mask writes does not hide a key"
func.func @not_low(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %c = aicf.constant dense<[[0, 1], [0, 0]]> : tensor<2x2xi1>
  %f = aicf.masked_fill %s, %c {value = -100.0 : f64} : tensor<2x2xf32>, tensor<2x2xi1>
  %p = aicf.softmax %f : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=two_hide | Remark="two products and a softmax stay as they are: two masks hide keys"
func.func @two_hide(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %c = aicf.constant dense<[[0, 1], [0, 0]]> : tensor<2x2xi1>
  %f = aicf.masked_fill %s, %c {value = 0xFFF0000000000000 : f64} : tensor<2x2xf32>, tensor<2x2xi1>
  %g = aicf.masked_fill %f, %c {value = 0xFFF0000000000000 : f64} : tensor<2x2xf32>, tensor<2x2xi1>
  %p = aicf.softmax %g : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=two_masks | Remark="two products and a softmax stay as they are: two masks are added"
func.func @two_masks(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %m = aicf.constant dense<1.0> : tensor<2x2xf32>
  %a = aicf.add %s, %m : tensor<2x2xf32>, tensor<2x2xf32>
  %b = aicf.add %a, %m : tensor<2x2xf32>, tensor<2x2xf32>
  %p = aicf.softmax %b : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=factor_behind | Remark="two products and a softmax stay as they are: a factor or a softcap comes behind what is added"
func.func @factor_behind(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %m = aicf.constant dense<1.0> : tensor<2x2xf32>
  %a = aicf.add %s, %m : tensor<2x2xf32>, tensor<2x2xf32>
  %t = aicf.scale %a {factor = 0.5 : f64} : tensor<2x2xf32>
  %p = aicf.softmax %t : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=added_and_hidden | Remark="two products and a softmax stay as they are: one mask is added, and another one hides keys that are not a triangle"
func.func @added_and_hidden(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %m = aicf.constant dense<1.0> : tensor<2x2xf32>
  %c = aicf.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi1>
  %f = aicf.masked_fill %s, %c {value = 0xFFF0000000000000 : f64} : tensor<2x2xf32>, tensor<2x2xi1>
  %a = aicf.add %f, %m : tensor<2x2xf32>, tensor<2x2xf32>
  %p = aicf.softmax %a : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=added_when_it_runs | Remark="two products and a softmax stay as they are: what is added is known when it runs, and a query may see no key"
func.func @added_when_it_runs(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}, %m: tensor<2x2xf32> {aicf.role = "input", aicf.name = "m"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %a = aicf.add %s, %m : tensor<2x2xf32>, tensor<2x2xf32>
  %p = aicf.softmax %a : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=added_hides_and_changes | Remark="two products and a softmax stay as they are: what is added hides keys, and changes scores of others"
func.func @added_hides_and_changes(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %m = aicf.constant dense<[[0.0, -1.0e9], [1.0, 0.0]]> : tensor<2x2xf32>
  %a = aicf.add %s, %m : tensor<2x2xf32>, tensor<2x2xf32>
  %p = aicf.softmax %a : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
