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


def test_a_source_with_switches_that_nothing_is_made_of_is_refused(tmp_path):
    """scripts/mutants would report that no test reaches it."""
    (tmp_path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.20)
project(Mutants NONE)
file(STRINGS "%s/cmake/AICFTargets.cmake" text NEWLINE_CONSUME)
string(REGEX MATCH "function.aicf_check_instrumented.*" text "${text}")
string(REGEX REPLACE "endfunction.*" "endfunction()" text "${text}")
cmake_language(EVAL CODE "${text}")
set(instrumented /a.cpp /b.cpp /c.h)
set_property(GLOBAL PROPERTY AICF_INSTRUMENTED ${USED})
aicf_check_instrumented()
""" % SOURCE)
    for used, code in (("/a.cpp", 1), ("/a.cpp;/b.cpp", 0)):
        done = subprocess.run(
            ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-DUSED=" + used],
            capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert ("/b.cpp" in done.stderr and "/c.h" not in done.stderr) == bool(code)
