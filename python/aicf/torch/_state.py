# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a module keeps from call to call, which is found by calling it.

A graph shows what forward() computes, and not what it leaves behind in Python. So the
module runs in PyTorch before it is exported, and once more if that has left something.
Where this would take long, a run without data goes first, and is enough for most modules
(_dry_run.py). It does not see what data alone shows, such as an index out of range.

    the first run sets it, the second does not    a cache: it is exported as it is now
    each run makes another tensor of it           a state, as a buffer that is written
    each run changes anything else                refused, by its name

Everything is put back afterwards, values of buffers too. What is outside of the module
(a list of the user's, functools.lru_cache) keeps what an ordinary call leaves there.
"""

from __future__ import annotations

import collections
import contextlib
import random
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree

from ..errors import ModuleImportError
from ._decisions import Decisions
from ._dry_run import leaves_nothing, would_take_long

#: Values are kept of a module that has at most so many bytes, and else of all but its
#: parameters.
_KEPT_BYTES = 1 << 30


#: What a module has in dictionaries of their own.
_HELD = ("_parameters", "_buffers", "_modules")


class _Absent:
    """The value of an attribute that is not there."""


def _items(container: Any) -> dict[Any, Any]:
    """What a container holds, by key; of a set, one thing."""
    if isinstance(container, dict):
        return dict(container)
    if isinstance(container, (list, collections.deque)):
        return dict(enumerate(container))
    if isinstance(container, types.CellType):
        try:
            return {"": container.cell_contents}
        except ValueError:  # nothing is bound yet
            return {}
    return {"": frozenset(container)}


def _fill(container: Any, items: dict[Any, Any]) -> None:
    if isinstance(container, types.CellType):
        if items:
            container.cell_contents = items[""]
    elif isinstance(container, set):
        container.clear()
        container.update(items[""])
    else:
        container.clear()
        if isinstance(container, dict):
            container.update(items)
        else:
            container.extend(items.values())


def _is_same(old: Any, new: Any) -> bool:
    """The same object, or one that is equal. Tensors are the same or are not."""
    if old is new:
        return True
    try:
        return type(old) is type(new) and bool(old == new)
    except Exception:  # of tensors, or of whatever a class says
        return False


def _is_plain_object(value: Any) -> bool:
    """An object of a class of the user's, whose attributes may change."""
    return hasattr(value, "__dict__") and not callable(value) \
        and not isinstance(value, (type, types.ModuleType)) \
        and not type(value).__module__.startswith(("torch", "builtins", "functools"))


def _name_of(path: str, key: Any) -> str:
    key = str(key).removeprefix("module.")
    return ".".join(filter(None, (path.removeprefix("module").removeprefix("."), key)))


@dataclass(frozen=True)
class Change:
    """A place whose value is another one now; `owner` is the module that has it as an
    attribute or buffer, or None."""

    name: str
    container: Any
    key: Any
    old: Any
    new: Any
    owner: Any


class Snapshot:
    """What modules and a function's closure hold at one time: attributes, what is in
    them (lists, dicts, sets, plain objects), and values of tensors."""

    def __init__(self, whole: Any) -> None:
        self._found: list[tuple[str, Any, dict[Any, Any], Any]] = []
        self._tensors: dict[int, tuple[str, Any, int, Any]] = {}
        self._seen: set[int] = set()
        size = sum(p.numel() * p.element_size() for p in whole.parameters())
        self._keeps_parameters = size <= _KEPT_BYTES
        for path, part in whole.named_modules():
            for held in _HELD:
                self._enter(path, part.__dict__[held], part)
            self._enter(path, part.__dict__, part)
        loss = getattr(whole, "loss", None)
        if isinstance(loss, types.FunctionType) and loss.__closure__:
            for name, cell in zip(loss.__code__.co_freevars, loss.__closure__):
                self._enter(name, cell, None)

    def _enter(self, path: str, container: Any, owner: Any) -> None:
        if id(container) in self._seen:
            return
        self._seen.add(id(container))
        items = _items(container)
        self._found.append((path, container, items, owner))
        for key, value in items.items():
            self._look(_name_of(path, key), value)

    def _look(self, name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            if id(value) not in self._tensors and not value.is_inference():
                kept = self._keeps_parameters or not isinstance(value, torch.nn.Parameter)
                self._tensors[id(value)] = (name, value, value._version,
                                            value.detach().clone() if kept else None)
        elif isinstance(value, (dict, list, set, collections.deque)):
            self._enter(name, value, None)
        elif isinstance(value, (tuple, frozenset)):
            for i, one in enumerate(value):
                self._look(_name_of(name, i), one)
        elif _is_plain_object(value):
            self._enter(name, vars(value), None)

    def changes(self) -> list[Change]:
        """Places with another value, or with a tensor that has been written."""
        written = set(self._written())
        found = []
        for path, container, items, owner in self._found:
            now = _items(container)
            for key in {**items, **now}:
                if key in _HELD and owner is not None and container is owner.__dict__:
                    continue  # entered for itself
                old, new = items.get(key, _Absent), now.get(key, _Absent)
                parts = new if isinstance(new, tuple) else (new,)
                if not _is_same(old, new) or any(id(part) in written for part in parts):
                    name = _name_of(path, key if isinstance(container, dict) else "")
                    found.append(Change(name, container, key, old, new, owner))
        return found

    def _written(self) -> Iterator[int]:
        """Tensors that have been written, by id(). Batch norm writes its statistics
        without a new version."""
        for key, (_, tensor, version, value) in self._tensors.items():
            if tensor._version != version or not isinstance(tensor, torch.nn.Parameter) \
                    and not torch.equal(tensor, value):
                yield key

    def restore_values(self) -> None:
        """Writes into tensors what was in them."""
        with torch.no_grad():
            for key in self._written():
                _, tensor, _, value = self._tensors[key]
                if value is not None:
                    tensor.detach().copy_(value)

    def restore(self) -> None:
        """Puts all back."""
        for _, container, items, _ in self._found:
            now = _items(container)
            if now.keys() != items.keys() or any(now[k] is not items[k] for k in items):
                _fill(container, items)
        self.restore_values()


@dataclass
class State:
    """Tensors that an attribute or a buffer of a module keeps from call to call.

    Attributes:
        owner, key: the module and its attribute.
        names: of each tensor, in the plan.
        tensors: with the values before the first call.
        spec: how they lie in the attribute.
        is_buffer: whether the attribute is a registered buffer.
        is_known: whether there was a value before the first call.
    """

    owner: Any
    key: str
    names: list[str]
    tensors: list[Any]
    spec: Any
    is_buffer: bool
    is_known: bool

    def read(self) -> Any:
        held = self.owner._buffers if self.is_buffer else self.owner.__dict__
        return held.get(self.key)

    def load(self) -> None:
        """Takes the attribute's values into `tensors`. Raises ModuleImportError: it has
        been set to something else."""
        leaves, spec = _pytree.tree_flatten(self.read())
        if spec != self.spec or any(not isinstance(v, torch.Tensor) or v.shape != t.shape
                                    for v, t in zip(leaves, self.tensors)):
            if not self.is_known and self.read() is None:
                return
            raise _refused(self.names, "is not a tensor of the shape that the step has")
        for own, value in zip(self.tensors, leaves):
            own.copy_(value.detach())

    def store(self) -> None:
        """Sets the attribute to copies of `tensors`."""
        self.write([t.clone() for t in self.tensors])

    def write(self, tensors: Sequence[Any]) -> None:
        held = self.owner._buffers if self.is_buffer else self.owner.__dict__
        held[self.key] = _pytree.tree_unflatten(list(tensors), self.spec)


@dataclass
class Kept:
    """The states of a module, for one that wraps it, and the decisions of its last run."""

    states: list[State] = field(default_factory=list)
    decisions: Decisions = field(default_factory=Decisions)

    @property
    def of_attributes(self) -> list[tuple[str, Any, bool]]:
        """Of tensors outside of buffers: name, tensor, whether its value before the first
        call is known."""
        return [(n, t, s.is_known) for s in self.states if not s.is_buffer
                for n, t in zip(s.names, s.tensors)]

    def lend(self, held: Sequence[Any]) -> list[list[Any]]:
        """Sets the attributes to these tensors, which stand for `of_attributes`. Returns
        the tensors of each state."""
        rest, found = iter(held), []
        for state in self.states:
            if state.is_buffer:
                found.append([state.read()])
            else:
                found.append([next(rest) for _ in state.tensors])
                state.write(found[-1])
        return found

    def take(self, lent: Sequence[list[Any]]) -> None:
        """Writes what the attributes are now into the tensors of each state. Raises
        ModuleImportError: one has another shape, or is something else."""
        for state, own in zip(self.states, lent):
            leaves, spec = _pytree.tree_flatten(state.read())
            if spec != state.spec:
                raise _refused([state.names[0]], "is not always as many tensors")
            for name, old, new in zip(state.names, own, leaves):
                if new is old:
                    continue
                if new.shape != old.shape or new.dtype != old.dtype:
                    raise _refused([name], "changes from %s of %s to %s of %s, and a state "
                                   "keeps its shape and type" % (
                                       _type(old), tuple(old.shape), _type(new),
                                       tuple(new.shape)))
                old.copy_(new.detach())
            state.write(own)


def _type(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _refused(names: Sequence[str], why: str) -> ModuleImportError:
    return ModuleImportError("%s %s" % (", ".join(sorted(set(names))), why), "", 0)


def _state_of(old: Any, change: Change) -> State | None:
    """The change as a state; None if it is not one of tensors of a module."""
    if change.owner is None or change.new is _Absent:
        return None
    leaves, spec = _pytree.tree_flatten(change.new)
    if not leaves or not all(isinstance(t, torch.Tensor) for t in leaves):
        return None
    is_buffer = change.container is change.owner._buffers
    if not is_buffer and change.container is not change.owner.__dict__:
        return None
    names = [change.name] if len(leaves) == 1 and spec.is_leaf() else \
        [_name_of(change.name, i) for i in range(len(leaves))]
    before, spec_before = _pytree.tree_flatten(old)
    is_known = spec_before == spec and all(isinstance(t, torch.Tensor) for t in before)
    tensors = before if is_known else [torch.zeros_like(t) for t in leaves]
    if not is_buffer:  # other attributes may have the same tensor
        tensors = [t.detach().clone() for t in tensors]
    return State(change.owner, change.key, names, tensors, spec, is_buffer, is_known)


def _run(whole: Any, examples: Sequence[Any], decisions: Decisions) -> Any:
    """What the module returns; without gradients if it can do so. Raises what it raises, and
    ModuleImportError: this needs more memory than there is."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices=list(devices)):
        try:
            with torch.no_grad(), _memory_is_there():
                return decisions.record(lambda: whole(*examples))
        except RuntimeError:
            with torch.enable_grad(), _memory_is_there():  # it asks for gradients itself
                return decisions.record(lambda: whole(*examples))


@contextlib.contextmanager
def _memory_is_there() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) \
                and "DefaultCPUAllocator" not in str(error):
            raise
        raise ModuleImportError(
            "an import runs the module once, and with this batch PyTorch has too little memory "
            "for it (%s): give a smaller batch" % str(error).splitlines()[0], "", 0) from error


def is_check(whole: Any, examples: Sequence[Any], decisions: Decisions, number: int) -> bool:
    """Whether the module raises an error where this decision is the other one."""
    before = Snapshot(whole)
    try:
        return decisions.is_check(number, lambda: _run(whole, examples, Decisions()))
    finally:
        before.restore()


def _drawn_since(before: tuple[Any, Any]) -> list[str]:
    """What has drawn numbers, beside PyTorch."""
    python, numpy = before
    drawn = [] if random.getstate() == python else ["Python's random"]
    now = np.random.get_state(legacy=False)
    if str(now["state"]) != str(numpy["state"]):
        drawn.append("numpy.random")
    return drawn


def _check_draws(before: tuple[Any, Any]) -> None:
    """Raises ModuleImportError: other numbers than PyTorch's have been drawn."""
    python, numpy = before
    drawn = _drawn_since(before)
    random.setstate(python)
    np.random.set_state(numpy)
    if drawn:
        raise ModuleImportError(
            "the module draws from %s, which a step would do once for all calls: draw with "
            "torch (torch.rand(()))" % " and ".join(drawn), "", 0)


def _differs(first: Any, second: Any) -> bool:
    pairs = zip(_pytree.tree_leaves(first), _pytree.tree_leaves(second))
    return any(isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and (
        a.shape != b.shape or a.dtype != b.dtype or not torch.allclose(
            a.double(), b.double(), 1e-4, 1e-6, equal_nan=True)) for a, b in pairs)


def _check_parameters(changes: Sequence[Change]) -> None:
    names = [c.name for c in changes if isinstance(c.new, torch.nn.Parameter)
             or isinstance(c.old, torch.nn.Parameter)]
    if names:
        raise _refused(names, "changes when the module runs, without the optimizer. If "
                       "the first call alone does so, call the module once before")


def _is_graphs(change: Change) -> bool:
    """Whether it is a buffer that is written in place, which the graph says."""
    return change.old is change.new and change.owner is not None \
        and change.container is change.owner._buffers


def _found_by_runs(whole: Any, before: Snapshot, examples: Sequence[Any],
                   decisions: Decisions) -> list[State]:
    numbers = random.getstate(), np.random.get_state(legacy=False)
    if would_take_long(whole, examples) and leaves_nothing(
            whole, examples, lambda: bool(before.changes() or _drawn_since(numbers))):
        return []
    first = _run(whole, examples, decisions)
    _check_draws(numbers)
    changed = {(id(c.container), c.key): c for c in before.changes()}
    _check_parameters(list(changed.values()))
    kept = [c for c in changed.values() if not _is_graphs(c)]
    if not kept:
        return []
    before.restore_values()
    middle = Snapshot(whole)
    second = _run(whole, examples, decisions)
    again = [c for c in middle.changes() if (id(c.container), c.key) in changed
             or c.old is not c.new]
    middle.restore()
    states, others = [], []
    for change in again:
        start = changed.get((id(change.container), change.key), change).old
        if _is_graphs(change):
            continue
        state = _state_of(start, change)
        if state:
            states.append(state)
        else:
            others.append(change.name)
    if others:
        raise _refused(others, "changes in each call, and a step would not do that. A "
                       "tensor can: as a buffer (register_buffer), or as an attribute")
    if not again and _differs(first, second):
        raise _refused([c.name for c in kept], "is set by the first call, and the second "
                       "gives other results: call the module once before")
    for state in states:
        state.write(state.tensors)
    return states


def _with_known(found: Sequence[State], known: Sequence[State]) -> list[State]:
    """Raises ModuleImportError: a batch of another size keeps other tensors."""
    states = {state.names[0]: state for state in known}
    for state in found:
        own = states.setdefault(state.names[0], state)
        if [t.shape for t in own.tensors] != [t.shape for t in state.tensors]:
            raise _refused([state.names[0]], "has another shape for inputs of this shape, "
                           "and a state keeps its own")
    return list(states.values())


def tensors_of(module: Any) -> dict[str, Any]:
    """Buffers and attributes of a module that are tensors, by the names of states."""
    found = dict(module.named_buffers())
    for path, part in module.named_modules():
        for key, value in part.__dict__.items():
            for i, leaf in enumerate(value if isinstance(value, tuple) else (value,)):
                if isinstance(leaf, torch.Tensor):
                    name = _name_of(path, key)
                    found[name if leaf is value else _name_of(name, i)] = leaf
    return found


@contextlib.contextmanager
def kept_state(whole: Any, examples: Sequence[Any], known: Sequence[State],
               are_real: bool) -> Iterator[Kept]:
    """Within it the module has what a first call leaves behind; then all is as before.

    Args:
        whole: what is going to be exported, called with `examples`.
        known: states that were found before.
        are_real: whether the examples are the user's, which the module must take.
    Raises: ModuleImportError with all that changes and cannot be a state; what the
        module raises on the user's examples.
    """
    before, decisions = Snapshot(whole), Decisions()
    try:
        try:
            found = _found_by_runs(whole, before, examples, decisions)
        except ModuleImportError:
            raise
        except Exception as error:
            # "not implemented for 'Half'": PyTorch cannot run it here, and a step may.
            if are_real and "not implemented" not in str(error):
                raise
            before.restore()
            found = []
        yield Kept(_with_known(found, known), decisions)
    finally:
        before.restore()
