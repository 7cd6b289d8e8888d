# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that no op is, made of ops, for the imports of PyTorch and JAX. Operands are
f32 or f64. No branch that `where` leaves out gives the gradient NaN.

asinh and acosh follow fdlibm (s_asinh.c, e_acosh.c; Sun Microsystems, 1993).
"""

from __future__ import annotations

import math

from . import ops
from ._pointwise import power, where
from ._tensor import Tensor

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
