# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, checks and Python numbers that values of tensors decide, beside PyTorch."""

import copy
import logging

import pytest
import torch
import torch.nn.functional as F
from cases import Of
from torch import nn

import aicf.torch
from aicf.errors import BranchError, InvalidArgumentError


def pair(module, loss_fn, inputs, targets=(), calls=3, **options):
    """Losses of our step and of PyTorch's."""
    theirs = copy.deepcopy(module)
    step = aicf.torch.compile_step(module, loss_fn, torch.optim.SGD(
        module.parameters(), lr=0.1), inputs, targets, **options)
    optimizer, found = torch.optim.SGD(theirs.parameters(), lr=0.1), []
    for _ in range(calls):
        optimizer.zero_grad()
        loss = loss_fn(theirs(*inputs), *targets)
        loss.backward()
        optimizer.step()
        found.append(float(loss.detach()))
    assert [float(step(*inputs, *targets)) for _ in range(calls)] == pytest.approx(
        found, rel=1e-4)
    return step


def test_a_transformer_asks_whether_its_mask_is_causal():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.both = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True)

        def forward(self, x):
            mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
            return self.both(self.encoder(x, mask=mask), x, tgt_mask=mask)
    x, y = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    step = pair(Model(), F.mse_loss, [x], [y])
    assert float(step(x[:1], y[:1])) > 0  # another mask is made for another size


@pytest.fixture
def notes(caplog):
    caplog.set_level(logging.INFO, "aicf")
    return caplog


def test_checks_of_values_are_left_out_and_named(notes):
    def forward(s, x):
        y = s.a(x).softmax(-1)
        assert torch.isfinite(y).all()
        if (y < 0).any().item():
            raise ValueError("negative")
        torch._assert((y <= 1).all(), "more than one")
        return torch.distributions.Categorical(y).log_prob(torch.ones(len(x)))
    module, x = Of(forward, a=nn.Linear(4, 3)), torch.randn(6, 4)
    step = pair(module, lambda p: -p.mean(), [x])
    assert "leaves out what Of checks of values: " in notes.text
    assert notes.text.count("test_branches.py:") == 2 and "distributions" in notes.text
    step(x[:4])


@pytest.mark.parametrize("distribution", [
    lambda y: torch.distributions.Normal(y[:, 0], y[:, 1].exp()).log_prob(y[:, 2]),
    lambda y: torch.distributions.Bernoulli(logits=y).entropy(),
    lambda y: torch.distributions.kl_divergence(
        torch.distributions.Normal(y[:, 0], y[:, 1].exp()),
        torch.distributions.Normal(torch.zeros(6), torch.ones(6))),
])
def test_distributions(distribution):
    pair(Of(lambda s, x: s.a(x), a=nn.Linear(4, 3)),
         lambda y: -distribution(y).mean(), [torch.randn(6, 4)])


def test_constants_decide():
    def forward(s, x):
        mask = torch.arange(4) >= 2
        if mask.all() or torch.equal(s.scale, torch.zeros(4)):
            return s.a(x)
        count = int(mask.sum().item())
        return s.a(x)[:, :count] * float(s.scale[1]) + len(s.scale.tolist())
    module = Of(forward, a=nn.Linear(4, 4))
    module.register_buffer("scale", torch.tensor([1.0, 3.0, 2.0, 2.0]))
    pair(module, F.mse_loss, [torch.randn(6, 4)], [torch.randn(6, 2)])


@pytest.mark.parametrize("forward, match", [
    (lambda s, x: s.a(x) if x.mean() > 0 else -s.a(x), "__bool__ gave"),
    (lambda s, x: s.a(x) * x.abs().max().item(), "item gave"),
    (lambda s, x: s.a(x) * float(s.a.weight.sum()), "__float__ gave"),
    (lambda s, x: s.a(x)[:, :1 + int(x[0, 0] > 9)], "__int__ gave 0"),
    (lambda s, x: s.a(x) if torch.equal(x, x + 1) else -s.a(x), "equal gave False"),
])
def test_other_values_are_refused(forward, match):
    with pytest.raises(aicf.TraceError, match=match) as error:
        pair(Of(forward, a=nn.Linear(4, 2)), F.mse_loss, [torch.randn(6, 4)],
             [torch.randn(6, 2)])
    assert error.value.filename == __file__


def guarded(forward, **options):
    module = Of(forward, a=nn.Linear(4, 2))
    x, y = torch.rand(6, 4), torch.randn(6, 2)
    return x, y, pair(module, F.mse_loss, [x], [y], branches="check", **options)


def state_of(step):
    return {name: value.copy() for name, value in step.state_dict().items()}


def unchanged(step, before):
    after = state_of(step)
    return all((before[name] == after[name]).all() for name in before)


def test_branches_are_checked_at_each_call():
    def forward(s, x):
        if x.mean() > 0:
            return s.a(x)
        return -s.a(x)
    x, y, step = guarded(forward)
    before = state_of(step)
    line = forward.__code__.co_firstlineno + 1
    with pytest.raises(BranchError, match=r"test_branches\.py:%d: __bool__ gave True" % line):
        step(-x, y)
    assert unchanged(step, before)
    assert float(step(x, y)) > 0 and not unchanged(step, before)
    with pytest.raises(BranchError):
        step(-x[:2], y[:2])  # another size has its own entry
    step(x[:2], y[:2])
    with pytest.raises(BranchError):
        step.program["train_step@2"](-x[:2], y[:2])
    for call in (step, lambda: step.run(2)):
        with pytest.raises(InvalidArgumentError, match="takes its inputs with each call"):
            call()


def test_each_decision_is_named():
    """Of activations and of numbers, too; what constants decide is none."""
    def forward(s, x):
        y = s.a(x)
        scale = x.abs().max().item()
        if torch.arange(3).sum() == 3 and (y.abs() < 100).all():
            y = y * scale
        return y
    x, y, step = guarded(forward)
    with pytest.raises(BranchError) as error:
        step(x * 1000, y)
    text = str(error.value)
    assert "item gave 0." in text and "__bool__ gave True" in text and text.count(";") == 1
    assert "train_step.branches" in step.program.entries


def test_branches_that_change_with_the_parameters():
    """The step moves a weight until the branch turns: with the values of now."""
    def forward(s, x):
        return s.a(x).mean() * (1.0 if s.a.bias.sum() > 0 else -1.0)
    module = Of(forward, a=nn.Linear(4, 2))
    with torch.no_grad():
        module.a.bias.fill_(0.25)
    step = aicf.torch.compile_step(module, lambda v: v, torch.optim.SGD(
        module.parameters(), lr=0.1), [torch.rand(6, 4)], branches="check")
    for call in range(9):
        if float(module.a.bias.sum()) <= 0:
            break
        step(torch.rand(6, 4))
    assert 3 < call < 8
    with pytest.raises(BranchError):
        step(torch.rand(6, 4))


@pytest.mark.parametrize("branches", ["refuse", "check"])
def test_sizes_of_values(branches):
    module = Of(lambda s, x: s.a(x[x[:, 0] > 0.5]).mean(0, keepdim=True), a=nn.Linear(4, 2))
    with pytest.raises(aicf.TraceError, match="size of a tensor depends on the values"):
        aicf.torch.compile_step(module, F.mse_loss, torch.optim.SGD(
            module.parameters(), lr=0.1), [torch.rand(6, 4)], [torch.randn(1, 2)],
            branches=branches)


def test_numbers_that_are_rounded():
    """A sum has other roundings in the step: the example is taken all the same."""
    x, y, step = guarded(lambda s, x: s.a(x) * x.sum().item() * x.softmax(-1).max().item()
                         + sum(x.sum(0).tolist()))
    with pytest.raises(BranchError, match="item gave"):
        step(x * 1.001, y)


def test_draws_decide_nothing():
    with pytest.raises(aicf.TraceError, match="__bool__ gave"):
        guarded(lambda s, x: s.a(x) if torch.rand_like(x).mean() > 0 else -s.a(x))


def test_branches_that_are_no_word():
    with pytest.raises(ValueError, match='expected "refuse" or "check"'):
        aicf.torch.compile_step(
            nn.Linear(4, 2), F.mse_loss, torch.optim.SGD([torch.zeros(1)], 0.1),
            [torch.rand(6, 4)], [torch.rand(6, 2)], branches="guess")


def test_pytorch_is_left_as_it_was():
    before = dict(torch.Tensor.__dict__), torch.equal, torch.allclose
    pair(Of(lambda s, x: s.a(x), a=nn.Linear(4, 2)), F.mse_loss, [torch.randn(6, 4)],
         [torch.randn(6, 2)])
    assert before == (dict(torch.Tensor.__dict__), torch.equal, torch.allclose)
    assert bool(torch.ones(())) and torch.ones(()).item() == 1.0
