# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers that are Python functions, traced with the step that they update."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import ops
from ..errors import TraceError
from ..nn import Buffer
from .optimizers import Optimizer, Schedule, _number
from .pointwise import minimum
from .tensor import Tensor
from .trace import EntryTrace, Operand, as_tensor, current_trace, location_of

#: What Custom calls: (parameter, gradient, states, numbers) -> (parameter, states).
Update = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Custom(Optimizer):
    """An optimizer that is a Python function. It is traced with the step, once for each
    parameter, and its arithmetic is fused as any other::

        def rmsprop(p, g, states, numbers):
            square = 0.99 * states["square_avg"] + 0.01 * g * g
            return p - numbers["lr"] * g / (square.sqrt() + 1e-8), {"square_avg": square}

        step = aicf.compile_step(model, loss, aicf.optim.Custom(
            1e-3, update=rmsprop, states={"square_avg": "zeros"}), inputs)

    Attributes:
        update: a function (parameter, gradient, states, numbers) -> (new parameter, new
            states). The gradient has the shape of the parameter. All are f32, or f64 for a
            parameter of f64; what it returns gets the parameter's type. `states` is a
            dict of the parameter's own states. `numbers` has "lr" (0-d f32), "step" (the
            number of this update, 0-d f32, from 1), "name" (the parameter's, a str), its own
            "weight_decay" if it has one, and what `numbers` names. "lr" is scaled by the
            parameter's lr_scale. A function without states may return the parameter alone.
        states: by name how each starts, as nn.Parameter's init: "zeros", a number, ... They
            have the shape and type of the parameter, or those of an nn.Buffer: a number for
            each parameter is {"norm": nn.Buffer(())}. A parameter W has the state W.name.
        numbers: further numbers by name, which the host may change: step.set("beta", 0.9).
        clip_norm: as for every optimizer; gradients are clipped before `update` sees them.
    """

    update: Update
    states: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    #: Its states, by name: entries for other batch sizes have the same ones.
    _buffers: dict[str, Buffer] = field(default_factory=dict, init=False, repr=False,
                                        compare=False)

    mnemonic = "custom"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.update):
            raise TypeError("update is a %s, expected a function (parameter, gradient, "
                            "states, numbers)" % type(self.update).__name__)
        if self.accumulate != 1:
            raise ValueError("accumulate is %d, and an optimizer that is a function updates "
                             "with every batch" % self.accumulate)
        if self.weight_decay:
            raise ValueError("weight_decay is %g, and an optimizer that is a function does it "
                             "itself: p * (1 - numbers[\"lr\"] * decay) - ..."
                             % self.weight_decay)
        for name, value in self.numbers.items():
            if name in ("lr", "step", "name", "weight_decay"):
                raise ValueError("numbers has %r, which is there already" % name)
            _number(value, name)

    def attribute(self, rate: str = "lr") -> str:
        raise NotImplementedError  # it has none: its ops stand in the step

    def values(self, prefix: str) -> dict[str, Any]:
        return {}  # the trace has them

    def build(self, trace: EntryTrace, trained: Mapping[str, Any],
              gradients: Mapping[str, Tensor], prefix: str, wanted: Sequence[str]) -> None:
        """Adds the updates to a step that is being traced. Raises TraceError."""
        count = self._buffer(prefix + "step", (), "i64", "zeros")
        number = ops.step_inc(as_tensor(count))
        self._keep(trace, gradients, wanted)
        with trace.shared_numbers():
            for name, gradient in self._clipped(gradients).items():
                self._update(trained[name], name, gradient, {
                    **self._numbers(trace, number, prefix, trained[name]), "name": name})
        count.update(number)

    def _numbers(self, trace: EntryTrace, number: Tensor, prefix: str,
                 owner: Any) -> Mapping[str, Any]:
        """Returns "lr", "step" and `numbers` for a parameter. What is computed twice is one
        op."""
        def hyper(name: str, value: float) -> Tensor:
            return trace.number(prefix + name, value)
        rate = self.lr.rate(number, prefix) if isinstance(self.lr, Schedule) \
            else hyper("lr", float(self.lr))
        scale = getattr(owner, "lr_scale", None)
        decay = getattr(owner, "weight_decay", None)
        numbers: dict[str, Any] = {n: hyper(n, value) for n, value in self.numbers.items()}
        if decay is not None:
            numbers["weight_decay"] = float(decay)
        return {**numbers, "lr": rate if scale is None else rate * float(scale),
                "step": number.astype("f32")}

    def _buffer(self, name: str, shape: tuple[int, ...], dtype: str, init: Any) -> Buffer:
        if isinstance(init, Buffer):  # what a state of another shape is like
            shape, dtype, init = init.shape, init.dtype, init.init
        known = self._buffers.get(name)
        if known is None or (known.shape, known.dtype) != (shape, dtype):
            known = self._buffers[name] = Buffer(shape, dtype, init=init, name=name)
            known.is_models = False
        return known

    def _keep(self, trace: EntryTrace, gradients: Mapping[str, Tensor],
              wanted: Sequence[str]) -> None:
        """Returns the gradients and their norm that the step's `outputs` name."""
        for name in wanted:
            if name == "grad_norm":
                trace.keep(name, ops.global_norm(_in_f32(gradients)))
            elif name == "grad:*":
                for own, gradient in gradients.items():
                    trace.keep("grad:" + own, gradient)
            elif name.removeprefix("grad:") in gradients:
                trace.keep(name, gradients[name.removeprefix("grad:")])
            else:
                raise TraceError("outputs names %r, which is neither \"grad_norm\", "
                                 "\"grad:*\" nor one of %s" % (name, ", ".join(
                                     "grad:" + own for own in gradients)), "", 0)

    def _clipped(self, gradients: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        if not self.clip_norm:
            return gradients
        norm = ops.global_norm(_in_f32(gradients))
        factor = minimum(self.clip_norm / (norm + 1e-6), 1.0)
        return {name: (g.astype("f32") * factor).astype(g.dtype)
                for name, g in gradients.items()}

    def _update(self, owner: Any, name: str, gradient: Tensor,
                numbers: Mapping[str, Any]) -> None:
        buffers = {key: self._buffer("%s.%s" % (name, key), owner.shape, owner.dtype, init)
                   for key, init in self.states.items()}
        # Numbers are f32, and 16 bits are too few to compute an update in.
        own = "f64" if owner.dtype == "f64" else "f32"

        def computed(value: Any) -> Any:
            return value.astype(own) if isinstance(value, Tensor) \
                and value.dtype in ("f16", "bf16", "f32", "f64") else value
        result = self.update(
            computed(as_tensor(owner)), computed(gradient),
            {key: computed(as_tensor(b)) for key, b in buffers.items()},
            {key: computed(value) for key, value in numbers.items()})
        new, states = result if isinstance(result, tuple) and len(result) == 2 \
            else (result, {})
        if not isinstance(new, Operand) or not isinstance(states, Mapping) \
                or set(states) != set(buffers):
            raise TraceError(
                "the optimizer's update returned %r for %r, expected the new parameter%s" % (
                    result, name, " and a dict of %s" % ", ".join(buffers)
                    if buffers else ""), *location_of(self.update))
        trace_of = current_trace("Custom")
        trace_of.update(owner, _as_type(new, owner.dtype))
        for key, buffer in buffers.items():
            buffer.update(_as_type(states[key], buffer.dtype))


def _as_type(value: Any, dtype: str) -> Tensor:
    return as_tensor(value).astype(dtype)


def _in_f32(gradients: Mapping[str, Tensor]) -> list[Tensor]:
    return [g.astype("f32") for g in gradients.values()]
