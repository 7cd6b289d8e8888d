# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every module of cases.py, imported unmodified, trains as in PyTorch."""

import struct

import pytest
import torch
from cases import CASES
from judge import close, gradients_of, trained_by_aicf, trained_by_torch

STEPS = 20


def sgd(module):
    return torch.optim.SGD(module.parameters(), lr=2.0 ** -6, momentum=0.5)


def adamw(module):
    return torch.optim.AdamW(module.parameters(), lr=2.0 ** -8)


def made(name):
    torch.manual_seed(0)
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_trains_as_in_pytorch(name):
    case = made(name)
    single = trained_by_torch(*case, sgd, STEPS, torch.float32)
    double = trained_by_torch(*case, sgd, STEPS, torch.float64)
    losses, state, _ = trained_by_aicf(*case, sgd, STEPS, torch.float32)
    close(losses, single[0], double[0], "the losses")
    for key, value in state.items():
        close(value, single[2][key], double[2][key], key)


@pytest.mark.parametrize("name", CASES)
def test_first_gradients(name):
    case = made(name)
    _, single, _ = trained_by_torch(*case, sgd, 1, torch.float32)
    _, double, _ = trained_by_torch(*case, sgd, 1, torch.float64)
    ours = gradients_of(*case, torch.float32)
    assert set(ours) == set(double)
    largest = max(float(g.abs().max()) for g in double.values())
    for key, value in ours.items():
        close(value, single[key], double[key], "the gradient of " + key, largest)


@pytest.mark.parametrize("name", CASES)
def test_in_f64(name):
    case = made(name)
    losses, _, state = trained_by_torch(*case, sgd, STEPS, torch.float64)
    own, theirs, _ = trained_by_aicf(*case, sgd, STEPS, torch.float64)
    # A module that says float() computes a part in f32.
    is_wide = any(x != struct.unpack("f", struct.pack("f", x))[0] for x in losses)
    assert own == pytest.approx(losses, rel=1e-9 if is_wide else 1e-6)
    for key, value in theirs.items():
        torch.testing.assert_close(value, state[key], rtol=1e-7 if is_wide else 1e-4,
                                   atol=1e-9 if is_wide else 1e-7)


@pytest.mark.parametrize("name", ["mlp_classifier", "nanogpt", "mlp_batch_norm", "dlrm"])
def test_losses_with_adamw(name):
    """Adam makes of rounding what it makes of a gradient, so that parameters differ."""
    case = made(name)
    single, _, _ = trained_by_torch(*case, adamw, STEPS, torch.float32)
    double, _, _ = trained_by_torch(*case, adamw, STEPS, torch.float64)
    losses, _, _ = trained_by_aicf(*case, adamw, STEPS, torch.float32)
    close(losses, single, double, "the losses", largest=10.0)


@pytest.mark.parametrize("name", CASES)
def test_verified(name):
    """Nothing that is right is refused."""
    trained_by_aicf(*made(name), sgd, 1, torch.float32, verify=True)
