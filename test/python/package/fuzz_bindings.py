# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong types and values for every public call: whatever is raised is fine, a crash
is not.

    python fuzz_bindings.py [--seconds 60] [--seed 0] [--only SEED]

Rounds run in child processes, so that a crash has a seed: --only repeats it. Run it
on a sanitized build (CONTRIBUTING.md, "The net").
"""

import argparse
import faulthandler
import inspect
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

CALLS_A_ROUND = 400
# Calls that do what they are told and would not come back.
SKIPPED = {"load_ipython_extension", "progress", "main"}


def make_targets(aicf, np):
    """(name, callable, how many arguments it may take)."""
    from aicf import _compiler, _runtime
    model = aicf.nn.Sequential(aicf.nn.Linear(4, 3), aicf.nn.ReLU(),
                               aicf.nn.Linear(3, 2))
    step = aicf.compile_step(
        model, lambda m, x, y: aicf.losses.cross_entropy(m(x), y),
        aicf.optim.AdamW(1e-3), {"x": aicf.spec((5, 4)), "y": aicf.spec((5,), "i32")})
    step(np.zeros((5, 4), "f"), np.zeros(5, "i4"))
    traced = aicf.trace(lambda x: x + 1, {"x": aicf.spec((2, 2))})
    lowered = traced.lower("cpu")
    executor = aicf.PlannedExecutor(lowered)
    builder = aicf.ModelBuilder("b")
    stream = aicf.graph_stream()
    aicf.graph_begin(stream)
    graph = aicf.graph_end(stream)
    runner = _runtime.Runner(step.program.executor, "train_step")
    things = [aicf, aicf.nn, aicf.ops, aicf.losses, aicf.optim, aicf.data, aicf.errors,
              _runtime, _compiler, model, step, step.program, traced, lowered, executor,
              builder, runner, step.program.executor, step.program.plan,
              aicf.device(), aicf.zeros((2, 3)), stream, graph, _compiler.Module(),
              model._modules[0].weight, aicf.nn.Buffer((2,), name="b"),
              aicf.data.Batches(2)]
    targets = []
    for thing in things:
        where = getattr(thing, "__name__", type(thing).__name__)
        for name in dir(thing):
            if name in SKIPPED or name.startswith("_") and name not in (
                    "__call__", "__array__", "__dlpack__", "__float__", "__len__",
                    "__init__", "__getitem__", "__add__", "__setattr__"):
                continue
            try:
                value = getattr(thing, name)
            except Exception:
                continue
            if callable(value):
                targets.append(("%s.%s" % (where, name), value))
    return targets, things


class Liar:
    """Says that it is an array, and is none."""

    def __init__(self, rng, np):
        self.rng, self.np = rng, np
        self.shape = rng.choice([(2, 3), (-1,), "x", None, (2**40,)])
        self.dtype = rng.choice(["f32", "float99", None, 3])

    def __dlpack_device__(self):
        return self.rng.choice([(1, 0), (2, 0), (99, 99), None, ("a", "b"), (1,)])

    def __dlpack__(self, **kwargs):
        kind = self.rng.randrange(4)
        if kind == 0:
            raise RuntimeError("liar")
        if kind == 1:
            return None
        if kind == 2:
            return self.np.zeros((2, 3), "f").__dlpack__()
        capsule = self.np.zeros((2, 3), "f").__dlpack__()
        self.np.from_dlpack(type("A", (), {"__dlpack__": lambda s, **k: capsule,
                                           "__dlpack_device__": lambda s: (1, 0)})())
        return capsule  # used up

    def __float__(self):
        raise ValueError("liar")

    def __index__(self):
        return self.rng.choice([-1, 2**70, 3])


def make_optimizer(rng, aicf):
    """One that is right, or nearly."""
    def number():
        return rng.choice([0, 0.0, 1e-3, 0.5, 0.9, 1.0, 1e300, -1, True])

    def count():
        return rng.choice([0, 1, 2, 3, 10, 10, 100, 2**31 - 1])
    rate = rng.choice([
        number, lambda: aicf.optim.Constant(number()),
        lambda: aicf.optim.Linear(number(), number(), count()),
        lambda: aicf.optim.WarmupCosine(number(), count(), count(), number())])()
    make = rng.choice([aicf.optim.AdamW, aicf.optim.SGD, aicf.optim.Lion])
    fields = {"weight_decay": number(), "clip_norm": number(),
              "accumulate": rng.choice([1, 2, 3])}
    if make is aicf.optim.SGD:
        fields.update(momentum=number(), nesterov=rng.choice([True, False]))
    else:
        fields["betas"] = (number(), number())
    return make(rate, **{k: v for k, v in fields.items() if rng.random() < 0.5})


def compile_something(rng, aicf, np):
    """A step with a random optimizer and random options, and two calls of it."""
    model = aicf.nn.Linear(3, rng.choice([1, 2]))
    step = aicf.compile_step(
        model, lambda m, x: (m(x) ** 2).mean(), make_optimizer(rng, aicf),
        {"x": aicf.spec((2, 3))}, precision=rng.choice(["f32", "tf32", "bf16", "f16"]),
        **rng.choice([{}, {}, {"keep": "grad"}, {"keep": "all"}, {"opt_level": 0},
                      {"streams": 2}]))
    for _ in range(3):
        step(np.ones((2, 3), "f"))


def make_value(rng, np, things, depth=0):
    """Anything."""
    numbers = [-2**63, -1, 0, 1, 2, 3, 5, 7, 2**31, 2**31 - 1, 2**63, 2**64, 10**30]
    plain = [
        lambda: rng.choice(numbers), lambda: rng.choice([1, 2, 3, 4]),
        lambda: rng.choice([0.0, -1.5, 1e-3, float("nan"), float("inf"), 1e308]),
        lambda: rng.choice(["", "x", "y", "f32", "i32", "cpu", "cuda", "train_step",
                            "a\0b", "\ud800", "é" * 50, "0.weight", "lr", "plan",
                            "{}", "%s", "a/b", "..", "gemm", "relu", "aicf.relu"]),
        lambda: rng.choice([None, True, False, ..., NotImplemented, object(), type]),
        lambda: rng.choice([b"", b"x", bytes(64), bytearray(8), 3j]),
        lambda: np.zeros(rng.choice([(), (0,), (2, 2), (5, 4), (5,), (3, 0, 2)]),
                         rng.choice(["f", "d", "e", "i4", "i8", "u1", "?", "c8", "S3",
                                     "O", ">f4"])),
        lambda: np.zeros((8, 8), "f")[::rng.choice([1, 2, -1]), ::rng.choice([1, 3])],
        lambda: np.ones((5, 4), "f"), lambda: np.zeros(5, "i4"),
        lambda: Liar(rng, np), lambda: rng.choice(things),
        lambda: lambda *a, **k: a[0] if a else next(iter(k.values()), None),
    ]
    if depth < 2:
        def inner():
            return make_value(rng, np, things, depth + 1)
        plain += [
            lambda: [inner() for _ in range(rng.randrange(4))],
            lambda: tuple(inner() for _ in range(rng.randrange(4))),
            lambda: {rng.choice(["x", "y", "", 3, None]): inner()
                     for _ in range(rng.randrange(3))},
        ]
    return rng.choice(plain)()


def parameters_of(function):
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def round_of_calls(seed):
    import numpy as np
    import aicf
    faulthandler.enable()
    rng = random.Random(seed)
    targets, things = make_targets(aicf, np)
    raised = make_calls(rng, CALLS_A_ROUND, targets, things, aicf, np)
    # The same objects in two threads: errors, no crash.
    import threading
    threads = [threading.Thread(target=make_calls, args=(
        random.Random(seed * 2 + i), CALLS_A_ROUND // 4, targets, things, aicf, np))
        for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Whatever was done to them, fresh things work.
    x = np.ones((5, 4), "f")
    y = aicf.compile(lambda x: x + x, {"x": x})(x).numpy()
    assert (y == 2 * x).all()
    print("%d of %d calls raised" % (raised, CALLS_A_ROUND))


def make_calls(rng, count, targets, things, aicf, np):
    """Random calls; how many of them raised."""
    raised = 0
    for _ in range(count):
        name, function = rng.choice(targets)
        known = [p.name for p in parameters_of(function)
                 if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
        args = [make_value(rng, np, things) for _ in range(rng.randrange(4))]
        kwargs = {rng.choice(known + ["nonsense"]): make_value(rng, np, things)
                  for _ in range(rng.choice([0, 0, 1, 2]))}
        if name.endswith((".run", ".replay", ".run_graph")):  # a long run is legal
            args = [a if not isinstance(a, int) or a < 100 else 3 for a in args]
            kwargs = {k: 2 if isinstance(v, int) else v for k, v in kwargs.items()}
        if os.environ.get("AICF_FUZZ_VERBOSE"):
            print(name, args, kwargs, file=sys.stderr, flush=True)
        try:
            if rng.random() < 0.02:
                compile_something(rng, aicf, np)
            else:
                function(*args, **kwargs)
        except (Exception, RecursionError):
            raised += 1
    return raised


def run_round(seed):
    """Empty if the round ended as it should, else what it said."""
    with tempfile.TemporaryDirectory() as folder:  # save("x") is a legal call
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, "--only",
                               str(seed)], cwd=folder, capture_output=True, text=True,
                              timeout=300)
    if done.returncode == 0:
        return ""
    why = ("signal %s" % signal.Signals(-done.returncode).name
           if done.returncode < 0 else "exit code %d" % done.returncode)
    return "seed %d: %s\n%s" % (seed, why, done.stderr[-4000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    flags = parser.parse_args()
    if flags.only is not None:
        round_of_calls(flags.only)
        return 0
    end, rounds, failed = time.time() + flags.seconds, 0, []
    while time.time() < end:
        said = run_round(flags.seed + rounds)
        rounds += 1
        if said:
            failed.append(said)
            print(said, flush=True)
    print("%d rounds of %d calls, %d failed" % (rounds, CALLS_A_ROUND, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
