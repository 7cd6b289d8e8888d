# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The learning rate of a step: what it is now, and another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import AICFError, InvalidArgumentError
from ..program import Entry


def rate_of(step: Entry) -> float | None:
    """Returns the rate of the last update, or None for a step without one."""
    try:
        return float(step.get("lr"))
    except AICFError:
        return None


def groups_of(step: Entry) -> list[dict[str, Any]] | None:
    """Returns the groups of a torch optimizer, from which a step reads its rates before each
    call, or None for other steps."""
    return getattr(getattr(step, "optimizer", None), "param_groups", None)


def scale_rate(step: Entry, factor: float, low: float = 0.0) -> None:
    """Multiplies the rate, or those of all groups of a torch optimizer. Raises
    InvalidArgumentError: a schedule computes it."""
    groups = groups_of(step)
    if groups is not None:
        for group in groups:
            group["lr"] = max(float(group["lr"]) * factor, min(low, float(group["lr"])))
        return
    rate = rate_of(step)
    if rate is None:
        raise InvalidArgumentError("%r has no learning rate that can be read" % step.name)
    step.set("lr", max(rate * factor, min(low, rate)))


def restorer_of(step: Entry) -> Callable[[], None]:
    """Returns a function that gives the rate, or those of all groups, back."""
    groups = groups_of(step)
    if groups is None:
        rate = step.get("lr")
        return lambda: step.set("lr", rate)
    before = [group["lr"] for group in groups]

    def restore() -> None:
        for group, rate in zip(groups, before):
            group["lr"] = rate
    return restore


def setter_of(step: Entry) -> Callable[[float], None]:
    """Returns a function that sets the rate, of all groups of a torch optimizer."""
    groups: Any = groups_of(step)

    def set_groups(rate: float) -> None:
        for group in groups:
            group["lr"] = rate
    return set_groups if groups is not None else lambda rate: step.set("lr", rate)
