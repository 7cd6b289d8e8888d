# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs; prints a reduced one for each failure."""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from .derive import generate_forward, judge_forward
from .generate import generate
from .judge import Failure, Skip, judge
from .reduce import reduce


def failure_of(program, bin_dir, folder, judge=judge):
    try:
        judge(program, bin_dir, folder)
    except (Failure, Skip) as failure:
        return failure
    except subprocess.TimeoutExpired as error:
        return Failure("timeout", str(error))
    return None


def main():
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--bin", required=True, help="folder with the tools")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--forward", action="store_true",
                        help="forward functions, and their derived gradients")
    parser.add_argument("--torch", action="store_true",
                        help="forward functions, trained beside PyTorch")
    args = parser.parse_args()
    make, judges = (generate_forward, judge_forward) if args.forward else \
        (generate, judge)
    if args.torch:
        from .train import generate_training as make, judge_training as judges
    failed, skipped = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        def one(seed):
            return seed, failure_of(make(seed), args.bin, folder, judges)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for seed, failure in pool.map(
                    one, range(args.seed, args.seed + args.count)):
                if failure is None:
                    continue
                if isinstance(failure, Skip):
                    skipped[str(failure)] = skipped.get(str(failure), 0) + 1
                    continue
                failed += 1
                print("program %d: %s" % (seed, failure), flush=True)
                if args.no_reduce or failed > 3:
                    continue

                def fails(p):
                    found = failure_of(p, args.bin, folder, judges)
                    return found is not None and found.kind == failure.kind
                print("reduced:\n%s" % reduce(make(seed), fails).text())
    done = args.count - sum(skipped.values())
    for reason, count in sorted(skipped.items()):
        print("%d not compared: %s" % (count, reason))
    print("%d programs, %d failed" % (done, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
