# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced tensors and their arithmetic, which is made of the ops of the dialect.

A traced tensor has a shape and an element type and no value. Nothing is computed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, NoReturn

from . import ops
from ._dtypes import DType, dtype_name, to_index
from ._hints import missing, refuse_keywords
from ._tracing import EntryTrace, Operand, as_tensor, trace_error


class Operators(Operand):
    """Arithmetic of whatever stands for a traced tensor. Broadcasting is NumPy's."""

    __slots__ = ()
    # NumPy leaves `array + tensor` to the tensor, which says what to do instead.
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
        if isinstance(other, Transposed):
            return ops.linear(self._tensor(), other.matrix)
        return ops.matmul(self._tensor(), as_tensor(other))

    @property
    def T(self) -> Transposed:
        """The transpose of a matrix, for `x @ W.T`."""
        tensor = self._tensor()
        if len(tensor.shape) != 2:
            trace_error("only a matrix has a .T here, this is %s" % tensor)
        return Transposed(tensor)

    def sum(self, axis: int | None = None, keepdim: bool = False,
            **unknown: Any) -> Tensor:
        """The sum over one dimension, or over all."""
        refuse_keywords("sum", unknown)
        tensor = self._tensor()
        if axis is None:
            return tensor if not tensor.shape else ops.reduce_sum(
                tensor, axis=len(tensor.shape) - 1, leading=True)
        return ops.reduce_sum(tensor, axis=_axis(tensor, axis), keepdim=bool(keepdim))

    def mean(self, axis: int | None = None, keepdim: bool = False,
             **unknown: Any) -> Tensor:
        """The mean over one dimension, or over all; f32 for 16-bit tensors."""
        refuse_keywords("mean", unknown)
        tensor = self._tensor()
        if axis is None:
            return ops.mean(tensor)
        size = tensor.shape[_axis(tensor, axis)]
        if tensor.dtype in ("f16", "bf16"):
            tensor = tensor.astype("f32")
        return tensor.sum(axis, keepdim) * (1.0 / size)

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

    def __iter__(self) -> NoReturn:
        trace_error("a traced tensor cannot be iterated over: there is no op that "
                    "takes a row of it")

    def __getitem__(self, index: Any) -> NoReturn:
        trace_error("a traced tensor cannot be indexed: slices do not exist yet. Slice "
                    "the array before the call; ops.gather_rows(x, numbers) takes rows "
                    "whose numbers are an i32 input")

    def __getattr__(self, name: str) -> NoReturn:
        raise missing("aicf.Tensor", name, type(self))

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        trace_error("a traced tensor cannot be written: a step makes new values "
                    "(nn.Buffer.update keeps one for the next step)")


class Tensor(Operators):
    """A value of the function that is being traced.

    Attributes:
        shape: a tuple of ints, () for a scalar.
        dtype: "f16", "bf16", "f32", "f64", "i32" or "i64".
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


class Transposed:
    """`W.T`, which only a product takes: x @ W.T, W.T @ x."""

    __slots__ = ("matrix",)

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    def __matmul__(self, other: Any) -> Tensor:
        is_transposed = isinstance(other, Transposed)
        return ops.matmul(self.matrix,
                          other.matrix if is_transposed else as_tensor(other),
                          transA=True, transB=is_transposed)


def _axis(tensor: Tensor, axis: int) -> int:
    try:
        number = to_index(axis)
    except TypeError:
        trace_error("axis is %r, expected an int or None" % (axis,))
    if not -len(tensor.shape) <= number < len(tensor.shape):
        trace_error("axis %d of %s" % (number, tensor))
    return number % len(tensor.shape)


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
    for axis, (dim, to) in enumerate(zip(own, shape[missing:])):
        if dim != to:
            grown = (*tensor.shape[:axis], to, *tensor.shape[axis + 1:])
            tensor = ops.expand(tensor, axis=axis, shape=grown)
    if missing:
        tensor = ops.expand(tensor, axis=missing - 1, shape=shape)
    return tensor


def _common_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    rank = max(len(a.shape), len(b.shape))
    left = (1,) * (rank - len(a.shape)) + a.shape
    right = (1,) * (rank - len(b.shape)) + b.shape
    for x, y in zip(left, right):
        if x != y and 1 not in (x, y):
            trace_error("%s and %s do not broadcast" % (a, b))
    return tuple(max(x, y) for x, y in zip(left, right))


def binary(op: Callable[[Tensor, Tensor], Tensor], left: Any, right: Any) -> Tensor:
    """left op right, either of which may be a number."""
    if _is_number(left):
        left = ops.fill_like(as_tensor(right), value=_finite(left))
    if _is_number(right):
        right = ops.fill_like(as_tensor(left), value=_finite(right))
    a, b = as_tensor(left), as_tensor(right)
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
