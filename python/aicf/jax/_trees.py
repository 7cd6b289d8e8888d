# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes in and out of a JAX function: leaves with names, and donated trees.

A donated tree comes back as a part of the result: the part of the same structure. Of
several, order decides, where it can, and where what is computed from what does not say
otherwise. Where more parts have the structure than there are such trees, shapes and types
say which part it is: a loss is not an array of parameters.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from ..errors import InvalidArgumentError

tree_util = jax.tree_util


@dataclass(eq=False)
class Tree:
    """One argument, or one part of a result.

    Attributes:
        name: of the argument.
        structure: JAX's PyTreeDef.
        names: of the leaves: "params.dense.kernel".
        leaves: their values, or shapes and types.
    """

    name: str
    structure: Any
    names: list[str]
    leaves: list[Any]


def _key(entry: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


def tree_of(name: str, value: Any) -> Tree:
    found, structure = tree_util.tree_flatten_with_path(value)
    names = [".".join([name, *map(_key, path)]) for path, _ in found]
    for i, one in enumerate(names):  # keys 1 and "1" look alike
        while one in names[:i]:
            one += "_"
        names[i] = one
    return Tree(name, structure, names, [leaf for _, leaf in found])


def argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """Names of the positional arguments of a function."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters
             if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names: list[str] = []
    for i in range(count):
        name = plain[i] if i < len(plain) else "arg%d" % i
        while name in names:
            name += "_"
        names.append(name)
    return names


def _levels(structure: Any) -> Any:
    """The subtrees of a structure, level by level, each with its first leaf's number."""
    level = [(structure, 0)]
    while level:
        yield level
        below = []
        for tree, first in level:
            for child in tree.children():
                below.append((child, first))
                first += child.num_leaves
        level = below


#: Ops on the shortest way from a leaf of a donated tree (its name) to a leaf of the result
#: (its number); infinity without a way.
Distance = Callable[[str, int], float]


def distances(closed: Any, names: Sequence[str]) -> Distance:
    """Of a closed jaxpr whose arguments have these names."""
    found: dict[str, list[float]] = {}

    def between(name: str, number: int) -> float:
        if name not in found:
            given = [0.0 if n == name else math.inf for n in names]
            found[name] = _steps(closed.jaxpr, given)
        return found[name][number]
    return between


def _steps(jaxpr: Any, given: Sequence[float]) -> list[float]:
    at = dict(zip(jaxpr.invars, given))

    def of(value: Any) -> float:
        return math.inf if hasattr(value, "val") else at.get(value, math.inf)
    for equation in jaxpr.eqns:
        steps = [of(v) for v in equation.invars]
        inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
        inner = getattr(inner, "jaxpr", inner)
        if inner is not None and len(inner.invars) == len(steps) \
                and len(inner.outvars) == len(equation.outvars):
            made = _steps(inner, steps)
        else:
            made = [1 + min(steps, default=math.inf)] * len(equation.outvars)
        at.update(zip(equation.outvars, made))
    return [of(v) for v in jaxpr.outvars]


def _check_order(alike: Sequence[Tree], found: Sequence[int], result: Tree,
                 distance: Distance) -> None:
    """Raises InvalidArgumentError: two of these parts, exchanged, are nearer to what they
    are computed from than in their order."""
    def cost(tree: Tree, first: int) -> float:
        return sum(distance(name, first + i) for i, name in enumerate(tree.names))
    for i, (a, at) in enumerate(zip(alike, found)):
        for b, to in zip(alike[i + 1:], found[i + 1:]):
            if cost(a, to) + cost(b, at) < cost(a, at) + cost(b, to):
                raise InvalidArgumentError(
                    "the donated arguments %r and %r have one structure, and in their order "
                    "%s of the result would be the new %r, but is computed from %r: say which "
                    "is which with new_state=lambda result: (...), the new trees in the order "
                    "of donate_argnums" % (a.name, b.name, _part_name(result, at, a), a.name,
                                           b.name))


def _part_name(result: Tree, at: int, tree: Tree) -> str:
    name = result.names[at]
    return name if tree.structure.num_nodes == 1 else name.rpartition(".")[0]


def find_donated(donated: Sequence[Tree], result: Tree, distance: Distance) -> list[int]:
    """For each donated tree, the number of its first leaf in the result.

    Raises:
        InvalidArgumentError: a tree does not come back, comes back with another type, or
            several parts of the result may be it.
    """
    places: dict[int, int] = {}
    taken: set[int] = set()  # leaves
    # The largest first: the moments of an optimizer have the structure of parameters.
    order = sorted(range(len(donated)), key=lambda i: -donated[i].structure.num_leaves)
    for i in order:
        if i in places:
            continue
        alike = [j for j in range(len(donated))
                 if donated[j].structure == donated[i].structure]
        found = _places_of(donated[i].structure, len(alike), result, taken)
        if len(found) < len(alike):
            raise InvalidArgumentError(
                "the donated argument %r does not come back: no %spart of the result has "
                "its structure, %s" % (donated[alike[len(found)]].name,
                                       "further " if found else "",
                                       donated[i].structure))
        fitting = [at for at in found if any(_fits(donated[j], result.leaves[at:])
                                             for j in alike)]
        if len(fitting) == len(alike):  # a loss looks like an array that is a whole tree
            found = fitting
        if len(found) > len(alike) or len(alike) > 1 and _has_keys(result, found):
            raise InvalidArgumentError(
                "%s of the result have the structure of the donated argument%s %s: say "
                "which is which with new_state=lambda result: (...), the new trees in the "
                "order of donate_argnums" % (
                    " and ".join(_part_name(result, at, donated[i]) for at in found),
                    "s"[:len(alike) > 1],
                    " and ".join(repr(donated[j].name) for j in alike)))
        _check_order([donated[j] for j in alike], found, result, distance)
        for j, at in zip(alike, found):
            places[j] = at
            taken.update(range(at, at + donated[j].structure.num_leaves))
    return [places[i] for i in range(len(donated))]


def _fits(tree: Tree, leaves: Sequence[Any]) -> bool:
    """Whether leaves of the result have the shapes and types of a donated tree's."""
    return all((tuple(a.shape), a.dtype) == (tuple(b.shape), b.dtype)
               for a, b in zip(tree.leaves, leaves))


def _places_of(structure: Any, count: int, result: Tree, taken: set[int]) -> list[int]:
    """Parts of that structure, from the top down until there are enough."""
    found: list[int] = []
    for level in _levels(result.structure):
        found += [first for tree, first in level if tree == structure
                  and not taken & set(range(first, first + tree.num_leaves))]
        if len(found) >= count:
            break
    return sorted(found)


def _has_keys(result: Tree, found: Sequence[int]) -> bool:
    """Whether a dict's keys decide the order of these parts."""
    paths = tree_util.tree_flatten_with_path(
        tree_util.tree_unflatten(result.structure, result.leaves))[0]
    first = [paths[at][0] for at in found]
    depth = next((i for i, keys in enumerate(zip(*first)) if len(set(map(_key, keys))) > 1),
                 0)
    return any(isinstance(path[depth], tree_util.DictKey) for path in first
               if depth < len(path))


def check_types(donated: Tree, new: Sequence[Any]) -> None:
    """Raises InvalidArgumentError: a leaf comes back in another shape or type."""
    for name, before, after in zip(donated.names, donated.leaves, new):
        if (tuple(before.shape), before.dtype) != (tuple(after.shape), after.dtype):
            raise InvalidArgumentError(
                "%s is %s%s, and comes back as %s%s" % (
                    name, before.dtype, list(before.shape), after.dtype,
                    list(after.shape)))
