// RUN: aicf-translate %s --aicf-to-plan --split-input-file --verify-diagnostics -o /dev/null

// Tests a module without a plan.
// expected-error @+1 {{expected one aicf_rt.plan in the module, got 0: run --lower-to-backend first}}
module {
  func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
      -> (tensor<4xf32> {aicf.name = "y"}) {
    return %x : tensor<4xf32>
  }
}

// -----

// Tests a module without entries: private functions are none.
// expected-error @+1 {{nothing to compile: an entry is a public function with 'aicf.role' and 'aicf.name' on its arguments, and none of the 2 functions of the module is one}}
func.func @forgotten(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @helper(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// Tests numbers that do not fit.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(1) : <4xf32>
    // expected-error @+1 {{stream holds 4294967296, which does not fit the plan's field}}
    aicf_rt.call relu(%x) outs(%x) launch<kernel = "k", stream = 4294967296> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

// -----

// Tests that the loader's checks run: two params share bytes.
// expected-error @+1 {{[SegmentOverlap] persistent: buffers }}
aicf_rt.plan cpu persistent(256) {
  aicf_rt.global @v param offset(0) vid(0) : !aicf_rt.value<4xf32>
  aicf_rt.global @w param offset(0) vid(1) : !aicf_rt.value<4xf32>
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
  }
}

// -----

// Tests a body that is right, but that no kernel takes.
// expected-error @+1 {{[BodyPattern] entry 0 (f), call 0: no kernel family takes relu, cumsum in one call}}
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(256) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(1) : <4xf32>
    aicf_rt.call {
      t0 = relu(%x)
      t1 = cumsum(t0) {axis = 0}
      yield t1
    } outs(%x) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

// -----

// Tests a form of outputs that does not exist.
aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{output_form is "list", expected a form such as "tuple"}}
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) outputs("list") {
  }
}

// -----

// Tests that an input or output has a value.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(256) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{is an input or output without a value}}
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
  }
}

// -----

// Tests that the first value of one is all of it.
// expected-error @+1 {{[ValueWhole] entry 0 (f), value 0: 2xf32 at byte 0 does not fill buffer 0 of 16 bytes}}
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(256) temp(0) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(0) : <2xf32>
  }
}
