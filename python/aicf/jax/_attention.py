# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: attention, as _attention_calls.py has it while a step is traced."""

from __future__ import annotations

from typing import Any

from .. import ops
from ._table import Call, Found, Notes, Rules, primitive


def _tensors(call: Call, *operands: Any) -> list[Any]:
    """With a mask as the last operand, and no segments and no step behind it."""
    return [None if x is None else call.tensor(x) for x in operands] + [None, None]


def _fields(call: Call) -> dict[str, Any]:
    window = call.params["window"]
    return {"scale": window.scale, "window_left": window.left, "window_right": window.right}


@primitive("aicf_attention", limits="jax.nn.dot_product_attention; not jvp of it")
def _row(call: Call, q: Any, k: Any, v: Any, mask: Any = None) -> list[Any]:
    return list(ops.attention(*_tensors(call, q, k, v, mask), **_fields(call)))


@primitive("aicf_attention_bwd", limits="its gradients")
def _row_of_gradients(call: Call, dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any,
                      mask: Any = None) -> list[Any]:
    tensors = _tensors(call, dy, q, k, v, y, lse, mask)
    made: list[Any] = list(ops.attention_bwd(*tensors, **_fields(call)))
    if mask is not None and tensors[6].dtype != "i1":
        made.append(ops.attention_mask_bwd(*tensors, **_fields(call)))
    return made


class AttentionRaiser(Rules):
    """Tells `found` of each."""

    def __init__(self, notes: Notes, found: Found) -> None:
        super().__init__(notes, found, {
            name: lambda *_, op=op: found(op)
            for name, op in (("aicf_attention", "attention"),
                             ("aicf_attention_bwd", "attention_bwd"))})
