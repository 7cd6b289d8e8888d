# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of views are trained on both devices' plans; how many copies they need is
counted, and the report says why."""

import collections
import json
import re
import subprocess

import models
import numpy as np
import pytest
from conftest import BINARY, PROGRAM_ENV

import aicf

ROWS = 50
DIGITS, CLASSES = aicf.data.load_digits()
DIGITS = DIGITS.reshape(-1, 8, 8)


def classify(model, x, labels):
    return aicf.losses.cross_entropy(model(x), labels)


def denoise(model, x, target):
    return aicf.losses.mse_loss(model(x), target)


def pairs(seed):
    """Images and classes, or noisy images and clean ones."""
    random = np.random.default_rng(seed)
    chosen = random.permutation(len(DIGITS))[:ROWS]
    noisy = DIGITS[chosen] + 0.3 * random.standard_normal(
        (ROWS, 8, 8)).astype(np.float32)
    return DIGITS[chosen], CLASSES[chosen], noisy


SPECS = {"x": aicf.spec((ROWS, 8, 8)), "labels": aicf.spec((ROWS,), "i32")}
CASES = {
    "mixer": (models.Mixer, classify),
    "vit": (models.ViT, classify),
    "unet": (models.UNet, denoise),
    "bilinear": (models.Bilinear, classify),
}


def traced(name, optimizer=None):
    model, loss = CASES[name]
    specs = SPECS if loss is classify else {"x": SPECS["x"], "target": SPECS["x"]}
    return aicf.trace_step(model(), loss, optimizer or aicf.optim.AdamW(1e-2), specs)


def batch(name, seed):
    clean, labels, noisy = pairs(seed)
    return (clean, labels) if CASES[name][1] is classify else (noisy, clean)


@pytest.mark.parametrize("name", CASES)
def test_training_lowers_the_loss(name):
    step = traced(name).lower("cpu").compile(seed=1)["train_step"]
    losses = [float(step(*batch(name, seed))) for seed in range(150)]
    assert np.mean(losses[-20:]) < 0.5 * np.mean(losses[:5])


def interpreted(lowered, name, values, folder, steps):
    """Losses and parameters of a plan for any device, in f64."""
    plan = folder / "p.plan"
    plan.write_bytes(lowered.plan.serialize())
    names = ["x", "labels" if CASES[name][1] is classify else "target"]
    flags = ["--set", "lr=0.01", "--init", "@%s" % values, "--steps", str(steps)]
    for key, array in zip(names, batch(name, 0)):
        np.save(folder / (key + ".npy"), array)
        flags += ["--input", "%s=@%s/%s.npy" % (key, folder, key)]
    params = [t["name"] for t in lowered.plan.persistent() if t["role"] == "param"]
    for i, key in enumerate(["loss", *params]):
        flags += ["--output", "%s=@%s/%d.npy" % (key, folder, i)]
    done = subprocess.run([BINARY / "bin/aicf-plan", "interpret", plan, "--exact", *flags],
                          capture_output=True, text=True, env=PROGRAM_ENV)
    assert done.returncode == 0, done.stderr
    return {key: np.load(folder / ("%d.npy" % i))
            for i, key in enumerate(["loss", *params])}


@pytest.mark.parametrize("name", CASES)
def test_both_devices_plans_train_alike(name, tmp_path):
    """Three steps: the CPU's kernels, and CUDA's plan by the interpreter."""
    trace = traced(name, aicf.optim.SGD(0.01))
    step = trace.lower("cpu").compile(seed=2)["train_step"]
    step.save_weights(str(tmp_path / "w.safetensors"))
    found = interpreted(trace.lower("cuda"), name, tmp_path / "w.safetensors", tmp_path, 3)
    for _ in range(3):
        loss = step(*batch(name, 0))
    assert float(loss) == pytest.approx(float(found["loss"]), rel=1e-5)
    for key, value in step.state_dict().items():
        np.testing.assert_allclose(value, found[key], rtol=1e-4, atol=1e-6, err_msg=key)


# What each model copies: `copy` calls of a training step. Patches are a reshape that no
# strides say. The CPU computes patches where they belong and copies the class token there;
# CUDA's product for them is another kernel, so a concat of two launches stays. The U-net
# cuts into patches and back, twice each: two of these four are read where they lie, by ops
# of two operands. What it keeps beside what comes back is computed there on the CPU, and
# copied behind CUDA's product with a relu.
COPIES = {"mixer": 1, "vit": {"cpu": 2, "cuda": 1}, "unet": {"cpu": 2, "cuda": 3},
          "bilinear": 0}
# Gradients of q, k and v are one concat; the class token's goes among zeros.
PADS = {"vit": 1}


def reported(lowered):
    """How many remarks say that a copy is needed, less those that say that it is there
    already or that its operand is computed in its place; by what they say."""
    text = [d.message for d in lowered.report()]
    needed = [re.search(r"([\w' ]+) needs a copy of (\S+)", m).group(1)
              for m in text if "needs a copy of" in m]
    spared = sum("is dropped: an earlier call" in m or
                 "a part of 'copy'" in m and "is computed where it belongs" in m
                 for m in text)
    copied = sum("a part of 'concat'" in m and "is copied" in m for m in text)
    return collections.Counter(needed), len(needed) - spared + copied


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", CASES)
def test_every_copy_is_explained(name, device):
    lowered = traced(name).lower(device)
    kinds = collections.Counter(re.findall(r"^(\w+)\(", lowered.dump(), re.M))
    expected = COPIES[name]
    expected = expected[device] if isinstance(expected, dict) else expected
    assert (kinds["copy"], kinds["copy_saved"]) == (expected, 0)
    assert reported(lowered)[1] == expected
    assert kinds["pad"] == PADS.get(name, 0)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_attention_copies_nothing(device):
    """Attention by hand is one call, which reads heads out of a packed product where they
    are. What it makes is written where the next product reads it; backward, so are the
    gradients of the packed product."""
    spec = {"x": aicf.spec((2, 17, 16))}
    forward = aicf.trace(models.Attention(16, 4), spec).lower(device)
    kinds = collections.Counter(re.findall(r"^(\w+)\(", forward.dump(), re.M))
    assert kinds == {"gemm": 2, "bias_add": 2, "attention": 1}
    step = aicf.trace_step(models.Attention(16, 4), denoise, aicf.optim.SGD(0.1),
                           {**spec, "target": spec["x"]}).lower(device)
    needed, copies = reported(step)
    assert needed.keys() == {"a reshape"} and copies == step.dump().count("\ncopy(") == 0


def test_a_plan_of_views_names_them():
    """A view is a value of its base's buffer: no buffer, no call. So is a part that is
    computed where it belongs; nothing is both."""
    plan = json.loads(traced("vit").lower("cpu").plan.json())
    entry = plan["entries"][0]
    views = [v for v in entry["values"] if v["layout"] == "strided"]
    assert len(views) >= 20
    written = {n for call in entry["calls"] for n in call["outs"]}
    parts = [v for v in views if v["number"] in written]
    assert 1 <= len(parts) <= len(views) - 10
    memory = aicf.compile_step(models.Attention(16, 4), denoise, aicf.optim.SGD(0.1), {
        "x": aicf.spec((2, 17, 16)), "target": aicf.spec((2, 17, 16))}).memory_analysis()
    entry = memory["entries"]["train_step"]
    assert {p["value"] for p in entry["parts"]} >= {"2x17x4x4xf32 strided [816, 48, 4, 1]"}
    assert all(p["bytes"] == 4 * 2 * 4 * 17 * 4 for p in entry["parts"])
    assert entry["views"] and entry["saves"]


def test_costs_know_views():
    """A product of heads counts as a product; a view counts the elements that it shows,
    and what it repeats is read once."""
    def function(q, b):
        heads = q.transpose(1, 2)                      # [2, 4, 17, 8] of [2, 17, 4, 8]
        return heads @ heads.swapaxes(-1, -2), aicf.concat(
            [q[:, ::2, :1], b.broadcast_to(2, 9, 1, 8)], 1)
    entry = aicf.compile(function, {"q": aicf.spec((2, 17, 4, 8)), "b": aicf.spec((8,))})
    product, joined = entry.cost_analysis()["by_call"]
    assert product["op"] == "batched_gemm" and joined["op"] == "concat"
    assert product["flops"] == 2 * (2 * 4) * 17 * 17 * 8
    elements = 2 * 17 * 4 * 8
    assert product["bytes"] == 4 * (2 * elements + 2 * 4 * 17 * 17)
    assert joined["bytes"] == 4 * (2 * 9 * 8 + 8 + 2 * 18 * 8)
    assert entry.memory_analysis()["entries"][entry.name]["temp_bytes"] == 0


def test_a_summary_knows_views():
    step = traced("vit").lower("cpu").compile()["train_step"]
    summary = aicf.summary(step)
    attention = [row for row in summary.layers if row.kind == "Attention"]
    assert len(attention) == 2 and attention[0].shape == "50x17x16"
    # Two products forward and four backward, of 4 heads.
    assert attention[0].flops > 6 * 2 * 50 * 4 * 17 * 17 * 4
    assert "Attention" in str(summary)


def test_lifetimes_are_the_bases():
    """What a view of a temp reads, late, keeps the temp alive."""
    def function(x):
        y = x.cumsum(1)
        z = x.cumsum(1).cumsum(1).cumsum(1)
        return aicf.concat([y[:, :2].T, z[:, 2:].T])
    entry = aicf.compile(function, {"x": aicf.spec((3, 4))})
    chart = entry.program.plan.dump(lifetimes=True)
    plan = json.loads(entry.program.plan.json())["entries"][0]
    last = len(plan["calls"]) - 1
    read = {v["buffer"] for v in plan["values"] if v["number"] in plan["calls"][last]["ins"]}
    temps = [b for b in plan["buffers"] if b["number"] in read]
    assert len(temps) == 2 and "#####" in chart  # alive over all five calls
    a, b = temps
    assert a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
    x = np.arange(12, dtype=np.float32).reshape(3, 4) / 8

    def expected(v):
        return v.cumsum(1)
    np.testing.assert_allclose(
        entry(x).numpy(), np.concatenate([
            expected(x)[:, :2].T, expected(expected(expected(x)))[:, 2:].T]), rtol=1e-6)
