# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of a run whose loss is not finite any more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _runtime
from ..errors import AICFError, InvalidArgumentError
from ..program import Entry


def not_finite(arrays: Mapping[str, Any]) -> str:
    """Returns which of the arrays have NaN or infinities and where, as a sentence, or ""."""
    import numpy
    found = []
    for name, value in arrays.items():
        host = numpy.asarray(value if isinstance(value, numpy.ndarray)
                             else getattr(value, "numpy", lambda: value)())
        if host.dtype.kind != "f" or numpy.isfinite(host).all():
            continue
        wrong = numpy.argwhere(~numpy.isfinite(host))
        found.append("%r has %d values that are not finite, the first at %s" % (
            name, len(wrong), wrong[0].tolist()))
    return "; ".join(found)


def _wrong_index(step: Entry, batch: Mapping[str, Any]) -> str:
    """Returns what a run of the batch that checks labels and indices says, or "". It has
    parameters of its own, as a program starts with them."""
    program = step.program
    try:
        executor = _runtime.Executor.create(program.plan, program.device,
                                            seed=program.seed, check_indices=True)
        for tensor in program.plan.persistent():
            if tensor["role"] == "hyper":
                executor.write(tensor["name"], program.executor.read(tensor["name"]))
        _runtime.Runner(executor, step.name, None)(**batch)
    except InvalidArgumentError as error:
        return str(error)
    except AICFError:  # another kind of step, or no memory: nothing is known
        pass
    return ""


def of_a_lost_run(step: Entry, batch: Mapping[str, Any]) -> str:
    """Says what was checked, which is the last batch, and then the parameters."""
    inputs = not_finite(batch)
    if inputs:
        return "In the last batch, " + inputs + ": clean the data"
    index = _wrong_index(step, batch)
    if index:
        return "In the last batch, " + index
    lost = [name for name, value in step.state_dict().items() if not_finite({name: value})]
    what = "The last batch is finite, and %s" % (
        "so are all parameters" if not lost else "%d parameters are not any more: %s" % (
            len(lost), ", ".join(lost[:3]) + ", ..." * (len(lost) > 3)))
    return what + (". program.reset() begins anew; aicf.find_nan(step, *batch) then names "
                   "the first op that gives no number, and a smaller learning rate or "
                   "clip_norm=1.0 often helps")
