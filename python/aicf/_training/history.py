# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The History that aicf.fit returns: what was logged, epoch by epoch."""

from __future__ import annotations

import html
import io
import math
import os
from collections.abc import Iterator
from typing import Any

from ..errors import near_names


class History:
    """The values that aicf.fit logged. `history[0]["loss"]` is the loss of the first
    epoch, and `history["loss"]` is the list of the losses of all epochs.

    Attributes:
        epochs: one dict per epoch. Its "epoch" counts from 1.
        best: {"epoch", "value"} of the best monitored value, or None.
        stopped: why the run ended before its last epoch, or "".
    """

    def __init__(self, epochs: list[dict[str, float]] | None = None) -> None:
        self.epochs = epochs or []
        self.best: dict[str, float] | None = None
        self.stopped = ""

    def names(self) -> list[str]:
        """Returns the names of all values, in the order in which they came."""
        return list(dict.fromkeys(name for logs in self.epochs for name in logs))

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return self.epochs[which]
        if which not in self.names():
            raise KeyError("%r%s; the history has %s" % (
                which, near_names(which, self.names()), ", ".join(self.names())))
        return [logs.get(which, math.nan) for logs in self.epochs]

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self.epochs)

    def __len__(self) -> int:
        return len(self.epochs)

    def __repr__(self) -> str:
        last = ", ".join("%s %.4g" % item for item in self.epochs[-1].items()
                         if item[0] != "epoch") if self.epochs else "nothing yet"
        return "aicf.History(%d epochs: %s%s)" % (
            len(self), last, "; " + self.stopped if self.stopped else "")

    def _repr_html_(self) -> str:
        """A table for Jupyter, with the best epoch in bold."""
        names = self.names()
        rows = []
        for logs in self.epochs:
            is_best = self.best is not None and logs["epoch"] == self.best["epoch"]
            cells = (_cell(logs.get(name, "")) for name in names)
            rows.append("<tr%s>%s</tr>" % (" style='font-weight: bold'" * is_best,
                                           "".join("<td>%s</td>" % c for c in cells)))
        return "<table><tr>%s</tr>%s</table>%s" % (
            "".join("<th>%s</th>" % html.escape(name) for name in names), "".join(rows),
            html.escape(self.stopped))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draws a diagram for each value, with training and validation together. It needs
        matplotlib (`pip install aicf[plot]`).

        Args:
            path: a file to write (.png, .svg or .pdf). None writes no file.
        Returns: matplotlib's figure.
        Raises: ImportError: matplotlib is not installed.
        """
        figure = new_figure()
        shown = [name for name in self.names()
                 if not name.startswith("val_") and name not in ("epoch", "seconds")
                 and not isinstance(self[name][-1], str)]
        shown += [name for name in self.names()
                  if name.startswith("val_") and name[4:] not in shown]
        figure.set_size_inches(4.5 * max(len(shown), 1), 3.5)
        numbers = [logs["epoch"] for logs in self.epochs]
        for i, name in enumerate(shown):
            axes = figure.add_subplot(1, len(shown), i + 1)
            for each in (name, "val_" + name):
                if each in self.names():
                    axes.plot(numbers, self[each], label=each)
            if self.best is not None:
                axes.axvline(self.best["epoch"], color="0.7", linestyle=":", label="best")
            axes.set_xlabel("epoch")
            axes.set_title(name)
            axes.legend()
        if path is not None:
            figure.savefig(os.fspath(path))
        return figure


def _cell(value: Any) -> str:
    return html.escape(value) if isinstance(value, str) else "%.4g" % value


def new_figure() -> Any:
    """Returns an empty figure that Jupyter shows, with or without pyplot."""
    try:
        from matplotlib.figure import (  # type: ignore[import-not-found,unused-ignore]
            Figure)
    except ImportError:
        raise ImportError("history.plot() needs matplotlib: "
                          "pip install matplotlib") from None

    class Shown(Figure):  # type: ignore[misc,unused-ignore]
        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png")
            return file.getvalue()
    return Shown(layout="constrained")
