# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lightning: a LightningModule as it is, trained by one compiled step.

    import lightning as L
    from aicf.integrations.lightning import AICFStrategy

    L.Trainer(strategy=AICFStrategy(), max_epochs=3).fit(module, loader)

training_step(), its losses and self.log() become a plan at the first batch, with the
backward pass and the optimizer. Validation, callbacks, loggers, schedulers and checkpoints
are Lightning's. If the module cannot be compiled, one line says why, and training goes on in
PyTorch. It needs Lightning 2.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from lightning.pytorch import Callback
from lightning.pytorch.strategies import SingleDeviceStrategy
from lightning.pytorch.utilities import rank_zero_warn

from ..errors import ModuleImportError
from ._engine import Engine, NoNumber, Watched, tensor_of

__all__ = ["AICFStrategy"]

#: What runs between the parts of a step, which are one call here.
_HOOKS = ("on_before_backward", "on_after_backward", "on_before_zero_grad",
          "on_before_optimizer_step")
_PRECISIONS = {"32-true": "f32", "32": "f32", "bf16-mixed": "bf16", "16-mixed": "f16"}


class AICFStrategy(SingleDeviceStrategy):  # type: ignore[misc]
    """Runs training steps by AICF, on one device.

    Args:
        device: "cpu", "cuda" or "cuda:N".
        options: for aicf.torch.compile_step, such as verify=False or tune="fast".

    Attributes:
        engine: `engine.step` is the compiled step, and `engine.reason` says why there is
            none.
    """

    strategy_name = "aicf"

    def __init__(self, device: str = "cpu", **options: Any) -> None:
        super().__init__(device=device)
        self.engine = Engine(lambda text: rank_zero_warn(text, stacklevel=6))
        self._options = options
        self._logged: dict[str, dict[str, Any]] = {}

    # What Lightning asks of a strategy

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        module: Any = self.lightning_module
        self.engine.begin(id(module), *map(id, self.optimizers),
                          module.trainer.accumulate_grad_batches)
        reason = self._refusal(args, kwargs)
        if reason:
            self.engine.leave(reason)
        result = None if self.engine.reason else self.engine.run(
            module, self._call, self.optimizers[0], args[0], lambda: self._watch(module),
            device=str(self.root_device), precision=self._precision(),
            clip_norm=float(module.trainer.gradient_clip_val or 0.0),
            accumulate=module.trainer.accumulate_grad_batches, **self._options)
        if result is None:
            return super().training_step(*args, **kwargs)
        loss, more = result if isinstance(result, tuple) else (result, {})
        for name, options in self._logged.items():
            module.log(name, tensor_of(more["log." + name], self.root_device), **options)
        # What a scheduler looks at, before it warns that it is called first.
        self.optimizers[0]._opt_called = True
        return tensor_of(loss, self.root_device)

    def backward(self, closure_loss: Any, *args: Any, **kwargs: Any) -> Any:
        if self.engine.step is None:
            return super().backward(closure_loss, *args, **kwargs)
        return closure_loss  # the step has done it

    def optimizer_step(self, optimizer: Any, closure: Any, model: Any = None,
                       **kwargs: Any) -> Any:
        if self.engine.reason:
            return super().optimizer_step(optimizer, closure, model, **kwargs)
        result = closure()
        if self.engine.reason:  # since this batch: its gradients are there
            return super().optimizer_step(optimizer, lambda: result, model, **kwargs)
        return result

    def optimizer_state(self, optimizer: Any) -> dict[str, Any]:
        self.engine.give_back()
        found: dict[str, Any] = super().optimizer_state(optimizer)
        return found

    def lightning_module_state_dict(self) -> dict[str, Any]:
        self.engine.give_back()
        found: dict[str, Any] = super().lightning_module_state_dict()
        return found

    def load_optimizer_state_dict(self, checkpoint: Mapping[str, Any]) -> None:
        super().load_optimizer_state_dict(checkpoint)
        self.engine.take_back()

    def on_validation_start(self) -> None:
        self.engine.give_back()

    def on_train_end(self) -> None:
        self.engine.give_back()

    # How a step is made

    def _precision(self) -> str:
        return _PRECISIONS[str(self.precision_plugin.precision)]

    def _refusal(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Why Lightning's way of training is not one that a step has, or ""."""
        trainer: Any = self.lightning_module.trainer
        if not self.lightning_module.automatic_optimization:
            return "automatic_optimization is False"
        if len(self.optimizers) != 1:
            return "the module has %d optimizers" % len(self.optimizers)
        if kwargs:
            return "training_step takes %s" % ", ".join(kwargs)
        if str(self.precision_plugin.precision) not in _PRECISIONS:
            return "precision is %r" % self.precision_plugin.precision
        if trainer.gradient_clip_val and trainer.gradient_clip_algorithm not in (None, "norm"):
            return "gradients are clipped by value"
        batches = trainer.num_training_batches
        if trainer.accumulate_grad_batches > 1 and batches % trainer.accumulate_grad_batches:
            return "an epoch has %s batches, which %d do not divide, and Lightning makes an " \
                "update of the rest" % (batches, trainer.accumulate_grad_batches)
        kind = type(self.lightning_module)
        for name in (*_HOOKS, "optimizer_step", "backward", "configure_gradient_clipping",
                     "optimizer_zero_grad"):
            if getattr(kind, name).__module__.partition(".")[0] not in (
                    "lightning", "pytorch_lightning"):
                return "%s overrides %s" % (kind.__name__, name)
        for callback in trainer.callbacks:
            for name in _HOOKS:
                if getattr(type(callback), name) is not getattr(Callback, name):
                    return "the callback %s has %s" % (type(callback).__name__, name)
        return ""

    def _watch(self, module: Any) -> Watched:
        logged: dict[str, Any] = {}

        def log(own: Any, name: str, value: Any, *args: Any, **options: Any) -> None:
            if args:
                plain: Any = type(own).__mro__[1]
                bound = inspect.signature(plain.log).bind(own, name, value, *args, **options)
                options = {k: v for k, v in bound.arguments.items()
                           if k not in ("self", "name", "value")}
            if not isinstance(value, torch.Tensor):
                raise ModuleImportError("self.log(%r) logs a %s, and a step logs tensors"
                                        % (name, type(value).__name__), "", 0)
            logged["log." + name] = value.detach()  # apart from "loss"
            self._logged[name] = options

        def log_dict(own: Any, values: Mapping[str, Any], *args: Any, **options: Any) -> None:
            for name, value in values.items():
                own.log(name, value, *args, **options)
        self._values = logged
        return Watched(module, ("current_epoch", "global_step", "trainer", "optimizers", "lr_schedulers"),
                       {"log": log, "log_dict": log_dict})

    def _call(self, module: Any, batch: Any) -> Any:
        """What is compiled: training_step with what it logs beside the loss."""
        self._values.clear()
        takes_number = len(inspect.signature(module.training_step).parameters) > 1
        result = module.training_step(batch, NoNumber()) if takes_number \
            else module.training_step(batch)
        if isinstance(result, Mapping):
            if set(result) != {"loss"}:
                raise ModuleImportError("training_step returns further values: %s" % ", ".join(
                    sorted(map(str, set(result) - {"loss"}))), "", 0)
            result = result["loss"]
        if not isinstance(result, torch.Tensor):
            raise ModuleImportError("training_step returns a %s" % type(result).__name__, "", 0)
        values = dict(self._values)
        return (result, values) if values else result
