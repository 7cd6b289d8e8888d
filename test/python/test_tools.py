# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tools from outside: bits, files, exit codes, bad input."""

import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import BIN, EXAMPLES, SOURCE, read_safetensors, run_tool

STEP = ["--batch", "6", "--widths", "7,9,3"]
FILL = ["--input", "x=6x7xf32=0.5", "--input", "target=6x3xf32=0.25",
        "--set", "lr=0.01"]


@pytest.fixture
def plan(bench):
    bench.generate(*STEP)
    return bench.compile()


def state(bench, plan, *flags, folder="ck", code=0, env=None):
    done = run_tool("aicf-run", plan, *FILL, "--save-checkpoint",
                    bench.folder / folder, *flags, env=env)
    assert done.returncode == code, done.stderr
    return (bench.folder / folder / "state.safetensors").read_bytes()


def test_every_way_gives_the_same_bits(bench, plan):
    """In place or not, one arena or many allocations, eager or graph, poisoned,
    guarded, one thread or two, gradients kept or not."""
    reference = state(bench, plan, "--steps", 20)
    plain = bench.compile("step", "--opt-level=0", plan="plain")
    kept = bench.compile("step", "--keep=grad", plan="kept")
    every = bench.compile("step", "--keep=all", plan="every")
    for which in (plan, plain, kept, every):
        for flags in (["--executor", "graph"], ["--separate-allocations"],
                      ["--poison", "--canary"], ["--threads", 1], ["--threads", 2],
                      ["--check"]):
            assert state(bench, which, "--steps", 20, *flags) == reference, flags


@pytest.mark.parametrize("phases", range(9))
def test_cleaning_up_after_any_phase_changes_nothing(bench, plan, phases):
    names = ["check", "lower", "fuse", "updates", "inplace", "kernels", "streams",
             "plan", "memory"]
    passes = []
    for i, name in enumerate(names):
        passes.append("--aicf-phase-" + name)
        if i == phases:
            passes += ["--cse", "--canonicalize"]
    lowered = run_tool("aicf-opt", bench.folder / "step.mlir", *passes, "-o",
                       bench.folder / "low.mlir")
    assert lowered.returncode == 0, lowered.stderr
    other = bench.folder / "other.plan"
    done = run_tool("aicf-translate", bench.folder / "low.mlir", "--aicf-to-plan",
                    "-o", other)
    assert done.returncode == 0, done.stderr
    assert run_tool("aicf-plan", "diff", plan, other).returncode == 0


def test_padded_states_are_dense_to_their_reader(bench):
    """The same plan with a derived state padded: the same values and checkpoint."""
    (bench.folder / "cast.mlir").write_text("""
func.func @f(%x: tensor<3x5xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<3x5xf32> {aicf.role = "param", aicf.name = "w", aicf.init = "ones"},
             %w16: tensor<3x5xf16> {aicf.role = "state", aicf.name = "w.f16", aicf.derived_from = "w"})
    -> (tensor<3x5xf32> {aicf.updates = "w"}, tensor<3x5xf16> {aicf.updates = "w.f16"},
        tensor<3x5xf32> {aicf.name = "y"}) {
  %y = aicf.cast %w16 to f32 : tensor<3x5xf16>
  %new = aicf.add %w, %x : tensor<3x5xf32>, tensor<3x5xf32>
  %new16 = aicf.cast %new to f16 : tensor<3x5xf32>
  return %new, %new16, %y : tensor<3x5xf32>, tensor<3x5xf16>, tensor<3x5xf32>
}""")
    dense, padded = bench.compile("cast", "-O=1"), bench.folder / "padded.plan"
    ir = bench.folder / "plan.mlir"
    assert run_tool("aicf-translate", "--plan-to-aicf", dense, "-o", ir).returncode == 0
    ir.write_text(ir.read_text().replace("<3x5xf16>", "<3x5xf16, padded>"))
    assert run_tool("aicf-translate", "--aicf-to-plan", ir, "-o", padded).returncode == 0
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    for flags in ([], ["--executor", "graph"], ["--canary"]):
        found = [bench.run(plan, "--steps", 2, *flags, inputs={"x": x},
                           outputs=["w.f16", "w", "y"]) for plan in (dense, padded)]
        np.testing.assert_array_equal(found[1]["w.f16"], 1 + 2 * x)
        np.testing.assert_array_equal(found[1]["y"], 1 + x)
        for name, value in found[0].items():
            assert value.tobytes() == found[1][name].tobytes(), name


def test_swaps_and_rotations(bench):
    (bench.folder / "swap.mlir").write_text("""
func.func @f(%a: tensor<2xf32> {aicf.role = "param", aicf.name = "a", aicf.init = 1.0},
             %b: tensor<2xf32> {aicf.role = "param", aicf.name = "b", aicf.init = 2.0},
             %c: tensor<2xf32> {aicf.role = "state", aicf.name = "c", aicf.init = 3.0},
             %d: tensor<2xf32> {aicf.role = "state", aicf.name = "d", aicf.init = 4.0},
             %e: tensor<2xf32> {aicf.role = "state", aicf.name = "e", aicf.init = 5.0})
    -> (tensor<2xf32> {aicf.updates = "a"}, tensor<2xf32> {aicf.updates = "b"},
        tensor<2xf32> {aicf.updates = "c"}, tensor<2xf32> {aicf.updates = "d"},
        tensor<2xf32> {aicf.updates = "e"}, tensor<2xf32> {aicf.name = "old"},
        tensor<2xf32> {aicf.name = "sum"}, tensor<2xf32> {aicf.name = "again"}) {
  %s = aicf.add %a, %a : tensor<2xf32>, tensor<2xf32>
  return %b, %a, %d, %e, %c, %c, %s, %s : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
      tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
""")
    for level in ("0", "1"):
        plan = bench.compile("swap", "--opt-level=" + level)
        got = bench.run(plan, "--steps", 4, "--check", "--save-checkpoint",
                        bench.folder / "ck", outputs=["old", "sum", "again"])
        after = read_safetensors(bench.folder / "ck" / "state.safetensors")
        # Four swaps are none, four rotations of three are one.
        assert [after[n][0] for n in "abcde"] == [1, 2, 4, 5, 3]
        assert got["old"][0] == 3 and got["sum"][0] == 4 == got["again"][0]


def test_resuming_gives_the_same_bits_as_not_stopping(bench, plan):
    whole = state(bench, plan, "--steps", 12)
    state(bench, plan, "--steps", 5, folder="half")
    rest = state(bench, plan, "--steps", 7, "--resume", bench.folder / "half")
    assert rest == whole


def test_seed_chooses_the_initial_values(bench, plan):
    first = state(bench, plan, "--seed", 1)
    assert state(bench, plan, "--seed", 1) == first
    assert state(bench, plan, "--seed", 2) != first


def test_warmup_keeps_the_state(bench, plan):
    state(bench, plan, "--steps", 3, folder="a")
    state(bench, plan, "--steps", 4, "--resume", bench.folder / "a",
          env={"AICF_WARMUP": "1"}, folder="b")
    before, after = (read_safetensors(bench.folder / name / "state.safetensors")
                     for name in "ab")
    assert {n: v.tobytes() for n, v in after.items()} == {
        n: v.tobytes() for n, v in before.items()}


def test_expected_decides_the_exit_code(bench, plan):
    got = bench.run(plan, inputs={"x": np.ones((6, 7), np.float32),
                                  "target": np.zeros((6, 3), np.float32)},
                    hypers={"lr": 0.01}, outputs=["loss"])
    value = float(got["loss"])
    args = [plan, "--input", "x=6x7xf32=1", "--input", "target=6x3xf32=0", "--set",
            "lr=0.01"]
    assert run_tool("aicf-run", *args, "--expected",
                    "loss=f32=%r" % value).returncode == 0
    wrong = run_tool("aicf-run", *args, "--expected", "loss=f32=%r" % (value + 1))
    assert wrong.returncode == 1
    assert "differs from --expected" in wrong.stderr


def test_trace_statistics_and_slots(bench, plan):
    for executor in ("eager", "graph"):
        path = bench.folder / "trace.json"
        done = run_tool("aicf-run", plan, *FILL, "--executor", executor, "--steps",
                        3, "--trace", path, "--print-statistics", "--dump-slots")
        assert done.returncode == 0, done.stderr
        events = json.loads(path.read_text())["traceEvents"]
        names = {(e["name"], e["tid"]): e["args"]["name"] for e in events
                 if e["ph"] == "M"}
        assert names[("process_name", 0)].startswith("aicf on cpu")
        assert names[("thread_name", 2)] == "stream 0"
        slices = [e for e in events if e["ph"] == "X"]
        counters = [e for e in events if e["ph"] == "C"]
        assert len(counters) == 3 * 18
        assert max(e["args"]["bytes"] for e in counters) > 0
        assert len(slices) + len(names) + len(counters) == len(events)
        assert {e["args"].get("phase") for e in slices} >= {"forward", "backward", "update"}
        assert all(e["dur"] >= 0 and e["pid"] == 1 for e in slices)
        launches = [e for e in slices if names[("thread_name", e["tid"])] ==
                    "graph launches"]
        assert len(launches) == (3 if executor == "graph" else 0)
        calls = [e for e in slices if e["tid"] == 2]
        assert len(calls) == 3 * 18
        assert sum(e["name"] == "adam_step" for e in calls) == 12
        for launch in launches:  # its calls lie inside, one after the other
            inside = [e for e in calls if launch["ts"] <= e["ts"] <
                      launch["ts"] + launch["dur"] + 1e-6]
            assert len(inside) >= 18
        first = calls[0]["args"]
        assert first["entry"] == "train_step"
        assert first["ins"][:2] == ["x: 6x7xf32", "fc0.weight: 9x7xf32"]
        assert "persistent" in done.stdout and "fc0.weight" in done.stdout


BAD_RUNS = [
    ([], 2, "plan is required"),
    (["{plan}", "--no-such-flag"], 2, "--no-such-flag"),
    (["{missing}"], 2, "No such file"),
    (["{cut}"], 2, "[BadMagic]"),
    (["{plan}", "--entry", "nothing"], 2, "no entry"),
    (["{plan}", "--device", "tpu"], 2, "device is \"tpu\""),
    (["{plan}", "--executor", "fast"], 2, "fast"),
    (["{plan}", "--steps", "0"], 2, "--steps"),
    (["{plan}", "--steps", "many"], 2, "--steps"),
    (["{plan}"], 2, "never written"),
    (["{plan}", "--input", "x"], 2, "NAME="),
    (["{plan}", "--input", "x=6x7xf32=1,2"], 2, "takes 42 numbers"),
    (["{plan}", "--input", "x=6x7xf64=1"], 2, "6x7xf32 in the plan"),
    (["{plan}", "--input", "x=7x6xf32=1"], 2, "6x7xf32 in the plan"),
    (["{plan}", "--input", "x=6x7xf8=1"], 2, "not a dtype"),
    (["{plan}", "--input", "x=@{missing}"], 2, "No such file"),
    (["{plan}", "--input", "x=@{plan}"], 2, "npy"),
    (["{plan}", "--input", "nothing=f32=1"], 2, "no tensor named"),
    (["{plan}", "--set", "lr=fast"], 2, "not a number"),
    (["{plan}", "--set", "fc0.weight=1"], 2, "expected hyper"),
    (["{plan}", "--init", "@{missing}"], 2, "No such file"),
    (["{plan}", "--init", "@{plan}"], 2, "safetensors"),
    (["{plan}", "--resume", "{missing}"], 2, "No such file"),
    (["{plan}", "--output", "loss"], 2, "NAME="),
    (["{plan}", "--output", "loss=@"], 2, '"loss=@" is not NAME=@FILE.npy'),
    (["{plan}", "--output", "loss=o.npy"], 2, "is not NAME=@FILE.npy"),
    (["{plan}", "--output", "typo=@o.npy"], 2, "no tensor named"),
    (["{plan}", "--save-checkpoint", "{missing}/a/b"], 2, "cannot make folder"),
    (["{plan}", "--expected", "loss=2xf32=1"], 2, "the plan has f32"),
]


@pytest.mark.parametrize("args,code,message", BAD_RUNS)
def test_bad_runs_are_refused(bench, plan, args, code, message):
    cut = bench.folder / "cut.plan"
    cut.write_bytes(plan.read_bytes()[:-7])
    names = {"plan": plan, "missing": bench.folder / "missing", "cut": cut}
    done = run_tool("aicf-run", *[a.format(**names) for a in args])
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not list(bench.folder.glob("*.npy"))


def test_the_compiler_keeps_its_input(bench, plan):
    step = bench.folder / "step.mlir"
    before = step.read_text()
    for output in (step, bench.folder / "." / "step.mlir"):
        done = run_tool("aicf-compile", step, "-o", output)
        assert done.returncode == 2 and "would be overwritten" in done.stderr
    assert step.read_text() == before


def test_the_report_is_one_screen(bench, plan):
    out = bench.folder / "again.plan"
    for flags in (["--batch", "6", "--widths", "7,9,3"], ["--batch", "4", "--layers", "60"]):
        step = bench.folder / (bench.generate(*flags, "--predict-batch", "3") + ".mlir")
        done = run_tool("aicf-compile", step, "-o", out, "--report", "--target=cuda")
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines()
        assert len(lines) <= 60 and max(map(len, lines)) <= 120, done.stderr
        for text in (r"^for cuda, .*B of parameters and states$",
                     r"^entry train_step: \d+ calls, .*FLOPs, .*B moved; temps take ",
                     r"^  kept from forward to backward: [1-9]\d* \(.*B\); copies spared "
                     r"by views: \d+ \(.*B\),",
                     r"^  gemm_\w+ +\d+ +forward", r"^done$",
                     r"^  \d+ x FuseCalls: gemm, .* in one call \(step.mlir:\d+:\d+\)$",
                     r"^counts of the passes: .*fused \d+"):
            assert re.search(text, done.stderr, re.M), (text, done.stderr)
        shares = [int(x) for x in re.findall(r"(\d+) %$", done.stderr, re.M)]
        assert shares and max(shares) <= 100
    text = run_tool("aicf-compile", step, "--emit=aicf_rt", "--report")
    assert text.returncode == 0 and "not done, and why" in text.stderr
    assert "aicf_rt.call" in text.stdout and "aicf_rt.call" not in text.stderr
    for stage, says in (("aicf", "nothing to report"), ("plan-ir", "entry train_step: ")):
        text = run_tool("aicf-compile", step, "--emit=" + stage, "--report")
        assert text.returncode == 0 and says in text.stderr


def test_remarks_say_why_and_where(bench, plan):
    step = bench.folder / "step.mlir"
    out = bench.folder / "again.plan"
    for level, save in (("1", True), ("2", False)):
        done = run_tool("aicf-compile", step, "-o", out, "--remarks",
                        "--opt-level=" + level)
        assert done.returncode == 0
        remarks = [line for line in done.stderr.splitlines() if "remark: " in line]
        assert all(re.match(r".*step\.mlir:\d+:\d+: remark: \[\w+\] \w+ \| "
                            r"Category:aicf \| Function=", line) for line in remarks)
        assert ("a save stays" in done.stderr) == save
        for text in ("gemm runs gemm_f32_blas_v0: the first", "temp_bytes=",
                     "update_copies_left=0"):
            assert text in done.stderr, text
    assert out.read_bytes() == plan.read_bytes()
    quiet = run_tool("aicf-compile", step, "-o", out)
    assert quiet.stderr == ""


def test_failed_compilation_keeps_the_old_plan(bench, plan):
    before = plan.read_bytes()
    (bench.folder / "step.mlir").write_text("func.func @f( {")
    done = run_tool("aicf-compile", bench.folder / "step.mlir", "-o", plan)
    assert done.returncode == 2 and "error" in done.stderr
    assert plan.read_bytes() == before
    assert run_tool("aicf-compile", bench.folder / "no.mlir", "-o",
                    plan).returncode == 2
    assert run_tool("aicf-plan", "verify", bench.folder / "step.mlir").returncode == 2
    assert run_tool("aicf-plan", "paint").returncode == 2


def test_interrupt_writes_what_was_asked_for(bench, plan):
    process = subprocess.Popen(
        [str(BIN / "aicf-run"), str(plan), *FILL, "--steps", "1000000000",
         "--save-checkpoint", str(bench.folder / "ck")], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "interrupted after" in errors
    done = int(re.search(r"after (\d+) of", errors).group(1))
    saved = read_safetensors(bench.folder / "ck" / "state.safetensors")
    assert saved["step"] == done > 0


def test_full_disk_is_an_error(bench, plan):
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(BIN / "aicf-run"), str(plan), *FILL],
                              stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3 and "standard output" in done.stderr


@pytest.mark.parametrize("plan,flags,words", [
    ("residual", ["--batches", "3"],
     '3 batches per update: entry "train_step" was compiled for 2'),
    ("digits", ["--batches", "2"],
     '2 batches per update: the plan has no entry "train_step.accumulate"')])
def test_examples_take_the_batches_of_the_plan(plan, flags, words):
    done = run_tool("train-digits", EXAMPLES / (plan + ".plan"), "--data",
                    SOURCE / "examples/digits/digits.csv.gz", *flags)
    assert done.returncode == 2 and words in done.stderr, done.stderr


def test_the_digits_example_learns():
    done = run_tool("train-digits", EXAMPLES / "digits.plan", "--data",
                    SOURCE / "examples/digits/digits.csv.gz")
    assert done.returncode == 0, done.stderr
    accuracy = float(re.search(r"test accuracy: ([\d.]+) %", done.stdout).group(1))
    assert accuracy > 90
    assert "\r" not in done.stdout, "quiet when not a terminal"
    again = run_tool("train-digits", EXAMPLES / "digits.plan", "--data",
                     SOURCE / "examples/digits/digits.csv.gz", "--threads", "1")
    assert done.stdout.splitlines()[0] == again.stdout.splitlines()[0]


@pytest.mark.parametrize("args", [
    ["--batch", "64", "--widths", "64,128,64"],
    ["--batch", "8", "--layers", "30", "--width", "48"],
    ["--batch", "100", "--widths", "777,1031,513,10", "--optimizer", "momentum"],
    ["--batch", "16", "--widths", "32,512,8,512,16", "--optimizer", "sgd"],
])
def test_generated_steps_pack_within_five_percent(bench, args):
    bench.generate(*args)
    plan = json.loads(run_tool("aicf-plan", "dump", "--json",
                               bench.compile()).stdout)
    for entry in plan["entries"]:
        assert entry["temp_bytes"] <= 1.05 * entry["temp_lower_bound"]


@pytest.mark.parametrize("name", ["fashion_mnist", "digits"])
def test_examples_pack_within_five_percent(name):
    plan = json.loads(run_tool("aicf-plan", "dump", "--json",
                               EXAMPLES / (name + ".plan")).stdout)
    for entry in plan["entries"]:
        assert entry["temp_bytes"] <= 1.05 * entry["temp_lower_bound"]


def test_op_attrs_table_matches_the_plan(bench, plan):
    """The Python table names the fields the plan's dump names."""
    import sys
    sys.path.insert(0, str(SOURCE / "python/aicf"))
    from op_attrs import OP_ATTRS
    assert OP_ATTRS["gemm"] == (0, "", "<ii", ("transA", "transB"))
    assert OP_ATTRS["sgd_step"][1:3] == ("SGDM", "<ddi")
    calls = json.loads(run_tool("aicf-plan", "dump", "--json",
                                plan).stdout)["entries"][0]["calls"]
    for call in calls:
        for step in call["body"]["primitives"]:
            assert tuple(step["attrs"]) == OP_ATTRS[step["kind"]][3]
        assert os.path.basename(call["location"]).startswith("step.mlir:")


def test_profile_names_every_kernel_and_is_read_back(bench, plan):
    path = bench.folder / "profile.json"
    done = run_tool("aicf-run", plan, *FILL, "--steps", 3, "--profile", path)
    assert done.returncode == 0, done.stderr
    profile = json.loads(path.read_text())
    assert profile["device"].startswith("cpu")
    problems = profile["kernels"]["gemm_f32_blas_v0"]
    assert problems["6x7xf32,9x7xf32->6x9xf32"] > 0
    again = bench.compile("step", "--profile=%s" % path, plan="again")
    assert run_tool("aicf-plan", "diff", plan, again).returncode == 0
    bad = run_tool("aicf-compile", bench.folder / "step.mlir", "-o",
                   bench.folder / "x.plan", "--profile=nothing.json")
    assert bad.returncode == 2 and "cannot read profile" in bad.stderr
    endless = run_tool("aicf-compile", bench.folder / "step.mlir", "-o",
                       bench.folder / "x.plan", "--profile=/dev/zero")
    assert endless.returncode == 2 and "it is not a regular file" in endless.stderr


@pytest.mark.parametrize("device", ["tpu", "cuda:", "cuda:x", "cuda:1x", "CUDA"])
def test_unknown_devices(plan, device):
    done = run_tool("aicf-run", plan, *FILL, "--device", device)
    assert done.returncode == 2
    assert "expected cpu, cuda or cuda:N" in done.stderr


def test_cuda_plans_are_verified_anywhere_and_run_on_cuda_only(bench):
    bench.generate(*STEP)
    plan = bench.compile("step", "--target=cuda", "--streams=2")
    assert run_tool("aicf-plan", "verify", plan).returncode == 0
    done = run_tool("aicf-run", plan, *FILL)
    assert done.returncode == 2 and "the plan is for cuda" in done.stderr
    gone = run_tool("aicf-run", plan, *FILL, "--device", "cuda",
                    env={"AICF_CUDA_LIBRARY": "/nothing/libaicf_cuda.so"})
    assert gone.returncode == 2 and "no CUDA device" in gone.stderr
    bad = run_tool("aicf-run", plan, *FILL, "--tune", "most")
    assert bad.returncode == 2


def test_flags_of_the_compiler(bench, plan):
    """What a newcomer tries: --emit=help, text without -o, -O0, linalg."""
    step = bench.folder / "step.mlir"
    done = run_tool("aicf-compile", "--emit=help")
    assert done.returncode == 0 and "aicf_rt.plan, as text" in done.stdout
    assert len(done.stdout) < 1000
    done = run_tool("aicf-compile", step, "--emit=aicf")
    assert done.returncode == 0 and "aicf.linear" in done.stdout
    for flag in ("-O0", "--opt-level=0"):
        assert run_tool("aicf-compile", step, flag, "-o",
                        bench.folder / "o.plan").returncode == 0
        first = bench.folder / "first.plan"
        if not first.exists():
            os.rename(bench.folder / "o.plan", first)
    assert first.read_bytes() == (bench.folder / "o.plan").read_bytes() \
        != plan.read_bytes()
    for flags, text in ((["-O0", "--opt-level=2", "-o", "x"], "-O0 and --opt-level=2"),
                        ([], "no output: -o step.plan"), (["-o", ""], "value is empty"),
                        (["-O7", "-o", "x"], "Cannot find option named '7'")):
        done = run_tool("aicf-compile", step, *flags)
        assert done.returncode == 2 and text in done.stderr, done.stderr
    assert "no input" in run_tool("aicf-compile").stderr
    linalg = bench.folder / "linalg.mlir"
    linalg.write_text("""func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
      %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
      return }""")
    done = run_tool("aicf-compile", linalg, "-o", bench.folder / "l.plan")
    assert done.returncode == 2 and "--convert-linalg-to-aicf |" in done.stderr


def long_map(ops):
    """A map of so many ops, each of which reads the one before it."""
    body = "".join("  %%v%d = math.exp %%v%d : f32\n" % (i + 1, i) for i in range(ops))
    return ("func.func @f(%%x: tensor<8xf32>) -> tensor<8xf32> {\n"
            "  %%y = aicf.map %%x : tensor<8xf32> -> tensor<8xf32> {\n  ^bb0(%%v0: f32):\n"
            "%s  aicf.yield %%v%d : f32\n  }\n  return %%y : tensor<8xf32>\n}\n"
            % (body, ops))


def test_a_map_has_an_end(tmp_path):
    """Its expressions are read by recursion: a longer one would leave the stack."""
    def expand(ops):
        (tmp_path / "map.mlir").write_text(long_map(ops))
        return run_tool("aicf-opt", tmp_path / "map.mlir", "--aicf-expand-maps")
    done = expand(500)
    assert done.returncode == 0 and done.stdout.count("aicf.exp") == 500, done.stderr
    for ops in (501, 40000):
        done = expand(ops)
        assert done.returncode == 1
        assert "an expression of more than 500 ops that read one another" in done.stderr
