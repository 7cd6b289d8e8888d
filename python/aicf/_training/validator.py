# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The validation behind each epoch: the loss of the step, or metrics of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._programs import predict, sizes
from .._programs.further import compile_into
from .._programs.signature import Spec, spec_of
from ..errors import InvalidArgumentError
from ..program import Entry
from . import sources
from .totals import Metric, Totals

EVALUATE = "evaluate"


def inputs_of(step: Entry) -> tuple[str, ...]:
    return step.family.root.signature.inputs


class Validator:
    """Evaluates the loss function in evaluation mode over all rows of the validation."""

    def __init__(self, step: Entry, data: Any, batch_size: int | None,
                 evaluate: Entry | None, kinds: Mapping[str, Metric]) -> None:
        self.step, self.kinds = step, kinds
        self.functions = {n: k for n, k in kinds.items() if callable(k)}
        names = inputs_of(evaluate or step)
        self.arrays: dict[str, Any] | None = None
        if sources.holds_arrays(data):
            self.arrays = sources.named_arrays(data, names, "validation")
            rows = batch_size or sizes.common_rows(
                (evaluate or step).family.root.signature.specs)
            self.source: sources.Source = sources.Arrays(
                self.arrays, min(rows or predict.DEFAULT_ROWS, sources.count_rows(
                    self.arrays, "validation")), False, 0)
        elif self.functions:
            raise InvalidArgumentError("metrics of predictions need arrays as "
                                       "validation, not batches")
        else:
            self.source = sources.Iterables(data, names, epochs=1)
            if sources.iter_is_self(data):
                raise InvalidArgumentError("validation is an iterator, which lasts for "
                                           "one epoch: pass a list of its batches")
        self.entry = evaluate

    def logs(self) -> dict[str, float]:
        totals = Totals(self.kinds)
        for batch, rows in self.source.batches(0, 0):
            self.entry = self.entry or self._compile(batch)
            totals.add(self.entry(**batch), rows)
        return {**totals.means("val_"), **self._of_predictions()}

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

    def _of_predictions(self) -> dict[str, float]:
        if not self.functions:
            return {}
        assert self.arrays is not None  # because there are functions
        model = self.step.family.root.signature.model
        taken = predict.forward_inputs(model) if model else list(  # of a loaded plan
            predict.entry_of(self.step, predict.NAME).signature.inputs)
        if not set(taken) <= set(self.arrays):  # by position, as the model is called
            taken = list(self.arrays)[:len(taken)]
        import numpy
        predictions = self.step.predict(*[self.arrays[name] for name in taken])
        targets = [numpy.asarray(array) for name, array in self.arrays.items()
                   if name not in taken]
        return {"val_" + name: float(function(predictions, *targets))
                for name, function in self.functions.items()}

    def close(self) -> None:
        self.source.close()
