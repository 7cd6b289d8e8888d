# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lion, clipping and accumulation against NumPy, with everything that a step may be
compiled to. Beside PyTorch: fuzz --torch."""

import json

import numpy as np
import pytest

import reference
from conftest import read_safetensors, run_tool, write_safetensors
from test_numerics import LAYERS, make_data, relative_error, step_args

BATCHES = 3


def make_step(bench, dtype, optimizer, attrs="", batch=6):
    """The MLP as a forward function, trained by #aicf.<optimizer>."""
    args = step_args("sgd", dtype)
    args[1] = str(batch)
    bench.generate(*args, "--forward")
    model = bench.folder / "step.mlir"
    text = model.read_text()
    begin = text.index("#aicf.sgd<")
    model.write_text(text[:begin] + "#aicf." + optimizer +
                     text[text.index(">", begin) + 1:])


def train(bench, plan, params, batches, *flags, updates=1, entries=("train_step",),
          codes=None):
    """The states after updates, each of a run of the accumulating entry for all
    batches but the last, and of the entries of the step; `codes` are the exit codes. A
    run is a process: what is not in the checkpoint is lost."""
    write_safetensors(bench.folder / "init.safetensors", params)
    start = ["--init", bench.folder / "init.safetensors"]
    for _ in range(updates):
        runs = [("train_step.accumulate", b) for b in batches[:-1]]
        runs += [(e, batches[-1]) for e in entries]
        for i, (entry, (x, target)) in enumerate(runs):
            takes_data = not entry.endswith(".update")
            has_rate = entry in ("train_step", "train_step.update")
            last = ["--last-batch"] if entry == "train_step" else []
            bench.run(plan, "--entry", entry, *last, *start, "--save-checkpoint",
                      bench.folder / "ck", *flags, code=codes[i] if codes else 0,
                      inputs={"x": x, "target": target} if takes_data else {},
                      hypers={"lr": 0.05} if has_rate else {})
            start = ["--resume", bench.folder / "ck"]
    return read_safetensors(bench.folder / "ck" / "state.safetensors")


def split(x, target):
    return list(zip(np.split(x, BATCHES), np.split(target, BATCHES)))


def clip(grads, most):
    norm = np.sqrt(sum((g ** 2).sum() for g in grads.values()))
    return {n: g * min(1, most / (norm + 1e-6)) for n, g in grads.items()}


def lion(params, grads, state, lr, beta1, beta2, decay):
    for name, g in grads.items():
        m = state.get(name, np.zeros_like(g))
        p = params[name]
        params[name] = p - lr * (np.sign(beta1 * m + (1 - beta1) * g) + decay * p)
        state[name] = beta2 * m + (1 - beta2) * g


@pytest.mark.parametrize("flags", [[], ["--opt-level=0"], ["--streams=2"]])
def test_lion_is_numpys(bench, flags):
    params, x, target = make_data(17, np.float64)
    make_step(bench, "f64", 'lion<lr = "lr", beta1 = 0.8, beta2 = 0.95, '
              'weight_decay = 0.1>')
    found = train(bench, bench.compile("step", *flags), params, [(x, target)],
                  updates=3)
    state = {}
    for _ in range(3):
        lion(params, reference.gradients(params, x, target, LAYERS), state, 0.05, 0.8,
             0.95, 0.1)
    for name, value in params.items():
        assert relative_error(found[name], value) < 1e-12, name
        assert relative_error(found[name + ".exp_avg"], state[name]) < 1e-12, name


@pytest.mark.parametrize("most", [0.05, 100.0])
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_clipping_is_pytorchs(bench, optimizer, most):
    params, x, target = make_data(19, np.float64)
    make_step(bench, "f64", '%s<lr = "lr", clip_norm = %r>' % (optimizer, most))
    found = train(bench, bench.compile(), params, [(x, target)], updates=3)
    state = {}
    for _ in range(3):
        grads = clip(reference.gradients(params, x, target, LAYERS), most)
        if optimizer == "sgd":
            reference.sgd(params, grads, state, 0.05)
        else:
            reference.adam(params, grads, state, 0.05, decay=0.01)
    for name, value in params.items():
        assert relative_error(found[name], value) < 1e-12, name


@pytest.mark.parametrize("optimizer", [
    'sgd<lr = "lr", momentum = 0.9', 'adamw<lr = "lr", clip_norm = 0.1',
    'lion<lr = "lr", weight_decay = 0.1'])
def test_batches_give_what_one_gives(bench, optimizer):
    """Micro-batches of a third of the rows, and one of all: the same but for the order
    of sums. The sums are zero afterwards."""
    params, x, target = make_data(23, np.float64, batch=3 * BATCHES)
    make_step(bench, "f64", optimizer + ">", batch=3 * BATCHES)
    whole = train(bench, bench.compile(plan="whole"), params, [(x, target)], updates=3)
    make_step(bench, "f64", optimizer + ", accumulate = %d>" % BATCHES, batch=3)
    parts = train(bench, bench.compile(plan="parts"), params, split(x, target),
                  updates=3)
    for name, value in whole.items():
        assert relative_error(parts[name], value) < 1e-11, name
    sums = [name for name in parts if name.endswith(".grad_acc")]
    assert len(sums) == len(params)
    assert all(not parts[name].any() for name in sums)


@pytest.mark.parametrize("flags", [
    ["--mixed-precision=bf16"], ["--mixed-precision=f16"],
    ["--mixed-precision=f16", "--streams=2"]])
def test_batches_in_16_bits_are_near(bench, flags):
    params, x, target = make_data(29, np.float32, batch=3 * BATCHES)
    optimizer = 'adamw<lr = "lr", clip_norm = 0.5, eps = 1.0e-3'
    make_step(bench, "f32", optimizer + ">", batch=3 * BATCHES)
    whole = train(bench, bench.compile(plan="whole"), params, [(x, target)])
    make_step(bench, "f32", optimizer + ", accumulate = %d>" % BATCHES, batch=3)
    scale = {"loss_scale": np.float32(1024)} if "=f16" in flags[0] else {}
    parts = train(bench, bench.compile("step", *flags, plan="parts"),
                  {**params, **scale}, split(x, target))
    for name in params:
        assert relative_error(parts[name], whole[name]) < 2e-2, name


def test_a_batch_that_overflows_costs_the_update(bench):
    """f16: the sums of all its batches are thrown away, parameters and the count stay,
    the loss scale backs off."""
    params, x, target = make_data(31, np.float32, batch=3 * BATCHES)
    make_step(bench, "f32", 'adamw<lr = "lr", clip_norm = 1.0, accumulate = %d>' %
              BATCHES, batch=3)
    plan = bench.compile("step", "--mixed-precision=f16")
    batches = split(x, target)
    bad = [(batches[0][0] * 1e6, batches[0][1]), *batches[1:]]
    start = {**params, "loss_scale": np.float32(1024)}
    skipped = train(bench, plan, start, bad, codes=[1, 0, 0]) # a loss of NaN
    for name, value in params.items():
        assert skipped[name].tobytes() == value.tobytes(), name
        assert not skipped[name + ".grad_acc"].any(), name
    assert skipped["step"] == 0 and skipped["loss_scale"] == 512
    taken = train(bench, plan, start, batches)
    assert taken["step"] == 1 and taken["loss_scale"] == 1024
    assert any(taken[n].tobytes() != v.tobytes() for n, v in params.items())


def test_split_steps_accumulate(bench):
    params, x, target = make_data(37, np.float32, batch=3 * BATCHES)
    make_step(bench, "f32", 'adamw<lr = "lr", clip_norm = 0.1, accumulate = %d>' %
              BATCHES, batch=3)
    batches = split(x, target)
    whole = train(bench, bench.compile(plan="whole"), params, batches)
    halves = train(bench, bench.compile("step", "--split-step", plan="halves"), params,
                   batches, entries=("train_step.grads", "train_step.update"))
    for name, value in whole.items():
        assert halves[name].tobytes() == value.tobytes(), name


@pytest.mark.parametrize("executor", ["eager", "graph"])
def test_aicf_run_takes_batches(bench, executor):
    """One process, and one a batch: the same bits."""
    params, x, target = make_data(41, np.float32, batch=3)
    make_step(bench, "f32", 'sgd<lr = "lr", accumulate = %d>' % BATCHES, batch=3)
    plan = bench.compile()
    apart = train(bench, plan, params, [(x, target)] * BATCHES, updates=2)
    bench.run(plan, "--init", bench.folder / "init.safetensors", "--steps", 2,
              "--executor", executor, "--check",
              "--save-checkpoint", bench.folder / "ck",
              inputs={"x": x, "target": target}, hypers={"lr": 0.05})
    found = read_safetensors(bench.folder / "ck" / "state.safetensors")
    for name, value in apart.items():
        assert found[name].tobytes() == value.tobytes(), name


def test_batches_without_an_entry_for_them(bench):
    make_step(bench, "f32", 'sgd<lr = "lr">')
    done = run_tool("aicf-run", bench.compile(), "--batches", 4)
    assert done.returncode == 2
    assert 'the plan has no entry "train_step.accumulate"' in done.stderr
    assert "accumulate = 4" in done.stderr
    done = run_tool("aicf-run", bench.folder / "step.plan", "--batches", 0)
    assert done.returncode == 2


def test_the_number_of_batches_is_the_plans(bench):
    """It was compared with nothing: the gradient was scaled by N/K."""
    make_step(bench, "f32", 'sgd<lr = "lr", accumulate = 4>', batch=3)
    plan = bench.compile()
    for wrong in (1, 3, 8):
        done = run_tool("aicf-run", plan, "--batches", wrong)
        assert done.returncode == 2
        assert '%d batches per update: entry "train_step" was compiled for 4' % wrong \
            in done.stderr
    done = run_tool("aicf-run", plan, "--batches", 4, "--last-batch")
    assert done.returncode == 2
    assert "the last of 4 batches of an update" in " ".join(
        run_tool("aicf-plan", "dump", plan).stdout.split())
    assert json.loads(run_tool("aicf-plan", "dump", "--json", plan).stdout)[
        "entries"][0]["accumulate"] == 4


def test_a_run_that_ends_in_nan_leaves_what_it_came_from(bench):
    params, x, target = make_data(43, np.float32, batch=3)
    make_step(bench, "f32", 'sgd<lr = "lr">', batch=3)
    plan = bench.compile()
    write_safetensors(bench.folder / "init.safetensors", params)
    folder = bench.folder / "ck"
    good = {"inputs": {"x": x, "target": target}, "hypers": {"lr": 0.05}}
    bad = {"inputs": {"x": x * np.nan, "target": target}, "hypers": {"lr": 0.05}}
    bench.run(plan, "--init", bench.folder / "init.safetensors", "--save-checkpoint",
              folder, **good)
    before = (folder / "state.safetensors").read_bytes()
    for same in (folder, bench.folder / "." / "ck", "%s/" % folder):
        bench.run(plan, "--resume", folder, "--save-checkpoint", same, code=1, **bad)
        assert (folder / "state.safetensors").read_bytes() == before
    bench.run(plan, "--resume", folder, "--save-checkpoint", bench.folder / "other",
              code=1, **bad)
    assert (bench.folder / "other" / "state.safetensors").exists()
    bench.run(plan, "--resume", folder, "--save-checkpoint", folder, **good)
    assert (folder / "state.safetensors").read_bytes() != before


BETWEEN = """
func.func @train_step(
    %x: tensor<6x8xf32> {aicf.role = "input", aicf.name = "x"},
    %V: tensor<5x8xf32> {aicf.role = "param", aicf.name = "V"},
    %W: tensor<5x8xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  %a = aicf.linear %x, %V : tensor<6x8xf32>, tensor<5x8xf32>
  %b = aicf.linear %x, %W : tensor<6x8xf32>, tensor<5x8xf32>
  %l = aicf.LOSS %a, %b : tensor<6x5xf32>, tensor<6x5xf32>
  return %l : tensor<f32>
}
"""


@pytest.mark.parametrize("loss", ["mse_loss", "l1_loss"])
@pytest.mark.parametrize("flags", [[], ["--mixed-precision=bf16"],
                                   ["--mixed-precision=f16"]])
def test_both_sides_of_a_loss_are_trained(bench, loss, flags):
    """In 16 bits, too, where one of them is f32."""
    rng = np.random.default_rng(43)
    x, *params = (rng.normal(size=s).astype(np.float32)
                  for s in ((6, 8), (5, 8), (5, 8)))
    (bench.folder / "step.mlir").write_text(BETWEEN.replace("LOSS", loss))
    write_safetensors(bench.folder / "init.safetensors",
                      {"V": params[0], "W": params[1], "loss_scale": np.float32(64)}
                      if "--mixed-precision=f16" in flags else
                      {"V": params[0], "W": params[1]})
    bench.run(bench.compile("step", *flags), "--init",
              bench.folder / "init.safetensors", "--save-checkpoint",
              bench.folder / "ck", inputs={"x": x}, hypers={"lr": 0.5})
    found = read_safetensors(bench.folder / "ck" / "state.safetensors")
    d = x @ (params[0] - params[1]).T
    slope = (2 * d if loss == "mse_loss" else np.sign(d)) / d.size
    step = 0.5 * slope.T @ x
    for name, old, new in (("V", params[0], -step), ("W", params[1], step)):
        assert relative_error(found[name] - old, new) < (2e-2 if flags else 1e-5), name
