# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: bits of integers, and what jax.random draws with them.

Threefry: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from .._tracing.functions import erfinv
from .._tracing.pointwise import broadcast, broadcast_all
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, primitive, uniform

#: Of each float type, bits of the fraction, and the bits of 1.
_FRACTIONS = {"f64": (52, 0x3FF0000000000000), "f32": (23, 0x3F800000), "f16": (10, 0x3C00),
              "bf16": (7, 0x3F80)}


def _logic() -> None:
    def row(of_bools: Callable[..., Tensor], of_bits: Callable[..., Tensor]
            ) -> Callable[..., Tensor]:
        def made(call: Call, *operands: Any) -> Tensor:
            function = of_bools if call.dtype == "i1" else of_bits
            tensors = broadcast_all([call.tensor(v) for v in operands])
            return broadcast(function(*tensors), call.shape)
        return made
    for name in ("and", "or", "xor"):
        primitive(name, of_bits=True)(
            row(getattr(ops, "logical_" + name), getattr(ops, "bitwise_" + name)))
    primitive("not", of_bits=True)(row(ops.logical_not, lambda x: -x - 1))
    for name, function in (("shift_left", ops.shift_left),
                           ("shift_right_logical", ops.shift_right_logical),
                           ("shift_right_arithmetic", ops.shift_right)):
        primitive(name, of_bits=True)(row(function, function))


_logic()


@primitive("bitcast_convert_type", limits="of integers of one size, and of fractions that "
                                          "jax.random makes", of_bits=True)
def _bitcast(call: Call, x: Any) -> Tensor:
    tensor = call.tensor(x)
    if tensor.dtype == call.dtype:
        return tensor
    known = call.notes.of("definition", x)
    if call.dtype not in _FRACTIONS or known is None or known[0] != "or":
        raise Unsupported("reads the bits of %s as %s" % (tensor.dtype, call.dtype))
    digits, one = _FRACTIONS[call.dtype]
    bits, number = known[1] if uniform(known[1][1]) is not None else known[1][::-1]
    shifted = call.notes.of("definition", bits)
    if uniform(number) != one or shifted is None or shifted[0] != "shift_right_logical" \
            or not _leaves(call, shifted, digits):
        raise Unsupported("reads bits as %s that are not a fraction behind a 1" % call.dtype)
    kind = "f64" if digits > 23 else "f32"
    # The shifted bits alone, without the 1: exact.
    made: Tensor = bits.astype(kind) * 2.0 ** -digits + 1.0
    return made.astype(call.dtype)


def _leaves(call: Call, shifted: Any, digits: int) -> bool:
    """Whether a shift to the right leaves at most so many bits."""
    by = uniform(shifted[1][1])
    made = call.notes.of("definition", shifted[1][0])
    bits = shifted[2].get("bits", 64)
    if made and made[0] == "convert_element_type":
        bits = min(bits, made[2].get("bits", 64))
    return by is not None and bits - by <= digits


def _rotated(x: Tensor, by: int) -> Tensor:
    return ops.bitwise_or(ops.shift_left(x, _number(x, by)),
                          ops.shift_right_logical(x, _number(x, 32 - by)))


def _number(like: Tensor, number: int) -> Tensor:
    return ops.fill_like(like, value=float(number - 2 ** 32 if number >= 2 ** 31 else number))


@primitive("threefry2x32", of_bits=True)
def _threefry2x32(call: Call, *operands: Any) -> Any:
    """Twenty rounds on two words, with a key of two words."""
    first, second, a, b = (call.tensor(v) for v in operands)
    keys = [first, second, ops.bitwise_xor(ops.bitwise_xor(first, second),
                                           _number(first, 0x1BD11BDA))]
    keys = [broadcast(k, call.shape) for k in keys]
    a, b = broadcast(a, call.shape) + keys[0], broadcast(b, call.shape) + keys[1]
    for i in range(5):
        for by in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
            a = a + b
            b = ops.bitwise_xor(_rotated(b, by), a)
        a = a + keys[(i + 1) % 3]
        b = b + keys[(i + 2) % 3] + (i + 1)
    return [a, b]


@primitive("iota_2x32_shape", of_bits=True)
def _iota_2x32(call: Call) -> Any:
    """The number of each element, in two words."""
    size = math.prod(call.shape)
    if size >= 2 ** 31:
        raise Unsupported("counts %d elements" % size)
    low = ops.iota(shape=[size], axis=0, dtype="i32").reshape(call.shape)
    high = as_tensor(np.broadcast_to(np.int32(0), call.shape))
    return [high, low]


@primitive("erf_inv", limits="within 2 units of the last place of f32; f64 to 1e-14")
def _erf_inv(call: Call, x: Any) -> Tensor:
    kind = "f64" if call.dtype == "f64" else "f32"
    return erfinv(call.tensor(x).astype(kind)).astype(call.dtype)
