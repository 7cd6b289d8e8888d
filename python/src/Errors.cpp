//===- Errors.cpp - Status as a Python exception --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/Errors.h"

#include <nanobind/nanobind.h>

#include <typeinfo>

namespace nb = nanobind;

namespace aicf::python {

static void raise(const Status &status) {
  std::string name(nameOf(status.code()));
  if (name.find("Error") == std::string::npos)
    name += "Error";
  nb::object type = nb::module_::import_("aicf.errors").attr(name.c_str());
  PyErr_SetString(type.ptr(), status.message().c_str());
}

void registerErrors() {
  nb::register_exception_translator(
      [](const std::exception_ptr &pointer, void *) {
        try {
          std::rethrow_exception(pointer);
        } catch (const StatusException &error) {
          raise(error.status());
        } catch (const std::bad_cast &) { // a str that is not UTF-8, say
          PyErr_SetString(
              PyExc_TypeError,
              "an argument that cannot be converted: strings must be UTF-8");
        }
      });
}

} // namespace aicf::python
