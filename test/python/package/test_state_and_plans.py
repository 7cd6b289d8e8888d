# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters and states of a program, and plans as files."""

import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import BINARY, INPUTS, PROGRAM_ENV, make_step

import aicf
from aicf import nn


# State

def test_state_dict_round_trip(batch):
    one, two = make_step(), make_step(seed=9)
    for _ in range(3):
        one(*batch)
    two.load_state_dict(one.state_dict(optimizer=True), strict=False)
    assert float(one(*batch)) == float(two(*batch))


def opcodes_of(call):
    """How many opcodes of the package's own Python a call takes."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if "aicf" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return count


def test_weights_take_as_long_as_there_are_many(tmp_path):
    """Four times the layers, four times the work: not sixteen times."""
    counts = []
    for layers in (20, 80):
        step = aicf.compile_step(
            nn.Sequential(*[nn.Linear(2, 2) for _ in range(layers)]),
            lambda m, x, y: aicf.losses.mse_loss(m(x), y), aicf.optim.AdamW(1e-3),
            inputs={"x": aicf.spec((2, 2)), "y": aicf.spec((2, 2))})
        state, path = step.state_dict(), tmp_path / "weights.safetensors"
        counts.append([opcodes_of(call) for call in (
            step.state_dict, lambda: step.load_state_dict(state),
            lambda: step.save_weights(path), lambda: step.load_weights(path))])
    assert all(few > 100 for few in counts[0])
    for few, many in zip(*counts):
        assert many < 5 * few


def test_load_state_dict_is_all_or_nothing(batch):
    step = make_step()
    before = step.state_dict()
    good = {n: v + 1 for n, v in before.items()}
    for change, error, message in (
            ({"fc0.bias": np.zeros(31, np.float32)}, ValueError, r"\(31,\)"),
            ({"fc0.bias": np.zeros(32)}, TypeError, "f64, expected f32"),
            ({"fc0.bias": "zeros"}, TypeError, "str"),
            ({"fc9.bias": np.zeros(3)}, KeyError, "does not have: fc9.bias")):
        with pytest.raises(error, match=message):
            step.load_state_dict({**good, **change})
    missing = {n: v for n, v in good.items() if n != "fc1.bias"}
    with pytest.raises(KeyError, match="missing: fc1.bias"):
        step.load_state_dict(missing)
    for name, value in step.state_dict().items():
        np.testing.assert_array_equal(value, before[name])
    step.load_state_dict(missing, strict=False)
    assert (step.state_dict()["fc0.bias"] == good["fc0.bias"]).all()
    assert (step.state_dict()["fc1.bias"] == before["fc1.bias"]).all()


def test_wrong_arguments_are_named(batch, tmp_path, capfd):
    step = make_step()
    weights = tmp_path / "x.pt"
    weights.write_bytes(b"PK\x03\x04" + bytes(64))
    for call, error, text in (
            (lambda: step.load_state_dict(None), TypeError, "state is a NoneType"),
            (lambda: step.load_state_dict([1]), TypeError, "state is a list"),
            (lambda: make_step(threads="a"), ValueError, "threads is 'a', expected"),
            (lambda: make_step(threads=-1), ValueError, "threads is -1, expected"),
            (lambda: step.run(2**64), ValueError, "n is 18446744073709551616"),
            (lambda: step.run(1, steps_per_launch=2**32), ValueError,
             "steps_per_launch is 4294967296"),
            (lambda: step.load_weights(weights), aicf.errors.InvalidFileError,
             "x.pt' is not a safetensors file"),
            (lambda: make_step(opt_level=7), ValueError, "opt_level is 7"),
            (lambda: make_step(program=3), TypeError,
             "program is a int, expected a Program or an Entry")):
        with pytest.raises(error, match=text):
            call()
    assert capfd.readouterr().err == ""


def test_load_state_dict_of_a_tied_model_and_of_unused_parameters():
    class Tied(nn.Module):
        def __init__(self):
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
            self.b.weight = self.a.weight
            self.unused = nn.Linear(4, 4)

        def forward(self, x):
            return self.b(self.a(x))
    entry = aicf.compile(Tied(), {"x": aicf.spec((2, 4))})
    w, b = np.eye(4, dtype=np.float32), np.ones(4, np.float32)
    theirs = {"a.weight": w, "a.bias": b, "b.weight": w, "b.bias": b,
              "unused.weight": w, "unused.bias": b}  # as torch's state_dict()
    entry.load_state_dict(theirs)
    np.testing.assert_array_equal(entry(np.zeros((2, 4), np.float32)).numpy(),
                                  np.full((2, 4), 2))
    entry.load_state_dict({"b.weight": 3 * w}, strict=False)
    np.testing.assert_array_equal(entry.state_dict()["a.weight"], 3 * w)
    with pytest.raises(KeyError, match="does not have: c.weight"):
        entry.load_state_dict({**theirs, "c.weight": w})
    entry.load_state_dict({"c.weight": w}, strict=False)
    with pytest.raises(TypeError, match='"a.bias": the array is a str'):
        entry.load_state_dict({"a.bias": "x"}, strict=False)


def test_safetensors(tmp_path, batch):
    one, two = make_step(), make_step(seed=9)
    one(*batch)
    one.save_weights(tmp_path / "w.safetensors")
    two.load_weights(tmp_path / "w.safetensors")
    for name, value in one.state_dict().items():
        np.testing.assert_array_equal(two.state_dict()[name], value)


def test_checkpoints_are_aicf_runs(tmp_path, batch):
    """Python saves, aicf-run resumes, trains and saves, Python goes on: the same
    bits as without a break."""
    whole, step = make_step(), make_step()
    for _ in range(6):
        expected = whole(*batch)
    for _ in range(2):
        step(*batch)
    step.save("%s/step.plan" % tmp_path)
    step.save_checkpoint(tmp_path / "one")
    for name, array in zip(("x", "labels"), batch):
        np.save(tmp_path / ("%s.npy" % name), array)
    subprocess.run([BINARY / "bin/aicf-run", tmp_path / "step.plan", "--steps", "3",
                    "--input", "x=@%s/x.npy" % tmp_path,
                    "--input", "labels=@%s/labels.npy" % tmp_path, "--set", "lr=0.01",
                    "--resume", tmp_path / "one",
                    "--save-checkpoint", tmp_path / "two"], check=True,
                   env=PROGRAM_ENV)
    fresh = make_step(seed=5)
    fresh.load_checkpoint(tmp_path / "two")
    assert float(fresh(*batch)) == float(expected)
    with pytest.raises(aicf.AICFError, match="three"):
        fresh.load_checkpoint(tmp_path / "three")


def test_reset(batch):
    step = make_step()
    first = [float(step(*batch)) for _ in range(3)]
    step.set("lr", 0.0)
    step.program.reset()
    assert step.get("lr").item() == 0  # the host's, not the step's
    step.set("lr", 1e-2)
    assert [float(step(*batch)) for _ in range(3)] == first


def test_reset_gives_what_was_there_at_the_start():
    start = np.array([1, 2], np.float32)

    class Model(nn.Module):
        def __init__(self, init):
            self.w = nn.Parameter((2,), init=init)

        def forward(self):
            return self.w + 0
    entry = aicf.compile(Model(start), {})
    start[:] = 9  # what is in the program is its own
    aicf.compile(Model(np.full(2, 5, np.float32)), {}, program=entry, name="second")
    entry.set("w", np.zeros(2, np.float32))
    entry.program.reset()
    np.testing.assert_array_equal(entry.get("w").numpy(), [1, 2])


# Plans as files

def test_load(tmp_path, batch):
    step = make_step(aicf.optim.AdamW(1e-2, accumulate=2))
    step.save(tmp_path / "step.plan")
    program = aicf.load(tmp_path / "step.plan", accumulate={"train_step": 2})
    program.set("lr", 1e-2)
    loaded = program["train_step"]
    assert loaded.signature.inputs == ("x", "labels")
    for _ in range(4):
        assert float(loaded(*batch)) == float(step(*batch))
    assert "gemm" in program.as_text()
    with pytest.raises(KeyError, match="no entry 'predict'; the program has train"):
        program["predict"]
    for count in (1, 0, -1, True, 2.5, "x", None):
        with pytest.raises(aicf.AICFError, match="expected an int from 2"):
            aicf.load(tmp_path / "step.plan", accumulate={"train_step": count})
    with pytest.raises(aicf.errors.InvalidArgumentError,
                       match='3 batches per update: entry "train_step" was compiled '
                             'for 2'):
        aicf.load(tmp_path / "step.plan", accumulate={"train_step": 3})
    with pytest.raises(aicf.errors.InvalidArgumentError, match="device is 'gpu'"):
        aicf.load(tmp_path / "step.plan", device="gpu")
    unsaid = aicf.load(tmp_path / "step.plan")
    assert unsaid["train_step"].signature.accumulate == 2
    unsaid.set("lr", 1e-2)
    again = make_step(aicf.optim.AdamW(1e-2, accumulate=2))
    for _ in range(4):
        assert float(unsaid["train_step"](*batch)) == float(again(*batch))
    with pytest.raises(aicf.AICFError, match="its IR is not there"):
        aicf.compile(lambda x: x, {"x": INPUTS["x"]}, program=unsaid)


def test_padded_tensors_are_dense_to_their_reader(tmp_path):
    """No CPU kernel pads: a plan whose derived state was padded by hand."""
    (tmp_path / "cast.mlir").write_text("""
func.func @f(%w: tensor<3x5xf32> {aicf.role = "param", aicf.name = "w"},
             %h: tensor<3x5xf16> {aicf.role = "state", aicf.name = "h", aicf.derived_from = "w"})
    -> (tensor<3x5xf32> {aicf.name = "y"}) {
  %y = aicf.cast %h to f32 : tensor<3x5xf16>
  return %y : tensor<3x5xf32>
}""")

    def tool(name, *flags):
        subprocess.run([BINARY / "bin" / name, *flags], check=True, cwd=tmp_path,
                       env=PROGRAM_ENV)
    tool("aicf-compile", "cast.mlir", "-o", "cast.plan")
    tool("aicf-translate", "--plan-to-aicf", "cast.plan", "-o", "plan.mlir")
    ir = tmp_path / "plan.mlir"
    ir.write_text(ir.read_text().replace("<3x5xf16>", "<3x5xf16, padded>"))
    tool("aicf-translate", "--aicf-to-plan", "plan.mlir", "-o", "padded.plan")
    program = aicf.load(tmp_path / "padded.plan")
    w = np.arange(15, dtype=np.float32).reshape(3, 5)
    program.set("w", w)
    np.testing.assert_array_equal(program["f"]().numpy(), w)
    assert program.get("h").dtype == "f16"
    assert list(program.state_dict(optimizer=True)) == ["w"], "h is made of w"
    np.testing.assert_array_equal(program.get("h").numpy(), w)


def test_bad_plan_files(tmp_path):
    step = make_step()
    path = tmp_path / "step.plan"
    step.save(path)
    data = path.read_bytes()
    with pytest.raises(aicf.AICFError, match="nowhere"):
        aicf.load(tmp_path / "nowhere.plan")
    for damaged in (b"", data[:1000], data[:-1], b"x" * 4096,
                    data[:300] + b"\xff" + data[301:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"\["):
            aicf.load(path)
    with pytest.raises(OSError):
        step.save(tmp_path / "no/such/folder/step.plan")


def test_a_page_of_a_plan(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    step, path, page = make_step(), tmp_path / "step.plan", tmp_path / "page.html"
    step.save(path)
    assert step.view(str(page)) == str(page)
    text = page.read_text()
    assert text.count('"title":"train_step"') == 1 and not opened
    step.program.lowered.view(page, open_browser=True)
    assert page.read_text() == text and opened == ["file://%s" % page]
    for other, title in ((path, "step.plan"), (str(path), "step.plan"),
                         (step.program, "train_step")):
        step.view(page, other=other)
        titles = re.findall('"title":"([^"]*)"', page.read_text())
        assert titles == ["train_step", title]
    with pytest.raises(aicf.errors.InvalidArgumentError, match="3 has no plan to view"):
        step.view(page, other=3)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="aicf-run --profile"):
        step.view(page, profile=path)


def test_a_plan_runs_without_the_compiler(tmp_path):
    make_step().save(tmp_path / "step.plan")
    code = """
import sys
sys.modules["aicf._compiler"] = None
import numpy, aicf
program = aicf.load(sys.argv[1])
program.set("lr", 0.01)
x, y = numpy.ones((16, 64), "f"), numpy.zeros(16, "i4")
a = [float(program["train_step"](x, y)) for _ in range(5)]
assert a[4] < a[0]
try:
    aicf.trace(lambda x: x, {"x": x})
except ImportError:
    print("no compiler")
"""
    done = subprocess.run([__import__("sys").executable, "-c", code,
                           tmp_path / "step.plan"], capture_output=True, text=True)
    assert done.stdout == "no compiler\n", done.stderr
