# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other batch sizes: entries that join a program, and predictions for any rows."""

import logging
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import aicf
from aicf import _runtime, nn

from conftest import INPUTS, Mlp, cross_entropy, make_batch, make_step


def statistics(step):
    return step.program.executor.statistics()


def with_accuracy(model, x, labels):
    logits = model(x)
    return (aicf.losses.cross_entropy(logits, labels),
            {"correct": aicf.losses.accuracy_count(logits, labels)})


def test_a_small_batch_gets_an_entry_once(batch, caplog):
    step = make_step()
    step(*batch)
    with caplog.at_level(logging.INFO, "aicf"):
        step(*make_batch(1, rows=5))
        step(*make_batch(2, rows=5))
    assert list(step.program.entries) == ["train_step", "train_step@5"]
    assert [r.message for r in caplog.records] == [
        "compiling 'train_step@5', for batches of 5 rows"]
    assert step.program["train_step@5"](*make_batch(3, rows=5)).shape == ()
    assert step.get("step").item() == 4
    step.program["train_step@5"](*batch)  # every one of them leads to the others
    assert step.get("step").item() == 5 and len(step.program.entries) == 2


def test_every_size_trains_the_same_values():
    """An update by 5 rows is the update of a step that was compiled for 5."""
    small = {"x": aicf.spec((5, 64)), "labels": aicf.spec((5,), "i32")}
    model = Mlp(dropout=0.5)
    step = make_step(model=model)
    other = aicf.compile_step(Mlp(dropout=0.5), cross_entropy, aicf.optim.AdamW(1e-2),
                              small)
    for i in range(3):
        data = make_batch(i, rows=5)
        assert float(step(*data)) == float(other(*data))
    for name, value in other.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(step.state_dict(optimizer=True)[name], value)


def test_the_learning_rate_is_one(batch):
    step = make_step(aicf.optim.SGD(0.5))
    step(*make_batch(rows=3))
    step.set("lr", 0.0)
    before = step.state_dict()
    step(*make_batch(rows=3))
    step(*batch)
    for name, value in step.state_dict().items():
        np.testing.assert_array_equal(value, before[name])


def test_what_is_there_stays(batch):
    """Graphs, bindings, written inputs, addresses, outputs that are held."""
    model = Mlp()
    step, other = make_step(model=model), make_step()
    step.bind(x=batch[0])
    step.write(labels=batch[1])
    held = step()
    value = float(held)
    addresses = {(s["entry"], s["buffer"]): s["pointer"]
                 for s in step.program.executor.slots() if s["entry"]}
    before = statistics(step)
    aicf.compile(model, {"x": aicf.spec((7, 64))}, program=step)
    now = {(s["entry"], s["buffer"]): s["pointer"]
           for s in step.program.executor.slots() if s["entry"] == "train_step"}
    assert now == {key: addresses[key] for key in now}
    assert statistics(step)["persistent_bytes"] == before["persistent_bytes"]
    assert float(held) == value == float(other(*batch))
    assert float(step()) == float(other(*batch))
    assert statistics(step)["captures"] == before["captures"]


def test_an_entry_that_changes_keeps_what_is_bound():
    """In bf16 a prediction can make a copy of a parameter that the step has to keep:
    its calls change, its inputs do not."""
    class Sum(nn.Module):
        def __init__(self):
            self.w = nn.Parameter((64, 64), init="normal")
    model = Sum()
    x, y = make_batch()[0], make_batch(1)[0]
    step = aicf.compile_step(model, lambda m, x, y: m.w.mean() + (x + y).mean(),
                             aicf.optim.SGD(0.1), {"x": INPUTS["x"], "y": INPUTS["x"]},
                             precision="bf16")
    step.bind(x=x)
    step.write(y=y)
    before = float(step())
    aicf.compile(lambda m, x: x @ m.w, {"x": INPUTS["x"]}, model=model, program=step,
                 name="use")
    assert float(step()) == pytest.approx(before, abs=1e-2)
    x[:] += 1
    assert float(step()) == pytest.approx(before + 1, abs=2e-2)


def test_batches_of_an_update_may_have_any_size():
    step = make_step(aicf.optim.SGD(0.5, accumulate=3))
    sizes = [16, 16, 5]
    data = [make_batch(i, rows) for i, rows in enumerate(sizes)]
    before = step.state_dict()
    one = [aicf.compile_step(Mlp(), cross_entropy, aicf.optim.SGD(0.5),
                             {"x": aicf.spec((rows, 64)), "labels": aicf.spec(rows, "i32")})
           for rows in sizes]
    deltas = []
    for single, batch in zip(one, data):
        single.load_state_dict(before)
        single(*batch)
        after = single.state_dict()
        deltas.append({n: after[n] - before[n] for n in after})
    for batch in data[:2]:
        step(*batch)
    with pytest.raises(aicf.errors.FailedStateError, match="2 of 3 batches"):
        step.save_checkpoint("nowhere")
    step(*data[2])  # the mean of the means
    for name, value in step.state_dict().items():
        mean = sum(d[name] for d in deltas) / 3
        np.testing.assert_allclose(value - before[name], mean, rtol=1e-3, atol=1e-6)


def test_an_open_update_can_be_discarded(batch):
    step, other = (make_step(aicf.optim.SGD(0.5, accumulate=2)) for _ in range(2))
    step(*make_batch(5))
    assert step.program.discard_update() == 1
    assert step.program.discard_update() == 0
    for _ in range(2):
        step(*batch)
        other(*batch)
    for name, value in other.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(step.state_dict(optimizer=True)[name], value)


@pytest.mark.parametrize("x, y, error, text", [
    ((5, 63), (5,), aicf.errors.ShapeMismatchError, r"\(5, 63\), expected 16x64xf32"),
    ((5, 64), (16,), aicf.errors.ShapeMismatchError, r"expected 16x64xf32"),
    ((5, 64), (4,), aicf.errors.ShapeMismatchError, r"expected 16x64xf32"),
    ((5, 64, 1), (5,), aicf.errors.ShapeMismatchError, "expected 16x64xf32"),
    ((0, 64), (0,), aicf.errors.ShapeMismatchError, "expected 16x64xf32"),
    ((64,), (5,), aicf.errors.ShapeMismatchError, "expected 16x64xf32"),
    ((5, 64), (), aicf.errors.ShapeMismatchError, "expected 16x64xf32"),
])
def test_other_differences_stay_errors(x, y, error, text):
    step = make_step()
    with pytest.raises(error, match=text) as caught:
        step(np.zeros(x, np.float32), np.zeros(y, np.int32))
    assert list(step.program.entries) == ["train_step"]
    assert "cannot be compiled" not in str(caught.value), "nobody tries it"


def test_a_wrong_dtype_compiles_nothing():
    step = make_step()
    with pytest.raises(aicf.errors.DTypeMismatchError, match='"labels" is i64'):
        step(np.zeros((5, 64), np.float32), np.zeros(5, np.int64))
    with pytest.raises(aicf.errors.ShapeMismatchError):
        step(np.zeros((5, 64), np.float32), "labels")
    with pytest.raises(aicf.errors.ShapeMismatchError):
        step(memoryview(np.zeros((5, 64), np.float32)), np.zeros(5, np.int32))
    assert list(step.program.entries) == ["train_step"]


def test_a_fixed_shape_is_fixed():
    step = make_step(shapes="fixed")
    with pytest.raises(aicf.errors.ShapeMismatchError, match='shapes="fixed"'):
        step(*make_batch(rows=5))
    with pytest.raises(ValueError, match='expected "batch"'):
        make_step(shapes="any")


def test_a_function_that_wants_its_size_says_so():
    table = nn.Parameter((16, 64), name="table")

    def add(x):
        return x + table
    entry = aicf.compile(add, {"x": aicf.spec((16, 64))})
    with pytest.raises(aicf.errors.ShapeMismatchError,
                       match="cannot be compiled for 5 rows.*do not broadcast"):
        entry(np.zeros((5, 64), np.float32))
    assert list(entry.program.entries) == ["add"]
    entry(np.zeros((16, 64), np.float32))


def test_many_sizes_are_warned_of(batch):
    step = make_step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in range(1, 8):
            step(*make_batch(rows=rows))
    with pytest.warns(UserWarning, match="9 batch sizes"):
        step(*make_batch(rows=9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(*make_batch(rows=10))
        assert step(*batch).shape == ()


def test_a_loaded_plan_has_the_sizes_it_was_saved_with(tmp_path):
    step = make_step()
    step(*make_batch(rows=5))
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")
    loaded.load_state_dict(step.state_dict(optimizer=True))
    loaded.set("lr", 1e-2)
    data = make_batch(3, rows=5)
    assert float(loaded["train_step"](*data)) == float(step(*data))
    with pytest.raises(aicf.errors.ShapeMismatchError,
                       match="needs the compiler.*'train_step', 'train_step@5'"):
        loaded["train_step"](*make_batch(rows=6))


def test_a_second_size_needs_no_second_name(step):
    model = step.signature.model
    one = aicf.compile(model, {"x": aicf.spec((7, 64))}, program=step)
    two = aicf.compile(model, {"x": aicf.spec((3, 64))}, program=step)
    assert (one.name, two.name) == ("predict", "predict@3")
    assert aicf.compile(model, {"x": aicf.spec((3, 64))}, program=step) is two
    assert aicf.compile(model, {"x": aicf.spec((7, 64))}, program=step) is one
    again = aicf.compile_step(model, cross_entropy, aicf.optim.SGD(0.1), INPUTS,
                              program=step)
    assert again is step
    for function, of in ((lambda x: x, None), (lambda x: model(x), model)):
        with pytest.raises(aicf.CompileError, match="already"):
            aicf.compile(function, {"x": aicf.spec((3, 64))}, model=of, program=step,
                         name="predict")
    with pytest.raises(aicf.CompileError, match="already"):  # another model
        aicf.compile_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1), INPUTS,
                          program=step)
    with pytest.raises(ValueError, match="may not be called 'predict@9'"):
        aicf.compile(lambda x: x, {"x": aicf.spec((3, 64))}, program=step,
                     name="predict@9")


def test_a_step_joins_a_program(batch):
    """Two steps, two optimizers, one model."""
    model = Mlp()
    model.fc0.requires_grad_(False)
    head = make_step(aicf.optim.SGD(0.1), model)

    def slow(model, x, labels):
        return aicf.losses.cross_entropy(model(x), labels) * 0.5
    model.fc0.requires_grad_(True)
    everything = aicf.compile_step(model, slow, aicf.optim.SGD(0.2), INPUTS,
                                   program=head, name="all")
    before = head.state_dict()["fc0.weight"]
    head(*batch)
    np.testing.assert_array_equal(head.state_dict()["fc0.weight"], before)
    everything(*batch)
    assert (head.state_dict()["fc0.weight"] != before).any()
    assert everything.get("lr").item() == pytest.approx(0.2)


def test_another_size_is_frozen_as_the_first_was(batch):
    """Whatever was frozen, or put into another mode, since then."""
    model = Mlp(dropout=0.5)
    model.fc0.requires_grad_(False)
    step = make_step(aicf.optim.SGD(0.5), model)
    model.fc0.requires_grad_(True)
    model.eval()
    before = step.state_dict()
    step(*make_batch(rows=5))
    after = step.state_dict()
    np.testing.assert_array_equal(after["fc0.weight"], before["fc0.weight"])
    assert (after["fc1.weight"] != before["fc1.weight"]).any()
    assert step.get("rng_step").item() == 1, "dropout drops"
    assert model.fc0.weight.requires_grad and not model.training


def test_compile_takes_a_loss_function(batch):
    model = Mlp(dropout=0.5)
    step = aicf.compile_step(model, with_accuracy, aicf.optim.SGD(0.1), INPUTS)
    evaluate = aicf.compile(with_accuracy, INPUTS, model=model, program=step,
                            name="evaluate")
    loss, metrics = evaluate(*batch)
    plain = aicf.compile(cross_entropy, INPUTS, model=model, program=step,
                         name="plain")
    assert float(loss) == float(plain(*batch)) and 0 <= int(metrics["correct"]) <= 16
    trained = step(*batch)
    assert isinstance(trained[1], dict)
    with pytest.raises(TypeError, match="cannot be called with the inputs x"):
        aicf.compile(with_accuracy, {"x": INPUTS["x"]}, model=model)


@pytest.mark.parametrize("function", [
    lambda x: x + 1, lambda x: (x + 1,), lambda x: (x + 1, x * 2),
    lambda x: {"a": x + 1, "b": x * 2}, lambda x: {"a": x + 1},
    lambda x: (x.mean(), {"a": x + 1}), lambda x: (x + 1, {"b": x * 3}),
])
def test_outputs_come_back_from_a_file_as_they_went_out(function, tmp_path):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    entry = aicf.compile(function, {"x": x}, name="f")
    entry.save(tmp_path / "f.plan")
    loaded = aicf.load(tmp_path / "f.plan")["f"]

    def plain(value):
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items()}
        if isinstance(value, tuple):
            return tuple(plain(v) for v in value)
        return value.tolist()
    assert plain(loaded(x)) == plain(entry(x)) == plain(function(x))
    assert loaded.signature.outputs == entry.signature.outputs


def test_kept_gradients_come_back_too(batch, tmp_path):
    for loss in (cross_entropy, with_accuracy):
        step = aicf.compile_step(Mlp(), loss, aicf.optim.SGD(0.1), INPUTS, keep="grad")
        step.save(tmp_path / "a.plan")
        loaded = aicf.load(tmp_path / "a.plan")["train_step"]
        loaded.set("lr", 0.1)
        assert list(loaded(*batch)[1]) == list(step(*batch)[1])


def test_inputs_that_are_no_batch():
    """A vector beside the batch, bound or given: another length is an error, another
    batch goes on with it."""
    def scaled(model, x, labels, c):
        return aicf.losses.cross_entropy(model(x) * c, labels)
    inputs = {**INPUTS, "c": aicf.spec((10,))}
    c = np.full(10, 0.5, np.float32)
    step = aicf.compile_step(Mlp(), scaled, aicf.optim.SGD(0.0), inputs)
    expected = float(step(*make_batch(rows=5), c))
    with pytest.raises(aicf.errors.ShapeMismatchError, match="expected 10xf32"):
        step(*make_batch(), np.ones(12, np.float32))
    assert list(step.program.entries) == ["train_step", "train_step@5"]
    step.bind(c=aicf.array(c))
    assert float(step(*make_batch(rows=5))) == expected
    assert float(step(*make_batch(rows=6))) > 0
    other = aicf.array(np.zeros(10, np.float32))
    step.bind(c=other)
    assert float(step(*make_batch(rows=5))) == pytest.approx(np.log(10), rel=1e-5)
    assert float(step(*make_batch(rows=6))) == pytest.approx(np.log(10), rel=1e-5)
    step.bind(x=make_batch()[0])  # and the entry for 5 rows gets no 16
    assert float(step.program["train_step@5"](*make_batch(rows=5))) == pytest.approx(
        np.log(10), rel=1e-5)


def ones(*shape):
    return np.ones(shape, "f4")


X, W = ones(5, 3), ones(2, 3)


@pytest.mark.parametrize("given", [
    {"y": ones(6, 3)}, {"y": ones(4, 3)}, {"w": ones(5, 3)}, {"w": 2.0}, {"c": ones(5)},
    {"c": ones(4)}, {"c": None}, {"c": ...},
])
def test_a_batch_changes_with_nothing_beside_it(given):
    entry = aicf.compile(
        lambda x, y, w, c: (x + y).sum() * w.sum() * c,
        {"x": (4, 3), "y": (4, 3), "w": (2, 3), "c": ()}, name="f")
    given = {name: array for name, array in {
        "x": X, "y": X, "w": W, "c": 2.0, **given}.items() if array is not ...}
    with pytest.raises(aicf.errors.AICFError) as caught:
        entry(**given)
    assert "cannot be compiled" not in str(caught.value)
    assert list(entry.program.entries) == ["f"]
    assert float(entry(X, X, W, 2.0)) == 360
    assert list(entry.program.entries) == ["f", "f@5"]


def test_numbers_have_no_rows():
    entry = aicf.compile(lambda c: c + 1, {"c": ()}, name="f")
    with pytest.raises(aicf.errors.ShapeMismatchError):
        entry(ones(3))
    assert list(entry.program.entries) == ["f"]


@pytest.fixture
def logger():
    """The logger of the package, as in a program that has set up no logging."""
    logger = logging.getLogger("aicf")
    before = logger.handlers, logger.level, logger.propagate
    logger.handlers, logger.level, logger.propagate = [], logging.NOTSET, False
    yield logger
    logger.handlers, logger.level, logger.propagate = before


def test_a_note_goes_to_stderr_once(logger, capsys):
    entry = aicf.compile(lambda x: x + 1, {"x": (4, 3)}, name="f")
    for rows in (2, 3):
        entry(ones(rows, 3))
    assert capsys.readouterr().err == "".join(
        "aicf: compiling 'f@%d', for batches of %d rows\n" % (n, n) for n in (2, 3))


def test_a_level_silences_notes(logger, capsys):
    logger.setLevel("WARNING")
    aicf.compile(lambda x: x + 1, {"x": (4, 3)}, name="f")(ones(5, 3))
    assert capsys.readouterr().err == "" and logger.level == logging.WARNING


def test_a_second_size_of_a_loss_function(step):
    def entry(rows):
        return aicf.compile(
            cross_entropy, {"x": aicf.spec((rows, 64)), "labels": aicf.spec(rows, "i32")},
            model=step.signature.model, program=step)
    five, six = entry(5), entry(6)
    assert (five.name, six.name) == ("cross_entropy", "cross_entropy@6")
    assert entry(5) is five and entry(6) is six


def test_another_width_needs_another_name():
    def double(x):
        return 2 * x
    entry = aicf.compile(double, {"x": aicf.spec((4, 3))})
    with pytest.raises(aicf.CompileError, match="already"):
        aicf.compile(double, {"x": aicf.spec((4, 5))}, program=entry)
    assert list(entry.program.entries) == ["double"]

    def either(x=None, more=None):
        return (more if x is None else x) + 1
    entry = aicf.compile(either, {"x": X})
    for inputs in ({"more": X}, {"x": ones(7, 3), "more": ones(7, 3)}):
        with pytest.raises(aicf.CompileError, match="already"):
            aicf.compile(either, inputs, program=entry)


def test_a_function_without_a_name_predicts():
    entry = aicf.compile(lambda x: x + 1, {"x": aicf.spec((4, 3))})
    assert entry.name == "predict"


@pytest.mark.parametrize("name", ["@5", "f@", "f@b"])
def test_names_that_say_no_size_are_the_users(name):
    entry = aicf.compile(lambda x: x + 1, {"x": (4, 3)}, name=name)
    assert float(entry(ones(4, 3)).numpy()[0, 0]) == 2 and entry.name == name


def test_a_sized_name_is_not_the_users(step):
    with pytest.raises(ValueError, match="may not be called 'train_step@7'"):
        aicf.compile_step(step.signature.model, cross_entropy, aicf.optim.SGD(0.1),
                          INPUTS, program=step, name="train_step@7")


# Prediction

def reference(step, x):
    p = {n: v.astype(np.float64) for n, v in step.state_dict().items()}
    h = np.maximum(x @ p["fc0.weight"].T + p["fc0.bias"], 0)
    return h @ p["fc1.weight"].T + p["fc1.bias"]


@pytest.mark.parametrize("rows", [1, 5, 16, 17, 40])
def test_predict_takes_any_rows(rows):
    step = make_step(model=Mlp(dropout=0.9))
    x = make_batch(rows, rows)[0]
    result = step.predict(x)
    assert result.shape == (rows, 10)
    np.testing.assert_allclose(result, reference(step, x), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(step.predict(x, batch_size=3)[:1],
                                  step.predict(x[:1], batch_size=3))
    assert [n for n in step.program.entries
            if n.startswith("predict")] == ["predict", "predict@3"]


def test_predict_returns_what_the_model_returns():
    class Two(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(4, 2)

        def forward(self, a, b):
            return {"sum": self.fc(a + b), "pair": self.fc(a)}
    step = aicf.compile_step(
        Two(), lambda m, a, b: m(a, b)["sum"].mean(), aicf.optim.SGD(0.1),
        {"a": aicf.spec((4, 4)), "b": aicf.spec((4, 4))})
    a = np.ones((6, 4), np.float32)
    result = step.predict(a, a)
    assert {k: v.shape for k, v in result.items()} == {"sum": (6, 2), "pair": (6, 2)}
    with pytest.raises(aicf.errors.InvalidArgumentError, match="takes 2 inputs .a, b."):
        aicf.compile_step(Two(), lambda m, a, b: m(a, b)["sum"].mean(),
                          aicf.optim.SGD(0.1),
                          {"a": aicf.spec((4, 4)), "b": aicf.spec((4, 4))}).predict(a)
    for arrays, shapes in (((a, a[:3]), r"\(6, 4\), \(3, 4\)"), ((), "none"),
                           ((np.float32(1), a), r"\(\), \(6, 4\)")):
        with pytest.raises(aicf.errors.InvalidArgumentError,
                           match="one common number of rows, got %s$" % shapes):
            step.predict(*arrays)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="no rows"):
        step.predict(a[:0], a[:0])


def test_results_that_are_not_by_row():
    class Odd(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(64, 10)

        def forward(self, x):
            return self.fc(x), self.fc.weight * 1.0
    step = aicf.compile_step(
        Odd(), lambda m, x, labels: aicf.losses.cross_entropy(m(x)[0], labels),
        aicf.optim.SGD(0.1), INPUTS)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="a row for each row"):
        step.predict(make_batch()[0])
    for bad in (0, -2, 2.5, True):
        with pytest.raises(ValueError, match="batch_size is"):
            step.predict(make_batch()[0], batch_size=bad)


def mean_of(model, x):
    return model(x).mean()


def step_of(model, shape=(4, 3), **options):
    return aicf.compile_step(model, options.pop("loss", mean_of), aicf.optim.SGD(0.1),
                             {"x": aicf.spec(shape)}, **options)


def test_the_predictor_has_the_rows_of_a_batch():
    batches = aicf.data.Batches(4)
    for loss, rows in ((mean_of, 8), (lambda m, x: mean_of(m, batches(x)), 4)):
        for given, wanted in ((None, rows), (3, 3)):
            step = step_of(nn.Linear(3, 2), (8, 3), loss=loss)
            step.predict(np.ones((5, 3), "f4"), batch_size=given)
            assert list(step.program.entries) == ["train_step", "predict"]
            assert step.program["predict"].signature.specs["x"].shape == (wanted, 3)


def test_a_whole_chunk_is_not_copied():
    class Foreign:
        def __init__(self, array):
            self.array, self.shape = array, array.shape

        def __len__(self):
            return len(self.array)

        def __getitem__(self, rows):
            return Foreign(self.array[rows])

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__()

        def __array__(self, *args, **kwargs):
            raise AssertionError("NumPy copies it")

    x = np.ones((8, 3), "f4")
    step = step_of(nn.Linear(3, 2))
    step.predict(x)  # this compiles the entry
    np.testing.assert_array_equal(step.predict(Foreign(x)), step.predict(x))


def test_predict_gives_what_forward_has_no_default_for():
    class Options(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(3, 2)

        def forward(self, x, scale=2.0, *rest, bias, **more):
            return self.fc(x) * scale

    class Plain(Options):
        def forward(self, x, scale=2.0, *rest, **more):
            return self.fc(x) * scale

    x = np.ones((5, 3), "f4")
    assert step_of(Plain()).predict(x).shape == (5, 2)
    with pytest.raises(TypeError, match="bias"):  # and not by position
        step_of(Options(), loss=lambda m, x: m(x, bias=1).mean()).predict(x)


def test_a_step_may_make_the_models_rows_of_a_number():
    step = step_of(nn.Linear(3, 2), (),
                   loss=lambda m, x: mean_of(m, x.broadcast_to(4, 3)))
    assert step.predict(np.ones((5, 3), "f4")).shape == (5, 2)


def test_an_entry_that_predicts_is_used():
    """Whatever its name is, if it is the model; whatever it is, if that is its name."""
    model, x = nn.Linear(3, 2), np.ones((5, 3), "f4")
    step = step_of(model)
    aicf.compile(lambda x: x + 1, {"x": x}, program=step, name="more")
    classify = aicf.compile(model, {"x": x}, program=step, name="classify")
    np.testing.assert_array_equal(step.predict(x), classify(x).numpy())
    assert list(step.program.entries) == ["train_step", "more", "classify"]
    step = step_of(model)
    double = aicf.compile(lambda m, x: 2 * m(x), {"x": x}, model=model, program=step,
                          name="predict")
    np.testing.assert_array_equal(step.predict(x), double(x).numpy())


def test_what_does_not_predict():
    x = np.ones((4, 3), "f4")
    with pytest.raises(aicf.errors.FailedStateError, match="traced without a model"):
        aicf.compile(lambda x: x + 1, {"x": x}).predict(x)

    class Two(nn.Module):
        def forward(self, a, b):
            return a.sum(0) + b.sum(0)
    entry = aicf.compile(Two(), {"a": x, "b": x[:2]})
    with pytest.raises(aicf.errors.InvalidArgumentError,
                       match="'predict' takes inputs without a common number of rows"):
        entry.predict(x, x)


@pytest.mark.parametrize("first", ["a", "b"])
def test_loaded_steps_keep_their_predictors(tmp_path, first):
    """The first one to predict has the entry "predict", the other "predict_NAME"."""
    steps = {"a": step_of(nn.Linear(3, 2), name="a")}
    for name in "bc":
        steps[name] = step_of(nn.Sequential(nn.Linear(3, 2)), name=name,
                              program=steps["a"])
    x = np.ones((4, 3), "f4")
    steps["a"](x[:3])  # an entry for other rows is not a step of its own
    wanted = {name: steps[name].predict(x) for name in (first, *{"a", "b"} - {first})}
    steps["a"].save(tmp_path / "abc.plan")
    loaded = aicf.load(tmp_path / "abc.plan")
    loaded.load_state_dict(steps["a"].state_dict(optimizer=True))
    for name, want in wanted.items():
        np.testing.assert_array_equal(loaded[name].predict(x), want)
    with pytest.raises(aicf.errors.FailedStateError, match="'c' has no entry 'predict'"):
        loaded["c"].predict(x)


def test_a_loaded_step_predicts_wherever_it_stands(tmp_path):
    model, x = nn.Linear(3, 2), np.ones((4, 3), "f4")
    entry = aicf.compile(lambda x: x + 1, {"x": x}, name="more")
    want = step_of(model, program=entry).predict(x)
    entry.save(tmp_path / "more.plan")
    loaded = aicf.load(tmp_path / "more.plan")
    loaded.load_state_dict(entry.state_dict(optimizer=True))
    np.testing.assert_array_equal(loaded["train_step"].predict(x), want)


def test_predict_of_a_plan_file(tmp_path, batch):
    step = make_step()
    step.save(tmp_path / "without.plan")
    expected = step.predict(batch[0])
    step.save(tmp_path / "with.plan")
    with pytest.raises(aicf.errors.FailedStateError,
                       match="'train_step' has no entry 'predict'; it has train_step"):
        aicf.load(tmp_path / "without.plan")["train_step"].predict(batch[0])
    loaded = aicf.load(tmp_path / "with.plan")
    loaded.load_state_dict(step.state_dict(optimizer=True))
    np.testing.assert_array_equal(loaded["train_step"].predict(batch[0]), expected)


def test_predict_of_two_models(batch):
    """Each step predicts with its own model."""
    class Pair(nn.Module):
        def __init__(self):
            self.one, self.two = Mlp(), Mlp()
    pair = Pair()
    one = aicf.compile_step(pair.one, cross_entropy, aicf.optim.SGD(0.1), INPUTS)
    x = batch[0]
    a = one.predict(x)
    two = aicf.compile_step(
        pair, lambda m, x, labels: aicf.losses.cross_entropy(m.two(x), labels),
        aicf.optim.SGD(0.1), INPUTS, program=one, name="two")
    with pytest.raises(Exception, match="Pair"):
        two.predict(x)
    np.testing.assert_array_equal(one.predict(x), a)


def test_a_joining_entry_copies_nothing():
    """1 GB of parameters: the peak of the process grows by less than a quarter of
    it, one tensor of four."""
    program = textwrap.dedent("""
        import resource
        import numpy as np
        import aicf
        from aicf import nn
        class Wide(nn.Module):
            def __init__(self):
                self.w = [nn.Parameter((8192, 8192), init="zeros") for _ in range(4)]
            def forward(self, x):
                for w in self.w:
                    x = aicf.ops.linear(x, w)
                return x
        entry = aicf.compile(Wide(), {"x": aicf.spec((1, 8192))})
        entry(np.zeros((1, 8192), np.float32))
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        before = peak()
        entry(np.zeros((2, 8192), np.float32))
        print(before, peak() - before)
    """)
    out = subprocess.run([sys.executable, "-c", program], check=True,
                         capture_output=True, text=True).stdout.split()
    assert float(out[0]) > 1024 and float(out[1]) < 256, out


def test_temps_of_growing_sizes_are_those_of_the_largest():
    step = make_step()
    for rows in range(4, 40, 4):
        step(*make_batch(rows, rows=rows))
        largest = max(entry["temp_bytes"] for entry in
                      step.memory_analysis()["entries"].values())
        assert statistics(step)["temp_bytes"] == largest


def test_a_size_is_compiled_alone(batch, monkeypatch):
    """The plan has what compiling everything together gives."""
    step = make_step()
    step.predict(batch[0])
    monkeypatch.setattr(aicf.Lowered, "again", None)
    for rows in (5, 3, 12):
        step(*make_batch(rows, rows=rows))
    predict = step.program["predict"]
    for rows in (4, 9):
        predict(make_batch(0, rows=rows)[0])
    monkeypatch.undo()
    lowered = step.program.lowered
    whole = lowered.again().plan
    assert whole.entries == ["train_step", "predict", "train_step@5", "train_step@3",
                             "train_step@12", "predict@4", "predict@9"]
    assert lowered.plan.serialize() == whole.serialize()
    assert _runtime.Plan.parse(lowered.plan.serialize()).entries == whole.entries
    assert 'aicf_rt.entry @"predict@9"' in lowered.as_text()


def test_a_size_with_values_of_its_own_is_compiled_alone(batch, monkeypatch):
    """A constant of the batch's length is the new entry's, and dropout's state is
    shared."""
    def loss(model, x, labels):
        weights = np.arange(1, x.shape[0] + 1, dtype=np.float32)
        rows = aicf.losses.cross_entropy(model(x), labels, reduction="none")
        return (rows * weights).mean()
    steps = []
    for is_alone in (True, False):
        step = aicf.compile_step(Mlp(dropout=0.5), loss, aicf.optim.AdamW(1e-2),
                                 {"x": batch[0], "labels": batch[1]})
        if not is_alone:
            monkeypatch.setattr(type(step.program), "_is_sized", lambda *_: False)
        for rows in (5, 32, 12, 5):
            step(*make_batch(rows, rows=rows))
        steps.append(step)
    np.testing.assert_equal(*(s.state_dict(optimizer=True) for s in steps))
    constants = [{t["name"] for t in s.program.plan.persistent()} for s in steps]
    assert constants[0] == constants[1]


def test_a_size_brings_what_was_traced_before_it(batch):
    """An entry that was traced, and not yet compiled."""
    step = make_step()
    step.program.lowered.traced.add(lambda x: x.relu(), {"x": batch[0]}, name="other")
    step(*make_batch(0, rows=5))
    assert list(step.program.entries) == ["train_step", "other", "train_step@5"]


def test_a_size_that_does_not_fit_is_compiled_with_all(monkeypatch):
    """A large batch wants the parameters padded, a small one does not."""
    class Odd(nn.Module):
        def __init__(self):
            self.first, self.second = nn.Linear(65, 33), nn.Linear(33, 11)

        def forward(self, x):
            return self.second(self.first(x).relu())

    def inputs(rows):
        return {"x": aicf.spec((rows, 65)), "labels": aicf.spec((rows,), "i32")}
    traced, calls = aicf.trace_step(Odd(), cross_entropy, aicf.optim.AdamW(1e-3),
                                    inputs(16)), []
    lowered = traced.lower("cuda", "bf16")
    again = aicf.Lowered.again
    monkeypatch.setattr(aicf.Lowered, "again",
                        lambda self: calls.append(1) or again(self))
    for rows, times in ((24, 0), (1024, 1)):
        name = "train_step@%d" % rows
        traced.signatures["train_step"].trace_again(inputs(rows), name)
        lowered = lowered.with_entry(name)
        assert len(calls) == times and name in lowered.plan.entries
        assert lowered.plan.serialize() == again(lowered).plan.serialize()


def test_the_text_is_of_the_plan(batch):
    """Not of what was traced since then."""
    step = make_step()
    step(*make_batch(0, rows=5))
    lowered = step.program.lowered
    step.program.lowered.traced.add(lambda x: x.relu(), {"x": batch[0]}, name="other")
    assert "train_step@5" in lowered.as_text() and "other" not in lowered.as_text()


def test_sizes_that_grow_train_as_sizes_that_fall():
    """What was captured before its temps moved is captured anew."""
    grown, fallen = make_step(), make_step()
    sizes = (4, 12, 32)
    for rows in reversed(sizes):
        fallen.family.entry_for(make_batch(0, rows=rows), {}, None)
    for turn in range(3):
        for rows in sizes:
            batch = make_batch(turn, rows=rows)
            assert grown(*batch).item() == fallen(*batch).item()
    np.testing.assert_equal(grown.state_dict(), fallen.state_dict())


def test_two_threads_compile_one_entry(batch):
    """One of them; the others hear so, or find it."""
    import threading
    for turn in range(10):
        step, barrier, seen = make_step(), threading.Barrier(4), []

        def work():
            barrier.wait()
            for call in (lambda: step.predict(batch[0]),
                         lambda: step(*make_batch(turn, rows=5))):
                try:
                    call()
                    seen.append("ok")
                except aicf.errors.FailedStateError as error:
                    seen.append(str(error))
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert len(seen) == 8 and "ok" in seen
        assert all(s == "ok" or "another thread" in s for s in seen), seen
        step.predict(batch[0])
        step(*make_batch(turn, rows=5))
        assert set(step.program.entries) == {"train_step", "train_step@5", "predict"}


def test_only_one_thread_compiles(batch):
    """While one does, what needs no other entry runs."""
    import concurrent.futures
    step = make_step()
    with step.program.compiling(), concurrent.futures.ThreadPoolExecutor(1) as other:
        with pytest.raises(aicf.errors.FailedStateError, match="another thread compiles"):
            other.submit(step.predict, batch[0]).result()
        with pytest.raises(aicf.errors.FailedStateError, match="another thread compiles"):
            other.submit(step, *make_batch(0, rows=5)).result()
        other.submit(step, *batch).result()
    assert set(step.program.entries) == {"train_step"}
    step.predict(batch[0])
