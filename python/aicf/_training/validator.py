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
        self._has_noted = False

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
        taken = self._taken(batch)
        used = set(taken.values())
        return (self.step.predict({name: batch[own] for name, own in taken.items()}),
                [numpy.array(array) for name, array in batch.items()
                 if name not in used and numpy.ndim(array)])

    def _taken(self, batch: Mapping[str, Any]) -> dict[str, str]:
        """Returns the inputs that the model takes, by the names of forward's parameters: those
        with which the step calls it, or else of the same names, or the first ones."""
        signature = self.step.family.root.signature
        if signature.model is None:  # of a loaded plan
            names = predict.inputs_of_plan(self.step, batch)
            return dict(zip(names, names if set(names) <= set(batch) else batch))
        if signature.constants:
            raise InvalidArgumentError(
                "metrics need predictions, which have the model's inputs alone, and the step "
                "calls the model with %s: return the metric from the loss function" % ", ".join(
                    "%s=%.40r" % item for item in signature.constants.items()))
        taken = {p: n for p, n in signature.called.items() if n is not None and n in batch}
        computed = [p for p, n in signature.called.items() if n is None]
        if computed and not self._has_noted:
            self._has_noted = True
            sizes.note("the step computes %s of the model from its inputs, and metrics call the "
                       "model with the inputs themselves" % ", ".join(map(repr, computed)))
        needed = [p for p, is_needed in predict.forward_inputs(signature.model).items()
                  if is_needed]
        taken.update((p, p) for p in (*computed, *needed) if p not in taken and p in batch)
        return taken if set(needed) <= set(taken) else dict(zip(needed, batch))

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
