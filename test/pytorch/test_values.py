# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values and gradients at special points, beside PyTorch's: compiled on one batch, called
with another."""

import copy
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import aicf.errors
import aicf.torch

INF, NAN = math.inf, math.nan
#: Zeros, halves, infinities, NaN, and numbers whose quotients and logarithms round.
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 6.0, 1e6, -1e-9, 3e38, 1e-38, INF, -INF, NAN]
# Of 3e38 PyTorch's vectors have no remainder, and its numbers have ours.
PAIRS = [[a, b] for a in POINTS if a != 3e38 for b in (0.1, -0.2, 1 / 3, 1.0, -3.0, INF)]
A, B = (torch.tensor(column) for column in zip(*PAIRS))
POWERS = 2.0 ** torch.arange(-20, 31)
ROWS = torch.tensor([[1.0, INF, 2.0], [-INF, -INF, -INF], [3e38, 3e38, 1.0], [2.0, 2.0, 1.0],
                     [NAN, 1.0, NAN], [0.0, -0.0, -1.0]])
EQUAL = torch.tensor([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
BOUNDS = torch.tensor([0.0, 1.0, 2.0, NAN, 3.0])
PROBABILITIES = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.5, 0.25])
TARGETS = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0, 0.25])
MASK = torch.tensor([[0.0, -INF, 0.0], [-INF, -INF, -INF], [0.0, 0.0, 0.0]])

#: name: (function of x and what comes with it, x, the rest)
CASES = {
    "floor division": (lambda x, b: torch.div(x, b, rounding_mode="floor"), A, (B,)),
    "division toward zero": (lambda x, b: torch.div(x, b, rounding_mode="trunc"), A, (B,)),
    "remainder": (torch.remainder, A, (B,)),
    "fmod": (torch.fmod, A, (B,)),
    "angle": (lambda x: x % 6.2831855, torch.tensor([100.0, 1e4, 1e6, 1e8, -7.0]), ()),
    "floor of log2": (lambda x: x.log2().floor(), POWERS, ()),
    "log2": (torch.log2, torch.tensor(POINTS), ()),
    "log10": (torch.log10, torch.tensor(POINTS), ()),
    "exp2": (torch.exp2, torch.tensor([0.0, 3.0, -5.0, 0.5, 200.0, INF, -INF, NAN]), ()),
    "amax": (lambda x: x.amax(1), ROWS, ()),
    "amin": (lambda x: x.amin(1, keepdim=True), ROWS, ()),
    "max": (torch.max, ROWS[:4], ()),
    "min of NaN": (torch.min, ROWS, ()),
    "std": (lambda x: x.std(1), EQUAL, ()),
    "std of all": (lambda x: x.std(unbiased=False), EQUAL[0], ()),
    "norm of ties": (lambda x: x.norm(INF, dim=1), ROWS[2:4], ()),
    "clamp from a tensor": (lambda x, b: x.clamp(min=b), BOUNDS, (torch.full((5,), 1.0),)),
    "clamp to a tensor": (lambda x, b: x.clamp(max=b), BOUNDS,
                          (torch.tensor([1.0, 1.0, NAN, 1.0, 3.0]),)),
    "clamp backwards": (lambda x: x.clamp(2.0, -1.0), BOUNDS, ()),
    "binary cross-entropy": (lambda x, t: F.binary_cross_entropy(x, t, reduction="none"),
                             PROBABILITIES, (TARGETS,)),
    "logit": (torch.logit, BOUNDS / 2, ()),
    "logit within": (lambda x: torch.logit(x, eps=0.125), BOUNDS / 2, ()),
    "celu": (lambda x: F.celu(x, 2.0), torch.tensor([-100.0, -30.0, -20.0, -1.0, 1.0, -INF]),
             ()),
    "rows that see nothing": (lambda x, m: F.scaled_dot_product_attention(x, x, x, m),
                              torch.linspace(-1, 1, 12).reshape(1, 1, 3, 4), (MASK,)),
    "times infinity": (lambda x: x * INF, torch.tensor([1.0, -1.0, 0.0]), ()),
    "plus infinity": (lambda x: INF + x, torch.tensor([1.0, -INF, 0.0]), ()),
    "NaN where": (lambda x: torch.where(x > 0, x, NAN), torch.tensor([1.0, -1.0]), ()),
    "filled with NaN": (lambda x: x.masked_fill(x < 0, NAN), torch.tensor([1.0, -1.0]), ()),
    "equal to NaN": (lambda x: (x == NAN) + (x != NAN) * x, torch.tensor([1.0, NAN]), ()),
    "by zero": (lambda x: x / 0, torch.tensor([1.0, -1.0, 0.0]), ()),
}

ROUNDED_ELSEWHERE = {
    "rows that see nothing": "scores are rounded to bf16, and in PyTorch they are not",
    "division toward zero": "PyTorch rounds the quotient to bf16 first, for a tensor"}


class Shifted(torch.nn.Module):
    """f(x + w), where w is -0.0: to the bit f(x), and w gets x's gradient."""

    def __init__(self, f, x, rest):
        super().__init__()
        self.f, self.w = f, torch.nn.Parameter(torch.full_like(x, -0.0))
        self.register_buffer("y", torch.zeros_like(f(x, *rest)))

    def forward(self, x, *rest):
        y = self.f(x + self.w, *rest)
        self.y.copy_(y.detach())
        # 0 w: a gradient, also where f has none.
        return y.to(torch.promote_types(y.dtype, torch.float32)).sum() + (0 * self.w).sum()


def value_and_gradient(f, x, rest, benign):
    """PyTorch's, and those of a step that was compiled on another batch."""
    module = Shifted(f, benign, rest)
    twin = copy.deepcopy(module)
    step = aicf.torch.compile_step(module, lambda loss: loss,
                                   torch.optim.SGD(module.parameters(), lr=1.0),
                                   [benign, *rest], verify=False, shapes="fixed")
    step(x, *rest)
    step.sync_to_module()
    twin(x, *rest).backward()
    return (twin.y, twin.w.grad), (module.y, -module.w.detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16],
                         ids=["f32", "f64", "bf16"])
@pytest.mark.parametrize("name", CASES)
def test_is_pytorchs(name, dtype):
    f, x, rest = CASES[name]
    if dtype == torch.bfloat16 and name in ROUNDED_ELSEWHERE:
        pytest.skip(ROUNDED_ELSEWHERE[name])
    x, rest = x.to(dtype), tuple(r.to(dtype) for r in rest)
    benign = torch.rand(x.shape, dtype=dtype) * 0.5 + 0.25
    theirs, ours = value_and_gradient(f, x, rest, benign)
    limit = {torch.float32: 2e-6, torch.float64: 1e-13, torch.bfloat16: 8e-3}[dtype]
    for what, expected, own in zip(("value", "gradient"), theirs, ours):
        np.testing.assert_allclose(own.double(), expected.double(), rtol=limit, atol=0,
                                   err_msg=what)


LEVEL = {
    "floor": torch.floor, "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc,
    "sign": torch.sign, "//": lambda x: torch.div(x, 0.3, rounding_mode="floor"),
    "by a tensor": lambda x: torch.div(x, x + 2, rounding_mode="trunc"),
    "of one part": lambda x: torch.cat([x[:2].floor(), x[2:].ceil()]),
}


@pytest.mark.parametrize("name", LEVEL)
def test_a_gradient_of_zeros_trains(name):
    """PyTorch decays a parameter whose gradient is 0, and not one without a gradient."""
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = (torch.nn.Parameter(torch.full((4,), v)) for v in (0.7, 0.1))

        def forward(self, x):
            return LEVEL[name](x * self.w).sum() + self.b.sum()
    module = Model()
    twin = copy.deepcopy(module)
    ours, theirs = (torch.optim.AdamW(m.parameters(), lr=0.5, weight_decay=0.5)
                    for m in (module, twin))
    x = torch.tensor([0.3, -2.0, math.inf, 5.0])
    step = aicf.torch.compile_step(module, lambda loss: loss, ours, [x], verify=True)
    loss = twin(x)
    loss.backward()
    theirs.step()
    np.testing.assert_allclose(float(step(x)), float(loss))
    torch.testing.assert_close(module.w, twin.w, equal_nan=True)
    assert float(module.w[0]) == pytest.approx(0.525)


@pytest.mark.parametrize("rows, columns", [([0, 1], [4, 0]), ([1, 1], [-5, 0]),
                                           ([5, 1], [0, 0])])
def test_an_index_outside_of_a_dimension_reads_no_neighbour(rows, columns):
    x = torch.arange(20.0).reshape(5, 4)
    inside = torch.tensor([0, 1]), torch.tensor([1, 2])
    outside = torch.tensor(rows), torch.tensor(columns)
    for checks in (False, True):
        module = Shifted(lambda x, i, j: x[i, j], x, inside)
        step = aicf.torch.compile_step(module, lambda loss: loss,
                                       torch.optim.SGD(module.parameters(), lr=1.0),
                                       [x, *inside], verify=False, check_indices=checks)
        if checks:
            with pytest.raises(aicf.errors.InvalidArgumentError, match="gets index -1"):
                step(x, *outside)
            continue
        step(x, *outside)
        step.sync_to_module()
        assert module.y[0].isnan() and module.y[1] == 4.0
        assert float(-module.w.sum()) == 1.0  # of the element that there is


def test_integers():
    """Quotients, remainders and sums of integers, as indices and as values."""
    p = torch.tensor([0, 1, -1, 7, -7, 2 ** 40 + 1])
    big = torch.tensor([2 ** 53 + 1, 1, -2 ** 53])  # not f64's sum

    def whole(x, p, big):
        by = [p // 3, p % 3, torch.fmod(p, -3), torch.div(p, -3, rounding_mode="trunc")]
        return x.sum() + sum((v.to(x.dtype) * w).sum() for w, v in enumerate(by, 1)) \
            + big.sum().to(x.dtype)
    x = torch.zeros(2, dtype=torch.float64)
    theirs, ours = value_and_gradient(whole, x, (p, big), x)
    assert ours[0].item() == theirs[0].item()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
def test_integers_of_few_bits(dtype):
    """Images of bytes, and what wraps behind each op."""
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.linspace(-1.0, 1.0, 6))
            self.register_buffer("shift", torch.tensor([3], dtype=dtype))

        def forward(self, x):
            y = (x + x) * 3 - self.shift
            found = [x, y, ~x, x // 7, x.clamp(2, 90), y > 5, -x, x.flip(1)[:, 1:],
                     torch.where(x > 4, x, y), x.sum(1), x.float().to(dtype), y[:, 2:] * 2]
            return sum((v.float().mean() * (i + 1)) for i, v in enumerate(found)) \
                + (x.float() / 255 * self.w).sum()
    x = torch.arange(24).mul(11).to(dtype).reshape(4, 6)
    theirs = Net()
    expected = theirs(x)
    expected.backward()
    module = Net()
    step = aicf.torch.compile_step(module, lambda y: y, torch.optim.SGD(
        module.parameters(), lr=1.0), [x], verify=True)
    assert float(step(x)) == pytest.approx(float(expected.detach()), rel=1e-6)
    step.sync_to_module()
    torch.testing.assert_close(theirs.w - theirs.w.grad, module.w)
    np.testing.assert_allclose(step.predict(x), module(x).detach(), rtol=1e-5)
    expected = float(module(x).detach())
    assert float(step(x.numpy())) == pytest.approx(expected, rel=1e-5)
