# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.ops.map, which applies a function to elements and traces it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .pointwise import broadcast_together
from .trace import current_trace

if TYPE_CHECKING:
    from .tensor import Tensor


def map_elements(function: Callable[..., Any], operands: Sequence[Any]) -> Tensor:
    """Applies `function` to each element of the operands, which broadcast."""
    trace = current_trace("aicf.ops.map")
    return trace.map(function, broadcast_together("aicf.ops.map", operands))
