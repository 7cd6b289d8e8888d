# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package, as users import it. References are NumPy in f64."""

import inspect
import os
import pathlib
import re

import numpy as np
import pytest

import aicf
from aicf import nn

SOURCE = pathlib.Path(os.environ["AICF_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["AICF_BINARY_DIR"])
# Of C++ programs: what is preloaded for a sanitized module is not for them.
PROGRAM_ENV = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


class Mlp(nn.Module):
    """64 -> 32 -> 10."""

    def __init__(self, dropout=0.0, dtype="f32"):
        self.fc0 = nn.Linear(64, 32, dtype=dtype)
        self.drop = nn.Dropout(dropout)
        self.fc1 = nn.Linear(32, 10, dtype=dtype)

    def forward(self, x):
        return self.fc1(self.drop(aicf.ops.relu(self.fc0(x))))


def cross_entropy(model, x, labels):
    return aicf.losses.cross_entropy(model(x), labels)


INPUTS = {"x": aicf.spec((16, 64)), "labels": aicf.spec((16,), "i32")}


def make_batch(seed=0, rows=16):
    random = np.random.default_rng(seed)
    return (random.standard_normal((rows, 64)).astype(np.float32),
            random.integers(0, 10, rows).astype(np.int32))


def make_step(optimizer=None, model=None, **options):
    return aicf.compile_step(model or Mlp(), cross_entropy,
                             optimizer or aicf.optim.AdamW(1e-2), INPUTS, **options)


def here(offset=0):
    """The caller's line, `offset` lines on."""
    return inspect.currentframe().f_back.f_lineno + offset


def evaluate(function, **arrays):
    """Traces `function`, runs it on arrays and returns NumPy arrays."""
    entry = aicf.compile(function, arrays)
    result = entry(**arrays)
    if isinstance(result, tuple):
        return tuple(r.numpy() for r in result)
    return result.numpy()


def said(error):
    """What an error says, without the lines of the source that it shows: on such a line
    a test may have written what it expects."""
    if isinstance(error, aicf.CompileError):
        return "\n".join(d.message for d in error.diagnostics)
    return getattr(error, "message", str(error))


def traced_fails(function, message, **inputs):
    """The TraceError of a trace, at a line of the caller's file."""
    file = inspect.currentframe().f_back.f_code.co_filename
    with pytest.raises(aicf.TraceError) as caught:
        aicf.trace(function, inputs or {"x": (3, 5), "y": (3, 5)})
    assert re.search(message, said(caught.value))
    assert caught.value.filename == file
    assert 'File "%s", line %d' % (file, caught.value.lineno) in str(caught.value)
    return caught.value


@pytest.fixture
def batch():
    return make_batch()


@pytest.fixture
def step():
    return make_step()
