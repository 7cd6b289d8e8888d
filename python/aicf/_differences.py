# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a compiled step is judged beside another library's: `verify` of both importers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: How often the other library's distance between f32 and f64 a value may differ.
FACTOR = 8.0


def difference(ours: Any, theirs: Any, double: Any, least: float, library: str
               ) -> tuple[float, str] | None:
    """How far a value is from the other library's, and that in words; None: near enough.

    An infinity or NaN that the library's f32 and f64 have in common is expected. Where only
    its f32 is finite or only its f64, nothing is. NaN beside other elements hides none.

    Args:
        ours, theirs: f64 arrays of one shape, of what was computed in f32.
        double: what the library computes in f64; None: there is no such thing.
        least: a distance that is rounding.
        library: its name, for the text.
    """
    exact = theirs if double is None else double
    known = np.isfinite(exact) & np.isfinite(theirs)
    special = ~known & ((theirs == exact) | np.isnan(theirs) & np.isnan(exact))
    wrong = special & (ours != theirs) & ~(np.isnan(ours) & np.isnan(theirs)) \
        | known & ~np.isfinite(ours)
    if wrong.any():
        return math.inf, "has %g where %s has %g" % (ours[wrong].flat[0], library,
                                                     theirs[wrong].flat[0])
    distance = float(np.abs(ours - exact)[known].max(initial=0))
    rounding = float(np.abs(theirs - exact)[known].max(initial=0))
    allowed = max(FACTOR * rounding, least)
    if distance <= allowed:
        return None
    return distance / (allowed or 1.0), "differs by %.3g, %.3g may be rounding" % (
        distance, allowed)


def largest_of(array: Any) -> float:
    """The largest magnitude among the finite elements; 0 if there is none."""
    return float(np.abs(array[np.isfinite(array)]).max(initial=0))
