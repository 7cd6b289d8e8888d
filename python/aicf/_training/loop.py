# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loop of aicf.fit: epochs, Ctrl-C, checkpoints."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._base.dtypes import NUMPY_TYPES
from .._programs import sizes
from .._programs.arrays import array
from ..callbacks import EarlyStopping
from ..data import Prefetch
from ..errors import AICFError, InvalidArgumentError
from ..program import Program
from . import diagnosis, run_state, sources
from .callback import Callback, monitored
from .display import Display
from .loggers import File, Logger
from .rates import groups_of, rate_of
from .totals import Metric, Totals
from .validator import Validator

if TYPE_CHECKING:
    from ..training import Run

#: An epoch that takes so long says whether its data took more than half of it.
NOTED_SECONDS = 2.0


class Interrupt:
    """Remembers the first Ctrl-C, and leaves the second one to Python. Only the main
    thread gets any."""

    def __init__(self) -> None:
        self.is_pressed = False
        self._before: Any = None

    def __enter__(self) -> Interrupt:
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


class Loop:
    def __init__(self, run: Run, source: sources.Source, validator: Validator | None,
                 kinds: Mapping[str, Metric], callbacks: Sequence[Callback],
                 folder: str | None, save_every: int, logs: Sequence[File],
                 display: Display, batches: int | None, restore_best: bool) -> None:
        self.batches_per_epoch = batches
        self.run, self.source, self.validator = run, source, validator
        self.kinds, self.callbacks = kinds, callbacks
        #: Those whose state a checkpoint has.
        self.kept = [c for c in callbacks if not isinstance(c, Logger)]
        self.folder, self.save_every = folder, save_every
        self.logs = logs
        self.log_starts: list[int | None] = []  # as the checkpoint has them
        self.display = display
        self.best = Best(run.step.program) if restore_best else None
        self.totals = Totals(kinds)
        self.interrupt = Interrupt()
        self.batch_seconds = 0.0
        self.loader_seconds, self.has_noted_loader = 0.0, False
        self.is_lost = False  # a loss was not finite: keep the checkpoints on the disk
        self.last_batch: Mapping[str, object] = {}

    # The course of a run

    def train(self) -> None:
        run = self.run
        if self.folder is not None:
            check_folder(self.folder)
        run.step.discard_update()
        starts = self.log_starts if len(self.log_starts) == len(self.logs) \
            else [None] * len(self.logs)
        for log, start in zip(self.logs, starts):
            log.begin(run.history.epochs, start)
        for callback in self.callbacks:
            callback.on_fit_begin(run)
        while run.epoch < run.epochs and not run.history.stopped:
            self._train_epoch()
            if not self.interrupt.is_pressed:
                self._end_epoch()
            if self.interrupt.is_pressed:
                self._save("last")
                run.stop("Ctrl-C in epoch %d after %d batches%s" % (
                    run.epoch + 1, run.position, "; %s has the state" % os.path.join(
                        self.folder, "last") if self.folder else ""))
        if run.history.stopped:
            self.display.say("stopped: " + run.history.stopped)
        if self.best and run.history.best and self.best.restore():
            self.display.say("the values are those of epoch %d, the best one"
                             % run.history.best["epoch"])
        if not self.interrupt.is_pressed:
            for callback in self.callbacks:
                callback.on_fit_end(run)

    def _train_epoch(self) -> None:
        run, step = self.run, self.run.step
        start = time.perf_counter()
        batches = self.source.batches(run.epoch, run.position)
        with contextlib.closing(batches) as left, self._bar() as bar:  # type: ignore[type-var]
            for batch, rows in left:
                self.last_batch = batch
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
        self._note_loader(time.perf_counter() - start)
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
        logs.update(self._validate())
        rate = rate_of(run.step)
        if rate is not None:
            logs.setdefault("lr", rate)
        logs["seconds"] = round(self.batch_seconds, 6)
        for callback in self.callbacks:
            callback.on_epoch_end(run, logs)
        for name, number in logs.items():
            logs[name] = number if isinstance(number, str) else int(number) \
                if isinstance(number, int) else float(number)
        value = monitored(logs, run.monitor)
        run.history.epochs.append(logs)
        self.totals, self.batch_seconds = Totals(self.kinds), 0.0
        run.epoch, run.position = run.epoch + 1, 0
        is_best = math.isfinite(logs["loss"]) and self._is_best(value)
        self.display.epoch(logs, is_best)
        if not math.isfinite(logs["loss"]):
            self.is_lost = True
            run.stop("the loss of epoch %d is %s" % (run.epoch, logs["loss"]))
            warnings.warn("aicf.fit stops: the loss of epoch %d is %s. %s" % (
                run.epoch, logs["loss"], diagnosis.of_a_lost_run(run.step, self.last_batch)),
                stacklevel=3)
        elif is_best:
            run.history.best = {"epoch": run.epoch, "value": value}
            self._save("best")
            if self.best:
                self.best.keep()
        self._save("last")
        for log in self.logs:  # behind the checkpoint, which adds a line that is not there
            log.add(logs)

    def _note_loader(self, seconds: float) -> None:
        """Says once if the data is what takes the time."""
        if not isinstance(self.source, sources.Iterables):
            return
        own = self.source.seconds - self.loader_seconds
        self.loader_seconds = self.source.seconds
        if self.has_noted_loader or seconds < NOTED_SECONDS or own < seconds / 2:
            return
        self.has_noted_loader = True
        data = self.source.data
        sizes.note("%.0f %% of the time of an epoch is spent on its batches (a %s), and not "
                   "on the step: arrays, a list of ready batches%s or workers of a DataLoader "
                   "are faster" % (100 * own / seconds, type(data).__name__,
                                   "" if isinstance(data, Prefetch) else ", aicf.data.Prefetch"))

    def _bar(self) -> contextlib.AbstractContextManager[Callable[[Totals], None]]:
        return self.display.bar(self.source.num_batches)

    def _validate(self) -> dict[str, float]:
        if self.validator is None:
            return {}
        with contextlib.ExitStack() as ends:
            for callback in self.callbacks:
                callback.on_validation_begin(self.run)
                ends.callback(callback.on_validation_end, self.run)
            return self.validator.values("val_")

    def _is_best(self, value: float) -> bool:
        best = self.run.history.best
        sign = -1.0 if self.run.mode == "max" else 1.0
        return math.isfinite(value) and (
            best is None or sign * value < sign * best["value"])

    # Checkpoints and the log

    def _save(self, name: str) -> None:
        if self.folder is None or self.is_lost or not self.totals.is_finite:
            return
        run, program = self.run, self.run.step.program
        state = {
            "version": run_state.VERSION, "epoch": run.epoch, "position": run.position,
            "sums": self.totals.sums,
            "seconds": self.batch_seconds,
            "data": self.source.state(), "history": run.history.epochs,
            "best": run.history.best, "stopped": run.history.stopped,
            "log": [log.start for log in self.logs],
            "callbacks": [[type(callback).__name__, callback.state()]
                          for callback in self.kept],
            "hypers": {t["name"]: program.get(t["name"]).tolist()
                       for t in program.plan.persistent() if t["role"] == "hyper"},
            "rates": [float(group["lr"]) for group in groups_of(run.step) or ()],
        }
        os.makedirs(self.folder, exist_ok=True)
        program.save_checkpoint(os.path.join(self.folder, name),
                                {run_state.KEY: json.dumps(state)})

    def resume(self) -> None:
        """Reads what _save wrote, if there is a checkpoint. If anything is wrong with it,
        nothing changes."""
        assert self.folder is not None
        path = os.path.join(self.folder, "last")
        if not os.path.exists(os.path.join(path, "state.safetensors")):
            return
        run, program = self.run, self.run.step.program
        state = run_state.read(path)
        if self.best and state["best"]:
            self.best.resume(os.path.join(self.folder, "best"), state["best"]["epoch"])
        kept = [name for name, _ in state["callbacks"]]
        names = [type(callback).__name__ for callback in self.kept]
        if names != kept:
            raise InvalidArgumentError(
                "the callbacks are %s, in the checkpoint %s: give the same ones, or do "
                "not resume" % (", ".join(names) or "none",
                                       ", ".join(kept) or "none"))
        hypers = _hypers(program, path, state["hypers"])
        groups, rates = groups_of(run.step) or [], state["rates"]
        if rates and len(rates) != len(groups):
            raise InvalidArgumentError(
                "the checkpoint %r has the rates of %d groups, and the optimizer has %d"
                % (path, len(rates), len(groups)))
        with contextlib.ExitStack() as undo:
            _load(undo, path, "data", self.source, state["data"])
            for callback, (name, own) in zip(self.kept, state["callbacks"]):
                if own is not None:
                    _load(undo, path, "callback %s" % name, callback, own)
            program.load_checkpoint(path)
            undo.pop_all()
        for name, value in hypers.items():
            program.set(name, value)
        for group, rate in zip(groups, rates):
            group["lr"] = rate
        run.epoch, run.position = state["epoch"], state["position"]
        run.history.epochs, run.history.best = state["history"], state["best"]
        run.history.stopped = state["stopped"]
        self.totals.sums = dict(state["sums"])
        self.batch_seconds, self.log_starts = state["seconds"], state["log"]
        self._go_on(path)
        if run.position and self.source.exact:
            sizes.note("epoch %d goes on after %d batches, but %s: the result may "
                        "differ from that of a run that was not interrupted"
                        % (run.epoch + 1, run.position, self.source.exact))


    def _go_on(self, path: str) -> None:
        """A run that a callback has ended goes on if all callbacks have patience now."""
        run = self.run
        if not run.history.stopped:
            return
        patient = [c.has_patience() for c in self.kept if isinstance(c, EarlyStopping)]
        if patient and all(patient):
            self.display.say("goes on behind epoch %d, where it stopped: %s"
                             % (run.epoch, run.history.stopped))
            run.history.stopped = ""
            return
        sizes.note("%r is of a run that is over: %s. EarlyStopping with more patience goes "
                   "on; another checkpoint folder begins anew" % (path, run.history.stopped))


class Best:
    """The values of the best epoch: on the host, but for bf16, which NumPy does not have.
    Those of a run that was resumed are in its checkpoint."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._values: dict[str, object] = {}
        self._earlier = ""  # the folder of the checkpoint

    def resume(self, folder: str, epoch: int) -> None:
        """Checks that the values of the earlier best epoch are there."""
        if run_state.read(folder)["epoch"] != epoch:
            raise InvalidArgumentError("%r is not of epoch %d, which was the best one: "
                                       "restore_best=True cannot resume" % (folder, epoch))
        self._earlier = folder

    def keep(self) -> None:
        program = self.program
        values = {name: program.executor.read(name)
                  for name in program._tensors("param", "state")}
        self._values = {name: value if value.dtype == "bf16" else value.numpy()
                        for name, value in values.items()}

    def restore(self) -> bool:
        """Returns whether there was something to restore."""
        if self._earlier and not self._values:
            self.program.load_checkpoint(self._earlier)
            return True
        for name, value in self._values.items():
            self.program.executor.write(name, value)
        return bool(self._values)


def _load(undo: contextlib.ExitStack, path: str, what: str,
          of: sources.Source | Callback, state: Any) -> None:
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
        raise run_state.damaged(path, "%s: %s: %s" % (
            what, type(error).__name__, error)) from error


def _hypers(program: Program, path: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the hypers of a checkpoint as the plan has them."""
    import numpy
    known = {t["name"]: t for t in program.plan.persistent() if t["role"] == "hyper"}
    arrays: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise InvalidArgumentError(
                "the checkpoint %r has the hyper %r, and the step does not: it is of "
                "another step" % (path, name))
        try:
            arrays[name] = numpy.asarray(value, NUMPY_TYPES.get(known[name]["dtype"], "f4"))
        except (OverflowError, ValueError) as error:
            raise run_state.damaged(path, "its %r is %.60r: %s" % (
                name, value, error)) from None
        if arrays[name].shape != tuple(known[name]["shape"]):
            raise run_state.damaged(path, "its %r has the shape %s, expected %s" % (
                name, arrays[name].shape, tuple(known[name]["shape"])))
        if known[name]["dtype"] == "bf16":
            arrays[name] = array(arrays[name], dtype="bf16")
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
