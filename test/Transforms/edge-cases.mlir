// RUN: aicf-opt %s --split-input-file --lower-to-backend -o /dev/null
// RUN: aicf-opt %s --split-input-file --lower-to-backend=opt-level=0 -o /dev/null
// RUN: aicf-opt %s --split-input-file --cse --canonicalize --lower-to-backend=keep=all -o /dev/null

// Tests what must work from end to end: an argument returned unchanged, one
// value as two outputs, duplicate operands, unused arguments and results.
func.func @unchanged(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                     %u: tensor<7xf64> {aicf.role = "input", aicf.name = "u"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.name = "y"}) {
  return %a, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @duplicates(%x: tensor<3x3xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<3x3xf32> {aicf.name = "y"}, tensor<3x3xf32> {aicf.name = "z"}) {
  %0 = aicf.add %x, %x : tensor<3x3xf32>, tensor<3x3xf32>
  %dx, %dw, %db = aicf.linear_bwd %0, %0, %0 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
  return %dx, %dx : tensor<3x3xf32>, tensor<3x3xf32>
}

// -----

// Tests a step without any update, and one without any op or argument.
func.func @pure(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y"}) {
  %0 = aicf.relu %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func @empty() attributes {aicf.target = #aicf.target<cpu, math = "f32">} {
  return
}

// -----

// Tests odd and size-1 dimensions and 0-d parameters.
func.func @odd(%x: tensor<1x7xf32> {aicf.role = "input", aicf.name = "x"},
               %w: tensor<1x7xf32> {aicf.role = "param", aicf.name = "w"},
               %s: tensor<f32> {aicf.role = "param", aicf.name = "s"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<1x1xf32> {aicf.name = "y"}, tensor<f32> {aicf.updates = "s"}) {
  %0 = aicf.linear %x, %w : tensor<1x7xf32>, tensor<1x7xf32>
  %n, %m = aicf.sgd_step %s, %s, %lr : tensor<f32>, tensor<f32>, tensor<f32>
  return %0, %n : tensor<1x1xf32>, tensor<f32>
}

// -----

// Tests a swap, and one value that updates two names and is an output.
func.func @swap(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"},
                %c: tensor<4xf32> {aicf.role = "state", aicf.name = "c"},
                %d: tensor<4xf32> {aicf.role = "state", aicf.name = "d"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"},
        tensor<4xf32> {aicf.updates = "c"}, tensor<4xf32> {aicf.updates = "d"},
        tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf.relu %c : tensor<4xf32>
  return %b, %a, %0, %0, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
