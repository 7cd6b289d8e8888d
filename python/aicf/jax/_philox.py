# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bits of jax.lax.rng_bit_generator, which keys of the generators "rbg" and "unsafe_rbg"
draw: XLA's Philox on CPUs and GPUs.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10


def _product(a: int, x: Any) -> tuple[Any, Any]:
    """The high and the low 32 bits of a * x, by halves: u32."""
    low, high = np.uint32(a & 0xffff), np.uint32(a >> 16)
    x0, x1 = x & np.uint32(0xffff), x >> np.uint32(16)
    first = x1 * low + (x0 * low >> np.uint32(16))
    second = x0 * high + (first & np.uint32(0xffff))
    return (x1 * high + (first >> np.uint32(16)) + (second >> np.uint32(16)),
            x * np.uint32(a))


def _plus(counter: Sequence[Any], number: Any) -> list[Any]:
    """128 bits, the lowest word first, and a number of 32 bits."""
    made, carry = [], number
    for word in counter:
        total = word + carry
        made.append(total)
        carry = (total < carry).astype(np.uint32)
    return made


def bits(key: Any, shape: Sequence[int], dtype: Any) -> tuple[Any, Any]:
    """The next key, u32[4], and what this one draws: u8, u16, u32 or u64."""
    width = np.dtype(dtype).itemsize
    count = int(np.prod(shape, dtype=np.int64)) * (2 if width == 8 else 1)
    vectors = -(-count // 4)
    word = _plus([key[2], key[3], key[0], key[1]], jnp.arange(vectors, dtype=np.uint32))
    own = [key[0], key[1]]
    for _ in range(_ROUNDS):
        (high0, low0), (high1, low1) = (_product(a, word[i])
                                        for a, i in zip(_MULTIPLIERS, (0, 2)))
        word = [high1 ^ word[1] ^ own[0], low1, high0 ^ word[3] ^ own[1], low0]
        own = [k + np.uint32(w) for k, w in zip(own, _WEYL)]
    drawn = jnp.stack(word, 1).reshape(-1)[:count]
    low, high = _plus([key[2], key[3]], np.uint32(vectors))
    after = jnp.stack([key[0], key[1], low, high])
    if width == 8:
        pairs = drawn.reshape(-1, 2).astype(dtype)
        drawn = pairs[:, 0] | pairs[:, 1] << np.uint64(32)
    return after, drawn.astype(dtype).reshape(shape)


def as_jaxpr(params: Any) -> Any:
    """The same as equations of jaxprs, for a key of u32[4]."""
    return jax.make_jaxpr(lambda key: bits(key, params["shape"], params["dtype"]))(
        jax.ShapeDtypeStruct((4,), np.uint32))
