# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a compiled step is judged beside another library's: `verify` of both importers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: How often the other library's distance between f32 and f64 a value may differ.
FACTOR = 8.0
#: Parts of the largest number that other roundings of what goes in may excuse. A rounding that
#: a step magnifies, as a division by a small deviation does, stays below. What is more comes
#: from the other side of a bound, where a fault would be hidden.
MAGNIFIED = 2.0 ** -12


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


def excused(single: Any, shaken: Any, most: float) -> float:
    """A distance that is rounding, because another rounding of what goes in makes it.

    Args:
        single, shaken: what the library computes in f32, and what from the other rounding.
        most: the largest such distance.
    """
    return min(most, FACTOR * largest_of(np.asarray(shaken - single, "f8")))


def largest_of(array: Any) -> float:
    """The largest magnitude among the finite elements; 0 if there is none."""
    return float(np.abs(array[np.isfinite(array)]).max(initial=0))


def special_values(array: Any) -> Any:
    """A batch of the same type within its range: zeros, equal neighbours, whole numbers, the
    least and the largest; None: it has one number, or what is not finite.

    Args:
        array: of floats, of NumPy.
    """
    own = np.array(array, copy=True, order="C")
    if own.size < 2 or not np.isfinite(own.astype("f8")).all():
        return None
    flat = own.reshape(-1)
    low, high = flat.min(), flat.max()
    zero = min(max(flat.dtype.type(0), low), high)
    flat[0::7] = zero
    flat[1::7] = -flat[0::7][:len(flat[1::7])] if low < 0 < high else low
    flat[3::7] = flat[2::7][:len(flat[3::7])]
    flat[4::7] = np.clip(np.round(flat[4::7].astype("f8")), float(low), float(high))
    flat[5::7], flat[6::7] = low, high
    if own.ndim > 1:  # rows of one number
        own[0], own[-1] = zero, high
    return own
