// RUN: aicf-opt %s -split-input-file -verify-diagnostics

func.func @map_c1() {
  // expected-error @+1 {{C1: has no operand, expected one or more}}
  %0 = "aicf.map"() ({
    %c = arith.constant 0.0 : f32
    "aicf.yield"(%c) : (f32) -> ()
  }) : () -> tensor<3xf32>
  return
}

// -----

func.func @map_c1_shapes(%a: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{C1: operand 1 is 'tensor<4xf32>', expected the shape of operand 0, 'tensor<3xf32>'}}
  %0 = aicf.map %a, %b : tensor<3xf32>, tensor<4xf32> -> tensor<3xf32> {
  ^bb0(%x: f32, %y: f32):
    aicf.yield %x : f32
  }
  return
}

// -----

func.func @map_c2(%a: tensor<3xf32>) {
  // expected-error @+1 {{C2: the body has 2 arguments, expected 1, one for each operand}}
  %0 = aicf.map %a : tensor<3xf32> -> tensor<3xf32> {
  ^bb0(%x: f32, %y: f32):
    aicf.yield %x : f32
  }
  return
}

// -----

func.func @map_c2_type(%a: tensor<3xf32>) {
  // expected-error @+1 {{C2: argument 0 of the body is 'f64', expected 'f32'}}
  %0 = aicf.map %a : tensor<3xf32> -> tensor<3xf64> {
  ^bb0(%x: f64):
    aicf.yield %x : f64
  }
  return
}

// -----

func.func @map_c3(%a: tensor<3xf32>) {
  // expected-error @+1 {{C3: y is 'tensor<3xf64>', expected 'tensor<3xf32>'}}
  %0 = aicf.map %a : tensor<3xf32> -> tensor<3xf64> {
  ^bb0(%x: f32):
    aicf.yield %x : f32
  }
  return
}

// -----

func.func @map_c3_end(%a: tensor<3xf32>) {
  // expected-error @+1 {{C3: the body ends in 'func.return', expected 'aicf.yield'}}
  %0 = aicf.map %a : tensor<3xf32> -> tensor<3xf32> {
  ^bb0(%x: f32):
    "func.return"() : () -> ()
  }
  return
}

// -----

func.func @map_from_above(%a: tensor<3xf32>, %s: f32) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = aicf.map %a : tensor<3xf32> -> tensor<3xf32> {
  ^bb0(%x: f32):
    // expected-error @+1 {{using value defined outside the region}}
    %p = arith.mulf %x, %s : f32
    aicf.yield %p : f32
  }
  return
}

// -----

func.func @yield_alone(%s: f32) {
  // expected-error @+1 {{expects parent op 'aicf.map'}}
  aicf.yield %s : f32
}
