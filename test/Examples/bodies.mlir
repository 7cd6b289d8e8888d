// RUN: aicf-opt %s --verify-roundtrip --allow-unregistered-dialect -o /dev/null

// The examples of calls, bodies and plans on the dialect's page.

func.func @calls(%x: tensor<4x8xf32>, %W: tensor<2x8xf32>, %b: tensor<2xf32>,
                 %p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>,
                 %lr: tensor<f32>, %ok: tensor<i32>) {
    %p2, %m2 = aicf_rt.call sgd_step(%p, %g, %lr, m = %m, ok = %ok)
        {momentum = 0.9} inplace [0, 3] launch<kernel = "sgd_step_f32_v0">
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<i32>)
        -> (tensor<8xf32>, tensor<8xf32>)
    %h = aicf_rt.call {
      t0 = gemm(%x, %W) {transB = true}
      t1 = bias_add(t0, %b)
      yield t1
    } vids [3, 3] : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

"test.attributes"() {body =
    #aicf_rt.body<3 { t0 = gemm(i0, i1) {transB = true} t1 = bias_add(t0, i2) yield t1 }>
    , launch =
    #aicf_rt.launch<kernel = "relu_f32_v0", stream = 1, waits = [0]>
    } : () -> ()

aicf_rt.plan cpu persistent(256) {
  aicf_rt.global @W param offset(0) vid(1) init(normal, 0.5)
      : !aicf_rt.value<4xf32>
  aicf_rt.entry @predict io(256) temp(0) bound(0) values(2) nodes(1) {
    %W_buffer = aicf_rt.get @W
    %W = aicf_rt.value %W_buffer[0] vid(1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(0)
    %y = aicf_rt.value %y_buffer[0] vid(2) : <4xf32>
    aicf_rt.call relu(%W) outs(%y) in_vids [1] vids [2] launch<kernel = "relu_f32_v0">
        : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}
