# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf-plan interpret on the command line; what ops compute: InterpreterTest."""

import numpy as np
import pytest

from conftest import run_tool

STEP = """
func.func @train(%x: tensor<3x2xf32> {aicf.role = "input", aicf.name = "x"},
                 %t: tensor<3x2xf32> {aicf.role = "input", aicf.name = "t"},
                 %w: tensor<3x2xf32> {aicf.role = "param", aicf.name = "w", aicf.init = 0.5},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<3x2xf32> {aicf.updates = "w"}) {
  %y = aicf.add %x, %w : tensor<3x2xf32>, tensor<3x2xf32>
  %l = aicf.mse_loss %y, %t : tensor<3x2xf32>, tensor<3x2xf32>
  %g = aicf.mse_grad %y, %t : tensor<3x2xf32>, tensor<3x2xf32>
  %n:2 = aicf.sgd_step %w, %g, %lr : tensor<3x2xf32>, tensor<3x2xf32>, tensor<f32>
  return %l, %n#0 : tensor<f32>, tensor<3x2xf32>
}
"""


def interpret(bench, plan, *args):
    np.save(bench.folder / "x.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    return run_tool("aicf-plan", "interpret", plan, "--input",
                    "x=@%s/x.npy" % bench.folder, "--input", "t=3x2xf32=1",
                    "--set", "lr=0.25", *args)


def compile_step(bench, *flags):
    (bench.folder / "p.mlir").write_text(STEP)
    return bench.compile("p", *flags)


@pytest.mark.parametrize("flags", [[], ["--target=cuda", "--streams=2"]])
@pytest.mark.parametrize("order", [[], ["--order-seed", "7"]])
def test_any_plan_in_f64(bench, flags, order):
    out = bench.folder / "w.npy"
    done = interpret(bench, compile_step(bench, *flags), "--steps", "3", "--exact",
                     "--output", "w=@%s" % out, *order)
    assert done.returncode == 0, done.stderr
    x, w = np.arange(6.0).reshape(3, 2), np.full((3, 2), 0.5)
    for _ in range(3):
        loss = np.mean((x + w - 1) ** 2)
        w = w - 0.25 * 2 / 6 * (x + w - 1)
    assert float(done.stdout.split(" = ")[1]) == pytest.approx(loss, rel=1e-14)
    np.testing.assert_allclose(np.load(out), w, rtol=1e-14)


@pytest.mark.parametrize("args, message", [
    (["--input", "x=2x2xf32=1"], "2x2xf32"),
    (["--set", "rate=1"], "rate"),
    (["--set", "lr=nan"], "not a finite number"),
    (["--entry", "other"], "other"),
    (["--output", "v=@{d}/v.npy"], '"v"'),
    (["--output", "w={d}/v.npy"], "w="),
    (["--output", "w=@{d}/missing/w.npy"], "No such file"),
    (["--init", "@{d}/missing"], "No such file"),
    (["--steps", "0"], "--steps"),
    (["--order-seed", "-1"], "is not a whole number from 0"),
    (["--seed", "1e3"], "is not a whole number from 0"),
    (["--init", ""], "the value is empty"),
])
def test_wrong_use_is_said_before_the_run(bench, args, message):
    args = [a.replace("{d}", str(bench.folder)) for a in args]
    steps = [] if "--steps" in args else ["--steps", "1000000000"]
    done = interpret(bench, compile_step(bench), *steps, *args)
    assert done.returncode != 0 and message in done.stderr, done
    assert "loss" not in done.stdout


def test_a_plan_that_is_none(bench):
    plan = compile_step(bench)
    plan.write_bytes(plan.read_bytes()[:-5])
    assert interpret(bench, plan).returncode != 0
    assert interpret(bench, bench.folder / "missing").returncode != 0
