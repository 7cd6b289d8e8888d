# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loss of a step in evaluation mode, and metrics of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._programs import predict, sizes
from .._programs.convert import Converter, array_of
from .._programs.further import compile_into
from .._programs.signature import Spec, spec_of
from ..errors import InvalidArgumentError
from ..program import Entry
from . import sources
from .totals import Metric, Totals

EVALUATE = "evaluate"


class Validator:
    """Evaluates the loss function in evaluation mode over all rows of the validation."""

    def __init__(self, step: Entry, data: Any, batch_size: int | None,
                 evaluate: Entry | None, kinds: Mapping[str, Metric],
                 what: str = "validation") -> None:
        self.step, self.kinds = step, kinds
        self.functions = {n: k for n, k in kinds.items() if callable(k)}
        signature = (evaluate or step).family.root.signature
        convert = Converter(signature.specs)
        if sources.holds_arrays(data):
            arrays = sources.named_data(evaluate or step, data, what)
            rows = batch_size or sizes.common_rows(signature.specs) or predict.DEFAULT_ROWS
            self.source: sources.Source = sources.Arrays(
                arrays, min(rows, sources.count_rows(
                    {n: array_of(a, n) for n, a in arrays.items()}, what)),
                False, 0, convert)
        else:
            self.source = sources.Iterables(
                data, lambda item, what: sources.named_data(evaluate or step, item, what),
                1, convert)
            if sources.iter_is_self(data):
                raise InvalidArgumentError("validation is an iterator, which lasts for "
                                           "one epoch: pass a list of its batches")
        self.entry = evaluate

    def values(self, prefix: str = "") -> dict[str, float]:
        """Returns the means of the loss and of outputs, and metrics of predictions."""
        totals = Totals(self.kinds)
        predictions: list[Any] = []
        targets: list[list[Any]] = []
        for batch, rows in self.source.batches(0, 0):
            self.entry = self.entry or self._compile(batch)
            totals.add(self.entry(**batch), rows)
            if self.functions:
                found, wanted = self._predictions_of(batch)
                predictions.append(found)
                targets.append(wanted)
        if not targets and self.functions:
            raise InvalidArgumentError("validation gave no batches")
        return {**totals.means(prefix), **{
            prefix + name: float(function(*_joined(predictions, targets)))
            for name, function in self.functions.items()}}

    def _predictions_of(self, batch: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Returns the model's predictions for a batch, and the inputs that are not the
        model's."""
        import numpy
        signature = self.step.family.root.signature
        called = signature.called
        if not called or not set(called.values()) <= set(batch):
            needed = [name for name, is_needed in predict.forward_inputs(
                signature.model).items() if is_needed] if signature.model else list(
                predict.entry_of(self.step, predict.NAME).signature.inputs)
            if not set(needed) <= set(batch):  # by position, as a model is called
                called = dict(zip(needed, batch))
            else:
                called = {name: name for name in needed}
        taken = set(called.values())
        return (self.step.predict({name: batch[own] for name, own in called.items()}),
                [numpy.array(array) for name, array in batch.items()
                 if name not in taken and numpy.ndim(array)])

    def _compile(self, batch: Mapping[str, Any]) -> Entry:
        program, signature = self.step.program, self.step.family.root.signature
        if program.lowered is None:
            return predict.entry_of(self.step, EVALUATE)
        for known in program.entries.values():
            own = known.signature
            if own.source == signature.source and own.model is signature.model \
                    and not own.is_training and own.name.startswith(EVALUATE):
                return known
        if signature.resident:
            raise InvalidArgumentError(
                "%r takes its batches on the device, so it cannot be evaluated on other "
                "rows: give fit(evaluate=aicf.compile(a function of a batch, ..., "
                "program=step))" % self.step.name)
        assert signature.source is not None
        specs: dict[str, Spec] = {n: spec_of(a, n) for n, a in batch.items()}
        return compile_into(program, signature.source, specs, model=signature.model,
                            name=predict.own_name(self.step, EVALUATE))

    def close(self) -> None:
        self.source.close()


def _joined(predictions: list[Any], targets: list[list[Any]]) -> list[Any]:
    """Returns predictions and targets of all batches. Predictions may be tuples."""
    import numpy
    if isinstance(predictions[0], tuple):
        found: Any = tuple(map(numpy.concatenate, zip(*predictions)))
    elif isinstance(predictions[0], dict):
        found = {name: numpy.concatenate([p[name] for p in predictions])
                 for name in predictions[0]}
    else:
        found = numpy.concatenate(predictions)
    return [found, *map(numpy.concatenate, zip(*targets))]
