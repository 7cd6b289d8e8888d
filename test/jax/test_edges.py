# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where an importer goes wrong in silence: ties, infinities, scalars, what only looks like a
cross-entropy, types that JAX converts."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from cases import Make, mlp, mse, with_optimizer

import aicf.jax
from aicf.errors import ModuleImportError, VerificationError

ce = optax.softmax_cross_entropy_with_integer_labels
X = np.random.default_rng(0).normal(size=(6, 5)).astype("f4")
Y = np.array([0, 4, 2, 1, 3, 3], "i4")


def same(function, *arguments, tolerance=2e-6):
    """As jax.jit has it: values, infinities, NaNs, shapes and types. Verification is out,
    since it is tested here, too."""
    step = aicf.jax.compile_step(function, arguments, verify=False)
    ours, theirs = step(*arguments), jax.jit(function)(*arguments)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert np.allclose(np.asarray(a, "f8"), np.asarray(b, "f8"), tolerance, tolerance,
                           equal_nan=True)


TIES = np.array([0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609, -0.5, 3.2], "f4")
EDGES = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-30, -3, 2], "f4")


@pytest.mark.parametrize("function", [
    jnp.round, lambda x: jax.lax.round(x, jax.lax.RoundingMethod.AWAY_FROM_ZERO),
    jnp.trunc, jnp.sign, jnp.floor], ids=["even", "away", "trunc", "sign", "floor"])
def test_rounding(function):
    same(function, TIES)


@pytest.mark.parametrize("function", [
    jax.nn.relu, jnp.isfinite, jnp.isnan, jnp.abs, lambda x: jnp.maximum(x, -jnp.inf),
    lambda x: jnp.minimum(x, jnp.inf), lambda x: jnp.clip(x, -1, 1), lambda x: x == jnp.nan,
    lambda x: x < jnp.inf, lambda x: jnp.where(x > 0, x, jnp.nan), jnp.nan_to_num,
    lambda x: jnp.where(jnp.isnan(x), 0, x).max()])
def test_infinities(function):
    same(function, EDGES)


@pytest.mark.parametrize("function", [
    jnp.sinh, jnp.cosh, jnp.arcsinh, jnp.arccosh, jnp.arctanh, jax.scipy.special.erf,
    jax.scipy.special.erfc], ids=lambda f: f.__name__)
def test_functions_without_a_kernel(function):
    """Of small numbers too, where a difference would have no digits left."""
    x = np.array([0, 1e-6, -1e-4, 3e-2, -0.4, 0.97, 1, 1.0000001, 1.02, 2, -3, 9, 89, -89,
                  1e19, 1e30, 3e38, -3e38, np.inf, -np.inf, np.nan], "f4")
    with np.errstate(all="ignore"):
        with jax.enable_x64(True):
            expected = function(x.astype("f8"))
        ours = aicf.jax.compile_step(function, (x,), verify=False)(x)
        assert np.allclose(ours, expected.astype("f4"), 3e-6, 0, equal_nan=True)
        x = x.astype("f2")
        same(function, x, tolerance=1e-3)


WHOLE = np.array([7, -7, 7, -7, 0, 1 << 27, -(1 << 27), 12345], "i4")
BY = np.array([3, 3, -3, -3, 5, 1, 7, -11], "i4")


@pytest.mark.parametrize("function", [
    jax.lax.div, jax.lax.rem, jnp.floor_divide, jnp.mod, lambda a, b: a // 4 + b % 4,
    lambda a, b: jnp.divmod(a, b)[0] * b + jnp.divmod(a, b)[1],
    lambda a, b: jax.lax.div(a, b - b), lambda a, b: jax.lax.rem(a, b - 3),
    lambda a, b: jax.lax.rem(a.at[0].set(jnp.iinfo(a.dtype).min), b.at[0].set(-1)),
    lambda a, b: jax.lax.div(a.at[0].set(jnp.iinfo(a.dtype).min), b.at[0].set(-1)),
    lambda a, b: a.at[0].set(jnp.iinfo(a.dtype).min) // -1 + b])
def test_integers_are_divided(function):
    same(function, WHOLE, BY)
    with jax.enable_x64(True):
        same(function, WHOLE.astype("i8"), BY.astype("i8"))


def test_remainders_of_floats():
    a = np.array([7.5, -7.5, 1e-3, -0.0, 3, np.inf, np.nan, 2], "f4")
    b = np.array([2, 2, 0.3, 1, -0.7, 2, 1, np.inf], "f4")
    for function in (jnp.fmod, jnp.mod, jax.lax.rem, lambda a, b: jnp.mod(a, 0.1) + b,
                     lambda a, b: 1 / jax.lax.rem(a, b), lambda a, b: jax.lax.rem(a, b * 0)):
        same(function, a, b)
    same(jax.lax.rem, np.float32([np.inf, -3, 0]), np.float32([-np.inf, np.inf, -np.inf]))


@pytest.mark.parametrize("function", [
    lambda x: jnp.ones((6, 5)) * x[:, :1], lambda x: jnp.full((6, 5), 2.0) + x[:1],
    lambda x: jnp.maximum(jnp.zeros((6, 5)), x[:, :1]), lambda x: jnp.zeros((6, 5)) < x[:1],
    lambda x: jnp.ones((6, 5)) / x[:, :1], lambda x: jnp.full((6, 5), 2.0) ** x[:1],
    lambda x: x[:1] ** jnp.full((6, 5), 2.0), lambda x: jnp.full((6, 5), -jnp.inf) < x[:1],
    jax.grad(lambda x: jax.nn.softmax(x).sum())])
def test_a_constant_beside_what_repeats(function):
    same(function, X)


@pytest.mark.parametrize("function", [
    lambda x: {"loss": x.sum(), "rate": 0.1}, lambda x: x.sum() * jnp.inf,
    lambda x: jnp.where(x.sum() > 99, x.sum(), jnp.nan), jnp.nanmax,
    lambda x: jnp.minimum(x.sum(), jnp.inf)])
def test_scalars_stay_scalars(function):
    same(function, X)


def test_a_scalar_that_is_set_anew():
    def function(state, x):
        return {"w": state["w"] + x.sum(), "count": jnp.zeros(())}, x.sum()
    state = {"w": jnp.ones(()), "count": jnp.ones(())}
    step = aicf.jax.compile_step(function, (state, X), 0)
    step(X)
    assert float(step.state()["count"]) == 0


@pytest.mark.parametrize("optimizer", [optax.sgd(0.1), optax.sign_sgd(0.1)])
def test_states_without_leaves_are_not_returned(optimizer):
    make = Make()
    function, arguments, donated = with_optimizer(
        lambda p, x, y: mse(mlp(p, x), y), optimizer, make.layers(5, 8, 2), make.floats(4, 5),
        make.floats(4, 2))
    for new_state in (None, lambda result: (result[0], result[1])):
        step = aicf.jax.compile_step(function, arguments, donated, new_state=new_state)
        assert isinstance(float(step(*arguments[2:])), float)
        assert len(step.state()) == 2


def picked(x, y, **options):
    return jnp.take_along_axis(x, y[:, None], -1, **options)


#: Losses that are cross-entropies, and losses that only look like them.
LOSSES = {
    "mean": lambda x, y: ce(x, y).mean(), "sum": lambda x, y: ce(x, y).sum(),
    "twice": lambda x, y: 2 * ce(x, y).mean(),
    "weights": lambda x, y: (ce(x, y) * jnp.arange(6.0)).mean(),
    "masked": lambda x, y: (ce(x, y) * (y > 1)).sum() / (y > 1).sum(),
    "half": lambda x, y: ce(x, y)[:3].mean(), "squares": lambda x, y: (ce(x, y) ** 2).mean(),
    "repeated": lambda x, y: jnp.broadcast_to(ce(x, y)[:, None], x.shape).sum() / 6,
    "spread": lambda x, y: (jax.nn.logsumexp(x, -1, keepdims=True) - jnp.broadcast_to(
        picked(x, y), x.shape)).sum() / 6,
    "clipped": lambda x, y: -picked(jax.nn.log_softmax(x), y + 3, mode="clip").mean(),
    "smoothed": lambda x, y: optax.softmax_cross_entropy(
        x, 0.9 * jax.nn.one_hot(y, 5) + 0.02).mean(),
    "two": lambda x, y: ce(x, y).mean() + 0.1 * jax.nn.logsumexp(x, -1).mean(),
    "shared": lambda x, y: ce(x, y).mean() + ce(x, 4 - y).mean(),
    "of_abs": lambda x, y: (jnp.log(jnp.exp(x - 9 - jnp.abs(x - 9).min() * 0 - jnp.abs(
        (x - 9).max(-1))[:, None]).sum(-1)) + (x - 9).max(-1) - picked(x - 9, y)[:, 0]).mean(),
    "columns": lambda x, y: -jax.nn.log_softmax(x, 0)[jnp.arange(5), y[:5]].mean(),
    "entropy": lambda x, y: -(jax.nn.softmax(x) * jax.nn.log_softmax(x)).sum(-1).mean(),
    "stopped": lambda x, y: (jax.nn.logsumexp(x, -1) - jax.lax.stop_gradient(
        picked(x, y)[:, 0])).mean(),
    "weighted rows": lambda x, y: (jnp.exp(x - x.max(-1, keepdims=True)) * (
        x / jnp.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))).sum()}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    same(jax.value_and_grad(LOSSES[name]), X, Y)
    same(lambda x, y: jax.vmap(lambda v: LOSSES[name](x * v, y))(jnp.arange(1.0, 3)), X, Y,
         tolerance=5e-6)


def test_an_index_outside_beside_another():
    def get(x, i):
        return x.at[i, 7].get(mode="fill", fill_value=jnp.nan)
    same(get, X, np.array([0, 1], "i4"))
    same(lambda x, i: x.at[i, 7].add(1.0), X, np.array([0, 1], "i4"))


def test_types_that_jit_takes():
    same(lambda x, s: x * s, jnp.ones(3, "bfloat16"), 2.0)
    same(lambda x, y: ce(x, y).mean(), np.asarray(X, "f8"), np.asarray(Y, "i8"))
    same(lambda x: x.sum(0), X.T)

    def function(state, x):
        return (state[0] + 1, state[1] + x.sum()), x.sum()
    for first in ((0, 1.0), (np.int64(0), np.float64(1))):
        step = aicf.jax.compile_step(function, (first, X), 0,
                                     new_state=lambda result: [result[0]])
        step(X)
        assert int(step.state()[0]) == 1


def test_verification_sees_what_is_no_number(monkeypatch):
    from aicf.jax import _table

    def with_row(name, function):
        row = _table.TABLE[name]
        monkeypatch.setitem(_table.TABLE, name, _table.Row(
            lambda call, x: function(row.function, call, x), ""))
    with_row("log", lambda row, call, x: row(call, abs(call.tensor(x))))
    with_row("sqrt", lambda row, call, x: -row(call, x))
    for function, example in ((jnp.log, [-1.0, 2]), (lambda x: 1 / jnp.sqrt(x), [0.0, 0])):
        with pytest.raises(VerificationError, match="where JAX has|differs"):
            aicf.jax.compile_step(function, (np.array(example, "f4"),))


@pytest.mark.parametrize("function, text", [
    (lambda x: jax.lax.digamma(x), "digamma"), (lambda x: jax.lax.lgamma(x), "lgamma"),
    (lambda x: jax.lax.scan(lambda c, i: (c * 2, c), x, jnp.zeros((0, 2))),
     "a scan of no steps")])
def test_what_is_refused_is_listed(function, text):
    with pytest.raises(ModuleImportError, match=text):
        aicf.jax.compile_step(function, (X,))


def test_remainders_of_large_quotients():
    random = np.random.default_rng(0)
    a = (10 ** random.uniform(-3, 15, 4000) * random.choice([-1, 1], 4000)).astype("f4")
    b = np.abs(a / 10 ** random.uniform(-3, 15, 4000)).astype("f4")
    step = aicf.jax.compile_step(jax.lax.rem, (a, b), verify=False)
    assert np.array_equal(step(a, b), np.fmod(a, b))
    large = np.full_like(a, 1e30)
    assert np.array_equal(step(large, b), np.fmod(large, b))


def test_constants_of_complex_numbers():
    with jax.enable_x64(True):
        same(lambda x: x * jnp.real(jnp.exp(2j * jnp.pi * jnp.arange(5) / 5)), X.astype("f8"))
        same(lambda x: x * jnp.real(jnp.full(5, 2j) * 1j), X.astype("f8"))


def test_remainders_of_f64():
    with jax.enable_x64(True):
        step = aicf.jax.compile_step(lambda x: jnp.fmod(x, 0.1), (X.astype("f8"),))
        assert np.array_equal(step(X.astype("f8") * 1e20), np.fmod(X.astype("f8") * 1e20, 0.1))


def of_windows(x, i):
    """A dimension of one element that is of the index, and stays."""
    dims = jax.lax.GatherDimensionNumbers((1, 2), (), (0,))
    return jax.lax.gather(x, i[:, None], dims, (1, 2), mode="fill", fill_value=7)


def padded(data, ids):
    return (jax.ops.segment_sum(data, ids, num_segments=3) ** 2).sum()


@pytest.mark.parametrize("function", [
    jax.value_and_grad(padded),
    jax.value_and_grad(lambda x, i: jnp.zeros(3).at[i].add(x[:, 0]).sum()),
    lambda x, i: x.at[i].get(mode="fill", fill_value=0),
    lambda x, i: jnp.take(x, i, axis=0, mode="fill", fill_value=-1.0),
    of_windows, lambda x, i: x[i], lambda x, i: x[i + 1], lambda x, i: x.reshape(4, 2, 1)[i, i],
    lambda x, i: x[7] + 0 * i[:2]])
def test_an_index_outside_is_what_jax_makes_of_it(function):
    """Compiled on indices inside: padding of a graph is outside, and is dropped."""
    data = np.arange(8, dtype="f4").reshape(4, 2) + 1
    step = aicf.jax.compile_step(function, (data, np.array([0, 0, 1, 2], "i4")), verify=False)
    outside = np.array([0, 0, 1, 9], "i4")
    jax.tree_util.tree_map(np.testing.assert_array_equal, step(data, outside),
                           jax.jit(function)(data, outside))


def test_names_and_numbers_of_arguments():
    step = aicf.jax.compile_step(lambda arg1, *rest: arg1 + rest[0], (X, X))
    assert np.allclose(step(X, X), 2 * X)
    step = aicf.jax.compile_step(lambda self, x: (self + 1, x.sum()), (X, X), np.int64(-2),
                                 new_state=lambda result: [result[0]])
    assert float(step(X)) == pytest.approx(X.sum(), rel=1e-5)


def test_a_step_of_x64_outside_of_it():
    with jax.enable_x64(True):
        step = aicf.jax.compile_step(lambda p, x: (p + x.mean(), x.sum()),
                                     (jnp.zeros(()), jnp.ones((4, 2))), 0,
                                     new_state=lambda result: [result[0]])
    assert float(step(np.ones((3, 2)))) == 6
