# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: layers with their backward pass, ops on whatever is there, every
kind of update, sizes of 1 and odd ones."""

import random

import numpy as np

from .program import Argument, Entry, Op, Program, Result, Value
from .records import RECORDS

SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33]
WIDE = [521, 530]  # products that a library computes, over padded tensors
LONG = [513, 521, 530]  # sums of so many: the same, at little cost
INTEGERS = ("i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
# Of one type all, as their result is. A pole is not a place for random operands.
WITH_POLES = {
    "reciprocal", "log", "log_bwd", "log1p", "log1p_bwd", "sqrt", "sqrt_bwd", "rsqrt",
    "rsqrt_bwd", "pow_scalar", "pow_scalar_bwd", "div", "pow", "pow_base_bwd",
    "pow_exponent_bwd", "log2", "log2_bwd", "log10", "log10_bwd",
    # and jumps, which rounding crosses
    "sign", "floor", "ceil", "round", "clamp_bwd", "hardtanh_bwd", "hardswish_bwd",
    "fmod", "fmod_bwd", "atan2"}
# What leaves the range of every type when it is repeated.
GROWING = {"exp", "expm1", "exp2"}
POINTWISE = [name for name, record in RECORDS.items()
             if record.is_pointwise and name not in WITH_POLES | GROWING]
LIKE_THEIR_OPERAND = ["save", "copy", "stop_gradient", "straight_through", *POINTWISE]
# A value of a field, where it must have one, or may have another than its default.
FIELD_VALUES = {"Finite": [-0.5, 0.25, 2.0], "ZeroOrOne": [True],
                "Positive": [0.5, 2.0]}
# Fields that are not independent of each other, or where a jump would be seen.
NAMED_VALUES = {"min": [-1.0, -0.5], "max": [0.25, 1.0], "threshold": [20.0]}


class Builder:
    """An entry under construction. Shapes are inferred here, from the dialect's
    description, not by the compiler."""

    def __init__(self, rng, program, name, prefix=""):
        self.rng, self.program, self.prefix = rng, program, prefix
        self.entry = Entry(name, [], [], [])
        self.count = 0
        self.pool = []          # float values of any shape
        self.counts = []        # integers to return
        self.kept = []          # further values to return

    def value(self, shape, dtype):
        self.count += 1
        return Value("%sv%d" % (self.prefix, self.count), tuple(shape), dtype)

    def argument(self, role, name, shape, dtype, number=None):
        """A new argument; its value is `number`, or random."""
        v = self.value(shape, dtype)
        self.entry.arguments.append(Argument(v, role, name))
        if number is None:
            number = np.random.default_rng(
                self.rng.getrandbits(32)).normal(size=shape)
        kind = {"i32": np.int32, "i64": np.int64, "i1": bool}.get(dtype, np.float64)
        self.program.values.setdefault(name, np.asarray(number, dtype=kind))
        if dtype in FLOATS and role != "hyper":
            self.pool.append(v)
        return v

    def op(self, kind, operands, results, **attrs):
        """`results`: (shape, dtype) each."""
        made = [self.value(*r) for r in results]
        self.entry.ops.append(Op(kind, list(operands), attrs, made))
        self.pool += [v for v in made if v.dtype in FLOATS]
        return made if len(made) > 1 else made[0]

    def pick(self, test=lambda v: True):
        found = [v for v in self.pool if test(v)]
        return self.rng.choice(found) if found else None

    def chance(self, p):
        return self.rng.random() < p

    # Ops with their result shapes.
    def linear(self, x, w, b=None):
        return self.op("linear", [x, w, b], [((*x.shape[:-1], w.shape[0]), x.dtype)])

    def gram(self, x, twin):
        """A product of two of one type, either of them transposed."""
        over_rows = self.chance(0.5)
        n = x.shape[-1] if over_rows else x.shape[-2]
        return self.op("matmul", [x, twin], [((*x.shape[:-2], n, n), x.dtype)],
                       **{"transA" if over_rows else "transB": True})

    # Numbers that the plan holds, which every float type has.
    def constant(self, shape, dtype):
        def numbers(shape):
            if shape:
                return [numbers(shape[1:]) for _ in range(shape[0])]
            return self.rng.choice([-1.5, -0.25, 0.0, 0.5, 1.0, 2.0])
        is_one = self.chance(0.3) or np.prod(shape, dtype=int) > 64
        return self.op("constant", [], [(shape, dtype)],
                       value=numbers(() if is_one else shape))

    def iota(self, shape, dtype):
        return self.op("iota", [], [(shape, dtype)],
                       axis=self.rng.randrange(len(shape)))

    # Views: each of some tensor, so that chains come about by themselves.
    def reshape(self, x, shape):
        return self.op("reshape", [x], [(shape, x.dtype)], shape=list(shape))

    def random_reshape(self, x):
        """Dimensions in other groups, with a 1 here and there."""
        left, shape = int(np.prod(x.shape, dtype=int)), []
        while left > 1 and len(shape) < 4:
            d = self.rng.choice([d for d in range(1, left + 1) if left % d == 0])
            shape.append(d)
            left //= d
        shape += [left] if left > 1 else []
        if self.chance(0.2):
            shape.insert(self.rng.randrange(len(shape) + 1), 1)
        return self.reshape(x, shape)

    def transpose(self, x, order=None):
        order = order or self.rng.sample(range(len(x.shape)), len(x.shape))
        return self.op("transpose", [x], [([x.shape[i] for i in order], x.dtype)],
                       permutation=order)

    def slice(self, x):
        begin = [self.rng.randrange(d) for d in x.shape]
        end = [self.rng.randint(b + 1, d) for b, d in zip(begin, x.shape)]
        step = [self.rng.choice([1, 1, 2, 3]) for _ in x.shape]
        shape = [-(-(e - b) // s) for b, e, s in zip(begin, end, step)]
        return self.op("slice", [x], [(shape, x.dtype)], begin=begin, end=end,
                       step=step)

    def broadcast(self, x):
        shape = [self.rng.choice(SIZES[:6]) if d == 1 and self.chance(0.7) else d
                 for d in x.shape]
        if len(shape) < 4 and self.chance(0.5):
            shape.insert(0, self.rng.choice(SIZES[:4]))
        return self.op("broadcast", [x], [(shape, x.dtype)], shape=shape)

    def concat(self, parts, axis):
        shape = list(parts[0].shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        return self.op("concat", parts, [(shape, parts[0].dtype)], axis=axis)

    def unshared(self, x):
        """What nobody else reads, so that it may be computed where it belongs."""
        part = self.same("neg", x)
        self.pool.pop()
        return part

    def pad(self, x):
        axis = self.rng.randrange(len(x.shape))
        begin, step = self.rng.randrange(3), self.rng.choice([1, 1, 2])
        shape = list(x.shape)
        shape[axis] = begin + (shape[axis] - 1) * step + 1 + self.rng.randrange(3)
        return self.op("pad", [x], [(shape, x.dtype)], axis=axis, begin=begin,
                       step=step, size=shape[axis])

    def view(self, x):
        """Of at most some thousand elements."""
        kind = self.rng.choice(["reshape", "transpose", "slice", "broadcast",
                                "concat", "pad"])
        if kind == "reshape" or not x.shape:
            return self.random_reshape(x)
        if kind == "concat":
            twin = self.pick(lambda v: v.type == x.type)
            parts = [x, twin or x]
            if x.dtype in FLOATS:
                parts = [self.unshared(part) for part in parts]
            if self.chance(0.3):  # read in steps, where it was computed in its place
                self.slice(self.rng.choice(parts))
            return self.concat(parts, self.rng.randrange(len(x.shape)))
        return getattr(self, kind)(x)

    def reduce(self, kind, x, axes, keepdim):
        shape = [1 if i in axes else d for i, d in enumerate(x.shape)
                 if keepdim or i not in axes]
        extremum = kind in ("reduce_max", "reduce_min")
        made = self.op(kind, [x], [(shape, x.dtype)] + [(shape, "i32")] * extremum,
                       axes=axes, **({"keepdim": True} if keepdim else {}))
        return made[0] if extremum else made

    def random_axes(self, x):
        return sorted(self.rng.sample(range(len(x.shape)),
                                      self.rng.randint(1, len(x.shape))))

    def linear_bwd(self, dy, x, w):
        return self.op("linear_bwd", [dy, x, w],
                       [(x.shape, x.dtype), (w.shape, w.dtype),
                        ((dy.shape[-1],), dy.dtype)])

    def same(self, kind, *operands, **attrs):
        return self.op(kind, operands, [(operands[0].shape, operands[0].dtype)],
                       **attrs)

    def fields(self, kind):
        """Of a primitive: what has no default, and sometimes what has one."""
        found = RECORDS[kind].fields.items() if kind in RECORDS else ()
        return {name: self.rng.choice(NAMED_VALUES.get(name)
                                      or FIELD_VALUES[field_range])
                for name, (field_range, is_needed) in found
                if is_needed or (field_range in FIELD_VALUES and self.chance(0.3))}

    def cast(self, x, dtype):
        return self.op("cast", [x], [(x.shape, dtype)], to=dtype)

    def dropout(self, x, step, p, seed):
        return self.op("dropout", [x, step], [(x.shape, x.dtype)], p=p, seed=seed)

    def layer_norm(self, x, gamma, beta):
        attrs = {"eps": 0.1} if self.chance(0.3) else {}
        rows = x.shape[:-1]
        return self.op("layer_norm", [x, gamma, beta],
                       [(x.shape, x.dtype), (rows, x.dtype), (rows, x.dtype)],
                       **attrs)

    def layer_norm_bwd(self, dy, x, gamma, mean, rstd):
        return self.op("layer_norm_bwd", [dy, x, gamma, mean, rstd],
                       [(x.shape, x.dtype), (gamma.shape, x.dtype),
                        (gamma.shape, x.dtype)])


    def cross_entropy(self, logits, loss_scale):
        """Loss and gradient; every second label is to be ignored at most."""
        rows = int(np.prod(logits.shape[:-1], dtype=int))
        attrs = {"label_smoothing": 0.1} if self.chance(0.3) else {}
        if self.chance(0.3):  # a batch without a row that counts has no loss
            attrs["ignore_index"] = self.rng.choice([-1, 0]) \
                if logits.shape[-1] > 1 else -1
        ignored = attrs.get("ignore_index", -100)
        classes = [c for c in range(logits.shape[-1]) if c != ignored]
        labels = [self.rng.choice(classes) if i % 2 == 0 or self.chance(0.7)
                  else ignored for i in range(rows)]
        operands = [logits, self.argument(
            "input", "%slabels%d" % (self.prefix, self.count), logits.shape[:-1],
            self.rng.choice(INTEGERS), np.reshape(labels, logits.shape[:-1]))]
        wide = logits.dtype if logits.dtype in ("f32", "f64") else "f32"
        loss = self.op("softmax_cross_entropy", operands, [((), wide)], **attrs)
        return loss, self.op("softmax_cross_entropy_grad", [*operands, loss_scale],
                             [(logits.shape, logits.dtype)], **attrs)


class Network:
    """Layers with the ops that carry a gradient back through them."""

    def __init__(self, b, names, sizes):
        self.b, self.names, self.sizes = b, names, sizes
        self.backward, self.params = [], []
        self.drops = None  # the state that dropouts count by

    def param(self, shape):
        name = "w%d" % next(self.names)
        v = self.b.argument("param", name, shape, self.b.program.dtype)
        self.params.append((name, v))
        return v

    def linear(self, x, n, has_bias):
        b = self.b
        w = self.param((n, x.shape[-1]))
        bias = self.param((n,)) if has_bias else None

        def back(dy, grads):
            dx, dw, db = b.linear_bwd(dy, x, w)
            grads[w] = dw
            if bias is not None:
                grads[bias] = db
            return dx
        self.backward.append(back)
        return b.linear(x, w, bias)

    def gelu(self, x, **attrs):
        self.backward.append(
            lambda dy, grads: self.b.same("gelu_bwd", dy, x, **attrs))
        return self.b.same("gelu", x, **attrs)

    def relu(self, x):
        y = self.b.same("relu", x)
        kept = self.b.same("save", y) if self.b.chance(0.7) else x
        self.backward.append(
            lambda dy, grads: self.b.same("relu_bwd", dy, kept))
        return y

    def norm(self, x):
        gamma, beta = self.param(x.shape[-1:]), self.param(x.shape[-1:])
        y, mean, rstd = self.b.layer_norm(x, gamma, beta)

        def back(dy, grads):
            dx, dg, dbeta = self.b.layer_norm_bwd(dy, x, gamma, mean, rstd)
            grads[gamma], grads[beta] = dg, dbeta
            return dx
        self.backward.append(back)
        return y

    def dropout(self, x):
        """Of a count that goes on."""
        b = self.b
        if self.drops is None:
            self.drops = b.argument("state", "drops", (), b.rng.choice(INTEGERS), 5)
            b.entry.results.append(Result(b.op(
                "step_inc", [self.drops, None], [((), self.drops.dtype)]),
                updates="drops"))
        p, seed = b.rng.choice([0.0, 0.1, 0.5]), b.rng.choice([0, 7, -3])
        self.backward.append(
            lambda dy, grads: b.dropout(dy, self.drops, p, seed))
        return b.dropout(x, self.drops, p, seed)

    def residual(self, x):
        h = self.b.same("relu", x)
        self.backward.append(lambda dy, grads: self.b.same(
            "add", dy, self.b.same("relu_bwd", dy, h)))
        return self.b.same("add", x, h)

    def turn(self, x):
        """Dimensions in another order, where the layers behind read them."""
        b = self.b
        order = b.rng.sample(range(len(x.shape)), len(x.shape))
        inverse = [order.index(i) for i in range(len(order))]
        self.backward.append(lambda dy, grads: b.transpose(dy, inverse))
        return b.transpose(x, order)

    def regroup(self, x):
        """The rows in other groups; matrices stay matrices."""
        b = self.b
        rows = int(np.prod(x.shape[:-1], dtype=int))
        outer = b.rng.choice([d for d in range(1, rows + 1) if rows % d == 0])
        shape = (rows, x.shape[-1]) if len(x.shape) > 2 else \
            (outer, rows // outer, x.shape[-1])
        self.backward.append(lambda dy, grads: b.reshape(dy, x.shape))
        return b.reshape(x, shape)

    def layer(self, x):
        b = self.b
        kind = b.rng.choice(["linear", "linear", "relu", "gelu", "norm",
                             "residual", "feed_forward", "dropout", "turn",
                             "regroup"])
        if kind == "linear":
            return self.linear(x, b.rng.choice(self.sizes), b.chance(0.7))
        if kind == "gelu":
            return self.gelu(x, **({"approximate": True} if b.chance(0.5) else {}))
        if kind == "feed_forward": # what a library does in one call
            return self.gelu(self.linear(x, b.rng.choice([8, 16]), True),
                             approximate=True)
        return getattr(self, kind)(x)

    def train(self, x, depth, loss_scale):
        """Forward, loss, backward: the gradients by parameter value."""
        b = self.b
        for _ in range(depth):
            x = self.layer(x)
        if b.chance(0.4):
            loss, dy = b.cross_entropy(x, loss_scale)
        else:
            target = b.argument("input", "target%d" % next(self.names), x.shape,
                                x.dtype)
            value, slope = b.rng.choice([
                ("mse_loss", "mse_grad"), ("l1_loss", "l1_grad"),
                ("bce_with_logits", "bce_with_logits_grad")])
            loss = b.op(value, [x, target], [((), x.dtype)])
            dy = b.op(slope, [x, target, loss_scale], [(x.shape, x.dtype)])
        grads = {}
        for back in reversed(self.backward):
            dy = back(dy, grads)
        return loss, grads


def metric(b):
    """How often the largest of a row stands where another says; and gradients of
    extrema, of which no two are equal by rounding."""
    rows, width = b.rng.choice(SIZES), b.rng.choice(SIZES)
    order = np.array([b.rng.sample(range(width), width) for _ in range(rows)])
    scores = b.argument("input", "%sscores%d" % (b.prefix, b.count), (rows, width),
                        b.program.dtype, order - width / 2.0)
    found = b.op("argmax", [scores], [((rows,), "i32")])
    k = b.rng.randint(1, width)
    b.counts.append(b.op("top_k", [scores], [((rows, k), "i32")], k=k))
    axes = b.rng.choice([[0], [1], [0, 1]])
    turned = b.transpose(scores, [1, 0]) if b.chance(0.5) else scores
    shape = list(turned.shape) if axes != [0, 1] else []
    if len(axes) == 1:
        del shape[axes[0]]
    if axes != [0, 1] and turned.shape[1 - axes[0]] == 1 or axes == [1] \
            and turned is scores:
        for kind in ("reduce_max", "reduce_min"):
            best, where = b.op(kind, [turned], [(shape, turned.dtype), (shape, "i32")],
                               axes=axes)
            b.op("extremum_bwd", [best, where], [(turned.shape, turned.dtype)], axes=axes,
                 shape=list(turned.shape))
    labels = b.argument("input", "%sclasses%d" % (b.prefix, b.count), (rows,),
                        b.rng.choice(INTEGERS), [b.rng.randrange(width) for _ in range(rows)])
    b.counts += [found, b.op("count_equal", [found, labels], [((), "i32")])]


def bits(b):
    """Ones and zeros, through what moves them and does not compute."""
    shape = tuple(b.rng.choice(SIZES[:6]) for _ in range(b.rng.choice([1, 2, 3])))
    rng = np.random.default_rng(b.rng.getrandbits(32))
    role = b.rng.choice(["input", "input", "state"])
    m = b.argument(role, "%smask%d" % (b.prefix, b.count), shape, "i1",
                   rng.integers(0, 2, shape))
    if role == "state" and b.chance(0.7): # to be something else in the next step
        b.entry.results.append(Result(b.op("constant", [], [(shape, "i1")], value=rng
                                           .integers(0, 2, shape).astype(bool).tolist()),
                                      updates=b.entry.arguments[-1].name))
    for _ in range(b.rng.randrange(4)):
        if b.chance(0.2):
            m = b.same(b.rng.choice(["copy", "save"]), m)
        elif np.prod(m.shape, dtype=int) < 1024:
            m = b.view(m)
    b.counts.append(m)


#: What `anything` adds, besides ops of one operand's type: how often, by its share.
WHAT_ELSE = [kind for share, kinds in {
    1: ["cross_entropy", "mse_loss", "mse_grad", "bce_with_logits",
        "bce_with_logits_grad", "l1_loss", "l1_grad", "mean", "softmax", "softmax_bwd",
        "reduce", "linear", "linear_bwd", "matmul", "layer_norm", "gather_rows", "grow",
        "draw", "iota"],
    2: ["bits", "attention"],
    3: ["view", "far", "metric", "constant"],
    4: ["lookup", "choice"],
}.items() for kind in kinds * share]


def anything(b):
    """One op on values that are there; what it computes need not make sense."""
    kind = b.rng.choice([*LIKE_THEIR_OPERAND, *WHAT_ELSE])
    x = b.pick(lambda v: v.dtype == b.program.dtype)
    if x is None:
        return
    twin = b.pick(lambda v: v.type == x.type)
    if kind == "metric":
        metric(b)
    elif kind == "bits":
        bits(b)
    elif kind == "constant":
        b.same(b.rng.choice(["add", "mul", "sub"]), x, b.constant(x.shape, x.dtype))
    elif kind == "iota" and x.shape and max(x.shape) <= 256: # what bf16 has, too
        b.same("add", x, b.iota(x.shape, x.dtype))
        b.counts.append(b.iota((b.rng.choice(SIZES), 3), b.rng.choice(INTEGERS)))
    elif kind in LIKE_THEIR_OPERAND:
        record = RECORDS.get(kind)
        twins = [twin] * (len(record.operands) - 1) if record else \
            [twin] if kind == "straight_through" else []
        b.same(kind, x, *twins, **b.fields(kind))
    elif kind == "cross_entropy" and x.shape:
        b.cross_entropy(x, None)
    elif kind in ("softmax", "softmax_bwd") and x.shape:
        b.same(kind, *([x] if kind == "softmax" else [x, twin]))
    elif kind == "matmul" and len(x.shape) > 1:
        b.gram(x, twin)
    elif kind == "mean":
        b.op(kind, [x], [((), x.dtype if x.dtype in ("f32", "f64") else "f32")])
    elif kind in ("mse_loss", "bce_with_logits", "l1_loss"):
        b.op(kind, [x, twin], [((), x.dtype)])
    elif kind in ("mse_grad", "bce_with_logits_grad", "l1_grad"):
        attrs = {"scale": 0.5} if b.chance(0.3) else {}
        b.op(kind, [x, twin, None], [(x.shape, x.dtype)], **attrs)
    elif kind == "reduce" and x.shape:
        b.reduce(b.rng.choice(["reduce_sum", "reduce_mean"]), x, b.random_axes(x),
                 b.chance(0.4))
    elif kind == "view" and np.prod(x.shape, dtype=int) < 4096:
        b.view(x)
    elif kind == "linear" and len(x.shape) >= 2:
        w = b.pick(lambda v: v.dtype == x.dtype and len(v.shape) == 2
                   and v.shape[1] == x.shape[-1])
        if w is None:
            return
        bias = b.pick(lambda v: v.dtype == x.dtype and v.shape == (w.shape[0],))
        b.linear(x, w, bias if b.chance(0.5) else None)
    elif kind == "linear_bwd" and len(x.shape) >= 2:
        w = b.pick(lambda v: v.dtype == x.dtype and len(v.shape) == 2
                   and v.shape[1] == x.shape[-1])
        dy = w and b.pick(lambda v: v.dtype == x.dtype
                          and v.shape == (*x.shape[:-1], w.shape[0]))
        if dy is not None:
            b.linear_bwd(dy, x, w)
    elif kind == "layer_norm" and x.shape:
        gamma = b.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape[-1:])
        if gamma is not None:
            b.layer_norm(x, gamma, gamma)
    elif kind == "gather_rows" and x.shape and b.chance(0.5):
        n, dtype = b.rng.choice(SIZES), b.rng.choice(INTEGERS)
        index = b.argument(
            "input", "%sindex%d" % (b.prefix, b.count), (n,), dtype,
            [b.rng.randrange(-1, x.shape[0] + 1) for _ in range(n)])
        b.op(kind, [x, index], [((n, *x.shape[1:]), x.dtype)])
    elif kind == "lookup" and x.shape:
        for each in b.rng.sample(["pick", "pick_bwd", "embedding", "embedding_bwd",
                                  "cumsum", "log_softmax", "log_softmax_bwd"], 3):
            lookup(b, x, each)
    elif kind == "draw":
        draw(b)
    elif kind == "attention":
        attention(b)
    elif kind == "grow":
        b.same(b.rng.choice(sorted(GROWING)), b.same("tanh", x))
    elif kind == "choice":
        choice(b, x, twin)
    elif kind == "far" and b.program.dtype in ("f32", "f64"):
        far(b, x)


def far(b, x):
    """An op with a pole or a jump, on operands that are far from it."""
    def operand():
        return b.same("add", b.argument(
            "input", "%sfar%d" % (b.prefix, b.count), x.shape, x.dtype,
            np.full(x.shape, 3.0)), b.argument(
                "input", "%snear%d" % (b.prefix, b.count), x.shape, x.dtype,
                np.full(x.shape, 0.25)))
    for kind in b.rng.sample(sorted(WITH_POLES), 6):
        b.same(kind, *(operand() for _ in RECORDS[kind].operands), **b.fields(kind))


def lookup(b, x, kind):
    """What integers choose of x, and what goes back; sums of all before."""
    def index(shape, limit):
        rng = np.random.default_rng(b.rng.getrandbits(32))
        return b.argument("input", "%splaces%d" % (b.prefix, b.count), shape,
                          b.rng.choice(INTEGERS), rng.integers(0, limit, shape))
    if kind == "cumsum":
        b.same(kind, x, axis=b.rng.randrange(len(x.shape)),
               **({"reversed": True} if b.chance(0.5) else {}))
    elif kind in ("log_softmax", "log_softmax_bwd"):
        small = b.same("tanh", x) # whose exponentials stay in range
        b.same(kind, *([x] if kind == "log_softmax" else [x, small]))
    elif kind == "pick":
        b.op(kind, [x, index(x.shape[:-1], x.shape[-1])], [(x.shape[:-1], x.dtype)])
    elif kind == "pick_bwd" and len(x.shape) < 4:
        size = b.rng.choice(SIZES)
        b.op(kind, [x, index(x.shape, size + 1)], [((*x.shape, size), x.dtype)],
             size=size)
    elif kind == "embedding" and len(x.shape) == 2:
        shape = tuple(b.rng.choice(SIZES[:6]) for _ in range(b.rng.choice([0, 1, 2])))
        b.op(kind, [x, index(shape, x.shape[0])], [((*shape, x.shape[1]), x.dtype)])
    elif kind == "embedding_bwd":
        rows = b.rng.choice(SIZES)
        b.op(kind, [x, index(x.shape[:-1], rows + 1)], [((rows, x.shape[-1]), x.dtype)],
             rows=rows, **({"padding": 0} if b.chance(0.3) else {}))


def attention(b):
    """Of small heads, with what hides keys of some queries or all; and its gradients."""
    rng = b.rng

    def fresh(*shape):
        return b.same("tanh", b.argument("input", "%shead%d" % (b.prefix, b.count),
                                         shape, b.program.dtype))
    batch, queries, keys = rng.choice([1, 2]), rng.choice(SIZES[:7]), rng.choice(SIZES[:7])
    shared, group, size, of_values = rng.choice([1, 2]), rng.choice([1, 1, 2]), \
        rng.choice([1, 3, 8]), rng.choice([1, 4, 16])
    has = {kind: b.chance(0.4) for kind in ("mask", "segments", "p", "window", "softcap")}
    keys = queries if has["segments"] else keys
    q = fresh(batch, queries, shared * group, size)
    k, v = fresh(batch, keys, shared, size), fresh(batch, keys, shared, of_values)
    mask = segments = step = None
    fields = {"seed": rng.choice([0, 7, -3])}
    if has["mask"]:
        shape = tuple(rng.choice([1, n]) for n in (batch, shared * group, queries, keys))
        mask = fresh(*shape) if b.chance(0.6) else condition(b, shape)
        if mask.dtype not in ("i1", "f32") and b.chance(0.5):  # one of f32 beside any heads
            mask = b.argument("input", "%smask%d" % (b.prefix, b.count), shape, "f32")
            b.pool.remove(mask)
    if has["segments"]:
        segments = b.argument("input", "%ssegments%d" % (b.prefix, b.count),
                              (batch, queries), "i32", np.arange(queries) // 3
                              + np.zeros((batch, 1)))
    if has["p"]:
        step = b.argument("input", "%scount%d" % (b.prefix, b.count), (),
                          rng.choice(INTEGERS), rng.randrange(1000))
        fields["p"] = 0.25
    if has["window"]:
        fields |= {"window_right": rng.choice([-1, 0, 2]),
                   "window_left": rng.choice([-1, 0, 3]), "offset": rng.choice([0, keys - queries])}
    if has["softcap"]:
        fields |= {"softcap": 1.5, "scale": 0.75}
    dtype, wide = b.program.dtype, "f64" if b.program.dtype == "f64" else "f32"
    more = [mask, segments, step]
    y, lse = b.op("attention", [q, k, v, *more],
                  [((*q.shape[:3], of_values), dtype),
                   ((batch, shared * group, queries), wide)], **fields)
    # Rows that see nothing have an infinite one.
    b.pool.remove(lse)
    if not b.chance(0.7):
        return
    before = [fresh(*y.shape), q, k, v, y, lse, *more]
    b.op("attention_bwd", before, [(x.shape, dtype) for x in (q, k, v)], **fields)
    if mask is not None and mask.dtype != "i1":
        slopes = b.op("attention_mask_bwd", before, [(mask.shape, mask.dtype)], **fields)
        if mask.dtype != dtype:
            b.pool.remove(slopes)


def draw(b):
    """Random numbers of a count that an input has."""
    shape = [b.rng.choice(SIZES[:9]) for _ in range(b.rng.choice([0, 1, 2]))]
    step = b.argument("input", "%scount%d" % (b.prefix, b.count), (),
                      b.rng.choice(INTEGERS), b.rng.randrange(1000))
    kind = b.rng.choice(["uniform", "normal"])
    fields = {"uniform": {"low": -1.0}, "normal": {"mean": 0.5}}[kind]
    dtype = b.program.dtype
    b.op(kind, [step], [(shape, dtype)], shape=shape, seed=b.rng.choice([0, 7, -3]),
         **({} if dtype == "f32" else {"dtype": dtype}),
         **(fields if b.chance(0.5) else {}))


def numbers(b, shape):
    """Integers whose sums and products stay in range."""
    dtype = b.rng.choice(INTEGERS)
    rng = np.random.default_rng(b.rng.getrandbits(32))
    return b.argument("input", "%sints%d" % (b.prefix, b.count), shape, dtype,
                      rng.integers(-9, 10, shape))


def condition(b, shape):
    """Of i1: a comparison of what has no rounding, and logic."""
    kind = b.rng.choice(["numbers", "number", "number", "sign", "logic", "logic", "input"])
    if kind == "numbers":
        a = numbers(b, shape)
        c = b.argument("input", "%sints%d" % (b.prefix, b.count), shape, a.dtype,
                       np.random.default_rng(b.count).integers(-9, 10, shape))
        first, second = (b.op(op, [a, c], [(shape, "i1")]) for op in b.rng.sample(
            ["equal", "not_equal", "less", "less_equal"], 2))
        return b.op("logical_xor", [first, second], [(shape, "i1")])
    if kind == "number":
        n = numbers(b, shape)
        a, c = (b.op(op + "_scalar", [n], [(shape, "i1")],
                     value=float(b.rng.randrange(-3, 4)))
                for op in b.rng.sample(["equal", "not_equal", "less", "less_equal",
                                        "greater", "greater_equal"], 2))
        return b.op("logical_or", [a, c], [(shape, "i1")])
    if kind == "sign": # of an input, which rounding keeps
        x = b.argument("input", "%sside%d" % (b.prefix, b.count), shape, b.program.dtype)
        return b.op(b.rng.choice(["less", "greater_equal"]) + "_scalar", [x],
                    [(shape, "i1")], value=0.0)
    if kind == "logic":
        parts = [condition(b, shape) for _ in range(b.rng.choice([1, 2, 2]))]
        op = "logical_not" if len(parts) == 1 else b.rng.choice(
            ["logical_and", "logical_and", "logical_xor", "equal", "not_equal"])
        return b.op(op, parts, [(shape, "i1")])
    rng = np.random.default_rng(b.rng.getrandbits(32))
    return b.argument("input", "%sbits%d" % (b.prefix, b.count), shape, "i1",
                      rng.integers(0, 2, shape))


def choice(b, x, twin):
    """What a condition chooses, of floats and of integers; and their arithmetic."""
    mask = condition(b, x.shape)
    if b.chance(0.5):
        b.op("where", [mask, x, twin], [(x.shape, x.dtype)])
    else:
        b.op("masked_fill", [x, mask], [(x.shape, x.dtype)], value=b.rng.choice([0.0, -1.5]),
             **({"inverted": True} if b.chance(0.5) else {}))
    if b.chance(0.3):
        b.cast(mask, b.program.dtype)
    n = numbers(b, x.shape)
    for _ in range(b.rng.randrange(6)):
        kind = b.rng.choice(["add", "sub", "mul", "maximum", "minimum", "neg", "abs",
                             "sign", "add_scalar", "scale", "clamp", "where", "bitwise_and",
                             "bitwise_or", "bitwise_xor", "shift_left", "shift_right",
                             "shift_right_logical"])
        fields = {"add_scalar": {"value": 3.0}, "scale": {"factor": -2.0},
                  "clamp": {"min": -5.0, "max": 4.0}}.get(kind, {})
        operands = [n] * (1 if kind not in RECORDS else len(RECORDS[kind].operands))
        n = b.op("where", [mask, n, b.same("neg", n)], [(n.shape, n.dtype)]) if kind == "where" \
            else b.same(kind, *operands, **fields)
    if x.shape and b.chance(0.5): # a row beside each
        row = numbers(b, x.shape[-1:])
        row = b.op("broadcast", [b.op("cast", [row], [(row.shape, n.dtype)], to=n.dtype)],
                   [(n.shape, n.dtype)], shape=list(n.shape))
        n = b.same(b.rng.choice(["add", "mul", "sub"]), n, row)
    b.counts.append(n)
    if b.chance(0.5): # numbers that every float type has
        b.cast(b.same("clamp", n, min=-100.0, max=100.0), b.program.dtype)


def shared(b):
    """Neighbours that a kernel may take in one call, where one value stands at
    several slots: what may be written over it, and what has memory, is another
    question then."""
    dtype, n = b.program.dtype, b.rng.choice(SIZES)

    def fresh(*shape):
        return b.same("tanh", b.argument("input", "%sshared%d" % (b.prefix, b.count),
                                         shape, dtype))
    kind = b.rng.choice(["norm", "norm", "mask", "mask", "sum", "loss"])
    if kind == "norm":
        p, q = fresh(n), fresh(n)
        c = b.same("add", p, b.rng.choice([p, q]))
        y, *_ = b.layer_norm(c, *[b.rng.choice([p, q, c, q]) for _ in range(2)])
        b.kept.append(b.same("mul", c, y) if b.chance(0.5) else y)
    elif kind == "mask":
        p, q = fresh(n, n), fresh(n, n)
        c = b.op("matmul", [p, b.rng.choice([p, q])], [((n, n), dtype)])
        bwd = b.rng.choice(["relu_bwd", "relu_bwd", "gelu_bwd"])
        b.kept.append(b.same(bwd, c, b.rng.choice([p, q, c])))
    elif kind == "sum":
        p = fresh(n, n)
        d = b.same("relu_bwd", p, p)
        b.kept += [d, b.reduce("reduce_sum", d, [0], False)]
    else:
        x = fresh(n)
        value, slope = b.rng.choice([
            ("mse_loss", "mse_grad"), ("l1_loss", "l1_grad"),
            ("bce_with_logits", "bce_with_logits_grad")])
        b.kept += [b.op(value, [x, x], [((), dtype)]),
                   b.same(slope, x, x, None)]


def shared_updates(b, updates):
    """Params that are each other's gradients, their own, or a learning rate."""
    shape = b.rng.choice([(), (), (7,), (3, 5)])
    names = [name for name in ("t0", "t1", "t2")]
    params = [b.argument("param", name, shape, b.program.dtype) for name in names]
    attrs = {"weight_decay": 0.01} if b.chance(0.3) else {}
    for name, p in zip(names, params):
        lr = b.rng.choice(params) if not shape and b.chance(0.5) else updates.rate()
        new = b.op("sgd_step", [p, b.rng.choice(params), lr, None, None, None],
                   [(p.shape, p.dtype)] * 2, **attrs)
        b.pool.remove(new[1])  # may not be used
        updates.result(new[0], name)


class Updates:
    """Gives states and params their new values, in every way there is."""

    def __init__(self, b, loss_scale):
        self.b, self.scale = b, loss_scale
        self.lr = self.ok = self.inv = self.step = self.bc = self.group = None
        self.taken = set()

    def result(self, value, name):
        assert name not in self.taken
        self.taken.add(name)
        self.b.entry.results.append(Result(value, updates=name))

    def rate(self):
        """A hyper, or a schedule of the step."""
        b, dtype = self.b, self.b.program.dtype
        if self.lr is None and dtype in ("f32", "f64") and b.chance(0.1):
            curve = b.rng.choice(["step_decay", "polynomial_decay", "rate_table"])
            if curve == "step_decay":
                self.lr = b.op(curve, [self.counter()], [((), dtype)], start=0.05,
                               factor=b.rng.choice([0.5, 1.0]),
                               every=b.rng.choice([1, 2]), dtype=dtype)
            elif curve == "polynomial_decay":
                self.lr = b.op(curve, [self.counter()], [((), dtype)], start=0.05,
                               end=0.01, steps=b.rng.choice([1, 3, 9]),
                               power=b.rng.choice([0.0, 1.0, 2.5]), dtype=dtype)
            else:
                rows = b.rng.choice([1, 2, 9])
                table = b.argument("state", "lr_table", (rows,), dtype,
                                   [b.rng.choice([0.01, 0.03, 0.05])
                                    for _ in range(rows)])
                self.lr = b.op(curve, [self.counter(), table], [((), dtype)])
        elif self.lr is None and dtype in ("f32", "f64") and b.chance(0.2):
            self.lr = b.op("learning_rate", [self.counter()], [((), dtype)], start=0.01,
                           peak=0.05, end=0.02, warmup=b.rng.choice([0, 2]),
                           steps=b.rng.choice([0, 3, 9]), cosine=b.chance(0.5),
                           dtype=dtype)
        elif self.lr is None:
            self.lr = b.argument("hyper", "lr", (), dtype, 0.05)
        return self.lr

    def gate(self, grads):
        """ok and inv_scale from a loss scale, as for f16 by hand."""
        b = self.b
        if not grads:
            return
        if self.scale is not None:
            self.inv = b.same("reciprocal", self.scale)
        if b.program.dtype in ("f32", "f64") and b.chance(0.2):
            norm = b.op("global_norm", grads, [((), b.program.dtype)])
            self.inv = b.op("clip_factor", [norm, self.inv],
                            [((), b.program.dtype)], max_norm=b.rng.choice([0.1, 10.0]))
        if self.scale is None:
            return
        self.ok = b.op("all_finite", grads, [((), "i32")])
        streak = b.argument("state", "streak", (), "i32", 0)
        made = b.op("loss_scale_update", [self.scale, streak, self.ok],
                    [((), self.scale.dtype), ((), "i32")],
                    growth_interval=b.rng.choice([1, 2, 2000]))
        self.result(made[0], "scale")
        self.result(made[1], "streak")

    def counter(self):
        if self.step is None:
            b = self.b
            dtype = b.rng.choice(INTEGERS)
            step = b.argument("state", "step", (), dtype, 0)
            self.step = b.op("step_inc", [step, self.ok], [((), dtype)])
            self.result(self.step, "step")
        return self.step

    def correction(self):
        if self.bc is None:
            b = self.b
            extra = {} if b.program.dtype == "f32" else {"dtype": b.program.dtype}
            self.betas = b.rng.choice([{}, {"beta1": 0.8, "beta2": 0.95}])
            self.bc = b.op("bias_corr", [self.counter()], [((2,), b.program.dtype)],
                           **extra, **self.betas)
        return self.bc

    def adam_group(self):
        """The numbers of a group, and the correction of its betas."""
        if self.group is None:
            b, dtype = self.b, self.b.program.dtype
            group = b.argument("hyper", "group", (5,), "f32",
                               [0.05, b.rng.choice([0.0, 0.0625]), 0.125,
                                b.rng.choice([0.0625, 1.0]), 2.0 ** -20])
            bc = b.op("group_bias_corr", [self.counter(), group], [((2,), dtype)],
                      **({} if dtype == "f32" else {"dtype": dtype}))
            self.group = group, bc
        return self.group

    def state(self, name, like, zero=True):
        return self.b.argument("state", name, like.shape, like.dtype,
                               np.zeros(like.shape) if zero else None)

    def train(self, name, p, g):
        b = self.b
        kinds = ["sgd", "momentum", "nesterov"]
        if b.program.dtype in ("f32", "f64"):
            kinds += ["adam_step", "adam_step", "adam_l2_step", "lion", "adam_group",
                      "sgd_group"]
        kind = b.rng.choice(kinds)
        attrs = {"weight_decay": 0.01} if b.chance(0.3) else {}
        if kind.endswith("_group"):
            return self.train_in_group(name, p, g, kind)
        lr = self.rate()
        if kind in ("adam_step", "adam_l2_step"):
            bc = self.correction()
            m = self.state(name + ".m", p)
            v = self.state(name + ".v", p)
            new = b.op(kind, [p, g, m, v, bc, lr, self.inv, self.ok],
                       [(p.shape, p.dtype)] * 3, **attrs, **self.betas)
            self.result(new[1], name + ".m")
            self.result(new[2], name + ".v")
        elif kind == "lion":
            m = self.state(name + ".m", p)
            betas = b.rng.choice([{}, {"beta1": 0.8, "beta2": 0.95}])
            new = b.op("lion_step", [p, g, m, lr, self.inv, self.ok],
                       [(p.shape, p.dtype)] * 2, **attrs, **betas)
            self.result(new[1], name + ".m")
        else:
            m = None
            if kind != "sgd":
                m = self.state(name + ".m", p)
                attrs.update(momentum=0.9, nesterov=kind == "nesterov")
            inv = self.inv if b.program.dtype in ("f32", "f64") else None
            new = b.op("sgd_step", [p, g, lr, m, inv, self.ok],
                       [(p.shape, p.dtype)] * 2, **attrs)
            if m is not None:
                self.result(new[1], name + ".m")
            else:
                b.pool.remove(new[1])  # may not be used
        self.result(new[0], name)

    def train_in_group(self, name, p, g, kind):
        b = self.b
        if kind == "adam_group":
            group, bc = self.adam_group()
            m, v = self.state(name + ".m", p), self.state(name + ".v", p)
            new = b.op("adam_group_step", [p, g, m, v, bc, group, self.inv, self.ok],
                       [(p.shape, p.dtype)] * 3, **({"l2": True} if b.chance(0.5) else {}))
            self.result(new[1], name + ".m")
            self.result(new[2], name + ".v")
        else:
            group = b.argument("hyper", name + ".group", (3,), "f32", [0.05, 0.0625, 0.875])
            m = self.state(name + ".m", p) if b.chance(0.5) else None
            nesterov = {"nesterov": True} if m is not None and b.chance(0.5) else {}
            new = b.op("sgd_group_step", [p, g, group, m, self.inv, self.ok],
                       [(p.shape, p.dtype)] * 2, **nesterov)
            if m is not None:
                self.result(new[1], name + ".m")
            else:
                b.pool.remove(new[1])  # may not be used
        self.result(new[0], name)

    def other(self, name, p):
        """Not trained: swapped, kept, assigned or left alone."""
        b = self.b
        kind = b.rng.choice(["swap", "keep", "assign", "assign", "alone"])
        twins = [a for a in b.entry.arguments
                 if a.role in ("param", "state") and a.name not in self.taken
                 and a.name != name and a.value.type == p.type]
        if kind == "swap" and twins:
            other = b.rng.choice(twins)
            self.result(other.value, name)
            self.result(p, other.name)
        elif kind == "keep":
            self.result(p, name)
        elif kind == "assign":
            self.result(b.pick(lambda v: v.type == p.type), name)


def add_outputs(b, first):
    """Results by name: some values twice, arguments too; some with a history."""
    chosen = [*first, *b.kept]
    for _ in range(b.rng.randrange(3)):
        chosen.append(b.pick())
    if b.chance(0.2):
        chosen.append(chosen[0])
    for i, v in enumerate(chosen):
        if v.dtype == "bf16":  # .npy has no name for it
            v = b.cast(v, "f32")
        history = b.rng.choice([1, 2, 5]) if b.chance(0.15) and \
            v.dtype in ("f32", "f64") else 0
        b.entry.results.append(
            Result(v, name="%sout%d" % (b.prefix, i), history=history))
    for i, v in enumerate(b.counts):
        b.entry.results.append(Result(v, name="%scount%d" % (b.prefix, i)))


def generate(seed):
    rng = random.Random(seed)
    dtype = rng.choice(["f32", "f32", "f32", "f64", "f64", "f16", "bf16"])
    program = Program(seed, dtype, [], {})
    b = Builder(rng, program, "train")
    if dtype == "f32" and rng.random() < 0.2:
        program.math = ["--math=tf32"]
    counter = iter(range(10 ** 6))
    loss_scale = None
    if dtype in ("f32", "f64") and b.chance(0.2):
        loss_scale = b.argument("state", "scale", (), dtype, 4.0)
        b.pool.remove(loss_scale)
    is_wide = dtype != "f64" and b.chance(0.12)
    net = Network(b, counter, WIDE if is_wide else SIZES)
    is_long = dtype != "f64" and not is_wide and b.chance(0.85)
    rows = rng.choice([5, 8, 16] if is_wide else [8, 8, 3] if is_long else SIZES)
    more = (rng.choice(SIZES[:8]),) \
        if rng.random() < 0.2 and not is_wide and not is_long else ()
    width = rng.choice(LONG if is_long else net.sizes)
    # A cast and a product may make pads, what the caller binds has none.
    given = "f32" if is_long else dtype
    x = b.argument("input", "x", (*more, rows, width), given)
    if is_long:
        w = b.argument("input", "long", (rng.choice([8, 8, 16, 16, 7]), width), given)
        x, w = (b.cast(v, dtype) if given != dtype else v for v in (x, w))
        x = b.op("matmul", [x, w], [((rows, w.shape[0]), dtype)], transB=True)
    if is_wide:
        for _ in range(2):
            x = net.linear(x, rng.choice(WIDE), b.chance(0.3))
    depth = rng.randrange(1, 5)
    # Wide and deep: a program of half a minute, most of it the judges'.
    loss, grads = net.train(x, 1 if is_wide else depth, loss_scale)
    for _ in range(rng.randrange(6)):
        anything(b)
    if b.chance(0.6):
        shared(b)
    for i in range(rng.randrange(3)):
        shape = rng.choice(b.pool).shape
        name = "s%d" % i
        net.params.append((name, b.argument(
            rng.choice(["param", "state"]), name, shape, dtype)))
    updates = Updates(b, loss_scale)
    updates.taken.update(r.updates for r in b.entry.results)
    updates.gate(list(grads.values()))
    if loss_scale is not None and "scale" not in updates.taken:
        updates.result(loss_scale, "scale")
    for name, p in net.params:
        if name in updates.taken:
            continue
        g = grads.get(p) or b.pick(lambda v: v.type == p.type)
        if (p in grads and b.chance(0.85)) or b.chance(0.3):
            updates.train(name, p, g)
        else:
            updates.other(name, p)
    if b.chance(0.3):
        shared_updates(b, updates)
    if b.chance(0.15) and dtype in ("f32", "f64"):
        rows = b.argument("state", "log", (rng.choice([1, 2, 3]),), dtype,
                          None)
        count = b.argument("state", "log.count", (), "i64", 0)
        updates.result(b.op("record", [rows, loss, count],
                            [(rows.shape, dtype)]), "log")
        updates.result(b.op("step_inc", [count, None], [((), "i64")]), "log.count")
    add_outputs(b, [loss])
    program.entries.append(b.entry)
    if rng.random() < 0.5:
        program.entries.append(predict(rng, program, net))
    return program


def predict(rng, program, net):
    """A second entry that reads some of the first one's params."""
    b = Builder(rng, program, "predict", "p")
    b.argument("input", "px", (rng.choice(SIZES), 3), program.dtype)
    for name, p in net.params:
        if rng.random() < 0.7:
            role = next(a.role for a in program.entries[0].arguments
                        if a.name == name)
            b.argument(role, name, p.shape, p.dtype)
    for _ in range(rng.randrange(5)):
        anything(b)
    if b.chance(0.3):
        shared(b)
    for i, v in enumerate([b.pick(), b.pick(), *b.kept]):
        b.entry.results.append(Result(
            b.cast(v, "f32") if v.dtype == "bf16" else v, name="pout%d" % i))
    return b.entry
