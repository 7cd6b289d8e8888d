# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers that are Python functions, beside PyTorch's of the same name."""

import numpy as np
import pytest
import torch

import aicf
from aicf import nn, optim

X = np.random.default_rng(0).standard_normal((32, 6)).astype("f4")
Y = np.random.default_rng(1).integers(0, 3, 32).astype("i4")
INPUTS = {"x": (32, 6), "y": ((32,), "i32")}


def loss(model, x, y):
    return aicf.losses.cross_entropy(model(x), y)


def model():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def beside(own, make, steps=12, **options):
    """Both trained on one batch: the largest difference of a parameter from PyTorch's in
    f64, and that of PyTorch in f32."""
    step = aicf.compile_step(model(), loss, own, INPUTS, **options)
    start = step.state_dict()
    for _ in range(steps):
        step(X, Y)
    found = []
    for dtype in (torch.float64, torch.float32):
        net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(),
                                  torch.nn.Linear(8, 3)).to(dtype)
        net.load_state_dict({k: torch.from_numpy(v) for k, v in start.items()})
        optimizer = make(net.parameters())
        for _ in range(steps):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(
                net(torch.from_numpy(X).to(dtype)), torch.from_numpy(Y).long()).backward()
            optimizer.step()
        found.append({k: v.detach().double().numpy() for k, v in net.state_dict().items()})
    wide, single = found
    return (max(abs(v - wide[k]).max() for k, v in step.state_dict().items()),
            max(abs(v - wide[k]).max() for k, v in single.items()))


T = torch.optim
CASES = {
    "RMSprop": (optim.RMSprop(), T.RMSprop),
    "RMSprop, all": (optim.RMSprop(2e-2, alpha=0.9, weight_decay=0.1, momentum=0.9,
                                   centered=True),
                     lambda p: T.RMSprop(p, 2e-2, alpha=0.9, weight_decay=0.1, momentum=0.9,
                                         centered=True)),
    "Adagrad": (optim.Adagrad(), T.Adagrad),
    "Adagrad, all": (optim.Adagrad(0.1, lr_decay=0.1, weight_decay=0.1,
                                   initial_accumulator_value=0.5),
                     lambda p: T.Adagrad(p, 0.1, lr_decay=0.1, weight_decay=0.1,
                                         initial_accumulator_value=0.5)),
    "Adadelta": (optim.Adadelta(weight_decay=0.1), lambda p: T.Adadelta(p, weight_decay=0.1)),
    "Adamax": (optim.Adamax(weight_decay=0.1), lambda p: T.Adamax(p, weight_decay=0.1)),
    "NAdam": (optim.NAdam(weight_decay=0.1), lambda p: T.NAdam(p, weight_decay=0.1)),
    "RAdam": (optim.RAdam(weight_decay=0.1), lambda p: T.RAdam(p, weight_decay=0.1)),
    # Its length is a small difference of large numbers in the first steps.
    "RAdam, slow": (optim.RAdam(0.05, betas=(0.9, 0.9999)),
                    lambda p: T.RAdam(p, 0.05, betas=(0.9, 0.9999))),
}


@pytest.mark.parametrize("name", CASES)
def test_an_optimizer_of_pytorch(name):
    own, theirs = beside(*CASES[name])
    assert own < max(3 * theirs, 2e-6), (own, theirs)


def adamw(p, g, states, numbers):
    mean = 0.9 * states["m"] + 0.1 * g
    square = 0.999 * states["v"] + 0.001 * g * g
    step = numbers["step"]
    move = mean / (1 - 0.9 ** step) / ((square / (1 - 0.999 ** step)).sqrt() + 1e-8)
    return p * (1 - numbers["lr"] * 0.01) - numbers["lr"] * move, {"m": mean, "v": square}


STATES = {"m": "zeros", "v": "zeros"}


@pytest.mark.parametrize("clip", [0.0, 0.05])
def test_adamw_that_is_written_so_is_the_built_in_one(clip):
    steps = [aicf.compile_step(model(), loss, o, INPUTS, outputs=("grad_norm", "grad:2.bias"))
             for o in (optim.AdamW(1e-2, clip_norm=clip),
                       optim.Custom(1e-2, update=adamw, states=STATES, clip_norm=clip))]
    for _ in range(10):
        (a, more), (b, other) = (step(X, Y) for step in steps)
        assert float(a) == pytest.approx(float(b), rel=1e-5)
        assert float(more["grad_norm"]) == pytest.approx(float(other["grad_norm"]), rel=1e-4)
        np.testing.assert_allclose(more["grad:2.bias"], other["grad:2.bias"], rtol=1e-3,
                                   atol=1e-6)
    for name, value in steps[0].state_dict().items():
        np.testing.assert_allclose(steps[1].state_dict()[name], value, rtol=1e-4, atol=1e-5)
    moments = [s.state_dict(optimizer=True) for s in steps]
    np.testing.assert_allclose(moments[1]["0.weight.m"], moments[0]["0.weight.exp_avg"],
                               rtol=1e-3, atol=1e-7)
    assert int(steps[1].get("step")) == 10


def test_corrections_are_computed_once():
    """Two more parameters take two more calls, of which each updates one."""
    def calls(layers):
        net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(layers)])
        step = aicf.compile_step(net, lambda m, x: (m(x) ** 2).mean(),
                                 optim.Custom(1e-2, update=adamw, states=STATES), {"x": (4, 8)})
        ops = [c["op"] for c in step.cost_analysis()["by_call"]]
        return len([op for op in ops if "sqrt" in op]), len([op for op in ops if "pow" in op])
    one, three = calls(1), calls(3)
    assert (one[0], three[0]) == (2, 6) and one[1] == three[1] <= 2


@pytest.mark.parametrize("schedule", [
    optim.Constant(0.1), optim.Linear(0.4, 0.1, 8), optim.Cosine(0.4, 8),
    optim.WarmupCosine(0.4, 3, 9), optim.StepDecay(0.4, 0.5, 2),
    optim.Polynomial(0.4, 8, 0.1, 2.0), optim.Table([0.4, 0.3, 0.2])])
def test_a_schedule_is_the_same_in_a_function(schedule):
    steps = [aicf.compile_step(model(), loss, o, INPUTS) for o in (
        optim.SGD(schedule),
        optim.Custom(schedule, update=lambda p, g, s, n: p - n["lr"] * g))]
    for _ in range(10):
        for step in steps:
            step(X, Y)
        assert float(steps[0].get("lr")) == float(steps[1].get("lr"))
    for name, value in steps[0].state_dict().items():
        np.testing.assert_allclose(steps[1].state_dict()[name], value, rtol=1e-5, atol=1e-6)


def test_batch_sizes_checkpoints_and_numbers(tmp_path):
    def make():
        return aicf.compile_step(model(), loss, optim.Custom(
            0.1, update=lambda p, g, s, n: (p - n["lr"] * (n["beta"] * s["m"] + g),
                                            {"m": n["beta"] * s["m"] + g}),
            states={"m": "zeros"}, numbers={"beta": 0.5}), INPUTS)
    whole, step = make(), make()
    for rows in (32, 20, 32, 7):
        whole(X[:rows], Y[:rows])
    step(X, Y)
    step(X[:20], Y[:20])
    step.save_checkpoint(tmp_path)
    resumed = make()
    resumed.load_checkpoint(tmp_path)
    for rows in (32, 7):
        resumed(X[:rows], Y[:rows])
    for name, value in whole.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(resumed.state_dict(optimizer=True)[name], value)
    before = resumed.state_dict()
    resumed.set("beta", 0.0)
    resumed.set("lr", 0.0)
    resumed(X, Y)
    for name, value in before.items():
        np.testing.assert_array_equal(resumed.state_dict()[name], value)
    history = aicf.fit(make(), (X, Y), epochs=3, validation=(X, Y),
                       callbacks=[aicf.callbacks.EMA(0.5)])
    assert history[2]["loss"] < history[0]["loss"] and history["lr"] == pytest.approx([0.1] * 3)
    whole.save(tmp_path / "step.plan")
    loaded = aicf.load(tmp_path / "step.plan")["train_step"]
    loaded.load_state_dict(whole.state_dict())
    assert np.isfinite(float(loaded.program.device.num_threads))


def test_in_16_bits_the_update_is_in_32():
    """A rate that 16 bits would round away moves a parameter."""
    step = aicf.compile_step(model(), loss, optim.Custom(
        1e-5, update=lambda p, g, s, n: p - n["lr"] * g), INPUTS, precision="bf16")
    other = aicf.compile_step(model(), loss, optim.SGD(1e-5), INPUTS, precision="bf16")
    for _ in range(20):
        assert float(step(X, Y)) == float(other(X, Y))
    for name, value in other.state_dict().items():
        np.testing.assert_allclose(step.state_dict()[name], value, rtol=1e-6, atol=1e-8)


def test_muon_makes_hidden_matrices_orthogonal():
    step = aicf.compile_step(model(), loss, optim.Muon(
        0.02, is_hidden=lambda name, shape: name == "0.weight"), INPUTS)
    start = step.state_dict()["0.weight"]
    first = float(step(X, Y))
    moved = (start - step.state_dict()["0.weight"]) / (0.02 * (8 / 6) ** 0.5)
    assert 0.5 < np.linalg.svd(moved)[1].min() and np.linalg.svd(moved)[1].max() < 1.3
    for _ in range(60):
        last = float(step(X, Y))
    assert last < 0.85 * first


@pytest.mark.parametrize("options, error, message", [
    (dict(update=3), TypeError, "update is a int"),
    (dict(update=adamw, weight_decay=0.5), ValueError, "weight_decay is 0.5"),
    (dict(update=adamw, accumulate=2), ValueError, "updates with every batch"),
    (dict(update=adamw, numbers={"lr": 1.0}), ValueError, "numbers has 'lr'"),
    (dict(update=lambda p, g, s, n: (p, {"m": p}), states=STATES), aicf.TraceError,
     "expected the new parameter and a dict of m, v"),
    (dict(update=lambda p, g, s, n: None), aicf.TraceError, "the update returned None|returned "
     "None"),
    (dict(update=lambda p, g, s, n: p[0]), aicf.TraceError, "its update is"),
])
def test_what_is_not_an_optimizer(options, error, message):
    with pytest.raises(error, match=message):
        aicf.compile_step(model(), loss, optim.Custom(0.1, **options), INPUTS)


@pytest.mark.parametrize("make", [optim.RMSprop, optim.AdamW])
def test_a_parameters_own_rate_and_decay(make):
    net = model()
    net[0].bias.lr_scale = 0.0
    net[0].weight.weight_decay = 0.0
    step = aicf.compile_step(net, lambda m, x, y: loss(m, x, y) * 0, make(
        0.1, weight_decay=0.5), INPUTS)
    step.set("0.bias", np.ones(8, "f4"))
    before = step.state_dict()
    step(X, Y)
    after = step.state_dict()
    assert (before["0.bias"] == after["0.bias"]).all(), "its rate is 0"
    np.testing.assert_allclose(after["0.weight"], before["0.weight"], atol=1e-6)
    assert (after["2.weight"] != before["2.weight"]).all(), "it decays"


def test_a_class_says_what_to_write():
    with pytest.raises(TypeError, match=r"aicf.optim.Custom\(update, states=...\)"):
        class Mine(optim.Optimizer):
            pass


# Gradients of inputs

@pytest.mark.parametrize("own", [optim.AdamW(1e-2), optim.Custom(
    0.1, update=lambda p, g, s, n: p - n["lr"] * g)])
def test_gradients_of_inputs(own):
    step = aicf.compile_step(model(), loss, own, INPUTS, outputs=("grad:x", "grad:0.weight"))
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    net.load_state_dict({k: torch.from_numpy(v) for k, v in step.state_dict().items()})
    x = torch.from_numpy(X).requires_grad_()
    torch.nn.functional.cross_entropy(net(x), torch.from_numpy(Y).long()).backward()
    more = step(X, Y)[1]
    np.testing.assert_allclose(more["grad:x"], x.grad, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(more["grad:0.weight"], net[0].weight.grad, rtol=1e-4, atol=1e-6)
    with pytest.raises(aicf.CompileError, match="integers have no gradient"):
        aicf.compile_step(model(), loss, own, INPUTS, outputs=("grad:y",))


def test_one_table_in_two_steps_of_a_program():
    table = optim.Table([0.5, 0.25])
    rule = optim.Custom(table, update=lambda p, g, s, n: p - n["lr"] * g)
    first = aicf.compile_step(model(), loss, rule, INPUTS, name="first")
    second = aicf.compile_step(model(), loss, optim.Custom(table, update=rule.update), INPUTS,
                               name="second", program=first)
    for step in (first, second):
        step(X[:5], Y[:5])
        assert float(step.get("lr")) == 0.5
        step(X, Y)
        assert float(step.get("lr")) == 0.25
