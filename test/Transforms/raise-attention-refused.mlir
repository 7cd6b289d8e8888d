// RUN: aicf-opt %s --aicf-raise-attention --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-raise-attention --remarks-filter=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Nothing here becomes one op.
// CHECK-NOT: aicf.attention

// REMARK: Function=read | Remark="two products and a softmax stay as they are: other ops read its weights"
func.func @read(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}, tensor<2x2xf32> {aicf.name = "y1"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %p = aicf.softmax %s : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y, %p : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// REMARK: Function=factors | Remark="two products and a softmax stay as they are: its factors are too large"
func.func @factors(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %t = aicf.scale %s {factor = 1.0e30 : f64} : tensor<2x2xf32>
  %u = aicf.scale %t {factor = 1.0e30 : f64} : tensor<2x2xf32>
  %p = aicf.softmax %u : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=softcap | Remark="two products and a softmax stay as they are: the softcap is negative"
func.func @softcap(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %t = aicf.tanh %s : tensor<2x2xf32>
  %n = aicf.scale %t {factor = -1.0 : f64} : tensor<2x2xf32>
  %p = aicf.softmax %n : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// REMARK: Function=large_heads | Remark="two products and a softmax stay as they are: a head has more than 1024 elements"
func.func @large_heads(%q: tensor<2x1032xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x1032xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x1032xf32>, tensor<2x1032xf32>
  %p = aicf.softmax %s : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x1032xf32>
  return %y : tensor<2x1032xf32>
}

// -----

// REMARK: Function=dimensions | Remark="two products and a softmax stay as they are: there are more dimensions than batch and heads"
func.func @dimensions(%q: tensor<1x1x1x2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<1x1x1x2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>
  %p = aicf.softmax %s : tensor<1x1x1x2x2xf32>
  %y = aicf.matmul %p, %q : tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>
  return %y : tensor<1x1x1x2x2xf32>
}

// -----

// REMARK: Function=types | Remark="two products and a softmax stay as they are: queries and values have different types"
func.func @types(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}, %v: tensor<2x2xf16> {aicf.role = "input", aicf.name = "v"}) -> (tensor<2x2xf16> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %p = aicf.softmax %s : tensor<2x2xf32>
  %h = aicf.cast %p to f16 : tensor<2x2xf32>
  %y = aicf.matmul %h, %v : tensor<2x2xf16>, tensor<2x2xf16>
  return %y : tensor<2x2xf16>
}

// -----

// REMARK: Function=batches | Remark="two products and a softmax stay as they are: batches or heads of queries, keys and values are repeated"
func.func @batches(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}, %k: tensor<3x2x2xf32> {aicf.role = "input", aicf.name = "k"}) -> (tensor<3x2x2xf32> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %k {transB = true} : tensor<2x2xf32>, tensor<3x2x2xf32>
  %p = aicf.softmax %s : tensor<3x2x2xf32>
  %y = aicf.matmul %p, %k : tensor<3x2x2xf32>, tensor<3x2x2xf32>
  return %y : tensor<3x2x2xf32>
}

// -----

// REMARK: Function=mask_type | Remark="two products and a softmax stay as they are: the mask has neither the type of queries nor f32"
func.func @mask_type(%q: tensor<2x2xf16> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf16> {aicf.name = "y0"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf16>, tensor<2x2xf16>
  %m = aicf.constant dense<1.0> : tensor<2x2xf64>
  %w = aicf.cast %s to f64 : tensor<2x2xf16>
  %a = aicf.add %w, %m : tensor<2x2xf64>, tensor<2x2xf64>
  %p = aicf.softmax %a : tensor<2x2xf64>
  %h = aicf.cast %p to f16 : tensor<2x2xf64>
  %y = aicf.matmul %h, %q : tensor<2x2xf16>, tensor<2x2xf16>
  return %y : tensor<2x2xf16>
}

// -----

// Tests a constant of 32 GiB of one number, which nobody looks at element by element.
// REMARK: Function=huge | Remark="two products and a softmax stay as they are: the mask has neither the type of queries nor f32"
func.func @huge(%q: tensor<65536x64xf16> {aicf.role = "input", aicf.name = "q"}) -> (tensor<65536x64xf16> {aicf.name = "y"}) {
  %s = aicf.matmul %q, %q {transB = true} : tensor<65536x64xf16>, tensor<65536x64xf16>
  %m = aicf.constant dense<1.0> : tensor<65536x65536xf64>
  %w = aicf.cast %s to f64 : tensor<65536x65536xf16>
  %a = aicf.add %w, %m : tensor<65536x65536xf64>, tensor<65536x65536xf64>
  %p = aicf.softmax %a : tensor<65536x65536xf64>
  %h = aicf.cast %p to f16 : tensor<65536x65536xf64>
  %y = aicf.matmul %h, %q : tensor<65536x65536xf16>, tensor<65536x64xf16>
  return %y : tensor<65536x64xf16>
}

// -----

// Tests products that do not look like attention, and scores that are rounded: no remark.
// REMARK-NOT: Function=no_product
func.func @no_product(%q: tensor<2x2xf32> {aicf.role = "input", aicf.name = "q"}) -> (tensor<2x2xf32> {aicf.name = "y"}, tensor<2x2xf32> {aicf.name = "z"}) {
  %p = aicf.softmax %q : tensor<2x2xf32>
  %y = aicf.matmul %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
  %s = aicf.matmul %q, %q {transB = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %w = aicf.softmax %s : tensor<2x2xf32>
  %z = aicf.matmul %w, %q {transA = true} : tensor<2x2xf32>, tensor<2x2xf32>
  %i = aicf.cast %s to i32 : tensor<2x2xf32>
  %f = aicf.cast %i to f32 : tensor<2x2xi32>
  %g = aicf.softmax %f : tensor<2x2xf32>
  %h = aicf.matmul %g, %z : tensor<2x2xf32>, tensor<2x2xf32>
  return %y, %h : tensor<2x2xf32>, tensor<2x2xf32>
}
