# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a trace notes beside the ops: values to return, modules that ran, numbers that are
computed once."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tensor import Tensor


#: Stands before the names of outputs that are printed and not returned.
PRINT = "print:"


class Returned:
    """A part of EntryTrace.

    Attributes:
        kept: values that the entry returns beside the function's own, by name.
        wanted_layers: the paths of modules whose results are to be among them.
        layers: for modules that have run the path, the class and the shapes of what they
            returned.
    """

    inputs: list[str]
    _tensors: dict[str, Tensor]

    def __init__(self) -> None:
        self.kept: dict[str, Tensor] = {}
        self.wanted_layers: frozenset[str] = frozenset()
        self.layers: list[tuple[str, str, str]] = []
        #: The inputs with which the whole model is called first, by the names of forward's
        #: parameters; None where an argument is computed, and `constants` are not tensors.
        self.called: dict[str, str | None] | None = None
        self.constants: dict[str, Any] = {}
        self._shares_numbers = False
        self._numbers: dict[tuple[str, str, str], tuple[Tensor, ...]] = {}

    def keep(self, name: str, tensor: Tensor) -> None:
        """Returns a value beside what the function returns. A module that is called again
        gets a number behind its name."""
        own, number = name, 2
        while own in self.kept:
            own, number = "%s#%d" % (name, number), number + 1
        self.kept[own] = tensor

    def note_call(self, forward: Callable[..., Any], args: tuple[Any, ...],
                  kwargs: Mapping[str, Any]) -> None:
        """Notes the first call of the whole model."""
        if self.called is None:
            inputs = {id(self._tensors[name]): name for name in self.inputs}
            with contextlib.suppress(TypeError):  # which forward() itself raises
                signature = inspect.signature(forward)
                self.called = {}
                for name, value in signature.bind(*args, **kwargs).arguments.items():
                    default = signature.parameters[name].default
                    is_default = value is default or (
                        isinstance(value, (int, float, str)) and value == default)
                    if hasattr(value, "_tensor"):
                        self.called[name] = inputs.get(id(value))
                    elif not is_default:
                        self.constants[name] = value

    def end_layer(self, path: str, kind: str, result: Any, shapes: str) -> None:
        """Notes a module whose forward() has run."""
        self.layers.append((path, kind, shapes))
        if path in self.wanted_layers:
            values = result if isinstance(result, (tuple, list)) else (
                result.values() if isinstance(result, Mapping) else [result])
            for value in values:
                if hasattr(value, "_tensor"):
                    self.keep("layer:" + path, value._tensor())

    @contextlib.contextmanager
    def shared_numbers(self) -> Iterator[None]:
        """Makes ops inside that compute the same 0-d tensors one op: an optimizer that is a
        function computes its corrections for each parameter."""
        self._shares_numbers = True
        try:
            yield
        finally:
            self._shares_numbers = False
            self._numbers.clear()
