#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call from Python costs: the `seed` step (64 x 64-128-64, f32, AdamW) on the
CPU, in C++ and from Python, beside jax.jit and PyTorch where they are installed; and
what importing costs.

    PYTHONPATH=build/python python3 benchmarks/python_calls.py --build build

Windows of all are interleaved in one run; medians with quartiles, in microseconds a
call. One thread each: at this size a second one gains nothing. `tiny` is the same
step of a 1 x 1-1-1 network: what a call costs shows there, where the step itself is too
short to scatter.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numpy as np  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "train_step"))
from session import Session  # noqa: E402

import aicf  # noqa: E402
from aicf import nn  # noqa: E402

CALLS, WINDOWS = 100, 201


def make_step(batch, width, hidden):
    model = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
    return aicf.compile_step(
        model, lambda m, x, t: aicf.losses.mse_loss(m(x), t),
        aicf.optim.AdamW(1e-3, weight_decay=0.0),
        {"x": aicf.spec((batch, width)), "t": aicf.spec((batch, width))}, threads=1)


class Cpp:
    """The same plan in a C++ program."""

    def __init__(self, build, plan):
        self.session = Session([build / "bin/aicf-step", "cpu", "1"], plan)
        self.session.ask("fill")

    def window(self):
        return float(self.session.ask("calls %d" % CALLS))


class Loop:
    """The same executor, called by a loop in C++: Entry.run."""

    def __init__(self, step):
        self.step = step

    def window(self):
        start = time.perf_counter()
        self.step.run(CALLS)
        return (time.perf_counter() - start) * 1e6 / CALLS


class Python:
    def __init__(self, call):
        self.call = call

    def window(self):
        call = self.call
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        return (time.perf_counter() - start) * 1e6 / CALLS


def torch_calls():
    import torch
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 64))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.0,
                                  foreach=True)
    x, t = torch.zeros(64, 64), torch.zeros(64, 64)

    def eager():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), t)
        loss.backward()
        optimizer.step()
        return loss.item()
    return {"PyTorch, eager": eager}


def jax_calls():
    import jax
    import jax.numpy as jnp

    def forward(p, x, t):
        h = jnp.maximum(x @ p[0].T + p[1], 0)
        return jnp.mean((h @ p[2].T + p[3] - t) ** 2)

    def update(state, x, t):
        p, m, v, n = state
        loss, g = jax.value_and_grad(forward)(p, x, t)
        n = n + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        p = [w - 1e-3 * (a / (1 - 0.9 ** n)) / (jnp.sqrt(b / (1 - 0.999 ** n)) + 1e-8)
             for w, a, b in zip(p, m, v)]
        return (p, m, v, n), loss
    shapes = [(128, 64), (128,), (64, 128), (64,)]
    state = [[jnp.full(s, 0.01) for s in shapes], [jnp.zeros(s) for s in shapes],
             [jnp.zeros(s) for s in shapes], jnp.float32(0)]
    step, x, t = jax.jit(update, donate_argnums=0), jnp.zeros((64, 64)), \
        jnp.zeros((64, 64))
    box = [tuple(state)]

    def call():
        box[0], loss = step(box[0], x, t)
        return float(loss)
    return {"jax.jit": call}


def import_seconds(statement):
    times = []
    for _ in range(11):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def own_cases(build, folder, sizes):
    x = np.zeros(sizes[:2], np.float32)
    bound, passed = make_step(*sizes), make_step(*sizes)
    bound.bind(x=x, t=x)
    plan = "%s/%d.plan" % (folder, sizes[0])
    bound.save(plan)
    return {"C++": Cpp(build, plan), "step.run(n)": Loop(bound),
            "Python, bound arrays": Python(lambda: float(bound())),
            "Python, bound, loss not read": Python(bound),
            "Python, arrays passed": Python(lambda: float(passed(x, x)))}


def middle_first(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, low, high


def measure(title, cases):
    windows = {name: [] for name in cases}
    for _ in range(WINDOWS):
        for name, case in cases.items():
            windows[name].append(case.window())
    print("%s: microseconds a call, median (quartiles); over the window beside it of "
          "the C++ program, and of step.run(n)" % title)
    for name, times in windows.items():
        over = [middle_first([a - b for a, b in zip(times, windows[base])])
                for base in ("C++", "step.run(n)")]
        print("  %-30s %8.2f (%.2f .. %.2f) %+8.2f (%+.2f .. %+.2f) %+8.2f "
              "(%+.2f .. %+.2f)" % (name, *middle_first(times), *over[0], *over[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure("tiny", own_cases(flags.build, folder, (1, 1, 1)))
        cases = own_cases(flags.build, folder, (64, 64, 128))
        for peer in (torch_calls, jax_calls):
            try:
                cases.update({n: Python(f) for n, f in peer().items()})
            except ImportError as error:
                print("left out: %s" % error)
        measure("seed", cases)
    empty = import_seconds("pass")
    for statement in ("import aicf", "import aicf; aicf.compile_step, aicf.nn.Linear",
                      "import aicf._compiler, aicf._runtime", "import numpy"):
        print("%-50s %.3f s over an empty interpreter's %.3f" % (
            statement, import_seconds(statement) - empty, empty))


if __name__ == "__main__":
    main()
