//===- CorpusCalls.cpp - wrong calls, bodies and orders -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "lib/Ops/BodyRules.h"
#include "unittests/Plan/CorpusBuilder.h"
#include "unittests/Plan/FlatPlans.h"

namespace aicf::test {

Plan makeWorkspacePlan() {
  const TensorDesc rows(DType::F32, {300, 401}), sums(DType::F32, {401});
  std::vector<uint8_t> attrs = encodeAttrs(ReduceSumAttrs{0});
  const PlanCall sum = makeCallPlan({{rows}, {sums}, attrs, OpKind::ReduceSum},
                                    DeviceKind::CUDA)
                           .entries[0]
                           .calls[0];
  const auto bytes = int64_t(sum.workspaceBytes);
  Plan plan;
  PlanEntry entry;
  entry.name = "sums";
  entry.ioBytes = entry.tempBytes = 1 << 20;
  addTensors(plan, entry,
             {makeTensor("y", Role::Output, sums, 0),
              makeTensor("x", Role::Input, rows, 1 << 12),
              makeTensor("", Role::Workspace, {DType::F32, {bytes / 4}}, 0),
              makeTensor("", Role::Temp, rows,
                         alignedBytes(sum.workspaceBytes))});
  entry.calls = {makeCall(OpKind::Relu, "", {1}, {2}),
                 makeCall(OpKind::ReduceSum, "", {2}, {0}, attrs)};
  entry.calls[1].workspace = 2;
  entry.calls[1].workspaceBytes = sum.workspaceBytes;
  plan.entries = {entry};
  return withKernelsOf(std::move(plan), DeviceKind::CUDA);
}

void CorpusBuilder::addCalls() {
  auto call = [](Plan &p, size_t i) -> PlanCall & {
    return p.entries[0].calls[i];
  };
  add(PlanError::CallKid, "unknown",
      [=](Plan &p) { call(p, 0).kid = "gemm_f32_magic_v0"; });
  add(
      PlanError::CallKid, "of-another-op",
      [=](Plan &p) { call(p, 0).kid = "relu_f32_v0"; },
      "is not a kernel for this call");
  add(PlanError::CallKid, "of-another-dtype",
      [=](Plan &p) { call(p, 0).kid = "gemm_f64_blas_v0"; });
  add(PlanError::CallKid, "of-another-device",
      [](Plan &p) { p.device = DeviceKind::CUDA; });
  add(PlanError::CallValue, "operand",
      [=](Plan &p) { call(p, 0).ins[0] = 99; });
  add(PlanError::CallValue, "result",
      [=](Plan &p) { call(p, 0).outs[0] = 99; });
  add(PlanError::CallValue, "workspace",
      [=](Plan &p) { call(p, 0).workspace = 99; });
  add(PlanError::CallLabels, "operands",
      [=](Plan &p) { call(p, 0).inVids.pop_back(); });
  add(PlanError::CallLabels, "results",
      [=](Plan &p) { call(p, 0).vids.push_back(1); });
  add(PlanError::CallLabels, "operands-only",
      [=](Plan &p) { call(p, 0).vids.clear(); });
  add(PlanError::CallLabels, "results-only",
      [=](Plan &p) { call(p, 0).inVids.clear(); });
  add(PlanError::CallRules, "shape", [=](Plan &p) { call(p, 0).ins[0] = 7; });
  add(PlanError::CallBody, "operands", [=](Plan &p) {
    call(p, 0).ins.pop_back();
    call(p, 0).inVids.pop_back();
  });
  add(PlanError::CallBody, "results",
      [=](Plan &p) { call(p, 0).outs.push_back(9); });
  add(PlanError::CallWorkspace, "no-buffer",
      [=](Plan &p) { call(p, 0).workspaceBytes = 4; });
  add(PlanError::CallWorkspace, "role", [=](Plan &p) {
    call(p, 0).workspace = 9;
    call(p, 0).workspaceBytes = 4;
  });
  add(PlanError::CallWorkspace, "cap", [=](Plan &p) {
    call(p, 0).workspace = int32_t(addTensor(
        p, p.entries[0],
        makeTensor("", Role::Workspace, TensorDesc(DType::F32, {4}), 512)));
    call(p, 0).workspaceBytes = 4;
  });
  add(PlanError::CallWrites, "input", [=](Plan &p) {
    call(p, 1).outs[0] = 7; // of the same type
  });
  add(
      PlanError::CallWrites, "hyper", [=](Plan &p) { call(p, 2).outs[0] = 5; },
      "writes value 5 (lr) of role hyper");
  // A reduction of CUDA's that takes a workspace, with an input in its place.
  TensorDesc rows(DType::F32, {300, 401}), sums(DType::F32, {401});
  Sample sum{{rows}, {sums}, std::vector<uint8_t>(8), OpKind::ReduceSum};
  Plan reduction = makeCallPlan(sum, DeviceKind::CUDA);
  PlanCall &reduce = reduction.entries[0].calls[0];
  uint64_t pinned = reduce.workspaceBytes;
  for (auto [what, bytes] :
       {std::pair("none", uint64_t(0)), std::pair("too-much", pinned + 4),
        std::pair("half-a-word", pinned - 2)}) {
    reduce.workspaceBytes = bytes;
    addBytes(PlanError::CallWorkspace, what, reduction.serialize());
  }
  reduce.workspaceBytes = pinned;
  reduce.workspace = int32_t(reduce.ins[0]);
  addBytes(PlanError::CallWorkspace, "input", reduction.serialize());
  add(PlanError::CallWrites, "twice", [=](Plan &p) { call(p, 7).outs[1] = 0; });
  add(PlanError::CallInplace, "gemm", [](Plan &p) {
    // A square product into its own operand.
    PlanEntry &e = p.entries[1];
    for (size_t i : {0, 1})
      retype(e.buffers[i], e.values[i], TensorDesc(DType::F32, {4, 4}));
    e.calls = {makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {6, 6}, {7},
                        std::vector<uint8_t>(8)),
               makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {7, 6}, {7},
                        std::vector<uint8_t>(8))};
  });
}

/// Bodies that are not in normal form, or that no kernel takes.
void CorpusBuilder::addBodies() {
  // Call 0 is gemm(0, 1) -> 2, call 7 sgd_step(0, 1, 2, m = 3) -> 4, 5.
  auto change = [&](PlanError expected, const char *what, size_t call,
                    const std::function<void(Body &)> &edit,
                    const char *text = "") {
    add(
        expected, what,
        [=](Plan &p) { setBody(p.entries[0].calls[call], edit); }, text);
  };
  auto form = [&](const char *what, const std::function<void(Body &)> &edit,
                  const char *text) {
    change(PlanError::BodyForm, what, 0, edit, text);
  };
  change(PlanError::BodyKind, "number", 0,
         [](Body &b) { b.primitives[0].kind = OpKind(999); });
  change(
      PlanError::BodyKind, "reserved", 0,
      [](Body &b) { b.primitives[0].kind = OpKind(19); }, "which is unknown");
  form(
      "no-primitives", [](Body &b) { b.primitives.clear(); },
      "the body has 0 primitives");
  form(
      "too-many-primitives",
      [](Body &b) {
        b.primitives.resize(kMaxBodyPrimitives + 1, b.primitives[0]);
      },
      "has 1025 primitives");
  form(
      "blob", [](Body &b) { b.primitives[0].attrs.pop_back(); },
      "attr blob has");
  form(
      "slots", [](Body &b) { b.primitives[0].operands.pop_back(); },
      "got 1 operands, expected 2");
  form(
      "absent", [](Body &b) { b.primitives[0].operands[1] = -1; }, "is absent");
  form(
      "negative", [](Body &b) { b.primitives[0].operands[1] = -2; },
      "reads value -2");
  form(
      "own-result", [](Body &b) { b.primitives[0].operands[1] = 2; },
      "reads value 2");
  form(
      "order", [](Body &b) { b.primitives[0].operands = {1, 0}; },
      "is used before operand 0");
  form(
      "twice", [](Body &b) { b.primitives[0].operands = {0, 0}; },
      "is used at two slots");
  form(
      "too-many-operands", [](Body &b) { b.numOperands = 4294967293u; },
      "has room for 2");
  form(
      "operands-without-a-slot", [](Body &b) { b.numOperands = 3; },
      "has room for 2");
  form(
      "unused-operand",
      [](Body &b) {
        b.numOperands = 3;
        b.primitives.push_back({OpKind::Add, {}, {3, 3}});
        b.results = {4};
      },
      "its body reads 2");
  form("yields-operand", [](Body &b) { b.results = {1}; }, "yields value 1");
  form("yields-nothing", [](Body &b) { b.results = {3}; }, "yields value 3");
  form("yields-twice", [](Body &b) { b.results = {2, 2}; }, "yields value 2");
  form(
      "unread-result", [](Body &b) { b.results.clear(); },
      "is neither read nor a result");
  change(
      PlanError::BodyForm, "yields-in-disorder", 7,
      [](Body &b) { std::swap(b.results[0], b.results[1]); }, "in order");
  auto pattern = [&](const char *what, size_t call,
                     const std::function<void(Body &)> &edit) {
    change(PlanError::BodyPattern, what, call, edit, "no kernel family takes");
  };
  auto addPrimitive = [](Body &b, OpKind kind, std::vector<int32_t> operands,
                         std::vector<uint8_t> attrs = {}) {
    b.primitives.push_back({kind, std::move(attrs), std::move(operands)});
  };
  pattern("other-kinds", 0, [=](Body &b) {
    addPrimitive(b, OpKind::Cumsum, {2}, encodeAttrs(CumsumAttrs{0, 0}));
    b.results = {3};
  });
  // The sums of the product, not of what it multiplies.
  pattern("other-binding", 0, [=](Body &b) {
    b.results = {3};
    addPrimitive(b, OpKind::ReduceSum, {2}, encodeAttrs(ReduceSumAttrs{0}));
  });
  // And reads a factor once more, so that it is not a graph either.
  pattern("yields-inner", 0, [=](Body &b) {
    b.results = {2, 3};
    addPrimitive(b, OpKind::BiasAdd, {2, 1}, encodeAttrs(BiasAddAttrs{-1}));
  });
  pattern("graph-in-another-order", 0, [=](Body &b) {
    b = Body{1, {}, {3}};
    addPrimitive(b, OpKind::Tanh, {0});
    addPrimitive(b, OpKind::Relu, {0});
    addPrimitive(b, OpKind::Mul, {2, 1});
  });
  pattern("graph-of-too-many", 0, [=](Body &b) {
    b = Body{1, {}, {33}};
    for (int32_t i = 0; i < 33; ++i)
      addPrimitive(b, OpKind::Relu, {i});
  });
  // Two updates: of other fields, with other scalars, one after the other.
  auto addUpdate = [=](Body &b, std::vector<int32_t> operands) {
    operands.resize(6, kAbsentValue);
    addPrimitive(b, OpKind::SgdStep, std::move(operands),
                 b.primitives[0].attrs);
  };
  auto twoUpdates = [=](Body &b, int32_t lr) {
    b.numOperands = lr == 2 ? 7 : 8;
    uint32_t first = b.numOperands;
    b.results = {first, first + 1, first + 2, first + 3};
    addUpdate(b, {4, 5, lr, int32_t(first) - 1});
  };
  pattern("other-fields", 7, [=](Body &b) {
    twoUpdates(b, 2);
    b.primitives[1].attrs[0] ^= 1;
  });
  pattern("not-shared", 7, [=](Body &b) { twoUpdates(b, 6); });
  pattern("chained", 7, [=](Body &b) {
    b.numOperands = 6;
    b.results = {6, 7, 8, 9};
    addUpdate(b, {6, 4, 2, 5});
  });
  pattern("too-many-groups", 7, [=](Body &b) {
    b.numOperands = 4 + 3 * uint32_t(kMaxUpdateGroups);
    for (size_t i = 0; i < kMaxUpdateGroups; ++i) {
      auto next = int32_t(4 + 3 * i);
      addUpdate(b, {next, next + 1, 2, next + 2});
    }
    b.results.clear();
    for (uint32_t i = 0; i < 2 * kMaxUpdateGroups + 2; ++i)
      b.results.push_back(b.numOperands + i);
  });
}

void CorpusBuilder::addOrder() {
  auto addFork = [&](PlanError expected, const char *what,
                     const std::function<void(PlanEntry &)> &change) {
    Plan plan = makeTwoStreamPlan();
    change(plan.entries[0]);
    addBytes(expected, what, plan.serialize());
  };
  addFork(PlanError::StreamOrder, "cycle",
          [](PlanEntry &e) { std::swap(e.calls[1], e.calls[2]); });
  addFork(PlanError::StreamOrder, "unjoined",
          [](PlanEntry &e) { e.calls[2].waits.clear(); });
  addFork(PlanError::StreamOrder, "event-twice",
          [](PlanEntry &e) { e.calls[0].signals = {7}; });
  addFork(PlanError::StreamOrder, "stream-number",
          [](PlanEntry &e) { e.calls[1].stream = 64; });
  addFork(PlanError::StreamOrder, "unjoined-part",
          [](PlanEntry &e) { e.parts = {{2, 1}, {1, 5}}; });
  addFork(PlanError::UnorderedAccess, "write-write", [](PlanEntry &e) {
    e.calls[1].outs = {2}; // both branches write tensor 2
    e.calls[2].ins = {2, 2};
  });
  addFork(PlanError::UnorderedAccess, "write-read", [](PlanEntry &e) {
    e.calls[1].ins = {2}; // reads what the other stream writes
  });
  addFork(PlanError::UnorderedAccess, "write-part", [](PlanEntry &e) {
    e.calls[1] = makeCall(OpKind::ReduceSum, "reduce_sum_f32_v0", {0}, {3},
                          encodeAttrs(ReduceSumAttrs{0}));
    e.values[3] = {2, 16, TensorDesc(DType::F32, {})}; // in the middle of y
    e.buffers.pop_back();
    e.calls[1].stream = 1;
    e.calls[1].signals = {7};
    e.calls[2].ins = {2, 2};
  });
  addFork(PlanError::LiveOverlap, "two-streams", [](PlanEntry &e) {
    e.buffers[3].offset = 0; // branches run side by side
  });
  addFork(PlanError::UnorderedAccess, "read-write", [](PlanEntry &e) {
    // The copy of tensor 2 runs beside the call that writes it anew.
    e.calls[0].signals = {1};
    e.calls[1].ins = {2};
    e.calls[1].waits = {1};
    e.calls.insert(e.calls.begin() + 2,
                   makeCall(OpKind::Relu, "relu_f32_v0", {0}, {2}));
  });
  Plan workspace = makeWorkspacePlan();
  PlanEntry &sums = workspace.entries[0];
  sums.buffers[3].offset = 0; // over what the call reads
  addBytes(PlanError::LiveOverlap, "workspace-over-temp",
           workspace.serialize());
  // The sums once more on another stream, which the last call joins.
  sums = makeWorkspacePlan().entries[0];
  uint32_t other = addTensor(
      workspace, sums,
      makeTensor("", Role::Temp, sums.values[0].desc, sums.tempBytes - 4096));
  sums.calls[0].signals = {1};
  sums.calls.insert(sums.calls.end(), {sums.calls[1], sums.calls[0]});
  sums.calls[2].outs = {other};
  sums.calls[2].stream = 1;
  sums.calls[2].waits = {1};
  sums.calls[2].signals = {2};
  sums.calls[3].waits = {2};
  sums.calls[3].signals.clear();
  addBytes(PlanError::UnorderedAccess, "workspace-of-two-streams",
           workspace.serialize(), "buffer 2 is accessed by call 1 too");
  add(PlanError::ReadBeforeWrite, "output",
      [](Plan &p) { std::swap(p.entries[1].calls[0], p.entries[1].calls[1]); });
  for (Role role : {Role::Temp, Role::Saved})
    add(
        PlanError::ReadBeforeWrite,
        role == Role::Temp ? "temp-never-written" : "saved-never-written",
        [=](Plan &p) {
          addTensor(p, p.entries[0],
                    makeTensor("", role, TensorDesc(DType::F32, {1}), 0));
        },
        "value 13 of role");
  add(PlanError::ReadBeforeWrite, "swapped",
      [](Plan &p) { std::swap(p.entries[0].calls[0], p.entries[0].calls[3]); });
  add(PlanError::ReadBeforeWrite, "output-never-written", [](Plan &p) {
    p.entries[0].calls.erase(p.entries[0].calls.begin() + 2);
  });
  add(
      PlanError::LiveOverlap, "dW-over-y",
      [](Plan &p) {
        p.entries[0].buffers[4].offset = 0; // dy over y, which mse_grad reads
        p.entries[0].buffers[4].name = "dy";
      },
      "buffer 9 at offset 0 and buffer 10 (dy) at offset 0 share bytes");
  add(PlanError::LiveOverlap, "beside-an-unused-buffer", [](Plan &p) {
    std::vector<PlanBuffer> &buffers = p.entries[0].buffers;
    buffers[3].bytes = 512; // y over dy
    buffers.push_back(buffers[3]);
  });
}

} // namespace aicf::test
