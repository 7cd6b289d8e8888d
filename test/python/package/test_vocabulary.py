# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the vocabulary learn; beside PyTorch, where it is installed, they have its
losses and its parameters."""

import models
import numpy as np
import pytest

import aicf
from aicf import nn

ROWS = 40
DIGITS, CLASSES = aicf.data.load_digits()
DIGITS = np.float32(DIGITS).reshape(len(DIGITS), -1)


def classify(model, x, labels):
    return aicf.losses.cross_entropy(model(x), labels)


def render(model, points, target):
    return aicf.losses.smooth_l1_loss(model(points), target, beta=0.1)


def digits(random):
    chosen = random.permutation(len(DIGITS))[:ROWS]
    return DIGITS[chosen], CLASSES[chosen].astype("i4")


def images(random):
    x, _ = digits(random)
    return x / max(1.0, float(x.max())), np.float32(random.standard_normal((ROWS, 4)))


def clicks(random):
    sparse = np.stack([random.integers(0, n, ROWS) for n in (11, 7, 5)], 1)
    dense = np.float32(random.standard_normal((ROWS, 3)))
    target = (sparse[:, 0] % 2 == 0) ^ (dense[:, 1] > 0.5)
    return dense, sparse, np.float32(target)


def rays(random):
    points = np.float32(random.uniform(-1, 1, (ROWS, 8, 3)))
    return points, np.float32(0.5 + 0.5 * np.sin(points.mean(1)))


def two_views(random):
    x, _ = digits(random)
    noise = np.float32(random.standard_normal((2, *x.shape))) * 0.1
    return x + noise[0], x + noise[1]


# By name: what is trained, its loss, a batch, and the loss's name in torch_models.py.
CASES = {
    "VAE": (models.VAE, models.elbo, images, "elbo"),
    "DLRM": (models.DLRM, models.click, clicks, "click"),
    "NeRF": (models.NeRF, render, rays, None),
    "BatchNormNet": (models.BatchNormNet, classify, digits, None),
    "SwiGLU": (models.SwiGLU, classify, digits, None),
    "SoftMixture": (models.SoftMixture, classify, digits, None),
    "TwoTowers": (models.TwoTowers, models.contrast, two_views, "contrast"),
}


def make_step(name, optimizer, **options):
    model, loss, make, _ = CASES[name]
    example = make(np.random.default_rng(0))
    parameters = loss.__code__.co_varnames[1:loss.__code__.co_argcount]
    return aicf.compile_step(model(), loss, optimizer, dict(zip(parameters, example)),
                             seed=1, **options)


@pytest.mark.parametrize("name", CASES)
def test_training_lowers_the_loss(name):
    step = make_step(name, aicf.optim.Adam(1e-2))
    random = np.random.default_rng(3)
    losses = [float(step(*CASES[name][2](random))) for _ in range(200)]
    assert np.mean(losses[-20:]) < 0.8 * np.mean(losses[:5])


@pytest.mark.parametrize("name", CASES)
def test_mixed_precision_learns_too(name):
    step = make_step(name, aicf.optim.Adam(1e-2), precision="bf16")
    random = np.random.default_rng(3)
    losses = [float(step(*CASES[name][2](random))) for _ in range(200)]
    assert np.mean(losses[-20:]) < 0.85 * np.mean(losses[:5])


@pytest.mark.parametrize("name", CASES)
def test_training_is_pytorchs(name):
    torch = pytest.importorskip("torch")
    import torch_models
    step = make_step(name, aicf.optim.Adam(1e-3, weight_decay=0.01))
    twin = getattr(torch_models, name)()
    state = {key: torch.from_numpy(np.array(value))
             for key, value in step.state_dict().items()}
    # Strict: the names are PyTorch's, all of them; Adam's states are ours.
    twin.load_state_dict({key: state[key] for key in twin.state_dict()})
    F = torch.nn.functional
    loss = {None: lambda model, x, y: F.cross_entropy(model(x), y.long()),
            "NeRF": lambda model, x, y: F.smooth_l1_loss(model(x), y, beta=0.1)}
    theirs = loss["NeRF"] if name == "NeRF" else loss[None] \
        if CASES[name][3] is None else getattr(torch_models, CASES[name][3])
    # Weights of norms are not decayed here, so that PyTorch must not decay them.
    kept = [p for n, p in twin.named_parameters() if "bn" in n or "norm" in n]
    rest = [p for n, p in twin.named_parameters() if not ("bn" in n or "norm" in n)]
    optimizer = torch.optim.Adam([{"params": rest},
                                  {"params": kept, "weight_decay": 0.0}], lr=1e-3,
                                 weight_decay=0.01)
    random = np.random.default_rng(5)
    for _ in range(20):
        batch = CASES[name][2](random)
        ours = float(step(*batch))
        optimizer.zero_grad()
        value = theirs(twin, *(torch.from_numpy(b) for b in batch))
        value.backward()
        optimizer.step()
        assert ours == pytest.approx(float(value.detach()), rel=2e-4)
    for key, value in twin.state_dict().items():
        np.testing.assert_allclose(np.array(step.state_dict()[key]), value.numpy(),
                                   rtol=2e-3, atol=2e-5, err_msg=key)


def test_batch_norm_keeps_running_statistics():
    class Model(nn.Module):
        def __init__(self):
            self.bn = nn.BatchNorm1d(3, momentum=0.3)
            self.fc = nn.Linear(3, 1)

        def forward(self, x):
            return self.fc(self.bn(x)).squeeze(1)

    x = np.float32(np.random.default_rng(0).standard_normal((8, 3)) * [1, 5, 0.2] + 2)
    step = aicf.compile_step(Model(), lambda m, x: m(x).square().mean(),
                             aicf.optim.SGD(0.0), {"x": x})
    for _ in range(3):
        step(x)
    state = step.state_dict()
    share = 1 - 0.7 ** 3
    np.testing.assert_allclose(np.array(state["bn.running_mean"]), share * x.mean(0),
                               rtol=1e-5)
    np.testing.assert_allclose(np.array(state["bn.running_var"]),
                               0.7 ** 3 + share * x.var(0, ddof=1), rtol=1e-5)
    assert int(state["bn.num_batches_tracked"]) == 3
    # Evaluation is by the running ones.
    predicted = step.predict(x)
    mean, var = (np.array(state["bn.running_" + s]) for s in ("mean", "var"))
    weight, bias = (np.array(state["fc." + s]) for s in ("weight", "bias"))
    np.testing.assert_allclose(
        predicted, ((x - mean) / np.sqrt(var + 1e-5)) @ weight[0] + bias[0], rtol=1e-4,
        atol=1e-5)


def test_a_padding_row_stays_zero():
    class Model(nn.Module):
        def __init__(self):
            self.table = nn.Embedding(6, 4, padding_idx=-1)

        def forward(self, index):
            return self.table(index).sum((1, 2))

    index = np.array([[0, 5, 5], [2, 0, 5]])
    step = aicf.compile_step(Model(), lambda m, index: m(index).square().mean(),
                             aicf.optim.SGD(0.1), {"index": index})
    before = np.array(step.state_dict()["table.weight"])
    step(index)
    after = np.array(step.state_dict()["table.weight"])
    changed = np.any(before != after, axis=1)
    np.testing.assert_array_equal(changed, [True, False, True, False, False, False])
    assert not after[5].any()
