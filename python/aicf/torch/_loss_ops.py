# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: losses. PyTorch's classes are dimension 1, ours the last one."""

from __future__ import annotations

from typing import Any

from .. import losses
from .._tracing.pointwise import FLOATS
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor
from ._table import Call, aten

_REDUCTIONS = ("none", "mean", "sum")


def _classes_last(x: Any) -> Tensor:
    """[C], [N, C] or [N, C, d...] with the classes as the last dimension."""
    tensor = as_tensor(x)
    rank = len(tensor.shape)
    return tensor if rank < 3 else tensor.permute([0, *range(2, rank), 1])


@aten("cross_entropy_loss.default")
def _cross_entropy(call: Call, x: Any, target: Any, weight: Any = None, reduction: int = 1,
                   ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    labels = as_tensor(target)
    is_soft = labels.dtype in FLOATS
    scores = _classes_last(x)
    if is_soft:
        labels = _classes_last(labels)
        rows = labels.size // labels.shape[-1]
        loss = losses.cross_entropy(scores, labels, weight=weight,
                                    label_smoothing=label_smoothing,
                                    reduction="none" if reduction == 0 else "sum")
        return loss / rows if reduction == 1 else loss
    return losses.cross_entropy(scores, labels, weight=weight,
                                label_smoothing=label_smoothing,
                                ignore_index=ignore_index,
                                reduction=_REDUCTIONS[reduction])


@aten("nll_loss_nd.default", "nll_loss.default", "nll_loss2d.default")
def _nll(call: Call, x: Any, target: Any, weight: Any = None, reduction: int = 1,
         ignore_index: int = -100) -> Tensor:
    return losses.nll_loss(_classes_last(x), target, weight=weight,
                           ignore_index=ignore_index, reduction=_REDUCTIONS[reduction])


@aten("mse_loss.default")
def _mse(call: Call, x: Any, target: Any, reduction: int = 1) -> Tensor:
    return losses.mse_loss(call.tensor(x), call.tensor(target),
                           reduction=_REDUCTIONS[reduction])


@aten("l1_loss.default")
def _l1(call: Call, x: Any, target: Any, reduction: int = 1) -> Tensor:
    return losses.l1_loss(call.tensor(x), call.tensor(target),
                          reduction=_REDUCTIONS[reduction])


@aten("smooth_l1_loss.default")
def _smooth_l1(call: Call, x: Any, target: Any, reduction: int = 1,
               beta: float = 1.0) -> Tensor:
    return losses.smooth_l1_loss(x, target, beta=beta, reduction=_REDUCTIONS[reduction])


@aten("huber_loss.default")
def _huber(call: Call, x: Any, target: Any, reduction: int = 1,
           delta: float = 1.0) -> Tensor:
    return losses.huber_loss(x, target, delta=delta, reduction=_REDUCTIONS[reduction])


@aten("binary_cross_entropy.default")
def _bce(call: Call, x: Any, target: Any, weight: Any = None, reduction: int = 1) -> Tensor:
    return losses.binary_cross_entropy(x, target, weight=weight,
                                       reduction=_REDUCTIONS[reduction])


@aten("binary_cross_entropy_with_logits.default")
def _bce_with_logits(call: Call, x: Any, target: Any, weight: Any = None,
                     pos_weight: Any = None, reduction: int = 1) -> Tensor:
    return losses.binary_cross_entropy_with_logits(
        x, target, weight=weight, pos_weight=pos_weight, reduction=_REDUCTIONS[reduction])


@aten("kl_div.default")
def _kl_div(call: Call, x: Any, target: Any, reduction: int = 1, *,
            log_target: bool = False) -> Tensor:
    return losses.kl_div(x, target, log_target=log_target,
                         reduction=_REDUCTIONS[reduction])
