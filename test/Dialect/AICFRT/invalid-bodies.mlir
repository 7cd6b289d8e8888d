// RUN: aicf-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Tests what is not a body: names, numbers of operands, fields. Normal form as a
// whole is unittests/Plan/Corpus.cpp's: the loader's check is the same.

// expected-error @+1 {{unknown primitive 'conv'}}
"test.body"() {body = #aicf_rt.body<1 { t0 = conv(i0) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{expected a value made before, or i0 to i0}}
"test.body"() {body = #aicf_rt.body<1 { t0 = relu(i1) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{expected a value made before}}
"test.body"() {body = #aicf_rt.body<1 { t0 = relu(t1) t1 = relu(t0) yield t1 }>} : () -> ()

// -----

// expected-error @+1 {{'t0' is the name of two results}}
"test.body"() {body = #aicf_rt.body<1 { t0 = relu(i0) t0 = relu(t0) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{relu has 1 results, got 2 names}}
"test.body"() {body = #aicf_rt.body<1 { t0, t1 = relu(i0) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{gemm got 1 operands, expected 2}}
"test.body"() {body = #aicf_rt.body<1 { t0 = gemm(i0) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{relu has no field 'slope'}}
"test.body"() {body = #aicf_rt.body<1 { t0 = relu(i0) {slope = 0.1} yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{bias_add: axis is "last", expected a whole number}}
"test.body"() {body = #aicf_rt.body<2 { t0 = bias_add(i0, i1) {axis = "last"} yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{bias_add: axis is 1.500000e+00 : f64, expected a whole number}}
"test.body"() {body = #aicf_rt.body<2 { t0 = bias_add(i0, i1) {axis = 1.5} yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{scale: factor is "two", expected a number}}
"test.body"() {body = #aicf_rt.body<1 { t0 = scale(i0) {factor = "two"} yield t0 }>} : () -> ()

// -----

// Tests a field whose default comes from types, which a body does not have.
// expected-error @+1 {{mse_grad needs a value for scale}}
"test.body"() {body = #aicf_rt.body<2 { t0 = mse_grad(i0, i1) yield t0 }>} : () -> ()

// -----

// Tests the normal form.
// expected-error @+1 {{the call has 2 operands, its body has room for 1}}
"test.body"() {body = #aicf_rt.body<2 { t0 = relu(i0) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{the call has 2 operands, its body reads 1}}
"test.body"() {body = #aicf_rt.body<2 { t0 = relu(i0) t1 = relu(t0) yield t1 }>} : () -> ()

// -----

// expected-error @+1 {{primitive 1 (relu): result 0 is neither read nor a result of the call}}
"test.body"() {body = #aicf_rt.body<1 { t0 = relu(i0) t1 = relu(t0) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{a launch has no 'block', expected kernel, workspace, stream, waits or signals}}
"test.launch"() {launch = #aicf_rt.launch<block = 256>} : () -> ()

// -----

// expected-error @+1 {{expected '='}}
"test.body"() {body = #aicf_rt.body<1 { t0 relu(i0) yield t0 }>} : () -> ()

// -----

// expected-error @+1 {{expected valid keyword}}
"test.body"() {body = #aicf_rt.body<1 { 7 = relu(i0) yield t0 }>} : () -> ()
