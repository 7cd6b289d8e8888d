# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A JAX function as a function of ours, and its donated leaves as buffers of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .. import nn, ops
from .._programs.signature import Spec
from .._tracing.constants import constant
from .._tracing.trace import location_of, user_line
from ..errors import Diagnostic, InvalidArgumentError
from . import _attention_calls
from ._import import Importer, dtype_of, tensor_of
from ._narrow import stored, stored_shape, stored_type
from ._trees import Tree, argument_names, check_types, distances, find_donated, tree_of

NewState = Callable[[Any], Sequence[Any]]


class ImportedModel(nn.Module):
    """The donated leaves, by their names."""

    def __init__(self, owners: Mapping[str, Any]) -> None:
        self.owners = dict(owners)

    def _members(self) -> Any:
        yield from self.owners.items()


def _abstract(leaf: Any) -> Any:
    """Shape and type of a leaf, as JAX traces it."""
    return jax.eval_shape(lambda x: x, leaf)


class Imported:
    """A pure function with its example arguments, to be traced.

    Attributes:
        arguments: all of them, as trees.
        donated: numbers of the donated ones, in the order that the user gave.
        model: what holds the donated leaves.
        inputs: names of the leaves that a call gives, and their specs.
        results: the structure of what the function returns.
        outputs: names of the leaves that a call returns.
        returned_types: JAX's types of those.
        state_of: by the number of a leaf of the result, the donated leaf that it becomes.
        computes_in_16_bits: whether a value in between is bf16 or f16.
        plain: places of leaves that no op of an optimizer updates.
        raised: by op that was found in what JAX takes it apart into, the lines.
    """

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any],
                 donated: Sequence[int], new_state: NewState | None,
                 max_unroll: int, max_while: int, on_host: bool) -> None:
        self.function, self.new_state = function, new_state
        self.max_unroll, self.max_while = max_unroll, max_while
        self.on_host = on_host
        self.enables_x64 = bool(jax.config.jax_enable_x64)
        self.place = location_of(function)
        if not self.place[0]:  # it is not a function of Python's
            self.place = user_line()
        self.donated = list(donated)
        names = argument_names(function, len(arguments))
        self.arguments = [tree_of(n, a) for n, a in zip(names, arguments)]
        self.abstract = [[_abstract(leaf) for leaf in tree.leaves] for tree in self.arguments]
        self._check_leaves()
        self.owners = {name: self._owner(leaf) for i in self.donated
                       for name, leaf in zip(self.arguments[i].names,
                                             self.arguments[i].leaves)}
        self.model = ImportedModel(self.owners)
        self.inputs = {name: Spec(stored_shape(leaf.shape, leaf.dtype),
                                  str(dtype_of(leaf.dtype)))
                       for i, tree in enumerate(self.arguments) if i not in self.donated
                       for name, leaf in zip(tree.names, self.abstract[i])}
        #: JAX's types of the inputs, and whether a tensor of another type holds each.
        self.given = [(leaf.dtype, stored_type(leaf.dtype) is not None) for i, leaves in enumerate(self.abstract)
                      if i not in self.donated for leaf in leaves]
        self.results: Any = None
        self.outputs: list[str] = []
        self.returned_types: list[Any] = []
        self.state_of: dict[int, str] = {}
        self.computes_in_16_bits = False
        self.plain: set[int] = set()
        self.raised: dict[str, list[tuple[str, int]]] = {}
        self._returned: tuple[Any, list[int]] | None = None
        self.only_reads = False  # the donated trees, which do not come back

    @classmethod
    def beside(cls, step: Imported, function: Callable[..., Any],
               arguments: Sequence[Any]) -> Imported:
        """A function of the donated trees of another one, which only reads them, and of
        further arguments."""
        donated = [step.arguments[i] for i in step.donated]
        own = cls(function, [jax.tree_util.tree_unflatten(t.structure, t.leaves)
                             for t in donated] + list(arguments), range(len(donated)), None,
                  step.max_unroll, step.max_while, step.on_host)
        own.arguments[:len(donated)] = donated  # with their names
        own.owners, own.model, own.only_reads = step.owners, step.model, True
        return own

    def _check_leaves(self) -> None:
        for tree, leaves in zip(self.arguments, self.abstract):
            for name, leaf in zip(tree.names, leaves):
                if dtype_of(leaf.dtype) is None:
                    raise InvalidArgumentError(
                        "%s is %s, which no tensor has: convert it to int32 or float32 "
                        "before the step" % (name, leaf.dtype))
                if 0 in leaf.shape:
                    raise InvalidArgumentError("%s has no elements: its shape is %s"
                                               % (name, tuple(leaf.shape)))

    def _owner(self, leaf: Any) -> nn.Buffer:
        aval = _abstract(leaf)
        return nn.Buffer(stored_shape(aval.shape, aval.dtype), str(dtype_of(aval.dtype)),
                         init=self.value_of(leaf, aval.dtype))

    def value_of(self, leaf: Any, dtype: Any) -> Any:
        """A leaf of a donated tree where the step's device can read it."""
        leaf = self.converted(leaf, dtype)
        if self.on_host and isinstance(leaf, jax.Array):
            return jax.device_put(leaf, jax.local_devices(backend="cpu")[0])
        return leaf

    def values_of(self, tree: Tree, leaves: Sequence[Any]) -> dict[str, Any]:
        """New leaves of a donated tree, by name."""
        abstract = self.abstract[self.arguments.index(tree)]
        return {name: self.value_of(leaf, own.dtype)
                for name, leaf, own in zip(tree.names, leaves, abstract)}

    @staticmethod
    def converted(leaf: Any, dtype: Any) -> Any:
        """A leaf of NumPy's or Python's as jax.jit takes it: dense, and f64 as f32 where JAX has
        no f64. Types that no tensor has become what holds them. Others, and those of another
        type, stay as they are."""
        if stored_type(dtype):
            own = getattr(leaf, "dtype", None)
            return stored(np.asarray(leaf, dtype)) if isinstance(leaf, int) else \
                stored(leaf) if own == dtype else leaf
        if not isinstance(leaf, (np.ndarray, np.generic, bool, int, float)):
            return leaf
        array = np.asarray(leaf)
        if jax.dtypes.canonicalize_dtype(array.dtype) != dtype:
            return array
        return np.asarray(array, dtype, order="C")

    # Tracing

    def _jaxpr(self, specs: Mapping[str, tuple[tuple[int, ...], str]]) -> Any:
        """The closed jaxpr for inputs of these shapes, and the result's shapes."""
        arguments = []
        for i, tree in enumerate(self.arguments):
            leaves = [leaf if i in self.donated else
                      jax.ShapeDtypeStruct(specs[name][0][:len(leaf.shape)], leaf.dtype,
                                           weak_type=leaf.weak_type)
                      for name, leaf in zip(tree.names, self.abstract[i])]
            arguments.append(jax.tree_util.tree_unflatten(tree.structure, leaves))
        with jax.enable_x64(self.enables_x64):
            make = jax.make_jaxpr(self.function, return_shape=True)
            try:
                with _attention_calls.found():
                    closed, shapes = make(*arguments)
            except (TypeError, NotImplementedError):  # derivatives forward: without a rule
                closed, shapes = make(*arguments)
            return _without_dead(closed), shapes

    def _places(self, closed: Any, result: Tree) -> list[tuple[str, int]]:
        """The leaf of the result that each donated leaf becomes."""
        donated = [Tree(t.name, t.structure, t.names, self.abstract[i])
                   for t, i in ((self.arguments[i], i) for i in self.donated)]
        if self.new_state is None:
            donated = [tree for tree in donated if tree.names]
            first = find_donated(donated, result, distances(
                closed, [name for tree in self.arguments for name in tree.names]))
            numbers = [list(range(at, at + len(t.names))) for t, at in zip(donated, first)]
        else:
            numbers = self._chosen(result, donated)
        for tree, own in zip(donated, numbers):
            check_types(tree, [result.leaves[n] for n in own])
        return [(name, n) for tree, own in zip(donated, numbers)
                for name, n in zip(tree.names, own)]

    def _chosen(self, result: Tree, donated: list[Tree]) -> list[list[int]]:
        assert self.new_state is not None
        numbered = jax.tree_util.tree_unflatten(result.structure, range(len(result.leaves)))
        trees = list(self.new_state(numbered))
        if len(trees) != len(donated):
            raise InvalidArgumentError("new_state gives %d trees, and %d arguments are donated"
                                       % (len(trees), len(donated)))
        for tree, old in zip(trees, donated):
            if jax.tree_util.tree_structure(tree) != old.structure:
                raise InvalidArgumentError("new_state gives another structure for %r than it "
                                           "has" % old.name)
        return [jax.tree_util.tree_leaves(tree) for tree in trees]

    def trace(self, /, **inputs: Any) -> dict[str, Any]:
        """What aicf.compile traces: the leaves that a call returns, by name."""
        closed, shapes = self._jaxpr({n: (t.shape, t.dtype) for n, t in inputs.items()})
        result = tree_of("result", shapes)
        places = [] if self.only_reads else self._places(closed, result)
        names = [name for tree in self.arguments for name in tree.names]
        tensors = [(self.owners[name] if name in self.owners else inputs[name])._tensor()
                   for name in names]
        becomes = {names.index(name): number for name, number in places}
        importer = Importer(self.max_unroll, self.max_while, self.place, becomes, self.plain)
        made = importer.run(closed, tensors)
        self.raised = importer.found.lines
        for name, number in places:
            if made[number] is not self.owners[name]._tensor():
                self.owners[name].update(tensor_of(made[number]))
        taken = {number for _, number in places}
        given = {id(t) for t in tensors}
        self.results = result.structure
        self.state_of = {number: name for name, number in places}
        text = str(closed.jaxpr)
        self.computes_in_16_bits = "bf16[" in text or "f16[" in text
        is_returned = [i not in taken for i in range(len(made))]
        outputs = {name: ops.copy(tensor_of(value)) if id(value) in given else tensor_of(value)
                   for i, (name, value) in enumerate(zip(result.names, made))
                   if i not in taken}
        self.outputs = list(outputs)
        self.returned_types = [leaf.dtype for i, leaf in enumerate(result.leaves)
                               if i not in taken]
        self._set_returned(is_returned)
        if not outputs:
            raise InvalidArgumentError("the function returns nothing but the donated trees: "
                                       "let it return its loss, too")
        return outputs

    def remarks(self) -> list[Diagnostic]:
        """What was raised, for Lowered.report()."""
        return [Diagnostic("remark", "found aicf.%s in primitives of JAX" % op, *line)
                for op, lines in self.raised.items() for line in lines]

    def _set_returned(self, is_returned: Sequence[bool]) -> None:
        """The tree of what a call returns, and the output that each of its leaves is."""
        count = iter(range(len(is_returned)))
        leaves = [next(count) if own else None for own in is_returned]
        empty = [self.arguments[i].structure for i in self.donated
                 if not self.arguments[i].names and not self.only_reads]
        order, structure = jax.tree_util.tree_flatten(
            _pruned(jax.tree_util.tree_unflatten(self.results, leaves), self.results,
                    is_returned, empty))
        self._returned = structure, order

    def returned(self, values: Sequence[Any]) -> Any:
        """The function's result without the donated trees."""
        assert self._returned is not None
        structure, order = self._returned
        return jax.tree_util.tree_unflatten(structure, [values[i] for i in order])


def _pruned(tree: Any, structure: Any, is_returned: Sequence[bool], empty: list[Any]) -> Any:
    """A tuple without the parts that stay in the step; of one part, that part. `empty` has
    the structures of donated trees without leaves, of which each drops one part."""
    if type(tree) not in (tuple, list, dict):
        return tree
    keys = list(sorted(tree) if isinstance(tree, dict) else range(len(tree)))
    first, kept = 0, []
    for key, child in zip(keys, structure.children()):
        own = is_returned[first:first + child.num_leaves]
        first += child.num_leaves
        if not own and child in empty:
            empty.remove(child)
        elif any(own) or not own:
            kept.append((key, _pruned(tree[key], child, own, empty)))
    if len(kept) == len(keys):
        return tree if all(tree[key] is value for key, value in kept) \
            else _again(tree, kept)
    if isinstance(tree, dict):
        return dict(kept)
    return kept[0][1] if len(kept) == 1 else _again(tree, kept)


def _again(tree: Any, kept: Sequence[tuple[Any, Any]]) -> Any:
    return dict(kept) if isinstance(tree, dict) else type(tree)(v for _, v in kept)


def _without_dead(closed: Any) -> Any:
    """Without equations that no result needs, such as parts of a derivative."""
    from jax.interpreters import partial_eval
    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars),
                                      instantiate=True)
    return jax.extend.core.ClosedJaxpr(jaxpr, closed.consts)
