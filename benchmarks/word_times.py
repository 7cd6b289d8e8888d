#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Microseconds of each op of the vocabulary on the GPU, beside torch.compile and JAX.

  word_times.py plan --compiler aicf-compile --out FOLDER   where the compiler is
  word_times.py run --runner aicf-run --plans FOLDER        on the GPU machine

`--only` takes a regular expression of names, `--no-peers` leaves the others out.
Operands are [8192, 4096], 64 MiB in bf16 and 128 MiB in f32. Of AICF what `aicf-run
--profile` measures; of the peers events around 20 calls, the median of 9 and how far the
quarters are from it. The copy rate is that of cudaMemcpy of 128 MiB in the same run; the
last column is the share of it that AICF reaches over the bytes that must move."""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from op_times import entry, given

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/python"))
ROWS, WIDTH = 8192, 4096
VOCABULARY, DEPTH, TOKENS, CLASSIFIED = 50257, 768, 8192, 1024
FIELDS = {"exponent": 1.5, "min": -0.5, "max": 0.75, "value": 0.25, "factor": 1.5}


def size_of(dtype):
    """Bytes of an element."""
    return {"f32": 4, "bf16": 2, "i1": 1, "i32": 4, "i64": 8}[dtype]


def pointwise():
    """(name, dtypes of operands without the float, result) of each record."""
    from fuzz.records import RECORDS
    for name, record in RECORDS.items():
        if record.is_pointwise and record.phase in ("Forward", "Backward"):
            yield name, ["x"] * len(record.operands), "x", {
                field: FIELDS[field] for field, (_, needed) in record.fields.items()
                if needed}
    for name in ("less", "equal"):
        yield name, ["x", "x"], "i1", {}
    yield "greater_scalar", ["x"], "i1", {"value": 0.25}
    yield "where", ["i1", "x", "x"], "x", {}
    yield "masked_fill", ["x", "i1"], "x", {"value": -1.5}
    yield "logical_and", ["i1", "i1"], "i1", {}
    yield "log_softmax", ["x"], "x", {}
    yield "log_softmax_bwd", ["x", "x"], "x", {}


def model(dtype):
    """An entry for each op, and the bytes that it must move."""
    text, moved = [], {}
    n = ROWS * WIDTH

    def tensor(kind, shape):
        return "tensor<%s%s>" % ("".join("%dx" % d for d in shape),
                                 dtype if kind == "x" else kind)

    def add(name, op, kinds, shapes, result, result_shape, attrs=""):
        names = "abc"[:len(kinds)]
        types = [tensor(k, s) for k, s in zip(kinds, shapes)]
        out = tensor(result, result_shape)
        text.append(entry(
            name, [given(v, t) for v, t in zip(names, types)],
            ['%s {aicf.name = "r"}' % out],
            "  %%r = aicf.%s %s%s : %s\n  return %%r : %s" % (
                op, ", ".join("%" + v for v in names), attrs, ", ".join(types), out)))
        size = 1
        for d in result_shape:
            size *= d
        return size * size_of(dtype if result == "x" else result)

    whole = (ROWS, WIDTH)
    for name, kinds, result, fields in pointwise():
        attrs = "" if not fields else " {%s}" % ", ".join(
            "%s = %e" % item for item in fields.items())
        written = add(name, name, kinds, [whole] * len(kinds), result, whole, attrs)
        moved[name] = written + sum(n * size_of(dtype if k == "x" else k) for k in kinds)
    for axis in (0, 1):
        moved["cumsum_%d" % axis] = 2 * add(
            "cumsum_%d" % axis, "cumsum", ["x"], [whole], "x", whole,
            " {axis = %d : i64}" % axis)
    for name in ("uniform", "normal"):
        fields = " to [%d, %d] {seed = 7 : i64%s}" % (
            ROWS, WIDTH, "" if dtype == "f32" else ", dtype = %s" % dtype)
        moved[name] = add(name, name, ["i64"], [()], "x", whole, fields)
    for k in (1, 8):
        moved["top_%d" % k] = n * size_of(dtype) + add(
            "top_%d" % k, "top_k", ["x"], [whole], "i32", (ROWS, k), " {k = %d : i64}" % k)
    moved["argmax"] = n * size_of(dtype) + add(
        "argmax", "argmax", ["x"], [whole], "i32", (ROWS,))
    row = size_of(dtype) * DEPTH
    moved["embedding"] = add(
        "embedding", "embedding", ["x", "i64"], [(VOCABULARY, DEPTH), (TOKENS,)], "x",
        (TOKENS, DEPTH)) + TOKENS * (row + 8)
    moved["embedding_bwd"] = add(
        "embedding_bwd", "embedding_bwd", ["x", "i64"], [(TOKENS, DEPTH), (TOKENS,)], "x",
        (VOCABULARY, DEPTH), " {rows = %d : i64}" % VOCABULARY) + TOKENS * (row + 8)
    moved["log_softmax_50257"] = 2 * add(
        "log_softmax_50257", "log_softmax", ["x"], [(CLASSIFIED, VOCABULARY)], "x",
        (CLASSIFIED, VOCABULARY))
    for name, copies in (("cross_entropy", 1), ("cross_entropy_grad", 2)):
        add(name, "softmax_" + name, ["x", "i64"], [(CLASSIFIED, VOCABULARY),
                                                    (CLASSIFIED,)],
            "x" if copies == 2 else "f32",
            (CLASSIFIED, VOCABULARY) if copies == 2 else ())
        moved[name] = copies * CLASSIFIED * VOCABULARY * size_of(dtype)
    return "".join(text), moved


def peers(library, dtype):
    """The same functions by name, each with its operands."""
    if library == "torch":
        import torch
        import torch.nn.functional as F
        kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
        x = torch.rand(ROWS, WIDTH, device="cuda").to(kind)
        y = torch.rand(ROWS, WIDTH, device="cuda").to(kind)
        m, m2 = x > 0.5, y > 0.5
        table = torch.rand(VOCABULARY, DEPTH, device="cuda").to(kind)
        tokens = torch.randint(0, VOCABULARY, (TOKENS,), device="cuda")
        grad = torch.rand(TOKENS, DEPTH, device="cuda").to(kind)
        wide = torch.rand(CLASSIFIED, VOCABULARY, device="cuda").to(kind)
        torch._dynamo.config.recompile_limit = 1000
        t, wrap, where, sign = torch, torch.compile, torch.where, torch.sign
        own = {
            "rsqrt": (torch.rsqrt, x), "elu": (F.elu, x), "selu": (F.selu, x),
            "leaky_relu": (F.leaky_relu, x), "hardtanh": (F.hardtanh, x),
            "hardswish": (F.hardswish, x), "softplus": (F.softplus, x),
            "mish": (F.mish, x), "log_sigmoid": (F.logsigmoid, x),
            "softsign": (F.softsign, x), "relu": (F.relu, x), "gelu": (F.gelu, x),
            "silu": (F.silu, x), "sigmoid": (torch.sigmoid, x),
            "clamp": (lambda x: x.clamp(-0.5, 0.75), x),
            "log_softmax": (lambda x: F.log_softmax(x, -1), x),
            "cumsum_0": (lambda x: x.cumsum(0), x),
            "cumsum_1": (lambda x: x.cumsum(1), x),
            "embedding": (lambda t, i: F.embedding(i, t), table, tokens),
            "embedding_bwd": (lambda g, i: torch.ops.aten.embedding_dense_backward(
                g, i, VOCABULARY, -1, False), grad, tokens),
            "log_softmax_50257": (lambda x: F.log_softmax(x, -1), wide),
            "cross_entropy": (F.cross_entropy, wide, tokens[:CLASSIFIED]),
        }
    else:
        import jax
        import jax.numpy as jnp
        t, wrap, where, sign = jnp, jax.jit, jnp.where, jnp.sign
        kind = {"f32": jnp.float32, "bf16": jnp.bfloat16}[dtype]
        key = jax.random.key(0)
        x = jax.random.uniform(key, (ROWS, WIDTH), jnp.float32).astype(kind)
        y = (x * 0.75 + 0.1).astype(kind)
        m, m2 = x > 0.5, y > 0.5
        nn = jax.nn
        table = jax.random.uniform(key, (VOCABULARY, DEPTH), jnp.float32).astype(kind)
        tokens = jax.random.randint(key, (TOKENS,), 0, VOCABULARY)
        grad = table[:TOKENS]
        wide = jax.random.uniform(key, (CLASSIFIED, VOCABULARY), jnp.float32).astype(kind)
        own = {
            "rsqrt": (jax.lax.rsqrt, x), "elu": (nn.elu, x), "selu": (nn.selu, x),
            "leaky_relu": (nn.leaky_relu, x), "hardtanh": (nn.hard_tanh, x),
            "hardswish": (nn.hard_swish, x), "softplus": (nn.softplus, x),
            "mish": (nn.mish, x), "log_sigmoid": (nn.log_sigmoid, x),
            "softsign": (nn.soft_sign, x), "relu": (nn.relu, x), "gelu": (nn.gelu, x),
            "silu": (nn.silu, x), "sigmoid": (nn.sigmoid, x),
            "clamp": (lambda x: jnp.clip(x, -0.5, 0.75), x),
            "log_softmax": (lambda x: nn.log_softmax(x, -1), x),
            "cumsum_0": (lambda x: x.cumsum(0), x),
            "cumsum_1": (lambda x: x.cumsum(1), x),
            "embedding": (lambda t, i: t[i], table, tokens),
            "embedding_bwd": (lambda g, i: jnp.zeros((VOCABULARY, DEPTH), kind)
                              .at[i].add(g), grad, tokens),
            "log_softmax_50257": (lambda x: nn.log_softmax(x, -1), wide),
            "cross_entropy": (lambda x, i: -jnp.take_along_axis(
                nn.log_softmax(x, -1), i[:, None], 1).mean(), wide,
                tokens[:CLASSIFIED]),
        }
    calls = {
        "add": (lambda a, b: a + b, x, y), "sub": (lambda a, b: a - b, x, y),
        "mul": (lambda a, b: a * b, x, y), "div": (lambda a, b: a / b, x, y),
        "exp": (t.exp, x), "expm1": (t.expm1, x), "log": (t.log, x),
        "log1p": (t.log1p, x), "sqrt": (t.sqrt, x), "sin": (t.sin, x),
        "cos": (t.cos, x), "tanh": (t.tanh, x), "abs": (t.abs, x), "sign": (sign, x),
        "floor": (t.floor, x), "ceil": (t.ceil, x), "round": (t.round, x),
        "neg": (lambda x: -x, x), "square": (t.square, x),
        "reciprocal": (lambda x: 1 / x, x), "pow_scalar": (lambda x: x ** 1.5, x),
        "pow": (lambda a, b: a ** b, x, y), "add_scalar": (lambda x: x + 0.25, x),
        "scale": (lambda x: x * 1.5, x), "maximum": (t.maximum, x, y),
        "minimum": (t.minimum, x, y), "less": (lambda a, b: a < b, x, y),
        "equal": (lambda a, b: a == b, x, y), "greater_scalar": (lambda x: x > 0.25, x),
        "where": (where, m, x, y), "masked_fill": (lambda x, m: where(m, -1.5, x), x, m),
        "logical_and": (lambda a, b: a & b, m, m2),
        "prelu": (lambda a, b: where(a > 0, a, a * b), x, y), **own}
    return {name: (wrap(call[0]), *call[1:]) for name, call in calls.items()}


def measure(library, call, repeats=20):
    """Median and quarters of 9 groups of calls, us per call."""
    import time
    function, *operands = call
    times = []
    if library == "torch":
        import torch
        for _ in range(3):
            function(*operands)
        torch.cuda.synchronize()
        for _ in range(9):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(repeats):
                function(*operands)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1000 / repeats)
    else:
        for _ in range(3):
            function(*operands).block_until_ready()
        for _ in range(9):
            begin = time.perf_counter()
            for _ in range(repeats):
                result = function(*operands)
            result.block_until_ready()
            times.append((time.perf_counter() - begin) * 1e6 / repeats)
    low, middle, high = statistics.quantiles(times, n=4)
    return middle, max(middle - low, high - middle)


def copy_rate():
    """Bytes per us that a copy of 128 MiB moves, read and written."""
    import torch
    a = torch.empty(ROWS * WIDTH, device="cuda")
    b = torch.empty_like(a)
    us, _ = measure("torch", (lambda: b.copy_(a),))
    return 2 * a.numel() * 4 / us


def ours(args, path, name, tensors):
    import numpy as np
    profile, flags = path.with_suffix(".profile.json"), []
    for tensor in tensors:
        operand, kind, _ = tensor.split("=")
        if kind.endswith("xi64"): # rows of the table, none more often than others
            file = pathlib.Path(tempfile.gettempdir()) / ("index%s.npy" % kind)
            np.save(file, np.random.default_rng(0).integers(
                0, VOCABULARY, int(kind.split("x")[0])))
            tensor = "%s=@%s" % (operand, file)
        flags += ["--input", tensor]
    subprocess.run([args.runner, path, "--device", "cuda", "--entry", name, "--steps",
                    "30", "--profile", profile, *flags], check=True,
                   stdout=subprocess.DEVNULL)
    kernels = json.loads(profile.read_text())["kernels"]
    return max(t for problems in kernels.values() for t in problems.values())


def run(args):
    rate = copy_rate()
    print("The copy rate is %.2f TB/s.\n" % (rate / 1e6))
    print("| op | dtype | AICF us | torch.compile us | JAX us | of the copy rate |\n"
          "|---|---|---|---|---|---|")
    for dtype in ("f32", "bf16"):
        path = pathlib.Path(args.plans) / ("words.%s.plan" % dtype)
        listed = json.loads(path.with_suffix(".json").read_text())
        times = {}
        for library in () if args.no_peers else ("torch", "jax"):
            try:
                calls = peers(library, dtype)
            except ImportError:
                calls = {}
            for name, call in calls.items():
                if not re.search(args.only, name):
                    continue
                try:
                    times[library, name] = "%.1f ± %.1f" % measure(library, call)
                except Exception as error:  # a peer that cannot do it is no reason to stop
                    times[library, name] = type(error).__name__
            del calls
        for name, (tensors, moved) in listed.items():
            if not re.search(args.only, name):
                continue
            us = ours(args, path, name, tensors)
            print("| %s | %s | %.1f | %s | %s | %.0f %% |" % (
                name, dtype, us, times.get(("torch", name), ""),
                times.get(("jax", name), ""), 100 * moved / us / rate), flush=True)


def plan(args):
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    for dtype in ("f32", "bf16"):
        text, moved = model(dtype)
        path = folder / ("words.%s.mlir" % dtype)
        path.write_text(text)
        subprocess.run([args.compiler, path, "--target=cuda", "-o",
                        folder / ("words.%s.plan" % dtype)], check=True)
        listed = {}
        for part in text.split("func.func @")[1:]:
            name, tensors = part.split("(")[0], []
            for line in part.split("\n"):
                if 'aicf.role = "input"' in line:
                    ssa, rest = line.strip()[1:].split(": tensor<", 1)
                    kind = rest.split(">")[0]
                    tensors.append("%s=%s=%s" % (ssa, kind, {
                        "i1": "1", "64": "7"}.get(kind[-2:], "0.5")))
            listed[name] = (tensors, moved[name])
        (folder / ("words.%s.json" % dtype)).write_text(json.dumps(listed))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["plan", "run"])
    parser.add_argument("--compiler", default="aicf-compile")
    parser.add_argument("--runner", default="aicf-run")
    parser.add_argument("--out", default=".")
    parser.add_argument("--plans", default=".")
    parser.add_argument("--only", default="")
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args()
    (plan if args.what == "plan" else run)(args)


if __name__ == "__main__":
    main()
