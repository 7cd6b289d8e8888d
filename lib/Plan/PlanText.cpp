//===- PlanText.cpp - the words of plans in texts -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/PlanText.h"
#include "lib/Base/Utf8.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Fields.h"

#include <algorithm>

namespace aicf {

std::string TextTable::toString(const std::string &indent) const {
  std::vector<size_t> widths;
  for (const auto &cells : rows)
    for (size_t i = 0; i < cells.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], cells[i].size());
    }
  std::string text;
  for (const auto &cells : rows) {
    std::string line = indent;
    for (size_t i = 0; i < cells.size(); ++i)
      line += cells[i] + std::string(widths[i] - cells[i].size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string joined(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string printable(std::string text, size_t most) {
  bool isUtf8 = isPrintableUtf8(text);
  if (text.size() > most) {
    size_t half = (most - 3) / 2;
    text = text.substr(0, half) + "..." + text.substr(text.size() - half);
    isUtf8 = isPrintableUtf8(text); // a character may have been cut
  }
  if (!isUtf8)
    for (char &c : text)
      if (c < 0x20 || c > 0x7e) // what is not ASCII too
        c = '?';
  return text;
}

std::string wrapped(const std::string &text, const std::string &first,
                    const std::string &rest) {
  std::string all, line = first;
  bool isEmpty = true;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    at = end + 1;
    if (!isEmpty && line.size() + 1 + word.size() > kTextColumns) {
      all += line + "\n";
      line = rest;
      isEmpty = true;
    }
    line += (isEmpty ? "" : " ") + word;
    isEmpty = false;
    while (line.size() > kTextColumns) { // one word alone
      all += line.substr(0, kTextColumns) + "\n";
      line = rest + line.substr(kTextColumns);
    }
  }
  return all + line + "\n";
}

std::string valueName(const Plan &plan, const PlanEntry &entry,
                      uint32_t number) {
  const PlanValue &value = plan.value(entry, number);
  const PlanBuffer &buffer = plan.buffer(entry, value.buffer);
  if (buffer.name.empty())
    return "t" + std::to_string(number);
  // The value of a named buffer has the buffer's number.
  std::string name = printable(buffer.name, 60);
  return number == value.buffer ? name
                                : name + "+" + std::to_string(value.byteOffset);
}

std::string attrsText(const Primitive &primitive) {
  const OpInfo &info = infoOf(primitive.kind);
  std::vector<std::string> items;
  for (size_t i = 0; i < info.numFields; ++i)
    items.push_back(std::string(info.fields[i].name) + "=" +
                    formatField(decodeField(info.fields[i], primitive.attrs)));
  return items.empty() ? "" : " {" + joined(items) + "}";
}

std::string opsText(const Body &body) {
  std::vector<std::string> ops;
  for (const Primitive &primitive : body.primitives)
    ops.emplace_back(nameOf(primitive.kind));
  for (size_t period = 1; period * 2 <= ops.size(); ++period) {
    if (ops.size() % period ||
        !std::equal(ops.begin() + long(period), ops.end(), ops.begin()))
      continue;
    size_t count = ops.size() / period;
    ops.resize(period);
    std::string once = joined(ops);
    return (period > 1 ? "(" + once + ")" : once) + " x " +
           std::to_string(count);
  }
  return joined(ops);
}

std::string callText(const PlanCall &call,
                     const std::function<std::string(uint32_t)> &name) {
  const Body &body = *call.body;
  std::vector<uint32_t> made = valuesMade(body);
  // A value of the body: an operand, a result, or one that is handed on.
  auto nameInside = [&](uint32_t value) {
    if (value < body.numOperands)
      return name(call.ins[value]);
    for (size_t i = 0; i < body.results.size(); ++i)
      if (uint32_t(body.results[i]) == value)
        return name(call.outs[i]);
    return "%" + std::to_string(value - body.numOperands);
  };
  std::string text;
  uint32_t next = body.numOperands;
  for (const Primitive &primitive : body.primitives) {
    std::vector<std::string> operands, results;
    for (int32_t value : primitive.operands)
      operands.push_back(value == kAbsentValue ? "-"
                                               : nameInside(uint32_t(value)));
    for (uint32_t r = 0; r < primitive.numResults(); ++r, ++next)
      if (std::binary_search(made.begin(), made.end(), next))
        results.push_back(nameInside(next));
    text += (text.empty() ? "" : "; ") + joined(results) + " = " +
            std::string(nameOf(primitive.kind)) + "(" + joined(operands) + ")" +
            attrsText(primitive);
  }
  return text;
}

} // namespace aicf
