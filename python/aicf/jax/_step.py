# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled step of a JAX function, and what goes between both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._programs.predict import chunk_of
from ..errors import (DTypeMismatchError, FailedStateError, InvalidArgumentError,
                      ShapeMismatchError)
from ..program import Entry

if TYPE_CHECKING:
    from ._model import Imported

#: The entry that `predict` makes of apply_fn.
_APPLY = "apply_fn"


def _converter(first: Any) -> Callable[[Any], Any]:
    """A function that makes arrays of JAX's in the memory of ours, for the device of the
    `first` one. jax.dlpack.from_dlpack() takes 50 us for each, of which 7 are its own
    function that is not of its public interface: that is called if it is there."""
    import jax
    kind, number = first.__dlpack_device__()
    try:
        from jax._src.lib import _jax
        make = _jax.dlpack_managed_tensor_to_buffer
        device = jax.local_devices(backend="cpu" if kind == 1 else "cuda")[number]
        stream = None if kind == 1 else device.get_stream_for_external_ready_events()

        def convert(value: Any) -> Any:
            return make(value.__dlpack__(stream=stream), device, stream, None, kind)
        if convert(first).shape == first.shape:
            return convert
    except Exception:  # another release of JAX
        pass
    public: Callable[[Any], Any] = jax.dlpack.from_dlpack
    return public


class Step(Entry):
    """A JAX function as one plan: `loss = step(x, y)` for `f(params, opt_state, x, y)`
    whose first two arguments are donated.

    It is an Entry with everything that one has (save, state_dict, run). The donated trees
    live on the device, and every call gives them their new values.

    Attributes:
        raised: by op, how many were found in what JAX takes them apart into, such as
            {"softmax_cross_entropy": 1, "adam_step": 4}. `program.lowered.report()` has
            their lines.
    """

    imported: Imported
    raised: dict[str, int]
    _convert: Callable[[Any], Any] | None = None

    def _attach(self, imported: Imported) -> None:
        self.imported = imported
        self.raised = {op: len(lines) for op, lines in imported.raised.items()}
        self._trees = [t for i, t in enumerate(imported.arguments)
                       if i not in imported.donated]

    @staticmethod
    def _never_written() -> type:
        import jax
        return type(jax.numpy.zeros(()))

    def _array(self, value: Any) -> Any:
        if self._convert is None:
            self._convert = _converter(value)
        return self._convert(value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the step once.

        Args:
            args: the function's arguments without the donated ones: pytrees of arrays of
                JAX, NumPy or others, of the example's structure and types. They are
                copied to the device's memory; arrays on the device by DLPack. Other
                batch sizes compile an entry of their own.
        Returns: what the function returns, without the donated trees: arrays of JAX, in
            the memory that the step wrote.
        Raises: InvalidArgumentError: another structure; and what Entry's call raises.
        """
        import jax
        if self is not self.family.root:
            return super().__call__(*args, **kwargs)
        trees = self._trees
        if kwargs:
            args = self._of_leaves(args, kwargs)
        if len(args) != len(trees):
            raise InvalidArgumentError("the step takes %d arguments (%s), got %d" % (
                len(trees), ", ".join(t.name for t in trees), len(args)))
        leaves: list[Any] = []
        for tree, value in zip(trees, args):
            own, structure = jax.tree_util.tree_flatten(value)
            if structure != tree.structure:
                raise InvalidArgumentError("%s has the structure %s, expected %s"
                                           % (tree.name, structure, tree.structure))
            leaves += own
        given = self.imported.given
        values = super().__call__(*[
            leaf if isinstance(leaf, jax.Array) and not is_stored
            else self.imported.converted(leaf, dtype)
            for leaf, (dtype, is_stored) in zip(leaves, given)])
        array = self._array
        made = [array(v) for v in values.values()]
        return self.imported.returned(self._given_back(made, self.imported.returned_types))

    def _of_leaves(self, args: tuple[Any, ...], leaves: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments, of leaves by name, as aicf.fit gives them."""
        import jax
        names = [name for tree in self._trees for name in tree.names]
        if args or set(leaves) != set(names):
            raise InvalidArgumentError(
                "the step takes its arguments by position, or all of their leaves by name: %s"
                % ", ".join(names))
        return tuple(jax.tree_util.tree_unflatten(
            tree.structure, [leaves[name] for name in tree.names]) for tree in self._trees)

    def _leaves_of(self, data: Any) -> Any:
        """Leaves by name, of the function's arguments: in order, by name, or of the only
        one that is not donated."""
        import jax
        root = self.family.root
        assert isinstance(root, Step)
        trees = root._trees
        if isinstance(data, Mapping) and set(data) == {t.name for t in trees}:
            values = [data[tree.name] for tree in trees]
        elif isinstance(data, Mapping) and set(data) == set(self.signature.inputs):
            return data
        elif isinstance(data, (tuple, list)) and len(data) == len(trees) != 1:
            values = list(data)
        else:
            values = [data[0] if isinstance(data, (tuple, list)) and len(data) == 1
                      else data]
        if len(values) != len(trees):
            raise InvalidArgumentError("the step takes the arguments %s, got a %s" % (
                ", ".join(tree.name for tree in trees), type(data).__name__))
        found: dict[str, Any] = {}
        for tree, value in zip(trees, values):
            leaves, structure = jax.tree_util.tree_flatten(value)
            if structure != tree.structure:
                raise InvalidArgumentError("%s has the structure %s, expected %s"
                                           % (tree.name, structure, tree.structure))
            found.update(zip(tree.names, leaves))
        return found

    def _output_names(self) -> list[str] | None:
        return None  # a tree, of which aicf.fit reads the loss and a dict of further values

    def predict(self, *arrays: Any, batch_size: int | None = None) -> Any:
        """Runs apply_fn of a TrainState of flax's, the donated tree, on all rows. Of
        another function `aicf.jax.compile(fn, (x,), program=step)` makes an entry.

        Args:
            arrays: what apply_fn takes behind the variables, [rows, ...] each.
            batch_size: the rows of a chunk; the default is all of them. With it, the last
                chunk is filled up.
        Returns: a NumPy array with as many rows, or a tree of these.
        Raises: FailedStateError: the donated tree has no apply_fn.
        """
        import jax
        import numpy as np

        from ..jax import compile
        state = self.state()
        if not hasattr(state, "apply_fn") or not hasattr(state, "params"):
            raise FailedStateError(
                "%r has no function to predict with: predict = aicf.jax.compile(lambda "
                "params, x: ..., (x,), program=step), and then predict(x)" % self.name)
        given = [np.asarray(a) for a in arrays]
        given = [a.astype("f4") if a.dtype == np.float64 else a for a in given]
        rows = len(given[0])
        chunk = min(batch_size or rows, rows)
        entry = self.program.entries.get(_APPLY)
        if entry is None:
            entry = compile(lambda own, *x: own.apply_fn({"params": own.params}, *x),
                            tuple(a[:chunk] for a in given), program=self, name=_APPLY)
        parts = [entry(*(chunk_of(a, i, chunk) for a in given)) for i in range(0, rows, chunk)]
        return jax.tree_util.tree_map(
            lambda *p: np.concatenate([np.asarray(one) for one in p])[:rows], *parts)

    @staticmethod
    def _given_back(values: list[Any], types: Sequence[Any]) -> list[Any]:
        """Arrays of JAX's as the function returns them: of types that no tensor has, too."""
        from ._narrow import given_back, stored_type
        return [given_back(value, dtype) if stored_type(dtype) else value
                for value, dtype in zip(values, types)]

    def state(self) -> Any:
        """Returns the donated trees as they are now, in the order of donate_argnums: one,
        or a tuple. Their arrays are copies, which later calls do not change."""
        import jax
        read = self.program.executor.read
        trees = []
        for i in self.imported.donated:
            tree = self.imported.arguments[i]
            leaves = self._given_back([self._array(read(name)) for name in tree.names],
                                      [leaf.dtype for leaf in self.imported.abstract[i]])
            trees.append(jax.tree_util.tree_unflatten(tree.structure, leaves))
        return trees[0] if len(trees) == 1 else tuple(trees)

    def set_state(self, *trees: Any) -> None:
        """Gives the donated trees other values: trees as state() returns them.

        Raises: InvalidArgumentError: another number or structure; ShapeMismatchError,
            DTypeMismatchError. Nothing is written then.
        """
        import jax
        donated = [self.imported.arguments[i] for i in self.imported.donated]
        if len(trees) != len(donated):
            raise InvalidArgumentError("the step has %d donated trees, got %d"
                                       % (len(donated), len(trees)))
        values: dict[str, Any] = {}
        for tree, value in zip(donated, trees):
            leaves, structure = jax.tree_util.tree_flatten(value)
            if structure != tree.structure:
                raise InvalidArgumentError("%s has the structure %s, expected %s"
                                           % (tree.name, structure, tree.structure))
            values.update(self.imported.values_of(tree, leaves))
        self._check_types(values)
        for name, value in values.items():
            self.program.executor.write(name, value)

    def _check_types(self, values: Mapping[str, Any]) -> None:
        from ._import import dtype_of
        for name, value in values.items():
            own = self.program.executor.find(name)
            dtype, shape = dtype_of(value.dtype), tuple(value.shape)
            if dtype != own["dtype"]:
                raise DTypeMismatchError("%s is %s, expected %s"
                                         % (name, dtype or value.dtype, own["dtype"]))
            if shape != tuple(own["shape"]):
                raise ShapeMismatchError("%s has the shape %s, expected %s"
                                         % (name, shape, tuple(own["shape"])))
