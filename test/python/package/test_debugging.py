# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a step shows of itself: aicf.find_nan, Entry.profile, aicf.keep, `outputs`."""

import json
import os
import re

import numpy as np
import pytest
from conftest import INPUTS, Mlp, here, make_batch, said
from test_fit import make, state

import aicf
from aicf import nn

X, LABELS = make_batch(7)
FILE = os.path.basename(__file__)


class Logs(nn.Module):
    """Takes the logarithm of what may be negative, in a layer of its own."""

    def __init__(self):
        self.fc0, self.log, self.fc1 = nn.Linear(64, 32), Log(), nn.Linear(32, 10)

    def forward(self, x):
        return self.fc1(self.log(self.fc0(x)))


class Log(nn.Module):
    line = here(3)

    def forward(self, x):
        return x.log()


def cross_entropy(model, x, labels):
    return aicf.losses.cross_entropy(model(x), labels)


# Where a NaN comes from

@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_the_op_that_gives_the_first_nan(precision):
    step = aicf.compile_step(Logs(), cross_entropy, aicf.optim.AdamW(1e-3), INPUTS,
                             precision=precision)
    before = state(step)
    found = aicf.find_nan(step, X, LABELS)
    assert (found.kind, found.name, found.layer) == ("value", "log", "log")
    assert found.location.endswith("%s:%d" % (FILE, Log.line)) and found
    hidden = X @ before["fc0.weight"].T
    assert re.match(r"log in the layer 'log' gives 16x32 in \[.* with (\d+) NaN, first at ",
                    found.text)
    if precision == "f32":
        assert "with %d NaN" % (hidden < 0).sum() in found.text
    assert "operand 0 16x32 in [-" in found.text
    for name, value in before.items():
        np.testing.assert_array_equal(state(step)[name], value)


def test_another_batch_size_and_a_bound_input():
    step = aicf.compile_step(Logs(), cross_entropy, aicf.optim.SGD(0.0), INPUTS)
    step(X[:5], LABELS[:5])  # its gradient is NaN already
    step.reset()
    assert aicf.find_nan(step, X[:5], LABELS[:5]).name == "log"
    step.bind(x=aicf.array(X))
    with pytest.raises(aicf.errors.InvalidArgumentError, match="'x' is bound to an array"):
        step.profile(X, LABELS)


def test_inputs_labels_and_parameters_come_first():
    step = make(dropout=0.0)
    x = X.copy()
    x[3, 4] = np.inf
    found = aicf.find_nan(step, x, LABELS)
    assert (found.kind, found.name) == ("input", "x") and "first at [3, 4]" in str(found)
    found = aicf.find_nan(step, {"labels": LABELS + 9, "x": X.astype("f8")})
    assert found.kind == "index" and "softmax_cross_entropy gets index" in found.text
    weight = step.state_dict()["fc1.weight"]
    step.set("fc1.weight", weight * np.nan)
    found = aicf.find_nan(step, X, LABELS)
    assert (found.kind, found.name) == ("parameter", "fc1.weight")
    step.set("fc1.weight", weight)
    found = aicf.find_nan(step, x=X, labels=LABELS)
    assert not found and found.kind == "" and "every value" in repr(found)


def test_an_infinity_that_is_meant():
    def masked(model, x, labels):
        scores = aicf.where(x > 0, x, -np.inf)
        return aicf.functional.softmax(scores, 1).mean() + model(x).mean()
    assert not aicf.find_nan(aicf.compile_step(Mlp(), masked, aicf.optim.SGD(0.1), INPUTS),
                             X, LABELS)

    def large(model, x, labels):
        return (model(x) * 1e38 * 1e38).mean()
    found = aicf.find_nan(aicf.compile_step(Mlp(), large, aicf.optim.SGD(0.1), INPUTS),
                          X, LABELS)
    assert found.kind == "value" and "inf" in found.text


def test_a_gradient_that_is_not_finite():
    """sqrt has a finite value and an infinite slope at 0."""
    class One(nn.Module):
        def __init__(self):
            self.w = nn.Parameter((4,))

    step = aicf.compile_step(One(), lambda m, x: ((m.w * 0).sqrt() * x).sum(),
                             aicf.optim.SGD(0.1), {"x": (4,)})
    found = aicf.find_nan(step, np.ones(4, "f4"))
    assert found.kind == "value" and "NaN" in found.text


def test_what_cannot_be_searched(tmp_path):
    step = make()
    step.save(tmp_path / "step.plan")
    loaded = aicf.load(tmp_path / "step.plan")["train_step"]
    with pytest.raises(aicf.errors.FailedStateError, match="from a plan file"):
        aicf.find_nan(loaded, X, LABELS)
    with pytest.raises(TypeError, match="find_nan takes what"):
        aicf.find_nan(cross_entropy, X, LABELS)
    with pytest.raises(aicf.errors.InvalidArgumentError):
        aicf.find_nan(step, X)


def test_fit_says_what_was_checked():
    step = aicf.compile_step(Logs(), cross_entropy, aicf.optim.SGD(0.1), INPUTS)
    with pytest.warns(UserWarning, match="last batch is finite, and 4 parameters are not"):
        aicf.fit(step, (X, LABELS), verbose=0)
    bad = X.copy()
    bad[2, 1] = np.nan
    with pytest.warns(UserWarning, match="In the last batch, 'x' has 1 of 1024 values"):
        aicf.fit(make(), (bad, LABELS), verbose=0, shuffle=False)


# Times

def test_a_profile_of_calls_and_layers(tmp_path):
    step = make()
    before = state(step)
    profile = step.profile(X, LABELS, runs=3)
    costs = step.cost_analysis()["by_call"]
    assert [c.kernel for c in profile.calls] == [c["kid"] for c in costs]
    assert all(c.micros >= 0 for c in profile.calls) and profile.step_micros > 0
    assert {"fc0", "drop", "fc1", ""} == set(profile.layers())
    assert sum(profile.layers().values()) == pytest.approx(profile.call_micros)
    for name, value in before.items():
        np.testing.assert_array_equal(state(step)[name], value)
    text = str(profile)
    assert "us a step" in text and "fc0" in text and text.count("%") > 8
    assert profile._repr_html_().startswith("<pre>")
    profile.save(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    page = profile.view(tmp_path / "page.html")
    assert page == str(tmp_path / "page.html")
    assert "srcdoc" in page._repr_html_()
    step.write(x=X, labels=LABELS)
    assert step.profile(runs=1).calls
    for runs in (0, True, 1.5):
        with pytest.raises(ValueError, match="runs is"):
            step.profile(X, LABELS, runs=runs)


# Values that a step returns

def test_layers_and_gradients_by_name():
    step = aicf.compile_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1), INPUTS,
                             outputs=("layer:fc1", "grad:*", "layer:drop", "grad_norm"))
    values = step.state_dict()
    loss, more = step(X, LABELS)
    assert list(more) == ["layer:drop", "layer:fc1", "grad:fc0.weight", "grad:fc0.bias",
                          "grad:fc1.weight", "grad:fc1.bias", "grad_norm"]
    hidden = np.maximum(X @ values["fc0.weight"].T + values["fc0.bias"], 0)
    np.testing.assert_allclose(more["layer:drop"], hidden, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        more["layer:fc1"], hidden @ values["fc1.weight"].T + values["fc1.bias"],
        rtol=1e-4, atol=1e-5)
    norm = np.sqrt(sum((more[n].numpy().astype("f8") ** 2).sum() for n in more
                       if n.startswith("grad:")))
    assert float(more["grad_norm"]) == pytest.approx(norm, rel=1e-5)
    step(X[:5], LABELS[:5])  # another batch size has them, too
    with pytest.raises(aicf.TraceError, match="'layer:fc2'.*did you mean \"fc[01]\".*drop"):
        aicf.compile_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1), INPUTS,
                          outputs=("layer:fc2",))


def test_a_module_that_is_called_twice():
    class Twice(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(64, 64)

        def forward(self, x):
            return self.fc(self.fc(x))
    step = aicf.compile_step(Twice(), lambda m, x: m(x).mean(), aicf.optim.SGD(0.1),
                             {"x": (4, 64)}, outputs=("layer:fc",))
    assert list(step(X[:4])[1]) == ["layer:fc", "layer:fc#2"]


def test_a_model_that_predicts_returns_its_own_results():
    class Keeps(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(64, 10)

        def forward(self, x):
            y = self.fc(x)
            aicf.keep("norm", (y * y).mean())
            return y
    step = aicf.compile_step(Keeps(), cross_entropy, aicf.optim.SGD(0.1), INPUTS)
    assert list(step(X, LABELS)[1]) == ["norm"] and step.predict(X).shape == (16, 10)


def test_any_value_is_kept():
    def loss(model, x, labels):
        hidden = aicf.keep("hidden", model.fc0(x))
        return aicf.losses.cross_entropy(model.fc1(hidden), labels)
    step = aicf.compile_step(Mlp(), loss, aicf.optim.SGD(0.1), INPUTS)
    values = step.state_dict()
    np.testing.assert_allclose(step(X, LABELS)[1]["hidden"],
                               X @ values["fc0.weight"].T + values["fc0.bias"],
                               rtol=1e-4, atol=1e-5)
    entry = aicf.compile(lambda x: {"y": aicf.keep("half", x / 2) + 1}, {"x": (3,)})
    assert list(entry(np.ones(3, "f4"))) == ["y", "half"]


@pytest.mark.parametrize("function, message", [
    (lambda x: (aicf.keep("a", x), x), "this one returns a tuple"),
    (lambda x: {"a": x, "b": aicf.keep("a", x)}, "a result has that name already"),
    (lambda x: aicf.keep("", x), "the name of a kept value is ''"),
    (lambda x: aicf.keep("a", "text"), "expected a traced tensor"),
])
def test_what_cannot_be_kept(function, message):
    with pytest.raises(aicf.TraceError) as caught:
        aicf.compile(function, {"x": (3,)})
    assert re.search(message, said(caught.value))
    with pytest.raises(aicf.TraceError, match="outside a trace"):
        aicf.keep("a", X)


def test_profile_gives_the_inputs_back():
    step = make(dropout=0.0)
    step.set("lr", 0.0)
    expected = np.asarray(step(X, LABELS)[0])
    step.write(x=X, labels=LABELS)
    step.profile(X * 100, LABELS, runs=2)
    np.testing.assert_array_equal(step()[0], expected)
