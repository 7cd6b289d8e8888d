#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No contraction outside products and sums that say so, read off the PTX.

    lint_contraction.py --functors kernels/pointwise/Functors.h PTX...

A fused multiply-add in a kernel is an error, so that fused and unfused f32 and
f64 calls have the same bits (docs/rationale/Records.md, "Numbers in a body"). exp, log, sin and such
are the CUDA library's, which are made of them: kernels of the functors that call
one are left out. The files given are those without sums of products.
"""

import argparse
import pathlib
import re
import sys

LIBRARY_CALL = re.compile(r"scalar::(?:exp2?|expm1|log|log1p|log2|log10|fmod|atan2|pow|sin|cos|erfc?|tanh)\b")
CONTRACTED = re.compile(r"\b(?:fma|mad)\.r[nzmp]\.(?:\w+\.)*b?f(?:16|32|64)")


def library_functors(header):
    """Functors that call a function of CUDA's library."""
    parts = re.split(r"^struct (\w+) \{", header, flags=re.M)[1:]
    return {name for name, body in zip(parts[::2], parts[1::2])
            if LIBRARY_CALL.search(body)}


def names_of(functor):
    """What a functor is called in the name of a kernel's template, and in that of a
    function of kernels/graph/Scalars.cu."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", functor).lower()
    return ("%d%s" % (len(functor), functor), "aicf_%s_f" % snake)


def contractions(ptx, left_out):
    """(kernel or function, instruction) of each contraction; also how many kernels and
    functions there are."""
    entries = re.split(r"^\s*(?:\.visible |\.weak )?"
                       r"(?:\.entry|\.func\s+\([^)]*\)(?= aicf_)) (\S+)\(", ptx,
                       flags=re.M)[1:]
    left_out = {name for functor in left_out for name in names_of(functor)}
    found = []
    for name, body in zip(entries[::2], entries[1::2]):
        body = body.split("\n}\n")[0]  # functions of CUDA's library follow
        if any(left in name for left in left_out):
            continue
        found += [(name, line.strip()) for line in body.splitlines()
                  if CONTRACTED.search(line)]
    return found, len(entries) // 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functors", type=pathlib.Path, required=True)
    parser.add_argument("ptx", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    left_out = library_functors(args.functors.read_text())
    failed = False
    for path in args.ptx:
        found, kernels = contractions(path.read_text(), left_out)
        if kernels == 0:
            found = [("-", "no kernel in the file")]
        for kernel, line in found:
            print("%s: %s: %s" % (path.name, kernel, line))
            failed = True
    print("no findings" if not failed else "contraction: build with -fmad=false")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
