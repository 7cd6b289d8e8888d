# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Watches what a compiled step counts on: that the module's parameters and buffers are the
tensors that it has, in the same memory, that those that are constants are not written, and
that the same parameters are trained.

A call of a small step takes some microseconds, so that a call cannot look at all of them.
PyTorch says when a part, parameter or buffer of any module is replaced: all are compared
then. Of the rest, which nothing says, each call looks at the next one and at the next
constant.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ..errors import InvalidArgumentError

class _Registrations:
    """Counts assignments of parameters, buffers and parts to any module. Since PyTorch
    has no end of a hook's life but by hand, there is one for all steps."""

    count = 0
    _is_watching = False

    @classmethod
    def watch(cls) -> None:
        if not cls._is_watching:
            cls._is_watching = True
            hooks = torch.nn.modules.module
            for register in (hooks.register_module_parameter_registration_hook,
                             hooks.register_module_buffer_registration_hook,
                             hooks.register_module_module_registration_hook):
                register(cls._note)

    @classmethod
    def _note(cls, module: Any, name: str, value: Any) -> None:
        cls.count += 1


@dataclass
class _Place:
    """A tensor of the module; `held` is "_parameters" or "_buffers"."""

    name: str
    held: str
    path: str
    key: str
    tensor: Any
    pointer: int
    version: int
    requires_grad: bool


class Memory:
    """The tensors of a module that a step has.

    Args:
        imported: what was compiled.
        watched: names of parameters and buffers whose memory matters.
        constants: names of buffers that the plan has as constants.
    """

    def __init__(self, imported: Any, watched: Collection[str],
                 constants: Collection[str]) -> None:
        self._module = imported.module
        self._places: list[_Place] = []
        self._constants: list[_Place] = []
        own = dict(imported.module.named_parameters(remove_duplicate=False))
        own.update(imported.module.named_buffers(remove_duplicate=False))
        for name, found, is_parameter in imported.named_tensors():
            tensor = own.get(name)
            if tensor is None or tensor is not found:
                continue
            path, _, key = name.rpartition(".")
            place = _Place(name, "_parameters" if is_parameter else "_buffers", path, key,
                           tensor, tensor.data_ptr(), tensor._version, tensor.requires_grad)
            if name in watched:
                self._places.append(place)
            elif not is_parameter and name in constants:
                self._constants.append(place)
        _Registrations.watch()
        self._seen = _Registrations.count
        self._start_round()

    def _start_round(self) -> None:
        self._round = itertools.cycle(
            [(p.tensor.data_ptr, p.pointer, p.tensor, p.requires_grad, p)
             for p in self._places])
        self._round_of_constants = itertools.cycle(
            [(p.tensor, p.version, p) for p in self._constants])

    def check_some(self) -> None:
        """Of one call. Raises InvalidArgumentError."""
        if self._seen != _Registrations.count:
            self._seen = _Registrations.count
            self.check_all()
        for data_ptr, pointer, tensor, requires_grad, place in self._round:
            if data_ptr() != pointer or tensor.requires_grad != requires_grad:
                self._check(place)
            break
        for tensor, version, place in self._round_of_constants:
            if tensor._version != version:
                self._check_constant(place)
            break

    def check_all(self) -> None:
        """All parameters, buffers and constants. Raises InvalidArgumentError."""
        for place in self._places:
            self._check_same(place)
            self._check(place)
        self.check_constants()

    @staticmethod
    def _check(place: _Place) -> None:
        if place.tensor.data_ptr() != place.pointer:
            raise InvalidArgumentError(
                "%s %r has other memory than when the step was compiled (p.data = ..., "
                "module.half(), vector_to_parameters): step.load_from_module() takes it"
                % (_kind(place), place.name))
        if place.tensor.requires_grad != place.requires_grad:
            raise InvalidArgumentError(
                "requires_grad of parameter %r is %s now, and was %s when the step was "
                "compiled: compile the step again" % (
                    place.name, place.tensor.requires_grad, place.requires_grad))

    def _now(self, place: _Place) -> Any:
        part = self._module
        for step in place.path.split(".") if place.path else ():
            part = part._modules.get(step)
            if part is None:
                return None
        return getattr(part, place.held).get(place.key)

    def _check_same(self, place: _Place) -> None:
        if self._now(place) is not place.tensor:
            raise InvalidArgumentError(
                "%s %r is another one than when the step was compiled (a replaced layer, "
                "load_state_dict(assign=True)): %s" % (
                    _kind(place), place.name, "compile the step again"
                    if place.held == "_parameters" else "step.load_from_module() takes it"))

    def moved(self) -> Iterator[tuple[str, Any]]:
        """Names and tensors with other memory than before, which counts from now on.
        Raises InvalidArgumentError: a parameter is another object."""
        for place in self._places:
            now = self._now(place)
            if place.held == "_parameters" or now is None \
                    or now.shape != place.tensor.shape or now.dtype != place.tensor.dtype:
                self._check_same(place)
            if now.data_ptr() != place.pointer:
                place.tensor, place.pointer = now, now.data_ptr()
                yield place.name, now
        self._start_round()

    def check_constants(self) -> None:
        """Raises InvalidArgumentError: one has been written or replaced."""
        for place in self._constants:
            self._check_constant(place)
            if self._now(place) is not place.tensor:
                self._raise_constant(place, "is another one")

    def _check_constant(self, place: _Place) -> None:
        if place.tensor._version != place.version:
            self._raise_constant(place, "has been written")

    @staticmethod
    def _raise_constant(place: _Place, what: str) -> None:
        raise InvalidArgumentError(
            "buffer %r %s, and the plan has it as a constant, because the module never "
            "changes it: compile the step again" % (place.name, what))


def _kind(place: _Place) -> str:
    return "parameter" if place.held == "_parameters" else "buffer"


def check_no_overlap(tensors: Collection[tuple[str, Any]]) -> None:
    """Refuses parameters that share a part of their memory with each other or with
    themselves: an update of one would move the other, too."""
    ranges = []
    for name, tensor in tensors:
        size = tensor.element_size()
        if any(n > 1 and s == 0 for n, s in zip(tensor.shape, tensor.stride())):
            raise InvalidArgumentError(
                "parameter %r is expanded: several of its elements are one in memory, which "
                "PyTorch cannot update: use .clone()" % name)
        if tensor.numel():
            last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride())) * size
            ranges.append((tensor.data_ptr(), tensor.data_ptr() + last + size, name, tensor))
    ranges.sort(key=lambda r: r[:2])
    for (_, end, name, a), (begin, _, other, b) in zip(ranges, ranges[1:]):
        if begin < end and a is not b and a.is_contiguous() and b.is_contiguous():
            raise InvalidArgumentError(
                "parameters %r and %r are different tensors in the same memory: make them "
                "one Parameter, or use .clone()" % (name, other))
