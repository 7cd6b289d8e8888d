//===- CudaScalars.h - scalar functions as PTX text -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What nvcc made of Scalars.cu and Groups.cu, function by function, to be put
// into the text of a kernel, and of Skeletons.cu, kernel by kernel. Knows how
// nvcc writes a function down: parameters are loaded by ld.param and the result
// is stored by st.param. (PTX ISA 9.0, "Kernel and Function Directives"; names
// in a { } are local to it.) Arithmetic is nobody's here but nvcc's.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_CUDASCALARS_H
#define AICF_KERNELS_GRAPH_CUDASCALARS_H

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace aicf::cuda {

/// One function of the text.
struct ScalarFunction {
  std::string text;                 ///< the whole definition
  std::vector<std::string> lines;   ///< of its body
  std::vector<std::string> helpers; ///< functions and tables that it names
};

class ScalarText {
public:
  /// Reads text of nvcc's.
  explicit ScalarText(std::string_view ptx);
  /// That of this build.
  static const ScalarText &get();

  /// ".version ...", ".target ...", ".address_size ...".
  const std::string &header() const { return top; }
  /// The function, or nullptr.
  const ScalarFunction *find(const std::string &name) const;
  /// The whole definition of a kernel, as Skeletons.cu names it.
  const std::string &kernel(const std::string &name) const {
    return kernels.at(name);
  }
  /// The definitions of `names` and of all that they need, in an order in which
  /// each stands behind what it names.
  std::string define(const std::set<std::string> &names) const;

private:
  void addEntity(const std::string &text);
  void defineOne(const std::string &name, std::set<std::string> &done,
                 std::string &text) const;

  std::string top;
  std::map<std::string, ScalarFunction> functions;
  std::map<std::string, std::string> tables; ///< .global, .const and .shared
  std::map<std::string, std::string> kernels;
};

/// `result = name(arguments)` as a scope of its own, which has the lines of the
/// function, and its name in a comment. Arguments are registers or literals.
/// `id` is another one for each scope of a kernel.
std::string spliced(const std::string &name, const ScalarFunction &function,
                    const std::vector<std::string> &arguments,
                    const std::string &result, size_t id);

} // namespace aicf::cuda

#endif // AICF_KERNELS_GRAPH_CUDASCALARS_H
