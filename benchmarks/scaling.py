#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is anything quadratic? Times aicf-compile on programs that are long in one way, and
the weights of a deep model in Python; prints microseconds an op (or a tensor) for a
short and a long one, their ratio and the memory of the long one.

    scaling.py BUILD [--repeats 3] [--python PYTHON]

Times are the user and system time of the whole process, its start included; the median
counts. Exits with 1 if an op costs more than 1.5 times as much in a program
of 20,000 as in one of 2,000, if that takes more than 1 GB, or if a tensor of 20,000
takes more than 20 microseconds in state_dict, load_state_dict, save_weights or
load_weights.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

T = "tensor<4x4xf32>"
SHORT, LONG = 2000, 20000
MOST_RATIO, MOST_MB, MOST_US = 1.5, 1024, 20


def function(arguments, results, body, returned, types, name="f", marks=""):
    return "func.func @%s(%s)\n    -> (%s)%s {\n%s  return %s : %s\n}\n" % (
        name, ", ".join(arguments), ", ".join(results), marks, "".join(body),
        ", ".join(returned), ", ".join(types))


def argument(ssa, name, role="input"):
    init = ", aicf.init = 1.0" if role == "param" else ""
    return '%%%s: %s {aicf.role = "%s", aicf.name = "%s"%s}' % (ssa, T, role, name, init)


def history(n):
    """Outputs, each with a history."""
    return function([argument("x", "x")],
                    ['%s {aicf.name = "y%d", aicf.history = 2 : i64}' % (T, i)
                     for i in range(n)],
                    ["  %%a%d = aicf.gelu %%x : %s\n" % (i, T) for i in range(n)],
                    ["%%a%d" % i for i in range(n)], [T] * n)


def uses(n):
    """Products of one value, added up."""
    body = ["  %%h = aicf.gelu %%x : %s\n" % T]
    body += ["  %%a%d = aicf.linear %%h, %%h : %s, %s\n" % (i, T, T) for i in range(n)]
    body += ["  %%b0 = aicf.add %%a0, %%a0 : %s, %s\n" % (T, T)]
    body += ["  %%b%d = aicf.add %%b%d, %%a%d : %s, %s\n" % (i, i - 1, i, T, T)
             for i in range(1, n)]
    return function([argument("x", "x")], ['%s {aicf.name = "y"}' % T], body,
                    ["%%b%d" % (n - 1)], [T])


def trained_uses(n):
    """One parameter that everything multiplies by, trained."""
    body = ["  %%a0 = aicf.gelu %%x : %s\n" % T]
    body += ["  %%a%d = aicf.mul %%a%d, %%p : %s, %s\n" % (i + 1, i, T, T)
             for i in range(n)]
    return trained([argument("x", "x"), argument("p", "p", "param")], body, n)


def params(n):
    """Parameters, trained."""
    body = ["  %%a0 = aicf.gelu %%x : %s\n" % T]
    body += ["  %%a%d = aicf.add %%a%d, %%p%d : %s, %s\n" % (i + 1, i, i, T, T)
             for i in range(n)]
    return trained([argument("x", "x")] + [
        argument("p%d" % i, "p%d" % i, "param") for i in range(n)], body, n)


def trained(arguments, body, n):
    body.append("  %%l = aicf.mean %%a%d : %s\n" % (n, T))
    return function(arguments, ['tensor<f32> {aicf.name = "loss", aicf.minimize}'],
                    body, ["%l"], ["tensor<f32>"],
                    marks=' attributes {aicf.optimizer = #aicf.adamw<lr = "lr">}')


def entries(n):
    """Entries with a parameter each."""
    return "".join(function(
        [argument("x", "x"), argument("p", "p%d" % i, "param")],
        ['%s {aicf.name = "y"}' % T],
        ["  %%a = aicf.add %%x, %%p : %s, %s\n" % (T, T)], ["%a"], [T],
        name="f%d" % i) for i in range(n))


# Of a 4x4 tensor: what each view makes of the one before it, and its shape.
VIEWS = [("reshape %s to [2, 2, 4]", "2x2x4"), ("transpose %s [1, 0, 2]", "2x2x4"),
         ("transpose %s [1, 0, 2]", "2x2x4"), ("reshape %s to [4, 4]", "4x4"),
         ("reshape %s to [1, 4, 4]", "1x4x4"), ("broadcast %s to [3, 4, 4]", "3x4x4"),
         ("slice %s from [1, 0, 0] to [2, 4, 4]", "1x4x4"),
         ("reshape %s to [4, 4]", "4x4"), ("transpose %s [1, 0]", "4x4"),
         ("slice %s from [0, 0] to [4, 4] step [1, 1]", "4x4")]


def views(n):
    """Trained layers of a product behind ten views, which are no calls."""
    layers = max(1, n // (len(VIEWS) + 2))
    body = ["  %%a0 = aicf.gelu %%x : %s\n" % T]
    for i in range(layers):
        value, shape = "%%a%d" % i, "4x4"
        for j, (view, after) in enumerate(VIEWS):
            body.append("  %%v%d_%d = aicf.%s : tensor<%sxf32>\n" % (
                i, j, view % value, shape))
            value, shape = "%%v%d_%d" % (i, j), after
        body.append("  %%m%d = aicf.matmul %s, %%p%d : %s, %s\n" % (i, value, i, T, T))
        body.append("  %%a%d = aicf.gelu %%m%d : %s\n" % (i + 1, i, T))
    return trained([argument("x", "x")] + [
        argument("p%d" % i, "p%d" % i, "param") for i in range(layers)], body, layers)


def concat(n):
    """A concat of computed parts, each of which something else reads as well."""
    body = ["  %%g%d = aicf.gelu %%x : %s\n" % (i, T) for i in range(n)]
    body += ["  %%h%d = aicf.relu %%g%d : %s\n" % (i, i, T) for i in range(n)]
    whole = "tensor<%dx4xf32>" % (4 * n)
    body.append("  %%c = aicf.concat %s {axis = 0} : %s\n" % (
        ", ".join("%%h%d" % i for i in range(n)), ", ".join([T] * n)))
    return function([argument("x", "x")], ['%s {aicf.name = "y"}' % whole], body, ["%c"],
                    [whole])


def slices(n):
    """Slices of one product, which are read where they lie."""
    whole = "tensor<%dx4xf32>" % (4 * n)
    body = ["  %%w = aicf.gelu %%x : %s\n  %%b0 = aicf.gelu %%z : %s\n" % (whole, T)]
    for i in range(n):
        body.append("  %%s%d = aicf.slice %%w from [%d, 0] to [%d, 4] : %s\n" % (
            i, 4 * i, 4 * i + 4, whole))
        body.append("  %%b%d = aicf.matmul %%b%d, %%s%d : %s, %s\n" % (i + 1, i, i, T, T))
    return function([argument("x", "x").replace(T, whole), argument("z", "z")],
                    ['%s {aicf.name = "y"}' % T], body, ["%%b%d" % n], [T])


def losses(n):
    """Losses of one prediction, added up, trained."""
    body = ["  %%g = aicf.matmul %%x, %%p : %s, %s\n" % (T, T),
            "  %%l0 = aicf.mean %%g : %s\n" % T]
    for i in range(n):
        body.append("  %%e%d = aicf.mse_loss %%g, %%t%d : %s, %s\n" % (i, i, T, T))
        body.append("  %%l%d = aicf.add %%l%d, %%e%d : tensor<f32>, tensor<f32>\n" % (
            i + 1, i, i))
    return function([argument("x", "x"), argument("p", "p", "param")] + [
                        argument("t%d" % i, "t%d" % i) for i in range(n)],
                    ['tensor<f32> {aicf.name = "loss", aicf.minimize}'], body,
                    ["%%l%d" % n], ["tensor<f32>"],
                    marks=' attributes {aicf.optimizer = #aicf.sgd<lr = "lr">}')


def streams(n):
    """Layers whose updates run beside forward and backward."""
    layers = max(1, n // 4)
    body = ["  %%a0 = aicf.gelu %%x : %s\n" % T]
    for i in range(layers):
        body.append("  %%m%d = aicf.matmul %%a%d, %%p%d : %s, %s\n" % (i, i, i, T, T))
        body.append("  %%r%d = aicf.relu %%m%d : %s\n" % (i, i, T))
        body.append("  %%a%d = aicf.add %%a%d, %%r%d : %s, %s\n" % (i + 1, i, i, T, T))
    return trained([argument("x", "x")] + [
        argument("p%d" % i, "p%d" % i, "param") for i in range(layers)], body, layers)


def halves(n):
    """The same in 16 bits, with the gradients and the update in an entry each."""
    return streams(n)


PROGRAMS = [history, uses, trained_uses, params, entries, views, concat, slices, losses,
            streams, halves]
#: Flags of aicf-compile, by program.
FLAGS = {streams: ["--streams=3"], halves: ["--mixed-precision=bf16", "--split-step"]}


def seconds_of(command):
    """CPU seconds and peak MB of one process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit("%s: exit code %d" % (" ".join(command), process.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(build, folder, make, n, repeats):
    source = pathlib.Path(folder) / "program.mlir"
    source.write_text(make(n))
    runs = [seconds_of([str(build / "bin/aicf-compile"), str(source), "-o",
                        str(source) + ".plan", *FLAGS.get(make, [])])
            for _ in range(repeats)]
    return statistics.median(r[0] for r in runs), max(r[1] for r in runs)


def compiler(build, repeats):
    print("%-14s %12s %12s %7s %9s" % ("program", "us, %d" % SHORT, "us, %d" % LONG,
                                       "ratio", "peak MB"))
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for make in PROGRAMS:
            each = {}
            for n in (SHORT, LONG):
                seconds, peak = measure(build, folder, make, n, repeats)
                each[n] = seconds / n * 1e6
            ratio = each[LONG] / each[SHORT]
            print("%-14s %12.1f %12.1f %7.2f %9.0f" % (
                make.__name__, each[SHORT], each[LONG], ratio, peak), flush=True)
            if ratio > MOST_RATIO or peak > MOST_MB:
                bad.append(make.__name__)
    return bad


WEIGHTS = """
import statistics, sys, tempfile, time
import aicf
from aicf import nn
for layers in map(int, sys.argv[1:]):
    step = aicf.compile_step(
        nn.Sequential(*[nn.Linear(4, 4) for _ in range(layers)]),
        lambda m, x, y: aicf.losses.mse_loss(m(x), y), aicf.optim.AdamW(1e-3),
        inputs={"x": aicf.spec((2, 4)), "y": aicf.spec((2, 4))}, threads=1)
    state = step.state_dict()
    file = tempfile.mkdtemp() + "/weights.safetensors"
    for name, call in (("state_dict", step.state_dict),
                       ("load_state_dict", lambda: step.load_state_dict(state)),
                       ("save_weights", lambda: step.save_weights(file)),
                       ("load_weights", lambda: step.load_weights(file))):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        print(name, len(state), statistics.median(times) / len(state) * 1e6)
"""


def weights(build, python):
    environment = dict(os.environ, PYTHONPATH=str((build / "python").resolve()))
    done = subprocess.run([python, "-c", WEIGHTS, "50", "1000", "10000"], text=True,
                          env=environment, stdout=subprocess.PIPE, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    print("%-16s %10s %16s" % ("call", "tensors", "us a tensor"))
    for name, tensors, each in sorted(rows, key=lambda r: (r[0], int(r[1]))):
        print("%-16s %10s %16.1f" % (name, tensors, float(each)))
    return [r[0] for r in rows if int(r[1]) > 100 and float(r[2]) > MOST_US]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--python", default=".deps/python/bin/python3")
    args = parser.parse_args()
    bad = compiler(args.build, args.repeats) + weights(args.build, args.python)
    if bad:
        sys.exit("too slow, or too large: " + ", ".join(bad))


if __name__ == "__main__":
    main()
