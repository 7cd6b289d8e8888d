# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The texts that text_mutations.py starts from: every part of every lit test, the
examples, and the code of the pages. Comments are left out, because a mutated text keeps
no promise that they make."""

import os
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[3]
#: Generated pages of the documentation, of a build.
PAGES = pathlib.Path(os.environ.get("AICF_BINARY_DIR", SOURCE / "build")) / "docs-parts"

NEST = r"<(?:[^<>\n]|<(?:[^<>\n]|<(?:[^<>\n]|<[^<>\n]*>)*>)*>)*>"
STRING = r'"(?:[^"\\\n]|\\.)*"'
TYPE = r"(?:tensor|memref|vector|complex|tuple|![A-Za-z_][\w$.]*)" + NEST
NUMBER = r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*(?:[eE][-+]?\d+)?)?)"
WORD = r"[A-Za-z_][\w$.]*"
TOKEN = re.compile("|".join([STRING, TYPE, r"[%@#!^][\w$.#]+", NUMBER, WORD, "->", "::",
                             r"[ \t]+", r"\s", "."]), re.S)
# `aicf.role = "param"`, `value = dense<0> : tensor<i1>`; what it binds is group 2.
PAIR = re.compile(r"(?<![%%#!\w.$])(%s) = "
                  r"(%s|#[\w.]+(?:%s)?|%s|array%s|dense%s|%s(?: : \w+)?|"
                  r"\[[^\[\]]*\]|@\w+|%s)" % (WORD, STRING, NEST, TYPE, NEST, NEST,
                                              NUMBER, WORD))
SPLIT = re.compile(r"^// -----.*$|^//--- .*$", re.M)


def tokens_of(text):
    return TOKEN.findall(text)


def kind_of(token):
    """What a token may be replaced by: tokens of the same kind."""
    if token[0] in '"%@#^':
        return token[0]
    if token[0] == "!" or token.endswith(">") and len(token) > 2:
        return "type"
    if re.fullmatch(NUMBER, token):
        return "number"
    if re.fullmatch(WORD, token):
        return "op" if "." in token else "word"
    return "space" if token.isspace() else "sign"


def without_comments(text):
    return "\n".join(
        line for line in (re.sub(r'^((?:%s|[^"])*?)\s*//.*$' % STRING, r"\1", line)
                          for line in text.splitlines()) if line.strip())


def parts_of(text):
    """The texts in one lit file, each with its comments and without."""
    steps = "\n".join(re.findall(r"^// STEP: (.*)$", text, re.M))
    for whole in [*SPLIT.split(text), steps]:
        part = without_comments(whole)
        if part and len(part) < 20000:
            yield whole, part + "\n"


def blocks_of(page):
    """The code of a page."""
    return re.findall(r"^```mlir\n(.*?)^```", page, re.M | re.S)


class Corpus:
    """All texts, and what stands in them, by kind."""

    def __init__(self, source=SOURCE, more=()):
        files = [p for folder in ("test", "examples")
                 for p in sorted((source / folder).rglob("*.mlir"))]
        found = [(part, "expected-" in whole) for p in files
                 for whole, part in parts_of(p.read_text("utf-8"))]
        found += [(part, False) for p in sorted((source / "docs").glob("*.md"))
                  for block in blocks_of(p.read_text("utf-8"))
                  for _, part in parts_of(block)]
        self.texts = list(dict.fromkeys([*(part for part, _ in found), *more]))
        refused = {part for part, is_refused in found if is_refused}
        # No test expects an error of them: passes see what they become.
        self.sound = [text for text in self.texts if text not in refused
                      and text.startswith(("func", "module", "#", "aicf_rt.plan"))]
        found = {}
        for text in self.texts:
            for token in tokens_of(text):
                if len(token) < 200:
                    found.setdefault(kind_of(token), {})[token] = None
        self.tokens = {kind: list(tokens) for kind, tokens in found.items()}
        self.pairs = {}
        for text in self.texts:
            for name, value in PAIR.findall(text):
                if len(value) < 500 and not re.fullmatch(r"#\w+", value):
                    self.pairs.setdefault(name, {})[value] = None
        self.pairs = {name: list(values) for name, values in self.pairs.items()}
        self.names = list(self.pairs)

    def like(self, token, rng):
        """Another token of the kind of `token`."""
        return rng.choice(self.tokens.get(kind_of(token)) or [token])

    def pair(self, rng, prefix=""):
        """An attribute that some text has, and a value that it has there."""
        name = rng.choice([n for n in self.names if n.startswith(prefix)]
                          or ["aicf.name"])
        return name, rng.choice(self.pairs.get(name) or ['"x"'])
