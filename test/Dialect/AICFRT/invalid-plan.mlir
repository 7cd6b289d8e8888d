// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests what the plan's verifiers refuse.

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

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(256) temp(0) bound(0) values(0) nodes(0) {
    aicf_rt.tensor 0 "x" "input" "io"[0] vid(0) : tensor<4xf32>
    // expected-error @+1 {{refers to tid 7, but there are 1}}
    aicf_rt.call "relu" "relu_f32_v0" ins [0] outs [7] vids [0] -> [1] schema(0) attrs []
  }
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{is not legal in aicf_rt.entry}}
    %0 = builtin.unrealized_conversion_cast to i32
  }
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{unknown op kind "conv"}}
    aicf_rt.call "conv" "k" ins [] outs [] vids [] -> [] schema(0) attrs []
  }
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{attr schema of gemm is 7, expected 0}}
    aicf_rt.call "gemm" "k" ins [] outs [] vids [] -> [] schema(7) attrs []
  }
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "f" io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{attr blob of gemm has 1 bytes, expected 8}}
    aicf_rt.call "gemm" "k" ins [] outs [] vids [] -> [] schema(0) attrs [1]
  }
}

// -----

aicf_rt.plan "cpu" persistent(0) {
  // expected-error @+1 {{is not legal in aicf_rt.plan}}
  %0 = builtin.unrealized_conversion_cast to i32
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
