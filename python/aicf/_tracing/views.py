# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of traced tensors, with the names of NumPy and PyTorch, as ops of the dialect.

Everything follows from shapes while tracing. A view launches no kernel: the compiler lets
kernels read the tensor where it lies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .. import ops
from .._base.dtypes import to_index
from .trace import as_tensor, trace_error

if TYPE_CHECKING:
    from .tensor import Tensor


def normal_axis(tensor: Tensor, axis: Any, rank: int | None = None) -> int:
    """Returns `axis` as a number from 0 on, in `rank` dimensions (the default is the
    tensor's rank). Raises TraceError."""
    rank = len(tensor.shape) if rank is None else rank
    try:
        number = to_index(axis)
    except TypeError:
        trace_error("axis is %r, expected an int" % (axis,))
    if not -rank <= number < rank:
        trace_error("axis %d of %s: there is no such dimension" % (number, tensor))
    return number % rank


def normal_axes(tensor: Tensor, axis: Any) -> list[int]:
    """Returns the dimensions that `axis` names, in order. It is an int, several ints, or
    None for all dimensions. Raises TraceError."""
    if axis is None:
        return list(range(len(tensor.shape)))
    if isinstance(axis, (tuple, list)):
        axes = sorted(normal_axis(tensor, one) for one in axis)
        if len(set(axes)) != len(axes):
            trace_error("axis %r names a dimension of %s twice" % (axis, tensor))
        return axes
    return [normal_axis(tensor, axis)]


def sizes_of(given: Sequence[Any]) -> list[int]:
    """Returns sizes that are given as (2, 3) or ((2, 3),), as NumPy and PyTorch take
    them."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    try:
        return [to_index(size) for size in given]
    except TypeError:
        trace_error("%r is not a list of ints" % (tuple(given),))


def reshape(tensor: Tensor, *shape: Any) -> Tensor:
    """Returns the same elements in another shape. One size may be -1."""
    sizes = sizes_of(shape)
    if sizes.count(-1) == 1:
        known = math.prod(size for size in sizes if size != -1)
        if known > 0 and tensor.size % known == 0:
            sizes[sizes.index(-1)] = tensor.size // known
    if any(size < 1 for size in sizes) or math.prod(sizes) != tensor.size:
        trace_error("%s of %d elements has no shape %s"
                    % (tensor, tensor.size, tuple(sizes)))
    return tensor if tuple(sizes) == tensor.shape else ops.reshape(tensor, shape=sizes)


def flatten(tensor: Tensor, start: int = 0, end: int = -1) -> Tensor:
    """Joins the dimensions `start` to `end` into one."""
    if not tensor.shape:
        return reshape(tensor, 1)
    first, last = normal_axis(tensor, start), normal_axis(tensor, end)
    if first > last:
        trace_error("flatten from dimension %d to %d of %s: expected them in order"
                    % (first, last, tensor))
    return reshape(tensor, (*tensor.shape[:first], -1, *tensor.shape[last + 1:]))


def permute(tensor: Tensor, *axes: Any) -> Tensor:
    """Reorders the dimensions: dimension i of the result is dimension axes[i]."""
    order = [normal_axis(tensor, axis) for axis in sizes_of(axes)]
    if sorted(order) != list(range(len(tensor.shape))):
        trace_error("permute%r: expected each dimension of %s once"
                    % (tuple(order), tensor))
    if order == sorted(order):
        return tensor
    return ops.transpose(tensor, permutation=order)


def transpose(tensor: Tensor, *axes: Any) -> Tensor:
    """Reverses all dimensions if it gets no numbers, as NumPy does. Two numbers swap two
    dimensions, as in PyTorch. Otherwise it does what permute() does."""
    if not axes:
        return permute(tensor, *reversed(range(len(tensor.shape))))
    if len(axes) == 2:
        return swapaxes(tensor, *axes)
    return permute(tensor, *axes)


def swapaxes(tensor: Tensor, axis1: Any, axis2: Any) -> Tensor:
    """Swaps two dimensions."""
    order = list(range(len(tensor.shape)))
    a, b = normal_axis(tensor, axis1), normal_axis(tensor, axis2)
    order[a], order[b] = order[b], order[a]
    return permute(tensor, *order)


def squeeze(tensor: Tensor, axis: Any = None) -> Tensor:
    """Removes dimensions of size 1: those that `axis` names, or all."""
    if axis is None:
        return reshape(tensor, [d for d in tensor.shape if d != 1])
    axes = normal_axes(tensor, axis)
    for one in axes:
        if tensor.shape[one] != 1:
            trace_error("squeeze: dimension %d of %s is not 1" % (one, tensor))
    return reshape(tensor, [d for i, d in enumerate(tensor.shape) if i not in axes])


def unsqueeze(tensor: Tensor, axis: Any) -> Tensor:
    """Adds a dimension of size 1, which is dimension `axis` of the result."""
    at = normal_axis(tensor, axis, len(tensor.shape) + 1)
    return reshape(tensor, (*tensor.shape[:at], 1, *tensor.shape[at:]))


#: What an index may be: it must be known while tracing.
_STATIC = "expected ints, slices, ... and None, which are known while tracing"


def _expanded(tensor: Tensor, index: Any) -> list[Any]:
    """Returns the parts of an index, with slices for `...` and for what is left out."""
    parts = list(index) if isinstance(index, tuple) else [index]
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if taken > len(tensor.shape):
        trace_error("%d indices for %s: expected at most one per dimension"
                    % (taken, tensor))
    if sum(part is Ellipsis for part in parts) > 1:
        trace_error("an index may have one ... at most")
    rest = [slice(None)] * (len(tensor.shape) - taken)
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), None)
    return parts + rest if at is None else parts[:at] + rest + parts[at + 1:]


def _bounds(tensor: Tensor, axis: int, part: Any) -> tuple[int, int, int, bool]:
    """Returns begin, end and step along a dimension, and whether the result keeps it."""
    size = tensor.shape[axis]
    if isinstance(part, slice):
        begin, end, step = part.indices(size)
        if step < 1:
            trace_error("a slice has the step %d, expected 1 or more: steps go forward"
                        % step)
        if begin >= end:
            trace_error("%r is empty in dimension %d of %s" % (part, axis, tensor))
        return begin, end, step, True
    try:
        number = to_index(part)
    except TypeError:
        kind = type(part).__name__
        if hasattr(part, "shape") or isinstance(part, (list, bool)):
            trace_error("a %s as an index depends on values: %s. "
                        "aicf.ops.gather_rows(x, numbers) takes rows by their numbers"
                        % (kind, _STATIC))
        trace_error("%r of type %s is not an index: %s" % (part, kind, _STATIC))
    if not -size <= number < size:
        trace_error("index %d of dimension %d of %s: expected %d to %d"
                    % (number, axis, tensor, -size, size - 1))
    return number % size, number % size + 1, 1, False


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """Returns tensor[index] for an index that is known while tracing."""
    begin: list[int] = []
    end: list[int] = []
    step: list[int] = []
    shape: list[int] = []
    for part in _expanded(tensor, index):
        if part is None:
            shape.append(1)
            continue
        first, last, by, stays = _bounds(tensor, len(begin), part)
        begin.append(first)
        end.append(last)
        step.append(by)
        if stays:
            shape.append((last - first - 1) // by + 1)
    whole = all(first == 0 and last == size and by == 1
                for first, last, by, size in zip(begin, end, step, tensor.shape))
    if not whole:
        tensor = ops.slice(tensor, begin=begin, end=end,
                           step=None if all(by == 1 for by in step) else step)
    return reshape(tensor, shape)


def _count(value: Any) -> int:
    """Returns a number of 1 or more, or else 0."""
    try:
        return max(to_index(value), 0)
    except TypeError:
        return 0


def split(tensor: Tensor, sizes: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Splits the tensor along dimension `axis`, as PyTorch does. `sizes` is the size of
    each part, of which the last may be smaller, or a list of the sizes."""
    at = normal_axis(tensor, axis)
    whole = tensor.shape[at]
    if isinstance(sizes, (tuple, list)):
        parts = sizes_of([sizes])
    else:
        size = _count(sizes)
        if not size:
            trace_error("split into %r: expected an int of 1 or more, or sizes"
                        % (sizes,))
        parts = [min(size, whole - first) for first in range(0, whole, size)]
    if any(size < 1 for size in parts) or sum(parts) != whole:
        trace_error("split into %r, but dimension %d of %s is %d"
                    % (tuple(parts), at, tensor, whole))
    results: list[Tensor] = []
    first = 0
    for size in parts:
        index = (slice(None),) * at + (slice(first, first + size),)
        results.append(getitem(tensor, index))
        first += size
    return tuple(results)


def chunk(tensor: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Splits the tensor into at most `chunks` parts of the same size along dimension
    `axis`. The last part may be smaller."""
    number = _count(chunks)
    if not number:
        trace_error("%r chunks: expected an int of 1 or more" % (chunks,))
    size = tensor.shape[normal_axis(tensor, axis)]
    return split(tensor, -(-size // number), axis)


def _tensors(what: str, tensors: Iterable[Any]) -> list[Tensor]:
    parts = [as_tensor(tensor) for tensor in tensors]
    if not parts:
        trace_error("%s of no tensors" % what)
    return parts


def concat(tensors: Iterable[Any], axis: int = 0) -> Tensor:
    """Joins tensors one after the other along dimension `axis`.

    Raises:
        TraceError: there are no tensors, or they do not have this dimension.
        CompileError: their other dimensions or element types differ.
    """
    parts = _tensors("concat", tensors)
    at = normal_axis(parts[0], axis)
    return parts[0] if len(parts) == 1 else ops.concat(parts, axis=at)


def stack(tensors: Iterable[Any], axis: int = 0) -> Tensor:
    """Joins tensors of the same shape along a new dimension `axis`. It raises what
    concat() raises."""
    parts = _tensors("stack", tensors)
    at = normal_axis(parts[0], axis, len(parts[0].shape) + 1)
    return concat([unsqueeze(part, at) for part in parts], at)
