//===- SamplePlans.cpp - small legal plans for tests ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SamplePlans.h"
#include "aicf/OpCall.h"

#include "lib/Ops/BodyRules.h"
#include "lib/Ops/KernelTable.h"

#include <algorithm>
#include <cstring>

namespace aicf::test {
namespace {

TensorDesc f32(std::vector<int64_t> shape) {
  return TensorDesc(DType::F32, shape);
}

} // namespace

PlanCall makeCall(std::shared_ptr<const Body> body, std::string kid,
                  std::vector<uint32_t> ins, std::vector<uint32_t> outs) {
  PlanCall call;
  call.body = std::move(body);
  call.kid = std::move(kid);
  call.inVids.assign(ins.begin(), ins.end());
  call.vids.resize(valuesMade(*call.body).size(), -1);
  if (call.vids.size() == outs.size())
    call.vids.assign(outs.begin(), outs.end());
  call.ins = std::move(ins);
  call.outs = std::move(outs);
  return call;
}

PlanCall makeCall(OpKind kind, std::string kid, std::vector<uint32_t> ins,
                  std::vector<uint32_t> outs, std::vector<uint8_t> attrs) {
  const OpInfo &info = infoOf(kind);
  std::vector<bool> hasOperand(ins.size(), true), hasResult(outs.size(), true);
  if (!info.hasVariadic) { // what is left out at the end is absent
    hasOperand.resize(std::max(ins.size(), info.numOperands));
    hasResult.resize(std::max(outs.size(), info.numResults));
  }
  return makeCall(std::make_shared<Body>(
                      makeBody(kind, std::move(attrs), hasOperand, hasResult)),
                  std::move(kid), std::move(ins), std::move(outs));
}

SampleTensor makeTensor(std::string name, Role role, TensorDesc desc,
                        uint64_t offset) {
  SampleTensor t;
  t.buffer.name = std::move(name);
  t.buffer.role = role;
  t.buffer.offset = offset;
  retype(t.buffer, t.value, desc);
  return t;
}

void retype(PlanBuffer &buffer, PlanValue &value, TensorDesc desc) {
  value.desc = desc;
  buffer.bytes = desc.spanBytes();
}

static uint32_t add(SampleTensor tensor, std::vector<PlanBuffer> &buffers,
                    std::vector<PlanValue> &values, size_t firstBuffer,
                    size_t firstValue) {
  auto number = uint32_t(firstBuffer + buffers.size());
  bool hasValue = tensor.buffer.role != Role::Workspace;
  tensor.value.buffer = number;
  buffers.push_back(std::move(tensor.buffer));
  if (!hasValue)
    return number;
  values.push_back(tensor.value);
  return uint32_t(firstValue + values.size() - 1);
}

uint32_t addTensor(Plan &plan, SampleTensor tensor) {
  return add(std::move(tensor), plan.buffers, plan.values, 0, 0);
}
uint32_t addTensor(const Plan &plan, PlanEntry &entry, SampleTensor tensor) {
  return add(std::move(tensor), entry.buffers, entry.values,
             plan.buffers.size(), plan.values.size());
}
void addTensors(Plan &plan, std::vector<SampleTensor> tensors) {
  for (SampleTensor &tensor : tensors)
    addTensor(plan, std::move(tensor));
}
void addTensors(const Plan &plan, PlanEntry &entry,
                std::vector<SampleTensor> tensors) {
  for (SampleTensor &tensor : tensors)
    addTensor(plan, entry, std::move(tensor));
}

Plan makeTrainPlan() {
  Plan plan;
  plan.persistentBytes = 6 * 256;
  addTensors(plan,
             {makeTensor("W", Role::Param, f32({3, 4}), 0),            // 0
              makeTensor("b", Role::Param, f32({3}), 256),             // 1
              makeTensor("mW", Role::State, f32({3, 4}), 512),         // 2
              makeTensor("mb", Role::State, f32({3}), 768),            // 3
              makeTensor("step", Role::State, {DType::I64, {}}, 1024), // 4
              makeTensor("lr", Role::Hyper, f32({}), 1280)});          // 5
  plan.buffers[0].init = InitKind::UniformFanIn;
  for (size_t i = 1; i < 5; ++i)
    plan.buffers[i].init = InitKind::Zeros;
  PlanEntry train;
  train.name = "train";
  train.ioBytes = 3 * 256;
  train.tempBytes = 3 * 256;
  train.tempLowerBound = 3 * 256;
  addTensors(plan, train,
             {makeTensor("x", Role::Input, f32({2, 4}), 0),   // 6
              makeTensor("t", Role::Input, f32({2, 3}), 256), // 7
              makeTensor("loss", Role::Output, f32({}), 512), // 8
              makeTensor("", Role::Temp, f32({2, 3}), 0),     // 9: y
              makeTensor("", Role::Temp, f32({2, 3}), 256),   // 10: dy
              makeTensor("", Role::Temp, f32({3, 4}), 0),     // 11: dW
              makeTensor("", Role::Temp, f32({3}), 512)});    // 12: db
  SgdStepAttrs sgd{0.9, 0, 0};
  train.calls = {makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {6, 0}, {9},
                          encodeAttrs(GemmAttrs{0, 1})),
                 makeCall(OpKind::BiasAdd, "bias_add_f32_v0", {9, 1}, {9},
                          encodeAttrs(BiasAddAttrs{-1})),
                 makeCall(OpKind::MseLoss, "mse_loss_f32_v0", {9, 7}, {8}),
                 makeCall(OpKind::MseGrad, "mse_grad_f32_v1", {9, 7}, {10},
                          encodeAttrs(MseGradAttrs{2.0 / 6})),
                 makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {10, 6}, {11},
                          encodeAttrs(GemmAttrs{1, 0})),
                 makeCall(OpKind::ReduceSum, "reduce_sum_f32_v0", {10}, {12},
                          encodeAttrs(ReduceSumAttrs{0})),
                 makeCall(OpKind::StepInc, "step_inc_i64_v0", {4}, {4}),
                 makeCall(OpKind::SgdStep, "sgd_step_f32_v0", {0, 11, 5, 2},
                          {0, 2}, encodeAttrs(sgd)),
                 makeCall(OpKind::SgdStep, "sgd_step_f32_v0", {1, 12, 5, 3},
                          {1, 3}, encodeAttrs(sgd))};
  PlanEntry predict;
  predict.name = "predict";
  predict.ioBytes = 2 * 256;
  addTensors(plan, predict,
             {makeTensor("x", Role::Input, f32({2, 4}), 0),
              makeTensor("y", Role::Output, f32({2, 3}), 256)});
  predict.calls = {makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {6, 0}, {7},
                            encodeAttrs(GemmAttrs{0, 1})),
                   makeCall(OpKind::BiasAdd, "bias_add_f32_v0", {7, 1}, {7},
                            encodeAttrs(BiasAddAttrs{-1}))};
  plan.entries = {train, predict};
  return plan;
}

Plan makeLongerTrainPlan() {
  Plan plan = makeTrainPlan();
  SampleTensor extra = makeTensor("extra", Role::Param, f32({4, 3}), 6 * 256);
  for (PlanValue &value : plan.values)
    ++value.buffer;
  for (PlanEntry &entry : plan.entries)
    for (PlanValue &value : entry.values)
      ++value.buffer;
  plan.buffers.insert(plan.buffers.begin(), extra.buffer);
  plan.values.insert(plan.values.begin(), extra.value);
  plan.buffers[0].init = InitKind::Ones;
  plan.persistentBytes += 256;
  for (PlanEntry &entry : plan.entries)
    for (PlanCall &call : entry.calls)
      for (auto *numbers : {&call.ins, &call.outs})
        for (uint32_t &value : *numbers)
          ++value;
  PlanEntry wide;
  wide.name = "wide";
  wide.ioBytes = 2 * 256;
  wide.tempBytes = 5 * 256;
  addTensors(plan, wide,
             {makeTensor("x", Role::Input, f32({4, 4}), 0),    // 7
              makeTensor("y", Role::Output, f32({4, 3}), 256), // 8
              makeTensor("", Role::Temp, f32({4, 3}), 1024)}); // 9
  wide.calls = {makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {7, 1}, {9},
                         encodeAttrs(GemmAttrs{0, 1})),
                makeCall(OpKind::BiasAdd, "bias_add_f32_v0", {9, 2}, {9},
                         encodeAttrs(BiasAddAttrs{-1})),
                makeCall(OpKind::Add, "add_f32_v0", {9, 0}, {8})};
  plan.entries.insert(plan.entries.begin(), wide);
  return plan;
}

Plan makeConstantsPlan() {
  Plan plan;
  plan.persistentBytes = 3 * 256;
  TensorDesc bits(DType::I1, {5});
  addTensors(plan, {makeTensor("table", Role::Constant, f32({2, 3}), 0), // 0
                    makeTensor("mask", Role::Constant, bits, 256),       // 1
                    makeTensor("kept", Role::State, bits, 512)});        // 2
  const float table[] = {1, -2, 3, 0.5, 0, 8};
  plan.buffers[0].data.bytes.resize(sizeof(table));
  std::memcpy(plan.buffers[0].data.bytes.data(), table, sizeof(table));
  plan.buffers[1].data.bytes = {1, 0, 1, 1, 0};
  plan.buffers[2].init = InitKind::Ones;
  PlanEntry entry;
  entry.name = "use";
  entry.ioBytes = 4 * 256;
  addTensors(plan, entry,
             {makeTensor("x", Role::Input, f32({2, 3}), 0),    // 3
              makeTensor("m", Role::Input, bits, 256),         // 4
              makeTensor("y", Role::Output, f32({2, 3}), 512), // 5
              makeTensor("k", Role::Output, bits, 768)});      // 6
  entry.calls = {makeCall(OpKind::Add, "add_f32_v0", {0, 3}, {5}),
                 makeCall(OpKind::Copy, "copy_i1_v0", {1}, {6}),
                 makeCall(OpKind::Copy, "copy_i1_v0", {4}, {2})};
  plan.entries = {entry};
  return plan;
}

Plan makeViewPlan(bool onTwoStreams) {
  Plan plan;
  PlanEntry entry;
  entry.name = "turn";
  entry.ioBytes = entry.tempBytes = 2 * 256;
  addTensors(plan, entry,
             {makeTensor("x", Role::Input, f32({3, 4}), 0),     // 0
              makeTensor("y", Role::Output, f32({4, 3}), 256),  // 1
              makeTensor("", Role::Temp, f32({3, 4}), 0),       // 2
              makeTensor("", Role::Temp, f32({3, 4}), 256)});   // 3
  entry.values.push_back({2, 0,
                          TensorDesc::strided(DType::F32,
                                              std::vector<int64_t>{4, 3},
                                              std::vector<int64_t>{1, 4})});
  entry.calls = {makeCall(OpKind::Relu, "relu_f32_v0", {0}, {2}),
                 makeCall(OpKind::Relu, "relu_f32_v0", {2}, {3}),
                 makeCall(OpKind::Copy, "copy_f32_v0", {4}, {1})};
  if (onTwoStreams) { // joined by the same copy once more
    entry.calls[0].signals = {1};
    entry.calls[1].stream = 1;
    entry.calls[1].waits = {1};
    entry.calls[1].signals = {2};
    entry.calls.push_back(entry.calls[2]);
    entry.calls[3].waits = {2};
  }
  plan.entries = {entry};
  return plan;
}

Plan makePartsPlan(bool onTwoStreams) {
  Plan plan;
  PlanEntry entry;
  entry.name = "join";
  entry.ioBytes = 2 * 256;
  entry.tempBytes = 256;
  addTensors(plan, entry,
             {makeTensor("x", Role::Input, f32({4, 3}), 0),    // 0
              makeTensor("y", Role::Output, f32({4, 6}), 256), // 1
              makeTensor("", Role::Temp, f32({4, 6}), 0)});    // 2
  const TensorDesc columns = TensorDesc::strided(
      DType::F32, std::vector<int64_t>{4, 3}, std::vector<int64_t>{6, 1});
  entry.values.push_back({2, 0, columns});  // 3
  entry.values.push_back({2, 12, columns}); // 4
  entry.calls = {makeCall(OpKind::Relu, "relu_graph_v0", {0}, {3}),
                 makeCall(OpKind::Exp, "exp_graph_v0", {0}, {4}),
                 makeCall(OpKind::Relu, "relu_f32_v0", {2}, {1})};
  if (onTwoStreams) {
    entry.calls[1].stream = 1;
    entry.calls[1].signals = {1};
    entry.calls[2].waits = {1};
  }
  plan.entries = {entry};
  return plan;
}

Plan makeTwoStreamPlan() {
  Plan plan;
  PlanEntry entry;
  entry.name = "fork";
  entry.ioBytes = 512;
  entry.tempBytes = 512;
  addTensors(plan, entry,
             {makeTensor("x", Role::Input, f32({8}), 0),    // 0
              makeTensor("y", Role::Output, f32({8}), 256), // 1
              makeTensor("", Role::Temp, f32({8}), 0),      // 2
              makeTensor("", Role::Temp, f32({8}), 256)});  // 3
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
    SampleTensor t =
        makeTensor(std::move(name), Role::Param, TensorDesc(dtype, {16, 16}),
                   plan.persistentBytes);
    t.buffer.init = init;
    t.buffer.initValue = value;
    plan.persistentBytes += 2048;
    addTensor(plan, t);
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
  addTensors(plan, entry, {makeTensor("y", Role::Output, f32({16, 16}), 0)});
  entry.calls = {makeCall(OpKind::Copy, "copy_f32_v0", {3}, {6})};
  plan.entries = {entry};
  return plan;
}

/// The operand that a result overwrites in place, or -1.
static int overwrittenOperand(const Sample &call, const BodyFacts &facts,
                              size_t result) {
  for (uint32_t operand : facts.ties[result])
    if (call.ins[operand] == call.outs[result])
      return int(operand);
  return -1;
}

/// Puts a buffer at the end of a segment of `bytes` bytes.
static void place(PlanBuffer &buffer, uint64_t &bytes) {
  buffer.offset = bytes;
  bytes += alignedBytes(std::max<uint64_t>(buffer.bytes, 1));
}

Plan makeCallPlan(const Sample &sample, DeviceKind device) {
  Sample call = toCall(sample);
  BodyFacts facts; // none of a body that is to be refused
  if (checkForm(*call.body).ok())
    facts = factsOf(*call.body);
  facts.ties.resize(call.outs.size());
  Plan plan;
  plan.device = device;
  PlanEntry entry;
  entry.name =
      facts.pattern ? std::string(nameOfPattern(*facts.pattern)) : "refused";
  constexpr uint32_t kUnset = UINT32_MAX;
  std::vector<uint32_t> ins(call.ins.size(), kUnset), outs;
  std::vector<int> overwrites;
  for (size_t r = 0; r < call.outs.size(); ++r) {
    int operand = overwrittenOperand(call, facts, r);
    if (operand >= 0 && ins[size_t(operand)] != kUnset)
      operand = -1;
    overwrites.push_back(operand);
    if (operand < 0)
      continue;
    ins[size_t(operand)] =
        addTensor(plan, makeTensor("state" + std::to_string(operand),
                                   Role::State, call.outs[r], 0));
    plan.buffers.back().init = InitKind::Ones;
    place(plan.buffers.back(), plan.persistentBytes);
  }
  auto addIO = [&](const std::string &name, Role role, const TensorDesc &desc) {
    uint32_t number = addTensor(plan, entry, makeTensor(name, role, desc, 0));
    place(entry.buffers.back(), entry.ioBytes);
    return number;
  };
  for (size_t r = 0; r < call.outs.size(); ++r)
    outs.push_back(overwrites[r] >= 0 ? ins[size_t(overwrites[r])]
                                      : addIO("out" + std::to_string(r),
                                              Role::Output, call.outs[r]));
  for (size_t i = 0; i < ins.size(); ++i)
    if (ins[i] == kUnset)
      ins[i] = addIO("in" + std::to_string(i), Role::Input, call.ins[i]);
  StatusOr<TypedBody> typed = typedBodyOf(call);
  const KernelRow *row = typed.ok() ? selectKernel(device, *typed) : nullptr;
  entry.calls = {
      makeCall(call.body, row ? std::string(row->kid) : "none", ins, outs)};
  if (uint64_t bytes = row ? row->workspaceBytes(*typed) : 0) {
    entry.calls[0].workspace = int32_t(
        addTensor(plan, entry,
                  makeTensor("", Role::Workspace,
                             TensorDesc(DType::I32, {int64_t(bytes / 4)}), 0)));
    place(entry.buffers.back(), entry.tempBytes);
    entry.calls[0].workspaceBytes = bytes;
  }
  plan.entries = {entry};
  return plan;
}

std::vector<NamedPlan> samplePlans() {
  std::vector<NamedPlan> plans = {{"train", makeTrainPlan()},
                                  {"two-streams", makeTwoStreamPlan()},
                                  {"constants", makeConstantsPlan()},
                                  {"views", makeViewPlan()},
                                  {"views-streams", makeViewPlan(true)},
                                  {"parts", makePartsPlan()},
                                  {"parts-streams", makePartsPlan(true)},
                                  {"inits", makeInitPlan()}};
  for (const KindRow &row : allCallRows())
    for (DeviceKind device : kDeviceKinds) {
      Sample sample = makeSample(row, 3, 4, row.usualType());
      StatusOr<TypedBody> typed = typedBodyOf(sample);
      if (!typed.ok() || !selectKernel(device, *typed))
        continue;
      std::string name = std::string(nameOf(device)) + "-" + row.name;
      std::replace(name.begin(), name.end(), ' ', '-');
      plans.push_back({name, makeCallPlan(sample, device)});
    }
  return plans;
}

Plan withKernelsOf(Plan plan, DeviceKind device) {
  plan.device = device;
  for (PlanEntry &entry : plan.entries) {
    auto descsOf = [&](const std::vector<uint32_t> &values) {
      std::vector<TensorDesc> descs;
      for (uint32_t value : values)
        descs.push_back(plan.value(entry, value).desc);
      return descs;
    };
    for (PlanCall &call : entry.calls)
      call.kid =
          selectKernel(device, *TypedBody::create(call.body, descsOf(call.ins),
                                                  descsOf(call.outs)))
              ->kid;
  }
  return plan;
}

} // namespace aicf::test
