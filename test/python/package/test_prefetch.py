# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.data.Prefetch: batches that a thread makes beside the step."""

import threading

import pytest
from test_fit import LABELS, X, assert_same, make

import aicf
from aicf.data import Prefetch

BATCHES = [(X[i:i + 16], LABELS[i:i + 16]) for i in range(0, 96, 16)]


class Loader:
    """Counts what was made, and whether its generator was closed."""

    def __init__(self, fails_at=None):
        self.made = self.closed = 0
        self.threads, self.fails_at = set(), fails_at

    def __len__(self):
        return len(BATCHES)

    def __iter__(self):
        try:
            for number, batch in enumerate(BATCHES):
                if number == self.fails_at:
                    raise OSError("the disk is gone")
                self.made += 1
                self.threads.add(threading.current_thread().name)
                yield batch
        finally:
            self.closed += 1


def no_thread_is_left():
    return not any(t.name == "aicf.data.Prefetch" for t in threading.enumerate())


def test_the_same_batches_in_the_same_order():
    step, other = make(), make()
    loader = Loader()
    history = aicf.fit(step, Prefetch(loader), epochs=3, verbose=0)
    assert history["loss"] == aicf.fit(other, BATCHES, epochs=3, verbose=0)["loss"]
    assert_same(step, other)
    assert (loader.made, loader.closed) == (3 * len(BATCHES), 3)
    assert loader.threads == {"aicf.data.Prefetch"} and no_thread_is_left()
    assert len(Prefetch(loader)) == len(BATCHES)


@pytest.mark.parametrize("depth", [1, 3])
def test_it_is_never_further_ahead_than_it_may_be(depth):
    loader = Loader()
    for number, _ in enumerate(Prefetch(loader, depth), 1):  # one more is in the thread's hand
        assert number <= loader.made <= number + depth + 1
    assert no_thread_is_left()


def test_an_error_comes_behind_the_batches_before_it():
    loader, found = Loader(fails_at=3), []
    with pytest.raises(OSError, match="the disk is gone"):
        for batch in Prefetch(loader):
            found.append(batch)
    assert len(found) == 3 and loader.closed == 1 and no_thread_is_left()
    with pytest.raises(OSError, match="the disk is gone"):
        aicf.fit(make(), Prefetch(Loader(fails_at=0)))


def test_a_run_that_ends_early_ends_the_thread():
    loader = Loader()

    class Stop(aicf.Callback):
        def on_batch_end(self, run):
            run.stop()
    aicf.fit(make(), Prefetch(loader), callbacks=[Stop()], verbose=0)
    assert loader.closed == 1 and loader.made < len(BATCHES) and no_thread_is_left()
    items = iter(Prefetch(Loader()))
    next(items)
    items.close()
    assert no_thread_is_left()


def test_ctrl_c_does_not_wait_for_a_batch():
    goes_on = threading.Event()

    class Slow(Loader):
        def __iter__(self):
            yield BATCHES[0]
            goes_on.wait(20)
            yield BATCHES[1]
    items = iter(Prefetch(Slow()))
    next(items)
    with pytest.raises(KeyboardInterrupt):
        items.throw(KeyboardInterrupt)
    left = [t for t in threading.enumerate() if t.name == "aicf.data.Prefetch"]
    assert left, "the batch is still being made"
    goes_on.set()
    left[0].join(20)
    assert no_thread_is_left()


@pytest.mark.parametrize("arguments, error, words", [
    ((3,), TypeError, "batches is a int, expected an iterable"),
    ((BATCHES, 0), ValueError, "depth is 0, expected an int of 1"),
    ((BATCHES, True), ValueError, "depth is True")])
def test_wrong_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        Prefetch(*arguments)


def test_an_iterator_lasts_for_one_epoch():
    with pytest.raises(aicf.errors.InvalidArgumentError, match="no batches in epoch 2"):
        aicf.fit(make(), Prefetch(iter(BATCHES)), epochs=2, verbose=0)
