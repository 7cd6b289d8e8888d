# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types and shapes, in all the ways in which users may write them."""

from __future__ import annotations

from typing import Any

from .. import _runtime
from .._runtime import MAX_RANK

DTYPES = _runtime.dtypes()
_ALIASES = {"float16": "f16", "half": "f16", "bfloat16": "bf16", "float32": "f32",
            "float": "f32", "float64": "f64", "double": "f64", "int32": "i32",
            "int": "i32", "int64": "i64", "long": "i64", "bool": "i1",
            "bool_": "i1"}

#: An element type: its name ("f32"), NumPy's or PyTorch's object, or their names.
DType = Any


def dtype_name(dtype: DType) -> str:
    """Returns the name of an element type. Raises TypeError if AICF does not have it."""
    if isinstance(dtype, str):
        name = dtype
    else:  # numpy.float32, numpy.dtype("f4"), torch.float32, jax.numpy.float32
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) \
            or str(dtype)
        name = name.rpartition(".")[2]
    name = _ALIASES.get(name, name)
    if name not in DTYPES:
        raise TypeError("%r is not an element type of AICF: expected one of %s"
                        % (dtype, ", ".join(DTYPES)))
    return name


def rounded(number: float, dtype: str) -> float:
    """Returns a number, rounded if `dtype` is a 16-bit float type."""
    import numpy as np
    if dtype not in ("f16", "bf16"):
        return number
    with np.errstate(over="ignore"):  # to infinity
        if dtype == "f16":
            return float(np.float16(number))
        single = np.float32(number)
        bits = int(single.view("u4"))
        bits += 0x7fff + (bits >> 16 & 1)  # to nearest, ties to even
        return float(np.uint32(bits & 0xffff0000).view("f4"))


def check_shape(shape: Any) -> tuple[int, ...]:
    """Returns a shape as a tuple. Raises TypeError, ValueError."""
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    try:
        dims = tuple(to_index(dim) for dim in shape)
    except TypeError:
        if isinstance(shape, (tuple, list)) and any(dim is None for dim in shape):
            raise TypeError("%r has a dimension of None, but shapes are fixed: give the "
                            "usual number of rows. Other numbers are compiled when they "
                            "come" % (tuple(shape),)) from None
        raise TypeError("%r is not a shape: expected a sequence of ints"
                        % (shape,)) from None
    if len(dims) > MAX_RANK:
        raise ValueError("a shape of %d dimensions, expected at most %d"
                         % (len(dims), MAX_RANK))
    for dim in dims:
        if not 1 <= dim < 2**31:
            raise ValueError("dimension %d of %r: expected 1 to 2^31 - 1"
                             % (dim, dims))
    return dims


def to_index(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError
    return int(value.__index__())


#: NumPy has no bf16: numbers of it are made in f32 and cast.
NUMPY_TYPES = {"f16": "f2", "bf16": "f4", "f32": "f4", "f64": "f8", "i32": "i4",
               "i64": "i8", "i1": "?"}
