# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What CMake says on a machine that lacks something."""

import os
import pathlib
import subprocess

SOURCE = pathlib.Path(os.environ.get("AICF_SOURCE_DIR",
                                     pathlib.Path(__file__).resolve().parents[2]))


def test_without_mlir_it_says_what_installs_it(tmp_path):
    done = subprocess.run(
        ["cmake", "-S", SOURCE, "-B", tmp_path, "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON",
         "-DAICF_ENABLE_CUDA=OFF", "-DAICF_BUILD_PYTHON=OFF"],
        capture_output=True, text=True, check=False)
    assert done.returncode != 0
    for text in ("needs MLIR 22", "make setup", "-DAICF_BUILD_COMPILER=OFF"):
        assert text in done.stderr, done.stderr
