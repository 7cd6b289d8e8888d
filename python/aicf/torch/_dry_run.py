# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run of a module on tensors without data, instead of one that computes: a large batch
takes a CPU half a minute, and most modules neither keep anything nor ask for a value."""

from __future__ import annotations

import gc
import os
import random
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

#: Floating-point operations from which on a run takes longer than one without data.
LONG_RUN = 1e11
#: A lock that another thread held when the process was copied is never released.
_MOST_SECONDS = 60.0


class _Written(Exception):
    """The module writes to a tensor of its own."""


class _RefuseWrites(TorchDispatchMode):  # type: ignore[misc]
    """Raises _Written where an op writes to a tensor that exists, or to a view of one."""

    def __init__(self) -> None:
        super().__init__()
        self.existing: dict[int, Any] = {}  # storages of views of such, kept by address

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        schema = function._schema
        given = {**dict(zip((a.name for a in schema.arguments), args)), **(kwargs or {})}
        for argument in schema.arguments:
            is_written = argument.alias_info is not None and argument.alias_info.is_write
            # Batch norm writes its statistics, and its schema does not say so.
            if (is_written or "batch_norm" in schema.name) \
                    and any(map(self._exists, _pytree.tree_leaves(given.get(argument.name)))):
                raise _Written(str(function))
        result = function(*args, **(kwargs or {}))
        if any(r.alias_info is not None for r in schema.returns) \
                and any(map(self._exists, _pytree.tree_leaves(given))):
            for view in _pytree.tree_leaves(result):
                storage = view.untyped_storage()
                self.existing[storage._cdata] = storage
        return result

    def _exists(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and (
            not isinstance(value, FakeTensor)
            or value.untyped_storage()._cdata in self.existing)


def would_take_long(module: Any, examples: Sequence[Any]) -> bool:
    """By the products of its parameters with each row of the largest example."""
    rows = [t.numel() // (t.shape[-1] if t.is_floating_point() and t.dim() else 1)
            for t in _pytree.tree_leaves(list(examples))
            if isinstance(t, torch.Tensor) and t.numel()]
    weights = sum(p.numel() for p in module.parameters() if p.dim() > 1)
    return bool(2.0 * max(rows, default=0) * weights >= LONG_RUN)


def _run(module: Any, examples: Sequence[Any]) -> None:
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    given = _pytree.tree_map_only(torch.Tensor, mode.from_tensor, list(examples))
    with torch.no_grad(), mode, _RefuseWrites():
        module(*given)


def _dataless() -> set[int]:
    """The tensors without data that something keeps, by id()."""
    gc.collect()
    return {id(found) for found in gc.get_objects() if type(found) is FakeTensor}


def _runs_dry(module: Any, examples: Sequence[Any]) -> bool:
    """True if a run without data ends, so that it asks for no value of a tensor, writes to
    no tensor that exists, and leaves none: what a cache keeps must have data."""
    before = _dataless()
    _run(module, examples)
    return _dataless() <= before


def leaves_nothing(module: Any, examples: Sequence[Any],
                   has_changed: Callable[[], bool]) -> bool:
    """True if a run without data neither asks for a value nor writes to a tensor, and
    `has_changed` finds nothing behind it. False says nothing.

    The run is another process's: caches outside of the module (functools.lru_cache) would
    keep tensors without data. Where they do, a run with data must fill them.
    """
    if not hasattr(os, "fork") or any(p.is_cuda for p in module.parameters()):
        return False
    numbers = random.getstate()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, also by JAX: see _MOST_SECONDS
        child = os.fork()
    if child == 0:
        status = 1
        try:
            random.setstate(numbers)  # a copy of a process has another seed
            for descriptor in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            status = 0 if _runs_dry(module, examples) and not has_changed() else 1
        finally:
            os._exit(status)  # nothing of this process is flushed or ended twice
    return _status_of(child) == 0


def _status_of(child: int) -> int:
    """How a process ended; -1 if it did not in time, after which it is gone."""
    end = time.monotonic() + _MOST_SECONDS
    try:
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                child = 0
                return status
            time.sleep(0.002)
        return -1
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
