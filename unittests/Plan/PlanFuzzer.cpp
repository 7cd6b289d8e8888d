//===- PlanFuzzer.cpp - libFuzzer on the plan loader ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The first bytes are a plan without its checksum; whatever is accepted runs.
// `make fuzz` builds and runs it.
//===----------------------------------------------------------------------===//

#include "unittests/Plan/RunAccepted.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto plan = aicf::Plan::parse({data, size}, {/*verifyChecksum=*/false});
  if (!plan.ok())
    return 0;
  auto ran = aicf::test::runAccepted(std::move(*plan));
  if (ran.ok())
    return 0;
  std::fprintf(stderr, "an accepted plan does not run: %s\n",
               ran.status().toString().c_str());
  std::abort();
}
