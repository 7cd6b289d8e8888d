// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// Tests a source that is not there.
// expected-error @+1 {{argument 0 ("c") is derived from "w": no argument before it has that name}}
func.func @missing(%c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

// -----

// Tests a derived param.
// expected-error @+1 {{a state without 'aicf.init' may be derived from a param or state that is not derived itself}}
func.func @param(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                 %c: tensor<4xbf16> {aicf.role = "param", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

// -----

// Tests another shape.
// expected-error @+1 {{expected the same shape and another float type}}
func.func @shape(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                 %c: tensor<5xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

// -----

// Tests a source that moves on without its derived state.
// expected-error @+1 {{its update must be the aicf.cast of the update of its source}}
func.func @stale(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                 %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %0 = aicf.relu %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests entries that disagree about it.
func.func @a(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
             %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}
// expected-error @+1 {{entries disagree about "c"}}
func.func @b(%c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c"}) {
  return
}
