# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of callbacks, and functions as callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgumentError, near_names

if TYPE_CHECKING:
    from ..training import Run


class Callback:
    """The base class of callbacks. Override the methods that you need.

    A plain function f(epoch, logs) is a callback, too. It is called at the end of each
    epoch, and ends the run if it returns True. Its argument `epoch` counts from 1.

    The argument `run` of the methods is an aicf.Run. It has step, epoch and position
    (both count from 0), history, and stop(reason), which ends the run after the batch.
    """

    def prepare(self, run: Run) -> None:
        """Runs first, before a checkpoint is read: what compiles an entry into the program
        of the step belongs here."""

    def on_fit_begin(self, run: Run) -> None:
        """Runs before the first batch, and after a checkpoint was read."""

    def on_batch_end(self, run: Run) -> None:
        """Runs after each batch. If you read a loss here, you wait for the device."""

    def on_validation_begin(self, run: Run) -> None:
        """Runs before the rows of the validation are evaluated."""

    def on_validation_end(self, run: Run) -> None:
        """Runs behind them, also when they raised an error."""

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        """Runs after validation and before the checkpoint. What you add to `logs` is
        logged."""

    def on_fit_end(self, run: Run) -> None:
        """Runs after the last batch, unless an error or Ctrl-C ended the run."""

    def close(self) -> None:
        """Runs last, whatever ended the run: closes files and connections."""

    def state(self) -> Any:
        """Returns what checkpoints keep of the callback, as values for JSON."""
        return None

    def load_state(self, state: Any) -> None:
        """Restores what state() returned, when a run is resumed."""


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
