# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pytest plugin (-p pytest_mutants) that imports aicf with switches.

AICF_MUTANTS is JSON, the first number of each module. With AICF_MUTANT_LOOK, a file,
each test writes a line of JSON there: its name, how long it took, its outcome, and
the mutants that it reached. Those that an import reaches are in a list apart.
"""

import json
import os
import time

import pytest
import switches
import python as python_switches

LOOK = os.environ.get("AICF_MUTANT_LOOK")
python_switches.install("aicf", json.loads(os.environ["AICF_MUTANTS"]))
record = imported = None
if LOOK:
    record = switches.open_record(os.environ["AICF_MUTANT_RECORD"])


def pytest_collection_finish():
    global imported
    if LOOK:
        imported = switches.reached_by(record)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    if not LOOK:
        yield
        return
    switches.clear(record)
    item.outcome, start = "passed", time.monotonic()
    # A fixture of the module that is there already would hide what it reaches.
    yield
    line = {"name": item.nodeid, "seconds": time.monotonic() - start,
            "outcome": item.outcome,
            "reached": sorted(switches.reached_by(record)),
            "imported": sorted(imported)}
    with open(LOOK, "a") as out:
        print(json.dumps(line), file=out)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if LOOK and not report.passed and item.outcome != "failed":
        item.outcome = report.outcome
