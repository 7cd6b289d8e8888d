//===- HardeningTest.cpp - damaged plans under the sanitizers -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// HardeningTest mutants N [SEED]
//                           the corpus, then N mutants of the samples, seeded
//                           by SEED, SEED + 1, ... (default 0)
// HardeningTest sweep       every truncation and every one-byte change
// HardeningTest seeds DIR   writes the samples and the corpus for a fuzzer
// With the checksum off, whatever the loader accepts is run: the sanitizers
// find what the verifier missed. Exit code 1 on any finding of our own.
//===----------------------------------------------------------------------===//

#include "lib/Base/File.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Plan/Corpus.h"
#include "unittests/Plan/RunAccepted.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace aicf;
using namespace aicf::test;

namespace {

std::vector<std::vector<uint8_t>> samples() {
  std::vector<std::vector<uint8_t>> files;
  for (const NamedPlan &sample : samplePlans())
    files.push_back(sample.plan.serialize());
  return files;
}

int findings = 0;
size_t accepted = 0, ran = 0;

void report(const std::string &what) {
  std::printf("FINDING: %s\n", what.c_str());
  ++findings;
}

/// With the checksum on it must be refused; with it off it may be accepted.
void tryMutant(const std::vector<uint8_t> &bytes,
               const std::vector<uint8_t> &original) {
  if (bytes != original && Plan::parse(bytes).ok())
    report("a damaged plan passes the checksum");
  StatusOr<Plan> plan = Plan::parse(bytes, {/*verifyChecksum=*/false});
  if (!plan.ok())
    return;
  ++accepted;
  StatusOr<size_t> entries = runAccepted(std::move(*plan));
  if (entries.ok())
    ran += *entries;
  else
    report("an accepted plan does not run: " + entries.status().toString());
}

void mutate(std::vector<uint8_t> &bytes, std::mt19937 &random) {
  size_t body = bytes.size() - kPlanTrailerBytes;
  for (size_t n = 1 + random() % 3; n > 0; --n) {
    size_t at = random() % body;
    switch (random() % 5) {
    case 0:
      bytes[at] ^= uint8_t(1u << random() % 8);
      break;
    case 1:
      bytes[at] = uint8_t(random());
      break;
    case 2: { // a whole aligned word, often small
      uint32_t value = random() % 2 ? random() % 16 : uint32_t(random());
      at &= ~size_t(3);
      std::memcpy(&bytes[at], &value, std::min<size_t>(4, body - at));
      break;
    }
    case 3: // copy a piece over another
      std::memmove(&bytes[at], &bytes[random() % (body - 4)],
                   std::min<size_t>(4, body - at));
      break;
    default:
      bytes[at] = uint8_t(bytes[at] + 1);
    }
  }
}

void runMutants(size_t count, size_t first) {
  auto all = samples();
  for (size_t i = first; i < first + count; ++i) {
    std::mt19937 random{uint32_t(i)};
    const auto &original = all[i % all.size()];
    std::vector<uint8_t> bytes = original;
    mutate(bytes, random);
    tryMutant(bytes, original);
  }
}

void runSweep() {
  for (const auto &original : samples()) {
    for (size_t n = 0; n < original.size(); ++n)
      if (Plan::parse({original.data(), n}).ok())
        report("a plan cut off at " + std::to_string(n) + " is accepted");
    std::vector<uint8_t> bytes = original;
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (int delta = 1; delta < 256; ++delta) {
        bytes[at] = uint8_t(original[at] + delta);
        tryMutant(bytes, original);
      }
      bytes[at] = original[at];
    }
  }
}

void runCorpus() {
  for (const CorpusCase &c : makeCorpus())
    if (Plan::parse(c.bytes).ok())
      report(c.name + " is accepted");
  for (const NamedPlan &sample : samplePlans()) {
    Status status = Plan::parse(sample.plan.serialize()).status();
    if (!status.ok())
      report("sample " + sample.name + " is refused: " + status.toString());
  }
}

bool writeSeeds(const std::string &folder) {
  for (const NamedPlan &sample : samplePlans())
    if (!writeFileAtomically(folder + "/sample-" + sample.name,
                             sample.plan.serialize())
             .ok())
      return false;
  for (const CorpusCase &c : makeCorpus())
    if (!writeFileAtomically(folder + "/" + c.name, c.bytes).ok())
      return false;
  return true;
}

} // namespace

int main(int argc, char **argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  runCorpus();
  if (mode == "mutants" && (argc == 3 || argc == 4))
    runMutants(size_t(std::atoll(argv[2])),
               argc == 4 ? size_t(std::atoll(argv[3])) : 0);
  else if (mode == "sweep")
    runSweep();
  else if (mode == "seeds" && argc == 3)
    return writeSeeds(argv[2]) ? 0 : 1;
  else
    return 2;
  std::printf("%s: %zu plans accepted without checksum, %zu entry runs, "
              "%d findings\n",
              mode.c_str(), accepted, ran, findings);
  return findings ? 1 : 0;
}
