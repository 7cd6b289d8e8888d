# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The console commands aicf-run, aicf-plan and aicf-compile. They are the tools that
CMake builds, and run from the package's own libraries."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence


def _call(tool: Callable[[Sequence[str]], int], name: str) -> int:
    # The tools answer these themselves. Python's handlers would wait for Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return tool([name, *sys.argv[1:]])


def run() -> int:
    from . import _runtime
    from ._programs.cuda_libraries import find_libraries
    find_libraries()
    return _call(_runtime.aicf_run, "aicf-run")


def plan() -> int:
    from . import _runtime
    return _call(_runtime.aicf_plan, "aicf-plan")


def compile() -> int:
    try:
        from . import _compiler
    except ImportError:
        print("aicf-compile: this build of the package has no compiler",
              file=sys.stderr)
        return 2
    return _call(_compiler.aicf_compile, "aicf-compile")
