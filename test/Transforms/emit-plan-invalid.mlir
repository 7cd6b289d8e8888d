// RUN: aicf-opt %s --allow-unregistered-dialect --aicf-rt-emit-plan --split-input-file --verify-diagnostics

// Tests an op that no phase before would leave.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.temp_bytes = 0 : i64} {
  // expected-error @+1 {{is no aicf_rt primitive: run --aicf-lower-to-rt first}}
  "test.foreign"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// Tests an entry without a memory plan.
// expected-error @+1 {{entry @f has no memory plan: run --aicf-rt-plan-memory first}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// Tests calls that lack a decision.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.temp_bytes = 256 : i64} {
  // expected-error @+1 {{has no kid: run the phases before --aicf-rt-emit-plan}}
  %0 = aicf_rt.relu %x {slots = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.temp_bytes = 256 : i64} {
  // expected-error @+1 {{has no slots: run the phases before --aicf-rt-emit-plan}}
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.temp_bytes = 256 : i64} {
  // expected-error @+1 {{wants a workspace of 512 bytes, but stream 0 has none: run --aicf-rt-plan-memory}}
  %0 = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 0>, workspace = 512 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
