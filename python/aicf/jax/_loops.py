# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often a while loop of JAX's runs, and the rows that a run reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import jax

from .. import ops
from .._tracing.pointwise import FLOATS
from .._tracing.tensor import Tensor
from ._table import Unsupported, is_constant

#: The most runs that are counted: no plan makes more.
_MOST_RUNS = 2 ** 24


def runs_of(params: Any, of_cond: Sequence[Any], of_body: Sequence[Any],
            carry: Sequence[Any]) -> int | None:
    """How often the body runs, if that follows from constants alone, or None. Only what
    the condition depends on is computed.

    Raises: Unsupported: more often than a plan could.
    """
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    small_cond, reads = _without_dead(cond.jaxpr, [True])
    needed = reads[len(of_cond):]
    while True:
        small_body, used = _without_dead(body.jaxpr, needed)
        more = [n or u for n, u in zip(needed, used[len(of_body):])]
        if more == needed:
            break
        needed = more
    consts_of_cond, consts_of_body = list(compress(of_cond, reads)), \
        list(compress(of_body, used))
    start = list(compress(carry, needed))
    if not all(map(is_constant, (*consts_of_cond, *consts_of_body, *start))):
        return None
    read_of_cond = list(compress(reads[len(of_cond):], needed))
    read_of_body = list(compress(used[len(of_body):], needed))

    def goes_on(state: Any) -> Any:
        count, *values = state
        now, = jax.core.eval_jaxpr(small_cond, cond.consts, *consts_of_cond,
                                   *compress(values, read_of_cond))
        return now & (count <= _MOST_RUNS)

    def advance(state: Any) -> Any:
        count, *values = state
        made = jax.core.eval_jaxpr(small_body, body.consts, *consts_of_body,
                                   *compress(values, read_of_body))
        return [count + 1, *made]
    with jax.ensure_compile_time_eval():
        count = int(jax.lax.while_loop(goes_on, advance, [0, *start])[0])
    if count > _MOST_RUNS:
        raise Unsupported("runs more than %d times, or for ever" % _MOST_RUNS)
    return count


def _without_dead(jaxpr: Any, used: Sequence[bool]) -> tuple[Any, list[bool]]:
    """With what these results need alone, and which inputs that reads."""
    from jax.interpreters import partial_eval
    small, reads = partial_eval.dce_jaxpr(jaxpr, list(used), instantiate=False)
    return small, list(reads)


def row_at(column: Tensor, at: Tensor) -> Tensor:
    """A row of a tensor. On a GPU, several lookups in tables of floats are one call."""
    index = at.reshape((1,))
    if column.dtype in FLOATS:
        return ops.embedding(column.reshape([column.shape[0], -1]), index).reshape(
            column.shape[1:])
    return ops.gather_rows(column, index).reshape(column.shape[1:])
