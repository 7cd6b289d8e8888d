# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf-run as a trainer: logs, weight files, accuracy, a loss that is lost."""

import json
import re
import shutil

import numpy as np
import pytest

from conftest import read_safetensors, run_tool, write_safetensors

FILL = ["--input", "x=6x7xf32=0.5", "--input", "target=6x3xf32=0.25"]
RATE = ["--set", "lr=0.01"]


@pytest.fixture
def plan(bench):
    bench.generate("--batch", "6", "--widths", "7,9,3")
    return bench.compile()


def run(plan, *flags, code=0):
    done = run_tool("aicf-run", plan, *FILL, *flags)
    assert done.returncode == code, done.stderr
    return done


def test_log_every(bench, plan):
    log = bench.folder / "log.jsonl"
    done = run(plan, *RATE, "--steps", 10, "--log-every", 4, "--log", log,
               "--print-statistics")
    lines = done.stdout.strip().split("\n")
    assert [line.split(":")[0] for line in lines[:2]] == ["step 4", "step 8"]
    assert re.fullmatch(r"(train_step/)?loss = [0-9.e-]+", lines[-1])
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["step"] for row in rows] == [4, 8]
    assert 0 <= rows[0]["seconds"] <= rows[1]["seconds"]
    name = lines[-1].split(" = ")[0]
    assert rows[0][name] > rows[1][name] > float(lines[-1].split(" = ")[1])
    # The steps are the same with and without.
    quiet = run(plan, *RATE, "--steps", 10)
    assert quiet.stdout.strip() == lines[-1]


def test_a_resumed_run_goes_on_with_its_log(bench, plan):
    log, folder = bench.folder / "log.jsonl", bench.folder / "ck"
    flags = [*RATE, "--steps", 2, "--log-every", 1, "--log", log,
             "--save-checkpoint", folder]
    run(plan, *flags)
    run(plan, *flags, "--resume", folder)
    again = run(plan, *flags, "--resume", folder)
    assert [json.loads(line)["step"] for line in log.read_text().splitlines()] == [
        1, 2, 3, 4, 5, 6]
    assert again.stdout.startswith("step 5: ")
    run(plan, *flags)
    assert [json.loads(line)["step"] for line in log.read_text().splitlines()] == [1, 2]


@pytest.mark.parametrize("executor", ["eager", "graph"])
def test_a_loss_that_is_not_a_number_ends_the_run(bench, plan, executor):
    folder, log = bench.folder / "ck", bench.folder / "log.jsonl"
    run(plan, *RATE, "--save-checkpoint", folder)
    before = (folder / "state.safetensors").read_bytes()
    done = run(plan, "--set", "lr=1e30", "--executor", executor, "--steps", 100000,
               "--log-every", 1, "--log", log, "--save-checkpoint", folder, code=1)
    assert "not a finite number" in done.stderr and "stopped after" in done.stderr
    assert "'%s' is left as it was" % folder in done.stderr
    assert (folder / "state.safetensors").read_bytes() == before
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(rows) < 100 and rows[-1][list(rows[-1])[-1]] is None
    # With a loss scale that is normal.
    done = run(plan, "--set", "lr=1e30", "--executor", executor, "--steps", 30,
               "--log-every", 1, "--keep-going", "--save-checkpoint", folder, code=1)
    assert done.stdout.count("step ") == 30 and "stopped" not in done.stderr
    assert (folder / "state.safetensors").read_bytes() != before


def weights(bench, plan):
    """What a run saves, by name."""
    run(plan, *RATE, "--save-checkpoint", bench.folder / "first")
    return read_safetensors(bench.folder / "first" / "state.safetensors")


def loaded(bench, plan, tensors, *flags, code=0):
    path = bench.folder / "w.safetensors"
    write_safetensors(path, tensors)
    shutil.rmtree(bench.folder / "second", ignore_errors=True)
    done = run(plan, "--set", "lr=0", "--init", "@%s" % path, *flags,
               "--save-checkpoint", bench.folder / "second", code=code)
    if code:
        assert not (bench.folder / "second").exists()
        return done.stderr
    return read_safetensors(bench.folder / "second" / "state.safetensors")


def test_init_renames_ignores_and_casts(bench, plan):
    saved = weights(bench, plan)
    ours = {"fc0.weight": saved["fc0.weight"] * 2, "fc0.bias": saved["fc0.bias"] + 1,
            "fc1.weight": saved["fc1.weight"] * 3}
    theirs = {"net.0.weight": ours["fc0.weight"].astype(np.float64),
              "net.0.bias": ours["fc0.bias"].astype(np.float16),
              "head": ours["fc1.weight"], "scale": np.ones(3, np.float32)}
    flags = ["--rename", "net.0.*=fc0.*", "--rename", "head=fc1.weight",
             "--ignore-extra", "--cast"]
    after = loaded(bench, plan, theirs, *flags)
    for name, array in ours.items():
        if name == "fc0.bias":
            array = array.astype(np.float16).astype(np.float32)
        np.testing.assert_array_equal(after[name], array)
    # Each flag is needed.
    for left_out, message in (("--ignore-extra", '"scale" is not a param'),
                              ("--cast", "9xf16 in the file"), ("--rename", "is not a param")):
        some = [f for f in flags if f != left_out]
        if left_out == "--rename":
            some = some[2:]
            some.remove("--ignore-extra")
        assert message in loaded(bench, plan, theirs, *some, code=2)


BAD_FILES = [
    (["--rename", "nobody=fc0.bias"], 'has no "nobody"'),
    (["--rename", "fc0.bias=fc1.weight"], 'would be named "fc1.weight"'),
    (["--rename", "fc0.bias"], "is not OLD=NEW"),
    (["--rename", "=x"], "is not OLD=NEW"),
    (["--cast"], "too large for f32"),
]


@pytest.mark.parametrize("flags,message", BAD_FILES)
def test_bad_weight_files(bench, plan, flags, message):
    saved = weights(bench, plan)
    tensors = {n: saved[n] for n in ("fc0.bias", "fc1.weight")}
    if "--cast" in flags:
        tensors["fc0.bias"] = np.full(9, 1e300)
    assert message in loaded(bench, plan, tensors, *flags, code=2)


def test_only_rows_of_classes_have_an_accuracy(plan):
    done = run(plan, *RATE, "--accuracy", "loss=i32=1", code=2)
    assert "expected floats whose last dimension is the classes" in done.stderr


def test_what_goes_with_init_needs_it(plan):
    for flags in (["--cast"], ["--ignore-extra"], ["--rename", "a=b"],
                  ["--log", "x.jsonl"], ["--keep-going"]):
        assert run(plan, *RATE, *flags, code=2).stderr


def test_a_larger_checkpoint_resumes_with_a_note(bench, plan):
    saved = weights(bench, plan)
    saved["fc9.weight"] = np.zeros((2, 2), np.float32)
    write_safetensors(bench.folder / "first" / "state.safetensors", saved)
    done = run(plan, *RATE, "--resume", bench.folder / "first")
    assert 'also holds "fc9.weight", which the plan does not have' in done.stderr
    del saved["fc9.weight"], saved["fc0.bias"]
    write_safetensors(bench.folder / "first" / "state.safetensors", saved)
    assert "lacks" in run(plan, *RATE, "--resume", bench.folder / "first",
                          code=2).stderr


def test_accuracy(bench):
    (bench.folder / "f.mlir").write_text("""
func.func @f(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x3xf32> {aicf.name = "y"}) {
  %y = aicf.relu %x : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}""")
    plan = bench.compile("f")
    x = ["--input", "x=4x3xf32=0,1,0,5,4,3,1,2,nan,0,0,1"]
    done = run_tool("aicf-run", plan, *x, "--accuracy", "y=4xi32=1,0,1,0")
    assert done.returncode == 0
    assert done.stdout.startswith("accuracy of f/y = 0.5 (2 of 4)")
    done = run_tool("aicf-run", plan, *x, "--accuracy", "y=4xi32=1,3,-100,0")
    assert "(1 of 4; 2 labels lie outside of the 3 classes and count as wrong)" \
        in done.stdout
    for labels, message in (("y=3xi32=1", "expected 4xi32"),
                            ("y=4xf32=1", "expected 4xi32"),
                            ("z=4xi32=1", "no tensor named")):
        bad = run_tool("aicf-run", plan, *x, "--accuracy", labels)
        assert bad.returncode == 2 and message in bad.stderr, bad.stderr


@pytest.mark.parametrize("tool", ["aicf-run", "aicf-plan", "aicf-compile", "aicf-opt",
                                  "aicf-translate", "aicf-lsp-server"])
def test_every_tool_has_a_version(tool):
    done = run_tool(tool, "--version")
    assert done.returncode == 0
    assert re.match(tool + r" \d+\.\d+\.\d+ \(plan files of version "
                    r"\d+\.0 to \d+\.\d+ and \d+\.0 to \d+\.\d+\)",
                    done.stdout), done.stdout


def test_help_says_each_option_once():
    done = run_tool("aicf-opt", "--help")
    assert done.stdout.count("Params that one optimizer call may update") <= 2
    compile_help = run_tool("aicf-compile", "--help").stdout
    for flag in ("target", "opt-level", "mixed-precision", "streams", "max-groups",
                 "profile", "split-step", "require-inplace", "keep"):
        assert len(re.findall(r"^  --%s\b" % flag, compile_help, re.M)) == 1, flag


@pytest.mark.parametrize("tool, flag", [
    ("aicf-opt", "lower-to-backend"), ("aicf-translate", "plan-to-aicf"),
    ("aicf-lsp-server", "log"), ("aicf-compile", "target")])
def test_help_shows_the_options_of_the_tool_alone(tool, flag):
    text = run_tool(tool, "--help").stdout
    assert re.search(r"^ *--%s\b" % flag, text, re.M), text
    assert "--help" in text and "--version" in text
    # An option of LLVM's code generators, which no tool of ours uses.
    for foreign in ("print-pipeline-passes", "verify-coalescing", "aarch64", "x86-"):
        assert "--" + foreign not in text
    assert len(text.splitlines()) < 400


def test_emit(bench, plan):
    texts = {}
    for stage in ("aicf", "aicf_rt", "plan-ir"):
        out = bench.folder / stage
        done = run_tool("aicf-compile", bench.folder / "step.mlir", "--emit", stage,
                        "-o", out)
        assert done.returncode == 0, done.stderr
        texts[stage] = out.read_text()
    assert "aicf.linear" in texts["aicf"] and "aicf_rt" not in texts["aicf"]
    assert "aicf_rt.call" in texts["aicf_rt"] and "aicf.linear" not in texts["aicf_rt"]
    assert "aicf_rt.plan" in texts["plan-ir"]
    again = bench.folder / "again.plan"
    done = run_tool("aicf-translate", "--aicf-to-plan", bench.folder / "plan-ir", "-o",
                    again)
    assert done.returncode == 0, done.stderr
    assert again.read_bytes() == plan.read_bytes()
    assert run_tool("aicf-compile", bench.folder / "step.mlir", "--emit", "llvm", "-o",
                    again).returncode == 2
