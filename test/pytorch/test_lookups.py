# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that integers choose, read and written, and tensors without elements, beside
PyTorch: value and gradient."""

import pytest
import torch
from test_values import Shifted, value_and_gradient
from torch import nn

import aicf.torch

X = torch.linspace(-2.0, 3.0, 24).reshape(2, 3, 4)
I = torch.tensor([[1, 0], [-1, 2]])  # noqa: E741
J = torch.tensor([[0, 3], [1, -4]])
V = torch.linspace(1.0, 2.0, 16)
FLAGS = torch.tensor([[True, False, True], [False, False, True]])
COUNTS = torch.tensor([[5, -7, 2 ** 40], [0, 1, 3]])
ROWS = torch.tensor([1, 0, 1])
MASK = torch.tensor([[True, False, True, False], [False, True, True, False],
                     [False] * 4])


def put(x, at, values, accumulate=False):
    return torch.index_put(x, at, values, accumulate)


#: name: (function of x and an integer tensor, x, that tensor)
CASES = {
    "x[:, i]": (lambda x, i: x[:, i], X, I),
    "x[i, :, j]": (lambda x, i: x[i % 2, :, i], X, I),
    "x[:, i, j]": (lambda x, i: x[:, i, J], X, I),
    "x[i, j, 1]": (lambda x, i: x[i % 2, J % 3, 1], X, I),
    "of flags": (lambda x, i: torch.where(FLAGS.clone()[:, i], x[:, i, 0], 0.0), X, I),
    "of numbers": (lambda x, i: x[0, 0, 0] * COUNTS.clone()[:, i].float(), X, I),
    "take": (lambda x, i: x.take(i + 1), X, I),
    "index_select": (lambda x, i: x.index_select(2, i[0]), X, I),
    "gather": (lambda x, i: x.gather(1, (i % 2).reshape(2, 1, 2)), X, I),
    "gather of all": (lambda x, i: x.gather(1, (i % 2).unsqueeze(2).expand(2, 2, 4)), X, I),
    "gather of rows": (lambda x, i: x.gather(
        1, (i % 2)[0].reshape(1, 2, 1).expand(2, 2, 4)), X, I),
    "put": (lambda x, i: put(x[0], (i[0],), x[1, 0].expand(2, 4) * 2), X, I),
    "put at constants": (lambda x, i: put(x[0], (I % 2, J), x[1, :2, :2]), X, I),
    "put and added": (lambda x, i: put(x[0], (i % 2,), x[1, 0].expand(2, 2, 4), True), X, I),
    "assigned": (lambda x, i: assigned(x.clone(), i), X, I),
    "scatter": (lambda x, i: x[0].scatter(1, i % 2, x[1, :2, :2] * 3), X, I),
    "scatter of a number": (lambda x, i: x[0].scatter(1, i % 2, 7.0) * x[0], X, I),
    "scatter_add": (lambda x, i: x[0].scatter_add(1, i % 2, x[1, :2, :2] * 3), X, I),
    "scatter_add of rows": (lambda x, i: torch.zeros(3, 4).scatter_add(
        0, i.reshape(-1, 1).remainder(3).expand(4, 4), x[0, 0].expand(4, 4) * V.reshape(4, 4)),
        X, I),
    "index_add": (lambda x, i: x.index_add(2, i[0], x[:, :, :2] * 2), X, I),
    "index_copy": (lambda x, i: x.index_copy(2, i[0], x[:, :, :2] * 2), X, I),
    "index_fill": (lambda x, i: x.index_fill(1, i[0], 0.5), X, I),
    "split with nothing": (lambda x, i: sum(
        p.sum() for p in x.split([4, 0], -1)) * i.numel(), X, I),
    "cat with nothing": (lambda x, i: torch.cat([torch.tensor([]), x[0], x[0, :0]], -2), X, I),
    "the sum of nothing": (lambda x, i: x.sum() + x[:, :0].sum() + x[:, 5:].sum(1).sum(), X, I),
    "a product over nothing": (lambda x, i: x[0, :, :0] @ x[1, :, :0].T + x[0, :, :3], X, I),
}


def assigned(x, i):
    x[:, i[0]] = 2 * x[:, :2]
    x[0, 1] += 1.0
    return x


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", CASES)
def test_is_pytorchs(name, dtype):
    f, x, index = CASES[name]

    def positive(x, i):  # some of these ops do not count from the end
        return f(x, i if name.startswith(("x[", "take")) else i % 2)
    if name == "take":
        index = index + 3
    theirs, ours = value_and_gradient(positive, x.to(dtype), (index,), torch.rand(
        x.shape).to(dtype))
    for expected, own in zip(theirs, ours):
        torch.testing.assert_close(own, expected)


def test_the_last_of_several_stays():
    index = torch.tensor([1, 0, 1, 1])
    f = (lambda x, i: torch.index_put(x[:3], (i,), x[4:]))  # noqa: E731
    x = torch.arange(16.0).reshape(8, 2)
    (value, _), (own, gradient) = value_and_gradient(f, x, (index,), x)
    assert torch.equal(value, own) and torch.equal(own[1], x[7])
    _, theirs = value_and_gradient(f, x, (index,), x)
    assert torch.equal(gradient, theirs[1])  # of all that are written there


def test_integers_outside_are_zero_and_write_nothing():
    index = torch.tensor([1, 0, 1, 1])

    def f(x, i):
        return x.index_add(0, i, 2 * x) + torch.tensor([3, 4, 5, 6]).clone()[i]
    module = Shifted(f, torch.zeros(4), (index,))
    step = aicf.torch.compile_step(module, lambda loss: loss, torch.optim.SGD(
        module.parameters(), lr=1.0), [torch.ones(4), index], verify=False)
    step(torch.ones(4), torch.tensor([0, 4, 0, 3]))
    step.sync_to_module()
    assert module.y.tolist() == [8.0, 1.0, 4.0, 9.0]


def test_parameters_and_buffers_without_elements():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.none = nn.Linear(4, 2), nn.Parameter(torch.zeros(0, 4))
            self.register_buffer("memory", torch.zeros(8, 0, 4))

        def forward(self, x):
            rows = torch.cat([self.memory, x.unsqueeze(1), self.none.detach().expand(8, 0, 4)],
                             1)
            return self.fc(rows.sum(1))
    net, x, y = Net(), torch.randn(8, 4), torch.randn(8, 2)
    step = aicf.torch.compile_step(net, nn.functional.mse_loss, torch.optim.SGD(
        net.parameters(), lr=0.1), [x], [y], verify=True)
    assert float(step(x, y)) > float(step(x, y))
    assert step.predict(x).shape == (8, 2)
