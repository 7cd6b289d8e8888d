#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enforces which room may include what: the table in CONTRIBUTING.md, "Rooms".

    lint_layers.py ROOT [--edges] [--runtime BINARY...]

The Python package has a table of its own (python_rooms.py).

--edges prints who includes whom. Of the binaries' `ldd` no line may name LLVM or
MLIR, or what only a library that is loaded on demand needs: oneDNN, OpenCL, OpenMP.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import python_rooms

INCLUDE = re.compile(r'^\s*#?\s*include\s*[<"]([^>"]+)[>"]') # C++ and TableGen
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".def", ".inc", ".td"}
LIBRARIES = {"MLIR": r"(mlir|llvm)(-c)?/", "CUDA": r"cu(da|blas|dnn)\w*[./]",
             "FlatBuffers": r"(flatbuffers/|plan_generated\.h)"}


def read_rooms(root):
    """Room: what it may include, as the table says."""
    rooms = {}
    page = (root / "CONTRIBUTING.md").read_text()
    section = re.search(r"^## Rooms$(.*?)(?=^## |\Z)", page, re.M | re.S)
    for line in section.group(1).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = re.findall(r"`([^`]+)`", cells[0])
        if line.startswith("| `") and len(cells) == 3 and len(names) == 1:
            rooms[names[0]] = set(re.findall(r"`([^`]+)`", cells[2]))
    for room, allowed in rooms.items():
        for name in sorted(allowed - set(rooms) - set(LIBRARIES)):
            sys.exit("CONTRIBUTING.md: %s may include %s, which is not a room"
                     % (room, name))
    return rooms


def room_of(path, rooms):
    """The narrowest room that a path lies in."""
    inside = [r for r in rooms if path == r or path.startswith(r + "/")]
    return max(inside, key=len) if inside else None


def target_of(root, path, include, rooms):
    """The room or library that an include names; None for all others."""
    beside = path.parent / include
    if beside.exists():
        return room_of(str(beside.resolve().relative_to(root.resolve())), rooms)
    for library, pattern in LIBRARIES.items():
        if re.match(pattern, include):
            return library
    inside = "include/" + include if include.startswith(("aicf/", "aicf-c/")) else include
    return room_of(inside, rooms)


def includes_of(root, rooms):
    """(file, line, its room, what it includes, that one's room)."""
    for top in sorted({room.split("/")[0] for room in rooms}):
        for path in sorted((root / top).rglob("*")):
            name = str(path.relative_to(root))
            room = room_of(name, rooms)
            if path.suffix not in SUFFIXES:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if match:
                    target = target_of(root, path, match.group(1), rooms)
                    yield name, number, room, match.group(1), target


def lint_includes(root, rooms):
    findings = []
    for name, number, room, include, target in includes_of(root, rooms):
        if room is None:
            findings.append("%s:%d: lies in no room" % (name, number))
        elif target not in (None, room) and target not in rooms[room]:
            findings.append("%s:%d: %s may not include %s" % (
                name, number, room, include))
    return findings


def lint_permissions(root, rooms):
    """What the table allows and nobody does."""
    edges = {(room, target) for _, _, room, _, target in includes_of(root, rooms)}
    return ["CONTRIBUTING.md: %s may include %s, but nothing there does"
            % (room, target) for room in sorted(rooms)
            for target in sorted(rooms[room]) if (room, target) not in edges]


def lint_binary(path):
    linked = subprocess.run(["ldd", path], capture_output=True, text=True,
                            check=True).stdout
    return ["%s is linked with %s" % (path, line.strip())
            for line in linked.splitlines()
            if re.search(r"lib(LLVM|MLIR|dnnl\b|OpenCL\b|gomp\b)", line)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--runtime", nargs="*", default=[])
    args = parser.parse_args()
    rooms = read_rooms(args.root)
    if args.edges:
        edges = {(room, target) for _, _, room, _, target
                 in includes_of(args.root, rooms)
                 if target in rooms and target != room}
        print("\n".join("%s -> %s" % edge for edge in sorted(edges)))
        return 0
    findings = lint_includes(args.root, rooms)
    findings += lint_permissions(args.root, rooms)
    findings += python_rooms.lint(args.root)
    for binary in args.runtime:
        findings += lint_binary(binary)
    print("\n".join(findings) if findings else "no findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
