#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A shared library shows the functions of its C header, all of them and no more.

    check_exports.py build/lib/libaicf.so --header include/aicf-c/aicf.h
"""

import argparse
import pathlib
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--header", required=True, type=pathlib.Path)
    args = parser.parse_args()
    declared = set(re.findall(r"AICF_API\s+(?:const\s+)?\w+\s+\*?(\w+)\(", args.header.read_text()))
    lines = subprocess.run(["nm", "-D", "--defined-only", args.library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines]
    shown = {name.split("@")[0] for kind, name in symbols
             if kind != "A"}  # A: the version's own name
    if not declared or shown != declared:
        sys.exit("%s: shown, but not in the header: %s; in the header, but not shown: %s"
                 % (args.library, sorted(shown - declared)[:9] or "none",
                    sorted(declared - shown)[:9] or "none"))
    print("%d functions" % len(shown))


if __name__ == "__main__":
    main()
