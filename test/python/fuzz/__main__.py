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
from .graphs import generate_graph
from .jit import judge_linalg
from .judge import Failure, Skip, judge
from .reduce import reduce


# Of so many programs, one in so many has such a CUDA plan: else they are too tame.
CENSUS_FROM, EVERY = 50, {"padded tensors": 5, "several entries": 4,
                          "shared operands in one call": 4,
                          "views with strides": 10, "parts in place": 100,
                          "constants": 10, "bits": 16}


def census(features, count):
    """Prints how many programs had what; False where too few had."""
    if count < CENSUS_FROM:
        return True
    found = {name: sum(name in f for f in features) for name in EVERY}
    print("CUDA plans with " + ", ".join(
        "%s: %d" % item for item in found.items()))
    rare = [name for name, every in EVERY.items() if found[name] * every < count]
    for name in rare:
        print("too few programs have %s: %d of %d, expected %d"
              % (name, found[name], count, -(-count // EVERY[name])))
    return not rare


def failure_of(program, bin_dir, folder, judge=judge, features=None):
    try:
        found = judge(program, bin_dir, folder)
        if features is not None:
            features.append(found or set())
    except (Failure, Skip) as failure:
        return failure
    except subprocess.TimeoutExpired as error:
        return Failure("timeout", str(error))
    return None


BATCH = 25  # programs in one module: most of the time is the tools' start


def linalg_failures(seeds, bin_dir, make=generate):
    """[(seed, Failure or None)]; a module that fails as a whole, one by one."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = judge_linalg([make(s) for s in seeds], bin_dir, folder)
        except (Failure, subprocess.TimeoutExpired) as failure:
            if len(seeds) == 1:
                return [(seeds[0], failure_of(make(seeds[0]), bin_dir, folder,
                                              judge_one_linalg) or failure)]
            return [f for s in seeds for f in linalg_failures([s], bin_dir, make)]
    return [(s, found.get(s)) for s in seeds]


def judge_one_linalg(program, bin_dir, folder):
    with tempfile.TemporaryDirectory(dir=folder) as work:
        for failure in judge_linalg([program], bin_dir, work).values():
            raise failure


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
    parser.add_argument("--linalg", action="store_true",
                        help="by way of linalg and MLIR's JIT")
    parser.add_argument("--graphs", action="store_true",
                        help="bodies that fusion makes few calls of")
    parser.add_argument("--texts", action="store_true",
                        help="texts for all that reads .mlir: no crash, no hang")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="with --texts: how many processes")
    parser.add_argument("--report", help="with --texts: folder for texts that crash")
    args = parser.parse_args()
    if args.texts:
        from .texts import fuzz
        return fuzz(args.bin, args.count, args.seed, args.jobs, args.report,
                    not args.no_reduce)
    make, judges = (generate_forward, judge_forward) if args.forward else \
        (generate, judge)
    if args.torch:
        from .train import generate_training as make, judge_training as judges
    if args.graphs:
        make = generate_graph
    if args.linalg:
        judges = judge_one_linalg
    failed, skipped, features = 0, {}, []
    takes_census = not (args.forward or args.torch or args.linalg or args.graphs)
    with tempfile.TemporaryDirectory() as folder:
        def several(seeds):
            if args.linalg:
                return linalg_failures(seeds, args.bin, make)
            return [(s, failure_of(make(s), args.bin, folder, judges,
                                   features)) for s in seeds]
        last = args.seed + args.count
        size = BATCH if args.linalg else 1
        batches = [range(s, min(s + size, last))
                   for s in range(args.seed, last, size)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for seed, failure in (f for b in pool.map(several, batches) for f in b):
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
                    return isinstance(found, Failure) and found.kind == failure.kind
                print("reduced:\n%s" % reduce(make(seed), fails).text())
    done = args.count - sum(skipped.values())
    for reason, count in sorted(skipped.items()):
        print("%d not compared: %s" % (count, reason))
    is_varied = not takes_census or failed or census(features, done)
    print("%d programs, %d failed" % (done, failed))
    return 0 if is_varied and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
