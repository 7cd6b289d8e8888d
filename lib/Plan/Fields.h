//===- Fields.h - the fields of a plan, once --------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// X(name, member): the name in plan.fbs and in JSON, and the member of the
// struct in aicf/Plan.h or aicf/Body.h. Reader, writer, comparison, dump, JSON
// and diff are made from these lists; what a field means for each of them
// follows from its type. A field that is left out here is not in the file.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_FIELDS_H
#define AICF_LIB_PLAN_FIELDS_H

#include "aicf/Plan.h"

namespace aicf {

#define AICF_BUFFER_FIELDS(X)                                                  \
  X(name, name)                                                                \
  X(role, role)                                                                \
  X(bytes, bytes)                                                              \
  X(offset, offset)                                                            \
  X(init, init)                                                                \
  X(init_value, initValue)                                                     \
  X(derived_from, derivedFrom)                                                 \
  X(data, data)                                                                \
  X(scratch, isScratch)

#define AICF_VALUE_FIELDS(X)                                                   \
  X(buffer, buffer)                                                            \
  X(byte_offset, byteOffset)                                                   \
  X(dtype, desc.dtype)                                                         \
  X(shape, desc)                                                               \
  X(layout, desc.layout)                                                       \
  X(strides, desc.strides)
#define AICF_VALUE_DEBUG_FIELDS(X) X(vid, vid)

#define AICF_PRIMITIVE_FIELDS(X)                                               \
  X(kind, kind)                                                                \
  X(attrs, attrs)                                                              \
  X(operands, operands)

#define AICF_BODY_FIELDS(X)                                                    \
  X(num_operands, numOperands)                                                 \
  X(primitives, primitives)                                                    \
  X(results, results)

#define AICF_CALL_FIELDS(X)                                                    \
  X(body, body)                                                                \
  X(kid, kid)                                                                  \
  X(ins, ins)                                                                  \
  X(outs, outs)                                                                \
  X(workspace, workspace)                                                      \
  X(workspace_bytes, workspaceBytes)                                           \
  X(stream, stream)                                                            \
  X(waits, waits)                                                              \
  X(signals, signals)
/// The fields of a call's debug record. The location is text for people, and
/// not part of what a plan is.
#define AICF_CALL_LABEL_FIELDS(X)                                              \
  X(in_vids, inVids)                                                           \
  X(vids, vids)                                                                \
  X(protective, isProtective)
#define AICF_CALL_DEBUG_FIELDS(X)                                              \
  AICF_CALL_LABEL_FIELDS(X)                                                    \
  X(location, location)

#define AICF_PART_FIELDS(X)                                                    \
  X(calls, numCalls)                                                           \
  X(times, times)

/// The fields that a plan and an entry both have.
#define AICF_MEMORY_FIELDS(X)                                                  \
  X(buffers, buffers)                                                          \
  X(values, values)

#define AICF_ENTRY_FIELDS(X)                                                   \
  X(name, name)                                                                \
  X(io_bytes, ioBytes)                                                         \
  X(temp_bytes, tempBytes)                                                     \
  X(calls, calls)                                                              \
  X(parts, parts)                                                              \
  X(accumulate, accumulate)                                                    \
  X(output_form, outputForm)
#define AICF_ENTRY_DEBUG_FIELDS(X)                                             \
  X(step_values, numStepValues)                                                \
  X(step_nodes, numStepNodes)                                                  \
  X(temp_lower_bound, tempLowerBound)

#define AICF_PLAN_FIELDS(X)                                                    \
  X(device, device)                                                            \
  X(persistent_bytes, persistentBytes)                                         \
  X(entries, entries)

} // namespace aicf

#endif // AICF_LIB_PLAN_FIELDS_H
