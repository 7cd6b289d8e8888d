# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: elements and rows that integers choose, read and written.

All of them are rows of a table of rank 2 and one number for each: an index outside of its
dimension gives NaN (of integers 0), and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import functional as F, ops
from .._tracing import views as _views
from .._tracing.exact import flat_index, rows_at
from .._tracing.pointwise import FLOATS, broadcast, where
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, aten

#: Elements that are compared to find the last of several that are written to one place.
_MOST_COMPARED = 1 << 28


def _positive(index: Any, size: int) -> Any:
    """Numbers from the end become numbers from the start. A constant stays one."""
    if isinstance(index, np.ndarray):
        return np.where(index < 0, index + size, index)
    tensor = as_tensor(index)
    return where(tensor < 0, tensor + size, tensor)


def _to_front(x: Tensor, dims: Sequence[int]) -> Tensor:
    return x.permute([*dims, *(d for d in range(len(x.shape)) if d not in dims)])


def _from_front(x: Tensor, dims: Sequence[int]) -> Tensor:
    """The other way round: the first dimensions become these ones."""
    order = [*dims, *(d for d in range(len(x.shape)) if d not in dims)]
    return x.permute([order.index(d) for d in range(len(order))])


@aten("embedding.default", limits="not scaled by frequency")
def _embedding(call: Call, weight: Any, index: Any, padding_idx: int = -1,
               scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    if scale_grad_by_freq:
        raise Unsupported("scales gradients by frequency")
    return ops.embedding(weight, index, padding=padding_idx)


def _rows_of(x: Tensor, index: Tensor, at: int) -> Tensor:
    """x[..., index, ...] along a dimension."""
    front = _to_front(x, [at])
    rest = front.shape[1:]
    rows = rows_at(front.reshape(front.shape[0], math.prod(rest)), index)
    rank = len(index.shape)
    return _from_front(rows.reshape([*index.shape, *rest]), range(at, at + rank))


_INTEGERS = "integers are exact up to 2^53"


@aten("index_select.default", limits=_INTEGERS, is_linear=True)
def _index_select(call: Call, x: Any, dim: int, index: Any) -> Tensor:
    tensor = as_tensor(x)
    if not tensor.shape:
        return tensor
    number = as_tensor(index)
    return _rows_of(tensor, number.reshape(-1), _views.normal_axis(tensor, dim))


def _given(indices: Sequence[Any]) -> list[tuple[int, Any]]:
    """Dimensions that have an index, with it. A constant mask is as many indices as it has
    dimensions. Raises Unsupported: another mask."""
    found, at = [], 0
    for index in indices:
        if index is not None and str(index.dtype) in ("bool", "i1"):
            if not isinstance(index, np.ndarray):
                raise Unsupported("takes a mask, and the number of elements depends on values")
            found += [(at + i, part) for i, part in enumerate(index.nonzero())]
            at += index.ndim
            continue
        if index is not None:
            found.append((at, index))
        at += 1
    return found


def _table_of(x: Tensor, places: Sequence[int]) -> Tensor:
    """Rank 2: a row for each combination of indices of these dimensions."""
    front = _to_front(x, places)
    rows = math.prod(front.shape[:len(places)])
    return front.reshape(rows, math.prod(front.shape[len(places):]))


def _number_of(x: Tensor, given: Sequence[tuple[int, Any]]) -> Any:
    """The row of that table, in the shape of the indices; a constant if all are."""
    sizes = [x.shape[place] for place, _ in given]
    indices = [_positive(index, size) for (_, index), size in zip(given, sizes)]
    if all(isinstance(index, np.ndarray) for index in indices) and all(
            ((index >= 0) & (index < size)).all() for index, size in zip(indices, sizes)):
        return np.asarray(np.ravel_multi_index(
            tuple(np.broadcast_arrays(*indices)), sizes), "i8")
    return flat_index(indices, sizes)


@aten("index.Tensor", limits=_INTEGERS + "; masks are constants", is_linear=True)
def _index(call: Call, x: Any, indices: Sequence[Any]) -> Tensor:
    tensor = as_tensor(x)
    given = _given(indices)
    places = [place for place, _ in given]
    number = as_tensor(_number_of(tensor, given))
    rest = [d for i, d in enumerate(tensor.shape) if i not in places]
    taken = rows_at(_table_of(tensor, places), number).reshape([*number.shape, *rest])
    # Indices of dimensions that follow each other stay where they were.
    first = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    return _from_front(taken, range(first, first + len(number.shape)))


@aten("take.default", limits=_INTEGERS, is_linear=True)
def _take(call: Call, x: Any, index: Any) -> Tensor:
    taken: Tensor = _index(call, as_tensor(x).reshape(-1), [index])
    return taken


@aten("index_put.default", limits="masks are constants; where several elements have one "
                                  "place, the last one stays")
def _index_put(call: Call, x: Any, indices: Sequence[Any], values: Any,
               accumulate: bool = False) -> Tensor:
    tensor = call.tensor(x)
    given = _given(indices)
    places = [place for place, _ in given]
    number = _number_of(tensor, given)
    rest = [d for i, d in enumerate(tensor.shape) if i not in places]
    first = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    shape = [*rest[:first], *number.shape, *rest[first:]]
    rows = _to_front(broadcast(call.tensor(values), tuple(shape)),
                     range(first, first + len(number.shape)))
    table = _table_of(tensor, places)
    written = put_rows(table, number.reshape(-1),
                       rows.reshape(math.prod(number.shape), table.shape[1]), accumulate)
    return _from_front(written.reshape([*(tensor.shape[p] for p in places), *rest]), places)


def put_rows(table: Tensor, number: Any, rows: Tensor, accumulate: bool) -> Tensor:
    """The table with rows in the places that the numbers name, or added there. Of several
    for one place the last one stays, and all have the gradient of that place, as in PyTorch."""
    if accumulate:
        return _added(table, as_tensor(number), rows)
    fixed = [ops.stop_gradient(t) for t in (table, rows)]
    made = _replaced(fixed[0], number, fixed[1])
    if table.dtype not in FLOATS:
        return made
    ones = np.broadcast_to(np.ones((), "f4"), (rows.shape[0], 1))
    is_written = ops.embedding_bwd(as_tensor(ones), as_tensor(number), rows=table.shape[0]) > 0
    kept = table.masked_fill(broadcast(is_written, table.shape), 0.0)
    return ops.straight_through(made, _added(kept, as_tensor(number), rows))


def _replaced(table: Tensor, number: Any, rows: Tensor) -> Tensor:
    count, size = rows.shape[0], table.shape[0]
    source: Any
    if isinstance(number, np.ndarray):
        source = np.arange(size)
        source[number] = size + np.arange(count)  # NumPy's last one stays, too
    else:
        if count * size > _MOST_COMPARED:
            raise Unsupported("writes %d elements to %d places" % (count, size))
        is_it = number.reshape(1, count) == as_tensor(np.arange(size).reshape(size, 1))
        last = where(is_it, as_tensor(np.arange(1.0, count + 1.0)), 0.0).max(1)
        source = where(last > 0, last + (size - 1.0), as_tensor(np.arange(float(size)))
                       ).astype("i64")
    return rows_at(_views.concat([table, rows], 0), as_tensor(source))


def _added(table: Tensor, number: Tensor, rows: Tensor) -> Tensor:
    size = table.shape[0]
    if table.dtype in FLOATS:
        return table + ops.embedding_bwd(rows, number, rows=size)
    summed = ops.embedding_bwd(rows.astype("f64"), number, rows=size)
    return (table.astype("f64") + summed).astype(table.dtype)


# Along one dimension, with an index for each element

def _element_numbers(x: Tensor, dim: int, index: Any) -> Tensor:
    """The flat number of x[i.., index[i.., k, j..], j..] for each element of the index."""
    shape, size = tuple(index.shape), x.shape[dim]
    strides = [math.prod(x.shape[d + 1:]) for d in range(len(x.shape))]
    others = sum((np.arange(n).reshape([-1 if i == d else 1 for i in range(len(shape))])
                  * strides[d] for d, n in enumerate(shape) if d != dim),
                 start=np.zeros([1] * len(shape), "i8"))
    inside = _positive(index, size)
    number = as_tensor(inside) * strides[dim] + as_tensor(others)
    outside = (as_tensor(inside) < 0) | (as_tensor(inside) >= size)
    return number.masked_fill(outside, -1)


@aten("gather.default", limits=_INTEGERS, is_linear=True)
def _gather(call: Call, x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Tensor:
    tensor, at = as_tensor(x), as_tensor(index)
    if not tensor.shape:
        return tensor.reshape(call.shape)
    place = _views.normal_axis(tensor, dim)
    is_whole = all(a == b for i, (a, b) in enumerate(zip(tensor.shape, at.shape))
                   if i != place)
    if tensor.dtype not in FLOATS or not is_whole or at.shape[place] > 64:
        number = _element_numbers(tensor, place, index)
        return rows_at(tensor.reshape(tensor.size, 1), number.reshape(-1)
                       ).reshape(call.shape)
    order = [i for i in range(len(tensor.shape)) if i != place] + [place]
    rows = tensor if order[place] == place else tensor.permute(order)
    picked = [ops.pick(rows, at[(slice(None),) * place + (i,)]).unsqueeze(place)
              for i in range(at.shape[place])]
    return _views.concat(picked, place)


def _scattered(call: Call, x: Any, dim: int, index: Any, source: Any, accumulate: bool
               ) -> Tensor:
    tensor = call.tensor(x)
    if not tensor.shape:
        tensor, index = tensor.reshape(1), as_tensor(index).reshape(1)
    place = _views.normal_axis(tensor, dim)
    values = call.tensor(source)
    shape = tuple(index.shape)
    if not values.shape:
        values = broadcast(values, shape)
    elif tuple(values.shape) != shape:
        values = values[tuple(slice(0, n) for n in shape)]
    number = _element_numbers(tensor, place, index).reshape(-1)
    written = put_rows(tensor.reshape(tensor.size, 1), number,
                       values.reshape(values.size, 1), accumulate)
    return written.reshape(call.shape)


@aten("scatter.src", "scatter.value", limits="where several elements have one place, the "
                                             "last one stays")
def _scatter(call: Call, x: Any, dim: int, index: Any, source: Any) -> Tensor:
    return _scattered(call, x, dim, index, source, False)


@aten("scatter_add.default")
def _scatter_add(call: Call, x: Any, dim: int, index: Any, source: Any) -> Tensor:
    return _scattered(call, x, dim, index, source, True)


@aten("index_add.default")
def _index_add(call: Call, x: Any, dim: int, index: Any, source: Any, *,
               alpha: float = 1) -> Tensor:
    tensor = call.tensor(x)
    place = _views.normal_axis(tensor, dim)
    rows = _table_of(call.tensor(source) * alpha, [place])
    added = _added(_table_of(tensor, [place]), as_tensor(index).reshape(-1), rows)
    rest = [d for i, d in enumerate(tensor.shape) if i != place]
    return _from_front(added.reshape([tensor.shape[place], *rest]), [place])


@aten("one_hot.default")
def _one_hot(call: Call, index: Any, num_classes: int = -1) -> Tensor:
    return F.one_hot(index, call.shape[-1])
