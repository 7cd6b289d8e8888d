#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the plans that benchmarks/gpu.sh and cpu.sh run: a plan a case and variant.

    make_plans.py --compiler build/bin/aicf-compile --out carry/plans [--target cpu]

Writes OUT/compile.json with the seconds that each compilation took.
"""

import argparse
import io
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import generate_step  # noqa: E402
from cases import CASES, precision_flags  # noqa: E402

# What is tried on a GPU for each case; the fastest is reported, all are listed.
VARIANTS = {
    "s1": ["--streams=1"],
    "s2": ["--streams=2"],
    "s3": ["--streams=3"],
    "s2g2": ["--streams=2", "--max-groups=2"],
    "s2r4": ["--streams=2", "--recompute-rate=4"],
}
# For accuracy: large enough for the library's products, small enough for f64.
ACCURACY = (1024, [256, 512, 16])


def source(batch, widths, precision, **extra):
    out = io.StringIO()
    generate_step.train_step(out, batch, widths, "adam",
                             loss_scale=precision == "f16", **extra)
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--target", default="cuda", choices=list(CASES))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    seconds = {}

    def compile_plan(name, text, precision, *flags):
        path = args.out / (name + ".mlir")
        path.write_text(text)
        flags = [*precision_flags(precision), *flags]
        start = time.perf_counter()
        subprocess.run([args.compiler, path, "--target=" + args.target, *flags, "-o",
                        args.out / (name + ".plan")], check=True)
        seconds[name] = time.perf_counter() - start
        path.unlink()

    def write_seconds():
        (args.out / "compile.json").write_text(json.dumps(seconds, indent=1))

    variants = VARIANTS if args.target == "cuda" else {"s1": []}
    for case, (batch, widths, precision) in CASES[args.target].items():
        for variant, flags in variants.items():
            compile_plan("%s.%s" % (case, variant),
                         source(batch, widths, precision), precision, *flags)
    if args.target == "cpu":
        return write_seconds()
    for precision in ("f32", "tf32", "bf16", "f16"):
        text = source(*ACCURACY, precision)
        compile_plan("accuracy.%s" % precision, text, precision, "--streams=2")
        compile_plan("accuracy.%s.grad" % precision, text, precision,
                     "--keep=grad", "--streams=2")
        compile_plan("accuracy.%s.o0" % precision, text, precision,
                     "--opt-level=0")
    compile_plan("accuracy.split", source(*ACCURACY, "f32"), "f32",
                 "--split-step")
    compile_plan("accuracy.history", source(*ACCURACY, "f32", history=100),
                 "f32")
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples"
    compile_plan("digits_cuda", (examples / "digits/model.mlir").read_text(),
                 "f32", "--streams=2")
    write_seconds()


if __name__ == "__main__":
    main()
