# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that no op is, made of ops, for the imports of PyTorch and JAX. Operands are
f32 or f64. No branch that `where` leaves out gives the gradient NaN.

asinh and acosh follow fdlibm (s_asinh.c, e_acosh.c; Sun Microsystems, 1993).
"""

from __future__ import annotations

import math

from .. import ops
from .pointwise import power, where
from .tensor import Tensor

#: From here on x^2 +- 1 is x^2, and asinh and acosh are log(2x): also where 2x is too large.
_FAR = 1e9


def tan(x: Tensor) -> Tensor:
    return ops.sin(x) / ops.cos(x)


def cbrt(x: Tensor) -> Tensor:
    return ops.sign(x) * power(ops.abs(x), 1 / 3)


def _halves(x: Tensor) -> tuple[Tensor, Tensor]:
    """e^|x| / 2 and e^-|x| / 2, as finite as they are."""
    root = ops.exp(ops.abs(x) * 0.5)
    return root * 0.5 * root, 0.5 / root / root


def sinh(x: Tensor) -> Tensor:
    is_near = ops.abs(x) < 1.0
    near = x.masked_fill(~is_near, 0.0)
    large, small = _halves(x)
    return where(is_near, (ops.expm1(near) - ops.expm1(-near)) * 0.5,
                 ops.sign(x) * (large - small))


def cosh(x: Tensor) -> Tensor:
    large, small = _halves(x)
    return large + small


def asinh(x: Tensor) -> Tensor:
    size = ops.abs(x)
    is_far = size > _FAR
    near = size.masked_fill(is_far, 1.0)
    square = near * near
    far = size.masked_fill(~is_far, 1.0)
    positive = where(is_far, ops.log(far) + math.log(2), ops.log1p(
        near + square / (ops.sqrt(square + 1.0) + 1.0)))
    return where(size < 1e-10, x, ops.sign(x) * positive)  # sign(0) has no slope


def acosh(x: Tensor) -> Tensor:
    is_far = x > _FAR
    near = x.masked_fill(is_far, 2.0)
    far = x.masked_fill(~is_far, 1.0)
    return where(is_far, ops.log(far) + math.log(2), ops.log1p(
        (near - 1.0) + ops.sqrt(near - 1.0) * ops.sqrt(near + 1.0)))


def atanh(x: Tensor) -> Tensor:
    return (ops.log1p(x) - ops.log1p(-x)) * 0.5


def _with_slope(value: Tensor, x: Tensor, slope: Tensor) -> Tensor:
    """The value, whose derivative is known better than that of how it is computed."""
    return ops.straight_through(value, x * ops.stop_gradient(slope))


def _beside(x: Tensor) -> Tensor:
    """The root of 1 - x^2, exact near 1."""
    return ops.sqrt((1.0 - x) * (1.0 + x))


def asin(x: Tensor) -> Tensor:
    fixed = ops.stop_gradient(x)
    return _with_slope(ops.atan2(fixed, _beside(fixed)), x, ops.rsqrt(1.0 - fixed * fixed))


def acos(x: Tensor) -> Tensor:
    fixed = ops.stop_gradient(x)
    return _with_slope(ops.atan2(_beside(fixed), fixed), x, -ops.rsqrt(1.0 - fixed * fixed))


def atan(x: Tensor) -> Tensor:
    fixed = ops.stop_gradient(x)
    return _with_slope(ops.atan2(fixed, ops.fill_like(fixed, value=1.0)), x,
                       ops.reciprocal(fixed * fixed + 1.0))


#: The inverse of erf as a polynomial of w = -log(1 - x^2), by powers from the highest down:
#: below 5 of w - 2.5, else of the root of w less 3. M. Giles, "Approximating the erfinv
#: function", GPU Computing Gems 2, 2011: single precision.
_ERFINV_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
_ERFINV_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
               -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)


def erfinv(x: Tensor) -> Tensor:
    """The inverse of erf, of f32 or f64; its derivative is sqrt(pi) / 2 · exp(y^2)."""
    fixed = ops.stop_gradient(x)
    w = -ops.log1p(-fixed * fixed)
    is_near = w < 5.0
    t = where(is_near, w - 2.5, ops.sqrt(w) - 3.0)
    y = None
    for near, far in zip(_ERFINV_NEAR, _ERFINV_FAR):
        c = where(is_near, ops.fill_like(t, value=near), ops.fill_like(t, value=far))
        y = c if y is None else y * t + c
    y = y * fixed
    if x.dtype == "f64":  # two steps of Newton's
        for _ in range(2):
            size = ops.abs(y)
            # 1 - erf is exact where erf is near 1.
            miss = where(size < 0.5, ops.erf(y) - fixed, ops.sign(y) * (
                (1.0 - ops.abs(fixed)) - ops.erfc(size)))
            y = y - miss * (math.sqrt(math.pi) / 2) * ops.exp(y * y)
    at_end = ops.abs(fixed) == 1.0
    y = where(at_end, fixed * math.inf, y.masked_fill(at_end, 0.0))
    return _with_slope(y, x, ops.exp(y * y) * (math.sqrt(math.pi) / 2))
