#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unmodified torch modules with AdamW: aicf.torch.compile_step beside PyTorch eager and
torch.compile of the whole step, on a GPU in one CUDA graph; and beside JAX where
view_models.py, norm_models.py or activation_models.py has the model for it.

    PYTHONPATH=build/python python3 benchmarks/torch_models.py --device cuda
        [--models mlp mixer vit] [--precision tf32] [--rounds 15]

All get the same weights and data. The first loss of each is compared with float64. Then
come rounds, in each a window of every one; medians with quartiles, microseconds a step.
"call": new tensors on the device are handed over with each step. "replay": the inputs
stay where they are. Seconds to set up count what the first step waits for.
"""

import argparse
import copy
import json
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

import aicf.torch
import activation_models
import norm_models
import view_models

TOLERANCE = {"f32": 1e-5, "tf32": 2e-3}
WINDOW_SECONDS = 0.05


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Dlrm(nn.Module):
    """Naumov et al. 2019: embeddings and dense features, their products in pairs."""

    def __init__(self, tables=26, rows=10000, width=32, dense=13):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(dense, 256), nn.ReLU(),
                                    nn.Linear(256, width), nn.ReLU())
        pairs = (tables + 1) ** 2
        self.top = nn.Sequential(nn.Linear(pairs + width, 256), nn.ReLU(),
                                 nn.Linear(256, 1))

    def forward(self, dense, sparse):
        bottom = self.bottom(dense)
        features = torch.stack([bottom] + [
            table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
        products = (features @ features.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([products, bottom], 1)).squeeze(1)


def mlp():
    return (nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                          nn.Linear(512, 10)),
            F.cross_entropy, [torch.randn(128, 784)], [torch.randint(0, 10, (128,))])


def small_mlp():
    return (nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)),
            F.cross_entropy, [torch.randn(64, 64)], [torch.randint(0, 10, (64,))])


def residual_mlp():
    return (nn.Sequential(nn.Linear(256, 512), *[Residual(512) for _ in range(8)],
                          nn.LayerNorm(512), nn.Linear(512, 10)),
            F.cross_entropy, [torch.randn(256, 256)], [torch.randint(0, 10, (256,))])


def dlrm():
    return (Dlrm(), F.binary_cross_entropy_with_logits,
            [torch.randn(512, 13), torch.randint(0, 10000, (512, 26))],
            [torch.randint(0, 2, (512,)).float()])


MODELS = {**{f.__name__: f for f in (small_mlp, mlp, residual_mlp, dlrm)},
          **view_models.MODELS, **norm_models.MODELS, **activation_models.MODELS}
JAX = {**view_models.JAX, **norm_models.JAX, **activation_models.JAX}


def adamw(module, **options):
    return torch.optim.AdamW(module.parameters(), lr=1e-3, **options)


class Own:
    """aicf.torch.compile_step."""

    def __init__(self, module, loss_fn, inputs, targets, device, precision):
        self.given = (*inputs, *targets)
        self.step = aicf.torch.compile_step(
            module, loss_fn, adamw(module), inputs, targets, device=device,
            precision=precision, verify=False)

    def first(self):
        return float(self.step(*self.given))

    def call(self, n):
        step, given = self.step, self.given
        for _ in range(n):
            step(*given)

    def replay(self, n):
        self.step.run(n)


class Torch:
    """PyTorch's loop: `compiled` the loss, the optimizer too with `whole`; in one CUDA
    graph on a GPU."""

    def __init__(self, module, loss_fn, inputs, targets, device, precision,
                 compiled=True, whole=False, graph=True):
        self.cuda = device == "cuda"
        graph = graph and self.cuda
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        self.given = (*inputs, *targets)
        self.static = [v.clone() for v in self.given]
        rate = torch.tensor(1e-3, device=device) if whole else 1e-3
        optimizer = torch.optim.AdamW(
            module.parameters(), lr=rate, **({"capturable": graph} if self.cuda else {}),
            fused=not whole)
        count = len(inputs)

        def loss_of(*values):
            return loss_fn(module(*values[:count]), *values[count:])
        if compiled:
            torch._dynamo.reset()
            loss_of = torch.compile(loss_of)
        update = torch.compile(optimizer.step) if whole else optimizer.step

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(*self.static)
            loss.backward()
            update()
            return loss
        self.step = step
        self.loss = None
        if graph:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self.loss = float(step())
                for _ in range(3):
                    step()
            torch.cuda.current_stream().wait_stream(side)
            whole_graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(whole_graph):
                step()
            self.step = whole_graph.replay
            self.kept = whole_graph, module, optimizer  # a graph does not keep its memory

    def first(self):
        return self.loss if self.loss is not None else float(self.step())

    def call(self, n):
        step, pairs = self.step, list(zip(self.static, self.given))
        for _ in range(n):
            for static, given in pairs:
                static.copy_(given)
            step()

    def replay(self, n):
        step = self.step
        for _ in range(n):
            step()


class Jax:
    """JAX: one jitted step with AdamW by hand and donated state."""

    def __init__(self, function, module, loss_fn, inputs, targets, device, precision):
        import jax
        import jax.numpy as jnp
        self.jax = jax
        jax.config.update("jax_default_matmul_precision", {
            "tf32": "tensorfloat32", "f32": "float32"}[precision])
        betas, rate, decay = (0.9, 0.999), 1e-3, 1e-2

        def loss_of(p, inputs, t):
            y = function(p, *inputs)
            if loss_fn in norm_models.JAX_LOSSES:
                return norm_models.JAX_LOSSES[loss_fn](y, t)
            if loss_fn is F.mse_loss:
                return jnp.mean((y - t) ** 2)
            picked = jnp.take_along_axis(jax.nn.log_softmax(y), t[:, None], 1)
            return -picked.mean()

        def step(state, inputs, t):
            p, m, v, count = state
            loss, grads = jax.value_and_grad(loss_of)(p, inputs, t)
            count = count + 1
            c1, c2 = (1 / (1 - b ** count.astype(jnp.float32)) for b in betas)
            m = {n: betas[0] * m[n] + (1 - betas[0]) * g for n, g in grads.items()}
            v = {n: betas[1] * v[n] + (1 - betas[1]) * g * g for n, g in grads.items()}
            p = {n: w * (1 - rate * decay) - rate * (m[n] * c1) / (
                jnp.sqrt(v[n] * c2) + 1e-8) for n, w in p.items()}
            return (p, m, v, count), loss

        def to_jax(value):
            return jnp.asarray(value.detach().cpu().numpy())
        p = {n: to_jax(w) for n, w in module.named_parameters()}
        zeros = [{n: jnp.zeros_like(w) for n, w in p.items()} for _ in range(2)]
        self.state = (p, *zeros, jnp.zeros((), jnp.int32))
        self.given = [[to_jax(v) for v in inputs], to_jax(targets[0])]
        self.step = jax.jit(step, donate_argnums=0).lower(
            self.state, *self.given).compile()

    def first(self):
        self.state, loss = self.step(self.state, *self.given)
        return float(loss)

    def replay(self, n):
        state, step, given = self.state, self.step, self.given
        for _ in range(n):
            state, _ = step(state, *given)
        self.state = self.jax.block_until_ready(state)

    call = replay  # its arrays are never written


def variants(name, device):
    def of(**options):
        return lambda *case: Torch(*case, **options)
    made = {"aicf": Own, "torch eager": of(compiled=False, graph=False),
            "torch.compile": of()}
    made["torch.compile, optimizer too"] = of(whole=True)
    if device == "cuda":
        made["torch eager, graph"] = of(compiled=False)
    if name in JAX:
        made["jax"] = lambda *case: Jax(JAX[name], *case)
    return made


def window(work, n, device):
    start = time.perf_counter()
    work(n)
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e6 / n


def exact_loss(case):
    module, loss_fn, inputs, targets = case
    wide = [v.double() if v.is_floating_point() else v for v in (*inputs, *targets)]
    own = copy.deepcopy(module).double()
    return float(loss_fn(own(*wide[:len(inputs)]), *wide[len(inputs):]).detach())


def made_of(name, case, args):
    """The implementations that work, and what each took to set up."""
    module, loss_fn, inputs, targets = case
    expected, made, seconds = exact_loss(case), {}, {}
    for variant, make in variants(name, args.device).items():
        start = time.perf_counter()
        try:
            impl = make(copy.deepcopy(module), loss_fn, inputs, targets, args.device,
                        args.precision)
            loss = impl.first()
            impl.replay(1)
            window(impl.call, 3, args.device)
        except Exception as error:
            print("FAILED", name, variant, str(error)[:300], flush=True)
            continue
        seconds[variant] = time.perf_counter() - start
        if abs(loss - expected) > TOLERANCE[args.precision] * abs(expected):
            print("WRONG", name, variant, "loss", loss, "expected", expected, flush=True)
            continue
        made[variant] = impl
    return made, seconds


def measure(name, args):
    torch.manual_seed(0)
    module, loss_fn, inputs, targets = MODELS[name]()
    module.to(args.device)
    case = (module, loss_fn, [v.to(args.device) for v in inputs],
            [v.to(args.device) for v in targets])
    made, seconds = made_of(name, case, args)
    times = {(v, kind): [] for v in made for kind in ("call", "replay")}
    counts = {v: max(3, min(2000, int(WINDOW_SECONDS * 1e6 / window(
        impl.replay, 5, args.device)))) for v, impl in made.items()}
    for _ in range(args.rounds):
        for variant, kind in times:
            times[variant, kind].append(window(
                getattr(made[variant], kind), counts[variant], args.device))
    rows = {}
    for variant in made:
        rows[variant] = {"setup_s": seconds[variant]}
        for kind in ("call", "replay"):
            low, middle, high = statistics.quantiles(times[variant, kind], n=4)
            rows[variant][kind] = (middle, low, high)
        print("| %s | %s | %.1f (%.1f .. %.1f) | %.1f (%.1f .. %.1f) | %.1f |" % (
            name, variant, *rows[variant]["call"], *rows[variant]["replay"],
            seconds[variant]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--precision", choices=list(TOLERANCE), default="f32")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", help="a JSON file for the medians and quartiles")
    args = parser.parse_args()
    if args.device == "cuda":
        print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, args.precision)
    print("| model | | call us | replay us | set-up s |\n|---|---|---|---|---|", flush=True)
    results = {name: measure(name, args) for name in args.models}
    for name, rows in results.items():
        peers = [r["call"][0] for v, r in rows.items() if v != "aicf"]
        if "aicf" in rows and peers:
            print("%s: the best peer takes %.2f times as long a call, %.2f a replay" % (
                name, min(peers) / rows["aicf"]["call"][0],
                min(r["replay"][0] for v, r in rows.items() if v != "aicf")
                / rows["aicf"]["replay"][0]))
    if args.out:
        with open(args.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
