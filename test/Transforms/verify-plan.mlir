// RUN: aicf-opt %s --aicf-rt-verify-plan --split-input-file --verify-diagnostics

// Tests that two live temps must not share bytes.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(512) temp(512) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <4xf32>
    // expected-error @+1 {{at offset 0 shares bytes with one at offset 0 that is live at the same time}}
    %a_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    %a = aicf_rt.value %a_buffer[0] vid(-1) : <4xf32>
    // expected-note @+1 {{the other one}}
    %b_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    %b = aicf_rt.value %b_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x) outs(%a) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%x) outs(%b) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call add(%a, %b) outs(%y) launch<kernel = "add_f32_v0"> : (!aicf_rt.value<4xf32>, !aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

// -----

// Tests that a temp must lie inside its segment.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(512) temp(256) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <4xf32>
    // expected-error @+1 {{of 16 bytes at offset 256 does not fit in a temp segment of 256 bytes}}
    %a_buffer = aicf_rt.alloc temp bytes(16) offset(256)
    %a = aicf_rt.value %a_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x) outs(%a) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%a) outs(%y) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

// -----

// Tests that offsets are aligned.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(512) temp(512) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <4xf32>
    // expected-error @+1 {{of 16 bytes at offset 4 does not fit in a temp segment}}
    %a_buffer = aicf_rt.alloc temp bytes(16) offset(4)
    %a = aicf_rt.value %a_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x) outs(%a) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%a) outs(%y) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

// -----

// Tests an entry that nobody planned.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(512) temp(-1) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <4xf32>
    // expected-error @+1 {{at offset -1 does not fit in a temp segment of -1 bytes}}
    %a_buffer = aicf_rt.alloc temp bytes(16) offset(-1)
    %a = aicf_rt.value %a_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x) outs(%a) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%a) outs(%y) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

// -----

// Tests an input and a param outside of their segments.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{of 16 bytes at offset 0 does not fit in an io segment of 0 bytes}}
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{of 16 bytes at offset 0 does not fit in a persistent segment of 0 bytes}}
  aicf_rt.global @w param offset(0) vid(-1) : !aicf_rt.value<4xf32>
}

// -----

// Tests streams that no order joins.
aicf_rt.plan cpu persistent(0) {
  // expected-error @+1 {{stream}}
  aicf_rt.entry @f io(512) temp(0) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x) outs(%y) launch<kernel = "relu_f32_v0", stream = 1> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

// -----

// Tests that dead temps may share bytes.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(512) temp(256) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <4xf32>
    %a_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    %a = aicf_rt.value %a_buffer[0] vid(-1) : <4xf32>
    %b_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    %b = aicf_rt.value %b_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x) outs(%a) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%a) outs(%y) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%x) outs(%b) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%b) outs(%y) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}
