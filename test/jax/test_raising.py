# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ops with kernels are found in primitives, and updates that only look like Adam's."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from cases import CASES, Make, mlp, mse

import aicf.jax


def ops_of(step):
    return re.findall(r"=\s+(\w+)\(", step.program.plan.dump())


#: By case: how many adam_step, softmax_cross_entropy and its gradient, softmax.
FOUND = {"adamw": (4, 1, 1, 0), "moving_average": (4, 1, 1, 0), "vmapped_loss": (4, 1, 1, 0),
         "pairs": (4, 1, 1, 0), "chain_with_clip_and_schedule": (4, 1, 1, 0),
         "transformer": (19, 1, 1, 2), "tied_weights": (1, 1, 1, 0), "lion": (0, 1, 1, 0),
         "nesterov": (0, 0, 0, 0), "microbatches": (0, 4, 4, 0), "flax_nnx": (6, 1, 1, 0)}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found(name):
    step = aicf.jax.compile_step(*CASES[name](Make()), verify=False)
    found = ops_of(step)
    assert step.raised.get("adam_step", 0) == FOUND[name][0]
    assert step.raised.get("softmax_cross_entropy", 0) == FOUND[name][1]
    assert tuple(found.count(op) for op in (
        "adam_step", "softmax_cross_entropy", "softmax_cross_entropy_grad",
        "softmax")) == FOUND[name]


def adam_by_hand(b1=0.9, b2=0.999, bias1=0.9, bias2=0.999, eps_inside=0.0, decays="p",
                 sign=-1.0, counts_up=True, second_of="g"):
    def step(state, x, y):
        p, m, v, t = state
        loss, g = jax.value_and_grad(lambda w: mse(x @ w, y))(p)
        t = jnp.where(t < 2 ** 31 - 1, t + 1, 2 ** 31 - 1) if counts_up else t + 2
        other = g if second_of == "g" else g + 1e-3
        m, v = (1 - b1) * g + b1 * m, (1 - b2) * other ** 2 + b2 * v
        u = (m / (1 - bias1 ** t)) / (jnp.sqrt(v / (1 - bias2 ** t) + eps_inside) + 1e-8)
        u = u + 0.01 * {"p": p, "m": m}[decays]
        return (p + sign * 0.05 * u, m, v, t), loss
    make = Make("float64")
    w = make.floats(4, 3)
    state = w, jnp.zeros_like(w), jnp.zeros_like(w), jnp.zeros((), "int32")
    return step, (state, make.floats(8, 4), make.floats(8, 3)), 0


@pytest.mark.parametrize("options, is_found", [
    ({}, True), ({"b1": 0.8, "bias1": 0.8}, True), ({"bias1": 0.99}, False),
    ({"bias2": 0.9}, False), ({"eps_inside": 1e-3}, False), ({"decays": "m"}, False),
    ({"sign": 1.0}, True), ({"counts_up": False}, False), ({"second_of": "h"}, False)])
def test_updates_that_look_like_adam(options, is_found):
    with jax.enable_x64(True):
        function, (state, x, y), _ = adam_by_hand(**options)
        step = aicf.jax.compile_step(function, (state, x, y), 0, verify=False)
        assert ("adam_step" in ops_of(step)) == is_found
        for _ in range(6):
            state, expected = jax.jit(function)(state, x, y)
            assert float(step(x, y)) == pytest.approx(float(expected), rel=1e-11)
        for ours, theirs in zip(step.state(), state):
            assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-13)


def test_moments_that_are_returned_and_read_again():
    optimizer = optax.adam(1e-2)

    def step(params, state, x, y):
        loss, grads = jax.value_and_grad(lambda p: mse(mlp(p, x), y))(params)
        updates, state = optimizer.update(grads, state, params)
        norm = sum((m ** 2).sum() for m in jax.tree.leaves(state[0].mu))
        return optax.apply_updates(params, updates), state, {"loss": loss, "norm": norm}
    make = Make("float32")
    params = make.layers(8, 16, 3)
    aicf.jax.compile_step(step, (params, optimizer.init(params), make.floats(32, 8),
                                 make.floats(32, 3)), (0, 1))
