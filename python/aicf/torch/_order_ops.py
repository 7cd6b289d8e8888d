# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: orders, running results, products over a dimension, counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from .._tracing import scans as _scans, views as _views
from .. import functional as F
from .._tracing.pointwise import FLOATS, where
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, aten

_PAIRS = "up to 2^28 pairs of elements are compared"
#: Largest elements that a kernel finds; more are an order.
_MOST_LARGEST = 64


def _axis(x: Tensor, dim: int) -> int:
    return _views.normal_axis(x, dim)


def _ordered(x: Tensor, dim: int, descending: bool, count: int | None = None
             ) -> tuple[Tensor, Tensor]:
    """The elements along a dimension in order, or the first of them, and their indices."""
    if not x.shape:
        return x, as_tensor(np.asarray(0, "i8"))
    at = _axis(x, dim)
    rows = x.swapaxes(at, -1)
    index = _scans.order([rows], descending)
    if count is not None and count < index.shape[-1]:
        index = index[..., :count]
    return (_scans.ordered(rows, index).swapaxes(at, -1),
            index.astype("i64").swapaxes(at, -1))


@aten("sort.default", "sort.stable", limits=_PAIRS)
def _sort(call: Call, x: Any, dim: int = -1, descending: bool = False, *,
          stable: bool | None = None) -> Any:
    return _ordered(as_tensor(x), dim, descending)


@aten("argsort.default", "argsort.stable", limits=_PAIRS)
def _argsort(call: Call, x: Any, dim: int = -1, descending: bool = False, *,
             stable: bool = True) -> Tensor:
    return _ordered(as_tensor(x), dim, descending)[1]


@aten("topk.default", limits="of equal elements the first; more than 64, integers and the "
                             "smallest: " + _PAIRS)
def _topk(call: Call, x: Any, k: int, dim: int = -1, largest: bool = True,
          is_sorted: bool = True) -> Any:
    tensor = as_tensor(x)
    if tensor.shape and largest and k <= _MOST_LARGEST and tensor.dtype in FLOATS:
        return F.top_k(tensor, k, dim)
    return _ordered(tensor, dim, largest, k)


@aten("kthvalue.default", limits=_PAIRS)
def _kthvalue(call: Call, x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    tensor = as_tensor(x)
    values, index = _ordered(tensor, dim, False)
    if not tensor.shape:
        return values, index
    at = _axis(tensor, dim)
    own = (slice(None),) * at + (slice(k - 1, k) if keepdim else k - 1,)
    return values[own], index[own]


@aten("median.default", limits=_PAIRS)
def _median(call: Call, x: Any) -> Tensor:
    """Its gradient goes to all elements that are it, in equal parts."""
    flat = as_tensor(x).reshape(-1)
    value = _median_of_rows(ops.stop_gradient(flat))[0]
    if not (call.needs_gradient and call.is_float):
        return value
    is_it = (flat == value) | ((flat != flat) & (value != value))
    shares = where(is_it, flat, 0.0) / is_it.astype("f32").sum().astype(flat.dtype)
    return ops.straight_through(value, shares.sum())


def _median_of_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The lower one of two, along the last dimension; NaN where there is one."""
    values, index = _ordered(rows, -1, False)
    middle = (rows.shape[-1] - 1) // 2
    value, at = values[..., middle], index[..., middle]
    if rows.dtype not in FLOATS:
        return value, at
    last, is_nan = values[..., -1], values != values
    first_nan = (rows.shape[-1] - is_nan.astype("f32").sum(-1)).astype("i64")
    of_nan = _scans.ordered(index, first_nan.unsqueeze(-1).clamp(0, rows.shape[-1] - 1))
    has_nan = last != last
    return where(has_nan, last, value), where(has_nan, of_nan[..., 0], at)


@aten("median.dim", limits=_PAIRS)
def _median_along(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
    tensor = as_tensor(x)
    if not tensor.shape:
        return tensor, as_tensor(np.asarray(0, "i8"))
    at = _axis(tensor, dim)
    others = [d for d in range(len(tensor.shape)) if d != at]
    value, index = _median_of_rows(tensor.permute([*others, at]))
    return (value.unsqueeze(at), index.unsqueeze(at)) if keepdim else (value, index)


# Counts

@aten("searchsorted.Tensor", "searchsorted.Scalar", limits=_PAIRS + "; without a sorter")
def _searchsorted(call: Call, bounds: Any, values: Any, *, out_int32: bool = False,
                  right: bool = False, side: str | None = None, sorter: Any = None) -> Tensor:
    if sorter is not None:
        raise Unsupported("has a sorter")
    return _place_in(bounds, values, right or side == "right")


def _place_in(bounds: Any, values: Any, right: bool) -> Tensor:
    own = as_tensor(bounds)
    given = as_tensor(values if hasattr(values, "dtype") else np.asarray(values, "f4"))
    if own.dtype != given.dtype:  # of both, without a rounding
        own, given = own.astype("f64"), given.astype("f64")
    return _scans.count_below(own, given, right)


@aten("bucketize.Tensor", "bucketize.Scalar", limits=_PAIRS)
def _bucketize(call: Call, values: Any, bounds: Any, *, out_int32: bool = False,
               right: bool = False) -> Tensor:
    return _place_in(bounds, values, right)


@aten("histc.default", limits="with bounds that are given; " + _PAIRS)
def _histc(call: Call, x: Any, bins: int = 100, low: float = 0, high: float = 0) -> Tensor:
    tensor = as_tensor(x).reshape(-1)
    if low == high:
        raise Unsupported("has no bounds")
    if tensor.size * bins > _scans.MOST_PAIRS:
        raise Unsupported("counts %d elements in %d places" % (tensor.size, bins))
    kind = tensor.dtype if tensor.dtype in FLOATS else "f64"
    place = ((tensor.astype(kind) - low) * (bins / (high - low))).floor()
    place = where(tensor == high, bins - 1.0, place)
    place = where((tensor >= low) & (tensor <= high), place, -1.0)
    numbers = as_tensor(np.arange(bins, dtype="f4").reshape(bins, 1)).astype(kind)
    return (place.reshape(1, -1) == numbers).astype("f32").sum(1)


# Running results, and products

@aten("cumprod.default")
def _cumprod(call: Call, x: Any, dim: int, *, dtype: Any = None) -> Tensor:
    tensor = call.tensor(x)
    return _scans.cumprod(tensor, _axis(tensor, dim)) if tensor.shape else tensor


@aten("logcumsumexp.default")
def _logcumsumexp(call: Call, x: Any, dim: int) -> Tensor:
    tensor = call.tensor(x)
    return _scans.logcumsumexp(tensor, _axis(tensor, dim)) if tensor.shape else tensor


def _running_extrema() -> None:
    def row(is_max: bool) -> Any:
        def extremum(call: Call, x: Any, dim: int) -> Any:
            tensor = as_tensor(x)
            if not tensor.shape:
                return tensor, as_tensor(np.asarray(0, "i8"))
            at = _axis(tensor, dim)
            _, index = _scans.running_extremum(tensor, at, is_max)
            rows, places = tensor.swapaxes(at, -1), index.swapaxes(at, -1)
            return (_scans.ordered(rows, places).swapaxes(at, -1),
                    index.astype("i64"))
        return extremum
    aten("cummax.default")(row(True))
    aten("cummin.default")(row(False))


_running_extrema()


@aten("prod.default", "prod.dim_int")
def _prod(call: Call, x: Any, dim: int | None = None, keepdim: bool = False, *,
          dtype: Any = None) -> Tensor:
    tensor = call.tensor(x)
    if not tensor.shape:
        return tensor
    return _scans.product(tensor, None if dim is None else [_axis(tensor, dim)], keepdim)


# Bags of rows

def _bags(index: Any, offsets: Any, include_last_offset: bool) -> tuple[Tensor, int]:
    """The bag of each row, and how many there are."""
    count = offsets.shape[0] - (1 if include_last_offset else 0)
    numbers = np.arange(index.shape[0])
    if isinstance(offsets, np.ndarray):
        return as_tensor(np.searchsorted(offsets[:count], numbers, "right") - 1), count
    starts = as_tensor(offsets)[:count]
    return _scans.count_below(starts, as_tensor(numbers).astype(starts.dtype), True) - 1, count


@aten("_embedding_bag.default", "_embedding_bag_forward_only.default",
      limits="sums and means, not scaled by frequency")
def _embedding_bag(call: Call, weight: Any, index: Any, offsets: Any,
                   scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
                   per_sample_weights: Any = None, include_last_offset: bool = False,
                   padding_idx: int = -1) -> Any:
    if scale_grad_by_freq or mode == 2:
        raise Unsupported("takes the largest of a bag" if mode == 2
                          else "scales gradients by frequency")
    table, number = as_tensor(weight), as_tensor(index)
    bag, count = _bags(index, offsets, include_last_offset)
    rows = ops.embedding(table, number, padding=padding_idx)
    counts = as_tensor(np.ones((number.shape[0], 1), "f4")).astype(table.dtype)
    if padding_idx >= 0:
        is_padding = (number == padding_idx).unsqueeze(-1)
        counts = counts.masked_fill(is_padding, 0.0)
        rows = where(is_padding, 0.0, rows)
    if per_sample_weights is not None:
        rows = rows * as_tensor(per_sample_weights).unsqueeze(-1)
    summed = ops.embedding_bwd(rows, bag, rows=count)
    if mode == 1:
        sizes = ops.embedding_bwd(counts, bag, rows=count)
        summed = summed / sizes.clamp(1.0, math.inf)
    return summed, None, None, None
