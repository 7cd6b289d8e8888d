// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that decisions must fit their op, and the limits of the ABI.

func.func @vids(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 2 vids for 1 results}}
  %0 = aicf_rt.relu %x {vids = array<i64: 1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slots(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 2 slots for 1 results}}
  %0 = aicf_rt.relu %x {slots = array<i64: 1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inplace_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 2 inplace entries for 1 results}}
  %0 = aicf_rt.relu %x {inplace = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inplace_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{inplace of result 0 is operand 3, but there are 1 operands}}
  %0 = aicf_rt.relu %x {inplace = array<i64: 3>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inplace_tie(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{result 0 may not share storage with operand 0}}
  %0 = aicf_rt.gemm %a, %a {inplace = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @rank(%a: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error @+1 {{has rank 9, the limit is 8}}
  %0 = aicf_rt.relu %a : (tensor<1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @size(%a: tensor<2000000000x2000000000xf32>) {
  // expected-error @+1 {{is larger than 64 TiB}}
  %0 = aicf_rt.relu %a : (tensor<2000000000x2000000000xf32>) -> tensor<2000000000x2000000000xf32>
  return
}

// -----

func.func @zero(%a: tensor<0xf32>) {
  // expected-error @+1 {{has a dimension of 0, expected 1}}
  %0 = aicf_rt.relu %a : (tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @sgd_moment(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{result 1 (m_out) is there, but operand 3 (m) is absent}}
  %0:2 = aicf_rt.sgd_step %p, %p, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
