#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times aicf-compile on generated train steps and prints microseconds an op.

    lowering.py BUILD [--repeats 5]

An op is an aicf op of the step. The time is the whole process: parse, lower,
plan, verify, write.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--layers", default="100,1000,10000")
    args = parser.parse_args()
    print("%8s %9s %10s %10s %10s %10s %9s" % (
        "layers", "ops", "median s", "min s", "max s", "us an op", "gap %"))
    with tempfile.TemporaryDirectory() as folder:
        for layers in map(int, args.layers.split(",")):
            source = pathlib.Path(folder) / "step.mlir"
            text = subprocess.run(
                [sys.executable, str(HERE / "generate_step.py"), "--layers",
                 str(layers)], capture_output=True, text=True, check=True).stdout
            source.write_text(text)
            ops = len(re.findall(r"= aicf\.", text))
            command = [str(args.build / "bin/aicf-compile"), str(source), "-o",
                       str(source) + ".plan"]
            seconds = []
            for _ in range(args.repeats):
                start = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                seconds.append(time.perf_counter() - start)
            done = subprocess.run(command + ["--report"], check=True,
                                  capture_output=True, text=True)
            gap = re.search(r"gap ([\d.]+) %", done.stderr).group(1)
            middle = statistics.median(seconds)
            print("%8d %9d %10.3f %10.3f %10.3f %10.1f %9s" % (
                layers, ops, middle, min(seconds), max(seconds),
                middle / ops * 1e6, gap))


if __name__ == "__main__":
    main()
