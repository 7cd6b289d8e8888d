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
    Rule(("lib/Ops", "kernels/cpu"), CODE, ("OpViews.h",),
         r"\bOpKind::(?!(Copy|CopySaved|Cast|Expand|VIEW|X)\b)[A-Z]",
         "no family is named here: its record says what is special about it"),
    Rule(("lib/Transforms",), CODE, (), r"\bDeviceKind::",
         "no pass knows a device: a number of lib/Ops/Costs.h says what pays on which"),
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


#: Where a kind of device is a default, or the device itself.
OWN_KIND = ("include/aicf/Device.h", "include/aicf/Passes.td", "include/aicf/Plan.h",
            "lib/Runtime/CPU/", "lib/Runtime/CUDA/", "kernels/graph/CpuProgram.cpp")
PAGE = "docs/NewDevice.md"


def lint_devices(root):
    """Product sources that choose by the kind of device stand on the page about new ones,
    and the other way round."""
    page = (root / PAGE).read_text()
    places = re.search(r"^7\. These places choose.*?(?=^\d\. )", page, re.M | re.S)
    listed = set(re.findall(r"`([\w/]+\.\w+)`", places.group(0))) if places else set()
    for folder in (*SOURCES, "examples"):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix not in (*CODE, ".td") or "/test/" in name \
                    or name.startswith(OWN_KIND) \
                    or not re.search(r"DeviceKind::(CPU|CUDA)\b", path.read_text()):
                continue
            if name not in page:
                yield "%s:1: chooses by the kind of device, and %s does not name it" % (
                    name, PAGE)
            listed.discard(name)
    for name in sorted(n for n in listed if n.startswith((*SOURCES, "examples"))):
        if not (root / name).exists() or "DeviceKind::" not in (root / name).read_text():
            yield "%s:1: names %s, which does not choose by the kind of device" % (
                PAGE, name)


def main():
    root = pathlib.Path(sys.argv[1])
    findings = [*lint(root), *lint_devices(root)]
    print("\n".join(findings) if findings else "no findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
