// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// Tests of what a state may be derived.

// Tests a state derived from a state.
func.func @state(%w: tensor<4xf32> {aicf.role = "state", aicf.name = "w"},
                 %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

// -----

// Tests a source behind the state.
// expected-error @+1 {{argument 0 ("c") is derived from "w": no argument before it has that name}}
func.func @behind(%c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"},
                  %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}

// -----

// Tests a derived state with a value of its own.
// expected-error @+1 {{a state without 'aicf.init' may be derived from a param or state that is not derived itself}}
func.func @init(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w", aicf.init = 1.0 : f32}) {
  return
}

// -----

// Tests a copy of a copy.
// expected-error @+1 {{argument 2 ("e") is derived from "c": a state without 'aicf.init' may be derived from a param or state that is not derived itself}}
func.func @copy(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"},
                %e: tensor<4xf16> {aicf.role = "state", aicf.name = "e", aicf.derived_from = "c"}) {
  return
}

// -----

// Tests a copy of an input.
// expected-error @+1 {{a state without 'aicf.init' may be derived from a param or state that is not derived itself}}
func.func @input(%w: tensor<4xf32> {aicf.role = "input", aicf.name = "w"},
                 %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

// -----

// Tests a copy of the same type.
// expected-error @+1 {{expected the same shape and another float type}}
func.func @type(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                %c: tensor<4xf32> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

// -----

// Tests integers.
// expected-error @+1 {{expected the same shape and another float type}}
func.func @from_integer(%w: tensor<4xi32> {aicf.role = "param", aicf.name = "w"},
                        %c: tensor<4xf32> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

// -----

// Tests a copy in integers.
// expected-error @+1 {{expected the same shape and another float type}}
func.func @to_integer(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                      %c: tensor<4xi32> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}
