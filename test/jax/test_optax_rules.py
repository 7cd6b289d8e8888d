# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of aicf.optim that have optax's definition, beside optax."""

import jax
import numpy as np
import optax
import pytest

import aicf
from aicf import nn

RANDOM = np.random.default_rng(0)
WEIGHT, X, Y = (RANDOM.standard_normal(shape).astype("f4")
                for shape in ((5, 4), (6, 8, 4), (6, 8, 5)))


def optax_values(optimizer):
    values = {"weight": WEIGHT, "bias": np.zeros(5, "f4")}  # whose length is 0
    state = optimizer.init(values)
    gradients = jax.grad(lambda p, x, y: ((x @ p["weight"].T + p["bias"] - y) ** 2).mean())
    for x, y in zip(X, Y):
        updates, state = optimizer.update(gradients(values, x, y), state, values)
        values = optax.apply_updates(values, updates)
    return values


@pytest.mark.parametrize("ours, theirs", [
    (aicf.optim.Lamb(1e-2), optax.lamb(1e-2)),
    (aicf.optim.Lamb(1e-2, betas=(0.8, 0.99), eps=1e-3, weight_decay=0.1),
     optax.lamb(1e-2, b1=0.8, b2=0.99, eps=1e-3, weight_decay=0.1)),
    (aicf.optim.NovoGrad(1e-2), optax.novograd(1e-2)),
    (aicf.optim.NovoGrad(1e-2, betas=(0.8, 0.5), eps=1e-3, weight_decay=0.1),
     optax.novograd(1e-2, b1=0.8, b2=0.5, eps=1e-3, weight_decay=0.1))])
def test_updates_are_those_of_optax(ours, theirs):
    step = aicf.compile_step(nn.Linear(4, 5), lambda m, x, y: aicf.losses.mse_loss(m(x), y),
                             ours, {"x": (8, 4), "y": (8, 5)})
    step.load_state_dict({"weight": WEIGHT, "bias": np.zeros(5, "f4")})
    for x, y in zip(X, Y):
        step(x, y)
    for name, expected in optax_values(theirs).items():
        np.testing.assert_allclose(step.state_dict()[name], expected, rtol=1e-5, atol=1e-7)


def test_a_parameter_of_zeros_gets_adams_step():
    step = aicf.compile_step(nn.Linear(4, 5), lambda m, x, y: aicf.losses.mse_loss(m(x), y),
                             aicf.optim.Lamb(1e-2), {"x": (8, 4), "y": (8, 5)})
    step.load_state_dict({"weight": WEIGHT * 0, "bias": np.zeros(5, "f4")})
    step(X[0], Y[0])
    assert np.isfinite(step.state_dict()["weight"]).all()
    np.testing.assert_allclose(abs(step.state_dict()["bias"]), 1e-2, rtol=1e-3)
