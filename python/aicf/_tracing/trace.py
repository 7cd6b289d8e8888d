# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trace to which tensors belong.

A trace runs the user's function once, on tensors that have a shape and an element type
but no values. Each op becomes an op of the aicf dialect with the user's line, and is
inferred and verified at once. This file names no op, and nothing is computed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from .._base.dtypes import DType, dtype_name, to_index
from ..errors import TraceError
from .returned import Returned

if TYPE_CHECKING:
    from .. import _compiler
    from .tensor import Tensor

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: The package's folders. The examples are a user's.
_OWN = {_PACKAGE, *(entry.path for entry in os.scandir(_PACKAGE)
                    if entry.is_dir() and entry.name != "examples")}


def user_line() -> tuple[str, int]:
    """Returns the place that the trace was told, or else file and line of the innermost
    frame outside this package (and contextlib, which stands between our frames)."""
    if _active.trace is not None and _active.trace.place is not None:
        return _active.trace.place
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if os.path.dirname(name) not in _OWN and name != contextlib.__file__:
            return name, frame.f_lineno
        frame = frame.f_back
    return "", 0


def trace_error(message: str) -> NoReturn:
    raise TraceError(message, *user_line())


class _Active(threading.local):
    trace: EntryTrace | None = None


_active = _Active()


def current_trace(what: str) -> EntryTrace:
    """Returns the trace of this thread. Raises TraceError if there is none."""
    trace = _active.trace
    if trace is None:
        trace_error("%s outside a trace: use it in a function that aicf.compile_step, "
                    "aicf.compile or aicf.trace traces" % what)
    return trace


def active_trace() -> EntryTrace | None:
    return _active.trace


class TraceAgain(Exception):
    """An import has learned what it must do otherwise: what was traced is dropped, and the
    function is traced anew."""


class Operand:
    """What an op takes as a tensor: a traced tensor, or what keeps its value on the
    device from step to step."""

    __slots__ = ()

    def _tensor(self) -> Tensor:
        raise NotImplementedError


class Persistent(Protocol):
    """What stays on the device from step to step: a parameter or a buffer.

    Attributes:
        role: "param" or "state".
        value: the array that it starts with, or None.
        zero_row: the row that starts with zeros, or None.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    dtype: str
    zero_row: int | None

    @property
    def value(self) -> Any: ...

    def attributes(self) -> dict[str, Any]: ...


def as_tensor(value: Any) -> Tensor:
    """Returns an operand as a traced tensor. A TraceError says what to do instead."""
    if isinstance(value, Operand):
        return value._tensor()
    from . import constants as _constants
    if _constants.is_array(value):
        return _constants.constant(value)
    if hasattr(value, "__dlpack__"):  # of PyTorch, JAX, CuPy, or ours
        trace_error("a %s is a value, but a step is traced without values: make it "
                    "an input, an attribute of the model (nn.Buffer(shape, dtype, "
                    "init=array)), or a NumPy array, which becomes a constant"
                    % type(value).__name__)
    trace_error("expected a traced tensor, got %r of type %s"
                % (value, type(value).__name__))


def to_bool(value: Any) -> bool:
    if type(value).__name__ in ("bool", "bool_"):  # NumPy's had either name
        return bool(value)
    trace_error("%r: expected True or False" % (value,))


def to_int(value: Any) -> int:
    try:
        number = to_index(value)
    except TypeError:
        trace_error("%r: expected an int" % (value,))
    if not -2**63 <= number < 2**63:
        trace_error("%r does not fit into 64 bits" % (value,))
    return number


def to_float(value: Any) -> float:
    if not hasattr(value, "__float__") or isinstance(value, bool):
        trace_error("%r: expected a number" % (value,))
    return float(value)


def to_ints(value: Any) -> list[int]:
    try:
        values = list(value)
    except TypeError:
        trace_error("%r: expected a sequence of ints" % (value,))
    return [to_int(v) for v in values]


def to_elements(value: Any) -> Any:
    from . import constants as _constants
    return _constants.elements(value)


def to_dtype(value: DType) -> _compiler.DTypeName:
    from .. import _compiler
    try:
        return _compiler.DTypeName(dtype_name(value))
    except TypeError as error:
        trace_error(str(error))


def emit(op: str, operands: Sequence[Any], attributes: Mapping[str, Any],
         required: int | None = None) -> Any:
    """Adds an op of the dialect at the user's line, and returns a tuple of its results.
    Operands may be lists. The first `required` operands (None: all) may not be None."""
    return current_trace(op).emit(op, operands, attributes, required)


def emit1(op: str, operands: Sequence[Any], attributes: Mapping[str, Any],
          required: int | None = None) -> Tensor:
    """Adds an op that has one result, and returns that."""
    return current_trace(op).emit(op, operands, attributes, required)[0]


class EntryTrace(Returned):
    """One function of a module while it is traced."""

    def __init__(self, module: _compiler.Module, name: str,
                 names: Mapping[int, str], training: bool, seed: int,
                 tensor_type: type[Tensor]) -> None:
        super().__init__()
        self.module, self.name, self.training = module, name, training
        self._tensor_type = tensor_type
        self.names = names  # of parameters and buffers, by id()
        self.seed = seed
        self.persistent: dict[str, Persistent] = {}
        self._name_of: dict[int, str] = {}  # by id() of what is in `persistent`
        self.hypers: dict[str, float] = {}
        self.inputs: list[str] = []
        self.created: set[int] = set()  # modules that were made during the trace
        #: The line that ops come from, if it is not that of the code that runs.
        self.place: tuple[str, int] | None = None
        #: The rows of the data and of a batch, if batches are taken on the device.
        self.resident: tuple[int, int] | None = None
        #: The paths of the modules whose forward() is running.
        self._layers = [""]
        self._recomputed: set[str] = set()  # blocks
        self._is_recomputed = False
        self._tensors: dict[str, Tensor] = {}
        self._updates: dict[str, Tensor] = {}
        self._counter: Tensor | None = None
        self._num_seeds = 0
        self._labels: dict[int, int] = {}
        self.nodes: list[tuple[str, list[int], list[int]]] = []

    # Arguments

    def _argument(self, name: str, role: str, shape: tuple[int, ...], dtype: str,
                  more: Mapping[str, Any]) -> Tensor:
        if name in self._tensors:
            trace_error("%s: there are two tensors of the name %r"
                        % (self.name, name))
        attributes = {"aicf.role": role, "aicf.name": name, **more}
        number, dims, element = self.module.add_argument(
            list(shape), dtype, attributes, *user_line())
        tensor = self._tensor_type(self, number, tuple(dims), element)
        self._tensors[name] = tensor
        return tensor

    def input(self, name: str, shape: tuple[int, ...], dtype: str) -> Tensor:
        self.inputs.append(name)
        return self._argument(name, "input", shape, dtype, {})

    def input_types(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Returns shapes and element types of the inputs, by name."""
        return {name: (self._tensors[name].shape, self._tensors[name].dtype)
                for name in self.inputs}

    def hyper(self, name: str, value: float) -> Tensor:
        tensor = self._argument(name, "hyper", (), "f32", {})
        self.hypers[name] = value
        return tensor

    def number(self, name: str, value: float) -> Tensor:
        """Returns the hyper of that name, which starts with the value."""
        known = self._tensors.get(name)
        return self.hyper(name, value) if known is None else known

    def hypers_of(self, name: str, count: int) -> Tensor:
        """Returns the hyper of that name with so many numbers, f32."""
        known = self._tensors.get(name)
        return self._argument(name, "hyper", (count,), "f32", {}) if known is None else known

    def of(self, owner: Persistent) -> Tensor:
        """Returns the value of a parameter or buffer at the start of the step."""
        name = self.names.get(id(owner)) or owner.name
        if not name:
            trace_error("this %s is not the model's: assign it to an attribute of the "
                        "model, or give it a name" % type(owner).__name__)
        if self.persistent.get(name) is owner:
            return self._tensors[name]
        tensor = self._argument(name, owner.role, owner.shape, owner.dtype,
                                owner.attributes())
        self.persistent[name] = owner
        self._name_of[id(owner)] = name
        return tensor

    def gradient_of(self, name: str) -> Tensor:
        """Returns the gradient of the loss for a parameter or an input of that name, which
        the compiler puts in."""
        of, own = self._tensors[name], "gradient of " + name
        if own not in self._tensors:
            self._argument(own, "input", of.shape, of.dtype, {"aicf.gradient_of": name})
        return self._tensors[own]

    def update(self, owner: Persistent, value: Any) -> None:
        """Gives `owner` the value `value` at the end of the step."""
        tensor, old = as_tensor(value), self.of(owner)
        self._own(tensor)
        name = self._name_of[id(owner)]
        if name in self._updates:
            trace_error("%r is updated twice in a step" % name)
        if (tensor.shape, tensor.dtype) != (old.shape, old.dtype):
            trace_error("%r is %s, but its update is %s" % (name, old, tensor))
        self._updates[name] = tensor

    def update_again(self, owner: Persistent,
                     function: Callable[[Tensor], Tensor]) -> None:
        """Gives `owner` the value function(value) at the end of the step, where `value`
        is that of an earlier update in the step, or else the old one."""
        old = self.of(owner)
        name = self._name_of[id(owner)]
        value = function(self._updates.pop(name, old))
        self.update(owner, value)

    def random_step(self) -> tuple[Tensor, int]:
        """Returns a count of steps, and a seed that no other caller gets."""
        if self._counter is None:
            self._counter = self._argument("rng_step", "state", (), "i64", {})
        self._num_seeds += 1
        return self._counter, (self.seed * 1000003 + self._num_seeds) % 2**63

    # Ops

    def _own(self, tensor: Tensor) -> int:
        if tensor._trace is not self:
            trace_error("%s belongs to another trace: a traced tensor cannot be used "
                        "outside the function that made it" % tensor)
        return tensor._id

    def _slot(self, op: str, operand: Any, is_required: bool) -> Any:
        if operand is None:
            if is_required:
                trace_error("an operand of %s is None, expected a tensor: does a "
                            "function lack its return?" % op.replace(".", ".ops.", 1))
            return None
        if isinstance(operand, (list, tuple)):
            return [self._own(as_tensor(value)) for value in operand]
        return self._own(as_tensor(operand))

    def emit(self, op: str, operands: Sequence[Any], attributes: Mapping[str, Any],
             required: int | None = None) -> tuple[Tensor, ...]:
        slots = [self._slot(op, operand, required is None or i < required)
                 for i, operand in enumerate(operands)]
        key = (op, str(slots), str(sorted(attributes.items()))) if self._shares_numbers \
            else ("", "", "")
        if key in self._numbers:
            return self._numbers[key]
        results = self.module.emit(op, slots, dict(attributes), *user_line(),
                                   self._layers[-1])
        for slot in slots:
            for number in slot if isinstance(slot, list) else [slot]:
                if number is not None:
                    self._labels.setdefault(number, len(self._labels))
        tensors = tuple(self._tensor_type(self, number, tuple(shape), dtype)
                        for number, shape, dtype in results)
        for tensor in tensors:
            self._labels.setdefault(tensor._id, len(self._labels))
        flat = [n for slot in slots for n in (slot if isinstance(slot, list)
                                              else [slot]) if n is not None]
        self.nodes.append((op, flat, [tensor._id for tensor in tensors]))
        if self._shares_numbers and not any(tensor.shape for tensor in tensors):
            self._numbers[key] = tensors
        return tensors

    def map(self, function: Callable[..., Any], operands: Sequence[Tensor]) -> Tensor:
        """Returns what `function` computes from the operands, element by element."""
        slots = [self._own(operand) for operand in operands]
        before = dict(self._labels), list(self.nodes)
        elements = self.module.begin_map(slots, *user_line(), self._layers[-1])
        try:
            element = as_tensor(function(*(
                self._tensor_type(self, number, tuple(shape), dtype)
                for number, shape, dtype in elements)))
            number, dims, dtype = self.module.end_map(self._own(element))
        except BaseException:
            self.module.abandon_map()
            raise
        finally:  # dump() does not show what is inside
            self._labels, self.nodes = before
        result = self._tensor_type(self, number, tuple(dims), dtype)
        for value in (*slots, number):
            self._labels.setdefault(value, len(self._labels))
        self.nodes.append(("aicf.map", slots, [number]))
        return result

    def repeat(self, times: int, inits: Sequence[Tensor],
               function: Callable[..., Sequence[Any]]) -> list[Tensor]:
        """Returns what function(i, *values) gives in the last of `times` runs: `values` is
        what it gave in the run before, and `inits` in the first one. `i` counts the runs
        from 0 (i64, 0-d). The function is traced once; it gives as many tensors, of the
        types of `inits`."""
        def tensors(values: Sequence[tuple[int, tuple[int, ...], str]]) -> list[Tensor]:
            made = [self._tensor_type(self, number, tuple(dims), dtype)
                    for number, dims, dtype in values]
            for tensor in made:
                self._labels.setdefault(tensor._id, len(self._labels))
            return made
        slots = [self._own(init) for init in inits]
        for slot in slots:
            self._labels.setdefault(slot, len(self._labels))
        arguments = self.module.begin_repeat(times, slots, *user_line(), self._layers[-1])
        try:
            made = function(*tensors(arguments))
            results = self.module.end_repeat([self._own(as_tensor(value)) for value in made])
        except BaseException:
            self.module.abandon_repeat()
            raise
        after = tensors(results)
        self.nodes.append(("aicf.repeat", slots, [tensor._id for tensor in after]))
        return after

    @contextlib.contextmanager
    def layer(self, path: str) -> Iterator[None]:
        """Makes the ops that are emitted inside belong to the module of that path."""
        self._layers.append(path)
        try:
            yield
        finally:
            self._layers.pop()

    @contextlib.contextmanager
    def recomputed(self) -> Iterator[None]:
        """Makes the ops that are emitted inside a block whose values the backward pass
        computes again. A block inside of a block is a part of that one."""
        if self._is_recomputed:
            yield
            return
        path = block = self._layers[-1] or "model"
        number = 1
        while block in self._recomputed:  # the module was called before
            number += 1
            block = "%s#%d" % (path, number)
        self._recomputed.add(block)
        self._is_recomputed = True
        self.module.set_recomputed(block)
        try:
            yield
        finally:
            self.module.set_recomputed("")
            self._is_recomputed = False

    @contextlib.contextmanager
    def at(self, file: str, line: int) -> Iterator[None]:
        """Gives the ops that are emitted inside that line. An empty `file` changes
        nothing."""
        before = self.place
        self.place = (file, line) if file else before
        try:
            yield
        finally:
            self.place = before

    def dump(self) -> str:
        """Returns the ops in trace order as text, in which values have labels."""
        lines = ["values: %d, nodes: %d" % (len(self._labels), len(self.nodes))]
        for op, ins, outs in self.nodes:
            lines.append("%s(%s) -> %s" % (
                op.partition(".")[2], *(", ".join("v%03d" % self._labels[n]
                                                  for n in values)
                                        for values in (ins, outs))))
        return "\n".join(lines) + "\n"

    def vid(self, tensor: Tensor) -> int:
        """Returns the label of a value, or -1. Labels count in trace order, operands
        first, as those of -aicf-number-values do."""
        return self._labels.get(self._own(tensor), -1)

    # The end

    def finish(self, outputs: Sequence[tuple[str, Tensor, bool]],
               attributes: Mapping[str, Any]) -> None:
        """Ends the function. An output is a name, a value, and whether it is the loss."""
        if self._counter is not None:
            after, = self.emit("aicf.step_inc", [self._counter, None], {}, required=1)
            self._updates["rng_step"] = after
        results: list[tuple[int, dict[str, Any]]] = []
        for name, value, is_loss in outputs:
            marks: dict[str, Any] = {"aicf.name": name}
            if is_loss:
                marks["aicf.minimize"] = unit()
            results.append((self._own(value), marks))
        for name, value in self._updates.items():
            results.append((self._own(value), {"aicf.updates": name}))
        self.module.end_function(results, dict(attributes))

    @contextlib.contextmanager
    def resumed(self) -> Iterator[None]:
        """Makes this the thread's trace inside."""
        if _active.trace is not None:
            trace_error("a trace inside a trace")
        _active.trace = self
        try:
            yield
        finally:
            _active.trace = None

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Contains a whole trace. An exception that leaves it removes the function."""
        with self.resumed():
            self.begin()
            try:
                yield
            except BaseException:
                self.module.abandon_function()
                raise

    def begin(self) -> None:
        self.module.begin_function(self.name, *user_line())


def unit() -> Any:
    """Returns MLIR's UnitAttr."""
    from .. import _compiler
    return _compiler.AttributeText("unit")


def attribute_text(text: str) -> Any:
    from .. import _compiler
    return _compiler.AttributeText(text)


def location_of(function: Callable[..., Any]) -> tuple[str, int]:
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)
