//===- TuningFileTest.cpp - choices that are kept -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/Tuning.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

using namespace aicf;

namespace {

class Tuned : public testing::Test {
protected:
  void TearDown() override { std::remove(path.c_str()); }
  /// Reads `text` as the file of "card".
  Status load(const std::string &text) {
    file = {};
    std::ofstream(path) << text;
    return file.load(path, "card");
  }
  /// The byte of choice "a" of a file in which it is `hex`; -1 without one.
  int byteOf(const std::string &hex) {
    EXPECT_TRUE(load("{\"device\": \"card\", \"choices\": {\"a\": "
                     "{\"algorithm\": \"" +
                     hex + "\", \"micros\": 2}}}")
                    .ok());
    uint8_t byte = 0;
    return file.find("a", &byte, 1) ? byte : -1;
  }

  std::string path = testing::TempDir() + "aicf-tuning-file.json";
  TuningFile file;
};

TEST_F(Tuned, OtherFilesAreRefused) {
  for (const char *bad :
       {"", "[]", "3", "{}", R"({"choices": {}})",
        R"({"device": 3, "choices": {}})", R"({"device": "card"})",
        R"({"device": "card", "choices": []})",
        R"({"device": "card", "choices": {"a": 1}})",
        R"({"device": "card", "choices": {"a": {"micros": 1}}})",
        R"({"device": "card", "choices": {"a": {"algorithm": 1,
                                                "micros": 1}}})",
        R"({"device": "card", "choices": {"a": {"algorithm": "00"}}})",
        R"({"device": "card", "choices": {"a": {"algorithm": "00",
                                                "micros": "1"}}})"}) {
    Status status = load(bad);
    EXPECT_EQ(status.code(), StatusCode::InvalidFile) << bad;
    EXPECT_NE(status.message().find(path), std::string::npos)
        << status.message();
  }
}

TEST_F(Tuned, AlgorithmsAreHexDigits) {
  EXPECT_EQ(byteOf("09"), 0x09);
  EXPECT_EQ(byteOf("af"), 0xaf);
  for (const char *bad : {"/0", "0/", ":0", "0:", "`0", "0`", "g0", "0g", "A0",
                          "0F", "0", "000", "0000", ""})
    EXPECT_EQ(byteOf(bad), -1) << bad;
}

TEST_F(Tuned, ChoicesOfAnotherCardAreNotUsed) {
  uint8_t byte = 0x2a;
  file.add("a", &byte, 1, 2.0);
  ASSERT_TRUE(file.save(path, "card").ok());
  TuningFile same, other;
  ASSERT_TRUE(same.load(path, "card").ok());
  ASSERT_TRUE(other.load(path, "another").ok());
  byte = 0;
  EXPECT_FALSE(other.find("a", &byte, 1));
  EXPECT_FALSE(same.find("b", &byte, 1));
  EXPECT_EQ(byte, 0);
  EXPECT_TRUE(same.find("a", &byte, 1));
  EXPECT_EQ(byte, 0x2a);
}

} // namespace
