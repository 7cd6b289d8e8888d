# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds cuBLASLt and cuDNN in NVIDIA's wheels, or where the system's loader looks. AICF's
own wheel does not have them. libaicf_cuda.so loads them by their names, and takes those
that are already in the process, such as PyTorch's."""

from __future__ import annotations

import ctypes
import glob
import os
import sys

#: By the name of its file, the variable that names another one.
LIBRARIES = {"libcublasLt.so.13": "AICF_CUBLASLT_LIBRARY",
             "libcudnn.so.9": "AICF_CUDNN_LIBRARY"}


def candidates(library: str) -> list[str]:
    """Returns its paths in NVIDIA's wheels, in the order of sys.path."""
    found: list[str] = []
    for folder in sys.path:
        for pattern in ("nvidia/*/lib", "nvidia/*/*/lib"):
            found += sorted(glob.glob(os.path.join(folder, pattern, library)))
    return found


def find_libraries() -> dict[str, str]:
    """Loads each library from a wheel, if there is one and its variable does not name
    another. Returns their paths, without those that the loader finds."""
    found: dict[str, str] = {}
    for library, variable in LIBRARIES.items():
        for path in candidates(library) if not os.environ.get(variable) else ():
            try:
                ctypes.CDLL(path)
            except OSError:
                continue
            found[library] = path
            break
    return found
