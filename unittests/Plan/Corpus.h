//===- Corpus.h - plans that must be refused, and why -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_PLAN_CORPUS_H
#define AICF_UNITTESTS_PLAN_CORPUS_H

#include "aicf/Plan.h"

namespace aicf::test {

struct CorpusCase {
  PlanError expected;
  std::string name; ///< file name without suffix
  std::vector<uint8_t> bytes;
  std::string text; ///< in the message, where the error alone is not enough
};

/// At least one file for each PlanError.
std::vector<CorpusCase> makeCorpus();
/// Puts a fresh trailer (magic and checksum) behind `body`.
std::vector<uint8_t> withTrailer(std::vector<uint8_t> body);

} // namespace aicf::test

#endif // AICF_UNITTESTS_PLAN_CORPUS_H
