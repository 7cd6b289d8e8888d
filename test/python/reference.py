# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An MLP with MSE loss, Adam and SGD in NumPy, written from the formulas:
Kingma & Ba 2015 (Adam), Loshchilov & Hutter 2019 (decoupled decay), Sutskever et
al. 2013 (momentum). Knows nothing of AICF."""

import numpy as np


def forward(params, x, layers):
    """Pre-activations and activations, input first."""
    activations, pre = [x], []
    for i in range(layers):
        z = activations[-1] @ params["fc%d.weight" % i].T + params["fc%d.bias" % i]
        pre.append(z)
        activations.append(z if i == layers - 1 else np.maximum(z, 0))
    return pre, activations


def loss(params, x, target, layers):
    return np.mean((forward(params, x, layers)[1][-1] - target) ** 2)


def gradients(params, x, target, layers):
    pre, activations = forward(params, x, layers)
    delta = 2 * (activations[-1] - target) / target.size
    grads = {}
    for i in reversed(range(layers)):
        grads["fc%d.weight" % i] = delta.T @ activations[i]
        grads["fc%d.bias" % i] = delta.sum(axis=0)
        if i:
            delta = (delta @ params["fc%d.weight" % i]) * (pre[i - 1] > 0)
    return grads


def adam(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.0):
    state["t"] = state.get("t", 0) + 1
    for name, g in grads.items():
        m = state.setdefault("m", {}).get(name, np.zeros_like(g))
        v = state.setdefault("v", {}).get(name, np.zeros_like(g))
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        state["m"][name], state["v"][name] = m, v
        corrected_m = m / (1 - beta1 ** state["t"])
        corrected_v = v / (1 - beta2 ** state["t"])
        params[name] = params[name] - lr * decay * params[name]
        params[name] = params[name] - lr * corrected_m / (np.sqrt(corrected_v) + eps)


def sgd(params, grads, state, lr, momentum=0.0, nesterov=False, decay=0.0):
    for name, g in grads.items():
        g = g + decay * params[name]
        v = momentum * state.get(name, np.zeros_like(g)) + g
        state[name] = v
        params[name] = params[name] - lr * (g + momentum * v if nesterov else v)
