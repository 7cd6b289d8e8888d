# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers and learning rate schedules, which describe the update of a training step.

The compiler builds the update from them. Its states have PyTorch's names
(`fc.weight.exp_avg`). A plain learning rate is a number on the device, which the host may
change between steps (`step.set("lr", 1e-4)`). A schedule is computed on the device from
the number of the step. A value that is out of range raises ValueError.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

from .. import ops
from ..nn import Buffer
from .constants import constant
from .tensor import Tensor
from .trace import as_tensor


def _number(value: float, what: str, high: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) \
            or not 0 <= value < high:
        raise ValueError("%s is %r, expected a number in [0, %g)" % (what, value, high))
    return float(value)


def _count(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) \
            or not 1 <= value < 2**31:
        raise ValueError("%s is %r, expected an int from 1 to 2^31 - 1"
                         % (what, value))
    return value


def _text(value: float | int) -> str:
    """Returns a number in the form that MLIR reads: 1e-08 becomes 1.0e-08."""
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return mantissa + ".0e" + exponent if e and "." not in mantissa else text


class Schedule:
    """A learning rate as a function of the step. Steps count from 1."""

    def attribute(self) -> str:
        """Returns the schedule as an attribute of the aicf dialect."""
        raise NotImplementedError

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        """Returns the rate of a step (0-d i64, from 1) in a trace, 0-d f32."""
        raise NotImplementedError

    def rates(self) -> Any:
        """Returns the values of the state "lr_table", or None if there is no such
        state."""
        return None


@dataclass(frozen=True)
class Constant(Schedule):
    """`value` in every step. It is part of the plan, so the host cannot change it."""

    value: float

    def __post_init__(self) -> None:
        _number(self.value, "value")

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        import numpy
        return constant(numpy.float32(self.value))

    def attribute(self) -> str:
        return "#aicf.constant<value = %s>" % _text(float(self.value))


@dataclass(frozen=True)
class Linear(Schedule):
    """start + (end - start)·step/steps, and `end` from step `steps` on."""

    start: float
    end: float = 0.0
    steps: int = 1

    def __post_init__(self) -> None:
        _number(self.start, "start")
        _number(self.end, "end")
        _count(self.steps, "steps")

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        return ops.learning_rate(step, start=self.start, peak=self.start, end=self.end,
                                 warmup=0, steps=self.steps, dtype="f32")

    def attribute(self) -> str:
        return "#aicf.linear<start = %s, end = %s, steps = %d>" % (
            _text(float(self.start)), _text(float(self.end)), self.steps)


@dataclass(frozen=True)
class WarmupCosine(Schedule):
    """Rises linearly from 0 to `peak` in `warmup` steps, follows a cosine to `end` at
    step `steps`, and then stays at `end` (Loshchilov, Hutter 2017)."""

    peak: float
    warmup: int
    steps: int
    end: float = 0.0

    def __post_init__(self) -> None:
        _number(self.peak, "peak")
        _number(self.end, "end")
        _count(self.warmup, "warmup")
        _count(self.steps, "steps")
        if self.steps <= self.warmup:
            raise ValueError("steps is %d, expected more than warmup, %d"
                             % (self.steps, self.warmup))

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        return ops.learning_rate(step, start=0.0, peak=self.peak, end=self.end,
                                 warmup=self.warmup, steps=self.steps, cosine=True,
                                 dtype="f32")

    def attribute(self) -> str:
        return "#aicf.warmup_cosine<peak = %s, warmup = %d, steps = %d, end = %s>" % (
            _text(float(self.peak)), self.warmup, self.steps,
            _text(float(self.end)))


@dataclass(frozen=True)
class Cosine(Schedule):
    """Follows a cosine from `start` to `end` in `steps` steps, and then stays at `end`
    (Loshchilov, Hutter 2017). The first update uses the rate of step 1. PyTorch's
    CosineAnnealingLR is one step behind: its first update uses `start`."""

    start: float
    steps: int
    end: float = 0.0

    def __post_init__(self) -> None:
        _number(self.start, "start")
        _number(self.end, "end")
        _count(self.steps, "steps")

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        return ops.learning_rate(step, start=self.start, peak=self.start, end=self.end,
                                 warmup=0, steps=self.steps, cosine=True, dtype="f32")

    def attribute(self) -> str:
        return "#aicf.cosine<start = %s, steps = %d, end = %s>" % (
            _text(float(self.start)), self.steps, _text(float(self.end)))


@dataclass(frozen=True)
class StepDecay(Schedule):
    """start · factor^floor((step - 1)/every), as PyTorch's StepLR: the rate is multiplied
    by `factor` after each `every` steps."""

    start: float
    factor: float
    every: int

    def __post_init__(self) -> None:
        _number(self.start, "start")
        if not 0 < _number(self.factor, "factor") <= 1:
            raise ValueError("factor is %r, expected a number in (0, 1]" % self.factor)
        _count(self.every, "every")

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        return ops.step_decay(step, start=self.start, factor=self.factor, every=self.every,
                              dtype="f32")

    def attribute(self) -> str:
        return "#aicf.step_decay<start = %s, factor = %s, every = %d>" % (
            _text(float(self.start)), _text(float(self.factor)), self.every)


@dataclass(frozen=True)
class Polynomial(Schedule):
    """end + (start - end)·(1 - step/steps)^power, and `end` from step `steps` on. Steps
    count from 1, so that PyTorch's PolynomialLR is one step behind."""

    start: float
    steps: int
    end: float = 0.0
    power: float = 1.0

    def __post_init__(self) -> None:
        _number(self.start, "start")
        _number(self.end, "end")
        _number(self.power, "power")
        _count(self.steps, "steps")

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        return ops.polynomial_decay(step, start=self.start, end=self.end, steps=self.steps,
                                    power=self.power, dtype="f32")

    def attribute(self) -> str:
        return ("#aicf.polynomial<start = %s, steps = %d, end = %s, power = %s>" % (
            _text(float(self.start)), self.steps, _text(float(self.end)),
            _text(float(self.power))))


class Table(Schedule):
    """Takes the rate of each step from a list. After its end the last rate stays. The
    rates are a state of the program, which `step.set("lr_table", array)` changes.

    Args:
        rates: finite numbers >= 0, one per step, as a list or an array. They are kept in
            f32. For a function, write `Table([f(i) for i in range(1000)])`.
    Raises: ValueError, TypeError.
    """

    def __init__(self, rates: Any) -> None:
        import numpy
        if callable(rates):
            raise TypeError("a Table takes the rates, not a function: "
                            "Table([f(i) for i in range(steps)])")
        values = numpy.asarray(rates, numpy.float32)
        if values.ndim != 1 or not 1 <= values.size < 2**31:
            raise ValueError("a table of rates has shape %s, expected one dimension "
                             "with 1 rate or more" % (values.shape,))
        if not (numpy.isfinite(values) & (values >= 0)).all():
            raise ValueError("a table of rates has %r, expected finite numbers >= 0"
                             % float(values[~(numpy.isfinite(values)
                                              & (values >= 0))][0]))
        self._rates = values
        self._tables: dict[str, Buffer] = {}  # of steps whose optimizers are functions

    def rate(self, step: Tensor, prefix: str) -> Tensor:
        name = prefix + "lr_table"
        if name not in self._tables:
            self._tables[name] = Buffer(self._rates.shape, "f32", init=self._rates, name=name)
        return ops.rate_table(step, as_tensor(self._tables[name]))

    def attribute(self) -> str:
        return "#aicf.table<rows = %d>" % self._rates.size

    def rates(self) -> Any:
        return self._rates

    def __repr__(self) -> str:
        return "Table(%d rates)" % self._rates.size


@dataclass(frozen=True)
class Optimizer:
    """The arguments that every optimizer takes, all but the learning rate by keyword.

    Attributes:
        lr: a number, which the host may change between steps, or a schedule.
        weight_decay: the factor of the weight decay. AdamW and Lion decay the parameter
            itself. Adam and SGD add the decay to the gradient, as PyTorch's do. A
            parameter may have its own factor.
        clip_norm: the norm to which all gradients together are clipped; 0 clips nothing.
        accumulate: how many batches make an update, which uses the mean of their
            gradients. Every accumulate-th call of the step updates.
    """

    lr: float | Schedule = 1e-3
    _: KW_ONLY
    weight_decay: float = 0.0
    clip_norm: float = 0.0
    accumulate: int = 1

    mnemonic = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> Optimizer:
        if args and (hasattr(args[0], "__iter__") or hasattr(args[0], "forward")):
            raise TypeError("%s takes no parameters: compile_step trains those of the "
                            "model that are not frozen. Write %s(1e-3)"
                            % (cls.__name__, cls.__name__))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        if callable(self.lr):
            raise TypeError(
                "lr is a function, but the rate is computed on the device: pass a "
                "number, a schedule (Linear, Cosine, WarmupCosine, StepDecay, "
                "Polynomial), or aicf.optim.Table([f(i) for i in range(steps)])")
        if not isinstance(self.lr, Schedule):
            _number(self.lr, "lr")
        _number(self.weight_decay, "weight_decay")
        _number(self.clip_norm, "clip_norm")
        _count(self.accumulate, "accumulate")

    def fields(self) -> dict[str, float | int | bool]:
        """Returns the fields of the attribute that only this optimizer has."""
        return {}

    def values(self, prefix: str) -> dict[str, Any]:
        """Returns what the host writes before the first step, by name: "<prefix>lr", or
        "<prefix>lr_table" if the schedule has a table."""
        if not isinstance(self.lr, Schedule):
            return {prefix + "lr": float(self.lr)}
        rates = self.lr.rates()
        return {} if rates is None else {prefix + "lr_table": rates}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("aicf.") and not cls.mnemonic:
            raise TypeError(
                "%s: an optimizer of your own is a function: aicf.optim.Custom(update, "
                "states=...), where update(parameter, gradient, states, numbers) returns the "
                "new parameter and the new states" % cls.__name__)

    def attribute(self, rate: str = "lr") -> str:
        """Returns the optimizer as an attribute of the aicf dialect. `rate` is the name
        of a learning rate that the host may change."""
        lr = self.lr.attribute() if isinstance(self.lr, Schedule) else '"%s"' % rate
        fields: dict[str, float | int | bool] = {
            **self.fields(), "weight_decay": float(self.weight_decay),
            "clip_norm": float(self.clip_norm), "accumulate": self.accumulate}
        return "#aicf.%s<lr = %s%s>" % (self.mnemonic, lr, "".join(
            ", %s = %s" % (name, str(value).lower() if isinstance(value, bool)
                           else _text(value)) for name, value in fields.items()))


@dataclass(frozen=True, kw_only=True)
class AdamW(Optimizer):
    """AdamW (Kingma, Ba 2015; Loshchilov, Hutter 2019). The states of a parameter W are
    W.exp_avg and W.exp_avg_sq. Defaults are PyTorch's: the weight decay is 0.01.

    Attributes:
        betas: a tuple of two numbers in [0, 1).
        eps: a number >= 0, which is added to the square root.
    """

    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01

    mnemonic = "adamw"

    def __post_init__(self) -> None:
        super().__post_init__()
        _betas(self.betas)
        _number(self.eps, "eps")

    def fields(self) -> dict[str, float | int | bool]:
        return {"beta1": float(self.betas[0]), "beta2": float(self.betas[1]),
                "eps": float(self.eps)}


@dataclass(frozen=True, kw_only=True)
class Adam(AdamW):
    """Adam (Kingma, Ba 2015), which adds the weight decay to the gradient, as PyTorch's
    does. The states of a parameter W are W.exp_avg and W.exp_avg_sq."""

    weight_decay: float = 0.0

    mnemonic = "adam"


@dataclass(frozen=True, kw_only=True)
class SGD(Optimizer):
    """Stochastic gradient descent. With momentum, a parameter W has the state
    W.momentum_buffer.

    Attributes:
        momentum: a number >= 0; 0 keeps no state.
        nesterov: whether momentum is Nesterov's, which needs momentum > 0.
    """

    momentum: float = 0.0
    nesterov: bool = False

    mnemonic = "sgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        _number(self.momentum, "momentum")
        if not isinstance(self.nesterov, bool):
            raise ValueError("nesterov is %r, expected True or False"
                             % (self.nesterov,))
        if self.nesterov and self.momentum == 0:
            raise ValueError("nesterov is True, but momentum is 0")

    def fields(self) -> dict[str, float | int | bool]:
        return {"momentum": float(self.momentum), "nesterov": self.nesterov}


@dataclass(frozen=True, kw_only=True)
class Lion(Optimizer):
    """Lion (Chen et al. 2023). The state of a parameter W is W.exp_avg. betas is a tuple
    of two numbers in [0, 1)."""

    betas: tuple[float, float] = (0.9, 0.99)

    mnemonic = "lion"

    def __post_init__(self) -> None:
        super().__post_init__()
        _betas(self.betas)

    def fields(self) -> dict[str, float | int | bool]:
        return {"beta1": float(self.betas[0]), "beta2": float(self.betas[1])}


def _betas(betas: tuple[float, float]) -> None:
    if not isinstance(betas, tuple) or len(betas) != 2:
        raise ValueError("betas is %r, expected two numbers" % (betas,))
    for beta in betas:
        _number(beta, "a beta", 1)
