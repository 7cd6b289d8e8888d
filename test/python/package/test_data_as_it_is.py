# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays as people have them: other layouts, element types, tables, and one row."""

import numpy as np
import pytest
from test_fit import LABELS, X, assert_same, make

import aicf
from aicf import nn
from aicf.errors import DTypeMismatchError, InvalidArgumentError, ShapeMismatchError

EXPECTED = make()
aicf.fit(EXPECTED, (X, LABELS), epochs=2, verbose=0)


class Table:
    """As a DataFrame or a Series of pandas, of which only to_numpy() counts."""

    def __init__(self, values, dtypes=None):
        self.values = values
        if dtypes:
            self.dtypes = dtypes

    def to_numpy(self):
        return self.values

    def __getitem__(self, name):
        raise KeyError(name)


@pytest.mark.parametrize("kind", ["f8", "fortran", "strided", "table", "object"])
def test_any_layout_and_type_trains_alike(kind, caplog):
    caplog.set_level("INFO", "aicf")
    x = {"f8": X.astype("f8"), "fortran": np.asfortranarray(X),
         "strided": np.repeat(X, 2, axis=1)[:, ::2], "table": Table(X.astype("f8")),
         "object": Table(X.astype(object))}[kind]
    labels = Table(LABELS.astype("i8")) if kind == "table" else LABELS.astype("u1")
    step = make()
    aicf.fit(step, (x, labels), epochs=2)
    assert_same(step, EXPECTED)
    notes = [r.message for r in caplog.records if "converted" in r.message]
    assert len(notes) == (1 if kind in ("fortran", "strided") else 2), "once for each input"
    batches = [(X.astype("f8")[i:i + 16], LABELS.astype("i8")[i:i + 16])
               for i in range(0, 100, 16)]
    step, other = make(), make()
    aicf.fit(step, batches)
    aicf.fit(other, (X, LABELS), shuffle=False)
    assert_same(step, other)


def test_images_of_bytes_are_converted_by_the_batch():
    images = np.random.default_rng(0).integers(0, 256, (50, 64)).astype("u1")
    step, other = make(), make()
    aicf.fit(step, (images, LABELS[:50]))
    aicf.fit(other, (images.astype("f4"), LABELS[:50]))
    assert_same(step, other)
    np.testing.assert_array_equal(step.predict(images), other.predict(images.astype("f4")))


def test_a_table_with_words():
    words = np.array([["a", "b"]] * 100, object)
    kinds = {"city": np.dtype("O"), "size": np.dtype("f8")}
    for table, text in ((Table(words, kinds), "in the columns city"),
                        (Table(words), "not numbers: encode"),
                        (Table(np.full((100, 64), "2026-11-30", "M8[s]")), "not numbers")):
        with pytest.raises(InvalidArgumentError, match="'x' has values that.*" + text):
            aicf.fit(make(), (table, LABELS))


@pytest.mark.parametrize("labels, text", [
    (LABELS.astype("f4"), r"'labels' is float32, expected int32.*labels.astype\(\"int32\"\)"),
    (LABELS.astype("u8") + 2**40, "has 10995116277.., which does not fit"),
])
def test_what_would_lose_values(labels, text):
    with pytest.raises(DTypeMismatchError, match=text):
        aicf.fit(make(), (X, labels))


def test_one_row_is_predicted():
    step = make()
    step.predict(X)
    row = step.predict(X[3])
    assert row.shape == (10,)
    np.testing.assert_allclose(row, step.predict(X)[3], rtol=1e-5)
    fresh = make().predict(X[3].astype("f8"))  # no entry that predicts is there
    assert fresh.shape == (10,)
    np.testing.assert_array_equal(step.predict({"x": X}), step.predict(X))
    for wrong, error in ((X[3][:5], ShapeMismatchError), (X[:, :5], ShapeMismatchError)):
        with pytest.raises(error):
            make().predict(wrong)


def test_a_row_of_several_inputs():
    class Two(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(64, 3)

        def forward(self, a, b):
            return self.fc(a) + b, self.fc(b @ self.fc.weight)

    step = aicf.compile_step(Two(), lambda m, a, b: m(a, b)[0].mean(), aicf.optim.SGD(0.1),
                             {"a": (8, 64), "b": (8, 3)})
    a, b = X[:8], X[:8, :3]
    rows = step.predict(a, b)
    one = step.predict(a[2], b[2])
    assert [p.shape for p in one] == [(3,), (3,)]
    for whole, part in zip(rows, one):
        np.testing.assert_allclose(part, whole[2], rtol=1e-5)


def test_names_decide_and_not_their_order():
    class Difference(nn.Module):
        def __init__(self):
            self.w = nn.Parameter((1,), init=1.0)

        def forward(self, a, b):
            return a * self.w - b

    a, b = np.full((8, 2), 5, "f4"), np.full((8, 2), 1, "f4")
    step = aicf.compile_step(Difference(), lambda m, a, b: m(a, b).mean(), aicf.optim.SGD(0.1),
                             {"a": a, "b": b})
    np.testing.assert_array_equal(step.predict({"b": b, "a": a}), a - b)
    with pytest.raises(InvalidArgumentError, match="got the inputs b, the model takes a, b"):
        step.predict({"b": b})


def test_a_number_belongs_to_all_rows():
    def loss(model, x, labels, scale):
        return aicf.losses.cross_entropy(model(x), labels) * scale
    step = aicf.compile_step(nn.Linear(64, 10), loss, aicf.optim.SGD(0.1), {
        "x": (16, 64), "labels": ((16,), "i32"), "scale": ()})
    history = aicf.fit(step, (X, LABELS, 0.5), validation=(X, LABELS, np.float32(0.5)),
                       metrics=["accuracy", lambda p, y: 1.0, lambda p, y: 2.0])
    assert history[0]["val_accuracy"] == (step.predict(X).argmax(1) == LABELS).mean()
    assert (history[0]["val_<lambda>"], history[0]["val_<lambda>_"]) == (1.0, 2.0)


def test_predictions_take_any_layout():
    step = make()
    expected = step.predict(X)
    for x in (np.asfortranarray(X), X.astype("f8"), Table(X), X[::-1][::-1]):
        np.testing.assert_array_equal(step.predict(x), expected)


def test_a_table_in_a_file(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text("acid, sugar,class\n0.5,2,0\n1.25,3,1\n-1e-3,4,2\n")
    x, y = aicf.data.load_csv(path)
    assert x.dtype == np.float32 and y.dtype == np.int32
    np.testing.assert_array_equal(x, np.float32([[0.5, 2], [1.25, 3], [-1e-3, 4]]))
    assert y.tolist() == [0, 1, 2]
    x, y = aicf.data.load_csv(path, "acid")
    assert y.dtype == np.float32 and x.tolist() == [[2, 0], [3, 1], [4, 2]]
    assert aicf.data.load_csv(path, classes=False)[1].dtype == np.float32
    for text, target, message in (
            ("a,b\n1,x\n", -1, "line 2: could not convert string to float: 'x'"),
            ("a,b\n1,2\n1\n", -1, "line 3: .*expected 2 numbers"), ("a,b\n", -1, "1 lines and 2"),
            ("", -1, "0 lines"), ("alpha,b\n1,2\n", "alpa", 'did you mean "alpha"')):
        path.write_text(text)
        with pytest.raises(InvalidArgumentError, match=message):
            aicf.data.load_csv(path, target)
    with pytest.raises(FileNotFoundError):
        aicf.data.load_csv(tmp_path / "none.csv")


class Scaled(nn.Module):
    """Its forward has an argument that may be left out."""

    def __init__(self):
        self.fc = nn.Linear(64, 10)

    def forward(self, x, scale=None):
        logits = self.fc(x)
        return logits if scale is None else logits * scale


SCALE = np.random.default_rng(1).standard_normal((100, 10)).astype("f4")


def make_scaled(call):
    return aicf.compile_step(
        Scaled(), lambda m, pixels, factors, labels: aicf.losses.cross_entropy(
            call(m, pixels, factors), labels), aicf.optim.SGD(0.1),
        {"pixels": aicf.spec((16, 64)), "factors": aicf.spec((16, 10)),
         "labels": aicf.spec((16,), "i32")})


@pytest.mark.parametrize("call, names", [
    (lambda m, x, scale: m(x, scale), ["x", "scale"]),
    (lambda m, x, scale: m(scale=scale, x=x), ["x", "scale"]),
    (lambda m, x, scale: m(x) * scale, ["x"])])
def test_metrics_call_the_model_as_the_step_does(call, names):
    """Whatever the inputs are called, and with the optional arguments that it has."""
    step = make_scaled(call)
    seen = []
    aicf.evaluate(step, (X, SCALE, LABELS), metrics={
        "own": lambda p, *targets: seen.append((p, targets)) or 0.0})
    (predictions, targets), = seen
    given = {"x": X, "scale": SCALE}
    np.testing.assert_array_equal(predictions, step.predict({n: given[n] for n in names}))
    assert len(targets) == 3 - len(names)
    np.testing.assert_array_equal(targets[-1], LABELS)


def test_metrics_of_a_call_that_they_cannot_repeat(caplog):
    with pytest.raises(InvalidArgumentError, match="calls the model with scale=3.0: return"):
        aicf.evaluate(make_scaled(lambda m, x, scale: m(x, 3.0) * scale),
                      (X, SCALE, LABELS), metrics=["accuracy"])
    step = make_scaled(lambda m, x, scale: m(x, scale * 0.5))
    seen = []
    number = type("Numbered", (Scaled,), {"forward": lambda self, x, scale=2.0: self.fc(x)})
    equal = aicf.compile_step(
        number(), lambda m, x, labels: aicf.losses.cross_entropy(m(x, float("2")), labels),
        aicf.optim.SGD(0.1), {"x": aicf.spec((16, 64)), "labels": aicf.spec((16,), "i32")})
    assert "accuracy" in aicf.evaluate(equal, (X, LABELS), metrics=["accuracy"])
    aicf.evaluate(make_scaled(lambda m, x, scale: m(x, None) * scale), (X, SCALE, LABELS),
                  metrics={"own": lambda p, *targets: 0.0})  # None is the default
    caplog.set_level("INFO", "aicf")
    for _ in range(2):
        aicf.evaluate(step, (X, SCALE, LABELS), metrics={
            "own": lambda p, *targets: seen.append((p, targets)) or 0.0})
    np.testing.assert_array_equal(seen[0][0], step.predict(X))
    assert sum("computes 'scale' of the model" in r.message for r in caplog.records) == 2


def test_predictions_of_a_plan_with_optional_arguments(tmp_path):
    step = make_scaled(lambda m, x, scale: m(x, scale))
    expected = step.predict(X), step.predict(X, SCALE)
    aicf.evaluate(step, (X, SCALE, LABELS))
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")["train_step"]
    loaded.load_state_dict(step.state_dict(optimizer=True), strict=False)
    np.testing.assert_array_equal(loaded.predict(X), expected[0])
    for found in (loaded.predict(X, SCALE), loaded.predict({"scale": SCALE, "x": X})):
        np.testing.assert_array_equal(found, expected[1])
    for wrong in ((X, SCALE, SCALE), ({"y": X},)):
        with pytest.raises(InvalidArgumentError, match="this plan predicts from x or x, scale"):
            loaded.predict(*wrong)
    only = make_scaled(lambda m, x, scale: m(x, scale))
    expected = only.predict(X, SCALE)
    only.save(tmp_path / "b.plan")
    loaded = aicf.load(tmp_path / "b.plan")["train_step"]
    loaded.load_state_dict(only.state_dict(optimizer=True), strict=False)
    np.testing.assert_array_equal(loaded.predict(X, SCALE), expected)


def test_optional_arguments_of_predict(tmp_path):
    step = make_scaled(lambda m, x, scale: m(x, scale))
    weights = step.state_dict()
    logits = X @ weights["fc.weight"].T + weights["fc.bias"]
    np.testing.assert_allclose(step.predict(X), logits, rtol=1e-4, atol=1e-5)
    for found in (step.predict(X, SCALE), step.predict({"scale": SCALE, "x": X})):
        np.testing.assert_allclose(found, logits * SCALE, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(step.predict(X[0], SCALE[0]), logits[0] * SCALE[0], rtol=1e-4,
                               atol=1e-5)
    step.save(tmp_path / "a.plan")
    assert list(aicf.load(tmp_path / "a.plan").entries) == [
        "train_step", "predict", "predict_scale"]
    with pytest.raises(InvalidArgumentError,
                       match=r"takes 2 inputs \(x, scale \(optional\)\), got 3"):
        step.predict(X, SCALE, SCALE)
    with pytest.raises(InvalidArgumentError,
                       match=r"got the inputs scale, the model takes x, scale \(optional\)"):
        step.predict({"scale": SCALE})


def test_a_profile_of_another_number_of_rows():
    step = make()
    before = step.state_dict(optimizer=True)
    assert step.profile(X[:4], LABELS[:4]).calls
    assert step.profile(X[:16], LABELS[:16]).calls
    for name, value in step.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(value, before[name])
    with pytest.raises(ShapeMismatchError):
        step.profile(X[:4], LABELS[:5])


def test_a_rate_for_inputs_that_are_bound():
    step = make()
    step.bind(x=aicf.array(X[:16]), labels=aicf.array(LABELS[:16]))
    assert aicf.lr_find(step, steps=10).rates == aicf.lr_find(step, steps=10).rates
