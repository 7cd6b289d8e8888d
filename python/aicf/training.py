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
import json
import math
import numbers
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _predict, _run_state, _sizes, _sources
from ._dtypes import NUMPY_TYPES
from ._epoch_log import EpochLog
from ._further import compile_into
from ._signature import Spec, spec_of
from .callbacks import Callback, History, as_callback, monitored
from .errors import AICFError, InvalidArgumentError
from .program import Entry, Program

__all__ = ["Run", "fit"]

EVALUATE = "evaluate"
#: How often the bar shows the loss, which waits for the device.
SHOW_SECONDS = 0.2

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
            values = {"loss": result[0], **result[1]}
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

    def stop(self, reason: str = "a callback ended the run") -> None:
        """Ends the run after this batch or epoch, as if that were the last one."""
        self.history.stopped = self.history.stopped or reason


class _Interrupt:
    """Remembers the first Ctrl-C, and leaves the second one to Python. Only the main
    thread gets any."""

    def __init__(self) -> None:
        self.is_pressed = False
        self._before: Any = None

    def __enter__(self) -> _Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, number: int, frame: Any) -> None:
        self.is_pressed = True
        self._restore()

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def __exit__(self, *error: Any) -> None:
        self._restore()


def fit(step: Entry, data: Any = None, *, epochs: int = 1,
        batch_size: int | None = None, validation: Any = None,
        metrics: Mapping[str, Metric] | None = None,
        callbacks: Iterable[Callback | Callable[..., Any]] = (),
        shuffle: bool = True, seed: int = 0,
        checkpoint: str | os.PathLike[str] | None = None, save_every: int = 0,
        resume: bool = False, monitor: str | None = None, mode: str = "min",
        log: str | os.PathLike[str] | None = None, progress: bool | None = None,
        evaluate: Entry | None = None, batches_per_epoch: int | None = None) -> History:
    """Trains a step for `epochs` epochs.

    A last batch that is smaller than the others counts with its rows. If the step
    accumulates several batches for an update, the batches at the end of an epoch that do
    not make a whole update are left out.

    Ctrl-C ends the open update, saves, and raises KeyboardInterrupt. A second Ctrl-C
    raises it at once. In both cases workers of a DataLoader and files are closed.

    Args:
        step: what compile_step returned, or an entry of a loaded plan.
        data: arrays with all rows: a tuple in the order of the step's inputs, a dict, or
            one array, of NumPy or torch, on the host or the device. Or batches: an
            iterable such as a torch DataLoader, an iterator (for one epoch), or a
            function of the epoch's number (from 0) that returns an iterable. If the step
            takes its batches on the device (aicf.data.Batches), the arrays are written
            once. None means that the inputs are bound or written already.
        batch_size: the rows of a batch, if data is arrays; the default is the step's.
        validation: arrays or batches as in `data`, or the fraction of the rows of `data`
            to hold back. The step's loss function is evaluated on them in evaluation
            mode, and logged with "val_" before the names.
        metrics: for each output in the loss function's dict, by name, "mean" or "sum".
            "mean" is the mean over the rows, for integers (counts) the sum divided by the
            rows; it is the default. A function f(predictions, *targets) of NumPy arrays
            is called once per epoch with the predictions for the validation's rows.
        callbacks: aicf.Callback objects, or functions f(epoch, logs).
        shuffle: whether the rows of arrays are shuffled anew in each epoch.
        seed: the seed of that order, and of the choice of the rows to hold back.
        checkpoint: a folder. "last" in it has the newest state, and "best" the state with
            the best `monitor`. Both have the whole run, and aicf-run --resume reads them.
        save_every: saves "last" also after so many batches; 0 saves it after epochs only.
        resume: goes on from "last" if there is one. For arrays and data on the device the
            result has the bits of a run that was never interrupted.
        monitor: the value to judge by; the default is "val_loss", or "loss" without
            validation.
        mode: whether less ("min") or more ("max") is better.
        log: a file that gets a line with a JSON object after each epoch.
        progress: whether to show a tqdm bar. The default shows it on a terminal (stderr).
        evaluate: an entry for the validation. The default compiles the loss function.
        batches_per_epoch: the most batches of an epoch. Data without an end needs it.
    Returns: a History.
    Raises: InvalidArgumentError, InvalidFileError (a checkpoint), FailedStateError, and
        what a call of the step raises. The values are then those after the last batch.
    """
    if not isinstance(step, Entry):
        raise TypeError("step is a %s, expected what aicf.compile_step gives"
                        % type(step).__name__)
    _check_count(epochs, "epochs", 1)
    _check_count(save_every, "save_every", 0)
    if batch_size is not None:
        _check_count(batch_size, "batch_size", 1)
    _check_count(seed, "seed", 0)
    if batches_per_epoch is not None:
        _check_count(batches_per_epoch, "batches_per_epoch", 1)
    if isinstance(callbacks, Callback) or callable(callbacks):
        callbacks = [callbacks]
    if mode not in ("min", "max"):
        raise ValueError("mode is %r, expected \"min\" or \"max\"" % (mode,))
    if (resume or save_every) and checkpoint is None:
        raise ValueError("resume and save_every need a checkpoint folder")
    data, held = _hold_back(step, data, validation, seed)
    source = _source(step, data, batch_size, shuffle, seed, epochs, batches_per_epoch)
    kinds = _check_metrics(step, metrics or {}, held is not None)
    validator = None if held is None else _Validator(step, held, batch_size, evaluate,
                                                     kinds)
    run = Run(step, epochs, monitor or ("val_loss" if validator else "loss"), mode)
    loop = _Loop(run, source, validator, kinds, [as_callback(c) for c in callbacks],
                 None if checkpoint is None else os.fspath(checkpoint), save_every,
                 None if log is None else os.fspath(log), progress,
                 batches_per_epoch)
    with contextlib.ExitStack() as stack:
        stack.callback(source.close)
        if validator:
            stack.callback(validator.close)
        if resume:
            loop.resume()
        loop.interrupt = stack.enter_context(_Interrupt())
        loop.train()
    return run.history


def _check_count(value: Any, name: str, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError("%s is %r, expected an int of %d or more" % (name, value, low))


#: The names that aicf.fit itself logs.
RESERVED = ("epoch", "seconds")


def _check_metrics(step: Entry, metrics: Mapping[str, Metric],
                   has_validation: bool) -> dict[str, Metric]:
    root = step.family.root
    outputs = [t["name"] for t in root.program.plan.io(root.name)
               if t["role"] == "output"]
    for name in RESERVED:
        if name in outputs:
            raise InvalidArgumentError("the step has an output %r, but fit logs "
                                       "something else under that name" % name)
    for name, kind in metrics.items():
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
    return dict(metrics)


def _inputs(step: Entry) -> tuple[str, ...]:
    return step.family.root.signature.inputs


def _hold_back(step: Entry, data: Any, validation: Any, seed: int) -> tuple[Any, Any]:
    if isinstance(data, list) and len(_inputs(step)) > 1 \
            and all(map(_sources.is_array, data)):
        data = tuple(data)  # not batches, because each of those has several inputs
    if not isinstance(validation, numbers.Real):
        return data, validation
    validation = float(validation)
    if not _sources.holds_arrays(data):
        raise InvalidArgumentError("validation=%r is a fraction of arrays, but data is "
                                   "a %s" % (validation, type(data).__name__))
    return _sources.split(_sources.named_arrays(data, _inputs(step), "data"),
                          validation, seed)


def _source(step: Entry, data: Any, batch_size: int | None, shuffle: bool, seed: int,
            epochs: int, batches: int | None) -> _sources.Source:
    signature = step.family.root.signature
    if data is None or signature.resident:
        return _resident(step, data, batch_size, batches)
    if not _sources.holds_arrays(data):
        return _sources.Iterables(data, signature.inputs, epochs)
    arrays = _sources.named_arrays(data, signature.inputs, "data")
    rows = batch_size or _sizes.common_rows(signature.specs)
    if not rows:
        raise InvalidArgumentError("%r takes inputs without a common number of rows: "
                                   "give batch_size=..." % step.name)
    return _sources.Arrays(arrays, rows, shuffle, seed)


def _resident(step: Entry, data: Any, batch_size: int | None,
              batches: int | None) -> _sources.Resident:
    signature = step.family.root.signature
    rows, size = signature.resident or (0, 1)
    if batch_size not in (None, size):
        raise InvalidArgumentError("batch_size is %s, but the step takes its batches "
                                   "of %d rows itself" % (batch_size, size))
    if data is not None:
        step.write(**_sources.named_arrays(data, signature.inputs, "data"))
    number = batches or rows // size
    if not number:
        raise InvalidArgumentError("data is None, so fit does not know how many batches "
                                   "an epoch has: give batches_per_epoch=...")
    return _sources.Resident(number, size, {"rows": rows, "batch_size": size,
                                            "batches": number})


class _Validator:
    """Evaluates the loss function in evaluation mode over all rows of the validation."""

    def __init__(self, step: Entry, data: Any, batch_size: int | None,
                 evaluate: Entry | None, kinds: Mapping[str, Metric]) -> None:
        self.step, self.kinds = step, kinds
        self.functions = {n: k for n, k in kinds.items() if callable(k)}
        names = _inputs(evaluate or step)
        self.arrays: dict[str, Any] | None = None
        if _sources.holds_arrays(data):
            self.arrays = _sources.named_arrays(data, names, "validation")
            rows = batch_size or _sizes.common_rows(
                (evaluate or step).family.root.signature.specs)
            self.source: _sources.Source = _sources.Arrays(
                self.arrays, min(rows or _predict.DEFAULT_ROWS, _sources.count_rows(
                    self.arrays, "validation")), False, 0)
        elif self.functions:
            raise InvalidArgumentError("metrics of predictions need arrays as "
                                       "validation, not batches")
        else:
            self.source = _sources.Iterables(data, names, epochs=1)
            if _sources.iter_is_self(data):
                raise InvalidArgumentError("validation is an iterator, which lasts for "
                                           "one epoch: pass a list of its batches")
        self.entry = evaluate

    def logs(self) -> dict[str, float]:
        totals = Totals(self.kinds)
        for batch, rows in self.source.batches(0, 0):
            self.entry = self.entry or self._compile(batch)
            totals.add(self.entry(**batch), rows)
        return {**totals.means("val_"), **self._of_predictions()}

    def _compile(self, batch: Mapping[str, Any]) -> Entry:
        program, signature = self.step.program, self.step.family.root.signature
        if program.lowered is None:
            return _predict.entry_of(self.step, EVALUATE)
        for known in program.entries.values():
            own = known.signature
            if own.source == signature.source and own.model is signature.model \
                    and not own.is_training and own.name.startswith(EVALUATE):
                return known
        if signature.resident:
            raise InvalidArgumentError(
                "%r takes its batches on the device, so it cannot be evaluated on other "
                "rows: give fit(evaluate=aicf.compile(a function of a batch, ..., "
                "program=step))" % self.step.name)
        assert signature.source is not None
        specs: dict[str, Spec] = {n: spec_of(a, n) for n, a in batch.items()}
        return compile_into(program, signature.source, specs, model=signature.model,
                            name=_predict.own_name(self.step, EVALUATE))

    def _of_predictions(self) -> dict[str, float]:
        if not self.functions:
            return {}
        assert self.arrays is not None  # because there are functions
        model = self.step.family.root.signature.model
        taken = _predict.forward_inputs(model) if model else list(  # of a loaded plan
            _predict.entry_of(self.step, _predict.NAME).signature.inputs)
        if not set(taken) <= set(self.arrays):  # by position, as the model is called
            taken = list(self.arrays)[:len(taken)]
        import numpy
        predictions = self.step.predict(*[self.arrays[name] for name in taken])
        targets = [numpy.asarray(array) for name, array in self.arrays.items()
                   if name not in taken]
        return {"val_" + name: float(function(predictions, *targets))
                for name, function in self.functions.items()}

    def close(self) -> None:
        self.source.close()


class _Loop:
    def __init__(self, run: Run, source: _sources.Source, validator: _Validator | None,
                 kinds: Mapping[str, Metric], callbacks: Sequence[Callback],
                 folder: str | None, save_every: int, log: str | None,
                 progress: bool | None, batches: int | None) -> None:
        self.batches_per_epoch = batches
        self.run, self.source, self.validator = run, source, validator
        self.kinds, self.callbacks = kinds, callbacks
        self.folder, self.save_every = folder, save_every
        self.log = None if log is None else EpochLog(log)
        self.log_start: int | None = None  # as the checkpoint has it
        self.progress = progress
        self.totals = Totals(kinds)
        self.interrupt = _Interrupt()
        self.batch_seconds = 0.0
        self.is_lost = False  # a loss was not finite: keep the checkpoints on the disk

    # The course of a run

    def train(self) -> None:
        run = self.run
        if self.folder is not None:
            check_folder(self.folder)
        run.step.discard_update()
        if self.log:
            self.log.begin(run.history.epochs, self.log_start)
        for callback in self.callbacks:
            callback.on_fit_begin(run)
        while run.epoch < run.epochs and not run.history.stopped:
            self._train_epoch()
            if not self.interrupt.is_pressed:
                self._end_epoch()
            if self.interrupt.is_pressed:
                self._save("last")
                raise KeyboardInterrupt(
                    "stopped in epoch %d after %d batches%s" % (
                        run.epoch + 1, run.position, "; %s has the state" % os.path.join(
                            self.folder, "last") if self.folder else ""))
        for callback in self.callbacks:
            callback.on_fit_end(run)

    def _train_epoch(self) -> None:
        run, step = self.run, self.run.step
        start = time.perf_counter()
        batches = self.source.batches(run.epoch, run.position)
        with contextlib.closing(batches) as left, self._bar() as bar:  # type: ignore[type-var]
            for batch, rows in left:
                self.totals.add(step(**batch), rows)
                run.position += 1
                bar(self.totals)
                for callback in self.callbacks:
                    callback.on_batch_end(run)
                is_whole = not step.family.batch
                ends = self.interrupt.is_pressed or bool(run.history.stopped)
                if is_whole and ends:
                    break
                if is_whole and self.save_every \
                        and run.position % self.save_every == 0:
                    self._save("last")
                if run.position == self.batches_per_epoch:
                    break
        dropped = step.discard_update()
        self.batch_seconds += time.perf_counter() - start
        if run.position == 0:
            raise InvalidArgumentError("data gave no batches in epoch %d"
                                       % (run.epoch + 1))
        if dropped == run.position:
            warnings.warn("no update was made in epoch %d: it has %d batches, and an "
                          "update takes %d" % (run.epoch + 1, dropped,
                                               step.signature.accumulate), stacklevel=4)

    def _end_epoch(self) -> None:
        run = self.run
        logs: dict[str, float] = {"epoch": run.epoch + 1, **self.totals.means()}
        if self.validator:
            logs.update(self.validator.logs())
        logs["seconds"] = round(self.batch_seconds, 6)
        for callback in self.callbacks:
            callback.on_epoch_end(run, logs)
        for name, number in logs.items():
            logs[name] = number if isinstance(number, (int, str)) else float(number)
        value = monitored(logs, run.monitor)
        run.history.epochs.append(logs)
        self.totals, self.batch_seconds = Totals(self.kinds), 0.0
        run.epoch, run.position = run.epoch + 1, 0
        if not math.isfinite(logs["loss"]):
            self.is_lost = True
            run.stop("the loss of epoch %d is %s" % (run.epoch, logs["loss"]))
            warnings.warn(
                "aicf.fit stops: the loss of epoch %d is %s. A label or an index that is "
                "out of range gives nan, and compile_step(..., check_indices=True) names "
                "it" % (run.epoch, logs["loss"]), stacklevel=3)
        elif self._is_best(value):
            run.history.best = {"epoch": run.epoch, "value": value}
            self._save("best")
        self._save("last")
        if self.log:  # behind the checkpoint, which adds a line that is not there
            self.log.add(logs)

    def _is_best(self, value: float) -> bool:
        best = self.run.history.best
        sign = -1.0 if self.run.mode == "max" else 1.0
        return math.isfinite(value) and (
            best is None or sign * value < sign * best["value"])

    @contextlib.contextmanager
    def _bar(self) -> Iterator[Callable[[Totals], None]]:
        """Yields a function that counts a batch, and shows the loss from time to time."""
        is_shown = sys.stderr.isatty() if self.progress is None else self.progress
        if not is_shown:
            yield lambda totals: None
            return
        from tqdm import tqdm  # type: ignore[import-untyped]
        run = self.run
        shown = time.monotonic()
        with tqdm(total=self.source.num_batches, initial=run.position,
                  desc="epoch %d/%d" % (run.epoch + 1, run.epochs),
                  unit="batch") as bar:
            def count(totals: Totals) -> None:
                nonlocal shown
                bar.update()
                if time.monotonic() - shown > SHOW_SECONDS:
                    shown = time.monotonic()
                    bar.set_postfix(loss="%.4g" % totals.last_loss(), refresh=False)
            yield count
            bar.set_postfix({n: "%.4g" % v for n, v in self.totals.means().items()})

    # Checkpoints and the log

    def _save(self, name: str) -> None:
        if self.folder is None or self.is_lost or not self.totals.is_finite:
            return
        run, program = self.run, self.run.step.program
        state = {
            "version": _run_state.VERSION, "epoch": run.epoch, "position": run.position,
            "sums": self.totals.sums,
            "seconds": self.batch_seconds,
            "data": self.source.state(), "history": run.history.epochs,
            "best": run.history.best, "stopped": run.history.stopped,
            "log": self.log.start if self.log else None,
            "callbacks": [[type(callback).__name__, callback.state()]
                          for callback in self.callbacks],
            "hypers": {t["name"]: program.get(t["name"]).numpy().tolist()
                       for t in program.plan.persistent() if t["role"] == "hyper"},
        }
        os.makedirs(self.folder, exist_ok=True)
        program.save_checkpoint(os.path.join(self.folder, name),
                                {_run_state.KEY: json.dumps(state)})

    def resume(self) -> None:
        """Reads what _save wrote, if there is a checkpoint. If anything is wrong with it,
        nothing changes."""
        assert self.folder is not None
        path = os.path.join(self.folder, "last")
        if not os.path.exists(os.path.join(path, "state.safetensors")):
            return
        run, program = self.run, self.run.step.program
        state = _run_state.read(path)
        kept = [name for name, _ in state["callbacks"]]
        names = [type(callback).__name__ for callback in self.callbacks]
        if names != kept:
            raise InvalidArgumentError(
                "the callbacks are %s, in the checkpoint %s: give the same ones, or do "
                "not resume" % (", ".join(names) or "none",
                                       ", ".join(kept) or "none"))
        hypers = _hypers(program, path, state["hypers"])
        with contextlib.ExitStack() as undo:
            _load(undo, path, "data", self.source, state["data"])
            for callback, (name, own) in zip(self.callbacks, state["callbacks"]):
                if own is not None:
                    _load(undo, path, "callback %s" % name, callback, own)
            program.load_checkpoint(path)
            undo.pop_all()
        for name, value in hypers.items():
            program.set(name, value)
        run.epoch, run.position = state["epoch"], state["position"]
        run.history.epochs, run.history.best = state["history"], state["best"]
        run.history.stopped = state["stopped"]
        self.totals.sums = dict(state["sums"])
        self.batch_seconds, self.log_start = state["seconds"], state["log"]
        if run.position and self.source.exact:
            _sizes.note("epoch %d goes on after %d batches, but %s: the result may "
                        "differ from that of a run that was not interrupted"
                        % (run.epoch + 1, run.position, self.source.exact))


def _load(undo: contextlib.ExitStack, path: str, what: str,
          of: _sources.Source | Callback, state: Any) -> None:
    """Gives an object its state back, and lets `undo` give it the one that it has now."""
    before = of.state()
    if before is not None:
        undo.callback(of.load_state, before)
    try:
        of.load_state(state)
    except AICFError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError,
            ValueError) as error:
        raise _run_state.damaged(path, "%s: %s: %s" % (
            what, type(error).__name__, error)) from error


def _hypers(program: Program, path: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the hypers of a checkpoint as the plan has them."""
    import numpy
    known = {t["name"]: t for t in program.plan.persistent() if t["role"] == "hyper"}
    arrays = {}
    for name, value in values.items():
        if name not in known:
            raise InvalidArgumentError(
                "the checkpoint %r has the hyper %r, and the step does not: it is of "
                "another step" % (path, name))
        try:
            arrays[name] = numpy.asarray(value, NUMPY_TYPES[known[name]["dtype"]])
        except (OverflowError, ValueError) as error:
            raise _run_state.damaged(path, "its %r is %.60r: %s" % (
                name, value, error)) from None
        if arrays[name].shape != tuple(known[name]["shape"]):
            raise _run_state.damaged(path, "its %r has the shape %s, expected %s" % (
                name, arrays[name].shape, tuple(known[name]["shape"])))
    return arrays


def check_folder(folder: str) -> None:
    """Checks before a long run that the folder exists or can be made, and is writable."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidArgumentError("checkpoint %r: %s" % (folder, error.strerror)) \
            from None
