// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests what the plan's verifiers refuse.

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{is not legal in aicf_rt.entry}}
    %0 = builtin.unrealized_conversion_cast to i32
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{is not legal in aicf_rt.plan}}
  %0 = builtin.unrealized_conversion_cast to i32
}

// -----

// expected-error @+1 {{'tpu' is unknown, expected one of cpu, cuda}}
aicf_rt.plan tpu persistent(0) {
}

// -----

aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{'weight' is unknown, expected one of input, param, state, hyper}}
  aicf_rt.global @w weight offset(0) vid(1) : !aicf_rt.value<4xf32>
}

// -----

aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{'xavier' is unknown, expected one of none, zeros}}
  aicf_rt.global @w param offset(0) vid(1) init(xavier) : !aicf_rt.value<4xf32>
}

// -----

aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{has role temp, expected param, state, hyper or constant}}
  aicf_rt.global @w temp offset(0) vid(1) : !aicf_rt.value<4xf32>
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{has role state: persistent buffers are aicf_rt.global}}
    %w_buffer = aicf_rt.alloc state bytes(16) offset(0)
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
  }
  // expected-error @+1 {{is called @f, as another entry}}
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{is derived from @p, which is not in the plan}}
  aicf_rt.global @w state offset(0) vid(1) derived_from(@p) : !aicf_rt.value<4xf32>
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{names @w, which is not an aicf_rt.global of the plan}}
    %w_buffer = aicf_rt.get @w
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{has 0 bytes, expected 1 or more}}
    %w_buffer = aicf_rt.alloc temp bytes(0) offset(0)
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{has 70368744177665 bytes, expected 1 or more, up to 64 TiB}}
    %w_buffer = aicf_rt.alloc temp bytes(70368744177665) offset(0)
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    %w_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    // expected-error @+1 {{lies at byte -4, expected 0 or more}}
    %w = aicf_rt.value %w_buffer[-4] vid(1) : <2xf32>
  }
}

// -----

// expected-error @+1 {{a value holds f16, bf16, f32, f64, i32 or i64, not 'i8'}}
func.func private @f(!aicf_rt.value<4xi8>)

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    %w_buffer = aicf_rt.alloc temp bytes(4) offset(0)
    // expected-error @+1 {{has rank 9, the limit is 8}}
    %w = aicf_rt.value %w_buffer[0] vid(1) : <1x1x1x1x1x1x1x1x1xf32>
  }
}

// -----

func.func @unknown(%x: tensor<4xf32, "wide">) {
  // expected-error @+1 {{has an encoding that is not #aicf_rt.padded or #aicf_rt.strided}}
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32, "wide">) -> tensor<4xf32, "wide">
  return
}

// -----

// expected-error @+1 {{a tensor of rank 1 of 'f32' cannot be padded}}
func.func private @f(!aicf_rt.value<4xf32, padded>)

// -----

// expected-error @+1 {{expected 'padded'}}
func.func private @f(!aicf_rt.value<4xf16, wide>)

// -----

// expected-error @+1 {{expected '>'}}
func.func private @f(!aicf_rt.value<4x4xf16, padded, 3>)
