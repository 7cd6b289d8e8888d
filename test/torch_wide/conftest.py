# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages are imported without the network, and torchvision without its own kernels:
PyPI's are built for CUDA's PyTorch, and no program here calls one."""

import os
import re
import sys

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def import_torchvision():
    for _ in range(20):
        try:
            import torchvision
            return torchvision
        except RuntimeError as error:
            missing = re.match(r"operator (torchvision::\w+) does not exist", str(error))
            if not missing:
                raise
            torch.library.define(missing[1], "(Tensor x) -> Tensor")
            for name in [n for n in sys.modules if n.startswith("torchvision")]:
                del sys.modules[name]
    raise ImportError("torchvision")


import_torchvision()
