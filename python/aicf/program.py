# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan on a device. A Program has the values, and you call an Entry.

Entries of one program share parameters, states and hypers by name. When an entry is added
later, it is compiled with the others into a new plan; another batch size of an entry is
compiled alone, and joins the plan that is there. The executor goes on with that plan,
and the values of the others stay where they are.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _runtime
from ._base.hints import missing
from ._programs import sizes as _sizes
from ._programs.entry import ACCUMULATE, Entry
from ._programs.signature import Signature, Spec, own_outputs
from ._programs.view import view
from ._programs.weights import read_weights, write_weights
from .errors import (AICFError, DTypeMismatchError, FailedStateError,
                     InvalidArgumentError, ShapeMismatchError,
                     near_names)

if TYPE_CHECKING:
    from ._programs.lowered import Lowered

__all__ = ["Entry", "Program"]


_devices: dict[tuple[Any, ...], _runtime.Device] = {}


def open_device(name: str = "cpu", *, threads: int = 0, tune: str = "off",
                tuning_file: str = "") -> _runtime.Device:
    """Opens "cpu", "cuda" or "cuda:N". The same arguments give the same object."""
    if isinstance(threads, bool) or not isinstance(threads, int) \
            or not 0 <= threads < 2**31:
        raise InvalidArgumentError("threads is %r, expected an int from 0 (all cores) "
                                   "to 2^31 - 1" % (threads,))
    kind, _, number = str(name).partition(":")
    key = (kind, number or "0" if kind == "cuda" else number, threads, tune,
           tuning_file, os.getpid())
    if key in _devices:
        return _devices[key]
    if kind == "cpu" and not number:
        device = _runtime.Device.cpu(threads)
    elif kind == "cuda" and (not number or number.isdecimal()):
        from ._programs.cuda_libraries import find_libraries
        find_libraries()
        device = _runtime.Device.cuda(int(number or 0), tune, tuning_file)
    else:
        raise InvalidArgumentError("device is %r, expected \"cpu\", \"cuda\" or "
                                   "\"cuda:N\"" % (name,))
    return _devices.setdefault(key, device)


_programs: weakref.WeakSet[Program] = weakref.WeakSet()


def _after_fork() -> None:
    """In a child every entry asks again whether it may run."""
    for program in list(_programs):
        program._compiling = threading.RLock()  # the thread that had it is not here
        for entry in program._entries.values():
            entry._runners = ()


os.register_at_fork(after_in_child=_after_fork)


class Program:
    """A plan on a device, with its entries and the values that they share.

    Only one thread at a time may use a program. A call while another thread is inside
    raises FailedStateError. Programs are independent of each other.

    Attributes:
        plan: the plan that runs.
        device: the device on which it runs.
        executor: the object that runs it.
        lowered: the trace that it was compiled from, or None for a plan from a file.
        bound_arrays: the arrays that tensors live in since bind(), by name.
    """

    def __init__(self, plan: _runtime.Plan, device: _runtime.Device, *, seed: int = 0,
                 lowered: Lowered | None = None, check_indices: bool = False,
                 bindings: Mapping[str, Any] | None = None) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) \
                or not 0 <= seed < 2**64:
            raise ValueError("seed is %r, expected an int from 0 to 2^64 - 1"
                             % (seed,))
        self.device, self.seed, self.lowered = device, seed, lowered
        self._pid = os.getpid()
        self._compiling = threading.RLock()
        self._entries: dict[str, Entry] = {}
        self.bound_arrays: dict[str, Any] = {}
        self._initial: dict[str, Any] = {}  # of what starts as an array
        self._set_plan(plan, _runtime.Executor.create(plan, device, seed=seed,
                                                      check_indices=check_indices))
        _programs.add(self)
        for name, array in (bindings or {}).items():  # cheap: nothing is prepared yet
            self.bind(name, array)
        for signature in lowered.traced.signatures.values() if lowered else ():
            self._start(signature, self._new_names(self._initial))

    def _set_plan(self, plan: _runtime.Plan, executor: _runtime.Executor) -> None:
        self.plan, self.executor = plan, executor
        signatures = self.lowered.traced.signatures if self.lowered else {}
        for name in plan.entries:
            if name not in self._entries and not name.endswith(ACCUMULATE):
                signature = signatures.get(name) or self._signature_of(name)
                first = self._entries.get(_sizes.split_name(name)[0])
                kind = signature.entry_type or (type(first) if first else Entry)
                self._entries[name] = kind(self, signature)
        for name, entry in self._entries.items():
            root, rows = _sizes.split_name(name)
            if rows and root in self._entries:
                entry.family = self._entries[root].family
                entry.family.by_rows[rows] = entry

    def _signature_of(self, name: str) -> Signature:
        """What the plan says of an entry."""
        plan, own = self.plan, _sizes.split_name(name)[0] + "/"
        tensors = plan.io(name)
        names = {t["name"] for t in plan.persistent()}
        form = plan.output_form(name)
        return Signature(
            name, {t["name"]: Spec(t["shape"], t["dtype"]) for t in tensors
                   if t["role"] == "input"},
            form, own_outputs(form, [t["name"] for t in tensors
                                     if t["role"] == "output"]),
            accumulate=plan.batches_per_update(name),
            # what an optimizer that is not the first one has
            optimizer_prefix=own if {own + "lr", own + "step"} & names else "")

    def _new_names(self, already: Collection[str]) -> set[str]:
        return {t["name"] for t in self.plan.persistent()} - set(already)

    def _start(self, signature: Signature, names: Collection[str]) -> None:
        """Writes values that an entry brings for the tensors of these names: hypers, and
        arrays of parameters."""
        if not names:
            return
        roles = {t["name"]: t["role"] for t in self.plan.persistent()}
        values = dict(signature.values)
        values.update((name, owner.value)
                      for name, owner in signature.persistent.items()
                      if owner.value is not None)
        zeros = {name: owner.zero_row for name, owner in signature.persistent.items()
                 if name in names and owner.zero_row is not None}
        for name, row in zeros.items():
            self.executor.zero_row(name, row)
        for name in set(names) & {*values, *zeros} - set(self.bound_arrays):
            if name in values:
                self.executor.write(name, values[name])
            if roles[name] != "hyper":
                self._initial[name] = self.executor.read(name)

    # Entries

    @property
    def entries(self) -> dict[str, Entry]:
        return dict(self._entries)

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            raise KeyError("no entry %r%s; the program has %s"
                           % (name, near_names(name, self._entries),
                              ", ".join(self._entries)))
        return self._entries[name]

    @contextlib.contextmanager
    def compiling(self) -> Iterator[None]:
        """Holds what traces and compiles an entry, from the look at those that are there
        on. Raises FailedStateError if another thread does so."""
        if not self._compiling.acquire(blocking=False):
            raise FailedStateError("another thread compiles an entry of this program: only "
                                   "one thread at a time may use it")
        try:
            yield
        finally:
            self._compiling.release()

    def add_entry(self, signature: Signature) -> Entry:
        """The program with the entry that was just traced into
        `lowered.traced`, whose add() or add_step() gave `signature`; aicf.compile
        does both. If it does not compile or finds no memory, the program is as
        before. An entry whose own values cannot be written stays, and says so when
        it is called."""
        with self.compiling():
            return self._add_entry(signature)

    def _is_sized(self, name: str) -> bool:
        """Whether the entry is another one for its batch size, and all others are
        compiled."""
        root, rows = _sizes.split_name(name)
        return bool(rows) and root in self._entries and self.lowered is not None \
            and set(self.lowered.traced.signatures) <= {*self._entries, name}

    def _add_entry(self, signature: Signature) -> Entry:
        self._check_process()
        name: Any = getattr(signature, "name", signature)
        if self.lowered is None or not isinstance(signature, Signature) \
                or self.lowered.traced.signatures.get(name) is not signature:
            raise InvalidArgumentError("%.80r is not traced into this program: "
                                       "aicf.compile(..., program=program) adds an "
                                       "entry" % (name,))
        if signature.name in self._entries:
            return self._entries[signature.name]
        known = {t["name"] for t in self.plan.persistent()}
        try:
            lowered = self.lowered.with_entry(name) if self._is_sized(name) \
                else self.lowered.again()
            self.executor.extend(lowered.plan)
        except BaseException:
            self.lowered.traced.forget(signature.name)
            raise
        self.lowered = lowered
        self._set_plan(lowered.plan, self.executor)
        new = self._new_names(known)
        for each in lowered.traced.signatures.values():
            self._start(each, new)  # more than one may have been traced
        return self._entries[signature.name]

    # Values

    def _tensors(self, *roles: str) -> list[str]:
        return [t["name"] for t in self.plan.persistent()
                if t["role"] in roles and not t["derived"] and not t["scratch"]]

    def _model_names(self) -> list[str]:
        """Parameters and buffers; of a loaded plan parameters alone."""
        owners: set[str] = set()
        for signature in self.lowered.traced.signatures.values() \
                if self.lowered else ():
            owners.update(name for name, owner in signature.persistent.items()
                          if getattr(owner, "is_models", True))
        return [t["name"] for t in self.plan.persistent()
                if t["role"] == "param" or t["name"] in owners]

    def state_dict(self, optimizer: bool = False) -> dict[str, Any]:
        """Returns parameters and buffers as NumPy arrays, by PyTorch's names. With
        `optimizer` it returns everything that a checkpoint has: moments, counts and the
        loss scale, too. In a program from a plan file, buffers count as the
        optimizer's."""
        if optimizer:
            self._check_whole_updates()
        names = self._tensors("param", "state") if optimizer else self._model_names()
        return {name: self.executor.read(name).numpy() for name in names}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Writes what state_dict() returned, here or in PyTorch. If anything is wrong,
        nothing is written.

        Args:
            state: arrays by name. A tied parameter may have any of its names.
            strict: True requires every parameter and buffer that the program uses, and
                refuses names that neither it nor its model knows. False leaves such
                names out.
        Raises: KeyError (names), ShapeMismatchError, DTypeMismatchError.
        """
        if not isinstance(state, Mapping):
            raise TypeError("state is a %s, expected a dict of arrays by name"
                            % type(state).__name__)
        values, unknown = self._by_own_name(state)
        missing = [name for name in self._model_names() if name not in values]
        if strict and (unknown or missing):
            raise KeyError("; ".join(
                "%s: %s" % (what, ", ".join(map(str, names))) for what, names in (
                    ("the program does not have", unknown), ("missing", missing))
                if names) + _flax_hint(unknown))
        host = _runtime.Device.cpu(1)
        for name, value in list(values.items()):  # all checked before any is written
            tensor = self.executor.find(name)
            if getattr(getattr(value, "flags", None), "c_contiguous", True) is False:
                value = values[name] = value.copy(order="C")  # a transposed array
            try:
                array = value if isinstance(value, _runtime.Array) \
                    else _runtime.array(value, host)
            except AICFError as error:
                raise type(error)("\"%s\": %s" % (name, error)) from None
            if array.dtype != tensor["dtype"]:
                raise DTypeMismatchError("\"%s\" is %s, expected %s" % (
                    name, array.dtype, tensor["dtype"]))
            if array.shape != tensor["shape"]:
                raise ShapeMismatchError("\"%s\" has shape %s, expected %s%s" % (
                    name, array.shape, tensor["shape"],
                    ": weights are [out, in] here, and [in, out] in JAX's libraries; "
                    "pass array.T" if array.shape[::-1] == tensor["shape"] else ""))
        for name, value in values.items():
            self.executor.write(name, value)

    def _by_own_name(self, state: Mapping[str, Any]) -> tuple[dict[str, Any],
                                                              list[str]]:
        """Values by the program's names, and the names that nobody knows."""
        aliases: dict[str, str] = {}
        ours: set[str] = set()  # the entries may use some of them only
        for signature in self.lowered.traced.signatures.values() \
                if self.lowered else ():
            aliases.update(signature.aliases)
            ours |= signature.model_names
        known = set(self._tensors("param", "state"))
        values: dict[str, Any] = {}
        unknown = []
        for name, value in state.items():
            own = aliases.get(name, name)
            if own in known:
                if own == name or own not in state:
                    values[own] = value
            elif own not in ours:
                unknown.append(name)
        return values, unknown

    def save_weights(self, path: str | os.PathLike[str],
                     optimizer: bool = False) -> None:
        """Writes state_dict() as a safetensors file, which PyTorch reads, too."""
        write_weights(path, self.state_dict(optimizer))

    def load_weights(self, path: str | os.PathLike[str], strict: bool = True) -> None:
        """Reads a safetensors file and calls load_state_dict() with it. Raises
        InvalidFileError."""
        self.load_state_dict(read_weights(path), strict)

    def save_checkpoint(self, directory: str | os.PathLike[str],
                        metadata: Mapping[str, str] | None = None) -> None:
        """Writes parameters and states to DIRECTORY/state.safetensors, which
        aicf-run --resume reads. `metadata` has texts that load_checkpoint gives back. An
        older file stays whole until the new one is complete. Between the batches of an
        update it raises FailedStateError, because a checkpoint does not say how many
        batches are in."""
        self._check_whole_updates()
        self.executor.save_checkpoint(os.fspath(directory), dict(metadata or {}))

    def load_checkpoint(self, directory: str | os.PathLike[str]) -> dict[str, str]:
        """Reads what save_checkpoint or aicf-run --save-checkpoint wrote. If anything
        is wrong, nothing changes.

        Returns: the texts that save_checkpoint was given.
        Raises: InvalidFileError, FileNotFoundError, FileError, DeviceError.
        """
        metadata = self.executor.load_checkpoint(os.fspath(directory))
        for entry in self._entries.values():
            entry.family.batch = 0
        return metadata

    def _check_whole_updates(self) -> None:
        for entry in self._entries.values():
            if entry.family.batch:
                raise FailedStateError(
                    "%r is in the middle of an update: %d of %d batches are in" % (
                        entry.name, entry.family.batch,
                        entry.signature.accumulate))

    def discard_update(self) -> int:
        """Forgets the gradients of every update whose batches are not all in.

        Returns: how many batches it forgot.
        """
        families = {e.family for e in self._entries.values()}
        return sum(family.root.discard_update() for family in families)

    def set(self, name: str, value: Any) -> None:
        """Writes a hyper, a parameter or a state."""
        self._check_tensor(name)
        self.executor.write(name, value)

    def get(self, name: str) -> _runtime.Array:
        """A copy of a tensor's value. Raises NotInitializedError."""
        self._check_tensor(name)
        return self.executor.read(name)

    def _check_tensor(self, name: str) -> None:
        """The executor's own error, with names that are near."""
        try:
            self.executor.find(name)
        except InvalidArgumentError as error:
            near = near_names(name, [t["name"] for t in self.plan.persistent()])
            raise InvalidArgumentError("%s%s" % (error, near)) from None

    def bind(self, name: str, array: Any) -> None:
        """Makes a tensor live in your array on the device from now on. You name an input
        as "entry/name"."""
        head, _, tail = name.rpartition("/")
        if head in self._entries and tail in self._entries[head].signature.inputs:
            return self._entries[head].bind(**{tail: array})
        try:
            role = self.executor.find(name)["role"]
        except InvalidArgumentError:
            role = ""
        if role not in ("param", "state", "hyper"):
            raise InvalidArgumentError("\"%s\" is not a param, state or hyper" % name)
        self.executor.bind(name, array)
        self.bound_arrays[name] = array

    def reset(self) -> None:
        """Sets parameters and states back to the values that they started with."""
        self.executor.reset_state()
        for name, value in self._initial.items():
            if name not in self.bound_arrays:
                self.executor.write(name, value)
        for entry in self._entries.values():
            entry.family.batch = 0

    # What it is

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan to a file for aicf.load, aicf-run and C++. The file holds no
        values of parameters: save_checkpoint writes those."""
        _runtime.write_file(os.fspath(path), self.plan.serialize())

    def as_text(self, stage: str = "plan-ir") -> str:
        """Returns the IR of a stage, as Lowered.as_text does. A loaded plan has only its
        tables, as aicf-plan dump shows them."""
        return self.lowered.as_text(stage) if self.lowered else self.plan.dump()

    view = view

    def memory_analysis(self) -> dict[str, Any]:
        """Returns bytes on the device: persistent_bytes, and for each entry io_bytes,
        temp_bytes and temp_lower_bound_bytes, the most that live at once. Also for each
        entry three lists of values, the largest first, with type, label (vid) and bytes:
        saves, which the forward pass keeps for the backward pass; views, which calls read
        where other values lie; and parts, which calls write where they belong. The bytes
        of a view or part are those that a copy would take."""
        return dict(self.plan.memory())

    def cost_analysis(self, entry: str | None = None) -> dict[str, Any]:
        """Returns flops, bytes (that calls read and write) and the number of calls of one
        run, in all and for each call. A product counts 2·M·N·K operations, and any other
        primitive counts one for each element that it makes."""
        calls = [c for c in self.plan.costs() if entry is None or c["entry"] == entry]
        return {"flops": sum(c["flops"] for c in calls),
                "bytes": sum(c["bytes"] for c in calls),
                "calls": sum(c["times"] for c in calls), "by_call": calls}

    def sync(self) -> None:
        """Waits for everything; device errors surface here."""
        self.executor.sync()

    def _check_process(self) -> None:
        if os.getpid() != self._pid and self.device.kind != "cpu":
            raise FailedStateError("this program was made before a fork: a GPU does "
                                   "not survive one, compile in the child")

    def __reduce__(self) -> Any:
        raise TypeError("a program cannot be pickled: save() its plan and "
                        "save_checkpoint() its values")

    def __repr__(self) -> str:
        return "aicf.Program(%s on %s)" % (", ".join(self._entries), self.device.name)


def _flax_hint(unknown: Collection[str]) -> str:
    if not any(str(name).rpartition(".")[2] in ("kernel", "scale", "embedding")
               for name in unknown):
        return ""
    return ("; flax's \"kernel\" is \"weight\" here, transposed (array.T), and its "
            "\"scale\" of a LayerNorm is \"weight\"")
