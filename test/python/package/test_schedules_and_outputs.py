# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules of the learning rate, and what a step returns beside its loss."""


import numpy as np
import pytest
from conftest import INPUTS, cross_entropy, make_batch, make_step

import aicf
from aicf import nn


# Schedules, and what a step returns beside its loss

STEPS = 12
CURVES = {
    "cosine": (aicf.optim.Cosine(0.1, 8, 0.01),
               lambda t: 0.01 + 0.09 * (1 + np.cos(np.pi * min(t, 8) / 8)) / 2),
    "step": (aicf.optim.StepDecay(0.1, 0.5, 3), lambda t: 0.1 * 0.5 ** ((t - 1) // 3)),
    "polynomial": (aicf.optim.Polynomial(0.1, 8, 0.01, 2.0),
                   lambda t: 0.01 + 0.09 * (1 - min(t, 8) / 8) ** 2),
    "table": (aicf.optim.Table([0.3, 0.0, 0.1, 0.2]),
              lambda t: [0.3, 0.0, 0.1, 0.2][min(t, 4) - 1]),
}


@pytest.mark.parametrize("precision", ["f32", "bf16"])
@pytest.mark.parametrize("curve", CURVES)
def test_schedules(curve, precision):
    """Seen by what they move: a parameter whose gradient is 1."""
    schedule, expected = CURVES[curve]

    class One(nn.Module):
        def __init__(self):
            self.w = nn.Parameter((1,), init="zeros")
    step = aicf.compile_step(One(), lambda m, x: (m.w * x).sum(),
                             aicf.optim.SGD(schedule), {"x": aicf.spec((1,))},
                             precision=precision)
    before = 0.0
    for t in range(1, STEPS + 1):
        step(np.ones(1, np.float32))
        now = float(step.state_dict()["w"][0])
        assert before - now == pytest.approx(expected(t), rel=1e-4, abs=1e-6), t
        before = now


def test_a_table_is_a_state(tmp_path, batch):
    step = make_step(aicf.optim.AdamW(aicf.optim.Table([1e-2, 1e-3])))
    np.testing.assert_array_equal(step.get("lr_table").numpy(),
                                  np.array([1e-2, 1e-3], np.float32))
    step.set("lr_table", np.zeros(2, np.float32))
    before = step.state_dict()
    step(*batch)
    for name, value in step.state_dict().items():
        np.testing.assert_array_equal(value, before[name])
    step.save_checkpoint(tmp_path)
    step.program.reset()
    assert step.get("lr_table")[0] == np.float32(1e-2)
    step.load_checkpoint(tmp_path)
    assert step.get("lr_table")[0] == 0
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")["train_step"]
    with pytest.raises(aicf.errors.NotInitializedError, match="lr_table"):
        loaded(*batch)
    two = aicf.compile_step(step.signature.model, cross_entropy,
                            aicf.optim.SGD(aicf.optim.Table([0.5])), INPUTS,
                            program=step, name="two")
    assert two.get("two/lr_table")[0] == 0.5


@pytest.mark.parametrize("make, text", [
    (lambda: aicf.optim.SGD(lambda t: 0.1 / t), "lr is a function.*optim.Table"),
    (lambda: aicf.optim.Table(lambda t: 0.1), "takes the rates, not a function"),
    (lambda: aicf.optim.Table([]), r"shape \(0,\)"),
    (lambda: aicf.optim.Table([[0.1]]), r"shape \(1, 1\)"),
    (lambda: aicf.optim.Table([0.1, -1]), "has -1.0"),
    (lambda: aicf.optim.Table([np.inf]), "has inf"),
    (lambda: aicf.optim.StepDecay(0.1, 0.0, 3), "factor is 0"),
    (lambda: aicf.optim.StepDecay(0.1, 2.0, 3), "factor is 2"),
    (lambda: aicf.optim.StepDecay(0.1, 0.5, 0), "every is 0"),
    (lambda: aicf.optim.AdamW(betas=(0.9, 1)),
     r"a beta is 1, expected a number in \[0, 1\)"),
    (lambda: aicf.optim.AdamW(eps=np.inf),
     r"eps is inf, expected a number in \[0, inf\)"),
    (lambda: aicf.optim.Cosine(-1, 3), "start is -1"),
    (lambda: aicf.optim.Cosine(0.1, 0), "steps is 0"),
    (lambda: aicf.optim.Polynomial(0.1, 3, power=-1), "power is -1"),
])
def test_schedules_that_are_none(make, text):
    with pytest.raises((TypeError, ValueError), match=text):
        make()


@pytest.mark.parametrize("clip", [0.0, 1e-3])
def test_gradients_by_name(batch, clip):
    step = make_step(aicf.optim.SGD(0.1, clip_norm=clip),
                     outputs=("grad_norm", "grad:fc1.bias"))
    every = make_step(aicf.optim.SGD(0.1, clip_norm=clip), keep="grad")
    loss, more = step(*batch)
    assert list(more) == ["grad_norm", "grad:fc1.bias"]
    grads = every(*batch)[1]
    np.testing.assert_array_equal(more["grad:fc1.bias"].numpy(),
                                  grads["grad:fc1.bias"].numpy())
    norm = np.sqrt(sum((g.numpy().astype(np.float64) ** 2).sum()
                       for g in grads.values()))
    assert float(more["grad_norm"]) == pytest.approx(norm, rel=1e-5)
    # for every batch size, and from a file
    assert list(step(*make_batch(rows=3))[1]) == list(more)
    assert make_step(aicf.optim.SGD(0.1))(*batch).shape == ()


@pytest.mark.parametrize("clip", [0.0, 1e-3])
def test_gradients_are_those_of_the_mean_loss(batch, clip):
    """Over two equal batches, and with a loss scale, those of one; unclipped."""
    names = ["grad_norm", "grad:fc1.bias", "grad:x"]

    def gradients(accumulate=1, **more):
        step = make_step(aicf.optim.SGD(0.1, accumulate=accumulate, clip_norm=clip),
                         outputs=names, **more)
        for _ in range(accumulate - 1):
            assert set(step(*batch)[1]) <= {"grad:x"}
        return {name: value.numpy() for name, value in step(*batch)[1].items()}
    expected = gradients()
    for found, tolerance in ((gradients(2), 1e-5), (gradients(precision="f16"), 2e-2)):
        assert set(found) == set(names)
        for name in names:
            scale = abs(expected[name]).max()
            np.testing.assert_allclose(found[name] / scale, expected[name] / scale,
                                       atol=tolerance, err_msg=name)


@pytest.mark.parametrize("outputs, error, text", [
    ("grad_norm", TypeError, "expected names"), ([1], TypeError, "expected names"),
    (['a"b'], TypeError, "expected names"),
    (["grad_norm", "grad_norm"], ValueError, "a name twice"),
    (["grad:fc9.weight"], aicf.CompileError, "nor one of grad:fc0.weight"),
])
def test_outputs_that_are_not_there(outputs, error, text):
    with pytest.raises(error, match=text):
        make_step(outputs=outputs)
