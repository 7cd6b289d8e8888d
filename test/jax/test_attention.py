# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.nn.dot_product_attention is aicf.attention, with JAX's numbers and gradients.
compile_step compares each step with JAX's."""

import aicf.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

B, T, N, H = 2, 16, 4, 8
RNG = np.random.default_rng(0)
X = RNG.standard_normal((B, T, N * H)).astype("f4")
W = (RNG.standard_normal((3, N * H, N * H)) * 0.2).astype("f4")
WEIGHTS = RNG.standard_normal((B, T, N, H)).astype("f4")
BIAS = RNG.standard_normal((1, N, T, T)).astype("f4")
MASK = RNG.random((B, 1, T, T)) < 0.5
MASK[0, 0, 3] = False  # a query that sees nothing: JAX gives the mean of all values
LENGTHS = np.array([5, 16], "i4"), np.array([7, 3], "i4")
attention = jax.nn.dot_product_attention


def qkv(w, x, heads=N):
    q, k, v = (x @ w[i] for i in range(3))
    return (q.reshape(B, T, N, H), *(a[..., :heads * H].reshape(B, T, heads, H)
                                     for a in (k, v)))


def weighted(y):
    return (y * WEIGHTS).sum()


def in_scan(w, x):
    def body(x, of_layer):
        q = (x @ of_layer).reshape(B, T, N, H)
        return x + attention(q, q, q, is_causal=True).reshape(X.shape), None
    return (jax.lax.scan(body, x, w)[0] ** 2).mean()


def in_vmap(w, x):
    def one(x):
        q, k, v = ((x @ w[i]).reshape(T, N, H) for i in range(3))
        return attention(q, k, v, is_causal=True)
    return weighted(jax.vmap(one)(x))


def in_vmap_with_masks(w, x, masks):
    def one(x, mask):
        q, k, v = ((x @ w[i]).reshape(T, N, H) for i in range(3))
        return attention(q, k, v, mask=mask[None])
    return weighted(jax.vmap(one)(x, masks))


#: By name: the loss of (what is trained, others), and these.
CASES = {
    "plain": (lambda w, x: weighted(attention(*qkv(w, x))), W, X),
    "causal": (lambda w, x: weighted(attention(*qkv(w, x), is_causal=True)), W, X),
    "fewer heads of keys": (
        lambda w, x: weighted(attention(*qkv(w, x, 2), is_causal=True, scale=0.3)), W, X),
    "window": (lambda w, x: weighted(attention(*qkv(w, x), local_window_size=(3, 2))), W, X),
    "causal window": (lambda w, x: weighted(attention(
        *qkv(w, x), local_window_size=3, is_causal=True)), W, X),
    "mask": (lambda w, x, m: weighted(attention(*qkv(w, x), mask=m)), W, X, MASK),
    "mask of a constant": (lambda w, x: weighted(attention(
        *qkv(w, x), mask=jnp.tril(jnp.ones((T, T), bool))[None, None])), W, X),
    "bias": (lambda w, x, b: weighted(attention(*qkv(w, x), b)), W, X, BIAS),
    "trained bias": (lambda b, x, w: weighted(attention(*qkv(w, x), b, is_causal=True)),
                     BIAS, X, W),
    "trained bias and mask": (lambda b, x, w, m: weighted(attention(*qkv(w, x), b, m)),
                              BIAS, X, W, MASK),
    "lengths": (lambda w, x, q, k: weighted(attention(
        *qkv(w, x), query_seq_lengths=q, key_value_seq_lengths=k)), W, X, *LENGTHS),
    "trained bias of all batches in vmap": (
        lambda b, x, w: jax.vmap(lambda x: weighted(attention(*qkv(w, x), b)))(x).sum(),
        BIAS, np.stack([X, X + 1, 2 * X]), W),
    "no batch": (lambda w, x: (attention(*(a[0] for a in qkv(w, x))) * WEIGHTS[0]).sum(),
                 W, X),
    "bf16": (lambda w, x: weighted(attention(
        *(a.astype(jnp.bfloat16) for a in qkv(w, x)), is_causal=True)), W, X),
    "bf16 and a trained bias of f32": (lambda b, x, w: weighted(attention(
        *(a.astype(jnp.bfloat16) for a in qkv(w, x)), b)), BIAS, X, W),
    "scan": (in_scan, W, X),
    "vmap": (in_vmap, W, X),
    "vmap with masks": (in_vmap_with_masks, W, X, MASK[:, 0]),
    "remat": (lambda w, x: weighted(jax.checkpoint(
        lambda x: attention(*qkv(w, x), is_causal=True))(x)), W, X),
    "jit": (lambda w, x: weighted(jax.jit(
        lambda x: attention(*qkv(w, x), is_causal=True))(x)), W, X),
}


def compiled(loss, first, *others):
    def step(params, *others):
        value, slopes = jax.value_and_grad(lambda p: loss(p["w"], *others))(params)
        return {"w": params["w"] - slopes["w"]}, value
    return aicf.jax.compile_step(step, ({"w": first}, *others), donate_argnums=0,
                                 verify=True)


def found_in(step):
    return {d.message.split()[1] for d in step.imported.remarks()}


@pytest.mark.parametrize("name", CASES)
def test_attention_is_found(name):
    assert found_in(compiled(*CASES[name])) >= {"aicf.attention", "aicf.attention_bwd"}


@pytest.mark.parametrize("loss", [
    lambda w, x: jax.jvp(lambda x: weighted(attention(*qkv(w, x))), (x,), (x,))[1],
    lambda w, x: weighted(attention(*qkv(w, x), return_residual=True)[0]),
    lambda w, x: weighted(attention(*qkv(w, x), local_window_size=(3, -1))),
    lambda w, x: weighted(attention(*(a.astype(jnp.bfloat16) for a in qkv(w, x)),
                                    jnp.ones((1, 1, 1, T), jnp.float16)))],
    ids=["derivatives forward", "residual", "a negative window", "a bias of other bits"])
def test_what_is_not_one_op_is_what_jax_computes(loss):
    assert "aicf.attention" not in found_in(compiled(loss, W, X))


def test_a_function_that_jax_has_traced_is_traced_again_and_runs_afterwards():
    inner = jax.jit(lambda w, x: attention(*qkv(w, x), is_causal=True))
    before = inner(W, X)
    step = compiled(lambda w, x: weighted(inner(w, x)), W, X)
    assert "aicf.attention" in found_in(step)
    assert np.array_equal(before, inner(W, X))


def test_the_primitives_run_where_jax_kept_them():
    """A jaxpr of an import that is evaluated outside of it."""
    from aicf.jax import _attention_calls

    def loss(w, x):
        return weighted(attention(*qkv(w, x), mask=MASK))
    with _attention_calls.found():
        kept = jax.make_jaxpr(jax.value_and_grad(loss))(W, X)
    assert "aicf_attention_bwd" in str(kept)
    ours = jax.jit(jax.extend.core.jaxpr_as_fun(kept))(W, X)
    for mine, theirs in zip(ours, jax.tree_util.tree_leaves(
            jax.value_and_grad(loss)(W, X))):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-5)


def test_nnx_finds_it_too():
    nnx = pytest.importorskip("flax.nnx")
    layer = nnx.MultiHeadAttention(N, N * H, decode=False, rngs=nnx.Rngs(0))
    graph, params = nnx.split(layer)

    def step(params, x):
        def loss(params):
            return (nnx.merge(graph, params)(x) ** 2).mean()
        value, slopes = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - g, params, slopes), value
    step = aicf.jax.compile_step(step, (params, X), donate_argnums=0, verify=True)
    assert "aicf.attention" in found_in(step)
