#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enforces which folder may include what (CONTRIBUTING.md, "Rooms").

    lint_layers.py ROOT [--no-llvm BINARY...]

The binaries' `ldd` must show no LLVM and no MLIR.
"""

import argparse
import pathlib
import re
import subprocess
import sys

# Rooms that may not see a prefix. A room is a folder name under include/aicf
# and lib; `kernels` is the folder at the top.
RUNTIME_SIDE = ["ABI", "Support", "Plan", "Runtime", "Interpreter",
                "Kernels", "kernels"]
COMPILER_SIDE = ["Dialect", "Analysis", "Transforms", "Target"]
FORBIDDEN = [(room, r"(mlir|llvm)(-c)?/") for room in RUNTIME_SIDE]
FORBIDDEN += [(room, r"cu(da|blas|dnn)\w*") for room in COMPILER_SIDE]
FORBIDDEN += [
    ("ABI", r"aicf/(?!ABI/)"),
    ("Support", r"aicf/(?!ABI/|Support/)"),
    ("Plan", r"aicf/(?!ABI/|Support/|Plan/)"),
    ("Kernels", r"aicf/(?!ABI/|Support/|Kernels/)"),
    ("kernels", r"aicf/(?!ABI/|Support/|Kernels/)"),
    ("Runtime", r"aicf/(?!ABI/|Support/|Plan/|Kernels/|Runtime/)"),
    ("Dialect", r"aicf/(?!ABI/|Support/|Dialect/)"),
    ("Analysis", r"aicf/(?!ABI/|Support/|Dialect/|Analysis/)"),
    ("Transforms", r"aicf/(?!ABI/|Support/|Dialect/|Analysis/|Transforms/)"),
    ("Target", r"aicf/(?!ABI/|Support/|Dialect/|Analysis/|Plan/|Target/)"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".def", ".inc"}


def folders_of(root, room):
    if room == "kernels":
        return [root / "kernels"]
    return [root / "include/aicf" / room, root / "lib" / room]


def lint_includes(root):
    findings = []
    for room, pattern in FORBIDDEN:
        for folder in folders_of(root, room):
            for path in sorted(folder.rglob("*")):
                if path.suffix not in SUFFIXES:
                    continue
                for number, line in enumerate(path.read_text().splitlines(), 1):
                    match = INCLUDE.match(line)
                    if match and re.match(pattern, match.group(1)):
                        findings.append("%s:%d: %s may not include %s" % (
                            path.relative_to(root), number, room, match.group(1)))
    return findings


def lint_binary(path):
    linked = subprocess.run(["ldd", path], capture_output=True, text=True,
                            check=True).stdout
    return ["%s is linked with %s" % (path, line.strip())
            for line in linked.splitlines()
            if re.search(r"lib(LLVM|MLIR|gomp)", line)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--no-llvm", nargs="*", default=[])
    args = parser.parse_args()
    findings = lint_includes(args.root)
    for binary in args.no_llvm:
        findings += lint_binary(binary)
    print("\n".join(findings) if findings else "no findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
