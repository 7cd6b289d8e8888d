# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of PyTorch's ops: what each of them is made of here.

A row belongs to one overload of an aten op, as torch.export names it. The importer
keeps the ops that have a row and has PyTorch decompose the others. The page
"PyTorch's operations" is made from this table. No op is in here: they are in the modules
beside this one, by family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._base.dtypes import NUMPY_TYPES
from .._importing.rows import Unsupported as Unsupported
from .._importing.rows import adds_to, import_all
from .._tracing.pointwise import FLOATS
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor


@dataclass(frozen=True)
class Row:
    """How one overload is said.

    Attributes:
        function: takes a Call and the op's arguments; returns a tensor, or a tuple.
        limits: what does not hold, in words for the page; "" if all does.
        takes_numbers: a constant of rank 0 comes as a Python number.
        is_linear: whether it moves or adds elements alone, so that it takes complex numbers
            by their parts.
    """

    function: Callable[..., Any]
    limits: str = ""
    takes_numbers: bool = False
    is_linear: bool = False


TABLE: dict[str, Row] = {}
#: Where an operand or the result is complex.
COMPLEX: dict[str, Row] = {}


#: The modules that fill both.
_FAMILIES = ("_complex", "_lookup_ops", "_loss_ops", "_order_ops", "_place_ops",
             "_pointwise_ops", "_random_ops", "_row_ops", "_view_ops")


def fill_tables() -> None:
    """Adds the rows of all modules."""
    import_all(__package__, _FAMILIES)


def aten(*overloads: str, limits: str = "", takes_numbers: bool = False,
         is_linear: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a row for each overload ("add.Tensor" is aten.add.Tensor)."""
    return adds_to(TABLE, overloads,
                   lambda function: Row(function, limits, takes_numbers, is_linear))


def complex_aten(*overloads: str, limits: str = ""
                 ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a row for each overload, for complex numbers."""
    return adds_to(COMPLEX, overloads, lambda function: Row(function, limits))


@dataclass
class Call:
    """One call of an op in a graph.

    Attributes:
        shape, dtype: of the result, as PyTorch has it; of the first of several.
        common: the element type that PyTorch computes the first two operands in.
        needs_gradient: whether a gradient goes through it.
        keeps_all: whether dropout keeps everything, as when a step is verified.
        is_complex: whether the result is complex; `dtype` is the type of its parts.
        layout: strides, offset and shape that PyTorch's first operand has.
    """

    shape: tuple[int, ...] = ()
    dtype: str = ""
    common: str = ""
    needs_gradient: bool = True
    keeps_all: bool = False
    is_complex: bool = False
    layout: tuple[tuple[int, ...], int, tuple[int, ...]] = ((), 0, ())

    def operand(self, value: Any, dtype: str = "") -> Any:
        """A tensor in the type of the result, or in `dtype`; a number as it is."""
        if value is None or isinstance(value, (bool, int, float)):
            return value
        tensor = as_tensor(value)
        return tensor.astype(dtype or self.dtype)

    def tensor(self, value: Any, dtype: str = "") -> Tensor:
        """The same, where a number becomes a constant."""
        import numpy as np
        if isinstance(value, (bool, int, float)):
            value = np.asarray(value, NUMPY_TYPES[dtype or self.dtype])
        result: Tensor = self.operand(value, dtype)
        return result

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


def lower_triangle(shape: tuple[int, ...], diagonal: int = 0) -> Any:
    """True in the last two dimensions up to a diagonal; NumPy's."""
    import numpy as np
    return np.tri(shape[-2], shape[-1], diagonal) != 0
