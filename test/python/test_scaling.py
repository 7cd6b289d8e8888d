# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long programs: memory grows as they do. How long they take is measured by
benchmarks/scaling.py."""

import os
import pathlib
import subprocess
import sys

from conftest import BIN

sys.path.insert(0, str(pathlib.Path(os.environ["AICF_SOURCE_DIR"]) / "benchmarks"))
import scaling  # noqa: E402


def peak_of(folder, make, n):
    """MB that aicf-compile takes at most."""
    source = folder / "program.mlir"
    source.write_text(make(n))
    process = subprocess.Popen([str(BIN / "aicf-compile"), str(source), "-o",
                                str(folder / "program.plan")])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    return usage.ru_maxrss / 1024


def test_memory_is_linear(tmp_path):
    """Four times the program, four times the memory: not sixteen times."""
    for make in scaling.PROGRAMS:
        least, short, long = (peak_of(tmp_path, make, n) for n in (1, 1000, 4000))
        assert long - least < 6 * (short - least) + 10, make.__name__
