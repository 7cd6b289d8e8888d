# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds cuBLASLt, which no wheel of ours holds: in NVIDIA's wheels, or where the
system's loader looks. libaicf_cuda.so loads it by its name, and takes what is
already in the process (PyTorch's, say)."""

from __future__ import annotations

import ctypes
import glob
import os
import sys

LIBRARY = "libcublasLt.so.13"


def candidates() -> list[str]:
    """Paths in NVIDIA's wheels (nvidia-cublas), in the order of sys.path."""
    found: list[str] = []
    for folder in sys.path:
        for pattern in ("nvidia/*/lib", "nvidia/*/*/lib"):
            found += sorted(glob.glob(os.path.join(folder or ".", pattern, LIBRARY)))
    return found


def find_libraries() -> str:
    """Loads it from a wheel, if there is one and AICF_CUBLASLT does not say another;
    returns its path, or "" for the loader's own."""
    if os.environ.get("AICF_CUBLASLT_LIBRARY"):
        return ""
    for path in candidates():
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        return path
    return ""
