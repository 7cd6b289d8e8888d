# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.functional.scaled_dot_product_attention and aicf.nn.MultiheadAttention beside NumPy."""

import math

import numpy as np
import pytest

import aicf
import aicf.functional as F
from aicf import nn

RNG = np.random.default_rng(0)
Q, K, V = (RNG.normal(size=(2, 4, n, 8)).astype("f4") for n in (5, 7, 7))
BIAS = RNG.normal(size=(4, 5, 7)).astype("f4")
FLAGS = RNG.random((2, 1, 1, 7)) > 0.3
SEGMENTS = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 2, 2]], "i4")


def by_definition(q, k, v, bias=None, seen=None, scale=None, softcap=0.0):
    k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    scores = (q @ k.swapaxes(-1, -2)).astype("f8") * (scale or q.shape[-1] ** -0.5)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    scores = scores if bias is None else scores + bias
    scores = scores if seen is None else np.where(seen, scores, -np.inf)
    most = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(most), 0, most))
    total = powers.sum(-1, keepdims=True)
    return (powers / np.where(total == 0, 1, total)) @ v


def run(function, **arrays):
    entry = aicf.compile(function, {
        name: (x.shape, {"bool": "i1", "int32": "i32"}.get(x.dtype.name, "f32"))
        for name, x in arrays.items()})
    return np.asarray(entry(**arrays))


I, J = np.arange(5)[:, None], np.arange(7)[None]
CASES = {
    "plain": ({}, {}), "scale": ({"scale": 0.2}, {"scale": 0.2}),
    "causal": ({"is_causal": True}, {"seen": J <= I}),
    "window": ({"window": (1, 2)}, {"seen": (J >= I - 1) & (J <= I + 2)}),
    "causal window": ({"window": (1, 2), "is_causal": True}, {"seen": (J >= I - 1) & (J <= I)}),
    "open to the left": ({"window": (-1, 1)}, {"seen": J <= I + 1}),
    "bias": ({"attn_mask": BIAS}, {"bias": BIAS}),
    "flags": ({"attn_mask": FLAGS}, {"seen": FLAGS}),
    "none is seen": ({"attn_mask": np.zeros((5, 7), bool)}, {"seen": np.zeros((5, 7), bool)}),
    "softcap": ({"softcap": 0.5}, {"softcap": 0.5}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shared", [4, 2, 1])
def test_values(case, shared):
    options, expected = CASES[case]
    k, v = (np.ascontiguousarray(x[:, :shared]) for x in (K, V))
    y = run(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options),
            q=Q, k=k, v=v)
    assert y == pytest.approx(by_definition(Q, k, v, **expected), rel=1e-5, abs=1e-6)


def test_segments():
    y = run(lambda q, s: F.scaled_dot_product_attention(q, q, q, segments=s),
            q=Q, s=SEGMENTS)
    seen = (SEGMENTS[:, None, :, None] == SEGMENTS[:, None, None, :])
    assert y == pytest.approx(by_definition(Q, Q, Q, seen=seen), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("dims", [(), (0,), (0, 0)])
def test_fewer_dimensions(dims):
    q, k, v = (x[dims] for x in (Q, K, V))
    y = run(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), q=q, k=k, v=v)
    assert y == pytest.approx(by_definition(Q, K, V)[dims], rel=1e-5, abs=1e-6)


def test_batches_broadcast():
    y = run(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, BIAS[:1]),
            q=Q[None], k=K[0], v=V)
    assert y == pytest.approx(by_definition(Q[None], K[:1], V, BIAS[:1]), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("call, text", [
    (lambda x: F.scaled_dot_product_attention(x, x, np.ones((2, 4, 5, 8), "i4")), "value of"),
    (lambda x: F.scaled_dot_product_attention(x, x, x, np.ones((9, 5), "f4")), "broadcast|C4"),
    (lambda x: F.scaled_dot_product_attention(x, x, x, np.ones((5, 5), "i4")), "attn_mask"),
    (lambda x: F.scaled_dot_product_attention(x, x, x, np.ones((1, 1, 1, 5, 5), "f4")),
     "at most 4"),
    (lambda x: F.scaled_dot_product_attention(x, x[:, :3], x[:, :3]), "divisor of the 4"),
    (lambda x: F.scaled_dot_product_attention(x, x[..., :4], x), "C2"),
])
def test_refused(call, text):
    with pytest.raises((aicf.TraceError, aicf.CompileError), match=text):
        aicf.compile(call, {"x": (2, 4, 5, 8)})


def multihead(module, x, mask=None):
    """NumPy's, with the module's values: x is [batch, length, size]."""
    p = {n: np.asarray(v) for n, v in module.items()}
    packed = x @ p["in_proj_weight"].T + p["in_proj_bias"]
    q, k, v = (part.reshape(*x.shape[:2], 4, -1).swapaxes(1, 2)
               for part in np.split(packed, 3, -1))
    y = by_definition(q, k, v, seen=mask).swapaxes(1, 2).reshape(x.shape)
    return y @ p["out_proj.weight"].T + p["out_proj.bias"]


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("kind", ["plain", "flags", "floats", "padding"])
def test_multihead_attention(batch_first, kind):
    module = nn.MultiheadAttention(16, 4, batch_first=batch_first)
    hidden = np.triu(np.ones((5, 5), bool), 1)
    padding = np.arange(5)[None] >= np.array([[5], [2]])
    call = {"plain": {}, "flags": {"attn_mask": hidden}, "padding": {"key_padding_mask": padding},
            "floats": {"attn_mask": np.where(hidden, -np.inf, 0).astype("f4")}}[kind]
    seen = {"plain": None, "padding": ~padding[:, None, None]}.get(kind, ~hidden)
    x = RNG.normal(size=(2, 5, 16)).astype("f4")
    given = x if batch_first else x.swapaxes(0, 1)
    step = aicf.compile_step(
        module, lambda m, x: (m(x, x, x, **call)[0] ** 2).mean(), aicf.optim.SGD(0.0),
        {"x": given.shape}, outputs=[])
    expected = (multihead(step.state_dict(), x, seen) ** 2).mean()
    assert float(step(np.ascontiguousarray(given))) == pytest.approx(expected, rel=1e-5)


def test_weights_that_nobody_reads_are_not_computed():
    def calls(**options):
        step = aicf.compile_step(
            nn.MultiheadAttention(16, 4, batch_first=True),
            lambda m, x: sum((y * y).mean() for y in m(x, x, x, **options)[:1]),
            aicf.optim.SGD(0.1), {"x": (2, 5, 16)})
        return step.program.plan.dump().count("softmax")
    assert calls() == calls(need_weights=False) == 0


def test_weights():
    module = nn.MultiheadAttention(16, 4, batch_first=True)

    def loss(m, x):
        y, weights = m(x, x, x, is_causal=True)
        return weights.mean() + 0 * y.mean()
    step = aicf.compile_step(module, loss, aicf.optim.SGD(0.0), {"x": (2, 5, 16)})
    # Each row of weights adds up to 1.
    assert float(step(np.ones((2, 5, 16), "f4"))) == pytest.approx(1 / 5)


def test_other_sizes_of_keys_and_values():
    module = nn.MultiheadAttention(16, 4, kdim=6, vdim=3, batch_first=True, bias=False)
    step = aicf.compile_step(
        module, lambda m, q, k, v: m(q, k, v, need_weights=False)[0].mean(),
        aicf.optim.SGD(0.1), {"q": (2, 5, 16), "k": (2, 7, 6), "v": (2, 7, 3)})
    assert {n: np.shape(v) for n, v in step.state_dict().items() if "proj_weight" in n} == {
        "q_proj_weight": (16, 16), "k_proj_weight": (16, 6), "v_proj_weight": (16, 3)}
    assert math.isfinite(float(step(np.ones((2, 5, 16), "f4"), np.ones((2, 7, 6), "f4"),
                                    np.ones((2, 7, 3), "f4"))))


@pytest.mark.parametrize("make", [lambda: nn.MultiheadAttention(16, 3),
                                  lambda: nn.MultiheadAttention(16, 0),
                                  lambda: nn.MultiheadAttention(16, 4, dropout=1.0)])
def test_modules_that_cannot_be(make):
    with pytest.raises(ValueError, match="expected"):
        make()
