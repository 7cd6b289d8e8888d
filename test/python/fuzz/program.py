# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program: entries of ops on values, and its text as aicf IR."""

import copy
import dataclasses


@dataclasses.dataclass(eq=False)
class Value:
    ssa: str
    shape: tuple
    dtype: str

    @property
    def type(self):
        return "tensor<%s>" % "x".join([*map(str, self.shape), self.dtype])


@dataclasses.dataclass(eq=False)
class Op:
    kind: str
    operands: list  # None where an optional operand is absent
    attrs: dict
    results: list


@dataclasses.dataclass(eq=False)
class Argument:
    value: Value
    role: str
    name: str
    marks: tuple = ()   # further attributes, as text


@dataclasses.dataclass(eq=False)
class Result:
    value: Value
    name: str = ""      # an output,
    updates: str = ""   # or an update
    history: int = 0    # of an output
    minimize: bool = False


@dataclasses.dataclass(eq=False)
class Entry:
    name: str
    arguments: list
    ops: list
    results: list
    optimizer: str = "" # as text, without the #aicf.

    def drop_dead_code(self):
        """Ops without a used result go, and arguments that nothing uses."""
        alive = {r.value for r in self.results}
        kept = []
        for op in reversed(self.ops):
            if any(r in alive for r in op.results):
                alive.update(v for v in op.operands if v is not None)
                kept.append(op)
        self.ops = kept[::-1]
        updated = {r.updates for r in self.results}
        self.arguments = [a for a in self.arguments
                          if a.value in alive or a.name in updated]


@dataclasses.dataclass(eq=False)
class Program:
    seed: int
    dtype: str
    entries: list
    values: dict        # initial params, states, hypers and inputs, by name
    math: list = dataclasses.field(default_factory=list) # flags for products on CUDA

    def clone(self):
        return copy.deepcopy(self)

    def text(self):
        return "".join(entry_text(e) for e in self.entries)

    def persistent(self):
        """Arguments that outlive a run, each name once."""
        found = {}
        for entry in self.entries:
            for a in entry.arguments:
                if a.role != "input":
                    found.setdefault(a.name, a)
        return found


# Operands behind a keyword: (position, keyword).
KEYWORDS = {
    "sgd_step": [(3, "momentum"), (4, "inv_scale"), (5, "ok")],
    "adam_step": [(6, "inv_scale"), (7, "ok")],
    "adam_l2_step": [(6, "inv_scale"), (7, "ok")],
    "lion_step": [(4, "inv_scale"), (5, "ok")],
    "adam_group_step": [(6, "inv_scale"), (7, "ok")],
    "attention": [(3, "mask"), (4, "segments"), (5, "step")],
    "attention_bwd": [(6, "mask"), (7, "segments"), (8, "step")],
    "attention_mask_bwd": [(7, "segments"), (8, "step")],
    "sgd_group_step": [(3, "momentum"), (4, "inv_scale"), (5, "ok")],
}


# Attributes with a place of their own in front of the others: (word, attribute).
WORDS = {
    "cast": [("to", "to")],
    "reshape": [("to", "shape")],
    "broadcast": [("to", "shape")],
    "uniform": [("to", "shape")],
    "normal": [("to", "shape")],
    "extremum_bwd": [("over", "axes"), ("to", "shape")],
    "transpose": [("", "permutation")],
    "slice": [("from", "begin"), ("to", "end"), ("step", "step")],
    **{kind: [("over", "axes")]
       for kind in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min")},
}


def attr_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "%d : i64" % value
    if isinstance(value, float):
        return "%r" % value if "e" in repr(value) or "." in repr(value) \
            else "%r.0" % value
    return value


def number_text(value):
    return str(value).lower() if isinstance(value, bool) else repr(value)


def elements_text(value):
    """Nested lists, or one number that stands for all."""
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(elements_text, value))
    return number_text(value)


def made_of_nothing(op):
    """The text of an op without operands."""
    if op.kind == "constant":
        return "dense<%s> : %s" % (elements_text(op.attrs["value"]), op.results[0].type)
    shape, dtype = op.results[0].shape, op.results[0].dtype
    return "[%s] {axis = %d%s}" % (
        ", ".join(map(str, shape)), op.attrs["axis"],
        "" if dtype == "i32" else ", dtype = " + dtype)


def op_text(op):
    if not op.operands:
        return "  %%%s = aicf.%s %s" % (op.results[0].ssa, op.kind, made_of_nothing(op))
    keywords = dict(KEYWORDS.get(op.kind, ()))
    plain = [v for i, v in enumerate(op.operands)
             if i not in keywords and v is not None]
    named = [(keywords[i], v) for i, v in enumerate(op.operands)
             if i in keywords and v is not None]
    words = WORDS.get(op.kind, ())
    attrs = {k: v for k, v in op.attrs.items() if k not in [w for _, w in words]}
    body = ", ".join("%" + v.ssa for v in plain)
    for word, name in words:
        value = op.attrs[name]
        if not isinstance(value, str):
            value = "[%s]" % ", ".join(map(str, value))
        body += " %s %s" % (word, value) if word else " " + value
    body += "".join(" %s %%%s" % (k, v.ssa) for k, v in named)
    if attrs:
        body += " {%s}" % ", ".join(
            k if k == "aicf.recompute" and v is True else "%s = %s" % (
                k, attr_text(v)) for k, v in attrs.items())
    types = ", ".join(v.type for v in plain)
    types += "".join(" %s %s" % (k, v.type) for k, v in named)
    return "  %s = aicf.%s %s : %s" % (
        ", ".join("%" + r.ssa for r in op.results), op.kind, body, types)


def result_text(r):
    if r.updates:
        return '%s {aicf.updates = "%s"}' % (r.value.type, r.updates)
    history = ", aicf.history = %d" % r.history if r.history else ""
    loss = ", aicf.minimize" if r.minimize else ""
    return '%s {aicf.name = "%s"%s%s}' % (r.value.type, r.name, history, loss)


def entry_text(entry):
    arguments = ",\n    ".join(
        '%%%s: %s {aicf.role = "%s", aicf.name = "%s"%s}' % (
            a.value.ssa, a.value.type, a.role, a.name,
            "".join(", " + m for m in a.marks)) for a in entry.arguments)
    attrs = ["aicf.optimizer = #aicf." + entry.optimizer] if entry.optimizer else []
    attributes = " attributes {%s}" % ", ".join(attrs) if attrs else ""
    return "func.func @%s(\n    %s)\n    -> (%s)%s {\n%s\n  return %s : %s\n}\n" % (
        entry.name, arguments,
        ",\n        ".join(result_text(r) for r in entry.results), attributes,
        "\n".join(op_text(op) for op in entry.ops),
        ", ".join("%" + r.value.ssa for r in entry.results),
        ", ".join(r.value.type for r in entry.results))
