# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The random programs' own parts: the checker finds faults, the judge fails wrong
results, the reducer makes programs small, generation depends on the seed only."""

import copy
import json

import numpy as np
import pytest

from conftest import BIN, run_tool
from fuzz import __main__ as fuzz_main
from fuzz import check_plan, derive, judge, semantics
from fuzz.generate import WIDE, generate
from fuzz.reduce import reduce


def dump_of(bench, *flags):
    bench.generate("--batch", "4", "--widths", "5,6,3")
    plan = bench.compile("step", *flags)
    return json.loads(run_tool("aicf-plan", "dump", "--json", plan).stdout)


def first(items, **wanted):
    return next(i for i in items if all(i[k] == v for k, v in wanted.items()))


def unalign(d):
    d["entries"][0]["buffers"][0]["offset"] += 4


def leave_segment(d):
    d["entries"][0]["temp_bytes"] -= 256


def share(d):
    temps = [b for b in d["entries"][0]["buffers"] if b["role"] == "temp"]
    temps[1]["offset"] = temps[0]["offset"]


def share_params(d):
    d["buffers"][1]["offset"] = d["buffers"][0]["offset"]


def write_input(d):
    e = d["entries"][0]
    e["calls"][0]["outs"][0] = first(e["buffers"], role="input")["number"]


def swap(d):
    calls = d["entries"][0]["calls"]
    calls[0], calls[-1] = calls[-1], calls[0]


def overwrite(d):
    for call in d["entries"][0]["calls"]:
        if call["body"]["primitives"][0]["kind"] == "gemm":
            call["outs"] = call["ins"][:1]


def drop_events(d):
    for call in d["entries"][0]["calls"]:
        call["waits"] = []


def drop_signals(d):
    for call in d["entries"][0]["calls"]:
        call["signals"] = []


def make_stale(d):
    copy_, source = [first(d["buffers"], name="fc0.weight"),
                     first(d["buffers"], name="lr")]
    source["derived_from"] = copy_["number"]


@pytest.mark.parametrize("streams,change,message", [
    (1, unalign, "at offset"), (1, leave_segment, "outside its segment"),
    (1, share, "share bytes while both live"), (1, share_params, "share bytes"),
    (1, write_input, "writes input"), (1, swap, "before it is written"),
    (1, overwrite, "overwrites operand"), (3, drop_events, "race"),
    (3, drop_signals, "waits for"), (1, make_stale, "is stale")])
def test_the_checker_finds_faults(bench, streams, change, message):
    dump = dump_of(bench, "--streams=%d" % streams)
    assert list(check_plan.check_plan(dump)) == []
    bad = copy.deepcopy(dump)
    change(bad)
    assert any(message in fault for fault in check_plan.check_plan(bad))


def test_programs_depend_on_the_seed_only():
    texts = [generate(seed).text() for seed in range(500)]
    assert texts[:50] == [generate(seed).text() for seed in range(50)]
    assert len(set(texts)) == 500
    every = "".join(texts)
    for op in semantics.OPS:
        assert "aicf.%s " % op in every, op
    for word in ("aicf.history", "@predict", "xf16>", "xbf16>", "xf64>", "i64>",
                 "momentum %", "inv_scale %", "keepdim"):
        assert word in every, word
    assert any(generate(seed).math for seed in range(50))


@pytest.mark.parametrize("op", ["linear", "adam_step", "sgd_step", "layer_norm"])
def test_the_judge_fails_wrong_results(bench, op, monkeypatch):
    """With a semantics that is off by a little, some of 20 programs fail."""
    right = semantics.OPS[op]

    def wrong(*arguments):
        values = list(right(*arguments))
        values[0] = values[0] * (1 + 1e-3)
        return values
    monkeypatch.setitem(semantics.OPS, op, wrong)
    kinds = set()
    for seed in range(20):
        program = generate(seed)
        if any(o.kind == op for o in program.entries[0].ops):
            try:
                judge.judge(program, BIN, bench.folder)
            except judge.Failure as failure:
                kinds.add(failure.kind)
    assert kinds and kinds <= {"numpy", "cuda"}


def test_reducing_leaves_what_fails():
    program = next(p for p in map(generate, range(100))
                   if any(o.kind == "layer_norm" for o in p.entries[0].ops)
                   and len(p.entries[0].ops) > 12 and p.dtype == "f32")

    def fails(p):
        return any(o.kind == "layer_norm" for e in p.entries for o in e.ops)
    small = reduce(program, fails)
    assert fails(small) and len(small.entries) == 1
    assert len(small.entries[0].ops) <= 3 and len(small.entries[0].results) == 1


def test_tolerances_follow_the_conditioning():
    """Rounding moves a sum that cancels by more than one that does not."""
    program = generate(0)
    reference, bounds = judge.tolerances(program, precision="f64")
    for name, bound in (bounds or {}).items():
        largest = np.max(np.abs(reference[name]), initial=0)
        assert bound <= 1e-6 * (largest + 1), name


def test_programs_reach_padded_tensors(bench):
    """Of products that a library computes faster with pads."""
    model, plan = bench.folder / "wide.mlir", bench.folder / "wide.plan"
    model.write_text(next(
        p for p in map(generate, range(200)) if p.dtype == "f32" and
        any(a.value.shape and a.value.shape[0] == WIDE[0]
            for a in p.entries[0].arguments if a.role == "param")).text())
    assert run_tool("aicf-compile", model, "-o", plan, "--target=cuda",
                    "--mixed-precision=bf16").returncode == 0
    assert " padded" in run_tool("aicf-plan", "dump", plan).stdout


@pytest.mark.parametrize("kind", ["gelu", "layer_norm", "softmax_cross_entropy", "mul"])
def test_the_judge_fails_wrong_gradients(bench, kind, monkeypatch):
    """With a function that is off by a little, so are its differences."""
    right = semantics.OPS[kind]
    monkeypatch.setitem(semantics.OPS, kind, lambda o, node, moved: [
        v + 1e-4 * np.sum(o[0] ** 2) for v in right(o, node, moved)[:1]] +
        right(o, node, moved)[1:])
    with pytest.raises(judge.Failure):
        for seed in range(40):
            derive.judge_forward(derive.generate_forward(seed), BIN, bench.folder)


def test_programs_that_reach_too_little_fail(capsys):
    everything = set(fuzz_main.EVERY)
    assert fuzz_main.census([set()] * 49, 49)       # too few to say
    assert fuzz_main.census([everything, set(), set(), set()] * 25, 100)
    assert not fuzz_main.census([everything] * 24 + [everything - {"several entries"}] * 76,
                                100)
    assert "too few programs have several entries: 24 of 100, expected 25" \
        in capsys.readouterr().out


def test_what_a_plan_has():
    def call(kinds, *operands):
        return {"body": {"num_operands": 3, "primitives": [
            {"kind": k, "operands": o} for k, o in zip(kinds, operands)]}}
    shared = check_plan.is_shared
    assert shared(call(["gemm", "relu_bwd"], [0, 1], [3, 0])["body"])
    assert not shared(call(["gemm", "relu_bwd"], [0, 1], [3, 2])["body"])
    assert not shared(call(["mse_loss", "mse_grad"], [0, 1], [0, 1])["body"])
    assert shared(call(["mse_loss", "mse_grad"], [0, 0], [0, 0])["body"])
    assert not shared(call(["sgd_step", "sgd_step"], [0, 1, 2], [0, 1, 2])["body"])
    assert not shared(call(["add"], [0, 0])["body"])


def test_what_a_fused_call_may_overwrite():
    may = check_plan.may_overwrite
    def body(kinds, operands, results, count=3):
        return {"num_operands": count, "results": results, "primitives": [
            {"kind": k, "operands": o} for k, o in zip(kinds, operands)]}
    apart = body(["gemm", "relu_bwd"], [[0, 1], [3, 2]], [4])
    assert may(apart, 0, 2) and not may(apart, 0, 0)
    assert not may(body(["gemm", "relu_bwd"], [[0, 1], [2, 0]], [3], 2), 0, 0)
    updates = body(["sgd_step", "sgd_step"], [[0, 1, 2, -1], [1, 0, 2, -1]], [3, 5])
    assert not may(updates, 0, 0) and not may(updates, 1, 1)
