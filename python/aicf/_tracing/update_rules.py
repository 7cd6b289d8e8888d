# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Update rules of PyTorch's optimizers (torch.optim 2.13), and Muon's.

A rule is a function (p, g, s, n, flags): a parameter, its gradient, its states by PyTorch's
names, the numbers ("lr", "step" from 1, ...: Python's or 0-d tensors), and what is fixed when
the step is compiled. It returns the new parameter and the new states. `aicf.optim` gives rules
numbers of Python's, and the import of torch optimizers those of its groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..nn import Buffer
from .custom import Custom
from .optimizers import Schedule
from .pointwise import maximum, where

_Values = Mapping[str, Any]
_Flags = frozenset[str]


@dataclass(frozen=True)
class Rule:
    """Attributes:
        apply: the function.
        numbers: names of its numbers, without "step".
        states: names of its states; of those behind a flag a pair (name, flag).
        scalars: states that PyTorch keeps as one number for a parameter.
        counts: whether PyTorch counts the updates of each parameter.
    """

    apply: Callable[..., tuple[Any, dict[str, Any]]]
    numbers: tuple[str, ...]
    states: tuple[str | tuple[str, str], ...]
    scalars: frozenset[str] = frozenset()
    counts: bool = True

    def states_for(self, flags: _Flags) -> list[str]:
        return [s if isinstance(s, str) else s[0] for s in self.states
                if isinstance(s, str) or s[1] in flags]


def _start(p: Any, g: Any, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    """The gradient to go down along, and the parameter, both with the weight decay."""
    g = -g if "maximize" in flags else g
    decay = n["weight_decay"]
    if isinstance(decay, (int, float)) and not decay:
        return p, g
    if "decoupled" in flags:
        return p * (1 - n["lr"] * decay), g
    return p, g + decay * p


def _rmsprop(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    p, g = _start(p, g, n, flags)
    square = n["alpha"] * s["square_avg"] + (1 - n["alpha"]) * g * g
    new = {"square_avg": square}
    if "centered" in flags:
        new["grad_avg"] = s["grad_avg"] + (1 - n["alpha"]) * (g - s["grad_avg"])
        square = square - new["grad_avg"] * new["grad_avg"]
    step = g / (square.sqrt() + n["eps"])
    if "momentum" in flags:
        step = new["momentum_buffer"] = n["momentum"] * s["momentum_buffer"] + step
    return p - n["lr"] * step, new


def _adagrad(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    p, g = _start(p, g, n, flags)
    total = s["sum"] + g * g
    rate = n["lr"] / (1 + (n["step"] - 1) * n["lr_decay"])
    return p - rate * g / (total.sqrt() + n["eps"]), {"sum": total}


def _adadelta(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    p, g = _start(p, g, n, flags)
    square = n["rho"] * s["square_avg"] + (1 - n["rho"]) * g * g
    step = (s["acc_delta"] + n["eps"]).sqrt() / (square + n["eps"]).sqrt() * g
    return p - n["lr"] * step, {
        "square_avg": square,
        "acc_delta": n["rho"] * s["acc_delta"] + (1 - n["rho"]) * step * step}


def _means(g: Any, s: _Values, n: _Values) -> tuple[Any, Any]:
    return (s["exp_avg"] + (1 - n["beta1"]) * (g - s["exp_avg"]),
            n["beta2"] * s["exp_avg_sq"] + (1 - n["beta2"]) * g * g)


def _adam(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    p, g = _start(p, g, n, flags)
    mean, square = _means(g, s, n)
    new = {"exp_avg": mean, "exp_avg_sq": square}
    if "amsgrad" in flags:
        square = new["max_exp_avg_sq"] = maximum(s["max_exp_avg_sq"], square)
    scale = square.sqrt() / (1 - n["beta2"] ** n["step"]) ** 0.5 + n["eps"]
    return p - n["lr"] / (1 - n["beta1"] ** n["step"]) * mean / scale, new


def _adamax(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    p, g = _start(p, g, n, flags)
    mean = s["exp_avg"] + (1 - n["beta1"]) * (g - s["exp_avg"])
    norm = maximum(n["beta2"] * s["exp_inf"], abs(g) + n["eps"])
    return p - n["lr"] / (1 - n["beta1"] ** n["step"]) * mean / norm, {
        "exp_avg": mean, "exp_inf": norm}


def _nadam(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    p, g = _start(p, g, n, flags)
    mean, square = _means(g, s, n)
    now, after = (n["beta1"] * (1 - 0.5 * 0.96 ** (step * n["momentum_decay"]))
                  for step in (n["step"], n["step"] + 1))
    product = s["mu_product"] * now
    scale = (square / (1 - n["beta2"] ** n["step"])).sqrt() + n["eps"]
    new = p - n["lr"] * (1 - now) / (1 - product) * g / scale \
        - n["lr"] * after / (1 - product * after) * mean / scale
    return new, {"exp_avg": mean, "exp_avg_sq": square, "mu_product": product}


def _length(beta: Any, step: Any) -> tuple[Any, Any]:
    """Returns 1 - beta^step and RAdam's length 2/(1-beta) - 1 - 2 step beta^step/(1-beta^step)
    in f32 (0-d). Where beta^step is near 1 the terms of the length cancel, and the Bernoulli
    series of u/expm1(u) with u = -step log(beta) gives it."""
    d = 1 - beta  # exact: beta is near 1
    u = -step * (math.log1p(-d) if isinstance(d, float) else (-d).log1p())
    series = step * (1 - u / 6 + u ** 3 / 360 - u ** 5 / 15120) \
        + d / 6 + d * d / 12 + 19 * d ** 3 / 360
    whole = 2 / d - 1 - 2 * step / u.expm1()
    return -(-u).expm1(), where(
        maximum(2 * u, 50 * d) < 1, series, whole)


def _radam(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    p, g = _start(p, g, n, flags)
    mean, square = _means(g, s, n)
    most = 2 / (1 - n["beta2"]) - 1
    taken, length = _length(n["beta2"], n["step"])
    inside = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
    rectified = (maximum(inside, 0.0) * taken).sqrt() / (square.sqrt() + n["eps"])
    move = mean / (1 - n["beta1"] ** n["step"])
    return p - n["lr"] * move * where(length > 5, rectified, 1.0), {
        "exp_avg": mean, "exp_avg_sq": square}


def _sgd(p: Any, g: Any, s: _Values, n: _Values, flags: _Flags) -> tuple[Any, Any]:
    """With dampening; the first momentum is the gradient."""
    p, g = _start(p, g, n, flags)
    if "momentum" not in flags:
        return p - n["lr"] * g, {}
    mean = where(n["step"] <= 1, g,
                 n["momentum"] * s["momentum_buffer"] + (1 - n["dampening"]) * g)
    step = g + n["momentum"] * mean if "nesterov" in flags else mean
    return p - n["lr"] * where(n["momentum"] == 0, g, step), {"momentum_buffer": mean}


_ADAM = ("lr", "weight_decay", "beta1", "beta2", "eps")
RULES: Mapping[str, Rule] = {
    "RMSprop": Rule(_rmsprop, ("lr", "weight_decay", "alpha", "eps", "momentum"),
                    ("square_avg", ("momentum_buffer", "momentum"), ("grad_avg", "centered"))),
    "Adagrad": Rule(_adagrad, ("lr", "weight_decay", "lr_decay", "eps"), ("sum",)),
    "Adadelta": Rule(_adadelta, ("lr", "weight_decay", "rho", "eps"),
                     ("square_avg", "acc_delta")),
    "Adam": Rule(_adam, _ADAM, ("exp_avg", "exp_avg_sq", ("max_exp_avg_sq", "amsgrad"))),
    "Adamax": Rule(_adamax, _ADAM, ("exp_avg", "exp_inf")),
    "NAdam": Rule(_nadam, (*_ADAM, "momentum_decay"), ("exp_avg", "exp_avg_sq", "mu_product"),
                  frozenset({"mu_product"})),
    "RAdam": Rule(_radam, _ADAM, ("exp_avg", "exp_avg_sq")),
    "SGD": Rule(_sgd, ("lr", "weight_decay", "momentum", "dampening"),
                (("momentum_buffer", "momentum"),), counts=False),
}


def _made(name: str, lr: float | Schedule, clip_norm: float, numbers: Mapping[str, float],
          flags: Mapping[str, bool], first: Mapping[str, float] | None = None) -> Custom:
    rule, on = RULES[name], frozenset(flag for flag, is_on in flags.items() if is_on)

    def update(p: Any, g: Any, states: _Values, own: _Values) -> Any:
        return rule.apply(p, g, states, {**numbers, **own}, on)
    starts: dict[str, Any] = dict.fromkeys(rule.states_for(on), "zeros")
    starts.update((state, Buffer((), init="ones")) for state in rule.scalars)
    return Custom(lr, update=update, states={**starts, **(first or {})}, clip_norm=clip_norm)


def _betas(betas: tuple[float, float]) -> dict[str, float]:
    return {"beta1": float(betas[0]), "beta2": float(betas[1])}


def RMSprop(lr: float | Schedule = 1e-2, *, alpha: float = 0.99, eps: float = 1e-8,
            weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False,
            clip_norm: float = 0.0) -> Custom:
    """RMSprop (Hinton 2012), as torch.optim.RMSprop."""
    return _made("RMSprop", lr, clip_norm, {
        "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum},
        {"momentum": momentum != 0, "centered": centered})


def Adagrad(lr: float | Schedule = 1e-2, *, lr_decay: float = 0.0, weight_decay: float = 0.0,
            initial_accumulator_value: float = 0.0, eps: float = 1e-10,
            clip_norm: float = 0.0) -> Custom:
    """Adagrad (Duchi, Hazan, Singer 2011), as torch.optim.Adagrad."""
    return _made("Adagrad", lr, clip_norm, {
        "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps}, {},
        {"sum": float(initial_accumulator_value)})


def Adadelta(lr: float | Schedule = 1.0, *, rho: float = 0.9, eps: float = 1e-6,
             weight_decay: float = 0.0, clip_norm: float = 0.0) -> Custom:
    """Adadelta (Zeiler 2012), as torch.optim.Adadelta."""
    return _made("Adadelta", lr, clip_norm, {
        "rho": rho, "eps": eps, "weight_decay": weight_decay}, {})


def Adamax(lr: float | Schedule = 2e-3, *, betas: tuple[float, float] = (0.9, 0.999),
           eps: float = 1e-8, weight_decay: float = 0.0, clip_norm: float = 0.0) -> Custom:
    """Adamax (Kingma, Ba 2015), as torch.optim.Adamax."""
    return _made("Adamax", lr, clip_norm, {
        **_betas(betas), "eps": eps, "weight_decay": weight_decay}, {})


def NAdam(lr: float | Schedule = 2e-3, *, betas: tuple[float, float] = (0.9, 0.999),
          eps: float = 1e-8, weight_decay: float = 0.0, momentum_decay: float = 4e-3,
          decoupled_weight_decay: bool = False, clip_norm: float = 0.0) -> Custom:
    """NAdam (Dozat 2016), as torch.optim.NAdam."""
    return _made("NAdam", lr, clip_norm, {
        **_betas(betas), "eps": eps, "weight_decay": weight_decay,
        "momentum_decay": momentum_decay}, {"decoupled": decoupled_weight_decay})


def RAdam(lr: float | Schedule = 1e-3, *, betas: tuple[float, float] = (0.9, 0.999),
          eps: float = 1e-8, weight_decay: float = 0.0, decoupled_weight_decay: bool = False,
          clip_norm: float = 0.0) -> Custom:
    """RAdam (Liu et al. 2020), as torch.optim.RAdam."""
    return _made("RAdam", lr, clip_norm, {
        **_betas(betas), "eps": eps, "weight_decay": weight_decay},
        {"decoupled": decoupled_weight_decay})


def _norm(x: Any) -> Any:
    return (x * x).sum().sqrt()


def Lamb(lr: float | Schedule = 1e-3, *, betas: tuple[float, float] = (0.9, 0.999),
         eps: float = 1e-6, weight_decay: float = 0.0, clip_norm: float = 0.0) -> Custom:
    """LAMB (You et al. 2019), as optax.lamb: Adam's step with the length of the parameter,
    where neither has the length 0."""
    own_betas = _betas(betas)
    beta1, beta2 = own_betas.values()

    def update(p: Any, g: Any, s: _Values, n: _Values) -> Any:
        mean, square = _means(g, s, own_betas)
        step = mean / (1 - beta1 ** n["step"]) / (
            (square / (1 - beta2 ** n["step"])).sqrt() + eps)
        decay = n.get("weight_decay", weight_decay)
        step = step + decay * p if decay else step
        own, length = _norm(p), _norm(step)
        ratio = where(own == 0, 1.0, where(length == 0, 1.0, own / length))
        return p - n["lr"] * ratio * step, {"exp_avg": mean, "exp_avg_sq": square}
    return Custom(lr, update=update, clip_norm=clip_norm,
                  states={"exp_avg": "zeros", "exp_avg_sq": "zeros"})


def NovoGrad(lr: float | Schedule = 1e-3, *, betas: tuple[float, float] = (0.9, 0.25),
             eps: float = 1e-6, weight_decay: float = 0.0, clip_norm: float = 0.0) -> Custom:
    """NovoGrad (Ginsburg et al. 2019), as optax.novograd: gradients are divided by the mean
    of their length, one number for each parameter."""
    beta1, beta2 = map(float, betas)

    def update(p: Any, g: Any, s: _Values, n: _Values) -> Any:
        is_first, square = n["step"] == 1, (g * g).sum()
        mean = where(is_first, square, beta2 * s["norm_sq"] + (1 - beta2) * square)
        step = g / (mean.sqrt() + eps)
        decay = n.get("weight_decay", weight_decay)
        step = step + decay * p if decay else step
        step = beta1 * s["exp_avg"] + step  # which begins with 0
        return p - n["lr"] * step, {"exp_avg": step, "norm_sq": mean}
    return Custom(lr, update=update, clip_norm=clip_norm,
                  states={"exp_avg": "zeros", "norm_sq": Buffer((), "f32")})


def _orthogonal(x: Any, steps: int) -> Any:
    is_tall = x.shape[0] > x.shape[1]
    x = x.T + 0 if is_tall else x
    x = x / ((x * x).sum().sqrt() + 1e-7)
    for _ in range(steps):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
    return x.T + 0 if is_tall else x


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
    def update(p: Any, g: Any, states: _Values, n: _Values) -> Any:
        hidden = len(p.shape) == 2 if is_hidden is None else is_hidden(n["name"], p.shape)
        if not hidden:
            new, own = _adam(p, g, {"exp_avg": states["momentum_buffer"],
                                    "exp_avg_sq": states["exp_avg_sq"]}, {
                "lr": n["lr"] * adam_lr, "step": n["step"], "beta1": 0.9, "beta2": 0.95,
                "eps": 1e-8, "weight_decay": weight_decay}, frozenset({"decoupled"}))
            return new, {"momentum_buffer": own["exp_avg"], "exp_avg_sq": own["exp_avg_sq"]}
        mean = momentum * states["momentum_buffer"] + (1 - momentum) * g
        move = _orthogonal(momentum * mean + (1 - momentum) * g if nesterov else mean, steps)
        scale = max(1.0, p.shape[0] / p.shape[1]) ** 0.5
        return p * (1 - n["lr"] * weight_decay) - n["lr"] * scale * move, {
            "momentum_buffer": mean, "exp_avg_sq": states["exp_avg_sq"]}
    return Custom(lr, update=update, clip_norm=clip_norm,
                  states={"momentum_buffer": "zeros", "exp_avg_sq": "zeros"})
