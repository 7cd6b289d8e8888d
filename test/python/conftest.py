# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tools as a user does: files in, files and exit codes out."""

import json
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ["AICF_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["AICF_BINARY_DIR"]) / "bin"
EXAMPLES = pathlib.Path(os.environ["AICF_BINARY_DIR"]) / "examples"

DTYPES = {"F32": np.float32, "F64": np.float64, "F16": np.float16,
          "I32": np.int32, "I64": np.int64}


def run_tool(name, *args, env=None):
    """A tool's result; never raises on a non-zero exit code."""
    return subprocess.run([str(BIN / name), *map(str, args)], text=True,
                          capture_output=True, timeout=120,
                          env={**os.environ, "AICF_WARMUP": "0", **(env or {})})


def read_safetensors(path):
    """Independent of the C++ reader."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    body = data[8 + size:]
    return {name: np.frombuffer(body[slice(*info["data_offsets"])],
                                DTYPES[info["dtype"]]).reshape(info["shape"])
            for name, info in header.items() if name != "__metadata__"}


def write_safetensors(path, tensors):
    names = {np.dtype(v): k for k, v in DTYPES.items()}
    header, body = {}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


class Workbench:
    """A folder with an .mlir step, its plan, and runs of it."""

    def __init__(self, folder):
        self.folder = folder

    def generate(self, *args, name="step"):
        out = subprocess.run(
            [sys.executable, str(SOURCE / "benchmarks/generate_step.py"), *args],
            text=True, capture_output=True, check=True).stdout
        (self.folder / (name + ".mlir")).write_text(out)
        return name

    def compile(self, name="step", *flags, plan=None):
        path = self.folder / ((plan or name) + ".plan")
        done = run_tool("aicf-compile", self.folder / (name + ".mlir"), "-o", path,
                        *flags)
        assert done.returncode == 0, done.stderr
        return path

    def save(self, name, array):
        path = self.folder / (name.replace("/", "_") + ".npy")
        np.save(path, array)
        return "%s=@%s" % (name, path)

    def run(self, plan, *flags, inputs=None, outputs=(), hypers=None, code=0,
            env=None):
        """Runs a plan; returns the outputs by name."""
        args = []
        for name, array in (inputs or {}).items():
            args += ["--input", self.save(name, array)]
        for name, value in (hypers or {}).items():
            args += ["--set", "%s=%r" % (name, value)]
        for name in outputs:
            args += ["--output", "%s=@%s" % (name, self.folder / "out" /
                                             (name.replace("/", "_") + ".npy"))]
        (self.folder / "out").mkdir(exist_ok=True)
        done = run_tool("aicf-run", plan, *args, *flags, env=env)
        assert done.returncode == code, done.stderr + done.stdout
        return {name: np.load(self.folder / "out" /
                              (name.replace("/", "_") + ".npy"))
                for name in outputs}


@pytest.fixture
def bench(tmp_path):
    return Workbench(tmp_path)
