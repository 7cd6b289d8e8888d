# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the example programs share: flags, the loop over epochs, accuracy. The loop
is a user's: nothing here is the package's."""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np


def parse_flags(description: str | None, data: str, epochs: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--precision", default="f32",
                        choices=["f32", "tf32", "bf16", "f16"])
    parser.add_argument("--data", default=data, help="default: %(default)s")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args()
    if flags.epochs < 1:
        parser.error("--epochs is %d, expected 1 or more" % flags.epochs)
    return flags


def read_idx(path: str) -> Any:
    """An array of the IDX format (LeCun's MNIST), gzipped."""
    with gzip.open(path) as file:
        data = file.read()
    rank = data[3] if len(data) > 4 else 0
    shape = np.frombuffer(data, ">i4", rank, 4)
    body = np.frombuffer(data, np.uint8, offset=4 + 4 * rank)
    if data[:3] != b"\0\0\x08" or body.size != int(np.prod(shape)):
        raise ValueError("'%s' is not an IDX file of bytes" % path)
    return body.reshape(shape)


def progress(batches: int, epoch: int, epochs: int) -> Iterable[int]:
    """Batch numbers, with a tqdm bar on a terminal."""
    if sys.stderr.isatty():
        try:
            from tqdm import trange  # type: ignore[import-untyped]
        except ImportError:
            return range(batches)
        bar: Iterable[int] = trange(batches, desc="epoch %d/%d" % (epoch, epochs),
                                    leave=False)
        return bar
    return range(batches)


def train(step: Any, images: Any, labels: Any, batch: int, epochs: int,
          seed: int) -> float:
    """Shuffled batches, a line an epoch; returns the seconds that it took."""
    order, random = np.arange(len(images)), np.random.default_rng(seed)
    batches, seconds = len(images) // batch, 0.0
    # One buffer for all batches: a new array each would be new memory each.
    x, y = np.empty_like(images[:batch]), np.empty_like(labels[:batch])
    for epoch in range(1, epochs + 1):
        start = time.perf_counter()
        random.shuffle(order)
        loss: Any = None
        for i in progress(batches, epoch, epochs):
            rows = order[i * batch:(i + 1) * batch]
            np.take(images, rows, 0, out=x, mode="clip")
            np.take(labels, rows, 0, out=y, mode="clip")
            loss = step(x, y)
        value = float(loss)  # waits
        seconds += time.perf_counter() - start
        print("epoch %d/%d  loss %.5f  %.0f images/s" % (
            epoch, epochs, value,
            batches * batch / (time.perf_counter() - start)), flush=True)
    return seconds


def accuracy(correct: Any, images: Any, labels: Any, batch: int) -> float:
    """Percent; `correct` counts the right ones of a batch."""
    return 100.0 / len(images) * sum(
        int(correct(images[i:i + batch], labels[i:i + batch]))
        for i in range(0, len(images), batch))


def report(percent: float, seconds: float, epochs: int) -> None:
    print("test accuracy: %.2f %%" % percent)
    print("training time: %.1f s for %d epochs" % (seconds, epochs))
