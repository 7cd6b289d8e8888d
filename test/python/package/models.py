# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are made of views, as people write them."""

import numpy as np

import aicf
from aicf import functional as F, nn, ops


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

    def __init__(self, width=16):
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


# Models of the vocabulary. Their PyTorch twins are in torch_models.py, under the same
# names.

class VAE(nn.Module):
    """Kingma & Welling 2013; `noise` instead of a draw, to be compared."""

    def __init__(self, width=64, hidden=32, latent=4):
        self.enc = nn.Linear(width, hidden)
        self.mean, self.logvar = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.dec1, self.dec2 = nn.Linear(latent, hidden), nn.Linear(hidden, width)

    def forward(self, x, noise):
        h = F.softplus(self.enc(x))
        mean, logvar = self.mean(h), self.logvar(h)
        z = mean + noise * (0.5 * logvar).exp()
        return self.dec2(F.elu(self.dec1(z))), mean, logvar


def elbo(model, x, noise):
    y, mean, logvar = model(x, noise)
    kl = -0.5 * (1 + logvar - mean ** 2 - logvar.exp()).sum(1)
    return (aicf.losses.binary_cross_entropy_with_logits(y, x, reduction="none").sum(1)
            + kl).mean()


class DLRM(nn.Module):
    """Naumov et al. 2019: tables, their products by pairs, numbers beside them."""

    def __init__(self, rows=(11, 7, 5), width=8, numbers=3):
        self.tables = nn.ModuleList([nn.Embedding(n, width) for n in rows])
        self.bottom = nn.Linear(numbers, width)
        pairs = (len(rows) + 1) * len(rows) // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 16), nn.LeakyReLU(),
                                 nn.Linear(16, 1))

    def forward(self, dense, sparse):
        base = self.bottom(dense).relu()
        every = [base, *(table(sparse[:, i]) for i, table in enumerate(self.tables))]
        stacked = aicf.stack(every, 1)
        products = stacked @ stacked.swapaxes(1, 2)
        below = [products[:, i, j].unsqueeze(1) for i in range(len(every))
                 for j in range(i)]
        return self.top(aicf.concat([base, *below], 1)).squeeze(1)


def click(model, dense, sparse, target):
    return aicf.losses.binary_cross_entropy_with_logits(
        model(dense, sparse), target, pos_weight=np.float32(2.0))


class NeRF(nn.Module):
    """Mildenhall et al. 2020: positions by sines, densities added along rays."""

    def __init__(self, bands=3, hidden=24):
        self.bands = bands
        self.fc1, self.fc2 = nn.Linear(6 * bands, hidden), nn.Linear(hidden, 4)

    def forward(self, points):
        scaled = aicf.concat([points * (2.0 ** k) for k in range(self.bands)], -1)
        h = F.silu(self.fc1(aicf.concat([scaled.sin(), scaled.cos()], -1)))
        out = self.fc2(h)
        density, color = F.softplus(out[..., 0]), out[..., 1:].sigmoid()
        alpha = 1 - (-density * 0.3).exp()
        seen = ((1 - alpha + 1e-6).log().cumsum(1) - (1 - alpha + 1e-6).log()).exp()
        return (color * (alpha * seen).unsqueeze(-1)).sum(1)


class BatchNormNet(nn.Module):
    def __init__(self, width=64, hidden=32, classes=10):
        self.fc1 = nn.Linear(width, hidden, bias=False)
        self.bn1 = nn.BatchNorm1d(hidden)
        self.act, self.fc2 = nn.PReLU(hidden), nn.Linear(hidden, classes)

    def forward(self, x):
        return self.fc2(self.act(self.bn1(self.fc1(x))))


class SwiGLU(nn.Module):
    """Shazeer 2020, behind an RMS norm."""

    def __init__(self, width=64, hidden=48, classes=10):
        self.norm, self.gate = nn.RMSNorm(width), nn.Linear(width, hidden, bias=False)
        self.up, self.down = (nn.Linear(width, hidden, bias=False),
                              nn.Linear(hidden, width, bias=False))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.norm(x)
        return self.head(x + self.down(F.silu(self.gate(h)) * self.up(h)))


class SoftMixture(nn.Module):
    """Experts that all run, weighted by a softmax."""

    def __init__(self, width=64, hidden=16, classes=10, experts=4):
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList([nn.Linear(width, hidden) for _ in range(experts)])
        self.norm, self.head = nn.GroupNorm(4, hidden), nn.Linear(hidden, classes)

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        every = aicf.stack([F.mish(expert(x)) for expert in self.experts], 1)
        return self.head(self.norm((every * weights.unsqueeze(-1)).sum(1)))


class TwoTowers(nn.Module):
    """A contrastive loss (Oord et al. 2018): a row belongs to the column of its own."""

    def __init__(self, width=64, dim=16):
        self.left, self.right = nn.Linear(width, dim), nn.Linear(width, dim)
        self.temperature = nn.Parameter((), init=float(np.log(10)))

    def forward(self, a, b):
        left, right = self.left(a), self.right(b)
        left = left / left.norm(axis=1, keepdim=True)
        right = right / right.norm(axis=1, keepdim=True)
        return (left @ right.T) * self.temperature.exp()


def contrast(model, a, b):
    logits = model(a, b)
    rows = np.arange(logits.shape[0])
    return 0.5 * (aicf.losses.cross_entropy(logits, rows)
                  + aicf.losses.cross_entropy(logits.T, rows))
