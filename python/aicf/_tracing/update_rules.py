# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of PyTorch as functions: what aicf.optim.Custom calls. Defaults and formulas are
PyTorch's (torch.optim 2.13); each may also be read as an example of how one is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .custom import Custom
from .optimizers import Schedule
from .pointwise import maximum, where

_States = Mapping[str, Any]


def _decayed(p: Any, g: Any, decay: float) -> Any:
    return g + decay * p if decay else g


def _made(lr: float | Schedule, update: Callable[..., Any], states: _States,
          clip_norm: float) -> Custom:
    return Custom(lr, update=update, states=states, clip_norm=clip_norm)


def RMSprop(lr: float | Schedule = 1e-2, *, alpha: float = 0.99, eps: float = 1e-8,
            weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False,
            clip_norm: float = 0.0) -> Custom:
    """RMSprop (Hinton 2012), as torch.optim.RMSprop."""
    def update(p: Any, g: Any, states: _States, numbers: _States) -> Any:
        g = _decayed(p, g, weight_decay)
        square = alpha * states["square_avg"] + (1 - alpha) * g * g
        new = {"square_avg": square}
        if centered:
            new["grad_avg"] = states["grad_avg"] + (1 - alpha) * (g - states["grad_avg"])
            square = square - new["grad_avg"] * new["grad_avg"]
        step = g / (square.sqrt() + eps)
        if momentum:
            step = new["momentum_buffer"] = momentum * states["momentum_buffer"] + step
        return p - numbers["lr"] * step, new
    states = {"square_avg": "zeros"}
    if momentum:
        states["momentum_buffer"] = "zeros"
    if centered:
        states["grad_avg"] = "zeros"
    return _made(lr, update, states, clip_norm)


def Adagrad(lr: float | Schedule = 1e-2, *, lr_decay: float = 0.0, weight_decay: float = 0.0,
            initial_accumulator_value: float = 0.0, eps: float = 1e-10,
            clip_norm: float = 0.0) -> Custom:
    """Adagrad (Duchi, Hazan, Singer 2011), as torch.optim.Adagrad."""
    def update(p: Any, g: Any, states: _States, numbers: _States) -> Any:
        g = _decayed(p, g, weight_decay)
        total = states["sum"] + g * g
        rate = numbers["lr"] / (1 + (numbers["step"] - 1) * lr_decay)
        return p - rate * g / (total.sqrt() + eps), {"sum": total}
    return _made(lr, update, {"sum": float(initial_accumulator_value)}, clip_norm)


def Adadelta(lr: float | Schedule = 1.0, *, rho: float = 0.9, eps: float = 1e-6,
             weight_decay: float = 0.0, clip_norm: float = 0.0) -> Custom:
    """Adadelta (Zeiler 2012), as torch.optim.Adadelta."""
    def update(p: Any, g: Any, states: _States, numbers: _States) -> Any:
        g = _decayed(p, g, weight_decay)
        square = rho * states["square_avg"] + (1 - rho) * g * g
        step = (states["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
        return p - numbers["lr"] * step, {
            "square_avg": square, "acc_delta": rho * states["acc_delta"] + (1 - rho) * step * step}
    return _made(lr, update, {"square_avg": "zeros", "acc_delta": "zeros"}, clip_norm)


def Adamax(lr: float | Schedule = 2e-3, *, betas: tuple[float, float] = (0.9, 0.999),
           eps: float = 1e-8, weight_decay: float = 0.0, clip_norm: float = 0.0) -> Custom:
    """Adamax (Kingma, Ba 2015), as torch.optim.Adamax."""
    def update(p: Any, g: Any, states: _States, numbers: _States) -> Any:
        g = _decayed(p, g, weight_decay)
        mean = betas[0] * states["exp_avg"] + (1 - betas[0]) * g
        norm = maximum(betas[1] * states["exp_inf"], abs(g) + eps)
        rate = numbers["lr"] / (1 - betas[0] ** numbers["step"])
        return p - rate * mean / norm, {"exp_avg": mean, "exp_inf": norm}
    return _made(lr, update, {"exp_avg": "zeros", "exp_inf": "zeros"}, clip_norm)


def NAdam(lr: float | Schedule = 2e-3, *, betas: tuple[float, float] = (0.9, 0.999),
          eps: float = 1e-8, weight_decay: float = 0.0, momentum_decay: float = 4e-3,
          clip_norm: float = 0.0) -> Custom:
    """NAdam (Dozat 2016), as torch.optim.NAdam. The product of the momenta is kept as its
    logarithm, one for each parameter."""
    def momentum(step: Any) -> Any:
        return betas[0] * (1 - 0.5 * 0.96 ** (step * momentum_decay))

    def update(p: Any, g: Any, states: _States, numbers: _States) -> Any:
        g = _decayed(p, g, weight_decay)
        step = numbers["step"]
        now, after = momentum(step), momentum(step + 1)
        product = states["mu_product"] * now
        mean = betas[0] * states["exp_avg"] + (1 - betas[0]) * g
        square = betas[1] * states["exp_avg_sq"] + (1 - betas[1]) * g * g
        scale = (square / (1 - betas[1] ** step)).sqrt() + eps
        new = p - numbers["lr"] * (1 - now) / (1 - product) * g / scale \
            - numbers["lr"] * after / (1 - product * after) * mean / scale
        return new, {"exp_avg": mean, "exp_avg_sq": square, "mu_product": product}
    return _made(lr, update, {"exp_avg": "zeros", "exp_avg_sq": "zeros",
                              "mu_product": "ones"}, clip_norm)


def RAdam(lr: float | Schedule = 1e-3, *, betas: tuple[float, float] = (0.9, 0.999),
          eps: float = 1e-8, weight_decay: float = 0.0, clip_norm: float = 0.0) -> Custom:
    """RAdam (Liu et al. 2020), as torch.optim.RAdam."""
    most = 2 / (1 - betas[1]) - 1

    def update(p: Any, g: Any, states: _States, numbers: _States) -> Any:
        g = _decayed(p, g, weight_decay)
        step = numbers["step"]
        mean = betas[0] * states["exp_avg"] + (1 - betas[0]) * g
        square = betas[1] * states["exp_avg_sq"] + (1 - betas[1]) * g * g
        left = betas[1] ** step
        length = most - 2 * step * left / (1 - left)
        inside = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
        rectified = maximum(inside, 0.0).sqrt() * (1 - left).sqrt() / (square.sqrt() + eps)
        move = mean / (1 - betas[0] ** step)
        return p - numbers["lr"] * move * where(length > 5, rectified, 1.0), {
            "exp_avg": mean, "exp_avg_sq": square}
    return _made(lr, update, {"exp_avg": "zeros", "exp_avg_sq": "zeros"}, clip_norm)


def Muon(lr: float | Schedule = 2e-2, *, momentum: float = 0.95, nesterov: bool = True,
         weight_decay: float = 0.0, steps: int = 5, adam_lr: float = 0.15,
         is_hidden: Callable[[str, tuple[int, ...]], bool] | None = None,
         clip_norm: float = 0.0) -> Custom:
    """Muon (Jordan et al. 2024): the momentum of a hidden matrix is made orthogonal by
    Newton-Schulz steps; everything else is updated by Adam (betas 0.9 and 0.95).

    Args:
        steps: Newton-Schulz steps, with the coefficients of the authors.
        adam_lr: the rate of what is not hidden, as a part of lr.
        is_hidden: whether a parameter of that name and shape is a hidden matrix; the
            default are all with 2 dimensions.
    """
    def orthogonal(x: Any) -> Any:
        is_tall = x.shape[0] > x.shape[1]
        x = x.T + 0 if is_tall else x
        x = x / ((x * x).sum().sqrt() + 1e-7)
        for _ in range(steps):
            a = x @ x.T
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
        return x.T + 0 if is_tall else x

    def update(p: Any, g: Any, states: _States, numbers: _States) -> Any:
        rate, step = numbers["lr"], numbers["step"]
        hidden = len(p.shape) == 2 if is_hidden is None \
            else is_hidden(numbers["name"], p.shape)
        if hidden:
            mean = momentum * states["momentum_buffer"] + (1 - momentum) * g
            move = orthogonal(momentum * mean + (1 - momentum) * g if nesterov else mean)
            scale = max(1.0, p.shape[0] / p.shape[1]) ** 0.5
            return p * (1 - rate * weight_decay) - rate * scale * move, {
                "momentum_buffer": mean, "exp_avg_sq": states["exp_avg_sq"]}
        mean = 0.9 * states["momentum_buffer"] + 0.1 * g
        square = 0.95 * states["exp_avg_sq"] + 0.05 * g * g
        move = mean / (1 - 0.9 ** step) / ((square / (1 - 0.95 ** step)).sqrt() + 1e-8)
        return p * (1 - rate * adam_lr * weight_decay) - rate * adam_lr * move, {
            "momentum_buffer": mean, "exp_avg_sq": square}
    return _made(lr, update, {"momentum_buffer": "zeros", "exp_avg_sq": "zeros"}, clip_norm)
