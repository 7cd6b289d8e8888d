# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps derived from their forward function against hand-written ones, and optimizers
and schedules against NumPy. Gradients of random functions: fuzz --forward."""

import json

import numpy as np
import pytest

import reference
from conftest import read_safetensors, run_tool, write_safetensors
from test_numerics import LAYERS, make_data, relative_error, step_args

STEPS = 4


def calls_of(plan):
    """Of each entry the number of calls, but for saves, and the bytes of temps."""
    dump = json.loads(run_tool("aicf-plan", "dump", "--json", plan).stdout)
    return {e["name"]: (sum(c["body"]["primitives"][0]["kind"] != "copy_saved"
                            for c in e["calls"]), e["temp_bytes"])
            for e in dump["entries"]}


def states(bench, plan, params, x, target, *flags, steps=STEPS):
    """The loss, and all persistent tensors after the steps."""
    write_safetensors(bench.folder / "init.safetensors", params)
    out = bench.run(plan, "--init", bench.folder / "init.safetensors", "--steps", steps,
                    "--save-checkpoint", bench.folder / "ck", *flags,
                    inputs={"x": x, "target": target}, hypers={"lr": 0.05},
                    outputs=["loss"])
    return out["loss"], read_safetensors(bench.folder / "ck" / "state.safetensors")


def by_hand(flags):
    """f16 needs a loss scale, which who writes the gradients writes too."""
    return ["--loss-scale"] if "--mixed-precision=f16" in flags else []


@pytest.mark.parametrize("flags", [
    [], ["--opt-level=1"], ["--streams=3"], ["--mixed-precision=f16"],
    ["--mixed-precision=f16", "--opt-level=1"]])
@pytest.mark.parametrize("optimizer,attrs", [
    ("adam", "{beta1 = 0.8, weight_decay = 0.1}"), ("sgd", "{weight_decay = 0.1}"),
    ("momentum", "{momentum = 0.9, nesterov = true}")])
def test_derived_steps_are_the_hand_written_ones(bench, optimizer, attrs, flags):
    """No more calls, no more memory, the same bits."""
    params, x, target = make_data(3, np.float32)
    found = {}
    for name, more in (("hand", by_hand(flags)), ("derived", ["--forward"])):
        bench.generate(*step_args(optimizer, "f32", attrs), *more, name=name)
        plan = bench.compile(name, *flags)
        loss, state = states(bench, plan, params, x, target)
        found[name] = calls_of(plan)["train_step"], loss, {
            # Hand-written steps call momentum by another name than PyTorch.
            n.replace("momentum_buffer", "momentum"): v for n, v in state.items()}
    hand, derived = found["hand"], found["derived"]
    assert derived[0][0] <= hand[0][0]
    if "--opt-level=1" not in flags: # there saves are kept, and are more
        assert derived[0][1] <= hand[0][1]
    assert derived[1].tobytes() == hand[1].tobytes()
    assert sorted(derived[2]) == sorted(hand[2])
    for name, value in hand[2].items():
        assert derived[2][name].tobytes() == value.tobytes(), name


@pytest.mark.parametrize("flags", [
    ["--target=cuda"], ["--target=cuda", "--mixed-precision=bf16", "--streams=2"],
    ["--target=cuda", "--mixed-precision=f16"], ["--split-step"], ["--keep=grad"]])
def test_derived_plans_are_as_small(bench, flags):
    sizes = []
    for name, more in (("hand", by_hand(flags)), ("derived", ["--forward"])):
        bench.generate(*step_args("adam", "f32"), *more, name=name)
        sizes.append(calls_of(bench.compile(name, *flags)))
    assert sizes[0] == sizes[1]


def test_split_derived_steps_have_the_bits_of_the_whole(bench):
    params, x, target = make_data(5, np.float32)
    bench.generate(*step_args("adam", "f32"), "--forward")
    whole = states(bench, bench.compile(), params, x, target, steps=1)[1]
    plan = bench.compile("step", "--split-step", plan="split")
    write_safetensors(bench.folder / "init.safetensors", params)
    bench.run(plan, "--entry", "train_step.grads", "--init",
              bench.folder / "init.safetensors", "--save-checkpoint",
              bench.folder / "ck", inputs={"x": x, "target": target})
    bench.run(plan, "--entry", "train_step.update", "--resume", bench.folder / "ck",
              "--save-checkpoint", bench.folder / "ck", hypers={"lr": 0.05})
    split = read_safetensors(bench.folder / "ck" / "state.safetensors")
    for name, value in whole.items():
        assert split[name].tobytes() == value.tobytes(), name


SCHEDULES = {
    "constant<value = 0.05>": lambda t: 0.05,
    "linear<start = 0.1, end = 0.02, steps = 6>":
        lambda t: 0.1 + (0.02 - 0.1) * min(t / 6, 1),
    "warmup_cosine<peak = 0.1, warmup = 3, steps = 8, end = 0.01>":
        lambda t: 0.1 * t / 3 if t <= 3 else
        0.01 + 0.09 * (1 + np.cos(np.pi * min((t - 3) / 5, 1))) / 2,
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("executor", ["eager", "graph"])
def test_schedules_follow_the_step(bench, schedule, executor):
    """10 steps without a write from the host, in f64."""
    params, x, target = make_data(11, np.float64)
    bench.generate(*step_args("adam", "f64"), "--forward")
    model = bench.folder / "step.mlir"
    model.write_text(model.read_text().replace('lr = "lr"', "lr = #aicf." + schedule))
    write_safetensors(bench.folder / "init.safetensors", params)
    bench.run(bench.compile(), "--init", bench.folder / "init.safetensors",
              "--steps", 10, "--executor", executor,
              "--save-checkpoint", bench.folder / "ck",
              inputs={"x": x, "target": target})
    found = read_safetensors(bench.folder / "ck" / "state.safetensors")
    state = {}
    for t in range(1, 11):
        reference.adam(params, reference.gradients(params, x, target, LAYERS), state,
                       SCHEDULES[schedule](t))
    for name, value in params.items():
        assert relative_error(found[name], value) < 1e-12, name


def test_parameters_have_rates_and_decays_of_their_own(bench):
    params, x, target = make_data(13, np.float64)
    bench.generate(*step_args("sgd", "f64", "{weight_decay = 0.1}"), "--forward")
    model = bench.folder / "step.mlir"
    text = model.read_text()
    for name, marks in (("fc0.bias", "aicf.weight_decay = 0.0"),
                        ("fc1.weight", "aicf.lr_scale = 0.5"),
                        ("fc2.bias", "aicf.frozen")):
        text = text.replace('aicf.name = "%s"' % name,
                            'aicf.name = "%s", %s' % (name, marks))
    model.write_text(text)
    _, found = states(bench, bench.compile(), params, x, target, steps=1)
    grads = reference.gradients(params, x, target, LAYERS)
    for name, value in params.items():
        decay = 0 if name == "fc0.bias" else 0.1
        rate = {"fc1.weight": 0.025, "fc2.bias": 0}.get(name, 0.05)
        expected = value - rate * (grads[name] + decay * value)
        assert relative_error(found[name], expected) < 1e-12, name
