# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One step of JAX beside ours: all that it returns, and the donated trees.

Both start from the example arguments, and once more from special values. A leaf may differ
by 8 times what JAX's own f32 differs from its f64, or what another rounding of the
arguments makes of it. Afterwards the step is where it was.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from .._importing.differences import MAGNIFIED, difference, excused, largest_of, special_values
from ..errors import VerificationError
from ._import import DTYPES
from ._narrow import stored, stored_type
from ._step import Step
from ._trees import tree_of

#: Parts of a leaf's largest number below which a difference is rounding; the second one
#: where the function computes in 16 bits.
FLOORS = 2.0 ** -18, 2.0 ** -4


def _x64(enabled: bool) -> contextlib.AbstractContextManager[None]:
    if hasattr(jax, "enable_x64"):
        made: contextlib.AbstractContextManager[None] = jax.enable_x64(enabled)
    else:  # before JAX 0.8
        made = jax.experimental.enable_x64(enabled)
    return made


@contextlib.contextmanager
def _same_draws() -> Iterator[None]:
    """What is drawn in x64 are the numbers that are drawn without it."""
    def without(draw: Any) -> Any:
        @functools.wraps(draw)
        def drawn(*args: Any, **kwargs: Any) -> Any:
            with _x64(False):
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
        with _x64(True), _same_draws():
            made = jax.jit(function)(*jax.tree_util.tree_map(cast, tuple(arguments)))
            return [np.asarray(stored(leaf), "f8") for leaf in jax.tree_util.tree_leaves(made)]
    except (TypeError, ValueError):
        return None


def _step_of(step: Step, arguments: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """What a step from the example's donated trees makes of each leaf of the result."""
    imported = step.imported
    donated = [arguments[i] for i in imported.donated]
    try:
        # What a call returns keeps the result's order, and so do the states.
        given = [a for i, a in enumerate(arguments) if i not in imported.donated]
        own = dict(zip(imported.outputs, map(stored, jax.tree_util.tree_leaves(step(*given)))))
        states = step.program.executor.read
        mine = [own[name] if name in own else states(imported.state_of[i])
                for i, name in enumerate(names)]
        return [np.asarray(jax.dlpack.from_dlpack(m) if not isinstance(m, jax.Array) else m)
                for m in mine]
    finally:
        if donated:
            step.set_state(*donated)


#: Of each leaf: its name, our value, JAX's, and JAX's in f64 (None: it has none).
Leaf = tuple[str, Any, Any, Any]


def _both(step: Step, arguments: Sequence[Any]) -> list[Leaf]:
    function = step.imported.function
    single = tree_of("result", jax.jit(function)(*arguments))
    double = _in_f64(function, arguments)
    values = _step_of(step, arguments, single.names)
    return list(zip(single.names, values,
                    [np.asarray(stored(leaf)) for leaf in single.leaves],
                    [None] * len(values) if double is None else double))


def verify(step: Step, arguments: Sequence[Any], special: bool = True) -> None:
    """Compares a step on the example arguments, and one on special values.

    Args:
        special: whether there is the second one. It compares what the step returns, and of
            the donated trees what is infinite or NaN: an optimizer makes a whole step of
            what is rounding in a gradient of zeros.
    Raises: VerificationError, with the leaf that differs most.
    """
    imported = step.imported
    floor = FLOORS[imported.computes_in_16_bits]
    leaves = _both(step, arguments)
    found = _differences(step, arguments, leaves, floor)
    batch = _special(imported, arguments) if special and not found else None
    if batch is not None:
        found += _special_differences(step, batch, floor)
    if found:
        raise VerificationError(
            "the compiled step differs from one step of JAX%s (verify=False leaves this check "
            "out): %s" % (
                " on special values: zeros, equal elements, the least and the largest of the "
                "example (verify=\"example\" leaves them out)" if batch is not None else "",
                "; ".join(text for _, text in sorted(found, reverse=True)[:4])))


def _special(imported: Any, arguments: Sequence[Any]) -> list[Any] | None:
    """The arguments with special values in all but the donated trees; None: no floats."""
    made, is_other = [], False
    for i, argument in enumerate(arguments):
        leaves, structure = jax.tree_util.tree_flatten(argument)
        if i not in imported.donated:
            own = [special_values(np.asarray(leaf)) if jax.dtypes.issubdtype(
                getattr(leaf, "dtype", np.dtype(int)), np.floating) else None
                for leaf in leaves]
            is_other |= any(value is not None for value in own)
            leaves = [leaf if value is None else value for leaf, value in zip(leaves, own)]
        made.append(jax.tree_util.tree_unflatten(structure, leaves))
    return made if is_other else None


def _special_differences(step: Step, arguments: Sequence[Any], floor: float
                         ) -> list[tuple[float, str]]:
    leaves = _both(step, arguments)
    states = step.imported.state_of
    found = _differences(step, arguments, [
        leaf for i, leaf in enumerate(leaves) if i not in states], floor)
    for i, (name, mine, single, double) in enumerate(leaves):
        if i in states and single.dtype.kind == "f" and double is not None:
            # Where JAX's f32 and f64 agree about what is finite.
            finite = np.isfinite(single)
            known = finite == np.isfinite(double)
            count = int((known & (finite != np.isfinite(mine))).sum())
            found += [(math.inf, "%s is finite in JAX, or not, and otherwise here, in %d "
                       "elements" % (name, count))] if count else []
    return found


def _differences(step: Step, arguments: Sequence[Any], leaves: Sequence[Leaf], floor: float
                 ) -> list[tuple[float, str]]:
    found = {leaf[0]: _difference(*leaf, floor) for leaf in leaves}
    if any(found.values()):
        slack = _excused(step.imported.function, arguments, leaves)
        found = {leaf[0]: _difference(*leaf, floor, slack.get(leaf[0], 0.0))
                 for leaf in leaves if found[leaf[0]]}
    return [wrong for wrong in found.values() if wrong]


def _excused(function: Any, arguments: Sequence[Any], leaves: Sequence[Leaf]
             ) -> dict[str, float]:
    """By leaf of floats, what another rounding of the arguments makes of it."""
    def shaken(leaf: Any) -> Any:
        value = np.asarray(leaf)
        if value.dtype != np.float32:
            return leaf
        signs = (np.arange(value.size) * 7919 % 5 - 2).reshape(value.shape)
        return value * (1 + signs * np.float32(2.0 ** -22))
    made = tree_of("result", jax.jit(function)(*jax.tree_util.tree_map(
        shaken, tuple(arguments))))
    other = {name: np.asarray(stored(leaf)) for name, leaf in zip(made.names, made.leaves)}
    floats = [leaf for leaf in leaves if leaf[2].dtype.kind == "f"]
    most = MAGNIFIED * max((largest_of(leaf[2].astype("f8")) for leaf in floats), default=0.0)
    return {name: excused(single.astype("f8"), other[name].astype("f8"), most)
            for name, _, single, _ in floats}


def _difference(name: str, mine: Any, single: Any, double: Any, floor: float,
                slack: float = 0.0) -> tuple[float, str] | None:
    if (mine.shape, mine.dtype) != (single.shape, single.dtype):
        return math.inf, "%s is %s%s, in JAX %s%s" % (
            name, mine.dtype, list(mine.shape), single.dtype, list(single.shape))
    if DTYPES.get(str(single.dtype)) in ("i1", "i32", "i64"):
        count = int((mine != single).sum())
        return (math.inf, "%s differs in %d elements" % (name, count)) if count else None
    ours, theirs = mine.astype("f8"), single.astype("f8")
    largest = largest_of(theirs if double is None else double)
    found = difference(ours, theirs, double, max(floor * max(largest, 1e-6), slack), "JAX")
    return found and (found[0], "%s %s" % (name, found[1]))
