# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A learning rate to begin with (Smith 2017, "Cyclical Learning Rates for Training Neural
Networks"): some batches with growing rates, and where the loss falls fastest."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from typing import Any

from ..errors import FailedStateError, InvalidArgumentError
from ..program import Entry
from . import sources
from .history import new_figure
from .loop import Best
from .rates import rate_of, restorer_of, setter_of

#: The part of the old mean in the smoothed loss, and how much worse than the best loss
#: ends the search.
SMOOTHING, WORSE = 0.9, 4.0


class RateSearch:
    """The result of aicf.lr_find.

    Attributes:
        rates, losses: the rates that were tried, and the smoothed losses behind them.
        suggestion: the rate at which the loss fell fastest; None if it never fell.
    """

    def __init__(self, rates: list[float], losses: list[float]) -> None:
        self.rates, self.losses = rates, losses
        slopes = [after - before for before, after in zip(losses, losses[1:])]
        best = min(range(len(slopes)), key=slopes.__getitem__, default=0)
        self.suggestion = rates[best] if slopes and slopes[best] < 0 else None

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draws the losses over the rates, as History.plot draws."""
        figure = new_figure()
        axes = figure.add_subplot()
        axes.plot(self.rates, self.losses)
        if self.suggestion is not None:
            axes.axvline(self.suggestion, color="0.7", linestyle=":", label="suggestion")
            axes.legend()
        axes.set_xscale("log")
        axes.set_xlabel("learning rate")
        axes.set_ylabel("loss")
        if path is not None:
            figure.savefig(os.fspath(path))
        return figure

    def __repr__(self) -> str:
        return "aicf.RateSearch(%d rates from %.3g to %.3g: %s)" % (
            len(self.rates), self.rates[0], self.rates[-1], "suggestion %.3g"
            % self.suggestion if self.suggestion is not None else "the loss never fell")


def _endless(source: sources.Source) -> Iterator[sources.Batch]:
    for epoch in itertools.count():
        count = 0
        for batch in source.batches(epoch, 0):
            count += 1
            yield batch
        if not count:
            raise InvalidArgumentError("data gave no batches")


def search(step: Entry, source: sources.Source, low: float, high: float,
           steps: int) -> RateSearch:
    """Does what aicf.lr_find says. The step has the values afterwards that it had."""
    if rate_of(step) is None or step.family.root.signature.schedule is not None:
        raise FailedStateError("%r has no learning rate that can be set: a schedule computes "
                               "it, or there is no optimizer" % step.name)
    step.discard_update()
    set_rate, give_back, values = setter_of(step), restorer_of(step), Best(step.program)
    values.keep()
    rates: list[float] = []
    losses: list[float] = []
    mean = 0.0
    try:
        for number, (batch, _) in zip(range(steps), _endless(source)):
            rate = low * (high / low) ** (number / (steps - 1))
            set_rate(rate)
            result: Any = step(**batch)
            loss = float(result[0] if isinstance(result, tuple) else result)
            mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
            smoothed = mean / (1 - SMOOTHING ** (number + 1))
            best = min(losses, default=smoothed)
            if not math.isfinite(loss) or smoothed > best + (WORSE - 1) * abs(best):
                break
            rates.append(rate)
            losses.append(smoothed)
    finally:
        step.discard_update()
        values.restore()
        give_back()
    if not rates:
        raise FailedStateError("the loss of the first batch is not finite")
    return RateSearch(rates, losses)
