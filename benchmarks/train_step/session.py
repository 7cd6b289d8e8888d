# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process of aicf-step with a plan, from Python."""

import os
import subprocess
import tempfile

import numpy as np


def from_bytes(data, dtype):
    """A tensor's raw bytes as float64."""
    if dtype == "bf16":
        bits = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64)
    kind = {"f32": np.float32, "f16": np.float16, "f64": np.float64,
            "i64": np.int64, "i32": np.int32}[dtype]
    return np.frombuffer(data, kind).astype(np.float64)


class Session:
    """`program` is aicf-step, or a list of it and its arguments."""

    def __init__(self, program, plan, tune="off"):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.path = os.path.join(self.folder.name, "tensor")
        self.process = subprocess.Popen(
            program if isinstance(program, list) else [program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answer = self.ask("load %s %s" % (plan, tune))
        self.prepare_seconds = float(answer.split()[3])

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer.startswith("ok"):
            raise RuntimeError("%s: %s" % (line, answer))
        return answer[3:]

    def write(self, name, array):
        np.ascontiguousarray(array).tofile(self.path)
        self.ask("write %s %s" % (name, self.path))

    def read_bytes(self, name):
        self.ask("read %s %s" % (name, self.path))
        with open(self.path, "rb") as file:
            return file.read()

    def read(self, name, dtype="f32"):
        return from_bytes(self.read_bytes(name), dtype)

    def start(self, weights, x, t, learning_rate):
        """Weights as [W0, b0, W1, ...]; moments and counters stay."""
        for i, w in enumerate(weights):
            self.write("fc%d.%s" % (i // 2, "bias" if i % 2 else "weight"), w)
        self.write("x", x)
        self.write("target", t)
        self.write("lr", np.float32(learning_rate))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


def start_random(program, plan, batch, widths):
    """A session on random data, the same each time, and its parameters' names."""
    random = np.random.default_rng(1)
    weights = []
    for k, n in zip(widths, widths[1:]):
        weights.append((random.standard_normal((n, k)) * np.sqrt(2 / k))
                       .astype(np.float32))
        weights.append(np.zeros(n, np.float32))
    session = Session(program, plan)
    x = random.standard_normal((batch, widths[0])).astype(np.float32)
    t = random.standard_normal((batch, widths[-1])).astype(np.float32)
    session.start(weights, x, t, 1e-3)
    return session, names(weights)


def state(session, tensors):
    """The bytes of parameters, moments, loss and step."""
    return [session.read_bytes(n + s) for n in tensors
            for s in ("", ".exp_avg", ".exp_avg_sq")] + [
                session.read_bytes("loss"), session.read_bytes("step")]


def names(weights):
    return ["fc%d.%s" % (i // 2, "bias" if i % 2 else "weight")
            for i in range(len(weights))]
