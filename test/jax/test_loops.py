# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans and loops that are not unrolled: parts of the plan, of which the body is compiled
once; and boxes that are read and written where a count says."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aicf
import aicf.jax
from aicf.errors import InvalidArgumentError, ModuleImportError

X = np.linspace(-1, 1, 6, dtype="f4").reshape(2, 3)
ROWS = np.arange(180, dtype="f4").reshape(90, 2) / 100
COUNTS = np.arange(180, dtype="i4").reshape(90, 2) % 7
fori, scan, while_ = jax.lax.fori_loop, jax.lax.scan, jax.lax.while_loop


def leaves(tree):
    return [np.asarray(jax.random.key_data(v) if jnp.issubdtype(v.dtype, jax.dtypes.extended)
                       else v) for v in jax.tree.leaves(tree)]


def compiled(function, *arguments, **options):
    """A step that gives what jax.jit gives, twice."""
    step = aicf.jax.compile_step(function, arguments, verify=False, **options)
    theirs = leaves(jax.jit(function)(*arguments))
    for _ in range(2):
        for a, b in zip(leaves(step(*arguments)), theirs, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            assert np.allclose(np.asarray(a, "f8"), np.asarray(b, "f8"), 1e-5, 1e-6)
    return step


def runs(step):
    """How often the calls of each part run."""
    entry = json.loads(step.program.plan.json())["entries"][0]
    return [(part["calls"], part["times"]) for part in entry["parts"]]


LOOPS = {
    "fori": (lambda x: fori(0, 100, lambda i, v: v * 0.99 + i, x), X),
    "zero start": (lambda x: fori(0, 101, lambda i, v: (v[0] + 1, v[1] + v[0]), (0, x)), X),
    "exchanged": (lambda x: fori(0, 101, lambda i, v: (v[1], v[0] * 0.9), (x, x + 1)), X),
    "kept": (lambda x: fori(0, 101, lambda i, v: (v[0], v[1] + v[0]), (x, x + 1)), X),
    "two": (lambda x: fori(0, 90, lambda i, v: v * 0.9 + x,
                           fori(0, 100, lambda i, v: v * 0.99 + i, x)) + x, X),
    "short inside": (lambda x: scan(lambda c, i: (fori(0, 3, lambda j, v: v * 0.9 + i, c),
                                                  None), x, jnp.arange(100.)), X),
    "while of a count": (lambda x: while_(lambda c: c[0] < 500,
                                          lambda c: (c[0] + 2, jnp.sin(c[1])), (0, x)), X),
    "columns": (lambda xs: scan(lambda c, x: (c * 0.9 + x, c - x), jnp.zeros(2), xs), ROWS),
    "reversed": (lambda xs: scan(lambda c, x: (c * 0.9 + x, c - x), jnp.zeros(2), xs,
                                 reverse=True), ROWS),
    "a constant column": (lambda x: scan(lambda c, i: (c * 0.9 + i, c.sum()), x,
                                         jnp.arange(100.)), X),
    "integers and flags": (lambda xs: scan(lambda c, x: (c + x, (c > 3, c * 2)),
                                           jnp.zeros(2, "i4"), xs), COUNTS),
    "unsigned": (lambda xs: scan(lambda c, x: (c * np.uint32(1664525) + np.uint32(1),
                                               x + np.uint8(200)), jnp.uint32(7), xs),
                 COUNTS.astype("u1")),
    "keys": (lambda k: scan(lambda k, _: (jax.random.split(k)[0], jax.random.uniform(k)), k,
                            None, length=70), jax.random.key(3)),
    "rows of keys": (lambda k: scan(lambda c, k: (c + jax.random.normal(k), k), 0.0,
                                    jax.random.split(k, 70)), jax.random.key(3)),
    "bf16": (lambda x: fori(0, 101, lambda i, v: jnp.tanh(v * 1.1), x), X.astype(jnp.bfloat16)),
    "cond": (lambda x: fori(0, 101, lambda i, v: jax.lax.cond(
        v.sum() > 3, lambda v: v * 0.5, lambda v: v + 0.1, v), x), X),
    "gradient": (lambda x: jax.grad(lambda x: fori(
        0, 99, lambda i, c: jnp.sin(c) * 1.1, x).sum())(x), X),
    "checkpointed": (lambda x: jax.grad(lambda x: scan(jax.checkpoint(
        lambda c, i: (jnp.tanh(c * i), None)), x, jnp.linspace(0.5, 1, 99))[0].sum())(x), X),
    "written rows": (lambda x: fori(0, 99, lambda i, c: c.at[i].set(i * 2.0), x),
                     np.zeros(99, "f4")),
    "written columns": (lambda x: fori(0, 70, lambda i, c: c.at[:, i].set(i + c[:, i - 1]), x),
                        np.ones((3, 70), "f4")),
    "read rows": (lambda x: fori(0, 99, lambda i, c: c + jax.lax.dynamic_slice(
        x, (i,), (1,)), jnp.zeros(1)), np.arange(99, dtype="f4")),
}


@pytest.mark.parametrize("name", LOOPS)
def test_values(name):
    function, *arguments = LOOPS[name]
    step = compiled(function, *arguments)
    assert max(times for _, times in runs(step)) > 64


def test_the_body_is_compiled_once():
    step = compiled(lambda xs: scan(lambda c, x: (jnp.tanh(c + x), c), jnp.zeros(2), xs), ROWS)
    costs = step.cost_analysis()
    assert costs["calls"] > 90 * 3 and len(costs["by_call"]) < 12
    assert sum(call["times"] for call in costs["by_call"]) == costs["calls"]
    unrolled = compiled(lambda xs: scan(lambda c, x: (jnp.tanh(c + x), c), jnp.zeros(2), xs),
                        ROWS, max_unroll=90)
    assert runs(unrolled) == []


def test_a_trained_network_over_time():
    def step(params, xs, y):
        def loss(p):
            h, hs = scan(lambda h, x: (jnp.tanh(x @ p["x"] + h @ p["h"]),) * 2,
                         jnp.zeros((8, 6)), xs)
            return jnp.mean((h - y) ** 2) + jnp.mean(hs ** 2)
        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value
    draw = np.random.default_rng(1).normal
    params = {"x": draw(size=(4, 6)).astype("f4") / 2, "h": draw(size=(6, 6)).astype("f4") / 4}
    xs, y = draw(size=(100, 8, 4)).astype("f4"), draw(size=(8, 6)).astype("f4")
    ours = aicf.jax.compile_step(step, (params, xs, y), 0)  # verified
    for _ in range(5):
        params, expected = jax.jit(step)(params, xs, y)
        assert np.allclose(ours(xs, y), expected, 1e-5)
    for a, b in zip(leaves(ours.state()), leaves(params), strict=True):
        assert np.allclose(a, b, 1e-4, 1e-5)


def test_a_state_that_the_runs_update():
    """Steps in a step: the runs write the parameter itself, which needs no copy."""
    def steps(w, xs):
        return scan(lambda w, x: (w - 0.1 * jax.grad(lambda w: ((x * w - 1) ** 2).sum())(w),
                                  w.sum()), w, xs)
    w = np.ones(2, "f4")
    step = aicf.jax.compile_step(steps, (w, ROWS), 0, new_state=lambda result: result[:1])
    text = step.program.lowered.as_text("plan-ir")
    assert "train_step.repeat0.0" not in text
    for _ in range(3):
        w, sums = jax.jit(steps)(w, ROWS)
        assert np.allclose(step(ROWS), sums, 1e-5)
    assert np.allclose(step.state(), w, 1e-5)


def test_a_plan_of_a_file(tmp_path):
    step = compiled(lambda xs: scan(lambda c, x: (c * 0.9 + x, c - x), jnp.zeros(2), xs), ROWS)
    expected = leaves(step(ROWS))
    step.save(tmp_path / "loop.aicf")
    loaded = aicf.load(tmp_path / "loop.aicf")["train_step"]
    for a, b in zip(loaded(ROWS).values(), expected, strict=True):
        assert np.array_equal(np.asarray(a), b)


def test_arguments_are_given_by_position():
    """The parts read them in another order."""
    def function(w, h):
        return scan(lambda h, _: (jnp.tanh(h * w + 0.1), None), h, None, length=100)[0]
    compiled(function, X, X + 1)


def test_more_calls_than_a_graph_has():
    """They run eagerly."""
    def function(x):
        return fori(0, 40000, lambda i, v: jnp.tanh(v * 1.01) + 0.0 * i, x)
    compiled(function, X)


def softmax_of(x, h):
    return jax.nn.softmax(x * 2.0, -1) + h


MORE = {
    "softmax inside and behind": lambda x: fori(
        0, 99, lambda i, c: softmax_of(x, c) * 0.5, x) + softmax_of(x, x),
    "softmax in two loops": lambda x: fori(0, 99, lambda i, c: softmax_of(x, c) * 0.5, fori(
        0, 99, lambda i, c: softmax_of(x, c) * 0.25, x)),
    "loss inside and behind": lambda x: fori(0, 99, lambda i, c: c - 0.1 * jax.grad(
        lambda v: -jax.nn.log_softmax(v)[0, 1] + (v * v).sum())(x), x) + jax.grad(
            lambda v: -jax.nn.log_softmax(v)[0, 1] + (v * v).sum())(x),
    "a stack of bf16": lambda x: scan(lambda c, _: (c * jnp.bfloat16(0.5), c),
                                      x.astype("bfloat16"), None, length=100),
    "the gradient of bf16": lambda x: jax.grad(lambda v: scan(
        lambda c, _: (jnp.tanh(c), c.sum()), v.astype("bfloat16"), None,
        length=70)[0].astype("float32").sum())(x),
}


@pytest.mark.parametrize("name", MORE)
def test_what_an_adversary_found(name):
    function = MORE[name]
    step = aicf.jax.compile_step(function, (X,), verify=False)
    for ours, theirs in zip(leaves(step(X)), leaves(jax.jit(function)(X)), strict=True):
        assert ours.dtype == theirs.dtype
        assert np.allclose(np.asarray(ours, "f8"), np.asarray(theirs, "f8"), 2e-2, 1e-3)


def test_checkpoints_without_what_loops_carry(tmp_path):
    """Unrolled or not, and with another batch size or without, they are the same."""
    def step(w, xs):
        return w - 0.1 * scan(lambda c, x: (jnp.tanh(c + x), None), w, xs)[0], w.sum()

    def made(**options):
        return aicf.jax.compile_step(step, (np.ones(2, "f4"), ROWS), 0, verify=False,
                                     new_state=lambda result: result[:1], **options)
    first = made()
    first(ROWS)
    first(ROWS[:70])
    first.save_checkpoint(tmp_path / "c")
    for other in (made(), made(max_unroll=90)):
        other.load_checkpoint(tmp_path / "c")
        assert np.array_equal(other.state(), first.state())
    names = {t["name"] for t in first.program.plan.persistent() if t["scratch"]}
    assert names and all(".repeat" in name or ".cross" in name for name in names)


@pytest.mark.parametrize("options", [{"max_unroll": "x"}, {"max_unroll": -1},
                                     {"max_while": 1.5}, {"max_while": None}])
def test_bounds_that_are_no_numbers(options):
    with pytest.raises(InvalidArgumentError, match="expected an int of 0 or more"):
        aicf.jax.compile_step(lambda x: x * 2, (X,), **options)


def test_starts_without_a_sign():
    def function(x, i):
        return (jax.lax.dynamic_slice(x, (i,), (1,)),
                jax.lax.dynamic_update_slice(x, x[:2] + 1, (i,)),
                jax.lax.dynamic_update_slice(x, x[:1] + 1, (i,)))
    x = np.arange(300, dtype="f4")
    step = aicf.jax.compile_step(function, (x, np.uint32(3)), verify=False)
    for i in (0, 7, 299, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1):
        for a, b in zip(step(x, np.uint32(i)), jax.jit(function)(x, np.uint32(i)),
                        strict=True):
            assert np.array_equal(a, b), i


def test_another_batch():
    step = compiled(lambda x: fori(0, 100, lambda i, v: jnp.sin(v + i), x).sum(), X)
    assert np.allclose(step(X[:1]), jax.jit(lambda x: fori(
        0, 100, lambda i, v: jnp.sin(v + i), x).sum())(X[:1]), 1e-4)


@pytest.mark.parametrize("most", [40, 70])
def test_a_loop_with_a_bound(most):
    """Unrolled or not: what a run behind the end makes is not taken."""
    compiled(lambda x: while_(lambda v: v.sum() < 9, lambda v: v * 1.05 + 0.1, x), X,
             max_while=most)
    step = aicf.jax.compile_step(lambda x: while_(lambda v: v.sum() < 99, lambda v: v + 0.1, x),
                                 (X,), max_while=most, verify=False)
    assert np.isnan(step(X)).all()  # it would go on


def refused(function, *arguments, **options):
    with pytest.raises(ModuleImportError) as error:
        aicf.jax.compile_step(function, arguments, **options)
    return str(error.value)


def test_refused():
    assert "a loop of 100 runs inside of another loop: both can only be unrolled, and " \
        "max_unroll is 64" in refused(
            lambda x: fori(0, 90, lambda i, c: fori(0, 100, lambda j, v: v * 0.9, c), x), X)
    assert "a loop of 90 runs that stacks float32[2,0]" in refused(
        lambda x: scan(lambda c, _: (c, c[:, :0]), x, None, length=90)[1].sum(), X)
    text = refused(lambda x: fori(0, 90, lambda i, v: jax.lax.digamma(v), x), X)
    assert "digamma: nobody has told AICF what it is (1 times" in text
    assert "more than 16777216 times, or for ever" in refused(
        lambda x: while_(lambda c: c[0] >= 0, lambda c: (0 * c[0], c[1] * 2), (0, x)), X)


BOX = np.arange(48, dtype="f4").reshape(6, 8)
PLACES = [-9, -1, 0, 2, 4, 5, 6, 9]


@pytest.mark.parametrize("dtype", ["f4", "i4", "?", "u4"])
def test_boxes_where_values_say(dtype):
    def function(x, i, j):
        two = jax.lax.dynamic_slice(x, (i, j), (2, 3))
        row = jax.lax.dynamic_slice(x, (0, j), (6, 1))
        return (two, row, jax.lax.dynamic_update_slice(x, two, (j, i)),
                jax.lax.dynamic_update_slice(x, row, (0, i)),
                jax.lax.dynamic_update_slice(x, two, (2, i)))
    x = BOX.astype(dtype) if dtype != "?" else BOX % 3 > 1
    step = aicf.jax.compile_step(function, (x, np.int32(0), np.int32(0)), verify=False)
    for i in PLACES:
        for j in (-1, 0, 3, 7):
            for a, b in zip(step(x, np.int32(i), np.int32(j)),
                            jax.jit(function)(x, np.int32(i), np.int32(j)), strict=True):
                assert a.dtype == b.dtype and np.array_equal(a, b), (i, j)


@pytest.mark.parametrize("mode", ["clip", "drop"])
def test_places_that_are_written(mode):
    """The last of equal places stays; outside, nothing is written or the last row is."""
    def function(x, at, rows):
        return (x.at[at].set(rows, mode=mode), x.at[:, at].set(rows[:, :6].T, mode=mode),
                x.at[at[0], at[1]].set(7.0, mode=mode), x.at[at[0], :2].set(5.0, mode=mode),
                x.at[9].set(1.0, mode=mode))
    at = np.array([1, 4, 4], "i4")
    rows = -np.arange(24, dtype="f4").reshape(3, 8)
    step = aicf.jax.compile_step(function, (BOX, at, rows), verify=False)
    for at in ([1, 4, 4], [5, 0, 5], [6, -9, 2], [2, 9, 100]):
        at = np.array(at, "i4")
        for a, b in zip(step(BOX, at, rows), jax.jit(function)(BOX, at, rows), strict=True):
            assert np.array_equal(a, b), at
