# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch's users read first: the page, the notebook and the example project."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import torch

import aicf.examples

PAGE = pathlib.Path(os.environ["AICF_SOURCE_DIR"]) / "docs/FromPyTorch.md"
EXAMPLES = pathlib.Path(aicf.examples.__file__).parent


def accuracy_of(text):
    return float(re.findall(r"accuracy:? ([\d.]+)", text)[-1])


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S):
        exec(compile(block, str(PAGE), "exec"), scope)
    assert accuracy_of(capsys.readouterr().out) > 0.85
    assert (tmp_path / "checkpoint.pt").exists()


@pytest.mark.parametrize("page, package", [
    ("HuggingFace.md", "accelerate"), ("Tables.md", "pandas")])
def test_other_pages_run(page, package, tmp_path, monkeypatch):
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    text = (PAGE.parent / page).read_text()
    blocks = re.findall(r"^```python(?: pandas)?\n(.*?)^```", text, re.M | re.S)
    scope = {"__name__": "page"}
    exec(compile("\n".join(blocks), page, "exec"), scope)
    if page == "Tables.md":
        assert (scope["frame"].guess == scope["frame"].buys).mean() > 0.95


def test_the_three_lines_of_readme():
    text = (pathlib.Path(os.environ["AICF_SOURCE_DIR"]) / "README.md").read_text()
    (block,) = re.findall(r"^```python torch\n(.*?)^```", text, re.M | re.S)
    model = torch.nn.Linear(6, 3)
    scope = {"model": model, "F": torch.nn.functional, "x": torch.randn(8, 6),
             "labels": torch.randint(0, 3, (8,)),
             "optimizer": torch.optim.AdamW(model.parameters())}
    exec(compile(block, "README.md", "exec"), scope)
    assert float(scope["loss"]) > 0


def test_the_notebook_runs(capsys):
    cells = json.loads((EXAMPLES / "pytorch.ipynb").read_text())["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    assert len(code) > 5
    scope = {}
    for source in code:
        exec(compile(source, "pytorch.ipynb", "exec"), scope)
    assert accuracy_of(capsys.readouterr().out) > 88


def project(*flags):
    return subprocess.run([sys.executable, "-W", "ignore", "-m",
                           "aicf.examples.pytorch_digits", *map(str, flags)],
                          capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("backend", ["aicf", "torch"])
def test_the_project_trains(backend):
    done = project("--backend", backend)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^epoch \d+/20  loss", done.stdout, re.M)) == 20
    assert accuracy_of(done.stdout) > 88


def test_a_run_goes_on_with_the_other_backend(tmp_path):
    file = tmp_path / "digits.pt"
    for backend, epoch in (("aicf", 3), ("torch", 6), ("aicf", 9)):
        done = project("--backend", backend, "--checkpoint", file, "--stop-after", epoch,
                       *(["--resume"] if epoch > 3 else []))
        assert done.returncode == 0, done.stderr
        assert re.findall(r"^epoch (\d+)/", done.stdout, re.M) == [
            str(e) for e in range(epoch - 2, epoch + 1)]
        state = torch.load(file, weights_only=True)
        assert state["epoch"] == epoch
        assert all(int(s["step"]) == 30 * epoch for s in state["optimizer"]["state"].values())
    assert accuracy_of(done.stdout) > 85


@pytest.mark.parametrize("flags, message", [
    (["--backend", "jax"], "invalid choice"), (["--accumulate", "0"], "expected 1 or more"),
    (["--resume"], "there is no file ''"), (["--device", "tpu"], "device is 'tpu'")])
def test_wrong_flags_of_the_project(flags, message):
    done = project(*flags)
    assert done.returncode != 0 and message in done.stderr
