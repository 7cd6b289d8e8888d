//===- Runner.h - one entry, called again and again -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_PYTHON_RUNNER_H
#define AICF_PYTHON_RUNNER_H

#include "python/src/Arrays.h"

#include <functional>

namespace aicf::python {

/// Calls `launch(i)` for i < n with the GIL released, and looks every few
/// milliseconds whether Ctrl-C was pressed: then what is enqueued ends, and
/// KeyboardInterrupt is raised.
void runInterruptibly(Executor &executor, uint64_t n,
                      const std::function<Status(uint64_t)> &launch);

void defineRunner(nb::module_ &m);

} // namespace aicf::python

#endif // AICF_PYTHON_RUNNER_H
