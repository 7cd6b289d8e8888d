#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AICF against PyTorch on one card, both against float64.

    accuracy.py --program build-gpu/bin/aicf-step --plans carry/plans

error = ||a - ref|| / ||ref|| per tensor, the worst of 5 seeds: gradients,
params and moments after 10 steps, the loss at ten points of 1,000 steps. Also:
a split step and a step with a history give the bits of the whole. Exits with 1
when a bound is broken.
"""

import argparse
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from make_plans import ACCURACY  # noqa: E402
from session import Session, names  # noqa: E402

SEEDS = range(5)
BOUND = {"f32": 1e-5, "tf32": 1e-3, "bf16": 2e-2, "f16": 2e-2}
# At this rate the loss is still far from rounding noise after 1,000 steps.
LEARNING_RATE, SCALE = 1e-4, 1024.0
failures = []


def check(ok, *text):
    line = " ".join(map(str, text))
    print(("ok    " if ok else "FAIL  ") + line, flush=True)
    if not ok:
        failures.append(line)


def make_data(seed):
    batch, widths = ACCURACY
    random = np.random.default_rng(seed)
    weights = []
    for k, n in zip(widths, widths[1:]):
        weights.append((random.standard_normal((n, k)) * np.sqrt(2 / k))
                       .astype(np.float32))
        weights.append((random.standard_normal(n) * 0.1).astype(np.float32))
    # Pixels, and the classes that a linear teacher sees in them: gradients that
    # are not differences of noise.
    x = random.uniform(0, 1, (batch, widths[0])).astype(np.float32)
    teacher = random.standard_normal((widths[0], widths[-1]))
    t = np.eye(widths[-1], dtype=np.float32)[np.argmax(x @ teacher, axis=1)]
    return weights, x, t


class Torch:
    """The same step in PyTorch: precision f64, f32, tf32, bf16 or f16."""

    def __init__(self, precision, weights, x, t):
        self.precision = precision
        torch.set_float32_matmul_precision(
            "high" if precision == "tf32" else "highest")
        dtype = torch.float64 if precision == "f64" else torch.float32
        self.params = [torch.tensor(w, device="cuda", dtype=dtype)
                       .requires_grad_() for w in weights]
        self.x = torch.tensor(x, device="cuda", dtype=dtype)
        self.t = torch.tensor(t, device="cuda", dtype=dtype)
        self.optimizer = torch.optim.Adam(self.params, lr=LEARNING_RATE)
        self.scale = SCALE if precision == "f16" else 1.0

    def step(self):
        half = {"bf16": torch.bfloat16, "f16": torch.float16}.get(self.precision)
        with torch.autocast("cuda", half or torch.bfloat16, enabled=bool(half)):
            h = self.x
            for i in range(0, len(self.params), 2):
                h = torch.nn.functional.linear(h, *self.params[i:i + 2])
                if i + 2 < len(self.params):
                    h = torch.relu(h)
        if half:
            h = h.float()
        loss = ((h - self.t) ** 2).mean()
        self.optimizer.zero_grad()
        (loss * self.scale).backward()
        for p in self.params:
            p.grad /= self.scale
        self.optimizer.step()
        return loss.item()

    def grads(self):
        return [p.grad.double().cpu().numpy().ravel() for p in self.params]

    def state(self):
        tensors = [p.detach() for p in self.params]
        for key in ("exp_avg", "exp_avg_sq"):
            tensors += [self.optimizer.state[p][key] for p in self.params]
        return [a.double().cpu().numpy().ravel() for a in tensors]


def error(a, reference):
    return float(np.linalg.norm(a - reference) / np.linalg.norm(reference))


def start(args, plan, weights, x, t, precision):
    session = Session(args.program, "%s/%s.plan" % (args.plans, plan))
    session.start(weights, x, t, LEARNING_RATE)
    if precision == "f16":
        session.write("loss_scale", np.float32(SCALE))
    return session


def check_gradients(args, precision):
    ours, theirs = 0, 0
    dtype = precision if precision in ("bf16", "f16") else "f32"
    for seed in SEEDS:
        data = make_data(seed)
        reference, peer = Torch("f64", *data), Torch(precision, *data)
        reference.step(), peer.step()
        session = start(args, "accuracy.%s.grad" % precision, *data, precision)
        session.ask("replay 1")
        scale = SCALE if precision == "f16" else 1.0
        for name, ref, other in zip(names(data[0]), reference.grads(),
                                    peer.grads()):
            grad = session.read("grad:" + name, dtype) / scale
            ours = max(ours, error(grad, ref))
            theirs = max(theirs, error(other, ref))
            if seed == SEEDS[0]:
                print("      %-10s %-12s AICF %.3g PyTorch %.3g" % (
                    precision, name, error(grad, ref), error(other, ref)))
        session.close()
    check(ours <= BOUND[precision] and ours <= 1.5 * theirs, precision,
          "gradients: error %.3g, bound %g, PyTorch %.3g, ratio %.2f"
          % (ours, BOUND[precision], theirs, ours / theirs))


def check_ten_steps(args, precision):
    ours, theirs = 0, 0
    for seed in SEEDS:
        data = make_data(seed)
        reference, peer = Torch("f64", *data), Torch(precision, *data)
        for _ in range(10):
            reference.step(), peer.step()
        session = start(args, "accuracy.%s" % precision, *data, precision)
        session.ask("replay 10")
        all_names = names(data[0])
        all_names += [n + s for s in (".exp_avg", ".exp_avg_sq")
                      for n in names(data[0])]
        for name, ref, other in zip(all_names, reference.state(), peer.state()):
            ours = max(ours, error(session.read(name), ref))
            theirs = max(theirs, error(other, ref))
        session.close()
    check(ours <= BOUND[precision] or ours <= 1.5 * theirs, precision,
          "params and moments after 10 steps: error %.3g, bound %g, "
          "PyTorch %.3g, ratio %.2f" % (ours, BOUND[precision], theirs,
                                        ours / theirs))


def check_thousand_steps(args, precision):
    data = make_data(11)
    reference, peer = Torch("f64", *data), Torch(precision, *data)
    session = start(args, "accuracy.%s" % precision, *data, precision)
    worst = 0
    for probe in range(10):
        for _ in range(100):
            ref, other = reference.step(), peer.step()
        session.ask("replay 100")
        ours = session.read("loss")[0]
        limit = 1.5 * abs(other - ref) / ref + 1e-3
        worst = max(worst, abs(ours - ref) / ref / limit)
    session.close()
    check(worst <= 1, precision, "loss over 1,000 steps: at most %.2f of "
          "1.5 x PyTorch's deviation + 0.1 %%; last loss %.6g" % (worst, ours))


def same_bits(a, b, what, weights, extra=()):
    all_names = [n + s for n in names(weights)
                 for s in ("", ".exp_avg", ".exp_avg_sq")]
    differ = [n for n in [*all_names, "loss", *extra]
              if a.read_bytes(n) != b.read_bytes(n)]
    check(not differ, what, "" if not differ else "differ: %s" % differ[:4])


def check_other_shapes_of_a_step(args):
    data = make_data(3)
    whole = start(args, "accuracy.f32", *data, "f32")
    whole.ask("replay 100")
    split = start(args, "accuracy.split", *data, "f32")
    split.ask("entries train_step.grads train_step.update 100")
    same_bits(whole, split, "gradients-only + update-only = whole", data[0])
    unrolled = start(args, "accuracy.history", *data, "f32")
    unrolled.ask("unroll 10 10")
    same_bits(whole, unrolled, "10 steps a launch = 1 step a launch", data[0])
    history = unrolled.read("loss.history")
    again = start(args, "accuracy.history", *data, "f32")
    losses = []
    for _ in range(100):
        again.ask("run 1")
        losses.append(again.read("loss")[0])
    check(np.array_equal(history, losses), "history = the loss of every step")
    for session in (whole, split, unrolled, again):
        session.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--plans", required=True)
    args = parser.parse_args()
    for precision in ("f32", "tf32", "bf16", "f16"):
        check_gradients(args, precision)
        check_ten_steps(args, precision)
        check_thousand_steps(args, precision)
    check_other_shapes_of_a_step(args)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
