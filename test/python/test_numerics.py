# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps against NumPy and finite differences."""

import math

import numpy as np
import pytest

import reference
from conftest import read_safetensors, write_safetensors

WIDTHS = [7, 9, 5, 3]
LAYERS = len(WIDTHS) - 1


def make_data(seed, dtype, batch=6):
    rng = np.random.default_rng(seed)
    params = {}
    for i, (k, n) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        params["fc%d.weight" % i] = rng.normal(size=(n, k), scale=0.5).astype(dtype)
        params["fc%d.bias" % i] = rng.normal(size=n, scale=0.1).astype(dtype)
    x = rng.normal(size=(batch, WIDTHS[0])).astype(dtype)
    target = rng.normal(size=(batch, WIDTHS[-1])).astype(dtype)
    return params, x, target


def step_args(optimizer, dtype, attrs=""):
    return ["--batch", "6", "--widths", ",".join(map(str, WIDTHS)),
            "--optimizer", optimizer, "--dtype", dtype, "--attrs", attrs]


def relative_error(a, b):
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_equal_finite_differences(bench, seed):
    """Of the whole step, in f64, central differences of the loss."""
    params, x, target = make_data(seed, np.float64)
    bench.generate(*step_args("sgd", "f64"))
    plan = bench.compile("step", "--keep=grad")
    write_safetensors(bench.folder / "init.safetensors", params)
    names = ["grad:" + name for name in params]
    got = bench.run(plan, "--init", "@%s" % (bench.folder / "init.safetensors"),
                    inputs={"x": x, "target": target}, hypers={"lr": 0.1},
                    outputs=names + ["loss"])
    assert abs(got["loss"] - reference.loss(params, x, target, LAYERS)) < 1e-13
    h = 1e-6
    for name, value in params.items():
        numeric = np.zeros_like(value)
        for index in np.ndindex(value.shape):
            for sign in (1, -1):
                moved = {n: v.copy() for n, v in params.items()}
                moved[name][index] += sign * h
                numeric[index] += sign * reference.loss(moved, x, target, LAYERS)
        numeric /= 2 * h
        assert relative_error(got["grad:" + name], numeric) < 1e-7, name


@pytest.mark.parametrize("dtype,tolerance", [("f64", 1e-12), ("f32", 2e-5)])
@pytest.mark.parametrize("executor", ["eager", "graph"])
@pytest.mark.parametrize("optimizer,attrs,kwargs", [
    ("adam", "", {}),
    ("adam", "{beta1 = 0.8, beta2 = 0.95, eps = 1.0e-6, weight_decay = 0.1}",
     dict(beta1=0.8, beta2=0.95, eps=1e-6, decay=0.1)),
    ("sgd", "", {}),
    ("sgd", "{weight_decay = 0.05}", dict(decay=0.05)),
    ("momentum", "{momentum = 0.9}", dict(momentum=0.9)),
    ("momentum", "{momentum = 0.9, nesterov = true, weight_decay = 0.01}",
     dict(momentum=0.9, nesterov=True, decay=0.01)),
])
def test_ten_steps_equal_numpy(bench, optimizer, attrs, kwargs, dtype, tolerance,
                               executor):
    numpy_dtype = {"f32": np.float32, "f64": np.float64}[dtype]
    params, x, target = make_data(7, numpy_dtype)
    bench.generate(*step_args(optimizer, dtype, attrs))
    plan = bench.compile()
    write_safetensors(bench.folder / "init.safetensors", params)
    bench.run(plan, "--init", bench.folder / "init.safetensors", "--steps", 10,
              "--executor", executor, "--save-checkpoint", bench.folder / "ck",
              inputs={"x": x, "target": target}, hypers={"lr": 0.01})
    got = read_safetensors(bench.folder / "ck" / "state.safetensors")

    expected = {n: v.astype(np.float64) for n, v in params.items()}
    state = {}
    update = reference.adam if optimizer == "adam" else reference.sgd
    for _ in range(10):
        grads = reference.gradients(expected, x.astype(np.float64),
                                    target.astype(np.float64), LAYERS)
        update(expected, grads, state, 0.01, **kwargs)
    for name, value in expected.items():
        assert relative_error(got[name], value) < tolerance, name
    if optimizer == "adam":
        assert got["step"] == 10
        for name in expected:
            assert relative_error(got[name + ".exp_avg"],
                                  state["m"][name]) < 10 * tolerance
    if optimizer == "momentum":
        for name in expected:
            assert relative_error(got[name + ".momentum"],
                                  state[name]) < 10 * tolerance


def layer_norm(x, gamma, beta):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True)
                             + 1e-5) * gamma + beta


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


LABELS = np.array([2, 0, -100, 1, 2], np.int32)  # -100 counts for nothing


def smoothed_cross_entropy(x, smoothing=0.1):
    log_p = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    counts = LABELS >= 0
    target = np.eye(x.shape[1])[LABELS * counts] * (1 - smoothing)
    target += smoothing / x.shape[1]
    return -(target * log_p).sum(axis=1)[counts].mean()


# Name: inputs with shapes, the aicf ops (dy is an input), forward result, the
# gradients in the order of the inputs, and the forward function in NumPy.
LAYERS_ALONE = {
    "linear": (dict(x=(4, 6), w=(3, 6), b=(3,)), (4, 3), """
  %y = aicf.linear %x, %w, %b : {x}, {w}, {b}
  %dx, %dw, %db = aicf.linear_bwd %dy, %x, %w : {dy}, {x}, {w}""",
               lambda x, w, b: x @ w.T + b),
    "relu_saved_output": (dict(x=(5, 7)), (5, 7), """
  %y = aicf.relu %x : {x}
  %s = aicf.save %y : {x}
  %dx = aicf.relu_bwd %dy, %s : {dy}, {x}""", lambda x: np.maximum(x, 0)),
    "relu_saved_input": (dict(x=(5, 7)), (5, 7), """
  %y = aicf.relu %x : {x}
  %dx = aicf.relu_bwd %dy, %x : {dy}, {x}""", lambda x: np.maximum(x, 0)),
    "gelu": (dict(x=(5, 7)), (5, 7), """
  %y = aicf.gelu %x : {x}
  %dx = aicf.gelu_bwd %dy, %x : {dy}, {x}""",
             lambda x: np.vectorize(
                 lambda v: v / 2 * (1 + math.erf(v / math.sqrt(2))))(x)),
    "gelu_tanh": (dict(x=(5, 7)), (5, 7), """
  %y = aicf.gelu %x {{approximate = true}} : {x}
  %dx = aicf.gelu_bwd %dy, %x {{approximate = true}} : {dy}, {x}""", gelu_tanh),
    "softmax_cross_entropy": (dict(x=(5, 4)), (), """
  %y = aicf.softmax_cross_entropy %x, %labels {{label_smoothing = 0.1}}
      : {x}, {labels}
  %dx = aicf.softmax_cross_entropy_grad %x, %labels, %dy {{label_smoothing = 0.1}}
      : {x}, {labels}, {dy}""", smoothed_cross_entropy),
    "add": (dict(x=(2, 3), w=(2, 3)), (2, 3), """
  %y = aicf.add %x, %w : {x}, {w}
  %dx = aicf.copy %dy : {dy}
  %dw = aicf.copy %dy : {dy}""", lambda x, w: x + w),
    "mse": (dict(x=(4, 3), w=(4, 3)), (), """
  %y = aicf.mse_loss %x, %w : {x}, {w}
  %dx = aicf.mse_grad %x, %w, %dy : {x}, {w}, {dy}
  %dw = aicf.mse_grad %w, %x, %dy : {x}, {w}, {dy}""",
            lambda x, w: np.mean((x - w) ** 2)),
    "layer_norm": (dict(x=(4, 6), w=(6,), b=(6,)), (4, 6), """
  %y, %m, %r = aicf.layer_norm %x, %w, %b : {x}, {w}, {b}
  %dx, %dw, %db = aicf.layer_norm_bwd %dy, %x, %w, %m, %r
      : {dy}, {x}, {w}, tensor<4xf64>, tensor<4xf64>""", layer_norm),
}


def tensor_type(shape):
    return "tensor<%s>" % "x".join([*map(str, shape), "f64"])


@pytest.mark.parametrize("name", LAYERS_ALONE)
def test_layer_gradients_equal_finite_differences(bench, name):
    """Each layer alone, in f64: d(sum(y * dy)) by central differences."""
    shapes, out_shape, body, function = LAYERS_ALONE[name]
    types = {n: tensor_type(s) for n, s in {**shapes, "dy": out_shape}.items()}
    constants = {"labels": LABELS} if "%labels" in body else {}
    types.update((n, "tensor<%dxi32>" % len(v)) for n, v in constants.items())
    arguments = ", ".join(
        '%%%s: %s {aicf.role = "input", aicf.name = "%s"}' % (n, t, n)
        for n, t in types.items())
    returned = {"y": types["dy"], **{"d" + n: types[n] for n in shapes}}
    results = ", ".join('%s {aicf.name = "out_%s"}' % (t, n)
                        for n, t in returned.items())
    (bench.folder / "layer.mlir").write_text(
        "func.func @f(%s) -> (%s) {%s\n  return %s : %s\n}\n" % (
            arguments, results, body.format(**types),
            ", ".join("%" + n for n in returned), ", ".join(returned.values())))
    rng = np.random.default_rng(5)
    inputs = {n: np.asarray(rng.normal(size=s)) for n, s in shapes.items()}
    dy = np.asarray(rng.normal(size=out_shape))
    got = bench.run(bench.compile("layer"), inputs={**inputs, **constants, "dy": dy},
                    outputs=["out_" + n for n in returned])
    assert relative_error(got["out_y"], function(*inputs.values())) < 1e-13
    for position, n in enumerate(shapes):
        numeric = np.zeros_like(inputs[n])
        for index in np.ndindex(numeric.shape):
            for sign in (1, -1):
                moved = [v.copy() for v in inputs.values()]
                moved[position][index] += sign * 1e-6
                numeric[index] += sign * (function(*moved) * dy).sum()
        assert relative_error(got["out_d" + n], numeric / 2e-6) < 1e-7, n
