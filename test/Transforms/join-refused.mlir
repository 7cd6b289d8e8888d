// RUN: aicf-opt %s --aicf-rt-verify=phase=inplace --split-input-file --verify-diagnostics

// Tests that a part lies in one whole, and that nothing writes over what is still read there.

func.func @returned(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has a part that the entry returns: an output or update has storage of its own}}
  %c = aicf_rt.join %a[0] : tensor<4xf32> to tensor<4xf32>
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @two(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has a part that is joined twice}}
  %c = aicf_rt.join %a[0] : tensor<4xf32> to tensor<4xf32>
  %d = aicf_rt.join %a[0] : tensor<4xf32> to tensor<4xf32>
  return %c, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @in_place(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %h = aicf_rt.call exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = aicf_rt.call relu(%h) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{has a part that 'relu' makes in place of an operand}}
  %c = aicf_rt.join %a[0] : tensor<4xf32> to tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @into(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %h = aicf_rt.call concat(%x, %x) {axis = 0} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // expected-error @+1 {{is made in a value that the entry does not get}}
  %c = aicf_rt.join %a[0] into %h : tensor<4xf32> to tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

func.func @nested(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                  %s: tensor<8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<8xf32> {aicf.updates = "s"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{is made in an argument, and a part of another join}}
  %c = aicf_rt.join %a[0] into %s : tensor<4xf32> to tensor<8xf32>
  %d = aicf_rt.join %c[0] : tensor<8xf32> to tensor<8xf32>
  return %d : tensor<8xf32>
}

// -----

func.func @output(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                  %s: tensor<8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<f32> {aicf.name = "y"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{overwrites argument 1 ("s"), but is not its update}}
  %c = aicf_rt.join %a[0] into %s : tensor<4xf32> to tensor<8xf32>
  %y = aicf_rt.call mean(%c) : (tensor<8xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @late(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                %s: tensor<8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<8xf32> {aicf.updates = "s"}, tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{result 0 overwrites a value that 'exp' still reads}}
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %old = aicf_rt.view %s[3] : tensor<8xf32> to tensor<4xf32>
  // expected-note @+1 {{read here}}
  %y = aicf_rt.call exp(%old) : (tensor<4xf32>) -> tensor<4xf32>
  %c = aicf_rt.join %a[0] into %s : tensor<4xf32> to tensor<8xf32>
  return %c, %y : tensor<8xf32>, tensor<4xf32>
}

// -----

// One that reads the other elements may come late.
func.func @beside(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                  %s: tensor<8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<8xf32> {aicf.updates = "s"}, tensor<4xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %old = aicf_rt.view %s[4] : tensor<8xf32> to tensor<4xf32>
  %y = aicf_rt.call exp(%old) : (tensor<4xf32>) -> tensor<4xf32>
  %c = aicf_rt.join %a[0] into %s : tensor<4xf32> to tensor<8xf32>
  return %c, %y : tensor<8xf32>, tensor<4xf32>
}

// -----

// Who reads a whole is ordered behind all that make it.
func.func @order(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call exp(%x) launch<stream = 1, signals = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  %c = aicf_rt.join %a[0], %b[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  // expected-error @+1 {{reads a result of 'exp' that is not ordered before it}}
  %d = aicf_rt.call tanh(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %y = aicf_rt.call tanh(%d) launch<waits = [0]> : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
