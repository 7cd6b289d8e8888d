// RUN: aicf-opt %s --aicf-rt-verify-plan --split-input-file --verify-diagnostics

// Tests a buffer that ends where its segment begins.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(256) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{of 256 bytes at offset -256 does not fit in a temp segment of 256 bytes}}
    %a_buffer = aicf_rt.alloc temp bytes(256) offset(-256)
    %a = aicf_rt.value %a_buffer[0] vid(-1) : <64xf32>
  }
}

// -----

// Tests a segment of a negative size.
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(-1) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{of 256 bytes at offset 0 does not fit in a temp segment of -1 bytes}}
    %a_buffer = aicf_rt.alloc temp bytes(256) offset(0)
    %a = aicf_rt.value %a_buffer[0] vid(-1) : <64xf32>
  }
}
