# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers: groups, schedulers that are not ours, state that goes both ways."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from cases import mlp

import aicf.torch


def data(rows=6):
    torch.manual_seed(1)
    return torch.randn(rows, 6), torch.randint(0, 3, (rows,))


def groups_of(net):
    return [{"params": [net[0].weight], "lr": 2.0 ** -5, "weight_decay": 0.125},
            {"params": [net[0].bias, net[2].bias], "weight_decay": 0.0},
            {"params": [net[2].weight]}]


MAKERS = {
    "adamw": lambda p: torch.optim.AdamW(p, lr=2.0 ** -6, betas=(0.75, 0.875)),
    "adam": lambda p: torch.optim.Adam(p, lr=2.0 ** -6, weight_decay=0.125, eps=2.0 ** -10),
    "adam_decoupled": lambda p: torch.optim.Adam(p, lr=2.0 ** -6, weight_decay=0.125,
                                                 decoupled_weight_decay=True),
    "sgd": lambda p: torch.optim.SGD(p, lr=2.0 ** -4, weight_decay=0.125),
    "momentum": lambda p: torch.optim.SGD(p, lr=2.0 ** -4, momentum=0.875),
    "nesterov": lambda p: torch.optim.SGD(p, lr=2.0 ** -4, momentum=0.875, nesterov=True,
                                          weight_decay=0.125),
}


O = torch.optim
#: Those that are update rules. Their numbers are exact in f32.
RULES = {
    "rmsprop": lambda p: O.RMSprop(p, lr=2.0 ** -6, alpha=0.875, eps=2.0 ** -10),
    "rmsprop_all": lambda p: O.RMSprop(p, lr=2.0 ** -7, alpha=0.875, eps=2.0 ** -8,
                                       weight_decay=0.125, momentum=0.75, centered=True),
    "adagrad": lambda p: O.Adagrad(p, lr=2.0 ** -4, lr_decay=2.0 ** -5, eps=2.0 ** -20,
                                   initial_accumulator_value=0.5, weight_decay=0.125),
    "adadelta": lambda p: O.Adadelta(p, lr=1.0, rho=0.875, eps=2.0 ** -16),
    "adamax": lambda p: O.Adamax(p, lr=2.0 ** -7, betas=(0.75, 0.875), eps=2.0 ** -20),
    "nadam": lambda p: O.NAdam(p, lr=2.0 ** -7, betas=(0.75, 0.875), eps=2.0 ** -20,
                               momentum_decay=2.0 ** -8),
    "nadam_decoupled": lambda p: O.NAdam(p, lr=2.0 ** -7, betas=(0.75, 0.875), eps=2.0 ** -20,
                                         weight_decay=0.125, decoupled_weight_decay=True),
    "radam": lambda p: O.RAdam(p, lr=2.0 ** -6, betas=(0.75, 0.9375), eps=2.0 ** -20),
    "amsgrad": lambda p: O.AdamW(p, lr=2.0 ** -6, betas=(0.75, 0.875), amsgrad=True,
                                 eps=2.0 ** -20),
    "maximize": lambda p: O.Adam(p, lr=2.0 ** -8, betas=(0.75, 0.875), maximize=True,
                                 eps=2.0 ** -20),
    "dampening": lambda p: O.SGD(p, lr=2.0 ** -4, momentum=0.75, dampening=0.25,
                                 weight_decay=0.125),
    "sgd_maximize": lambda p: O.SGD(p, lr=2.0 ** -8, maximize=True),
}
MAKERS.update(RULES)


def both(maker, schedule=lambda optimizer: None, steps=12, dtype=torch.float64,
         clip_norm=0.0, accumulate=1):
    """States of a net that PyTorch has trained, and of one that a step has."""
    torch.manual_seed(0)
    net = mlp(6, 8, 3).to(dtype)
    theirs = copy.deepcopy(net)
    x, labels = data()
    x = x.to(dtype)
    optimizer = maker(groups_of(theirs))
    scheduler = schedule(optimizer)
    for i in range(steps):
        (F.cross_entropy(theirs(x * (1 + i % 3)), labels) / accumulate).backward()
        if (i + 1) % accumulate == 0:
            if clip_norm:
                torch.nn.utils.clip_grad_norm_(theirs.parameters(), clip_norm)
            optimizer.step()
            optimizer.zero_grad()
            if scheduler is not None:
                scheduler.step()
    own = maker(groups_of(net))
    own_scheduler = schedule(own)
    step = aicf.torch.compile_step(net, F.cross_entropy, own, [x], [labels],
                                   clip_norm=clip_norm, accumulate=accumulate)
    for i in range(steps):
        step(x * (1 + i % 3), labels)
        if own_scheduler is not None and (i + 1) % accumulate == 0:
            own_scheduler.step()
    step.sync_to_module()
    return theirs.state_dict(), net.state_dict(), step


def same(a, b, rtol=1e-6, atol=1e-8):
    assert a.keys() == b.keys()
    for key in a:
        torch.testing.assert_close(a[key], b[key], rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", MAKERS)
def test_groups(name):
    same(*both(MAKERS[name])[:2])


@pytest.mark.parametrize("name", MAKERS)
def test_groups_in_f32(name):
    same(*both(MAKERS[name], dtype=torch.float32)[:2], rtol=2e-5, atol=1e-6)


def test_clipping_and_accumulation():
    same(*both(MAKERS["adamw"], clip_norm=0.25, accumulate=3)[:2])
    same(*both(MAKERS["momentum"], accumulate=2)[:2])


@pytest.mark.parametrize("name", ["rmsprop", "amsgrad", "dampening"])
def test_clipping_for_a_rule(name):
    same(*both(MAKERS[name], clip_norm=0.25)[:2], rtol=1e-4, atol=1e-6)


def test_a_rate_that_is_a_tensor():
    x, labels = data()
    nets = [mlp(6, 8, 3) for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())
    rates = [torch.tensor(2.0 ** -4), torch.tensor(2.0 ** -4)]
    own, theirs = (torch.optim.AdamW(net.parameters(), lr=rate)
                   for net, rate in zip(nets, rates))
    step = aicf.torch.compile_step(nets[0], F.cross_entropy, own, [x], [labels])
    for i in range(4):
        step(x, labels)
        in_pytorch(nets[1], theirs, 1, x, labels)
        for rate in rates:
            rate.mul_(0.5)
    step.sync_to_module()
    same(nets[0].state_dict(), nets[1].state_dict(), rtol=1e-4, atol=1e-6)


SCHEDULES = {
    "step": lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.5),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 10),
    "lambda": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda i: 1 / (i + 1)),
    "one_cycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 2.0 ** -4, total_steps=20),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["adamw", "momentum", "rmsprop_all", "nadam"])
def test_schedulers(name, schedule):
    """OneCycleLR moves betas and momentum, too."""
    theirs, ours, step = both(MAKERS[name], SCHEDULES[schedule])
    same(theirs, ours, rtol=1e-5)
    assert len(step.program.entries) == 1  # nothing was compiled again


def test_numbers_are_read_before_each_call():
    net = mlp(6, 8, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    x, labels = data()
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [labels])
    step(x, labels)
    optimizer.param_groups[0]["lr"] = 0.0
    before = copy.deepcopy(net.state_dict())
    step(x, labels)
    same(net.state_dict(), before)
    optimizer.param_groups[0]["lr"] = -1.0
    with pytest.raises(ValueError, match=r"param_groups\[0\]\['lr'\] is -1.0"):
        step(x, labels)
    optimizer.param_groups[0]["lr"] = math.nan
    with pytest.raises(ValueError, match="nan"):
        step(x, labels)
    optimizer.param_groups[0].update(lr=0.1, momentum=0.9)
    with pytest.raises(ValueError, match="no momentum"):
        step(x, labels)
    optimizer.param_groups[0]["momentum"] = 0
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.zeros(1))]})
    with pytest.raises(ValueError, match="has 2 groups"):
        step(x, labels)


@pytest.mark.parametrize("name", ["adamw", "adam", "momentum", *RULES])
def test_state_goes_both_ways(name):
    """100 steps in PyTorch, 100 here, 100 in PyTorch are 300 in PyTorch. Rules whose steps
    are signs of small gradients magnify roundings: of those it is 10."""
    count = 10 if name in RULES else 100
    x, labels = data()
    x = x.double()

    def train(net, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            F.cross_entropy(net(x), labels).backward()
            optimizer.step()
    torch.manual_seed(0)
    net = mlp(6, 8, 3).double()
    reference = copy.deepcopy(net)
    train(reference, MAKERS[name](groups_of(reference)), 3 * count)
    optimizer = MAKERS[name](groups_of(net))
    train(net, optimizer, count)
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [labels])
    for _ in range(count):
        step(x, labels)
    step.sync_to_module()
    step.sync_to_optimizer()
    train(net, optimizer, count)
    same(reference.state_dict(), net.state_dict(), rtol=1e-5)
    saved = optimizer.state_dict()["state"]
    assert len(saved) == 4


def in_pytorch(net, optimizer, count, x, labels):
    for _ in range(count):
        optimizer.zero_grad()
        F.cross_entropy(net(x), labels).backward()
        optimizer.step()


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_each_parameter_counts_its_own_updates(kind):
    """Gradual unfreezing: PyTorch corrects the moments of each by its own count."""
    net = mlp(6, 8, 3)
    net[0].requires_grad_(False)
    optimizer = kind(net[2].parameters(), lr=0.05)
    x, labels = data()
    in_pytorch(net, optimizer, 3, x, labels)
    net[0].requires_grad_(True)
    optimizer.add_param_group({"params": list(net[0].parameters()), "lr": 0.02})
    reference = copy.deepcopy(net)
    theirs = kind([{"params": list(reference[2].parameters()), "lr": 0.05},
                   {"params": list(reference[0].parameters()), "lr": 0.02}])
    theirs.load_state_dict(optimizer.state_dict())
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [labels])
    for _ in range(4):
        step(x, labels)
    in_pytorch(reference, theirs, 4, x, labels)
    step.sync_to_module()
    same(reference.state_dict(), net.state_dict(), rtol=1e-5)
    step.sync_to_optimizer()
    counts = [int(optimizer.state[p]["step"]) for g in optimizer.param_groups
              for p in g["params"]]
    assert counts == [7, 7, 4, 4]
    step.load_optimizer_state()  # the same distances
    optimizer.state[net[0].weight]["step"].fill_(1)
    with pytest.raises(ValueError, match="0.weight has had 6 updates fewer than others, and 3 "
                                         "fewer when the step was compiled"):
        step.load_optimizer_state()


def test_parameters_that_the_optimizer_has_not_stay():
    net = mlp(6, 8, 3)
    optimizer = torch.optim.AdamW(net[2].parameters(), lr=0.1, weight_decay=0.5)
    x, labels = data()
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [labels])
    before = copy.deepcopy(net[0].state_dict())
    last = copy.deepcopy(net[2].state_dict())
    step(x, labels)
    same(before, net[0].state_dict())
    assert not torch.equal(last["weight"], net[2].weight)
