//===- SamplePlans.h - small legal plans for tests --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Built by hand, so that tests of plan and runtime need no compiler.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_SAMPLEPLANS_H
#define AICF_UNITTESTS_COMMON_SAMPLEPLANS_H

#include "aicf/Plan.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

/// y = x·Wᵀ + b; loss = mse(y, t); SGD with momentum on W and b; a step
/// counter. Entries: train and predict. Temps share bytes.
Plan makeTrainPlan();
/// makeTrainPlan() with more: a param "extra" before all others, which moves
/// every number, and an entry "wide", @predict for 4 rows, plus "extra", with
/// more temps than
/// @train has.
Plan makeLongerTrainPlan();
/// One entry on two streams: relu and copy side by side, joined by an add.
Plan makeTwoStreamPlan();
/// An entry that adds a constant to its input, returns a constant of i1 and
/// keeps an input of i1 as a state.
Plan makeConstantsPlan();
/// relu makes a temp, which another relu reads as it is and a copy as its
/// transpose; those two may be on two streams. The entry's values: 0 x, 1 y [4, 3],
/// 2 the temp [3, 4], 3 what the second relu makes, 4 the view.
Plan makeViewPlan(bool onTwoStreams = false);
/// relu and exp of x write the left and the right columns of a temp, maybe side by
/// side on two streams; relu reads all of it. The entry's values: 0 x [4, 3], 1 y
/// [4, 6], 2 the temp, 3 and 4 its columns.
Plan makePartsPlan(bool onTwoStreams = false);
/// Every initialiser and dtype in the persistent segment, one copy each.
Plan makeInitPlan();

/// A call whose labels are the numbers of its values.
PlanCall makeCall(std::shared_ptr<const Body> body, std::string kid,
                  std::vector<uint32_t> ins, std::vector<uint32_t> outs);
PlanCall makeCall(OpKind kind, std::string kid, std::vector<uint32_t> ins,
                  std::vector<uint32_t> outs, std::vector<uint8_t> attrs = {});

/// A buffer and the value that is all of it.
struct SampleTensor {
  PlanBuffer buffer;
  PlanValue value;
};
SampleTensor makeTensor(std::string name, Role role, TensorDesc desc,
                        uint64_t offset);
/// Adds a tensor to the plan's persistent tables, or to an entry's; returns the
/// number of its value, which is the buffer's too where no workspace stands
/// before it. A workspace gets no value, and the buffer's number is returned.
uint32_t addTensor(Plan &plan, SampleTensor tensor);
uint32_t addTensor(const Plan &plan, PlanEntry &entry, SampleTensor tensor);
void addTensors(Plan &plan, std::vector<SampleTensor> tensors);
void addTensors(const Plan &plan, PlanEntry &entry,
                std::vector<SampleTensor> tensors);
/// Makes the buffer as large as its value, which gets another type.
void retype(PlanBuffer &buffer, PlanValue &value, TensorDesc desc);

/// A plan of one call: operands that a result may overwrite
/// are states and are overwritten, the others inputs; results are outputs.
/// Legal where `sample` is and `device` has a kernel for it.
Plan makeCallPlan(const Sample &sample, DeviceKind device);

/// Gives a call a changed copy of its body.
template <typename Change> void setBody(PlanCall &call, Change change) {
  Body body = *call.body;
  change(body);
  call.body = std::make_shared<Body>(std::move(body));
}

struct NamedPlan {
  std::string name;
  Plan plan;
};
/// The plans above, and a plan of one call for every row of allCallRows() on
/// every device that has a kernel for it: every kind and pattern is in it.
/// Corpus, mutants, fuzzer and goldens start from these.
std::vector<NamedPlan> samplePlans();

/// The plan for another device: each call gets the kernel it would be given
/// there.
Plan withKernelsOf(Plan plan, DeviceKind device);

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_SAMPLEPLANS_H
