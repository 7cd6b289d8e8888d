# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make soak: small rounds pass, a fault is reported with what repeats it."""

import json
import subprocess
import sys

import pytest

from conftest import BIN, SOURCE


def soak(*args):
    return subprocess.run(
        [sys.executable, "-m", "fuzz.soak", *map(str, args)], text=True,
        cwd=SOURCE / "test/python", capture_output=True, timeout=300)


def test_a_small_round_of_each_kind(tmp_path):
    done = soak("--bin", BIN, "--rounds", 3, "--size", 0.02, "--seed", 1, "--duty",
                "checkpoints", "--duty", "replays", "--duty", "plans", "--report",
                tmp_path / "new/folder")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "new/folder/report.json").read_text())
    assert [r["duty"] for r in report["rounds"]] == ["checkpoints", "replays", "plans"]
    assert [r["seed"] for r in report["rounds"]] == [1, 2, 3]
    assert all(r["cases"] > 0 and "failure" not in r for r in report["rounds"])
    assert "3 rounds" in (tmp_path / "new/folder/report.txt").read_text()


# What comes out of a run, made wrong.
FAULTS = {
    # A writer that is not atomic.
    "checkpoints": ("neither the old one nor the new one", """
if [[ "$*" == *kept* ]]; then
  f=${@: -1}/state.safetensors; mkdir -p ${f%/*}; echo torn > $f; sleep 1
fi
exec {real} "$@" """),
    # A graph that does one step less.
    "replays": ("bits", """
args=("$@")
if [[ "$*" == *"--executor graph"* ]]; then
  for i in "${!args[@]}"; do
    [[ ${args[$i]} == --steps ]] && args[$i+1]=$((${args[$i+1]} - 1))
  done
fi
exec {real} "${args[@]}" """),
}


@pytest.mark.parametrize("duty", FAULTS)
def test_a_fault_is_reported(tmp_path, duty):
    message, script = FAULTS[duty]
    for tool in BIN.iterdir():
        if tool.name != "aicf-run":
            (tmp_path / tool.name).symlink_to(tool)
    fake = tmp_path / "aicf-run"
    fake.write_text("#!/bin/bash" + script.replace("{real}", str(BIN / "aicf-run")))
    fake.chmod(0o755)
    done = soak("--bin", tmp_path, "--rounds", 2, "--size", 0.2, "--seed", 4, "--duty",
                duty)
    assert done.returncode == 1, done.stdout + done.stderr
    assert message in done.stdout and "2 rounds" in done.stdout
    assert "again: cd test/python && python3 -m fuzz.soak --bin %s --duty %s --seed 4 " \
        "--rounds 1" % (tmp_path, duty) in done.stdout


@pytest.mark.parametrize("args", [["--hours", "0"], ["--size", "-1"], ["--rounds", "0"],
                                  ["--duty", "sleep"]])
def test_wrong_use(args):
    done = soak("--bin", BIN, *args)
    assert done.returncode == 2 and args[0] in done.stderr
