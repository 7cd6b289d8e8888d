# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A few rounds of fuzz_bindings.py, and that it sees a crash."""

import os
import pathlib

import fuzz_bindings
import pytest


@pytest.mark.parametrize("seed", range(4))
def test_rounds(seed):
    assert fuzz_bindings.run_round(seed) == ""


def test_a_crash_is_seen(monkeypatch, tmp_path):
    copy = tmp_path / "fuzz_bindings.py"
    copy.write_text(pathlib.Path(fuzz_bindings.__file__).read_text().replace(
        "    import threading\n", "    os.kill(os.getpid(), 11)\n"))
    monkeypatch.setattr(fuzz_bindings, "__file__", os.fspath(copy))
    assert "signal SIGSEGV" in fuzz_bindings.run_round(0)
