# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fashion-MNIST: 784 -> 256 -> 10, AdamW, as examples/fashion_mnist/model.mlir.

The data is Debian's dataset-fashion-mnist (Xiao, Rasul, Vollgraf 2017).
"""

from typing import Any

import numpy as np

import aicf
from aicf import nn
from aicf.examples import _common

FOLDER = "/usr/share/datasets/fashion-mnist"


class Net(nn.Module):
    def __init__(self) -> None:
        self.fc0, self.fc1 = nn.Linear(784, 256), nn.Linear(256, 10)

    def forward(self, x: aicf.Tensor) -> Any:
        return self.fc1(aicf.ops.relu(self.fc0(x)))


def loss(model: nn.Module, x: aicf.Tensor, labels: aicf.Tensor) -> Any:
    return aicf.losses.cross_entropy(model(x), labels)


def main() -> None:
    flags = _common.parse_flags(__doc__, FOLDER, epochs=10)
    x, y, test_x, test_y = (_common.read_idx("%s/%s.gz" % (flags.data, name)) for name in (
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"))
    x, test_x = (a.reshape(len(a), 784).astype(np.float32) / 255 for a in (x, test_x))
    y, test_y = y.astype(np.int32), test_y.astype(np.int32)

    model = Net()
    rate = aicf.optim.WarmupCosine(0.003, warmup=200, steps=len(x) // 128 * flags.epochs)
    step = aicf.compile_step(model, loss, aicf.optim.AdamW(rate, weight_decay=0.05),
                             {"x": aicf.spec((128, 784)), "labels": aicf.spec(128, "i32")},
                             device=flags.device, precision=flags.precision,
                             seed=flags.seed, threads=flags.threads)
    correct = aicf.compile(lambda x, labels: aicf.losses.accuracy_count(model(x), labels),
                           {"x": aicf.spec((1000, 784)), "labels": aicf.spec(1000, "i32")},
                           model=model, program=step)

    seconds = _common.train(step, x, y, 128, flags.epochs, flags.seed)
    _common.report(_common.accuracy(correct, test_x, test_y, 1000), seconds, flags.epochs)


if __name__ == "__main__":
    main()
