//===- PlanText.h - the words of plans in texts -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// How dump, diff and view name tensors and write calls. Names come from files
// that nobody has vouched for: nothing here passes on what a terminal would
// take for a command, nor a line of any length.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_PLANTEXT_H
#define AICF_LIB_PLAN_PLANTEXT_H

#include "aicf/Plan.h"

#include <functional>

namespace aicf {

/// The widest line of a text, in characters.
inline constexpr size_t kTextColumns = 120;

/// Rows whose columns are as wide as their widest cell.
class TextTable {
public:
  void row(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  std::string toString(const std::string &indent) const;

private:
  std::vector<std::vector<std::string>> rows;
};

/// Items with ", " between them.
std::string joined(const std::vector<std::string> &items);

/// Text without control characters, and at most `most` bytes long: the middle
/// of a longer one is left out.
std::string printable(std::string text, size_t most = 400);

/// `text` in lines of at most kTextColumns characters, broken at blanks; the
/// first begins with `first`, the others with `rest`.
std::string wrapped(const std::string &text, const std::string &first,
                    const std::string &rest);

/// What a value is called: "fc.weight", "x"; "t17" for a temp, by its number;
/// "fc.weight+64" for a value that begins 64 bytes inside of a named buffer, or
/// has another type than it.
std::string valueName(const Plan &plan, const PlanEntry &entry,
                      uint32_t number);

/// "gemm, bias_add"; "adam_step x 128" or "(adam_step, cast) x 6" where the
/// whole body repeats itself.
std::string opsText(const Body &body);

/// "{transA=0, transB=1}" behind a blank, or nothing.
std::string attrsText(const Primitive &primitive);

/// "t17 = gemm(x, fc.weight) {transA=0}", or several primitives with what they
/// hand on: "a = gemm(x, w); t3 = relu(a)". `name` says what a value of the
/// entry is called.
std::string callText(const PlanCall &call,
                     const std::function<std::string(uint32_t)> &name);

} // namespace aicf

#endif // AICF_LIB_PLAN_PLANTEXT_H
