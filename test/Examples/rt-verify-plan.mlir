// RUN: aicf-opt %s --aicf-rt-verify-plan --verify-diagnostics

// expected-error @+2 {{of 16 bytes at offset 256 does not fit in a persistent segment of 16 bytes}}
aicf_rt.plan cpu persistent(16) {
  aicf_rt.global @W param offset(256) vid(1) : !aicf_rt.value<4xf32>
}
