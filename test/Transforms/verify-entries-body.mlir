// RUN: aicf-opt %s --allow-unregistered-dialect --aicf-verify-entries --split-input-file --verify-diagnostics

// Tests that an entry has one block.
// expected-error @+1 {{entry @f must have one block that ends in func.return, got 2 blocks}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  "test.br"()[^bb1] : () -> ()
^bb1:
  return
}

// -----

// Tests that a declaration is not an entry: MLIR wants it private.
// expected-error @+1 {{symbol declaration cannot have public visibility}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})

// -----

// Tests that foreign ops are refused in entries.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{'test.foreign' inside entry @f: only aicf ops are legal in an entry}}
  "test.foreign"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-error @+1 {{argument 0 ("x") has 'aicf.group', but is of role state; only params are trained}}
func.func @f(%x: tensor<f32> {aicf.role = "state", aicf.name = "x", aicf.group = "g"}) {
  return
}
