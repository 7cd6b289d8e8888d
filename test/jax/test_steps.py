# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Twenty steps of each case beside jax.jit: what they return, and the donated trees."""

import contextlib

import jax
import numpy as np
import pytest
from cases import CASES, Make

import aicf.jax

STEPS = 20
#: Distances after so many steps, in parts of the largest number. JAX computes Adam's
#: 1 - 0.999^t in f32, which is off by 6e-5 at first, and AICF in f64.
BOUNDS = {"float32": 2e-4, "float64": 1e-10}
#: optax computes the schedule in f32, and JAX fuses that.
SCHEDULES_IN_F32 = ("chain_with_clip_and_schedule", "injected_rate")


@contextlib.contextmanager
def types_of(dtype):
    with jax.enable_x64(True) if dtype == "float64" else contextlib.nullcontext():
        yield


def pick(arguments, donated, result, step):
    """The arguments of JAX's next step, and what a call of ours returns."""
    from aicf.jax._trees import tree_of
    leaves = dict(enumerate(jax.tree.leaves(result)))
    state = {name: leaves.pop(i) for i, name in step.imported.state_of.items()}
    arguments = list(arguments)
    for i in donated:
        tree = tree_of(step.imported.arguments[i].name, arguments[i])
        arguments[i] = jax.tree.unflatten(tree.structure, [state[n] for n in tree.names])
    return arguments, list(leaves.values())


def check_places(step, donated):
    """The leaves of a donated tree are neighbours in the result, and trees are in order:
    all cases return them so."""
    leaves = [name for _, name in sorted(step.imported.state_of.items())]
    assert leaves == [name for i in donated for name in step.imported.arguments[i].names]


def distance(ours, theirs):
    """Of the farthest element, in parts of the largest one."""
    worst = 0.0
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype
        if a.dtype.kind in "ib":
            assert (a == b).all()
        else:
            worst = max(worst, np.abs(a - b).max() / (np.abs(b).max() + 1e-3))
    return worst


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("name", CASES)
def test_twenty_steps(name, dtype):
    bound = 1e-7 if dtype == "float64" and name in SCHEDULES_IN_F32 else BOUNDS[dtype]
    with types_of(dtype):
        function, arguments, donated = CASES[name](Make(dtype))
        step = aicf.jax.compile_step(function, arguments, donated)
        donated = (donated,) if isinstance(donated, int) else donated
        check_places(step, donated)
        theirs, reference = list(arguments), jax.jit(function)
        given = [a for i, a in enumerate(arguments) if i not in donated]
        for _ in range(STEPS):
            theirs, expected = pick(theirs, donated, reference(*theirs), step)
            assert distance(step(*given), expected) < bound
        state = step.state()
        assert distance(state, theirs[0] if len(donated) == 1
                        else tuple(theirs[i] for i in donated)) < bound


def test_computes_in_bf16():
    import jax.numpy as jnp
    from cases import cross_entropy, mlp, with_optimizer
    import optax

    def loss(params, x, y):
        half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        return cross_entropy(mlp(half, x.astype(jnp.bfloat16)).astype(jnp.float32), y)
    make = Make()
    function, arguments, donated = with_optimizer(
        loss, optax.adam(1e-2), make.layers(8, 16, 5), make.floats(32, 8), make.ints(5, 32))
    step = aicf.jax.compile_step(function, arguments, donated)
    losses = [float(step(*arguments[2:])) for _ in range(STEPS)]
    params, state, expected = *arguments[:2], []
    for _ in range(STEPS):
        params, state, value = jax.jit(function)(params, state, *arguments[2:])
        expected.append(float(value))
    assert np.allclose(losses, expected, atol=0.02)
