// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests what the plan's verifiers refuse.

aicf_rt.plan "cpu" persistent(0) {
  // expected-error @+1 {{is not legal in aicf_rt.plan}}
  func.func @f() {
    return
  }
}

// -----

// expected-error @+1 {{target is "tpu", expected "cpu" or "cuda"}}
aicf_rt.plan "tpu" persistent(0) {
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  // expected-error @+1 {{unknown role "weight"}}
  aicf_rt.tensor 0 "w" "weight" "persistent"[0] vid(1) : tensor<4xf32>
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  // expected-error @+1 {{role param lives in segment persistent, not io}}
  aicf_rt.tensor 0 "w" "param" "io"[0] vid(1) : tensor<4xf32>
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
  }
  // expected-error @+1 {{entry "f" stands twice in the plan}}
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
  }
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{has 2 labels for 1 operands}}
    aicf_rt.call "relu" "k" ins [0] outs [1] vids [1, 2] -> [2] schema(0) attrs []
  }
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{has 0 labels for 1 results}}
    aicf_rt.call "relu" "k" ins [0] outs [1] vids [1] -> [] schema(0) attrs []
  }
}

// -----

// expected-error @+1 {{aicf_rt.call' op expects parent op 'aicf_rt.entry'}}
aicf_rt.call "relu" "k" ins [0] outs [1] vids [1] -> [1] schema(0) attrs []
