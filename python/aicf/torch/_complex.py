# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers as pairs of real ones, while a graph is imported.

No tensor of the dialect is complex. A linear function of the table is called for either
part; the others have a row here. A gradient is one of the real and one of the imaginary
part, as in PyTorch.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import ops
from .._tracing import views as _views
from .._tracing.exact import root
from .._tracing.pointwise import FLOATS, broadcast, where
from .._tracing.tensor import Tensor, matmul
from .._tracing.trace import Operand, as_tensor
from ._table import COMPLEX, TABLE, Call, Unsupported, complex_aten

#: The longest discrete Fourier transform: it is a product with a matrix.
_MOST_FREQUENCIES = 4096


@dataclass(frozen=True)
class Complex:
    """A tensor of complex numbers. The parts have one shape and one float type."""

    real: Tensor
    imag: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.real.shape)


def complex_constant(real: Any, imag: Any) -> Complex:
    """Of two arrays of NumPy's."""
    return Complex(as_tensor(real), as_tensor(imag))


def _complex(value: Any, call: Call) -> Complex:
    """A real tensor or a number, as a complex one of the call's type."""
    if isinstance(value, Complex):
        return Complex(value.real.astype(call.dtype), value.imag.astype(call.dtype))
    if isinstance(value, complex):
        return Complex(call.tensor(value.real), call.tensor(value.imag))
    real = call.tensor(value)
    return Complex(real, as_tensor(np.broadcast_to(np.zeros((), "f4"), real.shape)
                                   ).astype(call.dtype))


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    """Of what is in lists, too."""
    if isinstance(value, (list, tuple)):
        return type(value)(_map(function, v) for v in value)
    return function(value)


def has_complex(*values: Any) -> bool:
    """Whether one of the operands is complex."""
    found = []
    _map(lambda v: found.append(isinstance(v, (Complex, complex))), list(values))
    return any(found)


def call_complex(name: str, call: Call, args: Sequence[Any], kwargs: Any) -> Any:
    """The call of an op of which an operand or the result is complex. Raises Unsupported."""
    if name in COMPLEX:
        return COMPLEX[name].function(call, *args, **kwargs)
    if name not in TABLE or not TABLE[name].is_linear:
        raise Unsupported("of complex numbers")
    parts = []
    for part in ("real", "imag"):
        def of_part(value: Any, part: str = part) -> Any:
            is_float = isinstance(value, Operand) and value._tensor().dtype in FLOATS
            if isinstance(value, Complex) or is_float:
                return getattr(_complex(value, call), part)
            return value
        own = replace(call)
        parts.append(TABLE[name].function(own, *_map(of_part, list(args)), **kwargs))
    if isinstance(parts[0], tuple):
        return tuple(Complex(a, b) for a, b in zip(*parts))
    return Complex(*parts)


# Parts

@complex_aten("view_as_complex.default")
def _view_as_complex(call: Call, x: Any) -> Complex:
    tensor = call.tensor(x)
    return Complex(tensor[..., 0], tensor[..., 1])


@complex_aten("view_as_real.default")
def _view_as_real(call: Call, z: Complex) -> Tensor:
    return _views.stack([z.real, z.imag], -1)


@complex_aten("real.default")
def _real(call: Call, z: Complex) -> Tensor:
    return z.real


@complex_aten("imag.default")
def _imag(call: Call, z: Complex) -> Tensor:
    return z.imag


@complex_aten("complex.default")
def _of_parts(call: Call, real: Any, imag: Any) -> Complex:
    return Complex(*(broadcast(call.tensor(v), call.shape) for v in (real, imag)))


@complex_aten("polar.default")
def _polar(call: Call, size: Any, angle: Any) -> Complex:
    size, angle = (broadcast(call.tensor(v), call.shape) for v in (size, angle))
    return Complex(size * angle.cos(), size * angle.sin())


@complex_aten("abs.default")
def _abs(call: Call, z: Complex) -> Tensor:
    """Without an overflow of the squares. Its gradient at 0 is 0."""
    most = ops.stop_gradient(ops.maximum(z.real.abs(), z.imag.abs()))
    most = most.masked_fill((most == 0) | (most == math.inf), 1.0)
    result: Tensor = root((z.real / most).square() + (z.imag / most).square()) * most
    return result


@complex_aten("sgn.default")
def _sgn(call: Call, z: Complex) -> Complex:
    """On the unit circle; 0 at 0."""
    size = _abs(call, z)
    is_zero = size == 0
    size = size.masked_fill(is_zero, 1.0)
    return Complex(*((v / size).masked_fill(is_zero, 0.0) for v in (z.real, z.imag)))


@complex_aten("angle.default")
def _angle(call: Call, z: Any) -> Tensor:
    if isinstance(z, Complex):  # the gradient at 0 is 0
        is_zero = (z.real == 0) & (z.imag == 0)
        own = ops.atan2(z.imag, z.real.masked_fill(is_zero, 1.0))
        return where(is_zero, ops.stop_gradient(ops.atan2(z.imag, z.real)), own)
    x = ops.stop_gradient(call.tensor(z))
    return where(x != x, x, ops.fill_like(x, value=0.0).masked_fill(x < 0, math.pi))


@complex_aten("conj.default", "_conj.default", "conj_physical.default", "_conj_physical.default")
def _conj(call: Call, z: Complex) -> Complex:
    return Complex(z.real, -z.imag)


@complex_aten("resolve_conj.default", "resolve_neg.default", "clone.default", "alias.default",
              "lift_fresh_copy.default", "_to_copy.default", "to.dtype", "contiguous.default")
def _same(call: Call, z: Any, *args: Any, **kwargs: Any) -> Any:
    """A complex number that becomes a real one loses its imaginary part."""
    return _complex(z, call) if call.is_complex else z.real


# Arithmetic

def _sum(call: Call, a: Any, b: Any, alpha: Any, sign: int) -> Complex:
    a, b = _complex(a, call), _complex(b, call)
    if isinstance(alpha, complex):
        raise Unsupported("has a complex alpha")
    by = sign * alpha
    return Complex(*(x + (y if by == 1 else y * by)
                     for x, y in ((a.real, b.real), (a.imag, b.imag))))


@complex_aten("add.Tensor", "add.Scalar")
def _add(call: Call, a: Any, b: Any, alpha: Any = 1) -> Complex:
    return _sum(call, a, b, alpha, 1)


@complex_aten("sub.Tensor", "sub.Scalar")
def _sub(call: Call, a: Any, b: Any, alpha: Any = 1) -> Complex:
    return _sum(call, a, b, alpha, -1)


@complex_aten("rsub.Tensor", "rsub.Scalar")
def _rsub(call: Call, a: Any, b: Any, alpha: Any = 1) -> Complex:
    return _sum(call, b, a, alpha, -1)


@complex_aten("neg.default")
def _neg(call: Call, z: Complex) -> Complex:
    return Complex(-z.real, -z.imag)


def _product(function: Callable[[Any, Any], Any], call: Call, a: Any, b: Any) -> Complex:
    """A product of any kind; of a real factor two products are enough."""
    if not isinstance(b, (Complex, complex)):
        a, b = b, a
        function = (lambda f: lambda x, y: f(y, x))(function)
    if not isinstance(a, (Complex, complex)):
        a, b = call.operand(a), _complex(b, call)
        return Complex(function(a, b.real), function(a, b.imag))
    a, b = _complex(a, call), _complex(b, call)
    return Complex(function(a.real, b.real) - function(a.imag, b.imag),
                   function(a.real, b.imag) + function(a.imag, b.real))


@complex_aten("mul.Tensor", "mul.Scalar")
def _mul(call: Call, a: Any, b: Any) -> Complex:
    return _product(operator.mul, call, a, b)


@complex_aten("mm.default", "bmm.default", "matmul.default")
def _matmul(call: Call, a: Any, b: Any) -> Complex:
    return _product(matmul, call, a, b)


@complex_aten("reciprocal.default")
def _one_over(call: Call, z: Complex) -> Complex:
    return _reciprocal(z)


def _reciprocal(z: Complex) -> Complex:
    """The conjugate over the square of the size, divided by the larger part first."""
    most = ops.stop_gradient(ops.maximum(z.real.abs(), z.imag.abs()))
    a, b = z.real / most, z.imag / most
    size = (a.square() + b.square()) * most
    return Complex(a / size, -b / size)


@complex_aten("div.Tensor", "div.Scalar")
def _div(call: Call, a: Any, b: Any) -> Complex:
    if not isinstance(b, (Complex, complex)):
        divisor, z = call.operand(b), _complex(a, call)
        return Complex(z.real / divisor, z.imag / divisor)
    return _product(operator.mul, call, a, _reciprocal(_complex(b, call)))


@complex_aten("exp.default")
def _exp(call: Call, z: Complex) -> Complex:
    size = z.real.exp()
    return Complex(size * z.imag.cos(), size * z.imag.sin())


@complex_aten("pow.Tensor_Scalar")
def _pow(call: Call, z: Complex, exponent: Any) -> Complex:
    if exponent not in (2, 3):
        raise Unsupported("raises complex numbers to %r" % (exponent,))
    square = _product(operator.mul, call, z, z)
    return square if exponent == 2 else _product(operator.mul, call, square, z)


@complex_aten("masked_fill.Scalar")
def _masked_fill(call: Call, z: Complex, mask: Any, value: Any) -> Complex:
    number = complex(value)
    return Complex(z.real.masked_fill(mask, number.real), z.imag.masked_fill(mask, number.imag))


# Fourier transforms, as products with the matrix of the roots of one

def _waves(rows: int, columns: int, size: int, dtype: str) -> tuple[Tensor, Tensor]:
    """cos and sin of 2π · row · column / size."""
    turns = np.outer(np.arange(rows), np.arange(columns)) % size * (2 * math.pi / size)
    return tuple(as_tensor(f(turns).astype("f8" if dtype == "f64" else "f4"))  # type: ignore
                 for f in (np.cos, np.sin))


def _along(x: Tensor, at: int, matrix: Tensor) -> Tensor:
    """The product of a dimension with the rows of a matrix."""
    rows = x if at == len(x.shape) - 1 else x.swapaxes(at, -1)
    product = matmul(rows, matrix)
    return product if at == len(x.shape) - 1 else product.swapaxes(at, -1)


def _transformed(call: Call, z: Complex, dims: Sequence[int], is_forward: bool,
                 normalization: int) -> Complex:
    for dim in dims:
        at = _views.normal_axis(z.real, dim)
        size = z.shape[at]
        if size > _MOST_FREQUENCIES:
            raise Unsupported("transforms %d elements" % size)
        cos, sin = _waves(size, size, size, call.dtype)
        sin = sin if is_forward else -sin
        z = Complex(_along(z.real, at, cos) + _along(z.imag, at, sin),
                    _along(z.imag, at, cos) - _along(z.real, at, sin))
        z = _normalized(z, size, normalization)
    return z


def _normalized(z: Complex, size: int, normalization: int) -> Complex:
    """0: as it is; 1: over the root of the size; 2: over the size."""
    by = {0: 1.0, 1: 1 / math.sqrt(size), 2: 1 / size}[normalization]
    return z if by == 1 else Complex(z.real * by, z.imag * by)


@complex_aten("_fft_c2c.default", limits="up to 4096 elements")
def _fft_c2c(call: Call, z: Any, dim: Sequence[int], normalization: int, forward: bool
             ) -> Complex:
    return _transformed(call, _complex(z, call), dim, forward, normalization)


@complex_aten("_fft_r2c.default", limits="up to 4096 elements")
def _fft_r2c(call: Call, x: Any, dim: Sequence[int], normalization: int, onesided: bool
             ) -> Complex:
    tensor, last = call.tensor(x), dim[-1]
    at = _views.normal_axis(tensor, last)
    size = tensor.shape[at]
    if size > _MOST_FREQUENCIES:
        raise Unsupported("transforms %d elements" % size)
    cos, sin = _waves(size, size // 2 + 1 if onesided else size, size, call.dtype)
    z = _normalized(Complex(_along(tensor, at, cos), -_along(tensor, at, sin)), size,
                    normalization)
    return _transformed(call, z, dim[:-1], True, normalization)


@complex_aten("_fft_c2r.default", limits="up to 4096 elements")
def _fft_c2r(call: Call, z: Any, dim: Sequence[int], normalization: int, size: int) -> Tensor:
    z = _transformed(call, _complex(z, call), dim[:-1], False, normalization)
    at = _views.normal_axis(z.real, dim[-1])
    if size > _MOST_FREQUENCIES:
        raise Unsupported("transforms %d elements" % size)
    count = size // 2 + 1
    kept = (slice(None),) * at + (slice(0, count),)
    cos, sin = _waves(count, size, size, call.dtype)
    twice = np.full((count, 1), 2.0, "f4")  # for the frequencies that are left out
    twice[0] = 1
    if size % 2 == 0:
        twice[-1] = 1
    weight = as_tensor(twice).astype(call.dtype)
    y = _along(z.real[kept], at, cos * weight) - _along(z.imag[kept], at, sin * weight)
    return _normalized(Complex(y, y), size, normalization).real
