# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.fit: checkpoints, logs and runs that go on."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from conftest import BINARY, INPUTS, PROGRAM_ENV, Mlp
from test_fit import (LABELS, ROWS, At, Loader, X, assert_same, batches, interrupt, iterables,
                      make, state, with_metrics, without_times)

import aicf


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
