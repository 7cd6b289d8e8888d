# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, comparisons and choices of traced tensors, arrays and numbers.

Operands broadcast by NumPy's rule. If two have different kinds of elements, i1 becomes
the other's type, and an integer becomes the other's float type. i32 becomes i64 beside
i64. No float type becomes another one. A number takes the tensor's type. It is a field of
the op, or a constant if the field would round it. A float beside integers makes them f32.
All functions raise TraceError.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import ops
from .._base.dtypes import rounded
from .constants import constant_beside, is_array
from .trace import as_tensor, trace_error

if TYPE_CHECKING:
    from .tensor import Tensor

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i32", "i64")


def is_number(value: Any) -> bool:
    """Whether the value is a number of Python or a scalar of NumPy, and not a bool."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def plain(value: Any) -> int | float:
    """Returns a number as Python's int or float, because NumPy's wrap and round."""
    return int(value) if isinstance(value, numbers.Integral) else _field(value)


def _field(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an int or a Fraction
        return -math.inf if value < 0 else math.inf


def finite(value: Any) -> float:
    number = _field(plain(value))
    if not math.isfinite(number):
        trace_error("%r in a traced expression: expected a finite number" % (value,))
    return number


def _is_special(value: Any) -> bool:
    """Whether a float is infinite or NaN, which no field of arithmetic is. A number that is
    too large for a float is a mistake."""
    return isinstance(value, float) and not math.isfinite(value)


def beside_number(tensor: Tensor, number: int | float) -> Tensor:
    """Returns the tensor in the type that it has beside a number: integers become f32
    beside a float, and i1 becomes i64 or f32."""
    if tensor.dtype in FLOATS:
        return tensor
    if not isinstance(number, int) and not math.isinf(number):
        return tensor.astype("f32")
    return tensor if tensor.dtype in INTEGERS else tensor.astype("i64")


def _is_rounded(tensor: Tensor, number: Any) -> bool:
    """Whether the number is an integer that a field, which is an f64, would round."""
    return tensor.dtype not in FLOATS and isinstance(number, int) \
        and abs(number) < 2 ** 63 and int(float(number)) != number


def _with_number(op: Callable[..., Tensor], of_tensors: Callable[..., Tensor],
                 tensor: Any, value: Any, field: str) -> Tensor:
    """Returns op(tensor, field=value), or of_tensors(tensor, constant)."""
    import numpy as np
    tensor, number = as_tensor(tensor), plain(value)
    if _is_rounded(tensor, number):
        return binary(of_tensors, tensor, np.asarray(number, "i8"))
    if _is_special(value):
        return binary(of_tensors, _as_float(tensor), np.asarray(float(number)))
    return op(beside_number(tensor, number), **{field: finite(number)})


# Broadcasting

def broadcast(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Repeats `tensor` to `shape` by NumPy's rule. Raises TraceError."""
    own = tensor.shape
    missing = len(shape) - len(own)
    if missing < 0 or any(d not in (1, to) for d, to in zip(own, shape[missing:])):
        trace_error("%s does not broadcast to %s" % (tensor, shape))
    return tensor if own == tuple(shape) else ops.broadcast(tensor, shape=shape)


def _common_shape(tensors: Sequence[Tensor]) -> tuple[int, ...]:
    rank = max(len(t.shape) for t in tensors)
    common = [1] * rank
    for tensor in tensors:
        for i, size in enumerate(tensor.shape, rank - len(tensor.shape)):
            if size != 1 and common[i] not in (1, size):
                trace_error("%s do not broadcast" % " and ".join(map(str, tensors)))
            common[i] = max(common[i], size)
    return tuple(common)


def broadcast_all(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Returns the tensors, broadcast to their common shape."""
    shape = _common_shape(tensors)
    return [broadcast(tensor, shape) for tensor in tensors]


def broadcast_together(what: str, operands: Sequence[Any]) -> list[Tensor]:
    """Returns the operands of a function of elements as tensors of one shape. At least
    one is a tensor. A number becomes a constant of the first tensor's type."""
    first = next((as_tensor(v) for v in operands
                  if not is_number(v) and not is_array(v)), None)
    if first is None:
        trace_error("%s has no tensor among its operands" % what)
    import numpy as np
    tensors = [constant_beside(np.asarray(v), first.dtype)
               if is_number(v) or is_array(v) else as_tensor(v) for v in operands]
    return broadcast_all(tensors)


def pair(left: Any, right: Any) -> tuple[Tensor, Tensor]:
    """Returns two operands as tensors. An array gets the element type of the tensor
    beside it."""
    if is_array(left):
        right = as_tensor(right)
        return constant_beside(left, right.dtype), right
    left = as_tensor(left)
    return left, constant_beside(right, left.dtype) if is_array(right) \
        else as_tensor(right)


def promoted(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the tensors in one element type."""
    def kind(tensor: Tensor) -> int:
        return 0 if tensor.dtype == "i1" else 1 if tensor.dtype in INTEGERS else 2

    if kind(a) < kind(b) or (a.dtype, b.dtype) == ("i32", "i64"):
        a = a.astype(b.dtype)
    elif kind(b) < kind(a) or (a.dtype, b.dtype) == ("i64", "i32"):
        b = b.astype(a.dtype)
    if a.dtype != b.dtype:
        trace_error("%s and %s have different element types: convert one by astype()"
                    % (a, b))
    return a, b


def wide(tensor: Tensor) -> Tensor:
    """Returns a 16-bit tensor in f32, in which sums over rows are computed, and any other
    as it is."""
    return tensor.astype("f32") if tensor.dtype in ("f16", "bf16") else tensor


def as_reducible(tensor: Tensor, what: str) -> Tensor:
    """Returns a tensor of floats, because sums and extrema need floats. i1 and i32 become
    f64, which holds them exactly. Raises TraceError for i64."""
    if tensor.dtype == "i64":
        trace_error("%s of %s: convert it first by x.astype(\"f64\"), which is exact up "
                    "to 2^53" % (what, tensor))
    return tensor if tensor.dtype in FLOATS else tensor.astype("f64")


def operand_beside(value: Any, tensor: Tensor) -> Tensor:
    """Returns an operand that goes with a tensor. An array or a number takes its type."""
    import numpy as np
    if is_number(value) or is_array(value):
        return constant_beside(np.asarray(value), tensor.dtype)
    return as_tensor(value)


def binary(op: Callable[[Tensor, Tensor], Tensor], left: Any, right: Any) -> Tensor:
    """Returns op(left, right) for tensors or arrays."""
    a, b = broadcast_all(promoted(*pair(left, right)))
    return op(a, b)


# Arithmetic

def add(left: Any, right: Any) -> Tensor:
    for number, other in ((right, left), (left, right)):
        if is_number(number):
            return _with_number(ops.add_scalar, ops.add, other, number, "value")
    return binary(ops.add, left, right)


def subtract(left: Any, right: Any) -> Tensor:
    if is_number(right):
        return add(left, -plain(right))
    if is_number(left):
        number = plain(left)
        return add(negative(beside_number(as_tensor(right), number)), number)
    return binary(ops.sub, left, right)


def multiply(left: Any, right: Any) -> Tensor:
    for number, other in ((left, right), (right, left)):
        if is_number(number):
            return _with_number(ops.scale, ops.mul, other, number, "factor")
    return binary(ops.mul, left, right)


def _as_float(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype in FLOATS else tensor.astype("f32")


def divide(left: Any, right: Any) -> Tensor:
    """Returns left / right. The quotient of integers is f32."""
    import numpy as np
    if _is_special(right) or is_number(right) and right == 0:
        return binary(ops.div, _as_float(as_tensor(left)), np.asarray(float(right)))
    if is_number(right):
        number = finite(right)
        tensor = _as_float(as_tensor(left))
        if abs(math.frexp(number)[0]) == 0.5 and 2.0 ** -14 <= abs(number) <= 2.0 ** 14:
            return ops.scale(tensor, factor=1.0 / number)  # exact, and faster
        return ops.div_scalar(tensor, value=number)
    if is_number(left):
        tensor = _as_float(as_tensor(right))
        if plain(left) == 1:
            return ops.reciprocal(tensor)
        if _is_special(left):
            return binary(ops.div, np.asarray(float(left)), tensor)
        return ops.div(ops.fill_like(tensor, value=finite(left)), tensor)
    a, b = pair(left, right)
    return binary(ops.div, _as_float(a), _as_float(b))


def negative(tensor: Tensor) -> Tensor:
    return ops.neg(tensor)


def power(base: Any, exponent: Any) -> Tensor:
    """Returns base ** exponent for floats, and for integers with a whole exponent of 1 or
    more. Other powers of integers are f32."""
    if not is_number(exponent):
        if is_number(base):
            tensor = as_tensor(exponent)
            base = ops.fill_like(_as_float(tensor), value=finite(base))
        a, b = pair(base, exponent)
        return binary(ops.pow, _as_float(a), _as_float(b))
    tensor, exponent = as_tensor(base), plain(exponent)
    is_small = isinstance(exponent, int) and 1 <= exponent <= 4
    if is_small and tensor.dtype in FLOATS:  # products are exact and fast
        if exponent in (2, 4):
            half = ops.square(tensor)
            return half if exponent == 2 else ops.square(half)
        return tensor if exponent == 1 else power(tensor, exponent - 1) * tensor
    if isinstance(exponent, int) and exponent >= 1 and tensor.dtype in INTEGERS:
        square = tensor if exponent == 1 else power(tensor, exponent // 2)
        square = square if exponent == 1 else square * square
        return square * tensor if exponent > 1 and exponent % 2 else square
    tensor = _as_float(tensor)
    special = {-1: ops.reciprocal, 0.5: ops.sqrt, -0.5: ops.rsqrt}.get(exponent)
    return special(tensor) if special else \
        ops.pow_scalar(tensor, exponent=finite(exponent))


def maximum(left: Any, right: Any) -> Tensor:
    """Returns the larger of two elements, and NaN where either is NaN.

    Each of two equal elements gets half of the gradient. Beside a number, the element
    gets all of it (aicf.ops.clamp). left and right are tensors, arrays or numbers.
    """
    for number, other in ((left, right), (right, left)):
        if is_number(number):
            return clamp(as_tensor(other), number, None)
    return binary(ops.maximum, left, right)


def minimum(left: Any, right: Any) -> Tensor:
    """Returns the smaller of two elements, with the rules of maximum()."""
    for number, other in ((left, right), (right, left)):
        if is_number(number):
            return clamp(as_tensor(other), None, number)
    return binary(ops.minimum, left, right)


def clamp(tensor: Tensor, low: Any = None, high: Any = None) -> Tensor:
    """Returns `tensor`, but not below `low` and not above `high`. Each bound is a number,
    a tensor, an array or None. An element that equals a bound gets the gradient. Where a
    bound is NaN, so is the result, and NaN has no gradient. Where low is above high, the
    result is high."""
    if low is None and high is None:
        trace_error("clamp: expected min, max or both")
    import numpy as np
    low, high = (plain(bound) if is_number(bound) else bound for bound in (low, high))
    if all(bound is None or is_number(bound) for bound in (low, high)):
        for bound in (low, high):
            tensor = tensor if bound is None else beside_number(tensor, bound)
    # Fields are numbers in order; other bounds are constants.
    is_field = not (is_number(low) and is_number(high) and low > high)
    low, high = (np.asarray(bound, "i8") if _is_rounded(tensor, bound) else
                 np.asarray(bound) if is_number(bound) and not (is_field and bound == bound)
                 else bound for bound in (low, high))
    if all(bound is None or isinstance(bound, (int, float)) for bound in (low, high)):
        return ops.clamp(tensor,
                         min=-math.inf if low is None else _field(low),
                         max=math.inf if high is None else _field(high))
    for bound, inside, outside in ((low, ">=", "<"), (high, "<=", ">")):
        if bound is not None:
            x, limit = broadcast_all(promoted(*pair(tensor, as_tensor(bound) if is_number(
                bound) else bound)))
            rest = ops.where(compare(x, outside, limit), limit,
                             ops.stop_gradient(ops.add(x, limit)))  # one of them is NaN
            tensor = ops.where(compare(x, inside, limit), x, rest)
    return tensor


# Comparisons

#: For each operator: the op for two tensors, whether it exchanges them, and the op for a
#: tensor and a number.
_COMPARISONS: dict[str, tuple[Callable[..., Any], bool, Callable[..., Any]]] = {
    "==": (ops.equal, False, ops.equal_scalar),
    "!=": (ops.not_equal, False, ops.not_equal_scalar),
    "<": (ops.less, False, ops.less_scalar),
    "<=": (ops.less_equal, False, ops.less_equal_scalar),
    ">": (ops.less, True, ops.greater_scalar),
    ">=": (ops.less_equal, True, ops.greater_equal_scalar),
}


def compare(left: Any, operator: str, right: Any) -> Tensor:
    """Returns `left operator right`, a tensor of i1."""
    of_tensors, exchanges, of_number = _COMPARISONS[operator]
    tensor = as_tensor(left)
    if isinstance(right, bool) and tensor.dtype == "i1" and operator in ("==", "!="):
        return tensor if right == (operator == "==") else ops.logical_not(tensor)
    if is_number(right):
        return _compare_number(tensor, operator, plain(right))
    if right is None:
        trace_error("%s %s None: a traced tensor is never None; ask with `is None`"
                    % (tensor, operator))
    a, b = promoted(*pair(tensor, right))
    if a.dtype == "i1" and operator not in ("==", "!="):
        trace_error("%s %s %s: i1 has no order" % (a, operator, b))
    a, b = broadcast_all((b, a) if exchanges else (a, b))
    made: Tensor = of_tensors(a, b)
    return made


def _compare_number(tensor: Tensor, operator: str, number: int | float) -> Tensor:
    import numpy as np
    of_tensors, exchanges, of_number = _COMPARISONS[operator]
    tensor = beside_number(tensor, number)
    if tensor.dtype in INTEGERS:
        limits = np.iinfo("i4" if tensor.dtype == "i32" else "i8")
        if not limits.min <= number <= limits.max:  # the same for all integers
            is_true = {"==": False, "!=": True}.get(operator,
                                                    (number > 0) == ("<" in operator))
            outcome: Tensor = (ops.equal if is_true else ops.not_equal)(tensor, tensor)
            return outcome
        if _is_rounded(tensor, number):
            a, b = broadcast_all(pair(tensor, np.asarray(number, "i8")))
            compared: Tensor = of_tensors(*((b, a) if exchanges else (a, b)))
            return compared
    if number != number:  # isnan() cannot take 10^400
        never: Tensor = (ops.equal if operator == "!=" else ops.not_equal)(
            zero := ops.fill_like(tensor, value=0.0), zero)
        return never
    # The number is rounded to the tensor's type, as an element may have been.
    result: Tensor = of_number(tensor, value=rounded(_field(number), tensor.dtype))
    return result


def logical(op: Callable[[Tensor, Tensor], Tensor], left: Any, right: Any) -> Tensor:
    """Returns op(left, right) for tensors or arrays of i1."""
    a, b = pair(left, right)
    for tensor in (a, b):
        if tensor.dtype != "i1":
            trace_error("%s: logic is of i1; make one by a comparison or astype(\"i1\")"
                        % tensor)
    return binary(op, a, b)


# Choices

def _mask(condition: Any) -> Tensor:
    tensor = as_tensor(condition)
    if tensor.dtype != "i1":
        trace_error("%s as a mask: expected i1; make one by a comparison or "
                    "astype(\"i1\")" % tensor)
    return tensor


def masked_fill(tensor: Any, mask: Any, value: Any, inverted: bool = False) -> Tensor:
    """Returns `tensor` with a number, which may be infinite, where the mask is true, or
    where it is false if `inverted`."""
    if isinstance(value, bool):
        if as_tensor(tensor).dtype != "i1":
            trace_error("masked_fill of %s with %r: expected a number"
                        % (as_tensor(tensor), value))
        import numpy as np
        return where(mask, np.asarray(value), tensor)
    if not is_number(value):
        trace_error("masked_fill with %r: expected a number (aicf.where(mask, value, x) "
                    "takes tensors)" % (value,))
    value = plain(value)
    kept = beside_number(as_tensor(tensor), value)
    if _is_rounded(kept, value):
        import numpy as np
        filled = [np.asarray(value, "i8"), kept]
        return ops.where(*broadcast_all([
            _mask(mask), *pair(*(reversed(filled) if inverted else filled))]))
    x, where_true = broadcast_all([kept, _mask(mask)])
    if value != value:  # isnan() cannot take 10^400
        filled = [ops.fill_like(x, value=0.0) / ops.fill_like(x, value=0.0), x]
        return ops.where(where_true, *(reversed(filled) if inverted else filled))
    return ops.masked_fill(x, where_true, value=_field(value), inverted=inverted)


def where(condition: Any, a: Any, b: Any) -> Tensor:
    """Returns elements of `a` where the condition is true, and of `b` elsewhere.

    Args:
        condition: i1, a traced tensor or a bool array.
        a, b: tensors, arrays or numbers, which may be infinite. All three broadcast.
    Returns: a tensor of the common type of a and b. For two numbers it is i64 if both are
        integers, else f32.
    Raises:
        aicf.TraceError: other types, or shapes that do not broadcast.
    """
    mask = _mask(condition)
    if is_number(a) and is_number(b):
        whole = isinstance(plain(a), int) and isinstance(plain(b), int)
        zeros = ops.fill_like(mask.astype("i64" if whole else "f32"), value=0.0)
        a = masked_fill(zeros, mask, a)
    if is_number(a):
        return masked_fill(b, mask, a)
    if is_number(b):
        return masked_fill(a, mask, b, inverted=True)
    return ops.where(*broadcast_all([mask, *promoted(*pair(a, b))]))
