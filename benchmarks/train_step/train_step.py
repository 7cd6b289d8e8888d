#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times AICF and its peers, interleaved, on one device.

    train_step.py --device cuda --program build-gpu/bin/aicf-step
                  --plans carry/plans --out results.json [--cases seed,mid]

For each case, three times with fresh processes: every implementation gets the same
weights and data; its first step is compared with float64; then rounds, in each a
window of every implementation; on the CPU the rounds again beside as many busy
processes as there are cores. Of each implementation the best of its three processes
is reported; the JSON holds every window of all.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import numpy as np  # noqa: E402
from cases import CASES, flops, update_bytes  # noqa: E402
from workers import PEERS, AicfWorker, Remote  # noqa: E402

PROCESSES = 3
ROUNDS = {"quiet": 7, "busy": 7}
# Beside others a window must be longer than a scheduler's turn.
WINDOW_SECONDS = {"quiet": 0.04, "busy": 0.2}
# Relative error of the loss after the first step, against float64.
TOLERANCE = {"f32": 1e-5, "tf32": 2e-3, "bf16": 2e-2}
AICF_VARIANTS = {
    "cuda": {s: (["cuda"], s) for s in ("s1", "s2", "s3", "s2g2")},
    "cpu": {"": (["cpu"], "s1"), "1 thread": (["cpu", "1"], "s1")}}


def make_data(batch, widths):
    random = np.random.default_rng(7)
    weights = []
    for k, n in zip(widths, widths[1:]):
        bound = np.sqrt(6 / k)  # He et al. 2015: deep nets keep their signal
        weights.append(random.uniform(-bound, bound, (n, k)).astype(np.float32))
        weights.append(random.uniform(-bound, bound, n).astype(np.float32))
    x = random.standard_normal((batch, widths[0]), dtype=np.float32)
    t = random.standard_normal((batch, widths[-1]), dtype=np.float32)
    return weights, x, t


def reference_loss(device, weights, x, t):
    import torch
    h = torch.tensor(x, device=device, dtype=torch.float64)
    for i in range(0, len(weights), 2):
        w, b = (torch.tensor(a, device=device, dtype=torch.float64)
                for a in weights[i:i + 2])
        h = h @ w.T + b
        if i + 2 < len(weights):
            h = torch.relu(h)
    loss = ((h - torch.tensor(t, device=device)) ** 2).mean().item()
    del h, w, b
    if device == "cuda":
        torch.cuda.empty_cache()
    return loss


def spin():
    while True:
        pass


class Busy:
    """As many busy processes as cores, for a `with`."""

    def __enter__(self):
        self.processes = [multiprocessing.Process(target=spin, daemon=True)
                          for _ in range(os.cpu_count())]
        for process in self.processes:
            process.start()

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.join()


def set_up(case, data, workers, result):
    """{variant: worker} of those that work."""
    owner = {}
    for worker in workers:
        try:
            made = worker.setup(case, *data)
        except Exception as error:  # reported, and left out of the case
            print("FAILED", case, worker.variants, str(error)[:300], flush=True)
            worker.restart()
            continue
        for variant, seconds in made.items():
            result["setup_s"].setdefault(variant, []).append(seconds)
            owner[variant] = worker
    return owner


def check(case, precision, expected, weights, owner, result):
    for variant, worker in owner.items():
        loss, weight = worker.first(variant)
        error = abs(loss - expected) / expected
        moved = float(np.abs(weight - weights[0]).max())
        result["error"][variant] = error
        # Adam's first step moves every weight by about the learning rate.
        if error > TOLERANCE[precision] or not 5e-4 < moved < 2e-3:
            print("WRONG", case, variant, "loss error", error, "moved", moved)


def time_rounds(case, owner, where, windows):
    """Adds to windows[variant] a list of this process's windows."""
    counts = {}
    for variant, worker in list(owner.items()):
        try:
            worker.time(variant, 3)
            micros = worker.time(variant, 5)
        except Exception as error:
            print("FAILED", case, variant, str(error)[:300], flush=True)
            worker.restart()
            del owner[variant]
            continue
        counts[variant] = max(2, min(5000, int(WINDOW_SECONDS[where] * 1e6 / micros)))
        windows.setdefault(variant, []).append([])
    for _ in range(ROUNDS[where]):
        for variant, worker in owner.items():
            windows[variant][-1].append(worker.time(variant, counts[variant]))
    return counts


def look_closer(aicf, owner, windows, counts, result):
    """Kernels and unrolled steps of our fastest variant."""
    ours = [v for v, w in owner.items() if w is aicf]
    if not ours:
        return
    best = min(ours, key=lambda v: statistics.median(windows[v][-1]))
    result["best"] = best
    result["kernels"] = aicf.kernels(best)
    result["unrolled_us"] = statistics.median(
        aicf.time_unrolled(best, max(3, counts[best] // 10), 10)
        for _ in range(ROUNDS["quiet"]))


def measure(device, case, workers, rates, processes):
    batch, widths, precision = CASES[device][case]
    data = make_data(batch, widths)
    expected = reference_loss(device, *data)
    result = {"setup_s": {}, "error": {}, "windows": {}, "memory": {}}
    for _ in range(processes):
        for worker in workers:
            worker.restart()
        owner = set_up(case, data, workers, result)
        check(case, precision, expected, data[0], owner, result)
        windows = result["windows"].setdefault("quiet", {})
        counts = time_rounds(case, owner, "quiet", windows)
        look_closer(workers[0], owner, windows, counts, result)
        if device == "cpu":
            with Busy():
                time_rounds(case, owner, "busy",
                            result["windows"].setdefault("busy", {}))
        for worker in workers:
            if worker not in owner.values():
                continue
            memory = worker.memory()
            for variant in worker.variants:
                result["memory"][variant] = (memory.get(variant) if
                                             isinstance(memory, dict) else memory)
    result["stats"] = workers[0].stats
    result["floor_us"] = flops(batch, widths) / rates[precision] * 1e6
    if device == "cuda":  # a CPU's caches hold the state of small models
        result["floor_us"] += update_bytes(widths) / rates["copy"] * 1e6
    return result


def best_process(processes):
    return min(processes, key=statistics.median)


def report_where(case, where, r):
    best = {v: best_process(w) for v, w in r["windows"][where].items()}
    medians = {v: statistics.median(w) for v, w in best.items()}
    peers = [m for v, m in medians.items() if not v.startswith("aicf")]
    for variant, median in medians.items():
        low, _, high = statistics.quantiles(best[variant], n=4)
        print("%-7s %-5s %-22s %10.1f %8.1f..%-9.1f %6.2fx %6.0f%% %8.0f %7.2f" % (
            case, where, variant, median, low, high,
            min(peers) / median if peers else 0, 100 * r["floor_us"] / median,
            (r["memory"].get(variant) or 0) / 2 ** 20, min(r["setup_s"][variant])))


def report(results):
    print("%-7s %-5s %-22s %10s %19s %7s %7s %8s %7s" % (
        "case", "where", "implementation", "us/step", "quartiles", "vs peer",
        "floor", "MiB", "setup s"))
    for case, r in results.items():
        for where in r["windows"]:
            report_where(case, where, r)
        if "best" not in r:
            continue
        stats = r["stats"][r["best"]]
        print("        %s, 10 steps a launch: %d graph nodes, %.1f us/step" % (
            r["best"], stats["nodes"], r["unrolled_us"]))
        rows = [(micros, kid, problem) for kid, problems in r["kernels"].items()
                for problem, micros in problems.items()]
        for micros, kid, problem in sorted(rows, reverse=True)[:6]:
            print("        %8.1f us  %-30s %s" % (micros, kid, problem[:80]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=list(CASES))
    parser.add_argument("--program", required=True)
    parser.add_argument("--plans", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--cases", help="some of the device's, by commas")
    parser.add_argument("--variants", help="some of AICF's, by commas")
    parser.add_argument("--tune", default="fast")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args()
    variants = AICF_VARIANTS[args.device]
    if args.variants is not None:
        variants = {v: variants[v] for v in args.variants.split(",")}
    workers = [AicfWorker(args.program, args.plans, variants, args.tune)]
    peers = PEERS[args.device]
    rates = Remote(peers[0], args.device).ceilings()
    if not args.no_peers:
        workers += [Remote(kind, args.device) for kind in peers]
    results = {}
    print({k: "%.4g" % v for k, v in rates.items()}, flush=True)
    for case in args.cases.split(",") if args.cases else CASES[args.device]:
        start = time.perf_counter()
        results[case] = measure(args.device, case, workers, rates, args.processes)
        report({case: results[case]})
        print("# %s took %.0f s" % (case, time.perf_counter() - start),
              flush=True)
        pathlib.Path(args.out).write_text(
            json.dumps({"rates": rates, "cases": results}, indent=1))


if __name__ == "__main__":
    main()
