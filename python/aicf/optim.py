# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers and learning rate schedules, which describe the update of a training step.

The compiler builds the update from them. Its states have PyTorch's names
(`fc.weight.exp_avg`). A plain learning rate is a number on the device, which the host may
change between steps (`step.set("lr", 1e-4)`). A schedule is computed on the device from
the number of the step. A value that is out of range raises ValueError.
"""

from __future__ import annotations

import sys
from typing import Any

from ._base.hints import missing
from ._tracing.custom import Custom
from ._tracing.optimizers import (SGD, Adam, AdamW, Constant, Cosine, Linear, Lion,
                                  Optimizer, Polynomial, Schedule, StepDecay, Table,
                                  WarmupCosine)
from ._tracing.update_rules import (Adadelta, Adagrad, Adamax, Lamb, Muon, NAdam, NovoGrad,
                                     RAdam, RMSprop)

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Constant", "Cosine",
           "Custom", "Lamb", "Linear", "Lion", "Muon", "NAdam", "NovoGrad", "Optimizer",
           "Polynomial", "RAdam", "RMSprop", "Schedule", "StepDecay", "Table", "WarmupCosine"]


def __getattr__(name: str) -> Any:
    raise missing("aicf.optim", name, sys.modules[__name__])
