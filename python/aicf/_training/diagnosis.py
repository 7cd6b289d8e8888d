# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of a run whose loss is not finite any more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._programs.convert import values_of
from .._programs.find_nan import not_finite, wrong_index
from ..program import Entry


def of_a_lost_run(step: Entry, batch: Mapping[str, Any]) -> str:
    """Says what was checked, which is the last batch, and then the parameters."""
    inputs = not_finite(batch)
    if inputs:
        return "In the last batch, " + inputs + ": clean the data"
    index = wrong_index(step, batch)
    if index:
        return "In the last batch, " + index
    lost = [name for name, value in values_of(step.program) if not_finite({name: value})]
    what = "The last batch is finite, and %s" % (
        "so are all parameters" if not lost else "%d parameters are not any more: %s" % (
            len(lost), ", ".join(lost[:3]) + ", ..." * (len(lost) > 3)))
    return what + (". program.reset() begins anew; aicf.find_nan(step, *batch) then names "
                   "the first op that gives no number, and a smaller learning rate or "
                   "clip_norm=1.0 often helps")
