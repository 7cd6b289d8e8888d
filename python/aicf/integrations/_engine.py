# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One step of somebody else's loop: compiled if it can be, and else PyTorch's own.

    batch of any structure -> its tensors -> aicf.torch.Step, made at the first batch
                                          -> None: the loop goes on in PyTorch, and the
                                             reason has been said once
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy
import torch
from torch.utils import _pytree

from ..errors import AICFError, ModuleImportError
from ..torch import compile_step
from ..torch._step import Step


def _refuse(what: str) -> Any:
    raise ModuleImportError(what, "", 0)


_PLAIN = (bool, int, float, str, type(None), enum.Enum, torch.dtype, torch.device)
#: Of more elements, and of arrays of more bytes, nobody reads all before each batch.
_MOST_ELEMENTS, _MOST_BYTES = 1024, 64 << 10


def _plain(value: Any, depth: int = 4) -> Any:
    """What can be compared of a value that Python code may branch on or compute with: of
    lists, sets and dicts their values, of NumPy's arrays the bytes, and else Ellipsis."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, numpy.ndarray) and value.nbytes <= _MOST_BYTES \
            and value.dtype.kind in "biuf":
        return (str(value.dtype), value.shape, value.tobytes())
    if depth and isinstance(value, (list, tuple, set, frozenset, Mapping)) \
            and len(value) <= _MOST_ELEMENTS:
        if isinstance(value, Mapping):
            return {key if isinstance(key, _PLAIN) else id(key): _plain(each, depth - 1)
                    for key, each in value.items()}
        if isinstance(value, (set, frozenset)):
            return frozenset(v for v in value if isinstance(v, _PLAIN))
        return tuple(_plain(each, depth - 1) for each in value)
    return ...


class Watched:
    """What a step reads that another call may have another value of, by name: properties
    of a class that raise while the step is compiled.

    Attributes:
        read: the names of the owner's attributes that the step has read.
    """

    def __init__(self, owner: Any, names: Sequence[str],
                 more: Mapping[str, Any] | None = None) -> None:
        self.owner = owner
        self.read: set[str] = set()
        kind: Any = type(owner)

        def reads(own: Any, name: str) -> Any:
            self.read.add(name)
            return kind.__getattribute__(own, name)

        def watched(name: str) -> Any:
            return property(lambda own: _refuse(
                "it reads self.%s, whose value would be that of the first batch" % name))
        own = {name: watched(name) for name in names
               if hasattr(kind, name) or name in vars(owner)}
        self._kind = type(kind.__name__, (kind,), {
            "__module__": kind.__module__, "__qualname__": kind.__qualname__,
            "__getattribute__": reads, **own, **(more or {})})

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        before = type(self.owner)
        self.owner.__class__ = self._kind
        try:
            yield
        finally:
            self.owner.__class__ = before

    def values(self, module: torch.nn.Module) -> dict[str, Any]:
        """Returns the plain values by name that the step may have read as constants: of the
        owner those that it has read, and the public ones of the module's parts."""
        found = {"self." + name: _plain(value) for name, value in vars(self.owner).items()
                 if name in self.read}
        for path, part in module.named_modules():
            if part is not self.owner:
                found.update(("%s.%s" % (path, name), _plain(value))
                             for name, value in vars(part).items() if name[0] != "_")
        return found


class NoNumber:
    """Stands for the number of a batch: a step that computes with it cannot be compiled."""

    def _refused(self, *args: Any) -> Any:
        _refuse("it computes with batch_idx, whose value would be that of the first batch")

    __bool__ = __int__ = __index__ = __float__ = __eq__ = __ne__ = __lt__ = __le__ = _refused
    __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __mul__ = __mod__ = _refused
    __floordiv__ = __truediv__ = __hash__ = _refused


class Whole(torch.nn.Module):  # type: ignore[misc]
    """A module's own training step as a module: `forward(*tensors)` puts the batch together
    and returns what the step returns."""

    def __init__(self, module: Any, call: Callable[[Any, Any], Any], structure: Any) -> None:
        super().__init__()
        self.module = module
        self._call, self._structure = call, structure

    def forward(self, *tensors: Any) -> Any:
        return self._call(self.module, _pytree.tree_unflatten(list(tensors), self._structure))


class Engine:
    """Attributes:
        step: the compiled step, or None before the first batch and in PyTorch's own loop.
        reason: why the loop is PyTorch's own, or "".
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.step: Step | None = None
        self.reason = ""
        self._say = say
        self._structure: Any = None
        self._made_for: tuple[Any, ...] = ()
        self._has_given = True  # nothing has run since the module got the values
        self._watched: Watched | None = None
        self._values: dict[str, Any] = {}

    def leave(self, reason: str) -> None:
        """Goes on in PyTorch. The module and its optimizer get what the step has."""
        if self.step is not None:
            self.give_back()
            self.step = None
        if not self.reason:
            self.reason = reason
            self._say("AICF does not run this training, and PyTorch does: " + reason)

    def give_back(self) -> None:
        """Gives parameters and moments to the module and its optimizer."""
        if self.step is not None and not self._has_given:
            self.step.sync_to_module()
            self.step.sync_to_optimizer(whole=False)
            self._has_given = True  # what somebody else writes from here on stays

    def take_back(self) -> None:
        """Takes parameters from the module and moments from its optimizer, which somebody
        else has changed, such as a checkpoint that was loaded."""
        if self.step is not None:
            self.step.load_from_module()
            self.step.load_optimizer_state()

    def begin(self, *made_for: Any) -> None:
        """Says what a step is made for: another module, optimizer or number of batches an
        update makes another step, from what the last one has given back."""
        if len(made_for) != len(self._made_for) or any(
                a is not b and a != b for a, b in zip(made_for, self._made_for)):
            self.give_back()
            self.step, self.reason, self._made_for = None, "", made_for

    def run(self, module: Any, call: Callable[[Any, Any], Any], optimizer: Any, batch: Any,
            watch: Callable[[], Watched], **options: Any) -> Any:
        """Runs a step: call(module, batch) gives a loss, or a loss and a dict. What `watch`
        returns is active wherever it is traced.

        Returns: what the step returns, or None if PyTorch is to run it.
        """
        if self.reason:
            return None
        tensors, structure = _pytree.tree_flatten(batch)
        if not tensors or not all(isinstance(t, torch.Tensor) for t in tensors):
            self.leave("a batch has something in it that is not a tensor")
            return None
        try:
            if self.step is None:
                self._structure, self._watched = structure, watch()
                with self._watched.active():
                    self.step = compile_step(Whole(module, call, structure),
                                             lambda result: result, optimizer, tensors,
                                             **options)
                self._values = self._watched.values(module)
            assert self._watched is not None
            self._check_values(module)
            if structure != self._structure:
                raise ModuleImportError("a batch has another structure than the first one",
                                        "", 0)
            with self._watched.active():  # another number of rows is compiled
                self._has_given = False
                return self.step(*tensors)
        except AICFError as error:
            self.leave(error.message if hasattr(error, "message") else str(error))
        except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
            self.leave("%s: %s" % (type(error).__name__, error))
        return None

    def _check_values(self, module: torch.nn.Module) -> None:
        """Raises ModuleImportError if a hook or a callback has changed what the step has as
        a constant."""
        assert self._watched is not None
        now = self._watched.values(module)
        if now == self._values:
            return
        for name in (*now, *self._values):
            old, new = self._values.get(name, ...), now.get(name, ...)
            if old is not new and old != new:
                raise ModuleImportError("%s was %s when the step was compiled and is %s now" % (
                    name, *("another object" if v is ... else "%.80r" % (v,)
                            for v in (old, new))), "", 0)


def tensor_of(array: Any, device: Any) -> Any:
    """A result of a step as a tensor of its own."""
    return torch.from_dlpack(array).to(device).clone()
