# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays as people have them, as an input of a plan: tables of pandas, other layouts and
other element types. What could lose a value is an error; what cannot is noted once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._base.dtypes import NUMPY_TYPES
from ..errors import DTypeMismatchError, InvalidArgumentError
from .signature import Spec
from .sizes import note


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
        if wanted is None or not isinstance(array, numpy.ndarray) \
                or array.dtype == wanted or array.dtype.kind not in "fiub":
            return None
        if wanted.kind in "ib" and array.dtype.kind == "f":
            raise DTypeMismatchError(
                "%r is %s, expected %s: class numbers and indices are integers, such as "
                "%s.astype(\"%s\")" % (name, array.dtype, wanted, name, wanted))
        if wanted.kind in "ib" and array.size:
            low, high = int(array.min()), int(array.max())
            least, most = (0, 1) if wanted.kind == "b" else (
                numpy.iinfo(wanted).min, numpy.iinfo(wanted).max)
            if low < least or high > most:
                raise DTypeMismatchError(
                    "%r is %s, expected %s, and has %d, which does not fit"
                    % (name, array.dtype, wanted, low if low < least else high))
        if name not in self._noted:
            self._noted.add(name)
            note("%r is %s: converted to %s" % (name, array.dtype, wanted))
        return wanted

    def __call__(self, name: str, value: Any) -> Any:
        """Returns the value as the input takes it: dense, and of its type."""
        import numpy
        array = array_of(value, name)
        wanted = self.type_of(name, array)
        if wanted is not None:
            return numpy.ascontiguousarray(array, wanted)
        if isinstance(array, numpy.ndarray) and not array.flags.c_contiguous:
            return numpy.ascontiguousarray(array)
        return array

    def all(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self(name, value) for name, value in arrays.items()}
