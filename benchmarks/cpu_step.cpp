//===- cpu_step.cpp - a plan's first entry on the CPU, timed --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// aicf-cpu-step PLAN THREADS: what a C++ program does for a call (a graph
// launch and a read of the 0-d output), N times for every number N on standard
// input; answers with the microseconds of one. Inputs are zeros, hypers 0.001.
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"

#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace aicf;

static Status writeInputs(Executor &executor) {
  const Plan &plan = executor.plan();
  for (const PlanTensor &t : plan.persistent) {
    const float rate = 0.001f;
    if (t.role == Role::Hyper)
      AICF_RETURN_IF_ERROR(executor.write(t.name, &rate, sizeof(rate)));
  }
  for (const PlanTensor &t : plan.entries[0].tensors) {
    std::vector<uint8_t> zeros(t.desc.spanBytes());
    if (t.role == Role::Input)
      AICF_RETURN_IF_ERROR(executor.write(plan.entries[0].name + "/" + t.name,
                                          zeros.data(), zeros.size()));
  }
  return {};
}

static Status serve(const char *path, int threads) {
  AICF_ASSIGN_OR_RETURN(Plan plan, Plan::load(path));
  AICF_ASSIGN_OR_RETURN(
      auto executor,
      Executor::create(std::make_shared<const Plan>(std::move(plan)),
                       createCPUDevice({threads})));
  AICF_RETURN_IF_ERROR(writeInputs(*executor));
  const PlanEntry &entry = executor->plan().entries[0];
  GraphKey key{entry.name, 1};
  std::string loss = entry.name + "/loss";
  for (long n; std::cin >> n;) {
    auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < n; ++i) {
      float value = 0;
      AICF_RETURN_IF_ERROR(executor->run(key));
      AICF_RETURN_IF_ERROR(executor->read(loss, &value, sizeof(value)));
    }
    std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - start;
    std::cout << took.count() / double(n) << std::endl;
  }
  return {};
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: aicf-cpu-step PLAN THREADS\n";
    return 2;
  }
  Status status = serve(argv[1], std::atoi(argv[2]));
  if (!status.ok())
    std::cerr << "aicf-cpu-step: " << status.toString() << "\n";
  return status.ok() ? 0 : 2;
}
