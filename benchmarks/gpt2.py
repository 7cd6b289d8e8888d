#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A whole training step of GPT-2 (forward, cross entropy, backward, AdamW with f32
parameters) on a GPU, beside PyTorch and JAX at their best.

  gpt2.py plan --out FOLDER [CASE ...]     where the compiler is; needs PyTorch
  gpt2.py run --program aicf-step --plans FOLDER [CASE ...]     on the GPU machine

All start from the same parameters and batch, which are made from a seed. Each runs in a
process of its own, one after the other. Reported are milliseconds a step (median and range
of 7 windows of 0.2 s or more), the share of the card's 989 TFLOP/s that the products of the
definition are (MFU), peak memory, seconds of compilation, and how far the losses of the
first 5 steps are from those of PyTorch in f64.

Peers: `torch` is torch.compile of the module with autocast and a fused AdamW, as nanoGPT
trains; `torch-flat` has weights of bf16 in one buffer, masters of f32 and one generated
update; both are replayed as one CUDA graph. `jax` is one jitted step with cuDNN's
attention."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

#: batch, length, layers, width, heads, vocabulary
CASES = {"4x1024": (4, 1024, 12, 768, 12, 50304),
         "16x1024": (16, 1024, 12, 768, 12, 50304),
         "64x1024": (64, 1024, 12, 768, 12, 50304),
         "64x256": (64, 256, 6, 384, 6, 96),
         "small": (2, 64, 2, 64, 2, 96)}
PEERS = ("torch", "torch-flat", "jax")
LR, BETAS, EPS, DECAY = 3e-4, (0.9, 0.95), 1e-8, 0.1
PEAK_FLOPS = 989e12  # of an H100 and an H200, dense, 16 bits
CHECKED_STEPS = 5


# Parameters and batches, equal for all


def shapes(case):
    """Returns the shape of each parameter by its name in module()."""
    _, length, layers, width, _, vocabulary = CASES[case]
    found = {"wte.weight": (vocabulary, width), "wpe.weight": (length, width)}
    for i in range(layers):
        for name, rows, columns in (("ln1", 0, width), ("ln2", 0, width),
                                    ("qkv", 3 * width, width), ("proj", width, width),
                                    ("fc", 4 * width, width), ("fc2", width, 4 * width)):
            found["h.%d.%s.weight" % (i, name)] = (rows, columns) if rows else (width,)
            found["h.%d.%s.bias" % (i, name)] = (rows or width,)
    return {**found, "ln.weight": (width,), "ln.bias": (width,)}


def parameters(case):
    """Returns f32 arrays by name: normal(0, 0.02), ones and zeros."""
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal(shape, dtype=np.float32) * np.float32(0.02)
            if len(shape) > 1 else np.full(shape, name.endswith("weight"), np.float32)
            for name, shape in shapes(case).items()}


def batch(case):
    rng = np.random.default_rng(1)
    count, length, *_, vocabulary = CASES[case]
    return [rng.integers(0, vocabulary, (count, length)) for _ in range(2)]


def flops(case):
    """Of a step: 6 a parameter and token, and 12 a layer, token, key and element."""
    count, length, layers, width, _, vocabulary = CASES[case]
    weights = vocabulary * width + layers * (12 * width ** 2 + 13 * width) + 2 * width
    return count * length * (6 * weights + 12 * layers * length * width)


def module(case):
    import torch.nn.functional as F
    from torch import nn
    _, length, layers, width, heads, vocabulary = CASES[case]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.fc, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            q, k, v = (a.unflatten(-1, (heads, width // heads)).transpose(1, 2)
                       for a in self.qkv(self.ln1(x)).split(width, 2))
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(a.transpose(1, 2).flatten(2))
            return x + self.fc2(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.h = nn.ModuleList(Block() for _ in range(layers))
            self.ln = nn.LayerNorm(width)

        def forward(self, tokens):
            x = self.wte(tokens) + self.wpe.weight
            for block in self.h:
                x = block(x)
            return F.linear(self.ln(x), self.wte.weight)

    return GPT()


def loss_of(logits, labels):
    import torch.nn.functional as F
    logits = logits.flatten(0, 1)
    return F.cross_entropy(logits.float() if logits.dtype.itemsize < 4 else logits,
                           labels.flatten())


def windows(step, wait, seconds=0.2, count=7):
    """Returns milliseconds a step in each of `count` windows."""
    step(), step(), wait()
    start = time.perf_counter()
    step(), step(), wait()
    repeats = max(3, int(2 * seconds / (time.perf_counter() - start)))
    found = []
    for _ in range(count):
        start = time.perf_counter()
        for _ in range(repeats):
            step()
        wait()
        found.append((time.perf_counter() - start) * 1e3 / repeats)
    return found


# AICF


def plan(case, folder):
    """Compiles a case for CUDA, where there is no card."""
    from unittest import mock

    import torch

    import aicf.torch
    from aicf._programs.lowered import Lowered

    class Stop(Exception):
        pass

    def keep(lowered, **_):
        raise Stop(lowered)
    model = module(case)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=BETAS, eps=EPS,
                                  weight_decay=DECAY)
    x, y = (torch.from_numpy(a) for a in batch(case))
    start = time.perf_counter()
    try:
        with mock.patch.object(Lowered, "compile", keep):
            aicf.torch.compile_step(model, loss_of, optimizer, [x], [y], device="cuda",
                                    precision="bf16", verify=False)
    except Stop as stop:
        seconds = time.perf_counter() - start
        path = folder / (case + ".plan")
        path.write_bytes(bytes(stop.args[0].plan.serialize()))
        path.with_suffix(".json").write_text(json.dumps({"compile_s": seconds}))
        print("%s: %.1f s, %d bytes" % (case, seconds, path.stat().st_size))


class Ours:
    """aicf-step, which holds an executor and obeys lines."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "cuda"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer.startswith("ok"):
            sys.exit("gpt2.py: %s: %s" % (words[0], answer or "aicf-step ended"))
        return answer[3:]

    def write(self, name, array):
        with tempfile.NamedTemporaryFile() as file:
            file.write(array.tobytes())
            file.flush()
            self("write", name, file.name)

    def loss(self):
        with tempfile.TemporaryDirectory() as folder:
            self("read", "loss", folder + "/loss")
            return float(np.fromfile(folder + "/loss", np.float32)[0])


def begin(step, case, pair):
    """Writes parameters, a batch and the numbers of the optimizer."""
    for name, array in parameters(case).items():
        step.write(name, array)
    for name, array in zip(("tokens", "labels"), pair):
        step.write("train_step/" + name, array)
    step.write("group0", np.float32([LR, DECAY, 1 - BETAS[0], 1 - BETAS[1], EPS]))


def run_ours(case, program, folder, tune):
    path = folder / (case + ".plan")
    step = Ours(program)
    prepared = dict(zip(*[iter(step("load", path, tune).split())] * 2))
    begin(step, case, batch(case))
    losses = []
    for _ in range(CHECKED_STEPS):
        step("run", 1)
        losses.append(step.loss())
    step("time", 2)
    micros = float(step("time", 3))
    found = [float(step("time", max(3, int(0.2e6 / micros)))) / 1e3 for _ in range(7)]
    stats = dict(zip(*[iter(step("stats").split())] * 2))
    memory = sum(int(stats[name]) for name in ("persistent", "io", "temp"))
    with tempfile.NamedTemporaryFile() as file:
        step("trace", file.name)
        kernels = json.load(open(file.name))
    compiled = json.loads(path.with_suffix(".json").read_text())["compile_s"]
    return {"ms": found, "losses": losses, "memory": memory, "nodes": int(stats["nodes"]),
            "compile_s": compiled + float(prepared["prepare_s"]), "kernels": kernels}


# Peers, each in a process of its own


def torch_model(case, dtype):
    import torch
    model = module(case)
    model.load_state_dict({n: torch.from_numpy(a) for n, a in parameters(case).items()})
    return model.to("cuda", dtype), [torch.from_numpy(a).cuda() for a in batch(case)]


def captured(step, losses, start):
    """Runs and captures a step of PyTorch's, and times its replays."""
    import torch
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(CHECKED_STEPS):
            losses.append(float(step()))
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    torch.cuda.empty_cache(), torch.cuda.reset_peak_memory_stats()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    memory = torch.cuda.max_memory_allocated()
    return {"ms": windows(graph.replay, torch.cuda.synchronize), "losses": losses,
            "memory": memory, "compile_s": seconds}


def run_torch(case):
    import torch
    torch.set_float32_matmul_precision("high")
    model, (x, y) = torch_model(case, torch.float32)
    compiled = torch.compile(model, dynamic=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=BETAS, eps=EPS,
                                  weight_decay=DECAY, fused=True, capturable=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            loss = loss_of(compiled(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return captured(step, [], time.perf_counter())


def run_torch_flat(case):
    import torch
    torch.set_float32_matmul_precision("high")
    model, (x, y) = torch_model(case, torch.float32)
    compiled = torch.compile(model, dynamic=False)
    all_of = list(model.parameters())
    master = torch.cat([p.detach().reshape(-1) for p in all_of])
    weights, slopes = master.bfloat16(), torch.empty_like(master, dtype=torch.bfloat16)
    first, second = torch.zeros_like(master), torch.zeros_like(master)
    count = torch.zeros((), device="cuda")
    at = 0
    for p in all_of:
        p.data = weights[at:at + p.numel()].view(p.shape)
        at += p.numel()

    @torch.compile(dynamic=False)
    def update(weights, slopes, master, first, second, count):
        g = slopes.float()
        first.copy_(BETAS[0] * first + (1 - BETAS[0]) * g)
        second.copy_(BETAS[1] * second + (1 - BETAS[1]) * g * g)
        root = (second / (1 - BETAS[1] ** count)).sqrt() + EPS
        master.copy_(master * (1 - LR * DECAY)
                     - LR * (first / (1 - BETAS[0] ** count)) / root)
        weights.copy_(master)

    def step():
        loss = loss_of(compiled(x), y)
        grads = torch.autograd.grad(loss, all_of)
        torch.cat([g.reshape(-1) for g in grads], out=slopes)
        count.add_(1)
        update(weights, slopes, master, first, second, count)
        return loss.detach()
    return captured(step, [], time.perf_counter())


def jax_step(case):
    """Returns a step (state, tokens, labels) -> (state, loss), and the first state."""
    import jax
    import jax.numpy as jnp
    count, length, layers, width, heads, _ = CASES[case]
    bf16, f32 = jnp.bfloat16, jnp.float32

    def norm(x, w, b):
        x = x.astype(f32)
        x = x - x.mean(-1, keepdims=True)
        return (x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * w
                + b).astype(bf16)

    def loss(p, tokens, labels):
        half = {n: a.astype(bf16) for n, a in p.items()}

        def linear(x, name):
            return x @ half[name + ".weight"].T + half[name + ".bias"]

        def normed(x, name):
            return norm(x, p[name + ".weight"], p[name + ".bias"])
        x = half["wte.weight"][tokens] + half["wpe.weight"]
        for i in range(layers):
            h = "h.%d." % i
            packed = linear(normed(x, h + "ln1"), h + "qkv")
            q, k, v = jnp.split(packed.reshape(count, length, 3 * heads, -1), 3, 2)
            a = jax.nn.dot_product_attention(q, k, v, is_causal=True,
                                             implementation="cudnn")
            x = x + linear(a.reshape(count, length, width), h + "proj")
            x = x + linear(jax.nn.gelu(linear(normed(x, h + "ln2"), h + "fc")), h + "fc2")
        logits = (normed(x, "ln") @ half["wte.weight"].T).astype(f32)
        gold = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - gold).mean()

    def step(state, tokens, labels):
        p, m, v, n = state
        value, g = jax.value_and_grad(loss)(p, tokens, labels)
        n = n + 1
        m = {k: BETAS[0] * m[k] + (1 - BETAS[0]) * g[k] for k in p}
        v = {k: BETAS[1] * v[k] + (1 - BETAS[1]) * g[k] ** 2 for k in p}
        p = {k: a * (1 - LR * DECAY) - LR * (m[k] / (1 - BETAS[0] ** n))
             / (jnp.sqrt(v[k] / (1 - BETAS[1] ** n)) + EPS) for k, a in p.items()}
        return (p, m, v, n), value
    first = {n: jnp.asarray(a) for n, a in parameters(case).items()}
    zeros = [{n: jnp.zeros_like(a) for n, a in first.items()} for _ in range(2)]
    return step, (first, *zeros, jnp.float32(0))


def run_jax(case):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    step, state = jax_step(case)
    x, y = (jax.device_put(a.astype(np.int32)) for a in batch(case))
    start = time.perf_counter()
    compiled = jax.jit(step, donate_argnums=0).lower(state, x, y).compile()
    seconds = time.perf_counter() - start
    held = [state, None]

    def once():
        held[:] = compiled(held[0], x, y)
    losses = []
    for _ in range(CHECKED_STEPS):
        once()
        losses.append(float(held[1]))
    found = windows(once, lambda: held[1].block_until_ready())
    memory = (jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)
    return {"ms": found, "losses": losses, "memory": memory, "compile_s": seconds}


def run_judge(case):
    """Losses of PyTorch in f64, whose attention is computed with the matrix of scores."""
    import torch
    model, (x, y) = torch_model(case, torch.float64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=BETAS, eps=EPS,
                                  weight_decay=DECAY)
    losses = []
    for _ in range(CHECKED_STEPS):
        optimizer.zero_grad()
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses}


def in_process(peer, case):
    done = subprocess.run([sys.executable, __file__, "peer", peer, case],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print("%s %s: %s" % (peer, case, done.stderr.strip()[-300:]), file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


# The table


def row(case, name, found, judge):
    ms = statistics.median(found["ms"])
    error = max(abs(a - b) for a, b in zip(found["losses"], judge["losses"])) \
        if judge else float("nan")
    return "| %s | %s | %.3f (%.3f to %.3f) | %.1f %% | %.2f | %.1f | %.4f |" % (
        case, name, ms, min(found["ms"]), max(found["ms"]),
        100 * flops(case) / PEAK_FLOPS / ms * 1e3, found["memory"] / 1e9,
        found["compile_s"], error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("plan", "run"):
        command = commands.add_parser(name)
        command.add_argument("cases", nargs="*", default=["4x1024", "16x1024", "64x256"],
                             metavar="CASE", help="of " + ", ".join(CASES))
    commands.choices["plan"].add_argument("--out", type=pathlib.Path, required=True)
    run = commands.choices["run"]
    run.add_argument("--program", required=True)
    run.add_argument("--plans", type=pathlib.Path, required=True)
    run.add_argument("--tune", default="full", choices=("off", "fast", "full"))
    run.add_argument("--peers", default=",".join(PEERS))
    run.add_argument("--no-judge", action="store_true")
    run.add_argument("--out", type=pathlib.Path, help="a JSON file with all that was found")
    peer = commands.add_parser("peer")
    peer.add_argument("name")
    peer.add_argument("case")
    args = parser.parse_args()
    if args.command == "peer":
        found = {"torch": run_torch, "torch-flat": run_torch_flat, "jax": run_jax,
                 "judge": run_judge}[args.name](args.case)
        print(json.dumps(found))
        return
    if args.command == "plan":
        args.out.mkdir(parents=True, exist_ok=True)
        for case in args.cases:
            plan(case, args.out)
        return
    print("| batch | who | ms a step | MFU | GB | compile, s | loss beside f64 |\n"
          "|---|---|---|---|---|---|---|", flush=True)
    everything = {}
    for case in args.cases:
        judge = None if args.no_judge else in_process("judge", case)
        found = {"aicf": run_ours(case, args.program, args.plans, args.tune)}
        print(row(case, "aicf", found["aicf"], judge), flush=True)
        for name in filter(None, args.peers.split(",")):
            found[name] = in_process(name, case)
            if found[name]:
                print(row(case, name, found[name], judge), flush=True)
        everything[case] = found
    if args.out:
        args.out.write_text(json.dumps(everything))


if __name__ == "__main__":
    main()
