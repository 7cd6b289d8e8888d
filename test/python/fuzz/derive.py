# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random forward functions, and their gradients against central differences in f64."""

import itertools
import random
import tempfile

import numpy as np

from . import semantics
from .generate import (GROWING, INTEGERS, POINTWISE, SIZES, WITH_POLES, Builder,
                       Network, condition)
from .judge import Failure, Judge
from .program import Program, Result
from .records import RECORDS

STEP = 1e-5          # of the difference: error STEP^2 + 1e-16/STEP
TOLERANCE = 1e-7     # of the largest number in sight
# Where a difference is not a derivative.
WITH_KINKS = {"relu", "abs", "elu", "selu", "leaky_relu", "hardtanh", "hardswish",
              "clamp", "prelu", "maximum", "minimum"}
SMOOTH = [name for name in POINTWISE if name not in WITH_KINKS
          and RECORDS[name].phase == "Forward" and len(RECORDS[name].operands) == 1
          and not any(needed for _, needed in RECORDS[name].fields.values())]


def repeated(b, kind, x):
    """A reduction over some axes, as large as x again."""
    axes = b.random_axes(x)
    total = b.reduce(kind, x, axes, b.chance(0.5))
    kept = [1 if i in axes else d for i, d in enumerate(x.shape)]
    if list(total.shape) != kept:
        total = b.reshape(total, kept)
    return b.op("broadcast", [total], [(x.shape, x.dtype)], shape=list(x.shape))


#: Their derivative is 0, so that nothing depends on what is before them.
FLAT = {"sign", "floor", "ceil", "round"}
#: Functions of positive numbers that are far from 0, with a derivative there.
FAR = [name for name in sorted(WITH_POLES | WITH_KINKS)
       if RECORDS[name].phase == "Forward"]


def along_rows(b, x, rng):
    """Of rows that stay as they are: their logarithms, sums, and one of each."""
    kind = rng.choice(["log_softmax", "cumsum", "pick"])
    small = b.same("tanh", x)
    if kind == "log_softmax":
        return b.same(kind, x)
    if kind == "cumsum":
        sums = b.same(kind, small, axis=rng.randrange(len(x.shape)),
                      **({"reversed": True} if rng.random() < 0.5 else {}))
        return b.same("add", x, b.same("scale", sums, factor=0.125))
    index = b.argument("input", "places%d" % b.count, x.shape[:-1],
                       rng.choice(INTEGERS), np.random.default_rng(b.count).integers(
                           0, x.shape[-1], x.shape[:-1]))
    picked = b.op("pick", [small, index], [(x.shape[:-1], x.dtype)])
    kept = b.reshape(picked, [*x.shape[:-1], 1])
    return b.same("add", x, b.op("broadcast", [kept], [(x.shape, x.dtype)],
                                 shape=list(x.shape)))


def choose(b, x, twin):
    """A condition that nothing trained decides."""
    mask = condition(b, x.shape)
    if b.chance(0.5):
        return b.op("where", [mask, x, twin], [(x.shape, x.dtype)])
    return b.op("masked_fill", [x, mask], [(x.shape, x.dtype)], value=b.rng.choice([0.0, -1.5]),
                **({"inverted": True} if b.chance(0.5) else {}))


def mix(b, x, net):
    """An op that joins values, or uses one once more."""
    rng = b.rng
    kind = rng.choice(["mul", "sub", "square", "stop", "scale", "activation", "tied",
                       "reciprocal", "softmax", "sum", "mean", "dropout", "matmul",
                       "view", "view", "view", "extremum", "constant", "far", "grow",
                       "choice", "table", "rows"])
    twin = b.pick(lambda v: v.type == x.type)
    if kind in ("mul", "sub"):
        return b.same(kind, x, twin)
    if kind == "constant":
        return b.same(rng.choice(["add", "mul"]), x, b.constant(x.shape, x.dtype))
    if kind == "square":
        return b.same("mul", x, x)
    if kind == "stop":
        return b.same("add", x, b.same("stop_gradient", twin))
    if kind == "scale":
        return b.same("scale", x, factor=rng.choice([-1.5, 0.5, 2.0]))
    if kind in ("reciprocal", "far"): # of something far from zero, and from kinks
        def far(value):
            return b.same("add_scalar", b.same("sigmoid", value), value=1.5)
        if kind == "reciprocal":
            return b.same("reciprocal", far(x))
        op = rng.choice(FAR)
        operands = [far(x), far(twin)][:len(RECORDS[op].operands)]
        if op in ("maximum", "minimum"): # of two that are far from each other
            operands[1] = b.same("scale", operands[1], factor=-1.0)
        if op == "fmod": # where the quotient is between 1.09 and 1.89
            operands[1] = b.same("add_scalar", b.same("scale", operands[1], factor=0.05),
                                 value=1.25)
        made = b.same(op, *operands, **b.fields(op))
        return b.same("add", x, made) if op in FLAT else made
    if kind == "grow":
        return b.same(rng.choice(sorted(GROWING)), b.same("tanh", x))
    if kind == "choice":
        return choose(b, x, twin)
    if kind == "table": # as many rows as x has, of one that is trained
        table = net.param((rng.choice(SIZES), x.shape[-1]))
        index = b.argument("input", "rows%d" % b.count, x.shape[:-1],
                           rng.choice(INTEGERS), np.random.default_rng(b.count).integers(
                               0, table.shape[0], x.shape[:-1]))
        # Without a padding row: its gradient is 0 where its difference is not.
        return b.same("add", x, b.op("embedding", [table, index], [(x.shape, x.dtype)]))
    if kind == "rows":
        return along_rows(b, x, rng)
    if kind == "softmax":
        return b.same("softmax", x)
    if kind == "sum": # as much as x again, along a dimension or all up to it
        return repeated(b, "reduce_sum", b.same("tanh", x))
    if kind == "extremum": # of tanh, so that no two are equal by rounding alone
        return b.same("add", x, repeated(b, rng.choice(["reduce_max", "reduce_min"]),
                                         b.same("tanh", x)))
    if kind == "view": # of rank 2 or more, for the layers behind it
        seen = b.view(x)
        if len(seen.shape) < 2:
            seen = b.reshape(seen, (1, int(np.prod(seen.shape, dtype=int))))
        return seen if len(seen.shape) < 5 else b.reshape(
            seen, (seen.shape[0], int(np.prod(seen.shape[1:], dtype=int))))
    if kind == "mean":
        if b.chance(0.5):
            return b.same("add", x, repeated(b, "reduce_mean", b.same("mul", x, twin)))
        mean = b.op("mean", [b.same("mul", x, twin)], [((), x.dtype)])
        return b.same("add", x, b.op("broadcast", [mean], [(x.shape, x.dtype)],
                                     shape=list(x.shape)))
    if kind == "dropout":
        return net.dropout(x)
    if kind == "matmul": # as much as x again, by way of its products with itself
        # Small numbers: a difference of what is curved much is not a derivative.
        small = b.same("tanh", b.same("scale", b.gram(x, twin), factor=0.1))
        small = b.same("scale", small, factor=0.25)
        if small.shape[-1] == x.shape[-1]:
            return b.op("matmul", [x, small], [(x.shape, x.dtype)],
                        transB=rng.random() < 0.5)
        return b.op("matmul", [small, x], [(x.shape, x.dtype)],
                    transA=rng.random() < 0.5)
    if kind == "tied": # a parameter that was used before
        w = b.pick(lambda v: len(v.shape) == 2 and v.shape[1] == x.shape[-1] and
                   any(v is p for _, p in net.params))
        if w is not None:
            return b.linear(x, w)
    kind = rng.choice(SMOOTH)
    return b.same(kind, x, **b.fields(kind))


def loss_of(b, x, net):
    if b.chance(0.4):
        rows = x.shape[:-1]
        labels = b.argument("input", "labels%d" % b.count, rows,
                            b.rng.choice(INTEGERS), np.reshape(
            [b.rng.randrange(x.shape[-1]) for _ in range(int(np.prod(rows)))], rows))
        return b.op("softmax_cross_entropy", [x, labels], [((), x.dtype)],
                    **({"label_smoothing": 0.1} if b.chance(0.3) else {}))
    kind = b.rng.choice(["mse_loss", "l1_loss", "bce_with_logits", "mean"])
    if kind == "mean":
        return b.op("mean", [b.same("mul", x, x)], [((), x.dtype)])
    target = b.pick(lambda v: v.type == x.type and v is not x) if b.chance(0.3) else None
    if target is None or kind == "bce_with_logits": # whose target has no gradient
        target = b.argument("input", "target%d" % b.count, x.shape, x.dtype)
    return b.op(kind, [x, target], [((), x.dtype)])


def mark(b):
    """Single ops, or blocks of neighbours, are computed again."""
    ops = b.entry.ops
    if b.chance(0.5):
        for op in ops:
            if b.chance(0.2):
                op.attrs["aicf.recompute"] = True
        return
    for block in range(b.rng.randrange(4)):
        begin = b.rng.randrange(len(ops))
        for op in ops[begin:begin + b.rng.randrange(1, 12)]:
            op.attrs["aicf.recompute"] = '"block%d"' % block


def generate_forward(seed, dtype="f64"):
    """A program of one entry whose result "loss" is minimised. What is not reached
    by the loss is dropped."""
    rng = random.Random(seed)
    program = Program(seed, dtype, [], {})
    b = Builder(rng, program, "train")
    net = Network(b, itertools.count(), SIZES[:9])
    shape = [rng.choice(SIZES[:9]) for _ in range(rng.choice([2, 2, 2, 3]))]
    x = b.argument("input", "x", shape, dtype)
    x = net.linear(x, rng.choice(net.sizes), True)
    losses = []
    for _ in range(rng.randrange(1, 6)):
        x = mix(b, x, net) if b.chance(0.5) else net.layer(x)
        if b.chance(0.1):
            losses.append(loss_of(b, x, net))
    loss = loss_of(b, x, net)
    for other in losses:
        if b.chance(0.5):
            other = b.same("scale", other, factor=0.5)
        loss = b.same("add", loss, other)
    counts = b.entry.results
    b.entry.results = [Result(loss, name="loss", minimize=True), *counts]
    program.entries = [b.entry]
    b.entry.drop_dead_code()
    mark(b)
    reached = varied_params(b.entry, loss)
    for a in b.entry.arguments:
        if a.role == "param" and (a.value not in reached or
                                  (len(reached) > 1 and b.chance(0.1))):
            a.marks = ("aicf.frozen",)
            reached.discard(a.value)
    return program


def varied_params(entry, loss):
    """Parameters that the loss reaches not only through a stop_gradient."""
    ahead = {loss}
    for op in reversed(entry.ops):
        if op.kind not in FLAT | {"stop_gradient", "fill_like"} and \
                any(r in ahead for r in op.results):
            ahead.update(v for v in op.operands if v is not None)
    return {a.value for a in entry.arguments if a.role == "param"} & ahead


class Stopped(semantics.Evaluator):
    """Remembers what passes a stop_gradient in the first run."""

    def __init__(self):
        super().__init__()
        self.stops = {}

    def loss(self, entry, state):
        env = {a.value: state[a.name] for a in entry.arguments}
        for op in entry.ops:
            operands = [None if v is None else env[v] for v in op.operands]
            values = semantics.OPS[op.kind](operands, op, lambda a: a)
            if op.kind == "stop_gradient":
                values = [self.stops.setdefault(id(op), values[0])]
            env.update(zip(op.results, values))
        return float(env[entry.results[0].value])


def judge_forward(program, bin_dir, folder):
    """Raises Failure unless the derived gradients are those of differences along
    two random directions a parameter."""
    rng = np.random.default_rng(program.seed)
    entry = program.entries[0]
    trained = [a for a in entry.arguments if a.role == "param" and not a.marks]
    with tempfile.TemporaryDirectory(dir=folder) as work:
        j = Judge(bin_dir, work)
        plan = j.compile_forward(program)
        found = j.run(program, plan, steps=1,
                      more=["grad:" + a.name for a in trained])[0]
    evaluator = Stopped()
    state = dict(program.values)
    loss = evaluator.loss(entry, state)
    if not abs(found.get("loss", np.inf) - loss) <= 1e-9 * (1 + abs(loss)):
        raise Failure("loss", "%g, %g is right" % (found.get("loss", np.inf), loss))
    for a in trained:
        value = program.values[a.name]
        for _ in range(2):
            direction = rng.normal(size=value.shape)
            ends = [evaluator.loss(entry, {**state, a.name: value + s * direction})
                    for s in (STEP, -STEP)]
            expected = (ends[0] - ends[1]) / (2 * STEP)
            got = float(np.sum(found["grad:" + a.name] * direction))
            size = np.sum(np.abs(found["grad:" + a.name] * direction)) + abs(loss) + 1
            if not abs(got - expected) <= TOLERANCE * size:
                raise Failure("gradient", "of %s along a direction is %.12g, "
                              "%.12g is right" % (a.name, got, expected))
