# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions whose derivative is somebody's own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import ops
from ..errors import TraceError
from .tensor import Tensor
from .trace import Operand, as_tensor, location_of, trace_error


def custom_gradient(slope: Callable[..., Any]) -> Callable[[Callable[..., Any]],
                                                          Callable[..., Tensor]]:
    """Decorates an elementwise function of tensors that has a derivative of its own::

        @aicf.custom_gradient(lambda x: (abs(x) <= 1).astype("f32"))
        def binarize(x):            # a straight-through estimator
            return x.sign()

    Args:
        slope: a function of the same tensors: the derivative of each element of the result
            for the same element of the tensor; of several tensors a tuple of these.
    Returns: a function of tensors of one shape and type. Its result has that shape. What
        the function itself computes has no gradient.
    Raises: TraceError: another shape, or another number of slopes.
    """
    def decorate(function: Callable[..., Any]) -> Callable[..., Tensor]:
        @functools.wraps(function)
        def call(*given: Any) -> Tensor:
            tensors = [as_tensor(x) for x in given]
            fixed = [ops.stop_gradient(x) for x in tensors]
            value, slopes = as_tensor(function(*fixed)), slope(*fixed)
            slopes = slopes if isinstance(slopes, (tuple, list)) else (slopes,)
            if len(slopes) != len(tensors):
                raise TraceError("slope gives %d tensors, and the function takes %d"
                                 % (len(slopes), len(tensors)), *location_of(slope))
            way = None
            for x, each in zip(tensors, slopes):
                if x.shape != value.shape:
                    trace_error("the function gives %s for %s, expected the same shape: its "
                                "derivative is one number for each element" % (value, x))
                if isinstance(each, Operand):
                    each = ops.stop_gradient(as_tensor(each).astype(x.dtype))
                part = x * each
                way = part if way is None else way + part
            if way is None:
                trace_error("a function with a custom gradient takes one tensor or more")
            return ops.straight_through(value.astype(way.dtype), way)
        return call
    return decorate
