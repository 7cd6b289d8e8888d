# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Callbacks, which aicf.fit calls while it trains, and the History that it returns."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from ._base.hints import missing
from ._training.averages import EMA
from ._training.callback import Callback, monitored
from ._training.history import History
from ._training.loggers import Logger, MLflow, TensorBoard, WandB
from ._training.rates import scale_rate

if TYPE_CHECKING:
    from .training import Run

__all__ = ["EMA", "Callback", "EarlyStopping", "History", "Logger", "MLflow",
           "ReduceLROnPlateau", "TensorBoard", "WandB"]


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

    def waits(self, run: Run, logs: dict[str, float]) -> bool:
        """Counts an epoch. Returns False if patience is at its end."""
        value = monitored(logs, self.monitor or run.monitor)
        sign = -1.0 if (self.mode or run.mode) == "max" else 1.0
        if self.best is None or not math.isfinite(self.best) \
                or sign * value < sign * self.best - self.min_delta:
            self.best, self.waited = value, 0
            return True
        self.waited += 1
        return self.has_patience()

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        if not self.waits(run, logs):
            run.stop("%s has not become better than %g for %d epochs"
                     % (self.monitor or run.monitor, self.best or 0.0, self.waited))

    def has_patience(self) -> bool:
        """Whether the run may go on: a resumed one may have been given more patience."""
        return self.waited < self.patience

    def state(self) -> Any:
        return {"best": self.best, "waited": self.waited}

    def load_state(self, state: Any) -> None:
        best, waited = state["best"], state["waited"]
        if not (best is None or isinstance(best, (int, float))) \
                or not isinstance(waited, int) or waited < 0:
            raise ValueError("best is %r and waited is %r" % (best, waited))
        self.best, self.waited = best, waited


class ReduceLROnPlateau(Callback):
    """Multiplies the learning rate when a value has not become better for `patience`
    epochs. The step's rate must be a number and not a schedule; of a torch step those of
    all groups are multiplied.

    Args:
        factor: what the rate is multiplied by, between 0 and 1.
        patience: a number of epochs, 1 or more.
        monitor, mode, min_delta: as for EarlyStopping.
        min_lr: the rate does not fall below this.
    Raises: ValueError; InvalidArgumentError where the rate cannot be set.
    """

    def __init__(self, factor: float = 0.1, patience: int = 10,
                 monitor: str | None = None, mode: str | None = None,
                 min_delta: float = 0.0, min_lr: float = 0.0) -> None:
        if not 0 < float(factor) < 1:
            raise ValueError("factor is %r, expected a number between 0 and 1" % (factor,))
        self.factor, self.min_lr = float(factor), float(min_lr)
        self._watch = EarlyStopping(patience, monitor, mode, min_delta)

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        if self._watch.waits(run, logs):
            return
        self._watch.waited = 0
        scale_rate(run.step, self.factor, self.min_lr)

    def state(self) -> Any:
        return self._watch.state()

    def load_state(self, state: Any) -> None:
        self._watch.load_state(state)


def __getattr__(name: str) -> Any:
    raise missing("aicf.callbacks", name, sys.modules[__name__])
