#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times steps whose AdamW is a Python function (aicf.optim.Custom) beside the built-in one,
in turns in one process, after ten updates of both agreed.

    PYTHONPATH=build/python python3 benchmarks/custom_optimizers.py [--device cuda]
"""

import argparse
import statistics
import time

import numpy as np

import aicf
from aicf import nn, optim

ROWS, LAYERS, ROUNDS = 64, 3, 15


def adamw(p, g, states, numbers):
    mean = 0.9 * states["m"] + 0.1 * g
    square = 0.999 * states["v"] + 0.001 * g * g
    step = numbers["step"]
    move = mean / (1 - 0.9 ** step) / ((square / (1 - 0.999 ** step)).sqrt() + 1e-8)
    return p * (1 - numbers["lr"] * 0.01) - numbers["lr"] * move, {"m": mean, "v": square}


def make(width, optimizer, device):
    model = nn.Sequential(*[layer for _ in range(LAYERS)
                            for layer in (nn.Linear(width, width), nn.ReLU())])
    return aicf.compile_step(model, lambda m, x: (m(x) ** 2).mean(), optimizer,
                             {"x": (ROWS, width)}, device=device)


def microseconds(step, runs):
    start = time.perf_counter()
    step.run(runs)
    float(step.get("0.weight").numpy()[0, 0])  # waits for the device
    return (time.perf_counter() - start) / runs * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    print("| width | AdamW, us | Custom, us | Custom / AdamW |\n|---|---|---|---|")
    for width in (64, 256, 1024, 2048):
        x = np.random.default_rng(0).standard_normal((ROWS, width)).astype("f4")
        steps = [make(width, own, device) for own in (
            optim.AdamW(1e-3), optim.Custom(1e-3, update=adamw,
                                            states={"m": "zeros", "v": "zeros"}))]
        for step in steps:
            step.write(x=x)
            step.run(10)
        for name, value in steps[0].state_dict().items():
            np.testing.assert_allclose(steps[1].state_dict()[name], value, rtol=1e-3, atol=1e-4)
        runs = max(5, int(20000 / microseconds(steps[0], 5)))
        times = [[microseconds(step, runs) for step in steps] for _ in range(ROUNDS)]
        ratios = sorted(own / built for built, own in times)
        print("| %d | %.1f | %.1f | %.2f (%.2f to %.2f) |" % (
            width, *(statistics.median(column) for column in zip(*times)),
            statistics.median(ratios), ratios[ROUNDS // 4], ratios[-ROUNDS // 4]), flush=True)


if __name__ == "__main__":
    main()
