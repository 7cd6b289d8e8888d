#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross-entropy over many classes, and tables of embeddings: AICF beside torch.compile and
JAX.

    PYTHONPATH=build/python python3 benchmarks/classes.py --device cuda
        [--dtypes bf16 f32] [--tokens 8192] [--classes 50257] [--width 768] [--rounds 9]

Each function's results are compared with float64. Then come rounds, in each a window of every
implementation. "rate" is as in pointwise_graphs.py: a function reads each operand once and
writes each result once. Of a table, it reads the rows that are looked up.
"""

import argparse
import os
import statistics

import torch
import torch.nn.functional as F

import aicf
import pointwise_graphs as graphs

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
TOLERANCE = {"bf16": 6e-3, "f16": 1e-3, "f32": 1e-5}


def _torch_loss_and_gradient(logits, labels):
    with torch.enable_grad():
        logits = logits.detach().requires_grad_()
        loss = F.cross_entropy(logits, labels)
        return loss.detach(), torch.autograd.grad(loss, logits)[0]


def _torch_table_gradient(table, index, dy):
    with torch.enable_grad():
        table = table.detach().requires_grad_()
        return torch.autograd.grad(F.embedding(index, table), table, dy)[0]


def _jax_loss(logits, labels):
    import jax
    import jax.numpy as jnp
    chosen = jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]
    return (jax.nn.logsumexp(logits.astype(jnp.float32), -1)
            - chosen.astype(jnp.float32)).mean()


def _jax_loss_and_gradient(logits, labels):
    import jax
    return jax.value_and_grad(_jax_loss)(logits, labels)


def _jax_table_gradient(table, index, dy):
    import jax
    return jax.vjp(lambda t: t[index], table)[1](dy)[0]


def _own_loss_and_gradient(logits, labels):
    return (aicf.losses.cross_entropy(logits, labels),
            aicf.ops.softmax_cross_entropy_grad(logits, labels))


# Names, inputs, then AICF's, PyTorch's and JAX's functions.
FUNCTIONS = {
    "cross-entropy": (
        ("logits", "labels"), aicf.losses.cross_entropy, F.cross_entropy, _jax_loss),
    "cross-entropy and gradient": (
        ("logits", "labels"), _own_loss_and_gradient, _torch_loss_and_gradient,
        _jax_loss_and_gradient),
    "embedding": (
        ("table", "index"), lambda table, index: aicf.functional.embedding(index, table),
        lambda table, index: F.embedding(index, table), lambda table, index: table[index]),
    "gradient of embedding": (
        ("table", "index", "dy"),
        lambda table, index, dy: aicf.ops.embedding_bwd(dy, index, rows=table.shape[0]),
        _torch_table_gradient, _jax_table_gradient),
}


def moved(name, inputs, results):
    """Bytes that a function must read and write."""
    size = {n: v.numel() * v.element_size() for n, v in inputs.items()}
    written = sum(v.numel() * v.element_size() for v in results)
    if name == "embedding":
        return size["index"] + 2 * written
    if name == "gradient of embedding":
        return size["index"] + size["dy"] + written
    return sum(size.values()) + written


class Own(graphs.Own):
    def __init__(self, function, inputs, device):
        names = {str(v): k for k, v in DTYPES.items()}
        names["torch.int64"] = "i64"
        specs = [aicf.spec(tuple(v.shape), names[str(v.dtype)]) for v in inputs.values()]
        source = {2: lambda a, b: function(a, b), 3: lambda a, b, c: function(a, b, c)}
        self.entry = aicf.compile(source[len(inputs)], dict(zip("abc", specs)), device=device,
                                  shapes="fixed", name="function")
        self.given = tuple(inputs.values())
        self.out = self.entry(*self.given)


class Torch(graphs.Torch):
    def __init__(self, function, inputs, device):
        torch._dynamo.reset()
        self.work = torch.compile(function)
        self.inputs = tuple(inputs.values())
        self.step = self._direct
        if device == "cuda":
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                self._direct()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self._direct()
            self.step = graph.replay
        self.step()

    def _direct(self):
        self.out = self.work(*self.inputs)


class Jax(graphs.Jax):
    def __init__(self, function, inputs, device):
        import jax
        self.given = [jax.dlpack.from_dlpack(v if v.dtype != torch.int64 else v.int())
                      for v in inputs.values()]
        self.work = jax.jit(function).lower(*self.given).compile()
        self.out = self.work(*self.given)


def measure(name, dtype, inputs, args):
    names, *functions = FUNCTIONS[name]
    inputs = {n: inputs[n] for n in names}
    expected = functions[1](*(v.double() if v.is_floating_point() else v
                              for v in inputs.values()))
    expected = expected if isinstance(expected, tuple) else (expected,)
    impls, num_bytes = {}, 0
    for label, make, function in zip(("aicf", "torch", "jax"), (Own, Torch, Jax), functions):
        try:
            impl = make(function, inputs, args.device)
            results = impl.results()
        except Exception as problem:
            print("FAILED", name, label, str(problem)[:300], flush=True)
            continue
        num_bytes = num_bytes or moved(name, inputs, results)
        errors = [float((got.double() - want).norm() / want.norm())
                  for got, want in zip(results, expected)]
        if max(errors) < TOLERANCE[dtype]:
            impls[label] = impl
        else:
            print("WRONG", name, label, errors, flush=True)
    del expected
    impls["copy"] = graphs.Copy(num_bytes, args.device)
    counts, times = {}, {label: [] for label in impls}
    for label, impl in impls.items():
        graphs.window(impl, 2, args.device)
        once = graphs.window(impl, 3, args.device)
        counts[label] = max(2, int(graphs.WINDOW_SECONDS * 1e6 / once))
    for _ in range(args.rounds):
        for label, impl in impls.items():
            times[label].append(graphs.window(impl, counts[label], args.device))
    cells = []
    copy = statistics.median(times["copy"])
    for label, taken in times.items():
        low, median, high = statistics.quantiles(taken, n=4)
        cells.append("%s %.1f (%.1f .. %.1f) us, rate %.2f" % (
            label, median, low, high, copy / median))
    print("| %s, %s | %s |" % (name, dtype, " | ".join(cells)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtypes", nargs="*", choices=DTYPES, default=["bf16", "f32"])
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--classes", type=int, default=50257)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    torch.manual_seed(0)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # all of it is JAX's else
    for dtype in args.dtypes:
        def draw(*shape):
            return torch.randn(shape, device=args.device).to(DTYPES[dtype])
        def number():
            return torch.randint(0, args.classes, (args.tokens,), device=args.device)
        inputs = {"logits": draw(args.tokens, args.classes), "labels": number(),
                  "table": draw(args.classes, args.width), "index": number(),
                  "dy": draw(args.tokens, args.width)}
        for name in FUNCTIONS:
            measure(name, dtype, inputs, args)


if __name__ == "__main__":
    main()
