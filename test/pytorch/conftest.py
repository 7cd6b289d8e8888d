# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The import of torch modules; `make test-torch` makes a venv with PyTorch and runs it."""

import pytest

torch = pytest.importorskip("torch")
collect_ignore = [] if torch else ["cases.py"]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
