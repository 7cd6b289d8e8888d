# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A torch.optim object as ours: its groups, their numbers, its state.

The numbers of a group (lr, weight decay, betas or momentum, eps) are one hyper of f32
on the device, "group0" and so on. They are read from optimizer.param_groups before
each call, so that schedulers work as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ..errors import InvalidArgumentError
from ..optim import Optimizer

#: What AICF cannot say of an optimizer's group: the name and its harmless values.
_REFUSED = {"amsgrad": (False,), "maximize": (False,), "differentiable": (False,),
            "dampening": (0, 0.0), "centered": (False,)}


def group_name(index: int) -> str:
    return "group%d" % index


def number_of(group: dict[str, Any], key: str, index: int, low: float = 0.0,
            below: float = math.inf) -> float:
    value = group[key]
    number = float(value)  # also of a 0-d tensor
    if not low <= number < below:
        raise InvalidArgumentError("param_groups[%d][%r] is %r, expected a number in "
                                   "[%g, %g)" % (index, key, value, low, below))
    return number


def _adam_numbers(group: dict[str, Any], index: int) -> list[float]:
    betas = group["betas"]
    rests = []
    for i in (0, 1):
        beta = float(betas[i])
        if not 0 <= beta < 1:
            raise InvalidArgumentError("param_groups[%d][\"betas\"] is %r, expected two "
                                       "numbers in [0, 1)" % (index, betas))
        rests.append(1 - beta)
    return [number_of(group, "lr", index), number_of(group, "weight_decay", index), *rests,
            number_of(group, "eps", index)]


def _sgd_numbers(group: dict[str, Any], index: int) -> list[float]:
    return [number_of(group, "lr", index), number_of(group, "weight_decay", index),
            number_of(group, "momentum", index)]


@dataclass(frozen=True, kw_only=True)
class Groups(Optimizer):
    """An optimizer whose numbers are hypers; `start` has those of each group."""

    kind: str = ""
    flags: tuple[tuple[str, bool], ...] = ()
    start: tuple[tuple[float, ...], ...] = ()
    lr: Any = field(default=0.0)

    def values(self, prefix: str) -> dict[str, Any]:
        import numpy as np
        return {group_name(i): np.asarray(numbers, "f4")
                for i, numbers in enumerate(self.start)}

    def attribute(self, rate: str = "lr") -> str:
        flags = "".join(", %s = %s" % (name, str(value).lower())
                        for name, value in self.flags)
        return "#aicf.%s<lr = \"%s\", clip_norm = %r, accumulate = %d%s>" % (
            self.kind, group_name(0), float(self.clip_norm), self.accumulate, flags)


class TorchOptimizer:
    """The user's optimizer.

    Attributes:
        optimizer: torch.optim.AdamW, Adam or SGD.
        ids: id() of every parameter that it has.
        group_of: the group's number, by id() of a parameter.
        state_names: PyTorch's names of what it keeps beside a parameter.
        lag_of: lags(), as the step was compiled with.
        is_adam: whether it counts the updates of each parameter.
        scalar_states: those that are one number for a parameter.
    """

    scalar_states: frozenset[str] = frozenset()

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self._check()
        self.group_of = {id(p): i for i, group in enumerate(optimizer.param_groups)
                         for p in group["params"]}
        self.ids = set(self.group_of)
        self.lag_of = self.lags() if self.is_adam else {}

    def _check(self) -> None:
        kind = type(self.optimizer)
        known = {torch.optim.AdamW: "adam", torch.optim.Adam: "adam",
                 torch.optim.SGD: "sgd"}
        if kind not in known:
            raise InvalidArgumentError(
                "the optimizer is a %s.%s; torch.optim.AdamW, Adam, SGD, RMSprop, Adagrad, "
                "Adadelta, Adamax, NAdam and RAdam can be compiled"
                % (kind.__module__, kind.__qualname__))
        self.is_adam = known[kind] == "adam"
        self._check_hooks()
        self._check_flags_of_all()

    def _check_hooks(self) -> None:
        for hooks in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"):
            if getattr(self.optimizer, hooks, None):
                raise InvalidArgumentError("the optimizer has hooks, which a compiled step "
                                           "would not call")

    def _check_flags_of_all(self) -> None:
        for i in range(len(self.optimizer.param_groups)):
            self._check_refused(i)
        self.is_l2 = self._flag("l2") if self.is_adam else False
        self.nesterov = False if self.is_adam else self._flag("nesterov")
        self.has_momentum = not self.is_adam and any(
            group["momentum"] != 0 for group in self.optimizer.param_groups)
        self.state_names = ["exp_avg", "exp_avg_sq"] if self.is_adam else \
            ["momentum_buffer"] if self.has_momentum else []

    def _check_refused(self, index: int) -> None:
        group = self.optimizer.param_groups[index]
        for key, harmless in _REFUSED.items():
            if group.get(key, harmless[0]) not in harmless:
                raise InvalidArgumentError(
                    "param_groups[%d][%r] is %r, which a compiled step does not do"
                    % (index, key, group[key]))

    def _flag(self, name: str) -> bool:
        """A flag that all groups have alike: an op has it, not a number on the device."""
        def of(group: dict[str, Any]) -> bool:
            if name == "l2":
                return not group.get("decoupled_weight_decay",
                                     type(self.optimizer) is torch.optim.AdamW)
            return bool(group[name])
        found = {of(group) for group in self.optimizer.param_groups}
        if len(found) > 1:
            raise InvalidArgumentError(
                "param_groups differ in %r, which all groups of a compiled step share"
                % ("decoupled_weight_decay" if name == "l2" else name))
        return found.pop()

    def description(self, clip_norm: float, accumulate: int) -> Groups:
        """What the compiler builds the update from."""
        if self.is_adam:
            kind, flags = "adam_groups", {"l2": self.is_l2}
        else:
            kind, flags = "sgd_groups", {"momentum": self.has_momentum,
                                         "nesterov": self.nesterov}
        start = tuple(tuple(self._numbers(i)) for i in range(len(
            self.optimizer.param_groups)))
        return Groups(kind=kind, flags=tuple(flags.items()), start=start, clip_norm=clip_norm,
                      accumulate=accumulate)

    def _numbers(self, index: int) -> list[float]:
        group = self.optimizer.param_groups[index]
        numbers = (_adam_numbers if self.is_adam else _sgd_numbers)(group, index)
        if not self.is_adam and numbers[2] and not self.has_momentum:
            raise InvalidArgumentError(
                "param_groups[%d][\"momentum\"] is %g, and was 0 in all groups when the "
                "step was compiled: it has no momentum" % (index, numbers[2]))
        return numbers

    def _keys(self) -> Sequence[str]:
        """What of a group a call of the step looks at."""
        return ("lr", "weight_decay", "betas", "eps", "amsgrad", "maximize") \
            if self.is_adam else \
            ("lr", "weight_decay", "momentum", "nesterov", "maximize", "dampening")

    def writer(self, write: Callable[[str, Any], None],
               used: Sequence[int]) -> Callable[[], None]:
        """A function that writes the numbers of groups that have changed since it was
        called last. Those in the plan, `used`, are asked."""
        import numpy as np
        groups = self.optimizer.param_groups
        keys = self._keys()
        seen: list[Any] = [None] * len(groups)
        count = len(groups)

        def refresh() -> None:
            now = self.optimizer.param_groups
            if len(now) != count:
                raise InvalidArgumentError(
                    "the optimizer has %d groups, and had %d when the step was compiled"
                    % (len(now), count))
            for i in used:
                group = now[i]
                found = [group[key] for key in keys]
                if found != seen[i]:
                    self._check_flags(i)
                    numbers = np.asarray(self._numbers(i), "f4")
                    write(group_name(i), numbers)
                    seen[i] = [float(v) if isinstance(v, torch.Tensor) else v
                               for v in found]
        return refresh

    def _check_flags(self, index: int) -> None:
        """What an op has and no number on the device may not change. Raises
        InvalidArgumentError."""
        self._check_refused(index)
        group = self.optimizer.param_groups[index]
        if not self.is_adam and bool(group["nesterov"]) != self.nesterov:
            raise InvalidArgumentError(
                "param_groups[%d][\"nesterov\"] is %r, and was %r when the step was compiled: "
                "compile it again" % (index, group["nesterov"], self.nesterov))

    # State, both ways

    def steps(self) -> int:
        """The most updates that a parameter has had."""
        return max(map(self._count, self._parameters()), default=0)

    def lags(self) -> dict[int, int]:
        """By id() of a parameter, how many updates fewer than steps() it has had: PyTorch
        counts for each, and one that was frozen at first starts later."""
        steps = self.steps()
        return {id(p): steps - self._count(p) for p in self._parameters()}

    def _parameters(self) -> list[Any]:
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def _count(self, parameter: Any) -> int:
        return int(self.optimizer.state.get(parameter, {}).get("step", 0))
