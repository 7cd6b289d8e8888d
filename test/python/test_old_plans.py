# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans that an earlier AICF wrote load and compute what they computed then.

test/plans/<major>.<minor>/ holds plans as they were written when that version was new,
with the inputs' seed, digests and results in results.json. They are never written
again. `python3 test_old_plans.py write`, with AICF_SOURCE_DIR and AICF_BINARY_DIR set,
writes those that the newest version lacks. What they compute to the bit is in
test/goldens: cases/kept.txt, and a file a card.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from conftest import BIN, SOURCE, run_tool
from fuzz import tensors

FOLDER = SOURCE / "test/plans"
# Since 4.2: views, constants, i1, a state that nobody initialises.
VIEWS = """
func.func @use(%x: tensor<3x4xf32> {aicf.role = "input", aicf.name = "x"},
               %mask: tensor<3x4xi1> {aicf.role = "input", aicf.name = "mask"},
               %w: tensor<3x3xf32> {aicf.role = "param", aicf.name = "w", aicf.init = 0.5},
               %table: tensor<3x4xf32> {aicf.role = "state", aicf.name = "table",
                                        aicf.init = "none"},
               %kept: tensor<4x3xi1> {aicf.role = "state", aicf.name = "kept"})
    -> (tensor<4x3xf32> {aicf.name = "y"}, tensor<4x3xi1> {aicf.name = "turned"},
        tensor<2x6xi32> {aicf.name = "count"}, tensor<3x3xf32> {aicf.updates = "w"},
        tensor<4x3xi1> {aicf.updates = "kept"}) {
  %c = aicf.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %b = aicf.broadcast %c to [3, 4] : tensor<1x4xf32>
  %s = aicf.add %x, %b : tensor<3x4xf32>, tensor<3x4xf32>
  %u = aicf.add %s, %table : tensor<3x4xf32>, tensor<3x4xf32>
  %t = aicf.transpose %u [1, 0] : tensor<3x4xf32>
  %y = aicf.matmul %t, %w : tensor<4x3xf32>, tensor<3x3xf32>
  %turned = aicf.transpose %mask [1, 0] : tensor<3x4xi1>
  %count = aicf.iota [2, 6] {axis = 1}
  %n = aicf.transpose %w [1, 0] : tensor<3x3xf32>
  return %y, %turned, %count, %n, %turned
      : tensor<4x3xf32>, tensor<4x3xi1>, tensor<2x6xi32>, tensor<3x3xf32>, tensor<4x3xi1>
}
"""
# What version 4.3 has: functions, conditions, tables, random numbers, Adam with L2.
WORDS = """
func.func @train(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                 %rows: tensor<4xi32> {aicf.role = "input", aicf.name = "rows"},
                 %table: tensor<3x6xf32> {aicf.role = "param", aicf.name = "table",
                                          aicf.init = 0.5},
                 %step: tensor<i64> {aicf.role = "state", aicf.name = "draws"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize},
        tensor<4xi32> {aicf.name = "count"}, tensor<i64> {aicf.updates = "draws"})
    attributes {aicf.optimizer = #aicf.adam<lr = "lr", weight_decay = 0.01>} {
  %e = aicf.embedding %table, %rows {padding = 2 : i64} : tensor<3x6xf32>, tensor<4xi32>
  %noise = aicf.normal %step to [4, 6] {seed = 7 : i64} : tensor<i64>
  %h = aicf.add %e, %noise : tensor<4x6xf32>, tensor<4x6xf32>
  %m = aicf.map %h, %x : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = math.sin %a : f32
    %c = arith.cmpf olt, %a, %b : f32
    %r = arith.select %c, %s, %b : f32
    aicf.yield %r : f32
  }
  %l = aicf.log_softmax %m : tensor<4x6xf32>
  %p = aicf.pick %l, %rows : tensor<4x6xf32>, tensor<4xi32>
  %q = aicf.softplus %p : tensor<4xf32>
  %loss = aicf.mean %q : tensor<4xf32>
  %count = aicf.cumsum %rows {axis = 0 : i64} : tensor<4xi32>
  %next = aicf.step_inc %step : tensor<i64>
  return %loss, %count, %next : tensor<f32>, tensor<4xi32>, tensor<i64>
}
"""
# What version 4.4 has: results with strides, and a row of a state.
PARTS = """
func.func @join(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<3x6xf32> {aicf.role = "param", aicf.name = "w", aicf.init = 0.5},
                %s: tensor<5x3xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<4x9xf32> {aicf.name = "y"}, tensor<6x4xf32> {aicf.name = "turned"},
        tensor<5x3xf32> {aicf.updates = "s"}) {
  %a = aicf.linear %x, %w : tensor<4x6xf32>, tensor<3x6xf32>
  %r = aicf.relu %x : tensor<4x6xf32>
  %y = aicf.concat %a, %r {axis = 1} : tensor<4x3xf32>, tensor<4x6xf32>
  %e = aicf.exp %x : tensor<4x6xf32>
  %turned = aicf.transpose %e [1, 0] : tensor<4x6xf32>
  %old = aicf.slice %s from [2, 0] to [3, 3] : tensor<5x3xf32>
  %first = aicf.slice %a from [0, 0] to [1, 3] : tensor<4x3xf32>
  %sum = aicf.add %old, %first : tensor<1x3xf32>, tensor<1x3xf32>
  %row = aicf.tanh %sum : tensor<1x3xf32>
  %before = aicf.slice %s from [0, 0] to [2, 3] : tensor<5x3xf32>
  %behind = aicf.slice %s from [3, 0] to [5, 3] : tensor<5x3xf32>
  %next = aicf.concat %before, %row, %behind {axis = 0}
      : tensor<2x3xf32>, tensor<1x3xf32>, tensor<2x3xf32>
  return %y, %turned, %next : tensor<4x9xf32>, tensor<6x4xf32>, tensor<5x3xf32>
}
"""
# What version 4.5 has: a part that runs several times.
LOOP = """
func.func @loop(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<6x6xf32> {aicf.role = "param", aicf.name = "w", aicf.init = 0.25})
    -> (tensor<4x6xf32> {aicf.name = "y"}, tensor<9x4x6xf32> {aicf.name = "all"},
        tensor<6x6xf32> {aicf.updates = "w"}) {
  %none = aicf.constant dense<0.0> : tensor<9x4x6xf32>
  %h0 = aicf.tanh %x : tensor<4x6xf32>
  %h, %all, %v = aicf.repeat 9 %h0, %none, %w
      : tensor<4x6xf32>, tensor<9x4x6xf32>, tensor<6x6xf32>
      -> tensor<4x6xf32>, tensor<9x4x6xf32>, tensor<6x6xf32> {
  ^bb0(%i: tensor<i64>, %old: tensor<4x6xf32>, %rows: tensor<9x4x6xf32>,
       %u: tensor<6x6xf32>):
    %p = aicf.matmul %old, %u : tensor<4x6xf32>, tensor<6x6xf32>
    %s = aicf.add %p, %x : tensor<4x6xf32>, tensor<4x6xf32>
    %new = aicf.tanh %s : tensor<4x6xf32>
    %with = aicf.record %rows, %new, %i : tensor<9x4x6xf32>, tensor<4x6xf32>, tensor<i64>
    %u2 = aicf.tanh %u : tensor<6x6xf32>
    aicf.next %new, %with, %u2 : tensor<4x6xf32>, tensor<9x4x6xf32>, tensor<6x6xf32>
  }
  %y = aicf.add %h, %h0 : tensor<4x6xf32>, tensor<4x6xf32>
  return %y, %all, %v : tensor<4x6xf32>, tensor<9x4x6xf32>, tensor<6x6xf32>
}
"""
# One call of each pattern of a graph, and of rows.
GRAPHS = """
func.func @graphs(%x: tensor<96x40xf32> {aicf.role = "input", aicf.name = "x"},
                  %v: tensor<96x24xf32> {aicf.role = "input", aicf.name = "v"},
                  %w: tensor<40x40xf32> {aicf.role = "param", aicf.name = "w",
                                         aicf.init = 0.125},
                  %z: tensor<520x512xf32> {aicf.role = "input", aicf.name = "z"})
    -> (tensor<96xf32> {aicf.name = "sums"}, tensor<96x40xf32> {aicf.name = "product"},
        tensor<96x40xf32> {aicf.name = "unit"}, tensor<520x512xf32> {aicf.name = "soft"}) {
  %e = aicf.tanh %v : tensor<96x24xf32>
  %y = aicf.mul %e, %v : tensor<96x24xf32>, tensor<96x24xf32>
  %sums = aicf.reduce_mean %y over [1] : tensor<96x24xf32>
  %m = aicf.matmul %x, %w : tensor<96x40xf32>, tensor<40x40xf32>
  %t = aicf.tanh %m : tensor<96x40xf32>
  %product = aicf.scale %t {factor = 0.5} : tensor<96x40xf32>
  %squares = aicf.square %x : tensor<96x40xf32>
  %mean = aicf.reduce_mean %squares over [1] : tensor<96x40xf32>
  %least = aicf.add_scalar %mean {value = 1.0e-5} : tensor<96xf32>
  %root = aicf.rsqrt %least : tensor<96xf32>
  %column = aicf.reshape %root to [96, 1] : tensor<96xf32>
  %wide = aicf.broadcast %column to [96, 40] : tensor<96x1xf32>
  %unit = aicf.mul %x, %wide : tensor<96x40xf32>, tensor<96x40xf32>
  %soft = aicf.softmax %z : tensor<520x512xf32>
  return %sums, %product, %unit, %soft
      : tensor<96xf32>, tensor<96x40xf32>, tensor<96x40xf32>, tensor<520x512xf32>
}
"""
STEPS = 3
# name: (model, flags of aicf-compile)
PLANS = {
    "step-cpu": (["--batch", "4", "--widths", "6,8,3"], []),
    "step-cuda": (["--batch", "4", "--widths", "6,8,3"],
                  ["--target=cuda", "--streams=2", "--mixed-precision=bf16"]),
    "classifier-cpu": (SOURCE / "examples/digits/model.mlir", ["--keep=grad"]),
    "residual-cuda": (SOURCE / "examples/residual/model.mlir",
                      ["--target=cuda", "--split-step"]),
    "residual-cpu": (SOURCE / "examples/residual/model.mlir", []),  # accumulates
    "views-cpu": (VIEWS, []),
    "views-cuda": (VIEWS, ["--target=cuda"]),
    "words-cpu": (WORDS, []),
    "words-cuda": (WORDS, ["--target=cuda"]),
    "parts-cpu": (PARTS, []),
    "parts-cuda": (PARTS, ["--target=cuda", "--streams=2"]),
    "loop-cpu": (LOOP, []),
    "loop-cuda": (LOOP, ["--target=cuda", "--streams=2"]),
    "graphs-cpu": (GRAPHS, []),
    "graphs-cuda": (GRAPHS, ["--target=cuda"]),
}


def versions():
    """[(major, minor)] that the tools say they read."""
    text = run_tool("aicf-plan", "--version").stdout
    return [(int(major), minor)
            for major, high in re.findall(r"(\d+)\.0 to \1\.(\d+)", text)
            for minor in range(int(high) + 1)]


def dump(plan):
    return json.loads(run_tool("aicf-plan", "dump", "--json", plan).stdout)


def results(plan, folder):
    """[sum, sum of squares] of what the first entry writes, by name, in f64."""
    text = dump(plan)
    entry = text["entries"][0]
    rng = np.random.default_rng(7)
    flags, names = [], []
    for b, t in sorted(zip(entry["buffers"], entry["values"]),
                       key=lambda pair: pair[0]["name"]):
        if b["role"] == "input":
            value = rng.integers(0, 3, t["shape"]) if t["dtype"][0] == "i" else \
                rng.standard_normal(t["shape"])
            path = folder / (b["name"] + ".npy")
            np.save(path, value.astype({"i32": np.int32, "i64": np.int64, "i1": bool}
                                       .get(t["dtype"], np.float32)))
            flags += ["--input", "%s=@%s" % (b["name"], path)]
        elif b["role"] == "output":
            names.append(b["name"])
    for b in text["buffers"]:
        if b["role"] == "hyper":
            flags += ["--set", b["name"] + "=0.01"]
        elif b["role"] == "param":
            names.append(b["name"])
        elif b["name"] == "table":  # of VIEWS
            init = folder / "init.safetensors"
            tensors.write_safetensors(init, {
                "w": ("f32", np.full((3, 3), 0.25)), "kept": ("i1", np.ones((4, 3))),
                "table": ("f32", np.arange(12).reshape(3, 4))})
            flags += ["--init", "@%s" % init]
    for i, name in enumerate(names):
        flags += ["--output", "%s=@%s/%d.npy" % (name, folder, i)]
    done = run_tool("aicf-plan", "interpret", plan, "--steps", STEPS, "--seed", 1,
                    *flags)
    assert done.returncode == 0, done.stderr
    found = {n: np.load(folder / ("%d.npy" % i)) for i, n in enumerate(names)}
    return {n: [float(v.sum()), float((v * v).sum())] for n, v in found.items()}


def test_there_are_plans_of_every_version():
    assert {p.name for p in FOLDER.iterdir()} >= {"%d.%d" % v for v in versions()}


OLD = sorted(FOLDER.glob("*/*.plan"))


def test_there_is_a_plan_of_each_graph():
    """With the newest version, of every pattern and device that has kernels for it."""
    rows = (SOURCE / "kernels/Rows.def").read_text()
    family = (SOURCE / "kernels/graph/Family.td").read_text()
    patterns = re.findall(r'GraphPattern<"(\w+)"', family)
    for device in ("CPU", "CUDA"):
        section = rows.split("#ifdef AICF_ROWS_OF_" + device)[1].split("#undef")[0]
        wanted = {kid for kid in re.findall(r"AICF_ROW_\w+\((\w+),", section)
                  if kid.rsplit("_v", 1)[0] in patterns}
        plans = (FOLDER / ("%d.%d" % versions()[-1])).glob("*-%s.plan" % device.lower())
        assert wanted and wanted <= {call["kid"] for plan in plans
                                     for entry in dump(plan)["entries"]
                                     for call in entry["calls"]}


@pytest.mark.parametrize("plan", OLD, ids=lambda p: "%s-%s" % (p.parent.name, p.stem))
def test_an_old_plan(plan, tmp_path):
    then = json.loads((plan.parent / "results.json").read_text())[plan.stem]
    assert hashlib.sha256(plan.read_bytes()).hexdigest() == then["sha256"], \
        "a golden plan is never written again: add a version"
    if tuple(map(int, plan.parent.name.split("."))) not in versions():
        done = run_tool("aicf-plan", "verify", plan)
        assert done.returncode != 0 and "version" in done.stderr
        return
    assert run_tool("aicf-plan", "verify", plan).returncode == 0
    now = results(plan, tmp_path)
    assert now.keys() == then["results"].keys()
    for name, numbers in now.items():
        np.testing.assert_allclose(numbers, then["results"][name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("plan", [p for p in OLD if p.stem == "step-cpu"],
                         ids=lambda p: p.parent.name)
def test_an_old_plan_runs_and_goes_back_to_ir(plan, tmp_path):
    done = run_tool("aicf-run", plan, "--steps", 2, "--check", "--input", "x=4x6xf32=1",
                    "--input", "target=4x3xf32=1", "--set", "lr=0.01")
    assert done.returncode == 0, done.stderr
    ir, again = tmp_path / "p.mlir", tmp_path / "p.plan"
    assert run_tool("aicf-translate", "--plan-to-aicf", plan, "-o", ir).returncode == 0
    assert run_tool("aicf-translate", "--aicf-to-plan", ir, "-o", again).returncode == 0
    assert again.read_bytes() == plan.read_bytes() or \
        plan.parent.name != "%d.%d" % versions()[-1]


def write(tmp):
    """What the folder of the newest version lacks."""
    folder = FOLDER / ("%d.%d" % versions()[-1])
    folder.mkdir(exist_ok=True)
    file = folder / "results.json"
    then = json.loads(file.read_text()) if file.exists() else {}
    for name, (model, flags) in PLANS.items():
        if name in then:
            continue
        if isinstance(model, list):
            text = subprocess.run(
                [sys.executable, SOURCE / "benchmarks/generate_step.py", *model],
                check=True, capture_output=True, text=True).stdout
        elif isinstance(model, str):
            text = model
        if not isinstance(model, pathlib.Path):
            model = tmp / (name + ".mlir")
            model.write_text(text)
        plan = folder / (name + ".plan")
        done = run_tool("aicf-compile", model, "-o", plan, *flags)
        assert done.returncode == 0, done.stderr
        then[name] = {"sha256": hashlib.sha256(plan.read_bytes()).hexdigest(),
                      "results": results(plan, tmp)}
    file.write_text(json.dumps(then, indent=1) + "\n")


if __name__ == "__main__" and sys.argv[1:] == ["write"]:
    with tempfile.TemporaryDirectory() as temporary:
        write(pathlib.Path(temporary))
