# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models with parameters and predictions in bf16, which NumPy does not have."""

import numpy as np
import pytest

import aicf
from aicf import nn
from aicf.errors import DTypeMismatchError

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((64, 4)).astype("f4")
LABELS = RANDOM.integers(0, 3, 64).astype("i4")


class Narrow(nn.Module):
    """Its weight and what it returns are bf16."""

    def __init__(self):
        self.weight = nn.Parameter((4, 3), "bf16", init="normal")

    def forward(self, x):
        return x.astype("bf16") @ self.weight


def make(lr=0.1):
    return aicf.compile_step(
        Narrow(), lambda m, x, labels: aicf.losses.cross_entropy(m(x).astype("f32"), labels),
        aicf.optim.SGD(lr), {"x": aicf.spec((16, 4)), "labels": aicf.spec((16,), "i32")})


def weight_of(step):
    return step.get("weight").numpy("f4")


def rounded(values):
    """f32 to bf16 and back, by the bits."""
    bits = values.view("u4").astype("u8")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype("u4").view("f4")


def test_arrays_of_bf16_go_in_and_out():
    values = np.concatenate([X.ravel(), np.float32([0.0, -0.0, np.inf, 3e38, 1e-45])])
    array = aicf.array(values, dtype="bf16")
    assert array.dtype == "bf16"
    np.testing.assert_array_equal(array.numpy("f4"), rounded(values))
    assert array.tolist() == rounded(values).tolist()
    assert aicf.array(values, dtype="f32").numpy().tobytes() == values.tobytes()
    assert aicf.array(X, dtype="f64").numpy("f4").tobytes() == X.tobytes()
    assert aicf.array(X).numpy("f8").dtype == np.float64
    with pytest.raises(DTypeMismatchError, match="the array is 64xi32, expected a float type "
                       "to convert to bf16"):
        aicf.array(LABELS, dtype="bf16")
    with pytest.raises(DTypeMismatchError, match="expected a float type to convert to i32"):
        aicf.array(X, dtype="i32")
    with pytest.raises(TypeError, match="'f99' is not an element type"):
        aicf.array(X, dtype="f99")


def test_predictions_are_f32_and_have_metrics():
    step = make()
    predictions = step.predict(X)
    assert predictions.dtype == np.float32
    expected = rounded(rounded(X) @ weight_of(step))
    np.testing.assert_allclose(predictions, expected, rtol=2**-7)
    values = aicf.evaluate(step, (X, LABELS), metrics=["accuracy"])
    assert values["accuracy"] == (predictions.argmax(-1) == LABELS).mean()


def test_the_best_values_come_back():
    step = make()
    kept = []

    def then_worse(epoch, logs):
        kept.append(weight_of(step))
        step.set("lr", 1e3)  # the next epoch is the worst one
    history = aicf.fit(step, (X, LABELS), epochs=2, restore_best=True, verbose=0,
                       validation=(X, LABELS), callbacks=[then_worse])
    assert history.best["epoch"] == 1
    np.testing.assert_array_equal(weight_of(step), kept[0])


def test_a_rate_is_found_and_nothing_has_changed():
    step = make()
    weight, rate = weight_of(step), float(step.get("lr"))
    assert aicf.lr_find(step, (X, LABELS), steps=20).rates
    np.testing.assert_array_equal(weight_of(step), weight)
    assert float(step.get("lr")) == rate


def test_a_run_is_saved_and_goes_on(tmp_path):
    def fit(step, epochs, **more):
        return aicf.fit(step, (X, LABELS), epochs=epochs, verbose=0, **more)
    whole, step = make(), make()
    fit(whole, 3)
    fit(step, 2, checkpoint=tmp_path)
    step = make()
    fit(step, 3, checkpoint=tmp_path, resume=True, restore_best=True)
    np.testing.assert_array_equal(weight_of(step), weight_of(whole))


@pytest.mark.parametrize("dtype", ["f64", "bf16", "f16"])
@pytest.mark.parametrize("name", ["Lamb", "NovoGrad", "NAdam", "RAdam", "Adamax", "Adagrad",
                                  "RMSprop", "Adadelta", "Muon"])
def test_optimizers_that_are_functions(name, dtype):
    """Updates are those of f32, rounded to the parameter's type."""
    class Typed(nn.Module):
        def __init__(self, dtype):
            self.weight = nn.Parameter((4, 3), dtype, init="zeros")

        def forward(self, x):
            return x @ self.weight.astype("f32")
    found = []
    for each in (dtype, "f32"):
        step = aicf.compile_step(
            Typed(each), lambda m, x, labels: aicf.losses.cross_entropy(m(x), labels),
            getattr(aicf.optim, name)(0.01),
            {"x": aicf.spec((16, 4)), "labels": aicf.spec((16,), "i32")})
        for _ in range(3):
            step(X[:16], LABELS[:16])
        found.append(step.get("weight").numpy("f4"))
        if each == "f64":  # it is computed with all digits
            value = step.get("weight").numpy()
            assert (value != value.astype("f4")).all()
    # Muon's iterations make its states' roundings larger.
    atol = 3e-3 if name == "Muon" and dtype != "f64" else 1e-6
    np.testing.assert_allclose(*found, rtol=1e-4 if dtype == "f64" else 3e-2, atol=atol)
    assert found[0].any()


def test_averages_are_f32():
    step = make()
    start = weight_of(step)
    aicf.fit(step, (X, LABELS), epochs=2, verbose=0, callbacks=[aicf.callbacks.EMA(0.9)])
    average = step.get("train_step.ema.weight").numpy()
    assert average.dtype == np.float32
    np.testing.assert_array_equal(weight_of(step), rounded(average))
    assert not np.array_equal(weight_of(step), start)


def test_a_lost_run_is_diagnosed():
    step = make(lr=float(np.finfo("f4").max))
    with pytest.warns(UserWarning, match="1 parameters are not any more: weight"):
        aicf.fit(step, (X, LABELS), epochs=1, verbose=0)


def test_histograms_read_them_as_f32():
    from aicf._programs.convert import values_of
    assert [(name, value.dtype) for name, value in values_of(make().program)] == [
        ("weight", np.float32)]
