# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy arrays in a trace, which become constants of the plan.

An array that is too large for a plan becomes a state without initialiser. The program
writes it, and checkpoints hold it.
"""

from __future__ import annotations

import hashlib
import weakref
from typing import TYPE_CHECKING, Any

from .._base.dtypes import dtype_name
from .._runtime import MAX_CONSTANT_BYTES, MAX_RANK
from .trace import current_trace, emit1, trace_error

if TYPE_CHECKING:
    from .tensor import Tensor

FLOATS, INTEGERS = ("f16", "bf16", "f32", "f64"), ("i32", "i64")


def is_array(value: Any) -> bool:
    """Whether the value is an array or a scalar of NumPy."""
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


class Large:
    """The array of a constant that is too large for a plan. Equal ones are one object."""

    role = "state"
    zero_row: int | None = None

    def __init__(self, name: str, array: Any) -> None:
        self.name, self.value = name, array
        self.shape: tuple[int, ...] = array.shape
        self.dtype = dtype_name(array.dtype)

    def attributes(self) -> dict[str, Any]:
        return {"aicf.init": "none"}


_large: weakref.WeakValueDictionary[str, Large] = weakref.WeakValueDictionary()


def _dense(value: Any) -> Any:
    """Returns an array that a plan may hold: little-endian, of an element type that AICF
    has. Raises TraceError."""
    import numpy as np
    try:
        array = np.asarray(value)
        dtype_name(array.dtype)
    except (TypeError, ValueError) as error:
        trace_error("an array cannot be a constant: %s" % error)
    if 0 in array.shape or array.ndim > MAX_RANK:
        trace_error("a constant of shape %s: expected up to %d dimensions of 1 or more"
                    % (array.shape, MAX_RANK))
    return np.asarray(array, array.dtype.newbyteorder("<"))


def _is_large(array: Any) -> bool:
    """Whether an array is too large for a plan, which holds a repeated number once."""
    bits = array.reshape(-1).view("u%d" % array.itemsize)
    return array.nbytes > MAX_CONSTANT_BYTES and bool(bits.min() != bits.max())


def elements(value: Any) -> Any:
    """Returns an array as an attribute. Raises TraceError."""
    from .. import _compiler
    array = _dense(value)
    is_one = array.nbytes > MAX_CONSTANT_BYTES and not _is_large(array)
    data = array.reshape(-1)[:1] if is_one else array
    return _compiler.Elements(list(array.shape), dtype_name(array.dtype), data.tobytes())


def constant(value: Any) -> Tensor:
    """Returns a NumPy array as a traced tensor of the array's element type.

    An array of up to 1 MB is a constant of the plan. A larger one is a state: the program
    writes it when it starts, and checkpoints hold it. Raises TraceError.
    """
    array = _dense(value)
    if not _is_large(array):
        return emit1("aicf.constant", [], {"value": elements(array)})
    kept = array.copy(order="C")  # as the program writes it
    kept.flags.writeable = False
    text = "%s%s" % (kept.shape, kept.dtype.str)
    digest = hashlib.sha256(text.encode() + kept.tobytes()).hexdigest()[:32]
    name = "constant." + digest
    owner = _large.get(name)
    if owner is None:
        owner = _large[name] = Large(name, kept)
    return current_trace("constant").of(owner)


def constant_beside(array: Any, dtype: str) -> Tensor:
    """Returns a constant that goes with a tensor of `dtype`. An array takes that type if
    a number of Python would, too."""
    import numpy as np
    kind = array.dtype.kind
    if dtype in FLOATS and kind in "fiub":
        narrow = {"f16": "f2", "f64": "f8"}.get(dtype, "f4")
        with np.errstate(over="ignore"):  # the check is below
            made = np.asarray(array).astype(narrow)
        if (np.isinf(made) & np.isfinite(array)).any():
            trace_error("the array has finite numbers that are too large for %s" % dtype)
        return constant(made).astype(dtype)
    if dtype in INTEGERS and kind in "iu":
        limits = np.iinfo("i4" if dtype == "i32" else "i8")
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            trace_error("the array has numbers that are out of the range of %s" % dtype)
        return constant(np.asarray(array).astype("i4" if dtype == "i32" else "i8"))
    return constant(array)
