#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a transformer's step computes beside products and attention, at the sizes that it
has, beside a copy of the bytes that must move and PyTorch's kernels.

  transformer_ops.py plan --compiler aicf-compile --out FOLDER      where the compiler is
  transformer_ops.py run --library libaicf.so --plans FOLDER [OP ...]   on the GPU machine

Reported are the microseconds that kernels take, by CUPTI, the median of 10 calls, and the
rate of the copy over ours. The bytes that must move are what an op must read and write
once; a copy of them is measured in the same process. Where we are slower than at 80 % of
that, torch.compile of the same function runs, too."""

import argparse
import ctypes
import pathlib
import statistics
import subprocess

SHAPES = [(4096, 768), (16384, 384), (16384, 768), (8192, 4096), (65536, 1024)]
CLASSES = 50304
TYPES = {"bf16": 2, "f32": 4}


def entry(name, arguments, results, body):
    given = ['%%%s: %s {aicf.role = "input", aicf.name = "%s"}' % (n, t, n)
             for n, t in arguments]
    return "func.func @%s(\n    %s)\n    -> (%s) {\n%s\n  return %s : %s\n}\n" % (
        name, ",\n    ".join(given),
        ", ".join('%s {aicf.name = "%s"}' % (t, "r_" + n) for n, t in results), body,
        ", ".join("%" + n for n, _ in results), ", ".join(t for _, t in results))


def sizes(x):
    """[rows, width] of a type."""
    return "[%s]" % ", ".join(x[len("tensor<"):].split("x")[:2])


def norm(x, w, row, column):
    """Forward: the residual connection and the norm that follows."""
    return entry("e", [("a", x), ("b", x), ("g", w), ("h", w)], [("s", x), ("y", x)],
                 "  %%s = aicf.add %%a, %%b : %s, %s\n"
                 "  %%y, %%m, %%q = aicf.layer_norm %%s, %%g, %%h : %s, %s, %s" % (
                     x, x, x, w, w))


def norm_bwd(x, w, row, column):
    """dx is added to the residual connection's gradient, whose rows are summed, too."""
    return entry("e", [("dy", x), ("x", x), ("g", w), ("m", row), ("q", row), ("r", x)],
                 [("c", x), ("dg", w), ("db", w), ("sum", w)],
                 "  %%dx, %%dg, %%db = aicf.layer_norm_bwd %%dy, %%x, %%g, %%m, %%q : "
                 "%s, %s, %s, %s, %s\n  %%c = aicf.add %%r, %%dx : %s, %s\n"
                 "  %%sum = aicf.reduce_sum %%c over [0] : %s" % (
                     x, x, w, row, row, x, x, x))


def sums(x, w, row, column):
    return entry("e", [("x", x)], [("sum", w)],
                 "  %%sum = aicf.reduce_sum %%x over [0] : %s" % x)


def gelu_bwd(x, w, row, column):
    return entry("e", [("dy", x), ("x", x)], [("dx", x), ("sum", w)],
                 "  %%dx = aicf.gelu_bwd %%dy, %%x {approximate = true} : %s, %s\n"
                 "  %%sum = aicf.reduce_sum %%dx over [0] : %s" % (x, x, x))


def embedding_bwd(x, w, row, column):
    rows = x[len("tensor<"):].split("x")[0]
    table = x.replace(rows, str(CLASSES), 1)
    return entry("e", [("dy", x), ("i", "tensor<%sxi64>" % rows)], [("dw", table)],
                 "  %%dw = aicf.embedding_bwd %%dy, %%i {rows = %d} : %s, tensor<%sxi64>" % (
                     CLASSES, x, rows))


def cross_entropy(x, w, row, column):
    rows, kind = x[len("tensor<"):-1].split("x")[0], x[:-1].split("x")[-1]
    x = "tensor<%sx%dx%s>" % (rows, CLASSES, kind)
    scalar, i = "tensor<f32>", "tensor<%sxi64>" % rows
    return entry("e", [("x", x), ("i", i)], [("l", scalar), ("dx", x)],
                 "  %%l = aicf.softmax_cross_entropy %%x, %%i : %s, %s\n"
                 "  %%dx = aicf.softmax_cross_entropy_grad %%x, %%i : %s, %s" % (x, i, x, i))


def widened(name, made, x, lines):
    """The same in f32: the name of the value."""
    if "bf16" not in x:
        return name
    lines.append("  %%%s = aicf.cast %%%s to f32 : %s" % (made, name, x))
    return made


def narrowed(name, made, x, lines):
    if "bf16" not in x:
        return name
    lines.append("  %%%s = aicf.cast %%%s to bf16 : %s" % (
        made, name, x.replace("bf16", "f32")))
    return made


def rms(x, w, row, column):
    """As aicf.functional.rms_norm says it, in f32 inside."""
    wide, shape, lines = x.replace("bf16", "f32"), sizes(x), []
    v = widened("x", "v", x, lines)
    lines += ["  %%p = aicf.square %%%s : %s" % (v, wide),
              "  %%t = aicf.reduce_mean %%p over [1] {keepdim = true} : %s" % wide,
              "  %%u = aicf.add_scalar %%t {value = 1.0e-6 : f64} : %s" % column,
              "  %%k = aicf.rsqrt %%u : %s" % column,
              "  %%kk = aicf.broadcast %%k to %s : %s" % (shape, column),
              "  %%z = aicf.mul %%%s, %%kk : %s, %s" % (v, wide, wide)]
    n = narrowed("z", "n", x, lines)
    lines += ["  %%gg = aicf.broadcast %%g to %s : %s" % (shape, w),
              "  %%y = aicf.mul %%%s, %%gg : %s, %s" % (n, x, x)]
    return entry("e", [("x", x), ("g", w)], [("y", x)], "\n".join(lines))


def rms_bwd(x, w, row, column):
    """What autodiff makes of it: dx, and dg."""
    wide, shape, lines = x.replace("bf16", "f32"), sizes(x), []
    lines += ["  %%gg = aicf.broadcast %%g to %s : %s" % (shape, w),
              "  %%a = aicf.mul %%dy, %%gg : %s, %s" % (x, x)]
    v, d = widened("x", "v", x, lines), widened("a", "d", x, lines)
    pair = "%s, %s" % (wide, wide)
    lines += ["  %%kk = aicf.broadcast %%k to %s : %s" % (shape, column),
              "  %%z = aicf.mul %%%s, %%kk : %s" % (v, pair),
              "  %%dv = aicf.mul %%%s, %%kk : %s" % (d, pair),
              "  %%e = aicf.mul %%%s, %%%s : %s" % (d, v, pair),
              "  %%s = aicf.reduce_sum %%e over [1] {keepdim = true} : %s" % wide,
              "  %%t = aicf.rsqrt_bwd %%s, %%k : %s, %s" % (column, column),
              "  %%u = aicf.scale %%t {factor = %r : f64} : %s" % (
                  2.0 / int(shape.split(", ")[1][:-1]), column),
              "  %%uu = aicf.broadcast %%u to %s : %s" % (shape, column),
              "  %%dw = aicf.mul %%%s, %%uu : %s" % (v, pair),
              "  %%dd = aicf.add %%dv, %%dw : %s" % pair]
    n, dx = narrowed("z", "n", x, lines), narrowed("dd", "dx", x, lines)
    lines += ["  %%h = aicf.mul %%dy, %%%s : %s, %s" % (n, x, x),
              "  %%dg = aicf.reduce_sum %%h over [0] : %s" % x]
    return entry("e", [("dy", x), ("x", x), ("g", w), ("k", column)], [(dx, x), ("dg", w)],
                 "\n".join(lines))


#: op: its entry, and the elements that must move for each row and column
OPS = {"residual, layer norm": (norm, 4), "layer norm's gradients": (norm_bwd, 4),
       "RMS norm": (rms, 2), "RMS norm's gradients": (rms_bwd, 3),
       "sums of columns": (sums, 1),
       "gelu's gradient, its sums": (gelu_bwd, 3),
       "embedding's gradient": (embedding_bwd, 1), "cross entropy": (cross_entropy, 2)}


def cases():
    for op in OPS:
        for rows, width in SHAPES:
            for kind in TYPES:
                if op != "cross entropy":
                    yield op, rows, width, kind
                elif width == 768 and kind == "bf16":
                    yield op, rows, CLASSES, kind


def moved(op, rows, width, kind):
    """Bytes that must be read or written."""
    elements = rows * width * OPS[op][1]
    if op == "embedding's gradient":
        elements += CLASSES * width
    return elements * TYPES[kind]


def path_of(folder, op, rows, width, kind):
    words = "".join(c if c.isalnum() else "_" for c in op)
    return pathlib.Path(folder) / ("%s_%d_%d_%s.plan" % (words, rows, width, kind))


def plan(args):
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    for op, rows, width, kind in cases():
        path = path_of(args.out, op, rows, width, kind)
        x = "tensor<%dx%dx%s>" % (rows, width, kind)
        text = OPS[op][0](x, "tensor<%dx%s>" % (width, kind), "tensor<%dx%s>" % (rows, kind),
                          "tensor<%dx1xf32>" % rows)
        path.with_suffix(".mlir").write_text(text)
        subprocess.run([args.compiler, path.with_suffix(".mlir"), "--target=cuda", "-o",
                        path], check=True)


class Aicf:
    """A plan on the card, by the runtime's C API."""

    def __init__(self, library, path):
        self.lib = ctypes.CDLL(library)
        self.lib.aicf_last_error.restype = ctypes.c_char_p
        self.plan, self.device, self.executor = (ctypes.c_void_p() for _ in range(3))
        self("plan_load", str(path).encode(), ctypes.byref(self.plan))
        self("device_create", b"cuda", 0, ctypes.byref(self.device))
        self("executor_create", self.plan, self.device, ctypes.c_uint64(0),
             ctypes.byref(self.executor))

    def __call__(self, name, *arguments):
        if getattr(self.lib, "aicf_" + name)(*arguments):
            raise RuntimeError(self.lib.aicf_last_error().decode())

    def write(self, name, array):
        self("executor_write", self.executor, name.encode(),
             ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(array.nbytes))

    def run(self):
        self("executor_run", self.executor, b"e")
        self("executor_sync", self.executor)

    def close(self):
        for what in ("executor", "device", "plan"):
            getattr(self.lib, "aicf_%s_destroy" % what)(getattr(self, what))


def kernel_times(call, count=10):
    """Microseconds of kernels in each of `count` calls, after two."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(count):
            call()
        torch.cuda.synchronize()
    events = sorted((e.time_range.start, e.time_range.elapsed_us()) for e in found.events()
                    if not e.name.startswith("cuda"))  # the runtime's own waits
    each = len(events) // count
    return [sum(t for _, t in events[i * each:(i + 1) * each]) for i in range(count)]


def peer(op, rows, width, kind):
    """The same function in PyTorch, or None."""
    import torch
    import torch.nn.functional as F
    dtype = {"bf16": torch.bfloat16, "f32": torch.float32}[kind]

    def made(*shape):
        return torch.randn(*shape, device="cuda", dtype=dtype)
    if op == "embedding's gradient":
        index = torch.randint(0, CLASSES, (rows,), device="cuda")
        dy = made(rows, width)
        return lambda: torch.ops.aten.embedding_dense_backward(dy, index, CLASSES, -1, False)
    if op == "cross entropy":
        index = torch.randint(0, CLASSES, (rows,), device="cuda")
        x = made(rows, width)

        def loss(x):
            x = x.detach().requires_grad_()
            value = F.cross_entropy(x.float(), index)
            return value, torch.autograd.grad(value, x)[0]
        both = torch.compile(loss, dynamic=False)
        return lambda: both(x)
    x, y, z = made(rows, width), made(rows, width), made(rows, width)
    g, h = made(width), made(width)
    if op == "residual, layer norm":
        f = torch.compile(lambda: (x + y, F.layer_norm(x + y, (width,), g, h)), dynamic=False)
    elif op == "layer norm's gradients":
        _, mean, rstd = torch.native_layer_norm(x, (width,), g, h, 1e-5)

        def gradients():
            dx, dg, db = torch.ops.aten.native_layer_norm_backward(
                y, x, (width,), mean, rstd, g, h, (True, True, True))
            c = z + dx
            return c, dg, db, c.sum(0)
        f = torch.compile(gradients, dynamic=False)
    elif op == "RMS norm":
        f = torch.compile(lambda: F.rms_norm(x, (width,), g, 1e-6), dynamic=False)
    elif op == "RMS norm's gradients":
        k = torch.rand(rows, 1, device="cuda")

        def gradients():
            v, d = x.float(), (y * g).float()
            s = (d * v).sum(1, keepdim=True) * k * k * k / -width
            return (d * k + v * s).to(dtype), (y * (v * k).to(dtype)).sum(0)
        f = torch.compile(gradients, dynamic=False)
    elif op == "sums of columns":
        f = torch.compile(lambda: x.sum(0), dynamic=False)
    else:
        def slopes():
            dx = torch.ops.aten.gelu_backward(x, y, approximate="tanh")
            return dx, dx.sum(0)
        f = torch.compile(slopes, dynamic=False)
    return f


def ours(args, op, rows, width, kind):
    import numpy as np
    program = Aicf(args.library, path_of(args.plans, op, rows, width, kind))
    if op in ("cross entropy", "embedding's gradient"):
        program.write("i", np.random.default_rng(0).integers(0, CLASSES, rows))
    rng = np.random.default_rng(1)
    for name in {"residual, layer norm": "abgh", "layer norm's gradients": ("dy", "x", "g", "m", "q", "r"),
                 "RMS norm": "xg", "RMS norm's gradients": ("dy", "x", "g", "k"),
                 "sums of columns": "x",
                 "gelu's gradient, its sums": ("dy", "x"), "embedding's gradient": ("dy",),
                 "cross entropy": "x"}[op]:
        count = (width if name in "gh" else rows if name in "kmq" else rows * width)
        block = rng.standard_normal(min(count, 1 << 20), dtype=np.float32)
        array = np.resize(block, count)
        if kind == "bf16" and name != "k":
            array = (array.view(np.uint32) >> 16).astype(np.uint16)
        program.write(name, array)
    times = kernel_times(program.run)
    program.close()
    return statistics.median(times)


def run(args):
    import torch
    print("| op | rows × width | type | AICF, us | copy, us | of the copy's rate | "
          "PyTorch, us |\n|---|---|---|---|---|---|---|")
    for op, rows, width, kind in cases():
        if args.ops and not any(o in op for o in args.ops):
            continue
        own = ours(args, op, rows, width, kind)
        half = moved(op, rows, width, kind) // 2
        source = torch.empty(half, dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        copy = statistics.median(kernel_times(lambda: target.copy_(source)))
        del source, target
        other = ""
        if copy < 0.8 * own and not args.alone:
            torch._dynamo.reset()
            other = "%.1f" % statistics.median(kernel_times(peer(op, rows, width, kind)))
        print("| %s | %d × %d | %s | %.1f | %.1f | %.0f %% | %s |" % (
            op, rows, width, kind, own, copy, 100 * copy / own, other), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["plan", "run"])
    parser.add_argument("ops", nargs="*", help="parts of names of ops; the default is all")
    parser.add_argument("--compiler", default="aicf-compile")
    parser.add_argument("--library", default="libaicf.so")
    parser.add_argument("--out", default=".")
    parser.add_argument("--plans", default=".")
    parser.add_argument("--alone", action="store_true", help="without PyTorch's functions")
    args = parser.parse_args()
    (plan if args.what == "plan" else run)(args)


if __name__ == "__main__":
    main()
