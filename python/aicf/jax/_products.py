# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: products, and the order in which their results lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .. import ops
from .._tracing.pointwise import broadcast
from .._tracing.tensor import Tensor
from ._table import Call, Unsupported, primitive


@dataclass(frozen=True)
class Product:
    """left right as dot_general has it: [batch.., rows.., columns..], where `first_of_right`
    is the dimension at which the columns begin. The matrices have one of each."""

    left: Tensor
    right: Tensor
    turns_left: bool
    turns_right: bool
    shape: tuple[int, ...]
    num_batch: int
    first_of_right: int

    @property
    def may_turn(self) -> bool:
        """Whether there are rows and columns."""
        return self.num_batch < self.first_of_right < len(self.shape)

    @property
    def shape_of_transposed(self) -> list[int]:
        """The dimensions in the order of transposed(): rows and columns change places."""
        dims = list(range(len(self.shape)))
        begin, middle = self.num_batch, self.first_of_right
        return dims[:begin] + dims[middle:] + dims[begin:middle]

    def transposed(self) -> Tensor:
        """(left right)' = right' left', whose result lies in memory as it is read then."""
        left, right = self.right, self.left
        turns_left, turns_right = not self.turns_right, not self.turns_left
        if turns_left and self.num_batch:  # there the left one has its rows first
            order = list(range(len(left.shape)))
            left, turns_left = left.permute(order[:-2] + [order[-1], order[-2]]), False
        made: Tensor = ops.matmul(left, right, transA=turns_left, transB=turns_right)
        return made.reshape([self.shape[d] for d in self.shape_of_transposed])


def _widest(*dtypes: str) -> str:
    """The type of floats that has the numbers of all."""
    return next((t for t in ("f64", "f32") if t in dtypes),
                dtypes[0] if len(set(dtypes)) == 1 else "f32")


@primitive("dot_general", limits="of floats; computed in the widest type of operands and result")
def _dot_general(call: Call, a: Any, b: Any) -> Tensor:
    (of_a, of_b), (batch_a, batch_b) = [[[int(d) for d in side] for side in pair]
                                        for pair in call.params["dimension_numbers"]]
    left, right = call.tensor(a), call.tensor(b)
    if not call.is_float:
        raise Unsupported("of %s" % call.dtype)
    dtype = _widest(left.dtype, right.dtype, call.dtype)
    left, right = left.astype(dtype), right.astype(dtype)
    free_a = [d for d in range(len(left.shape)) if d not in of_a + batch_a]
    free_b = [d for d in range(len(right.shape)) if d not in of_b + batch_b]
    if not of_a:
        return _outer(left, right, batch_a, free_a, batch_b, free_b).astype(call.dtype)
    # Factors are read as they lie in memory, if one of both orders is that. (With batch
    # dimensions, the left one has its rows first.)
    turns_left = not batch_a and free_a[-1:] == [len(left.shape) - 1]
    turns_right = free_b[-1:] != [len(right.shape) - 1]
    rows = _matrices(left, batch_a, *((of_a, free_a) if turns_left else (free_a, of_a)))
    columns = _matrices(right, batch_b, *((free_b, of_b) if turns_right else (of_b, free_b)))
    made: Tensor = ops.matmul(rows, columns, transA=turns_left, transB=turns_right)
    product = made.reshape(call.shape).astype(call.dtype)
    call.notes.add("product", product, Product(
        rows, columns, turns_left, turns_right, tuple(call.shape), len(batch_a),
        len(batch_a) + len(free_a)))
    return product


def _matrices(x: Tensor, batch: list[int], rows: list[int], columns: list[int]) -> Tensor:
    """x as [batch.., rows, columns]."""
    sizes = [math.prod(x.shape[d] for d in dims) for dims in (rows, columns)]
    return x.permute(batch + rows + columns).reshape([*(x.shape[d] for d in batch), *sizes])


def _outer(a: Tensor, b: Tensor, batch_a: list[int], free_a: list[int],
           batch_b: list[int], free_b: list[int]) -> Tensor:
    """Products of all pairs: nothing is summed."""
    left, right = a.permute(batch_a + free_a), b.permute(batch_b + free_b)
    batch = left.shape[:len(batch_a)]
    rows, columns = left.shape[len(batch):], right.shape[len(batch):]
    shape = (*batch, *rows, *columns)
    wide = left.reshape([*batch, *rows, *(1 for _ in columns)])
    high = right.reshape([*batch, *(1 for _ in rows), *columns])
    return broadcast(wide, shape) * broadcast(high, shape)


@primitive("transpose", of_bits=True)
def _transpose(call: Call, x: Any) -> Tensor:
    order = [int(d) for d in call.params["permutation"]]
    product: Product | None = call.notes.of("product", x)
    if product and product.may_turn and order[-1] == product.first_of_right - 1:
        turned = product.transposed().astype(call.dtype)
        return turned.permute([product.shape_of_transposed.index(d) for d in order])
    return call.tensor(x).permute(order)
