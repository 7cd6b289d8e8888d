#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that no schedule changes under a kernel's name.

    lint_schedules.py ROOT [--update [--same-bits FAMILY...]]

kernels/**/Schedule.h says in which order kernels add, so it decides bits, which a kernel
keeps as long as its KID is the same. kernels/schedules.txt has a line for each: a hash of
its code, without comments and spaces, and the versions of the kernels of all families
that include it. Where the code is another one, the lint fails.

--update writes the lines again. Where the code is another one, each family that includes
it must have got a version, or be named by --same-bits ("all": of all): no bit moves, as
where a constant gets another name.
"""

import argparse
import hashlib
import pathlib
import re
import sys

FILE = "kernels/schedules.txt"
INCLUDE = re.compile(r'^\s*#\s*include "(kernels/[^"]+)"', re.M)


def code_hash(text):
    text = re.sub(r"//[^\n]*", "", text)
    return hashlib.sha256("".join(text.split()).encode()).hexdigest()[:12]


def included(root, path, seen):
    """What a file includes, itself too, through kernels/."""
    if path in seen or not (root / path).exists():
        return
    seen.add(path)
    for name in INCLUDE.findall((root / path).read_text()):
        included(root, name, seen)


def versions(family):
    """The versions that a Family.td names, beside 0."""
    return "+".join(sorted(re.findall(r"let version = (\d+);", family.read_text())))


def lines_of(root):
    """{schedule: (hash, {family: versions})}."""
    found = {str(p.relative_to(root)): (code_hash(p.read_text()), {})
             for p in sorted((root / "kernels").rglob("Schedule.h"))}
    for family in sorted((root / "kernels").glob("*/Family.td")):
        reached = set()
        for source in sorted(family.parent.glob("*")):
            if source.suffix in (".h", ".cpp", ".cu", ".cuh"):
                included(root, str(source.relative_to(root)), reached)
        for name, (_, families) in found.items():
            if name in reached:
                families[family.parent.name] = versions(family)
    return found


def encode(found):
    return "".join("%s %s %s\n" % (name, code, " ".join(
        "%s:%s" % item for item in sorted(families.items())))
        for name, (code, families) in sorted(found.items()))


def decode(text):
    found = {}
    for line in text.splitlines():
        name, code, *families = line.split(" ")
        found[name] = (code, dict(f.split(":", 1) for f in families if f))
    return found


def has_more(old, new):
    """Whether a list of versions has one that the other lacks."""
    left = old.split("+")
    for version in filter(None, new.split("+")):
        if version not in left:
            return True
        left.remove(version)
    return False


def findings(old, new, same_bits=()):
    """What changed without a version of each family that says so, and what is only out of
    date. Of the families `same_bits`, somebody says that no bit of theirs moves."""
    unsaid, stale = [], []
    for name in sorted(set(old) | set(new)):
        if old.get(name) == new.get(name):
            continue
        (was, families), (now, others) = old.get(name, ("", {})), new.get(name, ("", {}))
        silent = [f for f in sorted({**families, **others})
                  if f not in same_bits and f in families
                  and not has_more(families[f], others.get(f, ""))]
        if was and was != now and silent:
            unsaid.append("%s: its code is another one, so kernels of %s may give other "
                          "bits under the same KID: keep it for the old version and add "
                          "one (`version` in Family.td)" % (name, ", ".join(silent)))
        else:
            stale.append("%s: %s is out of date" % (name, FILE))
    return unsaid, stale


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--same-bits", nargs="+", default=[], metavar="FAMILY")
    args = parser.parse_args()
    file = args.root / FILE
    new = lines_of(args.root)
    same = args.same_bits
    if same == ["all"]:
        same = [family for _, families in new.values() for family in families]
    unsaid, stale = findings(decode(file.read_text()) if file.exists() else {}, new, same)
    if args.update and not unsaid:
        file.write_text(encode(new))
        return
    for line in unsaid + stale:
        print(line)
    if unsaid or stale:
        sys.exit("then run `scripts/lint_schedules.py . --update`, with --same-bits for "
                 "families of which no bit moves")
    print("no findings")


if __name__ == "__main__":
    main()
