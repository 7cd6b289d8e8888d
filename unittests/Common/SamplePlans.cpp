//===- SamplePlans.cpp - small legal plans for tests ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SamplePlans.h"

#include "aicf/Support/OpRules.h"

namespace aicf::test {
namespace {

template <typename T> std::vector<uint8_t> blob(const T &attrs) {
  const auto *at = reinterpret_cast<const uint8_t *>(&attrs);
  return std::vector<uint8_t>(at, at + sizeof(T));
}

TensorDesc f32(std::vector<int64_t> shape) {
  return TensorDesc(DType::F32, shape);
}

} // namespace

PlanCall makeCall(OpKind kind, std::string kid, std::vector<uint32_t> ins,
                  std::vector<uint32_t> outs, std::vector<uint8_t> attrs) {
  PlanCall call;
  call.kind = kind;
  call.kid = std::move(kid);
  call.schema = infoOf(kind).schema;
  call.attrs = std::move(attrs);
  call.inVids.assign(ins.begin(), ins.end());
  call.outVids.assign(outs.begin(), outs.end());
  call.ins = std::move(ins);
  call.outs = std::move(outs);
  return call;
}

PlanTensor makeTensor(std::string name, Role role, TensorDesc desc,
                      uint64_t offset) {
  PlanTensor t;
  t.name = std::move(name);
  t.role = role;
  t.desc = desc;
  t.offset = offset;
  return t;
}

Plan makeTrainPlan() {
  Plan plan;
  plan.persistentBytes = 6 * 256;
  plan.persistent = {
      makeTensor("W", Role::Param, f32({3, 4}), 0),            // 0
      makeTensor("b", Role::Param, f32({3}), 256),             // 1
      makeTensor("mW", Role::State, f32({3, 4}), 512),         // 2
      makeTensor("mb", Role::State, f32({3}), 768),            // 3
      makeTensor("step", Role::State, {DType::I64, {}}, 1024), // 4
      makeTensor("lr", Role::Hyper, f32({}), 1280)};           // 5
  plan.persistent[0].init = InitKind::UniformFanIn;
  for (size_t i = 1; i < 5; ++i)
    plan.persistent[i].init = InitKind::Zeros;
  PlanEntry train;
  train.name = "train";
  train.ioBytes = 3 * 256;
  train.tempBytes = 3 * 256;
  train.tempLowerBound = 3 * 256;
  train.tensors = {makeTensor("x", Role::Input, f32({2, 4}), 0),   // 6
                   makeTensor("t", Role::Input, f32({2, 3}), 256), // 7
                   makeTensor("loss", Role::Output, f32({}), 512), // 8
                   makeTensor("", Role::Temp, f32({2, 3}), 0),     // 9: y
                   makeTensor("", Role::Temp, f32({2, 3}), 256),   // 10: dy
                   makeTensor("", Role::Temp, f32({3, 4}), 0),     // 11: dW
                   makeTensor("", Role::Temp, f32({3}), 512)};     // 12: db
  SgdStepAttrs sgd{0.9, 0, 0};
  train.calls = {makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {6, 0}, {9},
                          blob(GemmAttrs{0, 1})),
                 makeCall(OpKind::BiasAdd, "bias_add_f32_v0", {9, 1}, {9},
                          blob(BiasAddAttrs{-1})),
                 makeCall(OpKind::MseLoss, "mse_loss_f32_v0", {9, 7}, {8}),
                 makeCall(OpKind::MseGrad, "mse_grad_f32_v0", {9, 7}, {10},
                          blob(MseGradAttrs{2.0 / 6})),
                 makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {10, 6}, {11},
                          blob(GemmAttrs{1, 0})),
                 makeCall(OpKind::ReduceSum, "reduce_sum_f32_v0", {10}, {12},
                          blob(ReduceSumAttrs{0})),
                 makeCall(OpKind::StepInc, "step_inc_i64_v0", {4}, {4}),
                 makeCall(OpKind::SgdStep, "sgd_step_f32_v0", {0, 11, 5, 2},
                          {0, 2}, blob(sgd)),
                 makeCall(OpKind::SgdStep, "sgd_step_f32_v0", {1, 12, 5, 3},
                          {1, 3}, blob(sgd))};
  PlanEntry predict;
  predict.name = "predict";
  predict.ioBytes = 2 * 256;
  predict.tensors = {makeTensor("x", Role::Input, f32({2, 4}), 0),
                     makeTensor("y", Role::Output, f32({2, 3}), 256)};
  predict.calls = {makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {6, 0}, {7},
                            blob(GemmAttrs{0, 1})),
                   makeCall(OpKind::BiasAdd, "bias_add_f32_v0", {7, 1}, {7},
                            blob(BiasAddAttrs{-1}))};
  plan.entries = {train, predict};
  return plan;
}

Plan makeTwoStreamPlan() {
  Plan plan;
  PlanEntry entry;
  entry.name = "fork";
  entry.ioBytes = 512;
  entry.tempBytes = 512;
  entry.tensors = {makeTensor("x", Role::Input, f32({8}), 0),    // 0
                   makeTensor("y", Role::Output, f32({8}), 256), // 1
                   makeTensor("", Role::Temp, f32({8}), 0),      // 2
                   makeTensor("", Role::Temp, f32({8}), 256)};   // 3
  entry.calls = {makeCall(OpKind::Relu, "relu_f32_v0", {0}, {2}),
                 makeCall(OpKind::Copy, "copy_f32_v0", {0}, {3}),
                 makeCall(OpKind::Add, "add_f32_v0", {2, 3}, {1})};
  entry.calls[1].stream = 1;
  entry.calls[1].signals = {7};
  entry.calls[2].waits = {7};
  plan.entries = {entry};
  return plan;
}

Plan makeInitPlan() {
  Plan plan;
  auto add = [&](std::string name, DType dtype, InitKind init, double value) {
    PlanTensor t =
        makeTensor(std::move(name), Role::Param, TensorDesc(dtype, {16, 16}),
                   plan.persistentBytes);
    t.init = init;
    t.initValue = value;
    plan.persistentBytes += 2048;
    plan.persistent.push_back(t);
  };
  add("zeros", DType::F64, InitKind::Zeros, 0);
  add("ones", DType::F16, InitKind::Ones, 0);
  add("constant", DType::I32, InitKind::Constant, -7);
  add("uniform", DType::F32, InitKind::UniformFanIn, 0);
  add("normal", DType::F32, InitKind::Normal, 0.5);
  add("bf16", DType::BF16, InitKind::Constant, 1.5);
  PlanEntry entry;
  entry.name = "show";
  entry.ioBytes = 2048;
  entry.tensors = {makeTensor("y", Role::Output, f32({16, 16}), 0)};
  entry.calls = {makeCall(OpKind::Copy, "copy_f32_v0", {3}, {6})};
  plan.entries = {entry};
  return plan;
}

} // namespace aicf::test
