# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One entry of a program: what you call, read, write and save."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from .. import _runtime
from .._base.hints import missing
from .._tracing.returned import PRINT
from ..errors import (DTypeMismatchError, FailedStateError, InvalidArgumentError,
                      ShapeMismatchError)
from . import predict as _predict, sizes as _sizes
from .convert import Converter, host_of
from .signature import Signature, returned
from .view import view
from .weights import read_weights, write_weights

if TYPE_CHECKING:
    from ..program import Program
    from .profile import Profile

ACCUMULATE = _runtime.ACCUMULATE_SUFFIX
#: Behind a parameter's name: the state that adds up its gradients.
_SUM = ".grad_acc"


class Entry:
    """One entry of a program. You call it with its inputs.

    Attributes:
        program: the program that has its values.
        signature: its name and its inputs.
        family: the entries of the same function for other batch sizes.
    """

    def __init__(self, program: Program, signature: Signature) -> None:
        self.program, self.signature = program, signature
        self._runners: tuple[Any, ...] = ()
        self._outputs: tuple[str, ...] = ()  # all that the plan has
        self._printed: dict[int, str] = {}  # the places of values that are printed
        self._is_packed = True  # the runner's outputs are not what a call returns
        self.family = _sizes.Family(self)

    @property
    def name(self) -> str:
        return self.signature.name

    @staticmethod
    def _never_written() -> type | None:
        """A type of arrays whose values nobody changes: calls do not wait to read them."""
        return None

    def _prepare(self) -> tuple[Any, ...]:
        program = self.program
        program._check_process()
        names = [self.name]
        if self.name + ACCUMULATE in program.plan.entries:
            if self.signature.accumulate < 2:
                raise FailedStateError(
                    "%r accumulates gradients, and a plan before version 3.1 does not "
                    "say over how many batches: aicf.load(path, accumulate={%r: K})"
                    % (self.name, self.name))
            names.append(self.name + ACCUMULATE)
        self._runners = tuple(_runtime.Runner(program.executor, n, self._never_written())
                              for n in names)
        names = self._runners[0].outputs
        self._outputs = tuple(returned(names))
        self._printed = {i: name.removeprefix(PRINT) for i, name in enumerate(names)
                         if name.startswith(PRINT)}
        self._is_packed = self.signature.form != "tensor" or len(names) > 1
        for name in self._runners[0].inputs:
            array = program.bound_arrays.get("%s/%s" % (self.name, name))
            if array is not None:
                for runner in self._runners:
                    runner.bind(name, array)
        return self._runners

    def _ensure_runners(self) -> None:
        if not self._runners:
            self._prepare()

    def _next(self) -> Any:
        """The runner of this call: all but the last batch of an update only add."""
        runners = self._runners or self._prepare()
        is_last = self.family.batch == self.signature.accumulate - 1
        return runners[0 if is_last else 1]

    def _unpack(self, values: Any) -> Any:
        values = values if isinstance(values, tuple) else (values,)
        if self._printed:
            from tqdm import tqdm  # type: ignore[import-untyped]
            for i, label in self._printed.items():
                tqdm.write("%s: %s" % (label, host_of(values[i])))  # above a bar of fit
            values = tuple(v for i, v in enumerate(values) if i not in self._printed)
        return self.signature.pack(values, self._outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the entry once.

        Give the inputs by position or by name: arrays of NumPy, PyTorch, JAX or CuPy of
        exactly the right dtype, or numbers for 0-d inputs. They are copied. Without any,
        the entry uses those that were written or bound. On a GPU the call returns before
        the device has finished.

        If all inputs have another leading dimension, as in a last small batch, the call
        goes to an entry for that many rows. It is compiled the first time, and shares
        everything with this one. The loss is the mean over the rows of the batch. If an
        update accumulates several batches, it uses the mean of their means, as a loop in
        PyTorch does.

        Returns: the loss, or what the function returned, as aicf.Array. A step with
            further outputs returns (loss, dict).
        Raises: InvalidArgumentError (missing, extra, device, layout),
            ShapeMismatchError, DTypeMismatchError, FailedStateError (another
            thread), DeviceError. Nothing ran then.
        """
        runners = self._runners
        try:
            if len(runners) == 1:
                values = runners[0](*args, **kwargs)
            else:
                values = self._next()(*args, **kwargs)
                self._count()
        except ShapeMismatchError as error:
            other = self.family.entry_for(args, kwargs, error)
            if other is self:
                raise
            return other(*args, **kwargs)
        return self._unpack(values) if self._is_packed else values

    def _leaves_of(self, data: Any) -> Any:
        """Returns what aicf.fit was given, by the names of inputs or in their order."""
        return data

    def _output_names(self) -> list[str] | None:
        """The names of what a call returns; None if they are not known before."""
        plan = self.program.plan
        return returned([t["name"] for t in plan.io(self.name) if t["role"] == "output"])

    def reset(self) -> None:
        """Program.reset."""
        self.program.reset()

    def predict(self, *arrays: Any, batch_size: int | None = None) -> Any:
        """Runs the step's model in evaluation mode on every row of the arrays.

        The rows go through the program's entry "predict" in chunks. This entry is
        compiled from the model the first time. The last chunk is filled up with copies
        of its last row, and their results are dropped. Therefore the result of a row
        must not depend on other rows.

        Args:
            arrays: what the model's forward takes, [rows, ...] each.
            batch_size: the rows of a chunk; the default is the step's batch.
        Returns: NumPy arrays with as many rows, as the model returns them: one array, a
            tuple, or a dict.
        Raises: InvalidArgumentError (other numbers of rows), FailedStateError (a
            program from a file that has no such entry), and what a call raises.
        """
        return _predict.predict(self, arrays, batch_size)

    def _count(self) -> None:
        family = self.family
        family.batch = (family.batch + 1) % self.signature.accumulate

    def run(self, n: int = 1, *, steps_per_launch: int = 1) -> Any:
        """Runs the entry `n` times with the inputs that are written or bound.
        `steps_per_launch` runs are one graph launch. Ctrl-C ends it after a step.

        Returns: what the last run returns.
        """
        for name, value, bits in (("n", n, 64),
                                  ("steps_per_launch", steps_per_launch, 32)):
            if isinstance(value, bool) or not isinstance(value, int) \
                    or not 1 <= value < 2**bits:
                raise InvalidArgumentError("%s is %r, expected an int from 1 to "
                                           "2^%d - 1" % (name, value, bits))
        self._next()
        if len(self._runners) == 1:
            return self._unpack(self._runners[0].run(n, steps_per_launch))
        if steps_per_launch > 1:
            raise InvalidArgumentError("a step that accumulates takes one step a "
                                       "launch: its batches are not all alike")
        for _ in range(n):
            values = self._next()()
            self._count()
        return self._unpack(values)

    def write(self, **inputs: Any) -> None:
        """Writes inputs, for run() and calls without arguments."""
        for name in inputs:
            self._check_input(name)
        for entry in self._entry_names():
            for name, value in inputs.items():
                self.program.executor.write("%s/%s" % (entry, name), value)

    def bind(self, **inputs: Any) -> None:
        """Uses the memory of your arrays on the device as inputs, without a copy, until
        you bind others. The arrays are kept alive. Graphs are captured again."""
        for name in inputs:
            self._check_input(name)
        self._ensure_runners()
        for name, array in inputs.items():
            for runner in self._runners:
                runner.bind(name, array)
            for entry in self._entry_names():
                self.program.bound_arrays["%s/%s" % (entry, name)] = array
            if self is self.family.root:
                for other in self.family.by_rows.values():
                    self.family.share_binding(other, name, array)

    def _entry_names(self) -> list[str]:
        self._ensure_runners()
        return [self.name, self.name + ACCUMULATE][:len(self._runners)]

    def _check_input(self, name: str) -> None:
        if name not in self.signature.inputs:
            raise InvalidArgumentError("there is no input \"%s\"; the inputs are %s"
                                       % (name, ", ".join(self.signature.inputs)
                                          or "none"))

    def __getattr__(self, name: str) -> NoReturn:
        raise missing("aicf.Entry", name, type(self))

    # The program's, for those who have one entry

    def state_dict(self, optimizer: bool = False) -> dict[str, Any]:
        """Program.state_dict."""
        return self.program.state_dict(optimizer)

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Program.load_state_dict."""
        self.program.load_state_dict(state, strict)

    def save_weights(self, path: str | os.PathLike[str],
                     optimizer: bool = False) -> None:
        """Program.save_weights, of the entry's own state_dict()."""
        write_weights(path, self.state_dict(optimizer))

    def load_weights(self, path: str | os.PathLike[str], strict: bool = True) -> None:
        """Program.load_weights, by the entry's own load_state_dict()."""
        self.load_state_dict(read_weights(path), strict)

    def save_checkpoint(self, directory: str | os.PathLike[str],
                        metadata: Mapping[str, str] | None = None) -> None:
        """Program.save_checkpoint."""
        self.program.save_checkpoint(directory, metadata)

    def load_checkpoint(self, directory: str | os.PathLike[str]) -> dict[str, str]:
        """Program.load_checkpoint."""
        return self.program.load_checkpoint(directory)

    def discard_update(self) -> int:
        """Forgets the gradients of the batches of this step's update, if it is not
        whole. Of a program from a file, those of other steps too: it does not say
        whose parameters are whose.

        Returns: how many batches that were.
        """
        dropped, family = self.family.batch, self.family
        if not dropped:
            return 0
        import numpy
        own = {name + _SUM for name in family.root.signature.persistent}
        for tensor in self.program.plan.persistent():
            if tensor["name"] in own or not own and tensor["name"].endswith(_SUM):
                host = self.program.executor.read(tensor["name"]).numpy()
                self.program.executor.write(tensor["name"], numpy.zeros_like(host))
        family.batch = 0
        return dropped

    def save(self, path: str | os.PathLike[str]) -> None:
        """Program.save."""
        self.program.save(path)

    def _own(self, name: str) -> str:
        """"lr" and "step" are those of this entry's optimizer."""
        prefix = self.signature.optimizer_prefix
        return prefix + name if name in ("lr", "step") else name

    def set(self, name: str, value: Any) -> None:
        """Program.set; "lr" is the learning rate of this entry's optimizer."""
        try:
            self.program.set(self._own(name), value)
        except InvalidArgumentError as error:
            if name != "lr":
                raise
            raise InvalidArgumentError(
                "%s: %r has no learning rate that can be set. A schedule computes it on the "
                "device, or the entry has no optimizer" % (error, self.name)) from None

    def get(self, name: str) -> _runtime.Array:
        """Program.get; "lr" and "step" are those of this entry's optimizer. Of a schedule,
        "lr" is the rate of the last update, or the first one's before it."""
        schedule = self.family.root.signature.schedule
        if name == "lr" and schedule is not None:
            import numpy
            from .schedules import rate_at
            rates = schedule.rates()
            rate = rate_at(schedule, int(self.get("step").numpy()), None if rates is None
                           else self.program.get(self._own(name) + "_table").numpy())
            return _runtime.array(numpy.float32(rate), _runtime.Device.cpu(1))
        return self.program.get(self._own(name))

    def sync(self) -> None:
        """Program.sync."""
        self.program.sync()

    def as_text(self, stage: str = "plan-ir") -> str:
        """Program.as_text."""
        return self.program.as_text(stage)

    view = view

    def profile(self, *batch: Any, runs: int = 20) -> Profile:
        """Measures how long each call and each layer takes: `print(step.profile(x, y))`.
        The values of the program stay as they are.

        Args:
            batch: the inputs, as a call takes them. Without any, those that were written
                or bound.
            runs: how many runs to take the median of.
        Returns: a Profile, which print() shows as a table, view(path) as the plan's page
            with times, and save(path) as a trace for Perfetto.
        """
        from .profile import profile
        if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
            raise ValueError("runs is %r, expected an int of 1 or more" % (runs,))
        leaves = self._leaves_of(batch if len(batch) != 1 else batch[0]) if batch else {}
        given = dict(leaves) if isinstance(leaves, Mapping) else dict(zip(
            self.signature.inputs,
            leaves if isinstance(leaves, (tuple, list)) else [leaves]))
        self._ensure_runners()
        arrays = Converter(self.signature.specs).all(given)
        try:
            return profile(self, arrays, runs)
        except ShapeMismatchError as error:
            other = self.family.entry_for((), arrays, error)
            if other is self:
                raise
            other._ensure_runners()
            return profile(other, arrays, runs)

    def memory_analysis(self) -> dict[str, Any]:
        """Program.memory_analysis."""
        return self.program.memory_analysis()

    def cost_analysis(self) -> dict[str, Any]:
        """Program.cost_analysis of this entry."""
        return self.program.cost_analysis(self.name)

    def __reduce__(self) -> Any:
        raise TypeError("an entry cannot be pickled: save() its plan and "
                        "save_checkpoint() its values")

    def __repr__(self) -> str:
        return "aicf.Entry(%s(%s) on %s)" % (
            self.name, ", ".join(self.signature.inputs), self.program.device.name)
