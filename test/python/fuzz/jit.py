# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A second opinion: steps by way of --convert-aicf-to-linalg, MLIR's own passes and
its JIT, which share neither plans nor kernels with us."""

import pathlib
import re
import subprocess

import numpy as np

from . import tensors
from .judge import Failure, Skip, compare, stored, tolerances

# What makes a step of a forward function; no part of the plan.
STEP_PASSES = ["--aicf-expand-history", "--aicf-autodiff", "--aicf-append-optimizer"]
PIPELINE = """builtin.module(one-shot-bufferize{bufferize-function-boundaries=true
    allow-return-allocs-from-loops=true
    function-boundary-type-conversion=identity-layout-map},
  buffer-results-to-out-params{modify-public-functions=true},
  canonicalize, convert-linalg-to-loops, buffer-deallocation-pipeline,
  convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-arith-to-llvm,
  func.func(llvm-request-c-wrappers), convert-math-to-llvm, convert-math-to-libm,
  finalize-memref-to-llvm, convert-func-to-llvm, convert-cf-to-llvm,
  convert-index-to-llvm, reconcile-unrealized-casts)"""
ALIGNMENT = 64
# A function of the state before it: another call would say nothing new.
STEPS = 1


class Tensor:
    """An argument or a result of an entry: its type and what its marks say."""

    def __init__(self, type_, marks):
        *shape, self.dtype = type_.split("x")
        self.shape = tuple(map(int, shape))
        marks = dict(re.findall(r'aicf\.(\w+) = "([^"]*)"', marks or ""))
        self.name, self.role = marks.get("name", ""), marks.get("role", "")
        self.updates = marks.get("updates", "")

    def bytes(self):
        return len(tensors.encode(self.dtype, np.zeros(self.shape)))


def signatures(text):
    """{function: (arguments, results)} of a module as aicf-opt prints it."""
    found = {}
    for line in re.findall(r"^ *func\.func .*$", text, re.MULTILINE):
        name = re.search(r"@([\w.]+)\(", line).group(1)
        before, _, behind = line.partition(") -> ")
        found[name] = tuple(
            [Tensor(*t) for t in re.findall(
                r"tensor<([^>]*)>(?: \{([^{}]*)\})?", part)]
            for part in (before, behind.split(" attributes {")[0]))
    return found


class Memory:
    """The file of tensors that linalg-jit works on."""

    def __init__(self):
        self.data = bytearray()

    def place(self, raw):
        offset = len(self.data)
        self.data += raw + bytes(-len(raw) % ALIGNMENT)
        return offset

    def read(self, tensor, offset):
        raw = bytes(self.data[offset:offset + tensor.bytes()])
        return tensors.decode(tensor.dtype, raw, tensor.shape)


class Run:
    """`steps` calls of a function; `values` has its arguments by name."""

    def __init__(self, memory, function, signature, values, steps):
        self.memory, self.lines, self.places = memory, [], {}
        self.arguments, self.results = signature
        for a in self.arguments:
            self.places[a.name] = a, memory.place(
                tensors.encode(a.dtype, values[a.name]))
        for _ in range(steps):
            self.lines.append("call " + function)
            self.lines += [self.line(*self.places[a.name]) for a in self.arguments]
            made = [(r, memory.place(bytes(r.bytes()))) for r in self.results]
            self.lines += [self.line(*m) for m in made]
            self.places.update({r.updates or r.name: (r, at) for r, at in made})

    @staticmethod
    def line(tensor, offset):
        return " ".join(map(str, [offset, *tensor.shape]))

    def found(self):
        """Outputs and what was updated, after the last step."""
        return {r.updates or r.name: self.memory.read(*self.places[r.updates or r.name])
                for r in self.results}


def tool(path, *args, text=None):
    done = subprocess.run([str(path), *map(str, args)], input=text, text=True,
                          capture_output=True, timeout=300)
    if done.returncode != 0:
        raise Failure("jit", "%s: %s" % (pathlib.Path(path).name, done.stderr[:2000]))
    return done.stdout


def mlir_opt(bin_dir):
    """The stock tool, as the build found it."""
    cache = (pathlib.Path(bin_dir).parent / "CMakeCache.txt").read_text()
    llvm = re.search(r"^LLVM_DIR:PATH=(.*)/lib/cmake/llvm$", cache, re.MULTILINE)
    return pathlib.Path(llvm.group(1)) / "bin/mlir-opt"


def step_of(bin_dir, text):
    """The entries of `text` as whole steps."""
    return tool(pathlib.Path(bin_dir) / "aicf-opt", *STEP_PASSES, "-", text=text)


def execute(bin_dir, folder, steps, make_runs):
    """Runs functions of the modules `steps`; make_runs(memory) gives the runs."""
    linalg = tool(pathlib.Path(bin_dir) / "aicf-opt",
                  "--convert-aicf-to-linalg=strip-marks", "-", text="\n".join(steps))
    llvm = tool(mlir_opt(bin_dir), "--pass-pipeline=" + " ".join(PIPELINE.split()),
                "-", text=linalg)
    memory = Memory()
    runs = make_runs(memory)
    paths = [pathlib.Path(folder) / n for n in ("jit.mlir", "jit.calls", "jit.data")]
    paths[0].write_text(llvm)
    paths[1].write_text("\n".join(line for run in runs for line in run.lines) + "\n")
    paths[2].write_bytes(memory.data)
    tool(pathlib.Path(bin_dir) / "linalg-jit", *paths)
    memory.data = bytearray(paths[2].read_bytes())
    return runs


def initial(program, arguments):
    """Values of a step's arguments; zeros for states that passes added."""
    dtypes = {a.name: a.value.dtype for e in program.entries for a in e.arguments}
    return {a.name: stored(program, a.name, dtypes[a.name])
            if a.name in dtypes else np.zeros(a.shape) for a in arguments}


def judge_linalg(programs, bin_dir, folder):
    """{seed: Failure or Skip} of the first entries of `programs`, in one module."""
    steps, functions = [], []
    for program in programs:
        whole = step_of(bin_dir, program.text())
        text = re.sub(r"@([\w.]+)\(", r"@p%d_\1(" % program.seed, whole)
        text = re.sub(r"^module.*\n|^}\n?", "", text, flags=re.MULTILINE)
        steps.append(text)
        functions.append("p%d_%s" % (program.seed, program.entries[0].name))
    known = signatures("\n".join(steps))

    def make_runs(memory):
        return [Run(memory, f, known[f], initial(p, known[f][0]), STEPS)
                for p, f in zip(programs, functions)]
    failures = {}
    for program, run in zip(programs, execute(bin_dir, folder, steps, make_runs)):
        reference, bounds = tolerances(program, steps=STEPS)
        try:
            if bounds is None:
                raise Skip("a value leaves its type's range")
            compare("linalg", reference, bounds, run.found())
        except (Failure, Skip) as failure:
            failures[program.seed] = failure
    return failures
