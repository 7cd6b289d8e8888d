# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What cannot be translated is one error that says where; nothing is trained wrongly."""

import warnings

import pytest
import torch
import torch.nn.functional as F
from cases import Of, mlp
from torch import nn

import aicf.torch


def compiled(module, loss_fn=F.mse_loss, inputs=None, targets=None, **options):
    inputs = [torch.randn(5, 6)] if inputs is None else inputs
    targets = [torch.randn(5, 2)] if targets is None else targets
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    return aicf.torch.compile_step(module, loss_fn, optimizer, inputs, targets, **options)


def refused(match, module, *args, **options):
    with pytest.raises(aicf.TraceError, match=match) as error:
        compiled(module, *args, **options)
    return error.value


def test_all_ops_at_once():
    def forward(s, x):
        y = torch.special.i0e(s.a(x))
        y = torch.digamma(torch.tanh(y) + 2)
        return s.b(torch.digamma(torch.tanh(y) + 2))
    error = refused("operations that AICF cannot translate", Of(forward, a=nn.Linear(6, 4),
                                                  b=nn.Linear(4, 2)))
    text = str(error)
    assert "aten.digamma.default, 2 times, first in the module" in text
    assert "aten.special_i0e.default, 1 time" in text
    assert "digamma(torch.tanh(y) + 2)" in text and error.filename == __file__


def test_the_module_of_an_op_is_named():
    class Part(nn.Module):
        def forward(self, x):
            return torch.digamma(x * 0.1)
    net = nn.Sequential(nn.Linear(6, 2), nn.Sequential(Part()))
    refused("first in module '1.0'", net)


def test_a_convolution_that_overlaps():
    net = nn.Sequential(nn.Conv1d(2, 3, 3), nn.Flatten(), nn.Linear(12, 2))
    refused("a convolution whose stride is not its kernel's size", net,
            inputs=[torch.randn(5, 2, 6)])


def test_gradient_hooks():
    net = mlp(6, 4, 2)
    net[0].weight.register_hook(lambda gradient: gradient * 2)
    refused("0.weight has a gradient hook", net)
    net = mlp(6, 4, 2)
    net[2].register_full_backward_hook(lambda module, into, out: None)
    refused("module '2' has a backward hook", net)

    def forward(s, x):
        y = s.a(x)
        y.register_hook(lambda gradient: gradient * 2)
        return y
    refused("a gradient hook is not in the graph", Of(forward, a=nn.Linear(6, 2)))


def test_python_attributes_that_change():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.calls, self.seen = nn.Linear(6, 2), 0, []

        def forward(self, x):
            self.calls += 1
            self.seen.append(self.calls)
            return self.fc(x) * self.calls
    net = Counter()
    refused("calls, seen", net)
    assert net.calls == 0 and net.seen == []  # as they were


def test_branches_on_values():
    def forward(s, x):
        y = s.a(x)
        return y if y.mean() > 0 else -y
    error = refused("depends on the values", Of(forward, a=nn.Linear(6, 2)))
    assert error.filename == __file__


def test_a_closure_that_changes():
    calls, number = [], 0

    def loss(y, target):
        nonlocal number
        number += 1
        calls.append(1)
        return F.mse_loss(y, target) * len(calls)
    refused("calls, number changes in each call", nn.Linear(6, 2), loss)
    assert calls == [] and number == 0


CALLS = []


def test_a_global_that_changes():
    def loss(y, target):
        CALLS.append(1)
        return F.mse_loss(y, target) * len(CALLS)
    with pytest.raises(aicf.TraceError, match="a second run"):
        compiled(nn.Linear(6, 2), loss, verify=True)


@pytest.mark.parametrize("allocate", [
    lambda x: torch.empty(2 ** 60), lambda x: (_ for _ in ()).throw(torch.OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 2.00 GiB.\nIf reserved"))], ids=["CPU", "CUDA"])
def test_a_batch_that_pytorch_has_no_memory_for(allocate):
    error = refused("an import runs the module once", Of(
        lambda s, x: s.a(x) + allocate(x), a=nn.Linear(6, 2)))
    assert "give a smaller batch" in str(error) and "\n" not in str(error)
    refused("an import runs the module once", Of(  # behind a run without gradients
        lambda s, x: torch.autograd.grad(s.a(x).sum(), s.a.weight)[0] + allocate(x),
        a=nn.Linear(6, 2)))


def test_wrappers():
    net = mlp(6, 4, 2)
    refused("compiled by torch.compile", torch.compile(net))
    refused("compiled by torch.jit", torch.jit.script(mlp(6, 4, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused("DataParallel", nn.DataParallel(net))


def _with_row(monkeypatch, name, function):
    from aicf.torch import _table
    row = _table.TABLE[name]
    monkeypatch.setitem(_table.TABLE, name, _table.Row(function, row.limits, row.takes_numbers))


def test_a_wrong_gradient_is_named(monkeypatch):
    _with_row(monkeypatch, "relu.default", lambda call, x: aicf.ops.silu(x) * 0
              + aicf.ops.relu(x) + (x - aicf.ops.stop_gradient(x)))
    with pytest.raises(aicf.errors.VerificationError, match="gradient of '0.weight' differs"):
        compiled(mlp(6, 8, 2), verify=True)


@pytest.mark.parametrize("optimizer, match", [
    (lambda p: torch.optim.ASGD(p), "ASGD; torch.optim.AdamW, Adam, SGD, RMSprop"),
    (lambda p: torch.optim.RMSprop(p, differentiable=True), "differentiable"),
    (lambda p: torch.optim.AdamW([{"params": list(p)[:1], "amsgrad": True},
                                  {"params": list(p)[1:]}]), "differ in amsgrad"),
    (lambda p: type("Mine", (torch.optim.SGD,), {})(p, lr=0.1), "Mine"),
])
def test_optimizers(optimizer, match):
    net = mlp(6, 4, 2)
    with pytest.raises(ValueError, match=match):
        aicf.torch.compile_step(net, F.mse_loss, optimizer(net.parameters()),
                                [torch.randn(5, 6)], [torch.randn(5, 2)])


def test_groups_that_differ_in_a_flag():
    net = mlp(6, 4, 2)
    optimizer = torch.optim.SGD([{"params": net[0].parameters(), "nesterov": True},
                                 {"params": net[2].parameters()}], lr=0.1, momentum=0.9)
    with pytest.raises(ValueError, match="param_groups differ in 'nesterov'"):
        aicf.torch.compile_step(net, F.mse_loss, optimizer, [torch.randn(5, 6)],
                                [torch.randn(5, 2)])


def test_hooks_of_an_optimizer():
    net = mlp(6, 4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.register_step_pre_hook(lambda *args: None)
    with pytest.raises(ValueError, match="the optimizer has hooks"):
        aicf.torch.compile_step(net, F.mse_loss, optimizer, [torch.randn(5, 6)],
                                [torch.randn(5, 2)])


def test_a_module_on_two_devices():
    net = nn.Sequential(nn.Linear(6, 4), nn.Linear(4, 2, device="meta"))
    with pytest.raises(ValueError, match="on several devices: cpu, meta"):
        compiled(net)


def test_a_loss_without_parameters():
    refused("no parameter that the optimizer has leads to the loss", mlp(6, 4, 2),
            lambda y, t: F.mse_loss(y.detach(), t))


def test_a_program_of_another_module():
    net = mlp(6, 4, 2)
    with pytest.raises(ValueError, match="expected the Step of this module"):
        aicf.torch.predict(mlp(6, 4, 2), [torch.randn(5, 6)], program=compiled(net))


def test_wrong_arguments():
    net = mlp(6, 4, 2)
    with pytest.raises(TypeError, match="expected a torch.nn.Module"):
        aicf.torch.compile_step(aicf.nn.Linear(6, 2), F.mse_loss,
                                torch.optim.SGD(net.parameters(), 0.1),
                                [torch.randn(5, 6)], [torch.randn(5, 2)])
    with pytest.raises(TypeError, match="inputs is"):
        compiled(net, inputs=[3])
    with pytest.raises(aicf.TraceError, match="0-d"):
        compiled(net, lambda y, t: y - t)


def test_nothing_is_changed():
    net, x, target = mlp(6, 4, 2), torch.randn(5, 6), torch.randn(5, 2)
    net[0].eval()
    before = {n: v.clone() for n, v in net.state_dict().items()}
    modes = [m.training for m in net.modules()]
    torch_state = torch.get_rng_state()
    compiled(net, inputs=[x], targets=[target], verify=True)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert modes == [m.training for m in net.modules()]
    assert all(torch.equal(v, before[n]) for n, v in net.state_dict().items())
    assert all(p.grad is None for p in net.parameters())


def test_what_an_op_does_not_do_is_in_the_same_error():
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(64, 2))
    with pytest.raises(aicf.TraceError) as error:
        aicf.torch.compile_step(net, torch.nn.functional.cross_entropy, torch.optim.SGD(
            net.parameters(), lr=0.1), [torch.randn(2, 3, 8, 8)], [torch.tensor([0, 1])])
    assert "conv2d.default of 2x3x8x8 by 4x3x3x3" in str(error.value)
    assert "max_pool2d_with_indices.default, 1 time, first in module '1'" in str(error.value)


def test_a_wrong_gradient_of_equal_elements_is_seen(monkeypatch):
    """Only the batch of special values has such rows; verify="example" leaves it out."""
    from aicf.torch import _table
    of_one = _table.TABLE["max.dim"].function
    monkeypatch.setitem(_table.TABLE, "amax.default", _table.Row(
        lambda call, x, dim, keepdim=False: of_one(call, x, dim[0], keepdim)[0]))

    def net():
        return Of(lambda s, x: (x + s.w).amax(1), w=nn.Parameter(torch.zeros(6)))
    target = [torch.randn(5)]
    with pytest.raises(aicf.errors.VerificationError, match="on a batch of zeros, equal ele"):
        compiled(net(), targets=target, verify=True)
    compiled(net(), targets=target, verify="example")
    with pytest.raises(ValueError, match="verify is 'examples', expected True"):
        compiled(net(), targets=target, verify="examples")


def test_roundings_do_not_decide_about_special_values():
    """Floors and extrema of a product are other ones by a rounding."""
    torch.manual_seed(0)
    net = Of(lambda s, x: s.b((s.a(x) * 8).floor() + s.a(x).amax(1, keepdim=True)),
             a=nn.Linear(6, 32), b=nn.Linear(32, 2))
    compiled(net, verify=True)


def test_what_a_step_magnifies_is_rounding(monkeypatch):
    """What is 0.5 in one library, and its neighbour in the other, loses 0.5 and is multiplied.
    PyTorch's f32 and f64 agree by luck: all its numbers are exact."""
    _with_row(monkeypatch, "relu.default", lambda call, x: x * (1 + 2.0 ** -22))
    net = Of(lambda s, x: ((x * s.w).relu() - x * 0.5) * 1024, w=nn.Parameter(
        torch.full((6,), 0.5)))
    compiled(net, inputs=[torch.ones(5, 6)], targets=[torch.ones(5, 6)], verify="example")


def test_a_small_fault_is_no_rounding(monkeypatch):
    """A fault of 0.1 % beside floors of whole numbers, which other roundings of the parameters
    move by much more."""
    _with_row(monkeypatch, "tanh.default", lambda call, x: aicf.ops.tanh(x)
              + 1e-3 * (x - aicf.ops.stop_gradient(x)))
    net = Of(lambda s, x: ((x * s.w).floor() * s.w).tanh(), w=nn.Parameter(torch.ones(6)))
    with pytest.raises(aicf.errors.VerificationError, match="gradient of 'w' differs"):
        compiled(net, inputs=[torch.ones(5, 6)], targets=[torch.ones(5, 6)], verify="example")


def test_a_module_that_refuses_special_values_is_verified_by_its_example():
    def positive(s, x):
        if not bool((x > 0).all()):
            raise ValueError("x is to be positive")
        return s.a(x.log())
    compiled(Of(positive, a=nn.Linear(6, 2)), inputs=[torch.rand(5, 6) + 0.5], verify=True)
