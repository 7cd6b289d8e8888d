# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are made of views, as people write them."""

import aicf
from aicf import nn, ops


def patches(x, size):
    """[batch, height, width] -> [batch, patches, size * size]."""
    batch, height, width = x.shape
    cut = x.reshape(batch, height // size, size, width // size, size)
    return cut.permute(0, 1, 3, 2, 4).reshape(batch, -1, size * size)


def feed_forward(width, hidden):
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU("tanh"),
                         nn.Linear(hidden, width))


class MixerBlock(nn.Module):
    """Tolstikhin et al. 2021: tokens are mixed, then channels."""

    def __init__(self, tokens, width, hidden, dtype):
        self.norm1, self.norm2 = nn.LayerNorm(width, dtype=dtype), nn.LayerNorm(
            width, dtype=dtype)
        self.tokens, self.channels = feed_forward(tokens, hidden), feed_forward(
            width, hidden)

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).swapaxes(1, 2)).swapaxes(1, 2)
        return x + self.channels(self.norm2(x))


class Mixer(nn.Module):
    """Classes of 8 x 8 images by way of 16 patches."""

    def __init__(self, width=16, blocks=2):
        self.embed = nn.Linear(4, width)
        self.blocks = nn.ModuleList([MixerBlock(16, width, 32, "f32")
                                     for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(patches(x, 2))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


class Attention(nn.Module):
    """Heads from one packed product, by hand."""

    def __init__(self, width, heads):
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        packed = self.qkv(x).reshape(batch, time, 3, self.heads, width // self.heads)
        q, k, v = packed.permute(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2) * (width // self.heads) ** -0.5
        heads = ops.softmax(scores) @ v
        return self.out(heads.transpose(1, 2).reshape(batch, time, width))


class Encoder(nn.Module):
    """A pre-norm block of a transformer."""

    def __init__(self, width, heads):
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = feed_forward(width, 2 * width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    """Dosovitskiy et al. 2020: a class token in front of the patches."""

    def __init__(self, width=16, heads=4, blocks=2):
        self.embed = nn.Linear(4, width)
        self.token = nn.Parameter((1, 1, width), init="normal:0.02")
        self.position = nn.Parameter((17, width), init="normal:0.02")
        self.blocks = nn.Sequential(*[Encoder(width, heads) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(patches(x, 2))
        token = self.token.broadcast_to(x.shape[0], 1, x.shape[2])
        x = self.blocks(aicf.concat([token, x], 1) + self.position)
        return self.head(self.norm(x)[:, 0])


class UNet(nn.Module):
    """Ronneberger et al. 2015, where a convolution's stride is its kernel: down by
    patches, up by the reverse, what was before beside what comes back."""

    def __init__(self, width=8):
        self.first = nn.Linear(1, width)
        self.down = nn.Linear(4 * width, 2 * width)
        self.middle = nn.Linear(2 * width, 2 * width)
        self.up = nn.Linear(2 * width, 4 * width)
        self.last = nn.Linear(2 * width, 1)

    def forward(self, x):
        batch, height, size = x.shape
        half = height // 2
        skip = ops.relu(self.first(x[..., None]))           # [b, h, w, width]
        cut = skip.reshape(batch, half, 2, half, 2, -1).permute(0, 1, 3, 2, 4, 5)
        y = ops.relu(self.down(cut.reshape(batch, half, half, -1)))
        y = y + ops.relu(self.middle(y))
        y = self.up(y).reshape(batch, half, half, 2, 2, -1).permute(0, 1, 3, 2, 4, 5)
        y = ops.relu(y.reshape(batch, height, size, -1))
        return self.last(aicf.concat([skip, y], -1)).squeeze(-1)


class Bilinear(nn.Module):
    """y[b, k] = sum over i and j of left[b, i] W[k, i, j] right[b, j]."""

    def __init__(self, left=32, right=32, out=10):
        self.weight = nn.Parameter((out, left, right), init="normal:0.05")
        self.bias = nn.Parameter((out,))

    def forward(self, x):
        left, right = x.reshape(x.shape[0], -1).chunk(2, 1)
        y = left @ self.weight                              # [out, batch, right]
        return (y * right).sum(-1).T + self.bias
