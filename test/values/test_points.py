# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function of one or two tensors in PyTorch's database, at special points."""

import math
import os

import pytest
import torch
from frame import compare
from known import EXPLAINED, at_points
from torch.testing._internal.common_methods_invocations import (BinaryUfuncInfo,
                                                                UnaryUfuncInfo, op_db)

import aicf.errors

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64,
         "i32": torch.int32, "i64": torch.int64}
if os.environ.get("AICF_VALUES") == "sample":
    TYPES = {"f32": torch.float32, "i64": torch.int64}
POINTS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 6.0, 7.25, -20.0,
          88.0, -100.0, 1e-9, -1e-9, 1e4, 16777217.0, 1e10, -1e20, 3e38, -3e38, 1e-30,
          1.1754944e-38, 1e-40, math.inf, -math.inf, math.nan]
NUMBERS = [0, 1, -1, 2, -2, 3, 7, -8, 100, -1000, 2 ** 20 + 1]
PAIRS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 0.1, 1e-30, 1e20, 3e38, math.inf, -math.inf,
         math.nan]


def points(dtype, values=POINTS, numbers=NUMBERS):
    return torch.tensor(values if dtype.is_floating_point else numbers, dtype=dtype)


def cases():
    for kind, count in ((UnaryUfuncInfo, 1), (BinaryUfuncInfo, 2)):
        for info in op_db:
            if isinstance(info, kind) and not info.name.startswith(("_refs", "fft", "jiterator")):
                for name, dtype in TYPES.items():
                    if dtype in info.dtypes:
                        yield pytest.param(info, count, dtype, id="%s-%s" % (
                            info.full_name, name))


@pytest.mark.parametrize("info, count, dtype", cases())
def test_points(info, count, dtype):
    if count == 1:
        operands = [points(dtype)]
    else:
        values = points(dtype, PAIRS)
        operands = [v.flatten().contiguous() for v in torch.meshgrid(
            values, values, indexing="ij")]
    function = at_points(info)
    try:
        found = compare(function, operands)
    except aicf.errors.TraceError as error:
        pytest.skip("refused: %s" % " ".join(str(error).splitlines()[:2])[:160])
    except (RuntimeError, IndexError, ValueError, TypeError, AssertionError) as error:
        if isinstance(error, aicf.errors.AICFError):
            raise
        pytest.skip("PyTorch: %s" % str(error).splitlines()[0][:120])
    reason = EXPLAINED.get(info.name)
    if found and reason:
        pytest.skip("explained: %s" % reason)
    assert not found, "; ".join(found[:4])
