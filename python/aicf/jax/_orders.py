# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: orders, running results and products over a dimension."""

from __future__ import annotations

from typing import Any

from .. import ops
from .._tracing import scans as _scans
from .._tracing.tensor import Tensor
from ._table import Call, Unsupported, primitive


@primitive("sort", limits="up to 2^28 pairs of elements are compared")
def _sort(call: Call, *operands: Any) -> Any:
    dim = int(call.params["dimension"])
    columns = [call.tensor(v).swapaxes(dim, -1) for v in operands]
    index = _scans.order(columns[:int(call.params["num_keys"])])
    return [_scans.ordered(c, index).swapaxes(dim, -1) for c in columns]


@primitive("cumsum")
def _cumsum(call: Call, x: Any) -> Tensor:
    return ops.cumsum(call.tensor(x), axis=int(call.params["axis"]),
                      reversed=bool(call.params["reverse"]))


@primitive("cumprod")
def _cumprod(call: Call, x: Any) -> Tensor:
    return _scans.cumprod(call.tensor(x), int(call.params["axis"]),
                          bool(call.params["reverse"]))


@primitive("cumlogsumexp")
def _cumlogsumexp(call: Call, x: Any) -> Tensor:
    return _scans.logcumsumexp(call.tensor(x), int(call.params["axis"]),
                               bool(call.params["reverse"]))


def _extrema() -> None:
    def row(is_max: bool) -> Any:
        return lambda call, x: _scans.running_extremum(
            call.tensor(x), int(call.params["axis"]), is_max, bool(call.params["reverse"]))[0]
    primitive("cummax")(row(True))
    primitive("cummin")(row(False))


_extrema()


@primitive("reduce_prod")
def _reduce_prod(call: Call, x: Any) -> Tensor:
    tensor = call.tensor(x)
    axes = [int(a) for a in call.params["axes"]]
    if not axes:
        return tensor
    if call.dtype == "i1":
        raise Unsupported("of bool")
    return _scans.product(tensor, axes)
