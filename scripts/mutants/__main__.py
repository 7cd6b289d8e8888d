# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is every condition tested? Each is changed in turn, and the tests are run.

    python3 scripts/mutants instrument --out DIR        the sources with switches
    python3 scripts/mutants run --build build-mutants   every mutant against the tests
    python3 scripts/mutants run ... --sample 300        300 of them, drawn by --seed
    python3 scripts/mutants run ... --only FuseCalls,MergeCalls --tests fuse  some files
    python3 scripts/mutants run ... --seconds 8         less patience: a first look
    python3 scripts/mutants list                        every mutant, with its number

A mutant is a source with one small change (cpp.py says which changes there are).
All mutants are compiled at once: AICF_MUTANT=n in the environment switches mutant n
on. A test that fails, crashes or hangs kills the mutant. The command prints the
survivors. It fails if one survives that is not ALLOWED, and if an allowed one is
killed: then the list is out of date. `make mutants` builds and runs.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import signal
import sys
import time

import cpp
import python
import suite
from allowed import ALLOWED, reason

ROOT = suite.ROOT
#: Every source here has switches, in the order of their numbers.
SOURCES = ["lib/Ops/*.cpp", "kernels/*/Rules.cpp", "lib/Base/Utf8.cpp",
           "lib/Base/Views.cpp", "lib/Schedule/*.cpp", "lib/Schedule/HappensBefore.h",
           "lib/Plan/Plan.cpp", "lib/Plan/PlanReader.cpp", "lib/Plan/PlanVerifier.cpp",
           "lib/Plan/PlanWriter.cpp", "lib/Plan/Extension.cpp", "lib/Plan/Order.cpp",
           "lib/Runtime/*.cpp", "lib/Runtime/CPU/*.cpp", "lib/Runtime/IO/*.cpp",
           "lib/Runtime/CUDA/*.cpp", "kernels/cpu/ThreadPool.cpp",
           "lib/Dialect/AICF/*.cpp", "lib/Transforms/*/*.cpp", "python/src/*.cpp",
           "python/aicf/*.py"]
#: Generated from the records, whose generator has tests of its own.
BESIDES = ["python/aicf/ops.py", "python/aicf/op_attrs.py"]
#: Of these files only some functions. The others of the planner look for a tighter
#: placement: a worse one is right, too, and its tests compare it with a bound.
FUNCTIONS = {"lib/Schedule/MemoryPlanner.cpp": ["makeProblem", "occupied"]}
#: A file's mutants have numbers from one multiple of this to the next.
PER_FILE = 2000


def sources():
    found = [p for pattern in SOURCES for p in sorted(ROOT.glob(pattern))]
    names = [str(p.relative_to(ROOT)) for p in dict.fromkeys(found)]
    return [n for n in names if n not in BESIDES]


def instrument(index, name):
    """The source with switches (C++), and its mutants."""
    original, first, text = (ROOT / name).read_text(), PER_FILE * index, None
    if name.endswith(".py"):
        _, mutants, end = python.instrument(name, original, first)
    else:
        worker = cpp.Instrumenter(name, original, first)
        text = worker.run(FUNCTIONS.get(name))
        mutants, end = worker.mutants, worker.next
    if end > first + PER_FILE:
        sys.exit("mutants: %s has more than %d mutants" % (name, PER_FILE))
    return text, mutants


def all_mutants(only=None):
    wanted = only.split(",") if only else [""]
    return [m for i, name in enumerate(sources()) if any(w in name for w in wanted)
            for m in instrument(i, name)[1]]


def write_sources(out):
    for index, name in enumerate(sources()):
        path, text = out / name, instrument(index, name)[0]
        if text is None:
            continue  # of Python: changed when it is imported
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def find_survivors(mutants, killer, reached):
    """The mutants for which killer(mutant, tests that killed others of its file)
    finds no test. Prints them, whether a test has `reached` them, and how far it is."""
    killers = collections.defaultdict(collections.Counter)
    start, done, alive = time.monotonic(), 0, []

    def work(mutant):
        nonlocal done
        best = [n for n, _ in killers[mutant.file].most_common(3)]
        name = killer(mutant, best)
        done += 1
        if name is None:
            alive.append(mutant)
            why = reason(mutant)
            note = " (allowed: %s)" % why if why else "" if reached(mutant) \
                else " (no test reaches it)"
            print(str(mutant) + note, flush=True)
        else:
            killers[mutant.file][name] += 1
        if done % 200 == 0:
            print("mutants: %d of %d, %d alive, %.0f s" % (
                done, len(mutants), len(alive), time.monotonic() - start), flush=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, mutants))
    return sorted(alive, key=lambda m: m.number)


def report(mutants, alive, seconds):
    """Says what is wrong with the list of allowed ones, and how many there are of
    what; exit code."""
    unexpected = [m for m in alive if reason(m) is None]
    lived = {id(reason(m, entry=True)) for m in alive}
    stale = [e for e in ALLOWED if id(e) not in lived
             and any(reason(m, entry=True) is e for m in mutants)]
    for entry in stale:
        print("mutants: allowed, but killed: %s: %s: %s" % entry[:3])
    print("%d mutants, %d survive, %d of them allowed, %.0f s" % (
        len(mutants), len(alive), len(alive) - len(unexpected), seconds))
    return 1 if unexpected or stale else 0


def run(args):
    start = time.monotonic()
    mutants = all_mutants(args.only)
    if args.sample and args.sample < len(mutants):
        mutants = random.Random(args.seed).sample(mutants, args.sample)
    modules = {n.split("python/", 1)[1]: PER_FILE * i for i, n in enumerate(sources())
               if n.endswith(".py")}
    runner = suite.Suite(args.build.resolve(), modules, args.seconds)
    tests = runner.collect({m.file for m in mutants}, args.tests)
    print("mutants: %d tests, %.0f s" % (len(tests), time.monotonic() - start),
          flush=True)
    alive = find_survivors(mutants, lambda m, first: runner.killer(tests, m, first),
                           lambda m: any(m.number in t.reached for t in tests))
    return report(mutants, alive, time.monotonic() - start) or bool(runner.broken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["instrument", "run", "list"])
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--only", help="files whose name contains this, or one of "
                        "several with commas between them")
    parser.add_argument("--tests", default="",
                        help="only tests whose file or name contains this, likewise")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="run N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of --sample")
    parser.add_argument("--seconds", type=float, default=suite.MOST_SECONDS,
                        help="a mutant survives tests of so many seconds (%(default)s)")
    args = parser.parse_args()
    # A shell's background job ignores Ctrl-C, and tests that send it would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if args.what == "run":
        return run(args)
    if args.what == "list":
        print("\n".join(map(str, all_mutants(args.only))))
    elif not args.out:
        parser.error("instrument needs --out")
    else:
        write_sources(args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
