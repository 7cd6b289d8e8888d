//===- Corpus.cpp - plans that must be refused, and why -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Plan/CorpusBuilder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace aicf::test {

std::vector<uint8_t> withTrailer(std::vector<uint8_t> body) {
  uint64_t hash = XXH3_64bits(body.data(), body.size());
  body.insert(body.end(), kPlanMagic, kPlanMagic + 8);
  for (int i = 0; i < 8; ++i)
    body.push_back(uint8_t(hash >> (8 * i)));
  return body;
}

std::vector<CorpusCase> makeCorpus() {
  CorpusBuilder builder;
  builder.addOuterForm();
  builder.addOldTensors();
  builder.addTables();
  builder.addNames();
  builder.addTypes();
  builder.addLayouts();
  builder.addInitializers();
  builder.addDerived();
  builder.addConstants();
  builder.addViews();
  builder.addValues();
  builder.addSegments();
  builder.addCalls();
  builder.addBodies();
  builder.addOrder();
  return std::move(builder.cases);
}

} // namespace aicf::test
