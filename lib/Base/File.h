//===- File.h - whole files in and out --------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_FILE_H
#define AICF_LIB_BASE_FILE_H

#include "aicf/Span.h"
#include "aicf/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace aicf {

/// The bytes of a regular file. Errors: DeviceError with the system's reason.
StatusOr<std::vector<uint8_t>> readFile(const std::string &path);

/// Writes `path` so that a crash leaves the old file or the new one: temporary
/// file beside it, fsync, rename, fsync of the folder. A link is followed, an
/// old file's mode kept; what is not a regular file (a pipe, a device) is
/// written into. A writer that is killed may leave a `.aicf-*.tmp` beside
/// `path`; a later one into this folder removes it. Errors: DeviceError.
Status writeFileAtomically(const std::string &path, Span<const uint8_t> bytes);
/// What writeFileAtomically(path) would refuse now, asked before a long run: a
/// missing folder, a folder in its place, no right to write. Errors:
/// FileNotFound, FileError.
Status checkWritable(const std::string &path);

} // namespace aicf

#endif // AICF_LIB_BASE_FILE_H
