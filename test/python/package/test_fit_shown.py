# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.fit: what people see, log and change while it runs. test_fit.py has what a run
computes."""

import concurrent.futures
import csv
import functools
import io
import json
import sys
import types

import numpy as np
import pytest
import tqdm
from conftest import make_batch
from test_fit import LABELS, ROWS, X, At, interrupt, make, state, with_metrics

import aicf
from aicf import callbacks, nn
from aicf._training import display, metrics
from aicf.errors import InvalidArgumentError, InvalidFileError

DATA = (X, LABELS)


# Lines, bars and notebooks

def test_a_line_of_an_epoch():
    logs = {"epoch": 3, "loss": 0.12345, "size": 1e-9, "who": "me", "seconds": 2.5}
    assert display.line_of(logs, 100, True) \
        == "epoch   3/100  loss 0.1235     size 1e-09      who me  2.5 s  best"
    assert not display.line_of(logs, 100, False).endswith("best")


def test_a_note_does_not_break_the_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True
    from aicf._programs import sizes
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    handler = sizes._NoteHandler()
    handler.setFormatter(None)
    record = __import__("logging").makeLogRecord({"msg": "compiling"})
    with tqdm.tqdm(total=3, desc="epoch 1/1", file=terminal) as bar:
        bar.update()
        handler.emit(record)
    lines = terminal.getvalue().replace("\r", "\n").splitlines()
    assert "compiling" in lines, "it has a line of its own"


class ZMQInteractiveShell:
    """What IPython.get_ipython() returns in Jupyter."""


@pytest.mark.parametrize("has_widgets", [True, False])
def test_a_notebook_has_a_bar_if_it_can_show_one(has_widgets, monkeypatch):
    shell = types.SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "ipywidgets",
                        types.ModuleType("ipywidgets") if has_widgets else None)
    assert display.in_notebook()
    found = display.bar_class()
    assert (found.__module__ == "tqdm.notebook") if has_widgets else found is None


def test_jupyter_shows_tables_and_plots():
    pytest.importorskip("matplotlib")
    history = aicf.fit(make(), DATA, epochs=3, validation=0.2)
    page = history._repr_html_()
    assert page.count("<tr") == 4 and page.count("bold") == 1 and "val_loss" in page
    assert history.plot()._repr_png_()[:4] == b"\x89PNG"
    history.stopped = "<b>"
    assert history._repr_html_().endswith("&lt;b&gt;")


# Where it is logged

def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_has_a_row_for_each_epoch(tmp_path):
    log = tmp_path / "log.csv"
    history = aicf.fit(make(), DATA, epochs=3, log=log)
    assert [{k: float(v) for k, v in row.items()} for row in rows_of(log)] == history.epochs
    aicf.fit(make(), DATA, epochs=2, validation=0.2, log=log)  # adds columns
    rows = rows_of(log)
    assert len(rows) == 5 and rows[0]["val_loss"] == "" and rows[4]["val_loss"]
    assert [row["loss"] for row in rows[:3]] == [str(v) for v in history["loss"]]
    assert not (tmp_path / "log.csv.new").exists()


@pytest.mark.parametrize("cut", [0, 1, 30])
def test_a_resumed_run_mends_its_table(tmp_path, cut):
    log, ck = tmp_path / "log.csv", tmp_path / "ck"
    log.write_text("epoch,loss\n1,5.0\n")  # of another run
    aicf.fit(make(), DATA, epochs=2, log=[log, tmp_path / "l.jsonl"], checkpoint=ck)
    if cut:
        log.write_bytes(log.read_bytes()[:-cut])
    history = aicf.fit(make(), DATA, epochs=3, log=[log, tmp_path / "l.jsonl"],
                       checkpoint=ck, resume=True)
    rows = rows_of(log)
    assert [row["epoch"] for row in rows] == ["1", "1", "2", "3"]
    assert [float(row["loss"]) for row in rows[1:]] == history["loss"]
    assert len((tmp_path / "l.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize("tail, kept", [("3,0.5", 2), ("", 2)])
def test_a_table_without_its_last_line_end(tmp_path, tail, kept):
    """What is cut off goes; a whole row without its line end stays."""
    log = tmp_path / "log.csv"
    aicf.fit(make(), DATA, epochs=2, log=log)
    text = log.read_text()
    log.write_text(text + tail if tail else text[:-1])
    aicf.fit(make(), DATA, epochs=1, log=log)
    assert [row["epoch"] for row in rows_of(log)] == ["1", "2", "1"]


def test_another_file_is_not_overwritten(tmp_path):
    for text in (b"a,b\n1,2\n", b"epoch,loss\n1,2,3\n", b"\xff\n"):
        (tmp_path / "log.csv").write_bytes(text)
        with pytest.raises(InvalidFileError, match="is not a"):
            aicf.fit(make(), DATA, log=tmp_path / "log.csv")
        assert (tmp_path / "log.csv").read_bytes() == text


class Tracker(types.ModuleType):
    """As wandb and mlflow, which tests do not install."""

    def __init__(self):
        super().__init__("tracker")
        self.calls, self.run = [], None

    def init(self, **options):
        self.calls.append(("init", options))
        return types.SimpleNamespace(log=lambda v: self.calls.append(("log", v)),
                                     finish=lambda: self.calls.append(("finish",)))

    def active_run(self):
        return self.run

    def start_run(self, **options):
        self.calls.append(("init", options))

    def log_metrics(self, values, step):
        self.calls.append(("log", {"epoch": step, **values}))

    def end_run(self):
        self.calls.append(("finish",))


@pytest.mark.parametrize("name, logger", [("wandb", "WandB"), ("mlflow", "MLflow")])
def test_trackers_are_called(name, logger, monkeypatch):
    tracker = Tracker()
    monkeypatch.setitem(sys.modules, name, tracker)
    history = aicf.fit(make(), DATA, epochs=2, log=getattr(callbacks, logger)(project="p"))
    kinds = [call[0] for call in tracker.calls]
    assert kinds == ["init", "log", "log", "finish"]
    assert tracker.calls[0][1] == {"project": "p"} and tracker.calls[2][1] == history[1]
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install " + name):
        getattr(callbacks, logger)()


def test_a_logger_is_closed_on_every_way_out():
    class Closes(callbacks.Logger):
        closed = 0

        def close(self):
            self.closed += 1
    for action in (interrupt, lambda run: 1 / 0):
        logger = Closes()
        try:
            aicf.fit(make(), DATA, log=logger, callbacks=[At(0, 2, action)])
        except ZeroDivisionError:
            pass
        assert logger.closed == 1


def test_a_folder_is_tensorboards(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for log in (str(tmp_path), str(tmp_path / "new") + "/"):
        with pytest.raises(ImportError, match="pip install tensorboard"):
            aicf.fit(make(), DATA, log=log)


# Learning rates

SCHEDULES = {
    "Constant": aicf.optim.Constant(0.25), "Linear": aicf.optim.Linear(0.4, 0.1, 8),
    "Cosine": aicf.optim.Cosine(0.4, 8), "WarmupCosine": aicf.optim.WarmupCosine(0.4, 3, 9),
    "StepDecay": aicf.optim.StepDecay(0.4, 0.5, 2),
    "Polynomial": aicf.optim.Polynomial(0.4, 8, 0.1, 2.0),
    "Table": aicf.optim.Table([0.4, 0.3, 0.2])}


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_rate_that_is_read_is_the_one_that_was_used(name):
    """SGD with a gradient of 1 takes the rate off the parameter."""
    class One(nn.Module):
        def __init__(self):
            self.w = nn.Parameter((2,), init=1.0)

    step = aicf.compile_step(One(), lambda m, x: (m.w * x).sum(),
                             aicf.optim.SGD(SCHEDULES[name]), {"x": (2,)})
    assert float(step.get("lr")) > 0, "before the first update"
    for _ in range(10):
        before = step.get("w").numpy()
        step(np.ones(2, "f4"))
        used = before - step.get("w").numpy()
        assert float(step.get("lr")) == pytest.approx(float(used[0]), rel=1e-4, abs=1e-7)


def test_a_table_that_was_changed_is_read():
    step = make(aicf.optim.SGD(aicf.optim.Table([0.4, 0.3])))
    step(X[:16], LABELS[:16])
    step.set("lr_table", np.float32([0.125, 0.5]))
    assert float(step.get("lr")) == 0.125


def test_rates_are_logged():
    history = aicf.fit(make(aicf.optim.SGD(aicf.optim.StepDecay(0.5, 0.5, 7))), DATA,
                       epochs=3)
    assert history["lr"] == [0.5, 0.25, 0.125]
    assert aicf.fit(make(aicf.optim.SGD(0.25)), DATA)["lr"] == [0.25]


def test_a_plateau_lowers_the_rate():
    step = make(aicf.optim.SGD(0.0), dropout=0.0)  # nothing becomes better
    step.set("lr", 1e-20)
    history = aicf.fit(step, DATA, epochs=7, callbacks=[
        aicf.callbacks.ReduceLROnPlateau(0.5, patience=2, min_lr=3e-21)])
    assert history["lr"] == pytest.approx(
        [1e-20] * 3 + [5e-21] * 2 + [3e-21] * 2, rel=1e-6)
    for bad in ({"factor": 0}, {"factor": 1}, {"patience": 0}):
        with pytest.raises(ValueError):
            aicf.callbacks.ReduceLROnPlateau(**bad)
    step = make(aicf.optim.SGD(aicf.optim.Constant(0.0)), dropout=0.0)
    with pytest.raises(InvalidArgumentError, match="A schedule computes it"):
        aicf.fit(step, DATA, epochs=5, callbacks=[
            aicf.callbacks.ReduceLROnPlateau(patience=1)])


def test_a_rate_is_found_and_nothing_has_changed():
    step = make(aicf.optim.SGD(0.0625, momentum=0.9), dropout=0.0)
    step(X[:16], LABELS[:16])
    before = state(step)
    found = aicf.lr_find(step, DATA, low=1e-5, high=1e3, steps=60)
    assert 1e-3 < found.suggestion < 10 and len(found.rates) < 60, "it ends where loss grows"
    assert found.rates[0] == 1e-5 and repr(found).startswith("aicf.RateSearch(")
    for name, value in before.items():
        np.testing.assert_array_equal(state(step)[name], value)
    assert float(step.get("lr")) == 0.0625
    scheduled = make(aicf.optim.SGD(aicf.optim.Constant(0.1)))
    with pytest.raises(aicf.errors.FailedStateError, match="no learning rate that can be set"):
        aicf.lr_find(scheduled, DATA)
    for bad in ({"low": 0}, {"low": 2, "high": 1}, {"steps": 1}):
        with pytest.raises(ValueError):
            aicf.lr_find(step, DATA, **bad)
    below = aicf.compile_step(step.signature.model, lambda m, x, labels:
                              aicf.losses.cross_entropy(m(x), labels) - 10.0,
                              aicf.optim.SGD(0.1, accumulate=2),
                              {"x": (16, 64), "labels": ((16,), "i32")})
    below(X[:16] * 100, LABELS[:16])  # half of an update
    assert aicf.lr_find(below, DATA, low=1e-3, steps=20).suggestion
    clean = [v for n, v in state(below).items() if n.endswith("grad_acc")]
    assert clean and not any(v.any() for v in clean)
    assert aicf.training.RateSearch([1, 2], [3.0, 4.0]).suggestion is None


# The best epoch, averages, and how a run ends

def test_the_best_values_are_restored(tmp_path):
    step = make(aicf.optim.SGD(aicf.optim.Table([0.1] * 14 + [5.0])), dropout=0.0)
    history = aicf.fit(step, DATA, epochs=4, restore_best=True)
    assert history.best["epoch"] == 2 and history[3]["loss"] > history[1]["loss"]
    other = make(aicf.optim.SGD(aicf.optim.Table([0.1] * 14 + [5.0])), dropout=0.0)
    aicf.fit(other, DATA, epochs=2)
    for name, value in state(other).items():
        np.testing.assert_array_equal(state(step)[name], value)


def test_the_best_values_of_a_run_before_are_restored(tmp_path):
    """If no epoch of this call is better, those of the checkpoint's best epoch count."""
    def fit(step, epochs, **more):
        return aicf.fit(step, DATA, epochs=epochs, restore_best=True,
                        checkpoint=tmp_path / "run", **more)
    rates = aicf.optim.SGD(aicf.optim.Table([0.1] * 14 + [5.0]))
    first = make(rates, dropout=0.0)
    assert fit(first, 2).best["epoch"] == 2
    second = make(rates, dropout=0.0)
    history = fit(second, 4, resume=True)
    assert len(history) == 4 and history.best["epoch"] == 2
    for name, value in state(first).items():
        np.testing.assert_array_equal(state(second)[name], value)
    (tmp_path / "run/best/state.safetensors").write_bytes(
        (tmp_path / "run/last/state.safetensors").read_bytes())
    with pytest.raises(InvalidArgumentError, match="is not of epoch 2, which was the best"):
        fit(make(rates, dropout=0.0), 5, resume=True)


def test_averages_of_parameters(tmp_path):
    """The entry against the formula, and that validation and the end use the averages."""
    def run(**more):
        step = make(aicf.optim.SGD(0.5), dropout=0.0)
        return step, aicf.fit(step, DATA, epochs=2, shuffle=False, validation=DATA,
                              callbacks=[callbacks.EMA(0.8)], **more)
    step, history = run()
    other = make(aicf.optim.SGD(0.5), dropout=0.0)
    mean = other.state_dict()
    number = 0
    for epoch in range(2):
        for i in range(0, ROWS, 16):
            other(X[i:i + 16], LABELS[i:i + 16])
            number += 1
            decay = min(0.8, (1 + number) / (10 + number))
            mean = {n: v + (1 - decay) * (other.state_dict()[n] - v)
                    for n, v in mean.items()}
        kept = other.state_dict()
        other.load_state_dict({n: v.astype("f4") for n, v in mean.items()})
        assert history[epoch]["val_loss"] == pytest.approx(
            aicf.evaluate(other, DATA)["loss"], rel=1e-5)
        other.load_state_dict(kept)
    assert set(step.state_dict()) == set(mean), "the averages are not the model's"
    for name, value in mean.items():
        np.testing.assert_allclose(step.get(name).numpy(), value, rtol=1e-5, atol=1e-7)
    run(checkpoint=tmp_path)
    resumed = make(aicf.optim.SGD(0.5), dropout=0.0)
    aicf.fit(resumed, DATA, epochs=3, shuffle=False, checkpoint=tmp_path, resume=True,
             callbacks=[callbacks.EMA(0.8)])
    whole = make(aicf.optim.SGD(0.5), dropout=0.0)
    aicf.fit(whole, DATA, epochs=3, shuffle=False, callbacks=[callbacks.EMA(0.8)])
    for name, value in state(whole).items():
        np.testing.assert_array_equal(state(resumed)[name], value, err_msg=name)
    with pytest.raises(ValueError):
        callbacks.EMA(1.0)


def test_two_steps_of_one_program_have_averages_of_their_own():
    step = make(aicf.optim.SGD(0.5), dropout=0.0)
    other = aicf.compile_step(nn.Linear(64, 10), lambda m, x, labels:
                              aicf.losses.cross_entropy(m(x), labels), aicf.optim.SGD(0.5),
                              {"x": (16, 64), "labels": ((16,), "i32")}, program=step,
                              name="other")
    for own in (step, other):
        aicf.fit(own, DATA, callbacks=[callbacks.EMA(0.5)])
    before = step.get("fc1.weight").numpy().copy()
    aicf.fit(other, DATA, callbacks=[callbacks.EMA(0.9)])
    np.testing.assert_array_equal(step.get("fc1.weight"), before)
    assert float(step.get("other.ema.decay")) == np.float32(0.9)


def test_a_value_that_is_true_is_kept(tmp_path):
    def run(epochs):
        class Better(aicf.Callback):
            def on_epoch_end(self, run, logs):
                logs["better"] = logs["loss"] < 1.0
        return aicf.fit(make(), DATA, epochs=epochs, checkpoint=tmp_path, resume=True,
                        callbacks=[Better()])
    run(2)
    assert len(run(4)) == 4


def test_a_run_that_stopped_goes_on_with_more_patience(tmp_path, capfd, caplog):
    caplog.set_level("INFO", "aicf")

    def run(patience, epochs=12):
        return aicf.fit(make(aicf.optim.SGD(0.0), dropout=0.0), DATA, epochs=epochs,
                        checkpoint=tmp_path, resume=True, shuffle=False,
                        callbacks=[aicf.EarlyStopping(patience)])
    assert len(run(2)) == 3
    assert len(run(2)) == 3
    assert "is of a run that is over: loss has not become better" in caplog.text
    history = run(5)
    assert "goes on behind epoch 3, where it stopped: loss" in capfd.readouterr().out
    assert len(history) == 6 and history.stopped


def test_ctrl_c_returns_the_history(capfd):
    history = aicf.fit(make(), DATA, epochs=5, callbacks=[At(2, 3, interrupt)])
    assert len(history) == 2 and history.stopped == "Ctrl-C in epoch 3 after 3 batches"
    assert capfd.readouterr().out.splitlines()[-1] == "stopped: " + history.stopped


# Metrics

LOGITS = np.float32([[2, 1, 0], [0, 3, 1], [0, 1, 2]])


@pytest.mark.parametrize("name, predictions, targets, expected", [
    ("accuracy", LOGITS, np.int32([0, 1, 1]), 2 / 3),
    ("accuracy", np.float32([[1], [-1], [2], [-3]]), np.int32([1, 0, 0, 0]), 0.75),
    ("accuracy", np.float32([[5], [5], [4], [-5]]), np.int32([1, 1, 1, 0]), 1.0),
    ("accuracy", np.float32([5, 5, -4, -5]), np.float32([1, 1, 1, 0]), 0.75),
    ("accuracy", np.int32([1, 0]), np.int32([1, 1]), 0.5),
    ("mae", np.float32([[1], [2], [4]]), np.float32([1, 1, 1]), 4 / 3),
    ("mse", np.float32([1, 2, 4]), np.float32([1, 1, 1]), 10 / 3),
    ("r2", np.float32([1, 2, 3]), np.float32([1, 2, 4]), 1 - 1 / (14 / 3)),
])
def test_metrics_by_name(name, predictions, targets, expected):
    assert metrics.NAMED[name](predictions, targets) == pytest.approx(expected)


def test_the_argument_order_of_other_packages():
    def f1_score(y_true, y_pred, *, average=None):
        return y_true.tolist(), y_pred.tolist()

    def roc_auc_score(y_true, y_score):
        return y_true.tolist(), y_score.tolist()
    for function, found in ((f1_score, [0, 1, 2]), (roc_auc_score, LOGITS.tolist())):
        function.__module__ = "sklearn.metrics._classification"
        wrapped = metrics.as_function(function)
        assert wrapped(LOGITS, np.int32([0, 1, 1])) == ([0, 1, 1], found)
        partial = functools.partial(function, average="macro") if function is f1_score \
            else functools.partial(function)
        assert metrics.as_function(partial)(LOGITS, np.int32([0, 1, 1])) == ([0, 1, 1], found)
        assert list(metrics.as_dict([partial], [])) == [function.__name__]
    assert metrics.as_function(metrics.accuracy) is metrics.accuracy


@pytest.mark.parametrize("module, found", [
    ("sklearn.metrics._classification", [1, 0, 1]),
    ("sklearn.metrics._regression", [[2.0], [-1.0], [0.5]])])
def test_one_logit_a_row_is_a_class(module, found):
    def score(y_true, y_pred):
        return y_pred.tolist()
    score.__module__ = module
    assert metrics.as_function(score)(np.float32([[2], [-1], [0.5]]),
                                      np.int32([1, 0, 0])) == found


def test_a_step_is_evaluated():
    step = make(dropout=0.5)
    found = aicf.evaluate(step, DATA)
    assert found == aicf.evaluate(step, {"labels": LABELS, "x": X})
    assert list(found) == ["loss", "accuracy", "size"]
    assert found["accuracy"] == metrics.accuracy(step.predict(X), LABELS)
    for wrong, text in (({"metrics": ["nope"]}, "no metric 'nope'"),):
        with pytest.raises(InvalidArgumentError, match=text):
            aicf.evaluate(step, DATA, **wrong)
    with pytest.raises(TypeError, match="expected what aicf.compile_step gives"):
        aicf.evaluate(with_metrics, DATA)


def test_averages_begin_anew_with_each_run():
    step = make(aicf.optim.SGD(0.5), dropout=0.0)
    aicf.fit(step, DATA, epochs=20, callbacks=[callbacks.EMA(0.999)])
    step.set("fc1.weight", np.full_like(step.get("fc1.weight").numpy(), 2.0))
    step.set("lr", 0.0)
    aicf.fit(step, DATA, callbacks=[callbacks.EMA(0.999)])
    np.testing.assert_allclose(step.get("fc1.weight"), 2.0, rtol=1e-6)


def test_the_rates_of_schedules_in_two_threads():
    schedule = aicf.optim.Cosine(0.1, 1000)
    steps = [make(aicf.optim.SGD(schedule), dropout=0.0) for _ in range(2)]
    for count, step in enumerate(steps):
        step.set("step", 400 * (count + 1))
    expected = [float(step.get("lr")) for step in steps]
    assert expected[0] != expected[1]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda step: {float(step.get("lr")) for _ in range(300)}, steps)
        assert [list(rates) for rates in found] == [[rate] for rate in expected]
