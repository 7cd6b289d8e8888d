// RUN: aicf-opt %s --split-input-file --verify-diagnostics

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    // expected-error @+1 {{'aicf_rt.repeat' op has no calls}}
    aicf_rt.repeat 2 {
    }
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    aicf_rt.repeat 2 {
      // expected-error @+1 {{'aicf_rt.alloc' op is not legal in aicf_rt.repeat}}
      %x = aicf_rt.alloc temp bytes(16) offset(0)
    }
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    %b = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %b[0] vid(0) : <4xf32>
    // expected-error @+1 {{'aicf_rt.call' op stands beside aicf_rt.repeat: all calls of an entry stand in parts, or none}}
    aicf_rt.call relu(%x) outs(%x) in_vids [0] vids [1] : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.repeat 2 {
      aicf_rt.call relu(%x) outs(%x) in_vids [0] vids [1] : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    }
  }
}

// -----

aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    %b = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %b[0] vid(0) : <4xf32>
    // expected-error @+1 {{'aicf_rt.repeat' op runs 0 times, expected 1 to 2147483647}}
    aicf_rt.repeat 0 {
      aicf_rt.call relu(%x) outs(%x) in_vids [0] vids [1] : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    }
  }
}
