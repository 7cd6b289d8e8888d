# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients that a step computes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from .. import ops
from .tensor import Tensor
from .trace import as_tensor, trace_error


@overload
def grad(y: Any, x: list[Any] | tuple[Any, ...]) -> tuple[Tensor, ...]: ...
@overload
def grad(y: Any, x: Any) -> Tensor: ...


def grad(y: Any, x: Any) -> Tensor | tuple[Tensor, ...]:
    """Returns the gradient of `y` with respect to `x` as a tensor of the trace, of x's shape,
    with which the function goes on. A loss that is made of it is trained through it, so this
    gives second derivatives, and grad of a grad gives higher ones::

        def residual(model, t):               # u'' + u = 0
            u = model(t)
            du = aicf.grad(u.sum(), t)        # a row of u depends on its own t alone
            return ((aicf.grad(du.sum(), t) + u) ** 2).mean()

    compile_step derives the gradients of parameters itself; `outputs` returns them.

    Args:
        y: a 0-d float tensor. A sum over rows gives each row's own derivative, and
            (y * v).sum() the product of v with the Jacobian.
        x: the tensor, input or parameter that y is computed from, and no copy or slice of
            it, or a list or tuple of these.
    Returns: a tensor, or a tuple of them.
    Raises: TraceError: y is not 0-d. CompileError: y does not depend on x, or an op between
        them has no derivative. Where the loss depends on the result, that op needs a second
        derivative: norms, attention, maxima along an axis and cross entropies have none.
    """
    y = as_tensor(y)
    if y.shape:
        trace_error("aicf.grad takes a 0-d y, and this is %s: aicf.grad(y.sum(), x) gives "
                    "the derivative of each row, if rows do not depend on each other" % y)
    if isinstance(x, Sequence) and not isinstance(x, str):
        return tuple([ops.gradient(y, as_tensor(each)) for each in x])
    return ops.gradient(y, as_tensor(x))
