# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The 8x8 digits: 64 -> 64 -> 10, AdamW, as examples/digits/model.mlir.

Data: scikit-learn's copy of the UCI digits (its licence lies beside it), the first 1,500 rows to train on, the other 297 to test on.
"""

import os
from typing import Any

import numpy as np

import aicf
from aicf import nn
from aicf.examples import _common

FILE = os.path.join(os.path.dirname(__file__), "digits.csv.gz")


class Net(nn.Module):
    def __init__(self) -> None:
        self.fc0, self.fc1 = nn.Linear(64, 64), nn.Linear(64, 10)

    def forward(self, x: aicf.Tensor) -> Any:
        return self.fc1(aicf.ops.relu(self.fc0(x)))


def loss(model: nn.Module, x: aicf.Tensor, labels: aicf.Tensor) -> Any:
    return aicf.losses.cross_entropy(model(x), labels)


def main() -> None:
    flags = _common.parse_flags(__doc__, FILE, epochs=30)
    table = np.loadtxt(flags.data, np.float32, delimiter=",")
    x, y = table[:, :64] / 16, table[:, 64].astype(np.int32)

    model = Net()
    step = aicf.compile_step(model, loss, aicf.optim.AdamW(1e-3, weight_decay=0),
                             {"x": aicf.spec((32, 64)), "labels": aicf.spec(32, "i32")},
                             device=flags.device, precision=flags.precision,
                             seed=flags.seed, threads=flags.threads)
    correct = aicf.compile(lambda x, labels: aicf.losses.accuracy_count(model(x), labels),
                           {"x": aicf.spec((99, 64)), "labels": aicf.spec(99, "i32")},
                           model=model, program=step)

    seconds = _common.train(step, x[:1500], y[:1500], 32, flags.epochs, flags.seed)
    _common.report(_common.accuracy(correct, x[1500:], y[1500:], 99), seconds, flags.epochs)


if __name__ == "__main__":
    main()
