# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses by the names that PyTorch has for them; all are means, 0-d.

Shapes, dtypes and rules are those of the ops that they are (aicf.ops).
"""

from __future__ import annotations

import sys
from typing import Any

from . import ops
from ._hints import missing
from ._tensor import Tensor

__all__ = ["accuracy_count", "binary_cross_entropy_with_logits", "cross_entropy",
           "l1_loss", "mse_loss"]


def cross_entropy(logits: Any, labels: Any, *, label_smoothing: float = 0.0,
                  ignore_index: int = -100) -> Tensor:
    """Mean over rows of -log softmax(logits)[label]: torch's cross_entropy.

    Args:
        logits: [..., C], a float type.
        labels: [...], i32; a row whose label is `ignore_index` counts for nothing.
            A label outside of [0, C) makes the loss NaN: nothing else says so on a
            GPU.
        label_smoothing: in [0, 1) (Szegedy et al. 2016).
    Returns: 0-d, f32 for 16-bit logits.
    """
    return ops.softmax_cross_entropy(logits, labels, label_smoothing=label_smoothing,
                                     ignore_index=ignore_index)


def mse_loss(pred: Any, target: Any) -> Tensor:
    """mean((pred - target)^2), of two tensors of one shape."""
    return ops.mse_loss(pred, target)


def l1_loss(pred: Any, target: Any) -> Tensor:
    """mean(|pred - target|), of two tensors of one shape."""
    return ops.l1_loss(pred, target)


def binary_cross_entropy_with_logits(pred: Any, target: Any) -> Tensor:
    """The binary cross entropy of sigmoid(pred) against target in [0, 1], without
    overflow."""
    return ops.bce_with_logits(pred, target)


def accuracy_count(logits: Any, labels: Any) -> Tensor:
    """How many rows have their largest logit at their label: 0-d i32. Has no
    gradient; an output beside the loss, or of an entry of its own.

    Args:
        logits: [..., C], a float type.
        labels: [...], i32.
    """
    return ops.count_equal(ops.argmax(logits), labels)


def __getattr__(name: str) -> Any:
    raise missing("aicf.losses", name, sys.modules[__name__])
