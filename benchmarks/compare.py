#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changed between two results of train_step.py, beyond noise?

    compare.py old.json new.json [--least 2]

For each case, place (quiet, busy) and implementation: the median of the best
process, old and new, and new / old. "faster" and "slower" are said only where the
quartiles of the two do not meet, the medians differ by --least percent, and the
peers of the same case, which are the same programs in both, did not move as far the
same way: a machine that is slower today is not a change of ours. Exits with 1 when
AICF became slower somewhere.
"""

import argparse
import json
import statistics
import sys


def summary(processes):
    """(lower quartile, median, upper quartile) of the best process, microseconds."""
    best = min(processes, key=statistics.median)
    if len(best) == 1:
        return best * 3
    return statistics.quantiles(best, n=4)


def read(path):
    """{(case, where): {implementation: quartiles}}"""
    try:
        with open(path) as file:
            cases = json.load(file)["cases"]
        return {(case, where): {v: summary(w) for v, w in windows.items()}
                for case, result in cases.items()
                for where, windows in result["windows"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError,
            statistics.StatisticsError) as error:
        sys.exit("compare.py: %s holds no results of train_step.py (%s)"
                 % (path, error))


def drift(old, new):
    """What the machine did to the peers: the median of their ratios."""
    ratios = [new[v][1] / old[v][1] for v in old
              if v in new and not v.startswith("aicf")]
    return statistics.median(ratios) if ratios else 1.0


def verdict(old, new, machine, least):
    ratio = new[1] / old[1]
    apart = new[0] > old[2] or new[2] < old[0]
    beyond = abs(ratio - 1) > least and abs(ratio / machine - 1) > least
    same_way = (ratio > 1) == (ratio / machine > 1)
    if not (apart and beyond and same_way):
        return ""
    return "slower" if ratio > 1 else "faster"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--least", type=float, default=2.0,
                        help="percent that a median must move")
    args = parser.parse_args()
    old, new = read(args.old), read(args.new)
    for key in sorted(set(old) ^ set(new)):
        print("%s %s: only in %s" % (*key, args.old if key in old else args.new))
    worse = False
    print("%-8s %-6s %-24s %10s %10s %8s %8s" % (
        "case", "where", "implementation", "old us", "new us", "new/old", "peers"))
    for key in old:
        if key not in new:
            continue
        machine = drift(old[key], new[key])
        for name in old[key]:
            if name not in new[key]:
                continue
            a, b = old[key][name], new[key][name]
            said = verdict(a, b, 1.0 if not name.startswith("aicf") else machine,
                           args.least / 100)
            worse |= said == "slower" and name.startswith("aicf")
            print("%-8s %-6s %-24s %10.1f %10.1f %8.3f %8.3f  %s" % (
                *key, name, a[1], b[1], b[1] / a[1], machine, said))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
