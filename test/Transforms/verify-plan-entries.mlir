// RUN: aicf-opt %s --aicf-rt-verify-plan=memory=false --split-input-file --verify-diagnostics

// Tests that no entry is left.
// expected-error @+1 {{entry @f is left after plan emission}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// Tests that a module whose entries are gone passes.
aicf_rt.plan cpu persistent(0) {
}
func.func @no_entry(%x: tensor<?xf32>) {
  return
}
