# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""16-bit steps on the CPU: derived states, loss scale, histories, split steps."""

import numpy as np
import pytest

import reference
from conftest import read_safetensors, run_tool, write_safetensors
from test_numerics import LAYERS, make_data, relative_error, step_args


def train(bench, plan, params, x, target, steps, *flags, sets=(), states=None):
    """Runs from `params`; returns the checkpoint and the process."""
    write_safetensors(bench.folder / "init.safetensors",
                      {**params, **(states or {})})
    done = run_tool("aicf-run", plan, "--init",
                    "@%s" % (bench.folder / "init.safetensors"), "--input",
                    bench.save("x", x), "--input", bench.save("target", target),
                    "--set", "lr=0.01", "--steps", steps, "--save-checkpoint",
                    bench.folder / "ck", *flags)
    assert done.returncode == 0, done.stderr
    return read_safetensors(bench.folder / "ck" / "state.safetensors"), done


@pytest.mark.parametrize("dtype,tolerance", [("bf16", 5e-2), ("f16", 4e-3)])
@pytest.mark.parametrize("executor", ["eager", "graph"])
def test_ten_steps_of_adam(bench, dtype, tolerance, executor):
    """Against NumPy in f64; the masters and moments are f32, the working copies
    are not in the checkpoint."""
    params, x, target = make_data(1, np.float32)
    bench.generate(*step_args("adam", "f32"), "--loss-scale")
    plan = bench.compile("step", "--mixed-precision=" + dtype)
    got, _ = train(bench, plan, params, x, target, 10, "--executor", executor)
    assert not [name for name in got if name.endswith("." + dtype)]
    expected = {n: v.astype(np.float64) for n, v in params.items()}
    state = {}
    for _ in range(10):
        grads = reference.gradients(expected, x.astype(np.float64),
                                    target.astype(np.float64), LAYERS)
        reference.adam(expected, grads, state, 0.01)
    for name in params:
        assert got[name].dtype == np.float32
        assert relative_error(got[name], expected[name]) < tolerance, name
    assert got["step"] == 10


@pytest.mark.parametrize("executor", ["eager", "graph"])
def test_a_bad_step_skips_update_and_count_together(bench, executor):
    params, x, target = make_data(2, np.float32)
    bench.generate(*step_args("adam", "f32"), "--loss-scale")
    plan = bench.compile("step", "--mixed-precision=f16")
    scale = {"loss_scale": np.float32(2.0 ** 40)}  # overflows every gradient
    got, _ = train(bench, plan, params, x, target, 1, "--executor", executor,
                   states=scale)
    assert got["step"] == 0 and got["loss_scale"] == 2.0 ** 39
    for name in params:
        assert np.array_equal(got[name], params[name]), name
        assert not got[name + ".exp_avg"].any()
    # It backs off until a step is good, and trains from there.
    got, _ = train(bench, plan, params, x, target, 60, "--executor", executor,
                   states=scale)
    assert 0 < got["step"] < 60
    assert np.log2(got["loss_scale"]) == 40 - (60 - got["step"])
    assert not np.array_equal(got["fc0.weight"], params["fc0.weight"])


def test_working_copies_follow_their_masters(bench):
    """Weights written from outside, and a resumed run, reach the 16-bit copies:
    stopping and going on is the same as not stopping."""
    params, x, target = make_data(3, np.float32)
    bench.generate(*step_args("adam", "f32"))
    plan = bench.compile("step", "--mixed-precision=bf16")
    whole, _ = train(bench, plan, params, x, target, 7)
    train(bench, plan, params, x, target, 3)
    done = run_tool("aicf-run", plan, "--resume", bench.folder / "ck", "--input",
                    bench.save("x", x), "--input", bench.save("target", target),
                    "--set", "lr=0.01", "--steps", 4, "--save-checkpoint",
                    bench.folder / "ck2", "--check")
    assert done.returncode == 0, done.stderr
    resumed = read_safetensors(bench.folder / "ck2" / "state.safetensors")
    assert set(whole) == set(resumed)
    for name, value in whole.items():
        assert np.array_equal(value, resumed[name]), name


@pytest.mark.parametrize("flags", [["--opt-level=0"], ["--opt-level=1"],
                                   ["--streams=3"], ["--max-groups=1"],
                                   ["--streams=2", "--keep=grad"]])
@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_every_way_to_a_plan_gives_the_same_bits(bench, flags, dtype):
    params, x, target = make_data(4, np.float32)
    bench.generate(*step_args("adam", "f32"), "--loss-scale")
    mixed = "--mixed-precision=" + dtype
    expected, _ = train(bench, bench.compile("step", mixed), params, x, target, 5)
    plan = bench.compile("step", mixed, *flags, plan="other")
    got, _ = train(bench, plan, params, x, target, 5)
    for name, value in expected.items():
        assert np.array_equal(value, got[name]), name


def test_history_holds_the_loss_of_every_step(bench):
    params, x, target = make_data(5, np.float32)
    bench.generate(*step_args("adam", "f32"), "--history", "4")
    plan = bench.compile()
    losses = []
    for steps in range(1, 7):
        got, done = train(bench, plan, params, x, target, steps)
        losses.append(float(done.stdout.split("loss = ")[1].split()[0]))
    history = got["loss.history"]
    assert got["train_step.history_step"] == 6
    for step, loss in enumerate(losses[2:], 2):
        assert np.float32(loss) == history[step % 4], step


def test_shuffled_batches_of_resident_data(bench):
    """Each epoch visits every row once: with a learning rate of 0 the losses of
    an epoch's batches have the mean of the whole."""
    rng = np.random.default_rng(6)
    images = rng.normal(size=(12, 7)).astype(np.float32)
    targets = rng.normal(size=(12, 3)).astype(np.float32)
    bench.generate("--batch", "4", "--widths", "7,5,3", "--optimizer", "sgd",
                   "--resident", "12", "--history", "6")
    plan = bench.compile()
    done = run_tool("aicf-run", plan, "--input", bench.save("images", images),
                    "--input", bench.save("targets", targets), "--set", "lr=0",
                    "--steps", 6, "--save-checkpoint", bench.folder / "ck")
    assert done.returncode == 0, done.stderr
    got = read_safetensors(bench.folder / "ck" / "state.safetensors")
    first, second = got["loss.history"][:3], got["loss.history"][3:]
    assert np.isclose(first.mean(), second.mean(), rtol=1e-5)
    assert not np.allclose(first, second), "two epochs have the same order"
    assert got["batch"] == 6
