# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metrics of predictions: some by name, and functions of other packages as they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import InvalidArgumentError, near_names
from .totals import Metric

Function = Callable[..., Any]


def classes_of(predictions: Any, targets: Any) -> Any:
    """Returns class numbers for logits or probabilities [rows, ..., classes] beside
    targets [rows, ...], and predictions of another shape as they are."""
    if predictions.ndim == targets.ndim + 1 and predictions.shape[:-1] == targets.shape \
            and predictions.shape[-1] > 1:
        return predictions.argmax(-1)
    return predictions


def _like(predictions: Any, targets: Any) -> tuple[Any, Any]:
    """Both in f64 and in one shape: [rows, 1] beside [rows] would be a table of differences."""
    if predictions.size == targets.size:
        targets = targets.reshape(predictions.shape)
    return predictions.astype("f8"), targets.astype("f8")


def accuracy(predictions: Any, targets: Any) -> float:
    """The part of the rows whose class is right. Labels have any shape; predictions are
    logits [..., classes], or [...] or [..., 1] with one logit: above 0 is class 1."""
    found = classes_of(predictions, targets)
    if found is predictions and found.dtype.kind == "f":
        found = (found.reshape(targets.shape) > 0).astype(targets.dtype)
    return float((found == targets).mean())


def mean_absolute_error(predictions: Any, targets: Any) -> float:
    """The mean of |prediction - target|."""
    found, wanted = _like(predictions, targets)
    return float(abs(found - wanted).mean())


def mean_squared_error(predictions: Any, targets: Any) -> float:
    """The mean of (prediction - target)^2."""
    found, wanted = _like(predictions, targets)
    return float(((found - wanted) ** 2).mean())


def r2(predictions: Any, targets: Any) -> float:
    """1 - the squares of the errors / those of the targets around their mean."""
    found, wanted = _like(predictions, targets)
    return float(1 - ((found - wanted) ** 2).sum() / ((wanted - wanted.mean(0)) ** 2).sum())


#: Metrics by their names.
NAMED: Mapping[str, Function] = {
    "accuracy": accuracy, "mae": mean_absolute_error, "mse": mean_squared_error, "r2": r2}


def _home(function: Any) -> str:
    module = getattr(function, "__module__", None) or type(function).__module__
    return str(module).partition(".")[0]


def _of_sklearn(function: Function) -> Function:
    """scikit-learn's take (y_true, y_pred), where y_pred are classes, or y_score."""
    names = list(inspect.signature(function).parameters)

    def call(predictions: Any, targets: Any) -> Any:
        takes_classes = targets.dtype.kind in "iub" and names[1] == "y_pred"
        found = classes_of(predictions, targets) if takes_classes else predictions
        return function(targets, found)
    return call


def _of_torchmetrics(function: Any) -> Function:
    """torchmetrics' functions and objects take tensors (preds, target)."""
    import torch

    def call(predictions: Any, targets: Any) -> Any:
        if hasattr(function, "reset"):
            function.reset()
        wanted = torch.as_tensor(targets)
        return function(torch.as_tensor(predictions),
                        wanted.long() if wanted.dtype == torch.int32 else wanted)
    return call


def as_function(function: Function) -> Function:
    """Returns f(predictions, *targets) of NumPy arrays, for a function of ours, of
    scikit-learn or of torchmetrics."""
    wrap = {"sklearn": _of_sklearn, "torchmetrics": _of_torchmetrics}.get(_home(function))
    return wrap(function) if wrap else function


def as_dict(metrics: Any, outputs: Iterable[str]) -> dict[str, Metric]:
    """Returns metrics by name, from a dict, or from names and functions in a list. A name
    is that of an output, whose mean it is, or one of NAMED.

    Raises: TypeError; InvalidArgumentError: a name that is neither.
    """
    if isinstance(metrics, Mapping):
        return {name: as_function(kind) if callable(kind) else kind
                for name, kind in metrics.items()}
    if metrics is None:
        return {}
    if isinstance(metrics, str) or callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Iterable):
        raise TypeError("metrics is %.80r, expected names or functions in a list, or a "
                        "dict such as {\"accuracy\": \"mean\"}" % (metrics,))
    known = set(outputs)
    found: dict[str, Metric] = {}
    for each in metrics:
        if callable(each):
            own = getattr(each, "__name__", type(each).__name__)
            while own in found:
                own += "_"
            found[own] = as_function(each)
        elif each in known:
            found[each] = "mean"
        elif each in NAMED:
            found[each] = NAMED[each]
        else:
            names = [*sorted(known - {"loss"}), *NAMED]
            raise InvalidArgumentError(
                "there is no metric %r%s: it is neither an output of the step nor one of "
                "%s; a function f(predictions, *targets) is a metric, too" % (
                    each, near_names(each, names), ", ".join(NAMED)))
    return found
