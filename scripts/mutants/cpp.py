# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts switches into C++ sources (mutant schemata: Untch, Offutt & Harrold 1993).

Every part of a condition that is not made of others by && and || gets two mutants:
one in which it always holds, and one in which it never does. Conditions are those of
`if` and `?:`, what is returned or kept as a bool, and the legal range in a call of
value(). A check that is returned, or in AICF_RETURN_IF_ERROR, gets one mutant, in
which it is not made. Not looked at: loops, `switch`, what is constexpr, macros.

This works on text, not on a tree: the sources are formatted by one tool.
"""

import re

import switches
from switches import ALWAYS, NEVER, Mutant

# Calls that answer with what is wrong.
RULE = (r"(?:c\.\w+|call\.check\w*|check\w*|has[A-Z]\w*|is[A-Z]\w*|ifThere|ranks|"
        r"elements|depth|resultShape|scalars|biasCorrection|group|oneElement|copies|"
        r"rules::(?!rowsOf)\w+)")
CHECKS = re.compile(r"return\s+(" + RULE + r"\s*\()")
CHECKED = re.compile(r"\s*(?:" + RULE + r"|refuse\w*|parse\w*|\w+\.verify)\s*\(|"
                     r"\s*EntryChecker\(")
# What makes an expression a bool: blanks tell `<` from a template's.
LOGICAL = re.compile(r"&&|\|\|| == | != | < | > | <= | >= ")
DECLARED = re.compile(r"\s*(?:const\s+)?[\w:]+(?:<[^;=]*>)?[\s*&]+(\w+)\s*=(?!=)")

# A switch in the file that has it. In a file that another one includes too, the
# functions are the same ones.
PRELUDE = """#ifndef AICF_SWITCHES
#define AICF_SWITCHES
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
namespace aicf_switches {
inline const int on = [] {
  const char *text = std::getenv("AICF_MUTANT");
  return text ? std::atoi(text) : -1;
}();
/// A byte per mutant, in a file that all processes of a test share: whether it would
/// have made a difference.
inline unsigned char *const reached = [] {
  const char *path = std::getenv("AICF_MUTANT_RECORD");
  int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  void *map = file < 0 ? MAP_FAILED
                       : ::mmap(nullptr, %(size)d, PROT_READ | PROT_WRITE, MAP_SHARED,
                                file, 0);
  if (file >= 0)
    ::close(file);
  return map == MAP_FAILED ? nullptr : static_cast<unsigned char *>(map);
}();
/// The condition's value, or what mutant `number` (never holds) or the next one
/// (always holds) makes of it.
inline bool condition(int number, bool value) {
  if (reached)
    reached[value ? number : number + 1] = 1;
  return on == number ? false : on == number + 1 ? true : value;
}
/// Whether a check is left out.
inline bool isOff(int number) {
  if (reached)
    reached[number] = 1;
  return on == number;
}
/// What a check answers, or what mutant `number` makes of it: success. A check that
/// answers yes or no never holds then. What lies elsewhere is left alone.
template <typename T> T checked(int number, T &&value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (reached && value)
      reached[number] = 1;
    return on == number ? false : value;
  } else if constexpr (std::is_lvalue_reference_v<T>) {
    return value;
  } else if constexpr (std::is_default_constructible_v<T>) {
    return isOff(number) ? T() : std::move(value);
  } else {
    return isOff(number) ? T::success() : std::move(value);
  }
}
} // namespace aicf_switches
#endif
""" % {"size": switches.MOST}


def mask(text):
    """Comments, strings and characters as blanks: only structure is left."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                  flags=re.S)


def closing(masked, at):
    """The position of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(masked)):
        if masked[i] in "([{":
            depth += 1
        elif masked[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("unbalanced")


def split_at(masked, begin, end, operator):
    """The ranges between top-level operators; `<` of templates is not a bracket."""
    parts, depth, last, i = [], 0, begin, begin
    while i < end:
        if masked[i] in "([{":
            depth += 1
        elif masked[i] in ")]}":
            depth -= 1
        elif depth == 0 and masked.startswith(operator, i):
            parts.append((last, i))
            last = i = i + len(operator)
            continue
        i += 1
    return parts + [(last, end)]


class Instrumenter:
    def __init__(self, name, text, first):
        self.name, self.text, self.masked = name, text, mask(text)
        self.next = first
        self.edits, self.mutants = [], []  # (begin, end, function of the text)
        self.starts = set()
        self.fixed = list(self.fixed_ranges())

    def fixed_ranges(self):
        """What the compiler computes, and macros."""
        for match in re.finditer(r"\bconstexpr\b[^;{}=]*\{|\bstatic_assert\b[^;]*;|"
                                 r"^ *#(?:[^\n]*\\\n)*[^\n]*", self.masked, re.M):
            end = match.end()
            if match.group().endswith("{"):
                end = closing(self.masked, end - 1)
            yield match.start(), end

    def edit(self, begin, end, make, changes):
        """Replaces a part by make(number, its text), once."""
        while begin < end and self.masked[begin].isspace():
            begin += 1
        if begin in self.starts or any(b <= begin < e for b, e in self.fixed):
            return
        self.starts.add(begin)
        number, self.next = self.next, self.next + 2
        self.edits.append((begin, end, lambda text: make(number, text)))
        line = self.text.count("\n", 0, begin) + 1
        text = " ".join(self.text[begin:end].split())
        for offset, change in enumerate(changes):
            self.mutants.append((begin, Mutant(number + offset, self.name, line, text,
                                               change)))

    def condition(self, begin, end):
        """Each part of a condition apart, down into brackets."""
        if self.masked.find("\n#", begin, end) >= 0 or "?" in self.top(begin, end):
            return
        for operator in ("||", "&&"):
            parts = split_at(self.masked, begin, end, operator)
            if len(parts) > 1:
                for part in parts:
                    self.condition(*part)
                return
        text = self.masked[begin:end]
        inner = re.match(r"\s*!?\(", text)
        if inner:
            opening = begin + inner.end() - 1
            close = closing(self.masked, opening)
            if not self.masked[close + 1:end].strip():
                self.condition(opening + 1, close)
                return
        if text.strip() in ("true", "false", "", "..."):
            return
        self.edit(begin, end, lambda n, t:
                  "::aicf_switches::condition(%d, static_cast<bool>(%s))" % (n, t),
                  (NEVER, ALWAYS))

    def ifs(self):
        for match in re.finditer(r"\bif\s*\(", self.masked):
            opening = match.end() - 1
            begin, end = opening + 1, closing(self.masked, opening)
            parts = split_at(self.masked, begin, end, ";")
            begin = parts[-1][0]
            declared = DECLARED.match(self.masked[begin:end])
            if re.match(r"\s*[\w:]+ \w+\{", self.masked[begin:end]):
                continue  # if (T x{...})
            if not declared:
                self.condition(begin, end)
            elif len(parts) == 1:  # if (T x = f()) becomes if (T x = f(); ...)
                name = declared.group(1)
                # Always a remark: its text is made and nobody sees it.
                changes = (NEVER,) if name == "remark" else (NEVER, ALWAYS)
                self.edit(begin, end, lambda n, t, name=name:
                          "%s; ::aicf_switches::condition(%d, static_cast<bool>(%s))"
                          % (t, n, name), changes)

    def choices(self):
        """The conditions of ?:, which begin behind what stands before them."""
        for match in re.finditer(r"\?", self.masked):
            depth, at = 0, match.start() - 1
            while at >= 0:
                c = self.masked[at]
                if c in ")]}":
                    depth += 1
                elif c in "([{":
                    if depth == 0:
                        break
                    depth -= 1
                elif depth == 0 and (c in ",;?" or (
                        c == ":" and self.masked[at - 1] != ":"
                        and self.masked[at + 1] != ":")):
                    break
                elif depth == 0 and c == "=" and self.masked[at - 1] not in "=!<>" \
                        and self.masked[at + 1] != "=":
                    break
                elif depth == 0 and c == "<" and self.masked[at - 1] == "<":
                    break
                elif depth == 0 and self.masked[at - 5:at + 1] == "return":
                    break
                at -= 1
            begin = at + 1
            brackets = re.sub(r" [<>]=? |->", "", self.masked[begin:match.start()])
            if brackets.count("<") == brackets.count(">"):  # else a template's comma
                self.condition(begin, match.start())

    def checks(self):
        for match in re.finditer(r"AICF_RETURN_IF_ERROR\s*\(", self.masked):
            end = closing(self.masked, match.end() - 1)
            if CHECKED.match(self.masked, match.end()):  # else work that may fail
                self.edit(match.start(), end + 1, lambda n, t:
                          "{ if (!::aicf_switches::isOff(%d)) { %s; } }" % (n, t),
                          ("not checked",))
        for match in CHECKS.finditer(self.masked):
            begin = match.start(1)
            end = closing(self.masked, match.end(1) - 1)
            if self.masked[end + 1:].lstrip().startswith(";"):
                self.edit(begin, end + 1, lambda n, t:
                          "::aicf_switches::checked(%d, %s)" % (n, t),
                          ("not checked",))

    def ranges(self):
        for match in re.finditer(r"\b(?:c\.value|checkValue)\s*\(", self.masked):
            opening = match.end() - 1
            end = closing(self.masked, opening)
            arguments = split_at(self.masked, opening + 1, end, ",")
            if len(arguments) == 5:  # id, name, value, is it legal, what is expected
                self.condition(*arguments[3])

    def booleans(self):
        for match in re.finditer(r"\b(?:bool\s+\w+\s*=|return)\s", self.masked):
            end = self.masked.find(";", match.end())
            body = self.masked[match.end():end]
            top = self.top(match.end(), end)
            if "?" in body or "{" in body or "<<" in top or not LOGICAL.search(top):
                continue
            self.condition(match.end(), end)

    def top(self, begin, end):
        """What is not inside of brackets."""
        return "".join(self.masked[b:e]
                       for b, e in outside(self.masked[begin:end], begin))

    def keep_only(self, functions):
        """Leaves the switches of these functions."""
        ranges = []
        for name in functions:
            match = re.search(r"\b%s\(" % re.escape(name), self.masked)
            begin = self.masked.index("{", closing(self.masked, match.end() - 1))
            ranges.append((begin, closing(self.masked, begin)))
        self.edits = [e for e in self.edits if any(b <= e[0] < c for b, c in ranges)]
        self.mutants = [m for m in self.mutants
                        if any(b <= m[0] < c for b, c in ranges)]

    def run(self, functions=None):
        """The changed text; the mutants are in `mutants`, by number."""
        self.ranges()
        self.ifs()
        self.choices()
        # There `a < b` is an expression of a program, which is built.
        if not self.name.startswith("lib/Conversion/AICFToLinalg/"):
            self.booleans()
            if not self.name.startswith("python/"):  # which throws
                self.checks()
        if functions:
            self.keep_only(functions)
        self.mutants = [m for _, m in sorted(self.mutants, key=lambda m: m[1].number)]
        edits = sorted(self.edits, key=lambda e: (e[0], -e[1]))
        return PRELUDE + '#line 1 "%s"\n' % self.name + self.apply(
            0, len(self.text), edits)

    def apply(self, begin, end, edits):
        """The text of a range with the edits inside it, nested ones too."""
        result, at, i = "", begin, 0
        while i < len(edits):
            b, e, make = edits[i]
            inner = [x for x in edits[i + 1:] if x[0] < e]
            i += 1 + len(inner)
            result += self.text[at:b] + make(self.apply(b, e, inner))
            at = e
        return result + self.text[at:end]


def outside(body, offset):
    """The ranges of `body` that are not inside of brackets."""
    depth, begin = 0, 0
    for i, c in enumerate(body):
        if c in "([{":
            if depth == 0:
                yield begin + offset, i + offset
            depth += 1
        elif c in ")]}":
            depth -= 1
            begin = i + 1
    if depth == 0:
        yield begin + offset, len(body) + offset
