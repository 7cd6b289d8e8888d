# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metrics of predictions: some by name, and functions of other packages as they are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import InvalidArgumentError, near_names
from .totals import Metric

Function = Callable[..., Any]


def classes_of(predictions: Any, targets: Any) -> Any:
    """Returns class numbers for logits [rows, ..., classes] beside targets [rows, ...], for
    one logit a row, where above 0 is class 1, and for predictions that are numbers already."""
    if predictions.ndim == targets.ndim + 1 and predictions.shape[:-1] == targets.shape \
            and predictions.shape[-1] > 1:
        return predictions.argmax(-1)
    if predictions.dtype.kind == "f" and predictions.size == targets.size:
        return (predictions.reshape(targets.shape) > 0).astype(targets.dtype)
    return predictions


def _like(predictions: Any, targets: Any) -> tuple[Any, Any]:
    """Both in f64 and in one shape: [rows, 1] beside [rows] would be a table of differences."""
    if predictions.size == targets.size:
        targets = targets.reshape(predictions.shape)
    return predictions.astype("f8"), targets.astype("f8")


def accuracy(predictions: Any, targets: Any) -> float:
    """The part of the rows whose class is right. Labels have any shape; predictions are
    logits [..., classes], or [...] or [..., 1] with one logit: above 0 is class 1."""
    return float((classes_of(predictions, targets) == targets).mean())


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


def _behind(function: Any) -> Any:
    """Returns what a functools.partial calls, and another function as it is."""
    return _behind(function.func) if isinstance(function, functools.partial) else function


def _module_of(function: Any) -> str:
    function = _behind(function)
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _of_sklearn(function: Function) -> Function:
    """scikit-learn's take (y_true, y_pred). Those that judge a classification take classes
    as y_pred, and logits or probabilities as y_score."""
    takes_classes = list(inspect.signature(function).parameters)[1] == "y_pred" \
        and not _module_of(function).endswith("._regression")

    def call(predictions: Any, targets: Any) -> Any:
        are_classes = takes_classes and targets.dtype.kind in "iub"
        return function(targets, classes_of(predictions, targets)
                        if are_classes else predictions)
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
    home = _module_of(function).partition(".")[0]
    wrap = {"sklearn": _of_sklearn, "torchmetrics": _of_torchmetrics}.get(home)
    return wrap(function) if wrap else function


def _name_of(function: Any) -> str:
    function = _behind(function)
    return str(getattr(function, "__name__", type(function).__name__))


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
            own = _name_of(each)
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
