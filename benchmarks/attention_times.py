#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Microseconds of attention on the GPU, forward and with gradients, beside PyTorch's.

  attention_times.py plan --compiler aicf-compile --out FOLDER   where the compiler is
  attention_times.py run --runner aicf-run --plans FOLDER        on the GPU machine

q, k and v are parts of one packed tensor, and so are their gradients. Of AICF what
`aicf-run --profile` measures, of PyTorch each of its kernels that takes the call: events
around 20 calls, the median of 9. TFLOP/s count the products of the definition, 2 forward
and 5 backward, of what a causal mask shows."""

import argparse
import json
import pathlib
import statistics
import subprocess

#: batch, heads, length, size of a head, type, whether it is causal
CASES = [(4, 12, 1024, 64, "bf16", True), (16, 12, 1024, 64, "bf16", True),
         (64, 12, 1024, 64, "bf16", True), (64, 6, 256, 64, "bf16", True),
         (4, 32, 2048, 128, "bf16", True), (2, 12, 1000, 64, "bf16", True),
         (32, 12, 197, 64, "bf16", False), (4, 12, 1024, 64, "f16", False),
         (4, 12, 1024, 64, "f32", True), (8, 8, 512, 32, "f32", False),
         (2, 16, 1024, 128, "f32", True)]


def name_of(case):
    return "b%d_h%d_t%d_d%d_%s%s" % (*case[:5], "_causal" if case[5] else "")


def text_of(case):
    """An entry that makes y and the gradients of the packed tensor."""
    batch, heads, length, size, dtype, causal = case
    width = heads * size
    packed = "tensor<%dx%dx%dx%s>" % (batch, length, 3 * width, dtype)
    row = "tensor<%dx%dx%dx%s>" % (batch, length, width, dtype)
    x = "tensor<%dx%dx%dx%dx%s>" % (batch, length, heads, size, dtype)
    lse = "tensor<%dx%dx%dxf32>" % (batch, heads, length)
    shape = "[%d, %d, %d, %d]" % (batch, length, heads, size)
    attrs = " {window_right = 0}" if causal else ""
    given, slope = (t.replace(dtype + ">", "f32>") for t in (packed, x))
    # Files of inputs have no bf16.
    lines = ["  %%x = aicf.cast %%gx to %s : %s" % (dtype, given),
             "  %%dy = aicf.cast %%gdy to %s : %s" % (dtype, slope)]
    for i, part in enumerate("qkv"):
        lines += ["  %%%s0 = aicf.slice %%x from [0, 0, %d] to [%d, %d, %d] : %s" % (
            part, i * width, batch, length, (i + 1) * width, packed),
            "  %%%s = aicf.reshape %%%s0 to %s : %s" % (part, part, shape, row)]
    lines += [
        "  %%y, %%lse = aicf.attention %%q, %%k, %%v%s : %s, %s, %s" % (attrs, x, x, x),
        "  %%dq, %%dk, %%dv = aicf.attention_bwd %%dy, %%q, %%k, %%v, %%y, %%lse%s : "
        "%s, %s, %s, %s, %s, %s" % (attrs, x, x, x, x, x, lse)]
    lines += ["  %%%s1 = aicf.reshape %%%s to [%d, %d, %d] : %s" % (
        part, part, batch, length, width, x) for part in ("dq", "dk", "dv")]
    lines += ["  %%dx = aicf.concat %%dq1, %%dk1, %%dv1 {axis = 2} : %s, %s, %s" % (
        row, row, row), "  return %%y, %%dx : %s, %s" % (x, packed)]
    return ('func.func @%s(%%gx: %s {aicf.role = "input", aicf.name = "x"},\n'
            '    %%gdy: %s {aicf.role = "input", aicf.name = "dy"})\n'
            '    -> (%s {aicf.name = "y"}, %s {aicf.name = "dx"}) {\n%s\n}\n' % (
                name_of(case), given, slope, x, packed, "\n".join(lines)))


def plan(args):
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        path = folder / (name_of(case) + ".mlir")
        path.write_text(text_of(case))
        subprocess.run([args.compiler, path, "--target=cuda", "-o",
                        path.with_suffix(".plan")], check=True)


def flops(case):
    batch, heads, length, size, _, causal = case
    seen = length * (length + 1) / 2 if causal else length * length
    return 4 * batch * heads * seen * size  # of the two products forward


def median_of(call):
    import torch
    times = []
    for _ in range(9):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(20):
            call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / 20)
    return statistics.median(times)


def peers(case):
    """{kernel: (forward, backward)} of PyTorch, in microseconds."""
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    batch, heads, length, size, dtype, causal = case
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    packed = torch.randn(batch, length, 3, heads, size, device="cuda", dtype=kind,
                         requires_grad=True)
    q, k, v = (x.transpose(1, 2) for x in packed.unbind(2))
    found = {}
    for backend in ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION"):
        try:
            with sdpa_kernel(getattr(SDPBackend, backend)):
                y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
                dy = torch.randn_like(y)
                forward = median_of(
                    lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal))
                backward = median_of(
                    lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True))
            found[backend.split("_")[0].lower()] = (forward, backward)
        except RuntimeError:
            pass
    return found


def run(args):
    print("| case | AICF us | TFLOP/s | kernels | PyTorch us | ratio to the best |\n"
          "|---|---|---|---|---|---|")
    for case in CASES:
        import numpy as np
        folder = pathlib.Path(args.plans)
        path, profile = folder / (name_of(case) + ".plan"), folder / "profile.json"
        rng = np.random.default_rng(0)
        batch, heads, length, size, _, _ = case
        flags = []
        for name, shape in (("x", (batch, length, 3 * heads * size)),
                            ("dy", (batch, length, heads, size))):
            file = folder / (name + ".npy")
            np.save(file, rng.normal(size=shape).astype(np.float32))
            flags += ["--input", "%s=@%s" % (name, file)]
        subprocess.run([args.runner, path, "--device", "cuda", "--steps", "20", "--profile",
                        profile, *flags], check=True, stdout=subprocess.DEVNULL)
        kernels = json.loads(profile.read_text())["kernels"]
        own = {kid: sum(problems.values()) for kid, problems in kernels.items()}
        forward = sum(t for kid, t in own.items() if not kid.startswith("attention_bwd")
                      and kid.startswith("attention"))
        backward = sum(t for kid, t in own.items() if kid.startswith("attention_bwd"))
        try:
            theirs = peers(case)
        except ImportError:
            theirs = {}
        best = [min((t[i] for t in theirs.values()), default=float("nan")) for i in (0, 1)]
        print("| %s | %.1f + %.1f | %.0f, %.0f | %s | %s | %.2f, %.2f |" % (
            name_of(case), forward, backward, flops(case) / forward / 1e6,
            2.5 * flops(case) / backward / 1e6, ", ".join(sorted(own)),
            ", ".join("%s %.1f + %.1f" % (name, *t) for name, t in theirs.items()),
            best[0] / forward, best[1] / backward), flush=True)


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
