# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: functions of elements, comparisons, casts, random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from .._tracing import functions as _functions
from .. import functional as F
from .._tracing.exact import floor_quotient, fmod, quotient_toward_zero, remainder, truncated
from .._tracing.pointwise import broadcast, clamp, compare, maximum, minimum, power, where, wide
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, aten


def _sum(call: Call, a: Any, b: Any, alpha: Any, sign: int) -> Tensor:
    """a + sign · alpha · b, in the type of the result."""
    a, b = call.operand(a), call.operand(b)
    if alpha != 1:
        b = b * alpha
    result: Tensor = a + b if sign > 0 else a - b
    return result


@aten("add.Tensor", "add.Scalar", takes_numbers=True)
def _add(call: Call, a: Any, b: Any, alpha: Any = 1) -> Tensor:
    if call.dtype == "i1":
        return call.tensor(a) | call.tensor(b)
    return _sum(call, a, b, alpha, 1)


@aten("sub.Tensor", "sub.Scalar", takes_numbers=True)
def _sub(call: Call, a: Any, b: Any, alpha: Any = 1) -> Tensor:
    return _sum(call, a, b, alpha, -1)


@aten("rsub.Tensor", "rsub.Scalar", takes_numbers=True)
def _rsub(call: Call, a: Any, b: Any, alpha: Any = 1) -> Tensor:
    return _sum(call, b, a, alpha, -1)


@aten("mul.Tensor", "mul.Scalar", takes_numbers=True)
def _mul(call: Call, a: Any, b: Any) -> Tensor:
    if call.dtype == "i1":
        return call.tensor(a) & call.tensor(b)
    result: Tensor = call.operand(a) * call.operand(b)
    return result


@aten("div.Tensor", "div.Scalar", takes_numbers=True)
def _div(call: Call, a: Any, b: Any) -> Tensor:
    result: Tensor = call.operand(a) / call.operand(b)
    return result


@aten("div.Tensor_mode", "div.Scalar_mode", takes_numbers=True,
      limits="rounded quotients of integers are exact up to 2^53; by 0 they are 0")
def _div_mode(call: Call, a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return _div(call, a, b)
    function = floor_quotient if rounding_mode == "floor" else quotient_toward_zero
    return _level(call, function, a, b)


def _level(call: Call, function: Any, *operands: Any) -> Tensor:
    """A function whose gradient is 0. PyTorch trains a parameter that has no other way to
    the loss, by zeros: so there is a way, which nothing goes along."""
    tensors = [call.tensor(x) for x in operands]
    y: Tensor = function(*(ops.stop_gradient(t) for t in tensors))
    for x, tensor in zip(operands, tensors):
        if call.needs_gradient and call.is_float and isinstance(x, Tensor):
            y = where(broadcast(as_tensor(np.asarray(True)), y.shape), y,
                      broadcast(tensor, y.shape))
    return y


@aten("trunc.default", "fix.default")
def _trunc(call: Call, x: Any) -> Tensor:
    return _level(call, truncated, x) if call.is_float else call.tensor(x)


_INTEGERS = "integers up to 2^53; by 0 they give 0"


@aten("fmod.Scalar", "fmod.Tensor", takes_numbers=True, limits=_INTEGERS)
def _fmod(call: Call, a: Any, b: Any) -> Tensor:
    return fmod(call.tensor(a), call.tensor(b))


@aten("remainder.Scalar", "remainder.Tensor", takes_numbers=True, limits=_INTEGERS)
def _remainder(call: Call, a: Any, b: Any) -> Tensor:
    x, y = call.tensor(a), call.tensor(b)
    rest = remainder(x, y)
    if not (call.needs_gradient and call.is_float and isinstance(b, Tensor)):
        return rest
    # b's gradient is -floor(a / b) without the rounding of a / b, which fmod's has.
    has, wanted = _rounded_quotient(x, y, rest), floor_quotient(x, y)
    missing = where(has == wanted, 0.0, has - wanted)
    divisor = y.masked_fill(missing == 0, 0.0)
    return rest + (divisor - ops.stop_gradient(divisor)) * missing


def _rounded_quotient(a: Tensor, b: Tensor, rest: Tensor) -> Tensor:
    """What the gradient of remainder(a, b), through fmod, has for floor(a / b)."""
    a, b, rest = (ops.stop_gradient(t) for t in (a, b, rest))
    is_next = (rest != 0) & ((a < 0) ^ (b < 0))
    return truncated(a / b) - is_next.astype(rest.dtype)


@aten("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar", takes_numbers=True,
      limits="floats, and squares of integers")
def _pow(call: Call, a: Any, b: Any) -> Tensor:
    if not call.is_float and b != 2:
        raise Unsupported("raises integers")
    if isinstance(b, float) and b == int(b) and abs(b) < 2 ** 31:
        b = int(b)
    return power(call.operand(a), call.operand(b))


@aten("square.default")
def _square(call: Call, x: Any) -> Tensor:
    return call.tensor(x).square()


@aten("neg.default")
def _neg(call: Call, x: Any) -> Tensor:
    return -as_tensor(x)


def _float(call: Call, x: Any) -> Tensor:
    if not call.is_float:
        raise Unsupported("of %s" % call.dtype)
    return call.tensor(x)


def _of_one_operand() -> None:
    """Functions of one operand that have an op, or several, of their own."""
    def row(function: Any, is_float: bool) -> Any:
        return lambda call, x: function(_float(call, x) if is_float else call.tensor(x))

    for name in ("exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos",
                 "log2", "log10", "exp2", "erf", "erfc", "tanh", "sigmoid", "mish", "silu",
                 "hardswish"):
        aten("%s.default" % name)(row(getattr(ops, name), True))
    for name in ("tan", "sinh", "cosh", "asinh", "acosh", "atanh", "asin", "acos", "atan",
                 "erfinv"):
        aten("%s.default" % name)(lambda call, x, function=getattr(_functions, name): function(
            wide(_float(call, x))))
    for name in ("floor", "ceil", "round"):
        aten("%s.default" % name)(lambda call, x, function=getattr(ops, name): _level(
            call, function, x) if call.is_float else call.tensor(x))
    aten("log_sigmoid.default")(row(ops.log_sigmoid, True))
    aten("selu.default")(row(ops.selu, True))
    aten("hardsigmoid.default")(row(F.hardsigmoid, True))


_of_one_operand()


# Activations

@aten("gelu.default")
def _gelu(call: Call, x: Any, approximate: str = "none") -> Tensor:
    return F.gelu(x, approximate)


@aten("leaky_relu.default")
def _leaky_relu(call: Call, x: Any, negative_slope: float = 0.01) -> Tensor:
    return F.leaky_relu(x, negative_slope)


@aten("elu.default")
def _elu(call: Call, x: Any, alpha: float = 1, scale: float = 1,
         input_scale: float = 1) -> Tensor:
    if abs(alpha - 1.6732632423543772) < 1e-12 and abs(scale - 1.0507009873554805) < 1e-12 \
            and input_scale == 1:
        return ops.selu(x)
    if input_scale == 1:
        y = F.elu(x, alpha)
    else:
        tensor = as_tensor(x)
        # Not of large numbers, whose derivative would be 0 times infinity, nor of those
        # whose exponential is 0. It is exp(x), where expm1's own cancels near -1.
        below = clamp(tensor, -800.0 / input_scale, 0.0) * input_scale
        fixed = ops.stop_gradient(below)
        y = fixed.expm1() + fixed.exp() * (below - fixed)
        y = where(tensor > 0, tensor, y * alpha)
    return y if scale == 1 else y * scale


@aten("celu.default")
def _celu(call: Call, x: Any, alpha: float = 1.0) -> Any:
    return _elu(call, x, alpha, 1, 1 / alpha)


@aten("prelu.default")
def _prelu(call: Call, x: Any, weight: Any) -> Tensor:
    return F.prelu(x, weight)


@aten("hardtanh.default")
def _hardtanh(call: Call, x: Any, low: float = -1, high: float = 1) -> Tensor:
    if not call.is_float:
        return clamp(call.tensor(x), int(low), int(high))
    return F.hardtanh(x, float(low), float(high))


@aten("softplus.default")
def _softplus(call: Call, x: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    return F.softplus(x, float(beta), float(threshold))


@aten("glu.default")
def _glu(call: Call, x: Any, dim: int = -1) -> Tensor:
    return F.glu(x, dim)


@aten("threshold.default")
def _threshold(call: Call, x: Any, threshold: float, value: float) -> Tensor:
    tensor = as_tensor(x)
    return tensor.masked_fill(tensor <= threshold, value)


# Bounds

@aten("clamp.default", "clamp.Tensor", "clip.default", takes_numbers=True)
def _clamp(call: Call, x: Any, low: Any = None, high: Any = None) -> Tensor:
    return clamp(call.tensor(x), call.operand(low), call.operand(high))


@aten("clamp_min.default", "clamp_min.Tensor", takes_numbers=True)
def _clamp_min(call: Call, x: Any, low: Any) -> Any:
    return _clamp(call, x, low)


@aten("clamp_max.default", "clamp_max.Tensor", takes_numbers=True)
def _clamp_max(call: Call, x: Any, high: Any) -> Any:
    return _clamp(call, x, None, high)


@aten("relu.default")
def _relu(call: Call, x: Any) -> Tensor:
    return call.tensor(x).relu() if call.is_float else clamp(call.tensor(x), 0, None)


@aten("abs.default")
def _abs(call: Call, x: Any) -> Tensor:
    """NaN has the gradient 0, as in PyTorch."""
    tensor = call.tensor(x)
    if not (call.needs_gradient and call.is_float):
        return ops.abs(tensor)
    is_nan = tensor != tensor
    return where(is_nan, ops.stop_gradient(tensor), ops.abs(tensor.masked_fill(is_nan, 0.0)))


@aten("sign.default", "sgn.default")
def _sign(call: Call, x: Any) -> Tensor:
    def of_numbers(tensor: Tensor) -> Tensor:
        return ops.sign(tensor.masked_fill(tensor != tensor, 0.0)) if call.is_float \
            else ops.sign(tensor)
    return _level(call, of_numbers, x)


def _extremum(call: Call, function: Any, a: Any, b: Any) -> Tensor:
    """Where one is NaN, the gradient goes to both."""
    x, y = call.tensor(a), call.tensor(b)
    result: Tensor = function(x, y)
    if not (call.needs_gradient and call.is_float):
        return result
    return where((x != x) | (y != y), x + y, result)


@aten("fmax.default")
def _fmax(call: Call, a: Any, b: Any) -> Tensor:
    """Of two elements the one that is a number, if one is NaN; of equal ones the first."""
    x, y = (broadcast(call.tensor(v), call.shape) for v in (a, b))
    return where((x >= y) | (y != y), x, y)


@aten("fmin.default")
def _fmin(call: Call, a: Any, b: Any) -> Tensor:
    x, y = (broadcast(call.tensor(v), call.shape) for v in (a, b))
    return where((x <= y) | (y != y), x, y)


@aten("maximum.default", "max.other")
def _maximum(call: Call, a: Any, b: Any) -> Tensor:
    return _extremum(call, maximum, a, b)


@aten("minimum.default", "min.other")
def _minimum(call: Call, a: Any, b: Any) -> Tensor:
    return _extremum(call, minimum, a, b)


@aten("atan2.default")
def _atan2(call: Call, y: Any, x: Any) -> Tensor:
    """The gradient where the squares of both are 0 is 0."""
    y, x = (broadcast(wide(_float(call, v)), call.shape) for v in (y, x))
    is_zero = ops.stop_gradient(y * y + x * x) == 0
    at_zero = ops.atan2(ops.stop_gradient(y), ops.stop_gradient(x))
    return where(is_zero, at_zero, ops.atan2(y, x.masked_fill(is_zero, 1.0)))


@aten("logit.default", "special_logit.default")
def _logit(call: Call, x: Any, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)) of x within [eps, 1 - eps], behind which the gradient is 0; without
    eps it is NaN outside of [0, 1]."""
    tensor = wide(_float(call, x))
    fixed = ops.stop_gradient(tensor)
    inside = fixed if eps is None else clamp(fixed, eps, 1 - eps)
    low = 0.0 if eps is None else eps
    slope = ops.reciprocal(inside * (1.0 - inside)).masked_fill(
        (fixed < low) | (fixed > 1 - low), math.nan if eps is None else 0.0)
    return ops.straight_through(ops.log(inside / (1.0 - inside)), tensor * slope)


@aten("sinc.default")
def _sinc(call: Call, x: Any) -> Tensor:
    """sin(pi x) / (pi x), and 1 near 0, where the gradient is 0."""
    tensor = wide(call.tensor(x))
    is_zero = tensor.abs() < 1e-15
    angle = tensor.masked_fill(is_zero, 1.0) * math.pi
    result: Tensor = (ops.sin(angle) / angle).masked_fill(is_zero, 1.0)
    return result


def _times_log(call: Call, x: Any, y: Any, log: Any, bound: float) -> Tensor:
    """x log(y), and 0 where x is 0, unless y is NaN. The gradient of x is log(y), or 0
    where x is 0 and y has none."""
    a, b = call.tensor(x), call.tensor(y)
    shape = call.shape
    a, b = broadcast(a, shape), broadcast(b, shape)
    product: Tensor = a * log(b.masked_fill((a == 0) & (b <= bound), 1.0))
    return product.masked_fill((a == 0) & (product != product) & (b == b), 0.0)


@aten("xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self")
def _xlogy(call: Call, x: Any, y: Any) -> Tensor:
    return _times_log(call, x, y, ops.log, 0.0)


@aten("special_xlog1py.default")
def _xlog1py(call: Call, x: Any, y: Any) -> Tensor:
    return _times_log(call, x, y, ops.log1p, -1.0)


# Comparisons and logic

def _comparisons() -> None:
    def row(sign: str) -> Any:
        return lambda call, a, b: compare(call.operand(a, call.common), sign,
                                          call.operand(b, call.common))
    for name, sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"),
                       ("ge", ">=")):
        aten(name + ".Tensor", name + ".Scalar", takes_numbers=True)(row(sign))


_comparisons()


def _is_true(value: Any) -> Tensor:
    tensor = as_tensor(value)
    return tensor if tensor.dtype == "i1" else tensor != 0


@aten("logical_and.default")
def _logical_and(call: Call, a: Any, b: Any) -> Tensor:
    return _is_true(a) & _is_true(b)


@aten("logical_or.default")
def _logical_or(call: Call, a: Any, b: Any) -> Tensor:
    return _is_true(a) | _is_true(b)


@aten("logical_xor.default")
def _logical_xor(call: Call, a: Any, b: Any) -> Tensor:
    return _is_true(a) ^ _is_true(b)


@aten("logical_not.default")
def _logical_not(call: Call, x: Any) -> Tensor:
    return ~_is_true(x)


def _bits() -> None:
    def row(of_bools: Any, of_integers: Any) -> Any:
        def bitwise(call: Call, *operands: Any) -> Tensor:
            tensors = [broadcast(call.tensor(x), call.shape) for x in operands]
            result: Tensor = of_bools(call, *tensors) if call.dtype == "i1" \
                else of_integers(*tensors)
            return result
        return bitwise
    for name, function in (("and", _logical_and), ("or", _logical_or),
                           ("xor", _logical_xor)):
        overloads = ["bitwise_%s.%s" % (name, of) for of in ("Tensor", "Scalar",
                                                             "Scalar_Tensor")]
        aten(*overloads)(row(function, getattr(ops, "bitwise_" + name)))
    aten("bitwise_not.default")(row(_logical_not, lambda x: -x - 1))
    for name, function in (("left", ops.shift_left), ("right", ops.shift_right)):
        aten(*["bitwise_%s_shift.%s" % (name, of) for of in (
            "Tensor", "Tensor_Scalar", "Scalar_Tensor")],
            *["__%sshift__.%s" % (name[0], of) for of in ("Tensor", "Scalar")])(
            row(None, function))


_bits()


@aten("isnan.default")
def _isnan(call: Call, x: Any) -> Any:
    return as_tensor(x) != x


@aten("isinf.default")
def _isinf(call: Call, x: Any) -> Tensor:
    return as_tensor(x).abs() == math.inf


@aten("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar",
      takes_numbers=True)
def _where(call: Call, condition: Any, a: Any, b: Any) -> Tensor:
    if isinstance(condition, bool):
        return broadcast(call.tensor(a if condition else b), call.shape)
    mask = broadcast(as_tensor(condition), call.shape)
    for value, other, inverted in ((a, b, False), (b, a, True)):
        if isinstance(value, (bool, int, float)) \
                and not isinstance(other, (bool, int, float)) \
                and call.dtype != "i1":
            whole = broadcast(call.tensor(other), call.shape)
            return whole.masked_fill(~mask if inverted else mask, value)
    return where(mask, call.tensor(a), call.tensor(b))


@aten("masked_fill.Scalar", "masked_fill.Tensor", takes_numbers=True)
def _masked_fill(call: Call, x: Any, mask: Any, value: Any) -> Any:
    return _where(call, mask, value, x)


# Casts and what is nothing here

@aten("_to_copy.default", "to.dtype", "clone.default", "contiguous.default",
      "alias.default", "lift_fresh_copy.default", "lift.default", "to.dtype_layout",
      "to.device", "type_as.default", limits="makes no call where the type stays")
def _same(call: Call, x: Any, *args: Any, **kwargs: Any) -> Tensor:
    return call.tensor(x)


@aten("detach.default", "detach_copy.default", is_linear=True)
def _detach(call: Call, x: Any) -> Tensor:
    return ops.stop_gradient(x)


@aten("copy.default")
def _copy(call: Call, x: Any, source: Any, non_blocking: bool = False) -> Tensor:
    return broadcast(call.tensor(source), call.shape)
