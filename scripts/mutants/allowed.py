# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mutants that no test can kill, each with its reason."""

from switches import ALWAYS, NEVER

#: (file, change, text, why)
ALLOWED = [
    ("lib/Transforms/RT/BatchCalls.cpp", ALWAYS, "operand",
     "an absent operand would be among what the batch reads, where nobody looks for it: "
     "what an update takes over is never absent"),
    ("kernels/cpu/ThreadPool.cpp", NEVER, "epoch.load() != seen",
     "a helper would sleep before it looks for work again, which takes microseconds"),
    ("kernels/cpu/ThreadPool.cpp", NEVER, "Clock::now() - since <= Patience::kLimit",
     "a short wait would give its processor up, which takes a system call: a test that "
     "counts them fails where other programs keep the processors busy"),
    ("lib/Runtime/CUDA/Tuning.cpp", NEVER, "it == choices.end()",
     "it reads beyond the map, which the sanitizers see"),
    ("python/src/Arrays.cpp", ALWAYS, "!device->isCPU()",
     "an array of the CPU would wait for a step that another thread runs, and read the "
     "same bytes"),
    ("python/src/Trace.cpp", NEVER, "failed(enableRemarks(*context))",
     "MLIR's call fails for a pattern that is none, and ours stands in the code"),
]


def reason(mutant, entry=False):
    """Why a mutant may survive, or its entry; None if it may not."""
    for allowed in ALLOWED:
        if allowed[:3] == (mutant.file, mutant.change, mutant.text):
            return allowed if entry else allowed[3]
    return None
