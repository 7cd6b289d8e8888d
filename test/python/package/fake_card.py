# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A CUDA card without one: libaicf_cuda.so over a fake table of CUDA calls, whose memory
is the host's and whose kernels do not run. Only a build with a CUDA toolkit has it."""

import ctypes
import gc
import os

import pytest
from conftest import BINARY

import aicf.program

LIBRARY = BINARY / "bin/libaicf_cuda_fake.so"


class Card:
    """The fake's C functions."""

    def __init__(self):
        self._library = ctypes.CDLL(str(LIBRARY))
        for name in ("objects_alive", "kernels_run", "misuses"):
            getattr(self._library, "aicf_fake_" + name).restype = ctypes.c_uint64
        for name in ("calls", "failed_call"):
            getattr(self._library, "aicf_fake_" + name).restype = ctypes.c_char_p
        self._library.aicf_fake_fail_call.argtypes = [ctypes.c_uint64]
        self.fail_call(None)

    def objects_alive(self):
        """Returns the number of allocations, streams, events, ... that are alive."""
        gc.collect()
        return self._library.aicf_fake_objects_alive()

    def kernels_run(self):
        return self._library.aicf_fake_kernels_run()

    def misuses(self):
        """Returns the number of calls with what is gone, or was never there."""
        return self._library.aicf_fake_misuses()

    def fail_call(self, number):
        """CUDA call `number` from here on fails, counted from 0. None: no call."""
        self._library.aicf_fake_fail_call(2**64 - 1 if number is None else number)

    def failed_call(self):
        return self._library.aicf_fake_failed_call().decode()

    def calls_of(self, action):
        """Returns the names of the CUDA calls that the action makes."""
        self.fail_call(None)
        action()
        return self.calls()

    def calls(self):
        """Returns the names of the CUDA calls since the last fail_call()."""
        return self._library.aicf_fake_calls().decode().split()


@pytest.fixture
def card(monkeypatch):
    """In the test "cuda" is the fake card."""
    if not LIBRARY.exists():
        pytest.skip("built without a CUDA toolkit")
    monkeypatch.setitem(os.environ, "AICF_CUDA_LIBRARY", str(LIBRARY))
    monkeypatch.setattr(aicf.program, "_devices", {})
    fake = Card()
    yield fake
    fake.fail_call(None)
    assert fake.misuses() == 0
