// RUN: %generate_step --batch 64 --widths 64,128,64 --optimizer adam | aicf-opt --aicf-dump-lowered -o /dev/null | FileCheck %s --check-prefixes=CHECK,ADAM
// RUN: %generate_step --batch 64 --widths 64,128,64 --optimizer adam | aicf-opt --lower-to-backend=opt-level=1 --aicf-dump-lowered -o /dev/null | FileCheck %s --check-prefixes=CHECK,ADAM
// RUN: %generate_step --batch 64 --widths 64,128,64 --optimizer sgd | aicf-opt --aicf-dump-lowered -o /dev/null | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: %generate_step --batch 64 --widths 64,128,64 --optimizer adam --attrs "{beta1 = 0.8, weight_decay = 0.01}" | aicf-opt --aicf-dump-lowered -o /dev/null | FileCheck %s --check-prefix=ATTRS
// RUN: aicf-opt %examples/digits/model.mlir --aicf-autodiff --aicf-append-optimizer --aicf-dump-lowered -o /dev/null | FileCheck %s --check-prefix=TWO

// Tests the calls of the whole train step; the first layer's dX gets none.
//      ADAM: values: 43, nodes: 15, ops: 20
//       SGD: values: {{[0-9]+}}, nodes: 13, ops: 18
// CHECK-NEXT: gemm(v000, v001) -> v003 {transB = true}
// CHECK-NEXT: bias_add(v003, v002) -> v003
// CHECK-NEXT: relu(v003) -> v004
// CHECK-NEXT: copy_saved(v004) -> v005
// CHECK-NEXT: gemm(v004, v006) -> v008 {transB = true}
// CHECK-NEXT: bias_add(v008, v007) -> v008
// CHECK-NEXT: mse_loss(v008, v009) -> v010
// CHECK-NEXT: mse_grad(v008, v009) -> v011
// CHECK-NEXT: gemm(v011, v006) -> v012
// CHECK-NEXT: gemm(v011, v004) -> v013 {transA = true}
// CHECK-NEXT: reduce_sum(v011) -> v014
// CHECK-NEXT: relu_bwd(v012, v005) -> v015
// CHECK-NEXT: gemm(v015, v000) -> v017 {transA = true}
// CHECK-NEXT: reduce_sum(v015) -> v018
//  ADAM-NEXT: step_inc(v019) -> v020
//  ADAM-NEXT: bias_corr(v020) -> v021
//  ADAM-NEXT: adam_step(v001, v017, v022, v023, v021, v024) -> v025, v026, v027
//  ADAM-NEXT: adam_step(v002, v018, {{.*}}
//  ADAM-NEXT: adam_step(v006, v013, {{.*}}
//  ADAM-NEXT: adam_step(v007, v014, {{.*}}
//   ADAM-NOT: {{.}}
//   SGD-NEXT: sgd_step(v001, v017, v019) -> v020{{$}}
//   SGD-NEXT: sgd_step(v002, v018, {{.*}}
//   SGD-NEXT: sgd_step(v006, v013, {{.*}}
//   SGD-NEXT: sgd_step(v007, v014, {{.*}}
//    SGD-NOT: {{.}}

// ATTRS: adam_step({{.*}}) -> {{.*}} {beta1 = 0.8, weight_decay = 0.01}

// Tests that several entries get their names.
//      TWO: // @train_step
// TWO-NEXT: values: 44
//      TWO: // @evaluate
// TWO-NEXT: values: 11, nodes: 5, ops: 7
