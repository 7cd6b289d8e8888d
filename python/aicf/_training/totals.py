# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums over an epoch of what a step returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InvalidArgumentError

#: "mean", "sum" or "last", or a function of the arrays of all batches.
Metric = str | Callable[..., Any]


class Totals:
    """Sums up what a step returns, by name: value times rows, or the values alone, and
    the rows. It reads values in groups, because reading one waits for the device."""

    def __init__(self, kinds: Mapping[str, Metric]) -> None:
        self.kinds = kinds
        #: For each name the sum, and the rows of the batches that had it.
        self.sums: dict[str, list[float]] = {}
        self._pending: list[tuple[dict[str, Any], int]] = []
        self._last_loss: Any = math.nan

    def add(self, result: Any, rows: int) -> None:
        values = {"loss": result}
        if isinstance(result, tuple):
            more = result[1] if isinstance(result[1], Mapping) else {
                "output%d" % i: value for i, value in enumerate(result[1:], 1)}
            values = {"loss": result[0], **more}
        elif isinstance(result, Mapping):  # a step of JAX may return one
            if "loss" not in result:
                raise InvalidArgumentError("the step returns a dict without a \"loss\": %s"
                                           % ", ".join(map(str, result)))
            values = dict(result)
        self._pending.append((values, rows))
        self._last_loss = values["loss"]
        if len(self._pending) >= 256:
            self.flush()

    def flush(self) -> None:
        for values, rows in self._pending:
            for name, value in values.items():
                if getattr(value, "shape", ()):
                    if name in self.kinds:
                        raise InvalidArgumentError(
                            "metric %r is %s, expected a 0-d output" % (name, value))
                    continue
                weight = 1 if self._is_count(name, value) else rows
                total = self.sums.setdefault(name, [0.0, 0])
                total[0] += float(value) * weight
                total[1] += rows
        self._pending.clear()

    @property
    def is_finite(self) -> bool:
        self.flush()
        return all(math.isfinite(total) for total, _ in self.sums.values())

    def _is_count(self, name: str, value: Any) -> bool:
        """Whether the value is a count, or is to be summed, and not a mean over rows."""
        return self.kinds.get(name) == "sum" or str(value.dtype).startswith("i")

    def last_loss(self) -> float:
        """Returns the loss of the last batch, and waits for it."""
        return float(self._last_loss)

    def means(self, prefix: str = "") -> dict[str, float]:
        self.flush()
        return {prefix + name: total if self.kinds.get(name) == "sum"
                else total / rows for name, (total, rows) in self.sums.items()}
