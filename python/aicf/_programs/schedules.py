# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The learning rate that a schedule gives at a step, as the compiler computes it."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

from .. import compiled, nn, optim

if TYPE_CHECKING:
    from ..optim import Schedule
    from ..program import Entry


#: Equal schedules share a program, and a program runs in one thread.
_LOCK = threading.Lock()


@functools.lru_cache(maxsize=16)
def _probe(attribute: str, schedule: Schedule) -> Entry:
    """A step on the CPU that subtracts rate times 1 from a parameter of 0: the formula of a
    schedule stands in the compiler alone."""
    class Zero(nn.Module):
        def __init__(self) -> None:
            self.value = nn.Parameter((1,))
    return compiled.compile_step(Zero(), lambda model: (model.value + 0).sum(),
                                 optim.SGD(schedule), {}, threads=1)


def rate_at(schedule: Schedule, count: int, table: Any = None) -> float:
    """Returns the rate of update `count`, which counts from 1; 0 is taken for 1. `table`
    has the rates of a Table as they are now."""
    import numpy
    with _LOCK:
        probe = _probe(schedule.attribute(), schedule)
        if table is not None:
            probe.set("lr_table", table)
        probe.set("value", numpy.zeros(1, numpy.float32))
        step = probe.get("step").numpy()
        probe.set("step", numpy.full_like(step, max(count, 1) - 1))
        probe()
        return -float(probe.get("value").numpy()[0])
