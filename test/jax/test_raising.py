# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ops with kernels are found in primitives, and updates that only look like Adam's."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from cases import CASES, Make, mlp, mse, with_optimizer
from jax._src.ad_util import add_any_p

import aicf.jax
from aicf.jax._formulas import Matcher


def ops_of(step):
    return re.findall(r"=\s+(\w+)\(", step.program.plan.dump())


#: By case: how many adam_step, softmax_cross_entropy and its gradient, softmax (those of a
#: transformer are parts of aicf.attention).
FOUND = {"adamw": (4, 1, 1, 0), "moving_average": (4, 1, 1, 0), "vmapped_loss": (4, 1, 1, 0),
         "pairs": (4, 1, 1, 0), "chain_with_clip_and_schedule": (4, 1, 1, 0),
         "transformer": (19, 1, 1, 0), "tied_weights": (1, 1, 1, 0), "lion": (0, 1, 1, 0),
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
    assert found.count("attention_bwd") == 2 * (name == "transformer")


@pytest.mark.parametrize("name, op, count", [
    ("lion", "lion_step", 4), ("chain_with_clip_and_schedule", "global_norm", 1),
    ("chain_with_clip_and_schedule", "gelu", 1), ("transformer", "gelu", 2),
    ("chain_with_clip_and_schedule", "gelu_bwd", 1), ("transformer", "gelu_bwd", 2)])
def test_what_else_is_found(name, op, count):
    step = aicf.jax.compile_step(*CASES[name](Make()), verify=False)
    assert step.raised[op] == count
    # The plan may hold it in the body of a fused call, or as a product's epilogue.
    assert len(re.findall(r"\b%s\(" % op, step.program.plan.dump())) >= count
    text = "found aicf.%s in primitives of JAX" % op
    found = [r for r in step.program.lowered.report() if r.message == text]
    assert len(found) == count and all(r.lineno for r in found)


def gelu(x, k=0.044715, c=2 / np.pi, outer=0.5, shift=1.0):
    return outer * x * (shift + jnp.tanh(jnp.sqrt(c) * (x + k * x ** 3)))


def exact_gelu(x, root=np.sqrt(0.5), power=2.0):
    return x * (1 + jax.scipy.special.erf(x * root)) / power


@pytest.mark.parametrize("function, found", [
    (jax.nn.gelu, "gelu gelu_bwd"), (gelu, "gelu gelu_bwd"),
    (lambda x: jax.nn.gelu(x, approximate=False), "gelu gelu_bwd"), (exact_gelu, "gelu gelu_bwd"),
    (lambda x: gelu(x, k=0.0447), ""), (lambda x: gelu(x, c=0.6366), ""),
    (lambda x: gelu(x, outer=0.51), ""), (lambda x: gelu(x, shift=1.01), ""),
    (lambda x: exact_gelu(x, root=0.7071068), ""), (lambda x: gelu(x, k=0.04471500001), ""),
    (lambda x: exact_gelu(x, root=0.7), ""), (lambda x: exact_gelu(x, power=2.1), ""),
    (lambda x: x * (1 + jnp.tanh(jnp.sqrt(2 / jnp.pi) * (x + 0.044715 * x ** 2 * x[:1]))) / 2,
     "")])
def test_functions_that_look_like_gelu(function, found):
    def step(x, dy):
        y, back = jax.vjp(function, x)
        return y, back(dy)[0], back(jnp.cos(dy))[0]
    with jax.enable_x64(True):
        x = np.linspace(-4, 4, 30).reshape(3, 10)
        ours = aicf.jax.compile_step(step, (x, x * x))
        names = {name for name in ours.raised if name.startswith("gelu")}
        assert names == set(found.split())
        if "gelu_bwd" in names:
            assert ours.raised["gelu_bwd"] == 2
        for a, b in zip(ours(x, x * x), jax.jit(step)(x, x * x)):
            assert np.allclose(a, b, rtol=1e-12, atol=1e-13)


def test_a_gradient_beside_others_of_the_same_tensor():
    def function(x):
        return (jax.nn.gelu(x) * jnp.sin(x) + x ** 2 + jax.nn.gelu(2 * x) * x).sum()
    with jax.enable_x64(True):
        x = np.linspace(-4, 4, 30)
        ours = aicf.jax.compile_step(jax.value_and_grad(function), (x,))
        assert ours.raised == {"gelu": 2, "gelu_bwd": 2}
        for a, b in zip(ours(x), jax.value_and_grad(function)(x)):
            assert np.allclose(a, b, rtol=1e-12, atol=1e-13)


def regression(optimizer):
    make = Make("float32")
    return with_optimizer(lambda p, x, y: mse(mlp(p, x), y), optimizer,
                          make.layers(8, 16, 3), make.floats(32, 8), make.floats(32, 3))


def clip(bound=0.01, over=0.01, of=lambda g: g, power=2):
    """Clipping as optax has it, and what is not quite it."""
    def update(grads, state, params=None):
        norm = jnp.sqrt(sum((g ** power).sum() for g in jax.tree.leaves(grads)))
        return jax.tree.map(lambda g: jnp.where(norm < bound, of(g), g / norm * over),
                            grads), state
    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


@pytest.mark.parametrize("transformation, norms, factors", [
    (optax.clip_by_global_norm(0.01), 1, True), (clip(), 1, True),
    (clip(over=0.02), 1, False), (clip(of=lambda g: 2 * g), 1, False),
    (clip(power=4), 0, False)])
def test_gradients_that_look_clipped(transformation, norms, factors):
    """Those that are, are so within adam_step."""
    ours = aicf.jax.compile_step(*regression(optax.chain(transformation, optax.adam(1e-2))))
    assert ours.raised.get("global_norm", 0) == norms and ours.raised["adam_step"] == 4
    steps = re.findall(r"adam_step\(([^)]*)\)", ours.program.plan.dump())
    assert [s.split(",")[6].strip() != "-" for s in steps] == [factors] * 4


def softmax(x, axis=-1, more=0.0, of=lambda e: e):
    power = jnp.exp(x - jax.lax.stop_gradient(x.max(axis, keepdims=True)))
    total = power.sum(axis, keepdims=True)
    return of(power) / (total + more if more else total)


@jax.custom_jvp
def softmax_by_rule(x):
    return jax.nn.softmax(x)


@softmax_by_rule.defjvp
def _softmax_rule(primals, tangents):
    y, (dx,) = jax.nn.softmax(*primals), tangents
    return y, y * (dx - (y * dx).sum(-1, keepdims=True))


@jax.custom_vjp
def softmax_of_two_gradients(x):
    return jax.nn.softmax(x)


def _softmax_back(y, dy):
    other = jnp.sin(dy)
    return add_any_p.bind(y * dy, y * jnp.broadcast_to(
        -(y * other).sum(-1, keepdims=True), y.shape)),


softmax_of_two_gradients.defvjp(lambda x: (jax.nn.softmax(x),) * 2, _softmax_back)


@pytest.mark.parametrize("function, found", [
    (jax.nn.softmax, True), (softmax, True), (softmax_by_rule, True),
    (lambda x: jax.nn.softmax(x.reshape(3, 2, 5)).reshape(3, 10), True),
    (softmax_of_two_gradients, False), (lambda x: softmax(x, axis=0), False), (lambda x: softmax(x, more=1e-3), False),
    (lambda x: softmax(x, of=lambda e: e * e), False),
    (lambda x: softmax(x, of=lambda e: e[:, ::-1]), False)])
def test_gradients_that_look_like_softmaxs(function, found):
    def step(x, dy):
        y, back = jax.vjp(function, x)
        return y, back(dy)[0], back(jnp.cos(y) * dy)[0]
    with jax.enable_x64(True):
        x = np.random.default_rng(0).normal(size=(3, 10)) * 3
        ours = aicf.jax.compile_step(step, (x, x * x))
        assert ours.raised.get("softmax_bwd", 0) == (2 if found else 0)
        if found:
            assert "exp" not in ours.program.plan.dump()
        for a, b in zip(ours(x, x * x), jax.jit(step)(x, x * x)):
            assert np.allclose(a, b, rtol=1e-12, atol=1e-14)


def test_long_chains_cost_little(monkeypatch):
    """Of products, of numbers, and of sums of a tensor with itself."""
    asked = []
    definition = Matcher._definition
    monkeypatch.setattr(Matcher, "_definition",
                        lambda self, value: asked.append(value) or definition(self, value))

    def function(x, y):
        z = y * (0.5 * (1 + jnp.tanh(jnp.sqrt(2 / jnp.pi) * (x + 0.044715 * x ** 3))))
        for _ in range(60):  # the first is a term of gelu's gradient
            z = add_any_p.bind(z, z)
        z = z * 2.0 ** -60
        for i in range(200):
            z = z * (y if i % 9 == 0 else 1.001)
        for _ in range(60):
            z = z * (z * 1.5) * 0.01
        total = (x * x) + (y * y)
        for _ in range(60):
            total = total * 0.25 + total * 0.25
        for _ in range(40):
            total = total + total
        return z, total, jnp.sqrt(total)
    numbers = np.float32(0.5), np.float32(1.001)
    step = aicf.jax.compile_step(function, numbers, verify=False)
    equations = len(jax.make_jaxpr(function)(*numbers).eqns)
    assert len(asked) < 1000 * equations
    for a, b in zip(step(*numbers), function(*numbers)):
        assert float(a) == pytest.approx(float(b), rel=1e-3)


def test_sums_of_squares_cost_little():
    def function(x):
        total = jnp.sum(x * x)
        for _ in range(40):
            total = total + total
        return jnp.sqrt(total)
    x = np.ones(3, "f4")
    assert not aicf.jax.compile_step(function, (x,)).raised


def test_gradients_of_many_elements_are_clipped():
    """optax adds the squares of imaginary parts: zeros, which JAX writes out."""
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1))

    def step(params, state, x):
        grads = jax.grad(lambda p: sum((x @ w).sum() for w in p))(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, x.sum()
    make = Make("float32")
    params = [make.floats(100, 90), make.floats(100, 80)]
    ours = aicf.jax.compile_step(step, (params, optimizer.init(params), make.floats(4, 100)),
                                 (0, 1))
    assert ours.raised == {"global_norm": 1}


def test_what_repeats_in_a_constant_is_kept_once():
    def step(x):
        mask = jnp.broadcast_to(jnp.tril(jnp.ones((64, 64), bool)), (4, 2, 64, 64))
        return jnp.where(mask, x, -1.0) + jnp.broadcast_to(jnp.arange(64.0), x.shape)
    x = np.ones((4, 2, 64, 64), "f4")
    ours = aicf.jax.compile_step(step, (x,))
    assert ours.memory_analysis()["persistent_bytes"] == 64 * 64 + 64 * 4


def products(equation, order, *shapes):
    return (lambda a, b: jnp.einsum(equation, a, b).transpose(order)), shapes


@pytest.mark.parametrize("function, shapes", [
    products("bthd,bshd->bhts", (0, 3, 1, 2), (2, 5, 3, 4), (2, 6, 3, 4)),
    products("bhts,bshd->bhtd", (0, 2, 1, 3), (2, 3, 5, 6), (2, 6, 3, 4)),
    products("bhts,bshd->bhtd", (3, 0, 1, 2), (2, 3, 5, 6), (2, 6, 3, 4)),
    products("abk,kcd->abcd", (3, 2, 0, 1), (2, 3, 5), (5, 4, 6)),
    products("abk,kcd->abcd", (2, 3, 1, 0), (2, 3, 5), (5, 4, 6)),
    products("bk,bk->b", (0,), (3, 5), (3, 5)), products("bmk,bk->bm", (1, 0), (3, 4, 5), (3, 5)),
    products("ka,kb->ab", (1, 0), (5, 3), (5, 4)), products("k,kb->b", (0,), (5,), (5, 4))])
def test_products_in_another_order(function, shapes):
    a, b = (np.random.default_rng(i).normal(size=s).astype("f4")
            for i, s in enumerate(shapes))
    ours = aicf.jax.compile_step(function, (a, b))
    assert np.allclose(ours(a, b), function(a, b), rtol=1e-5, atol=1e-6)


def test_heads_of_attention_need_no_copy():
    step = aicf.jax.compile_step(*CASES["transformer"](Make()), verify=False)
    copies = re.findall(r"(\S+) = copy\(t", step.program.plan.dump())
    assert len(copies) == 1  # of logits[:, :-1]


def lion_by_hand(b1=0.9, b2=0.99, function=jnp.sign, moment="m", decays="p"):
    def step(state, x, y):
        p, m = state
        loss, g = jax.value_and_grad(lambda w: mse(x @ w, y))(p)
        first = b2 * m + (1 - b2) * g  # in another order of equations
        update = function((1 - b1) * g + b1 * m) + 0.01 * {"p": p, "m": m}[decays]
        new = b2 * m + (1 - b2) * {"sign": jnp.sign(g), "square": g * g}.get(moment, g)
        new = first if moment == "first" else new
        p = p - 0.05 * update
        if moment == "later":  # another average of both, which is what stays
            new = 0.5 * m + 0.5 * g + 0 * new
        return (p, new + 1 if moment == "more" else new), loss
    make = Make("float64")
    w = make.floats(4, 3)
    return step, ((w, 0.1 * w), make.floats(8, 4), make.floats(8, 3))


@pytest.mark.parametrize("options, is_found", [
    ({}, True), ({"b1": 0.5}, True), ({"b1": 0.99}, True), ({"function": jnp.tanh}, False),
    ({"moment": "sign"}, False), ({"moment": "square"}, False), ({"decays": "m"}, False),
    ({"moment": "first"}, True), ({"moment": "later"}, False), ({"moment": "more"}, False)])
def test_updates_that_look_like_lion(options, is_found):
    with jax.enable_x64(True):
        function, (state, x, y) = lion_by_hand(**options)
        step = aicf.jax.compile_step(function, (state, x, y), 0, verify=False)
        assert ("lion_step" in ops_of(step)) == is_found
        for _ in range(4):
            state, expected = jax.jit(function)(state, x, y)
            assert float(step(x, y)) == pytest.approx(float(expected), rel=1e-11)
        for ours, theirs in zip(step.state(), state):
            assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-13)


def adam_by_hand(b1=0.9, b2=0.999, bias1=0.9, bias2=0.999, eps_inside=0.0, decays="p",
                 sign=-1.0, counts_up=True, second_of="g", more=0, scale=1.0):
    def step(state, x, y):
        p, m, v, t = state
        loss, g = jax.value_and_grad(lambda w: mse(x @ w, y))(p)
        t = jnp.where(t < 2 ** 31 - 1, t + 1, 2 ** 31 - 1) if counts_up else t + 2
        other = g if second_of == "g" else g + 1e-3
        m, v = (1 - b1) * g + b1 * m, (1 - b2) * scale * other ** 2 + b2 * v
        u = (m / (1 - bias1 ** t)) / (jnp.sqrt(v / (1 - bias2 ** t) + eps_inside) + 1e-8)
        u = u + 0.01 * {"p": p, "m": m}[decays]
        return (p + sign * 0.05 * u, m, v + more if more else v, t), loss
    make = Make("float64")
    w = make.floats(4, 3)
    state = w, jnp.zeros_like(w), jnp.zeros_like(w), jnp.zeros((), "int32")
    return step, (state, make.floats(8, 4), make.floats(8, 3)), 0


@pytest.mark.parametrize("options, is_found", [
    ({}, True), ({"b1": 0.8, "bias1": 0.8}, True), ({"bias1": 0.99}, False),
    ({"bias2": 0.9}, False), ({"eps_inside": 1e-3}, False), ({"decays": "m"}, False),
    ({"sign": 1.0}, True), ({"counts_up": False}, False), ({"second_of": "h"}, False),
    ({"more": 1}, False), ({"bias2": 0.9990009}, False), ({"scale": 1.0009}, False),
    ({"b2": 0.9999999, "bias2": 0.9999999, "scale": 5.0}, False)])
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


ADAM_AND_LION = pytest.mark.parametrize(
    "optimizer", [optax.adam(1e-2), optax.lion(1e-2)], ids=["adam", "lion"])


@ADAM_AND_LION
@pytest.mark.parametrize("twice", [
    lambda params, u, x: mlp(optax.apply_updates(params, u), x).sum(),
    lambda params, u, x: mlp(optax.apply_updates(jax.tree.map(jnp.cos, params), u), x).sum(),
    lambda params, u, x: mlp(jax.tree.map(lambda p, v: p - v, params, u), x).sum()])
def test_an_update_that_has_two_uses(optimizer, twice):
    def step(params, state, x, y):
        loss, grads = jax.value_and_grad(lambda p: mse(mlp(p, x), y))(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss + twice(params, updates, x)
    make = Make("float32")
    params = make.layers(8, 16, 3)
    ours = aicf.jax.compile_step(step, (params, optimizer.init(params), make.floats(32, 8),
                                        make.floats(32, 3)), (0, 1))
    assert sum(ours.raised[op] for op in ours.raised if op.endswith("_step")) == 4


@ADAM_AND_LION
def test_gradients_that_are_arguments(optimizer):
    def step(params, state, grads):
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, jax.tree.leaves(grads)[0].sum()
    params = Make("float32").layers(8, 16, 3)
    ours = aicf.jax.compile_step(step, (params, optimizer.init(params), params), (0, 1))
    assert sum(ours.raised[op] for op in ours.raised if op.endswith("_step")) == 4


def test_losses_and_counts_that_are_repeated():
    labels = np.arange(4, dtype="i4") % 3
    x = np.linspace(-1, 1, 12, dtype="f4").reshape(4, 3)

    def ce(x):
        return optax.softmax_cross_entropy_with_integer_labels(x, labels).sum()

    def scaled(x, s):
        power = jnp.exp(x - x.max(-1, keepdims=True))
        return power * (s / power.sum(-1, keepdims=True))

    def count(x, t):
        most = jnp.iinfo(t.dtype).max
        many = jnp.full(3, most, t.dtype)
        return jax.lax.select_n(t < most, many, t + jnp.ones(3, t.dtype)) + 0 * x[:, 0].sum()
    number, steps = np.float32(0.7), np.int32(5)
    for function, *arguments in ((lambda x: ce(x) / jnp.full(3, 4.0), x),
                                 (lambda x: ce(x) * jnp.full(3, 0.25), x),
                                 (scaled, x, number), (count, x, steps)):
        ours = aicf.jax.compile_step(function, tuple(arguments), verify=False)
        assert np.allclose(ours(*arguments), function(*arguments), rtol=1e-5)


def test_factors_that_are_nearly_those_of_a_mean():
    labels = np.arange(8, dtype="i4") % 5
    with jax.enable_x64(True):
        x = np.random.default_rng(0).normal(size=(8, 5))

        def function(x):
            return optax.softmax_cross_entropy_with_integer_labels(x, labels).sum() \
                * ((1 + 9e-7) / 8)
        ours = aicf.jax.compile_step(jax.value_and_grad(function), (x,), verify=False)
        for a, b in zip(ours(x), jax.value_and_grad(function)(x)):
            assert np.allclose(a, b, rtol=1e-12, atol=1e-14)


def test_products_whose_result_is_narrower():
    def function(a, b):
        made = jax.lax.dot(a, b, preferred_element_type=jnp.float16)
        return made, made.T, jnp.einsum("i,j->ij", a[0], a[0],
                                        preferred_element_type=jnp.bfloat16)
    a, b = np.array([[1e5, 2e5]], "f4"), np.array([[1e-3], [1e-3]], "f4")
    ours = aicf.jax.compile_step(function, (a, b), verify=False)
    for own, theirs in zip(ours(a, b), jax.jit(function)(a, b)):
        assert own.dtype == theirs.dtype and np.array_equal(own, theirs)


@ADAM_AND_LION
def test_numbers_that_are_parameters(optimizer):
    def step(p, state, x):
        loss, grad = jax.value_and_grad(lambda p: ((x - p) ** 2).mean())(p)
        updates, state = optimizer.update(grad, state, p)
        return optax.apply_updates(p, updates), state, (
            loss, p - np.full(3, 0.05, "f4") * updates)
    p = jnp.float32(2.7)
    aicf.jax.compile_step(step, (p, optimizer.init(p), np.arange(5, dtype="f4")), (0, 1))


def test_another_batch_size_may_return_other_states():
    def lion(state, x):
        p, m = state
        g = (p * x.mean()) * 0.5
        update = jnp.sign(0.1 * g + 0.9 * m)
        new = 0.99 * m + 0.01 * g
        return (p - 0.05 * update, new + 1.0 if x.shape[0] > 8 else new), (g * p).sum()
    x, w = np.ones((8, 3), "f4"), np.linspace(-1, 1, 6, dtype="f4").reshape(2, 3)
    ours = aicf.jax.compile_step(lion, ((w, w), x), 0)
    assert ours.raised == {"lion_step": 1}
    state = (w, w)
    for batch in (x, np.ones((16, 3), "f4"), x):
        state, expected = jax.jit(lion)(state, batch)
        assert float(ours(batch)) == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.parametrize("size", [1.0, 1e10, 1e20, 1e-30])
def test_norms_overflow_as_in_jax(size):
    def step(x, y):
        norm = optax.global_norm([x, y])
        return norm, jnp.where(jnp.isfinite(norm), x, 0.0)
    x = np.linspace(1, 2, 6, dtype="f4") * np.float32(size)
    ours = aicf.jax.compile_step(step, (x, x), verify=False)
    assert ours.raised == {"global_norm": 1}
    for a, b in zip(ours(x, x), jax.jit(step)(x, x)):
        assert np.allclose(a, b, rtol=1e-6)


@ADAM_AND_LION
@pytest.mark.parametrize("donated", [(), (0,), (1,)])
def test_optimizers_whose_state_stays_outside(optimizer, donated):
    """Their ops update it in place: it must be donated."""
    function, arguments, _ = regression(optimizer)
    ours = aicf.jax.compile_step(function, arguments, donated)
    assert any(op.endswith("_step") for op in ours.raised) == (donated == (1,))


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
