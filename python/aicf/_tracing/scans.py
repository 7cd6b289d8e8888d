# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders, running results and products, of which no kernel is: as ops, for both imports.

A running result takes log2(n) steps over all elements. An order compares each element of a
row with each other one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from . import views as _views
from .._base.dtypes import NUMPY_TYPES
from .exact import rows_at
from .pointwise import FLOATS, broadcast, where
from .tensor import Tensor
from .trace import as_tensor, trace_error

#: Pairs of elements that are compared to order them.
MOST_PAIRS = 1 << 28


def _filled(shape: Sequence[int], value: Any, dtype: str) -> Tensor:
    array = np.broadcast_to(np.asarray(value, NUMPY_TYPES[dtype]), tuple(shape))
    return as_tensor(array).astype(dtype)


# Running results

def running(columns: Sequence[Tensor], axis: int, combine: Callable[..., Sequence[Tensor]],
            first: Sequence[Any], reverse: bool = False) -> list[Tensor]:
    """Of each element with all before it along a dimension (Hillis and Steele 1986).

    Args:
        columns: tensors of one shape that are combined together.
        combine: takes the columns of the elements before, then those of the elements, and
            returns columns. It is associative.
        first: of each column, what combines to the other operand.
        reverse: with all behind it, instead.
    """
    found, size, step = list(columns), columns[0].shape[axis], 1
    lead = (slice(None),) * axis
    while step < size:
        part = lead + ((slice(step, None) if reverse else slice(0, size - step)),)
        moved = []
        for column, value in zip(found, first):
            fill = _filled([step if d == axis else n for d, n in enumerate(column.shape)],
                           value, column.dtype)
            pair = [column[part], fill] if reverse else [fill, column[part]]
            moved.append(_views.concat(pair, axis))
        found = list(combine(*moved, *found))
        step *= 2
    return found


def cumprod(x: Tensor, axis: int, reverse: bool = False) -> Tensor:
    return running([x], axis, lambda a, b: [a * b], [1], reverse)[0]


def logaddexp(a: Tensor, b: Tensor) -> Tensor:
    """log(exp(a) + exp(b)) without an overflow."""
    most = ops.stop_gradient(ops.maximum(a, b))
    # Of two infinities: the difference would be NaN.
    base = most.masked_fill(most.abs() == math.inf, 0.0)
    return ((a - base).exp() + (b - base).exp()).log() + base


def logcumsumexp(x: Tensor, axis: int, reverse: bool = False) -> Tensor:
    return running([x], axis, lambda a, b: [logaddexp(a, b)], [-math.inf], reverse)[0]


def running_extremum(x: Tensor, axis: int, is_max: bool, reverse: bool = False
                     ) -> tuple[Tensor, Tensor]:
    """The largest or smallest element up to each one, and its index (i32): of equal ones the
    last. NaN is more than any number, and less than any."""
    fixed = ops.stop_gradient(x)
    numbers = _along(np.arange(x.shape[axis]), axis, x.shape)

    def combine(a: Tensor, i: Tensor, b: Tensor, j: Tensor) -> list[Tensor]:
        is_later = (b >= a) if is_max else (b <= a)
        if x.dtype in FLOATS:
            is_later = is_later & (a == a) | (b != b)
        is_later = is_later | (i < 0)  # of nothing
        return [where(is_later, b, a), where(is_later, j, i)]
    # What stands before the first element is never chosen: its number is below 0.
    values, index = running([fixed, numbers], axis, combine, [0, -1], reverse)
    return values, index


def _along(row: Any, axis: int, shape: Sequence[int]) -> Tensor:
    """Numbers (i32) along one dimension of a shape, repeated along the others."""
    sizes = [-1 if d == axis else 1 for d in range(len(shape))]
    return as_tensor(np.ascontiguousarray(np.broadcast_to(
        np.asarray(row, "i4").reshape(sizes), tuple(shape))))


def product(x: Tensor, axes: Sequence[int] | None, keepdim: bool = False) -> Tensor:
    """Of all elements along dimensions, or of all. Its gradient is exact where elements are
    0."""
    gone = list(range(len(x.shape))) if axes is None else list(axes)
    kept = [d for d in range(len(x.shape)) if d not in gone]
    rows = x.permute([*kept, *gone]).reshape([*(x.shape[d] for d in kept), -1]) \
        if x.shape else x.reshape(1)
    while rows.shape[-1] > 1:
        half, rest = divmod(rows.shape[-1], 2)
        pairs = rows[..., :half] * rows[..., half:2 * half]
        rows = _views.concat([pairs, rows[..., -1:]], -1) if rest else pairs
    return rows.reshape([1 if d in gone else n for d, n in enumerate(x.shape)]
                        if keepdim else [x.shape[d] for d in kept])


# Orders

def is_less(a: Tensor, b: Tensor) -> Tensor:
    """NaN comes last."""
    less = a < b
    return less | ((b != b) & (a == a)) if a.dtype in FLOATS else less


def _is_same(a: Tensor, b: Tensor) -> Tensor:
    same = a == b
    return same | ((a != a) & (b != b)) if a.dtype in FLOATS else same


def _comparable(x: Tensor) -> Tensor:
    fixed = ops.stop_gradient(x)
    return fixed.astype("i32") if x.dtype == "i1" else fixed


def order(keys: Sequence[Tensor], descending: bool = False) -> Tensor:
    """The index (i32) of what comes first, second and so on along the last dimension. Equal
    elements stay in order; NaN is more than all numbers.

    Args:
        keys: of one shape; a later one orders what the ones before it leave equal.
    Raises: TraceError: there are more pairs than MOST_PAIRS.
    """
    size = keys[0].shape[-1]
    rows = keys[0].size // size
    if rows * size * size > MOST_PAIRS:
        trace_error("%d rows of %d elements are ordered: expected at most 2^28 pairs"
                    % (rows, size))
    shape = (*keys[0].shape, size)
    is_before = as_tensor(np.broadcast_to(np.tri(size, size, -1) != 0, shape))
    for key in reversed(keys):
        key = _comparable(key)
        own = _repeated(key, -1, size)
        other = _repeated(key, -2, size)
        first, second = (own, other) if descending else (other, own)
        is_before = is_less(first, second) | (_is_same(own, other) & is_before)
    rank = is_before.astype("f32").sum(-1).astype("i32").reshape(rows, size)
    start = as_tensor(np.arange(rows, dtype="i4").reshape(rows, 1) * np.int32(size))
    place = (rank + start).reshape(rows * size)
    number = np.broadcast_to(np.arange(size, dtype="f4"), (rows, size)).reshape(-1, 1)
    index = ops.embedding_bwd(as_tensor(np.ascontiguousarray(number)), place, rows=rows * size)
    return index.astype("i32").reshape(keys[0].shape)


def _repeated(key: Tensor, at: int, size: int) -> Tensor:
    return broadcast(key.unsqueeze(at), (*key.shape, size))


def ordered(x: Tensor, index: Tensor) -> Tensor:
    """x with its elements along the last dimension where an order says."""
    size = x.shape[-1]
    rows = x.size // size
    start = as_tensor(np.arange(rows, dtype="i8").reshape(rows, 1) * size)
    number = index.astype("i64").reshape(rows, index.shape[-1]) + start
    return rows_at(x.reshape(x.size, 1), number.reshape(-1)).reshape(index.shape)


def count_below(bounds: Tensor, values: Tensor, or_equal: bool) -> Tensor:
    """How many of the bounds (along the last dimension) are below each value: the place at
    which searchsorted puts it. i64, of the shape of `values`.

    Args:
        bounds: [..., n], in order.
        values: [..., m] with the same leading dimensions, or of any shape if `bounds` has
            rank 1.
        or_equal: also those that are equal to it.
    Raises: TraceError: there are more pairs than MOST_PAIRS.
    """
    size = bounds.shape[-1]
    if values.size * size > MOST_PAIRS:
        trace_error("%d values are compared with %d bounds: expected at most 2^28 pairs"
                    % (values.size, size))
    shape = (*values.shape, size)
    own = _repeated(_comparable(values), -1, size)
    other = _comparable(bounds)
    other = broadcast(other if len(other.shape) == 1 else other.unsqueeze(-2), shape)
    counts = ~is_less(own, other) if or_equal else is_less(other, own)
    return counts.astype("f32").sum(-1).astype("i64")
