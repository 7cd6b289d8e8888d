# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/fetch_headers.py where pip cannot help, and what it takes of pip's settings."""

import importlib.util
import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "fetch_headers.py"


def test_a_package_index_that_has_no_wheel(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "include")], capture_output=True, text=True,
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull,
                          "PIP_FIND_LINKS": str(tmp_path)})
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and last.startswith("fetch_headers: ")
    assert "Traceback" not in done.stderr and not (tmp_path / "include").exists()


def test_certificates_are_those_of_pip(monkeypatch):
    spec = importlib.util.spec_from_file_location("fetch_headers", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_CERT", raising=False)
    assert module.certificates() is True
    monkeypatch.setenv("PIP_CERT", "/a/certificate.pem")
    assert module.certificates() == "/a/certificate.pem"
