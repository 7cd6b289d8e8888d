#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call from Python costs on a GPU: a 16 x 64-32-10 step with AdamW, whose
launch takes longer than a call (benchmarks/gpu.sh, part python).

    python_cuda_calls.py mlp.cuda.plan

Interleaved windows of 400 calls and a wait; medians with quartiles, in microseconds a
call.
"""

import statistics
import sys
import time

import numpy as np
import torch

import aicf

CALLS, WINDOWS = 400, 41


def load_step(path):
    program = aicf.load(path)
    program.set("lr", 1e-2)
    return program["train_step"]


def main():
    bound, passed = (load_step(sys.argv[1]) for _ in range(2))
    x = torch.zeros(16, 64, device="cuda")
    labels = torch.zeros(16, dtype=torch.int32, device="cuda")
    host = np.zeros((16, 64), np.float32), np.zeros(16, np.int32)
    bound.bind(x=x, labels=labels)
    kept = [None]

    def hold():
        kept[0] = bound()
    cases = {"step.run(n)": None, "step()": bound, "loss = step()": hold,
             "float(step())": lambda: float(bound()),
             "step(host arrays)": lambda: passed(*host),
             "step(torch tensors on the card)": lambda: passed(x, labels)}
    times = {name: [] for name in cases}
    for _ in range(WINDOWS):
        for name, call in cases.items():
            start = time.perf_counter()
            if call is None:
                bound.run(CALLS)
            else:
                for _ in range(CALLS):
                    call()
            bound.sync()
            passed.sync()
            times[name].append((time.perf_counter() - start) * 1e6 / CALLS)
    for name, windows in times.items():
        low, middle, high = statistics.quantiles(windows, n=4)
        print("%-34s %8.2f us (%.2f .. %.2f)" % (name, middle, low, high))


if __name__ == "__main__":
    main()
