# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models whose products are followed by functions that no library fuses, as torch
modules and as functions of JAX: MLPs with tanh, silu and gelu, and a recurrent cell.

A function of JAX takes the parameters by the names of the module's named_parameters().
"""

import torch
import torch.nn.functional as F
from torch import nn


class GRU(nn.Module):
    """Cho et al. 2014, unrolled over some steps, with a class at the end."""

    def __init__(self, width=64, hidden=128, steps=8, classes=10):
        super().__init__()
        self.steps, self.hidden = steps, hidden
        self.into = nn.Linear(width, 3 * hidden)
        self.gates = nn.Linear(hidden, 2 * hidden)
        self.candidate = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x, state):
        hidden = self.hidden
        for i in range(self.steps):
            update, reset, new = self.into(x[:, i]).split(hidden, -1)
            both = self.gates(state)
            update = torch.sigmoid(update + both[:, :hidden])
            reset = torch.sigmoid(reset + both[:, hidden:])
            new = torch.tanh(new + self.candidate(reset * state))
            state = (1 - update) * new + update * state
        return self.head(state)


def _linear(p, name, x):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def _jax_mlp(activation):
    def forward(p, x):
        import jax
        depth = sum(n.endswith(".weight") for n in p)
        for i in range(depth - 1):
            x = _linear(p, str(2 * i), x)
            x = jax.nn.gelu(x, approximate=False) if activation == "gelu" else \
                getattr(jax.nn, activation)(x)
        return _linear(p, str(2 * depth - 2), x)
    return forward


def jax_gru(p, x, state):
    import jax
    import jax.numpy as jnp
    hidden = state.shape[-1]
    for i in range(x.shape[1]):
        update, reset, new = jnp.split(_linear(p, "into", x[:, i]), 3, -1)
        both = _linear(p, "gates", state)
        update = jax.nn.sigmoid(update + both[:, :hidden])
        reset = jax.nn.sigmoid(reset + both[:, hidden:])
        new = jnp.tanh(new + _linear(p, "candidate", reset * state))
        state = (1 - update) * new + update * state
    return _linear(p, "head", state)


JAX = {"tanh_mlp": _jax_mlp("tanh"), "silu_mlp": _jax_mlp("silu"),
       "gelu_mlp": _jax_mlp("gelu"), "gru": jax_gru}


def _mlp(activation, widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


def tanh_mlp():
    return (_mlp(nn.Tanh, [64, 256, 256, 10]), F.cross_entropy, [torch.randn(128, 64)],
            [torch.randint(0, 10, (128,))])


def silu_mlp():
    return (_mlp(nn.SiLU, [64, 256, 256, 256, 10]), F.mse_loss, [torch.randn(256, 64)],
            [torch.randn(256, 10)])


def gelu_mlp():
    return (_mlp(nn.GELU, [64, 256, 256, 10]), F.cross_entropy, [torch.randn(128, 64)],
            [torch.randint(0, 10, (128,))])


def gru():
    return (GRU(), F.cross_entropy, [torch.randn(64, 8, 64), torch.zeros(64, 128)],
            [torch.randint(0, 10, (64,))])


MODELS = {f.__name__: f for f in (tanh_mlp, silu_mlp, gelu_mlp, gru)}
