//===- CudnnStub.cpp - a library with cuDNN's functions -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// It takes every graph, or none, and keeps what it was last asked to run. Its plans have
// one engine. Tests look at it by the C functions at the end.
//===----------------------------------------------------------------------===//

#include <cudnn.h>

#include <cstring>
#include <map>
#include <vector>

namespace {

struct Descriptor {
  cudnnBackendDescriptorType_t type;
  std::map<int, std::vector<int64_t>> attributes; ///< those of 8 bytes an element
};

struct Stub {
  int64_t takes = 1, workspaceBytes = 0; ///< of every plan
  int64_t finalizedPlans = 0, runs = 0, handles = 0;
  cudaStream_t stream = nullptr;
  std::map<int64_t, int64_t> pointers; ///< of the last run, by the tensors' numbers
  int64_t workspace = 0;
};
Stub stub;

bool hasEightBytes(cudnnBackendAttributeType_t type) {
  return type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_VOID_PTR ||
         type == CUDNN_TYPE_BACKEND_DESCRIPTOR || type == CUDNN_TYPE_HANDLE;
}

} // namespace

extern "C" {

size_t cudnnGetVersion() { return 91900; }
const char *cudnnGetErrorString(cudnnStatus_t) { return "the stub's error"; }
void cudnnGetLastErrorString(char *text, size_t size) { std::strncpy(text, "", size); }

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  ++stub.handles;
  *handle = reinterpret_cast<cudnnHandle_t>(&stub);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t) {
  --stub.handles;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t stream) {
  stub.stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetStream(cudnnHandle_t, cudaStream_t *stream) {
  *stream = stub.stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *made) {
  *made = new Descriptor{type, {}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Descriptor *>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  const bool isPlan = static_cast<Descriptor *>(descriptor)->type ==
                      CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
  if (isPlan && !stub.takes)
    return CUDNN_STATUS_NOT_SUPPORTED;
  stub.finalizedPlans += isPlan;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *elements) {
  if (hasEightBytes(type)) {
    auto *first = static_cast<const int64_t *>(elements);
    static_cast<Descriptor *>(descriptor)->attributes[name] = {first, first + count};
  }
  return CUDNN_STATUS_SUCCESS;
}
/// One result of heuristics, and its engine, which are descriptors that the caller has
/// made; no notes and no knobs; all numbers but a plan's workspace are 0.
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted,
                                       int64_t *count, void *elements) {
  const bool isOwn = name == CUDNN_ATTR_ENGINEHEUR_RESULTS ||
                     name == CUDNN_ATTR_ENGINECFG_ENGINE;
  const bool isNumber = wanted == 1 && elements &&
                        (type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_INT32);
  const int64_t number =
      name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE ? stub.workspaceBytes : 0;
  if (isNumber)
    std::memcpy(elements, &number, type == CUDNN_TYPE_INT64 ? 8 : 4);
  if (count)
    *count = isOwn || isNumber;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t,
                                  cudnnBackendDescriptor_t pack) {
  auto &attributes = static_cast<Descriptor *>(pack)->attributes;
  const auto &numbers = attributes[CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS];
  const auto &pointers = attributes[CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS];
  stub.pointers.clear();
  for (size_t i = 0; i < numbers.size() && i < pointers.size(); ++i)
    stub.pointers[numbers[i]] = pointers[i];
  stub.workspace = attributes[CUDNN_ATTR_VARIANT_PACK_WORKSPACE].at(0);
  ++stub.runs;
  return CUDNN_STATUS_SUCCESS;
}

// For tests.

/// From now on; what was counted is forgotten.
void aicf_cudnn_stub_answer(int64_t takes, int64_t workspaceBytes) {
  const int64_t handles = stub.handles;
  stub = {};
  stub.takes = takes, stub.workspaceBytes = workspaceBytes, stub.handles = handles;
}
int64_t aicf_cudnn_stub_plans() { return stub.finalizedPlans; }
int64_t aicf_cudnn_stub_runs() { return stub.runs; }
int64_t aicf_cudnn_stub_handles() { return stub.handles; }
/// The address that tensor `number` of the last run had; 0 without one.
int64_t aicf_cudnn_stub_pointer(int64_t number) { return stub.pointers[number]; }
int64_t aicf_cudnn_stub_workspace() { return stub.workspace; }

} // extern "C"
