# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.fit: what it refuses, when it reads, shows and saves, and which entry validates.
test_fit.py has what a run computes."""

import io
import json
import math
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest
import tqdm
from conftest import BINARY, PROGRAM_ENV, make_batch
from test_fit import At, Loader, interrupt

import aicf
from aicf import nn, training
from aicf._training import display, sources as _sources
from aicf._training.totals import Totals
from aicf._training.epoch_log import EpochLog
from aicf.errors import InvalidArgumentError, InvalidFileError

ROWS = 28  # seven batches of 4
X = make_batch(3, ROWS)[0][:, :3].copy()
Y = make_batch(4, ROWS)[0][:, :2].copy()
INPUTS = {"x": aicf.spec((4, 3)), "y": aicf.spec((4, 2))}


def squares(model, x, y):
    return aicf.losses.mse_loss(model(x), y)


def noisy(model, x, y):
    return squares(model, aicf.functional.dropout(x, 0.5), y)


def make(loss=squares, inputs=None, optimizer=None, **options):
    return aicf.compile_step(nn.Linear(3, 2), loss, optimizer or aicf.optim.SGD(0.1),
                             inputs or INPUTS, **options)


def loss_of(step, x=X, y=Y):
    return ((step.predict(x).astype("f8") - y) ** 2).mean()


class Log(aicf.Callback):
    """Logs one value of each epoch more, under the name "v"."""

    def __init__(self, *values):
        self.values = values

    def on_epoch_end(self, run, logs):
        logs["v"] = self.values[run.epoch]


def saved(folder):
    """What fit wrote into the newest checkpoint."""
    from safetensors import safe_open
    with safe_open(folder / "last/state.safetensors", "numpy") as file:
        return json.loads(file.metadata()["aicf.fit"])


def change(folder, state):
    from safetensors.numpy import load_file, save_file
    path = folder / "last/state.safetensors"
    save_file(load_file(path), path, {"aicf.fit": json.dumps(state)})


# What is read, and when

class Value:
    """A result that counts how often it is read."""

    reads = 0

    def __init__(self, value, dtype="f32", shape=()):
        self.value, self.dtype, self.shape = value, dtype, shape

    def __float__(self):
        Value.reads += 1
        return self.value


def test_values_are_read_in_groups(monkeypatch):
    monkeypatch.setattr(Value, "reads", 0)
    totals = Totals({})
    assert math.isnan(totals.last_loss())
    for i in range(255):
        totals.add(Value(float(i)), 4)
    assert Value.reads == 0
    totals.add(Value(255.0), 4)
    assert Value.reads == 256
    assert totals.last_loss() == 255, "it is shown after the group was read, too"
    assert totals.means() == {"loss": 127.5}


def test_a_sum_is_of_the_values_alone():
    totals = Totals({"sum": "sum"})
    for rows in (4, 2):
        totals.add((Value(2.0), {"sum": Value(3.0), "count": Value(6.0, "i32")}), rows)
    assert totals.means() == {"loss": 2.0, "sum": 6.0, "count": 2.0}


def test_only_numbers_are_logged():
    def loss(model, x, y):
        return squares(model, x, y), {"rows": x.sum(1)}
    step = make(loss)
    assert list(aicf.fit(step, (X, Y))[0]) == ["epoch", "loss", "lr", "seconds"]
    with pytest.raises(InvalidArgumentError, match="'rows' is .*expected a 0-d output"):
        aicf.fit(step, (X, Y), metrics={"rows": "mean"})


def test_a_terminal_has_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True
    for verbose, is_shown in ((1, True), (2, False), (0, False)):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", Terminal())
            aicf.fit(make(), (X, Y), verbose=verbose)
            assert ("epoch 1/1" in sys.stderr.getvalue()) == is_shown


@pytest.mark.parametrize("seconds, reads", [(-1, 7), (1e9, 0)])
def test_the_bar_reads_a_loss_from_time_to_time(seconds, reads, monkeypatch):
    count = []
    monkeypatch.setattr(display, "SHOW_SECONDS", seconds)
    monkeypatch.setattr(display, "bar_class", lambda: tqdm.tqdm)
    monkeypatch.setattr(Totals, "last_loss",
                        lambda self: count.append(self) or 1.0)
    aicf.fit(make(), (X, Y))
    assert len(count) == reads


# What is refused

def test_names_of_outputs_that_fit_logs_itself():
    for name in ("epoch", "seconds"):
        step = make(lambda m, x, y: (squares(m, x, y), {name: x.mean()}))
        with pytest.raises(InvalidArgumentError, match="fit logs something else"):
            aicf.fit(step, (X, Y))


def test_an_input_is_not_a_metric():
    with pytest.raises(InvalidArgumentError, match="'x' is not an output.*has loss$"):
        aicf.fit(make(), (X, Y), metrics={"x": "mean"})


def test_inputs_without_a_common_number_of_rows():
    step = make(lambda m, x, y, w: squares(m, x, y) * w.sum(),
                {**INPUTS, "w": aicf.spec((2,))})
    with pytest.raises(InvalidArgumentError, match="without a common .*batch_size="):
        aicf.fit(step, (X, Y, np.ones(2, "f4")))


def test_what_does_not_validate():
    for data, options, text in (
            (iter([]), {}, "validation is an iterator"),
            ([], {"metrics": {"most": lambda p, y: p.max()}}, "validation gave no batches")):
        with pytest.raises(InvalidArgumentError, match=text):
            aicf.fit(make(), (X, Y), validation=data, **options)


def test_metrics_of_predictions_for_batches():
    most = {"most": lambda p, y: float(p.max()) + len(y)}
    batches = [(X[:20], Y[:20]), (X[20:], Y[20:])]
    found = aicf.fit(make(), (X, Y), validation=batches, metrics=most)
    assert found["val_most"] == aicf.fit(make(), (X, Y), validation=(X, Y),
                                         metrics=most)["val_most"]


def test_a_log_that_cannot_be_written_is_found_out_first(tmp_path):
    with pytest.raises(FileNotFoundError):
        aicf.fit(make(), (X, Y), log=tmp_path / "no/log.jsonl",
                 callbacks=[At(0, 1, lambda run: pytest.fail("it trains"))])


# The course of a run

def test_a_function_is_a_callback():
    epochs = []
    aicf.fit(make(), (X, Y), epochs=2,
             callbacks=lambda epoch, logs: epochs.append(epoch))
    assert epochs == [1, 2]


def test_the_first_reason_to_stop_counts():
    run = training.Run(make(), 1, "loss", "min")
    run.stop("first")
    run.stop("second")
    assert run.history.stopped == "first"


def test_a_thread_trains_too():
    histories = []
    thread = threading.Thread(target=lambda: histories.append(aicf.fit(make(), (X, Y))))
    thread.start()
    thread.join()
    assert len(histories) == 1


def test_every_source_is_closed(monkeypatch):
    closed = []
    monkeypatch.setattr(_sources.Arrays, "close", lambda self: closed.append(self.rows))
    with pytest.raises(ZeroDivisionError):
        aicf.fit(make(), (X, Y), validation=(X[:8], Y[:8]),
                 callbacks=[At(0, 2, lambda run: 1 / 0)])
    assert sorted(closed) == [8, ROWS]


def test_an_ordinary_run_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aicf.fit(make(optimizer=aicf.optim.SGD(0.1, accumulate=2)), (X, Y))


@pytest.mark.parametrize("mode, values, best", [
    ("min", (2.0, 1.0, 3.0), 1.0), ("max", (2.0, 3.0, 1.0), 3.0),
    ("min", (math.nan, 2.0, 3.0), 2.0)])
def test_the_best_epoch(mode, values, best):
    history = aicf.fit(make(), (X, Y), epochs=3, monitor="v", mode=mode,
                       callbacks=[Log(*values)])
    assert history.best == {"epoch": 1 + values.index(best), "value": best}


def test_a_text_and_whole_numbers_are_logged_as_they_are(tmp_path):
    log = tmp_path / "log.jsonl"
    aicf.fit(make(), (X, Y), epochs=2, log=log, callbacks=[Log("warm", 7)])
    for line, number, v in zip(log.read_text().splitlines(), (1, 2), ('"warm"', "7")):
        assert line.startswith('{"epoch": %d, ' % number)
        assert line.endswith(', "v": %s}' % v)


# The entry that validates

def rows_of(entry):
    return entry.signature.specs["x"].shape[0]


@pytest.mark.parametrize("batch_size, rows", [(None, 4), (7, 7), (99, ROWS)])
def test_a_validation_has_the_batches_of_the_training(batch_size, rows):
    step = make()
    last = At(0, ROWS // rows, lambda run: None)
    more = At(0, ROWS // rows + 1, lambda run: None)
    aicf.fit(step, (X, Y), batch_size=batch_size, validation=(X, Y),
             callbacks=[last, more])
    assert (last.calls, more.calls) == (1, 0)
    assert rows_of(step.program["evaluate"]) == rows


def test_runs_share_the_entry_that_validates():
    step = make()
    for _ in range(3):
        aicf.fit(step, (X, Y), validation=(X, Y))
    assert list(step.program.entries) == ["train_step", "evaluate"]


@pytest.mark.parametrize("function, options", [
    (noisy, {"training": True}),
    (lambda model, x, y: 2 * squares(model, x, y), {})])
def test_an_entry_evaluate_that_is_something_else_does_not_validate(function, options):
    step = make(noisy)
    aicf.compile(function, INPUTS, model=step.signature.model, program=step,
                 name="evaluate", **options)
    history = aicf.fit(step, (X, Y), validation=(X, Y))
    assert history[0]["val_loss"] == pytest.approx(loss_of(step), rel=1e-5)


def test_a_plan_has_the_validation_under_its_name(tmp_path):
    """Whatever other entries of the same function there are."""
    step = make()
    aicf.compile(squares, INPUTS, model=step.signature.model, program=step,
                 name="check")
    aicf.fit(step, (X, Y), validation=(X, Y))
    assert list(step.program.entries) == ["train_step", "check", "evaluate"]


def test_an_entry_of_the_users_validates():
    """In its own batches; the step takes other inputs."""
    pick = aicf.data.Batches(4)

    def loss(model, rows, wanted):
        return squares(model, *pick(rows, wanted))
    step = make(loss, {"rows": aicf.spec((ROWS, 3)), "wanted": aicf.spec((ROWS, 2))})
    own = aicf.compile(squares, {"x": (7, 3), "y": (7, 2)}, model=step.signature.model,
                       program=step, name="own")
    for _ in range(2):
        history = aicf.fit(step, (X, Y), validation=(X, Y), evaluate=own)
        assert history[0]["val_loss"] == pytest.approx(loss_of(step), rel=1e-5)
    assert list(step.program.entries) == ["train_step", "own", "predict"]


def test_a_function_of_predictions_gets_the_targets():
    """By name, wherever they stand."""
    step = make(lambda model, y, x: squares(model, x, y),
                {"y": INPUTS["y"], "x": INPUTS["x"]})
    history = aicf.fit(step, (Y, X), validation=(Y, X), metrics={
        "most": lambda p, y: ((p - y) ** 2).max()})
    assert history[0]["val_most"] == pytest.approx(((step.predict(X) - Y) ** 2).max())


def test_a_function_of_predictions_of_a_loaded_plan(tmp_path):
    step = make()
    aicf.fit(step, (X, Y), validation=(X, Y), metrics={"most": lambda p, y: p.max()})
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")["train_step"]
    loaded.load_state_dict(step.state_dict(optimizer=True))
    loaded.set("lr", 0.0)
    history = aicf.fit(loaded, (X, Y), validation=(X, Y), metrics={
        "most": lambda p, y: p.max() + len(y)})
    assert history[0]["val_most"] == step.predict(X).max() + ROWS


# Checkpoints

@pytest.mark.parametrize("accumulate, every, end, position", [
    (1, 3, 5, 3), (1, 5, 7, 5), (2, 3, 7, 6)])
def test_saves_are_between_whole_updates(accumulate, every, end, position, tmp_path):
    with pytest.raises(ZeroDivisionError):
        aicf.fit(make(optimizer=aicf.optim.SGD(0.1, accumulate=accumulate)), (X, Y),
                 checkpoint=tmp_path, save_every=every,
                 callbacks=[At(0, end, lambda run: 1 / 0)])
    assert saved(tmp_path)["position"] == position


def test_a_checkpoint_keeps_hypers_beside_the_tensors(tmp_path):
    step = make(optimizer=aicf.optim.SGD(0.25, momentum=0.9))
    aicf.fit(step, (X, Y), checkpoint=tmp_path)
    assert saved(tmp_path)["hypers"] == {"lr": 0.25}


def test_hypers_of_any_kind_are_resumed(tmp_path):
    (tmp_path / "a.mlir").write_text("""
func.func @train(%x: tensor<4x2xf32> {aicf.role = "input", aicf.name = "x"},
                 %a: tensor<2xf32> {aicf.role = "hyper", aicf.name = "a"},
                 %b: tensor<f64> {aicf.role = "hyper", aicf.name = "b"})
    -> (tensor<f32> {aicf.name = "loss"}) {
  %v = aicf.broadcast %a to [4, 2] : tensor<2xf32>
  %y = aicf.add %x, %v : tensor<4x2xf32>, tensor<4x2xf32>
  %s = aicf.reduce_sum %y over [0, 1] : tensor<4x2xf32>
  %c = aicf.cast %b to f32 : tensor<f64>
  %loss = aicf.mul %s, %c : tensor<f32>, tensor<f32>
  return %loss : tensor<f32>
}""")
    subprocess.run([BINARY / "bin/aicf-compile", "a.mlir", "-o", "a.plan"], check=True,
                   cwd=tmp_path, env=PROGRAM_ENV)
    program = aicf.load(tmp_path / "a.plan")
    program.set("a", np.array([1, 2], "f4"))
    program.set("b", 0.1)
    aicf.fit(program["train"], Y, checkpoint=tmp_path)
    program.set("a", np.zeros(2, "f4"))
    program.set("b", 0.0)
    aicf.fit(program["train"], Y, checkpoint=tmp_path, resume=True)
    assert program.get("a").numpy().tolist() == [1, 2]
    assert program.get("b").item() == 0.1


def test_an_interrupted_epoch_without_a_finite_loss_is_not_saved(tmp_path):
    class Interrupt(aicf.Callback):
        def on_epoch_end(self, run, logs):
            interrupt(run)
    aicf.fit(make(), (X, Y), checkpoint=tmp_path)
    good = (tmp_path / "last/state.safetensors").read_bytes()
    with pytest.warns(UserWarning, match="the loss of epoch 1 is nan"):
        aicf.fit(make(), (X * math.nan, Y), checkpoint=tmp_path,
                 callbacks=[Interrupt()])
    assert (tmp_path / "last/state.safetensors").read_bytes() == good


def test_only_callbacks_with_a_state_get_it_back(tmp_path):
    class Without(aicf.Callback):
        def load_state(self, state):
            pytest.fail("it has none")
    aicf.fit(make(), (X, Y), checkpoint=tmp_path, callbacks=[Without()])
    history = aicf.fit(make(), (X, Y), epochs=2, checkpoint=tmp_path, resume=True,
                       callbacks=[Without()])
    assert len(history) == 2
    with pytest.raises(InvalidArgumentError, match="none, in the checkpoint Without"):
        aicf.fit(make(), (X, Y), epochs=2, checkpoint=tmp_path, resume=True)


@pytest.mark.parametrize("data, at, is_noted", [
    ([(X[:4], Y[:4])] * 7, (1, 3), False), (Loader, (1, 3), True),
    (Loader, (0, 7), True), (Loader, None, False)])
def test_only_an_epoch_that_may_differ_is_noted(data, at, is_noted, tmp_path, caplog):
    class Small(Loader):
        def __iter__(self):
            workers = super().__iter__()
            workers.inner = iter([(X[:4], Y[:4])] * 7)
            return workers
    data = Small() if data is Loader else data
    if at:
        aicf.fit(make(), data, epochs=2, checkpoint=tmp_path,
                 callbacks=[At(*at, interrupt)])
    else:
        aicf.fit(make(), data, checkpoint=tmp_path, callbacks=[At(9, 9, interrupt)])
    with caplog.at_level("INFO", "aicf"):
        aicf.fit(make(), data, epochs=2, checkpoint=tmp_path, resume=True,
                 callbacks=[At(9, 9, interrupt)])
    assert ("goes on after" in caplog.text) == is_noted


def test_each_part_of_a_state_is_checked(tmp_path):
    step = make()
    aicf.fit(step, (X, Y), checkpoint=tmp_path)
    state = saved(tmp_path)
    names = ("epoch", "position", "sums", "history", "callbacks", "hypers", "seconds",
             "stopped")
    for name, value in (*((name, None) for name in names), ("epoch", -1),
                        ("position", -1)):
        change(tmp_path, {**state, name: value})
        with pytest.raises(InvalidFileError, match="the state of the run is damaged"):
            aicf.fit(step, (X, Y), epochs=2, checkpoint=tmp_path, resume=True)
    change(tmp_path, {**state, "version": 2})
    with pytest.raises(InvalidFileError,
                       match="last' has a state of version 2, but this AICF reads 1$"):
        aicf.fit(step, (X, Y), epochs=2, checkpoint=tmp_path, resume=True)


# The log of a resumed run

def logged(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_resumed_run_drops_the_lines_that_it_writes_again(tmp_path):
    log, folder = tmp_path / "log.jsonl", tmp_path / "run"
    aicf.fit(make(), (X, Y), log=log, checkpoint=folder)
    state = (folder / "last/state.safetensors").read_bytes()
    for epochs in (3, 2):  # the second time from the first epoch, too
        (folder / "last/state.safetensors").write_bytes(state)
        history = aicf.fit(make(), (X, Y), epochs=epochs, log=log, checkpoint=folder,
                           resume=True)
        assert logged(log) == history.epochs


@pytest.mark.parametrize("text", [None, "", '{"epoch": 1}\n'])
def test_a_log_without_the_last_epoch_is_kept(text, tmp_path):
    aicf.fit(make(), (X, Y), checkpoint=tmp_path)
    log = tmp_path / "log.jsonl"
    if text is not None:
        log.write_text(text)
    before = logged(log) if text else []
    history = aicf.fit(make(), (X, Y), epochs=2, log=log, checkpoint=tmp_path,
                       resume=True)
    assert logged(log) == before + history.epochs[1:]


class Killed(BaseException):
    """Stands for SIGKILL: nothing that catches exceptions sees it."""


def killed(monkeypatch, where, name, *args, **kwargs):
    """Runs fit, which ends in front of the first call of `where.name`."""
    def die(*_, **__):
        raise Killed
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(where, name, die)
        aicf.fit(*args, **kwargs)


@pytest.mark.parametrize("name", ["save_checkpoint", "log"])
def test_a_run_that_was_killed_has_each_epoch_once_in_its_log(name, tmp_path, monkeypatch):
    log, folder = tmp_path / "log.jsonl", tmp_path / "run"
    log.write_text("of another run\n")
    options = {"epochs": 3, "checkpoint": folder, "log": log, "resume": True}
    where = (aicf.Program, name) if name != "log" else (EpochLog, "add")
    killed(monkeypatch, *where, make(), (X, Y), **options)
    aicf.fit(make(), (X, Y), **{**options, "epochs": 1})
    killed(monkeypatch, *where, make(), (X, Y), **options)
    history = aicf.fit(make(), (X, Y), **options)
    lines = log.read_text().splitlines()
    assert lines[0] == "of another run"
    assert [json.loads(line) for line in lines[1:]] == history.epochs


@pytest.mark.parametrize("behind", [b'{"epo', b'{"epoch": 3}\n{"epoch": 4}\n', b""])
@pytest.mark.parametrize("missing", [0, 1])
def test_what_a_killed_run_left_in_its_log_goes(behind, missing, tmp_path):
    log = tmp_path / "log.jsonl"
    aicf.fit(make(), (X, Y), epochs=2, log=log, checkpoint=tmp_path)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2 - missing]) + behind)
    history = aicf.fit(make(), (X, Y), epochs=3, log=log, checkpoint=tmp_path,
                       resume=True)
    assert logged(log) == history.epochs


def test_another_runs_log_stays(tmp_path):
    aicf.fit(make(), (X, Y), log=tmp_path / "a", checkpoint=tmp_path)
    other = tmp_path / "b"
    other.write_text('{"epoch": 1}\n{"epoch": 2}')
    history = aicf.fit(make(), (X, Y), epochs=2, log=other, checkpoint=tmp_path,
                       resume=True)
    assert logged(other) == [{"epoch": 1}, {"epoch": 2}, history.epochs[1]]


def test_a_full_disk_loses_nothing_of_a_log(tmp_path):
    """With a limit on the size of files in place of a full disk."""
    code = """
        import resource, signal, aicf, aicf._training.epoch_log as log
        file = log.EpochLog(%r)
        file.begin([], None)
        for epoch in range(3):
            file.add({"epoch": epoch})
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, resource.RLIM_INFINITY))
        try:
            file.begin([{"epoch": 0}, {"epoch": 1, "more": "x" * 99}], 0)
        except OSError:
            print("full")
        """ % str(tmp_path / "log")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], text=True,
                          capture_output=True, env=PROGRAM_ENV, timeout=60)
    assert done.stdout == "full\n", done.stderr
    assert logged(tmp_path / "log") == [{"epoch": 0}]


# A damaged state

DAMAGE = {
    "callbacks": [[5], [["EarlyStopping"]], [["EarlyStopping", 3]],
                  [["EarlyStopping", {}]], [["EarlyStopping", {"best": "x", "waited": 0}]],
                  [["EarlyStopping", {"best": 1.0, "waited": -1}]]],
    "hypers": [{"lr": "x"}, {"lr": [1, 2]}, {"lr": [[1]]}, {"lr": None}, {"lr": True}],
    "best": [{}, {"epoch": 0, "value": 1.0}, {"epoch": 1, "value": "x"}, 3],
    "sums": [{"loss": 3}, {"loss": [1.0]}, {"loss": [1.0, 0]}, {"loss": ["x", 1]}],
    "history": [[3], [{"loss": []}], [], [{}, {}]],
    "seconds": ["x", -1, float("nan")], "stopped": [None], "position": [2, True],
    "epoch": [7, 1.0], "log": [-1, "x"],
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_state_changes_nothing(name, tmp_path):
    options = {"checkpoint": tmp_path, "callbacks": [aicf.EarlyStopping()]}
    aicf.fit(make(), (X, Y), **options)
    state = saved(tmp_path)
    for value in DAMAGE[name]:
        change(tmp_path, {**state, name: value})
        step, stopping = make(), aicf.EarlyStopping()
        before = step.state_dict(), step.get("lr").item()
        with pytest.raises(InvalidFileError, match="the state of the run is damaged"):
            aicf.fit(step, (X, Y), epochs=2, resume=True, checkpoint=tmp_path,
                     callbacks=[stopping])
        np.testing.assert_equal((step.state_dict(), step.get("lr").item()), before)
        assert stopping.state() == {"best": None, "waited": 0}


def test_a_checkpoint_of_another_step_changes_nothing(tmp_path):
    stopping = aicf.EarlyStopping()
    aicf.fit(make(), (X, Y), checkpoint=tmp_path, callbacks=[stopping])
    other = aicf.compile_step(nn.Linear(3, 2, bias=False), squares, aicf.optim.SGD(0.1),
                              INPUTS)
    before, fresh = other.state_dict(), aicf.EarlyStopping()
    with pytest.raises(InvalidFileError, match="not a param or state"):
        aicf.fit(other, (X, Y), epochs=2, checkpoint=tmp_path, resume=True,
                 callbacks=[fresh])
    np.testing.assert_equal(other.state_dict(), before)
    assert fresh.state() == {"best": None, "waited": 0}


def test_a_hyper_of_another_step_changes_nothing(tmp_path):
    aicf.fit(make(), (X, Y), checkpoint=tmp_path)
    change(tmp_path, {**saved(tmp_path), "hypers": {"lr": 0.5, "other": 1.0}})
    step = make()
    before = step.state_dict(), step.get("lr").item()
    with pytest.raises(InvalidArgumentError, match="has the hyper 'other', and the step"):
        aicf.fit(step, (X, Y), epochs=2, checkpoint=tmp_path, resume=True)
    np.testing.assert_equal((step.state_dict(), step.get("lr").item()), before)
