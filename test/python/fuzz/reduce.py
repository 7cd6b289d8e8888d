# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing program small: whatever can go while it still fails, goes."""

import numpy as np

from .program import Argument


def candidates(program):
    """Smaller programs, the largest steps first. Some are not legal: those do not
    fail in the same way and are passed over."""
    for i in range(1, len(program.entries)):
        smaller = program.clone()
        del smaller.entries[i]
        yield smaller
    for e, entry in enumerate(program.entries):
        for i in range(len(entry.results)):
            if len(entry.results) > 1:
                smaller = program.clone()
                del smaller.entries[e].results[i]
                smaller.entries[e].drop_dead_code()
                yield smaller
            makers = [op for op in entry.ops
                      if entry.results[i].value in op.results]
            for operand in (makers[0].operands if makers else ()):
                if entry.results[i].name and operand is not None and \
                        operand.dtype in ("f32", "f64", "f16"):
                    smaller = program.clone()
                    e2 = smaller.entries[e]
                    e2.results[i].value = next(
                        v for op in e2.ops for v in op.operands
                        if v is not None and v.ssa == operand.ssa)
                    e2.drop_dead_code()
                    yield smaller
            if entry.results[i].history:
                smaller = program.clone()
                smaller.entries[e].results[i].history = 0
                yield smaller
        for i in range(len(entry.ops)):
            yield cut(program, e, i)
        for i, op in enumerate(entry.ops):
            for r in range(len(op.results)):
                for o in range(len(op.operands)):
                    if op.operands[o] is not None and \
                            op.operands[o].type == op.results[r].type:
                        yield bypass(program, e, i, r, o)
            for o, operand in enumerate(op.operands):
                if operand is not None and op.kind in ("linear", "mse_grad") and o == 2:
                    smaller = program.clone()
                    smaller.entries[e].ops[i].operands[o] = None
                    smaller.entries[e].drop_dead_code()
                    yield smaller


def cut(program, e, i):
    """What op i made comes from outside."""
    smaller = program.clone()
    entry = smaller.entries[e]
    op = entry.ops.pop(i)
    for value in op.results:
        name = "cut_" + value.ssa
        entry.arguments.append(Argument(value, "input", name))
        smaller.values[name] = np.zeros(value.shape) + 0.5 if value.dtype in (
            "f64", "f32", "f16", "bf16") else np.ones(value.shape, np.int64)
    entry.drop_dead_code()
    return smaller


def bypass(program, e, i, r, o):
    """Result r of op i is replaced by its operand o."""
    smaller = program.clone()
    entry = smaller.entries[e]
    old, new = entry.ops[i].results[r], entry.ops[i].operands[o]
    for op in entry.ops[i + 1:]:
        op.operands = [new if v is old else v for v in op.operands]
    for result in entry.results:
        if result.value is old:
            result.value = new
    entry.drop_dead_code()
    return smaller


def reduce(program, fails, most=400):
    """`fails(program)`: it still fails as the first one did."""
    tried, progress = 0, True
    while progress and tried < most:
        progress = False
        for smaller in candidates(program):
            tried += 1
            if fails(smaller):
                program, progress = smaller, True
                break
            if tried >= most:
                break
    return program
