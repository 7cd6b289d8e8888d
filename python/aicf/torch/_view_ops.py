# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: views, and tensors that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from .._tracing import views as _views
from .._base.dtypes import NUMPY_TYPES
from .._tracing.pointwise import broadcast
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, aten, lower_triangle


@aten("view.default", "reshape.default", "_unsafe_view.default", "squeeze.default",
      "squeeze.dim", "squeeze.dims", "unsqueeze.default", "flatten.using_ints",
      "unflatten.int", "view_as.default", is_linear=True)
def _reshape(call: Call, x: Any, *args: Any) -> Tensor:
    return as_tensor(x).reshape(call.shape)


@aten("permute.default", is_linear=True)
def _permute(call: Call, x: Any, dims: Sequence[int]) -> Any:
    tensor = as_tensor(x)
    order = [d % len(tensor.shape) for d in dims]
    return tensor.T if order == [1, 0] else tensor.permute(order)


@aten("transpose.int", "swapaxes.default", "swapdims.default", is_linear=True)
def _transpose(call: Call, x: Any, a: int, b: int) -> Any:
    tensor = as_tensor(x)
    rank = len(tensor.shape)
    if rank == 2 and a % 2 != b % 2:
        return tensor.T
    return tensor.swapaxes(a, b) if rank else tensor


@aten("t.default", "numpy_T.default", is_linear=True)
def _t(call: Call, x: Any) -> Any:
    tensor = as_tensor(x)
    return tensor.T if len(tensor.shape) == 2 else tensor.transpose()


@aten("expand.default", "expand_as.default", "broadcast_to.default", is_linear=True)
def _expand(call: Call, x: Any, *args: Any, implicit: bool = False) -> Tensor:
    return broadcast(as_tensor(x), call.shape)


@aten("repeat.default", is_linear=True)
def _repeat(call: Call, x: Any, repeats: Sequence[int]) -> Tensor:
    tensor = as_tensor(x)
    shape = (1,) * (len(repeats) - len(tensor.shape)) + tensor.shape
    apart = tensor.reshape([n for size in shape for n in (1, size)])
    whole = broadcast(apart, tuple(n for pair in zip(repeats, shape) for n in pair))
    return whole.reshape(call.shape)


@aten("repeat_interleave.self_int", is_linear=True)
def _repeat_interleave(call: Call, x: Any, repeats: int, dim: int | None = None,
                       **kwargs: Any) -> Tensor:
    tensor = as_tensor(x)
    if dim is None:
        tensor, dim = tensor.reshape(-1), 0
    at = _views.normal_axis(tensor, dim)
    shape = list(tensor.shape)
    shape.insert(at + 1, repeats)
    return broadcast(tensor.unsqueeze(at + 1), tuple(shape)).reshape(call.shape)


def _part(x: Tensor, dim: int, part: Any) -> Tensor:
    return x[(slice(None),) * dim + (part,)]


def _range(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """As Python has it; PyTorch writes 2^63 - 1 for the end."""
    first, last, _ = slice(start, None if end is None or end >= 2 ** 63 - 1 else end
                           ).indices(size)
    return first, last


@aten("slice.Tensor", is_linear=True)
def _slice(call: Call, x: Any, dim: int = 0, start: int | None = None,
           end: int | None = None, step: int = 1) -> Tensor:
    tensor = as_tensor(x)
    at = _views.normal_axis(tensor, dim)
    first, last = _range(tensor.shape[at], start, end)
    return _part(tensor, at, slice(first, last, step))


@aten("select.int", is_linear=True)
def _select(call: Call, x: Any, dim: int, index: int) -> Tensor:
    tensor = as_tensor(x)
    return _part(tensor, _views.normal_axis(tensor, dim), index)


@aten("narrow.default", is_linear=True)
def _narrow(call: Call, x: Any, dim: int, start: int, length: int) -> Any:
    return _slice(call, x, dim, start, start + length if start + length else None)


@aten("split.Tensor", "split.sizes", "split_with_sizes.default", is_linear=True)
def _split(call: Call, x: Any, sizes: Any, dim: int = 0) -> Any:
    if isinstance(sizes, int) or all(sizes):
        return _views.split(as_tensor(x), sizes, dim)
    parts = iter(_views.split(as_tensor(x), [n for n in sizes if n], dim))
    return tuple(next(parts) if n else None for n in sizes)  # what is empty, nobody reads


@aten("chunk.default", is_linear=True)
def _chunk(call: Call, x: Any, chunks: int, dim: int = 0) -> Any:
    return _views.chunk(as_tensor(x), chunks, dim)


@aten("unbind.int", is_linear=True)
def _unbind(call: Call, x: Any, dim: int = 0) -> Any:
    tensor = as_tensor(x)
    at = _views.normal_axis(tensor, dim)
    return tuple(_part(tensor, at, i) for i in range(tensor.shape[at]))


@aten("cat.default", "concat.default", is_linear=True)
def _cat(call: Call, tensors: Sequence[Any], dim: int = 0) -> Tensor:
    return _views.concat([call.tensor(x) for x in tensors if 0 not in x.shape], dim)


@aten("stack.default", is_linear=True)
def _stack(call: Call, tensors: Sequence[Any], dim: int = 0) -> Tensor:
    return _views.stack([call.tensor(x) for x in tensors], dim)


@aten("roll.default", is_linear=True)
def _roll(call: Call, x: Any, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    tensor = as_tensor(x)
    turned = tensor if dims else tensor.reshape(-1)
    for shift, dim in zip(shifts, dims or [0]):
        at = _views.normal_axis(turned, dim)
        by = shift % turned.shape[at]
        if by:
            turned = _views.concat([_part(turned, at, slice(-by, None)),
                                    _part(turned, at, slice(None, -by))], at)
    return turned.reshape(tensor.shape)


@aten("constant_pad_nd.default", "pad.default",
      limits="fills with a number, or with zeros")
def _pad(call: Call, x: Any, pads: Sequence[int], mode: Any = "constant",
         value: Any = None) -> Tensor:
    if not isinstance(mode, str):  # constant_pad_nd has no mode
        mode, value = "constant", mode
    if mode != "constant":
        raise Unsupported("pads by %s" % mode)
    tensor, number = as_tensor(x), value or 0
    for i in range(len(pads) // 2):
        at = len(tensor.shape) - 1 - i
        before, after = pads[2 * i], pads[2 * i + 1]
        size = tensor.shape[at]
        if before < 0 or after < 0:
            tensor = _part(tensor, at, slice(max(0, -before), size - max(0, -after)))
            before, after = max(0, before), max(0, after)
        if not before and not after:
            continue
        if number == 0:
            tensor = ops.pad(tensor, axis=at, begin=before,
                             size=tensor.shape[at] + before + after)
            continue
        sides = [broadcast(call.tensor(number), tuple(
            n if d == at else s for d, s in enumerate(tensor.shape)))
            for n in (before, after) if n]
        tensor = _views.concat([*sides[:bool(before)], tensor, *sides[bool(before):]], at)
    return tensor


def _scattered(x: Tensor, source: Tensor, at: int, first: int, last: int) -> Tensor:
    """x with `source` in its place along a dimension."""
    parts = [_part(x, at, slice(None, first))] if first else []
    parts.append(source)
    if last < x.shape[at]:
        parts.append(_part(x, at, slice(last, None)))
    return _views.concat(parts, at)


@aten("slice_scatter.default", limits="steps of 1", is_linear=True)
def _slice_scatter(call: Call, x: Any, source: Any, dim: int = 0, start: int | None = None,
                   end: int | None = None, step: int = 1) -> Tensor:
    tensor = call.tensor(x)
    at = _views.normal_axis(tensor, dim)
    first, last = _range(tensor.shape[at], start, end)
    if step != 1:
        raise Unsupported("has a step of %d" % step)
    return _scattered(tensor, call.tensor(source), at, first, last)


@aten("select_scatter.default", is_linear=True)
def _select_scatter(call: Call, x: Any, source: Any, dim: int, index: int) -> Tensor:
    tensor = call.tensor(x)
    at = _views.normal_axis(tensor, dim)
    first = index % tensor.shape[at]
    return _scattered(tensor, call.tensor(source).unsqueeze(at), at, first, first + 1)


def _triangle(call: Call, x: Any, mask: Any) -> Tensor:
    tensor = as_tensor(x)
    kept = broadcast(as_tensor(mask), tensor.shape)
    return tensor.masked_fill(~kept, 0)


@aten("tril.default", is_linear=True)
def _tril(call: Call, x: Any, diagonal: int = 0) -> Tensor:
    return _triangle(call, x, lower_triangle(call.shape, diagonal))


@aten("triu.default", is_linear=True)
def _triu(call: Call, x: Any, diagonal: int = 0) -> Tensor:
    return _triangle(call, x, ~lower_triangle(call.shape, diagonal - 1))


@aten("full_like.default", "full.default", "new_full.default")
def _full(call: Call, x: Any, *args: Any, **kwargs: Any) -> Tensor:
    value = args[-1] if args else kwargs["fill_value"]
    return _filled(call, value)


@aten("zeros_like.default", "zeros.default", "new_zeros.default")
def _zeros(call: Call, *args: Any, **kwargs: Any) -> Tensor:
    return _filled(call, 0)


@aten("ones_like.default", "ones.default", "new_ones.default")
def _ones(call: Call, *args: Any, **kwargs: Any) -> Tensor:
    return _filled(call, 1)


def _filled(call: Call, value: Any) -> Tensor:
    array = np.full(call.shape, value, NUMPY_TYPES[call.dtype])
    return as_tensor(array).astype(call.dtype)
