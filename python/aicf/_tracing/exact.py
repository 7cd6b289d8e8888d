# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a quotient, a remainder, an extremum, a root and an index mean at every value.

`aicf.functional`, the import of PyTorch's modules and that of JAX's steps share these
functions of traced tensors. Values and gradients are PyTorch's, also at ties, at zeros, at
infinities and at NaN. 16-bit operands are computed in f32, and the result is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import ops
from .constants import is_array
from .pointwise import FLOATS, broadcast_all, where, wide
from .tensor import Tensor
from .trace import as_tensor

Axes = tuple[int, ...] | None


# Quotients

def _in_one_type(function: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor
                 ) -> Tensor:
    """function(a, b) in f32 for 16-bit tensors, in f64 for integers, else in their type."""
    a, b = broadcast_all([a, b])
    if a.dtype in FLOATS:
        return function(wide(a), wide(b)).astype(a.dtype)
    return function(a.astype("f64"), b.astype("f64")).astype(a.dtype)


def truncated(x: Tensor) -> Tensor:
    """The nearest integer toward zero, with the sign of x."""
    return where(x < 0, x.ceil(), x.floor())


def fmod(a: Tensor, b: Tensor) -> Tensor:
    """a less a multiple of b, exact, with the sign of a: C's fmod, and % of C's integers.
    Integers are exact up to 2^53."""
    return _in_one_type(ops.fmod, a, b)


def remainder(a: Tensor, b: Tensor) -> Tensor:
    """a less a multiple of b, with the sign of b: Python's %. Integers are exact up to
    2^53."""
    def function(a: Tensor, b: Tensor) -> Tensor:
        rest = ops.fmod(a, b)
        return where(_has_other_sign(rest, b), rest + b, rest)
    return _in_one_type(function, a, b)


def _has_other_sign(rest: Tensor, b: Tensor) -> Tensor:
    return (rest != 0) & ((rest < 0) ^ (b < 0))


def quotient_toward_zero(a: Tensor, b: Tensor) -> Tensor:
    """trunc(a / b). It is exact for integers up to 2^53. The gradient is 0."""
    def of_integers(a: Tensor, b: Tensor) -> Tensor:
        return (a - ops.fmod(a, b)) / b
    a, b = ops.stop_gradient(a), ops.stop_gradient(b)
    if a.dtype in FLOATS:
        return _in_one_type(lambda a, b: truncated(a / b), a, b)
    return _in_one_type(of_integers, a, b)


def floor_quotient(a: Tensor, b: Tensor) -> Tensor:
    """The integer q for which a - q · b is remainder(a, b): Python's //. It is a / b where
    b is 0. The gradient is 0. Integers are exact up to 2^53."""
    def function(a: Tensor, b: Tensor) -> Tensor:
        rest, plain = ops.fmod(a, b), a / b
        multiple = (a - rest) / b
        multiple = where(_has_other_sign(rest, b), multiple - 1.0, multiple)
        below = multiple.floor()  # it may be off by a rounding
        whole = where(multiple - below > 0.5, below + 1.0, below)
        return where(b == 0, plain, where(multiple == 0, plain * 0.0, whole))
    return _in_one_type(function, ops.stop_gradient(a), ops.stop_gradient(b))


# Extrema and roots

def shared_extremum(x: Tensor, axes: Axes, keepdim: bool, is_max: bool,
                    are_all_nan: bool) -> Tensor:
    """The largest or smallest element of a float type over `axes`, or over all. The
    gradient goes to all elements that are it, in equal parts.

    Args:
        are_all_nan: where the extremum is NaN, all gradients are NaN; otherwise elements
            that are NaN share it.
    """
    function = Tensor.max if is_max else Tensor.min
    fixed = ops.stop_gradient(x)
    most = function(fixed, axes, True)
    if are_all_nan:  # neither below it nor comparable with it
        is_it = ~(fixed < most if is_max else fixed > most)
    else:
        is_it = (fixed == most) | (fixed != fixed)
    count = is_it.astype(wide(x).dtype).sum(axes, True)
    if are_all_nan:
        count = where(most == most, count, most.astype(count.dtype))
    shares = (wide(x).masked_fill(~is_it, 0.0) / count).sum(axes, True)
    # The sum of the parts is rounded, and the extremum is not.
    rounding = ops.stop_gradient(wide(most) - shares)
    value = shares + rounding.masked_fill(wide(most).abs() == float("inf"), 0.0)
    return _reduced(value.astype(x.dtype), x, axes, keepdim)


def _reduced(value: Tensor, x: Tensor, axes: Axes, keepdim: bool) -> Tensor:
    if keepdim:
        return value
    gone = range(len(x.shape)) if axes is None else axes
    return value.reshape([d for i, d in enumerate(x.shape) if i not in gone])


def root(x: Tensor) -> Tensor:
    """The square root. Its gradient where x is 0 is 0, and not infinite."""
    is_zero = x == 0
    return x.masked_fill(is_zero, 1.0).sqrt().masked_fill(is_zero, 0.0)


def low_bits(x: Tensor, bits: int, has_sign: bool) -> Tensor:
    """An integer as a type of fewer bits, below 32, has it: it wraps around."""
    def number(value: int) -> Tensor:
        return ops.fill_like(x, value=float(value))
    if not has_sign:
        return ops.bitwise_and(x, number(2 ** bits - 1))
    places = number(32 - bits)
    return ops.shift_right(ops.shift_left(x, places), places)


# Indices

def rows_at(table: Tensor, number: Tensor) -> Tensor:
    """Rows of a table of rank 2 and of any type, one for each number; integers are exact up
    to 2^53. A number outside gives NaN, of integers 0 and of i1 False."""
    if table.dtype in FLOATS:
        return ops.embedding(table, number)
    if table.dtype == "i1":
        return ops.embedding(table.astype("f32"), number) > 0
    return ops.embedding(table.astype("f64"), number).astype(table.dtype)


def flat_index(indices: Sequence[Any], sizes: Sequence[int]) -> Tensor:
    """The number of an element, in row-major order, of a table of shape `sizes`. An index
    outside of its dimension gives -1, which is outside of the table."""
    tensors = [as_tensor(i) for i in indices]
    if len(tensors) == 1:
        return tensors[0]
    number, outside = tensors[0], None
    for at, (tensor, size) in enumerate(zip(tensors, sizes)):
        if at:
            number = number * size + tensor
        known = indices[at]
        if not is_array(known) or not ((known >= 0) & (known < size)).all():
            wrong = (tensor < 0) | (tensor >= size)
            outside = wrong if outside is None else outside | wrong
    return number if outside is None else number.masked_fill(outside, -1)
