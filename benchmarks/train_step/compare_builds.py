#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two builds of AICF on the same steps, interleaved: is one faster?

    compare_builds.py --old PROGRAM PLANS --new PROGRAM PLANS [--rounds 21]

PROGRAM is aicf-step of a build, PLANS a folder that make_plans.py of the same
build filled. Rounds alternate; medians of microseconds a replayed step with
quartiles, and whether params, moments and loss have the same bits after as many
steps.
"""

import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cases import CUDA_CASES  # noqa: E402
from session import start_random, state  # noqa: E402


def compare(args, case, variant, batch, widths):
    sessions = [start_random(program, "%s/%s.%s.plan" % (plans, case, variant),
                             batch, widths) for program, plans in (args.old, args.new)]
    for session, _ in sessions:
        session.ask("replay 10")
    same = state(*sessions[0]) == state(*sessions[1])
    micros = float(sessions[0][0].ask("time 20"))
    steps = max(10, min(20000, int(20000 / micros)))  # some 20 ms a round
    times = [[], []]
    for i in range(args.rounds):
        for which in ((0, 1), (1, 0))[i % 2]:
            times[which].append(
                float(sessions[which][0].ask("time %d" % steps)))
    for session, _ in sessions:
        session.close()
    cells = []
    for t in times:
        low, middle, high = statistics.quantiles(t, n=4)
        cells.append("%10.2f [%.2f, %.2f]" % (middle, low, high))
    ratio = statistics.median(times[1]) / statistics.median(times[0])
    print("%-12s %s %s  new/old %.3f  bits %s" % (
        case + "." + variant, cells[0], cells[1], ratio,
        "same" if same else "DIFFER"), flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for side in ("--old", "--new"):
        parser.add_argument(side, nargs=2, required=True,
                            metavar=("PROGRAM", "PLANS"))
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--cases", nargs="*", default=list(CUDA_CASES))
    parser.add_argument("--variants", nargs="*", default=["s1", "s2"])
    args = parser.parse_args()
    same = [compare(args, case, variant, *CUDA_CASES[case][:2])
            for case in args.cases for variant in args.variants]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
