# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long programs: memory grows as they do. How long they take is measured by
benchmarks/scaling.py."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import BIN, run_tool

sys.path.insert(0, str(pathlib.Path(os.environ["AICF_SOURCE_DIR"]) / "benchmarks"))
import scaling  # noqa: E402


def peak_of(folder, make, n):
    """MB that aicf-compile takes at most."""
    source = folder / "program.mlir"
    source.write_text(make(n))
    process = subprocess.Popen([str(BIN / "aicf-compile"), str(source), "-o",
                                str(folder / "program.plan"),
                                *scaling.FLAGS.get(make, [])])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    return usage.ru_maxrss / 1024


def test_memory_is_linear(tmp_path):
    """Four times the program, four times the memory: not sixteen times."""
    for make in scaling.PROGRAMS:
        least, short, long = (peak_of(tmp_path, make, n) for n in (1, 1000, 4000))
        assert long - least < 6 * (short - least) + 10, make.__name__


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_views_add_no_call(target, tmp_path):
    """Ten views in front of each product: the calls are those of the products."""
    layers = 20
    source, plan = tmp_path / "p.mlir", tmp_path / "p.plan"
    source.write_text(scaling.views(12 * layers))
    done = run_tool("aicf-compile", source, "-o", plan, "--target=" + target)
    assert done.returncode == 0, done.stderr
    dump = json.loads(run_tool("aicf-plan", "dump", "--json", plan).stdout)
    kinds = collections.Counter(
        step["kind"] for call in dump["entries"][0]["calls"]
        for step in call["body"]["primitives"])
    assert kinds == {
        "gemm": 3 * layers - 1,  # forward, dW, and dX but for the first
        "gelu": layers + 1, "gelu_bwd": layers, "adam_step": layers,
        "pad": layers - 1, "reduce_sum": layers - 1,  # gradients of slice and broadcast
        "reduce_mean": 1, "fill_like": 1, "scale": 1, "step_inc": 1, "bias_corr": 1}
