# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, found where JAX is asked for it.

A step of JAX arrives with its backward pass, in which attention is taken apart. So while a
step is traced, jax.nn.dot_product_attention (which flax.nnx calls, too) gives a primitive
of its own, and so do its gradients. JAX keeps what it traced of functions that are jitted,
so that such a primitive may run elsewhere later: there it is what JAX computes.

A query that sees no key gives 0 in aicf.attention, and in JAX the mean of all values:
`_with_means` adds that.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

#: Traced functions are kept by its value, too: those without are not taken for those with.
_IS_IMPORT = jax.make_user_context(None)


@dataclass(frozen=True)
class Window:
    """What a score depends on beside its operands: the keys from `left` in front of a query
    to `right` behind it (-1: all), and the factor of scores."""

    scale: float
    left: int
    right: int

    def sees(self, queries: int, keys: int) -> Any:
        """Booleans, [queries, keys]."""
        i, j = np.arange(queries)[:, None], np.arange(keys)[None]
        return ((j >= i - self.left) | (self.left < 0)) & \
            ((j <= i + self.right) | (self.right < 0))


# The primitives. q, k and v are [batch, length, heads, size], and a mask is
# [batch, heads, queries, keys] with 1 where it repeats, of booleans or floats.


def _attention(q: Any, k: Any, v: Any, *masks: Any, window: Window) -> tuple[Any, Any]:
    """y and the logarithms of sums, as JAX computes them."""
    wide = jnp.promote_types(q.dtype, jnp.float32)
    groups = q.shape[2] // k.shape[2]
    k, v = (jnp.repeat(x, groups, 2) for x in (k, v))
    scores = jnp.einsum("bthd,bshd->bhts", q, k, preferred_element_type=wide) * window.scale
    sees = jnp.broadcast_to(window.sees(q.shape[1], k.shape[1]), scores.shape)
    for mask in masks:
        sees, scores = (sees & mask, scores) if mask.dtype == bool else \
            (sees & (mask > -jnp.inf), scores + jnp.where(mask > -jnp.inf, mask, 0))
    scores = jnp.where(sees, scores.astype(wide), -jnp.inf)
    most = jnp.max(scores, -1, keepdims=True)
    most = jax.lax.stop_gradient(jnp.where(jnp.isfinite(most), most, 0))
    powers = jnp.where(sees, jnp.exp(jnp.where(sees, scores - most, 0)), 0)
    total = jnp.sum(powers, -1, keepdims=True)
    weights = powers / jnp.where(total > 0, total, 1)
    y = jnp.einsum("bhts,bshd->bthd", weights.astype(v.dtype), v)
    return y, (jnp.log(total) + most)[..., 0]


def _gradients(dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any, *masks: Any,
               window: Window) -> tuple[Any, ...]:
    floats = [m for m in masks if m.dtype != bool]

    def of(q: Any, k: Any, v: Any, *floats: Any) -> Any:
        return _attention(q, k, v, *(floats or masks), window=window)[0]
    return tuple(jax.vjp(of, q, k, v, *floats)[1](dy))


def _types_of(q: Any, k: Any, v: Any, *masks: Any, window: Window) -> tuple[Any, ...]:
    batch, length, heads, _ = q.shape
    wide = jnp.promote_types(q.dtype, jnp.float32)
    return (jax.core.ShapedArray((batch, length, heads, v.shape[3]), q.dtype),
            jax.core.ShapedArray((batch, heads, length), wide))


def _types_of_gradients(dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any, *masks: Any,
                        window: Window) -> tuple[Any, ...]:
    return tuple(jax.core.ShapedArray(x.shape, x.dtype)
                 for x in (q, k, v, *(m for m in masks if m.dtype != bool)))


def _batched(bind: Callable[..., Any], operands: Sequence[Any], dims: Sequence[Any],
             **params: Any) -> tuple[Any, Any]:
    """More batches: [outer, batch, ..] as [outer * batch, ..]. Every operand and result has
    the batch first; a mask may have 1."""
    outer = next(x.shape[d] for x, d in zip(operands, dims) if d is not None)
    inner = max(x.shape[0 if d is None or d > 0 else 1] for x, d in zip(operands, dims))
    flat = []
    for x, d in zip(operands, dims):
        x = jnp.broadcast_to(x, (outer, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
        x = jnp.broadcast_to(x, (outer, inner, *x.shape[2:]))
        flat.append(x.reshape(outer * inner, *x.shape[2:]))
    made = [m.reshape(outer, inner, *m.shape[1:]) for m in bind(*flat, **params)]
    # The slopes of a mask, which come last, of all batches that it serves.
    if len(made) == 4 and operands[6].shape[0 if dims[6] is None or dims[6] > 0 else 1] == 1:
        made[3] = made[3].sum(1, keepdims=True)
    return made, [0] * len(made)


def _primitive(name: str, run: Callable[..., Any], types: Callable[..., Any]) -> Primitive:
    made = Primitive(name)
    made.multiple_results = True
    made.def_impl(lambda *operands, **params: jax.jit(functools.partial(run, **params))(
        *operands))
    made.def_abstract_eval(types)
    mlir.register_lowering(made, mlir.lower_fun(run, multiple_results=True))
    batching.primitive_batchers[made] = functools.partial(_batched, made.bind)
    return made


_attention_p = _primitive("aicf_attention", _attention, _types_of)
_gradients_p = _primitive("aicf_attention_bwd", _gradients, _types_of_gradients)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _call(window: Window, q: Any, k: Any, v: Any, masks: tuple[Any, ...]) -> Any:
    return _attention_p.bind(q, k, v, *masks, window=window)[0]


def _forward(window: Window, q: Any, k: Any, v: Any, masks: tuple[Any, ...]) -> Any:
    y, lse = _attention_p.bind(q, k, v, *masks, window=window)
    return y, (q, k, v, y, lse, masks)


def _backward(window: Window, kept: Any, dy: Any) -> Any:
    q, k, v, y, lse, masks = kept
    dq, dk, dv, *slopes = _gradients_p.bind(dy, q, k, v, y, lse, *masks, window=window)
    zeros = np.zeros(masks[0].shape, jax.dtypes.float0) if masks else None
    return dq, dk, dv, tuple(slopes) or ((zeros,) if masks else ())


_call.defvjp(_forward, _backward)


# What jax.nn.dot_product_attention becomes while a step is traced


def _window_of(is_causal: bool, scale: Any, local: tuple[int, int] | None) -> Window:
    left, right = local or (-1, -1)
    if is_causal:
        right = min(right, 0) if right >= 0 else 0
    return Window(float(scale), int(left), int(right))


def _combined(function: Any, bias: Any, mask: Any, q: Any, k: Any, q_lengths: Any,
              k_lengths: Any) -> tuple[Any, Any]:
    """One mask of bias, mask and lengths, or None; and what is seen by lengths and mask."""
    seen = mask
    if q_lengths is not None or k_lengths is not None:
        of_lengths = function._get_padding_mask_logits(q.shape[1], k.shape[1], q_lengths,
                                                       k_lengths)
        seen = of_lengths if mask is None else jnp.logical_and(mask, of_lengths)
    if bias is None:
        return seen, seen
    return (bias if seen is None else jnp.where(seen, bias, -jnp.inf)), seen


def _with_means(y: Any, v: Any, seen: Any, window: Window, heads: int) -> Any:
    """y, and the mean of values where a query sees no key."""
    queries, keys = y.shape[1], v.shape[1]
    sees_any = jnp.any(jnp.logical_and(seen, window.sees(queries, keys)), -1)
    means = jnp.mean(v, 1, keepdims=True, dtype=jnp.promote_types(v.dtype, jnp.float32))
    means = jnp.repeat(means.astype(v.dtype), heads // v.shape[2], 2)
    return jnp.where(jnp.swapaxes(sees_any, 1, 2)[..., None], y, means)


def _replacement(function: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def attention(query: Any, key: Any, value: Any, bias: Any, mask: Any, is_causal: bool,
                  scale: Any, q_seqlen: Any, kv_seqlen: Any, local_window_size: Any,
                  return_residual: bool = False) -> Any:
        sizes = query.shape[3], value.shape[3]
        if return_residual or isinstance(scale, jax.core.Tracer) or max(sizes) > 1024 \
                or not query.dtype == key.dtype == value.dtype \
                or bias is not None and bias.dtype not in (query.dtype, np.float32) \
                or min(local_window_size or (0,)) < 0:  # -1 would be all keys
            return original(query, key, value, bias, mask, is_causal, scale, q_seqlen,
                            kv_seqlen, local_window_size, return_residual)
        window = _window_of(is_causal, scale, local_window_size)
        both, seen = _combined(function, bias, mask, query, key, q_seqlen, kv_seqlen)
        y = _call(window, query, key, value, () if both is None else (both,))
        whole = window.sees(query.shape[1], key.shape[1])
        if seen is None and not whole.any(1).all():
            seen = np.ones((1, 1, 1, 1), bool)
        if seen is not None:
            y = _with_means(y, value, seen, window, query.shape[2])
        if q_seqlen is not None:
            y = y * function._get_padding_mask_encoded(y.shape[1], q_seqlen).astype(y.dtype)
        return y
    return attention


@contextlib.contextmanager
def found() -> Iterator[None]:
    """While a step is traced: attention is one primitive."""
    name = "_dot_product_attention_xla"
    try:  # it is not of JAX's public interface
        from jax._src.nn import functions as function
        original = getattr(function, name)
    except (ImportError, AttributeError):
        yield
        return
    setattr(function, name, _replacement(function, original))
    try:
        with _IS_IMPORT("attention"):
            yield
    finally:
        setattr(function, name, original)
