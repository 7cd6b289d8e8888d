# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tests of the Python package with mutants of it, without importing all anew.

Each line of standard input is a JSON object: a mutant, a time limit in seconds, a
folder and the tests. A child of this process, in which everything is imported, runs
them; the answer is a line with "passed" or "failed".
"""

import importlib.util
import json
import os
import signal
import sys
import time

import numpy  # noqa: F401
import pytest
import pytest_mutants
import python as switches

import aicf  # noqa: F401

for front_end in ("torch", "jax"):  # what this Python has
    if importlib.util.find_spec(front_end):
        importlib.import_module("aicf." + front_end)


def run_tests(job):
    """In the child; does not return."""
    os.setsid()
    os.environ["TMPDIR"] = os.environ["TEST_TMPDIR"] = job["folder"]
    os.environ["AICF_MUTANT"] = str(job["mutant"])  # for the processes that it starts
    switches.on = job["mutant"]
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    code = 1
    try:
        code = pytest.main(["-q", "-x", "-W", "ignore", "-p", "no:cacheprovider", "-p",
                            pytest_mutants.__name__, "--basetemp",
                            job["folder"] + "/tests", *job["tests"]])
    finally:
        os._exit(int(code))


def wait(child, seconds):
    """Whether the child ends in time and well."""
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status == 0
            time.sleep(0.01)
        return False
    finally:
        try:  # what it started, too
            os.killpg(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def main():
    os.chdir(os.environ["AICF_SOURCE_DIR"] + "/test/python")
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            run_tests(job)
        passed = wait(child, job["seconds"])
        try:
            os.waitpid(child, 0)
        except ChildProcessError:
            pass
        print("passed" if passed else "failed", flush=True)


if __name__ == "__main__":
    main()
