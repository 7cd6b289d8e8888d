// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// CHECK-LABEL: func.func @functions
func.func @functions(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: aicf.div_scalar %{{.*}} {value = 4.100000e+01 : f64} : tensor<4xf32>
  %d = aicf.div_scalar %x {value = 41.0} : tensor<4xf32>
  // CHECK: aicf.expm1 %{{.*}} : tensor<4xf32>
  %0 = aicf.expm1 %x : tensor<4xf32>
  // CHECK: aicf.log %{{.*}} : tensor<4xf32>
  %1 = aicf.log %x : tensor<4xf32>
  // CHECK: aicf.log1p %{{.*}} : tensor<4xf32>
  %2 = aicf.log1p %x : tensor<4xf32>
  // CHECK: aicf.sqrt %{{.*}} : tensor<4xf32>
  %3 = aicf.sqrt %x : tensor<4xf32>
  // CHECK: aicf.rsqrt %{{.*}} : tensor<4xf32>
  %4 = aicf.rsqrt %x : tensor<4xf32>
  // CHECK: aicf.square %{{.*}} : tensor<4xf32>
  %5 = aicf.square %x : tensor<4xf32>
  // CHECK: aicf.sin %{{.*}} : tensor<4xf32>
  %6 = aicf.sin %x : tensor<4xf32>
  // CHECK: aicf.cos %{{.*}} : tensor<4xf32>
  %7 = aicf.cos %x : tensor<4xf32>
  // CHECK: aicf.neg %{{.*}} : tensor<4xf32>
  %8 = aicf.neg %x : tensor<4xf32>
  // CHECK: aicf.abs %{{.*}} : tensor<4xf32>
  %9 = aicf.abs %x : tensor<4xf32>
  // CHECK: aicf.sign %{{.*}} : tensor<4xf32>
  %10 = aicf.sign %x : tensor<4xf32>
  // CHECK: aicf.floor %{{.*}} : tensor<4xf32>
  %11 = aicf.floor %x : tensor<4xf32>
  // CHECK: aicf.ceil %{{.*}} : tensor<4xf32>
  %12 = aicf.ceil %x : tensor<4xf32>
  // CHECK: aicf.round %{{.*}} : tensor<4xf32>
  %13 = aicf.round %x : tensor<4xf32>
  // CHECK: aicf.erf %{{.*}} : tensor<4xf32>
  %14 = aicf.erf %x : tensor<4xf32>
  // CHECK: aicf.erfc %{{.*}} : tensor<4xf32>
  %15 = aicf.erfc %x : tensor<4xf32>
  // CHECK: aicf.log2 %{{.*}} : tensor<4xf32>
  %16 = aicf.log2 %x : tensor<4xf32>
  // CHECK: aicf.log10 %{{.*}} : tensor<4xf32>
  %17 = aicf.log10 %x : tensor<4xf32>
  // CHECK: aicf.exp2 %{{.*}} : tensor<4xf32>
  %18 = aicf.exp2 %x : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @derivatives
func.func @derivatives(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: aicf.expm1_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %0 = aicf.expm1_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.log_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %1 = aicf.log_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.log1p_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %2 = aicf.log1p_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.sqrt_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %3 = aicf.sqrt_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.rsqrt_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %4 = aicf.rsqrt_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.square_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %5 = aicf.square_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.sin_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %6 = aicf.sin_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.cos_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %7 = aicf.cos_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.abs_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %8 = aicf.abs_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.pow_scalar_bwd %{{.*}} {{{.*}}} : tensor<4xf32>, tensor<4xf32>
  %9 = aicf.pow_scalar_bwd %x, %y {exponent = 1.5} : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.clamp_bwd %{{.*}} {{{.*}}} : tensor<4xf32>, tensor<4xf32>
  %10 = aicf.clamp_bwd %x, %y {max = 1.0, min = -1.0} : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.erf_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %11 = aicf.erf_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.erfc_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %12 = aicf.erfc_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.log2_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %13 = aicf.log2_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.log10_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %14 = aicf.log10_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.exp2_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %15 = aicf.exp2_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @pairs
func.func @pairs(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: aicf.maximum %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %0 = aicf.maximum %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.minimum %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %1 = aicf.minimum %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.pow %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %2 = aicf.pow %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.maximum_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %3 = aicf.maximum_bwd %x, %y, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.pow_base_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %4 = aicf.pow_base_bwd %x, %y, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.pow_exponent_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %5 = aicf.pow_exponent_bwd %x, %y, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.fmod %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %6 = aicf.fmod %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.fmod_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %7 = aicf.fmod_bwd %x, %y, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.atan2 %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %8 = aicf.atan2 %x, %y : tensor<4xf32>, tensor<4xf32>
  return
}
