# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where aicf.fit gets its batches: arrays, iterables, or data that is on the device.

A source gives the batches of an epoch from a position on. `exact` is "" if it gives
the same batches after a restart, and otherwise the reason why it may not.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from .._programs.convert import Converter, array_of, as_type, is_table
from ..data import close_iterator
from ..errors import InvalidArgumentError
from .loaders import iterator_of

#: Inputs by name, and the number of their rows.
Batch = tuple[dict[str, Any], int]


class Source(Protocol):
    exact: str
    num_batches: int | None  # of an epoch; None if it is not known in advance

    def batches(self, epoch: int, start: int) -> Iterator[Batch]:
        """Yields the batches of an epoch, counted from 0, without the first `start`."""

    def state(self) -> Any:
        """Returns a state for JSON, which load_state compares or takes back."""

    def load_state(self, state: Any) -> None:
        """Raises InvalidArgumentError if the state is of other data."""

    def close(self) -> None:
        """Ends workers and closes files. fit always calls it."""


def named_arrays(data: Any, names: Sequence[str], what: str) -> dict[str, Any]:
    """Returns inputs by name, from a dict, a tuple in the inputs' order, or one array."""
    if isinstance(data, Mapping) and not is_table(data):
        if set(data) != set(names):
            raise InvalidArgumentError(
                "%s has the inputs %s, the step takes %s"
                % (what, ", ".join(map(str, data)) or "none", ", ".join(names)))
        return {name: data[name] for name in names}
    if not isinstance(data, (tuple, list)):
        data = (data,)
    if len(data) != len(names):
        raise InvalidArgumentError("%s has %d inputs, the step takes %d: %s" % (
            what, len(data), len(names), ", ".join(names)))
    return dict(zip(names, data))


def inputs_of(step: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = step.family.root.signature.inputs
    return names


def named_data(step: Any, data: Any, what: str) -> dict[str, Any]:
    """Returns inputs of a step by name. A step of JAX takes trees."""
    return named_arrays(step._leaves_of(data), inputs_of(step), what)


def is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") or is_table(value)


def holds_arrays(data: Any) -> bool:
    """Whether `data` is arrays with all rows, and not an iterable of batches."""
    if is_array(data):
        return True
    if isinstance(data, Mapping):  # not a Series, which is one array
        return all(map(is_array, data.values()))
    return isinstance(data, tuple) and bool(data) and all(map(is_array, data))


def count_rows(arrays: Mapping[str, Any], what: str) -> int:
    rows = {name: array.shape[0] for name, array in arrays.items()
            if getattr(array, "shape", ())}  # a number belongs to all rows
    if len(set(rows.values())) != 1 or 0 in rows.values():
        raise InvalidArgumentError("%s needs arrays with one common number of rows, "
                                   "got %s" % (what, ", ".join(
                                       "%s: %d" % item for item in rows.items())))
    return int(next(iter(rows.values())))


def rows_of(array: Any, rows: Any) -> Any:
    """Returns the array's rows of these numbers. A number belongs to all rows."""
    return array[rows] if array.shape else array


class Arrays:
    """Batches of arrays, whose rows are shuffled anew in each epoch."""

    exact = ""

    def __init__(self, arrays: Mapping[str, Any], batch_size: int, shuffle: bool,
                 seed: int, convert: Converter) -> None:
        self.arrays, self.types = {}, {}
        for name, value in arrays.items():
            array = array_of(value, name)
            wanted = convert.type_of(name, array)
            if wanted is not None and wanted.itemsize <= array.dtype.itemsize:
                array, wanted = as_type(array, wanted), None  # once
            #: Types of narrow arrays, such as images of u8, are converted by the batch.
            self.arrays[name], self.types[name] = array, wanted
        self.batch_size, self.shuffle, self.seed = batch_size, shuffle, seed
        self.rows = count_rows(self.arrays, "data")
        self.num_batches: int | None = -(-self.rows // batch_size)
        self._buffers: dict[tuple[str, int], Any] = {}

    def order(self, epoch: int) -> Any:
        """Returns the order of the rows in an epoch. It depends on the seed and the
        epoch's number only, so that a run can start anywhere in any epoch."""
        import numpy
        if not self.shuffle:
            return numpy.arange(self.rows)
        return numpy.random.default_rng([self.seed, epoch]).permutation(self.rows)

    def batches(self, epoch: int, start: int) -> Iterator[Batch]:
        order = self.order(epoch)
        for first in range(start * self.batch_size, self.rows, self.batch_size):
            rows = order[first:first + self.batch_size]
            yield ({name: self._take(name, array, rows)
                    for name, array in self.arrays.items()}, len(rows))

    def _take(self, name: str, array: Any, rows: Any) -> Any:
        """Returns the rows. NumPy's go into one buffer for each batch size, because a
        step copies its inputs before it returns. Other arrays index themselves."""
        import numpy
        if not isinstance(array, numpy.ndarray) or not array.shape:
            part, wanted = rows_of(array, rows), self.types[name]
            return part if wanted is None else as_type(part, wanted)
        key = (name, len(rows))
        if key not in self._buffers:
            self._buffers[key] = numpy.empty((len(rows), *array.shape[1:]),
                                             self.types[name] or array.dtype)
        buffer = self._buffers[key]
        if self.types[name] is None:
            return numpy.take(array, rows, 0, out=buffer, mode="clip")
        numpy.copyto(buffer, array[rows], casting="unsafe")
        return buffer

    def state(self) -> Any:
        return {"rows": self.rows, "batch_size": self.batch_size,
                "shuffle": self.shuffle, "seed": self.seed}

    def load_state(self, state: Any) -> None:
        check_same(self.state(), state)

    def close(self) -> None:
        self._buffers.clear()


def check_same(own: Mapping[str, Any], state: Any) -> None:
    """Raises InvalidArgumentError with both values if one differs."""
    if not isinstance(state, Mapping):
        raise InvalidArgumentError("the checkpoint is of another kind of data")
    for name, value in own.items():
        if state.get(name) != value:
            raise InvalidArgumentError(
                "%s is %r, in the checkpoint %r: resuming would not go on with the "
                "same batches" % (name, value, state.get(name)))


class Iterables:
    """Batches that somebody else makes: a list of batches, a torch DataLoader, a function
    that returns an iterable for an epoch, or an iterator, which lasts for one epoch."""

    def __init__(self, data: Any, named: Callable[[Any, str], dict[str, Any]],
                 epochs: int, convert: Converter) -> None:
        self.data, self._named, self._convert = data, named, convert
        self._iterator: Any = None
        self.seconds = 0.0  # that its batches took, of all epochs
        self.num_batches: int | None
        try:
            self.num_batches = len(data)
        except TypeError:  # also from objects with a __len__ that has no answer
            self.num_batches = None
        is_function = callable(data) and not hasattr(data, "__iter__")
        self.takes_epoch = is_function
        self.has_state = hasattr(data, "state_dict") and hasattr(data,
                                                                 "load_state_dict")
        self.exact = ""
        if not is_function and not self.has_state and not isinstance(data, Sequence):
            self.exact = ("a %s cannot restart at a position: its first batches are read "
                          "and left out, and may differ" % type(data).__name__)
        if not is_function and not hasattr(data, "__iter__"):
            raise InvalidArgumentError(
                "data is a %s, expected arrays, an iterable of batches, or a function "
                "of the epoch's number that returns one" % type(data).__name__)
        if iter_is_self(data) and epochs > 1:
            raise InvalidArgumentError(
                "data is an iterator, which lasts for one epoch, but epochs is %d: "
                "pass a list, a DataLoader, or a function of the epoch's number that "
                "returns an iterator" % epochs)

    def batches(self, epoch: int, start: int) -> Iterator[Batch]:
        self.close()
        data = self.data(epoch) if self.takes_epoch else self.data
        self._iterator = iterator_of(data)
        skipped = 0 if self.has_state else start
        try:
            for number, item in enumerate(self._timed(self._iterator)):
                if number < skipped:
                    continue
                arrays = self._convert.all(self._named(item, "a batch"))
                yield arrays, count_rows(arrays, "a batch")
        finally:
            self.close()

    def _timed(self, items: Iterator[Any]) -> Iterator[Any]:
        while True:
            start = time.perf_counter()
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                self.seconds += time.perf_counter() - start
            yield item

    def state(self) -> Any:
        if not self.has_state:
            return None
        state = self.data.state_dict()
        try:
            json.dumps(state)
        except (TypeError, ValueError):
            self.has_state = False
            self.exact = ("the state_dict() of a %s is not JSON"
                          % type(self.data).__name__)
            return None
        return state

    def load_state(self, state: Any) -> None:
        if state is not None:
            if not self.has_state:
                raise InvalidArgumentError("the checkpoint is of another kind of data "
                                           "than a %s" % type(self.data).__name__)
            self.data.load_state_dict(state)

    def close(self) -> None:
        iterator, self._iterator = self._iterator, None
        close_iterator(iterator)


def iter_is_self(data: Any) -> bool:
    return hasattr(data, "__next__")


class Resident:
    """Data that is on the device. The step takes its own batches of it
    (aicf.data.Batches), or uses the inputs that were bound or written."""

    exact = ""

    def __init__(self, num_batches: int, rows: int, identity: Mapping[str, Any]) -> None:
        self.num_batches: int | None = num_batches
        self.rows, self._identity = rows, dict(identity)

    def batches(self, epoch: int, start: int) -> Iterator[Batch]:
        for _ in range(start, self.num_batches or 0):
            yield {}, self.rows

    def state(self) -> Any:
        return self._identity

    def load_state(self, state: Any) -> None:
        check_same(self._identity, state)

    def close(self) -> None:
        pass


def split(arrays: Mapping[str, Any], fraction: float,
          seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divides the rows at random into those to train on and those to validate on."""
    import numpy
    rows = count_rows(arrays, "data")
    held = round(rows * fraction)
    if not 0 < held < rows:
        raise InvalidArgumentError(
            "validation is %r of %d rows, expected a fraction that leaves rows for "
            "both" % (fraction, rows))
    order = numpy.random.default_rng([seed, rows]).permutation(rows)
    train, test = numpy.sort(order[held:]), numpy.sort(order[:held])
    values = {name: array_of(array, name) for name, array in arrays.items()}
    for name, value in values.items():
        with contextlib.suppress(TypeError):  # NumPy has no bf16, and reads no other device
            values[name] = numpy.asarray(value)
    return ({name: rows_of(array, train) for name, array in values.items()},
            {name: rows_of(array, test) for name, array in values.items()})
