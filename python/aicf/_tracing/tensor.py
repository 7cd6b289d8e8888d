# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced tensors and their arithmetic, which consists of ops of the dialect.

A traced tensor has a shape and an element type, but no value. Nothing is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from .. import ops
from . import pointwise as _pointwise, ufuncs as _ufuncs, views as _views
from .._base.dtypes import DType, dtype_name
from .._base.hints import missing, refuse_keywords, says_axis
from .constants import constant_beside, is_array
from .trace import EntryTrace, Operand, as_tensor, trace_error


class Operators(Operand):
    """The arithmetic of whatever stands for a traced tensor. It broadcasts as NumPy's."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any:
        """numpy.exp(x), numpy.maximum(x, 0), and array + x, where the array is a constant."""
        return _ufuncs.call(ufunc, method, inputs, given)

    def _tensor(self) -> Tensor:
        raise NotImplementedError

    def __add__(self, other: Any) -> Tensor:
        return _pointwise.add(self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _pointwise.add(other, self)

    def __sub__(self, other: Any) -> Tensor:
        return _pointwise.subtract(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _pointwise.subtract(other, self)

    def __mul__(self, other: Any) -> Tensor:
        return _pointwise.multiply(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _pointwise.multiply(other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return _pointwise.divide(self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _pointwise.divide(other, self)

    def __neg__(self) -> Tensor:
        return _pointwise.negative(self._tensor())

    def __pos__(self) -> Tensor:
        return self._tensor()

    def __abs__(self) -> Tensor:
        return ops.abs(self._tensor())

    def __pow__(self, exponent: Any) -> Tensor:
        return _pointwise.power(self, exponent)

    def __rpow__(self, base: Any) -> Tensor:
        return _pointwise.power(base, self)

    # Comparisons make tensors of i1. The hash stays that of the identity, for dicts.

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return _pointwise.compare(self, "==", other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return _pointwise.compare(self, "!=", other)

    def __lt__(self, other: Any) -> Tensor:
        return _pointwise.compare(self, "<", other)

    def __le__(self, other: Any) -> Tensor:
        return _pointwise.compare(self, "<=", other)

    def __gt__(self, other: Any) -> Tensor:
        return _pointwise.compare(self, ">", other)

    def __ge__(self, other: Any) -> Tensor:
        return _pointwise.compare(self, ">=", other)

    __hash__ = object.__hash__

    def __and__(self, other: Any) -> Tensor:
        return _pointwise.logical(ops.logical_and, self, other)

    def __or__(self, other: Any) -> Tensor:
        return _pointwise.logical(ops.logical_or, self, other)

    def __xor__(self, other: Any) -> Tensor:
        return _pointwise.logical(ops.logical_xor, self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Tensor:
        return ops.logical_not(self._tensor())

    def __matmul__(self, other: Any) -> Tensor:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return matmul(other, self)

    # Views

    @property
    def T(self) -> Transposed:
        """The tensor with all dimensions in reverse order. `x @ W.T` moves nothing."""
        return Transposed(self._tensor())

    def reshape(self, *shape: Any) -> Tensor:
        """Returns the same elements in another shape. One size may be -1."""
        return _views.reshape(self._tensor(), *shape)

    view = reshape

    def flatten(self, start: int = 0, end: int = -1) -> Tensor:
        """Joins the dimensions `start` to `end` into one."""
        return _views.flatten(self._tensor(), start, end)

    def transpose(self, *axes: Any) -> Tensor:
        """Reverses all dimensions if it gets no numbers, as NumPy does. Two numbers swap
        two dimensions, as in PyTorch. Otherwise it does what permute() does."""
        return _views.transpose(self._tensor(), *axes)

    def permute(self, *axes: Any) -> Tensor:
        """Reorders the dimensions: dimension i of the result is dimension axes[i]."""
        return _views.permute(self._tensor(), *axes)

    @says_axis
    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """Swaps two dimensions."""
        return _views.swapaxes(self._tensor(), axis1, axis2)

    @says_axis
    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Tensor:
        """Removes dimensions of size 1: those that `axis` names, or all."""
        return _views.squeeze(self._tensor(), axis)

    @says_axis
    def unsqueeze(self, axis: int) -> Tensor:
        """Adds a dimension of size 1, which is dimension `axis` of the result."""
        return _views.unsqueeze(self._tensor(), axis)

    @says_axis
    def split(self, sizes: Any, axis: int = 0) -> tuple[Tensor, ...]:
        """Splits the tensor along dimension `axis`, as PyTorch does. `sizes` is the size
        of each part, of which the last may be smaller, or a list of the sizes."""
        return _views.split(self._tensor(), sizes, axis)

    @says_axis
    def chunk(self, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
        """Splits the tensor into at most `chunks` parts of the same size along dimension
        `axis`. The last part may be smaller."""
        return _views.chunk(self._tensor(), chunks, axis)

    def broadcast_to(self, *shape: Any) -> Tensor:
        """Repeats the tensor to another shape by NumPy's rule."""
        return _pointwise.broadcast(self._tensor(), tuple(_views.sizes_of(shape)))

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
        """Returns the sum over the dimensions `axis`, or over all. The result has x's
        dtype, and i64 for i1 and i32. i64 raises TraceError."""
        refuse_keywords("sum", unknown)
        tensor = self._tensor()
        axes = _views.normal_axes(tensor, axis)
        whole = _pointwise.as_reducible(tensor, "sum")
        total = ops.reduce_sum(whole, axes=axes, keepdim=keepdim) if axes else whole
        return total if whole is tensor else total.astype("i64")

    def mean(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False,
             **unknown: Any) -> Tensor:
        """Returns the mean over the dimensions `axis`, or over all. The result is f32 for
        16-bit tensors, i1 and integers."""
        refuse_keywords("mean", unknown)
        tensor = self._tensor()
        if tensor.dtype not in _pointwise.FLOATS:
            tensor = tensor.astype("f32")
        if axis is None and not keepdim:
            return ops.mean(tensor)
        if tensor.dtype in ("f16", "bf16"):
            tensor = tensor.astype("f32")
        return ops.reduce_mean(tensor, axes=_views.normal_axes(tensor, axis),
                               keepdim=keepdim)

    def max(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False,
            **unknown: Any) -> Tensor:
        """Returns the largest element over the dimensions `axis`, or over all, and NaN if
        there is one. Of equal elements the first gets the gradient (aicf.ops.reduce_max
        says which that is). i64 raises TraceError."""
        refuse_keywords("max", unknown)
        return self._extremum(ops.reduce_max, "max", axis, keepdim)

    def _extremum(self, op: Callable[..., tuple[Tensor, Tensor]], what: str,
                  axis: int | tuple[int, ...] | None, keepdim: bool) -> Tensor:
        tensor = self._tensor()
        axes = _views.normal_axes(tensor, axis)
        if not axes:
            return tensor
        whole = _pointwise.as_reducible(tensor, what)
        return op(whole, axes=axes, keepdim=keepdim)[0].astype(tensor.dtype)

    def min(self, axis: int | tuple[int, ...] | None = None, keepdim: bool = False,
            **unknown: Any) -> Tensor:
        """Returns the smallest element, with the rules of max()."""
        refuse_keywords("min", unknown)
        return self._extremum(ops.reduce_min, "min", axis, keepdim)

    # Rows: aicf.functional has these functions under the same names

    @says_axis
    def softmax(self, axis: int = -1) -> Tensor:
        """exp(x) / sum(exp(x)) along dimension `axis`."""
        from .. import functional
        return functional.softmax(self, axis)

    @says_axis
    def log_softmax(self, axis: int = -1) -> Tensor:
        """x - log(sum(exp(x))) along dimension `axis`."""
        from .. import functional
        return functional.log_softmax(self, axis)

    @says_axis
    def logsumexp(self, axis: int | tuple[int, ...] | None = None,
                  keepdim: bool = False) -> Tensor:
        """log(sum(exp(x))) over the dimensions `axis`, or over all, without overflow. The
        result is f32 for 16-bit x."""
        from .. import functional
        return functional.logsumexp(self, axis, keepdim)

    @says_axis
    def var(self, axis: int | tuple[int, ...] | None = None, correction: float = 1,
            keepdim: bool = False) -> Tensor:
        """Returns the variance over the dimensions `axis`, or over all
        (aicf.functional.var). The result is f32 for 16-bit x."""
        from .. import functional
        return functional.var(self, axis, correction, keepdim)

    @says_axis
    def std(self, axis: int | tuple[int, ...] | None = None, correction: float = 1,
            keepdim: bool = False) -> Tensor:
        """Returns the square root of var()."""
        from .. import functional
        return functional.std(self, axis, correction, keepdim)

    @says_axis
    def norm(self, p: float = 2.0, axis: int | tuple[int, ...] | None = None,
             keepdim: bool = False) -> Tensor:
        """(sum |x|^p)^(1/p) over the dimensions `axis`, or over all. p is 1, 2 or inf."""
        from .. import functional
        return functional.norm(self, p, axis, keepdim)

    @says_axis
    def cumsum(self, axis: int) -> Tensor:
        """Returns, for each element, the sum of all elements up to it along dimension
        `axis`."""
        from .. import functional
        return functional.cumsum(self, axis)

    @says_axis
    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Tensor:
        """Returns the index (i32) of the largest element along dimension `axis`, or among
        all. It has no gradient."""
        from .. import functional
        return functional.argmax(self, axis, keepdim)

    @says_axis
    def topk(self, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
        """Returns the k largest elements along dimension `axis`, the largest first, and
        their indices (i32)."""
        from .. import functional
        return functional.top_k(self, k, axis)

    def astype(self, dtype: DType) -> Tensor:
        """Casts to another element type. Floats are rounded toward zero to an integer.
        i1 is true where x is not 0."""
        tensor = self._tensor()
        if dtype_name(dtype) == tensor.dtype:
            return tensor
        return ops.cast(tensor, dtype=dtype)

    # Functions of elements

    def exp(self) -> Tensor:
        """exp(x)."""
        return ops.exp(self._tensor())

    def expm1(self) -> Tensor:
        """exp(x) - 1, accurate for small x."""
        return ops.expm1(self._tensor())

    def log(self) -> Tensor:
        """The natural logarithm of x."""
        return ops.log(self._tensor())

    def log1p(self) -> Tensor:
        """log(1 + x), accurate for small x."""
        return ops.log1p(self._tensor())

    def erf(self) -> Tensor:
        """The error function, 2/√π times the integral of exp(-t²) from 0 to x."""
        return ops.erf(self._tensor())

    def sqrt(self) -> Tensor:
        """The square root of x."""
        return ops.sqrt(self._tensor())

    def rsqrt(self) -> Tensor:
        """1 / sqrt(x)."""
        return ops.rsqrt(self._tensor())

    def square(self) -> Tensor:
        """x * x."""
        return _pointwise.power(self, 2)

    def reciprocal(self) -> Tensor:
        """1 / x."""
        return ops.reciprocal(self._tensor())

    def pow(self, exponent: Any) -> Tensor:
        """x ** exponent. The exponent is a number or a tensor."""
        return _pointwise.power(self, exponent)

    def sin(self) -> Tensor:
        """The sine of x, in radians."""
        return ops.sin(self._tensor())

    def cos(self) -> Tensor:
        """The cosine of x, in radians."""
        return ops.cos(self._tensor())

    def tanh(self) -> Tensor:
        """The hyperbolic tangent of x."""
        return ops.tanh(self._tensor())

    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
        return ops.sigmoid(self._tensor())

    def relu(self) -> Tensor:
        """max(x, 0)."""
        return ops.relu(self._tensor())

    def abs(self) -> Tensor:
        """|x|. Its gradient at 0 is 0."""
        return ops.abs(self._tensor())

    def sign(self) -> Tensor:
        """-1, 0 or 1, as x is below, at or above 0. The gradient is 0."""
        return ops.sign(self._tensor())

    def floor(self) -> Tensor:
        """The largest integer that is not above x, as a float. The gradient is 0."""
        return ops.floor(self._tensor())

    def ceil(self) -> Tensor:
        """The smallest integer that is not below x, as a float. The gradient is 0."""
        return ops.ceil(self._tensor())

    def round(self) -> Tensor:
        """The nearest integer, of two the even one, as a float. The gradient is 0."""
        return ops.round(self._tensor())

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """x, but not below `min` and not above `max`, which are numbers, tensors, arrays
        or None."""
        return _pointwise.clamp(self._tensor(), min, max)

    clip = clamp

    def masked_fill(self, mask: Any, value: Any) -> Tensor:
        """Returns x with a number, which may be infinite, where the mask (i1) is true."""
        return _pointwise.masked_fill(self, mask, value)

    # These would need a value.

    def __bool__(self) -> NoReturn:
        trace_error("a traced tensor has no value to branch on: a step is traced "
                    "once, for all values (branch on shapes or on Python values; "
                    "aicf.where chooses by element)")

    def _read(self, *args: Any, **kwargs: Any) -> NoReturn:
        trace_error("a traced tensor cannot be read on the host inside a step: "
                    "return it, and read it from what the call returns")

    __float__ = __int__ = __index__ = __complex__ = __array__ = _read
    __dlpack__ = item = numpy = tolist = cpu = _read

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
        """The label of this value in the dump of aicf.seeds: its position in trace
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
    """`W.T`. It is traced when something other than a product of matrices takes it.

    Attributes:
        matrix: the tensor that it transposes.
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
    """Returns NumPy's product. Matrices are the last two dimensions, and those in front
    broadcast. A vector is a matrix of one row or column. `W.T` becomes a flag."""
    def matrix(value: Any) -> tuple[Tensor, bool]:
        if isinstance(value, Transposed) and len(value.shape) == 2:
            return value.matrix, True
        return as_tensor(value), False

    if is_array(left):
        left = constant_beside(left, matrix(right)[0].dtype)
    if is_array(right):
        right = constant_beside(right, matrix(left)[0].dtype)
    (a, trans_a), (b, trans_b) = matrix(left), matrix(right)
    for tensor in (a, b):
        if not tensor.shape:
            trace_error("%s @ %s: expected tensors of rank 1 or more" % (a, b))
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


# typing.get_type_hints() needs this, because ops is imported before Tensor exists.
setattr(ops, "Tensor", Tensor)
