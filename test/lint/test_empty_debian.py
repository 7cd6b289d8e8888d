# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/empty_debian.sh: what it refuses before it makes anything. That it works, CI
shows: .ci/run does its rounds there."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = SOURCE / "scripts/empty_debian.sh"


def call(tmp_path, *args):
    return subprocess.run([SCRIPT, *args], text=True, capture_output=True,
                          env={**os.environ, "AICF_ROOTS": str(tmp_path / "roots")})


@pytest.mark.parametrize("args,words", [
    ([], "which command?"), (["--keep"], "which command?"),
    (["--bogus", "true"], "unknown option --bogus"), (["--root"], "--root needs a name"),
    (["--path"], "--path needs a name"), (["--root", "../x", "true"], "cannot be called"),
    (["--root", "base", "true"], "cannot be called"), (["--root", "", "true"], "cannot"),
    (["--suite"], "--suite needs a name"),
    (["--suite", "../x", "true"], "is not a release of Debian")])
def test_wrong_use_makes_nothing(tmp_path, args, words):
    done = call(tmp_path, *args)
    assert done.returncode == 1 and words in done.stderr
    assert not (tmp_path / "roots").exists()


def test_it_says_whether_it_can(tmp_path):
    done = call(tmp_path, "--check")
    assert (done.returncode == 0) == (done.stdout == "")


def test_roots_depend_on_what_is_installed(tmp_path):
    """Another list of packages, another folder."""
    paths = []
    for more in ("", "PACKAGES+=(one-more)"):
        tree = tmp_path / ("tree" + str(len(paths)))
        (tree / "scripts").mkdir(parents=True)
        (tree / "scripts/empty_debian.sh").write_text(SCRIPT.read_text())
        (tree / "scripts/empty_debian.sh").chmod(0o755)
        setup = (SOURCE / "scripts/setup.sh").read_text()
        (tree / "scripts/setup.sh").write_text(setup.replace(
            'if [ "${1:-}" = --packages ]', more.lower() + '\nif [ "${1:-}" = --packages ]'))
        (tree / "scripts/setup.sh").chmod(0o755)
        paths.append(subprocess.run([tree / "scripts/empty_debian.sh", "--path", "x"],
                                    text=True, capture_output=True, check=True).stdout)
    assert paths[0] != paths[1]


def test_other_releases_have_roots_of_their_own(tmp_path):
    path = call(tmp_path, "--path", "x").stdout.strip()
    assert call(tmp_path, "--suite", "trixie", "--path", "x").stdout.strip() == path + "-trixie"
