# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What aicf.fit calls while it trains, and what it gives back."""

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
    """The base of callbacks: override what is wanted. A plain function
    f(epoch, logs) is called at the end of each epoch; True from it ends the run.

    `run` has step, epoch and position (both counted from 0), history, and
    stop(reason), which ends the run after the batch.
    """

    def on_fit_begin(self, run: Run) -> None:
        """Before the first batch, after a checkpoint was read."""

    def on_batch_end(self, run: Run) -> None:
        """After each batch. Reading a loss here waits for the device."""

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        """After validation, before the checkpoint; what is added to `logs` is
        logged."""

    def on_fit_end(self, run: Run) -> None:
        """When no batch follows, unless an error ended the run."""

    def state(self) -> Any:
        """What the checkpoint is to hold, as JSON can hold it."""
        return None

    def load_state(self, state: Any) -> None:
        """Takes it back when a run is resumed."""


class EarlyStopping(Callback):
    """Ends the run when a value has not become better for `patience` epochs.

    Args:
        patience: epochs, 1 or more.
        monitor: "val_loss", "loss", "val_accuracy", ...; default: fit's.
        mode: "min" or "max"; default: fit's.
        min_delta: by how much better counts as better.
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
        self.best, self.waited = state["best"], state["waited"]


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
    """Raises InvalidArgumentError if no value of that name is logged."""
    if name not in logs:
        raise InvalidArgumentError("monitor is %r%s; logged are %s" % (
            name, near_names(name, logs), ", ".join(logs)))
    return logs[name]


class History:
    """What aicf.fit measured: one dict per epoch, `history[0]["loss"]`, or one list
    per name, `history["loss"]`.

    Attributes:
        epochs: the dicts, with "epoch" counted from 1.
        best: {"epoch", "value"} of the monitored value, or None.
        stopped: why the run ended before its last epoch, or "".
    """

    def __init__(self, epochs: list[dict[str, float]] | None = None) -> None:
        self.epochs = epochs or []
        self.best: dict[str, float] | None = None
        self.stopped = ""

    def names(self) -> list[str]:
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
        """One diagram per value, training and validation together; needs matplotlib
        (`pip install aicf[plot]`).

        Args:
            path: the file to write, .png, .svg or .pdf; None: only the figure.
        Returns: matplotlib's figure.
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
