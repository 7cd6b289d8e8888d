//===- ToolCall.h - command-line tools, called from Python ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_PYTHON_TOOLCALL_H
#define AICF_PYTHON_TOOLCALL_H

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace aicf::python {

/// Calls a tool as a shell does: arguments[0] is its name. Tools own what they
/// parse into, so that one may be called once per process.
inline int callTool(int (*tool)(int, char **),
                    std::vector<std::string> arguments) {
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return tool(int(arguments.size()), pointers.data());
}

} // namespace aicf::python

#endif // AICF_PYTHON_TOOLCALL_H
