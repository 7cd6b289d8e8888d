# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are made of views, as torch modules and as functions of JAX: an MLP-Mixer,
a vision transformer, a U-net of patches, and attention by hand.

A function of JAX takes the parameters by the names of the module's state_dict().
"""

import torch
import torch.nn.functional as F
from torch import nn


class Mixer(nn.Module):
    """Tolstikhin et al. 2021, without dropout: patches of 4 x 4 of a 32 x 32 image."""

    def __init__(self, width=128, depth=4, patches=64, classes=10):
        super().__init__()
        self.embed = nn.Conv2d(3, width, 4, 4)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * depth))
        self.tokens = nn.ModuleList(nn.Sequential(
            nn.Linear(patches, width), nn.GELU(), nn.Linear(width, patches))
            for _ in range(depth))
        self.channels = nn.ModuleList(nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        for i, (tokens, channels) in enumerate(zip(self.tokens, self.channels)):
            x = x + tokens(self.norms[2 * i](x).transpose(1, 2)).transpose(1, 2)
            x = x + channels(self.norms[2 * i + 1](x))
        return self.head(x.mean(1))


class Attention(nn.Module):
    """Heads from one packed product, without a fused kernel."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        packed = self.qkv(x).reshape(batch, time, 3, self.heads, width // self.heads)
        q, k, v = packed.permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5
        heads = torch.softmax(scores, -1) @ v
        return self.out(heads.transpose(1, 2).reshape(batch, time, width))


class Encoder(nn.Module):
    """A pre-norm block of a transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class ViT(nn.Module):
    """Dosovitskiy et al. 2020: a class token in front of the patches."""

    def __init__(self, width=192, heads=3, depth=4, patches=64, classes=10):
        super().__init__()
        self.embed = nn.Conv2d(3, width, 4, 4)
        self.token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.position = nn.Parameter(0.02 * torch.randn(patches + 1, width))
        self.blocks = nn.ModuleList(Encoder(width, heads) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class Encoders(nn.Module):
    """Two blocks with attention by hand, and the mean of what they make."""

    def __init__(self, width=256, heads=8, depth=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(Encoder(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


class UNet(nn.Module):
    """Ronneberger et al. 2015, where a convolution's stride is its kernel: down by
    patches, up by the reverse, what was before beside what comes back."""

    def __init__(self, width=32):
        super().__init__()
        self.first, self.down = nn.Linear(1, width), nn.Linear(4 * width, 2 * width)
        self.middle = nn.Linear(2 * width, 2 * width)
        self.up, self.last = nn.Linear(2 * width, 4 * width), nn.Linear(2 * width, 1)

    def forward(self, x):
        batch, height, size = x.shape
        half = height // 2
        skip = F.relu(self.first(x[..., None]))
        cut = skip.reshape(batch, half, 2, half, 2, -1).permute(0, 1, 3, 2, 4, 5)
        y = F.relu(self.down(cut.reshape(batch, half, half, -1)))
        y = y + F.relu(self.middle(y))
        y = self.up(y).reshape(batch, half, half, 2, 2, -1).permute(0, 1, 3, 2, 4, 5)
        y = F.relu(y.reshape(batch, height, size, -1))
        return self.last(torch.cat([skip, y], -1)).squeeze(-1)


# The same in JAX

def _linear(p, name, x):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def _norm(p, name, x):
    import jax.numpy as jnp
    centred = x - x.mean(-1, keepdims=True)
    scale = jnp.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    return centred / scale * p[name + ".weight"] + p[name + ".bias"]


def _gelu(x):
    import jax
    return jax.nn.gelu(x, approximate=False)


def _embed(p, x):
    """A convolution whose stride is its kernel, as a product of patches."""
    batch, channels, height, width = x.shape
    cut = x.reshape(batch, channels, height // 4, 4, width // 4, 4)
    cut = cut.transpose(0, 2, 4, 1, 3, 5).reshape(batch, -1, channels * 16)
    weight = p["embed.weight"]
    return cut @ weight.reshape(weight.shape[0], -1).T + p["embed.bias"]


def _encoder(p, name, x, heads):
    import jax
    batch, time, width = x.shape
    packed = _linear(p, name + ".attention.qkv", _norm(p, name + ".norm1", x))
    q, k, v = packed.reshape(batch, time, 3, heads, width // heads).transpose(
        2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) * (width // heads) ** -0.5
    made = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + _linear(p, name + ".attention.out", made)
    hidden = _gelu(_linear(p, name + ".up", _norm(p, name + ".norm2", x)))
    return x + _linear(p, name + ".down", hidden)


def jax_mixer(p, x):
    def mlp(name, x):
        return _linear(p, name + ".2", _gelu(_linear(p, name + ".0", x)))
    x = _embed(p, x)
    depth = sum(n.startswith("tokens.") and n.endswith(".0.bias") for n in p)
    for i in range(depth):
        turned = _norm(p, "norms.%d" % (2 * i), x).swapaxes(1, 2)
        x = x + mlp("tokens.%d" % i, turned).swapaxes(1, 2)
        x = x + mlp("channels.%d" % i, _norm(p, "norms.%d" % (2 * i + 1), x))
    return _linear(p, "head", x.mean(1))


def _depth(p):
    return sum(n.endswith(".up.bias") for n in p)


def jax_vit(p, x):
    import jax.numpy as jnp
    x = _embed(p, x)
    token = jnp.broadcast_to(p["token"], (x.shape[0], 1, x.shape[2]))
    x = jnp.concatenate([token, x], 1) + p["position"]
    for i in range(_depth(p)):
        x = _encoder(p, "blocks.%d" % i, x, 3)
    return _linear(p, "head", _norm(p, "norm", x)[:, 0])


def jax_attention(p, x):
    for i in range(_depth(p)):
        x = _encoder(p, "blocks.%d" % i, x, 8)
    return _linear(p, "head", x.mean(1))


def jax_unet(p, x):
    import jax
    import jax.numpy as jnp
    relu = jax.nn.relu
    batch, height, size = x.shape
    half = height // 2
    skip = relu(_linear(p, "first", x[..., None]))
    cut = skip.reshape(batch, half, 2, half, 2, -1).transpose(0, 1, 3, 2, 4, 5)
    y = relu(_linear(p, "down", cut.reshape(batch, half, half, -1)))
    y = y + relu(_linear(p, "middle", y))
    y = _linear(p, "up", y).reshape(batch, half, half, 2, 2, -1)
    y = relu(y.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height, size, -1))
    return _linear(p, "last", jnp.concatenate([skip, y], -1))[..., 0]


JAX = {"mixer": jax_mixer, "large_mixer": jax_mixer, "vit": jax_vit,
       "attention": jax_attention, "unet": jax_unet}


def _images(batch):
    return [torch.randn(batch, 3, 32, 32)], [torch.randint(0, 10, (batch,))]


def mixer():
    return (Mixer(), F.cross_entropy, *_images(128))


def large_mixer():
    return (Mixer(512, 8), F.cross_entropy, *_images(128))


def vit():
    return (ViT(), F.cross_entropy, *_images(128))


def attention():
    return (Encoders(), F.cross_entropy, [torch.randn(32, 128, 256)],
            [torch.randint(0, 10, (32,))])


def unet():
    return (UNet(), F.mse_loss, [torch.randn(64, 64, 64)], [torch.randn(64, 64, 64)])


MODELS = {f.__name__: f for f in (mixer, large_mixer, vit, attention, unet)}
