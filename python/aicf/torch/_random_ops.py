# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: random numbers. They are not PyTorch's, but of the same distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from .._tracing import scans as _scans
from .. import functional as F
from .._tracing.functions import tan
from .._tracing.pointwise import broadcast, where
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, aten

_OWN = "numbers of its own: (seed, step)"


@aten("native_dropout.default")
def _native_dropout(call: Call, x: Any, p: float, train: bool | None = True) -> Any:
    if call.keeps_all or train is False:
        return (as_tensor(x), None)
    if p >= 1:
        return (as_tensor(x) * 0.0, None)
    return (F.dropout(x, p, training=True), None)


@aten("dropout.default")
def _dropout(call: Call, x: Any, p: float, train: bool) -> Any:
    return _native_dropout(call, x, p, train)[0]


def spread(shape: Sequence[int]) -> Any:
    """Numbers between 0 and 1, no two of them equal, that stand for draws where a step is
    verified: multiples of the golden ratio, as NumPy's f32."""
    numbers = (np.arange(math.prod(shape)) * 0.6180339887498949 + 0.5) % 1.0
    return np.minimum(numbers, 1 - 2.0 ** -24).astype("f4").reshape(tuple(shape))


def _drawn(call: Call, draw: Any, *args: Any) -> Tensor:
    if not call.is_float:
        raise Unsupported("draws %s" % call.dtype)
    if call.keeps_all:  # as _verify has PyTorch draw
        return as_tensor(spread(call.shape)).astype(call.dtype)
    result: Tensor = draw(call.shape, *args, dtype=call.dtype)
    return result


@aten("randn.default", "randn_like.default", limits=_OWN)
def _randn(call: Call, *args: Any, **kwargs: Any) -> Tensor:
    return _drawn(call, F.normal)


@aten("rand.default", "rand_like.default", limits=_OWN)
def _rand(call: Call, *args: Any, **kwargs: Any) -> Tensor:
    return _drawn(call, F.uniform)


@aten("normal.float_float", limits=_OWN)
def _normal(call: Call, mean: float, std: float, *args: Any, **kwargs: Any) -> Tensor:
    return _drawn(call, F.normal, mean, std)


@aten("normal_functional.default", limits=_OWN)
def _normal_functional(call: Call, x: Any, mean: float = 0.0, std: float = 1.0, *,
                       generator: Any = None) -> Tensor:
    return _drawn(call, F.normal, mean, std)


def _uniform(call: Call, shape: tuple[int, ...], dtype: str = "f32") -> Tensor:
    """From 0 to 1."""
    if call.keeps_all:
        return as_tensor(spread(shape)).astype(dtype)
    return F.uniform(shape, dtype=dtype)


@aten("exponential.default", limits=_OWN)
def _exponential(call: Call, x: Any, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    # From 1 - u, which is above 0.
    return -(1.0 - _uniform(call, call.shape)).log() / lambd


@aten("log_normal.default", limits=_OWN)
def _log_normal(call: Call, x: Any, mean: float = 1.0, std: float = 2.0, *,
                generator: Any = None) -> Tensor:
    return _drawn(call, F.normal, mean, std).exp()


@aten("geometric.default", limits=_OWN)
def _geometric(call: Call, x: Any, p: float, *, generator: Any = None) -> Tensor:
    trials = (1.0 - _uniform(call, call.shape)).log() / math.log1p(-p)
    return trials.ceil().clamp(1.0, math.inf).astype(call.dtype)


@aten("cauchy.default", limits=_OWN)
def _cauchy(call: Call, x: Any, median: float = 0.0, sigma: float = 1.0, *,
            generator: Any = None) -> Tensor:
    angle = (_uniform(call, call.shape) - 0.5) * math.pi
    return tan(angle).astype(call.dtype) * sigma + median


@aten("bernoulli.default", "bernoulli.p", "bernoulli.Tensor", limits=_OWN)
def _bernoulli(call: Call, x: Any, p: Any = None, *, generator: Any = None) -> Tensor:
    chance = as_tensor(x) if p is None else p
    chance = broadcast(chance, call.shape) if isinstance(chance, Tensor) else chance
    return (_uniform(call, call.shape) < ops.stop_gradient(chance)
            if isinstance(chance, Tensor) else _uniform(call, call.shape) < chance
            ).astype(call.dtype)


@aten("uniform.default", limits=_OWN)
def _uniform_like(call: Call, x: Any, low: float = 0.0, high: float = 1.0, *,
                  generator: Any = None) -> Tensor:
    return _uniform(call, call.shape) * (high - low) + low


@aten("randint.default", "randint.low", "randint_like.default", "randint_like.low_dtype",
      limits=_OWN)
def _randint(call: Call, *args: Any, **kwargs: Any) -> Tensor:
    bounds = [a for a in args if isinstance(a, int) and not isinstance(a, bool)]
    low, high = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    drawn = _uniform(call, call.shape, "f64") * float(high - low)
    return (drawn.floor() + float(low)).astype(call.dtype)


@aten("randperm.default", limits=_OWN)
def _randperm(call: Call, n: int, *args: Any, **kwargs: Any) -> Tensor:
    return _scans.order([_uniform(call, (n,))]).astype(call.dtype)


@aten("multinomial.default", limits=_OWN)
def _multinomial(call: Call, p: Any, num_samples: int, replacement: bool = False, *,
                 generator: Any = None) -> Tensor:
    weights = ops.stop_gradient(as_tensor(p)).astype("f32")
    if replacement:
        sums = F.cumsum(weights, -1)
        drawn = _uniform(call, (*weights.shape[:-1], num_samples)) * sums[..., -1:]
        return _scans.count_below(sums, drawn, True)
    # The largest of w / e, with e from the exponential distribution (Efraimidis, Spirakis
    # 2006).
    waiting = -(1.0 - _uniform(call, weights.shape)).log()
    keys = where(weights > 0, weights / waiting, -1.0)
    return _scans.order([keys], descending=True)[..., :num_samples].astype("i64")


@aten("rrelu_with_noise_functional.default", limits=_OWN)
def _rrelu(call: Call, x: Any, noise: Any, lower: float = 0.125, upper: float = 1 / 3,
           training: bool = False, generator: Any = None) -> Any:
    tensor = call.tensor(x)
    slope = _uniform(call, call.shape).astype(call.dtype) * (upper - lower) + lower \
        if training and not call.keeps_all else broadcast(call.tensor((lower + upper) / 2), call.shape)
    slope = slope.masked_fill(ops.stop_gradient(tensor) > 0, 1.0)
    return tensor * slope, slope
