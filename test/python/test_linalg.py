# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bridges to and from linalg: what goes over computes the same."""

import re

import numpy as np
import pytest

from conftest import BIN, SOURCE, run_tool
from fuzz import jit, judge, semantics, tensors
from fuzz.generate import generate

pytestmark = pytest.mark.skipif(not (BIN / "linalg-jit").exists(),
                                reason="MLIR's JIT is not installed")
# Of the embedder's model the ops are not ours.
EXAMPLES = sorted(p for p in SOURCE.glob("examples/*/*.mlir") if "embed" not in str(p))
# The same steps on smaller tensors: the JIT's loops are not fast.
SMALLER = {"60000": "500", "1024": "48", "1000": "90", "784": "36", "512": "40",
           "256": "32"}
STEPS = 3


def scaled(text):
    return re.sub(r"(?<!\d)(%s)(?=x| : i64)" % "|".join(SMALLER),
                  lambda m: SMALLER[m.group(1)], text)


def some_values(arguments, rng):
    """By role and dtype: labels are classes, states start at zero."""
    values = {}
    for a in arguments:
        if a.role == "state":
            values[a.name] = np.zeros(a.shape)
        elif a.role == "hyper":
            values[a.name] = np.array(0.01)
        elif a.dtype[0] == "i":
            values[a.name] = rng.integers(0, 10, a.shape)
        else:
            scale = 0.1 if a.role == "param" else 1
            values[a.name] = np.float64(np.float32(rng.normal(0, scale, a.shape)))
    return values


def interpreted(bench, plan, entry, arguments, results, values):
    """After STEPS steps, in f64."""
    names = [r.updates or r.name for r in results]
    init = bench.folder / "init.safetensors"
    tensors.write_safetensors(init, {
        a.name: (a.dtype, values[a.name]) for a in arguments
        if a.role in ("param", "state")})
    flags = []
    for a in arguments:
        if a.role == "input":
            flags += ["--input", tensors.argument(a.name, a.dtype, values[a.name],
                                                  bench.folder / (a.name + ".npy"))]
        if a.role == "hyper":
            flags += ["--set", "%s=%r" % (a.name, float(values[a.name]))]
    for i, name in enumerate(names):
        flags += ["--output", "%s=@%s/%d.npy" % (name, bench.folder, i)]
    done = run_tool("aicf-plan", "interpret", plan, "--entry", entry, "--steps", STEPS,
                    "--exact", "--init", init, *flags)
    assert done.returncode == 0, done.stderr
    return {n: np.load(bench.folder / ("%d.npy" % i)) for i, n in enumerate(names)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: "%s-%s" % (
    p.parent.name, p.stem))
def test_examples_in_the_jit(bench, example):
    (bench.folder / "e.mlir").write_text(scaled(example.read_text()))
    plan = bench.compile("e")
    step = jit.step_of(BIN, (bench.folder / "e.mlir").read_text())
    known = jit.signatures(step)
    assert known
    values = {f: some_values(k[0], np.random.default_rng(i))
              for i, (f, k) in enumerate(known.items())}
    runs = jit.execute(BIN, bench.folder, [step], lambda memory: [
        jit.Run(memory, f, k, values[f], STEPS) for f, k in known.items()])
    for (entry, (arguments, results)), run in zip(known.items(), runs):
        right = interpreted(bench, plan, entry, arguments, results, values[entry])
        for name, value in run.found().items():
            largest = max(1e-3, np.max(np.abs(right[name])))
            assert np.max(np.abs(value - right[name])) <= 1e-4 * largest, (entry, name)


def test_every_op_goes_over():
    """What the random programs say and what is tested here is the dialect."""
    page = (SOURCE / "docs/AICFDialect.md").read_text()
    ops = set(re.findall(r"^### `aicf\.(\w+)`", page, re.MULTILINE))
    assert ops == set(semantics.OPS) | {"shuffle"}


@pytest.mark.parametrize("size", [1, 2, 5, 64, 1000])
def test_shuffle_bit_for_bit(bench, size):
    model = """
    func.func @walk(%%s: tensor<i64> {aicf.role = "state", aicf.name = "s"})
        -> (tensor<7xi32> {aicf.name = "rows"}, tensor<i64> {aicf.updates = "s"}) {
      %%r = aicf.shuffle %%s {size = %d : i64, batch = 7 : i64, seed = -9 : i64} : tensor<i64>
      %%n = aicf.step_inc %%s : tensor<i64>
      return %%r, %%n : tensor<7xi32>, tensor<i64>
    }""" % size
    (bench.folder / "s.mlir").write_text(model)
    out = bench.run(bench.compile("s"), "--steps", "3", outputs=["rows"])
    step = jit.step_of(BIN, model)
    known = jit.signatures(step)["walk"]
    (run,) = jit.execute(BIN, bench.folder, [step], lambda memory: [
        jit.Run(memory, "walk", known, {"s": np.int64(0)}, 3)])
    assert run.found()["rows"].tolist() == out["rows"].tolist()


@pytest.mark.parametrize("op", ["linear", "sgd_step", "softmax_cross_entropy"])
def test_the_second_opinion_differs_from_wrong_results(tmp_path, op, monkeypatch):
    right = semantics.OPS[op]
    monkeypatch.setitem(semantics.OPS, op, lambda *a: [
        v * (1 + 1e-3) for v in right(*a)[:1]] + list(right(*a)[1:]))
    programs = [p for p in map(generate, range(60)) if p.dtype != "bf16" and
                any(o.kind == op for o in p.entries[0].ops)]
    programs.sort(key=lambda p: sum(v.size for v in p.values.values()))
    programs = programs[:4]
    failures = jit.judge_linalg(programs, BIN, tmp_path)
    assert failures and {f.kind for f in failures.values()} == {"linalg"}


def test_a_program_that_does_not_convert_is_a_failure(tmp_path):
    program = generate(0)
    program.entries[0].ops[0].kind = "no_such_op"
    with pytest.raises(judge.Failure, match="no_such_op"):
        jit.judge_linalg([program], BIN, tmp_path)
