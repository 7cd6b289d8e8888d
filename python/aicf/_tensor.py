# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced tensors and their arithmetic, which is made of the ops of the dialect.

A traced tensor has a shape and an element type and no value. Nothing is computed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from . import _views, ops
from ._constants import constant_beside, is_array
from ._dtypes import DType, dtype_name
from ._hints import missing, refuse_keywords
from ._tracing import EntryTrace, Operand, as_tensor, trace_error


class Operators(Operand):
    """Arithmetic of whatever stands for a traced tensor. Broadcasting is NumPy's."""

    __slots__ = ()
    # NumPy leaves `array + tensor` to the tensor, which makes a constant of the array.
    __array_ufunc__ = None

    def _tensor(self) -> Tensor:
        raise NotImplementedError

    def __add__(self, other: Any) -> Tensor:
        return binary(ops.add, self, other)

    def __radd__(self, other: Any) -> Tensor:
        return binary(ops.add, other, self)

    def __sub__(self, other: Any) -> Tensor:
        return binary(ops.sub, self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return binary(ops.sub, other, self)

    def __mul__(self, other: Any) -> Tensor:
        return multiply(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return multiply(other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return divide(other, self)

    def __neg__(self) -> Tensor:
        return ops.scale(self._tensor(), factor=-1.0)

    def __pos__(self) -> Tensor:
        return self._tensor()

    def __pow__(self, exponent: Any) -> Tensor:
        return power(self, exponent)

    def __matmul__(self, other: Any) -> Tensor:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return matmul(other, self)

    # Views

    @property
    def T(self) -> Transposed:
        """All dimensions the other way round; `x @ W.T` moves nothing."""
        return Transposed(self._tensor())

    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in another shape; one size may be -1."""
        return _views.reshape(self._tensor(), *shape)

    view = reshape

    def flatten(self, start: int = 0, end: int = -1) -> Tensor:
        """Dimensions `start` to `end` as one."""
        return _views.flatten(self._tensor(), start, end)

    def transpose(self, *axes: Any) -> Tensor:
        """Without numbers all dimensions the other way round, as in NumPy; with two of
        them, those change places, as in PyTorch; else permute()."""
        return _views.transpose(self._tensor(), *axes)

    def permute(self, *axes: Any) -> Tensor:
        """Dimension i of the result is dimension axes[i]."""
        return _views.permute(self._tensor(), *axes)

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """Two dimensions change places."""
        return _views.swapaxes(self._tensor(), axis1, axis2)

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Tensor:
        """Without dimensions of 1: those that `axis` names, or all."""
        return _views.squeeze(self._tensor(), axis)

    def unsqueeze(self, axis: int) -> Tensor:
        """With a dimension of 1 more, which is dimension `axis` of the result."""
        return _views.unsqueeze(self._tensor(), axis)

    def split(self, sizes: Any, axis: int = 0) -> tuple[Tensor, ...]:
        """Parts along a dimension: of `sizes` each, the last one maybe smaller, or of
        those sizes, as in PyTorch."""
        return _views.split(self._tensor(), sizes, axis)

    def chunk(self, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` parts of one size, the last one maybe smaller."""
        return _views.chunk(self._tensor(), chunks, axis)

    def broadcast_to(self, *shape: Any) -> Tensor:
        """Repeated to another shape, by NumPy's rule."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return broadcast(self._tensor(), tuple(sizes))

    def __getitem__(self, index: Any) -> Tensor:
        return _views.getitem(self._tensor(), index)

    def __iter__(self) -> Iterator[Tensor]:
        tensor = self._tensor()
        if not tensor.shape:
            trace_error("a 0-d tensor cannot be iterated over")
        return (tensor[i] for i in range(tensor.shape[0]))

    # Reductions

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False,
            **unknown: Any) -> Tensor:
        """The sum over some dimensions, or over all."""
        refuse_keywords("sum", unknown)
        tensor = self._tensor()
        axes = _views.normal_axes(tensor, axis)
        return ops.reduce_sum(tensor, axes=axes, keepdim=keepdim) if axes else tensor

    def mean(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False,
             **unknown: Any) -> Tensor:
        """The mean over some dimensions, or over all; f32 for 16-bit tensors."""
        refuse_keywords("mean", unknown)
        tensor = self._tensor()
        if axis is None and not keepdim:
            return ops.mean(tensor)
        if tensor.dtype in ("f16", "bf16"):
            tensor = tensor.astype("f32")
        return ops.reduce_mean(tensor, axes=_views.normal_axes(tensor, axis),
                               keepdim=keepdim)

    def max(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False,
            **unknown: Any) -> Tensor:
        """The largest over some dimensions, or over all; NaN where there is one. The
        gradient goes to the first that is it (aicf.ops.reduce_max says which)."""
        refuse_keywords("max", unknown)
        tensor = self._tensor()
        return ops.reduce_max(tensor, axes=_views.normal_axes(tensor, axis),
                              keepdim=keepdim)[0]

    def min(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False,
            **unknown: Any) -> Tensor:
        """The smallest, as max()."""
        refuse_keywords("min", unknown)
        tensor = self._tensor()
        return ops.reduce_min(tensor, axes=_views.normal_axes(tensor, axis),
                              keepdim=keepdim)[0]

    def astype(self, dtype: DType) -> Tensor:
        """A cast to another float type."""
        tensor = self._tensor()
        if dtype_name(dtype) == tensor.dtype:
            return tensor
        return ops.cast(tensor, dtype=dtype)

    # What would need a value. Identity stands for equality nowhere: `x == y` that is
    # silently False is worse than an error.

    def __bool__(self) -> NoReturn:
        trace_error("a traced tensor has no value to branch on: a step is traced "
                    "once, for all values (branch on shapes or on Python values)")

    def __eq__(self, other: Any) -> bool:
        trace_error("a traced tensor cannot be compared: a step has no values yet")

    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__
    __hash__ = object.__hash__

    def _read(self, *args: Any, **kwargs: Any) -> NoReturn:
        trace_error("a traced tensor cannot be read on the host inside a step: "
                    "return it, and read it from what the call gives back")

    __float__ = __int__ = __index__ = __complex__ = __array__ = _read
    __dlpack__ = item = numpy = tolist = cpu = detach = _read

    def __getattr__(self, name: str) -> NoReturn:
        raise missing("aicf.Tensor", name, type(self))

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        trace_error("a traced tensor cannot be written: a step makes new values "
                    "(nn.Buffer.update keeps one for the next step)")


class Tensor(Operators):
    """A value of the function that is being traced.

    Attributes:
        shape: a tuple of ints, () for a scalar.
        dtype: "f16", "bf16", "f32", "f64", "i32", "i64" or "i1".
    """

    __slots__ = ("_trace", "_id", "shape", "dtype", "__weakref__")

    def __init__(self, trace: EntryTrace, number: int, shape: tuple[int, ...],
                 dtype: str) -> None:
        self._trace, self._id = trace, number
        self.shape, self.dtype = shape, dtype

    def _tensor(self) -> Tensor:
        return self

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def vid(self) -> int:
        """The label of this value in the seeds' dump: the position in trace
        order."""
        return self._trace.vid(self)

    def __len__(self) -> int:
        if not self.shape:
            trace_error("a 0-d tensor has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return "Tensor(%s)" % "x".join([*map(str, self.shape), self.dtype])

    def __reduce__(self) -> NoReturn:
        raise TypeError("a traced tensor cannot be pickled: it has no value")


class Transposed(Operators):
    """`W.T`: traced where something else than a product of matrices takes it.

    Attributes:
        matrix: what it is the transpose of.
    """

    __slots__ = ("matrix", "_traced")

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix
        self._traced: Tensor | None = None

    def _tensor(self) -> Tensor:
        if self._traced is None:
            self._traced = _views.transpose(self.matrix)
        return self._traced

    @property
    def shape(self) -> tuple[int, ...]:
        return self.matrix.shape[::-1]

    @property
    def dtype(self) -> str:
        return self.matrix.dtype

    def __len__(self) -> int:
        return len(self._tensor())

    def __repr__(self) -> str:
        return "Tensor(%s)" % "x".join([*map(str, self.shape), self.dtype])


def matmul(left: Any, right: Any) -> Tensor:
    """NumPy's product: matrices in the last two dimensions, those in front broadcast,
    and a vector is a matrix of one row or column. Transposed matrices are flags."""
    def matrix(value: Any) -> tuple[Tensor, bool]:
        if isinstance(value, Transposed) and len(value.shape) == 2:
            return value.matrix, True
        return as_tensor(value), False

    if is_array(left):
        left = constant_beside(left, as_tensor(right).dtype)
    if is_array(right):
        right = constant_beside(right, as_tensor(left).dtype)
    (a, trans_a), (b, trans_b) = matrix(left), matrix(right)
    for tensor in (a, b):
        if not tensor.shape:
            trace_error("%s @ %s: a product is of tensors of rank 1 or more" % (a, b))
    is_row, is_column = len(a.shape) == 1, len(b.shape) == 1
    if is_row:
        a = _views.unsqueeze(a, 0)
    if is_column:
        b = _views.unsqueeze(b, 1)
    if trans_b and not trans_a and not is_row:
        return ops.linear(a, b)
    product = ops.matmul(a, b, transA=trans_a, transB=trans_b)
    if is_column:
        product = _views.squeeze(product, -1)
    return _views.squeeze(product, -1 if is_column else -2) if is_row else product


def _is_number(value: Any) -> bool:
    """A number of Python's or a scalar of NumPy's."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _finite(value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        trace_error("%r in a traced expression: expected a finite number" % (value,))
    return number


def broadcast(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`tensor` repeated to `shape`, by NumPy's rule. Raises TraceError."""
    own = tensor.shape
    missing = len(shape) - len(own)
    if missing < 0 or any(d not in (1, to) for d, to in zip(own, shape[missing:])):
        trace_error("%s does not broadcast to %s" % (tensor, shape))
    return tensor if own == tuple(shape) else ops.broadcast(tensor, shape=shape)


def _common_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    rank = max(len(a.shape), len(b.shape))
    left = (1,) * (rank - len(a.shape)) + a.shape
    right = (1,) * (rank - len(b.shape)) + b.shape
    for x, y in zip(left, right):
        if x != y and 1 not in (x, y):
            trace_error("%s and %s do not broadcast" % (a, b))
    return tuple(max(x, y) for x, y in zip(left, right))


def pair(left: Any, right: Any) -> tuple[Tensor, Tensor]:
    """Two operands; an array gets the element type of the tensor beside it."""
    if is_array(left):
        right = as_tensor(right)
        return constant_beside(left, right.dtype), right
    left = as_tensor(left)
    return left, constant_beside(right, left.dtype) if is_array(right) \
        else as_tensor(right)


def binary(op: Callable[[Tensor, Tensor], Tensor], left: Any, right: Any) -> Tensor:
    """left op right, either of which may be a number."""
    if _is_number(left):
        left = ops.fill_like(as_tensor(right), value=_finite(left))
    if _is_number(right):
        right = ops.fill_like(as_tensor(left), value=_finite(right))
    a, b = pair(left, right)
    if a.dtype != b.dtype:
        trace_error("%s and %s have different element types: astype() converts"
                    % (a, b))
    shape = _common_shape(a, b)
    return op(broadcast(a, shape), broadcast(b, shape))


def multiply(left: Any, right: Any) -> Tensor:
    for number, tensor in ((left, right), (right, left)):
        if _is_number(number):
            return ops.scale(as_tensor(tensor), factor=_finite(number))
    return binary(ops.mul, left, right)


def divide(left: Any, right: Any) -> Tensor:
    if _is_number(right):
        if right == 0:
            trace_error("division by zero")
        return ops.scale(as_tensor(left), factor=_finite(1.0 / right))
    if is_array(right):
        right = constant_beside(right, as_tensor(left).dtype)
    inverse = ops.reciprocal(as_tensor(right))
    if _is_number(left) and left == 1:
        return inverse
    return multiply(left, inverse)


def power(base: Any, exponent: Any) -> Tensor:
    if exponent == -1:
        return ops.reciprocal(as_tensor(base))
    if not isinstance(exponent, int) or isinstance(exponent, bool) \
            or not 1 <= exponent <= 16:
        trace_error("a power of %r: expected an int from 1 to 16, or -1"
                    % (exponent,))
    tensor = as_tensor(base)
    result: Tensor | None = None
    while exponent:  # square and multiply
        if exponent & 1:
            result = tensor if result is None else result * tensor
        exponent >>= 1
        if exponent:
            tensor = tensor * tensor
    assert result is not None
    return result


# For typing.get_type_hints(): ops is imported before there is a Tensor.
setattr(ops, "Tensor", Tensor)
