# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.autograd.Function, torch.autograd.grad, torch.func and autocast inside of modules:
two steps beside PyTorch's."""

import copy
import typing

import pytest
import torch
import torch.nn.functional as F
from cases import Of, mlp
from torch import nn
from torch.autograd import Function

import aicf.torch
from aicf.errors import ModuleImportError

X = torch.linspace(-2.0, 3.0, 24).reshape(6, 4)


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        return -ctx.factor * dy, None


class Sign(Function):
    """A straight-through estimator."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return dy * (x.abs() <= 1).to(dy.dtype)


class Linear(Function):
    """With setup_context(), and products of PyTorch's functional in backward()."""

    @staticmethod
    def forward(x, w, b):
        return F.linear(x, w, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        return F.linear(dy, w.t()), F.linear(dy.t(), x.t()), dy.sum(0)


class Two(Function):
    """Two results, one of integers, and a backward() that may not be differentiated."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        index = x.argmax(1)
        ctx.mark_non_differentiable(index)
        return x.exp(), x * 3, index

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, a, b, index):
        x, = ctx.saved_tensors
        return a * x.exp() + 2 * b


class Pair(Function):
    """A named tuple, of which PyTorch makes a plain one, an argument by its name, and a Function in backward()."""

    @staticmethod
    def forward(ctx, x, factor=1.0):
        return NamedPair(x * factor, x * 3)

    @staticmethod
    def backward(ctx, a, b):
        return Reverse.apply(a, 2.0) + 3 * b


class NamedPair(typing.NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


class Clipped(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, dy):
        return dy.clamp(-1, 1)


class WithoutGrad(Clipped):
    @staticmethod
    def backward(ctx, dy):
        with torch.no_grad():
            return dy * 2


class InPlace(Clipped):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)


def two_results(x):
    a, b, index = Two.apply(x)
    return a + b * index.unsqueeze(1)


def casted(s, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = F.layer_norm(s.a(x), (4,))
        with torch.no_grad():
            scale = s.a(x).abs().mean()
        z = (y @ y.T).softmax(-1) * scale
    with torch.autocast("cpu", enabled=False):
        return z.float().exp()


def products_of_16_bits(s, x):
    """Roundings of bf16 cancel in PyTorch's loss, and are not a difference."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return s.a(x) @ s.a.weight


def einsum(s, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.einsum("ij,kj->ik", s.a(x), s.a.weight)


def penalty(s, x):
    x = (x * torch.rand(6, 1)).requires_grad_()
    y = s.a(x)
    slope, = torch.autograd.grad(outputs=y, inputs=x, grad_outputs=torch.ones_like(y),
                                 create_graph=True, retain_graph=True, only_inputs=True)
    return y + (slope.norm(2, dim=1, keepdim=True) - 1) ** 2


def burgers(s, x):
    x, t = x[:, :1].requires_grad_(), x[:, 1:2].requires_grad_()
    u = s.a(torch.cat([x, t], 1))
    ux, ut = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    uxx, = torch.autograd.grad(ux.sum(), x, create_graph=True)
    return ut + u * ux - 0.01 * uxx


def once(s, x):
    x = x.clone().requires_grad_()
    y = s.a(x).detach() * x
    slope, = torch.autograd.grad(y.sum(), x, create_graph=True)
    return slope * s.a(x)


def jvp(s, x):
    y, dy = torch.func.jvp(s.a, (x,), (torch.ones_like(x),))
    return y * dy


def inner_step(s, x):
    weights = dict(s.a.named_parameters())

    def loss(own):
        return torch.func.functional_call(s.a, own, (x,)).pow(2).mean()
    slopes, value = torch.func.grad_and_value(loss)(weights)
    return loss({n: w - 0.1 * slopes[n] for n, w in weights.items()}) + value


def smooth(*sizes):
    return mlp(*sizes, act=nn.Tanh)


CASES = {
    "reversed": (lambda s, x: Reverse.apply(s.a(x), 2.0), nn.Linear(4, 4)),
    "straight through": (lambda s, x: Sign.apply(s.a(x)), nn.Linear(4, 4)),
    "linear": (lambda s, x: Linear.apply(x.tanh(), s.a.weight, s.a.bias), nn.Linear(4, 4)),
    "two results": (lambda s, x: two_results(s.a(x) / 4), nn.Linear(4, 4)),
    "within each other": (lambda s, x: Sign.apply(Reverse.apply(s.a(x), 0.5)), nn.Linear(4, 4)),
    "a named pair": (lambda s, x: (lambda p: p[0] + p[1] * x)(Pair.apply(s.a(x))),
                     nn.Linear(4, 4)),
    "of the argument alone": (lambda s, x: (lambda h: torch.func.grad(
        lambda v: (v * v * h).sum())(h))(s.a(x)), nn.Linear(4, 4)),
    "of one tensor twice": (lambda s, x: (lambda h: sum(torch.func.grad(
        lambda a, b: (a * a * b).sum(), (0, 1))(h, h)))(s.a(x)), nn.Linear(4, 4)),
    "products of 16 bits": (products_of_16_bits, nn.Linear(4, 4)),
    "jvp of a loss": (lambda s, x: torch.func.jvp(lambda h: F.mse_loss(
        h, s.a.bias.expand_as(h)), (s.a(x),), (x,))[1] * s.a(x), nn.Linear(4, 4)),
    "vjp": (lambda s, x: torch.func.vjp(s.a, x)[1](x)[0] * s.a(x), smooth(4, 4)),
    "a batch norm in it": (penalty, nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8, track_running_stats=False), nn.Tanh(),
        nn.GroupNorm(2, 8), nn.Linear(8, 1))),
    "what writes in place": (lambda s, x: (lambda h: torch.autograd.grad(
        (h.norm(dim=1) + h.clamp(-1, 1).std(1)).sum(), h, create_graph=True)[0])(s.a(x)),
        nn.Linear(4, 4)),
    "autocast": (casted, nn.Linear(4, 4)), "gradient penalty": (penalty, mlp(4, 8, 1)),
    "norms in it": (penalty, nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(),
                                           nn.Linear(8, 1))),
    "second derivatives": (burgers, smooth(2, 8, 8, 1)), "detached in it": (once, smooth(4, 4)),
    "jvp": (jvp, smooth(4, 8, 4)), "an inner step": (inner_step, smooth(4, 8, 4)),
    "grad of grad": (lambda s, x: torch.func.grad(lambda v: torch.func.grad(
        lambda u: s.a(u).pow(2).sum())(v).pow(2).sum())(x), smooth(4, 8, 4)),
    "not reached": (lambda s, x: s.a(x) + torch.autograd.grad(
        s.a(x.requires_grad_()).sum(), x, create_graph=False)[0].sum(), smooth(4, 4)),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name):
    """verify=True compares the gradients; the losses of two steps see them used."""
    torch.manual_seed(0)
    function, part = CASES[name]
    module = Of(function, a=part)
    theirs = copy.deepcopy(module)

    def loss(y):
        return (y.float() * torch.linspace(0.5, 1.5, y.numel()).reshape(y.shape)).mean()
    draws = CASES[name][0] is penalty
    step = aicf.torch.compile_step(module, loss, torch.optim.SGD(module.parameters(), lr=0.1),
                                   [X], verify=True)
    optimizer = torch.optim.SGD(theirs.parameters(), lr=0.1)
    for _ in range(0 if draws else 3):
        optimizer.zero_grad()
        expected = loss(theirs(X.clone()))
        expected.backward()
        optimizer.step()
        near = 2e-2 if name in ("autocast", "products of 16 bits") else 1e-5
        assert float(step(X)) == pytest.approx(float(expected.detach()), rel=near, abs=1e-6)


@pytest.mark.parametrize("function, match", [
    (Clipped, "the backward.. of Clipped, a torch.autograd.Function, is not linear"),
    (WithoutGrad, "of WithoutGrad gives a gradient that PyTorch cannot differentiate"),
    (InPlace, "InPlace changes its inputs")])
def test_functions_that_are_refused(function, match):
    module = Of(lambda s, x: function.apply(s.a(x) * 1), a=nn.Linear(4, 4))
    with pytest.raises(ModuleImportError, match=match) as error:
        aicf.torch.compile_step(module, lambda y: y.sum(), torch.optim.SGD(
            module.parameters(), lr=0.1), [X])
    assert error.value.filename.endswith(("test_derivatives.py", "cases.py"))


@pytest.mark.parametrize("function, match", [
    (lambda s, x: torch.vmap(torch.func.grad(lambda v: s.a(v).sum()))(x), "inside of torch.vmap"),
    (lambda s, x: torch.autograd.grad(F.dropout(s.a(x.requires_grad_()), 0.5).sum(), x,
                                      create_graph=True)[0], "which draws numbers"),
    (lambda s, x: torch.autograd.grad(Sign.apply(s.a(x.requires_grad_())).sum(), x,
                                      create_graph=True)[0], "its second derivative is not known")])
def test_derivatives_that_are_refused(function, match):
    module = Of(function, a=smooth(4, 4))
    with pytest.raises(ModuleImportError, match=match):
        aicf.torch.compile_step(module, lambda y: y.sum(), torch.optim.SGD(
            module.parameters(), lr=0.1), [X])


@pytest.mark.parametrize("module, match", [
    (Of(einsum, a=nn.Linear(4, 4)), "torch.export cannot take apart what it exported"),
    (Of(lambda s, x: x * s.p.real[:4], p=nn.Parameter(torch.ones(4, dtype=torch.complex64))),
     "the parameter p is complex64")])
def test_what_pytorch_or_a_parameter_cannot_be(module, match):
    with pytest.raises(ModuleImportError, match=match):
        aicf.torch.compile_step(module, lambda y: y.sum(), torch.optim.SGD(
            module.parameters(), lr=0.1), [X])


def test_a_state_of_bytes_is_refused():
    def counted(s, x):
        s.count.add_(1)
        return s.a(x)
    module = Of(counted, a=nn.Linear(4, 4))
    module.register_buffer("count", torch.zeros(1, dtype=torch.uint8))
    with pytest.raises(aicf.TraceError, match="the buffer count is uint8 and changes"):
        aicf.torch.compile_step(module, lambda y: y.sum(), torch.optim.SGD(
            module.parameters(), lr=0.1), [X])


def test_precision_of_the_region_is_in_the_plan():
    module = Of(casted, a=nn.Linear(4, 4))
    step = aicf.torch.compile_step(module, lambda y: y.mean(), torch.optim.SGD(
        module.parameters(), lr=0.1), [X])
    assert "xbf16" in step.as_text()
