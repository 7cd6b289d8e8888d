# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of data that lives on the device, batches that are made beside the step, and a
small data set to begin with.

With such batches a step copies nothing from the host, and `step.run(n)` can run many
steps per launch.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from . import ops
from ._base.hints import missing
from ._tracing.tensor import Tensor
from ._tracing.trace import as_tensor, current_trace, trace_error
from .errors import InvalidArgumentError, near_names
from .nn import Buffer

__all__ = ["Batches", "Prefetch", "load_csv", "load_digits"]


def load_digits() -> tuple[Any, Any]:
    """Loads 1,797 handwritten digits of 8 x 8 pixels. This is scikit-learn's copy of the
    UCI data set. Its licence is beside it in the package.

    Returns: the images, f32 [1797, 64] in [0, 1], and their classes, i32 [1797], as NumPy
        arrays.
    """
    import importlib.resources

    import numpy
    file = importlib.resources.files("aicf.examples").joinpath("digits.csv.gz")
    with importlib.resources.as_file(file) as path:
        table = numpy.loadtxt(path, numpy.float32, delimiter=",")
    return table[:, :64] / 16, table[:, 64].astype(numpy.int32)


def load_csv(path: str | os.PathLike[str], target: str | int = -1, *,
             classes: bool | None = None) -> tuple[Any, Any]:
    """Loads a table of numbers with a line of names, as pandas writes it.

    Args:
        path: the file: commas between values, a first line with the names of the columns.
        target: the column to predict, by name or number; the default is the last one.
        classes: whether the target are class numbers (i32) and not values (f32). None
            takes whole numbers of 0 or more for classes.
    Returns: the other columns, f32 [rows, columns], and the target, [rows], as NumPy
        arrays.
    Raises: InvalidArgumentError with the line of what is not a number, or the names of the
        columns; FileNotFoundError.
    """
    import csv

    import numpy
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    names = [name.strip() for name in rows[0]] if rows else []
    if len(rows) < 2 or len(names) < 2:
        raise InvalidArgumentError("%r has %d lines and %d columns, expected a line of names "
                                   "and lines of numbers" % (str(path), len(rows), len(names)))
    if isinstance(target, str) and target not in names:
        raise InvalidArgumentError("%r has no column %r%s; it has %s" % (
            str(path), target, near_names(target, names), ", ".join(names)))
    column = names.index(target) if isinstance(target, str) else range(len(names))[target]
    table = numpy.empty((len(rows) - 1, len(names)))
    for i, row in enumerate(rows[1:]):
        try:
            if len(row) != len(names):
                raise ValueError("it has %d values" % len(row))
            table[i] = [float(cell) for cell in row]
        except ValueError as error:
            raise InvalidArgumentError(
                "%r, line %d: %s, expected %d numbers; pandas.read_csv reads more kinds of "
                "tables" % (str(path), i + 2, error, len(names))) from None
    wanted = table[:, column]
    whole = bool((wanted >= 0).all() and (wanted == wanted.round()).all())
    return (numpy.delete(table, column, 1).astype(numpy.float32), wanted.astype(
        numpy.int32 if (whole if classes is None else classes) else numpy.float32))


class Prefetch:
    """Makes the next batches in a thread, while the step computes the one before::

        aicf.fit(step, aicf.data.Prefetch(loader), epochs=10)

    It helps as far as making a batch lets Python go on, as NumPy, PyTorch, files and
    decoders do; workers of a DataLoader are processes, and have no such limit. The copy to
    a GPU needs no thread: a step copies its inputs into pinned memory, from where they go
    to the device beside the step before.

    Args:
        batches: an iterable of batches, such as a torch DataLoader. It is used by the
            thread alone while that runs.
        depth: the most batches that wait, 1 or more.
    Raises: TypeError, ValueError.
    """

    def __init__(self, batches: Any, depth: int = 2) -> None:
        if not hasattr(batches, "__iter__"):
            raise TypeError("batches is a %s, expected an iterable of batches"
                            % type(batches).__name__)
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise ValueError("depth is %r, expected an int of 1 or more" % (depth,))
        self.batches, self.depth = batches, depth

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        return self.started(iter)

    def started(self, iterate: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """Yields what iterate(batches) gives. Closing it, or an error, ends the thread and
        the workers of the batches."""
        waiting: queue.Queue[tuple[str, Any]] = queue.Queue(self.depth)
        is_over = threading.Event()

        def put(kind: str, value: Any) -> None:
            while not is_over.is_set():
                with contextlib.suppress(queue.Full):
                    return waiting.put((kind, value), timeout=0.1)

        def make() -> None:
            try:
                items = iterate(self.batches)
                try:
                    for item in items:
                        put("batch", item)
                        if is_over.is_set():
                            return
                finally:
                    close_iterator(items)
                put("end", None)
            except BaseException as error:  # the consumer raises it
                put("error", error)
        thread = threading.Thread(target=make, name="aicf.data.Prefetch", daemon=True)
        thread.start()
        is_waited_for = True
        try:
            while True:
                kind, value = waiting.get()
                if kind == "error":
                    raise value
                if kind == "end":
                    return
                yield value
        except KeyboardInterrupt:  # nobody waits for a batch that takes long
            is_waited_for = False
            raise
        finally:
            is_over.set()
            if is_waited_for:
                thread.join()


def close_iterator(iterator: Any) -> None:
    """Closes a generator, and ends the workers of a torch DataLoader, unless they persist."""
    if getattr(iterator, "_persistent_workers", False):
        return
    for name in ("_shutdown_workers", "close"):
        end: Callable[[], Any] | None = getattr(iterator, name, None)
        if callable(end):
            end()


class Batches:
    """Takes shuffled batches on the device, epoch after epoch without end. Each row comes
    once per epoch (a Feistel network permutes the row numbers: ops.shuffle).

    Args:
        size: the number of rows of a batch, 1 or more.
        seed: the seed of the order.
        name: the name of the state that counts the batches. Two Batches of one program
            need two names.

    Example::

        batches = aicf.data.Batches(128)

        def loss(model, images, labels):  # all of them, on the device
            x, y = batches(images, labels)
            return aicf.losses.cross_entropy(model(x), y)
    """

    def __init__(self, size: int, seed: int = 0, name: str = "batch") -> None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError("size is %r, expected an int of 1 or more" % (size,))
        self.size, self.seed = size, int(seed)
        self.count = Buffer((), "i64", name=name)

    def __call__(self, *arrays: Any) -> Tensor | tuple[Tensor, ...]:
        """Returns the next batch: tensors [size, ...] from arrays [rows, ...]. Call it
        once in a step. Raises TraceError: numbers of rows that differ or are below
        `size`, or a second call in the step."""
        trace = current_trace("Batches")
        tensors = [as_tensor(array) for array in arrays]
        if any(not t.shape for t in tensors) \
                or len({t.shape[0] for t in tensors}) != 1:
            trace_error("a batch is taken from arrays with the same number of rows, "
                        "got %s" % ", ".join(map(str, tensors)))
        if self.size > tensors[0].shape[0]:
            trace_error("a batch has %d rows, but the arrays have %d"
                        % (self.size, tensors[0].shape[0]))
        trace.resident = (tensors[0].shape[0], self.size)
        index = ops.shuffle(as_tensor(self.count), size=tensors[0].shape[0],
                            seed=self.seed, batch=self.size)
        taken = tuple(ops.gather_rows(tensor, index) for tensor in tensors)
        self.count.update(ops.step_inc(as_tensor(self.count)))
        return taken if len(taken) > 1 else taken[0]


def __getattr__(name: str) -> Any:
    raise missing("aicf.data", name, sys.modules[__name__])
