// RUN: aicf-opt %s --aicf-outline-repeats --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @nested(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %a = aicf.repeat 7 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    // expected-error @+1 {{'aicf.repeat' op stands inside of another one: only the top level of an entry has repeats}}
    %b = aicf.repeat 7 %h : tensor<4xf32> -> tensor<4xf32> {
    ^bb0(%j: tensor<i64>, %g: tensor<4xf32>):
      aicf.next %g : tensor<4xf32>
    }
    aicf.next %b : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{'aicf.minimize' in an entry in parts: a loss is differentiated in one function}}
func.func @a_loss(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y", aicf.minimize}) {
  %a = aicf.repeat 7 %x : tensor<f32> -> tensor<f32> {
  ^bb0(%i: tensor<i64>, %h: tensor<f32>):
    %t = aicf.tanh %h : tensor<f32>
    aicf.next %t : tensor<f32>
  }
  return %a : tensor<f32>
}

// -----

func.func @a_draw(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %a = aicf.repeat 7 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    // expected-error @+1 {{capture safety: inside of an aicf.repeat it would compute from the same count in each run, or in each step}}
    %t = aicf.dropout %h, %i {p = 0.5, seed = 1 : i64} : tensor<4xf32>, tensor<i64>
    aicf.next %t : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

func.func @a_region(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %t = aicf.tanh %x : tensor<4xf32>
  %a = aicf.repeat 7 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    aicf.next %h : tensor<4xf32>
  }
  // expected-error @+1 {{has a region, in an entry with an aicf.repeat}}
  "other.op"() ({
    "other.use"(%t) : (tensor<4xf32>) -> ()
  }) : () -> ()
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 1 is named "named.repeat0.0", as the states of the loops of @named are: give it or the entry another name}}
func.func @named(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                 %s: tensor<4xf32> {aicf.role = "state", aicf.name = "named.repeat0.0"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %a = aicf.repeat 7 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    aicf.next %h : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

func.func @there.part1(%x: tensor<4xf32> {aicf.role = "state", aicf.name = "x"}) {
  return
}
// expected-error @+1 {{its loops become entries such as @there.part1, which is there already}}
func.func @there(%x: tensor<4xf32> {aicf.role = "state", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %a = aicf.repeat 7 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    aicf.next %h : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 has no name, which an entry with loops needs}}
func.func @without_a_name(%x: tensor<4xf32> {aicf.role = "input"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.repeat 9 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    aicf.next %h : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
