//===- Tuning.cpp - what was measured to be fastest -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/Tuning.h"
#include "lib/Base/Element.h"
#include "lib/Base/File.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <random>

namespace aicf {
namespace {

using Json = nlohmann::json;

std::string toHex(const std::vector<uint8_t> &bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : bytes)
    text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

/// Empty on anything that is not an even number of hex digits.
std::vector<uint8_t> fromHex(const std::string &text) {
  std::vector<uint8_t> bytes;
  auto value = [](char c) {
    return c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    int high = value(text[i]), low = value(text[i + 1]);
    if (high < 0 || low < 0)
      return {};
    bytes.push_back(uint8_t(high << 4 | low));
  }
  return text.size() % 2 ? std::vector<uint8_t>() : bytes;
}

} // namespace

Status TuningFile::load(const std::string &path, const std::string &device) {
  if (::access(path.c_str(), F_OK) != 0)
    return {};
  AICF_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, readFile(path));
  Json json = Json::parse(bytes.begin(), bytes.end(), nullptr, false);
  auto malformed = [&](const char *what) {
    return makeError(StatusCode::InvalidFile, "tuning file '", path,
                     "': ", what);
  };
  // What an object lacks is null.
  if (!json.is_object() || !json["device"].is_string() ||
      !json["choices"].is_object())
    return malformed("expected an object with \"device\" and \"choices\"");
  if (json["device"] != device)
    return {};
  for (const auto &[key, choice] : json["choices"].items()) {
    if (!choice.is_object() || !choice["algorithm"].is_string() ||
        !choice["micros"].is_number())
      return malformed("a choice lacks \"algorithm\" or \"micros\"");
    choices[key] = {fromHex(choice["algorithm"].get<std::string>()),
                    choice["micros"].get<double>()};
  }
  return {};
}

Status TuningFile::save(const std::string &path,
                        const std::string &device) const {
  Json all = Json::object();
  for (const auto &[key, choice] : choices)
    all[key] = {{"algorithm", toHex(choice.algorithm)},
                {"micros", choice.micros}};
  std::string text =
      Json({{"device", device}, {"choices", all}}).dump(1) + "\n";
  return writeFileAtomically(
      path, {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

bool TuningFile::find(const std::string &key, void *algorithm,
                      size_t bytes) const {
  auto it = choices.find(key);
  if (it == choices.end() || it->second.algorithm.size() != bytes)
    return false;
  std::memcpy(algorithm, it->second.algorithm.data(), bytes);
  return true;
}

void TuningFile::add(const std::string &key, const void *algorithm,
                     size_t bytes, double micros) {
  const auto *at = static_cast<const uint8_t *>(algorithm);
  choices[key] = {std::vector<uint8_t>(at, at + bytes), micros};
}

Status fillWithNoise(const CudaApi &api, void *memory, uint64_t bytes,
                     DType dtype, cudaStream_t stream) {
  // One random block, repeated: enough for the clocks and the data paths.
  size_t size = sizeOf(dtype), block = std::min<uint64_t>(bytes, 1 << 20);
  std::vector<uint8_t> noise(block);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (size_t at = 0; at + size <= block; at += size)
    storeElement(dtype, noise.data() + at, double(normal(random)));
  for (uint64_t at = 0; at < bytes; at += block)
    AICF_CUDA_TRY(api, cudaMemcpyAsync, static_cast<char *>(memory) + at,
                  noise.data(), std::min<uint64_t>(block, bytes - at),
                  cudaMemcpyHostToDevice, stream);
  AICF_CUDA_TRY(api, cudaStreamSynchronize, stream);
  return {};
}

} // namespace aicf
