#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lints our own tests: what FileCheck and readers would pass over in silence.

- a CHECK directive without its colon checks nothing;
- a prefix that no RUN line names is never read;
- a lit file over 150 lines, a pass over 300, a file without a RUN line;
- an emitOpError string of a dialect or pass, or a makeError string of lib/Base
  or the rules, that no test expects;
- an example in IR, of a td file or a page, that no lit test holds;
- a numbered constraint or a bounded field of a primitive without the row of
  RulesTest that breaks it, or a constraint of an `aicf` op alone without the
  case @<op>_c<n> in an invalid file.
"""

import argparse
import pathlib
import re
import sys

KINDS = "NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-[0-9]+"
COMMENT = re.compile(r"^\s*(?://|#)\s*([A-Z][A-Z0-9_]*)(?:-(?:%s))?(:?)(.*)$" % KINDS)
MAX_LIT_LINES = 150
MAX_PASS_LINES = 300


LICENSE = "Part of AICF, under the Apache License v2.0 with LLVM Exceptions."


def prefixes_of(text):
    """The check prefixes that the RUN lines name."""
    runs = " ".join(re.findall(r"RUN:(.*)", text))
    named = re.findall(r"--check-prefix(?:es)?[= ]([\w,-]+)", runs)
    found = {p for group in named for p in group.split(",")}
    if re.search(r"FileCheck(?![^|]*--check-prefix)", runs):
        found.add("CHECK")
    return found


def lint_lit_file(path, text):
    """Yields (line, message)."""
    lines = text.splitlines()
    if len(lines) > MAX_LIT_LINES:
        yield 1, "%d lines, the limit is %d" % (len(lines), MAX_LIT_LINES)
    if "RUN:" not in text:
        yield 1, "no RUN line"
    prefixes = prefixes_of(text)
    used = set()
    for number, line in enumerate(lines, 1):
        match = COMMENT.match(line)
        if not match or match.group(1) in ("RUN", "UNSUPPORTED", "REQUIRES"):
            continue
        prefix, colon = match.group(1), match.group(2)
        directive = re.match(r"^\s*(?://|#)\s*[A-Z][A-Z0-9_]*-(?:%s)\b" % KINDS, line)
        known = prefix in prefixes or prefix == "CHECK"
        if not colon and known and (directive or prefix == "CHECK"):
            yield number, "'%s' without its colon checks nothing" % prefix
        elif colon and (known or directive):
            used.add(prefix)
            if prefix not in prefixes:
                yield number, "no RUN line names the prefix %s" % prefix
    for prefix in sorted(prefixes - used):
        yield 1, "the RUN lines name %s, but nothing is checked with it" % prefix


def literal_parts(source):
    """String pieces of each emitError/emitOpError statement, longest first."""
    for match in re.finditer(
            r"(?:emit(?:Op)?Error\(\)\s*<<|makeError\()([^;]*);", source,
            re.DOTALL):
        parts = re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(1))
        # Adjacent literals are one string.
        joined = re.sub(r'"\s*\n\s*"', "", match.group(1))
        parts = re.findall(r'"((?:[^"\\]|\\.)*)"', joined)
        parts = [p.replace("\\\"", "\"").strip(" :,\"") for p in parts]
        parts = [p for p in parts if len(p) > 7]
        if parts:
            yield match.start(), parts


def lint_diagnostics(root, corpus):
    """Every diagnostic of the compiler appears in a test."""
    for folder in ("lib/Dialect", "lib/Transforms", "lib/Target", "lib/Base",
                   "lib/Schedule", "kernels"):
        for path in sorted((root / folder).rglob("*.cpp")):
            source = path.read_text()
            if folder == "lib/Transforms" and source.count("\n") > MAX_PASS_LINES:
                yield path, 1, "%d lines, the limit for a pass is %d" % (
                    source.count("\n"), MAX_PASS_LINES)
            for offset, parts in literal_parts(source):
                if not any(part in corpus for part in parts):
                    yield (path, source.count("\n", 0, offset) + 1,
                           "no test expects this diagnostic: %r" % parts[0])


def records_of(page):
    """(op, constraints, fields) of a generated page of a dialect: constraints as
    (number, text), fields that may not be any number."""
    parts = re.split(r"^### `(?:aicf(?:_rt)?\.)?(\w+)`", page, flags=re.M)
    for op, body in zip(parts[1::2], parts[2::2]):
        fields = re.findall(r"^\s*- `(\w+)` is (?!any number)", body, re.M)
        yield op, re.findall(r"^\s*- C(\d+): (.*)", body, re.M), fields


def lint_constraints(root, pages):
    """Every numbered constraint and every bounded field is broken by a test. `pages` is
    the folder of the built documentation."""
    rules = "".join(path.read_text()
                    for path in sorted(root.glob("kernels/*/test/Rules.cpp")))
    rows = re.findall(r'\{"(\w+)[^"]*",\s*"(?:C(\d+))?",(.*?)\}'
                      r'(?=,\s*(?://[^\n]*\s*)*\{"|,?\s*\};)', rules, re.S)
    numbered = {(op, number) for op, number, _ in rows}
    page, shared = "Primitives.md", set()
    for op, constraints, fields in records_of((pages / page).read_text()):
        for number, text in constraints:
            shared.add(text)
            if (op, number) not in numbered:
                yield page, 1, "no test breaks C%s of %s" % (number, op)
        for field in fields:
            if not any(row == op and "::%s," % field in body
                       for row, _, body in rows):
                yield page, 1, "no test breaks the range of %s of %s" % (field, op)
    # A rule that the primitive has is the same code on the aicf op.
    page = "AICFDialect.md"
    tests = "".join(p.read_text()
                    for p in (root / "test/Dialect/AICF").glob("invalid-*.mlir"))
    for op, constraints, _ in records_of((pages / page).read_text()):
        for number, text in constraints:
            if text not in shared and "func.func @%s_c%s" % (op, number) not in tests:
                yield page, 1, "no test breaks C%s of %s" % (number, op)


def pieces_of(block):
    """The parts of an example between lines that hold a comment alone."""
    piece = []
    for line in block.splitlines() + ["//"]:
        if not line.strip().startswith("//"):
            piece.append(line)
        elif piece:
            yield " ".join(" ".join(piece).split())
            piece = []


def lint_examples(root, sources):
    """Every example in IR stands in a lit test, word for word; `sources` is the
    text of all of them."""
    text = " ".join(sources.split())
    pages = [p for pattern in ("include/**/*.td", "kernels/**/*.td", "*.md",
                               "docs/*.md") for p in root.glob(pattern)]
    for page in sorted(pages):
        for match in re.finditer(r"^ *```mlir\n(.*?)^ *```$", page.read_text(),
                                 re.M | re.S):
            for piece in pieces_of(match.group(1)):
                if piece not in text:
                    line = page.read_text().count("\n", 0, match.start()) + 1
                    yield page, line, "no lit test holds this example: %r" % piece


def lint_titles(root):
    """Sources whose first line names another file, or that name no license."""
    for top in ("include", "kernels", "lib", "tools", "unittests", "benchmarks",
                "examples", "cmake"):
        for path in sorted((root / top).rglob("*")):
            if path.parent.name == "generated":
                continue
            if path.suffix in (".h", ".cpp", ".cu", ".cuh", ".td", ".def", ".inc"):
                text = path.read_text()
                if not text.startswith("//===- %s - " % path.name):
                    yield path, 1, "the title does not name the file"
                if LICENSE not in text[:400]:
                    yield path, 1, "no license"


def lint_environment(root):
    """Variables that the programs read and docs/Installing.md does not name, and the
    other way round."""
    page = root / "docs/Installing.md"
    text = page.read_text().split("## Environment variables")[-1]
    named, read = set(re.findall(r"^\| `(AICF_\w+)` \|", text, re.M)), set()
    for top in ("lib", "kernels", "tools", "python/aicf", "python/src", "examples"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".py"):
                continue
            for name in re.findall(r"(?:getenv\(|environ(?:\.get\(|\[))\"(AICF_\w+)\"",
                                   path.read_text()):
                read.add(name)
                if name not in named:
                    yield path, 1, "%s is not in the table of docs/Installing.md" % name
    for name in sorted(named - read):
        yield page, 1, "nothing reads %s" % name


def lint(root, pages):
    """All findings as text lines; without pages, not those of constraints."""
    findings, corpus, sources = [], "", ""
    for path in sorted((root / "test").rglob("*")):
        if path.suffix in (".mlir", ".td", ".test", ".py", ".cpp"):
            corpus += path.read_text()
        if path.suffix not in (".mlir", ".td", ".test") or "Inputs" in path.parts:
            continue
        sources += path.read_text()
        for line, message in lint_lit_file(path, path.read_text()):
            findings.append("%s:%d: %s" % (path.relative_to(root), line, message))
    for path in (*sorted((root / "unittests").rglob("*.cpp")),
                 *sorted(root.glob("kernels/*/test/*.cpp"))):
        corpus += path.read_text()
    for path, line, message in lint_diagnostics(root, corpus):
        findings.append("%s:%d: %s" % (path.relative_to(root), line, message))
    for path, line, message in lint_constraints(root, pages) if pages else ():
        findings.append("%s:%d: %s" % (path, line, message))
    for path, line, message in [*lint_examples(root, sources), *lint_titles(root),
                                *lint_environment(root)]:
        findings.append("%s:%d: %s" % (path.relative_to(root), line, message))
    return findings


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--pages", type=pathlib.Path)
    args = parser.parse_args()
    found = lint(args.root, args.pages)
    print("\n".join(found) if found else "no findings")
    sys.exit(1 if found else 0)
