# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a function of PyTorch's on tensors, compiled and in PyTorch: its results, and the
gradient of each float among its operands. It is compiled on one batch and called with
another."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import torch
from torch.utils import _pytree

import aicf.errors
import aicf.torch
from aicf._importing.differences import difference

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class Applied(torch.nn.Module):
    """f(operands), where -0.0 is added to each float: to the bit the operand, and the
    parameter that is added gets its gradient. Results are kept in buffers."""

    def __init__(self, function, operands, results):
        super().__init__()
        self.function, self.at = function, []
        for i, value in enumerate(operands):
            if value.dtype in FLOATS:
                self.at.append(i)
                setattr(self, "w%d" % i, torch.nn.Parameter(torch.full_like(value, -0.0)))
        self.count = len(results)
        for i, result in enumerate(results):
            self.register_buffer("y%d" % i, torch.zeros_like(result))

    def forward(self, *operands):
        values = list(operands)
        for i in self.at:
            values[i] = values[i] + getattr(self, "w%d" % i)
        loss = sum((0 * getattr(self, "w%d" % i)).sum() for i in self.at)
        for i, result in enumerate(tensors_in(self.function(*values))):
            getattr(self, "y%d" % i).copy_(result.detach())
            if result.dtype in FLOATS and result.requires_grad:
                # Another weight for each result, so that no two cancel.
                loss = loss + (i + 1) * result.to(torch.promote_types(
                    result.dtype, torch.float32)).sum()
        return loss


def tensors_in(value):
    return [v for v in _pytree.tree_leaves(value) if isinstance(v, torch.Tensor)]


def found_in(module, at):
    return [getattr(module, "y%d" % i) for i in range(module.count)], \
        [getattr(module, "w%d" % i) for i in at]


def of_pytorch(function, operands, dtype=None):
    """Results and gradients in PyTorch, in f64 if the type says so."""
    given = [v.detach().to(dtype) if dtype and v.dtype in FLOATS else v.detach()
             for v in operands]
    with torch.no_grad():
        results = tensors_in(function(*given))
    module = Applied(function, given, results)
    loss = module(*given)
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        loss.backward()
    results, weights = found_in(module, module.at)
    return results, [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]


def of_aicf(function, operands, benign):
    """Ours, of a step that was compiled with `benign`."""
    with torch.no_grad():
        results = tensors_in(function(*benign))
    module = Applied(function, benign, results)
    if not module.at:
        module.w = torch.nn.Parameter(torch.zeros(()))
        forward = module.forward
        module.forward = lambda *values: forward(*values) + module.w
    step = aicf.torch.compile_step(
        module, lambda loss: loss, torch.optim.SGD(module.parameters(), lr=1.0), list(benign),
        verify=False, shapes="fixed")
    step(*operands)
    step.sync_to_module()
    results, weights = found_in(module, module.at)
    return results, [-w.detach() for w in weights]


def benign_like(value):
    """Other values: floats in [0.25, 0.75), and integers as they are."""
    if value.dtype in FLOATS:
        return (torch.rand(value.shape) * 0.5 + 0.25).to(value.dtype)
    return value


def compare(function, operands):
    """Differences in words: none, if all is PyTorch's. Raises what the import refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = of_pytorch(function, operands)
        try:
            exact = of_pytorch(function, operands, torch.float64)
        except (RuntimeError, TypeError, ValueError):
            exact = theirs
        ours = of_aicf(function, operands, [benign_like(v) for v in operands])
    found = []
    for what, mine, other, wide in zip(("result", "gradient"), ours, theirs, exact):
        for i, (a, b, c) in enumerate(zip(mine, other, wide)):
            # A gradient that is 0 in theory is a rounding of its parts, which are near 1.
            wrong = _difference(a, b, c, 2.0 ** -5 if what == "gradient" else 0.0)
            if wrong:
                found.append("%s %d %s" % (what, i, wrong))
    return found


#: Parts of the largest element: a few roundings of a function's own.
ROUNDING = {torch.float16: 2.0 ** -9, torch.bfloat16: 2.0 ** -6, torch.float32: 2.0 ** -19,
            torch.float64: 2.0 ** -40}


def _difference(ours, theirs, exact, floor):
    if ours.dtype not in FLOATS:
        return None if torch.equal(ours, theirs) else "is %s, in PyTorch %s" % (
            ours.flatten()[:8].tolist(), theirs.flatten()[:8].tolist())
    arrays = [v.double().numpy() for v in (ours, theirs, exact)]
    finite = np.abs(arrays[2][np.isfinite(arrays[2])])
    # Element by element: one large number must not hide the others.
    for a, b, c in zip(*(x.reshape(-1, 1) for x in arrays)):
        least = ROUNDING[ours.dtype] * (np.abs(c).max() if np.isfinite(c).all() else 0) \
            + 2.0 ** -140 + ROUNDING[ours.dtype] * (
                floor + ROUNDING[ours.dtype] * finite.max(initial=0))
        wrong = difference(a, b, c, least, "PyTorch")
        if wrong:
            return wrong[1] + " (%r, PyTorch %r, f64 %r)" % (float(a[0]), float(b[0]),
                                                             float(c[0]))
    return None
