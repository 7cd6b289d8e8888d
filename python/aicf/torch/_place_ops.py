# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: elements in places that are known while a graph is imported.

Each is a lookup with constant numbers, or a write with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tracing import views as _views
from .._tracing.exact import rows_at
from .._tracing.pointwise import broadcast
from .._tracing.scans import count_below
from .._tracing.tensor import Tensor, matmul
from .._tracing.trace import as_tensor
from ._lookup_ops import put_rows
from ._table import Call, Unsupported, aten

#: Parts of a dimension that are slices beside each other; more are looked up.
_MOST_SLICES = 64


def taken(x: Tensor, places: Any) -> Tensor:
    """Elements of x by their numbers in row-major order, which NumPy has, in their shape."""
    flat = rows_at(x.reshape(x.size, 1), as_tensor(np.ascontiguousarray(places.reshape(-1))))
    return flat.reshape(places.shape)


def _numbers(shape: Sequence[int]) -> Any:
    """The number of each element."""
    return np.arange(math.prod(shape)).reshape(tuple(shape))


def _put(x: Tensor, source: Tensor, places: Any) -> Tensor:
    """x with the elements of `source` in these places."""
    table = put_rows(x.reshape(x.size, 1), places.reshape(-1), source.reshape(source.size, 1),
                    False)
    return table.reshape(x.shape)


@aten("flip.default", is_linear=True)
def _flip(call: Call, x: Any, dims: Sequence[int]) -> Tensor:
    tensor = as_tensor(x)
    for dim in dims:
        at = _views.normal_axis(tensor, dim)
        size = tensor.shape[at]
        if size > _MOST_SLICES:
            return taken(as_tensor(x), np.flip(_numbers(x.shape), tuple(dims)))
        lead = (slice(None),) * at
        tensor = _views.concat([tensor[(*lead, slice(i, i + 1))]
                                for i in reversed(range(size))], at)
    return tensor


@aten("unfold.default", is_linear=True)
def _unfold(call: Call, x: Any, dim: int, size: int, step: int) -> Tensor:
    tensor = as_tensor(x)
    if not tensor.shape:
        return tensor.reshape(call.shape)
    at = _views.normal_axis(tensor, dim)
    count = call.shape[at]
    lead = (slice(None),) * at
    if size > _MOST_SLICES:
        windows = np.lib.stride_tricks.sliding_window_view(_numbers(tensor.shape), size, at)
        return taken(tensor, windows[(*lead, slice(None, None, step))])
    return _views.stack([tensor[(*lead, slice(i, i + step * (count - 1) + 1, step))]
                         for i in range(size)], -1)


@aten("diagonal.default", is_linear=True)
def _diagonal(call: Call, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    return taken(as_tensor(x), np.diagonal(_numbers(x.shape), offset, dim1, dim2))


@aten("diagonal_scatter.default", is_linear=True)
def _diagonal_scatter(call: Call, x: Any, source: Any, offset: int = 0, dim1: int = 0,
                      dim2: int = 1) -> Tensor:
    return _put(call.tensor(x), call.tensor(source),
                np.diagonal(_numbers(x.shape), offset, dim1, dim2))


def _strided(call: Call, size: Sequence[int], stride: Sequence[int], offset: int | None) -> Any:
    """The numbers of the elements that lie at these places of the operand's storage. Raises
    Unsupported: they are of another tensor."""
    strides, own, shape = call.layout
    places = sum((np.arange(n).reshape([-1 if i == d else 1 for i in range(len(shape))]) * step
                  for d, (n, step) in enumerate(zip(shape, strides))),
                 start=np.asarray(own))
    wanted = sum((np.arange(n).reshape([-1 if i == d else 1 for i in range(len(size))]) * step
                  for d, (n, step) in enumerate(zip(size, stride))),
                 start=np.asarray(own if offset is None else offset))
    number = np.full(max(int(places.max()), int(wanted.max())) + 1, -1)
    number[places] = _numbers(shape)
    found = number[np.broadcast_to(wanted, tuple(size))]
    if (found < 0).any():
        raise Unsupported("reads beside its operand")
    return found


@aten("as_strided.default", is_linear=True)
def _as_strided(call: Call, x: Any, size: Sequence[int], stride: Sequence[int],
                storage_offset: int | None = None) -> Tensor:
    places = _strided(call, size, stride, storage_offset)
    tensor = as_tensor(x)
    if places.size == tensor.size and (places.reshape(-1) == np.arange(tensor.size)).all():
        return tensor.reshape(call.shape)
    return taken(tensor, places)


@aten("as_strided_scatter.default", is_linear=True)
def _as_strided_scatter(call: Call, x: Any, source: Any, size: Sequence[int],
                        stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    return _put(call.tensor(x), call.tensor(source),
                _strided(call, size, stride, storage_offset))


@aten("linalg_householder_product.default", limits="one product for each column")
def _householder_product(call: Call, x: Any, tau: Any) -> Tensor:
    """The first columns of H_1 H_2 ... with H_i = 1 - tau_i v_i v_iᵀ, where v_i is column i of
    x below its diagonal, behind a 1 (LAPACK's orgqr)."""
    tensor, factors = call.tensor(x), call.tensor(tau)
    rows, columns = tensor.shape[-2:]
    batch = tensor.shape[:-2]
    below = np.tri(rows, columns, -1) != 0
    unit = np.broadcast_to(np.eye(rows, columns, dtype="f4"), tensor.shape)
    vectors = tensor.masked_fill(as_tensor(np.broadcast_to(~below, tensor.shape)), 0.0) \
        + as_tensor(unit).astype(call.dtype)
    made: Tensor = as_tensor(unit).astype(call.dtype)
    for i in reversed(range(factors.shape[-1])):
        vector = vectors[..., i:i + 1]
        share = matmul(vector.swapaxes(-1, -2), made) * factors[..., i].reshape([*batch, 1, 1])
        made = made - matmul(vector, share)
    return made


# Products of three

def _spread(x: Tensor, dims: Sequence[int]) -> Tensor:
    for dim in sorted(dims):
        x = x.unsqueeze(dim)
    return x


@aten("_trilinear.default")
def _trilinear(call: Call, a: Any, b: Any, c: Any, expand1: Sequence[int],
               expand2: Sequence[int], expand3: Sequence[int], sumdim: Sequence[int],
               unroll_dim: int = 1) -> Tensor:
    x, y, z = (as_tensor(v) for v in (a, b, c))
    if len(x.shape) == 2 and len(y.shape) == 3 and [*expand1, *expand2, *expand3, *sumdim] \
            == [1, 3, 0, 1, 2, 2, 3]:  # nn.Bilinear: [B, I], [O, I, J], [B, J]
        matrix = y.permute(1, 0, 2).reshape(y.shape[1], y.shape[0] * y.shape[2])
        rows = matmul(x, matrix).reshape(x.shape[0], y.shape[0], y.shape[2])
        return matmul(rows, z.unsqueeze(-1)).squeeze(-1)
    parts = [_spread(t, dims) for t, dims in ((x, expand1), (y, expand2), (z, expand3))]
    shape = tuple(max(sizes) for sizes in zip(*(p.shape for p in parts)))
    whole = [broadcast(p, shape) for p in parts]
    return (whole[0] * whole[1] * whole[2]).sum(tuple(sumdim))


# Products of rows with the matrix of their group

@aten("_grouped_mm.default", "transformers.grouped_mm_fallback.default",
      limits="each matrix takes all rows, of which those of its group stay")
def _grouped_mm(call: Call, x: Any, matrices: Any, offs: Any = None, bias: Any = None,
                out_dtype: Any = None) -> Tensor:
    """Rows of x, in order of their group, times its matrix. Rows behind the last group give
    0, as transformers' does."""
    rows, table = as_tensor(x), as_tensor(matrices)
    if len(rows.shape) != 2 or len(table.shape) != 3 or offs is None or bias is not None:
        raise Unsupported("is of %s by %s" % (rows, table))
    numbers = np.arange(rows.shape[0], dtype="i4")
    group = count_below(as_tensor(offs).astype("i32"), as_tensor(numbers), True)
    count = table.shape[0]
    is_own = group.unsqueeze(0) == as_tensor(np.arange(count).reshape(count, 1))  # [G, S]
    own = broadcast(is_own.unsqueeze(-1), (count, *rows.shape))
    each = broadcast(rows.unsqueeze(0), (count, *rows.shape)).masked_fill(~own, 0.0)
    return matmul(each, table).sum(0).astype(call.dtype)
