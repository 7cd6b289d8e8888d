// RUN: aicf-opt %s -aicf-expand-maps -split-input-file -verify-diagnostics

// What has no word inside of what has one: the error is about it.

func.func @of_number(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %three = arith.constant 3.0 : f32
    // expected-error @+1 {{cannot be expressed in aicf: aicf has no op for 'math.atan'}}
    %t = math.atan %x : f32
    %m = arith.maximumf %t, %three : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}

// -----

func.func @left(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    // expected-error @+1 {{aicf has no op for 'math.atan'}}
    %t = math.atan %x : f32
    %m = arith.subf %t, %x : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}

// -----

func.func @fma(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    // expected-error @+1 {{aicf has no op for 'math.atan'}}
    %t = math.atan %x : f32
    %m = math.fma %x, %t, %x : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}

// -----

// An integer that no field has: an f64 has the even ones only.
func.func @large(%a: tensor<8xi64>) -> tensor<8xi64> {
  %y = aicf.map %a : tensor<8xi64> -> tensor<8xi64> {
  ^bb0(%x: i64):
    // expected-error @+1 {{aicf has no op for 'arith.constant'}}
    %c = arith.constant 9007199254740993 : i64
    %m = arith.addi %x, %c : i64
    aicf.yield %m : i64
  }
  return %y : tensor<8xi64>
}

// -----

// Numbers of types that aicf does not have.
func.func @narrow_number(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    // expected-error @+1 {{a type that aicf does not have}}
    %c = arith.constant 3 : i8
    %f = arith.sitofp %c : i8 to f32
    %m = arith.addf %x, %f : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}

// -----

func.func @index(%a: tensor<8xi64>) -> tensor<8xi64> {
  %y = aicf.map %a : tensor<8xi64> -> tensor<8xi64> {
  ^bb0(%x: i64):
    %i = arith.index_cast %x : i64 to index
    // expected-error @+1 {{aicf has no op for 'arith.index_cast'}}
    %m = arith.index_cast %i : index to i64
    aicf.yield %m : i64
  }
  return %y : tensor<8xi64>
}

// -----

// aicf adds numbers, not conditions.
func.func @conditions(%a: tensor<8xi1>) -> tensor<8xi1> {
  %y = aicf.map %a : tensor<8xi1> -> tensor<8xi1> {
  ^bb0(%x: i1):
    // expected-error @+1 {{aicf has no op for 'arith.addi'}}
    %m = arith.addi %x, %x : i1
    aicf.yield %m : i1
  }
  return %y : tensor<8xi1>
}
