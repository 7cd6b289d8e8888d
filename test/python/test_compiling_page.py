# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/Compiling.md: its step and its commands, run as they stand there."""

import os
import re
import shlex
import subprocess

import pytest

from conftest import BIN, SOURCE

PAGE = (SOURCE / "docs/Compiling.md").read_text()


def commands():
    """The indented commands, without their comments."""
    text = re.sub(r"\\\n *", "", PAGE)
    found = re.findall(r"^    (aicf-[^\n]*?)(?:  +#[^\n]*)?$", text, re.M)
    return [c for c in found if "cuda" not in c or "aicf-compile" in c]


@pytest.fixture
def folder(tmp_path):
    step = re.search(r"^```mlir\n(.*?)^```", PAGE, re.M | re.S).group(1)
    (tmp_path / "step.mlir").write_text(step)
    (tmp_path / "model.mlir").write_text(
        "func.func @f(%x: tensor<4x8xf32> {aicf.role = \"input\", aicf.name = \"x\"}) ->"
        " (tensor<4x8xf32> {aicf.name = \"y\"}) {\n"
        "  %y = linalg.exp ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)"
        " -> tensor<4x8xf32>\n  return %y : tensor<4x8xf32>\n}\n")
    for name in ("step", "old", "new"):
        subprocess.run([BIN / "aicf-compile", "step.mlir", "-o", name + ".plan"],
                       cwd=tmp_path, check=True)
    return tmp_path


def test_there_are_commands_for_every_tool():
    names = {c.split()[0] for c in commands()}
    assert names == {"aicf-opt", "aicf-compile", "aicf-plan", "aicf-run"}
    assert len(commands()) >= 14


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_page(folder, command):
    whole = command.replace("0.5 ... --output", "0.5 --input target=64x8xf32=1 --set lr=0.1 "
                            "--output")
    whole = whole.replace(" ...", "")
    done = subprocess.run(shlex.split(whole), cwd=folder, text=True, capture_output=True,
                          env={**os.environ, "PATH": "%s:%s" % (BIN, os.environ["PATH"])})
    assert done.returncode == 0, done.stderr
