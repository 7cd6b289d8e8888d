// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that a view lies in its base, which is not padded, and is laid out in one way.

func.func @of_view(%x: tensor<4x6xf32>) {
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<24xf32>
  // expected-error @+1 {{is a view of a view, expected a view of the base}}
  %u = aicf_rt.view %t[0] : tensor<24xf32> to tensor<6x4xf32>
  return
}

// -----

func.func @of_padded(%x: tensor<4x6xbf16, #aicf_rt.padded>) {
  // expected-error @+1 {{expected a base and a view that are dense or strided}}
  %t = aicf_rt.view %x[0] : tensor<4x6xbf16, #aicf_rt.padded> to tensor<24xbf16>
  return
}

// -----

func.func @to_padded(%x: tensor<4x6xbf16>) {
  // expected-error @+1 {{expected a base and a view that are dense or strided}}
  %t = aicf_rt.view %x[0] : tensor<4x6xbf16> to tensor<2x2xbf16, #aicf_rt.padded>
  return
}

// -----

func.func @types(%x: tensor<4xf32>) {
  // expected-error @+1 {{views 'tensor<4xf32>' as 'tensor<4xi32>', expected the same element type}}
  %t = aicf_rt.view %x[0] : tensor<4xf32> to tensor<4xi32>
  return
}

// -----

func.func @beyond(%x: tensor<4xf32>) {
  // expected-error @+1 {{covers the elements [2, 5) of 'tensor<4xf32>', expected a range in [0, 4)}}
  %t = aicf_rt.view %x[2] : tensor<4xf32> to tensor<2xf32, #aicf_rt.strided<[2]>>
  return
}

// -----

func.func @before(%x: tensor<4xf32>) {
  // expected-error @+1 {{covers the elements [-1, 1) of 'tensor<4xf32>'}}
  %t = aicf_rt.view %x[-1] : tensor<4xf32> to tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{strides [6, 1] of shape [4, 6] are not those of a view}}
func.func private @dense_strides(tensor<4x6xf32, #aicf_rt.strided<[6, 1]>>)

// -----

// expected-error @+1 {{strides [1] of shape [4, 6] are not those of a view: expected one for each dimension, none negative, 0 for a dimension of 1}}
func.func private @rank(tensor<4x6xf32, #aicf_rt.strided<[1]>>)

// -----

// expected-error @+1 {{strides [-1] of shape [24] are not those of a view}}
func.func private @negative(tensor<24xf32, #aicf_rt.strided<[-1]>>)

// -----

// expected-error @+1 {{strides [6, 1] of shape [4, 1] are not those of a view}}
func.func private @one(tensor<4x1xf32, #aicf_rt.strided<[6, 1]>>)

// -----

func.func @result(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{result 0 is 'tensor<4x6xf32, #aicf_rt.strided<[0, 1]>>', expected elements that share no bytes}}
  %t = aicf_rt.call tanh(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32, #aicf_rt.strided<[0, 1]>>
  return
}

// -----

// Offsets count elements in memory, up to the last one of the base.
func.func @of_strided(%x: tensor<4xf32>) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32, #aicf_rt.strided<[2]>>
  %last = aicf_rt.view %a[6] : tensor<4xf32, #aicf_rt.strided<[2]>> to tensor<f32>
  // expected-error @+1 {{covers the elements [7, 8) of 'tensor<4xf32, #aicf_rt.strided<[2]>>', expected a range in [0, 7)}}
  %t = aicf_rt.view %a[7] : tensor<4xf32, #aicf_rt.strided<[2]>> to tensor<f32>
  return
}
