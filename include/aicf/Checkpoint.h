//===- Checkpoint.h - weight files ------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The safetensors format (huggingface/safetensors): 8 bytes of header size, a
// JSON header, then the tensors' bytes. The reader is strict: files are
// untrusted. One file holds the params and states of a plan by their IR names.
//===----------------------------------------------------------------------===//
#ifndef AICF_CHECKPOINT_H
#define AICF_CHECKPOINT_H

#include "aicf/Executor.h"

#include <map>

namespace aicf {

/// A tensor that owns its bytes.
struct HostTensor {
  TensorDesc desc;
  std::vector<uint8_t> bytes;
};

/// Texts by name that a file holds beside its tensors, in "__metadata__".
using FileMetadata = std::map<std::string, std::string>;

/// The metadata of `bytes` go to `metadata`, where there is one.
/// Errors: InvalidFile with what is wrong: truncated, header that is not JSON
/// object, a name twice, unknown dtype, shape and offsets that disagree, bytes
/// that no tensor or two tensors use.
StatusOr<std::map<std::string, HostTensor>>
parseSafetensors(Span<const uint8_t> bytes, FileMetadata *metadata = nullptr);
/// Errors: InvalidArgument for a name that the format cannot hold: the reserved
/// "__metadata__", or bytes that are not UTF-8.
StatusOr<std::vector<uint8_t>>
serializeSafetensors(const std::map<std::string, HostTensor> &tensors,
                     const FileMetadata &metadata = {});

/// Makes DIR if it is missing and checks that files can be written there, so
/// that a long run does not find out at its end. Errors: FileNotFound,
/// FileError.
Status checkCheckpointFolder(const std::string &directory);
/// Whether saveCheckpoint(DIR) can succeed after a run of `entry`: the folder,
/// the file, and a value for every param and state. Errors: FileNotFound,
/// FileError, NotInitialized.
Status checkCheckpoint(Executor &executor, const std::string &directory,
                       std::string_view entry);
/// Writes every param and state to DIR/state.safetensors: DIR is made if it is
/// missing, an older file stays whole until the new one is complete. `metadata`
/// are in the same file: both are there, or neither.
Status saveCheckpoint(Executor &executor, const std::string &directory,
                      const FileMetadata &metadata = {});
/// Reads it back; every param and state of the plan must be there with its
/// type. Names that the plan does not have go to `extra`, or are an error where
/// there is none. Nothing is written when anything is wrong.
Status loadCheckpoint(Executor &executor, const std::string &directory,
                      std::vector<std::string> *extra = nullptr,
                      FileMetadata *metadata = nullptr);

/// Writes every param to a safetensors file; an older one stays whole until the
/// new one is complete. Errors: FileNotFound, FileError, NotInitialized.
Status saveWeights(Executor &executor, const std::string &path);

/// How the names and types of a weight file become the plan's.
struct WeightFileOptions {
  /// {in the file, in the plan}; with a '*' at the end of both, every name that
  /// begins so. A name of the file that none of them speaks of stays.
  std::vector<std::pair<std::string, std::string>> renames;
  /// Tensors that the plan does not have are left out.
  bool ignoreExtra = false;
  /// Floats of another type are converted, to nearest (f64 to 16 bits by way of
  /// f32).
  bool cast = false;
};
/// Sets the params and states that a weight file holds; others keep their
/// initialisers. Errors, before anything is written: InvalidFile (names that
/// the plan does not have, other shapes, other types, a finite number that the
/// plan's type cannot hold), InvalidArgument (a rename of a name that the file
/// does not have, or that makes two tensors one).
Status loadWeights(Executor &executor, const std::string &path,
                   const WeightFileOptions &options = {});

} // namespace aicf

#endif // AICF_CHECKPOINT_H
