// RUN: aicf-opt %s --aicf-hoist-constants --split-input-file | FileCheck %s

// Tests that equal constants are one argument, of all entries, and that what
// repeats is held once.

// CHECK-LABEL: func.func @a
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32> {aicf.name = "x", aicf.role = "input"}
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<2xf32> {aicf.data = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>, aicf.name = "constant:2xf32:[[$HASH:[0-9a-f]+]]", aicf.role = "constant"}
// CHECK-SAME: %[[H:[a-z0-9]+]]: tensor<f32> {aicf.data = dense<5.000000e-01> : tensor<f32>
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<3xi32> {aicf.data = dense<[0, 1, 2]> : tensor<3xi32>
// CHECK-NEXT: %[[Y:.*]] = aicf.add %[[X]], %[[C]]
// CHECK-NEXT: %[[Z:.*]] = aicf.add %[[Y]], %[[C]]
// CHECK-NEXT: %[[B:.*]] = aicf.broadcast %[[H]] to [2]
// CHECK-NEXT: %[[W:.*]] = aicf.mul %[[Z]], %[[B]]
// CHECK-NEXT: %[[T:.*]] = aicf.reshape %[[I]] to [3, 1]
// CHECK-NEXT: %[[J:.*]] = aicf.broadcast %[[T]] to [2, 3, 4]
// CHECK-NEXT: %[[K:.*]] = aicf.broadcast %[[I]] to [2, 3]
// CHECK-NEXT: return %[[W]], %[[J]], %[[K]], %[[I]]
func.func @a(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2xf32> {aicf.name = "w"}, tensor<2x3x4xi32> {aicf.name = "j"},
        tensor<2x3xi32> {aicf.name = "k"}, tensor<3xi32> {aicf.name = "i"}) {
  %c = aicf.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = aicf.add %x, %c : tensor<2xf32>, tensor<2xf32>
  %d = aicf.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = aicf.add %y, %d : tensor<2xf32>, tensor<2xf32>
  %h = aicf.constant dense<0.5> : tensor<2xf32>
  %w = aicf.mul %z, %h : tensor<2xf32>, tensor<2xf32>
  %j = aicf.iota [2, 3, 4] {axis = 1}
  %k = aicf.iota [2, 3] {axis = 1}
  %i = aicf.iota [3] {axis = 0}
  return %w, %j, %k, %i : tensor<2xf32>, tensor<2x3x4xi32>, tensor<2x3xi32>, tensor<3xi32>
}

// CHECK-LABEL: func.func @b
// CHECK-SAME: aicf.name = "constant:2xf32:[[$HASH]]"
// CHECK-SAME: aicf.name = "constant:2xi32:
func.func @b() -> (tensor<2xf32> {aicf.name = "y"}, tensor<2xi32> {aicf.name = "z"}) {
  %c = aicf.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // The same bytes as another type.
  %d = aicf.constant dense<[1065353216, 1073741824]> : tensor<2xi32>
  return %c, %d : tensor<2xf32>, tensor<2xi32>
}

// -----

// Tests that an argument which holds the numbers is taken, as on a second run.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: aicf.data{{.*}}aicf.data
// CHECK: return %arg0, %arg0
func.func @twice(%c: tensor<f32> {aicf.role = "constant", aicf.name = "constant:f32:095a758a27aedeaebb2dc4509829ae49", aicf.data = dense<5.000000e-01> : tensor<f32>})
    -> (tensor<f32> {aicf.name = "y"}, tensor<f32> {aicf.name = "z"}) {
  %d = aicf.constant dense<0.5> : tensor<f32>
  return %c, %d : tensor<f32>, tensor<f32>
}

// -----

// Tests that functions that are not entries are left alone.
// CHECK-LABEL: func.func private @other
// CHECK-NEXT: aicf.constant
func.func private @other() -> tensor<f32> {
  %c = aicf.constant dense<0.5> : tensor<f32>
  return %c : tensor<f32>
}

// -----

// Tests that an input stays an input, whatever its name.
// CHECK-LABEL: func.func @clash
// CHECK-SAME: %[[C:arg1]]: tensor<2xf32> {aicf.data = dense<[1.000000e+00, 2.000000e+00]>
// CHECK: aicf.mul %arg0, %[[C]]
func.func @clash(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "constant:2xf32:4533ce61c4655ba3c3e077b25dd1d769"})
    -> (tensor<2xf32> {aicf.name = "y"}) {
  %c = aicf.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = aicf.mul %x, %c : tensor<2xf32>, tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// Tests a constant whose name is that of another one.
// CHECK-LABEL: func.func @other_name
// CHECK: return %arg0, %{{.*}} : tensor<3xf32>, tensor<3xf32>
func.func @other_name(%c: tensor<3xf32> {aicf.role = "constant", aicf.name = "constant:f32:095a758a27aedeaebb2dc4509829ae49", aicf.data = dense<5.000000e-01> : tensor<3xf32>})
    -> (tensor<3xf32> {aicf.name = "c"}, tensor<3xf32> {aicf.name = "d"}) {
  %d = aicf.constant dense<0.5> : tensor<3xf32>
  return %c, %d : tensor<3xf32>, tensor<3xf32>
}
