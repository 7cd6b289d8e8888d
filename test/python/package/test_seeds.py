# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seeds' interface, and the seeds' checks: gradients under warm-up, a train
step, kernels by id in traces, replays again and again."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import BINARY, INPUTS, Mlp, cross_entropy, make_batch

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
