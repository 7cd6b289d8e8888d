// RUN: aicf-opt %s --split-input-file --aicf-phase-check --verify-diagnostics | FileCheck %s

// Tests that an entry may call private functions, which may call others.
// CHECK-LABEL: func.func @f
// CHECK-NOT: call
// CHECK: %[[A:.*]] = aicf.relu %arg0
// CHECK-NEXT: %[[B:.*]] = aicf.add %[[A]], %[[A]]
// CHECK-NEXT: %[[C:.*]] = aicf.relu %[[B]]
// CHECK-NEXT: %[[D:.*]] = aicf.add %[[C]], %[[C]]
// CHECK-NEXT: return %[[D]]
// CHECK-NOT: func.func private
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "y"}) {
  %a = func.call @block(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @block(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
func.func private @block(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = aicf.relu %x : tensor<4xf32>
  %y = func.call @twice(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = aicf.add %x, %x : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Tests that nothing is simplified on the way: both ops stay, though they are equal
// and one of them is dead.
// CHECK-LABEL: func.func @as_written
// CHECK-COUNT-3: aicf.relu
func.func @as_written(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "y"}) {
  %dead = aicf.relu %x : tensor<4xf32>
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %dead = aicf.relu %x : tensor<4xf32>
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @recursive(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{'func.call' inside entry @recursive: only aicf ops are legal in an entry}}
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = aicf.relu %x : tensor<4xf32>
  %y = func.call @g(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @declared(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{'func.call' inside entry @declared: only aicf ops are legal in an entry}}
  %y = func.call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @foreign(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'builtin.unrealized_conversion_cast' inside entry @foreign: only aicf ops are legal in an entry}}
  %y = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
