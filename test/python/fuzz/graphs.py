# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies: elementwise functions of tensors that lie anywhere, of biases and of
what reductions leave, perhaps behind a product. Fusion makes few calls of them, which
run on generated kernels."""

import random

from .derive import repeated
from .generate import POINTWISE, RECORDS, Builder, condition
from .program import Program, Result

#: Elements of a row: whole vectors, and not.
WIDTHS = [1, 3, 8, 16, 17, 24, 40, 64]
ROWS = [1, 2, 5, 8, 12, 33]


def operand(b, shape, dtype):
    """A tensor that is dense, turned, or repeated over some dimensions."""
    kind = b.rng.choice(["dense", "dense", "turned", "repeated"])
    name = "x%d" % b.count
    if kind == "turned" and len(shape) > 1:
        *outer, rows, columns = shape
        order = [*range(len(outer)), len(outer) + 1, len(outer)]
        return b.transpose(b.argument("input", name, (*outer, columns, rows), dtype),
                           order)
    if kind == "repeated":
        kept = [d if b.chance(0.5) else 1 for d in shape]
        x = b.argument("input", name, kept, dtype)
        return x if kept == list(shape) else b.op(
            "broadcast", [x], [(shape, dtype)], shape=list(shape))
    return b.argument("input", name, shape, dtype)


def step(b, shape, dtype):
    """One more value of the body."""
    def any_value():
        found = [v for v in b.pool if v.shape == tuple(shape)][-4:]
        return b.rng.choice(found) if found and b.chance(0.8) else operand(
            b, shape, dtype)
    kind = b.rng.choice(["pointwise"] * 6 + ["where", "bias", "reduced", "softmax"])
    x = any_value()
    if kind == "where":
        return b.op("where", [condition(b, shape), x, any_value()], [(shape, dtype)])
    if kind == "bias":
        bias = b.argument("param", "b%d" % b.count, shape[-1:], dtype)
        return b.same("add", x, b.op("broadcast", [bias], [(shape, dtype)],
                                     shape=list(shape)))
    # Small numbers: what is reduced or raised stays in reach of 16 bits.
    if kind == "reduced":
        return repeated(b, b.rng.choice(["reduce_sum", "reduce_mean"]), b.same("tanh", x))
    if kind == "softmax":
        return b.same("softmax", b.same("tanh", x))
    kind = b.rng.choice(POINTWISE)
    operands = [x, *(any_value() for _ in RECORDS[kind].operands[1:])]
    return b.same(kind, *operands, **b.fields(kind))


def generate_graph(seed):
    """A program of one entry that updates nothing."""
    rng = random.Random(seed)
    dtype = rng.choice(["f32", "f32", "f64", "f16", "bf16"])
    program = Program(seed, dtype, [], {})
    b = Builder(rng, program, "body")
    shape = (*rng.choice([(), (), (2,), (3,)]), rng.choice(ROWS), rng.choice(WIDTHS))
    if b.chance(0.5):
        depth = rng.choice(WIDTHS)
        x = b.argument("input", "x", (*shape[:-1], depth), dtype)
        w = b.argument("param", "w", (shape[-1], depth), dtype)
        # Its sums grow with the depth, whose root is 8 at most.
        b.same("scale", b.linear(x, w), factor=0.125)
    else:
        operand(b, shape, dtype)
    for _ in range(rng.randrange(3, 16)):
        step(b, shape, dtype)
    # What is made last, most of the time: the rest of the body goes with it.
    chosen = [b.pool[-1]] + [rng.choice(b.pool[-6:]) for _ in range(rng.randrange(3))]
    for i, v in enumerate(chosen):
        if v.dtype == "bf16":  # .npy has no name for it
            v = b.cast(v, "f32")
        b.entry.results.append(Result(v, name="out%d" % i))
    program.entries = [b.entry]
    b.entry.drop_dead_code()
    return program
