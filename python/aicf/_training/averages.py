# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Averages of the parameters over the updates (EMA), which stay on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import compiled, nn, ops
from .._tracing.pointwise import minimum
from .._tracing.trace import as_tensor, current_trace
from .._base.dtypes import NUMPY_TYPES
from .._programs.arrays import array
from .._programs.convert import host_of
from ..errors import InvalidArgumentError
from .callback import Callback

if TYPE_CHECKING:
    from ..program import Entry
    from ..training import Run


def _name_of(step: Entry) -> str:
    """The name of the entry that averages, and what stands before its states' names."""
    return step.family.root.name + ".ema"


class EMA(Callback):
    """Keeps an exponential moving average of every trained parameter.

    An entry of the program computes it behind each update: average += (1 - d) *
    (parameter - average), where d is min(decay, (1 + n) / (10 + n)) at update n, so that
    the first averages forget what training began with. The averages are states, which
    checkpoints have, too (`train_step.ema.fc.weight`). Validation uses them, and so does
    what comes behind the run: at its end they take the place of the parameters.

    Args:
        decay: d, at least 0 and below 1.
    Raises: ValueError.
    """

    def __init__(self, decay: float = 0.999) -> None:
        if not 0 <= float(decay) < 1:
            raise ValueError("decay is %r, expected a number of at least 0 and below 1"
                             % (decay,))
        self.decay = float(decay)
        self._entry: Entry | None = None
        self._own: dict[str, Any] = {}  # parameters, while the averages stand for them

    def prepare(self, run: Run) -> None:
        program, name = run.step.program, _name_of(run.step)
        self._entry = program.entries.get(name)
        if self._entry is None:
            self._entry = compile_averages(run.step, name)
        # What was loaded or reset since another run is where the averages begin.
        for own, average in _averages(run.step).items():
            program.set(average, host_of(program.get(own)).astype(
                NUMPY_TYPES[program.executor.find(average)["dtype"]], copy=False))
        program.set(name + ".updates", 0)
        program.set(name + ".decay", self.decay)

    def on_batch_end(self, run: Run) -> None:
        if not run.step.family.batch:  # behind an update
            assert self._entry is not None
            self._entry()

    def on_validation_begin(self, run: Run) -> None:
        self._own = {name: run.step.program.get(name) for name in _averages(run.step)}
        self.use(run.step)

    def on_validation_end(self, run: Run) -> None:
        for name, value in self._own.items():
            run.step.program.set(name, value)
        self._own = {}

    def on_fit_end(self, run: Run) -> None:
        self.use(run.step)

    @staticmethod
    def use(step: Entry) -> None:
        """Writes the averages into the parameters of a step."""
        program = step.program
        for name, average in _averages(step).items():
            value, dtype = program.get(average), program.executor.find(name)["dtype"]
            program.set(name, value if value.dtype == dtype
                        else array(value.numpy(), dtype=dtype))


def _averages(step: Entry) -> dict[str, str]:
    """By parameter, the state that is its average."""
    names = {t["name"] for t in step.program.plan.persistent()}
    prefix = _name_of(step) + "."
    return {name: prefix + name for name in sorted(names) if prefix + name in names}


def compile_averages(step: Entry, name: str) -> Entry:
    """Compiles the entry that averages into the program of a step. Raises
    InvalidArgumentError."""
    signature = step.family.root.signature
    roles = {t["name"]: t["role"] for t in step.program.plan.persistent()}
    owners = {own: owner for own, owner in signature.persistent.items()
              if roles.get(own) == "param" and getattr(owner, "requires_grad", False)}
    if step.program.lowered is None or not owners:
        raise InvalidArgumentError(
            "EMA averages the parameters of a step that was compiled here, and %r %s" % (
                step.name, "trains none" if step.program.lowered else "is from a plan file"))
    #: Those of 16 bits would lose what an update adds.
    shadows = {own: nn.Buffer(owner.shape, "f64" if owner.dtype == "f64" else "f32",
                              name="%s.%s" % (name, own))
               for own, owner in owners.items()}
    count = nn.Buffer((), "i32", name=name + ".updates")
    for buffer in (count, *shadows.values()):
        buffer.is_models = False

    def average() -> Any:
        after = ops.step_inc(as_tensor(count))
        updates = after.astype("f32")
        decay = current_trace("EMA").hyper(name + ".decay", 0.0)
        part = 1 - minimum((updates + 1) / (updates + 10), decay)
        for own, owner in owners.items():
            value = as_tensor(shadows[own])
            shadows[own].update(value + part.astype(value.dtype) * (
                as_tensor(owner).astype(value.dtype) - value))
        count.update(after)
        return part
    return compiled.compile(average, {}, model=signature.model, program=step, name=name)
