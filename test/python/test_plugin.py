# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libAICFPlugin.so in a stock mlir-opt gives what aicf-opt gives."""

import pathlib
import subprocess

import pytest

from conftest import BIN, SOURCE, run_tool

PLUGIN = BIN.parent / "lib/libAICFPlugin.so"
MLIR_OPT = pathlib.Path("/usr/lib/llvm-22/bin/mlir-opt")

pytestmark = pytest.mark.skipif(
    not PLUGIN.exists() or not MLIR_OPT.exists() or "ASAN:BOOL=ON" in
    (BIN.parent / "CMakeCache.txt").read_text(), reason="no plugin, or no stock mlir-opt")


def mlir_opt(file, *flags, plugins=("dialect", "pass")):
    return subprocess.run(
        [MLIR_OPT, file, *["--load-%s-plugin=%s" % (p, PLUGIN) for p in plugins], *flags],
        capture_output=True, text=True)


@pytest.mark.parametrize("example", ["digits", "fashion_mnist", "residual"])
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_the_pipeline(example, target):
    file = SOURCE / "examples" / example / "model.mlir"
    done = mlir_opt(file, "--pass-pipeline=builtin.module(lower-to-backend{target=%s})"
                    % target)
    assert done.returncode == 0, done.stderr
    ours = run_tool("aicf-opt", file, "--lower-to-backend=target=" + target)
    assert done.stdout == ours.stdout and "aicf_rt.plan" in done.stdout


def test_the_dialect_alone():
    file = SOURCE / "examples/digits/model.mlir"
    done = mlir_opt(file, plugins=("dialect",))
    assert done.returncode == 0 and "aicf.linear" in done.stdout
    passes = "--pass-pipeline=builtin.module(aicf-verify-entries)"
    done = mlir_opt(file, passes, plugins=("dialect",))
    assert done.returncode == 1 and "aicf-verify-entries" in done.stderr


def test_errors_are_diagnostics(tmp_path):
    file = tmp_path / "f.mlir"
    file.write_text('func.func @f(%x: tensor<4xf32> {aicf.role = "inputs"}) {return}')
    done = mlir_opt(file)
    assert done.returncode == 1 and "aicf.role" in done.stderr
