// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that an attribute that result types follow from is missed where its op stands.

func.func @iota() {
  // expected-error @+1 {{'aicf.iota' op requires attribute 'axis'}}
  %r = aicf.iota [2]
  return
}

// -----

func.func @pad_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.pad' op requires attribute 'axis'}}
  %r = aicf.pad %x {size = 8} : tensor<4xf32>
  return
}

// -----

func.func @pad_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.pad' op requires attribute 'size'}}
  %r = aicf.pad %x {axis = 0} : tensor<4xf32>
  return
}

// -----

func.func @concat(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.concat' op requires attribute 'axis'}}
  %r = aicf.concat %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @embedding_bwd(%d: tensor<4x2xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'aicf.embedding_bwd' op requires attribute 'rows'}}
  %r = aicf.embedding_bwd %d, %i : tensor<4x2xf32>, tensor<4xi32>
  return
}

// -----

func.func @shuffle(%n: tensor<i64>) {
  // expected-error @+1 {{'aicf.shuffle' op requires attribute 'batch'}}
  %r = aicf.shuffle %n {size = 4} : tensor<i64>
  return
}

// -----

func.func @kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'axis' failed to satisfy constraint: 64-bit signless integer}}
  %r = aicf.pad %x {axis = "0", size = 8} : tensor<4xf32>
  return
}
