# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: boxes of a tensor that are read or replaced, at places that are known or
that values say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from .._tracing import views as _views
from .._tracing.constants import constant
from .._tracing.pointwise import broadcast, where
from .._tracing.tensor import Tensor
from ._shapes import part
from ._table import Call, is_constant, primitive

#: Where a box starts in a dimension: a number, or a tensor of one.
Start = Any


def starts_inside(call: Call, starts: Sequence[Any], shape: Sequence[int],
                  sizes: Sequence[int]) -> list[Start]:
    """Constants as ints, others as 0-d tensors; moved so that the box is inside, as JAX
    does."""
    made: list[Start] = []
    for at, whole, size in zip(starts, shape, sizes):
        if whole == size:
            made.append(0)
        elif is_constant(at):
            made.append(min(max(int(np.asarray(at).reshape(())), 0), whole - size))
        else:
            made.append(call.tensor(at).reshape(()).clamp(0, whole - size))
    return made


def _rows(x: Tensor, dim: int, rows: Tensor) -> Tensor:
    """Of a dimension those that the indices say."""
    front = x.swapaxes(0, dim)
    return ops.gather_rows(front, rows).swapaxes(0, dim)


def _counted(size: int, start: Start) -> Tensor:
    """0, 1, 2, ... in the type of a start."""
    wide = isinstance(start, Tensor) and start.dtype == "i64"
    return constant(np.arange(size, dtype="i8" if wide else "i4"))


def box_at(x: Tensor, starts: Sequence[Start], sizes: Sequence[int]) -> Tensor:
    """The box of x that starts there and has these sizes."""
    known = [at if isinstance(at, int) else None for at in starts]
    made = x[tuple(slice(None) if at is None else slice(at, at + size)
                   for at, size in zip(known, sizes))]
    for dim, (at, size) in enumerate(zip(starts, sizes)):
        if not isinstance(at, int):
            made = _rows(made, dim, _counted(size, at) + at)
    return made


def put(x: Tensor, box: Tensor, starts: Sequence[Start]) -> Tensor:
    """x with a box of it replaced."""
    moving = [dim for dim, at in enumerate(starts) if not isinstance(at, int)]
    if not moving:
        return _put_known(x, box, starts)
    others = [dim for dim in range(len(starts)) if dim not in moving[:1]]
    if len(moving) == 1 and box.shape[moving[0]] == 1 \
            and all(box.shape[dim] == x.shape[dim] for dim in others):
        front = x.swapaxes(0, moving[0])  # one row: it can be written in place
        row = box.swapaxes(0, moving[0]).reshape(front.shape[1:])
        return ops.record(front, row, starts[moving[0]]).swapaxes(0, moving[0])
    inside = None
    for dim, at in enumerate(starts):
        size = box.shape[dim]
        if size == x.shape[dim]:
            continue
        index = _counted(x.shape[dim], at) - at
        is_in = (index >= 0) & (index < size)
        shape = [-1 if d == dim else 1 for d in range(len(starts))]
        is_in = broadcast(is_in.reshape(shape), x.shape)
        inside = is_in if inside is None else inside & is_in
        box = _rows(box, dim, index)  # clamped
    return where(inside, box, x)


def _put_known(x: Tensor, new: Tensor, starts: Sequence[int], dim: int = 0) -> Tensor:
    if dim == len(x.shape):
        return new
    first, last = starts[dim], starts[dim] + new.shape[dim]
    inside = _put_known(part(x, dim, first, last), new, starts, dim + 1)
    parts = [part(x, dim, 0, first)] if first else []
    parts.append(inside)
    if last < x.shape[dim]:
        parts.append(part(x, dim, last, x.shape[dim]))
    return _views.concat(parts, dim)


@primitive("dynamic_slice", of_bits=True)
def _dynamic_slice(call: Call, x: Any, *starts: Any) -> Tensor:
    tensor = call.tensor(x)
    sizes = [int(n) for n in call.params["slice_sizes"]]
    return box_at(tensor, starts_inside(call, starts, tensor.shape, sizes), sizes)


@primitive("dynamic_update_slice", of_bits=True)
def _dynamic_update_slice(call: Call, x: Any, update: Any, *starts: Any) -> Tensor:
    tensor, new = call.tensor(x), call.tensor(update)
    return put(tensor, new, starts_inside(call, starts, tensor.shape, new.shape))
