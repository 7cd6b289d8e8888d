//===- CorpusBuilder.h - makes plans that must be refused -------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_PLAN_CORPUSBUILDER_H
#define AICF_UNITTESTS_PLAN_CORPUSBUILDER_H

#include "unittests/Common/SamplePlans.h"
#include "unittests/Plan/Corpus.h"

#include <functional>

namespace aicf::test {

/// The column sums of relu(x) on CUDA, for which a call takes a workspace. The
/// entry's values: 0 y, 1 x, 2 relu(x); its buffer 2 is the workspace.
Plan makeWorkspacePlan();

/// Makes the cases. The functions of a topic are in CorpusForm.cpp (what no
/// Plan struct serializes to), CorpusMemory.cpp (buffers and values),
/// CorpusViews.cpp and CorpusCalls.cpp (calls, bodies, their order).
class CorpusBuilder {
public:
  std::vector<CorpusCase> cases;

  /// The sample plan after `change`.
  void add(PlanError expected, const char *what,
           const std::function<void(Plan &)> &change, const char *text = "") {
    Plan plan = makeTrainPlan();
    change(plan);
    addBytes(expected, what, plan.serialize(), text);
  }
  void addBytes(PlanError expected, const char *what,
                std::vector<uint8_t> bytes, const char *text = "") {
    cases.push_back({expected, std::string(nameOf(expected)) + "-" + what,
                     std::move(bytes), text});
  }

  void addOuterForm();
  void addOldTensors();
  void addTables();
  void addShared();
  void addDebug();
  void addBodies();
  void addNames();
  void addTypes();
  void addLayouts();
  void addInitializers();
  void addDerived();
  void addConstants();
  void addViews();
  void addPlacedParts();
  void addValues();
  void addSegments();
  void addCalls();
  void addOrder();
};

} // namespace aicf::test

#endif // AICF_UNITTESTS_PLAN_CORPUSBUILDER_H
