# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: views and reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from .. import functional as F
from .._base.dtypes import NUMPY_TYPES
from .._tracing import views as _views
from .._tracing.exact import rows_at
from .._tracing.pointwise import broadcast
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, primitive, uniform


# Views

@primitive("reshape", "squeeze", "expand_dims", of_bits=True)
def _reshape(call: Call, x: Any) -> Tensor:
    if call.params.get("dimensions") is not None and "new_sizes" in call.params:
        raise Unsupported("reads dimensions in another order")
    return call.tensor(x).reshape(call.shape)


@primitive("broadcast_in_dim", of_bits=True)
def _broadcast_in_dim(call: Call, x: Any) -> Tensor:
    tensor, sizes = call.tensor(x), [1] * len(call.shape)
    for dim, size in zip(call.params["broadcast_dimensions"], tensor.shape):
        sizes[int(dim)] = size
    return broadcast(tensor.reshape(sizes), call.shape)


@primitive("slice", of_bits=True)
def _slice(call: Call, x: Any) -> Tensor:
    steps = call.params["strides"] or [1] * len(call.shape)
    return call.tensor(x)[tuple(
        slice(int(a), int(b), int(s)) for a, b, s in zip(
            call.params["start_indices"], call.params["limit_indices"], steps))]


@primitive("split", of_bits=True)
def _split(call: Call, x: Any) -> Any:
    return list(_views.split(call.tensor(x), [int(n) for n in call.params["sizes"]],
                             int(call.params["axis"])))


@primitive("concatenate", of_bits=True)
def _concatenate(call: Call, *parts: Any) -> Tensor:
    whole = _views.concat([call.tensor(p) for p in parts], int(call.params["dimension"]))
    call.notes.add("concatenate", whole, parts)
    return whole


@primitive("stack", of_bits=True)
def _stack(call: Call, *parts: Any) -> Tensor:
    return _views.stack([call.tensor(p) for p in parts], int(call.params["axis"]))


@primitive("unstack", of_bits=True)
def _unstack(call: Call, x: Any) -> Any:
    tensor, axis = call.tensor(x), int(call.params["axis"])
    return [part(tensor, axis, i, i + 1).reshape(call.shape)
            for i in range(tensor.shape[axis])]


@primitive("tile", of_bits=True)
def _tile(call: Call, x: Any) -> Tensor:
    tensor, repeats = call.tensor(x), [int(n) for n in call.params["reps"]]
    apart = tensor.reshape([n for size in tensor.shape for n in (1, size)])
    whole = broadcast(apart, tuple(n for pair in zip(repeats, tensor.shape) for n in pair))
    return whole.reshape(call.shape)


@primitive("rev", of_bits=True)
def _rev(call: Call, x: Any) -> Tensor:
    tensor = call.tensor(x)
    dims = [int(d) for d in call.params["dimensions"]]
    if any(tensor.shape[d] > 64 for d in dims):
        number = np.flip(np.arange(tensor.size).reshape(tensor.shape), tuple(dims)).reshape(-1)
        return rows_at(tensor.reshape(tensor.size, 1), as_tensor(
            np.ascontiguousarray(number))).reshape(call.shape)
    for dim in dims:
        size = tensor.shape[dim]
        tensor = _views.concat([part(tensor, dim, i, i + 1)
                                for i in reversed(range(size))], dim)
    return tensor


def part(x: Tensor, dim: int, first: int, last: int, step: int = 1) -> Tensor:
    """Elements first to last along a dimension."""
    return x[(slice(None),) * dim + (slice(first, last, step),)]


@primitive("pad", limits="fills with a number", of_bits=True)
def _pad(call: Call, x: Any, value: Any) -> Tensor:
    number = uniform(value)
    if number is None:
        raise Unsupported("fills with a value")
    tensor = call.tensor(x)
    for dim, (low, high, inner) in enumerate(call.params["padding_config"]):
        tensor = _padded(call, tensor, dim, int(low), int(high), int(inner), number)
    return tensor


def _padded(call: Call, x: Tensor, dim: int, low: int, high: int, inner: int,
            number: float) -> Tensor:
    if inner and number:
        raise Unsupported("puts %g between elements" % number)
    size = x.shape[dim] + (x.shape[dim] - 1) * inner
    if number == 0 and (inner or low > 0 or high > 0):
        whole = size + max(low, 0) + max(high, 0)
        x = ops.pad(x, axis=dim, begin=max(low, 0), step=1 + inner, size=whole)
    elif number and (low > 0 or high > 0):
        def side(count: int) -> list[Any]:
            shape = tuple(max(count, 0) if d == dim else s for d, s in enumerate(x.shape))
            return [call.tensor(np.full(shape, number, NUMPY_TYPES[call.dtype]))
                    .astype(call.dtype)] if count > 0 else []
        x = _views.concat([*side(low), x, *side(high)], dim)
    return part(x, dim, max(-low, 0), x.shape[dim] - max(-high, 0))


# Reductions

def _axes(call: Call) -> tuple[int, ...]:
    return tuple(int(a) for a in call.params["axes"])


@primitive("reduce_sum", limits="of integers exact up to 2^53, and no overflow wraps round")
def _reduce_sum(call: Call, x: Any) -> Tensor:
    tensor = call.tensor(x)
    if all(tensor.shape[a] == 1 for a in _axes(call)):
        return tensor.reshape(call.shape)
    if not call.is_float:  # exact up to 2^53
        return tensor.astype("f64").sum(_axes(call)).astype(call.dtype)
    if tensor.dtype in ("f16", "bf16"):
        return tensor.astype("f32").sum(_axes(call)).astype(call.dtype)
    return tensor.sum(_axes(call))


def _comparable(x: Tensor) -> Tensor:
    """No kernel finds the largest i64."""
    return x.astype("f64") if x.dtype == "i64" else x


@primitive("reduce_max", limits="i64 is exact up to 2^53")
def _reduce_max(call: Call, x: Any) -> Tensor:
    tensor = _comparable(call.tensor(x))
    return tensor.max(_axes(call)).astype(call.dtype) if _axes(call) else tensor


@primitive("reduce_min", limits="i64 is exact up to 2^53")
def _reduce_min(call: Call, x: Any) -> Tensor:
    tensor = _comparable(call.tensor(x))
    return tensor.min(_axes(call)).astype(call.dtype) if _axes(call) else tensor


@primitive("reduce_or", limits="of bool")
def _reduce_or(call: Call, x: Any) -> Tensor:
    if call.dtype != "i1":
        raise Unsupported("of %s" % call.dtype)
    return call.tensor(x).astype("f32").max(_axes(call)) != 0


@primitive("reduce_and", limits="of bool")
def _reduce_and(call: Call, x: Any) -> Tensor:
    if call.dtype != "i1":
        raise Unsupported("of %s" % call.dtype)
    return call.tensor(x).astype("f32").min(_axes(call)) != 0


@primitive("argmax", limits="along one dimension")
def _argmax(call: Call, x: Any) -> Tensor:
    return _first(call, call.tensor(x))


@primitive("argmin", limits="along one dimension")
def _argmin(call: Call, x: Any) -> Tensor:
    tensor = call.tensor(x)
    if tensor.dtype in ("i32", "i64"):  # the least number has no opposite
        tensor = tensor.astype("f64")
    return _first(call, ~tensor if tensor.dtype == "i1" else -tensor)


def _first(call: Call, x: Tensor) -> Tensor:
    axes = _axes(call)
    if len(axes) != 1:
        raise Unsupported("along %d dimensions" % len(axes))
    if x.dtype not in ("f16", "bf16", "f32", "f64"):
        x = x.astype("f64")
    return F.argmax(x, axes[0]).astype(call.dtype)


@primitive("top_k", limits="along the last dimension")
def _top_k(call: Call, x: Any) -> Any:
    axis = call.params.get("axis", -1)
    tensor = call.tensor(x)
    if axis not in (-1, len(tensor.shape) - 1):
        raise Unsupported("along another dimension than the last")
    return list(F.top_k(tensor, int(call.params["k"])))
