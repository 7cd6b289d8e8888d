# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of models.py in PyTorch, with the same names of parameters."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, width=64, hidden=32, latent=4):
        super().__init__()
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
    return (F.binary_cross_entropy_with_logits(y, x, reduction="none").sum(1) + kl).mean()


class DLRM(nn.Module):
    def __init__(self, rows=(11, 7, 5), width=8, numbers=3):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, width) for n in rows])
        self.bottom = nn.Linear(numbers, width)
        pairs = (len(rows) + 1) * len(rows) // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 16), nn.LeakyReLU(),
                                 nn.Linear(16, 1))

    def forward(self, dense, sparse):
        base = self.bottom(dense).relu()
        every = [base, *(table(sparse[:, i]) for i, table in enumerate(self.tables))]
        stacked = torch.stack(every, 1)
        products = stacked @ stacked.transpose(1, 2)
        below = [products[:, i, j].unsqueeze(1) for i in range(len(every))
                 for j in range(i)]
        return self.top(torch.cat([base, *below], 1)).squeeze(1)


def click(model, dense, sparse, target):
    return F.binary_cross_entropy_with_logits(model(dense, sparse), target,
                                              pos_weight=torch.tensor(2.0))


class NeRF(nn.Module):
    def __init__(self, bands=3, hidden=24):
        super().__init__()
        self.bands = bands
        self.fc1, self.fc2 = nn.Linear(6 * bands, hidden), nn.Linear(hidden, 4)

    def forward(self, points):
        scaled = torch.cat([points * (2.0 ** k) for k in range(self.bands)], -1)
        h = F.silu(self.fc1(torch.cat([scaled.sin(), scaled.cos()], -1)))
        out = self.fc2(h)
        density, color = F.softplus(out[..., 0]), out[..., 1:].sigmoid()
        alpha = 1 - (-density * 0.3).exp()
        seen = ((1 - alpha + 1e-6).log().cumsum(1) - (1 - alpha + 1e-6).log()).exp()
        return (color * (alpha * seen).unsqueeze(-1)).sum(1)


class BatchNormNet(nn.Module):
    def __init__(self, width=64, hidden=32, classes=10):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden, bias=False)
        self.bn1 = nn.BatchNorm1d(hidden)
        self.act, self.fc2 = nn.PReLU(hidden), nn.Linear(hidden, classes)

    def forward(self, x):
        return self.fc2(self.act(self.bn1(self.fc1(x))))


class SwiGLU(nn.Module):
    def __init__(self, width=64, hidden=48, classes=10):
        super().__init__()
        self.norm, self.gate = nn.RMSNorm(width), nn.Linear(width, hidden, bias=False)
        self.up, self.down = (nn.Linear(width, hidden, bias=False),
                              nn.Linear(hidden, width, bias=False))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.norm(x)
        return self.head(x + self.down(F.silu(self.gate(h)) * self.up(h)))


class SoftMixture(nn.Module):
    def __init__(self, width=64, hidden=16, classes=10, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList([nn.Linear(width, hidden) for _ in range(experts)])
        self.norm, self.head = nn.GroupNorm(4, hidden), nn.Linear(hidden, classes)

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        every = torch.stack([F.mish(expert(x)) for expert in self.experts], 1)
        return self.head(self.norm((every * weights.unsqueeze(-1)).sum(1)))


class TwoTowers(nn.Module):
    def __init__(self, width=64, dim=16):
        super().__init__()
        self.left, self.right = nn.Linear(width, dim), nn.Linear(width, dim)
        self.temperature = nn.Parameter(torch.tensor(float(np.log(10))))

    def forward(self, a, b):
        left, right = self.left(a), self.right(b)
        left = left / left.norm(dim=1, keepdim=True)
        right = right / right.norm(dim=1, keepdim=True)
        return (left @ right.T) * self.temperature.exp()


def contrast(model, a, b):
    logits = model(a, b)
    rows = torch.arange(logits.shape[0])
    return 0.5 * (F.cross_entropy(logits, rows) + F.cross_entropy(logits.T, rows))
