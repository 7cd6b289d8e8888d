# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.fit: sources of batches, metrics, what is kept, how it ends. Resumed runs are
compared bit for bit with runs that were never interrupted."""

import contextlib
import dataclasses
import json
import math
import signal
import types

import numpy as np
import pytest
from conftest import INPUTS, Mlp, make_batch

import aicf
from aicf import nn
from aicf._programs.convert import Converter
from aicf._training import sources as _sources

ROWS = 100  # six batches of 16, and one of 4
X, LABELS = make_batch(7, ROWS)


def with_metrics(model, x, labels):
    logits = model(x)
    return (aicf.losses.cross_entropy(logits, labels),
            {"accuracy": aicf.losses.accuracy_count(logits, labels),
             "size": (logits * logits).mean()})


def make(optimizer=None, dropout=0.3, **options):
    return aicf.compile_step(Mlp(dropout), with_metrics,
                             optimizer or aicf.optim.AdamW(1e-2), INPUTS, **options)


def state(step):
    return step.state_dict(optimizer=True)


def assert_same(step, other):
    for name, value in state(other).items():
        np.testing.assert_array_equal(state(step)[name], value, err_msg=name)


def without_times(history):
    return [{k: v for k, v in logs.items() if k != "seconds"} for logs in history]


class At(aicf.Callback):
    """Does something after a batch, once."""

    def __init__(self, epoch, position, action):
        self.at, self.action, self.calls = (epoch, position), action, 0

    def on_batch_end(self, run):
        if (run.epoch, run.position) == self.at and not self.calls:
            self.calls += 1
            self.action(run)


def interrupt(run):
    signal.raise_signal(signal.SIGINT)


# What a run does

def test_it_is_the_loop_that_a_user_would_write():
    step, other = make(), make()
    history = aicf.fit(step, (X, LABELS), epochs=2, shuffle=False)
    for epoch in range(2):
        sums = np.zeros(3)
        for i in range(0, ROWS, 16):
            loss, more = other(X[i:i + 16], LABELS[i:i + 16])
            rows = len(X[i:i + 16])
            sums += [float(loss) * rows, int(more["accuracy"]),
                     float(more["size"]) * rows]
        assert [history[epoch][n] for n in ("loss", "accuracy", "size")] \
            == (sums / ROWS).tolist()
    assert_same(step, other)
    assert history["epoch"] == [1, 2] and len(history) == 2 and not history.stopped
    assert "train_step@4" in step.program.entries


@pytest.mark.parametrize("data", [
    (X, LABELS), [X, LABELS], {"labels": LABELS, "x": X},
    (aicf.array(X).numpy(), LABELS),
])
def test_arrays_come_in_many_forms(data):
    step, other = make(), make()
    aicf.fit(step, data, seed=3)
    aicf.fit(other, (X, LABELS), seed=3)
    assert_same(step, other)


def iterables(data):
    return _sources.Iterables(
        data, lambda item, what: _sources.named_arrays(item, ("x", "labels"), what), 1,
        Converter({}))


def batches(epoch=0):
    for i in range(0, ROWS, 16):
        yield X[i:i + 16], LABELS[i:i + 16]


class Loader:
    """As torch's DataLoader: a new iterator each time, with workers to end."""

    def __init__(self, dicts=False):
        self.dicts, self.open, self.ended = dicts, 0, 0

    def __len__(self):
        return 7

    def __iter__(self):
        loader = self

        class Workers:
            def __init__(self):
                self.inner = batches()
                loader.open += 1

            def __iter__(self):
                return self

            def __next__(self):
                x, y = next(self.inner)
                return {"labels": y, "x": x} if loader.dicts else [x, y]

            def _shutdown_workers(self):
                loader.ended += 1
        return Workers()


@pytest.mark.parametrize("data", [
    lambda: list(batches()), lambda: tuple(batches()), lambda: batches, Loader,
    lambda: Loader(dicts=True)])
def test_batches_of_others(data):
    step, other = make(), make()
    data = data()
    history = aicf.fit(step, data, epochs=2)
    expected = aicf.fit(other, (X, LABELS), epochs=2, shuffle=False)
    assert_same(step, other)
    assert without_times(history) == without_times(expected)
    if isinstance(data, Loader):
        assert data.open == data.ended == 2


@pytest.mark.parametrize("attribute, value", [("shape", (7, 16)), ("dtype", "f4")])
def test_a_loader_may_have_a_shape_or_a_dtype(attribute, value):
    loader = Loader()
    setattr(loader, attribute, value)
    assert aicf.fit(make(), loader)[0]["loss"] > 0 and loader.open == 1


class Rows:
    """An array that is not NumPy's, as one in a file."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, rows):
        return self.array[rows]


@pytest.mark.parametrize("kind", [Rows, lambda array: array])
def test_batches_of_arrays(kind):
    source = _sources.Arrays({"x": kind(X), "c": np.array(0.5), "d": np.float32(2)},
                             16, False, 0, Converter({}))
    made = [batch for batch, _ in source.batches(0, 0)]
    assert [batch["x"].shape for batch in made] == [(16, 64)] * 6 + [(4, 64)]
    np.testing.assert_array_equal(made[-1]["x"], X[96:])
    assert all(batch["c"] == 0.5 and batch["d"] == 2 for batch in made)
    is_one = np.shares_memory(made[0]["x"], made[5]["x"])
    assert is_one == (kind is not Rows), "NumPy's rows take the memory of one batch"


def test_numbers_belong_to_all_rows():
    def loss(model, x, labels, c):
        return aicf.losses.cross_entropy(model(x), labels) * c

    def build():
        return aicf.compile_step(Mlp(), loss, aicf.optim.SGD(0.1),
                                 {**INPUTS, "c": aicf.spec(())})
    step, other = build(), build()
    history = aicf.fit(step, (X, LABELS, np.float32(0.5)), shuffle=False,
                       validation=(X, LABELS, np.array(0.5, "f4")))
    given = aicf.fit(other, [(x, y, 0.5) for x, y in batches()])
    assert history["loss"] == given["loss"] and "val_loss" in history[0]
    assert_same(step, other)
    aicf.fit(step, (X, LABELS, np.float32(0.5)), validation=0.2)


def test_one_input_needs_no_tuple():
    step = aicf.compile_step(Mlp(), lambda m, x: (m(x) ** 2).mean(),
                             aicf.optim.SGD(0.0), {"x": INPUTS["x"]})
    history = aicf.fit(step, X, shuffle=False)
    assert history[0]["loss"] == pytest.approx((step.predict(X) ** 2).mean(), rel=1e-5)
    again = aicf.fit(step, [x for x, _ in batches()])
    assert again["loss"] == history["loss"]


def test_an_iterator_lasts_for_an_epoch():
    step, other = make(), make()
    aicf.fit(step, batches())
    aicf.fit(other, (X, LABELS), shuffle=False)
    assert_same(step, other)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="lasts for one epoch"):
        aicf.fit(step, batches(), epochs=2)


def test_workers_end_on_every_way_out():
    for action, error in ((interrupt, None), (lambda run: 1 / 0, ZeroDivisionError)):
        loader = Loader()
        with pytest.raises(error) if error else contextlib.nullcontext():
            aicf.fit(make(), loader, callbacks=[At(0, 2, action)])
        assert loader.open == loader.ended == 1
    closed = []

    def generator(epoch):
        try:
            yield from batches()
        finally:
            closed.append(epoch)
    with pytest.raises(ZeroDivisionError):
        aicf.fit(make(), generator, callbacks=[At(0, 2, lambda run: 1 / 0)])
    assert closed == [0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_epochs_are_shuffled_anew_and_alike():
    seen = []

    class Record(aicf.Callback):
        def on_epoch_end(self, run, logs):
            seen.append(logs["loss"])
    for seed in (0, 0, 1):
        step = make(aicf.optim.SGD(0.0), dropout=0.0)
        losses = []
        aicf.fit(step, (X, LABELS), epochs=2, seed=seed, callbacks=[
            lambda epoch, logs: losses.append(logs["loss"]) or False])
        seen.append(tuple(losses))
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert seen[0] == seen[1] != seen[2] and len(set(seen[0])) == 2


def test_data_on_the_device():
    def build():
        pick = aicf.data.Batches(16, seed=5)

        def loss(model, images, labels):
            x, y = pick(images, labels)
            return with_metrics(model, x, y)
        return aicf.compile_step(
            Mlp(0.3), loss, aicf.optim.AdamW(1e-2),
            {"images": aicf.spec((ROWS, 64)), "labels": aicf.spec((ROWS,), "i32")})
    step, other = build(), build()
    history = aicf.fit(step, (X, LABELS), epochs=2)
    other.write(images=X, labels=LABELS)
    losses = [float(other()[0]) for _ in range(12)]
    assert_same(step, other)
    assert history["loss"] == pytest.approx([np.mean(losses[:6]), np.mean(losses[6:])])
    aicf.fit(step, epochs=1)  # what was written is still there
    assert step.get("batch").item() == 18
    with pytest.raises(aicf.errors.InvalidArgumentError, match="takes its batches of 16"):
        aicf.fit(step, (X, LABELS), batch_size=8)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="evaluate=aicf.compile"):
        aicf.fit(step, (X, LABELS), validation=(X, LABELS))


def test_without_data_the_inputs_are_what_was_written():
    step = make()
    step.write(x=X[:16], labels=LABELS[:16])
    history = aicf.fit(step, epochs=2, batches_per_epoch=3)
    assert step.get("step").item() == 6 and len(history) == 2
    with pytest.raises(aicf.errors.InvalidArgumentError, match="batches_per_epoch"):
        aicf.fit(step)


@pytest.mark.parametrize("batch_size", [7, 16, 50, 200])
def test_any_batch_size(batch_size):
    step = make(aicf.optim.SGD(0.0), dropout=0.0)
    history = aicf.fit(step, (X, LABELS), batch_size=batch_size)
    reference = aicf.fit(make(aicf.optim.SGD(0.0), dropout=0.0), (X, LABELS))
    assert history[0]["loss"] == pytest.approx(reference[0]["loss"], rel=1e-5)
    assert history[0]["accuracy"] == reference[0]["accuracy"]


# Validation and metrics

def test_validation_is_without_dropout():
    step = make(dropout=0.9)
    history = aicf.fit(step, (X[:64], LABELS[:64]), validation=(X[64:], LABELS[64:]))
    logits = step.predict(X[64:]).astype(np.float64)
    log_sum = np.log(np.exp(logits).sum(1))
    expected = (log_sum - logits[np.arange(36), LABELS[64:]]).mean()
    assert history[0]["val_loss"] == pytest.approx(expected, rel=1e-5)
    assert history[0]["val_accuracy"] == (logits.argmax(1) == LABELS[64:]).mean()
    again = aicf.fit(step, (X, LABELS), validation=list(batches()))
    assert "val_size" in again[0]


def test_a_fraction_is_held_back():
    step = make()
    history = aicf.fit(step, (X, LABELS), validation=0.25)
    assert step.get("step").item() == math.ceil(75 / 16)
    assert "val_loss" in history[0]
    for bad in (0.0, 0.999, 1.5):
        with pytest.raises(aicf.errors.InvalidArgumentError, match="of 100 rows"):
            aicf.fit(step, (X, LABELS), validation=bad)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="a fraction of arrays"):
        aicf.fit(step, batches, validation=0.5)


def test_metrics():
    step = make()
    calls = []

    def worst(predictions, labels):
        calls.append((predictions.shape, labels.shape))
        return predictions.min()
    history = aicf.fit(step, (X, LABELS), validation=(X[:20], LABELS[:20]), metrics={
        "accuracy": "sum", "size": "mean", "worst": worst})
    assert history[0]["accuracy"] == int(history[0]["accuracy"]) > 1
    assert history[0]["val_worst"] == pytest.approx(step.predict(X[:20]).min())
    assert calls == [((20, 10), (20,))]
    for metrics, error, text in (
            ({"worst": worst}, aicf.errors.InvalidArgumentError, "needs validation"),
            ({"accuracy": "max"}, ValueError, "expected \"mean\", \"sum\""),
            ({"acc": "sum"}, aicf.errors.InvalidArgumentError, "not an output of the step")):
        with pytest.raises(error, match=text):
            aicf.fit(step, (X, LABELS), metrics=metrics)


def test_early_stopping():
    step = make(aicf.optim.SGD(0.0), dropout=0.0)  # nothing becomes better
    stopper = aicf.EarlyStopping(2)
    history = aicf.fit(step, (X, LABELS), epochs=9, validation=(X, LABELS),
                       callbacks=[stopper])
    assert len(history) == 3
    assert "val_loss has not become better" in history.stopped
    assert "val_loss" in repr(history)
    history = aicf.fit(step, (X, LABELS), epochs=9, callbacks=[
        aicf.EarlyStopping(1, monitor="accuracy", mode="max", min_delta=0.5)])
    assert len(history) == 2
    with pytest.raises(aicf.errors.InvalidArgumentError,
                       match='monitor is \'acuracy\' .did you mean "accuracy"'):
        aicf.fit(step, (X, LABELS), callbacks=[aicf.EarlyStopping(monitor="acuracy")])
    for bad in ({"patience": 0}, {"patience": 1.5}, {"patience": True},
                {"mode": "less"}):
        with pytest.raises(ValueError):
            aicf.EarlyStopping(**bad)


@pytest.mark.parametrize("mode, default, stops", [
    ("max", "min", False), (None, "max", False), ("min", "max", True),
    (None, "min", True)])
def test_what_early_stopping_takes_for_better(mode, default, stops):
    reasons = []
    run = types.SimpleNamespace(monitor="v", mode=default, stop=reasons.append)
    stopper = aicf.EarlyStopping(1, mode=mode)
    for value in (1.0, 2.0):
        stopper.on_epoch_end(run, {"v": value})
    assert bool(reasons) == stops


def test_callbacks():
    order = []

    class All(aicf.Callback):
        def on_fit_begin(self, run):
            order.append("begin")

        def on_batch_end(self, run):
            order.append(run.position)

        def on_epoch_end(self, run, logs):
            logs["mine"] = 5.0
            order.append("epoch")

        def on_fit_end(self, run):
            order.append("end")
    history = aicf.fit(make(), (X[:32], LABELS[:32]), epochs=5, callbacks=[
        All(), lambda epoch, logs: epoch == 2])
    assert order == ["begin", 1, 2, "epoch", 1, 2, "epoch", "end"]
    assert history["mine"] == [5.0, 5.0] and history.stopped
    history = aicf.fit(make(), (X, LABELS), callbacks=[
        At(0, 3, lambda run: run.stop("enough"))])
    assert history.stopped == "enough" and len(history) == 1
    for bad in (aicf.EarlyStopping, 3):
        with pytest.raises(TypeError, match="expected an aicf.Callback"):
            aicf.fit(make(), (X, LABELS), callbacks=[bad])


def test_updates_of_several_batches():
    """Seven batches, three per update: the seventh is left out."""
    step = make(aicf.optim.SGD(0.1, accumulate=3), dropout=0.0)
    aicf.fit(step, (X, LABELS), epochs=2, shuffle=False)
    other = make(aicf.optim.SGD(0.1, accumulate=3), dropout=0.0)
    for _ in range(2):
        for i in range(0, 96, 16):
            other(X[i:i + 16], LABELS[i:i + 16])
    assert_same(step, other)


def test_a_loss_that_is_no_number_ends_the_run(tmp_path):
    step = make(aicf.optim.SGD(1e30), dropout=0.0)
    log = tmp_path / "log.jsonl"
    history = aicf.fit(step, (X, LABELS), epochs=5, checkpoint=tmp_path, log=log)
    assert "the loss of epoch" in history.stopped and len(history) < 5
    json.loads(log.read_text().splitlines()[-1], parse_constant=pytest.fail)
    assert not (tmp_path / "last").exists() or len(history) > 1


# What a stranger found

class Two(nn.Module):
    def __init__(self):
        self.a, self.b = Mlp(), Mlp()


def two_steps(**options):
    """Two models, one loss function, one program."""
    one, two = Two(), Two()
    a = aicf.compile_step(one.a, with_metrics, aicf.optim.AdamW(1e-2), INPUTS)
    b = aicf.compile_step(nn.Sequential(nn.Linear(64, 10)), with_metrics,
                          aicf.optim.SGD(0.1), INPUTS, program=a, name="other")
    return a, b


def test_each_step_is_judged_by_its_own_model(tmp_path):
    a, b = two_steps()
    aicf.fit(a, (X, LABELS), epochs=3, validation=(X, LABELS))
    a.predict(X)
    history = aicf.fit(b, (X, LABELS), validation=(X, LABELS))

    def loss_of(logits):
        logits = logits.astype(np.float64)
        return (np.log(np.exp(logits).sum(1)) - logits[np.arange(ROWS), LABELS]).mean()
    assert history[0]["val_loss"] == pytest.approx(loss_of(b.predict(X)), rel=1e-5)
    assert loss_of(a.predict(X)) != pytest.approx(loss_of(b.predict(X)), rel=1e-3)
    a.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")
    loaded.load_state_dict(a.state_dict(optimizer=True))
    for step in (a, b):
        np.testing.assert_array_equal(loaded[step.name].predict(X), step.predict(X))
    loaded.set("lr", 0.0), loaded.set("other/lr", 0.0)
    again = aicf.fit(loaded["other"], (X[:96], LABELS[:96]), validation=(X, LABELS))
    assert again[0]["val_loss"] == pytest.approx(loss_of(b.predict(X)), rel=1e-5)


def test_predictions_are_never_those_of_training():
    step = make(dropout=0.9)
    aicf.compile(step.signature.model, {"x": INPUTS["x"]}, program=step, name="noisy",
                 training=True)
    np.testing.assert_array_equal(step.predict(X), step.predict(X))


def test_an_aborted_fit_leaves_no_gradients():
    step, other = (make(aicf.optim.SGD(0.1, accumulate=4), dropout=0.0)
                   for _ in range(2))
    with pytest.raises(ZeroDivisionError):
        aicf.fit(step, (X, LABELS), callbacks=[At(0, 2, lambda run: 1 / 0)])
    aicf.fit(step, (-X, LABELS), shuffle=False)
    aicf.fit(other, (-X, LABELS), shuffle=False)
    assert_same(step, other)


def test_the_open_update_of_another_step_stays():
    model = Two()
    a = aicf.compile_step(model.a, with_metrics, aicf.optim.SGD(0.1, accumulate=2),
                          INPUTS)
    b = aicf.compile_step(nn.Sequential(nn.Linear(64, 10)), with_metrics,
                          aicf.optim.SGD(0.1, accumulate=4), INPUTS, program=a,
                          name="other")
    a(X[:16], LABELS[:16])
    aicf.fit(b, (X, LABELS))
    assert a.discard_update() == 1 and b.discard_update() == 0


def test_outputs_of_some_batches_are_averaged_over_those():
    step = make(aicf.optim.SGD(0.0, accumulate=3), dropout=0.0, outputs=["grad_norm"])
    history = aicf.fit(step, (X[:96], LABELS[:96]), shuffle=False)
    norms = []
    for i in range(0, 96, 16):
        more = step(X[i:i + 16], LABELS[i:i + 16])[1]
        norms += [float(more["grad_norm"])] if "grad_norm" in more else []
    assert history[0]["grad_norm"] == pytest.approx(np.mean(norms), rel=1e-5)


def test_no_batches_are_an_error():
    for data in ([], lambda epoch: iter(())):
        with pytest.raises(aicf.errors.InvalidArgumentError, match="gave no batches"):
            aicf.fit(make(), data, epochs=2)


def test_an_epoch_may_be_shorter_than_its_data():
    def endless(epoch):
        while True:
            yield X[:16], LABELS[:16]
    for data in (endless, (X, LABELS)):
        step = make()
        aicf.fit(step, data, epochs=2, batches_per_epoch=3)
        assert step.get("step").item() == 6


def test_an_epoch_without_an_update_is_warned_of():
    with pytest.warns(UserWarning, match="no update was made in epoch 1: it has 2"):
        aicf.fit(make(aicf.optim.SGD(0.1, accumulate=4)), (X[:32], LABELS[:32]))


def test_the_log_goes_on_behind_the_run_that_is_resumed(tmp_path):
    log = tmp_path / "log.jsonl"
    first = aicf.fit(make(), (X, LABELS), epochs=2, log=log)
    aicf.fit(make(), (X, LABELS), epochs=2, log=log, checkpoint=tmp_path / "ck", seed=5)
    history = aicf.fit(make(), (X, LABELS), epochs=3, log=log, seed=5, resume=True,
                       checkpoint=tmp_path / "ck")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines == first.epochs + history.epochs


def test_a_state_of_nans_replaces_no_checkpoint(tmp_path):
    step = make()
    aicf.fit(step, (X, LABELS), checkpoint=tmp_path)
    good = (tmp_path / "last/state.safetensors").read_bytes()
    bad = X.copy()
    bad[3] = np.nan
    aicf.fit(make(), (bad, LABELS), checkpoint=tmp_path, save_every=1, shuffle=False)
    aicf.fit(make(), (bad, LABELS), checkpoint=tmp_path, shuffle=False,
             callbacks=[At(0, 2, interrupt)])
    assert (tmp_path / "last/state.safetensors").read_bytes() == good


def test_a_folder_that_is_none_is_found_out_first(tmp_path):
    (tmp_path / "file").write_text("")
    step = make()
    for folder in (tmp_path / "file", "/proc/nope"):
        with pytest.raises(aicf.errors.InvalidArgumentError, match="checkpoint '"):
            aicf.fit(step, (X, LABELS), checkpoint=folder)
    assert step.get("step").item() == 0


def test_numbers_of_numpy_are_logged(tmp_path):
    class Log(aicf.Callback):
        def on_epoch_end(self, run, logs):
            logs["mine"] = np.float32(0.5)
    history = aicf.fit(make(), (X, LABELS), callbacks=Log(), log=tmp_path / "l.jsonl",
                       checkpoint=tmp_path / "ck")
    assert history["mine"] == [0.5]


def test_early_stopping_gets_over_nans():
    stopper = aicf.EarlyStopping(2, monitor="v")
    values = iter([math.nan, 3.0, 2.0, 1.0])

    class Give(aicf.Callback):
        def on_epoch_end(self, run, logs):
            logs["v"] = next(values)
    history = aicf.fit(make(), (X, LABELS), epochs=4, callbacks=[Give(), stopper])
    assert len(history) == 4 and stopper.best == 1.0


def test_names_of_inputs_are_free():
    """A function of predictions gets what the model takes by position."""
    def loss(model, images, classes):
        return with_metrics(model, images, classes)
    step = aicf.compile_step(Mlp(), loss, aicf.optim.SGD(0.1), {
        "images": INPUTS["x"], "classes": INPUTS["labels"]})
    history = aicf.fit(step, (X, LABELS), validation=0.2,
                       metrics={"shape": lambda p, y: len(p) + len(y) / 100})
    assert history["val_shape"] == [20.2]
    with pytest.raises(aicf.errors.InvalidArgumentError, match="also an output"):
        aicf.fit(step, (X, LABELS), validation=0.2, metrics={"loss": lambda p, y: 1})


# aicf.summary

SHOWN = """\
layer     kind     result  parameters    FLOPs
----------------------------------------------
fc0       Linear   16x32        2,080        0
drop      Dropout  16x32            0      999
fc1       Linear   16x10          330   1.23 M
(model)   Mlp      16x10            0        0
(others)                               5e+03 P
----------------------------------------------
train_step: 2,410 parameters, 2,410 of them trained; 5e+03 P FLOPs per run
on the device: 0 B persistent, 1.02e+03 B io, 1.5 KiB temporary; \
a run reads and writes 2.05e+03 TiB"""


def test_summary():
    step = make(dropout=0.0)
    summary = aicf.summary(step)
    by_name = {layer.name: layer for layer in summary.layers}
    assert summary.parameters == summary.trainable == 64 * 32 + 32 + 32 * 10 + 10
    assert (by_name["fc0"].kind, by_name["fc0"].shape) == ("Linear", "16x32")
    assert by_name["fc1"].parameters == 330
    # forward and the weights' gradient; the next layer also has its input's
    assert by_name["fc0"].flops >= 2 * (2 * 16 * 64 * 32)
    assert by_name["fc1"].flops >= 3 * (2 * 16 * 32 * 10)
    assert summary.flops == step.cost_analysis()["flops"]
    text = str(summary)
    assert "fc0" in text and "2,410 parameters" in text and repr(summary) == text
    layers = tuple(dataclasses.replace(layer, flops=flops) for layer, flops in zip(
        summary.layers, (0.0, 999.0, 1234567.0, 0.0)))
    shown = dataclasses.replace(
        summary, layers=layers, flops=5e18, bytes={
            "persistent": 0, "io": 1023, "temporary": 1536, "traffic": 2 << 50})
    assert str(shown) == SHOWN
    model = step.signature.model
    model.fc0.requires_grad_(False)
    assert aicf.summary(step).trainable == 330
    with pytest.raises(TypeError, match="summary takes"):
        aicf.summary(model)


def test_summary_of_tied_and_listed_layers(tmp_path):
    class Net(nn.Module):
        def __init__(self):
            self.blocks = [nn.Linear(8, 8), nn.Linear(8, 8)]
            self.blocks[1].weight = self.blocks[0].weight
            self.scale = [nn.Parameter((8,), init="ones")]

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x * self.scale[0]
    entry = aicf.compile(Net(), {"x": aicf.spec((4, 8))})
    summary = aicf.summary(entry)
    assert [(layer.name, layer.parameters) for layer in summary.layers] == [
        ("blocks.0", 72), ("blocks.1", 8), ("", 8)]
    assert aicf.summary(aicf.compile(lambda x: x + 1, {"x": (2,)})).parameters == 0
    entry.save(tmp_path / "a.plan")
    with pytest.raises(aicf.errors.FailedStateError, match="knows no layers"):
        aicf.summary(aicf.load(tmp_path / "a.plan")["predict"])
