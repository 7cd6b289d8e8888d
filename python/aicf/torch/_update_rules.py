# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of torch that are update rules, not ops: RMSprop, Adagrad and others, and Adam
and SGD with what the ops do not have. The rules are aicf.optim's; the numbers of a group are
one hyper of f32, as those of other optimizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from .._tracing.custom import Custom
from .._tracing.update_rules import RULES, Rule
from ..errors import InvalidArgumentError
from ._optimizer import TorchOptimizer, group_name, number_of

if TYPE_CHECKING:
    from .._tracing.tensor import Tensor
    from .._tracing.trace import EntryTrace

#: Names of rules, by the class of the optimizer.
_KINDS = {torch.optim.RMSprop: "RMSprop", torch.optim.Adagrad: "Adagrad",
          torch.optim.Adadelta: "Adadelta", torch.optim.Adamax: "Adamax",
          torch.optim.NAdam: "NAdam", torch.optim.RAdam: "RAdam", torch.optim.Adam: "Adam",
          torch.optim.AdamW: "Adam", torch.optim.SGD: "SGD"}
#: Options of a group that are flags of a rule: what a number may not say.
_FLAGS = {"centered": "centered", "amsgrad": "amsgrad", "maximize": "maximize",
          "nesterov": "nesterov", "decoupled_weight_decay": "decoupled"}


def takes_rule(optimizer: Any) -> bool:
    """Whether an op of an optimizer does not do what this one does."""
    kind = type(optimizer)
    if kind not in _KINDS:
        return False
    if kind not in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD):
        return True
    return any(group.get("amsgrad") or group.get("maximize") or group.get("dampening")
               for group in optimizer.param_groups)


@dataclass(frozen=True, kw_only=True)
class RuleGroups(Custom):
    """A rule whose numbers are hypers; `start` has those of each group."""

    rule: Rule
    flags: frozenset[str]
    start: tuple[tuple[float, ...], ...]

    def values(self, prefix: str) -> dict[str, Any]:
        import numpy as np
        return {group_name(i): np.asarray(numbers, "f4")
                for i, numbers in enumerate(self.start)}

    def _numbers(self, trace: EntryTrace, number: Tensor, prefix: str,
                 owner: Any) -> Mapping[str, Any]:
        group = trace.hypers_of(owner.group, len(self.rule.numbers))
        found = {name: group[i].astype(owner.dtype)
                 for i, name in enumerate(self.rule.numbers)}
        return {**found, "step": number.astype(owner.dtype)}


class ByRule(TorchOptimizer):
    """The user's optimizer, as a rule."""

    def _check(self) -> None:
        name = _KINDS[type(self.optimizer)]
        self.rule = RULES[name]
        self.is_adam = self.rule.counts
        self._check_hooks()
        found = [self._flags_of(i) for i in range(len(self.optimizer.param_groups))]
        if len(set(found)) > 1:
            raise InvalidArgumentError(
                "param_groups differ in %s, which all groups of a compiled step share"
                % ", ".join(sorted(frozenset.union(*found) - frozenset.intersection(*found))))
        has_momentum = any(group.get("momentum") for group in self.optimizer.param_groups)
        self.flags = found[0] | ({"momentum"} if has_momentum else frozenset())
        self.has_momentum = has_momentum
        self.state_names = self.rule.states_for(self.flags)
        self.scalar_states = self.rule.scalars
        if len(set(self.lags().values())) > 1:
            raise InvalidArgumentError("parameters have had different numbers of updates, "
                                       "which %s of a compiled step does not count" % name)

    def _flags_of(self, index: int) -> frozenset[str]:
        group = self.optimizer.param_groups[index]
        if group.get("differentiable"):
            raise InvalidArgumentError("param_groups[%d]['differentiable'] is True, which a "
                                       "compiled step does not do" % index)
        found = {flag for key, flag in _FLAGS.items() if group.get(key)}
        if type(self.optimizer) is torch.optim.AdamW:
            found.add("decoupled")
        return frozenset(found)

    def description(self, clip_norm: float, accumulate: int) -> Any:
        rule, flags = self.rule, self.flags

        def update(p: Any, g: Any, states: Any, numbers: Any) -> Any:
            return rule.apply(p, g, states, numbers, flags)
        starts: dict[str, Any] = {state: "ones" if state in rule.scalars else "zeros"
                                  for state in self.state_names}
        return RuleGroups(
            0.0, update=update, states=starts, rule=rule, flags=flags, clip_norm=clip_norm,
            accumulate=accumulate, start=tuple(tuple(self._numbers(i)) for i in range(len(
                self.optimizer.param_groups))))

    def _numbers(self, index: int) -> list[float]:
        group = self.optimizer.param_groups[index]
        if group.get("momentum") and not self.has_momentum:
            raise InvalidArgumentError(
                "param_groups[%d][\"momentum\"] is %g, and was 0 in all groups when the step "
                "was compiled: it has no momentum" % (index, group["momentum"]))
        numbers = []
        for name in self.rule.numbers:
            if name in ("beta1", "beta2"):
                beta = float(group["betas"][name == "beta2"])
                if not 0 <= beta < 1:
                    raise InvalidArgumentError(
                        "param_groups[%d][\"betas\"] is %r, expected two numbers in [0, 1)"
                        % (index, group["betas"]))
                numbers.append(beta)
            else:
                numbers.append(number_of(group, name, index))
        return numbers

    def _keys(self) -> Sequence[str]:
        group = self.optimizer.param_groups[0]
        own = [n for n in self.rule.numbers if n not in ("beta1", "beta2")]
        return [*own, *(["betas"] if "beta1" in self.rule.numbers else []),
                *(key for key in _FLAGS if key in group)]

    def _check_flags(self, index: int) -> None:
        now = self._flags_of(index)
        if now != self.flags - {"momentum"}:
            raise InvalidArgumentError(
                "param_groups[%d] has another %s than when the step was compiled: compile it "
                "again" % (index, ", ".join(sorted(now ^ (self.flags - {"momentum"})))))


def torch_optimizer(optimizer: Any) -> TorchOptimizer:
    """The user's optimizer as ops of an optimizer, or as a rule. Raises
    InvalidArgumentError."""
    return ByRule(optimizer) if takes_rule(optimizer) else TorchOptimizer(optimizer)
