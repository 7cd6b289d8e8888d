// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests what a join refuses: parts that overlap, that leave something out, that lie
// outside, or that nothing makes.

func.func @overlap(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has parts 0 and 1, which share elements}}
  %c = aicf_rt.join %a[0], %b[3] : tensor<4xf32>, tensor<4xf32> to tensor<7xf32>
  return
}

// -----

func.func @gap(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has parts that are not known to be all of 'tensor<9xf32>'}}
  %c = aicf_rt.join %a[0], %b[5] : tensor<4xf32>, tensor<4xf32> to tensor<9xf32>
  return
}

// -----

func.func @outside(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has the part 'tensor<4xf32>' at the elements [1, 5) of 'tensor<4xf32>', which it does not lie in}}
  %c = aicf_rt.join %a[1] : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @before(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{at the elements [-1, 3)}}
  %c = aicf_rt.join %a[-1] : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @types(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{joins 'tensor<4xf32>' to 'tensor<4xi32>', expected the same element type and no pads}}
  %c = aicf_rt.join %a[0] : tensor<4xf32> to tensor<4xi32>
  return
}

// -----

func.func @padded(%x: tensor<4x6xbf16>) {
  %a = aicf_rt.call relu(%x) : (tensor<4x6xbf16>) -> tensor<4x6xbf16>
  // expected-error @+1 {{expected the same element type and no pads}}
  %c = aicf_rt.join %a[0] : tensor<4x6xbf16> to tensor<4x6xbf16, #aicf_rt.padded>
  return
}

// -----

func.func @argument(%x: tensor<4xf32>) {
  // expected-error @+1 {{has a part that no call makes, nor a join}}
  %c = aicf_rt.join %x[0] : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @counts(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has 1 parts and 2 offsets, expected one offset for each part, and one part or more}}
  %c = "aicf_rt.join"(%a) <{offsets = array<i64: 0, 0>, operandSegmentSizes = array<i32: 1, 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @into(%x: tensor<4xf32>, %s: tensor<2x4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{is made in 'tensor<2x4xf32>', expected 'tensor<8xf32>'}}
  %c = "aicf_rt.join"(%a, %s) <{offsets = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @shape(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has a dimension of 0}}
  %c = aicf_rt.join %a[0] : tensor<4xf32> to tensor<0xf32>
  return
}

// -----

func.func @syntax(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected '['}}
  %c = aicf_rt.join %a : tensor<4xf32> to tensor<4xf32>
  return
}
