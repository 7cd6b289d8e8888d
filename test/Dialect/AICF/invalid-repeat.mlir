// RUN: aicf-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @repeat_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.repeat' op C1: `times` is 0, expected a number in [1, 2^31)}}
  %y = aicf.repeat 0 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    aicf.next %h : tensor<4xf32>
  }
  return
}

// -----

func.func @repeat_c1_of_nothing() {
  // expected-error @+1 {{'aicf.repeat' op C1: there is no init, so that nothing comes of it}}
  "aicf.repeat"() <{times = 2 : i64}> ({
  ^bb0(%i: tensor<i64>):
    aicf.next
  }) : () -> ()
  return
}

// -----

func.func @repeat_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.repeat' op C2: the body takes ('tensor<4xf32>'), expected ('tensor<i64>', 'tensor<4xf32>')}}
  %y = aicf.repeat 2 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%h: tensor<4xf32>):
    aicf.next %h : tensor<4xf32>
  }
  return
}

// -----

func.func @repeat_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.repeat' op C3: the body gives ('tensor<i64>') and the results are ('tensor<4xf32>'), expected the inits' types, ('tensor<4xf32>')}}
  %y = aicf.repeat 2 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    aicf.next %i : tensor<i64>
  }
  return
}

// -----

func.func private @another_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3: the body gives ('tensor<4xf32>') and the results are ('tensor<5xf32>')}}
  %y = aicf.repeat 2 %x : tensor<4xf32> -> tensor<5xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    aicf.next %h : tensor<4xf32>
  }
  return
}

// -----

func.func private @no_end(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.repeat' op}}
  %y = "aicf.repeat"(%x) <{times = 2 : i64}> ({
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @next_alone(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.next' op expects parent op 'aicf.repeat'}}
  aicf.next %x : tensor<4xf32>
}

// -----

func.func private @another_end(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.repeat' op C3: the body ends in 'test.end', expected 'aicf.next'}}
  %y = "aicf.repeat"(%x) <{times = 2 : i64}> ({
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    "test.end"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
