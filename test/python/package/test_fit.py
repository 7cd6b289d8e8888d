# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.fit: sources of batches, metrics, what is kept, how it ends. Resumed runs are
compared bit for bit with runs that were never interrupted."""

import contextlib
import dataclasses
import json
import math
import signal
import subprocess
import sys
import types

import numpy as np
import pytest
from conftest import BINARY, INPUTS, PROGRAM_ENV, Mlp, make_batch

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


# What is kept

def test_a_file_has_a_line_for_each_epoch(capfd):
    data = (X[:96], LABELS[:96])
    aicf.fit(make(), data, epochs=10, validation=data)
    out, err = capfd.readouterr()
    lines = out.splitlines()
    assert err == "" and len(lines) == 10 and "\r" not in out
    assert lines[0].startswith("epoch  1/10  loss ") and lines[0].endswith("  best")
    for name in ("accuracy ", "val_loss ", "val_accuracy ", "lr 0.01 ", " s"):
        assert name in lines[9]
    aicf.fit(make(), data, verbose=0)
    assert capfd.readouterr() == ("", "")


def test_the_log_has_a_line_per_epoch(tmp_path):
    log = tmp_path / "log.jsonl"
    history = aicf.fit(make(), (X, LABELS), epochs=3, log=log)
    assert [json.loads(line) for line in log.read_text().splitlines()] \
        == history.epochs
    aicf.fit(make(), (X, LABELS), log=log)
    assert len(log.read_text().splitlines()) == 4, "an older log is not lost"


def test_best_and_last(tmp_path):
    step = make(aicf.optim.AdamW(0.1))
    history = aicf.fit(step, (X, LABELS), epochs=6, validation=(X[:32], LABELS[:32]),
                       checkpoint=tmp_path)
    values = history["val_loss"]
    assert history.best == {"epoch": 1 + int(np.argmin(values)), "value": min(values)}
    other = make()
    other.predict(X)
    other.load_checkpoint(tmp_path / "best")
    check = aicf.compile(with_metrics, INPUTS, model=other.signature.model,
                         program=other, name="check")
    total = sum(float(check(X[i:i + 16], LABELS[i:i + 16])[0]) for i in (0, 16)) / 2
    assert total == pytest.approx(min(values), rel=1e-6)
    other.load_checkpoint(tmp_path / "last")
    assert_same(other, step)


OPTIMIZERS = {
    "adamw": aicf.optim.AdamW(aicf.optim.WarmupCosine(1e-2, 3, 30)),
    "accumulate": aicf.optim.SGD(0.1, momentum=0.9, accumulate=2),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("at", [(0, 2), (1, 5), (2, 1), (2, 4)])
def test_a_resumed_run_has_the_bits_of_a_whole_one(at, optimizer, tmp_path):
    def run(**more):
        step = make(OPTIMIZERS[optimizer])
        more.setdefault("callbacks", [aicf.EarlyStopping(50)])
        return step, aicf.fit(step, (X, LABELS), epochs=4, validation=0.2, seed=3,
                              **more)
    whole, expected = run()
    _, first = run(checkpoint=tmp_path / "ck", log=tmp_path / "log.jsonl",
                   callbacks=[AtWithState(*at, interrupt)])
    assert first.stopped.startswith("Ctrl-C in epoch") and "has the state" in first.stopped
    step, history = run(checkpoint=tmp_path / "ck", resume=True,
                        log=tmp_path / "log.jsonl",
                        callbacks=[AtWithState(9, 9, interrupt)])
    assert_same(step, whole)
    assert without_times(history) == without_times(expected)
    assert history.best == expected.best
    assert [json.loads(line)["epoch"] for line in
            (tmp_path / "log.jsonl").read_text().splitlines()] == [1, 2, 3, 4]


class AtWithState(At):
    """Also one whose state is in the checkpoint."""

    def state(self):
        return {"calls": self.calls}

    def load_state(self, state):
        assert state == {"calls": 1}


def test_a_resumed_run_on_the_device(tmp_path):
    def run(**more):
        pick = aicf.data.Batches(16, seed=5)

        def loss(model, images, labels):
            return with_metrics(model, *pick(images, labels))
        step = aicf.compile_step(
            Mlp(0.3), loss, aicf.optim.AdamW(1e-2),
            {"images": aicf.spec((ROWS, 64)), "labels": aicf.spec((ROWS,), "i32")})
        return step, aicf.fit(step, (X, LABELS), epochs=3, **more)
    whole, expected = run()
    run(checkpoint=tmp_path, callbacks=[At(1, 4, interrupt)])
    step, history = run(checkpoint=tmp_path, resume=True, callbacks=[At(9, 9, interrupt)])
    assert_same(step, whole)
    assert without_times(history) == without_times(expected)


def test_early_stopping_and_the_learning_rate_are_resumed(tmp_path):
    def run(epochs, **more):
        step = make(aicf.optim.SGD(0.0), dropout=0.0)
        return step, aicf.fit(step, (X, LABELS), epochs=epochs, checkpoint=tmp_path,
                              validation=(X, LABELS),
                              callbacks=[aicf.EarlyStopping(3)], **more)
    step, _ = run(2)
    _, history = run(9, resume=True)
    assert len(history) == 4 and "3 epochs" in history.stopped
    _, again = run(9, resume=True)
    assert len(again) == 4 and again.stopped == history.stopped
    step.set("lr", 0.25)
    aicf.fit(step, (X, LABELS), epochs=1, checkpoint=tmp_path / "b")
    other = make(aicf.optim.SGD(0.5), dropout=0.0)
    aicf.fit(other, (X, LABELS), epochs=2, checkpoint=tmp_path / "b", resume=True)
    assert other.get("lr").item() == 0.25


def test_saved_between_the_batches(tmp_path):
    step = make()
    with pytest.raises(ZeroDivisionError):
        aicf.fit(step, (X, LABELS), epochs=2, checkpoint=tmp_path, save_every=2,
                 callbacks=[At(1, 5, lambda run: 1 / 0)])
    whole, other = make(), make()
    expected = aicf.fit(whole, (X, LABELS), epochs=2)
    history = aicf.fit(other, (X, LABELS), epochs=2, checkpoint=tmp_path, resume=True,
                       callbacks=[At(9, 9, interrupt)])
    assert_same(other, whole)
    assert without_times(history) == without_times(expected)


def test_iterators_say_that_they_cannot_restart(tmp_path, caplog):
    aicf.fit(make(), Loader(), epochs=2, checkpoint=tmp_path,
             callbacks=[At(1, 3, interrupt)])
    caplog.set_level("INFO", "aicf")
    aicf.fit(make(), Loader(), epochs=2, checkpoint=tmp_path, resume=True,
             callbacks=[At(9, 9, interrupt)])
    assert "a Loader cannot restart at a position" in caplog.text
    caplog.clear()
    aicf.fit(make(), list(batches()), epochs=2, checkpoint=tmp_path / "b", resume=True)
    assert "restart" not in caplog.text


class Stateful(Loader):
    position = 0

    def __iter__(self):
        for i in range(self.position, 7):
            self.position = i + 1
            yield X[16 * i:16 * i + 16], LABELS[16 * i:16 * i + 16]
        self.position = 0

    def state_dict(self):
        return {"position": self.position}

    def load_state_dict(self, state):
        self.position = state["position"]


@pytest.mark.parametrize("data, is_exact", [
    (list(batches()), True), (batches, True), (Stateful(), True), (Loader(), False)])
def test_a_source_goes_on_at_a_batch(data, is_exact):
    source = iterables(data)
    assert (source.exact == "") == is_exact
    state = {"position": 5} if source.has_state else None
    assert source.state() == ({"position": 0} if source.has_state else None)
    source.load_state(state)
    assert [rows for _, rows in source.batches(0, 5)] == [16, 4]


def test_a_state_that_is_not_json_is_no_state():
    class Sets(Stateful):
        def state_dict(self):
            return {"position": {self.position}}
    source = iterables(Sets())
    assert source.exact == "" and source.state() is None
    assert source.exact == "the state_dict() of a Sets is not JSON"
    assert [rows for _, rows in source.batches(0, 5)] == [16, 4], "it leaves out others"


def test_a_loader_with_a_state_restarts(tmp_path):
    whole, step = make(), make()
    expected = aicf.fit(whole, Stateful(), epochs=2)
    aicf.fit(make(), Stateful(), epochs=2, checkpoint=tmp_path,
             callbacks=[At(1, 3, interrupt)])
    history = aicf.fit(step, Stateful(), epochs=2, checkpoint=tmp_path, resume=True,
                       callbacks=[At(9, 9, interrupt)])
    assert_same(step, whole)
    assert without_times(history) == without_times(expected)


def test_a_second_interrupt_stops_at_once(tmp_path):
    class Twice(aicf.Callback):
        count = 0

        def on_batch_end(self, run):
            self.count += 1
            signal.raise_signal(signal.SIGINT)
    step = make(aicf.optim.SGD(0.1, accumulate=4))
    callback = Twice()
    with pytest.raises(KeyboardInterrupt):
        aicf.fit(step, (X, LABELS), checkpoint=tmp_path, callbacks=[callback])
    assert callback.count == 2 and not (tmp_path / "last").exists()
    assert step.program.discard_update() == 2


def test_the_first_interrupt_ends_the_open_update(tmp_path):
    step = make(aicf.optim.SGD(0.1, accumulate=4))
    history = aicf.fit(step, (X, LABELS), checkpoint=tmp_path,
                       callbacks=[At(0, 2, interrupt)])
    assert "epoch 1 after 4 batches" in history.stopped and len(history) == 0
    assert step.program.discard_update() == 0


def test_aicf_run_reads_the_checkpoint(tmp_path):
    step = make(dropout=0.0)
    aicf.fit(step, (X, LABELS), checkpoint=tmp_path / "ck")
    step.save(tmp_path / "a.plan")
    np.save(tmp_path / "x.npy", X[:16])
    np.save(tmp_path / "y.npy", LABELS[:16])
    out = subprocess.run(
        [BINARY / "bin/aicf-run", tmp_path / "a.plan", "--entry", "train_step",
         "--resume", tmp_path / "ck/last", "--input", "x=@%s" % (tmp_path / "x.npy"),
         "--input", "labels=@%s" % (tmp_path / "y.npy"), "--set", "lr=0.01",
         "--output", "loss=@%s" % (tmp_path / "loss.npy")],
        env=PROGRAM_ENV, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    assert np.load(tmp_path / "loss.npy") == float(step(X[:16], LABELS[:16])[0])


def damage(folder, change):
    from safetensors.numpy import load_file, save_file
    path = folder / "last/state.safetensors"
    save_file(load_file(path), path, {"aicf.fit": change})


def test_checkpoints_that_do_not_fit(tmp_path):
    step = make()
    aicf.fit(step, (X, LABELS), checkpoint=tmp_path)
    aicf.fit(step, list(batches()), checkpoint=tmp_path / "batches")
    before = state(step)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="another kind of data$"):
        aicf.fit(step, (X, LABELS), epochs=2, checkpoint=tmp_path / "batches",
                 resume=True)
    for data, options, text in (
            ((X[:50], LABELS[:50]), {}, "rows is 50, in the checkpoint 100"),
            ((X, LABELS), {"seed": 1}, "seed is 1, in the checkpoint 0"),
            ((X, LABELS), {"batch_size": 8}, "batch_size is 8, in the checkpoint 16"),
            (list(batches()), {}, "another kind of data than a list"),
            ((X, LABELS), {"callbacks": [aicf.EarlyStopping()]},
             "callbacks are EarlyStopping, in the checkpoint none")):
        with pytest.raises(aicf.errors.InvalidArgumentError, match=text):
            aicf.fit(step, data, epochs=2, checkpoint=tmp_path, resume=True, **options)
    for text, why in (("", "is damaged"), ("[]", "is damaged"),
                      ('{"version": 2}', "version 2"), ('{"version": 1}', "is damaged"),
                      ('{"version": 1, "epoch": "a"}', "is damaged")):
        damage(tmp_path, text)
        with pytest.raises(aicf.errors.InvalidFileError, match=why):
            aicf.fit(step, (X, LABELS), epochs=2, checkpoint=tmp_path, resume=True)
    step.save_checkpoint(tmp_path / "last")
    with pytest.raises(aicf.errors.InvalidFileError, match="not one of aicf.fit"):
        aicf.fit(step, (X, LABELS), epochs=2, checkpoint=tmp_path, resume=True)
    (tmp_path / "last/state.safetensors").write_bytes(b"123")
    with pytest.raises(aicf.errors.InvalidFileError, match="is not a checkpoint"):
        aicf.fit(step, (X, LABELS), epochs=2, checkpoint=tmp_path, resume=True)
    for name, value in before.items():
        np.testing.assert_array_equal(state(step)[name], value)


def test_a_loaded_plan_trains(tmp_path):
    step, whole = make(), make()
    aicf.fit(step, (X, LABELS), validation=(X, LABELS))
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")
    loaded.set("lr", 1e-2)
    history = aicf.fit(loaded["train_step"], (X, LABELS), validation=(X, LABELS),
                       metrics={"top": lambda p, y: p.max()} if "predict"
                       in loaded.entries else {})
    expected = aicf.fit(whole, (X, LABELS), validation=(X, LABELS))
    assert without_times(history) == without_times(expected)
    whole.save(tmp_path / "b.plan")
    make().save(tmp_path / "c.plan")
    bare = aicf.load(tmp_path / "c.plan")
    bare.set("lr", 1e-2)
    with pytest.raises(aicf.errors.FailedStateError, match="no entry 'evaluate'"):
        aicf.fit(bare["train_step"], (X[:96], LABELS[:96]), validation=(X, LABELS))


@pytest.mark.parametrize("arguments, error, text", [
    ({"epochs": 0}, ValueError, "epochs is 0"),
    ({"epochs": 1.5}, ValueError, "epochs is 1.5"),
    ({"epochs": True}, ValueError, "epochs is True"),
    ({"batches_per_epoch": 0}, ValueError, "batches_per_epoch is 0"),
    ({"save_every": 2}, ValueError, "save_every need a checkpoint"),
    ({"batch_size": 0}, ValueError, "batch_size is 0"),
    ({"resume": True}, ValueError, "need a checkpoint"),
    ({"mode": "less"}, ValueError, "mode is"),
    ({"monitor": "val_loss"}, aicf.errors.InvalidArgumentError, "logged are epoch, loss"),
    ({"data": (X,)}, aicf.errors.InvalidArgumentError, "has 1 inputs, the step takes 2"),
    ({"data": {"x": X}}, aicf.errors.InvalidArgumentError,
     "data has the inputs x, the step takes x, labels"),
    ({"data": {"x": X, "labels": LABELS, "z": X}}, aicf.errors.InvalidArgumentError,
     "data has the inputs x, labels, z, the step"),
    ({"data": {}}, aicf.errors.InvalidArgumentError, "data has the inputs none, the"),
    ({"data": {"x": X, "labels": [1]}}, aicf.errors.InvalidArgumentError,
     "a batch has 1 inputs"),
    ({"data": (X[:0], LABELS[:0])}, aicf.errors.InvalidArgumentError,
     "one common number of rows, got x: 0, labels: 0"),
    ({"data": (X, LABELS[:5])}, aicf.errors.InvalidArgumentError, "x: 100, labels: 5"),
    ({"data": 5}, aicf.errors.InvalidArgumentError, "data is a int"),
    ({"data": [(X[:16],)]}, aicf.errors.InvalidArgumentError, "a batch has 1 inputs"),
    ({"data": (X, LABELS.astype(np.float64))}, aicf.errors.DTypeMismatchError,
     "'labels' is float64, expected int32: class numbers and indices are integers"),
    ({"data": (X, LABELS.astype(np.int64) + 2**31)}, aicf.errors.DTypeMismatchError,
     "'labels' is int64, expected int32, and has 21474836\\d\\d, which does not fit"),
    ({"verbose": 3}, ValueError, "verbose is 3"),
    ({"validation_split": 0.2}, TypeError, "it is called 'validation' here"),
    ({"metrics": ["acuracy"]}, aicf.errors.InvalidArgumentError,
     "no metric 'acuracy' .did you mean \"accuracy\""),
    ({"metrics": 3}, TypeError, "metrics is 3, expected names"),
    ({"log": 3}, TypeError, "log is 3, expected the path"),
])
def test_wrong_arguments(arguments, error, text):
    step = make()
    data = arguments.pop("data", (X, LABELS))
    with pytest.raises(error, match=text):
        aicf.fit(step, data, **arguments)
    with pytest.raises(TypeError, match="expected what aicf.compile_step gives"):
        aicf.fit(step.program, data)


def test_history_is_plotted(tmp_path):
    pytest.importorskip("matplotlib")
    history = aicf.fit(make(), (X, LABELS), epochs=3, validation=0.2)
    figure = history.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes()[:4] == b"\x89PNG"
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["loss", "accuracy", "size", "lr"]
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["loss", "val_loss", "best"]
    assert list(lines[1].get_ydata()) == history["val_loss"]
    with pytest.raises(KeyError, match='did you mean "accuracy"'):
        history["acuracy"]


def test_a_plot_has_what_was_logged():
    pytest.importorskip("matplotlib")
    history = aicf.History([{"epoch": 1, "seconds": 2.0, "loss": 0.5, "val_f1": 0.25}])
    axes = history.plot().axes
    assert [a.get_title() for a in axes] == ["loss", "val_f1"]
    assert [[line.get_label() for line in a.get_lines()] for a in axes] == [
        ["loss"], ["val_f1"]]


def test_a_plot_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="needs matplotlib: pip install matplotlib"):
        aicf.History().plot()


def test_a_history_says_its_last_epoch():
    assert repr(aicf.History()) == "aicf.History(0 epochs: nothing yet)"
    history = aicf.History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}])
    assert repr(history) == "aicf.History(2 epochs: loss 0.25)"
    history.stopped = "enough"
    assert repr(history) == "aicf.History(2 epochs: loss 0.25; enough)"


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
