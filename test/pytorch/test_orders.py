# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders, running results, places and complex numbers beside PyTorch: value and gradient,
of a step that was compiled with another batch."""

import math
import pathlib
import sys

import pytest
import torch
import torch.nn.functional as F
from cases import Of

import aicf.torch
from aicf.errors import TraceError

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "values"))
from frame import compare  # noqa: E402

INF, NAN = math.inf, math.nan
TIES = torch.tensor([[1.0, 3.0, 1.0, NAN, -INF], [0.0, -0.0, 2.0, INF, 2.0], [5.0, 4.0, 3.0, 2.0, 1.0]])
FINE = torch.tensor([[1.0, 3.0, -1.0, 0.5, 2.5], [0.25, -4.0, 2.0, 7.0, -2.0],
                     [5.0, 4.0, 3.0, 2.0, 1.5]])
ZEROS = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [-1.5, 2.0, 4.0]])
BOUNDS = torch.tensor([-1.0, 0.0, 0.0, 2.5])
NUMBERS = torch.tensor([[3, -1, 3, 2 ** 40], [0, 5, -7, 5]])
CUBE = torch.linspace(-2.0, 3.0, 2 * 3 * 70).reshape(2, 3, 70)


def parts(z):
    return torch.view_as_real(z.resolve_conj())


def pairs(x):
    return torch.view_as_complex(x.reshape(3, 5, 2)[..., :2].contiguous())


PAIRS = torch.linspace(-2.0, 2.5, 30)
TURN = torch.polar(torch.ones(5), torch.arange(5.0))

#: name: (function, x)
CASES = {
    "sort": (lambda x: x.sort(-1), FINE), "sort down": (lambda x: x.sort(0, descending=True), FINE),
    "sort of ties": (lambda x: torch.sort(x, stable=True, dim=1), TIES),
    "sort down of ties": (lambda x: torch.sort(x, stable=True, dim=1, descending=True), TIES),
    "sort of integers": (lambda x, n: (x * n.sort(1)[0][:, :1], n.sort(1)), FINE[:2], NUMBERS),
    "argsort": (lambda x: x.argsort(1), FINE), "topk": (lambda x: x.topk(2, 1), FINE),
    "the smallest": (lambda x: x.topk(3, 1, largest=False), FINE),
    "topk of integers": (lambda x, n: (x * 1, n.topk(2, 1)), FINE[:2], NUMBERS[:, 1:3].contiguous()),
    "topk of many": (lambda x: x.topk(66, 2), CUBE), "kthvalue": (lambda x: x.kthvalue(2, 1), FINE),
    "kthvalue kept": (lambda x: x.kthvalue(2, 0, keepdim=True), FINE),
    "median": (torch.median, FINE), "median of NaN": (lambda x: x.median(1)[0], TIES),
    "median of rows": (lambda x: x.median(0), FINE),
    "median kept": (lambda x: x.median(1, keepdim=True), FINE),
    "cumprod": (lambda x: x.cumprod(1), ZEROS), "prod": (torch.prod, FINE),
    "prod of rows": (lambda x: x.prod(1), ZEROS), "prod kept": (lambda x: x.prod(0, True), FINE),
    "prod of integers": (lambda x, n: (x * 1, n[:, 1:].prod(1)), FINE[:2], NUMBERS[:, :3].contiguous()),
    "cummax": (lambda x: x.cummax(1), FINE), "cummin": (lambda x: x.cummin(0), FINE),
    "cummax of ties": (lambda x: x.cummax(1), TIES), "cummin of ties": (lambda x: x.cummin(1), TIES),
    "logcumsumexp": (lambda x: x.logcumsumexp(1), FINE),
    "searchsorted": (lambda x: x * torch.searchsorted(BOUNDS, x.detach()), FINE),
    "searchsorted of rows": (lambda x: x * torch.searchsorted(
        FINE.sort(1)[0], x.detach(), right=True), FINE),
    "bucketize": (lambda x: x * torch.bucketize(x.detach(), BOUNDS, right=True), FINE),
    "whole bounds": (lambda x: x * torch.bucketize(x.detach(), torch.tensor([0, 2, 5])), FINE),
    "distances": (lambda x: torch.cdist(x, x * 1.0), FINE),
    "safe softmax": (lambda x: F.scaled_dot_product_attention(x, x, x, torch.tensor(
        [[0.0, -INF, 0.0], [-INF, -INF, -INF], [0.0, 0.0, 0.0]])), FINE),
    "histc": (lambda x: x.sum() * torch.histc(x.detach(), 4, -2, 2), FINE),
    "unfold": (lambda x: x.unfold(1, 3, 2), FINE), "unfold of many": (
        lambda x: x.unfold(2, 66, 2), CUBE),
    "diagonal": (lambda x: x.diagonal(1), FINE), "diagonal of two": (
        lambda x: x.diagonal(-1, 2, 1), CUBE),
    "diag_embed": (torch.diag_embed, FINE), "flip": (lambda x: x.flip(0, 1), FINE),
    "flip of many": (lambda x: x.flip(2, 0), CUBE),
    "as_strided": (lambda x: x.as_strided((2, 2), (5, 2), 1), FINE),
    "as_strided again": (lambda x: x.as_strided((3, 4), (1, 1), 0), FINE),
    "written in a diagonal": (lambda x: written(x * 1), FINE),
    "bilinear": (lambda x: F.bilinear(x, x * 2, torch.linspace(0.1, 1, 50).reshape(2, 5, 5)), FINE.abs()),
    "householder": (lambda x: torch.linalg.householder_product(x.T / 4, x[:, 0] / 9), FINE),
    "bags": (lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 2]), x, torch.tensor([0, 1]),
                                       mode="mean"), FINE),
    "bags of rows": (lambda x: F.embedding_bag(torch.tensor([[0, 2], [1, 2]]), x, mode="sum",
                                               padding_idx=2), FINE),
    "weighed bags": (lambda x, n: F.embedding_bag(
        torch.tensor([0, 2, 1]), x, n[0, :2] * 0 + torch.tensor([0, 2]), mode="sum",
        per_sample_weights=x[0, :3]), FINE, NUMBERS),
    "atan": (torch.atan, TIES), "asin": (torch.asin, FINE / 8), "acos": (torch.acos, FINE / 8),
    "atan2": (lambda x: torch.atan2(x, x.flip(1) + 0.5), FINE),
    "erfinv": (lambda x: torch.erfinv(x / 8), FINE),
    "complex product": (lambda x: parts(pairs(x) * TURN), PAIRS),
    "complex quotient": (lambda x: parts(pairs(x) / (pairs(x) + TURN)), PAIRS),
    "size and angle": (lambda x: (pairs(x).abs(), pairs(x).angle()), PAIRS),
    "exp of complex": (lambda x: parts(pairs(x).exp()), PAIRS),
    "complex matrices": (lambda x: parts(pairs(x) @ pairs(x).T.conj()), PAIRS),
    "complex views": (lambda x: parts(torch.stack([pairs(x), pairs(x) * 2j])[1, :, 1:].sum(0)),
                      PAIRS),
    "fft": (lambda x: torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real * FINE, FINE),
    "fft2": (lambda x: torch.fft.fft2(x, norm="ortho").abs(), FINE),
    "rfft": (lambda x: parts(torch.fft.rfft(x)), FINE),
    "irfft": (lambda x: torch.fft.irfft(torch.fft.rfft(x, dim=1) * 2, n=5, dim=1), FINE),
    "irfft of even": (lambda x: torch.fft.irfft(torch.fft.rfft(x[:, :4]), n=4), FINE),
}
#: PyTorch leaves open where the gradient goes, or has another one for a reason.
VALUES_ALONE = {"cummax of ties", "cummin of ties", "median of NaN"}


def written(x):
    x.diagonal().mul_(3.0)
    return x


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name):
    function, *operands = CASES[name]
    if name in VALUES_ALONE:
        of = function
        function = lambda x: (of(x.detach()), x * 1)  # noqa: E731
    torch.manual_seed(0)
    assert compare(function, operands) == []


def compiled(function, *inputs):
    module = Of(lambda s, *x: function(s.w, *x), w=torch.nn.Parameter(torch.ones(())))
    return aicf.torch.compile_step(module, lambda y: y, torch.optim.SGD([module.w], lr=0.0),
                                   list(inputs))


@pytest.mark.parametrize("function, match", [
    (lambda w, x: (w * x.repeat(200, 40).sort(0)[0]).sum(), "are ordered: expected at most"),
    (lambda w, x: torch.as_strided((w * x)[:, 1:], (2,), (1,), 0).sum(), "reads beside"),
    (lambda w, x: (w * torch.histc(x, 3)).sum(), "has no bounds"),
    (lambda w, x: torch.view_as_complex(w * x[:, :2].contiguous()).sqrt().real.sum(),
     "of complex numbers"),
    (lambda w, x: F.embedding_bag(torch.tensor([[0, 1]]), w * x, mode="max").sum(),
     "takes the largest of a bag"),
    (lambda w, x: torch.fft.fft((w * x).repeat(1, 900)).real.sum(), "transforms 4500 elements")])
def test_refused(function, match):
    x = torch.ones(3, 5) if match != "are ordered: expected at most" else torch.ones(100, 5)
    with pytest.raises(TraceError, match=match):
        compiled(function, x)


def test_draws_have_their_distribution():
    """Of 20,000 draws each: mean and, where there is one, the variance."""
    n = 20000

    def drawn(w, x):
        one = torch.ones(n)
        columns = [one.clone().exponential_(2.0), one.clone().normal_(1.0, 3.0),
                   one.clone().uniform_(-1.0, 3.0), torch.bernoulli(one * 0.3),
                   one.clone().bernoulli_(0.2), torch.randint(2, 7, (n,)).float(),
                   torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), n, True).float(),
                   one.clone().geometric_(0.25), F.rrelu(-one, training=True),
                   one.clone().log_normal_(0.0, 0.5)]
        return (w * x * torch.stack(columns)).mean(1)
    module = Of(lambda s, x: drawn(s.w, x), w=torch.nn.Parameter(torch.ones(())))
    module.register_buffer("means", torch.zeros(10))

    def keep(s, x):
        y = drawn(s.w, x)
        s.means.copy_(y.detach())
        return y.sum()
    module.function = keep
    step = aicf.torch.compile_step(module, lambda y: y, torch.optim.SGD([module.w], lr=0.0),
                                   [torch.ones(())])
    step(torch.ones(()))
    step.sync_to_module()
    means = module.means.clone()
    expected = [0.5, 1.0, 1.0, 0.3, 0.2, 4.0, 1.6, 4.0, -(0.125 + 1 / 3) / 2, math.exp(0.125)]
    spread = [0.5, 3.0, 1.2, 0.5, 0.4, 1.5, 0.7, 3.5, 0.1, 0.7]
    for own, mean, deviation in zip(means.tolist(), expected, spread):
        assert abs(own - mean) < 5 * deviation / math.sqrt(n), means
    step(torch.ones(()))
    step.sync_to_module()
    assert not torch.equal(means, module.means)


def test_a_permutation_has_each_number_once():
    def shuffled(w, x):
        return (w * x[torch.randperm(50)] * torch.arange(50.0)).sum()
    step = compiled(shuffled, torch.arange(50.0))
    losses = {float(step(torch.arange(50.0))) for _ in range(4)}
    assert len(losses) == 4
    ones = compiled(lambda w, x: (w * (x[torch.randperm(50)] - x)).sum(), torch.arange(50.0))
    assert float(ones(torch.arange(50.0))) == 0.0
