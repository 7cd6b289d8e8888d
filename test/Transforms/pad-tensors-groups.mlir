// RUN: aicf-opt %s --aicf-rt-pad-tensors --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-pad-tensors --split-input-file --remarks-filter=aicf 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=Function=no_gain

// Which tensors around a padded product are padded with it.

// Only a tensor that has pads then: neither a state nor a result of whole multiples,
// nor one of 32 bits between two casts.
// REMARK: PadTensors | Category:aicf | Function=multiples | Remark="1000x777xbf16 padded"
// REMARK: PadTensors | Category:aicf | Function=multiples | Remark="776x777xbf16 padded"
// REMARK: PadTensors | Category:aicf | Function=multiples | padded=2
// CHECK-LABEL: func.func @multiples
// CHECK-SAME: %arg2: tensor<1000x776xbf16> {
func.func @multiples(%x: tensor<1000x777xf32> {aicf.role = "input", aicf.name = "x"},
                     %w: tensor<1000x776xf32> {aicf.role = "param", aicf.name = "w"},
                     %w16: tensor<1000x776xbf16> {aicf.role = "state", aicf.name = "w16", aicf.derived_from = "w"})
    -> (tensor<1000x776xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  // CHECK: cast({{.*}}) -> tensor<1000x777xbf16>
  // CHECK: cast({{.*}}) -> tensor<1000x777xf32>
  // CHECK: cast({{.*}}) -> tensor<1000x777xbf16, #aicf_rt.padded>
  %a = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  %b = aicf_rt.call cast(%a) : (tensor<1000x777xbf16>) -> tensor<1000x777xf32>
  %c = aicf_rt.call cast(%b) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  // CHECK: gemm({{.*}}) -> tensor<776x777xbf16, #aicf_rt.padded>
  // CHECK: gemm({{.*}}) -> tensor<1000x776xbf16>
  // CHECK: cast({{.*}}) -> tensor<1000x776xf32>
  %d = aicf_rt.call gemm(%w16, %c) {transA = true} : (tensor<1000x776xbf16>, tensor<1000x777xbf16>) -> tensor<776x777xbf16>
  %e = aicf_rt.call gemm(%c, %d) {transB = true} : (tensor<1000x777xbf16>, tensor<776x777xbf16>) -> tensor<1000x776xbf16>
  %y = aicf_rt.call cast(%e) : (tensor<1000x776xbf16>) -> tensor<1000x776xf32>
  return %y : tensor<1000x776xf32>
}

// -----

// Not the result of a call whose kernels write no pads: exp(0) is 1.
// CHECK-LABEL: func.func @not_zero
// CHECK: exp({{.*}}) : (tensor<1000x777xbf16>) -> tensor<1000x777xbf16>
// CHECK: gemm({{.*}}) {{.*}}: (tensor<1000x777xbf16>, tensor<560x777xbf16, #aicf_rt.padded>)
func.func @not_zero(%x: tensor<1000x777xbf16> {aicf.role = "input", aicf.name = "x"},
                    %w: tensor<560x777xf32> {aicf.role = "input", aicf.name = "w"})
    -> (tensor<1000x560xf32> {aicf.name = "y"}, tensor<560x560xf32> {aicf.name = "z"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %a = aicf_rt.call exp(%x) : (tensor<1000x777xbf16>) -> tensor<1000x777xbf16>
  %w16 = aicf_rt.call cast(%w) : (tensor<560x777xf32>) -> tensor<560x777xbf16>
  %y = aicf_rt.call gemm(%a, %w16) {transB = true} : (tensor<1000x777xbf16>, tensor<560x777xbf16>) -> tensor<1000x560xf32>
  %z = aicf_rt.call gemm(%w16, %w16) {transB = true} : (tensor<560x777xbf16>, tensor<560x777xbf16>) -> tensor<560x560xf32>
  return %y, %z : tensor<1000x560xf32>, tensor<560x560xf32>
}

// -----

// States that are exchanged: copies will stand between them.
// CHECK-LABEL: func.func @exchanged
// CHECK-NOT: #aicf_rt.padded>
func.func @exchanged(%w: tensor<560x777xf32> {aicf.role = "param", aicf.name = "w"},
                     %a: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "a", aicf.derived_from = "w"},
                     %b: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "b", aicf.derived_from = "w"})
    -> (tensor<560x777xbf16> {aicf.updates = "a"}, tensor<560x777xbf16> {aicf.updates = "b"})
    attributes {aicf.target = #aicf.target<cuda>} {
  return %b, %a : tensor<560x777xbf16>, tensor<560x777xbf16>
}
func.func @reader(%w: tensor<560x777xf32> {aicf.role = "param", aicf.name = "w"},
                  %a: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "a", aicf.derived_from = "w"},
                  %b: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "b", aicf.derived_from = "w"})
    -> (tensor<560x560xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %y = aicf_rt.call gemm(%a, %b) {transB = true} : (tensor<560x777xbf16>, tensor<560x777xbf16>) -> tensor<560x560xf32>
  return %y : tensor<560x560xf32>
}

// -----

// A state whose update is read before the entry ends.
// CHECK-LABEL: func.func @read
// CHECK-NOT: #aicf_rt.padded>
func.func @read(%w: tensor<560x777xf32> {aicf.role = "param", aicf.name = "w"},
                %a: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "a", aicf.derived_from = "w"})
    -> (tensor<560x777xbf16> {aicf.updates = "a"}, tensor<560x560xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %n = aicf_rt.call cast(%w) : (tensor<560x777xf32>) -> tensor<560x777xbf16>
  %y = aicf_rt.call gemm(%n, %a) {transB = true} : (tensor<560x777xbf16>, tensor<560x777xbf16>) -> tensor<560x560xf32>
  return %n, %y : tensor<560x777xbf16>, tensor<560x560xf32>
}

// -----

// Calls that no kernel does, of one primitive and of several, gain nothing.
// CHECK-LABEL: func.func @no_gain
// CHECK-NOT: #aicf_rt.padded>
func.func @no_gain(%x: tensor<1000x777xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<1000x777xbf16> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %a = aicf_rt.call cast(%x) launch<kernel = "none"> : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  %y = aicf_rt.call {
    t0 = relu(%a)
    t1 = relu(t0)
    yield t1
  } : (tensor<1000x777xbf16>) -> tensor<1000x777xbf16>
  return %y : tensor<1000x777xbf16>
}

// -----

// CHECK-LABEL: func.func @no_kernel
// CHECK: cast({{.*}}) -> tensor<1000x777xbf16, #aicf_rt.padded>
// CHECK: t0 = relu
// CHECK: } : (tensor<1000x777xbf16>) -> tensor<1000x777xbf16>
func.func @no_kernel(%x: tensor<1000x777xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<1000x1000xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %a = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  %y = aicf_rt.call gemm(%a, %a) {transB = true} : (tensor<1000x777xbf16>, tensor<1000x777xbf16>) -> tensor<1000x1000xf32>
  %b = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  %c = aicf_rt.call {
    t0 = relu(%b)
    t1 = relu(t0)
    yield t1
  } : (tensor<1000x777xbf16>) -> tensor<1000x777xbf16>
  return %y : tensor<1000x1000xf32>
}
