# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example programs, the notebook, and the code blocks of the docs."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest
from conftest import BINARY, PROGRAM_ENV, SOURCE

import aicf.examples

FOLDER = os.path.dirname(aicf.examples.__file__)


def run_example(name, *flags, **options):
    return subprocess.run([sys.executable, "-m", "aicf.examples." + name, *flags],
                          capture_output=True, text=True, timeout=300, **options)


def accuracy_of(output):
    return float(re.search(r"test accuracy: ([\d.]+) %", output).group(1))


def test_digits_is_as_good_as_the_cpp_program(tmp_path):
    ours = run_example("digits", cwd=tmp_path)
    assert ours.returncode == 0, ours.stderr
    lines = ours.stdout.splitlines()
    assert len([x for x in lines if x.startswith("epoch ")]) == 30
    theirs = subprocess.run(
        [BINARY / "bin/train-digits", BINARY / "examples/digits.plan", "--data",
         SOURCE / "examples/digits/digits.csv.gz"],
        capture_output=True, text=True, check=True, env=PROGRAM_ENV).stdout
    assert accuracy_of(ours.stdout) > 88
    assert abs(accuracy_of(ours.stdout) - accuracy_of(theirs)) < 2.5


def test_fashion_mnist():
    done = run_example("fashion_mnist", "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert re.match(r"epoch 1/2  loss [\d.]+  \d+ images/s\nepoch 2/2", done.stdout)
    assert accuracy_of(done.stdout) > 84


def test_gpt2_learns_and_prints_a_sample():
    done = run_example("gpt2", "--data", str(SOURCE / "README.md"), "--steps", "30",
                       "--prompt", "AICF is")
    assert done.returncode == 0, done.stderr
    held_out = re.search(r"^held out: ([\d.]+) nats a token, ([\d.]+) bits a byte$",
                         done.stdout, re.M)
    assert float(held_out[1]) < 4.5  # log 256 is 5.55
    assert done.stdout.partition("training time")[2].partition("\n")[2].startswith("AICF is")


def test_gpt2_of_byte_pairs():
    pytest.importorskip("tokenizers")
    done = run_example("gpt2", "--data", str(SOURCE / "README.md"), "--steps", "2",
                       "--tokens", "400")
    assert done.returncode == 0, done.stderr
    nats, bits = map(float, re.search(r"([\d.]+) nats a token, ([\d.]+) bits", done.stdout
                                      ).groups())
    assert bits < 0.9 * nats / 0.693  # a token has more than a byte


@pytest.mark.parametrize("flags, text", [
    (("--data", "/nothing"), "there is no text in /nothing: install Debian's package"),
    (("--data", "/etc/hostname"), "and each part needs more than 128"),
    (("--tokens", "7"), "--tokens is 7, expected 256 or more"),
    (("--steps", "-1"), "--steps is -1, expected 1 or more"),
    (("--size", "large"), "invalid choice: 'large'")])
def test_gpt2_says_what_is_wrong(flags, text):
    done = run_example("gpt2", *flags)
    assert done.returncode != 0 and text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bar_on_a_terminal(tmp_path):
    pytest.importorskip("tqdm")
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.Popen([sys.executable, "-m", "aicf.examples.digits", "--epochs",
                             "1"], cwd=tmp_path, stdout=subprocess.DEVNULL,
                            stderr=slave)
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4096):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    assert done.wait(60) == 0 and b"epoch 1/1" in shown and b"%|" in shown


@pytest.mark.parametrize("flags, message", [
    (["--device", "tpu"], "device is 'tpu'"), (["--epochs", "0"], "expected 1 or more"),
    (["--data", "/nowhere"], "/nowhere"), (["--precision", "f8"], "invalid choice"),
    (["--nonsense"], "unrecognized")])
def test_wrong_flags(flags, message):
    done = run_example("digits", *flags)
    assert done.returncode != 0 and message in done.stderr


def test_the_notebook():
    with open(os.path.join(FOLDER, "digits.ipynb")) as file:
        cells = json.load(file)["cells"]
    names = {}
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    assert len(code) > 5
    for source in code:
        exec(compile(source, "digits.ipynb", "exec"), names)


def test_what_a_wheel_holds(tmp_path):
    """The installed files alone: they need no LLVM, show no symbol of it, and train."""
    subprocess.run(["cmake", "--install", BINARY, "--component", "python", "--prefix",
                    tmp_path], check=True, capture_output=True)
    done = run_example("digits", cwd="/", env={**os.environ,
                                               "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0 and accuracy_of(done.stdout) > 88, done.stderr
    modules = [p for p in (tmp_path / "aicf").iterdir() if p.name.startswith(
        ("_runtime.", "_compiler.")) and p.suffix == ".so"]
    assert len(modules) == 2
    for path in modules:
        needs = subprocess.run(["readelf", "-d", path], capture_output=True, text=True,
                               check=True).stdout
        # Of oneDNN a wheel is built without: scripts/wheel.sh demands it.
        assert not re.search(r"NEEDED.*(LLVM|MLIR|blas|python)", needs), path
        shown = subprocess.run(["nm", "-D", "--defined-only", path], check=True,
                               capture_output=True, text=True).stdout.split()[2::3]
        assert shown == ["PyInit_" + path.name.split(".")[0]]
    if "Release" in (BINARY / "CMakeCache.txt").read_text():
        assert {p.name for p in (tmp_path / "aicf").glob("*.pyi")} == {
            "_runtime.pyi", "_compiler.pyi"}


PAGES = ["README.md", "docs/Tutorial.md", "docs/ForPyTorchAndJaxUsers.md", "docs/Debugging.md",
         "docs/Logging.md", "docs/FromPythonToC.md"]


@pytest.mark.parametrize("page", PAGES)
def test_code_blocks_of_the_docs(page, tmp_path, monkeypatch):
    """The blocks of a page are one program; those marked `python no-run` are not."""
    monkeypatch.chdir(tmp_path)
    text = (SOURCE / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks, page
    if "plot(" in text:
        pytest.importorskip("matplotlib")
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": page})


def test_the_c_program_of_the_page(tmp_path, monkeypatch):
    """It predicts what Python does for a row of zeros."""
    monkeypatch.chdir(tmp_path)
    text = (SOURCE / "docs/FromPythonToC.md").read_text()
    python, c = (re.search(r"^```%s\n(.*?)^```" % name, text, re.M | re.S).group(1)
                 for name in ("python", "c"))
    scope = {"__name__": "page"}
    exec(compile(python, "page", "exec"), scope)
    (tmp_path / "predict.c").write_text(c)
    library = BINARY / "lib"
    subprocess.run(["cc", "-Wall", "-Werror", "predict.c", "-I", SOURCE / "include", "-L",
                    library, "-Wl,-rpath," + str(library), "-laicf", "-o", "predict"],
                   check=True)
    said = subprocess.run(["./predict"], check=True, capture_output=True, text=True).stdout
    expected = scope["step"].predict(np.zeros((1, 64), "f4"))[0]
    assert [float(line.split(": ")[1]) for line in said.splitlines()] \
        == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-5)


def recipes():
    text = (SOURCE / "docs/Recipes.md").read_text()
    return re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("title, program", recipes(), ids=[t for t, _ in recipes()])
def test_recipes(title, program, tmp_path, monkeypatch):
    """Each is a program of its own, of at most 30 lines; the one with every wish of
    at most 18."""
    monkeypatch.chdir(tmp_path)
    lines = [line for line in program.splitlines() if line.strip()]
    assert len(lines) <= (18 if title.endswith("with everything") else 30)
    if "plot" in program:
        pytest.importorskip("matplotlib")
    for _ in range(2 if "resume=True" in program else 1):
        exec(compile(program, title, "exec"), {"__name__": "recipe"})


def test_train_your_own(tmp_path):
    """Its blocks are one script; what it trained tells the spirals apart."""
    text = (SOURCE / "docs/TrainYourOwn.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) >= 5
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)], cwd=tmp_path, text=True,
        capture_output=True, env={**os.environ, "PATH": "%s:%s" % (
            BINARY / "bin", os.environ["PATH"])})
    assert done.returncode == 0, done.stdout + done.stderr
    right = re.search(r"\((\d+) of 1000\)", (tmp_path / "accuracy.txt").read_text())
    assert int(right.group(1)) > 950
