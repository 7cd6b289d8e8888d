# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enforces which room of the Python package may import what: the table in
CONTRIBUTING.md, "Rooms of the Python package". lint_layers.py runs it.

A room is some modules and folders of python/aicf. What stands under `if TYPE_CHECKING:`
is free: it is not there at run time. An import inside of a function may name modules of
the same room, which import each other, and what is loaded when it is needed
(`_compiler`, `_runtime`, programs of a command)."""

import ast
import collections
import pathlib
import re

Import = collections.namedtuple("Import", "line module is_lazy")

PACKAGE = "python/aicf"
#: Extension modules, and examples, which are users.
OTHERS = ("_compiler", "_runtime", "examples")
#: Rooms that load another one when they need it.
LAZY = ("commands",)


def read_rooms(root):
    """Room: (the modules and folders in it, the rooms that it may import)."""
    page = (root / "CONTRIBUTING.md").read_text()
    section = re.search(r"^## Rooms of the Python package$(.*?)(?=^## |\Z)", page,
                        re.M | re.S)
    rooms = {}
    for line in section.group(1).splitlines() if section else []:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] not in ("room", "---"):
            rooms[cells[0]] = (re.findall(r"`([^`]+)`", cells[1]),
                               set(cells[3].split()))
    return rooms


def _module(path, folder):
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(p for p in parts if p != "__init__")


def _targets(node, module, is_init, modules):
    """The modules of the package that an import names."""
    if isinstance(node, ast.Import):
        return [a.name[5:] for a in node.names if a.name.startswith("aicf.")]
    package = module.split(".") if module else []
    if node.level:
        package = package if is_init else package[:-1]
        base = package[:len(package) - node.level + 1]
        base += node.module.split(".") if node.module else []
    elif (node.module or "").split(".")[0] == "aicf":
        base = node.module.split(".")[1:]
    else:
        return []
    inside = [".".join([*base, a.name]) for a in node.names]
    found = [name for name in inside if name in modules]
    return found + ([".".join(base)] if len(found) < len(inside) and base else [])


def imports_of(path, module, modules):
    """The imports of a file that happen at run time."""
    tree = ast.parse(path.read_text())
    unseen, lazy = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            unseen.update(map(id, ast.walk(node)))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            lazy.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and id(node) not in unseen:
            for name in _targets(node, module, path.name == "__init__.py", modules):
                yield Import(node.lineno, name, id(node) in lazy)


def lint(root):
    folder, rooms = root / PACKAGE, read_rooms(root)
    room_of = {name: room for room, (names, _) in rooms.items() for name in names}
    files = [p for p in sorted(folder.rglob("*.py"))
             if p.relative_to(folder).parts[0] not in OTHERS]
    modules = {_module(p, folder) for p in files}
    tops = {m.split(".")[0] for m in modules} - {""}
    findings = ["%s/%s lies in no room" % (PACKAGE, top)
                for top in sorted(tops - set(room_of))]
    findings += ["CONTRIBUTING.md: %s has %s, which is not there" % (room_of[name], name)
                 for name in sorted(set(room_of) - tops)]
    used = set()
    for path in files:
        module = _module(path, folder)
        room = room_of.get(module.split(".")[0])
        if room is None:
            continue
        for line, target, is_lazy in imports_of(path, module, modules):
            other = room_of.get(target.split(".")[0])
            if other in (None, room):
                continue
            used.add((room, other))
            where = "%s:%d: %s" % (path.relative_to(root), line, room)
            if other not in rooms[room][1]:
                findings.append("%s may not import aicf.%s" % (where, target))
            elif is_lazy and room not in LAZY:
                findings.append("%s imports aicf.%s inside of a function, and nothing "
                                "asks for that" % (where, target))
    findings += ["CONTRIBUTING.md: %s may import %s, but nothing there does" % (room, other)
                 for room, (_, allowed) in rooms.items() for other in sorted(allowed)
                 if (room, other) not in used]
    return findings
