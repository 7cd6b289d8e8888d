# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own operator database: each op on its sample inputs. An op that is not refused
in all of them stands in taken.txt, which may only grow: AICF_VALUES_TAKEN=FILE writes the
names of a run."""

import os
import pathlib
import zlib

import pytest
import torch
from frame import FLOATS, compare
from known import EXPLAINED, OF_SAMPLES
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import aicf.errors

IS_SAMPLE = os.environ.get("AICF_VALUES", "all") == "sample"
TAKEN = set((pathlib.Path(__file__).parent / "taken.txt").read_text().splitlines())
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64,
         "i64": torch.int64}
#: Samples of one op and type.
MOST = int(os.environ.get("AICF_MOST", 1 if IS_SAMPLE else 6))
#: Of a sample run, one op in so many, always the same ones.
PART = 20


def cases():
    for info in op_db:
        if info.name.startswith(("_refs", "fft", "linalg.", "jiterator", "_chunk_cat", "sparse.")):
            continue
        for name, dtype in TYPES.items():
            id_ = "%s-%s" % (info.full_name, name)
            if dtype in info.dtypes and not (IS_SAMPLE and (
                    info.full_name not in TAKEN or zlib.crc32(id_.encode()) % PART)):
                yield pytest.param(info, dtype, id=id_)


def as_function(info, sample):
    """A function of the sample's tensors, and those."""
    leaves, spec = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [i for i, v in enumerate(leaves) if isinstance(v, torch.Tensor)]
    tensors = [leaves[i].detach().clone(memory_format=torch.contiguous_format)
               for i in places]

    def function(*operands):
        own = list(leaves)
        for place, value in zip(places, operands):
            own[place] = value
        first, args, kwargs = _pytree.tree_unflatten(own, spec)
        return info.op(first, *args, **kwargs)
    return function, tensors


def is_comparable(tensors):
    return tensors and all(t.numel() and t.numel() < 5000 and not t.is_complex()
                           and (t.dtype in FLOATS or t.dtype in (
                               torch.int64, torch.int32, torch.bool)) for t in tensors)


@pytest.mark.parametrize("info, dtype", cases())
def test_samples(info, dtype):
    torch.manual_seed(0)
    compared, tried, refused, found = 0, 0, "", []
    needs = dtype.is_floating_point and info.supports_autograd
    for sample in info.sample_inputs("cpu", dtype, requires_grad=needs):
        if compared == MOST or tried == 4 * MOST and info.full_name not in TAKEN:
            break
        tried += 1
        function, tensors = as_function(info, sample)
        if not is_comparable(tensors):
            continue
        try:
            found += compare(function, tensors)
            compared += 1
        except aicf.errors.AICFError as error:
            refused = refused or " ".join(str(error).splitlines()[:2])[:160]
            if isinstance(error, aicf.errors.VerificationError):
                raise
        except Exception as error:  # PyTorch's own
            refused = refused or "PyTorch: %s" % str(error).splitlines()[0][:100]
    if not compared:
        assert info.full_name not in TAKEN or dtype != torch.float32, refused
        pytest.skip(refused or "no sample that can be compared")
    if os.environ.get("AICF_VALUES_TAKEN") and dtype == torch.float32:
        with open(os.environ["AICF_VALUES_TAKEN"], "a") as file:
            file.write(info.full_name + "\n")
    reason = EXPLAINED.get(info.name) or OF_SAMPLES.get(info.name)
    if found and reason:
        pytest.skip("explained: %s" % reason)
    assert not found, "; ".join(found[:4])
