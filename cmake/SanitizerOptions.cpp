//===- SanitizerOptions.cpp - how ASan runs the compiler's tools ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// LLVM's allocators, where our code instantiates them, poison what they have not
// given out yet; Debian's LLVM and MLIR are not instrumented and allocate from the
// same slabs without a word.
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
