#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise bodies, each as one function: AICF beside torch.compile and JAX.

    PYTHONPATH=build/python python3 benchmarks/pointwise_graphs.py --device cuda
        [--elements 16777216] [--width 4096] [--named 40] [--sums 10] [--norms 13]
        [--random 200] [--rounds 7]
        [--peers torch jax]

Named bodies are what models have, random ones are drawn from a seed, of up to 10
primitives. Each implementation's results are compared with float64. Then come rounds, in
each a window of every one. "rate" is the bytes that a body must move (its inputs and its
outputs, once), over the median time, as a fraction of the rate of a copy of as many bytes on
the device in the same rounds. On a GPU every implementation runs as one CUDA graph, but for
JAX, which has none to give away.
"""

import argparse
import json
import random
import statistics
import time

import torch

import aicf.torch

WINDOW_SECONDS = 0.02
# Threads of a library that has just run may spin for a while, on cores that the next one
# needs. Each window starts after this rest and a run that does not count.
REST_SECONDS = 0.02

# x, y, z: MxN. r: N, c: Mx1. Several results are a tuple.
NAMED = {
    "add": "x + y", "axpy": "0.5 * x + y", "residual relu": "relu(x + y)",
    "swish": "x * sigmoid(x)", "swiglu": "x * sigmoid(x) * y", "geglu": "gelu(x) * y",
    "reglu": "relu(x) * y", "bias gelu": "gelu(x + r)", "bias relu": "relu(x + r)",
    "bias tanh": "tanh(x + r)", "scale shift": "x * r + c",
    "affine of a norm": "(x - c) * r + y", "gate": "sigmoid(x) * y + (1 - sigmoid(x)) * z",
    "lerp": "x + 0.1 * (y - x)", "ema": "0.99 * x + 0.01 * y",
    "gru": "(1 - sigmoid(z)) * tanh(x + sigmoid(y) * x) + sigmoid(z) * y",
    "lstm cell": "sigmoid(x) * tanh(y) + sigmoid(z) * x",
    "tanh backward": "y * (1 - x * x)", "sigmoid backward": "y * x * (1 - x)",
    "relu backward": "where(x > 0, y, 0 * y)",
    "swish backward": "y * (sigmoid(x) * (1 + x * (1 - sigmoid(x))))",
    "square loss": "(x - y) * (x - y)", "smooth l1": "where(abs(x - y) < 1, "
    "0.5 * (x - y) * (x - y), abs(x - y) - 0.5)", "log cosh": "log(exp(x - y) + exp(y - x))",
    "bce with logits": "relu(x) - x * y + log(1 + exp(-abs(x)))",
    "focal weight": "(1 - sigmoid(x)) * (1 - sigmoid(x)) * y",
    "kl of gaussians": "-0.5 * (1 + x - y * y - exp(x))", "reparametrise": "x + exp(0.5 * y) * z",
    "sgd": "x - 0.01 * (y + 0.0001 * x)", "momentum": "(x - 0.01 * (0.9 * z + y), 0.9 * z + y)",
    "rms step": "x - 0.01 * y / (sqrt(z * z) + 1e-8)",
    "adam moments": "(0.9 * x + 0.1 * z, 0.999 * y + 0.001 * z * z)",
    "clip": "maximum(minimum(x, 1 + 0 * x), -1 + 0 * x)", "mask": "where(x > y, z, x)",
    "softsign": "x / (1 + abs(x))", "hardswish": "x * maximum(minimum(x + 3, 6 + 0 * x), 0 * x) / 6",
    "mish": "x * tanh(log(1 + exp(x)))", "rotary": "(x * r - y * c, x * c + y * r)",
    "distance": "sqrt((x - y) * (x - y) + (y - z) * (y - z) + 1e-6)",
    "dropout by hand": "where(z > 0.1, x * 1.25, 0 * x) + y",
}
# With sums over rows (0), over columns (1), or over all.
SUMS = {
    "relu bias gradient": "((t := where(x > 0, y, 0 * y)), t.sum(0))",
    "tanh bias gradient": "((t := y * (1 - x * x)), t.sum(0))",
    "norm gradients": "((x * y).sum(0), x.sum(0))",
    "batch statistics": "(x.sum(0), (x * x).sum(0))",
    "column products": "(x * y * z).sum(0)",
    "row products": "(x * y).sum(1)", "squared rows": "(x * x).sum(1)",
    "powers and their rows": "((t := exp(x + r)), t.sum(1))",
    "square loss": "((x - y) * (x - y)).mean()", "l1 loss": "abs(x - y).mean()",
}
# With reductions inside, by hand; the last ones are a framework's own.
NORMS = {
    "rms norm": "x * rsqrt(row_mean(x * x) + 1e-6) * r",
    "residual rms norm": "((h := x + y), h * rsqrt(row_mean(h * h) + 1e-6) * r)",
    "layer norm by hand": "(d := x - row_mean(x)) * rsqrt(row_mean(d * d) + 1e-5) * r",
    "unit rows": "x * rsqrt(row_sum(x * x) + 1e-12)",
    "softmax of small numbers": "(e := exp(x)) / row_sum(e)",
    "softmax backward by hand": "y * (x - row_sum(x * y))",
    "layer norm backward by hand":
        "((g := y * r) - row_mean(g) - x * row_mean(g * x)) * c",
    "batch norm": "(d := x - column_mean(x)) * rsqrt(column_mean(d * d) + 1e-5) * r",
    "batch norm backward": "(y - column_mean(y) - x * column_mean(x * y)) * r",
    "softmax": "softmax(x)", "log softmax": "log_softmax(x)",
    "scaled and masked softmax": "softmax(where(y > 1, -1e9 + 0 * x, 0.125 * x))",
    "layer norm": "layer_norm(x)",
}
UNARY = ["relu({})", "tanh({})", "sigmoid({})", "exp(-abs({}))", "sqrt(abs({}) + 1)",
         "log(abs({}) + 1)", "-{}", "0.5 * {}", "{} + 0.25", "abs({})"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "maximum({}, {})", "minimum({}, {})",
          "{} / (1 + abs({}))"]


def random_body(seed):
    """An expression of up to 10 primitives."""
    draw = random.Random(seed)
    values, budget = ["x", "y", "z", "r", "c"], draw.randint(3, 10)
    text = draw.choice("xyz")
    while budget > 0:
        if draw.random() < 0.5:
            form = draw.choice(UNARY)
            text = form.format("(%s)" % text)
        else:
            form, other = draw.choice(BINARY), draw.choice(values)
            text = form.format(*draw.sample(["(%s)" % text, other], 2))
        budget -= 1 + form.count("abs") + form.count("+ 1")
    return text


def names_of(framework):
    if framework == "jax":
        import jax
        import jax.numpy as jnp
        names = {n: getattr(jnp, n) for n in (
            "exp", "log", "sqrt", "tanh", "abs", "maximum", "minimum", "where")}
        names.update(relu=jax.nn.relu, sigmoid=jax.nn.sigmoid,
                     gelu=lambda v: jax.nn.gelu(v, approximate=False),
                     rsqrt=jax.lax.rsqrt, softmax=jax.nn.softmax,
                     log_softmax=jax.nn.log_softmax,
                     layer_norm=lambda v: jax.nn.standardize(v, epsilon=1e-5))
        for axis, kind in enumerate(("column", "row")):
            names[kind + "_sum"] = lambda v, axis=axis: v.sum(axis, keepdims=True)
            names[kind + "_mean"] = lambda v, axis=axis: v.mean(axis, keepdims=True)
        return names
    names = {n: getattr(torch, n) for n in (
        "exp", "log", "sqrt", "rsqrt", "tanh", "abs", "maximum", "minimum", "where",
        "relu", "sigmoid")}
    names.update(gelu=torch.nn.functional.gelu,
                 softmax=lambda v: torch.softmax(v, -1),
                 log_softmax=lambda v: torch.log_softmax(v, -1),
                 layer_norm=lambda v: torch.nn.functional.layer_norm(v, v.shape[-1:]))
    for axis, kind in enumerate(("column", "row")):
        names[kind + "_sum"] = lambda v, axis=axis: v.sum(axis, keepdim=True)
        names[kind + "_mean"] = lambda v, axis=axis: v.mean(axis, keepdim=True)
    return names


def function_of(text, used, framework):
    """A function of its own, which torch.compile can look into."""
    names = names_of(framework)
    exec("def body(%s):\n    return %s" % (", ".join(used), text), names)
    return names["body"]


class Body(torch.nn.Module):
    def __init__(self, text, used):
        super().__init__()
        self.function = function_of(text, used, "torch")

    def forward(self, *values):
        return self.function(*values)


class Own:
    def __init__(self, text, used, inputs, device, args):
        self.entry = aicf.torch.predict(Body(text, used), inputs, device=device,
                                        shapes="fixed")
        self.given = inputs
        self.out = self.entry(*inputs)

    def results(self):
        out = self.out if isinstance(self.out, tuple) else (self.out,)
        return [torch.from_dlpack(v) for v in out]

    def replay(self, n):
        self.entry.run(n)


class Torch:
    def __init__(self, text, used, inputs, device, args):
        torch._dynamo.reset()
        mode = "max-autotune-no-cudagraphs" if args.autotune else None
        self.work = torch.compile(Body(text, used), mode=mode)
        self.inputs = inputs
        if device == "cuda":
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side), torch.no_grad():
                self.work(*inputs)
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph), torch.no_grad():
                self.out = self.work(*inputs)
            self.graph.replay()
            self.step = self.graph.replay
        else:
            def step():
                with torch.no_grad():
                    self.out = self.work(*inputs)
            self.step = step
            step()

    def results(self):
        return self.out if isinstance(self.out, tuple) else (self.out,)

    def replay(self, n):
        for _ in range(n):
            self.step()


class Jax:
    def __init__(self, text, used, inputs, device, args):
        import jax
        function = function_of(text, used, "jax")
        self.given = [jax.numpy.asarray(v.cpu().numpy()) for v in inputs]
        self.work = jax.jit(function).lower(*self.given).compile()
        self.out = self.work(*self.given)

    def results(self):
        out = self.out if isinstance(self.out, tuple) else (self.out,)
        return [torch.from_dlpack(v) for v in out]

    def replay(self, n):
        for _ in range(n):
            out = self.work(*self.given)
        self.out = out
        for value in out if isinstance(out, tuple) else (out,):
            value.block_until_ready()


class Copy:
    """As many bytes, half of them read."""

    def __init__(self, num_bytes, device):
        # Memory that nobody has written yet is one page of zeros on a CPU.
        self.source = torch.ones(num_bytes // 8, device=device)
        self.to = torch.empty_like(self.source)

    def replay(self, n):
        for _ in range(n):
            self.to.copy_(self.source)


def sync(device):
    if device == "cuda":
        torch.cuda.synchronize()


def window(impl, n, device):
    time.sleep(REST_SECONDS)
    impl.replay(1)
    sync(device)
    start = time.perf_counter()
    impl.replay(n)
    sync(device)
    return (time.perf_counter() - start) * 1e6 / n


def wrong(impl, expected):
    for got, want in zip(impl.results(), expected):
        error = (got.double() - want).norm() / want.norm().clamp_min(1e-30)
        if not error < 1e-5:
            return float(error)
    return None


def measure(name, text, args, inputs_of):
    used = [n for n in "xyzrc" if n in set(compile(text, "<body>", "eval").co_names)]
    inputs = [inputs_of[n] for n in used]
    expected = Body(text, used)(*[v.double() for v in inputs])
    expected = expected if isinstance(expected, tuple) else (expected,)
    num_bytes = 4 * sum(v.numel() for v in (*inputs, *expected))
    impls = {}
    for label, make in {"aicf": Own, "torch": Torch, "jax": Jax}.items():
        if label != "aicf" and label not in args.peers:
            continue
        try:
            impl = make(text, used, inputs, args.device, args)
            error = wrong(impl, expected)
        except Exception as problem:
            print("FAILED", name, label, str(problem)[:200], flush=True)
            continue
        if error is not None:
            print("WRONG", name, label, error, flush=True)
            continue
        impls[label] = impl
    impls["copy"] = Copy(num_bytes, args.device)
    del expected
    counts, times = {}, {label: [] for label in impls}
    for label, impl in impls.items():
        window(impl, 2, args.device)
        counts[label] = max(2, int(WINDOW_SECONDS * 1e6 / window(impl, 3, args.device)))
    for _ in range(args.rounds):
        for label, impl in impls.items():
            times[label].append(window(impl, counts[label], args.device))
    median = {label: statistics.median(t) for label, t in times.items()}
    row = {"us": median, "bytes": num_bytes,
           "rate": {n: median["copy"] / t for n, t in median.items()}}
    print("| %s | %s |" % (name, " | ".join(
        "%s %.1f us (%.2f)" % (n, median[n], row["rate"][n]) for n in median)), flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--named", type=int, default=len(NAMED))
    parser.add_argument("--sums", type=int, default=len(SUMS))
    parser.add_argument("--norms", type=int, default=len(NORMS))
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peers", nargs="*", default=["torch", "jax"])
    parser.add_argument("--autotune", action="store_true", help="torch.compile's max-autotune")
    parser.add_argument("--out", help="a JSON file for all medians")
    args = parser.parse_args()
    torch.manual_seed(0)
    rows = args.elements // args.width
    shapes = {n: (rows, args.width) for n in "xyz"}
    shapes.update(r=(args.width,), c=(rows, 1))
    inputs_of = {n: torch.randn(s, device=args.device) for n, s in shapes.items()}
    bodies = dict(list(NAMED.items())[:args.named])
    bodies.update(list(SUMS.items())[:args.sums])
    bodies.update(list(NORMS.items())[:args.norms])
    bodies.update(("random %d" % s, random_body(s)) for s in range(args.random))
    results = {name: measure(name, text, args, inputs_of) for name, text in bodies.items()}
    done = {n: r for n, r in results.items() if "aicf" in r["us"]}
    rates = sorted(r["rate"]["aicf"] for r in done.values())
    print("%d bodies: %.1f %% reach 90 %% of the copy rate, median %.2f, least %.2f" % (
        len(done), 100 * sum(r >= 0.9 for r in rates) / len(rates),
        statistics.median(rates), rates[0]))
    for peer in args.peers:
        ratios = sorted(r["us"][peer] / r["us"]["aicf"] for r in done.values()
                        if peer in r["us"])
        if ratios:
            print("%s takes %.2f times as long in the median (%.2f .. %.2f)" % (
                peer, statistics.median(ratios), ratios[0], ratios[-1]))
    if args.out:
        with open(args.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
