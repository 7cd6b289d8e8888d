# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as a function, with PyTorch's names, arguments and shapes. The op itself is
aicf.ops.attention."""

from __future__ import annotations

from typing import Any

from .. import ops
from .pointwise import FLOATS, broadcast
from .tensor import Tensor
from .trace import as_tensor, current_trace, trace_error


def _floats(x: Any, name: str) -> Tensor:
    tensor = as_tensor(x)
    if tensor.dtype not in FLOATS or len(tensor.shape) < 2:
        trace_error("%s of scaled_dot_product_attention is %s, expected floats of 2 or "
                    "more dimensions" % (name, tensor))
    return tensor


def _as_heads(x: Tensor, batch: tuple[int, ...]) -> Tensor:
    """[..., heads, length, size] as [batch, length, heads, size]; what has no heads has
    one. `batch`: the dimensions in front of the heads."""
    if len(x.shape) <= 3:
        x = broadcast(x, (*batch, *x.shape[-2:])) if batch else x
        return x.reshape([-1, x.shape[-2], 1, x.shape[-1]])
    x = broadcast(x, (*batch, *x.shape[-3:]))
    return x.reshape([-1, *x.shape[-3:]]).swapaxes(1, 2)


def _as_mask(mask: Tensor, q: Tensor, batch: tuple[int, ...], has_heads: bool) -> Tensor:
    """What broadcasts to [*batch, heads?, queries, keys], as [batch, heads, queries, keys]
    with 1 where it repeats."""
    if mask.dtype not in ("i1", "f32", q.dtype):
        if mask.dtype not in FLOATS:
            trace_error("attn_mask is %s, expected i1 or floats" % mask)
        mask = mask.astype(q.dtype)
    rank = len(batch) + (3 if has_heads else 2)
    if len(mask.shape) > rank:
        trace_error("attn_mask is %s, expected at most %d dimensions" % (mask, rank))
    shape = [1] * (rank - len(mask.shape)) + list(mask.shape)
    inner = shape[-3:] if has_heads else [1, *shape[-2:]]
    front = shape[:len(batch)]
    if all(d == 1 for d in front):
        return mask.reshape([1, *inner])
    mask = broadcast(mask.reshape(shape), (*batch, *shape[len(batch):]))
    return mask.reshape([-1, *inner])


def _beside(q: Tensor, k: Tensor, v: Tensor) -> list[Tensor]:
    """All with heads: one head of q, or one of k or v alone, is repeated."""
    q, k, v = (x if len(x.shape) > 3 else x.reshape([*[1] * (4 - len(x.shape)), *x.shape])
               for x in (q, k, v))
    shared = max(k.shape[-3], v.shape[-3])
    heads = max(q.shape[-3], shared) if q.shape[-3] == 1 else q.shape[-3]
    return [broadcast(x, (*x.shape[:-3], of, *x.shape[-2:]))
            for x, of in ((q, heads), (k, shared), (v, shared))]


def scaled_dot_product_attention(
        query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
        is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False, *,
        softcap: float = 0.0, window: tuple[int, int] | None = None,
        segments: Any = None) -> Tensor:
    """softmax(scale · query · keyᵀ + attn_mask) · value (Vaswani et al. 2017), whose scores
    are never in memory as a whole. A query that sees no key gives zeros, and so does its
    gradient.

    Args:
        query: [..., heads, length, size]; without heads it has one.
        key, value: [..., heads, keys, size] and [..., heads, keys, size of values]. Their
            heads may be fewer than those of query if they divide them: each serves as many
            heads of query, one behind the other.
        attn_mask: what broadcasts to [..., heads, length, keys]: i1, true where a key is
            seen, or floats, which are added.
        dropout_p: the probability that a weight is dropped, in each step anew. It counts
            in all steps, as in PyTorch: give 0 where there is no training.
        is_causal: query i sees keys 0 to i.
        scale: 1/√size by default.
        enable_gqa: for PyTorch's callers; fewer heads need no word here.
        softcap: a score becomes softcap · tanh(score / softcap) before the mask is added.
        window: (left, right): query i sees keys i - left to i + right; -1 is all of them.
        segments: i32 [batch, length]: a query sees keys of an equal number.
    Raises:
        TraceError: an operand is not of floats, or does not broadcast.
        CompileError: sizes do not fit, or a head has more than 1024 elements.
    """
    q, k, v = _floats(query, "query"), _floats(key, "key"), _floats(value, "value")
    has_heads = max(len(x.shape) for x in (q, k, v)) > 3
    front = [x.shape[:-3] if has_heads else x.shape[:-2] for x in (q, k, v)]
    batch = tuple(map(max, *((1,) * (max(map(len, front)) - len(f)) + f for f in front)))
    if has_heads:
        q, k, v = _beside(q, k, v)
    shape = (*batch, *q.shape[-3:-1]) if has_heads else (*batch, q.shape[-2])
    mask = None if attn_mask is None else _as_mask(as_tensor(attn_mask), q, batch, has_heads)
    step, seed = None, 0
    if dropout_p:
        step, seed = current_trace("scaled_dot_product_attention").random_step()
    left, right = window or (-1, -1)
    if is_causal:
        right = min(right, 0) if right >= 0 else 0
    q, k, v = (_as_heads(x, batch) for x in (q, k, v))
    y, _ = ops.attention(
        q, k, v, mask, None if segments is None else as_tensor(segments), step, scale=scale,
        softcap=softcap, window_left=left, window_right=right, p=dropout_p, seed=seed)
    return (y.swapaxes(1, 2) if has_heads else y).reshape([*shape, y.shape[-1]])
