#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Microseconds of single ops on the GPU, beside PyTorch's.

  op_times.py plan --compiler aicf-compile --out FOLDER   where the compiler is
  op_times.py run --runner aicf-run --plans FOLDER        on the GPU machine

Of AICF what `aicf-run --profile` measures, of torch events around 20 calls, the median
of 9. The floor is the bytes that must move at 4.8 TB/s (H200)."""

import argparse
import json
import pathlib
import statistics
import subprocess

ROWS, WIDTH, PARAMS = 8192, 4096, 12
BYTES_PER_SECOND = 4.8e12
X = "tensor<%dx%dx%%s>" % (ROWS, WIDTH)


def entry(name, arguments, results, body):
    return "func.func @%s(\n    %s)\n    -> (%s) {\n%s\n}\n" % (
        name, ",\n    ".join(arguments), ", ".join(results), body)


def given(ssa, kind, role="input"):
    return '%%%s: %s {aicf.role = "%s", aicf.name = "%s"}' % (ssa, kind, role, ssa)


def one(op, operands, dtype, result, attrs="", extra=()):
    """An entry of one op on tensors of [ROWS, WIDTH]."""
    x = X % dtype
    more = dict(extra)
    kinds = [more.get(o, x) for o in operands]
    return entry(
        op, [given(o, k, "state" if o == "step" else "input")
             for o, k in zip(operands, kinds)],
        ['%s {aicf.name = "r"}' % result.replace("X", x)] + (
            ['tensor<i64> {aicf.updates = "step"}'] if "step" in operands else []),
        "  %%r = aicf.%s %s%s : %s\n%s  return %%r%s : %s%s" % (
            op, ", ".join("%" + o for o in operands), attrs, ", ".join(kinds),
            "  %n = aicf.step_inc %step : tensor<i64>\n" if "step" in operands else "",
            ", %n" if "step" in operands else "", result.replace("X", x),
            ", tensor<i64>" if "step" in operands else ""))


def residual_dropout(dtype):
    """r = x + dropout(gelu(y)), which is one call."""
    x = X % dtype
    return entry(
        "residual_dropout", [given("x", x), given("y", x), given("step", "tensor<i64>", "state")],
        ['%s {aicf.name = "r"}' % x, 'tensor<i64> {aicf.updates = "step"}'],
        "  %%g = aicf.gelu %%y : %s\n"
        "  %%d = aicf.dropout %%g, %%step {p = 0.1, seed = 1} : %s, tensor<i64>\n"
        "  %%r = aicf.add %%x, %%d : %s, %s\n"
        "  %%n = aicf.step_inc %%step : tensor<i64>\n"
        "  return %%r, %%n : %s, tensor<i64>" % (x, x, x, x, x))


def model(dtype):
    scalar = "tensor<f32>"
    wide = {"target": X % "f32"}
    text = [
        one("softmax", ["x"], dtype, "X"),
        one("softmax_bwd", ["dy", "y"], dtype, "X"),
        one("dropout", ["x", "step"], dtype, "X", " {p = 0.1, seed = 1}", {"step": "tensor<i64>"}),
        residual_dropout(dtype),
        one("argmax", ["x"], dtype, "tensor<%dxi32>" % ROWS),
        one("mean", ["x"], dtype, scalar),
        one("l1_loss", ["x", "target"], dtype, scalar, "", wide),
        one("bce_with_logits", ["x", "target"], dtype, scalar, "", wide),
        one("bce_with_logits_grad", ["x", "target"], dtype, "X", "", wide),
    ]
    params = ["p%d" % i for i in range(PARAMS)]
    kinds = ["tensor<1024x4096xf32>"] * PARAMS
    grads = [k.replace("f32", dtype) for k in kinds]
    text.append(entry(
        "global_norm", [given(p, k) for p, k in zip(params, grads)],
        [scalar + ' {aicf.name = "r"}'],
        "  %%r = aicf.global_norm %s : %s\n  return %%r : %s" % (
            ", ".join("%" + p for p in params), ", ".join(grads), scalar)))
    arguments, results, body, values = [given("lr", scalar, "hyper")], [], [], []
    for i, (p, k, g) in enumerate(zip(params, kinds, grads)):
        arguments += [given("w" + p, k, "state"), given("m" + p, k, "state"),
                      given("g" + p, g)]
        body.append("  %%a%d, %%b%d = aicf.lion_step %%w%s, %%g%s, %%m%s, %%lr : "
                    "%s, %s, %s, %s" % (i, i, p, p, p, k, g, k, scalar))
        results += ['%s {aicf.updates = "w%s"}' % (k, p), '%s {aicf.updates = "m%s"}' % (k, p)]
        values += ["%%a%d" % i, "%%b%d" % i]
    text.append(entry("lion", arguments, results, "\n".join(body) + "\n  return %s : %s" % (
        ", ".join(values), ", ".join(k for k in kinds for _ in range(2)))))
    return "".join(text)


def moved(name, size):
    """Bytes that an entry must read and write."""
    n, wide = ROWS * WIDTH, 4
    per = {"softmax": 2 * size, "softmax_bwd": 3 * size, "dropout": 2 * size,
           "residual_dropout": 3 * size,
           "argmax": size, "mean": size, "l1_loss": size + wide,
           "bce_with_logits": size + wide, "bce_with_logits_grad": 2 * size + wide}
    if name in per:
        return n * per[name]
    params = PARAMS * 1024 * 4096
    return params * (size if name == "global_norm" else 4 * wide + size)


def torch_times(dtype):
    import torch
    import torch.nn.functional as F
    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    x = torch.randn(ROWS, WIDTH, device="cuda", dtype=kind)
    y, target = F.softmax(x, -1), torch.rand(ROWS, WIDTH, device="cuda")
    grads = [torch.randn(1024, 4096, device="cuda", dtype=kind) for _ in range(PARAMS)]
    calls = {
        "softmax": lambda: F.softmax(x, -1),
        "softmax_bwd": lambda: torch._softmax_backward_data(x, y, -1, kind),
        "dropout": lambda: F.dropout(x, 0.1),
        "residual_dropout": torch.compile(lambda: x + F.dropout(F.gelu(y), 0.1)),
        "argmax": lambda: x.argmax(-1),
        "mean": lambda: x.mean(),
        "l1_loss": lambda: F.l1_loss(x.float(), target),
        "bce_with_logits": lambda: F.binary_cross_entropy_with_logits(x.float(), target),
        "global_norm": lambda: torch.linalg.vector_norm(
            torch.stack(torch._foreach_norm(grads, 2))),
    }
    found = {}
    for name, call in calls.items():
        times = []
        for _ in range(9):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(20):
                call()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1000 / 20)
        found[name] = statistics.median(times)
    return found


def run(args):
    print("| op | dtype | AICF us | of the floor | torch us |\n|---|---|---|---|---|")
    for dtype, size in (("f32", 4), ("bf16", 2)):
        plan = pathlib.Path(args.plans) / ("ops.%s.plan" % dtype)
        inputs = json.loads(plan.with_suffix(".json").read_text())
        try:
            peers = torch_times(dtype)
        except ImportError:
            peers = {}
        for name, tensors in inputs.items():
            profile = plan.with_suffix(".profile.json")
            flags = [f for t in tensors for f in ("--input", t)]
            flags += ["--set", "lr=0.001"] if name == "lion" else []
            subprocess.run([args.runner, plan, "--device", "cuda", "--entry", name,
                            "--steps", "30", "--profile", profile, *flags], check=True,
                           stdout=subprocess.DEVNULL)
            kernels = json.loads(profile.read_text())["kernels"]
            times = [t for problems in kernels.values() for t in problems.values()]
            us = max(times) # the others are counters
            peer = "%.1f" % peers[name] if name in peers else ""
            print("| %s | %s | %.1f | %.0f %% | %s |" % (
                name, dtype, us, 100e6 * moved(name, size) / BYTES_PER_SECOND / us, peer))


def plan(args):
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    for dtype in ("f32", "bf16"):
        text = model(dtype)
        path = folder / ("ops.%s.mlir" % dtype)
        path.write_text(text)
        subprocess.run([args.compiler, path, "--target=cuda", "-o",
                        folder / ("ops.%s.plan" % dtype)], check=True)
        inputs = {}
        for part in text.split("func.func @")[1:]:
            name, tensors = part.split("(")[0], []
            for line in part.split("\n"):
                if 'aicf.role = "input"' in line:
                    ssa, rest = line.strip()[1:].split(": tensor<", 1)
                    tensors.append("%s=%s=0.5" % (ssa, rest.split(">")[0]))
            inputs[name] = tensors
        (folder / ("ops.%s.json" % dtype)).write_text(json.dumps(inputs))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["plan", "run"])
    parser.add_argument("--compiler", default="aicf-compile")
    parser.add_argument("--runner", default="aicf-run")
    parser.add_argument("--out", default=".")
    parser.add_argument("--plans", default=".")
    args = parser.parse_args()
    (plan if args.what == "plan" else run)(args)


if __name__ == "__main__":
    main()
