# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where aicf.fit logs to: files by their suffix, and trackers that may be installed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._programs.convert import values_of
from .callback import Callback
from .csv_log import CsvLog
from .epoch_log import EpochLog

if TYPE_CHECKING:
    from ..training import Run

#: What keeps lines of a run and makes them those of its history again.
File = CsvLog | EpochLog


def _numbers(logs: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in logs.items()
            if name != "epoch" and not isinstance(value, str)}


class Logger(Callback):
    """The base class of loggers: callbacks that only read. A run may be resumed with other
    loggers than it began with."""


class TensorBoard(Logger):
    """Writes event files for TensorBoard. It needs the package `tensorboard`.

    Args:
        folder: the folder of the run, such as "runs/first"; `tensorboard --logdir runs`
            shows all that are beside it.
        histograms: whether to add a histogram of each parameter, which is read from the
            device after each epoch.
    Raises: ImportError: tensorboard is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str], histograms: bool = False) -> None:
        try:
            from tensorboard.summary.writer.event_file_writer import (  # type: ignore[import-not-found,unused-ignore] # noqa: E501
                EventFileWriter)
        except ImportError:
            raise ImportError("aicf.callbacks.TensorBoard needs tensorboard: "
                              "pip install tensorboard") from None
        self.folder, self.histograms = os.fspath(folder), histograms
        self._make = EventFileWriter
        self._writer: Any = None

    def on_fit_begin(self, run: Run) -> None:
        self._writer = self._make(self.folder)

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2  # type: ignore[import-not-found,unused-ignore] # noqa: E501
        values = [summary_pb2.Summary.Value(tag=name, simple_value=value)
                  for name, value in _numbers(logs).items()]
        if self.histograms:
            values += [summary_pb2.Summary.Value(tag=name, histo=_histogram(array))
                       for name, array in values_of(run.step.program) if array.size]
        self._writer.add_event(event_pb2.Event(
            wall_time=time.time(), step=int(logs["epoch"]),
            summary=summary_pb2.Summary(value=values)))
        self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _histogram(array: Any) -> Any:
    """Returns the values that are finite in 64 bins, as TensorBoard keeps them."""
    import numpy
    from tensorboard.compat.proto import summary_pb2
    values = numpy.asarray(array, numpy.float64).ravel()
    values = values[numpy.isfinite(values)]
    counts, edges = numpy.histogram(values, 64)
    return summary_pb2.HistogramProto(
        min=values.min(initial=0), max=values.max(initial=0), num=values.size,
        sum=values.sum(), sum_squares=(values * values).sum(),
        bucket_limit=edges[1:].tolist(), bucket=counts.tolist())


class WandB(Logger):
    """Logs to Weights & Biases. It needs the package `wandb`.

    Args:
        options: for wandb.init, such as project="digits". Without any, and inside of a
            run that you began yourself, it logs to that run and leaves it open.
    Raises: ImportError: wandb is not installed.
    """

    def __init__(self, **options: Any) -> None:
        try:
            import wandb  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise ImportError("aicf.callbacks.WandB needs wandb: pip install wandb") \
                from None
        self._wandb, self.options = wandb, options
        self._run: Any = None

    def on_fit_begin(self, run: Run) -> None:
        self._is_ours = bool(self.options) or self._wandb.run is None
        self._run = self._wandb.init(**self.options) if self._is_ours else self._wandb.run

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        self._run.log({"epoch": logs["epoch"], **_numbers(logs)})

    def close(self) -> None:
        if self._run is not None and self._is_ours:
            self._run.finish()
        self._run = None


class MLflow(Logger):
    """Logs to MLflow. It needs the package `mlflow` or `mlflow-skinny`.

    Args:
        options: for mlflow.start_run, such as run_name="first". Without any, and inside
            of a run that you started yourself, it logs to that run and leaves it open.
    Raises: ImportError: mlflow is not installed.
    """

    def __init__(self, **options: Any) -> None:
        try:
            import mlflow  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise ImportError("aicf.callbacks.MLflow needs mlflow: pip install mlflow") \
                from None
        self._mlflow, self.options = mlflow, options
        self._is_ours = False

    def on_fit_begin(self, run: Run) -> None:
        self._is_ours = bool(self.options) or self._mlflow.active_run() is None
        if self._is_ours:
            self._mlflow.start_run(**self.options)

    def on_epoch_end(self, run: Run, logs: dict[str, float]) -> None:
        self._mlflow.log_metrics(_numbers(logs), step=int(logs["epoch"]))

    def close(self) -> None:
        if self._is_ours:
            self._mlflow.end_run()
        self._is_ours = False


def loggers_of(log: Any) -> tuple[list[File], list[Callback]]:
    """Returns files and callbacks for `log`: one or several of a path and a logger.
    Raises TypeError."""
    if log is None:
        return [], []
    one = isinstance(log, (str, os.PathLike, Callback)) or not isinstance(log, Iterable)
    files: list[File] = []
    callbacks: list[Callback] = []
    for each in [log] if one else log:
        if isinstance(each, Callback):
            callbacks.append(each)
        elif not isinstance(each, (str, os.PathLike)):
            raise TypeError("log is %.80r, expected the path of a file or folder, a logger "
                            "such as aicf.callbacks.TensorBoard(\"runs/first\"), or a list "
                            "of these" % (each,))
        elif os.fspath(each).endswith(os.sep) or os.path.isdir(each):
            callbacks.append(TensorBoard(each))
        elif os.fspath(each).lower().endswith(".csv"):
            files.append(CsvLog(os.fspath(each)))
        else:
            files.append(EpochLog(os.fspath(each)))
    return files, callbacks
