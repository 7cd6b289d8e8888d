//===- Types.h - element types, roles, segments, devices --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The numbers that compiler, plan files and runtime share. Every enumerator is
// append-only: plans on disk store the numbers. Names live here too, so that
// no other file keeps a list of them. Nothing here allocates or depends on
// anything beyond the C++ standard library.
//===----------------------------------------------------------------------===//
#ifndef AICF_TYPES_H
#define AICF_TYPES_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace aicf {

/// Element type of a tensor. I1 is one byte, 0 or 1.
enum class DType : uint8_t { F32 = 0, F16, BF16, F64, I32, I64, I1 };
inline constexpr uint8_t kNumDTypes = 7;

/// Bytes of one element.
constexpr size_t sizeOf(DType dtype) {
  constexpr size_t bytes[kNumDTypes] = {4, 2, 2, 8, 4, 8, 1};
  return bytes[static_cast<uint8_t>(dtype)];
}
constexpr std::string_view nameOf(DType dtype) {
  constexpr std::string_view names[kNumDTypes] = {
      "f32", "f16", "bf16", "f64", "i32", "i64", "i1"};
  return names[static_cast<uint8_t>(dtype)];
}
constexpr bool isFloat(DType dtype) {
  return static_cast<uint8_t>(dtype) <= static_cast<uint8_t>(DType::F64);
}

/// What a tensor of a plan is for.
///   Input      changes each step, written by the caller
///   Param      trained, persists
///   State      moments, step counter: on the device, persists
///   Hyper      scalar that only the host writes, between steps
///   Output     named result, valid until the same entry runs again
///   Temp       lives within one run of one entry
///   Saved      a Temp kept by the forward pass for the backward pass
///   Workspace  a Temp that one kernel scribbles on
///   Constant   numbers that the plan holds, written by nobody else
enum class Role : uint8_t {
  Input = 0,
  Param,
  State,
  Hyper,
  Output,
  Temp,
  Saved,
  Workspace,
  Constant
};
inline constexpr uint8_t kNumRoles = 9;
constexpr std::string_view nameOf(Role role) {
  constexpr std::string_view names[kNumRoles] = {"input", "param",    "state",
                                                 "hyper", "output",   "temp",
                                                 "saved", "workspace",
                                                 "constant"};
  return names[static_cast<uint8_t>(role)];
}
/// True of the roles that an entry's arguments have.
constexpr bool isArgument(Role role) {
  return role <= Role::Hyper || role == Role::Constant;
}
/// True of what calls only read.
constexpr bool isReadOnly(Role role) {
  return role == Role::Input || role == Role::Hyper || role == Role::Constant;
}

/// Which of the three allocations of a plan a tensor lives in.
enum class Segment : uint8_t { Persistent = 0, IO, Temp };
inline constexpr uint8_t kNumSegments = 3;
constexpr std::string_view nameOf(Segment segment) {
  constexpr std::string_view names[kNumSegments] = {"persistent", "io", "temp"};
  return names[static_cast<uint8_t>(segment)];
}
constexpr Segment segmentOf(Role role) {
  switch (role) {
  case Role::Param:
  case Role::State:
  case Role::Hyper:
  case Role::Constant:
    return Segment::Persistent;
  case Role::Input:
  case Role::Output:
    return Segment::IO;
  default:
    return Segment::Temp;
  }
}

/// How a tensor lies in memory.
///   Dense    one element behind the other, in row-major order
///   Padded   row-major; the length of a row and, from rank 2 on, the number of
///            rows are rounded up to kPadElements, and the pads hold zeros:
///            libraries are fast for such matrices only
///   Strided  as TensorDesc::strides says: a view of what another value holds,
///            read by the kernels whose records say so
enum class Layout : uint8_t { Dense, Padded, Strided };
inline constexpr uint8_t kNumLayouts = 3;
constexpr std::string_view nameOf(Layout layout) {
  constexpr std::string_view names[kNumLayouts] = {"dense", "padded",
                                                   "strided"};
  return names[static_cast<uint8_t>(layout)];
}
/// 16 bytes of 16-bit elements.
inline constexpr int64_t kPadElements = 8;

/// How a persistent tensor gets its first value.
///   None          the caller writes it before the first run
///   Constant      every element is `initValue`
///   UniformFanIn  U(-1/sqrt(fanIn), 1/sqrt(fanIn)), fanIn = product of all
///                 dimensions but the first (PyTorch's nn.Linear default)
///   Normal        N(0, initValue^2)
enum class InitKind : uint8_t {
  None = 0,
  Zeros,
  Ones,
  Constant,
  UniformFanIn,
  Normal
};
inline constexpr uint8_t kNumInitKinds = 6;
constexpr std::string_view nameOf(InitKind kind) {
  constexpr std::string_view names[kNumInitKinds] = {
      "none", "zeros", "ones", "constant", "uniform_fan_in", "normal"};
  return names[static_cast<uint8_t>(kind)];
}

/// How a program in a high-level language gets an entry's outputs, in the
/// plan's order.
///   Unknown  the plan does not say
///   Tensor   one tensor
///   Tuple    a tuple of them
///   Dict     by their names
///   TensorAndDict  the first one, and the others by their names: a loss with
///            metrics
enum class OutputForm : uint8_t {
  Unknown = 0,
  Tensor,
  Tuple,
  Dict,
  TensorAndDict
};
inline constexpr uint8_t kNumOutputForms = 5;
constexpr std::string_view nameOf(OutputForm form) {
  constexpr std::string_view names[kNumOutputForms] = {
      "unknown", "tensor", "tuple", "dict", "tensor_and_dict"};
  return names[static_cast<uint8_t>(form)];
}

enum class DeviceKind : uint8_t { CPU = 0, CUDA };
inline constexpr DeviceKind kDeviceKinds[] = {DeviceKind::CPU,
                                              DeviceKind::CUDA};
inline constexpr uint8_t kNumDeviceKinds =
    sizeof(kDeviceKinds) / sizeof(kDeviceKinds[0]);
constexpr std::string_view nameOf(DeviceKind device) {
  constexpr std::string_view names[] = {"cpu", "cuda"};
  static_assert(sizeof(names) / sizeof(names[0]) == kNumDeviceKinds);
  return names[static_cast<uint8_t>(device)];
}

/// Every tensor of a segment starts at a multiple of this many bytes, and so
/// does every segment.
inline constexpr uint64_t kTensorAlignment = 256;
/// `bytes` as a tensor takes them up; at most 2^64 - kTensorAlignment.
constexpr uint64_t alignedBytes(uint64_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}
/// Bytes of a constant and of all constants of a plan, at most. What is larger is
/// a state that the front end writes.
inline constexpr uint64_t kMaxConstantBytes = uint64_t(1) << 20;
inline constexpr uint64_t kMaxConstantsBytes = uint64_t(64) << 20;
/// Highest tensor rank a plan may hold.
inline constexpr size_t kMaxRank = 8;

/// The enumerator that nameOf() calls `name`, of those numbered below `count`.
template <typename Enum>
std::optional<Enum> parseEnum(std::string_view name, uint16_t count) {
  for (uint16_t i = 0; i < count; ++i)
    if (nameOf(static_cast<Enum>(i)) == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

/// Four characters as the little-endian number that names an attr layout;
/// the empty string is 0.
constexpr uint32_t fourcc(const char *code) {
  uint32_t value = 0;
  for (int i = 0; code[i] != 0 && i < 4; ++i)
    value |= static_cast<uint32_t>(static_cast<unsigned char>(code[i]))
             << (8 * i);
  return value;
}

} // namespace aicf

#endif // AICF_TYPES_H
