# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: functions of elements, comparisons, choices and casts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import ops
from .._tracing import functions as _functions, scans as _scans
from .._tracing.exact import fmod
from .._tracing.pointwise import (broadcast, broadcast_all, clamp, compare, divide,
                                  maximum, minimum, multiply, power, subtract, where)
from .._tracing.pointwise import add as sum_of
from .._tracing.tensor import Tensor
from ._table import Call, Unsupported, is_constant, primitive, uniform


def _two(function: Callable[[Any, Any], Tensor]) -> Callable[..., Tensor]:
    """A function of two operands in the type of the result."""
    def row(call: Call, a: Any, b: Any) -> Tensor:
        return whole(call, function(call.operand(a), call.operand(b)))
    return row


def whole(call: Call, made: Tensor) -> Tensor:
    """In the result's shape: a number has lost that of its constant."""
    return broadcast(made, call.shape)


primitive("add", "add_any", of_bits=True)(_two(sum_of))
primitive("sub", of_bits=True)(_two(subtract))
primitive("mul", of_bits=True)(_two(multiply))


@primitive("min")
def _min(call: Call, a: Any, b: Any) -> Tensor:
    if call.dtype == "i1":
        return whole(call, ops.logical_and(*broadcast_all([call.tensor(v) for v in (a, b)])))
    return _two(minimum)(call, a, b)


@primitive("max")
def _max(call: Call, a: Any, b: Any) -> Tensor:
    if call.dtype == "i1":
        return whole(call, ops.logical_or(*broadcast_all([call.tensor(v) for v in (a, b)])))
    for number, other in ((uniform(a), b), (uniform(b), a)):
        if number == -math.inf:
            return whole(call, call.tensor(other))
        if number == 0 and call.is_float:
            return whole(call, call.tensor(other).relu())
    return _two(maximum)(call, a, b)


@primitive("div", limits="of integers exact up to 2^53")
def _div(call: Call, a: Any, b: Any) -> Tensor:
    if not call.is_float:
        made = _whole_quotient(call, a, b).astype(call.dtype)
        if uniform(b) in (None, -1):  # the quotient of the least number would not have the type
            made = where(call.tensor(b) == -1, ops.neg(call.tensor(a)), made)
        return whole(call, made)
    return _two(divide)(call, a, b)


def _whole_quotient(call: Call, a: Any, b: Any) -> Tensor:
    """Of integers, in f64; -1 where b is 0, as XLA has it."""
    by = divide(*(call.tensor(v).astype("f64") for v in (a, b)))
    made = where(by < 0, by.ceil(), by.floor())
    if uniform(b):
        return made
    return made.masked_fill(broadcast(call.tensor(b) == 0, made.shape), -1.0)


@primitive("rem", limits="of integers exact up to 2^53")
def _rem(call: Call, a: Any, b: Any) -> Tensor:
    made = fmod(call.tensor(a), call.tensor(b))
    if not call.is_float and uniform(b) in (None, 0):  # XLA's rest of a division by 0
        made = where(call.tensor(b) == 0, call.tensor(a), made)
    return whole(call, made)


@primitive("pow", limits="of floats")
def _pow(call: Call, base: Any, exponent: Any) -> Tensor:
    number = uniform(exponent)
    if number is not None and math.isfinite(number):
        is_whole = isinstance(number, float) and number == int(number) \
            and abs(number) < 2 ** 31
        if abs(number) == 0.5:  # a root, but of -inf as of inf, and of -0 as of 0
            own = call.tensor(base) + 0.0
            base = own.masked_fill(own == -math.inf, math.inf)
        return whole(call, power(call.tensor(base), int(number) if is_whole else number))
    if not is_constant(exponent) and exponent.dtype != call.dtype:
        exponent = exponent.astype(call.dtype)
    return _two(power)(call, base, exponent)


@primitive("integer_pow")
def _integer_pow(call: Call, x: Any) -> Tensor:
    exponent = int(call.params["y"])
    if exponent < 0 and not call.is_float:
        raise Unsupported("gives a fraction of integers")
    tensor = call.tensor(x)
    if exponent == 1:
        return tensor
    return power(tensor, exponent) if exponent else ops.fill_like(tensor, value=1.0)


def _of_one_op() -> None:
    """Functions of one operand that have an op of their own."""
    def row(function: Callable[[Any], Tensor]) -> Callable[..., Tensor]:
        return lambda call, x: function(call.tensor(x))
    for name in ("exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh",
                 "erf", "erfc", "floor", "ceil", "neg", "sign", "abs", "stop_gradient"):
        primitive(name)(row(getattr(ops, name)))
    primitive("logistic")(row(ops.sigmoid))
    primitive("square")(row(lambda x: x * x))
    primitive("one_minus_square")(row(lambda x: (x + 1.0) * (1.0 - x)))


_of_one_op()


def _composed() -> None:
    """Functions that several ops are: in f32 where the type has 16 bits."""
    def row(function: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
        return lambda call, x: function(
            call.tensor(x).astype("f64" if call.dtype == "f64" else "f32")).astype(call.dtype)
    for name in ("tan", "cbrt", "sinh", "cosh", "asinh", "acosh", "atanh", "asin", "acos",
                 "atan"):
        primitive(name)(row(getattr(_functions, name)))
    primitive("exp2")(row(ops.exp2))
    primitive("atan2")(lambda call, a, b: whole(call, ops.atan2(*broadcast_all(
        [call.tensor(v).astype("f64" if call.dtype == "f64" else "f32") for v in (a, b)]
    )).astype(call.dtype)))
    primitive("log2")(row(lambda x: ops.log(x) * (1 / math.log(2))))


_composed()


@primitive("round")
def _round(call: Call, x: Any) -> Tensor:
    tensor = call.tensor(x)
    if int(call.params["rounding_method"]):  # RoundingMethod.TO_NEAREST_EVEN
        return ops.round(tensor)
    size = ops.abs(tensor)
    below = size.floor()
    return ops.sign(tensor) * (below + (size - below >= 0.5).astype(call.dtype))


@primitive("is_finite")
def _is_finite(call: Call, x: Any) -> Tensor:
    return call.tensor(x).abs() < math.inf


@primitive("copy", "copy_p", "optimization_barrier", "reduce_precision", "pvary",
           limits="makes no call", of_bits=True)
def _same(call: Call, *values: Any) -> Any:
    if "mantissa_bits" in call.params:
        raise Unsupported("rounds to bits that no element type has")
    return list(values)


@primitive("convert_element_type")
def _convert(call: Call, x: Any) -> Tensor:
    return call.tensor(x).astype(call.dtype)


@primitive("tie", limits="makes no call")
def _tie(call: Call, x: Any, y: Any) -> Any:
    return y


@primitive("clamp")
def _clamp(call: Call, low: Any, x: Any, high: Any) -> Tensor:
    return clamp(call.tensor(x), call.operand(low), call.operand(high))


# Comparisons and logic

#: False comes before true.
_OF_FLAGS: dict[str, Callable[..., Tensor]] = {
    "<": lambda a, b: ~a & b, "<=": lambda a, b: ~a | b, ">": lambda a, b: a & ~b,
    ">=": lambda a, b: a | ~b}


def _comparisons() -> None:
    mirrored = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

    def row(sign: str) -> Callable[..., Tensor]:
        def compared(call: Call, a: Any, b: Any) -> Tensor:
            if is_constant(a):
                a, b, own = b, a, mirrored[sign]
            else:
                own = sign
            other = uniform(b)
            if other is None or other != other or isinstance(other, bool):
                other = call.tensor(b)
            if own in _OF_FLAGS and call.tensor(a).dtype == "i1":
                return whole(call, _OF_FLAGS[own](*broadcast_all(
                    [call.tensor(v) for v in (a, other)])))
            return whole(call, compare(call.tensor(a), own, other))
        return compared
    for name, sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"),
                       ("ge", ">=")):
        primitive(name, of_bits=name in ("eq", "ne"))(row(sign))


_comparisons()


@primitive("lt_to")
def _is_before(call: Call, a: Any, b: Any) -> Tensor:
    """In an order in which NaN is the last number."""
    return whole(call, _scans.is_less(*broadcast_all([call.tensor(v) for v in (a, b)])))


@primitive("le_to")
def _is_not_behind(call: Call, a: Any, b: Any) -> Tensor:
    return whole(call, ~_scans.is_less(*broadcast_all([call.tensor(v) for v in (b, a)])))


@primitive("select_n", of_bits=True)
def _select_n(call: Call, which: Any, *cases: Any) -> Any:
    """cases[which], element by element; false is 0."""
    if is_constant(which) and uniform(which) is not None:
        return cases[int(uniform(which))]
    index = call.tensor(which)
    chosen = cases[0]
    for number, case in enumerate(cases[1:], 1):
        is_it = index if index.dtype == "i1" else index == number
        chosen = _chosen(call, is_it, case, chosen)
    return call.tensor(chosen)


def _chosen(call: Call, mask: Tensor, a: Any, b: Any) -> Tensor:
    """`a` where the mask is true. A number is a field of the op."""
    for value, other, inverted in ((a, b, False), (b, a, True)):
        number = uniform(value)
        if number is not None and not isinstance(number, bool) and number == number:
            return call.tensor(other).masked_fill(~mask if inverted else mask, number) \
                if call.dtype != "i1" else where(mask, call.tensor(a), call.tensor(b))
    return where(mask, call.tensor(a), call.tensor(b))
