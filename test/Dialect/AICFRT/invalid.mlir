// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that decisions must fit their op, and the limits of the ABI.

func.func @vids(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 2 vids for 1 values}}
  %0 = aicf_rt.call relu(%x) vids [1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @in_vids(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 2 in_vids for 1 operands}}
  %0 = aicf_rt.call relu(%x) in_vids [1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inplace_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 2 inplace entries for 1 results}}
  %0 = aicf_rt.call relu(%x) inplace [0, 0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inplace_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{inplace of result 0 is operand 3, but there are 1 operands}}
  %0 = aicf_rt.call relu(%x) inplace [3] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inplace_tie(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{result 0 may not share storage with operand 0}}
  %0 = aicf_rt.call gemm(%a, %a) inplace [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @rank(%a: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error @+1 {{has rank 9, the limit is 8}}
  %0 = aicf_rt.call relu(%a) : (tensor<1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @size(%a: tensor<2000000000x2000000000xf32>) {
  // expected-error @+1 {{is larger than 64 TiB}}
  %0 = aicf_rt.call relu(%a) : (tensor<2000000000x2000000000xf32>) -> tensor<2000000000x2000000000xf32>
  return
}

// -----

func.func @zero(%a: tensor<0xf32>) {
  // expected-error @+1 {{has a dimension of 0, expected 1}}
  %0 = aicf_rt.call relu(%a) : (tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @sgd_moment(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{result 1 (m_out) is present, but operand 3 (m) is absent}}
  %0:2 = aicf_rt.call sgd_step(%p, %p, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @inplace_type(%x: tensor<4xbf16>, %t: tensor<4xf32>) {
  // expected-error @+1 {{inplace of result 0: it is 'tensor<4xbf16>', but operand 1 is 'tensor<4xf32>'}}
  %0 = aicf_rt.call mse_grad(%x, %t) inplace [1] : (tensor<4xbf16>, tensor<4xf32>) -> tensor<4xbf16>
  return
}

// -----

// Tests that a call is on tensors or on values of buffers.
func.func @levels(%x: tensor<4xf32>, %b: !aicf_rt.value<4xf32>) {
  // expected-error @+1 {{takes 'tensor<4xf32>', but writes values: expected only values or only tensors}}
  aicf_rt.call relu(%x) outs(%b) : (tensor<4xf32>) -> !aicf_rt.value<4xf32>
  return
}

// -----

func.func @levels(%b: !aicf_rt.value<4xf32>) {
  // expected-error @+1 {{takes '!aicf_rt.value<4xf32>', but writes tensors: expected only values or only tensors}}
  %0 = aicf_rt.call relu(%b) : (!aicf_rt.value<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @levels(%b: !aicf_rt.value<4xf32>) {
  // expected-error @+1 {{writes values, expected no results, got 1}}
  %0 = "aicf_rt.call"(%b, %b) <{body = #aicf_rt.body<1 { t0 = relu(i0) yield t0 }>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!aicf_rt.value<4xf32>, !aicf_rt.value<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @levels(%x: tensor<4xf32>, %w: !aicf_rt.buffer) {
  // expected-error @+1 {{takes tensors, expected no workspace}}
  %0 = aicf_rt.call relu(%x) workspace(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests types that cannot be padded.
// expected-error @+1 {{a tensor of rank 2 of 'f32' cannot be padded: only 16-bit elements of rank 1 or 2}}
func.func private @wide(tensor<3x5xf32, #aicf_rt.padded>)

// -----

// expected-error @+1 {{a tensor of rank 3 of 'bf16' cannot be padded}}
func.func private @rank(tensor<2x3x5xbf16, #aicf_rt.padded>)

// -----

// Tests what IR could not read back.
func.func @twice(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{operand 1 is passed twice: a call of several primitives takes each operand once}}
  %0 = "aicf_rt.call"(%x, %x) <{body = #aicf_rt.body<2 { t0 = gemm(i0, i1) t1 = relu_bwd(t0, i1) yield t1 }>, operandSegmentSizes = array<i32: 2, 0, 0>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
