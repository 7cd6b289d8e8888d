# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention beside PyTorch: one call forward and one backward in every form, and losses,
gradients and trained parameters within what PyTorch's own f32 loses."""

import functools
import math
import re

import pytest
import torch
import torch.nn.functional as F
from judge import close, gradients_of, trained_by_aicf, trained_by_torch
from torch import nn

import aicf.torch

INF = math.inf


class Heads(nn.Module):
    """q, k and v from one linear layer, and attention with `options`; what is a Parameter
    is trained."""

    def __init__(self, heads=4, shared=None, rank=4, **options):
        super().__init__()
        self.heads, self.shared, self.rank = heads, shared or heads, rank
        self.qkv = nn.Linear(16, 8 * (heads + 2 * self.shared))
        for name, value in options.items():
            setattr(self, name, value)
        self.names = list(options)

    def forward(self, x):
        sizes = [8 * self.heads, 8 * self.shared, 8 * self.shared]
        q, k, v = (part.unflatten(-1, (-1, 8)).transpose(1, 2)
                   for part in self.qkv(x).split(sizes, -1))
        if self.rank == 5:
            q, k, v = (part.unsqueeze(0) for part in (q, k, v))
        elif self.rank < 4:
            q, k, v = (part.flatten(0, 1)[0] if self.rank == 2 else part.flatten(0, 1)
                       for part in (q, k, v))
        options = {name: getattr(self, name) for name in self.names}
        for name, value in options.items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                options[name] = value.to(q.dtype)
        return F.scaled_dot_product_attention(q, k, v, **options)


def flags(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(3)) > 0.4


FORMS = {
    "plain": {}, "causal": {"is_causal": True}, "scale": {"scale": 0.1},
    "negative scale": {"scale": -0.3}, "flags": {"attn_mask": flags(5, 5)},
    "flags of keys": {"attn_mask": flags(3, 1, 1, 5)},
    "flags of heads": {"attn_mask": flags(1, 4, 5, 5)},
    "rows that see nothing": {"attn_mask": torch.tensor([False, True, True, False, True])[:, None]
                              .expand(5, 5)},
    "floats": {"attn_mask": torch.linspace(-1, 1, 25).reshape(5, 5)},
    "infinite": {"attn_mask": torch.full((5, 5), -INF).triu(1)},
    "bias that is trained": {"attn_mask": nn.Parameter(torch.linspace(-1, 1, 100).reshape(4, 5, 5))},
    "bias of one head": {"attn_mask": nn.Parameter(torch.linspace(-1, 1, 25).reshape(1, 1, 5, 5))},
    "bias of keys": {"attn_mask": nn.Parameter(torch.linspace(-1, 1, 5))},
    "shared heads": {"shared": 2, "enable_gqa": True, "is_causal": True},
    "one head for all": {"shared": 1, "enable_gqa": True},
    "rank 3": {"rank": 3, "is_causal": True}, "rank 2": {"rank": 2},
    "rank 3 with a mask": {"rank": 3, "attn_mask": flags(12, 5, 5)},
    "rank 5": {"rank": 5, "attn_mask": flags(1, 3, 1, 5, 5)},
}


def of_attention(step):
    """How often the plan has a call of attention, and of what it would be made of."""
    text = step.program.plan.dump()
    return [len(re.findall(r" %s\(" % name, text))
            for name in ("attention", "attention_bwd", "softmax")]


def square(y):
    return (y * y).mean()


def judged(module, inputs, optimizer_of, steps=3):
    torch.manual_seed(1)
    double = trained_by_torch(module, square, inputs, (), optimizer_of, steps, torch.float64)
    single = trained_by_torch(module, square, inputs, (), optimizer_of, steps, torch.float32)
    losses, state, step = trained_by_aicf(module, square, inputs, (), optimizer_of, steps,
                                          torch.float32)
    close(losses, single[0], double[0], "losses")
    gradients = gradients_of(module, square, inputs, (), torch.float32)
    for name, expected in double[1].items():
        close(gradients[name], single[1][name], expected, "the gradient of " + name)
    for name, expected in double[2].items():
        if expected.is_floating_point():
            close(state[name], single[2][name], expected, name)
    return step


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    torch.manual_seed(0)
    module = Heads(**FORMS[form])
    step = judged(module, [torch.randn(3, 5, 16)],
                  lambda m: torch.optim.SGD(m.parameters(), lr=0.3))
    assert of_attention(step) == [1, 1, 0]


def test_no_copy_of_heads():
    """Parts of one packed tensor are read where they lie, and their gradients written
    there."""
    torch.manual_seed(0)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

        def forward(self, x):
            q, k, v = (a.view(3, 5, 4, 4).transpose(1, 2) for a in self.qkv(x).split(16, 2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(3, 5, 16))
    step = judged(Block(), [torch.randn(3, 5, 16)],
                  lambda m: torch.optim.AdamW(m.parameters(), lr=0.01))
    text = step.program.plan.dump()
    assert of_attention(step) == [1, 1, 0]
    assert not re.search(r" (copy|concat|pad)\(", text)


class SelfAttention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, **options)
        self.call = {}

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False, **self.call)[0]


@pytest.mark.parametrize("call", [
    {}, {"attn_mask": ~flags(5, 5) & ~torch.eye(5, dtype=torch.bool)},
    {"attn_mask": torch.full((5, 5), -INF).triu(1)},
    {"key_padding_mask": torch.arange(5)[None] >= torch.tensor([[5], [3], [2]])}],
    ids=["plain", "flags", "floats", "padding"])
def test_multihead_attention(call):
    torch.manual_seed(0)
    module = SelfAttention(batch_first=True)
    module.call = call
    step = judged(module, [torch.randn(3, 5, 16)],
                  lambda m: torch.optim.SGD(m.parameters(), lr=0.3))
    assert of_attention(step) == [1, 1, 0]


@pytest.mark.parametrize("layer", [
    lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True),
    lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, norm_first=True)])
def test_encoder_layers(layer):
    torch.manual_seed(0)
    step = judged(layer(), [torch.randn(3, 5, 16)],
                  lambda m: torch.optim.SGD(m.parameters(), lr=0.1))
    assert of_attention(step) == [1, 1, 0]


def test_decoder_layers():
    torch.manual_seed(0)
    step = judged(nn.TransformerDecoderLayer(16, 4, 32, dropout=0.0, batch_first=True),
                  [torch.randn(3, 5, 16), torch.randn(3, 7, 16)],
                  lambda m: torch.optim.SGD(m.parameters(), lr=0.1))
    assert of_attention(step) == [2, 2, 0]


def test_dropout_keeps_the_mean():
    """Weights are dropped, in each step anew: the mean over many steps is that of none."""
    torch.manual_seed(0)
    module = Heads(dropout_p=0.5)
    module.qkv.requires_grad_(True)
    x = torch.randn(64, 5, 16)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.0)
    step = aicf.torch.compile_step(module, lambda y: y.mean(), optimizer, [x], verify=False)
    losses = [float(step(x)) for _ in range(200)]
    expected = float(functools.partial(F.scaled_dot_product_attention)(
        *(part.unflatten(-1, (-1, 8)).transpose(1, 2)
          for part in module.qkv(x).split([32, 32, 32], -1))).mean())
    assert of_attention(step) == [1, 1, 0]
    assert len(set(losses)) == 200
    mean = sum(losses) / 200
    spread = (sum((loss - mean) ** 2 for loss in losses) / 200) ** 0.5
    assert abs(mean - expected) < 5 * spread / 200 ** 0.5
