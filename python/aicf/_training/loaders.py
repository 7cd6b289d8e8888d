# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Iterables of batches that can be had faster than they give them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ..data import Prefetch


def _is_plain(loader: Any, torch: Any) -> bool:
    """Whether a DataLoader does nothing but put rows of whole tensors together."""
    data = torch.utils.data
    return (type(loader) is data.DataLoader and type(loader.dataset) is data.TensorDataset
            and loader.num_workers == 0
            and type(loader.batch_sampler) is data.BatchSampler  # it gives lists of numbers
            and loader.collate_fn is data.default_collate and not loader.pin_memory
            and not any(t.is_cuda for t in loader.dataset.tensors))


def iterator_of(data: Any) -> Iterator[Any]:
    """Returns iter(data). Of a DataLoader over a TensorDataset, whose default takes rows one
    by one and stacks them, it gives the same batches by one index of each tensor."""
    if isinstance(data, Prefetch):
        return data.started(iterator_of)
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "utils") or not _is_plain(data, torch):
        return iter(data)
    # What a DataLoader draws for its workers, before the sampler draws: so the order and
    # the generator's state are the same.
    torch.empty((), dtype=torch.int64).random_(generator=data.generator)
    return _rows_of(data)


def _rows_of(loader: Any) -> Iterator[list[Any]]:
    for rows in loader.batch_sampler:
        yield [tensor[rows] for tensor in loader.dataset.tensors]
