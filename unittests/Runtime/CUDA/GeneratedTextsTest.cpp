//===- GeneratedTextsTest.cpp - goldens of generated kernels' text --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// test/goldens/generated-kernels.txt has a hash of the text of each sample
// graph. What nvcc made is not part of it, so that another toolkit gives the
// same: the functions of scalars, whose names stand for them, and the skeletons
// of sums. AICF_UPDATE_TEXTS=1 writes the file. A text that differs is printed,
// and AICF_TEXTS_FOLDER=folder writes all of them, nvcc's part included.
//===----------------------------------------------------------------------===//

#include "GraphText.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

using namespace aicf;
using namespace aicf::test;

namespace {

const std::string kFile = AICF_SOURCE_DIR "/test/goldens/generated-kernels.txt";

/// The lines of a text that are the generator's.
std::string ownLines(const std::string &text) {
  std::istringstream lines(text);
  std::string own;
  int depth = 0; // of scopes in what nvcc made
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(" \t");
    const std::string trimmed =
        first == std::string::npos ? "" : line.substr(first);
    const bool isFunction = trimmed.rfind("{ //", 0) == 0;
    if (depth > 0) {
      depth += trimmed == "{" ? 1 : trimmed == "}" ? -1 : 0;
      continue;
    }
    depth = isFunction;
    if (isFunction || line.find("%a") != std::string::npos ||
        line.find("$A") != std::string::npos)
      own += line + "\n";
  }
  return own;
}

std::map<std::string, std::string> texts() {
  std::map<std::string, std::string> all;
  for (const KindRow &row : graphRows())
    for (DType dtype : {DType::F32, DType::BF16}) {
      if (!row.takes(dtype))
        continue;
      const Sample sample = makeSample(row, 64, 256, dtype);
      StatusOr<TypedBody> typed = typedBodyOf(sample);
      if (!typed.ok() || !selectKernel(DeviceKind::CUDA, *typed))
        continue;
      const std::string name = row.name + " " + std::string(nameOf(dtype));
      const std::string text = textOf(sample);
      if (const char *folder = std::getenv("AICF_TEXTS_FOLDER"))
        std::ofstream(std::string(folder) + "/" + name + ".ptx") << text;
      all[name] = ownLines(text);
    }
  return all;
}

std::string hashOf(const std::string &text) {
  std::ostringstream hash;
  hash << std::hex << XXH3_64bits(text.data(), text.size());
  return hash.str();
}

TEST(GeneratedTexts, AreThoseOfTheGoldens) {
  const std::map<std::string, std::string> made = texts();
  ASSERT_GE(made.size(), 24u); // a dozen graphs of two types
  if (std::getenv("AICF_UPDATE_TEXTS")) {
    std::ofstream file(kFile);
    file
        << "# The hash of each text, and its lines. CUDADeviceTest writes this "
           "file: see GeneratedTextsTest.cpp.\n";
    for (const auto &[name, text] : made)
      file << hashOf(text) << " " << std::count(text.begin(), text.end(), '\n')
           << " " << name << "\n";
  }
  std::ifstream file(kFile);
  std::map<std::string, std::string> expected;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    const size_t lines = line.find(' '), name = line.find(' ', lines + 1);
    ASSERT_NE(name, std::string::npos) << line;
    expected[line.substr(name + 1)] = line.substr(0, lines);
  }
  for (const auto &[name, text] : made)
    EXPECT_EQ(hashOf(text), expected[name]) << name << ":\n" << text;
  EXPECT_EQ(made.size(), expected.size());
}

/// Another function, operand or width is another text.
TEST(GeneratedTexts, TellGraphsApart) {
  std::map<std::string, std::string> names;
  for (const auto &[name, text] : texts()) {
    EXPECT_FALSE(text.empty()) << name;
    const auto [it, isNew] = names.try_emplace(text, name);
    EXPECT_TRUE(isNew) << name << " has the text of " << it->second;
  }
}

} // namespace
