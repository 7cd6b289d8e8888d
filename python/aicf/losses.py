# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses, with the names that PyTorch has for them.

`reduction` is "mean" (the default), "sum", or "none", which returns the elements that the
others reduce. Classes are the last dimension. Losses of 16-bit tensors are f32. An
operand of a wrong type or shape raises aicf.TraceError or, if the compiler finds it,
aicf.CompileError.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from . import functional, ops
from ._base.hints import missing
from ._tracing.pointwise import (FLOATS, INTEGERS, clamp, operand_beside, pair, promoted,
                                 where, wide)
from ._tracing.tensor import Tensor
from ._tracing.trace import as_tensor, to_int, trace_error

__all__ = ["accuracy_count", "binary_cross_entropy", "binary_cross_entropy_with_logits",
           "cross_entropy", "huber_loss", "kl_div", "l1_loss", "mse_loss", "nll_loss",
           "smooth_l1_loss"]


def _check_reduction(reduction: str, more: tuple[str, ...] = ()) -> None:
    known = ("mean", "sum", "none", *more)
    if reduction not in known:
        trace_error("reduction is %r, expected one of %s" % (reduction,
                                                             ", ".join(known)))


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    return loss.mean() if reduction == "mean" else \
        loss.sum() if reduction == "sum" else loss


def _two(pred: Any, target: Any, what: str) -> tuple[Tensor, Tensor]:
    """Returns two tensors of the same shape, in f32 or f64."""
    a, b = pair(pred, target)
    if a.shape != b.shape:
        trace_error("%s of %s and %s: expected the same shape" % (what, a, b))
    a, b = promoted(wide(a), wide(b))
    if a.dtype not in FLOATS:
        trace_error("%s of %s and %s: expected a float type" % (what, a, b))
    return a, b


def cross_entropy(logits: Any, labels: Any, *, weight: Any = None,
                  label_smoothing: float = 0.0, ignore_index: int = -100,
                  reduction: str = "mean") -> Tensor:
    """-log softmax(logits)[label] for each row, as PyTorch's cross_entropy.

    Args:
        logits: [..., C], a float type.
        labels: class numbers, [...] of i32 or i64, or the probabilities of the classes,
            [..., C] of a float type. A row whose label is `ignore_index` does not count.
            Any other label outside of [0, C) gives NaN.
        weight: [C], a weight for each class, or None. The mean over class numbers divides
            by the sum of the labels' weights.
        label_smoothing: a number in [0, 1] (Szegedy et al. 2016).
        ignore_index: the label of rows that do not count. Probabilities take the default
            only.
        reduction: "mean", "sum" or "none".
    Returns: a 0-d tensor, or [...] without reduction. It is f32 for 16-bit logits.
    """
    _check_reduction(reduction)
    if not 0 <= label_smoothing <= 1:
        trace_error("label_smoothing is %r, expected a number in [0, 1]"
                    % (label_smoothing,))
    scores, target, ignored = as_tensor(logits), as_tensor(labels), to_int(ignore_index)
    if target.dtype in FLOATS:
        if ignored != -100:
            trace_error("ignore_index is %d, but labels are %s, which are probabilities: "
                        "only class numbers are ignored" % (ignored, target))
        if target.shape == scores.shape[:-1]:
            trace_error("labels are %s, one for each row of %s: class numbers are integers. "
                        "Declare them as such, \"labels\": (%s, \"i32\")"
                        % (target, scores, target.shape))
        return _soft_cross_entropy(scores, target, weight, label_smoothing, reduction)
    _check_labels(scores, target)
    if weight is None and reduction == "mean" and label_smoothing < 1:
        return ops.softmax_cross_entropy(scores, target,
                                         label_smoothing=label_smoothing,
                                         ignore_index=ignored)
    return _negative_log(functional.log_softmax(wide(scores)), target, weight,
                         label_smoothing, ignored, reduction)


def _check_labels(scores: Tensor, labels: Tensor) -> None:
    if labels.dtype not in INTEGERS or labels.shape != scores.shape[:-1]:
        trace_error("labels are %s, expected i32 or i64 of the shape %s: the classes of "
                    "%s are its last dimension" % (labels, scores.shape[:-1], scores))


def _soft_cross_entropy(logits: Tensor, target: Tensor, weight: Any,
                        smoothing: float, reduction: str) -> Tensor:
    logits, target = _two(logits, target, "cross_entropy")
    if smoothing:
        target = target * (1 - smoothing) + smoothing / logits.shape[-1]
    terms = functional.log_softmax(logits) * target
    loss = -(terms if weight is None else terms * _weights(weight, terms)).sum(-1)
    return _reduced(loss, reduction)


def _weights(weight: Any, like: Tensor) -> Tensor:
    tensor = operand_beside(weight, like)
    if tensor.shape != like.shape[-1:]:
        trace_error("weight is %s, expected one for each of the %d classes"
                    % (tensor, like.shape[-1]))
    return tensor.astype(like.dtype)


def _negative_log(log_probs: Tensor, labels: Tensor, weight: Any, smoothing: float,
                  ignore_index: int, reduction: str) -> Tensor:
    ignored = labels == ignore_index
    safe = labels.masked_fill(ignored, 0)
    loss = -ops.pick(log_probs, safe)
    counts = ops.cast(~ignored, dtype=log_probs.dtype)
    if weight is not None:
        by_class = _weights(weight, log_probs)
        # A label that is out of range has given NaN above.
        of_label = ops.pick(ops.broadcast(by_class, shape=log_probs.shape), safe)
        loss, counts = loss * of_label, counts * of_label
    if smoothing:
        every = log_probs if weight is None else log_probs * by_class
        loss = loss * (1 - smoothing) - every.sum(-1) * (smoothing /
                                                         log_probs.shape[-1])
    loss = loss.masked_fill(ignored, 0.0)
    if reduction == "mean":
        return loss.sum() / counts.masked_fill(ignored, 0.0).sum()
    return _reduced(loss, reduction)


def nll_loss(log_probs: Any, labels: Any, *, weight: Any = None,
             ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """-log_probs[label] for each row, as PyTorch's nll_loss.

    Args:
        log_probs: [..., C], a float type, such as the result of log_softmax.
        labels: [...], i32 or i64, as in cross_entropy.
        weight, ignore_index, reduction: as in cross_entropy.
    Returns: a 0-d tensor, or [...] without reduction.
    """
    _check_reduction(reduction)
    scores, target = wide(as_tensor(log_probs)), as_tensor(labels)
    _check_labels(scores, target)
    return _negative_log(scores, target, weight, 0.0, to_int(ignore_index), reduction)


def mse_loss(pred: Any, target: Any, *, reduction: str = "mean") -> Tensor:
    """(pred - target)^2. pred and target have the same shape."""
    _check_reduction(reduction)
    a, b = _two(pred, target, "mse_loss")
    if reduction == "mean":
        return ops.mse_loss(a, b)
    return _reduced((a - b).square(), reduction)


def l1_loss(pred: Any, target: Any, *, reduction: str = "mean") -> Tensor:
    """|pred - target|. pred and target have the same shape."""
    _check_reduction(reduction)
    a, b = _two(pred, target, "l1_loss")
    if reduction == "mean":
        return ops.l1_loss(a, b)
    return _reduced((a - b).abs(), reduction)


def smooth_l1_loss(pred: Any, target: Any, *, beta: float = 1.0,
                   reduction: str = "mean") -> Tensor:
    """d^2/(2 beta) where d = |pred - target| is below beta, else d - beta/2 (Girshick
    2015). beta is a finite number >= 0, and 0 gives l1_loss."""
    _check_reduction(reduction)
    if not 0 <= beta < math.inf:
        trace_error("beta is %r, expected a finite number >= 0" % (beta,))
    if beta == 0:
        return l1_loss(pred, target, reduction=reduction)
    a, b = _two(pred, target, "smooth_l1_loss")
    distance = (a - b).abs()
    # The clamp keeps the square of a large distance, which is not used, finite.
    near = clamp(distance, None, beta).square() * (0.5 / beta)
    return _reduced(where(distance < beta, near, distance - 0.5 * beta), reduction)


def huber_loss(pred: Any, target: Any, *, delta: float = 1.0,
               reduction: str = "mean") -> Tensor:
    """d^2/2 where d = |pred - target| is below delta, else delta (d - delta/2) (Huber
    1964). delta is a finite number > 0."""
    if not 0 < delta < math.inf:
        trace_error("delta is %r, expected a finite number > 0" % (delta,))
    return smooth_l1_loss(pred, target, beta=delta, reduction=reduction) * delta


#: Below it PyTorch divides by no p (1 - p): 1e-12 as an f32.
_LEAST_VARIANCE = 9.999999960041972e-13


def binary_cross_entropy(probs: Any, target: Any, *, weight: Any = None,
                         reduction: str = "mean") -> Tensor:
    """-(target log(probs) + (1 - target) log(1 - probs)). A logarithm below -100 counts
    as -100, as in PyTorch.

    Args:
        probs, target: tensors of the same shape, in [0, 1].
        weight: a weight for each element, which broadcasts, or None.
    """
    _check_reduction(reduction)
    p, t = _two(probs, target, "binary_cross_entropy")
    fixed = ops.stop_gradient(p)
    is_zero, is_one = fixed <= math.exp(-100), fixed >= 1
    log_p = fixed.masked_fill(is_zero, 1.0).log().masked_fill(is_zero, -100.0)
    log_q = (-fixed).masked_fill(is_one, 0.0).log1p().masked_fill(is_one, -100.0)
    # PyTorch's own derivative, which corrects an output of 0 or 1, too.
    slope = (fixed - ops.stop_gradient(t)) / clamp(fixed * (1 - fixed), _LEAST_VARIANCE)
    loss = slope * (p - fixed) - (t * log_p + (1 - t) * log_q)
    return _reduced(loss if weight is None else loss * weight, reduction)


def binary_cross_entropy_with_logits(pred: Any, target: Any, *, weight: Any = None,
                                     pos_weight: Any = None,
                                     reduction: str = "mean") -> Tensor:
    """-(target log(s) + (1 - target) log(1 - s)), where s is sigmoid(pred), without
    overflow.

    Args:
        pred, target: tensors of the same shape. target is in [0, 1].
        weight: a weight for each element, which broadcasts, or None.
        pos_weight: a factor for the term with target, which broadcasts, or None.
    """
    _check_reduction(reduction)
    x, t = _two(pred, target, "binary_cross_entropy_with_logits")
    if weight is None and pos_weight is None and reduction == "mean":
        return ops.bce_with_logits(x, t)
    positive = -ops.log_sigmoid(x)
    if pos_weight is None:
        loss = (1 - t) * x + positive
    else:
        loss = (1 - t) * x + (t * (operand_beside(pos_weight, t) - 1.0) + 1.0) * positive
    return _reduced(loss if weight is None else loss * weight, reduction)


def kl_div(log_probs: Any, target: Any, *, log_target: bool = False,
           reduction: str = "mean") -> Tensor:
    """target (log target - log_probs), as PyTorch's kl_div. It is 0 where the target is 0
    and log_probs is finite.

    Args:
        log_probs: logarithms of probabilities, a float type.
        target: probabilities of the same shape, or with `log_target` their logarithms.
        reduction: also "batchmean", which is the sum divided by the first dimension.
    """
    _check_reduction(reduction, ("batchmean",))
    x, t = _two(log_probs, target, "kl_div")
    if log_target:
        loss = t.exp() * (t - x)
    else:
        loss = t * t.masked_fill(t == 0, 1.0).log() - t * x
    if reduction == "batchmean":
        return loss.sum() / (loss.shape[0] if loss.shape else 1)
    return _reduced(loss, reduction)


def accuracy_count(logits: Any, labels: Any) -> Tensor:
    """Counts the rows whose largest logit is at their label. The result is a 0-d i32.

    It has no gradient. Return it beside the loss, or from an entry of its own.

    Args:
        logits: [..., C], a float type.
        labels: [...], i32 or i64.
    """
    return ops.count_equal(ops.argmax(logits), labels)


def __getattr__(name: str) -> Any:
    raise missing("aicf.losses", name, sys.modules[__name__])
