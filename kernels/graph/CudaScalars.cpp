//===- CudaScalars.cpp - scalar functions as PTX text ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaScalars.h"

#include <algorithm>
#include <cctype>

namespace aicf::cuda {

/// Made by CMake from Scalars.cu.
extern const char kScalarsPtx[];

static bool startsWith(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
/// A variable of the text, with numbers or shared by the threads of a block.
static bool isTable(std::string_view text) {
  return startsWith(text, ".global") || startsWith(text, ".const") ||
         startsWith(text, ".weak .shared");
}
static bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

/// The name in front of position `end`.
static std::string nameBefore(std::string_view text, size_t end) {
  while (end > 0 && !isNameCharacter(text[end - 1]))
    --end;
  size_t begin = end;
  while (begin > 0 && isNameCharacter(text[begin - 1]))
    --begin;
  return std::string(text.substr(begin, end - begin));
}

static std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Everything outside of braces ends with a `;`, or with the brace that closes
/// a body, at the beginning of a line.
ScalarText::ScalarText(std::string_view ptx) {
  std::string entity;
  for (const std::string &line : linesOf(ptx)) {
    if (startsWith(line, ".version") || startsWith(line, ".target") ||
        startsWith(line, ".address_size")) {
      if (top.find(line) == std::string::npos) // the text of two files
        top += line + "\n";
      continue;
    }
    bool begins = startsWith(line, ".func") ||
                  startsWith(line, ".visible .func") ||
                  startsWith(line, ".visible .entry") || isTable(line);
    if (entity.empty() && !begins)
      continue;
    entity += line + "\n";
    bool ends = line == "}" || (entity.find("\n{\n") == std::string::npos &&
                                !line.empty() && line.back() == ';');
    if (!ends)
      continue;
    addEntity(entity);
    entity.clear();
  }
  // Functions of Scalars.cu do not call each other.
  std::vector<std::string> helpers;
  for (const auto &[name, unused] : functions)
    if (!startsWith(name, "aicf_"))
      helpers.push_back(name);
  for (const auto &[name, unused] : tables)
    helpers.push_back(name);
  for (auto &[name, function] : functions)
    for (const std::string &helper : helpers)
      if (helper != name && function.text.find(helper) != std::string::npos)
        function.helpers.push_back(helper);
}

void ScalarText::addEntity(const std::string &text) {
  if (isTable(text)) {
    tables[nameBefore(text, text.find('['))] = text;
    return;
  }
  if (startsWith(text, ".visible .entry")) {
    kernels[nameBefore(text, text.find('('))] = text;
    return;
  }
  size_t body = text.find("\n{\n");
  if (body == std::string::npos)
    return; // a declaration
  ScalarFunction function;
  function.text = startsWith(text, ".visible ")
                      ? text.substr(std::string_view(".visible ").size())
                      : text;
  // `.func (.param .b32 func_retval0) name(` or, on the next line, `(`.
  size_t open = text.find('(', text.find(')'));
  std::string_view lines(text);
  lines = lines.substr(body + 3);
  lines.remove_suffix(std::string_view("}\n").size());
  function.lines = linesOf(lines);
  functions[nameBefore(text, open)] = std::move(function);
}

const ScalarText &ScalarText::get() {
  static const ScalarText text(kScalarsPtx);
  return text;
}

const ScalarFunction *ScalarText::find(const std::string &name) const {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : &it->second;
}

void ScalarText::defineOne(const std::string &name, std::set<std::string> &done,
                           std::string &text) const {
  if (!done.insert(name).second)
    return;
  if (auto table = tables.find(name); table != tables.end()) {
    text += table->second;
    return;
  }
  const ScalarFunction &function = functions.at(name);
  for (const std::string &helper : function.helpers)
    defineOne(helper, done, text);
  text += function.text;
}

std::string ScalarText::define(const std::set<std::string> &names) const {
  std::set<std::string> done;
  std::string text;
  for (const std::string &name : names)
    defineOne(name, done, text);
  return text;
}

/// The text between `open` and the next `close`; "" where `open` does not
/// stand.
static std::string_view between(std::string_view line, std::string_view open,
                                char close) {
  size_t at = line.find(open);
  if (at == std::string_view::npos)
    return {};
  line.remove_prefix(at + open.size());
  return line.substr(0, line.find(close));
}

/// "\tmov.f32 \t%f1, x;" for "\tld.param.f32 \t%f1, [...];", and likewise.
static std::string moved(std::string_view type, std::string_view to,
                         std::string_view from) {
  return "\tmov." + std::string(type) + " \t" + std::string(to) + ", " +
         std::string(from) + ";\n";
}

/// Bits of a register by its name: %r and %f have 32, %rd and %fd 64, %rs 16;
/// those of CudaProgram.cpp are %aw and %ax.
static int bitsOf(std::string_view name) {
  char second = name.size() > 2 ? name[2] : 0;
  return second == 'd' || second == 'x' ? 64 : second == 's' ? 16 : 32;
}

/// What `ld.param.<type>` would put into register `to`, out of register `from`.
/// nvcc reads no more of a parameter than its function looks at, and may extend
/// what it reads.
static std::string loaded(std::string_view type, std::string_view to,
                          std::string_view from) {
  if (bitsOf(to) == bitsOf(from))
    return moved(type, to, from);
  const char *sign = type[0] == 's' ? "s" : "u";
  return "\tcvt." + std::string(sign) + std::to_string(bitsOf(to)) + "." +
         sign + std::to_string(bitsOf(from)) + " \t" + std::string(to) + ", " +
         std::string(from) + ";\n";
}

std::string spliced(const std::string &name, const ScalarFunction &function,
                    const std::vector<std::string> &arguments,
                    const std::string &result, size_t id) {
  const std::string label = "$L" + std::to_string(id) + "_";
  std::string text = "{ // " + name + "\n";
  for (const std::string &line : function.lines) {
    if (line.empty())
      continue;
    if (std::string_view number = between(line, "[" + name + "_param_", ']');
        !number.empty()) {
      std::string_view type = between(line, "ld.param.", ' ');
      std::string to(between(line, std::string(type) + " ", ','));
      size_t begin = to.find('%');
      text += loaded(type, std::string_view(to).substr(begin),
                     arguments[std::stoul(std::string(number))]);
    } else if (line.find("[func_retval0") != std::string::npos) {
      std::string from(between(line, "], ", ';'));
      text += moved(between(line, "st.param.", ' '), result, from);
    } else if (size_t at = line.find("ret;"); at != std::string::npos) {
      text += line.substr(0, at) + "bra \t" + label + "done;\n";
    } else {
      std::string renamed = line;
      for (size_t at = 0; (at = renamed.find("$L__", at)) != std::string::npos;
           at += label.size())
        renamed.replace(at, 4, label);
      text += renamed + "\n";
    }
  }
  return text + "}\n" + label + "done:\n";
}

} // namespace aicf::cuda
