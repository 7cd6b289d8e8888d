#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many steps: eager and replayed give the same bits, and nothing leaks.

    steps.py --program build-gpu/bin/aicf-step --plans carry/plans

10,000 steps of several plans and of every example both ways; 1,000,000 replays of a small one with
probes against the eager chain, and the free device memory before and after.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cases import CUDA_CASES  # noqa: E402
from make_plans import ACCURACY  # noqa: E402
from session import start_random, state  # noqa: E402

failures = []


def check(ok, *text):
    print("ok   " if ok else "FAIL ", *text, flush=True)
    if not ok:
        failures.append(text)


def free(session):
    words = session.ask("stats").split()
    return int(dict(zip(words[::2], words[1::2]))["free"])


def check_example(args, plan, inputs, steps):
    """aicf-run --check runs both executors and compares all bits."""
    random = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        command = [pathlib.Path(args.program).parent / "aicf-run",
                   "%s/%s.plan" % (args.plans, plan), "--device=cuda",
                   "--executor=graph", "--steps=%d" % steps, "--check",
                   "--set", "lr=0.001"]
        for name, shape in inputs.items():
            path = "%s/%s.npy" % (folder, name)
            np.save(path, random.uniform(0, 1, shape).astype(np.float32)
                    if len(shape) > 1 else  # labels of 10 classes
                    random.integers(0, 10, shape, dtype=np.int32))
            command += ["--input", "%s=@%s" % (name, path)]
        done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, plan, "aicf-run --check, %d launches:" % steps,
          (done.stderr or done.stdout).strip().split("\n")[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--plans", required=True)
    parser.add_argument("--million", type=int, default=1000000)
    args = parser.parse_args()
    plans = [("seed.s2", *CUDA_CASES["seed"][:2]), ("digits.s2", *CUDA_CASES["digits"][:2]),
             *(("accuracy." + p, *ACCURACY) for p in ("f32", "tf32", "bf16",
                                                      "f16"))]
    for plan, batch, widths in plans:
        path = "%s/%s.plan" % (args.plans, plan)
        eager, tensors = start_random(args.program, path, batch, widths)
        graph, _ = start_random(args.program, path, batch, widths)
        eager.ask("run 10000")
        graph.ask("replay 10000")
        check(state(eager, tensors) == state(graph, tensors), plan,
              "10,000 steps: eager = replay, loss %.6g" % graph.read("loss")[0])
        eager.close()
        graph.close()
    for precision in ("f32", "bf16"):  # ten steps a launch, gathered inputs
        check_example(args, "fashion_mnist_cuda_" + precision,
                      {"images": (60000, 784), "classes": (60000,)}, 1000)
    check_example(args, "digits_cuda", {"x": (32, 64), "labels": (32,)},
                  10000)
    seed = (args.program, "%s/seed.s2.plan" % args.plans, *CUDA_CASES["seed"][:2])
    eager, tensors = start_random(*seed)
    graph, _ = start_random(*seed)
    graph.ask("replay 1")
    eager.ask("run 1")
    before = free(graph)
    done, begin = 1, time.time()
    for target in (1000, 10000, 100000, args.million):
        graph.ask("replay %d" % (target - done))
        eager.ask("run %d" % (target - done))
        done = target
        check(state(eager, tensors) == state(graph, tensors),
              "%d replays = the eager chain" % done)
    check(free(graph) == before, "free device memory before %d, after %d"
          % (before, free(graph)))
    print("%d failures, %.0f s" % (len(failures), time.time() - begin))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
