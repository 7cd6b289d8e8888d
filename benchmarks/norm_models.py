# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose norms and losses are made of primitives, as torch modules and as functions
of JAX: a gated MLP with RMSNorm, an MLP with BatchNorm, and a variational autoencoder.

A function of JAX takes the parameters by the names of the module's named_parameters(). That
of the BatchNorm net keeps no running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn


class GatedBlock(nn.Module):
    """Shazeer 2020 (SwiGLU), with the norm in front of Zhang and Sennrich 2019."""

    def __init__(self, width, hidden):
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class VariationalAutoencoder(nn.Module):
    """Kingma and Welling 2014; the noise is an input."""

    def __init__(self, width=784, hidden=400, latent=20):
        super().__init__()
        self.encode = nn.Linear(width, hidden)
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decode, self.out = nn.Linear(latent, hidden), nn.Linear(hidden, width)

    def forward(self, x, noise):
        hidden = F.relu(self.encode(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.exp(0.5 * log_variance) * noise
        return self.out(F.relu(self.decode(z))), mean, log_variance


def vae_loss(made, x):
    """Negative evidence lower bound of Bernoulli pixels, a mean over the batch."""
    logits, mean, log_variance = made
    pixels = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * (1 + log_variance - mean * mean - log_variance.exp()).sum()
    return (pixels + divergence) / x.shape[0]


# The same in JAX

def _linear(p, name, x):
    y = x @ p[name + ".weight"].T
    return y + p[name + ".bias"] if name + ".bias" in p else y


def jax_swiglu(p, x):
    import jax
    import jax.numpy as jnp
    depth = sum(n.endswith(".norm.weight") for n in p)
    for i in range(depth):
        name = "%d." % i
        scale = jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
        y = x * scale * p[name + "norm.weight"]
        hidden = jax.nn.silu(_linear(p, name + "gate", y)) * _linear(p, name + "up", y)
        x = x + _linear(p, name + "down", hidden)
    return _linear(p, str(depth), jnp.asarray(x))


def jax_batchnorm(p, x):
    import jax
    for i in (0, 3):
        y = _linear(p, str(i), x)
        centred = y - y.mean(0)
        scale = jax.lax.rsqrt((centred * centred).mean(0) + 1e-5)
        x = jax.nn.relu(centred * scale * p["%d.weight" % (i + 1)] + p["%d.bias" % (i + 1)])
    return _linear(p, "6", x)


def jax_vae(p, x, noise):
    import jax
    import jax.numpy as jnp
    hidden = jax.nn.relu(_linear(p, "encode", x))
    mean, log_variance = _linear(p, "mean", hidden), _linear(p, "log_variance", hidden)
    z = mean + jnp.exp(0.5 * log_variance) * noise
    logits = _linear(p, "out", jax.nn.relu(_linear(p, "decode", z)))
    return logits, mean, log_variance


def jax_vae_loss(made, x):
    import jax.numpy as jnp
    logits, mean, log_variance = made
    pixels = (jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-abs(logits)))).sum()
    divergence = -0.5 * (1 + log_variance - mean * mean - jnp.exp(log_variance)).sum()
    return (pixels + divergence) / x.shape[0]


JAX = {"swiglu": jax_swiglu, "batchnorm": jax_batchnorm, "vae": jax_vae}
JAX_LOSSES = {vae_loss: jax_vae_loss}


def _classes(batch, width):
    return [torch.randn(batch, width)], [torch.randint(0, 10, (batch,))]


def swiglu():
    return (nn.Sequential(*[GatedBlock(512, 1376) for _ in range(4)], nn.Linear(512, 10)),
            F.cross_entropy, *_classes(1024, 512))


def batchnorm():
    return (nn.Sequential(nn.Linear(784, 1024), nn.BatchNorm1d(1024), nn.ReLU(),
                          nn.Linear(1024, 1024), nn.BatchNorm1d(1024), nn.ReLU(),
                          nn.Linear(1024, 10)),
            F.cross_entropy, *_classes(512, 784))


def vae():
    return (VariationalAutoencoder(), vae_loss,
            [torch.rand(128, 784), torch.randn(128, 20)], [torch.rand(128, 784)])


MODELS = {f.__name__: f for f in (swiglu, batchnorm, vae)}
