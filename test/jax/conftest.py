# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The import of JAX's steps; `make test-jax` makes a venv with JAX and runs it."""

import pytest

jax = pytest.importorskip("jax")
collect_ignore = [] if jax else ["cases.py"]
