# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that a step returns so that somebody can look at them."""

from __future__ import annotations

from typing import Any

from .returned import PRINT
from .tensor import Tensor
from .trace import as_tensor, current_trace, trace_error


def debug_print(label: str, x: Any) -> Tensor:
    """Returns `x`, and prints its values whenever the step has run: those of every batch in
    aicf.fit, and of the last step of step.run(n). It waits for the device.

    Args:
        label: what stands before the values.
        x: a tensor of the trace.
    Raises: TraceError: outside a trace, or in the body of a loop.
    """
    trace = current_trace("aicf.debug_print")
    if not isinstance(label, str) or not label or not label.isprintable():
        trace_error("the label of a value to print is %r, expected a str" % (label,))
    tensor = as_tensor(x)
    trace.keep(PRINT + label, tensor)
    return tensor


def keep(name: str, x: Any) -> Tensor:
    """Returns `x`, and makes the step return its value, too, in the dict beside the loss:
    `loss, more = step(x, y)`, `more["hidden"]`. `outputs=("layer:fc",)` does so for what a
    module returns. A module that is an entry itself, such as "predict", does not return it.

    Args:
        name: what it is called. Another one of the same name gets "#2" behind it.
        x: a tensor of the trace.
    Raises: TraceError: outside a trace, or a function that returns a tuple.
    """
    trace = current_trace("aicf.keep")
    if not isinstance(name, str) or not name or not name.isprintable():
        trace_error("the name of a kept value is %r, expected a str" % (name,))
    if name.startswith(PRINT):
        trace_error("the name of a kept value is %r, and what begins with %r is printed"
                    % (name, PRINT))
    tensor = as_tensor(x)
    trace.keep(name, tensor)
    return tensor
