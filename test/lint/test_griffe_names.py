# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/griffe_names.py: items of several names."""

import pathlib
import sys

import pytest

pytest.importorskip("griffe")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from griffe_names import one_each  # noqa: E402


def test_an_item_of_several_names_is_one_of_each():
    found = one_each("Does, what it: says.\n\nArgs:\n    low, high: the first\n"
                     "        and the last\n    data: as in fit, too: all\n")
    assert found == ("Does, what it: says.\n\nArgs:\n    low: the first\n        and the last\n"
                     "    high: the first\n        and the last\n    data: as in fit, too: all\n")
