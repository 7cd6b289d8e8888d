# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loop over epochs and batches: aicf.fit.

    history = aicf.fit(step, (x, y), epochs=20, validation=0.2, checkpoint="run1",
                       callbacks=[aicf.EarlyStopping(3)])

It calls the step, sums up what the step returns, validates, logs, saves and stops. It is
an ordinary loop, which you can also write yourself.
"""

from __future__ import annotations

import contextlib
import numbers
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._base.hints import refuse_keywords
from ._programs import sizes
from ._programs.convert import Converter
from ._training import metrics as _metrics, sources
from ._training.callback import Callback, as_callback
from ._training.display import BAR, Display
from ._training.history import History
from ._training.loggers import loggers_of
from ._training.loop import Interrupt, Loop
from ._training.rate_finder import RateSearch, search
from ._training.rates import rate_of, setter_of
from ._training.totals import Metric
from ._training.validator import Validator
from .errors import InvalidArgumentError
from .program import Entry

__all__ = ["RateSearch", "Run", "evaluate", "fit", "lr_find"]


class Run:
    """A run of aicf.fit, as callbacks see it.

    Attributes:
        step: the entry that trains.
        epoch: the number of the epoch, from 0 to `epochs` - 1.
        position: how many batches of this epoch are done.
        history: the History of the epochs that are done.
        monitor, mode: the name of the value that judges the run, and whether less ("min")
            or more ("max") of it is better.
    """

    def __init__(self, step: Entry, epochs: int, monitor: str, mode: str) -> None:
        self.step, self.epochs = step, epochs
        self.epoch = self.position = 0
        self.history = History()
        self.monitor, self.mode = monitor, mode

    @property
    def lr(self) -> float | None:
        """The learning rate of the last update, None for a step without one. A schedule
        computes it; else you may set it."""
        return rate_of(self.step)

    @lr.setter
    def lr(self, rate: float) -> None:
        setter_of(self.step)(rate)

    def stop(self, reason: str = "a callback ended the run") -> None:
        """Ends the run after this batch or epoch, as if that were the last one."""
        self.history.stopped = self.history.stopped or reason


def fit(step: Entry, data: Any = None, *unexpected: Any, epochs: int = 1,
        batch_size: int | None = None, validation: Any = None, metrics: Any = None,
        callbacks: Iterable[Callback | Callable[..., Any]] = (),
        shuffle: bool = True, seed: int = 0,
        checkpoint: str | os.PathLike[str] | None = None, save_every: int = 0,
        resume: bool = False, monitor: str | None = None, mode: str = "min",
        restore_best: bool = False, log: Any = None, verbose: int = BAR,
        evaluate: Entry | None = None, batches_per_epoch: int | None = None,
        **others: Any) -> History:
    """Trains a step for `epochs` epochs, and shows a line for each.

    A last batch that is smaller than the others counts with its rows. If the step
    accumulates several batches for an update, the batches at the end of an epoch that do
    not make a whole update are left out.

    Ctrl-C ends the open update, saves, and returns the history. A second Ctrl-C raises
    KeyboardInterrupt at once. In both cases workers of a DataLoader and files are closed.

    Args:
        step: what compile_step returned, or an entry of a loaded plan.
        data: arrays with all rows: a tuple in the order of the step's inputs, a dict, or
            one array, of NumPy, pandas or torch, on the host or the device. Or batches: an
            iterable such as a torch DataLoader, an iterator (for one epoch), or a
            function of the epoch's number (from 0) that returns an iterable. NumPy's
            arrays may have any layout, and other types of numbers if these convert
            without a loss but of digits. If the step takes its batches on the device
            (aicf.data.Batches), the arrays are written once. None means that the inputs
            are bound or written already.
        batch_size: the rows of a batch, if data is arrays; the default is the step's.
        validation: arrays or batches as in `data`, or the fraction of the rows of `data`
            to hold back. The step's loss function is evaluated on them in evaluation
            mode, and logged with "val_" before the names.
        metrics: names and functions in a list, or by name in a dict. A name is that of an
            output in the loss function's dict, or "accuracy", "mae", "mse" or "r2", which
            are computed for the validation's rows. So is a function: of scikit-learn or
            torchmetrics as it is, or f(predictions, *targets) of NumPy arrays. In a dict
            the value for an output is "mean" (the default: the mean over the rows; for
            integers, which are counts, the sum divided by the rows) or "sum".
        callbacks: aicf.Callback objects, or functions f(epoch, logs).
        shuffle: whether the rows of arrays are shuffled anew in each epoch.
        seed: the seed of that order, and of the choice of the rows to hold back.
        checkpoint: a folder. "last" in it has the newest state, and "best" the state with
            the best `monitor`. Both have the whole run, and aicf-run --resume reads them.
        save_every: saves "last" also after so many batches; 0 saves it after epochs only.
        resume: goes on from "last" if there is one. For arrays and data on the device the
            result has the bits of a run that was never interrupted. A run that
            EarlyStopping has ended goes on if it has more patience now.
        monitor: the value to judge by; the default is "val_loss", or "loss" without
            validation.
        mode: whether less ("min") or more ("max") is better.
        restore_best: whether the step has the values of the best epoch of this call when
            it returns.
        log: where to log each epoch: a file (.csv is a table, else a line of JSON for each
            epoch), a folder for TensorBoard ("runs/first/": one that is there, or a text
            that ends with a slash, which no pathlib.Path does), a logger such as
            aicf.callbacks.WandB(project="digits"), or a list of these.
        verbose: 1 shows a bar (in a terminal and in Jupyter) and a line for each epoch, 2
            the lines only, and 0 nothing.
        evaluate: an entry for the validation. The default compiles the loss function.
        batches_per_epoch: the most batches of an epoch. Data without an end needs it.
    Returns: a History.
    Raises: InvalidArgumentError, InvalidFileError (a checkpoint), FailedStateError, and
        what a call of the step raises. The values are then those after the last batch.
    """
    if not isinstance(step, Entry):
        raise TypeError("step is a %s, expected what aicf.compile_step gives"
                        % type(step).__name__)
    if unexpected:
        raise TypeError("data is one argument: aicf.fit(step, (x, y), epochs=...)")
    refuse_keywords("fit", others)
    _check_count(epochs, "epochs", 1)
    _check_count(save_every, "save_every", 0)
    _check_count(seed, "seed", 0)
    for count, name in ((batch_size, "batch_size"),
                        (batches_per_epoch, "batches_per_epoch")):
        if count is not None:
            _check_count(count, name, 1)
    if isinstance(callbacks, Callback) or callable(callbacks):
        callbacks = [callbacks]
    if mode not in ("min", "max"):
        raise ValueError("mode is %r, expected \"min\" or \"max\"" % (mode,))
    if verbose not in (0, 1, 2):
        raise ValueError("verbose is %r, expected 0, 1 or 2" % (verbose,))
    if (resume or save_every) and checkpoint is None:
        raise ValueError("resume and save_every need a checkpoint folder")
    data, held = _hold_back(step, data, validation, seed)
    source = _source(step, data, batch_size, shuffle, seed, epochs, batches_per_epoch)
    kinds = _check_metrics(step, metrics, held is not None)
    validator = None if held is None else Validator(step, held, batch_size, evaluate,
                                                     kinds)
    files, loggers = loggers_of(log)
    run = Run(step, epochs, monitor or ("val_loss" if validator else "loss"), mode)
    loop = Loop(run, source, validator, kinds,
                [*map(as_callback, callbacks), *loggers],
                None if checkpoint is None else os.fspath(checkpoint), save_every, files,
                Display(run, verbose), batches_per_epoch, restore_best)
    with contextlib.ExitStack() as stack:
        stack.callback(source.close)
        if validator:
            stack.callback(validator.close)
        for callback in loop.callbacks:
            stack.callback(callback.close)
            callback.prepare(run)
        if resume:
            loop.resume()
        loop.interrupt = stack.enter_context(Interrupt())
        loop.train()
    return run.history


def evaluate(step: Entry, data: Any, *, metrics: Any = None,
             batch_size: int | None = None, evaluate: Entry | None = None
             ) -> dict[str, float]:
    """Evaluates the step's loss function in evaluation mode, as fit does for validation.

    Args:
        step: what compile_step returned, or an entry of a loaded plan.
        data, metrics, batch_size, evaluate: as in fit.
    Returns: the mean loss, outputs and metrics over all rows, by name.
    Raises: what fit raises.
    """
    if not isinstance(step, Entry):
        raise TypeError("step is a %s, expected what aicf.compile_step gives"
                        % type(step).__name__)
    if batch_size is not None:
        _check_count(batch_size, "batch_size", 1)
    validator = Validator(step, _as_inputs(step, data), batch_size, evaluate,
                          _check_metrics(step, metrics, True), "data")
    with contextlib.closing(validator):
        return validator.values()


def lr_find(step: Entry, data: Any = None, *, low: float = 1e-7, high: float = 1.0,
            steps: int = 100, batch_size: int | None = None, seed: int = 0) -> RateSearch:
    """Looks for a learning rate to begin with: it trains with rates that grow from batch
    to batch, until the loss is much worse than it was, and then gives all values back.

    Args:
        step, data, batch_size, seed: as in fit. The step's rate must be a number and not
            a schedule.
        low, high: the first and the last rate, 0 < low < high.
        steps: the most batches, 2 or more.
    Returns: a RateSearch, whose `suggestion` is the rate at which the loss fell fastest,
        and which plot() draws.
    Raises: ValueError; FailedStateError: a step without a rate that can be set.
    """
    _check_count(steps, "steps", 2)
    if not 0 < low < high:
        raise ValueError("low is %r and high is %r, expected 0 < low < high" % (low, high))
    source = _source(step, _as_inputs(step, data), batch_size, True, seed, steps,
                     steps if data is None else None)
    with contextlib.closing(source):
        return search(step, source, low, high, steps)


def _check_count(value: Any, name: str, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError("%s is %r, expected an int of %d or more" % (name, value, low))


#: The names that aicf.fit itself logs.
RESERVED = ("epoch", "seconds")


def _check_metrics(step: Entry, metrics: Any, has_validation: bool) -> dict[str, Metric]:
    outputs = step.family.root._output_names()
    if outputs is None:  # of JAX: any name may be in the dict
        named = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
        outputs = [name for name in named or () if isinstance(name, str) and not callable(
            metrics.get(name) if isinstance(metrics, Mapping) else name)]
    for name in RESERVED:
        if name in outputs:
            raise InvalidArgumentError("the step has an output %r, but fit logs "
                                       "something else under that name" % name)
    kinds = _metrics.as_dict(metrics, outputs)
    for name, kind in kinds.items():
        if callable(kind) == (name in outputs):
            raise InvalidArgumentError(
                "metric %r is %s output of the step; it has %s" % (
                    name, "a function, but also an" if callable(kind) else "not an",
                    ", ".join(outputs)))
        if callable(kind):
            if not has_validation:
                raise InvalidArgumentError("metric %r is a function of predictions, "
                                           "which needs validation=..." % name)
        elif kind not in ("mean", "sum"):
            raise ValueError("metric %r is %r, expected \"mean\", \"sum\" or a function "
                             "f(predictions, *targets)" % (name, kind))
    return kinds


def _as_inputs(step: Entry, data: Any) -> Any:
    """A list of arrays is not batches, because each of those has several inputs."""
    if isinstance(data, list) and len(sources.inputs_of(step)) > 1 \
            and all(map(sources.is_array, data)):
        data = tuple(data)
    if isinstance(data, tuple) and any(map(sources.is_array, data)):
        import numpy  # a number belongs to all rows
        data = tuple(numpy.asarray(v) if isinstance(v, (int, float)) else v for v in data)
    return data


def _hold_back(step: Entry, data: Any, validation: Any, seed: int) -> tuple[Any, Any]:
    data = _as_inputs(step, data)
    if not isinstance(validation, numbers.Real):
        return data, _as_inputs(step, validation)
    validation = float(validation)
    if not sources.holds_arrays(data):
        raise InvalidArgumentError("validation=%r is a fraction of arrays, but data is "
                                   "a %s" % (validation, type(data).__name__))
    return sources.split(sources.named_data(step, data, "data"), validation, seed)


def _source(step: Entry, data: Any, batch_size: int | None, shuffle: bool, seed: int,
            epochs: int, batches: int | None) -> sources.Source:
    signature = step.family.root.signature
    if data is None or signature.resident:
        return _resident(step, data, batch_size, batches)
    convert = Converter(signature.specs)
    if not sources.holds_arrays(data):
        return sources.Iterables(
            data, lambda item, what: sources.named_data(step, item, what), epochs, convert)
    arrays = sources.named_data(step, data, "data")
    rows = batch_size or sizes.common_rows(signature.specs)
    if not rows:
        raise InvalidArgumentError("%r takes inputs without a common number of rows: "
                                   "give batch_size=..." % step.name)
    return sources.Arrays(arrays, rows, shuffle, seed, convert)


def _resident(step: Entry, data: Any, batch_size: int | None,
              batches: int | None) -> sources.Resident:
    signature = step.family.root.signature
    rows, size = signature.resident or (0, 1)
    if batch_size not in (None, size):
        raise InvalidArgumentError("batch_size is %s, but the step takes its batches "
                                   "of %d rows itself" % (batch_size, size))
    if data is not None:
        step.write(**Converter(signature.specs).all(
            sources.named_data(step, data, "data")))
    number = batches or rows // size
    if not number:
        raise InvalidArgumentError("data is None, so fit does not know how many batches "
                                   "an epoch has: give batches_per_epoch=...")
    return sources.Resident(number, size, {"rows": rows, "batch_size": size,
                                            "batches": number})
