# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fuzzer of texts finds what it is there to find: tools that crash, abort and hang at
a token do so in its report, with the smallest text, and nothing else does."""

import random
import re
import subprocess
import sys

import pytest

from conftest import BIN
from fuzz import mlir_crashes, text_mutations, text_reduce, text_tools, texts
from fuzz.records import RECORDS
from fuzz.text_ops import all_ops

HELP = """OVERVIEW: a fake
    Passes:
      --aicf-first                - One
        --mode=<value>            - What
    =some                         -   a
    =all                          -   b
      --aicf-second               - Two
      --cse                       - MLIR's
    Pass Pipelines:
      --lower-to-nowhere          - All
        --streams=<long>          - How many
  --emit-bytecode                 - Not a pass
"""
# Goes wrong at WHERE's tokens: {token: (flag that it needs, what happens)}.
TOOL = '''#!%s -IS
import os, signal, sys
HELP, WHERE = %r, %r
if "--help" in sys.argv:
    sys.exit(print(HELP))
files = [a for a in sys.argv[1:] if not a.startswith("-")]
line = 1
data = open(files[0], "rb").read() if files else sys.stdin.buffer.read()
for part in data.decode("utf-8", "replace").split("// -----\\n"):
    for token, (flag, what) in WHERE.items():
        if token not in part or flag and flag not in sys.argv:
            continue
        if what == "hang":
            while True:
                pass
        print(what, file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGABRT if "ERROR" in what else signal.SIGSEGV)
    if "aicf." not in part:
        print("<stdin>:%%d:1: error: no op" %% line, file=sys.stderr)
    line += part.count("\\n") + 1
'''
SERVER = '''#!/usr/bin/env python3
import json, os, re, signal, sys
for body in re.split(r"Content-Length: \\d+\\r\\n\\r\\n", sys.stdin.read())[1:]:
    text = json.dumps(json.loads(body))
    print(re.findall(r"file:///\\d+.mlir", text), flush=True)
    if "tensor<" in text and "tensor<" in json.loads(body)["params"].get(
            "contentChanges", [{"text": ""}])[0]["text"].rpartition("return")[2]:
        os.kill(os.getpid(), signal.SIGSEGV)
'''


def fake(folder, where, name="aicf-opt", text=None):
    tool = folder / "bin" / name
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(text or TOOL % (sys.executable, HELP, where))
    tool.chmod(0o755)
    return tool.parent


def fuzz(folder, where, capsys, count=100, **more):
    code = texts.fuzz(fake(folder, where), count, report=folder / "report", **more)
    return code, capsys.readouterr().out


def having(token, count=100):
    generator = texts.Generator()
    return sum(token in generator.text(n) for n in range(count))


def test_sound_tools_pass(tmp_path, capsys):
    code, out = fuzz(tmp_path, {}, capsys)
    assert code == 0 and "0 kinds of crashes" in out, out


def test_crashes_are_found_and_made_small(tmp_path, capsys, monkeypatch):
    """All texts that crash are counted, though the first ends its batch."""
    monkeypatch.setattr(text_reduce, "TRIES", 100)
    monkeypatch.setattr(texts.Ways, "makers", lambda self, rng: [])
    where = {"softmax": ("", "#0 0x1 aicf::step::one(int) (a+0x1)\n#1 0x2 main (b)"),
             "aicf.minimize": ("--aicf-second", "LLVM ERROR: two of 17")}
    code, out = fuzz(tmp_path, where, capsys)
    assert code == 1 and "2 kinds of crashes" in out, out
    assert "SIGSEGV in aicf::step::one" in out
    assert "  %d times" % having("softmax") in out, out
    assert "SIGABRT, LLVM ERROR: two of 17" in out
    small = [p.read_text() for p in (tmp_path / "report").glob("*.mlir")]
    assert [len(text.split()) for text in small] == [1, 1], small
    assert "aicf.minimize" in " ".join(small) and "softmax" in " ".join(small)
    for line in out.splitlines():
        if "again: " in line:
            done = subprocess.run(line.partition("again: ")[2], shell=True)
            assert done.returncode in (-6, -11, 134, 139)
    assert "again: %s/bin/aicf-opt %s" % (tmp_path, tmp_path) in out
    assert "aicf::step::one" in (tmp_path / "report/report.txt").read_text()


def test_hangs_are_found(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(text_tools, "SECONDS", 1)
    monkeypatch.setattr(text_reduce, "TRIES", 16)
    monkeypatch.setattr(texts.Ways, "order", lambda self, rng: ["--aicf-first"])
    monkeypatch.setattr(texts.Ways, "makers", lambda self, rng: [])
    generator = texts.Generator()
    seed = next(n for n in range(400)  # of one that the tool calls legal
                if all(word in generator.text(n) for word in ("tanh", "aicf.")))
    code, out = fuzz(tmp_path, {"tanh": ("--aicf-second", "hang")}, capsys, count=2,
                     seed=seed)
    assert code == 1 and "text %d: hang" % seed in out, out


def test_what_is_mlirs_own_is_passed_over(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(mlir_crashes, "CRASHES", [
        mlir_crashes.Known("of MLIR", r"SIGABRT LLVM ERROR: two\nmlir::that\n")])
    where = {"softmax": ("", "LLVM ERROR: two\n#0 0x1 mlir::that(int)")}
    code, out = fuzz(tmp_path, where, capsys)
    assert code == 0 and "crashes of MLIR's own: of MLIR" in out, out
    where = {"softmax": ("", "LLVM ERROR: two\n#0 0x1 mlir::this(int)")}
    assert fuzz(tmp_path, where, capsys)[0] == 1


def test_an_editor_that_crashes_is_found(tmp_path):
    """It crashes while one types behind `return`: in the second of three texts."""
    folder = fake(tmp_path, {}, "aicf-lsp-server", SERVER)
    editor = text_tools.Editor(text_tools.Runner(folder), True)
    bad = "func.func @f() {\n  return\n}\nfunc.func @g(%x: tensor<4xf32>) {\n}\n"
    found = list(texts.crashes_of(editor, ["func.func\n", bad, "return\n"], 9))
    assert [(at, crash.signal) for at, crash in found] == [(1, "SIGSEGV")]
    again = editor.save(bad, tmp_path / "bad.mlir")
    assert subprocess.run(again, shell=True).returncode in (-11, 139)


def test_texts_that_are_all_refused_test_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(texts.Generator, "text", lambda self, number: "nothing\n")
    monkeypatch.setattr(texts.Ways, "makers", lambda self, rng: [])
    code, out = fuzz(tmp_path, {}, capsys)
    assert code == 1 and "too few texts are legal: 0 of 100" in out


def test_texts_depend_on_their_number_only():
    one, two = texts.Generator(), texts.Generator()
    found = [one.text(n) for n in range(400)]
    assert found == [two.text(n) for n in range(400)] and len(set(found)) > 380


def test_texts_have_every_op_and_operand_count():
    """In one round of turns, of both dialects and of every primitive."""
    generator = texts.Generator()
    ops = generator.ops
    every = "".join(ops.text(n, random.Random(n), generator.corpus)
                    for n in range(len(ops.turns)))
    assert {op.name.partition(".")[0] for op in all_ops()} == {"aicf", "aicf_rt"}
    for op in all_ops():
        assert re.search(re.escape(op.name) + '["\\s]', every), op.name
        assert {n for o, n in ops.turns if o == op} == set(range(len(op.operands) + 2))
    for name in RECORDS:
        assert "aicf_rt.call %s(" % name in every, name


def test_every_mutation_changes_texts():
    generator = texts.Generator()
    for mutation in text_mutations.FUNCTIONS:
        changed = sum(mutation(text, random.Random(n), generator.corpus) != text
                      for n, text in enumerate(generator.corpus.texts[:100]))
        assert changed > 10, mutation.__name__


def test_the_passes_are_those_of_the_tool():
    first, second, cse, pipeline = texts.passes_of(HELP)
    assert first.options == [("mode", "<value>", ["some", "all"])]
    assert [p.name for p in (second, cse, pipeline)] == [
        "aicf-second", "cse", "lower-to-nowhere"]
    ways = texts.Ways(text_tools.Runner(BIN))
    names = [p.name for p in ways.ours]
    assert {"aicf-autodiff", "aicf-rt-plan-memory", "convert-aicf-to-linalg",
            "convert-linalg-to-aicf", "lower-to-backend"} <= set(names)
    assert "cse" not in names and "cse" in [p.name for p in ways.passes]


@pytest.mark.parametrize("frame,name", [
    ("aicf::f(int, (anonymous namespace)::x) (/a/b+0x12)", "aicf::f"),
    ("(anonymous namespace)::g() /a/b.cpp:3:4", "g"),
    ("mlir::parse(std::function<void (int)>) + 77", "mlir::parse"),
    ("void mlir::detail::walk<void (int)>(mlir::Op*)", "void mlir::detail::walk")])
def test_names_of_functions(frame, name):
    assert text_tools.function_of(frame) == name
