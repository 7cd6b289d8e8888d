# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Watches what a compiled step counts on: that the module's parameters are the tensors
that it trains, in the same memory, and that buffers which are constants do not change."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..errors import InvalidArgumentError


class Memory:
    """The parameters that a step trains, and the buffers that are constants of its plan.

    Args:
        imported: what was compiled.
        trained: names of parameters that are in the plan.
        constants: names of buffers that are not.
    """

    def __init__(self, imported: Any, trained: Collection[str],
                 constants: Collection[str]) -> None:
        self._module = imported.module
        self._tensors: list[tuple[str, str, str, Any]] = []  # name, its two parts, tensor
        self._constants: list[tuple[str, Any, int]] = []
        own = dict(imported.module.named_parameters(remove_duplicate=False))
        for name, tensor, is_parameter in imported.named_tensors():
            if is_parameter and name in trained and own.get(name) is tensor:
                path, _, key = name.rpartition(".")
                self._tensors.append((name, path, key, tensor))
            elif not is_parameter and name in constants:
                self._constants.append((name, tensor, tensor._version))
        self._pointers = [t.data_ptr() for *_, t in self._tensors]
        self._next = 0

    def check_one(self) -> None:
        """One parameter, another one with each call: all would take longer than a small
        step. Raises InvalidArgumentError."""
        if self._tensors:
            self._next = (self._next + 1) % len(self._tensors)
            self._check(self._next)

    def check_all(self) -> None:
        """All parameters and constants. Raises InvalidArgumentError."""
        for i in range(len(self._tensors)):
            self._check(i)
        self.check_constants()

    def _check(self, index: int) -> None:
        name, path, key, tensor = self._tensors[index]
        self._check_same(name, path, key, tensor)
        if tensor.data_ptr() != self._pointers[index]:
            raise InvalidArgumentError(
                "parameter %r has other memory than when the step was compiled (p.data = "
                "..., module.half(), vector_to_parameters): step.load_from_module() takes "
                "it" % name)

    def _check_same(self, name: str, path: str, key: str, tensor: Any) -> None:
        part = self._module
        for step in path.split(".") if path else ():
            part = part._modules.get(step)
            if part is None:
                break
        if part is not None and part._parameters.get(key) is tensor:
            return
        raise InvalidArgumentError(
            "parameter %r is another one than when the step was compiled (a replaced "
            "layer, load_state_dict(assign=True)): compile the step again" % name)

    def moved(self) -> list[str]:
        """Names of parameters with other memory than before, which counts from now on.
        Raises InvalidArgumentError: one is another object."""
        found = []
        for i, (name, path, key, tensor) in enumerate(self._tensors):
            self._check_same(name, path, key, tensor)
            if tensor.data_ptr() != self._pointers[i]:
                found.append(name)
                self._pointers[i] = tensor.data_ptr()
        return found

    def check_constants(self) -> None:
        """Raises InvalidArgumentError: one has been written."""
        for name, tensor, version in self._constants:
            if tensor._version != version:
                raise InvalidArgumentError(
                    "buffer %r has been written, and the plan has it as a constant, because "
                    "the module never changes it: compile the step again" % name)
