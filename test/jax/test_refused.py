# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What cannot be imported: one error that names everything, with the user's lines."""

import contextlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import Make, mlp, mse

import aicf.jax
from aicf.errors import InvalidArgumentError, ModuleImportError, VerificationError

X = np.ones((4, 3), "f4")


def refused(function, *arguments, error=ModuleImportError, **options):
    with pytest.raises(error) as caught:
        aicf.jax.compile_step(function, arguments, **options)
    return str(caught.value)


def test_draws_of_another_generator():
    from jax.extend.random import define_prng_impl, threefry_prng_impl
    own = define_prng_impl(
        key_shape=(2,), name="own", tag="own", seed=threefry_prng_impl.seed,
        split=threefry_prng_impl.split, random_bits=threefry_prng_impl.random_bits,
        fold_in=threefry_prng_impl.fold_in)
    text = refused(lambda x, k: x * jax.random.uniform(k, x.shape), X,
                   jax.random.key(0, impl=own), error=InvalidArgumentError)
    assert "k is key<own>, which no tensor has" in text

    def seeded(x, n):
        return x * jax.random.uniform(jax.random.key(n, impl=own), x.shape)
    assert "draws with the generator own" in refused(seeded, X, np.int32(3))


def test_bits_of_another_algorithm():
    def function(key):
        return jax.lax.rng_bit_generator(key, (3,), algorithm=jax.lax.RandomAlgorithm.
                                         RNG_THREE_FRY)[1]
    assert "of the algorithm RNG_THREE_FRY" in refused(
        function, np.zeros(4, "u4"))


@pytest.mark.parametrize("key, shape, text", [
    (np.zeros(2, "u8"), (3,), "with a key of uint64[2]"),
    (np.zeros(4, "u4"), (0,), "draws nothing")], ids=["u64", "nothing"])
def test_bits_that_nobody_draws(key, shape, text):
    with (jax.enable_x64(True) if key.dtype == "u8" else contextlib.nullcontext()):
        assert text in refused(lambda k: jax.lax.rng_bit_generator(k, shape)[1], key)


def test_places_of_boxes():
    def write(x, at):
        return jax.vmap(lambda row, i: row.at[i].set(0.0))(x, at)
    assert "writes one box for each of a batch" in refused(write, X, np.zeros(4, "i4"))

    def fill(x, at):
        return x.at[at].get(mode="fill", fill_value=7.0)
    step = aicf.jax.compile_step(fill, (X, np.array([1, 9], "i4")))
    assert np.array_equal(step(X, np.array([1, 9], "i4")), fill(jnp.asarray(X), np.array([1, 9])))


def test_draws_of_a_constant_key_are_those_of_jax():
    step = aicf.jax.compile_step(
        lambda x: x * jax.random.uniform(jax.random.key(7), x.shape), (X,))
    assert np.array_equal(step(X), jax.random.uniform(jax.random.key(7), X.shape))


def test_all_are_listed_with_counts_and_lines():
    def function(x):
        x = jax.lax.lgamma(x)
        return jax.lax.digamma(x) + jax.lax.digamma(jax.lax.lgamma(x) / 2)
    text = refused(function, X)
    assert "the step has 2 kinds of operations" in text
    line = function.__code__.co_firstlineno + 1
    assert re.search(r"lgamma: nobody has told AICF what it is \(2 times, first at "
                     r"\S+test_refused.py:%d\)" % line, text), text
    assert "digamma: nobody has told AICF what it is (2 times" in text


def test_lengths_of_values():
    text = refused(lambda x: jax.lax.while_loop(lambda v: v.sum() < 99, lambda v: v * 2, x),
                   X)
    assert "while: how often it runs depends on values" in text


def train(params, x):
    loss, grads = jax.value_and_grad(lambda p: mse(mlp(p, x), 0.0))(params)
    return jax.tree.map(lambda a, b: a - 0.1 * b, params, grads), loss


def test_a_donated_tree_that_does_not_come_back():
    params = Make().layers(3, 4, 2)
    text = refused(lambda p, x: mse(mlp(p, x), 0.0), params, X, donate_argnums=0,
                   error=InvalidArgumentError)
    assert "the donated argument 'p' does not come back" in text


def test_a_donated_tree_of_another_type():
    params = Make().layers(3, 4, 2)

    def narrow(params, x):
        new, loss = train(params, x)
        return jax.tree.map(lambda p: p.astype(jnp.bfloat16), new), loss
    text = refused(narrow, params, X, donate_argnums=0, error=InvalidArgumentError)
    assert "params.0.0 is float32[3, 4], and comes back as bfloat16[3, 4]" in text

    def wide(params, x):
        return jax.tree.map(lambda p: jnp.stack([p, p]), params), x.sum()
    assert "comes back as float32[2, 3, 4]" in refused(
        wide, params, X, donate_argnums=0, error=InvalidArgumentError)


def test_trees_of_one_structure_in_a_dict():
    params = Make().layers(3, 4, 2)

    def both(params, slow, x):
        new, loss = train(params, x)
        return {"average": jax.tree.map(lambda a, b: (a + b) / 2, slow, new), "new": new,
                "loss": loss}
    text = refused(both, params, params, X, donate_argnums=(0, 1),
                   error=InvalidArgumentError)
    assert "say which is which with new_state" in text
    step = aicf.jax.compile_step(both, (params, params, X), (0, 1),
                                 new_state=lambda r: (r["new"], r["average"]))
    expected = both(params, params, X)
    assert np.allclose(step(X)["loss"], expected["loss"])
    new, average = step.state()
    assert np.allclose(new[0][0], expected["new"][0][0])
    assert np.allclose(average[0][0], expected["average"][0][0])


def test_trees_of_one_structure_in_another_order():
    params = Make().layers(3, 4, 2)

    def moved(params, average, x, is_first):
        new, loss = jax.jit(train)(params, x)
        average = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, average, new)
        return (average, new, loss) if is_first else (new, average, loss)

    def wrong(params, average, x):
        return moved(params, average, x, True)
    text = refused(wrong, params, params, X, donate_argnums=(0, 1),
                   error=InvalidArgumentError)
    assert "'params' and 'average' have one structure" in text
    assert "result.0 of the result would be the new 'params', but is computed from" in text \
        or "result.0.0 of the result" in text
    for function, new_state in ((wrong, lambda r: (r[1], r[0])),
                                (lambda p, a, x: moved(p, a, x, False), None)):
        step = aicf.jax.compile_step(function, (params, params, X), (0, 1),
                                     new_state=new_state)
        expected = moved(params, params, X, False)
        step(X)
        for own, other in zip(jax.tree.leaves(step.state()), jax.tree.leaves(expected[:2])):
            assert np.allclose(own, other, rtol=1e-5)


def test_moments_beside_parameters_keep_their_order():
    params = Make().layers(3, 4, 2)

    def adam(params, m, v, x):
        grads = jax.grad(lambda p: train(p, x)[1])(params)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
        v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g * g, v, grads)
        return jax.tree.map(lambda p, a, b: p - 0.1 * a / (b ** 0.5 + 1e-3), params, m, v), \
            m, v, x.sum()
    zeros = jax.tree.map(jnp.zeros_like, params)
    step = aicf.jax.compile_step(adam, (params, zeros, zeros, X), (0, 1, 2))
    step(X)
    expected = adam(params, zeros, zeros, X)[:3]
    for own, other in zip(jax.tree.leaves(step.state()), jax.tree.leaves(expected)):
        assert np.allclose(own, other, rtol=1e-4, atol=1e-6)


def test_shapes_and_types_say_which_part_is_a_leaf():
    step = aicf.jax.compile_step(lambda p, x: (p - x.sum(0), x.sum()), (jnp.zeros(3), X), 0)
    assert float(step(X)) == 12 and step.state().shape == (3,)
    step = aicf.jax.compile_step(lambda count, x: (x.sum(), count + 1), (np.int32(0), X), 0)
    assert float(step(X)) == 12 and int(step.state()) == 1


def test_several_parts_may_be_a_donated_leaf():
    def function(count, x):
        return x.sum(), count + 1
    text = refused(function, np.float32(0), X, donate_argnums=0, error=InvalidArgumentError)
    assert "result.0 and result.1 of the result have the structure" in text
    step = aicf.jax.compile_step(function, (np.float32(0), X), 0, new_state=lambda r: [r[1]])
    assert [float(step(X)) for _ in range(3)] == [12, 12, 12] and int(step.state()) == 3


@pytest.mark.parametrize("new_state, message", [
    (lambda r: [], "new_state gives 0 trees, and 1 arguments are donated"),
    (lambda r: [(r[0], r[1])], "another structure for 'count' than it has")])
def test_wrong_new_state(new_state, message):
    assert message in refused(lambda count, x: (x.sum(), count + 1), np.int32(0), X,
                              donate_argnums=0, new_state=new_state,
                              error=InvalidArgumentError)


@pytest.mark.parametrize("arguments, options, error, message", [
    ((X,), {"donate_argnums": 1}, InvalidArgumentError, "expected numbers of the 1 arg"),
    ((X,), {"donate_argnums": (0, 0)}, InvalidArgumentError, "donate_argnums is (0, 0)"),
    ((X,), {"precision": "bf16"}, ValueError, "precision is 'bf16'"),
    ((np.zeros((0, 3), "f4"),), {}, InvalidArgumentError, "has no elements"),
    ((np.zeros(3, "c8"),), {}, InvalidArgumentError, "x is complex64, which no tensor has")])
def test_wrong_arguments(arguments, options, error, message):
    assert message in refused(lambda x: x * 2, *arguments, error=error, **options)


def test_example_args_that_are_no_tuple():
    with pytest.raises(TypeError, match="expected a tuple of the function's arguments"):
        aicf.jax.compile_step(lambda x: x, X)


def test_nothing_to_return():
    assert "returns nothing but the donated trees" in refused(
        lambda x: x * 2, X, donate_argnums=0, error=InvalidArgumentError)


def test_what_is_written_in_boxes():
    text = refused(lambda x, i: x.at[i].set(0.0), np.zeros((99, 2), "f4"), np.zeros(65, "i4"))
    assert "scatter: writes 65 boxes" in text


def _with_row(monkeypatch, name, function):
    from aicf.jax import _table
    row = _table.whole_table()[name]
    monkeypatch.setitem(_table.TABLE, name, _table.Row(
        lambda call, x: function(row.function(call, x), x), ""))


def test_verification_excuses_what_roundings_become(monkeypatch):
    """What is 0 here, and 1e-7 for a neighbour of the argument, has no size of its own."""
    _with_row(monkeypatch, "abs", lambda y, x: y * (1 + 2.0 ** -22))
    x = np.full((2, 4), 0.5, "f4")
    aicf.jax.compile_step(lambda x: (jnp.abs(x) - 0.5, x.sum()), (x,), verify=True)


def test_verification_excuses_no_fault(monkeypatch):
    """A fault of 0.1 % beside floors that other roundings of the arguments move by much more."""
    _with_row(monkeypatch, "tanh", lambda y, x: y * 1.001)
    text = refused(lambda x: jnp.tanh(jnp.floor(x)), np.ones((2, 4), "f4"),
                   error=VerificationError)
    assert "differs by" in text


def test_verification_finds_a_wrong_row(monkeypatch):
    _with_row(monkeypatch, "tanh", lambda y, x: y * 1.001)
    text = refused(lambda x: jnp.tanh(x), X, error=VerificationError)
    assert "result differs by 0.00076" in text
    aicf.jax.compile_step(lambda x: jnp.tanh(x), (X,), verify=False)
