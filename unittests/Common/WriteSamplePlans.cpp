//===- WriteSamplePlans.cpp - the sample plans as files -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// aicf-sample-plans DIR: writes DIR/<name>.plan, for scripts/goldens.py. Exit
// codes: 0 ok, 2 when a file cannot be written.
//===----------------------------------------------------------------------===//

#include "lib/Base/File.h"
#include "unittests/Common/SamplePlans.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: aicf-sample-plans DIR\n");
    return 2;
  }
  for (const auto &[name, plan] : aicf::test::samplePlans()) {
    aicf::Status status = aicf::writeFileAtomically(
        std::string(argv[1]) + "/" + name + ".plan", plan.serialize());
    if (status.ok())
      continue;
    std::fprintf(stderr, "aicf-sample-plans: %s\n", status.toString().c_str());
    return 2;
  }
  return 0;
}
