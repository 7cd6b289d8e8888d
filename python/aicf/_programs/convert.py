# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays as people have them, as an input of a plan: tables of pandas, other layouts and
other element types. What could lose a value is an error; what cannot is noted once."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .._base.dtypes import NUMPY_TYPES
from ..errors import DTypeMismatchError, InvalidArgumentError
from .signature import Spec
from .sizes import note

if TYPE_CHECKING:
    from ..program import Program


def is_table(value: Any) -> bool:
    """Whether it is a DataFrame or a Series, of pandas or polars."""
    return hasattr(value, "to_numpy") and not hasattr(value, "__dlpack__")


def array_of(value: Any, name: str) -> Any:
    """Returns a table's values as a NumPy array, and another value as it is. Raises
    InvalidArgumentError: a column that holds no numbers."""
    if not is_table(value):
        return value
    array = value.to_numpy()
    if array.dtype.kind not in "fiub":
        kinds: Any = getattr(value, "dtypes", None)
        columns = [str(c) for c, k in (kinds.items() if hasattr(kinds, "items") else ())
                   if getattr(k, "kind", "O") not in "fiub"]
        try:
            if array.dtype.kind in "mM":
                raise ValueError("dates are not numbers")
            return array.astype("f8")  # columns of several types of numbers
        except (TypeError, ValueError):
            raise InvalidArgumentError(
                "%r has values that are not numbers%s: encode them, by pandas.get_dummies "
                "or .astype(\"category\").cat.codes" % (
                    name, ", in the columns " + ", ".join(columns) if columns else "")) \
                from None
    return array


def _is_torchs(value: Any) -> bool:
    return type(value).__module__ == "torch" and hasattr(value, "is_cuda")


def _numpy_type(array: Any) -> Any:
    """Returns the element type of an array of NumPy or PyTorch as NumPy's, or None: other
    arrays, and types that NumPy does not have, stay as they are."""
    import numpy
    if isinstance(array, numpy.ndarray):
        return array.dtype
    if not _is_torchs(array) or array.dtype not in _torch_types():
        return None
    return numpy.dtype(_torch_types()[array.dtype])


@functools.cache
def _torch_types() -> dict[Any, str]:
    import torch
    return {getattr(torch, name): name for name in (
        "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")}


def as_type(array: Any, wanted: Any) -> Any:
    """Returns an array of NumPy or PyTorch, where it lies, dense and of a type of NumPy's."""
    if not _is_torchs(array):
        import numpy
        return numpy.asarray(array, wanted, order="C")
    names = {name: dtype for dtype, name in _torch_types().items()}
    return array.detach().to(names[wanted.name]).contiguous()


def host_of(array: Any) -> Any:
    """Returns an aicf.Array as NumPy's; bf16, which that does not have, as f32."""
    return array.numpy("f4") if array.dtype == "bf16" else array.numpy()


def values_of(program: Program) -> Iterator[tuple[str, Any]]:
    """Yields the values that a model has now, by name, one at a time on the host."""
    for name in program._model_names():
        yield name, host_of(program.get(name))


class Converter:
    """Converts NumPy arrays to the element types of inputs. It notes each input once."""

    def __init__(self, specs: Mapping[str, Spec]) -> None:
        self.types = {name: NUMPY_TYPES[spec.dtype] for name, spec in specs.items()
                      if spec.dtype in NUMPY_TYPES}
        self._noted: set[str] = set()

    def type_of(self, name: str, array: Any) -> Any:
        """Returns the type that the input takes, if the array is to be converted to it
        without a loss but of digits, or else None. Raises DTypeMismatchError."""
        import numpy
        wanted = numpy.dtype(self.types[name]) if name in self.types else None
        own = _numpy_type(array)
        if wanted is None or own is None or own == wanted or own.kind not in "fiub":
            return None
        if wanted.kind in "ib" and own.kind == "f":
            raise DTypeMismatchError(
                "%r is %s, expected %s: class numbers and indices are integers, such as "
                "%s.astype(\"%s\")" % (name, own, wanted, name, wanted))
        if wanted.kind in "ib" and 0 not in array.shape:
            low, high = int(array.min()), int(array.max())
            least, most = (0, 1) if wanted.kind == "b" else (
                numpy.iinfo(wanted).min, numpy.iinfo(wanted).max)
            if low < least or high > most:
                raise DTypeMismatchError(
                    "%r is %s, expected %s, and has %d, which does not fit"
                    % (name, own, wanted, low if low < least else high))
        if name not in self._noted:
            self._noted.add(name)
            note("%r is %s: converted to %s" % (name, own, wanted))
        return wanted

    def __call__(self, name: str, value: Any) -> Any:
        """Returns the value as the input takes it: dense, and of its type."""
        import numpy
        array = array_of(value, name)
        wanted = self.type_of(name, array)
        if wanted is not None:
            return as_type(array, wanted)
        if isinstance(array, numpy.ndarray) and not array.flags.c_contiguous:
            return numpy.asarray(array, order="C")
        return array

    def all(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self(name, value) for name, value in arrays.items()}
