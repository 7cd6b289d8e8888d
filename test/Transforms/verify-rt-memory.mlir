// RUN: aicf-opt %s --aicf-rt-verify=phase=memory --split-input-file --verify-diagnostics

// Tests that two live temps must not share bytes.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"})
    attributes {aicf_rt.target = "cpu", aicf_rt.temp_bytes = 512 : i64} {
  // expected-error @+1 {{its result at offset 0 shares bytes with a value at offset 0 that is live at the same time}}
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{the other value}}
  %1 = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.add %0, %1 {kid = "add_f32_v0", slots = array<i64: -1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Tests that a temp must lie inside its segment.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu", aicf_rt.temp_bytes = 256 : i64} {
  // expected-error @+1 {{result 0 of 16 bytes at offset 256 does not fit in a temp segment of 256}}
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 256>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that offsets are aligned.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu", aicf_rt.temp_bytes = 512 : i64} {
  // expected-error @+1 {{result 0 of 16 bytes at offset 4 does not fit}}
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests an entry that nobody planned.
// expected-error @+1 {{has no 'aicf_rt.temp_bytes'}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu"} {
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that dead temps may share bytes.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu", aicf_rt.temp_bytes = 256 : i64} {
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a kid of another op.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu", aicf_rt.temp_bytes = 256 : i64} {
  // expected-error @+1 {{kid "add_f32_v0" is not a kernel of this op on target cpu}}
  %0 = aicf_rt.relu %x {kid = "add_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a target that is not a device.
// expected-error @+1 {{'aicf_rt.target' is "tpu", which is not a device}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "tpu", aicf_rt.temp_bytes = 256 : i64} {
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a call without slots.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu", aicf_rt.temp_bytes = 256 : i64} {
  // expected-error @+1 {{has no slots}}
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
