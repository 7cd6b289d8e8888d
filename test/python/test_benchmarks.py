# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/compare.py: what it calls a change, and what it calls noise."""

import json
import subprocess
import sys

import pytest

from conftest import SOURCE


def compare(tmp_path, old, new, *flags):
    paths = []
    for name, windows in (("old", old), ("new", new)):
        path = tmp_path / (name + ".json")
        path.write_text(windows if isinstance(windows, str) else json.dumps(
            {"cases": {"seed": {"windows": {"quiet": windows}}}}))
        paths.append(path)
    return subprocess.run(
        [sys.executable, SOURCE / "benchmarks/compare.py", *paths, *flags],
        capture_output=True, text=True)


def said(done, name):
    line, = [line for line in done.stdout.split("\n") if " %s " % name in line]
    return line.split()[-1] if line.split()[-1] in ("faster", "slower") else ""


STEADY = [[100.0, 101.0, 102.0, 103.0]]


def test_slower_is_an_exit_code(tmp_path):
    done = compare(tmp_path, {"aicf": STEADY}, {"aicf": [[120.0, 121.0, 122.0]]})
    assert said(done, "aicf") == "slower" and done.returncode == 1
    done = compare(tmp_path, {"aicf": STEADY}, {"aicf": [[80.0, 81.0, 82.0]]})
    assert said(done, "aicf") == "faster" and done.returncode == 0


@pytest.mark.parametrize("new", [
    [[101.0, 102.0, 103.0, 104.0]],  # quartiles that meet
    [[103.5, 103.6, 103.7]],  # apart, by less than --least
    [[500.0, 501.0, 502.0], [100.0, 101.0, 102.0]]])  # the best process counts
def test_noise_is_not_a_change(tmp_path, new):
    done = compare(tmp_path, {"aicf": STEADY}, {"aicf": new}, "--least", "3")
    assert said(done, "aicf") == "" and done.returncode == 0


def test_a_slower_machine_is_not_a_change(tmp_path):
    slow = [[t * 1.3 for t in STEADY[0]]]
    old = {"aicf": STEADY, "jax jit": STEADY, "torch eager": STEADY}
    done = compare(tmp_path, old, {v: slow for v in old})
    assert said(done, "aicf") == "" and done.returncode == 0
    done = compare(tmp_path, old, {**old, "aicf": slow})
    assert said(done, "aicf") == "slower" and done.returncode == 1


@pytest.mark.parametrize("text", ["", "[]", '{"cases": {"seed": {}}}', '{"cases": 3}',
                                  '{"cases": {"a": {"windows": {"quiet": {"b": []}}}}}'])
def test_other_files_are_refused(tmp_path, text):
    done = compare(tmp_path, text, {"aicf": STEADY})
    assert done.returncode == 1 and "old.json holds no results" in done.stderr
    assert "Traceback" not in done.stderr
