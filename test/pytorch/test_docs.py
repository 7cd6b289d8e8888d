# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page for PyTorch's users: its blocks run one after the other."""

import os
import pathlib
import re

PAGE = pathlib.Path(os.environ["AICF_SOURCE_DIR"]) / "docs/FromPyTorch.md"


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S):
        exec(compile(block, str(PAGE), "exec"), scope)
    accuracy = re.search(r"accuracy ([\d.]+)", capsys.readouterr().out)
    assert float(accuracy.group(1)) > 0.85
    assert (tmp_path / "checkpoint.pt").exists()
