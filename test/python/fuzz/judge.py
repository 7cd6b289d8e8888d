# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs a program in many ways; says what is wrong, or nothing."""

import itertools
import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

import numpy as np

from . import check_plan, semantics, tensors

STEPS = 3
VIEWS = "views with strides"
# What aicf-compile may refuse about a step that is legal otherwise.
LEGAL_REFUSALS = {
    "f16": [r"trains on gradients of f16 without a loss scale"],
    "split": [r"cannot split @train: its update reads"],
}


class Failure(Exception):
    """`kind` stays the same while a program is reduced."""

    def __init__(self, kind, text):
        super().__init__("%s: %s" % (kind, text))
        self.kind = kind


class Skip(Exception):
    """Not to be judged: the reason."""


class Judge:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder = pathlib.Path(bin_dir), pathlib.Path(folder)
        self.numbers = itertools.count()
        self.features = set()   # of the CUDA plans so far

    def tool(self, name, *args):
        return subprocess.run([str(self.bin / name), *map(str, args)], text=True,
                              capture_output=True, timeout=120)

    def path(self, suffix):
        return self.folder / ("%d%s" % (next(self.numbers), suffix))

    def dump(self, plan):
        return json.loads(self.tool("aicf-plan", "dump", "--json", plan).stdout)

    def compile(self, model, *flags, legal=()):
        """A plan that was checked, or None for a legal refusal."""
        plan = self.path(".plan")
        done = self.tool("aicf-compile", model, "-o", plan, *flags)
        if done.returncode != 0:
            if done.returncode == 2 and any(re.search(r, done.stderr)
                                            for r in legal):
                return None
            raise Failure("refused", "%s\n%s" % (" ".join(flags), done.stderr))
        self.there_and_back(plan)
        dump = self.dump(plan)
        for fault in check_plan.check_plan(dump):
            raise Failure("plan", "%s: %s" % (" ".join(flags), fault))
        if dump["device"] == "cuda":
            self.features |= check_plan.features_of(dump)
        return plan

    def compile_forward(self, program):
        """The plan of a forward function, by flags that its seed says."""
        model = self.path(".mlir")
        model.write_text(program.text())
        flags = [["--opt-level=0"], ["--streams=2"], [],
                 ["--recompute-rate=1e9"]][program.seed % 4]
        return self.compile(model, *flags)

    def there_and_back(self, plan):
        """A plan read back as IR and written again is the same file."""
        ir, again = self.path(".mlir"), self.path(".plan")
        for flag, source, target in (("--plan-to-aicf", plan, ir),
                                     ("--aicf-to-plan", ir, again)):
            done = self.tool("aicf-translate", flag, source, "-o", target)
            if done.returncode != 0:
                raise Failure("translate", "%s: %s" % (flag, done.stderr))
        if plan.read_bytes() != again.read_bytes():
            raise Failure("round trip", "the plan is another after --plan-to-aicf")
        ir.unlink()
        again.unlink()

    def inputs(self, program, entry, names):
        flags = []
        for a in entry.arguments:
            if a.role == "input":
                flags += ["--input", tensors.argument(
                    a.name, a.value.dtype, program.values[a.name],
                    self.path(".npy"))]
            elif a.role == "hyper" and names:
                numbers = np.ravel(program.values[a.name]).tolist()
                flags += ["--set", "%s=%s" % (a.name, ",".join(map(repr, numbers)))]
        return flags

    def run(self, program, plan, *flags, entry=0, steps=STEPS, init=None,
            rename=None, more=()):
        """Outputs, `more` among them, and persistent tensors after `steps`, as they
        are stored."""
        e = program.entries[entry]
        folder = self.path("")
        folder.mkdir()
        args = ["--entry", rename or e.name, "--steps", steps,
                "--save-checkpoint", folder / "ck", *self.inputs(program, e, True)]
        args += ["--init", init or self.init(program)]
        outputs = [] if rename else [r.name for r in e.results if r.name]
        outputs += more
        for name in outputs:
            args += ["--output", "%s=@%s" % (name, folder / (name + ".npy"))]
        done = self.tool("aicf-run", plan, *args, *flags)
        if not has_run(done):
            raise Failure("run", "%s\n%s" % (" ".join(map(str, flags)), done.stderr))
        found = {name: np.load(folder / (name + ".npy")) for name in outputs}
        state = tensors.read_safetensors(folder / "ck" / "state.safetensors")
        shutil.rmtree(folder)
        return found, state

    def init(self, program):
        path = self.path(".safetensors")
        tensors.write_safetensors(path, {
            name: (a.value.dtype, program.values[name])
            for name, a in program.persistent().items() if a.role != "hyper"})
        return path

    def interpret(self, program, plan, *flags, entry=0):
        """As run(), by the interpreter: f64 arrays."""
        e = program.entries[entry]
        folder = self.path("")
        folder.mkdir()
        names = [r.name for r in e.results if r.name] + [
            r.updates for r in e.results if r.updates]
        args = ["--entry", e.name, "--steps", STEPS, "--init",
                self.init(program), *self.inputs(program, e, True)]
        for i, name in enumerate(names):
            args += ["--output", "%s=@%s" % (name, folder / ("%d.npy" % i))]
        done = self.tool("aicf-plan", "interpret", plan, *args, *flags)
        if done.returncode != 0:
            raise Failure("interpret", done.stderr)
        found = {n: np.load(folder / ("%d.npy" % i)) for i, n in enumerate(names)}
        shutil.rmtree(folder)
        return found


def has_run(done):
    """A 0-d output that is not finite is reported, and right where NumPy's is."""
    return done.returncode == 0 or (
        done.returncode == 1 and "not a finite number" in done.stderr)


def stored(program, name, dtype):
    """The initial value, as rounded to its dtype."""
    return tensors.decode(dtype, tensors.encode(dtype, program.values[name]),
                          program.values[name].shape)


def expected(program, noise=0.0, seed=0, precision=None, steps=STEPS, entry=0):
    """All values after `steps` steps of an entry, in f64."""
    entry = program.entries[entry]
    state = {a.name: stored(program, a.name, a.value.dtype)
             for e in program.entries for a in e.arguments}
    evaluator = semantics.Evaluator(noise, seed, precision)
    for _ in range(steps):
        outputs = evaluator.run(entry, state)
    return {**state, **outputs}, evaluator.overflowed


def tolerances(program, precision=None, steps=STEPS, entry=0):
    """Reference values and how far from them rounding may lead; None where a
    value leaves its dtype's range and nothing is promised."""
    reference, overflowed = expected(program, precision=precision, steps=steps,
                                     entry=entry)
    if overflowed:
        return reference, None
    dtypes = {r.name or r.updates: r.value.dtype
              for r in program.entries[entry].results}
    # Noise averages out of a long sum; the rounding of its partial sums does not.
    longest = max((np.prod(v.shape, dtype=float)
                   for op in program.entries[entry].ops for v in op.results),
                  default=1.0)
    bounds = {}
    for seed in range(6): # fewer may all be lucky where a sum cancels
        moved, overflowed = expected(program, 8.0, seed + 1, precision, steps,
                                     entry)
        if overflowed:
            return reference, None
        for name, value in reference.items():
            value = np.asarray(value) * 1  # bits are numbers here
            eps = semantics.EPS.get(precision or dtypes.get(name, program.dtype), 0)
            largest = np.max(np.abs(value), initial=0)
            deviation = np.max(np.abs(moved[name] - value), initial=0)
            bounds[name] = max(bounds.get(name, 0),
                               8 * deviation + 1e-300 +
                               (16 + longest ** 0.5) * eps * largest)
    return reference, bounds


def compare(kind, reference, bounds, found):
    for name, value in found.items():
        if name not in reference:
            continue
        error = np.max(np.abs(np.asarray(value, np.float64) - 1 * reference[name]),
                       initial=0)
        if not error <= bounds[name]:
            raise Failure(kind, "%s is off by %g, %g is right" % (
                name, error, bounds[name]))


def same_bits(where, a, b):
    for x, y in zip(a, b):
        for name in set(x) & set(y):
            if x[name].tobytes() != y[name].tobytes():
                raise Failure("bits", "%s: %s differs" % (where, name))


OPTIONS = [  # (flags of aicf-compile, flags of aicf-run): the same bits
    (["--opt-level=0"], []),
    (["--opt-level=1"], []),
    (["--opt-level=0", "--streams=3"], ["--executor", "graph"]),
    (["--streams=2"], []),
    (["--streams=3"], ["--executor", "graph"]),
    (["--keep=grad"], []),
    (["--recompute-rate=1e9"], []),
    (["--keep=all", "--streams=2"], []),
    ([], ["--executor", "graph"]),
    ([], ["--poison", "--canary"]),
    ([], ["--separate-allocations", "--threads", "1"]),
    ([], ["--check"]),
]


def judge(program, bin_dir, folder):
    """Raises Failure; else says what the program's CUDA plans had."""
    rng = random.Random(program.seed * 7 + 1)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        j = Judge(bin_dir, work)
        model = j.path(".mlir")
        model.write_text(program.text())
        plan = j.compile(model)
        base = j.run(program, plan)
        reference, bounds = tolerances(program)
        if bounds is not None:
            compare("numpy", reference, bounds,
                    {**base[0], **{n: v for n, v in base[1].items()}})
        if VIEWS in check_plan.features_of(j.dump(plan)):
            same_bits("a copy for every view", base,
                      j.run(program, j.compile(model, "--opt-level=0")))
        for compile_flags, run_flags in rng.sample(OPTIONS, 3):
            other = j.compile(model, *compile_flags) if compile_flags else plan
            same_bits(" ".join(compile_flags + run_flags), base,
                      j.run(program, other, *run_flags))
        judge_cuda(program, j, model, rng)
        judge_split(program, j, model, base)
        if program.dtype == "f32":
            judge_mixed(program, j, model, rng)
        return j.features


def judge_cuda(program, j, model, rng):
    """The CUDA plan, without a GPU: interpreted unrounded, in any legal order."""
    flags = ["--target=cuda", "--opt-level=%d" % rng.randrange(3),
             "--streams=%d" % rng.randrange(1, 4), *program.math]
    plan = j.compile(model, *flags)
    for entry in range(len(program.entries)):
        found = j.interpret(program, plan, "--exact", "--order-seed",
                            rng.randrange(1000), entry=entry)
        reference, bounds = tolerances(program, precision="f64", entry=entry)
        if bounds is not None:
            compare("cuda", reference, bounds, found)


def judge_split(program, j, model, base):
    plan = j.compile(model, "--split-step", legal=LEGAL_REFUSALS["split"])
    if plan is None:
        return
    names = [e["name"] for e in j.dump(plan)["entries"]]
    if "train.grads" not in names:
        return
    init = j.init(program)
    whole = j.run(program, j.compile(model), steps=1)[1]
    folder = j.path("")
    folder.mkdir()
    flags = j.inputs(program, program.entries[0], True)
    for entry, source in (("train.grads", ["--init", init]),
                          ("train.update", ["--resume", folder / "ck"])):
        entries = {e["name"]: e for e in j.dump(plan)["entries"]}
        inputs = {b["name"] for b in entries[entry]["buffers"]
                  if b["role"] == "input"}
        given = [x for k, v in zip(flags[::2], flags[1::2]) for x in (k, v)
                 if k == "--set" or v.split("=")[0] in inputs]
        done = j.tool("aicf-run", plan, "--entry", entry, *source, *given,
                      "--save-checkpoint", folder / "ck")
        if not has_run(done):
            raise Failure("split", done.stderr)
    state = tensors.read_safetensors(folder / "ck" / "state.safetensors")
    same_bits("--split-step", [whole], [state])


def judge_mixed(program, j, model, rng):
    half = rng.choice(["bf16", "bf16", "f16"])
    mixed = "--mixed-precision=" + half
    legal = LEGAL_REFUSALS["f16"] if half == "f16" else ()
    plan = j.compile(model, mixed, legal=legal)
    if plan is None:
        return
    base = j.run(program, plan)
    if half == "bf16":
        reference, bounds = tolerances(program, precision="bf16")
        if bounds is not None:
            compare("mixed", reference, bounds, {**base[0], **base[1]})
    flags = ["--opt-level=%d" % rng.randrange(2), "--streams=%d" % rng.randrange(1, 4)]
    same_bits(" ".join([mixed] + flags), base,
              j.run(program, j.compile(model, mixed, *flags)))
    cuda = j.compile(model, mixed, "--target=cuda", "--streams=%d" %
                     rng.randrange(1, 4))
    a = j.interpret(program, cuda)
    b = j.interpret(program, cuda, "--order-seed", rng.randrange(1000))
    same_bits(mixed + " in another order", [a], [b])
