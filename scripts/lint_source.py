#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds lines that break a rule of the house: RULES says which, where and why.

    lint_source.py ROOT

A rule is a pattern on one line, so it can miss what spans two.
"""

import collections
import pathlib
import re
import sys

Rule = collections.namedtuple("Rule", "folders suffixes besides pattern message")

CODE = (".cpp", ".h", ".cu", ".cuh")
SOURCES = ("include", "kernels", "lib", "tools", "python")
RULES = [
    Rule(("lib/Transforms/RT",), CODE, ("CallUses.cpp",),
         r"\b(getUsers|getUses|getDefiningOp)\b",
         "passes ask lib/Transforms/RT/CallUses.h who makes and reads a value"),
    Rule((*SOURCES, "unittests", "test", "docs"),
         (*CODE, ".py", ".td", ".md", ".mlir"), ("test_lints.py",),
         r"(?<![Tt]here )\b(is|are) no (?!longer\b)\w",
         'write "is not a", not "is no"'),
    Rule(SOURCES, CODE, (), r"^\s*/// (Of|Those|As|Whose|Nothing|Likewise)\b",
         "a doc comment starts with a verb or names the thing"),
    Rule(("lib",), CODE, (), r"See the pass's description",
         "the head of a pass says its algorithm"),
]


def lint(root):
    for rule in RULES:
        for path in sorted(p for f in rule.folders for p in (root / f).rglob("*")):
            if path.suffix not in rule.suffixes or path.name in rule.besides:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if re.search(rule.pattern, line):
                    yield "%s:%d: %s" % (path.relative_to(root), number, rule.message)


def main():
    findings = list(lint(pathlib.Path(sys.argv[1])))
    print("\n".join(findings) if findings else "no findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
