# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""100 random modules; `random_modules.py --count N --seed S` makes more."""

import pytest
from random_modules import check


@pytest.mark.parametrize("seed", range(100))
def test_random_module(seed):
    check(seed)
