# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Torch modules on a GPU. Without one, what the order of streams asks of PyTorch is
tested alone."""

import copy

import pytest
import torch
import torch.nn.functional as F
from cases import CASES
from judge import close, in_type, trained_by_torch
from torch import nn

import aicf
import aicf.torch

STEPS = 20


def has_gpu():
    if not torch.cuda.is_available():
        return False
    try:
        aicf.device("cuda")
    except aicf.AICFError:
        return False
    return True


gpu = pytest.mark.skipif(not has_gpu(), reason="no GPU")


def sgd(module):
    return torch.optim.SGD(module.parameters(), lr=2.0 ** -6, momentum=0.5)


def on_card(values):
    return [v.cuda() for v in values]


@gpu
@pytest.mark.parametrize("name", [
    "mlp_classifier", "mlp_batch_norm", "residual_mlp", "mixer", "dlrm",
    "attention_by_hand", "sdpa_causal", "nanogpt", "lookups", "simsiam_detach"])
def test_trains_as_in_pytorch(name):
    torch.manual_seed(0)
    module, loss_fn, inputs, targets = CASES[name]()
    single, double = (trained_by_torch(module, loss_fn, inputs, targets, sgd, STEPS, dtype)
                      for dtype in (torch.float32, torch.float64))
    module, loss_fn = in_type(module, loss_fn, torch.float32)
    module.cuda()
    inputs, targets = on_card(inputs), on_card(targets)
    step = aicf.torch.compile_step(module, loss_fn, sgd(module), inputs, targets,
                                   device="cuda")
    losses = [float(step(*inputs, *targets)) for _ in range(STEPS)]
    close(losses, single[0], double[0], "the losses")
    step.sync_to_module()
    for key, value in module.state_dict().items():
        close(value.cpu(), single[2][key], double[2][key], key)


def wide_step(**numbers):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 8)).cuda()
    x, y = torch.randn(256, 2048).cuda(), torch.randint(0, 8, (256,)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), **{"lr": 0.125, **numbers})
    return net, x, y, aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [y],
                                              device="cuda")


@gpu
def test_parameters_are_the_modules():
    net, x, y, step = wide_step()
    assert step.shared == set(dict(net.named_parameters()))
    pointers = [p.data_ptr() for p in net.parameters()]
    step(x, y)
    assert pointers == [p.data_ptr() for p in net.parameters()]
    memory = step.memory_analysis()
    assert memory["shared_bytes"] == memory["module_bytes"]


@gpu
def test_pytorch_reads_behind_a_step():
    """Its stream waits, and the host does not."""
    net, x, y, step = wide_step()
    reference = copy.deepcopy(net)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.125)
    for _ in range(30):
        for _ in range(8):
            step(x, y)
            sums = [p.sum() for p in net.parameters()]  # on PyTorch's stream, at once
            optimizer.zero_grad()
            F.cross_entropy(reference(x), y).backward()
            optimizer.step()
        later = [p.sum() for p in net.parameters()]
        torch.cuda.synchronize()
        assert [float(a) for a in sums] == [float(a) for a in later]
    for own, theirs in zip(net.parameters(), reference.parameters()):
        torch.testing.assert_close(own, theirs, rtol=1e-3, atol=1e-4)


@gpu
def test_a_step_reads_behind_pytorch():
    net, x, y, step = wide_step(lr=0.0)
    slow = torch.randn(4096, 4096, device="cuda")
    host_x, host_y = x.cpu().numpy(), y.cpu().numpy()  # these order nothing by themselves
    for i in range(10):
        with torch.no_grad():
            for _ in range(20):
                slow = slow @ slow
                slow = slow / slow.norm()
            net[2].weight.fill_(0)
            net[2].bias.fill_(0)
            net[2].bias[0] = i
        bias = torch.zeros(8, dtype=torch.float64)
        bias[0] = i
        expected = F.cross_entropy(bias.expand(256, 8), y.cpu())
        assert float(step(host_x, host_y)) == pytest.approx(float(expected), rel=1e-5)


def copies_of(work):
    """Bytes' ways over the bus that PyTorch's profiler sees while `work` runs."""
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        work()
        torch.cuda.synchronize()
    return [e.key for e in seen.key_averages() if "DtoH" in e.key or "HtoD" in e.key]


@gpu
def test_nothing_goes_through_the_host():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.Linear(64, 8)).cuda()
    net[0].weight = nn.Parameter(torch.randn(64, 64, device="cuda").t())  # not shared
    optimizer = torch.optim.SGD(net.parameters(), lr=0.125, momentum=0.5)
    x, y = torch.randn(16, 64).cuda(), torch.randint(0, 8, (16,)).cuda()
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [y], device="cuda")
    step(x, y)
    assert copies_of(lambda: x.cpu())  # the profiler would see one
    assert copies_of(lambda: [step(x, y) for _ in range(3)]) == []
    assert copies_of(step.sync_to_module) == []
    assert copies_of(step.load_from_module) == []
    assert copies_of(step.sync_to_optimizer) == []
    assert copies_of(step.load_optimizer_state) == []


@gpu
def test_a_module_on_the_host_is_copied():
    torch.manual_seed(0)
    net = nn.Linear(6, 3)
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    before = net.weight.detach().clone()
    step = aicf.torch.compile_step(net, F.cross_entropy, torch.optim.SGD(
        net.parameters(), lr=0.125), [x], [y], device="cuda", verify=True)
    assert step.shared == frozenset()
    step(x, y)
    assert torch.equal(net.weight, before)
    step.sync_to_module()
    assert not torch.equal(net.weight, before)


@gpu
def test_a_module_on_the_card_trains_on_the_host():
    torch.manual_seed(0)
    net = nn.Linear(6, 3).cuda()
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    expected = float(F.cross_entropy(net(x.cuda()), y.cuda()))
    step = aicf.torch.compile_step(net, F.cross_entropy, torch.optim.SGD(
        net.parameters(), lr=0.125), [x], [y], verify=True)
    assert float(step(x, y)) == pytest.approx(expected, rel=1e-5)
    step.sync_to_module()
    assert net.weight.is_cuda


class Runner:
    """One that runs nothing, and keeps the streams that it was to be ordered with."""

    inputs, outputs = ["input", "target"], ["loss"]

    def __init__(self):
        self.seen, self.peer_stream = [], None

    def __call__(self, *args):
        self.seen.append(self.peer_stream)
        return 0.0

    def run(self, n, steps_per_launch):
        return self()


def test_a_call_is_ordered_with_the_current_stream():
    net = nn.Linear(6, 3)
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    step = aicf.torch.compile_step(net, F.cross_entropy, torch.optim.SGD(
        net.parameters(), lr=0.125), [x], [y])
    step(x, y)
    assert step._current_stream is None and step._runners[0].peer_stream is None
    streams = iter([7, 0, 9])
    step._current_stream = lambda: next(streams)
    runner = Runner()
    step._runners = (runner,)
    step(x, y)
    step.run(2)
    step(x, y)
    assert runner.seen == [7, 0, 9]


def test_so_is_a_call_of_another_batch_size():
    net = nn.Linear(6, 3)
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    step = aicf.torch.compile_step(net, F.cross_entropy, torch.optim.SGD(
        net.parameters(), lr=0.125), [x], [y])
    step(x[:5], y[:5])
    small = step.program["train_step@5"]
    step._current_stream = lambda: 7
    small._runners = (runner := Runner(),)
    step(x[:5], y[:5])
    assert runner.seen == [7]


def test_a_peer_stream_is_taken_and_given_back():
    step = aicf.torch.compile_step(net := nn.Linear(6, 3), F.mse_loss, torch.optim.SGD(
        net.parameters(), lr=0.125), [torch.randn(8, 6)], [torch.randn(8, 3)])
    step._ensure_runners()
    for stream in (None, 0, 2 ** 47):
        step._runners[0].peer_stream = stream
        assert step._runners[0].peer_stream == stream
