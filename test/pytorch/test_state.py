# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What modules keep from call to call, and what users change between calls, beside
PyTorch: taken over, or refused by name."""

import copy
import functools
import random
import time

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import aicf.errors
import aicf.torch
import aicf.torch._dry_run
import aicf.torch._state


class Part(nn.Module):
    """A linear layer, and what `prepare` adds; `function` is forward."""

    def __init__(self, function, prepare=lambda s: None):
        super().__init__()
        self.fc, self.function = nn.Linear(4, 4), function
        prepare(self)

    def forward(self, x):
        return self.function(self, x)


def batch(rows=8):
    generator = torch.Generator().manual_seed(rows)
    return [torch.randn(rows, 4, generator=generator) for _ in range(2)]


@pytest.fixture(params=["run", "dry run"])
def first_run(request, monkeypatch):
    """How it is found what a module keeps: a run without data goes first, or none."""
    if request.param == "dry run":
        monkeypatch.setattr(aicf.torch._dry_run, "LONG_RUN", 0)


def step_of(module, **options):
    x, y = batch()
    return aicf.torch.compile_step(module, F.mse_loss, torch.optim.SGD(
        module.parameters(), lr=0.1), [x], [y], **options)


def losses(module, calls=4, rows=8):
    x, y = batch(rows)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    found = []
    for _ in range(calls):
        optimizer.zero_grad()
        loss = F.mse_loss(module(x), y)
        loss.backward()
        optimizer.step()
        found.append(float(loss.detach()))
    return found


def counted(s, x):
    s.n = s.n + 1
    return s.fc(x) / (1 + s.n)


def recurrent(s, x):
    hidden = torch.tanh(s.fc(x) + s.h)
    s.h = hidden.detach()
    return hidden


def two(s, x):
    a, b = s.hidden
    s.hidden = (x + a / 2, b + 1)
    return s.fc(x) + a + b


def in_place(s, x):
    s.h.mul_(0.5).add_(x)
    return s.fc(s.h.clone())


def nested(s, x):
    s.held["h"] = s.held["h"] + x.detach()
    return s.fc(x) + s.held["h"]


def written_alone(s, x):
    y = s.fc(x)
    s.last = y.detach() * 2
    return y


STATES = {
    "a buffer that is assigned": (counted, lambda s: s.register_buffer("n", torch.zeros(())),
                                  "n"),
    "an attribute": (recurrent, lambda s: setattr(s, "h", torch.zeros(8, 4)), "h"),
    "a tuple": (two, lambda s: setattr(s, "hidden", (torch.zeros(8, 4), torch.ones(()))),
                "hidden"),
    "an attribute that is written": (in_place, lambda s: setattr(s, "h", torch.zeros(8, 4)),
                                     "h"),
    "an attribute that is only set": (written_alone, lambda s: setattr(s, "last", None),
                                      "last"),
}


@pytest.mark.parametrize("name", STATES)
def test_states(name, first_run):
    function, prepare, key = STATES[name]
    module = Part(function, prepare)
    theirs = copy.deepcopy(module)
    step, (x, y) = step_of(module), batch()
    before = getattr(module, key)
    assert [float(step(x, y)) for _ in range(4)] == pytest.approx(losses(theirs), rel=1e-5)
    step.sync_to_module()
    for a, b in zip(*(value if isinstance(value, tuple) else [value]
                      for value in (getattr(module, key), getattr(theirs, key)))):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    # What the module starts with is taken, too.
    setattr(module, key, before)
    module.fc.load_state_dict(copy.deepcopy(theirs.fc.state_dict()))
    setattr(theirs, key, copy.deepcopy(before))
    step.load_from_module()
    assert [float(step(x, y)) for _ in range(2)] == pytest.approx(losses(theirs, 2), rel=1e-5)


def test_states_are_in_checkpoints(tmp_path):
    module = Part(recurrent, lambda s: setattr(s, "h", torch.zeros(8, 4)))
    step, (x, y) = step_of(module), batch()
    float(step(x, y))
    step.save_checkpoint(tmp_path / "c.safetensors")
    assert "h" not in step.state_dict() and "h" in step.state_dict(optimizer=True)
    expected = [float(step(x, y)) for _ in range(2)]
    step.load_checkpoint(tmp_path / "c.safetensors")
    assert [float(step(x, y)) for _ in range(2)] == expected


def test_a_prediction_reads_a_state():
    module = Part(lambda s, x: recurrent(s, x) if s.training else s.fc(x) + s.h,
                  lambda s: setattr(s, "h", torch.zeros(8, 4)))
    theirs = copy.deepcopy(module)
    step, (x, y) = step_of(module), batch()
    step(x, y)
    losses(theirs, 1)
    np.testing.assert_allclose(step.predict(x), theirs.eval()(x).detach(), rtol=1e-4)


@functools.lru_cache
def positions(count):
    return torch.arange(float(count))


def grows(s, x):
    if s.bias is None:
        s.register_buffer("bias", torch.arange(4.0), persistent=False)
    return s.fc(x) + s.bias


def remembers(s, x):
    if len(x) not in s.masks:
        s.masks[len(x)] = torch.linspace(0, 1, len(x)).unsqueeze(1)
        s.count = len(s.masks)
    return s.fc(x) * s.masks[len(x)]


@pytest.mark.parametrize("module", [
    Part(lambda s, x: s.fc(x) + positions(4)),
    Part(grows, lambda s: s.register_buffer("bias", None, persistent=False)),
    Part(remembers, lambda s: setattr(s, "masks", {})),
])
def test_caches_are_constants(module, first_run):
    module, theirs = copy.deepcopy(module), copy.deepcopy(module)
    positions.cache_clear()
    step, (x, y) = step_of(module), batch()
    assert module.__dict__.keys() == theirs.__dict__.keys()
    assert getattr(module, "masks", {}) == {} and getattr(module, "bias", None) is None
    assert float(step(x, y)) == pytest.approx(losses(theirs, 1)[0], rel=1e-5)
    small = batch(5)
    module.load_state_dict(theirs.state_dict())
    assert float(step(*small)) == pytest.approx(losses(theirs, 1, rows=5)[0], rel=1e-5)
    assert type(module(x)) is type(positions(4)) is torch.Tensor


def draws(s, x):
    return s.fc(x) * (random.random() if s.kind else np.random.rand())


def starts_late(s, x):
    s.h = x if s.h is None else s.h + x
    return s.fc(s.h)


def grows_on(s, x):
    s.h = torch.cat([s.h, x])
    return s.fc(x)


def set_by_the_first(s, x):
    if not s.is_ready:
        s.is_ready = True
        return s.fc(x) * 2
    return s.fc(x)


def normalises(s, x):
    with torch.no_grad():
        s.fc.weight.mul_(0.5)
    return s.fc(x)


@pytest.mark.parametrize("function, attributes, match", [
    (draws, {"kind": 1}, "draws from Python's random"),
    (draws, {"kind": 0}, "draws from numpy.random"),
    (starts_late, {"h": None}, "h is read before it is a tensor"),
    (grows_on, {"h": torch.zeros(8, 4)}, "h changes from float32 of .8, 4. to .* of .16, 4."),
    (nested, {"held": {"h": torch.zeros(8, 4)}}, "held.h changes in each call"),
    (set_by_the_first, {"is_ready": False}, "is_ready is set by the first call"),
    (normalises, {}, "fc.weight changes when the module runs"),
    (lambda s, x: s.fc(x).detach_() + s.fc(x), {}, "write x = x.detach"),
])
def test_refused(function, attributes, match, first_run):
    module = Part(function, lambda s: s.__dict__.update(attributes))
    before = {k: v for k, v in module.__dict__.items() if k in attributes}
    states = random.getstate(), str(np.random.get_state()), torch.get_rng_state()
    with pytest.raises(aicf.TraceError, match=match):
        step_of(module)
    assert all(module.__dict__[k] is v for k, v in before.items())
    assert states[:2] == (random.getstate(), str(np.random.get_state()))
    assert torch.equal(states[2], torch.get_rng_state())


def test_inference_mode_is_without_gradient():
    def forward(s, x):
        with torch.inference_mode():
            h = s.fc(x)
        return s.fc(h.clone())
    module = Part(forward)
    theirs = copy.deepcopy(module)
    step, (x, y) = step_of(module), batch()
    assert [float(step(x, y)) for _ in range(3)] == pytest.approx(losses(theirs, 3), rel=1e-5)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_statistics_under_checkpointing(use_reentrant):
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4))
    module = Part(lambda s, x: checkpoint(s.net, s.fc(x), use_reentrant=use_reentrant),
                  lambda s: setattr(s, "net", net))
    theirs = copy.deepcopy(module)
    step, (x, y) = step_of(module), batch()
    assert [float(step(x, y)) for _ in range(3)] == pytest.approx(losses(theirs, 3), rel=1e-5)
    torch.testing.assert_close(net[1].running_var, theirs.net[1].running_var)
    assert net[1].num_batches_tracked == theirs.net[1].num_batches_tracked == 6


# Several steps, and what users do between calls

def test_two_steps_share_buffers():
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    module = Part(lambda s, x: s.net(s.fc(x)), lambda s: setattr(s, "net", net))
    a, b = step_of(module), step_of(module)
    for _ in range(3):
        a(*batch())
        b(*batch())
    assert net[1].num_batches_tracked == 6
    assert {"net.1.running_mean", "net.1.num_batches_tracked", "fc.weight"} <= a.shared


def test_what_is_replaced_is_seen_at_the_next_call():
    module = Part(lambda s, x: s.net(s.fc(x)) * s.mask,
                  lambda s: setattr(s, "net", nn.BatchNorm1d(4)))
    module.register_buffer("mask", torch.ones(4))
    for change, match in [
            (lambda: setattr(module, "fc", nn.Linear(4, 4)), "'fc.weight' is another one"),
            (lambda: setattr(module.fc, "bias", nn.Parameter(torch.ones(4))), "'fc.bias' is"),
            (lambda: setattr(module, "mask", torch.zeros(4)), "'mask' is another one")]:
        step = step_of(module)
        change()
        with pytest.raises(aicf.errors.InvalidArgumentError, match=match):
            step(*batch())
    step = step_of(module)
    module.net.running_mean = torch.full((4,), 3.0)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="load_from_module"):
        step(*batch())
    step.load_from_module()
    step(*batch())
    assert module.net.running_mean[0] < 3.0 and "net.running_mean" in step.shared


@pytest.mark.parametrize("change, match", [
    (lambda m: m.mask.fill_(2.0), "'mask' has been written"),
    (lambda m: m.fc.bias.requires_grad_(False), "requires_grad of parameter 'fc.bias'"),
    (lambda m: setattr(m.fc.weight, "data", torch.ones(4, 4)), "'fc.weight' has other memory"),
])
def test_what_is_written_is_seen_soon(change, match):
    module = Part(lambda s, x: s.fc(x) * s.mask)
    module.register_buffer("mask", torch.ones(4))
    step = step_of(module)
    step(*batch())
    change(module)
    with pytest.raises(aicf.errors.InvalidArgumentError, match=match):
        for _ in range(2):  # one of two parameters is looked at with each call
            step(*batch())


def test_moments_that_are_loaded_later_are_taken():
    module = Part(lambda s, x: s.fc(x))
    theirs = copy.deepcopy(module)
    x, y = batch()
    optimizer, other = (torch.optim.Adam(m.parameters(), lr=0.1) for m in (module, theirs))
    step = aicf.torch.compile_step(module, F.mse_loss, optimizer, [x], [y])
    for _ in range(3):
        other.zero_grad()
        F.mse_loss(theirs(x), y).backward()
        other.step()
    module.load_state_dict(theirs.state_dict())
    optimizer.load_state_dict(copy.deepcopy(other.state_dict()))
    step(x, y)
    other.zero_grad()
    F.mse_loss(theirs(x), y).backward()
    other.step()
    torch.testing.assert_close(module.fc.weight, theirs.fc.weight, rtol=1e-5, atol=1e-6)
    step.sync_to_optimizer()
    assert int(optimizer.state[module.fc.weight]["step"]) == 4


def test_state_that_somebody_looked_at_is_not_lost():
    module, (x, y) = Part(lambda s, x: s.fc(x)), batch()
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    step = aicf.torch.compile_step(module, F.mse_loss, optimizer, [x], [y])
    step(x, y)
    assert optimizer.state[module.fc.weight] == {}  # which makes an entry
    step(x, y)
    step.sync_to_optimizer()
    assert int(optimizer.state[module.fc.weight]["step"]) == 2
    optimizer.state.clear()
    step(x, y)
    step.sync_to_optimizer()
    assert int(optimizer.state[module.fc.weight]["step"]) == 1


def test_a_module_that_keeps_a_graph_is_verified():
    def forward(s, x):
        s.last = s.fc(x)
        return s.last * 2
    module = Part(forward, lambda s: setattr(s, "last", None))
    x, y = batch()
    module(x)
    assert module.last.grad_fn is not None
    assert float(step_of(module, verify=True)(x, y)) > 0


def test_parameters_in_the_same_memory_are_refused():
    base = torch.ones(6)
    module = Part(lambda s, x: s.fc(x) + s.a + s.b)
    module.a, module.b = nn.Parameter(base[:4]), nn.Parameter(base[2:])
    with pytest.raises(aicf.errors.InvalidArgumentError, match="'a' and 'b' are different"):
        step_of(module)
    module.a, module.b = nn.Parameter(torch.ones(1).expand(4)), nn.Parameter(torch.ones(4))
    with pytest.raises(aicf.errors.InvalidArgumentError, match="'a' is expanded"):
        step_of(module)


def test_a_long_run_is_one_without_data(monkeypatch):
    monkeypatch.setattr(aicf.torch._dry_run, "LONG_RUN", 0)
    runs = []
    run = aicf.torch._state._run
    monkeypatch.setattr(aicf.torch._state, "_run", lambda *a: runs.append(a) or run(*a))
    step_of(Part(lambda s, x: s.fc(x).relu()))
    assert not runs

    def keeps(s, x):
        s.last = x.detach()
        return s.fc(x)
    for function, prepare in [
            (keeps, lambda s: setattr(s, "last", torch.zeros(8, 4))),
            (lambda s, x: s.fc(x) + s.n.add_(1), lambda s: s.register_buffer("n", torch.zeros(4))),
            (lambda s, x: s.fc(x if x.abs().sum() > 0 else -x), lambda s: None)]:
        step_of(Part(function, prepare), branches="check")
        assert runs
        runs.clear()


def pure(s, x):
    h = x + s.h
    h[0] = 0
    return s.fc(h.view(-1, 2, 2).flatten(1))


@pytest.mark.parametrize("function", [
    lambda s, x: torch.add(x, 1, out=s.h), lambda s, x: s.h.copy_(x),
    lambda s, x: s.h.__setitem__(0, x[0]), lambda s, x: s.h.view(4, 8)[1:].t().zero_(),
    lambda s, x: s.h.uniform_(), lambda s, x: s.fc.weight.detach().mul_(2),
    lambda s, x: F.batch_norm(x, s.h[0], s.h[1], training=True), pure])
def test_a_run_without_data_sees_what_is_written(function):
    """In place, by a view, and where no schema says so."""
    part = Part(function, lambda s: setattr(s, "h", torch.ones(8, 4)))
    found = aicf.torch._dry_run.leaves_nothing(part, batch()[:1], lambda: False)
    assert found == (function is pure)


def test_a_long_run_is_by_its_products():
    x = [torch.zeros(1000, 4)]
    module = nn.Linear(4, 4)
    assert not aicf.torch._dry_run.would_take_long(module, x)
    assert aicf.torch._dry_run.would_take_long(nn.Linear(4096, 4096), [torch.zeros(4096, 4096)])
    assert aicf.torch._dry_run.would_take_long(
        nn.Linear(4096, 4096), [torch.zeros(4, 1024, dtype=torch.int64)])


def test_a_run_without_data_that_hangs_ends(monkeypatch):
    monkeypatch.setattr(aicf.torch._dry_run, "LONG_RUN", 0)
    monkeypatch.setattr(aicf.torch._dry_run, "_MOST_SECONDS", 0.2)
    monkeypatch.setattr(aicf.torch._dry_run, "_runs_dry", lambda *_: time.sleep(60))
    start = time.monotonic()
    step_of(Part(lambda s, x: s.fc(x)))
    assert time.monotonic() - start < 30
