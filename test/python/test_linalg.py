# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bridges to and from linalg: what goes over computes the same."""

import re
import subprocess

import numpy as np
import pytest

from conftest import BIN, SOURCE, run_tool
from fuzz import derive, jit, judge, semantics, tensors
from fuzz.generate import generate

pytestmark = pytest.mark.skipif(not (BIN / "linalg-jit").exists(),
                                reason="MLIR's JIT is not installed")
# Of the embedder's model the ops are not ours.
EXAMPLES = sorted(p for p in SOURCE.glob("examples/*/*.mlir") if "embed" not in str(p))
# The same steps on smaller tensors: the JIT's loops are not fast.
SMALLER = {"60000": "500", "1024": "48", "1000": "90", "784": "36", "512": "40",
           "256": "32"}
STEPS = 3


def run_tool_on(text, *flags):
    return subprocess.run([str(BIN / "aicf-opt"), *flags, "-"], input=text, text=True,
                          capture_output=True, timeout=60)


def scaled(text):
    return re.sub(r"(?<!\d)(%s)(?=x| : i64)" % "|".join(SMALLER),
                  lambda m: SMALLER[m.group(1)], text)


def some_values(arguments, rng):
    """By role and dtype: labels are classes, states start at zero."""
    values = {}
    for a in arguments:
        if a.role == "state":
            values[a.name] = np.zeros(a.shape)
        elif a.role == "hyper":
            values[a.name] = np.array(0.01)
        elif a.dtype[0] == "i":
            values[a.name] = rng.integers(0, 10, a.shape)
        else:
            scale = 0.1 if a.role == "param" else 1
            values[a.name] = np.float64(np.float32(rng.normal(0, scale, a.shape)))
    return values


def interpreted(bench, plan, entry, arguments, results, values):
    """After STEPS steps, in f64."""
    names = [r.updates or r.name for r in results]
    init = bench.folder / "init.safetensors"
    tensors.write_safetensors(init, {
        a.name: (a.dtype, values[a.name]) for a in arguments
        if a.role in ("param", "state")})
    flags = []
    for a in arguments:
        if a.role == "input":
            flags += ["--input", tensors.argument(a.name, a.dtype, values[a.name],
                                                  bench.folder / (a.name + ".npy"))]
        if a.role == "hyper":
            flags += ["--set", "%s=%r" % (a.name, float(values[a.name]))]
    for i, name in enumerate(names):
        flags += ["--output", "%s=@%s/%d.npy" % (name, bench.folder, i)]
    done = run_tool("aicf-plan", "interpret", plan, "--entry", entry, "--steps", STEPS,
                    "--exact", "--init", init, *flags)
    assert done.returncode == 0, done.stderr
    return {n: np.load(bench.folder / ("%d.npy" % i)) for i, n in enumerate(names)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: "%s-%s" % (
    p.parent.name, p.stem))
def test_examples_in_the_jit(bench, example):
    (bench.folder / "e.mlir").write_text(scaled(example.read_text()))
    plan = bench.compile("e")
    step = jit.step_of(BIN, (bench.folder / "e.mlir").read_text())
    known = jit.signatures(step)
    assert known
    values = {f: some_values(k[0], np.random.default_rng(i))
              for i, (f, k) in enumerate(known.items())}
    runs = jit.execute(BIN, bench.folder, [step], lambda memory: [
        jit.Run(memory, f, k, values[f], STEPS) for f, k in known.items()])
    for (entry, (arguments, results)), run in zip(known.items(), runs):
        right = interpreted(bench, plan, entry, arguments, results, values[entry])
        for name, value in run.found().items():
            largest = max(1e-3, np.max(np.abs(right[name])))
            assert np.max(np.abs(value - right[name])) <= 1e-4 * largest, (entry, name)


WORDS = """
func.func @train(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %W: tensor<8x8xf32> {aicf.role = "param", aicf.name = "W"},
                 %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8xf32> {aicf.name = "y"}, tensor<4x8xf32> {aicf.name = "dx"}) {
  %0 = aicf.linear %x, %W, %b : tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>
  %1 = aicf.gelu %0 : tensor<4x8xf32>
  %2 = aicf.gelu %0 {approximate = true} : tensor<4x8xf32>
  %3 = aicf.sub %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  %4 = aicf.sigmoid %3 : tensor<4x8xf32>
  %5 = aicf.silu %4 : tensor<4x8xf32>
  %6 = aicf.tanh %5 : tensor<4x8xf32>
  %7 = aicf.matmul %6, %W : tensor<4x8xf32>, tensor<8x8xf32>
  %8 = aicf.reciprocal %4 : tensor<4x8xf32>
  %9 = aicf.mul %7, %8 : tensor<4x8xf32>, tensor<4x8xf32>
  %10 = aicf.scale %9 {factor = -1.5 : f64} : tensor<4x8xf32>
  %11 = aicf.fill_like %10 {value = 0.5 : f64} : tensor<4x8xf32>
  %12 = aicf.add %10, %11 : tensor<4x8xf32>, tensor<4x8xf32>
  %13 = aicf.relu %12 : tensor<4x8xf32>
  %14 = aicf.cast %13 to bf16 : tensor<4x8xf32>
  %15 = aicf.cast %14 to f32 : tensor<4x8xbf16>
  %16 = aicf.reduce_sum %15 over [0] : tensor<4x8xf32>
  %17 = aicf.broadcast %16 to [4, 8] : tensor<8xf32>
  %18 = aicf.relu_bwd %17, %13 : tensor<4x8xf32>, tensor<4x8xf32>
  %19 = aicf.tanh_bwd %18, %6 : tensor<4x8xf32>, tensor<4x8xf32>
  %20 = aicf.silu_bwd %19, %4 : tensor<4x8xf32>, tensor<4x8xf32>
  %21 = aicf.sigmoid_bwd %20, %4 : tensor<4x8xf32>, tensor<4x8xf32>
  %22 = aicf.gelu_bwd %21, %0 : tensor<4x8xf32>, tensor<4x8xf32>
  %23 = aicf.gelu_bwd %22, %0 {approximate = true} : tensor<4x8xf32>, tensor<4x8xf32>
  %24 = aicf.matmul %23, %x {transB = true} : tensor<4x8xf32>, tensor<4x8xf32>
  %25 = aicf.matmul %24, %x {transA = true} : tensor<4x4xf32>, tensor<4x8xf32>
  return %16, %25 : tensor<8xf32>, tensor<4x8xf32>
}
"""


def there_and_back(text):
    return run_tool_on(text, "--convert-aicf-to-linalg", "--convert-linalg-to-aicf")


def same_results(bench, text, back, values):
    arguments, results = jit.signatures(back)["train"]
    found = []
    for each in (text, back):
        (bench.folder / "p.mlir").write_text(each)
        found.append(interpreted(bench, bench.compile("p"), "train", arguments, results,
                                 values(arguments)))
    for name, value in found[0].items():
        largest = max(1.0, np.max(np.abs(value)))
        assert np.max(np.abs(value - found[1][name])) <= 1e-5 * largest, name


def test_every_word_comes_back(bench):
    done = there_and_back(WORDS)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert sorted(re.findall(r"= aicf\.\w+|approximate = true|trans[AB]", done.stdout)) == \
        sorted(re.findall(r"= aicf\.\w+|approximate = true|trans[AB]", WORDS.replace(
            # x·Wᵀ has one name
            "matmul %23, %x {transB = true}", "linear %23, %x")))
    same_results(bench, WORDS, done.stdout,
                 lambda arguments: some_values(arguments, np.random.default_rng(0)))


def test_random_programs_that_come_back(bench):
    """Those of 90 forward functions that aicf can say again."""
    back = 0
    for seed in range(90):
        program = derive.generate_forward(seed)
        for result in program.entries[0].results:
            result.minimize = False
        done = there_and_back(program.text())
        assert done.returncode == 0, done.stderr
        if "stays in linalg" in done.stderr or "tensor." in done.stdout:
            continue
        back += 1
        same_results(bench, program.text(), done.stdout,
                     lambda arguments: jit.initial(program, arguments))
    assert back >= 3, back


def test_a_step_from_linalg_trains(bench):
    """A forward function in linalg, marked: autodiff, optimizer and plan are ours."""
    forward = there_and_back(WORDS).stdout
    linalg = run_tool_on(forward, "--convert-aicf-to-linalg").stdout
    marked = linalg.replace('{aicf.name = "dx"}', '{aicf.name = "dx"}, tensor<f32> '
                            '{aicf.name = "loss", aicf.minimize}')
    marked = re.sub(r"return (%\S+), (%\S+) : (.*)",
                    r"%l = aicf.mean \1 : tensor<8xf32>\n    return \1, \2, %l : \3, "
                    "tensor<f32>", marked)
    marked = marked.replace('tensor<f32> {aicf.name = "loss", aicf.minimize}) {',
                            'tensor<f32> {aicf.name = "loss", aicf.minimize}) '
                            'attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {')
    done = run_tool_on(marked, "--convert-linalg-to-aicf", "--lower-to-backend")
    assert done.returncode == 0 and "aicf_rt.call sgd_step" in done.stdout, done.stderr


def test_every_op_goes_over():
    """The 300 programs of the test fuzz-linalg have every op, but for those here."""
    page = (BIN.parent / "docs-parts/AICFDialect.md").read_text()
    ops = set(re.findall(r"^### `aicf\.(\w+)`", page, re.MULTILINE))
    judged = {o.kind for s in range(300) for o in generate(s).entries[0].ops}
    # history is expanded to record, calls of lr curves to learning_rate.
    # maps and gradients are expanded into the others, and a loop has a test of its own.
    assert ops - judged == {"shuffle", "map", "yield", "repeat", "next", "gradient"}


def test_a_loop(bench):
    """The runs of a loop: what goes from one to the next, the count, and rows."""
    model = """
    func.func @loop(%x: tensor<3x4xf32> {aicf.role = "input", aicf.name = "x"},
                    %w: tensor<4x4xf32> {aicf.role = "param", aicf.name = "w",
                                         aicf.init = 0.25})
        -> (tensor<3x4xf32> {aicf.name = "y"}, tensor<5x3x4xf32> {aicf.name = "all"}) {
      %none = aicf.constant dense<7.0> : tensor<5x3x4xf32>
      %y, %all = aicf.repeat 5 %x, %none : tensor<3x4xf32>, tensor<5x3x4xf32>
          -> tensor<3x4xf32>, tensor<5x3x4xf32> {
      ^bb0(%i: tensor<i64>, %h: tensor<3x4xf32>, %rows: tensor<5x3x4xf32>):
        %p = aicf.matmul %h, %w : tensor<3x4xf32>, tensor<4x4xf32>
        %n = aicf.cast %i to f32 : tensor<i64>
        %m = aicf.broadcast %n to [3, 4] : tensor<f32>
        %s = aicf.add %p, %m : tensor<3x4xf32>, tensor<3x4xf32>
        %t = aicf.tanh %s : tensor<3x4xf32>
        %with = aicf.record %rows, %t, %i : tensor<5x3x4xf32>, tensor<3x4xf32>, tensor<i64>
        aicf.next %t, %with : tensor<3x4xf32>, tensor<5x3x4xf32>
      }
      return %y, %all : tensor<3x4xf32>, tensor<5x3x4xf32>
    }"""
    (bench.folder / "l.mlir").write_text(model)
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    np.save(bench.folder / "x.npy", x)
    out = bench.run(bench.compile("l"), "--input", "x=@%s" % (bench.folder / "x.npy"),
                    outputs=["y", "all"])
    step = jit.step_of(BIN, model)
    known = jit.signatures(step)["loop"]
    (run,) = jit.execute(BIN, bench.folder, [step], lambda memory: [
        jit.Run(memory, "loop", known, {"x": x, "w": np.full((4, 4), 0.25, "f4")}, 1)])
    for name in ("y", "all"):
        np.testing.assert_allclose(run.found()[name], out[name], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 5, 64, 1000])
def test_shuffle_bit_for_bit(bench, size):
    model = """
    func.func @walk(%%s: tensor<i64> {aicf.role = "state", aicf.name = "s"})
        -> (tensor<7xi32> {aicf.name = "rows"}, tensor<i64> {aicf.updates = "s"}) {
      %%r = aicf.shuffle %%s {size = %d : i64, batch = 7 : i64, seed = -9 : i64} : tensor<i64>
      %%n = aicf.step_inc %%s : tensor<i64>
      return %%r, %%n : tensor<7xi32>, tensor<i64>
    }""" % size
    (bench.folder / "s.mlir").write_text(model)
    out = bench.run(bench.compile("s"), "--steps", "3", outputs=["rows"])
    step = jit.step_of(BIN, model)
    known = jit.signatures(step)["walk"]
    (run,) = jit.execute(BIN, bench.folder, [step], lambda memory: [
        jit.Run(memory, "walk", known, {"s": np.int64(0)}, 3)])
    assert run.found()["rows"].tolist() == out["rows"].tolist()


@pytest.mark.parametrize("op", ["linear", "sgd_step", "softmax_cross_entropy"])
def test_the_second_opinion_differs_from_wrong_results(tmp_path, op, monkeypatch):
    right = semantics.OPS[op]
    monkeypatch.setitem(semantics.OPS, op, lambda *a: [
        v * (1 + 1e-3) for v in right(*a)[:1]] + list(right(*a)[1:]))
    programs = [p for p in map(generate, range(60)) if p.dtype in ("f32", "f64") and
                any(o.kind == op for o in p.entries[0].ops)]
    programs.sort(key=lambda p: sum(v.size for v in p.values.values()))
    programs = programs[:6]
    failures = jit.judge_linalg(programs, BIN, tmp_path)
    assert {f.kind for f in failures.values()
            if isinstance(f, judge.Failure)} == {"linalg"}


def test_a_program_that_does_not_convert_is_a_failure(tmp_path):
    program = generate(0)
    program.entries[0].ops[0].kind = "no_such_op"
    with pytest.raises(judge.Failure, match="no_such_op"):
        jit.judge_linalg([program], BIN, tmp_path)


def test_a_constant_that_no_plan_holds_stays():
    text = 'func.func @f() -> tensor<131073xi64> {\n  %%c = arith.constant dense<"0x%s"> ' \
        ": tensor<131073xi64>\n  return %%c : tensor<131073xi64>\n}\n"
    numbers = np.arange(131073, dtype="<i8").tobytes().hex()
    done = run_tool_on(text % numbers, "--convert-linalg-to-aicf")
    assert done.returncode == 0 and "aicf.constant" not in done.stdout
    assert "stays: it has 1048584 bytes, the limit for a constant of a plan is 1048576" \
        in done.stderr
