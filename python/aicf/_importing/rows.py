# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the imports of PyTorch's modules and of JAX's steps share: tables with a row for each
op of theirs, which modules fill, a family each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

RowType = TypeVar("RowType")
Function = Callable[..., Any]


class Unsupported(Exception):
    """What an op cannot do here, in words that follow its name."""


def adds_to(table: dict[str, RowType], names: Sequence[str], row: Callable[[Function], RowType]
            ) -> Callable[[Function], Function]:
    """Returns a decorator that adds a row of the function to a table, for each name."""
    def add(function: Function) -> Function:
        for name in names:
            assert name not in table, name
            table[name] = row(function)
        return function
    return add


def import_all(package: str | None, modules: Iterable[str]) -> None:
    """Imports modules of a package, which add their rows to its tables."""
    for module in modules:
        importlib.import_module("." + module, package)
