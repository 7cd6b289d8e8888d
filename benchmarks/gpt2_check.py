#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a step of GPT-2 in bf16 trains on a GPU as PyTorch's does, with the plans of
gpt2.py:

  gpt2_check.py --program aicf-step --dump aicf-plan --plans FOLDER [CASE ...]

- losses: 200 steps on batches of the repository's own text, beside PyTorch in f32 and
  with weights of bf16 and masters of f32, as AICF has them. The distance from f32 may be
  1.5 times that of bf16. (Autocast, which keeps the residual stream in f32, is shown.)
- replays: 1000 steps one by one, and 1000 replays of a graph, give the same bits.
- resumed: 100 steps, all tensors into another executor, and 100 more give the bits of 200.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import gpt2
import numpy as np

STEPS, REPLAYS = 200, 1000
ROOT = pathlib.Path(__file__).resolve().parents[1]


def batches(case):
    """Yields `STEPS` pairs of tokens and labels: bytes of the docs and sources."""
    count, length, *_, vocabulary = gpt2.CASES[case]
    files = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("lib/**/*.cpp")])
    text = np.frombuffer(b"".join(f.read_bytes() for f in files), np.uint8)
    rng = np.random.default_rng(2)
    for _ in range(STEPS):
        starts = rng.integers(0, len(text) - length, count)
        rows = text[starts[:, None] + np.arange(length + 1)].astype(np.int64) % vocabulary
        yield np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:])


# AICF


def started(case, args):
    """An executor with the parameters and the batch of a case."""
    step = gpt2.Ours(args.program)
    step("load", args.plans / (case + ".plan"), "off")
    gpt2.begin(step, case, gpt2.batch(case))
    return step


def losses_of_ours(case, args):
    step, found = started(case, args), []
    for tokens, labels in batches(case):
        step.write("train_step/tokens", tokens)
        step.write("train_step/labels", labels)
        step("run", 1)
        found.append(step.loss())
    return found


def tensors(case, args):
    """The names of what a step keeps."""
    dump = subprocess.run([args.dump, "dump", args.plans / (case + ".plan")],
                          capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (\S+) +(?:param|state) ", dump, re.M)
    # Those of 16 bits follow from the others.
    return [n for n in names if not n.endswith((".bf16", ".f16"))]


def bytes_of(step, names):
    with tempfile.TemporaryDirectory() as folder:
        for i, name in enumerate(names):
            step("read", name, "%s/%d" % (folder, i))
        return [pathlib.Path(folder, str(i)).read_bytes() for i in range(len(names))]


def equal_after(case, args, *ways):
    """Whether these lines of commands lead to the same bits."""
    names, all_of = tensors(case, args), []
    for commands in ways:
        step = started(case, args)
        for command in commands:
            if command == "move":  # all tensors to another executor
                kept, step = bytes_of(step, names), started(case, args)
                for name, data in zip(names, kept):
                    step.write(name, np.frombuffer(data, np.uint8))
            else:
                step(*command.split())
        all_of.append(bytes_of(step, names))
    return all(found == all_of[0] for found in all_of), len(names)


# PyTorch, in a process of its own


def losses_of_torch(case, precision):
    import torch
    model, _ = gpt2.torch_model(case, torch.float32)
    masters, weights = list(model.parameters()), list(model.parameters())
    if precision == "bf16":
        masters = [p.detach().clone() for p in weights]
        model.to(torch.bfloat16)
        weights = list(model.parameters())
    optimizer = torch.optim.AdamW(masters, lr=gpt2.LR, betas=gpt2.BETAS, eps=gpt2.EPS,
                                  weight_decay=gpt2.DECAY)
    found = []
    for pair in batches(case):
        tokens, labels = (torch.from_numpy(a).cuda() for a in pair)
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "autocast"):
            loss = gpt2.loss_of(model(tokens), labels)
        for master, grad in zip(masters, torch.autograd.grad(loss, weights)):
            master.grad = grad.to(master.dtype)
        optimizer.step()
        with torch.no_grad():
            for master, weight in zip(masters, weights):
                if master is not weight:
                    weight.copy_(master)
        found.append(loss.item())
    return found


def peer(name, case):
    done = subprocess.run([sys.executable, __file__, "--peer", name, case], check=True,
                          stdout=subprocess.PIPE, text=True)
    return np.array(json.loads(done.stdout.splitlines()[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["4x1024"], metavar="CASE")
    parser.add_argument("--program")
    parser.add_argument("--dump")
    parser.add_argument("--plans", type=pathlib.Path)
    parser.add_argument("--peer", choices=("f32", "bf16", "autocast"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        print(json.dumps(losses_of_torch(args.cases[0], args.peer)))
        return
    if not (args.program and args.dump and args.plans):
        parser.error("--program, --dump and --plans are needed")
    failed = False
    for case in args.cases:
        exact = peer("f32", case)
        ours = np.array(losses_of_ours(case, args))
        own, bf16, autocast = (np.abs(x - exact).mean() for x in (
            ours, peer("bf16", case), peer("autocast", case)))
        failed |= bool(own > 1.5 * bf16)
        print("%s losses: %.3f to %.3f; mean distance from f32 %.5f, of PyTorch's bf16 "
              "%.5f, of autocast %.5f" % (case, ours[0], ours[-1], own, bf16, autocast),
              flush=True)
        for what, ways in (
                ("replays", (["run %d" % REPLAYS], ["replay %d" % REPLAYS])),
                ("resumed", (["run 200"], ["run 100", "move", "replay 100"]))):
            equal, count = equal_after(case, args, *ways)
            failed |= not equal
            print("%s %s: %d tensors have %s" % (
                case, what, count, "the same bits" if equal else "OTHER BITS"), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
