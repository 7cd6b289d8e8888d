# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random forward functions with a random optimizer, trained beside PyTorch on the CPU:
the same function in torch, its autograd, its optimizers and its clipping. Lion, which
torch does not have, is Chen et al. 2023, algorithm 2."""

import math
import random
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

from . import semantics
from .derive import generate_forward
from .judge import Failure, Judge, Skip

UPDATES = 10
TOLERANCE = {"f64": 1e-9, "f32": 1e-4}
# What a function does to rounding errors, as torch's f32 and f64 show it, and how near
# to zero the number may be whose sign is a step of Lion: beyond, any result is as good
# as another.
CONDITION = {"f64": 1e-9, "f32": 1e-5}
SIGNS = {"f64": 1e-8, "f32": 1e-3}


def pick_optimizer(rng, dtype):
    """Its text, and what PyTorch is told."""
    kind = rng.choice(["adamw", "adam", "sgd", "lion"])
    o = {"kind": kind, "rate": rng.choice([1e-2, 3e-3]),
         "weight_decay": rng.choice([0.0, 0.1]), "clip_norm": rng.choice([0.0, 0.0, 0.5]),
         "accumulate": rng.choice([1, 1, 3])}
    schedule = rng.choice(["hyper", "constant", "linear", "cosine"])
    r = o["rate"]
    text, o["rate_at"] = {
        "hyper": ('"lr"', lambda t: r),
        "constant": ("#aicf.constant<value = %r>" % r, lambda t: r),
        "linear": ("#aicf.linear<start = %r, end = %r, steps = 7>" % (r, r / 10),
                   lambda t: r + (r / 10 - r) * min(t / 7, 1)),
        "cosine": ("#aicf.warmup_cosine<peak = %r, warmup = 3, steps = 9>" % r,
                   lambda t: r * t / 3 if t <= 3 else
                   r * (1 + math.cos(math.pi * min((t - 3) / 6, 1))) / 2),
    }[schedule]
    if kind in ("adamw", "adam"): # eps large enough that a gradient of 0 stays one in f32
        o.update(beta1=0.8, beta2=0.99, eps=1e-8 if dtype == "f64" else 1e-3)
    elif kind == "lion":
        o.update(beta1=0.9, beta2=0.95)
    else:
        o.update(momentum=rng.choice([0.0, 0.9]), nesterov=False)
        o["nesterov"] = o["momentum"] > 0 and rng.random() < 0.5
    fields = ["lr = " + text]
    for name in ("weight_decay", "clip_norm", "accumulate", "beta1", "beta2", "eps",
                 "momentum", "nesterov"):
        if name in o:
            value = o[name]
            fields.append("%s = %s" % (name, "%.17e" % value if isinstance(value, float)
                                       else str(value).lower()))
    o["text"] = "%s<%s>" % (kind, ", ".join(fields))
    o["needs_rate"] = schedule == "hyper"
    return o


#: Ops that torch has under another name, or with numbers, which are `at`.
FUNCTIONS = {
    "add_scalar": lambda x, at: x + at["value"],
    "div_scalar": lambda x, at: x / at["value"],
    "pow_scalar": lambda x, at: torch.pow(x, at["exponent"]),
    "clamp": lambda x, at: torch.clamp(x, at["min"], at["max"]),
    "hardtanh": lambda x, at: F.hardtanh(x, at.get("min", -1.0), at.get("max", 1.0)),
    "elu": lambda x, at: F.elu(x, at.get("alpha", 1.0)),
    "leaky_relu": lambda x, at: F.leaky_relu(x, at.get("slope", 0.01)),
    "log_sigmoid": lambda x, at: F.logsigmoid(x),
    "softplus": lambda x, at: F.softplus(x, at.get("beta", 1.0),
                                         at.get("threshold", 20.0)),
    # torch's takes a vector of slopes, whose gradients are sums.
    "prelu": lambda x, slope, at: torch.where(x > 0, x, slope * x),
    "less": lambda a, b, at: a < b,
    "less_equal": lambda a, b, at: a <= b,
    "equal": lambda a, b, at: a == b,
    "not_equal": lambda a, b, at: a != b,
    "less_scalar": lambda x, at: x < at["value"],
    "less_equal_scalar": lambda x, at: x <= at["value"],
    "greater_scalar": lambda x, at: x > at["value"],
    "greater_equal_scalar": lambda x, at: x >= at["value"],
    "equal_scalar": lambda x, at: x == at["value"],
    "not_equal_scalar": lambda x, at: x != at["value"],
    "where": lambda m, a, b, at: torch.where(m.bool(), a, b),
    "masked_fill": lambda x, m, at: x.masked_fill(
        m.bool() != at.get("inverted", False), at["value"]),
    "logical_and": lambda a, b, at: a.bool() & b.bool(),
    "logical_or": lambda a, b, at: a.bool() | b.bool(),
    "logical_xor": lambda a, b, at: a.bool() ^ b.bool(),
    "logical_not": lambda x, at: ~x.bool(),
    "log_softmax": lambda x, at: F.log_softmax(x, -1),
    "cumsum": lambda x, at: x.cumsum(at["axis"]) if not at.get("reversed") else
        x.flip(at["axis"]).cumsum(at["axis"]).flip(at["axis"]),
    "pick": lambda x, index, at: x.gather(-1, index.unsqueeze(-1)).squeeze(-1),
    "embedding": lambda table, index, at: F.embedding(
        index, table, padding_idx=at["padding"] if at.get("padding", -1) >= 0 else None),
}


class Twin:
    """The program in torch."""

    def __init__(self, program, optimizer, dtype):
        self.entry, self.o = program.entries[0], optimizer
        self.dtype = {"f64": torch.float64, "f32": torch.float32}[dtype]
        self.values = {}
        for a in self.entry.arguments:
            value = torch.from_numpy(np.array(program.values[a.name]))
            self.values[a.name] = value.to(self.dtype) if value.is_floating_point() \
                else value.long()
        self.trained = {}
        for a in self.entry.arguments:
            if a.role == "param" and "aicf.frozen" not in a.marks:
                self.trained[a.name] = self.values[a.name].requires_grad_()
        self.lions = {name: torch.zeros_like(p) for name, p in self.trained.items()}
        self.least_sign, self.worst = math.inf, 0.0

    def loss(self):
        env = {a.value: self.values[a.name] for a in self.entry.arguments}
        for op in self.entry.ops:
            values = self.call(op, [None if v is None else env[v] for v in op.operands])
            env.update(zip(op.results, values if isinstance(values, tuple)
                           else (values,)))
        for r in self.entry.results:
            if r.updates:
                self.next[r.updates] = env[r.value]
        return env[self.entry.results[0].value]

    def call(self, op, o):
        kind, at = op.kind, op.attrs
        if kind == "linear":
            return F.linear(o[0], o[1], o[2])
        if kind == "gelu":
            return F.gelu(o[0], approximate="tanh" if at.get("approximate") else "none")
        if kind == "scale":
            return at["factor"] * o[0]
        if kind == "fill_like":
            return torch.full_like(o[0], at["value"])
        if kind == "stop_gradient":
            return o[0].detach()
        if kind == "save":
            return o[0]
        if kind == "softmax":
            return F.softmax(o[0], -1)
        if kind == "layer_norm":
            x = o[0]
            variance, mean = torch.var_mean(x, -1, correction=0)
            eps = at.get("eps", 1e-5)
            return (F.layer_norm(x, x.shape[-1:], o[1], o[2], eps), mean,
                    torch.rsqrt(variance + eps))
        if kind == "dropout": # the mask is ours: the words of Philox
            mask = semantics.OPS["dropout"](
                [np.ones(o[0].shape), o[1].numpy()], op, None)[0]
            return o[0] * torch.from_numpy(mask).to(self.dtype)
        if kind == "step_inc":
            return o[0] + 1
        if kind in ("reduce_sum", "reduce_mean"):
            function = torch.sum if kind == "reduce_sum" else torch.mean
            return function(o[0], at["axes"], keepdim=at.get("keepdim", False))
        if kind in ("reduce_max", "reduce_min"):
            return self.extremum(o[0], op)
        if kind == "constant":
            return torch.from_numpy(np.array(
                semantics.OPS["constant"](o, op, None)[0])).to(self.dtype)
        if kind == "reshape":
            return o[0].reshape(at["shape"])
        if kind == "transpose":
            return o[0].permute(at["permutation"])
        if kind == "slice":
            return o[0][tuple(slice(*bounds) for bounds in
                              zip(at["begin"], at["end"], at["step"]))]
        if kind == "broadcast":
            return o[0].expand(at["shape"])
        if kind == "concat":
            return torch.cat(o, at["axis"])
        if kind == "pad":
            y = torch.zeros(op.results[0].shape, dtype=o[0].dtype)
            rows = o[0].shape[at["axis"]]
            places = at["begin"] + torch.arange(rows) * at["step"]
            return y.index_copy(at["axis"], places, o[0])
        if kind == "matmul":
            a, b = (x.mT if at.get(flag) else x
                    for x, flag in zip(o, ("transA", "transB")))
            return a @ b
        if kind == "mean":
            return o[0].mean()
        if kind == "mse_loss":
            return F.mse_loss(o[0], o[1])
        if kind == "l1_loss":
            return F.l1_loss(o[0], o[1])
        if kind == "bce_with_logits":
            return F.binary_cross_entropy_with_logits(o[0], o[1])
        if kind == "softmax_cross_entropy":
            return F.cross_entropy(o[0].reshape(-1, o[0].shape[-1]), o[1].reshape(-1),
                                   label_smoothing=at.get("label_smoothing", 0.0))
        if kind in FUNCTIONS:
            return FUNCTIONS[kind](*o, at)
        # Other pointwise functions have torch's name.
        return getattr(torch if hasattr(torch, kind) else F, kind)(*o)

    @staticmethod
    def extremum(x, op):
        """By torch.max(dim), whose gradient goes to the first."""
        axes = op.attrs["axes"]
        rest = [i for i in range(x.dim()) if i not in axes]
        flat = x.permute(*rest, *axes).reshape(*[x.shape[i] for i in rest], -1)
        function = torch.max if op.kind == "reduce_max" else torch.min
        values, places = function(flat, -1)
        shape = op.results[0].shape
        return values.reshape(shape), places.int().reshape(shape)

    def train(self, updates):
        o, params = self.o, list(self.trained.values())
        if o["kind"] in ("adamw", "adam"):
            kind = torch.optim.AdamW if o["kind"] == "adamw" else torch.optim.Adam
            optimizer = kind(
                params, lr=1, betas=(o["beta1"], o["beta2"]), eps=o["eps"],
                weight_decay=o["weight_decay"])
        else:
            optimizer = torch.optim.SGD(
                params, lr=1, momentum=o.get("momentum", 0.0),
                nesterov=o.get("nesterov", False), weight_decay=o["weight_decay"])
        for t in range(1, updates + 1):
            optimizer.zero_grad(set_to_none=False)
            for _ in range(o["accumulate"]):
                self.next = {}
                loss = self.loss()
                (loss / o["accumulate"]).backward()
                self.values.update(self.next)
            if not math.isfinite(float(loss.detach())) or abs(loss) > 1e4:
                raise Skip("diverges")
            self.worst = max(self.worst, *(float(p.grad.abs().max()) for p in params))
            if o["clip_norm"]:
                torch.nn.utils.clip_grad_norm_(params, o["clip_norm"])
            for group in optimizer.param_groups:
                group["lr"] = o["rate_at"](t)
            if o["kind"] == "lion":
                self.lion_step(o["rate_at"](t))
            else:
                optimizer.step()
        return {name: p.detach().double().numpy() for name, p in self.trained.items()}

    @torch.no_grad()
    def lion_step(self, rate):
        o = self.o
        for name, p in self.trained.items():
            m = self.lions[name]
            mixed = o["beta1"] * m + (1 - o["beta1"]) * p.grad
            small = mixed.abs()[mixed != 0]
            if small.numel():
                # A gradient below 1e-4 altogether may be what is left of larger ones.
                self.least_sign = min(self.least_sign, float(
                    small.min() / mixed.abs().max().clamp(min=1e-4)))
            p.mul_(1 - rate * o["weight_decay"]).sub_(rate * mixed.sign())
            m.mul_(o["beta2"]).add_(p.grad, alpha=1 - o["beta2"])


def distance(a, b):
    """Between two dicts of parameters, by the largest number of each."""
    return max(float(np.abs(a[n] - b[n]).max()) / (1e-3 + float(np.abs(b[n]).max()))
               for n in b)


def generate_training(seed):
    rng = random.Random(seed)
    dtype = rng.choice(["f64", "f32"])
    program = generate_forward(seed, dtype)
    entry = program.entries[0]
    program.optimizer = pick_optimizer(rng, dtype)
    entry.optimizer = program.optimizer["text"]
    return program


def judge_training(program, bin_dir, folder):
    """Raises Failure unless the parameters after the updates are PyTorch's; Skip where
    they depend on rounding more than the tolerance allows for."""
    torch.set_num_threads(1)
    entry, o, dtype = program.entries[0], program.optimizer, program.dtype
    trained = [a for a in entry.arguments if a.role == "param" and not a.marks]
    if not trained:
        raise Skip("nothing is trained")
    twin = Twin(program, o, "f64")
    try:
        expected = twin.train(UPDATES)
    except RuntimeError: # of a program that is being reduced
        raise Skip("no program")
    if twin.least_sign < SIGNS[dtype]:
        raise Skip("a sign is rounding's")
    if distance(Twin(program, o, "f32").train(UPDATES), expected) > (
            CONDITION["f32"] if dtype == "f32" else 1e-2):
        raise Skip("ill-conditioned")
    with tempfile.TemporaryDirectory(dir=folder) as work:
        j = Judge(bin_dir, work)
        plan = j.compile_forward(program)
        more = ["--set", "lr=%r" % o["rate"]] if o["needs_rate"] else []
        _, found = j.run(program, plan, "--batches", o["accumulate"], *more,
                         *(["--executor=graph"] if program.seed % 2 else []),
                         steps=UPDATES)
    moments = {n + ".exp_avg": m.numpy() for n, m in twin.lions.items()} \
        if o["kind"] == "lion" else {}
    found = {n: found[n].astype(np.float64) for n in (*expected, *moments)}
    error = distance(found, {**expected, **moments})
    if not error <= TOLERANCE[dtype]:
        raise Failure("training", "%s: off by %.3g, %.3g is allowed" % (
            o["text"], error, TOLERANCE[dtype]))
