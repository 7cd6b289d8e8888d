//===- Dataset.h - labelled images for the examples -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_EXAMPLES_COMMON_DATASET_H
#define AICF_EXAMPLES_COMMON_DATASET_H

#include "aicf/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace example {

/// `count` images of `width` values in [0, 1], and a label below `classes`
/// each.
struct Dataset {
  size_t count = 0, width = 0, classes = 10;
  std::vector<float> images;   ///< [count, width]
  std::vector<uint8_t> labels; ///< [count]
};

/// The bytes of a gzip file. Errors: InvalidFile.
aicf::StatusOr<std::vector<uint8_t>> readGzip(const std::string &path);
/// An image and a label file in the IDX format of MNIST, gzipped.
aicf::StatusOr<Dataset> readIdx(const std::string &imagesPath,
                                const std::string &labelsPath);
/// Rows of `width` numbers from 0 to `scale` and a label, gzipped.
aicf::StatusOr<Dataset> readCsv(const std::string &path, size_t width,
                                float scale);
/// Rows [begin, end).
Dataset slice(const Dataset &data, size_t begin, size_t end);

} // namespace example

#endif // AICF_EXAMPLES_COMMON_DATASET_H
