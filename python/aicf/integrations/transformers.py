# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hugging Face: a Trainer whose steps are one compiled plan.

    from aicf.integrations.transformers import AICFTrainer

    AICFTrainer(model=model, args=TrainingArguments(...), train_dataset=data).train()

The model, its loss (compute_loss), the backward pass, clipping (max_grad_norm) and the
optimizer become a plan at the first batch. Data, schedulers, evaluation, logs and checkpoints
are the Trainer's. Batches should have one shape: pad to a fixed length. If the model cannot
be compiled, one line says why, and training goes on in PyTorch. It needs transformers and
accelerate.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers
from transformers.utils import logging

from ._engine import Engine, Watched, tensor_of

__all__ = ["AICFTrainer"]


class AICFTrainer(transformers.Trainer):  # type: ignore[misc]
    """A Trainer that runs training steps by AICF, on one device.

    Args:
        args, kwargs: those of transformers.Trainer.
        aicf_options: for aicf.torch.compile_step, such as {"verify": False}.

    Attributes:
        engine: `engine.step` is the compiled step, and `engine.reason` says why there is
            none.
    """

    def __init__(self, *args: Any, aicf_options: dict[str, Any] | None = None,
                 **kwargs: Any) -> None:
        self.engine = Engine(logging.get_logger("transformers.trainer").warning)
        self._aicf_options = dict(aicf_options or {})
        super().__init__(*args, **kwargs)

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Any:
        self.engine.begin(id(model), id(self.optimizer))
        reason = self._refusal()
        if reason:
            self.engine.leave(reason)
        if self.engine.reason:
            return super().training_step(model, inputs, num_items_in_batch)
        model.train()
        batch = {"inputs": dict(self._prepare_inputs(inputs))}
        if num_items_in_batch is not None:  # by which the sum of losses is divided
            batch["number"] = torch.as_tensor(num_items_in_batch)
        optimizer: Any = getattr(self.optimizer, "optimizer", self.optimizer)  # accelerate's
        result = self.engine.run(
            model, self._loss_of, optimizer, batch, self._watch,
            device=str(self.args.device), precision="bf16" if self.args.bf16 else "f32",
            clip_norm=float(self.args.max_grad_norm or 0.0), outputs=("grad_norm",),
            **self._aicf_options)
        if result is None:
            return super().training_step(model, inputs, num_items_in_batch)
        optimizer._opt_called = True  # what a scheduler looks at
        loss, more = result
        self._norm = more["grad_norm"]
        return tensor_of(loss, self.args.device)

    def _loss_of(self, model: Any, batch: Any) -> Any:
        return self.compute_loss(model, dict(batch["inputs"]),
                                 num_items_in_batch=batch.get("number"))

    def _watch(self) -> Watched:
        return Watched(self, ("state", "optimizer", "lr_scheduler"))

    def _refusal(self) -> str:
        if self.args.gradient_accumulation_steps > 1:
            return "gradient_accumulation_steps is %d" % self.args.gradient_accumulation_steps
        if self.args.fp16:
            return "fp16 scales the loss: use bf16"
        if self.args.n_gpu > 1 or self.args.world_size > 1:
            return "there are several devices"
        return ""

    def _clip_grad_norm(self, model: Any) -> Any:
        return None if self.engine.step else super()._clip_grad_norm(model)

    def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> Any:
        if self.engine.step is None:
            return super()._get_grad_norm(model, grad_norm=grad_norm)
        return tensor_of(self._norm, self.args.device)

    # What reads the values

    def evaluation_loop(self, *args: Any, **kwargs: Any) -> Any:
        self.engine.give_back()
        return super().evaluation_loop(*args, **kwargs)

    def save_model(self, *args: Any, **kwargs: Any) -> Any:
        self.engine.give_back()
        return super().save_model(*args, **kwargs)

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        self.engine.give_back()
        super()._save_optimizer_and_scheduler(output_dir)

    def _load_best_model(self) -> None:
        self.engine.give_back()
        super()._load_best_model()
        self.engine.take_back()

    def train(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().train(*args, **kwargs)
        finally:
            self.engine.give_back()
