# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/lint_schedules.py finds where a schedule changes."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEDULE = "// Why.\ninline constexpr int kThreads = 256;\n"


@pytest.fixture
def tree(tmp_path):
    """A family whose kernel includes a schedule by way of another file; it is in the list."""
    for name, text in {
            "Schedule.h": '#include "kernels/Schedule.h"\n' + SCHEDULE,
            "Params.h": '#include "kernels/norm/Schedule.h"\n',
            "Cuda.cu": '#include "kernels/norm/Params.h"\n',
            "Family.td": "def A { let version = 1; }\n"}.items():
        path = tmp_path / "kernels/norm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "kernels/Schedule.h").write_text("inline constexpr int kCards = 1;\n")
    (tmp_path / "kernels/other").mkdir()
    (tmp_path / "kernels/other/Family.td").write_text("")
    assert lint(tmp_path, "--update").returncode == 0
    return tmp_path


def lint(tree, *flags):
    return subprocess.run([sys.executable, ROOT / "scripts/lint_schedules.py", tree, *flags],
                          capture_output=True, text=True, check=False)


def edit(tree, name, old, new):
    path = tree / "kernels" / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_comments_and_spaces_are_free(tree):
    edit(tree, "norm/Schedule.h", "// Why.", "// Because.")
    edit(tree, "norm/Schedule.h", " = ", "  =\n ")
    assert lint(tree).stdout == "no findings\n"


@pytest.mark.parametrize("name,old", [("norm/Schedule.h", "256"), ("Schedule.h", "1;")])
def test_a_constant_needs_a_version(tree, name, old):
    edit(tree, name, old, "128;" if old == "1;" else "128")
    for flags in ((), ("--update",)):
        done = lint(tree, *flags)
        assert done.returncode == 1 and "kernels of norm may give other bits" in done.stdout
    edit(tree, "norm/Family.td", "1; }", "1; }\ndef B { let version = 2; }")
    assert "out of date" in lint(tree).stdout
    assert lint(tree, "--update").returncode == 0
    assert lint(tree).stdout == "no findings\n"


@pytest.mark.parametrize("family,text", [
    ("other", "def C { let version = 1; }"), ("norm", "")], ids=["another", "fewer"])
def test_only_a_new_version_of_the_family_will_do(tree, family, text):
    edit(tree, "norm/Schedule.h", "256", "128")
    (tree / "kernels" / family / "Family.td").write_text(text)
    assert "kernels of norm may give other bits" in lint(tree, "--update").stdout


def test_each_family_needs_one(tree):
    (tree / "kernels/other/Cuda.cu").write_text('#include "kernels/norm/Schedule.h"\n')
    assert lint(tree, "--update").returncode == 0
    edit(tree, "norm/Schedule.h", "256", "128")
    edit(tree, "norm/Family.td", "1; }", "1; }\ndef B { let version = 2; }")
    assert "kernels of other may give other bits" in lint(tree, "--update").stdout
    assert lint(tree, "--update", "--same-bits", "other").returncode == 0


def test_a_change_that_moves_no_bit_is_said_to_be_one(tree):
    edit(tree, "norm/Schedule.h", "kThreads", "kWidth")
    assert lint(tree, "--update").returncode == 1
    assert lint(tree, "--update", "--same-bits", "other").returncode == 1
    assert lint(tree, "--update", "--same-bits", "all").returncode == 0
    assert lint(tree).returncode == 0


def test_a_new_schedule_is_listed(tree):
    (tree / "kernels/other/Schedule.h").write_text("")
    assert "kernels/other/Schedule.h: " in lint(tree).stdout
    assert lint(tree, "--update").returncode == 0
    assert "kernels/other/Schedule.h" in (tree / "kernels/schedules.txt").read_text()
