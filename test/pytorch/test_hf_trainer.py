# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.integrations.transformers: a causal language model under the Trainer, as in
run_clm.py."""

import os

import pytest
import torch

os.environ["HF_HUB_OFFLINE"] = "1"
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from aicf.integrations.transformers import AICFTrainer  # noqa: E402

TOKENS = torch.randint(0, 50, (48, 12), generator=torch.Generator().manual_seed(0))


def model(**more):
    torch.manual_seed(0)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0,
        eos_token_id=0, **{"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, **more}))


def data(lengths=(12,)):
    return [{"input_ids": row[:lengths[i % len(lengths)]],
             "labels": row[:lengths[i % len(lengths)]]} for i, row in enumerate(TOKENS)]


def run(kind, folder, net=None, rows=None, aicf_options=None, **options):
    torch.manual_seed(1)
    arguments = transformers.TrainingArguments(
        str(folder), num_train_epochs=2, per_device_train_batch_size=8, learning_rate=1e-2,
        report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no", logging_steps=3,
        **options)
    more = {"aicf_options": aicf_options} if aicf_options else {}
    trainer = kind(model=net or model(), args=arguments, train_dataset=rows or data(),
                   eval_dataset=data()[:16], **more)
    trainer.train()
    return trainer


def assert_like(own, other, rtol=1e-3, atol=2e-4):
    for (name, a), b in zip(own.model.named_parameters(), other.model.parameters()):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, msg=name)


def test_a_language_model_trains_as_in_transformers(tmp_path):
    own = run(AICFTrainer, tmp_path / "a", lr_scheduler_type="cosine", warmup_steps=2)
    other = run(transformers.Trainer, tmp_path / "b", lr_scheduler_type="cosine",
                warmup_steps=2)
    assert own.engine.step is not None and not own.engine.reason
    assert_like(own, other)
    for name in ("loss", "grad_norm"):
        logged = [[log[name] for log in t.state.log_history if name in log]
                  for t in (own, other)]
        assert logged[0] == pytest.approx(logged[1], rel=5e-3) and len(logged[0]) == 4, name
    assert own.evaluate()["eval_loss"] == pytest.approx(other.evaluate()["eval_loss"], rel=1e-3)
    assert own.state.global_step == other.state.global_step == 12


def test_a_checkpoint_has_the_moments(tmp_path):
    own = run(AICFTrainer, tmp_path / "a")
    other = run(transformers.Trainer, tmp_path / "b")
    for trainer in (own, other):
        trainer.save_model()
        trainer._save_optimizer_and_scheduler(trainer.args.output_dir)
    states = [torch.load(tmp_path / n / "optimizer.pt")["state"] for n in "ab"]
    assert states[0].keys() == states[1].keys()
    for key, value in states[1].items():
        assert float(states[0][key]["step"]) == float(value["step"])
        torch.testing.assert_close(states[0][key]["exp_avg"], value["exp_avg"], rtol=1e-2,
                                   atol=1e-4)
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "a")
    for a, b in zip(again.parameters(), own.model.parameters()):
        assert torch.equal(a, b)


def test_accumulation_goes_on_in_transformers(tmp_path):
    own = run(AICFTrainer, tmp_path / "a", gradient_accumulation_steps=2)
    other = run(transformers.Trainer, tmp_path / "b", gradient_accumulation_steps=2)
    assert own.engine.step is None
    assert own.engine.reason == "gradient_accumulation_steps is 2"
    assert_like(own, other, 1e-5, 1e-6)


def test_batches_of_another_length_go_on_in_transformers(tmp_path):
    """From the first of them on, with what the step has by then."""
    class InOrder:
        def _get_train_sampler(self, *args):
            return torch.utils.data.SequentialSampler(self.train_dataset)
    rows = data([12] * 16 + [10] * 8)
    own = run(type("Own", (InOrder, AICFTrainer), {}), tmp_path / "a", rows=rows)
    other = run(type("Other", (InOrder, transformers.Trainer), {}), tmp_path / "b", rows=rows)
    assert own.engine.step is None and "shape" in own.engine.reason
    assert_like(own, other)


def test_dropout_trains(tmp_path):
    own = run(AICFTrainer, tmp_path, net=model(resid_pdrop=0.1, embd_pdrop=0.1))
    assert own.engine.step is not None
    losses = [log["loss"] for log in own.state.log_history if "loss" in log]
    assert losses[-1] < losses[0]


def test_the_best_checkpoint_is_loaded_and_training_goes_on(tmp_path):
    options = dict(eval_strategy="epoch", load_best_model_at_end=True)
    trainers = []
    for kind, folder in ((AICFTrainer, "a"), (transformers.Trainer, "b")):
        torch.manual_seed(1)
        trainer = kind(model=model(), train_dataset=data(), eval_dataset=data()[:16],
                       args=transformers.TrainingArguments(
                           str(tmp_path / folder), num_train_epochs=3, learning_rate=0.3,
                           per_device_train_batch_size=8, report_to=[], use_cpu=True,
                           disable_tqdm=True, save_strategy="epoch", **options))
        trainer.train()
        trainers.append(trainer)
        best = transformers.GPT2LMHeadModel.from_pretrained(
            trainer.state.best_model_checkpoint)
        for (name, a), b in zip(trainer.model.named_parameters(), best.parameters()):
            assert torch.equal(a, b), name
    assert trainers[0].engine.step is not None
    assert trainers[0].state.best_global_step == trainers[1].state.best_global_step
    found = trainers[0].engine.step.state_dict()
    for name, value in trainers[0].model.named_parameters():
        assert (found["module." + name] == value.detach().numpy()).all()


def test_a_loss_that_reads_the_trainers_state_goes_on_in_transformers(tmp_path):
    class Growing:
        def compute_loss(self, *args, **kwargs):
            return super().compute_loss(*args, **kwargs) * (1 + self.state.epoch)
    own = run(type("Own", (Growing, AICFTrainer), {}), tmp_path / "a", optim="sgd")
    other = run(type("Other", (Growing, transformers.Trainer), {}), tmp_path / "b", optim="sgd")
    assert "reads self.state" in own.engine.reason
    assert_like(own, other)


def test_weights_that_are_set_stay(tmp_path):
    net = model()
    net.to(torch.bfloat16)
    own = run(AICFTrainer, tmp_path, net)
    assert own.engine.step is not None
    weights = {name: torch.zeros_like(value) for name, value in net.state_dict().items()}
    net.load_state_dict(weights)
    own.optimizer = own.lr_scheduler = None
    own.args.learning_rate = 0.0
    own.train()
    assert all(not value.any() for value in net.parameters())
