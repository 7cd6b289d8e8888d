# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seeds' interface, and the seeds' checks: gradients under warm-up, a train
step, kernels by id in traces, replays again and again."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import (BINARY, INPUTS, SOURCE, Mlp, cross_entropy, make_batch,
                      make_step)

import aicf
from aicf import nn

DUMP = """values: 10, nodes: 4, ops: 6
gemm(v000, v001) -> v003 {transB = true}
bias_add(v003, v002) -> v003
relu(v003) -> v004
gemm(v004, v005) -> v007 {transB = true}
bias_add(v007, v006) -> v007
mse_grad(v007, v008) -> v009
"""


def build_seed(batch=64):
    """Linear -> ReLU -> Linear -> MseGrad."""
    m = aicf.ModelBuilder("step")
    x, target = m.input("x", (batch, 64)), m.input("t", (batch, 64))
    h = m.add("linear", x, m.param("W0", (128, 64), init="uniform_fan_in"),
              m.param("b0", (128,)))
    r = m.add("relu", h)
    y = m.add("linear", r, m.param("W1", (64, 128), init="uniform_fan_in"),
              m.param("b1", (64,)))
    g = m.add("mse_grad", y, target)
    m.output("g", g)
    assert [v.vid for v in (x, h, r, y, target, g)] == [0, 3, 4, 7, 8, 9]
    return m.build()


def test_a_number_that_the_host_may_change():
    m = aicf.ModelBuilder("step")
    x, factor = m.input("x", (2,)), m.hyper("factor", 3)
    with pytest.raises(aicf.TraceError) as caught:
        m.hyper("factor", 4)
    assert "two tensors of the name 'factor'" in caught.value.message
    m.output("y", m.add("mul", x, m.add("broadcast", factor, shape=(2,))))
    program = m.build().lower().compile()
    ones = np.ones(2, np.float32)
    np.testing.assert_array_equal(program["step"](ones), [3, 3])
    program.set("factor", 5)
    np.testing.assert_array_equal(program["step"](ones), [5, 5])


def seed_inputs(batch=64):
    random = np.random.default_rng(4)
    return {n: random.standard_normal((batch, 64)).astype(np.float32)
            for n in ("x", "t")}


def test_dumps():
    ir = build_seed()
    assert ir.dump() == """values: 10, nodes: 4
linear(v000, v001, v002) -> v003
relu(v003) -> v004
linear(v004, v005, v006) -> v007
mse_grad(v007, v008) -> v009
"""
    assert ir.dump_lowered() == DUMP
    assert ir.lower("cpu").dump() == DUMP == ir.lower("cuda").dump()


def test_trace_ir():
    ir = aicf.trace_ir(cross_entropy, INPUTS, model=Mlp(),
                       optimizer=aicf.optim.SGD(0.1))
    assert ir.dump().splitlines()[1] == "linear(v000, v001, v002) -> v003"
    assert "sgd_step" in ir.lower("cpu").dump()
    forward = aicf.trace_ir(Mlp(), {"x": INPUTS["x"]})
    assert "relu(v003) -> v004" in forward.dump()
    with pytest.raises(TypeError, match="whose parameters"):
        aicf.trace_ir(cross_entropy, INPUTS, optimizer=aicf.optim.SGD(0.1))
    named = aicf.trace_ir(cross_entropy, INPUTS, model=Mlp(), name="mine",
                          optimizer=aicf.optim.SGD(0.1))
    assert list(ir.signatures) == ["train_step"] and list(named.signatures) == ["mine"]


def test_builder_with_modules_states_and_updates():
    m = aicf.ModelBuilder("f")
    x = m.input("x", (4, 8))
    count = m.state("count", (), "i64")
    y = m.add(nn.Linear(8, 2), x, name="head")
    y = m.add(nn.ReLU(), y)
    m.update("count", m.add("step_inc", count))
    m.output("y", m.add("scale", y, factor=2.0))
    with pytest.raises(aicf.TraceError, match="no op 'nonsense'"):
        m.add("nonsense", x)
    with pytest.raises(aicf.AICFError, match="no param or state 'x'"):
        m.update("x", x)
    ir = m.build()
    with pytest.raises(aicf.TraceError, match="is built"):
        m.input("z", (1,))
    ex = aicf.PlannedExecutor(ir)
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    y = ex.run(inputs={"x": x})["y"].numpy()
    W, b = (ex.read(n).numpy() for n in ("head.weight", "head.bias"))
    np.testing.assert_allclose(y, 2 * np.maximum(x @ W.T + b, 0), rtol=1e-5, atol=1e-6)
    assert ex.read("count").item() == 1


@pytest.mark.parametrize("rate, name, value", [
    (0.5, "lr", 0.5), (1, "lr", 1.0),
    (aicf.optim.Table([0.25, 0.5]), "lr_table", [0.25, 0.5]),
    (aicf.optim.Constant(0.5), None, None)])
def test_builder_with_an_optimizer(rate, name, value):
    m = aicf.ModelBuilder("f")
    x = m.input("x", (2,))
    w = m.param("w", (2,), init=np.float32([1, 2]))
    m.output("loss", m.add("mean", m.add("mul", x, w)), minimize=True)
    ir = m.build(aicf.optim.SGD(rate))
    assert list(ir.signatures["f"].values) == ([name] if name else [])
    ex = aicf.PlannedExecutor(ir)
    np.testing.assert_array_equal(ex.read("w"), [1, 2])
    if name:
        np.testing.assert_array_equal(ex.read(name), value)
    ex.run(inputs={"x": np.float32([4, 0])})
    first = 0.25 if name == "lr_table" else rate if name else 0.5
    np.testing.assert_array_equal(ex.read("w"), [1 - 2 * first, 2])


def test_an_executor_takes_programs_plans_and_files(tmp_path):
    program = make_step(aicf.optim.SGD(0.5)).program
    program.save(tmp_path / "a.plan")
    batch = dict(zip(INPUTS, make_batch()))
    for plan in (program, program.lowered, program.plan, tmp_path / "a.plan",
                 str(tmp_path / "a.plan"), aicf.load(tmp_path / "a.plan")):
        ex = aicf.PlannedExecutor(plan)
        if plan in (program, program.lowered):
            assert ex.read("lr").item() == 0.5  # a plan does not have it
        assert list(ex.run(inputs=batch, params={"lr": 0.5})) == ["loss"]
        with pytest.raises(ValueError, match="device is 'moon', expected \"cpu\""):
            aicf.PlannedExecutor(plan, "moon")


def test_ir_is_compiled_for_the_device(monkeypatch):
    monkeypatch.setattr(aicf.seeds, "open_device",
                        lambda name, threads: aicf.program.open_device("cpu"))
    with pytest.raises(aicf.AICFError, match="the plan is for cuda, the device is cpu"):
        aicf.PlannedExecutor(build_seed(), "cuda")


def test_what_is_traced_later_is_not_in_a_plan():
    m = nn.Parameter((2,), init=np.float32([1, 2]), name="late")
    ir = aicf.trace_ir(lambda x: x + x, {"x": aicf.spec((2,))}, name="f")
    lowered = ir.lower()
    ir.add(lambda x: x + m, {"x": aicf.spec((2,))}, name="g")
    for options in ({"keep": "grad"}, {"streams": 2, "opt_level": 0}):
        with pytest.raises(TypeError, match=r"options \(%s\) are for IR"
                           % ", ".join(options)):
            aicf.PlannedExecutor(lowered, **options)
    with pytest.raises(TypeError, match="plan is a int, expected IR"):
        aicf.PlannedExecutor(3)
    ex = aicf.PlannedExecutor(lowered)
    with pytest.raises(aicf.AICFError, match="late"):
        ex.read("late")
    np.testing.assert_array_equal(aicf.PlannedExecutor(ir).read("late"), [1, 2])


def test_entries_by_name():
    ir = aicf.trace_ir(lambda x: x + x, {"x": aicf.spec((2,))}, name="f")
    ir.add(lambda x: x * x, {"x": aicf.spec((2,))}, name="g")
    ex, x = aicf.PlannedExecutor(ir), np.float32([3, 4])
    for options in ({"entry": "g"}, {"graph_key": "g"}, {"graph_key": ("g", 2)}):
        got = ex.run(inputs={"x": x}, **options)
        assert list(got) == ["output"]
        np.testing.assert_array_equal(got["output"], x * x)
    np.testing.assert_array_equal(ex.run(inputs={"x": x})["output"], x + x)
    ex.reset_graphs()
    ex.capture("g")
    ex.executor.write("g/x", 2 * x)
    ex.replay("g", 1)
    np.testing.assert_array_equal(ex.read("g/output"), 4 * x * x)


def test_run_with_params_and_reuse_static():
    ex = aicf.PlannedExecutor(build_seed(), seed=3)
    inputs = seed_inputs()
    W = np.full((64, 128), 0.5, np.float32)
    first = ex.run(inputs=inputs)["g"].numpy()
    changed = ex.run(inputs=inputs, params={"W1": W})["g"].numpy()
    assert (first != changed).any()
    kept = ex.run(inputs=inputs, reuse_static=True)["g"].numpy()
    np.testing.assert_array_equal(kept, changed)
    fresh = ex.run(inputs=inputs, reuse_static=False)["g"].numpy()
    np.testing.assert_array_equal(fresh, first)
    with pytest.raises(aicf.AICFError, match="expected 64x64xf32"):
        ex.run(inputs={"x": inputs["x"][:3]})
    with pytest.raises(aicf.AICFError, match="W9"):
        ex.run(params={"W9": W})


def train_ir():
    return aicf.trace_ir(cross_entropy, INPUTS, model=Mlp(),
                         optimizer=aicf.optim.AdamW(1e-2))


def test_gradients_under_warmup():
    """Gradients against central differences; nothing is updated meanwhile."""
    ex = aicf.PlannedExecutor(
        aicf.trace_ir(cross_entropy, {"x": aicf.spec((16, 64), "f64"),
                                      "labels": INPUTS["labels"]},
                      model=Mlp(dtype="f64"), optimizer=aicf.optim.AdamW(1e-2)),
        warmup=True, keep="grad")
    x, labels = make_batch()
    inputs = {"x": x.astype(np.float64), "labels": labels}
    before = {n: ex.read(n).numpy() for n in ("fc0.weight", "fc1.bias")}
    out = ex.run(inputs=inputs)
    for name, value in before.items():
        np.testing.assert_array_equal(ex.read(name).numpy(), value)
        gradient = out["grad:" + name].numpy()
        for at in [tuple(np.random.default_rng(i).integers(0, value.shape))
                   for i in range(5)]:
            losses = []
            for sign in (1, -1):
                moved = value.copy()
                moved[at] += sign * 1e-6
                losses.append(ex.run(inputs=inputs, params={name: moved})["loss"].item())
            ex.run(inputs=inputs, params={name: value})
            assert (losses[0] - losses[1]) / 2e-6 == pytest.approx(gradient[at],
                                                                   abs=1e-7)


def test_warmup_of_the_environment(tmp_path):
    code = """
import numpy as np, sys
sys.path.insert(0, %r)
from test_seeds import *
x, labels = make_batch()
ex = aicf.PlannedExecutor(train_ir())
a, b = (ex.run(inputs={"x": x, "labels": labels})["loss"].item() for _ in range(2))
print(a == b)
""" % os.path.dirname(__file__)
    for value, same in (("1", "True"), ("0", "False")):
        done = subprocess.run([sys.executable, "-c", code], text=True,
                              capture_output=True,
                              env={**os.environ, "AICF_WARMUP": value})
        assert done.stdout.strip() == same, done.stderr


def test_train_step():
    ex = aicf.PlannedExecutor(train_ir(), seed=1)
    x, labels = make_batch()
    losses = [ex.run(inputs={"x": x, "labels": labels})["loss"].item()
              for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]
    assert ex.read("step").item() == 30


def test_trace_by_kid():
    ex = aicf.PlannedExecutor(build_seed())
    ex.run(inputs=seed_inputs())
    ex.trace_enable()
    ex.run()
    eager = ex.trace_get()
    ex.trace_enable()
    ex.run(graph_key="step")
    replayed = ex.trace_get()
    ex.trace_enable(False)
    plan = [c["kid"] for c in ex.plan.costs()]
    assert [r["kid"] for r in eager] == [r["kid"] for r in replayed] == plan
    assert [r["is_replay"] for r in replayed] == [True] * len(plan)
    assert eager[0]["in_vids"][:2] == [0, 1] and eager[0]["kid"].startswith("gemm")


def test_replay_stress():
    """Eager, replays, launches of several steps, new graphs: the same bits."""
    x, labels = make_batch()
    inputs = {"x": x, "labels": labels}
    eager, graph = (aicf.PlannedExecutor(train_ir(), seed=2) for _ in range(2))
    graph.run(inputs=inputs, graph_key="train_step")
    for _ in range(50):
        graph.replay(n=3)
        graph.run(graph_key=("train_step", 2))
        graph.reset_graphs()
        graph.capture()
    eager.run(inputs=inputs)
    for _ in range(250):
        eager.executor.run("train_step")
    for name in ("fc0.weight", "fc1.bias", "step", "fc0.weight.exp_avg_sq"):
        np.testing.assert_array_equal(eager.read(name).numpy(),
                                      graph.read(name).numpy())
    graph.reset_state()
    assert graph.read("step").item() == 0


def test_slots_and_pointers():
    ex = aicf.PlannedExecutor(build_seed())
    ex.run(inputs=seed_inputs())
    before = {(s["entry"], s["buffer"]): s["pointer"] for s in ex.slots()}
    ex.run(inputs=seed_inputs(), graph_key="step")
    assert before == {(s["entry"], s["buffer"]): s["pointer"] for s in ex.slots()}
    assert "W0" in ex.dump_slots() and "v000" in ex.dump_slots()
    assert all("0x" in line for line in ex.dump_slots().splitlines())
    assert "gemm" in ex.dump()
    entries = [line.split()[0] for line in ex.dump_slots().splitlines()]
    assert sorted(set(entries)) == ["-", "step"]
    old = aicf.PlannedExecutor(SOURCE / "test/plans/4.3/words-cpu.plan")
    assert [s["vid"] for s in old.slots() if s["vid"] < 0] == [-1]
    assert old.dump_slots().count(" v?   temp ") == 1  # has no label


def test_a_plan_of_aicf_compile(tmp_path):
    ex = aicf.PlannedExecutor(BINARY / "examples/digits.plan")
    out = ex.run(inputs={"x": np.ones((32, 64), np.float32),
                         "labels": np.zeros(32, np.int32)}, params={"lr": 0.1})
    assert out["loss"].item() > 0
    with pytest.raises(TypeError, match="for IR"):
        aicf.PlannedExecutor(BINARY / "examples/digits.plan", keep="grad")
    with pytest.raises(TypeError, match="plan is a int"):
        aicf.PlannedExecutor(3)


# op_call and graphs of one's own

def matrices(dtype=np.float32):
    random = np.random.default_rng(0)
    return (random.standard_normal((8, 16)).astype(dtype),
            random.standard_normal((4, 16)).astype(dtype), np.zeros((8, 4), dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_op_call(dtype):
    a, b, c = matrices(dtype)
    aicf.op_call("gemm", [a, b], [c], {"transB": True})
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5 if dtype == np.float32 else 1e-12)
    y = np.empty_like(c)
    aicf.op_call("scale", [c], [y], {"factor": 2.0})
    np.testing.assert_array_equal(y, 2 * c)
    p, g, lr = c.copy(), y.copy(), np.array(0.5, dtype)
    aicf.op_call("sgd_step", [p, g, lr, None, None, None], [p, None])
    np.testing.assert_allclose(p, c - 0.5 * y, rtol=1e-6)


def test_op_call_on_the_device_of_the_stream():
    device = aicf.program.open_device("cpu", threads=1)
    stream, x, y = aicf.graph_stream(device), -np.ones(3, "f4"), np.ones(3, "f4")
    assert stream.device is device
    aicf.op_call("relu", [x], [y], stream=stream)
    assert not y.any()
    with pytest.raises(aicf.AICFError, match="belongs to another device object"):
        aicf.op_call("relu", [x], [y], stream=stream, device="cpu")


def test_op_call_on_the_device_of_the_first_array_that_is_not_on_the_cpu(monkeypatch):
    class Fake:
        def __init__(self, device):
            self.device = device

    monkeypatch.setattr(aicf.seeds._runtime, "Array", Fake)
    with pytest.raises(aicf.AICFError, match="device is 'moon', expected"):
        aicf.op_call("add", [Fake("cpu"), Fake("moon")], [Fake("sun")])


def test_op_call_on_our_own_arrays():
    a = aicf.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = aicf.zeros((2, 3))
    aicf.op_call("relu", [a], [y])
    np.testing.assert_array_equal(y.numpy(), a.numpy())


@pytest.mark.parametrize("ins, outs, attrs, more, error, message", [
    ("ab", "c", {"transB": 1.5}, {}, TypeError, "transB is not an int"),
    ("ab", "c", {"transC": 1}, {}, ValueError, "no attr \"transC\""),
    ("ab", "c", {"transB": 2}, {}, ValueError, "0 or 1"),
    ("ab", "c", {}, {}, ValueError, "gemm"),
    ("a", "c", {}, {}, ValueError, "gemm"),
    ("aa", "a", {"transB": True}, {}, ValueError, "gemm"),
    ("ab", "c", {"transB": True}, {"kid": "gemm_f99"}, ValueError, "gemm_f99"),
    ("ab", "r", {"transB": True}, {}, ValueError, "read-only"),
    ("ab", "i", {"transB": True}, {}, (TypeError, ValueError), "i32"),
    ("as", "c", {"transB": True}, {}, ValueError, "contiguous"),
    ("ab", "c", {"transB": True}, {"device": "moon"}, ValueError, "moon"),
])
def test_bad_op_calls(ins, outs, attrs, more, error, message):
    a, b, c = matrices()
    r = c.copy()
    r.setflags(write=False)
    arrays = {"a": a, "b": b, "c": c, "r": r, "i": np.zeros((8, 4), np.int32),
              "s": np.zeros((16, 4), np.float32).T}
    with pytest.raises(error, match=message):
        aicf.op_call("gemm", [arrays[n] for n in ins], [arrays[n] for n in outs],
                     attrs, **more)
    assert not c.any()


def test_bad_op_names():
    for name in ("", "nonsense", "linear"):
        with pytest.raises(ValueError, match="no primitive is called"):
            aicf.op_call(name, [], [])


def test_graphs_of_op_calls():
    a, b, c = matrices()
    stream = aicf.graph_stream()
    aicf.graph_begin(stream)
    with pytest.raises(aicf.AICFError, match="capturing"):
        aicf.graph_begin(stream)
    aicf.op_call("gemm", [a, b], [c], {"transB": True}, stream=stream)
    aicf.op_call("relu", [c], [c], stream=stream)
    graph = aicf.graph_end(stream)
    assert graph.num_calls == 2 and not c.any()
    for seed in range(3):
        a[:] = np.random.default_rng(seed).standard_normal(a.shape)
        aicf.graph_launch(graph, stream)
        np.testing.assert_allclose(c, np.maximum(a @ b.T, 0), rtol=1e-5, atol=1e-6)
    with pytest.raises(aicf.AICFError, match="not capturing"):
        aicf.graph_end(stream)
    aicf.graph_reset(graph)
    aicf.graph_reset(graph)
    with pytest.raises(aicf.AICFError, match="was reset"):
        aicf.graph_launch(graph, stream)


def test_a_graph_keeps_its_arrays():
    c, stream = np.zeros((8, 4), np.float32), aicf.graph_stream()
    aicf.graph_begin(stream)
    a, b, _ = matrices()
    expected = a @ b.T
    aicf.op_call("gemm", [a, b], [c], {"transB": True}, stream=stream)
    graph = aicf.graph_end(stream)
    del a, b
    junk = [np.ones((8, 16), np.float32) for _ in range(100)]
    aicf.graph_launch(graph, stream)
    np.testing.assert_allclose(c, expected, rtol=1e-5)
    assert len(junk) == 100
