# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's functions of elements on traced tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import pointwise as _pointwise
from .trace import Operand, as_tensor, trace_error

#: Functions of NumPy whose name is that of a tensor's method.
_METHODS = frozenset({
    "exp", "expm1", "log", "log1p", "log2", "sqrt", "sin", "cos", "tan", "tanh", "arctan",
    "floor", "ceil", "sign", "reciprocal", "square", "erf", "round", "isnan", "isfinite"})

#: Operators: the tensor's method where it is the first operand, and where the second.
_OPERATORS: Mapping[str, tuple[str, str]] = {
    **{name: ("__%s__" % own, "__r%s__" % own) for name, own in (
        ("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "truediv"),
        ("true_divide", "truediv"), ("power", "pow"), ("float_power", "pow"),
        ("matmul", "matmul"), ("logical_and", "and"), ("bitwise_and", "and"),
        ("logical_or", "or"), ("bitwise_or", "or"))},
    "less": ("__lt__", "__gt__"), "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"), "greater_equal": ("__ge__", "__le__"),
    "equal": ("__eq__", "__eq__"), "not_equal": ("__ne__", "__ne__"),
    "negative": ("__neg__", ""), "positive": ("__pos__", ""), "absolute": ("__abs__", ""),
    "fabs": ("__abs__", ""), "logical_not": ("__invert__", ""), "invert": ("__invert__", ""),
}
#: Functions of two operands, each a tensor or an array.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "maximum": _pointwise.maximum, "minimum": _pointwise.minimum}


def call(ufunc: Any, method: str, inputs: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """Does what __array_ufunc__ is asked for, or raises TraceError. Arrays stay what they
    are: beside a tensor they become constants of its type."""
    name = ufunc.__name__
    if method != "__call__" or given:
        trace_error("numpy.%s%s does not work on a traced tensor%s: its methods do, such as "
                    "x.sum(axis)" % (name, "" if method == "__call__" else "." + method,
                                     " with " + ", ".join(given) if given else ""))
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](*inputs)
    is_first = isinstance(inputs[0], Operand)
    own, *others = inputs if is_first else inputs[::-1]
    if name in _OPERATORS:
        found = getattr(own, _OPERATORS[name][0 if is_first else 1], None)
    else:
        found = getattr(as_tensor(own), name, None) if name in _METHODS else None
    if found is None:
        trace_error("numpy.%s does not exist for traced tensors: aicf.functional and "
                    "aicf.ops have the functions that do" % name)
    return found(*others)
