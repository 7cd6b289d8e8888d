# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy arrays in a trace: constants of the plan.

What is too large for a plan is a state without initialiser, which the program writes
and checkpoints hold.
"""

from __future__ import annotations

import hashlib
import weakref
from typing import TYPE_CHECKING, Any

from ._dtypes import dtype_name
from ._runtime import MAX_CONSTANT_BYTES
from ._tracing import current_trace, emit1, trace_error

if TYPE_CHECKING:
    from ._tensor import Tensor

FLOATS, INTEGERS = ("f16", "bf16", "f32", "f64"), ("i32", "i64")


def is_array(value: Any) -> bool:
    """An array or a scalar of NumPy's."""
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


class Large:
    """The array of a constant that no plan holds: one object for equal ones."""

    role = "state"

    def __init__(self, name: str, array: Any) -> None:
        self.name, self.value = name, array
        self.shape: tuple[int, ...] = array.shape
        self.dtype = dtype_name(array.dtype)

    def attributes(self) -> dict[str, Any]:
        return {"aicf.init": "none"}


_large: weakref.WeakValueDictionary[str, Large] = weakref.WeakValueDictionary()


def elements(value: Any) -> Any:
    """An array as an attribute. Raises TraceError."""
    import numpy as np

    from . import _compiler
    try:
        array = np.asarray(value)
        name = dtype_name(array.dtype)
    except (TypeError, ValueError) as error:
        trace_error("a constant: %s" % error)
    if 0 in array.shape or array.ndim > 8:
        trace_error("a constant of shape %s: expected up to 8 dimensions of 1 or more"
                    % (array.shape,))
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    first = array.reshape(-1)[:1].tobytes()
    data = array.tobytes()
    if len(data) > MAX_CONSTANT_BYTES and data == first * array.size:
        data = first  # one number that repeats
    return _compiler.Elements(list(np.shape(value)), name, data)


def constant(array: Any) -> Tensor:
    """A NumPy array, of the element type that it has, as a traced tensor.

    Up to 1 MB is a constant of the plan. A larger one is a state that the program
    writes when it starts, and that its checkpoints hold. Raises TraceError.
    """
    value = elements(array)
    if value.bytes <= MAX_CONSTANT_BYTES:
        return emit1("aicf.constant", [], {"value": value})
    import numpy as np
    kept = np.array(array)
    kept.flags.writeable = False
    text = "%s%s" % (kept.shape, kept.dtype.str)
    digest = hashlib.sha256(text.encode() + kept.tobytes()).hexdigest()[:32]
    name = "constant." + digest
    owner = _large.get(name)
    if owner is None:
        owner = _large[name] = Large(name, kept)
    return current_trace("constant").of(owner)


def constant_beside(array: Any, dtype: str) -> Tensor:
    """A constant that goes with a tensor of `dtype`: an array has that type where
    Python's number would, too."""
    import numpy as np
    kind = array.dtype.kind
    if dtype in FLOATS and kind in "fiub":
        narrow = {"f16": "f2", "f64": "f8"}.get(dtype, "f4")
        made = constant(np.asarray(array).astype(narrow))
        return made.astype(dtype)
    if dtype in INTEGERS and kind in "iu":
        limits = np.iinfo("i4" if dtype == "i32" else "i8")
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            trace_error("the array has numbers that no %s has" % dtype)
        return constant(np.asarray(array).astype("i4" if dtype == "i32" else "i8"))
    return constant(array)
