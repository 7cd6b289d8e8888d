//===- CudaApiTest.cpp - which cuBLASLt is loaded -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/CudaApi.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace aicf;

namespace {

#ifdef AICF_HAVE_CUBLASLT
/// Ends the process: the table is made once in each. Null: the loader's path.
[[noreturn]] void showCublasLt(const char *library) {
  ::unsetenv("AICF_CUBLASLT_LIBRARY");
  if (library)
    ::setenv("AICF_CUBLASLT_LIBRARY", library, 1);
  const CudaApi &api = realCudaApi();
  std::fprintf(stderr, "version %zu: %s\n", api.cublasLtVersion,
               api.cublasLtProblem.c_str());
  std::_Exit(api.cublasLtVersion != 0);
}

TEST(CudaApiDeathTest, SaysWhyThereIsNoCublasLt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // starts the program again
  EXPECT_EXIT(showCublasLt("/nothing.so"), testing::ExitedWithCode(0),
              "version 0: /nothing.so: cannot open");
  EXPECT_EXIT(showCublasLt("libm.so.6"), testing::ExitedWithCode(0),
              "version 0: libcublasLt.so.13 lacks functions");
  EXPECT_EXIT(showCublasLt(AICF_CUBLASLT_STUB_WITHOUT_VERSION),
              testing::ExitedWithCode(0),
              "version 0: libcublasLt.so.13 lacks functions");
}

TEST(CudaApiDeathTest, LooksOnTheLoadersPath) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(showCublasLt(nullptr), [](int) { return true; },
              "version [1-9]|version 0: libcublasLt.so.13: cannot open");
}

TEST(CudaApiDeathTest, TakesALibraryWithAllFunctions) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(showCublasLt(AICF_CUBLASLT_STUB), testing::ExitedWithCode(1),
              "version 130000: \n");
}
#endif

} // namespace
