# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Program and its entries: what they keep, what they refuse, what they do once."""

import os
import subprocess
import types

import numpy as np
import pytest
from conftest import BINARY, PROGRAM_ENV, make_step, said

import aicf
import aicf.program
from aicf import nn
from aicf.errors import (FailedStateError, InvalidArgumentError, NotInitializedError,
                         ShapeMismatchError)

X = np.arange(12, dtype="f4").reshape(4, 3) / 10
ONES = np.ones(2, "f4")


def mean_square(model, x):
    return (model(x) ** 2).mean()


def small(optimizer=None, **options):
    """A step that trains weight: 2x3 and bias: 2."""
    return aicf.compile_step(options.pop("model", None) or nn.Linear(3, 2),
                             options.pop("loss", mean_square),
                             optimizer or aicf.optim.SGD(0.1), {"x": X}, **options)


def accumulating(**options):
    return small(aicf.optim.SGD(0.1, accumulate=2), **options)


def start_anew(step, **options):
    """Another program of the step's plan."""
    return step.program.lowered.compile(**options)


class Constant(nn.Module):
    def __init__(self):
        self.w = nn.Parameter((2,), init=ONES)

    def forward(self):
        return self.w + 0


def without(name):
    """What fails if somebody calls it."""
    def fail(*args, **kwargs):
        raise AssertionError("%s is called" % name)
    return fail


# Devices

class Device:
    """Records what is opened, and opens nothing."""

    def __init__(self):
        self.opened = []

    def cpu(self, threads):
        return self.open("cpu", threads)

    def cuda(self, ordinal, tune, tuning_file):
        return self.open("cuda", ordinal)

    def open(self, *what):
        self.opened.append(what)
        return object()


def test_a_device_is_opened_once(monkeypatch):
    device = Device()
    monkeypatch.setattr(aicf.program, "_devices", {})
    monkeypatch.setattr(aicf.program, "_runtime", types.SimpleNamespace(Device=device))
    monkeypatch.setattr("aicf._programs.cuda_libraries.find_libraries", lambda: "")
    found = {name: aicf.program.open_device(name)
             for name in ("cpu", "cuda", "cuda:0", "cuda:1") for _ in range(2)}
    assert device.opened == [("cpu", 0), ("cuda", 0), ("cuda", 1)]
    assert found["cuda"] is found["cuda:0"] is not found["cuda:1"]
    for name in ("cpu:0", "cpu:1", "cuda:x", "gpu"):
        with pytest.raises(InvalidArgumentError, match="device is"):
            aicf.program.open_device(name)


@pytest.mark.parametrize("threads", [True, -1, 2**31, 1.0, "a"])
def test_threads_are_a_small_int(threads):
    with pytest.raises(InvalidArgumentError, match=r"an int from 0 .* to 2\^31 - 1"):
        aicf.device("cpu", threads=threads)


@pytest.mark.parametrize("seed", [True, -1, 2**64, 1.0])
def test_a_seed_is_an_int_of_64_bits(seed):
    with pytest.raises(ValueError, match="seed is .*, expected an int from 0"):
        start_anew(small(), seed=seed)


@pytest.mark.parametrize("is_child, kind, is_refused", [
    (False, "cuda", False), (True, "cpu", False), (True, "cuda", True)])
def test_only_a_gpu_does_not_survive_a_fork(is_child, kind, is_refused, monkeypatch):
    step = small()
    step.program.device = types.SimpleNamespace(kind=kind)
    monkeypatch.setattr("os.getpid", lambda: step.program._pid + is_child)
    if is_refused:
        with pytest.raises(FailedStateError, match="a GPU does not survive"):
            step(X)
    else:
        assert float(step(X)) > 0


# Entries

def test_the_halves_of_an_update_are_one_entry(tmp_path):
    step = accumulating()
    step.save(tmp_path / "a.plan")
    for program in (step.program, aicf.load(tmp_path / "a.plan")):
        assert "train_step.accumulate" in program.plan.entries
        assert list(program.entries) == ["train_step"]


def test_entries_for_other_rows_are_of_the_class_of_the_first():
    class Mine(aicf.Entry):
        pass
    traced = aicf.trace_step(nn.Linear(3, 2), mean_square, aicf.optim.SGD(0.1),
                             {"x": X})
    traced.signatures["train_step"].entry_type = Mine
    program = traced.lower().compile()
    program["train_step"](X[:3])
    assert [type(e) for e in program.entries.values()] == [Mine, Mine]


def compiled(folder, text):
    (folder / "a.mlir").write_text(text)
    subprocess.run([BINARY / "bin/aicf-compile", "a.mlir", "-o", "a.plan"], check=True,
                   cwd=folder, env=PROGRAM_ENV)
    return aicf.load(folder / "a.plan")


def test_a_plan_may_have_a_sized_entry_alone(tmp_path):
    program = compiled(tmp_path, """
func.func @"f@4"(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x3xf32> {aicf.name = "y"}) {
  %y = aicf.add %x, %x : tensor<4x3xf32>, tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}""")
    np.testing.assert_array_equal(program["f@4"](X).numpy(), 2 * X)


def test_an_old_plan_does_not_say_the_batches_of_an_update():
    step = accumulating()
    step.signature.accumulate = 0  # what a plan before version 3.1 says
    with pytest.raises(FailedStateError, match="does not say over how many batches"):
        step(X)


def test_an_array_that_misstates_its_shape_is_an_error():
    class Liar:
        shape, dtype = X.shape, X.dtype

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **kwargs):
            return X[:3].__dlpack__()
    with pytest.raises(ShapeMismatchError, match=r"shape \(3, 3\), expected 4x3xf32"):
        small()(Liar())


def test_a_call_does_nothing_beside_its_runner(monkeypatch):
    step = small()
    first = float(step(X))  # makes the runner
    for owner, name in ((type(step), "_next"), (type(step), "_count"),
                        (type(step.signature), "pack")):
        monkeypatch.setattr(owner, name, without(name))
    assert float(step(X)) < first


@pytest.mark.parametrize("make, count", [(small, 1), (accumulating, 2)])
def test_runners_are_made_once(make, count, monkeypatch):
    step, made = make(), []
    runner = aicf.program._runtime.Runner
    monkeypatch.setattr(aicf.program._runtime, "Runner",
                        lambda *args: made.append(args) or runner(*args))
    for _ in range(4):
        step(X)
    step.run(2)
    assert len(made) == count


def test_an_unknown_input_is_named_with_the_others():
    with pytest.raises(InvalidArgumentError, match='no input "z"; the inputs are x$'):
        small().write(z=X)
    with pytest.raises(InvalidArgumentError, match="the inputs are none$"):
        aicf.compile(Constant(), {}).write(z=X)


def test_costs_are_those_of_an_entry_or_of_all():
    step = small()
    aicf.compile(lambda x: x.exp(), {"x": X}, program=step, name="exp")
    both, own = step.program.cost_analysis(), step.cost_analysis()
    exp = step.program.cost_analysis("exp")
    assert exp["calls"] == 1 and own["calls"] > 1
    for name in ("flops", "bytes", "calls", "by_call"):
        assert both[name] == own[name] + exp[name]


def test_only_lr_is_a_learning_rate():
    step = small(aicf.optim.SGD(aicf.optim.Cosine(0.1, 8)))
    with pytest.raises(InvalidArgumentError, match="has no learning rate that can"):
        step.set("lr", 1.0)
    with pytest.raises(InvalidArgumentError) as caught:
        step.set("nothing", 1.0)
    assert "learning rate" not in said(caught.value)


def test_an_entry_that_is_there_is_not_compiled_again():
    step = small()
    plan = step.program.plan
    assert step.program.add_entry(step.signature) is step
    assert step.program.plan is plan


# Bound arrays

def test_tensors_start_in_arrays():
    weight = np.full((2, 3), 2, "f4")
    program = start_anew(small(), bindings={"weight": weight})
    program["train_step"](X)
    assert (weight != 2).all()
    np.testing.assert_array_equal(program.get("weight").numpy(), weight)


def test_reset_leaves_a_bound_array_alone():
    entry, own = aicf.compile(Constant(), {}), np.full(2, 7, "f4")
    entry.program.bind("w", own)
    entry.program.reset()
    np.testing.assert_array_equal(own, [7, 7])


def test_inputs_stay_bound_after_a_fork():
    """The child makes new runners: each binds its own inputs."""
    entry = aicf.compile(lambda x, y: (x + y).sum(), {"x": X, "y": X})
    other = aicf.compile(lambda x: x.sum(), {"x": X}, program=entry, name="other")
    expected = float(entry(X, 2 * X)), float(other(X))
    entry.bind(x=X.copy())
    aicf.program._after_fork()
    assert (float(entry(y=2 * X)), float(other(X))) == expected
    with pytest.raises(InvalidArgumentError, match='"x" is bound'):
        entry(X, X)


# Values

def test_what_an_optimizer_adds_to_the_state(tmp_path):
    step = small(aicf.optim.SGD(0.1, momentum=0.9))
    own, everything = step.state_dict(), step.state_dict(optimizer=True)
    assert set(own) == {"weight", "bias"}
    assert set(everything) > set(own)
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")
    assert set(loaded.state_dict()) == set(own)
    assert set(loaded.state_dict(optimizer=True)) == set(everything)


def test_parameters_can_be_read_between_the_batches_of_an_update():
    step = accumulating()
    before = step.state_dict()
    step(X)
    for name, value in step.state_dict().items():
        np.testing.assert_array_equal(value, before[name])
    with pytest.raises(FailedStateError, match="1 of 2 batches are in"):
        step.state_dict(optimizer=True)


@pytest.mark.parametrize("change, message", [
    ({"c": ONES}, "the program does not have: c"),
    ({"bias": None}, "missing: bias"),
    ({"bias": None, "c": ONES}, "the program does not have: c; missing: bias"),
])
def test_names_that_do_not_fit(change, message):
    step = small()
    state = {**step.state_dict(), **change}
    with pytest.raises(KeyError) as caught:
        step.load_state_dict({n: v for n, v in state.items() if v is not None})
    assert caught.value.args == (message,)


def test_only_a_transposed_weight_is_to_be_transposed():
    step = small()
    for shape, advice in (((3, 2), "pass array.T"), ((3, 3), r"expected \(2, 3\)$")):
        with pytest.raises(ShapeMismatchError, match=advice):
            step.load_state_dict({"weight": np.ones(shape, "f4")}, strict=False)


def test_our_arrays_are_not_copied_on_their_way(monkeypatch):
    one, two = small(), small()
    one(X)
    state = {name: one.get(name) for name in one.state_dict()}
    monkeypatch.setattr(aicf.program._runtime, "array", without("array"))
    two.load_state_dict(state)
    np.testing.assert_array_equal(two.get("weight").numpy(), state["weight"].numpy())


@pytest.mark.parametrize("order", [("a.weight", "b.weight"), ("b.weight", "a.weight")])
def test_the_own_name_of_a_tied_parameter_counts(order):
    class Tied(nn.Module):
        def __init__(self):
            self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))
    entry = aicf.compile(Tied(), {"x": (1, 2)})
    values = {"a.weight": np.eye(2, dtype="f4"), "b.weight": np.ones((2, 2), "f4")}
    entry.load_state_dict({name: values[name] for name in order})
    np.testing.assert_array_equal(entry.get("a.weight").numpy(), values["a.weight"])


def test_an_entry_added_later_zeroes_no_row_again():
    model = nn.Embedding(4, 3, padding_idx=1)
    inputs = {"index": aicf.spec((2,), "i32")}
    entry = aicf.compile(model, inputs)
    assert not entry.get("weight").numpy()[1].any()
    entry.set("weight", np.ones((4, 3), "f4"))
    aicf.compile(lambda m, index: 2 * m(index), inputs, model=model, program=entry,
                 name="two")
    assert entry.get("weight").numpy().all()


def test_a_plan_that_cannot_be_saved_leaves_no_part(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        small().save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


# Updates of several batches

def test_a_discarded_update_leaves_those_of_others():
    step, expected = accumulating(), accumulating()
    other = accumulating(model=nn.Sequential(nn.Linear(3, 2)), program=step,
                         name="other")
    for each in (step, other, expected):
        each(X)
    assert other.discard_update() == 1
    step(X)
    expected(X)
    for name, value in expected.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(step.get(name).numpy(), value)


def test_a_loaded_program_discards_sums_alone(tmp_path):
    step = accumulating()
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")["train_step"]
    loaded.load_state_dict(step.state_dict(optimizer=True))
    loaded.set("lr", 0.1)
    loaded(2 * X)
    assert loaded.discard_update() == 1
    for each in (step, loaded):
        each(X), each(X)
    for name, value in step.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(loaded.get(name).numpy(), value)


def test_nothing_is_discarded_of_a_whole_update():
    step = accumulating()
    step.set("bias.grad_acc", ONES)
    assert step.discard_update() == 0 == step.program.discard_update()
    np.testing.assert_array_equal(step.get("bias.grad_acc").numpy(), ONES)


def test_what_is_not_a_regular_file_is_written_into(tmp_path):
    """A device node, of which root would otherwise make a file, and a link."""
    step = make_step()
    (tmp_path / "target").touch()
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "fifo")
    for write in (step.save, step.save_weights):
        write(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "target").stat().st_size > 0
        with pytest.raises(OSError, match="cannot open"):  # a pipe that nobody reads
            write(tmp_path / "fifo")
        assert (tmp_path / "fifo").is_fifo()
        write("/dev/null")
        assert not os.path.isfile("/dev/null")


def test_a_missing_file_is_FileNotFoundError(tmp_path):
    step = make_step()
    missing = tmp_path / "no"
    for call in (lambda: aicf.load(missing), lambda: step.load_checkpoint(missing),
                 lambda: step.load_weights(missing),
                 lambda: step.save(missing / "a.plan"),
                 lambda: step.save_weights(missing / "w")):
        with pytest.raises(FileNotFoundError, match="No such file"):
            call()
    with pytest.raises(OSError, match="not a regular file") as error:
        aicf.load(tmp_path)
    assert isinstance(error.value, aicf.errors.FileError)
