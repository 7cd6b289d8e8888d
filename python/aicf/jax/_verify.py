# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One step of JAX beside ours: all that it returns, and the donated trees.

Both start from the example arguments. A leaf may differ by 8 times what JAX's own f32
differs from its f64. Afterwards the step is where it was.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from .._differences import difference, largest_of
from ..errors import VerificationError
from ._import import DTYPES
from ._narrow import stored, stored_type
from ._step import Step
from ._trees import tree_of

#: Parts of a leaf's largest number below which a difference is rounding; the second one
#: where the function computes in 16 bits.
FLOORS = 2.0 ** -18, 2.0 ** -4


@contextlib.contextmanager
def _wide() -> Iterator[None]:
    if hasattr(jax, "enable_x64"):
        context = jax.enable_x64(True)
    else:  # before JAX 0.8
        context = jax.experimental.enable_x64()
    with context:
        yield


@contextlib.contextmanager
def _same_draws() -> Iterator[None]:
    """What is drawn in x64 are the numbers that are drawn without it."""
    def without(draw: Any) -> Any:
        @functools.wraps(draw)
        def drawn(*args: Any, **kwargs: Any) -> Any:
            with jax.enable_x64(False):
                return draw(*args, **kwargs)
        return drawn
    kept = {name: draw for name, draw in vars(jax.random).items()
            if callable(draw) and not name.startswith("_") and not isinstance(draw, type)}
    for name, draw in kept.items():
        setattr(jax.random, name, without(draw))
    try:
        yield
    finally:
        for name, draw in kept.items():
            setattr(jax.random, name, draw)


def _in_f64(function: Any, arguments: Sequence[Any]) -> list[Any] | None:
    """The leaves of what it returns in f64, or None: it insists on types of its own."""
    def cast(leaf: Any) -> Any:
        if stored_type(getattr(leaf, "dtype", np.dtype(int))):
            return leaf
        value = np.asarray(leaf)
        return value.astype("f8") if str(value.dtype) in ("float16", "float32", "bfloat16") \
            else value
    try:
        with _wide(), _same_draws():
            made = jax.jit(function)(*jax.tree_util.tree_map(cast, tuple(arguments)))
            return [np.asarray(stored(leaf), "f8") for leaf in jax.tree_util.tree_leaves(made)]
    except (TypeError, ValueError):
        return None


def verify(step: Step, arguments: Sequence[Any]) -> None:
    """Raises VerificationError, with the leaf that differs most."""
    imported = step.imported
    function = imported.function
    made = jax.jit(function)(*arguments)
    single = tree_of("result", made)
    double = _in_f64(function, arguments)
    donated = [arguments[i] for i in imported.donated]
    try:
        # What a call returns keeps the result's order, and so do the states.
        given = [a for i, a in enumerate(arguments) if i not in imported.donated]
        own = dict(zip(imported.outputs, map(stored, jax.tree_util.tree_leaves(step(*given)))))
        states = step.program.executor.read
        mine = [own[name] if name in own else states(imported.state_of[i])
                for i, name in enumerate(single.names)]
        values = [np.asarray(jax.dlpack.from_dlpack(m) if not isinstance(m, jax.Array) else m)
                  for m in mine]
    finally:
        if donated:
            step.set_state(*donated)
    found = []
    for i, name in enumerate(single.names):
        wrong = _difference(name, values[i], np.asarray(stored(single.leaves[i])),
                            None if double is None else double[i],
                            FLOORS[imported.computes_in_16_bits])
        found += [wrong] if wrong else []
    if found:
        raise VerificationError(
            "the compiled step differs from one step of JAX (verify=False leaves this check "
            "out): %s" % "; ".join(text for _, text in sorted(found, reverse=True)[:4]))


def _difference(name: str, mine: Any, single: Any, double: Any, floor: float
                ) -> tuple[float, str] | None:
    if (mine.shape, mine.dtype) != (single.shape, single.dtype):
        return math.inf, "%s is %s%s, in JAX %s%s" % (
            name, mine.dtype, list(mine.shape), single.dtype, list(single.shape))
    if DTYPES.get(str(single.dtype)) in ("i1", "i32", "i64"):
        count = int((mine != single).sum())
        return (math.inf, "%s differs in %d elements" % (name, count)) if count else None
    ours, theirs = mine.astype("f8"), single.astype("f8")
    largest = largest_of(theirs if double is None else double)
    found = difference(ours, theirs, double, floor * max(largest, 1e-6), "JAX")
    return found and (found[0], "%s %s" % (name, found[1]))
