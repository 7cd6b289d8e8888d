# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention that is written by hand, or by flax.linen: --aicf-raise-attention makes one op of
it and of the gradients that JAX derives. verify=True compares them."""

import flax.linen as linen
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aicf.jax

B, T, N, H = 2, 8, 3, 4
RNG = np.random.default_rng(0)
W = RNG.normal(size=(4, 5, N * H)).astype("f4") / 2
X = RNG.normal(size=(B, T, 5)).astype("f4")
TRIANGLE = np.tril(np.ones((T, T), bool))
PADDED = np.arange(T)[None, :] < np.array([[5], [8]])  # [B, T]


def scores_of(q, k):
    return jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(H)


def mixed(weights, v):
    return jnp.einsum("bhts,bshd->bthd", weights, v)


def plain(q, k, v):
    return mixed(jax.nn.softmax(scores_of(q, k), -1), v)


def causal(q, k, v):
    return mixed(jax.nn.softmax(jnp.where(TRIANGLE, scores_of(q, k), -jnp.inf), -1), v)


def heads_in_front(q, k, v):
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * H ** -0.5
    scores = jnp.where(TRIANGLE[None, None], scores, jnp.finfo(scores.dtype).min)
    return (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3)


def softmax_by_hand(q, k, v):
    scores = scores_of(q, k)
    powers = jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True)))
    return mixed(powers / powers.sum(-1, keepdims=True), v)


def in_16_bits(q, k, v):
    q, k, v = (x.astype(jnp.bfloat16) for x in (q, k, v))
    scores = jnp.where(TRIANGLE, scores_of(q, k).astype(jnp.float32), -1e9)
    return mixed(jax.nn.softmax(scores).astype(jnp.bfloat16), v).astype(jnp.float32)


def all_in_16_bits(q, k, v):
    return linen.dot_product_attention(*(x.astype(jnp.bfloat16) for x in (q, k, v)), mask=linen.
                                       make_causal_mask(jnp.ones((B, T)))).astype(jnp.float32)


def added(q, k, v):
    return mixed(jax.nn.softmax(scores_of(q, k) + np.where(TRIANGLE, 0, -1e9).astype("f4")), v)


def biased(q, k, v):
    return mixed(jax.nn.softmax(scores_of(q, k) + np.arange(T, dtype="f4")), v)


def of_padded_keys(q, k, v):
    hidden = jnp.where(PADDED[:, None, None, :], scores_of(q, k), -1e9)
    return mixed(jax.nn.softmax(hidden), v)


def of_linen(q, k, v):
    return linen.dot_product_attention(q, k, v, mask=linen.make_causal_mask(jnp.ones((B, T))))


def divided(q, k, v):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(7)  # no power of 2
    return mixed(jax.nn.softmax(scores, -1), v)


BY_HAND = [plain, divided, causal, heads_in_front, softmax_by_hand, in_16_bits, all_in_16_bits, added, biased,
           of_padded_keys, of_linen]


def compiled(attention, *others):
    def loss(params, x, *others):
        q, k, v, out = ((x @ w).reshape(B, T, N, H) for w in params["w"])
        return jnp.square(attention(q, k, v, *others) - out).sum()

    def step(params, *others):
        value, slopes = jax.value_and_grad(loss)(params, *others)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, slopes), value
    return aicf.jax.compile_step(step, ({"w": W}, X, *others), donate_argnums=0, verify=True)


def remarks(step):
    return [d.message for d in step.program.lowered.report() if "RaiseAttention" in d.message]


@pytest.mark.parametrize("attention", BY_HAND, ids=lambda f: f.__name__)
def test_both_halves_are_one_op_each(attention):
    step = compiled(attention)
    text = step.program.lowered.as_text("aicf_rt")
    assert "attention_bwd(" in text and "softmax" not in text
    assert any("one attention, with its gradients" in text for text in remarks(step))


@pytest.mark.parametrize("batch, heads", [(1, 3), (2, 1), (1, 1)])
def test_one_batch_or_head(batch, heads):
    x = RNG.normal(size=(batch, T, heads, H)).astype("f4")
    step = aicf.jax.compile_step(jax.value_and_grad(lambda q, k, v: jnp.square(
        plain(q, k, v)).sum(), (0, 1, 2)), (x, x + 1, x - 1), verify=True)
    text = step.program.lowered.as_text("aicf_rt")
    assert "attention_bwd(" in text and "softmax" not in text


@pytest.mark.parametrize("attention", [causal, of_linen], ids=lambda f: f.__name__)
def test_triangles_are_windows(attention):
    assert "window_right = 0" in compiled(attention).program.lowered.as_text("aicf_rt")


@pytest.mark.parametrize("attention, others, why", [
    (lambda q, k, v, mask: mixed(jax.nn.softmax(jnp.where(mask, scores_of(q, k), -1e9)), v),
     (TRIANGLE,), "known when it runs"),
    (lambda q, k, v: mixed(jnp.square(jax.nn.softmax(scores_of(q, k))), v), (), None),
    (lambda q, k, v: (lambda w: mixed(w, v) + w.sum())(jax.nn.softmax(scores_of(q, k))), (),
     "other ops read its weights"),
    (lambda q, k, v: mixed(jax.nn.softmax(3 * jnp.tanh(scores_of(q, k) / 3)), v), (), None),
], ids=["a mask that is given", "squares", "weights in the loss", "a softcap"])
def test_what_stays_by_hand(attention, others, why):
    step = compiled(attention, *others)
    assert "attention" not in step.program.lowered.as_text("aicf_rt")
    assert why is None or any(why in text for text in remarks(step))


def test_a_module_of_linen():
    module = linen.MultiHeadDotProductAttention(num_heads=2, qkv_features=8)
    mask = linen.make_causal_mask(jnp.ones((B, T)))
    params = module.init(jax.random.PRNGKey(0), X, mask=mask)

    def step(params, x):
        value, slopes = jax.value_and_grad(lambda p: jnp.square(module.apply(
            p, x, mask=mask)).sum())(params)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, slopes), value
    step = aicf.jax.compile_step(step, (params, X), donate_argnums=0, verify=True)
    assert "attention_bwd(" in step.program.lowered.as_text("aicf_rt")
