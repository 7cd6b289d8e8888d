# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds cuBLASLt in NVIDIA's wheels, or where the system's loader looks. AICF's own wheel
does not have it. libaicf_cuda.so loads it by its name, and takes the one that is already
in the process, such as PyTorch's."""

from __future__ import annotations

import ctypes
import glob
import os
import sys

LIBRARY = "libcublasLt.so.13"


def candidates() -> list[str]:
    """Returns its paths in NVIDIA's wheels (nvidia-cublas), in the order of sys.path."""
    found: list[str] = []
    for folder in sys.path:
        for pattern in ("nvidia/*/lib", "nvidia/*/*/lib"):
            found += sorted(glob.glob(os.path.join(folder, pattern, LIBRARY)))
    return found


def find_libraries() -> str:
    """Loads cuBLASLt from a wheel, if there is one and AICF_CUBLASLT_LIBRARY does not
    name another. Returns its path, or "" for the one that the loader finds."""
    if os.environ.get("AICF_CUBLASLT_LIBRARY"):
        return ""
    for path in candidates():
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        return path
    return ""
