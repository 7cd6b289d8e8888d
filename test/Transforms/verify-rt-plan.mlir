// RUN: aicf-opt %s --aicf-rt-verify=phase=plan --split-input-file --verify-diagnostics

// Tests that no entry is left.
// expected-error @+1 {{entry @f is left after plan emission}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// Tests that tids count up from the persistent tensors.
aicf_rt.plan "cpu" persistent(256) {
  // expected-error @+1 {{has tid 1, expected 0}}
  aicf_rt.tensor 1 "w" "param" "persistent"[0] vid(0) : tensor<4xf32>
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(256) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{has tid 3, expected 0}}
    aicf_rt.tensor 3 "x" "input" "io"[0] vid(0) : tensor<4xf32>
  }
}

// -----

// Tests that calls name tensors that are there.
aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(256) temp(0) bound(0) values(0) nodes(0) {
    aicf_rt.tensor 0 "x" "input" "io"[0] vid(0) : tensor<4xf32>
    // expected-error @+1 {{refers to tid 7, but there are 1}}
    aicf_rt.call "relu" "relu_f32_v0" ins [0] outs [7] vids [0] -> [1] schema(0) attrs []
  }
}
