# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Callbacks, which aicf.fit calls while it trains, and the History that it returns."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .errors import InvalidArgumentError, near_names

if TYPE_CHECKING:
    from .training import Run

__all__ = ["Callback", "EarlyStopping", "History"]


class Callback:
    """The base class of callbacks. Override the methods that you need.

    A plain function f(epoch, logs) is a callback, too. It is called at the end of each
    epoch, and ends the run if it returns True. Its argument `epoch` counts from 1.

    The argument `run` of the methods is an aicf.Run. It has step, epoch and position
    (both count from 0), history, and stop(reason), which ends the run after the batch.
    """

    def on_fit_begin(self, run: Run) -> None:
        """Runs before the first batch, and after a checkpoint was read."""

    def on_batch_end(self, run: Run) -> None:
        """Runs after each batch. If you read a loss here, you wait for the device."""

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        """Runs after validation and before the checkpoint. What you add to `logs` is
        logged."""

    def on_fit_end(self, run: Run) -> None:
        """Runs after the last batch, unless an error or Ctrl-C ended the run."""

    def state(self) -> Any:
        """Returns what checkpoints keep of the callback, as values for JSON."""
        return None

    def load_state(self, state: Any) -> None:
        """Takes back what state() returned, when a run is resumed."""


class EarlyStopping(Callback):
    """Ends the run when a value has not become better for `patience` epochs.

    Args:
        patience: a number of epochs, 1 or more.
        monitor: the name of the value, such as "val_loss"; the default is fit's.
        mode: whether less ("min") or more ("max") is better; the default is fit's.
        min_delta: how much better than the best a value must be to count as better.
    Raises: ValueError; InvalidArgumentError at the end of an epoch that does not log the
        value.
    """

    def __init__(self, patience: int = 5, monitor: str | None = None,
                 mode: str | None = None, min_delta: float = 0.0) -> None:
        if isinstance(patience, bool) or not isinstance(patience, int) or patience < 1:
            raise ValueError("patience is %r, expected an int of 1 or more"
                             % (patience,))
        if mode not in (None, "min", "max"):
            raise ValueError("mode is %r, expected \"min\" or \"max\"" % (mode,))
        self.patience, self.monitor, self.mode = patience, monitor, mode
        self.min_delta = float(min_delta)
        self.best: float | None = None
        self.waited = 0  # epochs

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        name = self.monitor or run.monitor
        value = monitored(logs, name)
        sign = -1.0 if (self.mode or run.mode) == "max" else 1.0
        if self.best is None or not math.isfinite(self.best) or sign * value < sign * self.best - self.min_delta:
            self.best, self.waited = value, 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            run.stop("%s has not become better than %g for %d epochs"
                     % (name, self.best, self.waited))

    def state(self) -> Any:
        return {"best": self.best, "waited": self.waited}

    def load_state(self, state: Any) -> None:
        best, waited = state["best"], state["waited"]
        if not (best is None or isinstance(best, (int, float))) \
                or not isinstance(waited, int) or waited < 0:
            raise ValueError("best is %r and waited is %r" % (best, waited))
        self.best, self.waited = best, waited


class FunctionCallback(Callback):
    """A plain function of the epoch's number, counted from 1, and its logs."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        if self.function(run.epoch + 1, logs):
            run.stop("a callback ended the run")


def as_callback(value: Any) -> Callback:
    if isinstance(value, Callback):
        return value
    if isinstance(value, type) or not callable(value):
        raise TypeError("a callback is %r, expected an aicf.Callback or a function "
                        "f(epoch, logs)" % (value,))
    return FunctionCallback(value)


def monitored(logs: dict[str, float], name: str) -> float:
    """Returns the value of that name. Raises InvalidArgumentError if it is not logged."""
    if name not in logs:
        raise InvalidArgumentError("monitor is %r%s; the values logged are %s" % (
            name, near_names(name, logs), ", ".join(logs)))
    return logs[name]


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

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draws a diagram for each value, with training and validation together. It needs
        matplotlib (`pip install aicf[plot]`).

        Args:
            path: a file to write (.png, .svg or .pdf). None writes no file.
        Returns: matplotlib's figure.
        Raises: ImportError: matplotlib is not installed.
        """
        try:
            from matplotlib.figure import (  # type: ignore[import-not-found,unused-ignore]
                Figure)
        except ImportError:
            raise ImportError("history.plot() needs matplotlib: "
                              "pip install matplotlib") from None
        shown = [name for name in self.names()
                 if not name.startswith("val_") and name not in ("epoch", "seconds")]
        shown += [name for name in self.names()
                  if name.startswith("val_") and name[4:] not in shown]
        figure = Figure(figsize=(4.5 * max(len(shown), 1), 3.5),
                        layout="constrained")
        numbers = [logs["epoch"] for logs in self.epochs]
        for i, name in enumerate(shown):
            axes = figure.add_subplot(1, len(shown), i + 1)
            for each in (name, "val_" + name):
                if each in self.names():
                    axes.plot(numbers, self[each], label=each)
            axes.set_xlabel("epoch")
            axes.set_title(name)
            axes.legend()
        if path is not None:
            figure.savefig(os.fspath(path))
        return figure
