//===- Options.h - values that options of passes and tools take -*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One list of values an option, which passes, pipelines and aicf-compile share:
// an unknown value is an error of the command line, before any input is read.
//===----------------------------------------------------------------------===//
#ifndef AICF_TRANSFORMS_OPTIONS_H
#define AICF_TRANSFORMS_OPTIONS_H

#include "aicf/ABI/Types.h"

#include "llvm/Support/CommandLine.h"

namespace mlir::aicf {

enum class OptLevel { O0, O1, O2 };
/// What forward and backward compute in; None: as they are written.
enum class Precision { None, BF16, F16 };
/// Values that become outputs.
enum class Keep { None, Grad, All };

inline llvm::cl::ValuesClass targetValues() {
  return llvm::cl::values(
      clEnumValN(::aicf::DeviceKind::CPU, "cpu", "kernels of this machine"),
      clEnumValN(::aicf::DeviceKind::CUDA, "cuda", "an NVIDIA GPU"));
}
inline llvm::cl::ValuesClass optLevelValues() {
  return llvm::cl::values(
      clEnumValN(OptLevel::O0, "0",
                 "every value its own storage, explicit copies"),
      clEnumValN(OptLevel::O1, "1", "in place and without copies where safe"),
      clEnumValN(OptLevel::O2, "2",
                 "also saves eliminated, and calls fused where the target has "
                 "kernels"));
}
inline llvm::cl::ValuesClass precisionValues() {
  return llvm::cl::values(
      clEnumValN(Precision::None, "none", "as written"),
      clEnumValN(Precision::BF16, "bf16", "f32 masters and moments"),
      clEnumValN(Precision::F16, "f16", "likewise, with a loss scale"));
}
inline llvm::cl::ValuesClass keepValues() {
  return llvm::cl::values(clEnumValN(Keep::None, "none", "nothing"),
                          clEnumValN(Keep::Grad, "grad", "gradients"),
                          clEnumValN(Keep::All, "all", "every value"));
}

} // namespace mlir::aicf

#endif // AICF_TRANSFORMS_OPTIONS_H
