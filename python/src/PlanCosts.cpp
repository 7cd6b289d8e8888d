//===- PlanCosts.cpp - what a plan takes, from the plan alone -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/PlanCosts.h"
#include "lib/Ops/BodyRules.h"
#include "python/src/Errors.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace aicf::python {
namespace {

double flopsOf(const Primitive &primitive,
               const std::vector<TensorDesc> &values, uint32_t firstResult) {
  const TensorDesc &result = values[firstResult];
  if (primitive.kind == OpKind::Copy || primitive.kind == OpKind::CopySaved)
    return 0;
  if (primitive.kind != OpKind::Gemm &&
      primitive.kind != OpKind::BatchedGemm) {
    double elements = 0;
    for (uint32_t i = 0; i < primitive.numResults(); ++i)
      if (!values[firstResult + i].isAbsent)
        elements += double(values[firstResult + i].elements());
    return elements;
  }
  double k = double(values[size_t(primitive.operands[0])].elements()) /
             double(result.rows());
  return 2.0 * double(result.elements()) * k;
}

double flopsOf(const Plan &plan, const PlanEntry &entry, const PlanCall &call) {
  std::vector<TensorDesc> ins, outs;
  for (uint32_t value : call.ins)
    ins.push_back(plan.value(entry, value).desc);
  for (uint32_t value : call.outs)
    outs.push_back(plan.value(entry, value).desc);
  std::vector<TensorDesc> values =
      check(describeValues(*call.body, ins, outs)); // verified when loaded
  double flops = 0;
  uint32_t firstResult = call.body->numOperands;
  for (const Primitive &primitive : call.body->primitives) {
    flops += flopsOf(primitive, values, firstResult);
    firstResult += primitive.numResults();
  }
  return flops;
}

/// Bytes of the elements, each once: what a view repeats is read once.
uint64_t touchedBytes(const TensorDesc &desc) {
  if (desc.layout != Layout::Strided)
    return desc.spanBytes();
  uint64_t bytes = sizeOf(desc.dtype);
  for (size_t i = 0; i < desc.rank; ++i)
    if (desc.stride(i) != 0)
      bytes *= uint64_t(desc.dims[i]);
  return bytes;
}

uint64_t bytesOf(const Plan &plan, const PlanEntry &entry,
                 const PlanCall &call) {
  uint64_t bytes = 0;
  for (const std::vector<uint32_t> *list : {&call.ins, &call.outs})
    for (uint32_t value : *list)
      bytes += touchedBytes(plan.value(entry, value).desc);
  return bytes;
}

} // namespace

nb::list planCosts(const Plan &plan) {
  nb::list list;
  for (const PlanEntry &entry : plan.entries)
    for (const PlanCall &call : entry.calls) {
      nb::dict one;
      one["entry"] = entry.name;
      one["op"] = primitiveNames(*call.body);
      one["kid"] = call.kid;
      one["flops"] = flopsOf(plan, entry, call);
      one["bytes"] = bytesOf(plan, entry, call);
      one["location"] = call.location;
      list.append(one);
    }
  return list;
}

nb::dict planMemory(const Plan &plan) {
  nb::dict memory, entries;
  memory["persistent_bytes"] = plan.persistentBytes;
  for (const PlanEntry &entry : plan.entries) {
    nb::dict one;
    one["io_bytes"] = entry.ioBytes;
    one["temp_bytes"] = entry.tempBytes;
    one["temp_lower_bound_bytes"] = entry.tempLowerBound;
    entries[entry.name.c_str()] = one;
  }
  memory["entries"] = entries;
  return memory;
}

} // namespace aicf::python
