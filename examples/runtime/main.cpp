//===- main.cpp - the smallest program that runs a plan -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// run-plan PLAN: runs the first entry 20 times on the CPU, with ones as inputs
// and 0.01 in every hyper-parameter, and prints its scalar outputs. Integer
// inputs (labels) are zeros. It trains on nothing of use.
//===----------------------------------------------------------------------===//

#include <aicf/Executor.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

aicf::Status writeInput(aicf::Executor &executor, const std::string &name,
                        const aicf::TensorInfo &tensor) {
  std::vector<char> bytes(tensor.desc.spanBytes());
  float value = tensor.role == aicf::Role::Hyper ? 0.01f : 1.0f;
  if (tensor.desc.dtype == aicf::DType::F32)
    for (size_t i = 0; i < bytes.size() / sizeof(float); ++i)
      reinterpret_cast<float *>(bytes.data())[i] = value;
  return executor.write(name, bytes.data(), bytes.size());
}

aicf::Status runPlan(const char *path) {
  auto loaded = aicf::Plan::load(path);
  if (!loaded.ok())
    return loaded.status();
  auto plan = std::make_shared<const aicf::Plan>(std::move(*loaded));
  auto executor = aicf::Executor::create(plan, aicf::createCPUDevice());
  if (!executor.ok())
    return executor.status();
  const aicf::PlanEntry &entry = plan->entries.front();
  for (const aicf::TensorInfo &tensor : plan->tensors())
    if (tensor.role == aicf::Role::Hyper)
      if (auto status = writeInput(**executor, tensor.name, tensor);
          !status.ok())
        return status;
  for (const aicf::TensorInfo &tensor : plan->tensors(entry))
    if (tensor.role == aicf::Role::Input)
      if (auto status =
              writeInput(**executor, entry.name + "/" + tensor.name, tensor);
          !status.ok())
        return status;
  for (int step = 0; step < 20; ++step)
    if (auto status = (*executor)->run(entry.name); !status.ok())
      return status;
  for (const aicf::TensorInfo &tensor : plan->tensors(entry))
    if (tensor.role == aicf::Role::Output &&
        tensor.desc.dtype == aicf::DType::F32 && tensor.desc.elements() == 1) {
      float value = 0;
      if (auto status = (*executor)->read(entry.name + "/" + tensor.name,
                                          &value, sizeof(value));
          !status.ok())
        return status;
      std::printf("%s %g\n", tensor.name.c_str(), value);
    }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run-plan PLAN\n");
    return 2;
  }
  aicf::Status status = runPlan(argv[1]);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
