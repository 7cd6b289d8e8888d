//===- Dataset.cpp - labelled images for the examples ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dataset.h"

#include <zlib.h>

#include <cstdlib>

using aicf::makeError;
using aicf::Status;
using aicf::StatusCode;
using aicf::StatusOr;

namespace example {

StatusOr<std::vector<uint8_t>> readGzip(const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    return makeError(StatusCode::InvalidFile, "cannot open '", path, "'");
  std::vector<uint8_t> bytes;
  uint8_t buffer[65536];
  int n = 0;
  while ((n = gzread(file, buffer, sizeof(buffer))) > 0)
    bytes.insert(bytes.end(), buffer, buffer + n);
  int closed = gzclose(file);
  if (n < 0 || closed != Z_OK)
    return makeError(StatusCode::InvalidFile, "'", path,
                     "' is damaged or cut off");
  return bytes;
}

namespace {

uint32_t bigEndian(const std::vector<uint8_t> &bytes, size_t at) {
  return uint32_t(bytes[at]) << 24 | uint32_t(bytes[at + 1]) << 16 |
         uint32_t(bytes[at + 2]) << 8 | bytes[at + 3];
}

} // namespace

StatusOr<Dataset> readIdx(const std::string &imagesPath,
                          const std::string &labelsPath) {
  AICF_ASSIGN_OR_RETURN(auto images, readGzip(imagesPath));
  AICF_ASSIGN_OR_RETURN(auto labels, readGzip(labelsPath));
  if (images.size() < 16 || bigEndian(images, 0) != 0x803 ||
      labels.size() < 8 || bigEndian(labels, 0) != 0x801)
    return makeError(StatusCode::InvalidFile, "'", imagesPath, "' or '",
                     labelsPath, "' is not an IDX file");
  Dataset data;
  data.count = bigEndian(images, 4);
  data.width = size_t(bigEndian(images, 8)) * bigEndian(images, 12);
  if (data.width == 0 || data.width > 1 << 20 || images.size() < 16 ||
      images.size() - 16 != data.count * data.width ||
      labels.size() != 8 + data.count || bigEndian(labels, 4) != data.count)
    return makeError(StatusCode::InvalidFile, "'", imagesPath, "' and '",
                     labelsPath, "' do not fit together");
  for (size_t i = 16; i < images.size(); ++i)
    data.images.push_back(float(images[i]) / 255);
  data.labels.assign(labels.begin() + 8, labels.end());
  for (uint8_t label : data.labels)
    if (label >= data.classes)
      return makeError(StatusCode::InvalidFile, "'", labelsPath,
                       "' holds label ", int(label));
  return data;
}

StatusOr<Dataset> readCsv(const std::string &path, size_t width, float scale) {
  AICF_ASSIGN_OR_RETURN(auto bytes, readGzip(path));
  bytes.push_back(0); // ends strtod
  Dataset data;
  data.width = width;
  const char *at = reinterpret_cast<const char *>(bytes.data());
  while (*at) {
    for (size_t column = 0; column <= width; ++column) {
      char *end = nullptr;
      double value = std::strtod(at, &end);
      bool isLast = column == width;
      if (end == at || (*end != (isLast ? '\n' : ',')) || !(value >= 0) ||
          (isLast && value >= double(data.classes)))
        return makeError(StatusCode::InvalidFile, "'", path, "' row ",
                         data.count, " column ", column, " is malformed");
      if (isLast)
        data.labels.push_back(uint8_t(value));
      else
        data.images.push_back(float(value) / scale);
      at = end + 1;
    }
    ++data.count;
  }
  return data;
}

Dataset slice(const Dataset &data, size_t begin, size_t end) {
  Dataset part;
  part.count = end - begin;
  part.width = data.width;
  part.images.assign(data.images.begin() + long(begin * data.width),
                     data.images.begin() + long(end * data.width));
  part.labels.assign(data.labels.begin() + long(begin),
                     data.labels.begin() + long(end));
  return part;
}

} // namespace example
