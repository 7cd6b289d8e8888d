# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and Python numbers that values of tensors decide.

A graph has no values, so that torch.export stops at `if mask.all():`. Here each decision of
a run in PyTorch is noted, and the export is given the same ones. Each leaves an assertion
in the graph that its tensor has this value:

    the tensor depends on constants alone    computed: the decision is always this one
    the other decision raises an error       a check of the user's: left out, and named
    else                                     refused: it may be another one in the next call
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

#: What the assertions of decisions are called; a number follows.
MARK = "aicf decision "
#: Part of a number that is rounding, where it is asked for once more.
_ROUNDING = 1e-5
#: Runs of the module to find out which decisions are checks.
_MOST_RUNS = 32


@dataclass
class Decision:
    """A value that Python was given.

    Attributes:
        filename, line: where.
        kind: the method or function of torch's.
        value: a bool, a number, or a list of such.
    """

    filename: str
    line: int
    kind: str
    value: Any

    @property
    def place(self) -> str:
        return "%s:%d" % (self.filename, self.line)


def _is_value(kind: str, operands: tuple[Any, ...], value: Any) -> Any:
    """A 0-d tensor: whether the operands still give the value."""
    x = operands[0]
    if kind in ("equal", "allclose"):
        other = operands[1]
        if x.shape != other.shape:
            return None
        same = (x == other) if kind == "equal" else torch.isclose(x, other, *operands[2:])
        return same.all() if value else ~same.all()
    if kind == "__bool__":
        return (x != 0).reshape(()) if value else (x == 0).reshape(())
    if kind == "tolist" and x.is_floating_point():
        given = torch.tensor(value, dtype=x.dtype)
        return ((x - given).abs() <= given.abs() * _ROUNDING).all()
    if kind == "tolist":
        return (x == torch.tensor(value, dtype=x.dtype)).all()
    if isinstance(value, float) and math.isnan(value):
        return x.isnan().reshape(())
    if isinstance(value, float) and math.isfinite(value):
        # What PyTorch computes and what the step does differ by roundings.
        return ((x - value).abs() <= abs(value) * _ROUNDING).reshape(())
    return (x == value).reshape(())


class Decisions:
    """Those of one run, in their order at each place."""

    def __init__(self) -> None:
        self.made: list[Decision] = []

    def record(self, run: Callable[[], Any]) -> Any:
        """What run() returns; its decisions are the ones that count."""
        self.made = []

        def decide(kind: str, where: tuple[str, int], function: Any, *operands: Any,
                   **named: Any) -> Any:
            value = function(*operands, **named)
            self.made.append(Decision(*where, kind, value))
            return value
        with _asked(decide):
            return run()

    def is_check(self, number: int, run: Callable[[], Any]) -> bool:
        """Whether the other decision raises an error."""
        if number >= _MOST_RUNS or not isinstance(self.made[number].value, bool):
            return False
        flipped = -1

        def decide(kind: str, where: tuple[str, int], function: Any, *operands: Any,
                   **named: Any) -> Any:
            nonlocal flipped
            flipped += 1
            value = function(*operands, **named)
            return not value if flipped == number else value
        try:
            with _asked(decide):
                run()
        except Exception:
            return True
        return False

    @contextlib.contextmanager
    def repeated(self) -> Iterator[None]:
        """Within it the same decisions are made; each leaves an assertion."""
        queues: dict[tuple[str, int, str], list[int]] = {}
        for number, decision in enumerate(self.made):
            queues.setdefault((decision.filename, decision.line, decision.kind),
                              []).append(number)

        def decide(kind: str, where: tuple[str, int], function: Any, *operands: Any,
                   **named: Any) -> Any:
            queue = queues.get((*where, kind))
            if not queue:
                return function(*operands, **named)
            number = queue.pop(0)
            value = self.made[number].value
            is_value = _is_value(kind, operands, value)
            if is_value is not None:
                torch.ops.aten._assert_async.msg(is_value, MARK + str(number))
            return value
        with _asked(decide):
            yield


@contextlib.contextmanager
def _asked(decide: Callable[..., Any]) -> Iterator[None]:
    """Within it, what gives Python a tensor's value calls decide(name, (file, line),
    PyTorch's function, *its arguments)."""
    depth = 0

    def wrapped(kind: str, function: Any) -> Any:
        def ask(*args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            if depth:  # PyTorch's own functions may call each other
                return function(*args, **kwargs)
            frame = sys._getframe(1)
            depth += 1
            try:
                return decide(kind, (frame.f_code.co_filename, frame.f_lineno), function,
                              *args, **kwargs)
            finally:
                depth -= 1
        return ask
    names = ("__bool__", "__int__", "__float__", "__index__", "item", "tolist", "equal",
             "allclose")
    # The export's tensors have some of their own.
    places = [(kind, name) for kind in (torch.Tensor, FakeTensor) for name in names
              if kind is torch.Tensor or name in kind.__dict__]
    places += [(torch, "equal"), (torch, "allclose")]
    before = [(place, name, place.__dict__.get(name)) for place, name in places]
    for place, name in places:
        setattr(place, name, wrapped(name, getattr(place, name)))
    try:
        yield
    finally:
        for place, name, function in before:
            if function is None:  # it was a base class's
                delattr(place, name)
            else:
                setattr(place, name, function)
