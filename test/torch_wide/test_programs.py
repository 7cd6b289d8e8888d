# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of packages beside PyTorch. `works.txt` names those that come in and train as
PyTorch does; it may only grow. `make test-torch-wide` runs all of them.

AICF_WIDE_RESULTS=FILE writes a line of JSON for each program: what it does, or why not.
"""

import copy
import json
import os
import pathlib
import time
import warnings

import numpy as np
import pytest
import torch
from programs import PROGRAMS

import aicf.errors
import aicf.torch

WORKS = set((pathlib.Path(__file__).parent / "works.txt").read_text().splitlines())
STEPS = 4


def _of_pytorch(module, loss_fn, inputs, targets):
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_fn(module(*inputs), *targets)
        loss.backward()
        optimizer.step()
        found.append(float(loss.detach()))
    return found


def _run(name):
    """Seconds of the import. Raises what PyTorch or the import raises, and AssertionError:
    other losses or parameters."""
    torch.manual_seed(0)
    module, loss_fn, inputs, targets = PROGRAMS[name]()
    for part in module.modules():  # draws are other numbers here
        for key in ("p", "drop_prob", "drop_rate", "dropout", "prob"):
            if isinstance(getattr(part, key, None), float):
                setattr(part, key, 0.0)
    theirs = copy.deepcopy(module)
    expected = _of_pytorch(theirs, loss_fn, inputs, targets)
    start = time.perf_counter()
    step = aicf.torch.compile_step(module, loss_fn, torch.optim.SGD(
        module.parameters(), lr=0.01), inputs, targets)
    seconds = time.perf_counter() - start
    losses = [float(step(*inputs, *targets)) for _ in range(STEPS)]
    step.sync_to_module()
    np.testing.assert_allclose(losses, expected, rtol=2e-3, atol=1e-5)
    for (key, own), other in zip(module.named_parameters(), theirs.parameters()):
        torch.testing.assert_close(own, other, rtol=2e-3, atol=2e-4, msg=lambda text, key=key: (
            "%s: %s" % (key, text)))
    return seconds


def _note(**what):
    path = os.environ.get("AICF_WIDE_RESULTS")
    if path:
        with open(path, "a") as file:
            file.write(json.dumps(what) + "\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    warnings.simplefilter("ignore")
    try:
        seconds = _run(name)
    except AssertionError as error:
        _note(name=name, wrong=str(error)[:300])
        raise  # no program may give other numbers
    except Exception as error:
        is_ours = isinstance(error, aicf.errors.TraceError)
        _note(name=name, refused=str(error)[:2000], kind=type(error).__name__)
        if name in WORKS or not is_ours:
            raise
        pytest.skip(str(error).splitlines()[0][:100])
    _note(name=name, seconds=round(seconds, 2))
    assert name in WORKS, "it works: add it to works.txt"


def test_works_names_programs():
    assert WORKS <= set(PROGRAMS)
