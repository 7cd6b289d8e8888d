# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PyTorch project on the 8x8 digits, trained by PyTorch or by AICF.

DataLoader with augmentation, AdamW with two groups of parameters, OneCycleLR, clipping
of gradients, accumulation of batches, and checkpoints. What --backend changes is class
Eager against class Compiled: the model, the data, the optimizer, the scheduler and the
files are the same, so that a run may be resumed by the other.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from aicf.examples.digits import FILE


class Digits(Dataset):  # type: ignore[misc]
    """Rows of the table as [64] f32 images and int64 labels; `noise` is what augments."""

    def __init__(self, table: Any, noise: float) -> None:
        self.images = torch.from_numpy(table[:, :64] / 16)
        self.labels = torch.from_numpy(table[:, 64].astype(np.int64))
        self.noise = noise

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        image = self.images[index]
        return image + self.noise * torch.randn_like(image), self.labels[index]


class Block(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = x + self.dropout(self.down(F.gelu(self.up(self.norm(x)))))
        return out


def make_model(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(64, width), Block(width, 0.1), Block(width, 0.1),
                         nn.LayerNorm(width), nn.Linear(width, 10))


def make_optimizer(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """Weights decay; biases and norms do not."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.05},
                              {"params": others, "weight_decay": 0.0}], lr=rate)


class Eager:
    """The loop's body as PyTorch's users write it."""

    def __init__(self, flags: argparse.Namespace, model: nn.Module,
                 optimizer: torch.optim.Optimizer) -> None:
        self.flags, self.model, self.optimizer = flags, model, optimizer
        self.batches = 0

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> Any:
        loss = F.cross_entropy(self.model(images), labels)
        (loss / self.flags.accumulate).backward()
        self.batches += 1
        if self.batches % self.flags.accumulate == 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.flags.clip)
            self.optimizer.step()
            self.optimizer.zero_grad()
        return loss.detach()

    def predict(self, images: torch.Tensor) -> Any:
        self.model.eval()
        with torch.no_grad():
            scores = self.model(images).numpy()
        self.model.train()
        return scores

    def synchronize(self) -> None:
        """The module and the optimizer have everything already."""


class Compiled:
    """The same step, compiled. Clipping and accumulation are arguments, and the loss is
    not divided."""

    def __init__(self, flags: argparse.Namespace, model: nn.Module,
                 optimizer: torch.optim.Optimizer) -> None:
        import aicf.torch
        self.compiled = aicf.torch.compile_step(
            model, F.cross_entropy, optimizer, [torch.zeros(flags.batch, 64)],
            [torch.zeros(flags.batch, dtype=torch.int64)], clip_norm=flags.clip,
            accumulate=flags.accumulate, device=flags.device, seed=flags.seed)

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> Any:
        return self.compiled(images, labels)

    def predict(self, images: torch.Tensor) -> Any:
        return self.compiled.predict(images)

    def synchronize(self) -> None:
        self.compiled.sync_to_module()
        self.compiled.sync_to_optimizer()


def save(path: str, epoch: int, model: nn.Module, optimizer: torch.optim.Optimizer,
         scheduler: Any) -> None:
    """A checkpoint of PyTorch's own; an older one stays whole until this is complete."""
    torch.save({"epoch": epoch, "model": model.state_dict(),
                "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()},
               path + ".part")
    os.replace(path + ".part", path)


def load(path: str, model: nn.Module, optimizer: torch.optim.Optimizer,
         scheduler: Any) -> int:
    """Returns how many epochs the checkpoint has behind it."""
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    return int(state["epoch"])


def whole_updates(loader: Any, accumulate: int) -> Iterator[Any]:
    """As many batches as make whole updates."""
    count = len(loader) // accumulate * accumulate
    for i, batch in enumerate(loader):
        if i < count:
            yield batch


def parse_flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--backend", choices=["aicf", "torch"], default="aicf")
    parser.add_argument("--device", default="cpu", help="of the aicf backend")
    parser.add_argument("--epochs", type=int, default=20, help="of the whole schedule")
    parser.add_argument("--stop-after", type=int, default=0, metavar="EPOCH",
                        help="end earlier, to be resumed")
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--accumulate", type=int, default=2, help="batches an update takes")
    parser.add_argument("--clip", type=float, default=1.0, help="norm of all gradients")
    parser.add_argument("--rate", type=float, default=4e-3, help="the highest of all")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", default="", help="a file, written each epoch")
    parser.add_argument("--resume", action="store_true", help="go on from --checkpoint")
    flags = parser.parse_args()
    for name in ("epochs", "batch", "accumulate", "width"):
        if getattr(flags, name) < 1:
            parser.error("--%s is %d, expected 1 or more" % (name, getattr(flags, name)))
    if flags.resume and not os.path.exists(flags.checkpoint):
        parser.error("--resume: there is no file %r" % flags.checkpoint)
    return flags


def main() -> None:
    flags = parse_flags()
    torch.manual_seed(flags.seed)
    table = np.loadtxt(FILE, np.float32, delimiter=",")
    loader = DataLoader(Digits(table[:1500], 0.05), batch_size=flags.batch, shuffle=True,
                        drop_last=True)
    test = Digits(table[1500:], 0.0)

    model = make_model(flags.width)
    optimizer = make_optimizer(model, flags.rate)
    updates = len(loader) // flags.accumulate
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, flags.rate, total_steps=flags.epochs * updates)
    done = load(flags.checkpoint, model, optimizer, scheduler) if flags.resume else 0
    trainer = (Compiled if flags.backend == "aicf" else Eager)(flags, model, optimizer)

    start = time.perf_counter()
    for epoch in range(done + 1, (flags.stop_after or flags.epochs) + 1):
        loss: Any = 0.0
        for i, (images, labels) in enumerate(whole_updates(loader, flags.accumulate), 1):
            loss = trainer.step(images, labels)
            if i % flags.accumulate == 0:
                scheduler.step()
        print("epoch %d/%d  loss %.4f" % (epoch, flags.epochs, float(loss)), flush=True)
        if flags.checkpoint:
            trainer.synchronize()
            save(flags.checkpoint, epoch, model, optimizer, scheduler)
    seconds = time.perf_counter() - start
    right = int((trainer.predict(test.images).argmax(1) == test.labels.numpy()).sum())
    print("test accuracy: %.2f %%" % (100.0 * right / len(test)))
    print("training time: %.1f s" % seconds)


if __name__ == "__main__":
    main()
