//===- CUDATestDevice.h - a CUDA device for tests ------------- -*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over a fake table, which needs no GPU, or with AICF_TEST_DEVICE=cuda over the
// real one.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_RUNTIME_CUDA_CUDATESTDEVICE_H
#define AICF_UNITTESTS_RUNTIME_CUDA_CUDATESTDEVICE_H

#include "FakeCuda.h"
#include "aicf/Executor.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Runtime/CUDA/CUDADevice.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace aicf::test {

inline bool isReal() {
  const char *name = std::getenv("AICF_TEST_DEVICE");
  return name && std::string_view(name) == "cuda";
}
inline const CudaApi &baseApi() { return isReal() ? realCudaApi() : fakeCudaApi(); }

/// A sample plan with the kernels of another device.
inline std::shared_ptr<const Plan> toCuda(Plan plan) {
  plan = withKernelsOf(std::move(plan), DeviceKind::CUDA);
  for (PlanEntry &entry : plan.entries)
    for (PlanCall &call : entry.calls) // one product by the library
      if (call.body->primitives[0].kind == OpKind::Gemm &&
          entry.name == "predict")
        call.kid = "gemm_f32_lt_v0";
  EXPECT_TRUE(verifyPlan(plan).ok()) << verifyPlan(plan).message();
  return std::make_shared<const Plan>(std::move(plan));
}

inline std::shared_ptr<Device> makeDevice(const CudaApi &api = baseApi(),
                                   CUDADeviceOptions options = {}) {
  auto device = CUDADevice::create(api, options);
  EXPECT_TRUE(device.ok()) << device.status().toString();
  return device.ok() ? *device : nullptr;
}

/// relu of the number at `memory`, in place.
inline ResolvedCall makeRelu(Device &device, void *memory) {
  std::vector<TensorView> views = {{memory, TensorDesc(DType::F32, {})}};
  auto call = resolve(device, {std::make_shared<Body>(
                                   makeBody(OpKind::Relu, {}, {true}, {true})),
                               views, views});
  EXPECT_TRUE(call.ok()) << call.status().toString();
  return std::move(*call);
}

inline constexpr float kX[8] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1};
inline constexpr float kT[6] = {1, 0, 0, 0, 1, 0};

inline Status writeInputs(Executor &e) {
  float lr = 0.1f;
  AICF_RETURN_IF_ERROR(e.write("train/x", kX, sizeof(kX)));
  AICF_RETURN_IF_ERROR(e.write("predict/x", kX, sizeof(kX)));
  AICF_RETURN_IF_ERROR(e.write("t", kT, sizeof(kT)));
  return e.write("lr", &lr, sizeof(lr));
}

inline std::unique_ptr<Executor> makeTrainer(std::shared_ptr<Device> device,
                                      ExecutorOptions options = {},
                                      const Plan &plan = makeTrainPlan()) {
  auto executor = Executor::create(toCuda(plan), device, options);
  EXPECT_TRUE(executor.ok()) << executor.status().toString();
  Status written = writeInputs(**executor);
  EXPECT_TRUE(written.ok()) << written.toString();
  return std::move(*executor);
}

inline std::vector<uint8_t> stateOf(Executor &executor) {
  std::vector<uint8_t> all;
  for (const char *name : {"W", "b", "mW", "mb", "step", "loss"}) {
    std::vector<uint8_t> bytes(executor.find(name)->desc.spanBytes());
    Status read = executor.read(name, bytes.data(), bytes.size());
    EXPECT_TRUE(read.ok()) << read.toString();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

} // namespace aicf::test

#endif // AICF_UNITTESTS_RUNTIME_CUDA_CUDATESTDEVICE_H
