# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tools used wrongly: what is wrong is said before the run, nothing is lost,
nothing hangs."""

import os
import subprocess

import numpy as np
import pytest

from conftest import BIN, read_safetensors, run_tool, write_safetensors

COUNT = """
func.func @f(%n: tensor<i64> {aicf.role = "state", aicf.name = "n"})
    -> (tensor<i64> {aicf.updates = "n"}) {
  %m = aicf.step_inc %n : tensor<i64>
  return %m : tensor<i64>
}
"""
TWO = """
func.func @a(%w: tensor<2xf32> {aicf.role = "param", aicf.name = "w", aicf.init = 1.0})
    -> (tensor<2xf32> {aicf.updates = "w"}) {
  %s = aicf.add %w, %w : tensor<2xf32>, tensor<2xf32>
  return %s : tensor<2xf32>
}
func.func @b(%v: tensor<2xf32> {aicf.role = "param", aicf.name = "v"})
    -> (tensor<2xf32> {aicf.name = "y"}) {
  %s = aicf.add %v, %v : tensor<2xf32>, tensor<2xf32>
  return %s : tensor<2xf32>
}
"""
LOSS = """
func.func @f(%x: tensor<4x2xf32> {aicf.role = "input", aicf.name = "x"},
             %h: tensor<f32> {aicf.role = "hyper", aicf.name = "h"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<f32> {aicf.name = "k"}) {
  %l = aicf.mse_loss %x, %x : tensor<4x2xf32>, tensor<4x2xf32>
  return %l, %h : tensor<f32>, tensor<f32>
}
"""
FOREVER = "1000000000000"  # what is wrong must be said before these


def make(bench, text, *flags):
    (bench.folder / "p.mlir").write_text(text)
    return bench.compile("p", *flags)


def quick(*args, name="aicf-run", **kw):
    """As run_tool; a tool that runs on or hangs gives None."""
    try:
        return subprocess.run([str(BIN / name), *map(str, args)], text=True,
                              capture_output=True, timeout=20, **kw)
    except subprocess.TimeoutExpired:
        return None


LATE = [
    (["--save-checkpoint", "{d}/ck"], '"v" was never written'),
    (["--output", "v=@{d}/v.npy"], '"v" was never written'),
    (["--output", "b/y=@{d}/y.npy"], "has not run"),
    (["--expected", "b/y=2xf32=1"], "has not run"),
    (["--output", "w=@{d}/missing/w.npy"], "No such file"),
    (["--output", "w=@{d}"], "Is a directory"),
    (["--output", "w=@{d}/file/w.npy"], "Not a directory"),
    (["--trace", "{d}/missing/t.json"], "No such file"),
    (["--trace", "{d}"], "Is a directory"),
    (["--profile", "{d}/missing/t.json"], "No such file"),
    (["--save-checkpoint", "{d}/file"], "Not a directory"),
    (["--save-checkpoint", "{d}/taken"], "Is a directory"),
    (["--output", "w=@{d}/o", "--trace", "{d}/o"], "twice"),
    (["--trace", "{d}/p.plan"], "would be overwritten"),
    (["--profile", "{d}/./p.plan"], "would be overwritten"),
    (["--output", "w=@{d}/p.plan"], "would be overwritten"),
]


@pytest.mark.parametrize("flags,message", LATE)
def test_what_cannot_be_written_is_said_before_the_run(bench, flags, message):
    plan = make(bench, TWO)
    (bench.folder / "file").write_text("")
    (bench.folder / "taken/state.safetensors").mkdir(parents=True)
    done = quick(plan, "--entry", "a", "--steps", FOREVER,
                 *[f.format(d=bench.folder) for f in flags])
    assert done and done.returncode == 2 and message in done.stderr, done


def test_what_the_run_writes_may_be_saved(bench):
    """A param that only the entry gives a value is there after the run."""
    plan = make(bench, TWO.replace(", aicf.init = 1.0", "").replace(
        "aicf.add %w, %w", "aicf.add %x, %x").replace(
            "@a(", '@a(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "x"}, ').replace(
                '"v"', '"w"'))
    done = quick(plan, "--input", "x=2xf32=4", "--save-checkpoint",
                 bench.folder / "ck", "--check")
    assert done.returncode == 0, done.stderr
    assert list(read_safetensors(bench.folder / "ck/state.safetensors")["w"]) == [8, 8]


@pytest.mark.parametrize("flag", [
    "--resume", "--init", "--entry", "--trace", "--profile", "--save-checkpoint",
    "--tuning-file", "--seed", "--init=@", "--trace="])
def test_an_empty_value_is_not_a_missing_flag(bench, flag):
    plan = make(bench, COUNT)
    args = [flag] if "=" in flag else [flag, ""]
    done = quick(plan, *args, "--print-statistics", cwd=bench.folder)
    assert done and done.returncode == 2 and flag.split("=")[0] in done.stderr
    assert not (bench.folder / "--print-statistics").exists()


@pytest.mark.parametrize("args", [
    ["--steps", "18446744073709551616"], ["--steps", "0x10"], ["--steps", "1e3"],
    ["--seed", "18446744073709551616"], ["--seed", "-1"], ["--tolerance", "nan"],
    ["--threads", "4294967296"], ["--tune", "fast"], ["--tuning-file", "t.json"]])
def test_numbers_and_flags_that_do_not_fit(bench, args):
    done = quick(make(bench, COUNT), *args)
    assert done and done.returncode == 2 and args[0] in done.stderr, done


def test_whole_numbers_are_decimal(bench):
    done = quick(make(bench, COUNT), "--steps", "010", "--print-statistics")
    assert "steps 10," in done.stdout


@pytest.mark.parametrize("value", ["nan", "inf", "1e39", "1e400"])
def test_hypers_are_finite(bench, value):
    done = quick(make(bench, LOSS), "--input", "x=4x2xf32=1", "--set", "h=" + value)
    assert done.returncode == 2 and "--set h" in done.stderr


def test_inputs_do_not_overflow(bench):
    plan = make(bench, LOSS)
    done = quick(plan, "--input", "x=4x2xf32=1e39", "--set", "h=1")
    assert done.returncode == 2 and "too large for f32" in done.stderr


def test_a_loss_that_is_no_number_is_a_wrong_result(bench):
    plan = make(bench, LOSS)
    args = [plan, "--input", "x=4x2xf32=nan", "--set", "h=1", "--output",
            "loss=@%s" % (bench.folder / "l.npy")]
    done = quick(*args)
    assert done.returncode == 1 and '"f/loss" is nan' in done.stderr
    assert (bench.folder / "l.npy").exists()
    assert quick(*args, "--expected", "loss=f32=nan").returncode == 0


def test_pipes_do_not_block(bench):
    plan, fifo = make(bench, TWO), bench.folder / "fifo"
    os.mkfifo(fifo)
    for args in ([fifo], [plan, "--entry", "a", "--init", fifo],
                 [plan, "--entry", "a", "--output", "w=@%s" % fifo]):
        done = quick(*args)
        assert done and done.returncode in (2, 3), args
    done = quick(bench.folder / "p.mlir", "-o", fifo, name="aicf-compile")
    assert done and done.returncode == 2


def test_a_reader_that_went_away_is_an_error(bench):
    plan = make(bench, TWO.replace("2xf32", "1000000xf32"))  # more than a pipe holds
    read, write = os.pipe()
    reader = subprocess.Popen(["head", "-c", "1"], stdin=read,
                              stdout=subprocess.DEVNULL)
    os.close(read)
    done = quick(plan, "--entry", "a", "--output", "w=@/dev/fd/%d" % write,
                 "--output", "w=@%s" % (bench.folder / "w.npy"), pass_fds=[write])
    os.close(write)
    reader.wait()
    assert done.returncode == 3 and "Broken pipe" in done.stderr
    assert (bench.folder / "w.npy").exists()


def test_checks_read_what_was_there_before_the_run(bench):
    plan = make(bench, COUNT)
    ck = bench.folder / "ck"
    assert quick(plan, "--steps", 10, "--save-checkpoint", ck).returncode == 0
    done = quick(plan, "--steps", 5, "--resume", ck, "--save-checkpoint", ck,
                 "--check")
    assert done.returncode == 0, done.stderr
    plan = make(bench, TWO)
    np.save(bench.folder / "w.npy", np.full(2, 99, np.float32))
    w = "w=@%s" % (bench.folder / "w.npy")
    assert quick(plan, "--entry", "a", "--output", w, "--expected", w).returncode == 1


PARAM = '%%a: tensor<2xf32> {aicf.role = "param", aicf.name = "%s", aicf.init = 1.0}'
G = """func.func @g(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "f/y"})
    -> (tensor<2xf32> {aicf.name = "z"}) {
  return %x : tensor<2xf32>
}
"""
FY = """func.func @"f/y"(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "p"})
    -> (tensor<2xf32> {aicf.name = "q"}) {
  return %x : tensor<2xf32>
}
func.func @h(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<2xf32> {aicf.name = "f/y/q"}) {
  return %x : tensor<2xf32>
}
"""


@pytest.mark.parametrize("arg,other", [(PARAM % "f/y", ""), (PARAM % "a", G),
                                       (PARAM % "a", FY)])
def test_a_name_means_one_tensor(bench, arg, other):
    (bench.folder / "p.mlir").write_text(
        other + 'func.func @f(%s) -> (tensor<2xf32> {aicf.name = "y"}) {\n'
        "  return %%a : tensor<2xf32>\n}\n" % arg)
    done = run_tool("aicf-compile", bench.folder / "p.mlir", "-o",
                    bench.folder / "p.plan")
    assert done.returncode == 2 and "[BufferName]" in done.stderr


@pytest.mark.parametrize("name", [r"\ED\A0\80", r"\E0\80\AF", r"\F0\80\80\AF",
                                  r"\F4\90\80\80", r"\C2\9B31m"])
def test_names_are_unicode(bench, name):
    (bench.folder / "p.mlir").write_text(COUNT.replace('"n"', '"%s"' % name))
    done = run_tool("aicf-compile", bench.folder / "p.mlir", "-o",
                    bench.folder / "p.plan")
    assert done.returncode == 2 and "[BufferName]" in done.stderr


@pytest.mark.parametrize("flags", [
    ["--opt-level=3"], ["--opt-level=-1"], ["--no-such"], ["--opt-level=x"],
    ["--profile="], ["--target=gpu"], ["--mixed-precision=f8"], ["--streams=0"],
    ["--keep=some"]])
def test_bad_compiler_flags(bench, flags):
    (bench.folder / "p.mlir").write_text("not even read {")
    if flags == ["--streams=0"]:
        (bench.folder / "p.mlir").write_text(COUNT)
    done = run_tool("aicf-compile", bench.folder / "p.mlir", "-o",
                    bench.folder / "p.plan", *flags)
    assert done.returncode == 2, done.stderr
    assert flags[0].strip("-").split("=")[0] in done.stderr
    assert not (bench.folder / "p.plan").exists()


def test_compile_from_and_to_standard_streams(bench):
    done = subprocess.run([str(BIN / "aicf-compile"), "-", "-o", "-"],
                          input=COUNT.encode(), capture_output=True,
                          cwd=bench.folder)
    assert done.returncode == 0 and done.stdout[-16:-8] == b"AICFPLAN"
    assert not (bench.folder / "-").exists()
    with open("/dev/full", "wb") as full:
        done = subprocess.run([str(BIN / "aicf-compile"), "-", "-o", "-"],
                              input=COUNT.encode(), stdout=full,
                              stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"No space left" in done.stderr


@pytest.mark.parametrize("tool,flag", [("aicf-translate", "--aicf-to-plan"),
                                       ("aicf-opt", "--lower-to-backend")])
def test_a_failed_tool_keeps_the_old_output(bench, tool, flag):
    bad, old = bench.folder / "bad.mlir", bench.folder / "old"
    bad.write_text("func.func @f( {")
    old.write_text("old")
    assert run_tool(tool, bad, flag, "-o", old).returncode != 0
    assert run_tool(tool, bench.folder / "none", flag, "-o", old).returncode != 0
    assert old.read_text() == "old"


def test_opt_may_write_what_it_reads(bench):
    lines = "".join("  %%v%d = aicf.relu %s : tensor<8xf32>\n" % (
        i, "%%v%d" % (i - 1) if i else "%x") for i in range(3000))
    path = bench.folder / "p.mlir"
    path.write_text(
        'func.func @f(%x: tensor<8xf32> {aicf.role = "input", aicf.name = "x"}) '
        '-> (tensor<8xf32> {aicf.name = "y"}) {\n' + lines
        + "  return %v2999 : tensor<8xf32>\n}\n")
    assert run_tool("aicf-opt", path, "-o", path).returncode == 0
    assert path.read_text().count("aicf.relu") == 3000


def test_long_chains_lower_in_time(bench):
    """64,000 relus of relus: quadratic, that was some minutes."""
    lines = "".join("  %%v%d = aicf.relu %s : tensor<8xf32>\n" % (
        i, "%%v%d" % (i - 1) if i else "%x") for i in range(64000))
    (bench.folder / "p.mlir").write_text(
        'func.func @f(%x: tensor<8xf32> {aicf.role = "input", aicf.name = "x"}) '
        '-> (tensor<8xf32> {aicf.name = "y"}) {\n' + lines
        + "  return %v63999 : tensor<8xf32>\n}\n")
    assert quick(bench.folder / "p.mlir", "-o", bench.folder / "p.plan",
                 name="aicf-compile").returncode == 0


def test_a_profile_times_every_call_alone(bench):
    plan = make(bench, TWO)
    done = quick(plan, "--entry", "a", "--executor", "graph", "--profile",
                 bench.folder / "p.json")
    assert done.returncode == 0 and '"add' in (bench.folder / "p.json").read_text()


def test_leftovers_of_killed_writers_are_in_nobodys_way(bench):
    """In a container every writer is process 1 or so."""
    plan, ck = make(bench, COUNT), bench.folder / "ck"
    ck.mkdir()
    script = ("for p in $(seq 1 200); do : > %s/state.safetensors.tmp.$p.0; done; "
              "exec %s/aicf-run %s --save-checkpoint %s" % (ck, BIN, plan, ck))
    inside = ["unshare", "--user", "--pid", "--fork", "--map-root-user"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
        inside = []  # no namespaces here: at least this process's number
    done = subprocess.run([*inside, "sh", "-c", script], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr


def test_dangling_links_and_modes(bench):
    plan, link = make(bench, TWO), bench.folder / "l"
    link.symlink_to("target")
    done = quick(plan, "--entry", "a", "--output", "w=@%s" % link)
    assert done.returncode == 2 and link.is_symlink()
    old = bench.folder / "o.npy"
    old.write_text("")
    old.chmod(0o600)
    assert quick(plan, "--entry", "a", "--output", "w=@%s" % old).returncode == 0
    assert old.stat().st_mode & 0o777 == 0o600


def test_integers_are_whole(bench):
    plan = make(bench, """
func.func @f(%n: tensor<i64> {aicf.role = "input", aicf.name = "n"})
    -> (tensor<i64> {aicf.name = "m"}) {
  %m = aicf.step_inc %n : tensor<i64>
  return %m : tensor<i64>
}
""")
    assert "f/m = 2000000001" in quick(plan, "--input", "n=i64=2000000000").stdout
    np.save(bench.folder / "n.npy", np.int64(2 ** 63 - 2))
    done = quick(plan, "--input", "n=@%s" % (bench.folder / "n.npy"))
    assert "f/m = 9223372036854775807" in done.stdout
    assert quick(plan, "--input", "n=i64=-9007199254740993").returncode == 2


def test_the_loss_scale_has_a_floor(bench):
    """200 steps of NaN, then good ones: the weights are finite and move."""
    plan = make(bench, """
func.func @f(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"},
             %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
             %w: tensor<2x3xf32> {aicf.role = "param", aicf.name = "w", aicf.init = 0.5},
             %s: tensor<f32> {aicf.role = "state", aicf.name = "loss_scale",
                              aicf.init = 65536.0},
             %k: tensor<i32> {aicf.role = "state", aicf.name = "streak"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<2x3xf32> {aicf.updates = "w"}, tensor<f32> {aicf.updates = "loss_scale"},
        tensor<i32> {aicf.updates = "streak"}) {
  %y = aicf.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  %d = aicf.mse_grad %y, %t, %s : tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>
  %dx, %dw, %db = aicf.linear_bwd %d, %x, %w : tensor<4x2xf32>, tensor<4x3xf32>, tensor<2x3xf32>
  %ok = aicf.all_finite %dw : tensor<2x3xf32>
  %i = aicf.reciprocal %s : tensor<f32>
  %ns, %nk = aicf.loss_scale_update %s, %k, %ok : tensor<f32>, tensor<i32>, tensor<i32>
  %n, %m = aicf.sgd_step %w, %dw, %lr inv_scale %i ok %ok : tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32> inv_scale tensor<f32> ok tensor<i32>
  return %n, %ns, %nk : tensor<2x3xf32>, tensor<f32>, tensor<i32>
}
""", "--mixed-precision=f16")
    ck, args = bench.folder / "ck", ["--input", "t=4x2xf32=9", "--set", "lr=0.1",
                                     "--save-checkpoint", bench.folder / "ck"]
    assert quick(plan, *args, "--input", "x=4x3xf32=nan", "--steps",
                 200).returncode == 0
    state = read_safetensors(ck / "state.safetensors")
    assert state["loss_scale"] == 2.0 ** -24 and (state["w"] == 0.5).all()
    assert quick(plan, *args, "--input", "x=4x3xf32=1", "--resume", ck).returncode == 0
    after = read_safetensors(ck / "state.safetensors")
    assert np.isfinite(after["w"]).all()
    # And back from infinity, which another program may have written.
    state["loss_scale"] = np.float32(np.inf)
    write_safetensors(bench.folder / "inf.safetensors", state)
    assert quick(plan, *args, "--input", "x=4x3xf32=1", "--steps", 200, "--init",
                 bench.folder / "inf.safetensors").returncode == 0
    after = read_safetensors(ck / "state.safetensors")
    assert np.isfinite(after["w"]).all() and (after["w"] != 0.5).all()


@pytest.mark.parametrize("text", ["[" * 100000, '{"a":' * 100000,
                                  '{"kernels": %s1%s}' % ("[" * 9999, "]" * 9999)],
                         ids=["arrays", "objects", "closed"])
def test_a_nested_profile_is_not_a_profile(bench, text):
    make(bench, COUNT)
    (bench.folder / "profile.json").write_text(text)
    done = quick(bench.folder / "p.mlir", "-o", bench.folder / "x.plan",
                 "--profile=%s" % (bench.folder / "profile.json"), name="aicf-compile")
    assert done.returncode == 2 and "is not a profile" in done.stderr


def test_brackets_in_names_of_a_profile_are_no_nesting(bench):
    make(bench, COUNT)
    (bench.folder / "profile.json").write_text(
        '{"kernels": {"%s\\\\\\"": {"x": 1.0}}}' % ("[" * 100))
    done = quick(bench.folder / "p.mlir", "-o", bench.folder / "x.plan",
                 "--profile=%s" % (bench.folder / "profile.json"), name="aicf-compile")
    assert done.returncode == 0, done.stderr
