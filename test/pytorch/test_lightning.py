# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.integrations.lightning: modules as they are, and what is left to PyTorch."""

import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

L = pytest.importorskip("lightning.pytorch")
warnings.filterwarnings("ignore")

from aicf.integrations.lightning import AICFStrategy  # noqa: E402

X = torch.randn(96, 6, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long() + (X[:, 1] > 0)


class Classifier(L.LightningModule):
    """As Lightning's own tutorials write it."""

    def __init__(self, rate=1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y)
        self.log("train_loss", loss, prog_bar=True)
        self.log_dict({"train_accuracy": (logits.argmax(-1) == y).float().mean()},
                      on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self(x), y))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), self.hparams.rate)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


def loader(rows=96, size=16):
    return torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(X[:rows], Y[:rows]), batch_size=size)


def train(module, strategy, data=None, epochs=2, **options):
    torch.manual_seed(0)
    if strategy is not None:
        strategy.accelerator = None  # of the Trainer that it was given to before
    trainer = L.Trainer(
        max_epochs=epochs, logger=False, enable_progress_bar=False, accelerator="cpu",
        enable_model_summary=False, **{"enable_checkpointing": False, **options},
        **({"strategy": strategy} if strategy else {}))
    trainer.fit(module, data or loader(), loader(32))
    return trainer


def make(kind=Classifier, **options):
    torch.manual_seed(1)
    return kind(**options)


@pytest.mark.parametrize("options", [
    {}, {"gradient_clip_val": 0.1}, {"accumulate_grad_batches": 2}])
def test_a_module_trains_as_in_lightning(options):
    own, other, strategy = make(), make(), AICFStrategy()
    trainer = train(own, strategy, **options)
    expected = train(other, None, **options)
    assert strategy.engine.step is not None and not strategy.engine.reason
    for (name, a), b in zip(own.named_parameters(), other.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, msg=name)
    for name in ("train_loss", "train_accuracy", "val_loss"):
        assert float(trainer.callback_metrics[name]) == pytest.approx(
            float(expected.callback_metrics[name]), rel=1e-3), name
    assert trainer.global_step == expected.global_step
    assert trainer.optimizers[0].param_groups[0]["lr"] == \
        expected.optimizers[0].param_groups[0]["lr"]


def test_a_last_batch_that_is_smaller():
    own, other, strategy = make(), make(), AICFStrategy()
    train(own, strategy, loader(90))
    train(other, None, loader(90))
    assert strategy.engine.step is not None
    for a, b in zip(own.parameters(), other.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_a_checkpoint_goes_on_in_lightning_and_here(tmp_path):
    """Two epochs here, one more here or in PyTorch: like three in PyTorch."""
    whole = make()
    train(whole, None, epochs=3)
    trainer = train(make(), AICFStrategy(), epochs=2)
    trainer.save_checkpoint(tmp_path / "two.ckpt")
    for strategy in (AICFStrategy(), None):
        resumed = make()
        torch.manual_seed(0)
        L.Trainer(max_epochs=3, logger=False, enable_progress_bar=False, accelerator="cpu",
                  enable_checkpointing=False, enable_model_summary=False,
                  **({"strategy": strategy} if strategy else {})).fit(
                      resumed, loader(), ckpt_path=tmp_path / "two.ckpt")
        for a, b in zip(resumed.parameters(), whole.parameters()):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)


class ByEpoch(Classifier):
    def training_step(self, batch, batch_idx):
        return super().training_step(batch, batch_idx) * (1 + self.current_epoch)


class ByNumber(Classifier):
    def training_step(self, batch, batch_idx):
        return super().training_step(batch, batch_idx) * (2 if batch_idx % 2 else 1)


class LogsANumber(Classifier):
    def training_step(self, batch, batch_idx):
        loss = super().training_step(batch, batch_idx)
        self.log("constant", 3.0)
        return loss


class Hook(Classifier):
    def on_after_backward(self):
        for p in self.parameters():
            p.grad.mul_(0.5)


class Further(Classifier):
    def training_step(self, batch, batch_idx):
        return {"loss": super().training_step(batch, batch_idx), "batch": batch[0]}


class Convolution(Classifier):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, x):
        return self.net(self.conv(x[:, None])[:, 0])


@pytest.mark.parametrize("kind, reason", [
    (ByEpoch, "reads self.current_epoch"), (ByNumber, "computes with batch_idx"),
    (LogsANumber, "logs a float"), (Further, "returns further values: batch"), (Hook, "overrides on_after_backward"),
    (Convolution, "conv1d")])
def test_what_goes_on_in_pytorch(kind, reason):
    own, other, strategy = make(kind), make(kind), AICFStrategy()
    with pytest.warns(UserWarning, match="AICF does not run this training, and PyTorch does"):
        train(own, strategy)
    train(other, None)
    assert reason in strategy.engine.reason and strategy.engine.step is None
    for a, b in zip(own.parameters(), other.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_in_the_middle_of_a_run():
    """The third batch has another structure: PyTorch goes on with what the step has."""
    class Either(Classifier):
        def training_step(self, batch, batch_idx):
            batch = (batch["x"], batch["y"]) if isinstance(batch, dict) else batch
            return F.cross_entropy(self(batch[0]), batch[1])
    batches = [(X[:16], Y[:16]), (X[16:32], Y[16:32]), {"x": X[32:48], "y": Y[32:48]},
               (X[48:64], Y[48:64])]
    own, other, strategy = make(Either), make(Either), AICFStrategy()
    def one_by_one():
        return torch.utils.data.DataLoader(batches, batch_size=None)
    train(own, strategy, one_by_one(), epochs=1)
    train(other, None, one_by_one(), epochs=1)
    assert "another structure than the first one" in strategy.engine.reason
    for a, b in zip(own.parameters(), other.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_uneven_accumulation_is_lightnings():
    strategy = AICFStrategy()
    train(make(), strategy, loader(80), accumulate_grad_batches=2)
    assert "an epoch has 5 batches, which 2 do not divide" in strategy.engine.reason
    assert np.isfinite(float(make().net[0].weight.sum()))


def test_a_callback_between_the_parts_of_a_step_is_lightnings():
    class Halves(L.Callback):
        def on_before_optimizer_step(self, trainer, module, optimizer):
            for p in module.parameters():
                p.grad.mul_(0.5)
    own, other, strategy = make(), make(), AICFStrategy()
    train(own, strategy, callbacks=[Halves()])
    train(other, None, callbacks=[Halves()])
    assert "the callback Halves has on_before_optimizer_step" in strategy.engine.reason
    for a, b in zip(own.parameters(), other.parameters()):
        torch.testing.assert_close(a, b)


def test_one_strategy_for_two_modules_and_two_runs():
    """Each run has an optimizer of its own, and perhaps another module."""
    strategy = AICFStrategy()
    for kind, rate in ((Classifier, 1e-2), (Classifier, 1e-3)):
        own, other = make(kind, rate=rate), make(kind, rate=rate)
        train(own, strategy)
        train(other, None)
        for _ in range(2):
            for a, b in zip(own.parameters(), other.parameters()):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
            own.hparams.rate = other.hparams.rate = 3e-3
            train(own, strategy)
            train(other, None)


@pytest.mark.parametrize("schedule", [{0: 1, 1: 2}, {0: 3}])
def test_accumulation_that_changes(schedule):
    own, other, strategy = make(), make(), AICFStrategy()
    for module, how in ((own, strategy), (other, None)):
        train(module, how, epochs=3, val_check_interval=2, callbacks=[
            L.callbacks.GradientAccumulationScheduler(schedule)])
    assert strategy.engine.step is not None
    for a, b in zip(own.parameters(), other.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


class Annealed(Classifier):
    """A hook changes a number that the step reads, as for a KL term."""

    weight = 1.0

    def on_train_epoch_start(self):
        self.weight = 1.0 + self.current_epoch

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y) * self.weight
        self.log("loss", loss, on_step=True, on_epoch=True)
        return loss


class Frozen(Classifier):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.0), nn.Linear(16, 3))

    def on_train_epoch_start(self):
        self.seen = self.current_epoch  # which no step reads
        if self.current_epoch:
            self.net[1].p = 1.0


class ByTrainer(Classifier):
    def training_step(self, batch, batch_idx):
        return super().training_step(batch, batch_idx) * (1 + self.trainer.current_epoch)


class Scheduled(Classifier):
    """Its loss reads tables that a hook changes."""

    def __init__(self):
        super().__init__()
        self.table = {"weights": [1.0, {"last": np.float32([0.5, 0.5])}]}

    def training_step(self, batch, batch_idx):
        first, rest = self.table["weights"]
        return super().training_step(batch, batch_idx) * float(first + rest["last"].sum())

    def on_train_epoch_start(self):
        if self.current_epoch == 1:
            self.table["weights"][1]["last"][0] = 2.5


@pytest.mark.parametrize("kind, options, reason", [
    (Scheduled, {}, "self.table was {'weights': (1.0, {'last': ('float32'"),
    (Annealed, {}, "self.weight was 1.0 when the step was compiled and is 2.0 now"),
    (Frozen, {}, "net.1.p was 0.0 when the step was compiled and is 1.0 now"),
    (ByTrainer, {"verify": False}, "it reads self.trainer"),
])
def test_what_a_hook_changes_goes_on_in_lightning(kind, options, reason):
    own, other, strategy = make(kind), make(kind), AICFStrategy(**options)
    train(own, strategy)
    train(other, None)
    assert reason in strategy.engine.reason
    for a, b in zip(own.parameters(), other.parameters()):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_a_loss_may_be_logged_by_its_name():
    class Named(Annealed):
        on_train_epoch_start = L.LightningModule.on_train_epoch_start
    strategy = AICFStrategy()
    trainer = train(make(Named), strategy)
    assert strategy.engine.step is not None and not strategy.engine.reason
    assert "loss_epoch" in trainer.callback_metrics
