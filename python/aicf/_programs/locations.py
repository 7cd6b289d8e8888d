# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call's location says: "fc0 at /src/model.py:5:0"."""

from __future__ import annotations


def split_location(text: str) -> tuple[str, str]:
    """Returns the path of the module, or "", and "file:line" without the column."""
    layer, between, place = text.partition(" at ")
    if not between or "/" in layer:  # a folder may be called "look at this"
        layer, place = "", text
    return layer, place.rpartition(":")[0]
