# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random nn.Modules with losses and batches, by seed.

    python3 random_modules.py --count 1000 --seed 0

imports each, trains it beside PyTorch and prints the seeds that differ.
"""

import argparse
import random
import sys
import traceback

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = [F.relu, torch.tanh, torch.sigmoid, F.gelu, F.silu, F.elu, F.softplus, F.mish,
               F.leaky_relu, F.hardtanh, F.softsign, F.logsigmoid, torch.sin, torch.abs]


class RandomModule(nn.Module):
    """[rows, tokens, width] in, [rows, classes] out, through random layers."""

    def __init__(self, rng, tokens, width, classes):
        super().__init__()
        self.layers, self.parts = [], nn.ModuleDict()
        self.tokens, self.width = tokens, width
        for _ in range(rng.randrange(2, 8)):
            self.layers.append(getattr(self, "_" + rng.choice(KINDS))(rng))
        self.head = nn.Linear(width, classes)
        self.pool = rng.choice(["mean", "max", "first", "sum"])

    def part(self, module):
        name = "part%d" % len(self.parts)
        self.parts[name] = module
        return name

    def _linear(self, rng):
        p = self.part(nn.Linear(self.width, self.width, bias=rng.random() < 0.8))
        return lambda s, x: s.parts[p](x)

    def _activation(self, rng):
        function = rng.choice(ACTIVATIONS)
        return lambda s, x: function(x)

    def _residual(self, rng):
        inner = self._mlp(rng)
        scale = rng.choice([1.0, 0.5])
        return lambda s, x: x + scale * inner(s, x)

    def _mlp(self, rng):
        hidden = rng.choice([3, 4, 8])
        a, b = self.part(nn.Linear(self.width, hidden)), self.part(nn.Linear(hidden, self.width))
        function = rng.choice(ACTIVATIONS)
        return lambda s, x: s.parts[b](function(s.parts[a](x)))

    def _norm(self, rng):
        kind = rng.choice([nn.LayerNorm, nn.RMSNorm])
        p = self.part(kind(self.width, eps=1e-3))
        return lambda s, x: s.parts[p](x)

    def _batch_norm(self, rng):
        p = self.part(nn.BatchNorm1d(self.tokens, eps=1e-2))
        return lambda s, x: s.parts[p](x)

    def _tokens(self, rng):
        p = self.part(nn.Linear(self.tokens, self.tokens))
        return lambda s, x: s.parts[p](x.transpose(1, 2)).transpose(1, 2)

    def _attention(self, rng):
        p = self.part(nn.Linear(self.width, 3 * self.width))
        heads = 2 if self.width % 2 == 0 else 1
        causal = rng.random() < 0.5

        def forward(s, x):
            rows, tokens, width = x.shape
            q, k, v = (t.view(rows, tokens, heads, -1).transpose(1, 2)
                       for t in s.parts[p](x).chunk(3, dim=-1))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return y.transpose(1, 2).reshape(rows, tokens, width)
        return forward

    def _gate(self, rng):
        p = self.part(nn.Linear(self.width, 2 * self.width))
        return lambda s, x: F.glu(s.parts[p](x), dim=-1)

    def _softmax(self, rng):
        dim = rng.choice([1, 2, -1])
        log = rng.random() < 0.3
        return lambda s, x: (F.log_softmax if log else F.softmax)(x, dim=dim)

    def _views(self, rng):
        cut = rng.randrange(1, self.width)
        kind = rng.randrange(4)
        if kind == 0:
            return lambda s, x: torch.cat([x[..., cut:], x[..., :cut]], dim=-1)
        if kind == 1:
            return lambda s, x: x.flip(1)
        if kind == 2:
            return lambda s, x: x.transpose(1, 2).reshape(x.shape[0], -1).view_as(x)
        return lambda s, x: torch.stack(x.unbind(1), dim=1)

    def _reduce(self, rng):
        kind = rng.choice(["mean", "amax", "std", "norm", "logsumexp", "sum"])
        dim = rng.choice([1, 2])

        def forward(s, x):
            if kind == "std":
                return x / (x.var(dim=dim, keepdim=True) + 1).sqrt()
            if kind == "norm":
                return F.normalize(x, dim=dim, eps=1e-2)
            if kind == "logsumexp":
                return x - x.logsumexp(dim, keepdim=True)
            return x - 0.5 * getattr(x, kind)(dim, keepdim=True)
        return forward

    def _stop(self, rng):
        if rng.random() < 0.5:
            return lambda s, x: x * torch.sigmoid(x.detach())

        def forward(s, x):
            with torch.no_grad():
                most = x.abs().mean()
            return x / (most + 1)
        return forward

    def _in_place(self, rng):
        number = rng.choice([0.5, 2.0])

        def forward(s, x):
            y = x * 1.0
            y += number
            y[:, 0] = y[:, 0] * number
            return y
        return forward

    def _choose(self, rng):
        number = rng.choice([0.0, 0.25])
        kind = rng.randrange(3)
        if kind == 0:
            return lambda s, x: torch.where(x > number, x, 0.5 * x)
        if kind == 1:
            return lambda s, x: x.masked_fill(x < -number - 1, -1.0)
        return lambda s, x: x.clamp(-1.5, 1.5)

    def _parameter(self, rng):
        name = "free%d" % len(self.layers)
        shape = rng.choice([(self.width,), (self.tokens, 1), (1, self.tokens, self.width), ()])
        setattr(self, name, nn.Parameter(torch.randn(shape)))
        add = rng.random() < 0.5
        return lambda s, x: x + getattr(s, name) if add else x * getattr(s, name)

    def _tied(self, rng):
        p = self.part(nn.Linear(self.width, self.width))
        return lambda s, x: torch.tanh(s.parts[p](x)) @ s.parts[p].weight.t()

    def forward(self, x):
        for layer in self.layers:
            x = layer(self, x)
        x = {"mean": lambda: x.mean(1), "max": lambda: x.max(dim=1).values,
             "first": lambda: x[:, 0], "sum": lambda: x.sum(1)}[self.pool]()
        return self.head(x)


KINDS = [name[1:] for name in vars(RandomModule) if name[0] == "_" and name[1] != "_"]


def make(seed):
    rng = random.Random(seed)
    torch.manual_seed(seed)
    rows, tokens = rng.choice([2, 3, 5]), rng.choice([2, 3, 4])
    width, classes = rng.choice([4, 6, 7]), rng.choice([2, 5])
    module = RandomModule(rng, tokens, width, classes)
    x = torch.randn(rows, tokens, width)
    loss = rng.choice(["cross_entropy", "mse", "bce", "smooth_l1", "kl"])
    if loss == "cross_entropy":
        return module, F.cross_entropy, [x], [torch.randint(0, classes, (rows,))]
    if loss == "bce":
        return module, F.binary_cross_entropy_with_logits, [x], [torch.rand(rows, classes)]
    if loss == "kl":
        return module, lambda y, t: F.kl_div(F.log_softmax(y, -1), t, reduction="batchmean"), \
            [x], [torch.rand(rows, classes).softmax(-1)]
    return module, F.mse_loss if loss == "mse" else F.smooth_l1_loss, [x], \
        [torch.randn(rows, classes)]


def check(seed):
    """Losses and gradients of a few steps, in f64 against PyTorch's."""
    from judge import gradients_of, trained_by_aicf, trained_by_torch
    case = make(seed)

    def optimizer(module):
        return torch.optim.SGD(module.parameters(), lr=2.0 ** -7)
    losses, gradients, _ = trained_by_torch(*case, optimizer, 3, torch.float64)
    own, _, _ = trained_by_aicf(*case, optimizer, 3, torch.float64)
    for a, b in zip(own, losses):
        assert abs(a - b) <= 1e-8 * max(1.0, abs(b)), (own, losses)
    found = gradients_of(*case, torch.float64)
    assert set(found) == set(gradients), set(found) ^ set(gradients)
    largest = max(float(g.abs().max()) for g in gradients.values())
    for name, value in found.items():
        distance = float((value - gradients[name]).abs().max())
        assert distance <= 1e-9 * max(largest, 1e-3), (name, distance, largest)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    failed = []
    for seed in range(flags.seed, flags.seed + flags.count):
        try:
            check(seed)
        except Exception:
            print("seed %d" % seed)
            traceback.print_exc()
            failed.append(seed)
    print("%d modules, %d failed%s" % (flags.count, len(failed),
                                       ": %s" % failed if failed else ""))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
