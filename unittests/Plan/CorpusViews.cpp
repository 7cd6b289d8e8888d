//===- CorpusViews.cpp - wrong views --------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Changes of makeViewPlan() and makePartsPlan(), which are right as they are.
//===----------------------------------------------------------------------===//

#include "unittests/Plan/CorpusBuilder.h"

namespace aicf::test {

void CorpusBuilder::addPlacedParts() {
  auto change = [this](PlanError expected, const char *what,
                       const std::function<void(PlanEntry &)> &change,
                       bool onTwoStreams = false) {
    Plan plan = makePartsPlan(onTwoStreams);
    change(plan.entries[0]);
    addBytes(expected, what, plan.serialize());
  };
  change(PlanError::ReadBeforeWrite, "part-that-nobody-writes",
         [](PlanEntry &e) { e.calls.erase(e.calls.begin() + 1); });
  change(PlanError::ReadBeforeWrite, "part-that-is-written-later",
         [](PlanEntry &e) { std::swap(e.calls[1], e.calls[2]); });
  change(
      PlanError::UnorderedAccess, "of-parts-that-meet",
      [](PlanEntry &e) { e.values[4].byteOffset = 8; }, true);
  change(
      PlanError::UnorderedAccess, "of-a-part-and-the-whole",
      [](PlanEntry &e) {
        e.calls[2].waits.clear();
        e.calls.push_back(e.calls[2]);
        e.calls[3].waits = {1};
      },
      true);
  change(PlanError::ValueRange, "part-beyond-the-whole",
         [](PlanEntry &e) { e.values[4].byteOffset = 16; });
  change(PlanError::CallInplace, "part-of-what-is-read", [](PlanEntry &e) {
    e.calls[0] = makeCall(OpKind::Copy, "copy_f32_strided_v0", {4}, {3});
    e.values[3].byteOffset = 8;
    std::swap(e.calls[0], e.calls[1]);
  });
  change(PlanError::CallKid, "part-whose-elements-meet", [](PlanEntry &e) {
    e.values[3].desc = TensorDesc::strided(
        DType::F32, std::vector<int64_t>{4, 3}, std::vector<int64_t>{2, 2});
  });
}

void CorpusBuilder::addViews() {
  auto change = [this](PlanError expected, const char *what,
                       const std::function<void(PlanEntry &)> &change,
                       const char *text = "") {
    Plan plan = makeViewPlan();
    change(plan.entries[0]);
    addBytes(expected, what, plan.serialize(), text);
  };
  auto strides = [](PlanEntry &e) -> int64_t * {
    return e.values[4].desc.strides.at;
  };
  auto view = [](PlanEntry &e) -> TensorDesc & { return e.values[4].desc; };
  change(PlanError::ValueLayout, "few-strides",
         [=](PlanEntry &e) { view(e).strides.size = 1; });
  change(PlanError::ValueLayout, "strides-of-a-dense-tensor",
         [=](PlanEntry &e) {
           strides(e)[0] = 3;
           strides(e)[1] = 1;
         });
  change(PlanError::ValueLayout, "stride-of-one-index", [=](PlanEntry &e) {
    view(e).dims[0] = 1;
  });
  change(PlanError::ValueLayout, "strides-of-a-dense-value",
         [=](PlanEntry &e) { e.values[3].desc.strides = view(e).strides; });
  change(PlanError::ValueWhole, "view-for-all", [=](PlanEntry &e) {
    e.values[1].desc = TensorDesc::strided(DType::F32,
                                           std::vector<int64_t>{4, 3},
                                           std::vector<int64_t>{0, 1});
  });
  change(PlanError::ValueRange, "view-beyond",
         [=](PlanEntry &e) { strides(e)[1] = 5; });
  change(PlanError::ValueRange, "view-beyond-by-its-offset",
         [=](PlanEntry &e) { e.values[4].byteOffset = 4; });
  change(PlanError::ValueShape, "strides-overflow",
         [=](PlanEntry &e) { strides(e)[1] = INT64_MAX / 2; });
  change(
      PlanError::CallKid, "view-of-a-dense-kernel",
      [=](PlanEntry &e) {
        e.calls[2] = makeCall(OpKind::Relu, "relu_f32_v0", {4}, {1});
      },
      "relu_f32_v0");
  // A result has strides where the kernel writes by them, and never repeats.
  change(PlanError::CallKid, "result-with-strides", [=](PlanEntry &e) {
    e.calls[1] = makeCall(OpKind::Copy, "copy_f32_v0", {1}, {4});
  });
  change(PlanError::CallKid, "result-that-repeats", [=](PlanEntry &e) {
    strides(e)[0] = 0;
    e.calls[1] = makeCall(OpKind::Copy, "copy_f32_strided_v0", {1}, {4});
  });
  // In place are the same bytes in the same order.
  change(
      PlanError::CallInplace, "in-another-order",
      [=](PlanEntry &e) {
        e.values.push_back({2, 0, TensorDesc(DType::F32, {4, 3})});
        e.calls[1] = makeCall(OpKind::Copy, "copy_f32_v0", {4}, {5});
      },
      "share bytes");
  change(
      PlanError::CallInplace, "in-another-layout",
      [](PlanEntry &e) {
        TensorDesc square(DType::F16, {8, 8}), padded = square;
        padded.layout = Layout::Padded; // without pads
        for (size_t i = 0; i < 4; ++i)
          retype(e.buffers[i], e.values[i], i < 2 ? square : padded);
        e.values[4] = {2, 0, square};
        for (PlanCall &call : e.calls)
          call = makeCall(OpKind::Relu, "relu_f16_v0", {0}, {2});
        e.calls[1].ins = {2};
        e.calls[1].outs = {4};
        e.calls[2].outs = {1};
      },
      "result 0 and operand 0 share bytes");
  Plan race = makeViewPlan(/*onTwoStreams=*/true);
  race.entries[0].calls[1].outs = {2}; // in place, while the copy reads the view
  addBytes(PlanError::UnorderedAccess, "of-a-view-and-its-base",
           race.serialize());
  addPlacedParts();
  change(PlanError::ReadBeforeWrite, "view-of-nothing", [](PlanEntry &e) {
    e.calls.erase(e.calls.begin(), e.calls.begin() + 2);
  });
  // A buffer lives as long as the last view of it is read.
  change(PlanError::LiveOverlap, "of-a-base-that-is-seen", [](PlanEntry &e) {
    e.tempBytes = 256;
    e.buffers[3].offset = 0;
  });
}

} // namespace aicf::test
