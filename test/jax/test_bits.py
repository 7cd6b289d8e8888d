# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws of jax.random, types that no tensor has, orders, running results and branches:
beside JAX. Draws have its bits."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import aicf.jax
from aicf.errors import DTypeMismatchError, ModuleImportError

KEY = jax.random.key(3)
X = jnp.asarray(np.random.default_rng(0).normal(size=(4, 6)), "float32")
U = jnp.asarray([0, 1, 5, 2 ** 31, 2 ** 32 - 1, 2 ** 31 + 7], "uint32")
BYTES = jnp.asarray(np.arange(24).reshape(4, 6) * 10, "uint8")
SIGNED = jnp.asarray(np.arange(-12, 12) * 10, "int8")
SHORT = jnp.asarray([0, 1, 40000, 65535], "uint16")
TIES = jnp.asarray([[1.0, 3.0, 1.0, np.nan, -np.inf], [0.0, -0.0, 2.0, np.inf, 2.0]])
random = jax.random

#: Of a key, to the bit.
DRAWS = {
    "bits": lambda k: random.bits(k, (5, 3)), "uniform": lambda k: random.uniform(k, (5, 3)),
    "uniform of bf16": lambda k: random.uniform(k, (9,), jnp.bfloat16),
    "split": lambda k: random.split(k), "of many keys": lambda k: jax.vmap(
        lambda q: random.uniform(q, (2,)))(random.split(k, 4)),
    "each of some": lambda k: [random.uniform(q, (2,)) for q in random.split(k, 3)],
    "fold_in": lambda k: random.uniform(random.fold_in(k, 7), (3,)),
    "fold_in of many": lambda k: random.key_data(jax.vmap(
        lambda i: random.fold_in(k, i))(jnp.arange(3))),
    "each of many keys": lambda k: random.key_data(jax.vmap(random.fold_in)(
        random.split(k, 3), jnp.arange(3))),
    "words": lambda k: random.key_data(k), "bernoulli": lambda k: random.bernoulli(k, 0.3, (20,)),
    "randint": lambda k: random.randint(k, (20,), -3, 17),
    "permutation": lambda k: random.permutation(k, 9), "shuffled": lambda k: random.permutation(
        k, X, axis=1), "choice": lambda k: random.choice(k, X.reshape(-1), (3,), replace=False),
    "categorical": lambda k: random.categorical(k, X),
    "a key of a cond": lambda k: random.uniform(jax.lax.cond(
        random.uniform(k) < 0.5, lambda q: random.fold_in(q, 1), lambda q: q, k), (2,)),
    "scanned": lambda k: jax.lax.scan(lambda c, q: (c + random.uniform(q), None), 0.0,
                                      random.split(k, 3))[0],
}
#: Of functions that round.
ROUNDED = {
    "uniform in bounds": lambda k: random.uniform(k, (9,), minval=-2.0, maxval=3.0),
    "normal": lambda k: random.normal(k, (500,)), "normal of f16": lambda k: random.normal(
        k, (9,), jnp.float16), "gumbel": lambda k: random.gumbel(k, (9,)),
    "exponential": lambda k: random.exponential(k, (9,)),
    "truncated": lambda k: random.truncated_normal(k, -1, 1, (9,)),
    "laplace": lambda k: random.laplace(k, (9,)),
}


def leaves(tree):
    return [np.asarray(jax.random.key_data(v) if jax.dtypes.issubdtype(
        v.dtype, jax.dtypes.prng_key) else v) for v in jax.tree.leaves(tree)]


def compare(function, *arguments, rtol=0.0):
    step = aicf.jax.compile_step(function, arguments)
    ours, theirs = step(*arguments), jax.jit(function)(*arguments)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for own, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        assert own.dtype == other.dtype and own.shape == other.shape
    for own, other in zip(leaves(ours), leaves(theirs)):
        np.testing.assert_allclose(own.astype("f8"), other.astype("f8"), rtol=rtol,
                                   atol=rtol)


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_draws_have_the_bits_of_jax(name):
    compare(DRAWS[name], KEY)


@pytest.mark.parametrize("name", sorted(ROUNDED))
def test_draws_that_are_rounded(name):
    compare(ROUNDED[name], KEY, rtol=1e-2 if "f16" in name else 2e-6)


@pytest.mark.parametrize("impl", ["rbg", "unsafe_rbg"])
@pytest.mark.parametrize("name", sorted(DRAWS))
def test_other_generators(impl, name):
    compare(DRAWS[name], random.key(5, impl=impl))


@pytest.mark.parametrize("dtype", ["uint32", "uint16", "uint8"])
def test_bits_of_xla(dtype):
    """Also where the count of 64 bits ends, and what is drawn goes on behind it."""
    def function(key):
        return jax.lax.rng_bit_generator(key, (3, 7), np.dtype(dtype))
    step = aicf.jax.compile_step(function, (np.zeros(4, "u4"),))
    for key in ([1, 2, 3, 4], [1, 2, -1, -1], [7, -1, -2, -1]):
        key = np.array(key).astype("u4")
        for ours, theirs in zip(step(key), function(key), strict=True):
            assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)


def test_keys_of_both_kinds():
    compare(lambda k: random.uniform(k, (3,)), random.PRNGKey(1))
    compare(lambda k, n: random.uniform(random.fold_in(k, n), (3,)), KEY, jnp.int32(4))
    compare(lambda n: random.uniform(random.key(n), (3,)), jnp.int32(4))
    compare(lambda x: x[0, :3] + random.uniform(KEY, (3,)), X)
    step = aicf.jax.compile_step(lambda k: random.uniform(k, (3,)), (KEY,))
    other = random.key(99)
    assert np.array_equal(step(other), random.uniform(other, (3,)))


def test_a_donated_key_goes_on():
    def function(key, x):
        key, own = random.split(key)
        return key, x * random.bernoulli(own, 0.5, x.shape)
    step = aicf.jax.compile_step(function, (KEY, X), 0, new_state=lambda r: (r[0],))
    key = KEY
    for _ in range(3):
        key, expected = jax.jit(function)(key, X)
        assert np.array_equal(step(X), expected)
    assert step.state().dtype == KEY.dtype
    assert np.array_equal(random.key_data(step.state()), random.key_data(key))
    step.set_state(KEY)
    assert np.array_equal(step(X), jax.jit(function)(KEY, X)[1])
    with pytest.raises(DTypeMismatchError):
        step.set_state(jnp.zeros((2,)))


def test_unsigned_integers():
    compare(lambda u: (u + 7, u - 7, u * u, ~u, u >> 3, u << 4, u ^ 5, u & 12, u | 9, u == 5,
                       u.astype("int32"), -u), U)
    compare(lambda u: (u // 3, u % 7, u < 5, u >= U[3], jnp.maximum(u, 6), u.max(), u.min(),
                       jnp.sort(u), u.astype("float32"), u.sum(), jnp.clip(u, 1, 9),
                       u.argmax(), u[::-1], jnp.where(u > 5, u, 1)), U)
    compare(lambda x: (x * 1e9).astype("uint32"), jnp.abs(X))
    compare(lambda b: (b + b, b * 3, b // 7, b > 100, b.astype("float32") / 256, ~b, b << 2,
                       b.astype("int32") - 300, b.max(), b.astype("uint32") + 1), BYTES)
    compare(lambda s: (s * s, s - 100, s > 3, jnp.abs(s), s >> 1, s.astype("float32")), SIGNED)
    compare(lambda s: (s + s, s * s, s >> 4, s.astype("int32"), s // 9), SHORT)


def test_a_donated_count_of_another_type():
    def function(count, x):
        return count + 1, x * count.astype("float32")
    step = aicf.jax.compile_step(function, (jnp.uint32(2 ** 31), X), 0,
                                 new_state=lambda r: (r[0],))
    step(X)
    assert step.state().dtype == jnp.uint32 and int(step.state()) == 2 ** 31 + 1


#: name: (function, its arguments)
CASES = {
    "sort": (jnp.sort, X), "sort of ties": (jnp.sort, TIES),
    "argsort": (lambda x: jnp.argsort(x, axis=0), X),
    "argsort of ties": (lambda x: jnp.argsort(x, stable=True), TIES),
    "its gradient": (jax.grad(lambda x: (jnp.sort(x) * jnp.arange(6.0)).sum()), X),
    "two keys": (lambda x: jax.lax.sort((jnp.round(x), x), num_keys=2), X),
    "cumprod": (lambda x: jnp.cumprod(x, 1), X), "cummax": (lambda x: jax.lax.cummax(x, 1), X),
    "cummin backwards": (lambda x: jax.lax.cummin(x, 0, reverse=True), X),
    "cumlogsumexp": (lambda x: jax.lax.cumlogsumexp(x, 1), X),
    "cumsum backwards": (lambda x: jax.lax.cumsum(x, 0, reverse=True), X),
    "prod": (lambda x: x.prod(0), X), "gradient of prod": (jax.grad(
        lambda x: x.prod(0).sum()), X.at[1].set(0.0)), "median": (lambda x: jnp.median(x, 1), X),
    "percentile": (lambda x: jnp.percentile(x, 30, axis=1), X),
    "cond": (lambda x: jax.lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, x), X),
    "its gradient too": (jax.grad(lambda x: jax.lax.cond(
        x.sum() > 0, jnp.sin, lambda y: -y, x).sum()), X),
    "switch": (lambda x: jax.lax.switch((x[0, 0] * 9).astype("int32"), [
        lambda y: y, lambda y: y * 2, lambda y: y * 3], x), X),
    "fori_loop": (lambda x: jax.lax.fori_loop(0, 5, lambda i, y: y * 1.1 + i, x), X),
    "while": (lambda x: jax.lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * 2),
                                           (0, x)), X),
    "integers looked up": (lambda x: jnp.arange(10)[x.astype("int32")], X),
    "flags looked up": (lambda x: (jnp.arange(10) > 4)[x.astype("int32")], X),
    "the least number": (lambda x: jnp.argmin(jnp.asarray([-2 ** 31 + 1, -2 ** 31, 5])
                                              + x[0, 0].astype("int32") * 0), X),
    "counted": (lambda x: jnp.bincount(jnp.abs(x).astype("int32").reshape(-1), length=4), X),
    "searchsorted": (lambda x: jnp.searchsorted(jnp.array([-1.0, 0.0, 1.0]), x), X),
    "digitize": (lambda x: jnp.digitize(x, jnp.array([-1.0, 0.0, 1.0])), X),
    "arctan2": (lambda x: jnp.arctan2(x, x[::-1]), X),
    "arcsin": (lambda x: jnp.arcsin(jnp.tanh(x)), X),
    "arctan's gradient": (jax.grad(lambda x: jnp.arctan(x).sum()), X),
    "erfinv": (lambda x: jax.scipy.special.erfinv(jnp.tanh(x)), X),
    "flip of many": (lambda x: jnp.flip(jnp.tile(x, (1, 20)), 1), X),
    "bits of integers": (lambda x: (x.astype("int32") ^ 5, ~x.astype("int32"),
                                    x.astype("int32") >> 1, x.astype("int32") << 3), X * 50),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name):
    compare(*CASES[name], rtol=3e-6)


def test_a_loop_whose_end_depends_on_values():
    def halved(x):
        return jax.lax.while_loop(lambda s: jnp.abs(s[1]).max() > 0.1,
                                  lambda s: (s[0] + 1, s[1] * 0.5), (0, x))
    step = aicf.jax.compile_step(halved, (X,), max_while=9)
    for factor in (0.0, 0.1, 1.0, 10.0):
        count, value = jax.jit(halved)(X * factor)
        ours = step(X * factor)
        assert int(ours[0]) == int(count) and np.array_equal(ours[1], value)
    assert np.isnan(step(X * 1e6)[1]).all()
    with pytest.raises(ModuleImportError, match="max_while is the most that it may"):
        aicf.jax.compile_step(halved, (X,))
    with pytest.raises(ModuleImportError, match="no float that could say that it would go on"):
        aicf.jax.compile_step(lambda n: jax.lax.while_loop(
            lambda k: k > 1, lambda k: k // 2, n), (jnp.int32(9),), max_while=2)


def test_bits_that_are_no_fraction():
    with pytest.raises(ModuleImportError, match="reads the bits of f32 as i32"):
        aicf.jax.compile_step(lambda x: jax.lax.bitcast_convert_type(x, jnp.int32), (X,))


class WithDropout(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(6, 8, rngs=rngs)
        self.dropout, self.norm = nnx.Dropout(0.3, rngs=rngs), nnx.BatchNorm(8, rngs=rngs)
        self.last = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        return self.last(self.dropout(nnx.relu(self.norm(self.first(x)))))


def test_nnx_with_its_optimizer_and_dropout():
    model = WithDropout(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
    graph, state = nnx.split((model, optimizer))

    def step(state, x, y):
        model, optimizer = nnx.merge(graph, state)

        def loss_of(model):
            return ((model(x) - y) ** 2).mean()
        loss, gradients = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, gradients)
        return nnx.state((model, optimizer)), loss
    y = jnp.ones((4, 2))
    ours = aicf.jax.compile_step(step, (state, X, y), 0, new_state=lambda r: (r[0],))
    theirs = jax.jit(step)
    for _ in range(4):
        state, expected = theirs(state, X, y)
        assert float(ours(X, y)) == pytest.approx(float(expected), rel=1e-5)
    for own, other in zip(leaves(ours.state()), leaves(state)):
        np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-6)


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.BatchNorm(use_running_average=False)(nn.Dense(8)(x))
        return nn.Dense(2)(nn.Dropout(0.5, deterministic=False)(nn.relu(x)))


def test_linen_with_batch_norm_and_dropout():
    module = Linen()
    variables = module.init({"params": random.key(0), "dropout": random.key(1)}, X)
    transform = optax.sgd(1e-2, momentum=0.9)

    def step(weights, statistics, state, key, x, y):
        key, own = random.split(key)

        def loss_of(weights):
            out, new = module.apply({"params": weights, "batch_stats": statistics}, x,
                                    mutable=["batch_stats"], rngs={"dropout": own})
            return ((out - y) ** 2).mean(), new["batch_stats"]
        (loss, statistics), gradients = jax.value_and_grad(loss_of, has_aux=True)(weights)
        updates, state = transform.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), statistics, state, key, loss
    trees = [variables["params"], variables["batch_stats"],
             transform.init(variables["params"]), random.key(5)]
    y = jnp.ones((4, 2))
    ours = aicf.jax.compile_step(step, (*trees, X, y), (0, 1, 2, 3), new_state=lambda r: r[:4])
    theirs = jax.jit(step)
    for _ in range(4):
        *trees, expected = theirs(*trees, X, y)
        assert float(ours(X, y)) == pytest.approx(float(expected), rel=1e-5)
