# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced tensors, and the trace that they belong to.

A trace runs the user's function once, on tensors that have a shape and an element
type and no values; every op becomes an op of the aicf dialect at the user's line,
inferred and verified there and then. Nothing is computed.
"""

from __future__ import annotations

import contextlib
import math
import numbers
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from . import _runtime
from ._hints import missing, refuse_keywords
from ._runtime import MAX_RANK
from .errors import TraceError

if TYPE_CHECKING:
    from . import _compiler
    from .nn import Buffer, Parameter

DTYPES = _runtime.dtypes()
_ALIASES = {"float16": "f16", "half": "f16", "bfloat16": "bf16", "float32": "f32",
            "float": "f32", "float64": "f64", "double": "f64", "int32": "i32",
            "int": "i32", "int64": "i64", "long": "i64"}

#: An element type: its name ("f32"), NumPy's or PyTorch's object, or their names.
DType = Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def dtype_name(dtype: DType) -> str:
    """The name of an element type. Raises TypeError for one that AICF has not."""
    if isinstance(dtype, str):
        name = dtype
    else:  # numpy.float32, numpy.dtype("f4"), torch.float32, jax.numpy.float32
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) \
            or str(dtype)
        name = name.rpartition(".")[2]
    name = _ALIASES.get(name, name)
    if name not in DTYPES:
        raise TypeError("%r is not an element type of AICF: expected one of %s"
                        % (dtype, ", ".join(DTYPES)))
    return name


def check_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple. Raises TypeError, ValueError."""
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    try:
        dims = tuple(_index(dim) for dim in shape)
    except TypeError:
        raise TypeError("%r is not a shape: expected a sequence of ints"
                        % (shape,)) from None
    if len(dims) > MAX_RANK:
        raise ValueError("a shape of %d dimensions, expected at most %d"
                         % (len(dims), MAX_RANK))
    for dim in dims:
        if not 1 <= dim < 2**31:
            raise ValueError("dimension %d of %r: expected 1 to 2^31 - 1"
                             % (dim, dims))
    return dims


def _index(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError
    return int(value.__index__())


def user_line() -> tuple[str, int]:
    """File and line of the innermost frame outside this package (and outside
    contextlib, which stands between two frames of ours)."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if os.path.dirname(name) != _PACKAGE and name != contextlib.__file__:
            return name, frame.f_lineno
        frame = frame.f_back
    return "", 0


def trace_error(message: str) -> NoReturn:
    raise TraceError(message, *user_line())


class _Active(threading.local):
    trace: EntryTrace | None = None


_active = _Active()


def current_trace(what: str) -> EntryTrace:
    """The trace of this thread. Raises TraceError if there is none."""
    trace = _active.trace
    if trace is None:
        trace_error("%s outside a trace: aicf.compile_step, aicf.compile and "
                    "aicf.trace trace functions" % what)
    return trace


def active_trace() -> EntryTrace | None:
    return _active.trace


class Operators:
    """Arithmetic of whatever stands for a traced tensor. Broadcasting is NumPy's."""

    __slots__ = ()
    # NumPy leaves `array + tensor` to the tensor, which says what to do instead.
    __array_ufunc__ = None

    def _tensor(self) -> Tensor:
        raise NotImplementedError

    def __add__(self, other: Any) -> Tensor:
        return binary("add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return binary("mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return binary("mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return divide(other, self)

    def __neg__(self) -> Tensor:
        return emit1("aicf.scale", [self], {"factor": -1.0})

    def __pos__(self) -> Tensor:
        return self._tensor()

    def __pow__(self, exponent: Any) -> Tensor:
        return power(self, exponent)

    def __matmul__(self, other: Any) -> Tensor:
        if isinstance(other, Transposed):
            return emit1("aicf.linear", [self, other.matrix, None], {})
        return emit1("aicf.matmul", [self, as_tensor(other)], {})

    @property
    def T(self) -> Transposed:
        """The transpose of a matrix, for `x @ W.T`."""
        tensor = self._tensor()
        if len(tensor.shape) != 2:
            trace_error("only a matrix has a .T here, this is %s" % tensor)
        return Transposed(tensor)

    def sum(self, axis: int | None = None, keepdim: bool = False,
            **unknown: Any) -> Tensor:
        """The sum over one dimension, or over all."""
        refuse_keywords("sum", unknown)
        tensor = self._tensor()
        if axis is None:
            return tensor if not tensor.shape else emit1(
                "aicf.reduce_sum", [tensor],
                {"axis": len(tensor.shape) - 1, "leading": True})
        return emit1("aicf.reduce_sum", [tensor],
                     {"axis": _axis(tensor, axis), "keepdim": bool(keepdim)})

    def mean(self, axis: int | None = None, keepdim: bool = False,
             **unknown: Any) -> Tensor:
        """The mean over one dimension, or over all; f32 for 16-bit tensors."""
        refuse_keywords("mean", unknown)
        tensor = self._tensor()
        if axis is None:
            return emit1("aicf.mean", [tensor], {})
        size = tensor.shape[_axis(tensor, axis)]
        if tensor.dtype in ("f16", "bf16"):
            tensor = tensor.astype("f32")
        return tensor.sum(axis, keepdim) * (1.0 / size)

    def astype(self, dtype: DType) -> Tensor:
        """A cast to another float type."""
        tensor = self._tensor()
        if dtype_name(dtype) == tensor.dtype:
            return tensor
        return emit1("aicf.cast", [tensor], {"dtype": to_dtype(dtype)})

    # What would need a value. Identity stands for equality nowhere: `x == y` that is
    # silently False is worse than an error.

    def __bool__(self) -> NoReturn:
        trace_error("a traced tensor has no value to branch on: a step is traced "
                    "once, for all values (branch on shapes or on Python values)")

    def __eq__(self, other: Any) -> bool:
        trace_error("a traced tensor cannot be compared: a step has no values yet")

    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__
    __hash__ = object.__hash__

    def _read(self, *args: Any, **kwargs: Any) -> NoReturn:
        trace_error("a traced tensor cannot be read on the host inside a step: "
                    "return it, and read it from what the call gives back")

    __float__ = __int__ = __index__ = __complex__ = __array__ = _read
    __dlpack__ = item = numpy = tolist = cpu = detach = _read

    def __iter__(self) -> NoReturn:
        trace_error("a traced tensor cannot be iterated over: there is no op that "
                    "takes a row of it")

    def __getitem__(self, index: Any) -> NoReturn:
        trace_error("a traced tensor cannot be indexed: slices do not exist yet. Slice "
                    "the array before the call; ops.gather_rows(x, numbers) takes rows "
                    "whose numbers are an i32 input")

    def __getattr__(self, name: str) -> NoReturn:
        raise missing("aicf.Tensor", name, type(self))

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        trace_error("a traced tensor cannot be written: a step makes new values "
                    "(nn.Buffer.update keeps one for the next step)")


class Tensor(Operators):
    """A value of the function that is being traced.

    Attributes:
        shape: a tuple of ints, () for a scalar.
        dtype: "f16", "bf16", "f32", "f64", "i32" or "i64".
    """

    __slots__ = ("_trace", "_id", "shape", "dtype", "__weakref__")

    def __init__(self, trace: EntryTrace, number: int, shape: tuple[int, ...],
                 dtype: str) -> None:
        self._trace, self._id = trace, number
        self.shape, self.dtype = shape, dtype

    def _tensor(self) -> Tensor:
        return self

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def vid(self) -> int:
        """The label of this value in the seeds' dump: the position in trace
        order."""
        return self._trace.vid(self)

    def __len__(self) -> int:
        if not self.shape:
            trace_error("a 0-d tensor has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return "Tensor(%s)" % "x".join([*map(str, self.shape), self.dtype])

    def __reduce__(self) -> NoReturn:
        raise TypeError("a traced tensor cannot be pickled: it has no value")


class Transposed:
    """`W.T`, which only a product takes: x @ W.T, W.T @ x."""

    __slots__ = ("matrix",)

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    def __matmul__(self, other: Any) -> Tensor:
        is_transposed = isinstance(other, Transposed)
        return emit1("aicf.matmul",
                     [self.matrix, other.matrix if is_transposed else as_tensor(other)],
                     {"transA": True, "transB": is_transposed})


def _axis(tensor: Tensor, axis: int) -> int:
    try:
        number = _index(axis)
    except TypeError:
        trace_error("axis is %r, expected an int or None" % (axis,))
    if not -len(tensor.shape) <= number < len(tensor.shape):
        trace_error("axis %d of %s" % (number, tensor))
    return number % len(tensor.shape)


def as_tensor(value: Any) -> Tensor:
    """An operand. Raises TraceError with what to do instead."""
    if isinstance(value, Operators):
        return value._tensor()
    kind = type(value).__module__.partition(".")[0]
    if kind in ("numpy", "torch", "jax", "jaxlib", "cupy") \
            or hasattr(value, "__dlpack__"):
        trace_error("a %s is a value, and a step is traced without values: make it "
                    "an input, or an attribute of the model, nn.Buffer(shape, dtype, "
                    "init=array)" % type(value).__name__)
    trace_error("expected a traced tensor, got %r of type %s"
                % (value, type(value).__name__))


def _is_number(value: Any) -> bool:
    """A number of Python's or a scalar of NumPy's."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _finite(value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        trace_error("%r in a traced expression: expected a finite number" % (value,))
    return number


def broadcast(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`tensor` repeated to `shape`, by NumPy's rule. Raises TraceError."""
    own = tensor.shape
    missing = len(shape) - len(own)
    if missing < 0 or any(d not in (1, to) for d, to in zip(own, shape[missing:])):
        trace_error("%s does not broadcast to %s" % (tensor, shape))
    for axis, (dim, to) in enumerate(zip(own, shape[missing:])):
        if dim != to:
            grown = (*tensor.shape[:axis], to, *tensor.shape[axis + 1:])
            tensor = emit1("aicf.expand", [tensor], {"axis": axis,
                                                     "shape": list(grown)})
    if missing:
        tensor = emit1("aicf.expand", [tensor], {"axis": missing - 1,
                                                 "shape": list(shape)})
    return tensor


def _common_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    rank = max(len(a.shape), len(b.shape))
    left = (1,) * (rank - len(a.shape)) + a.shape
    right = (1,) * (rank - len(b.shape)) + b.shape
    for x, y in zip(left, right):
        if x != y and 1 not in (x, y):
            trace_error("%s and %s do not broadcast" % (a, b))
    return tuple(max(x, y) for x, y in zip(left, right))


def binary(op: str, left: Any, right: Any) -> Tensor:
    """left op right, either of which may be a number."""
    for number, tensor in ((left, right), (right, left)):
        if _is_number(number) and op == "mul":
            return emit1("aicf.scale", [tensor], {"factor": _finite(number)})
    if _is_number(left):
        left = emit1("aicf.fill_like", [right], {"value": _finite(left)})
    if _is_number(right):
        right = emit1("aicf.fill_like", [left], {"value": _finite(right)})
    a, b = as_tensor(left), as_tensor(right)
    if a.dtype != b.dtype:
        trace_error("%s and %s have different element types: astype() converts"
                    % (a, b))
    shape = _common_shape(a, b)
    return emit1("aicf." + op, [broadcast(a, shape), broadcast(b, shape)], {})


def divide(left: Any, right: Any) -> Tensor:
    if _is_number(right):
        if right == 0:
            trace_error("division by zero")
        return emit1("aicf.scale", [left], {"factor": _finite(1.0 / right)})
    inverse = emit1("aicf.reciprocal", [right], {})
    if _is_number(left) and left == 1:
        return inverse
    return binary("mul", left, inverse)


def power(base: Any, exponent: Any) -> Tensor:
    if exponent == -1:
        return emit1("aicf.reciprocal", [base], {})
    if not isinstance(exponent, int) or isinstance(exponent, bool) \
            or not 1 <= exponent <= 16:
        trace_error("a power of %r: expected an int from 1 to 16, or -1"
                    % (exponent,))
    tensor = as_tensor(base)
    result: Tensor | None = None
    while exponent:  # square and multiply
        if exponent & 1:
            result = tensor if result is None else result * tensor
        exponent >>= 1
        if exponent:
            tensor = tensor * tensor
    assert result is not None
    return result


def to_bool(value: Any) -> bool:
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return bool(value)
    trace_error("%r: expected True or False" % (value,))


def to_int(value: Any) -> int:
    try:
        number = _index(value)
    except TypeError:
        trace_error("%r: expected an int" % (value,))
    if not -2**63 <= number < 2**63:
        trace_error("%r does not fit into 64 bits" % (value,))
    return number


def to_float(value: Any) -> float:
    if isinstance(value, Operators) or not hasattr(value, "__float__") \
            or isinstance(value, bool):
        trace_error("%r: expected a number" % (value,))
    return float(value)


def to_ints(value: Any) -> list[int]:
    try:
        return [to_int(v) for v in value]
    except TypeError as error:
        if isinstance(error, TraceError):
            raise
        trace_error("%r: expected a sequence of ints" % (value,))


def to_dtype(value: DType) -> _compiler.DTypeName:
    from . import _compiler
    try:
        return _compiler.DTypeName(dtype_name(value))
    except TypeError as error:
        trace_error(str(error))


def emit(op: str, operands: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """One op of the dialect at the user's line, and a tuple of its results; operands
    may be None or lists."""
    return current_trace(op).emit(op, operands, attributes)


def emit1(op: str, operands: Sequence[Any], attributes: Mapping[str, Any]) -> Tensor:
    """Of an op with one result: that."""
    return current_trace(op).emit(op, operands, attributes)[0]


class EntryTrace:
    """One function of a module while it is traced."""

    def __init__(self, module: _compiler.Module, name: str,
                 names: Mapping[int, str], training: bool, seed: int) -> None:
        self.module, self.name, self.training = module, name, training
        self.names = names  # of parameters and buffers, by id()
        self.seed = seed
        self.persistent: dict[str, Parameter | Buffer] = {}
        self.hypers: dict[str, float] = {}
        self.inputs: list[str] = []
        self.created: set[int] = set()  # modules that were made in here
        #: Rows of the data and of a batch, where batches are taken on the device.
        self.resident: tuple[int, int] | None = None
        #: Modules whose forward() is running, by path, and those that have run:
        #: path, class and shapes of what they returned.
        self._layers: list[str] = []
        self.layers: list[tuple[str, str, str]] = []
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
        tensor = Tensor(self, number, tuple(dims), element)
        self._tensors[name] = tensor
        return tensor

    def input(self, name: str, shape: tuple[int, ...], dtype: str) -> Tensor:
        self.inputs.append(name)
        return self._argument(name, "input", shape, dtype, {})

    def input_specs(self) -> dict[str, Any]:
        from ._signature import Spec
        return {name: Spec(self._tensors[name].shape, self._tensors[name].dtype)
                for name in self.inputs}

    def hyper(self, name: str, value: float) -> Tensor:
        if name in self.hypers:
            return self._tensors[name]
        self.hypers[name] = value
        return self._argument(name, "hyper", (), "f32", {})

    def of(self, owner: Parameter | Buffer) -> Tensor:
        """The value of a parameter or buffer at the start of the step."""
        name = self.names.get(id(owner)) or owner.name
        if not name:
            trace_error("a %s that is not the model's: assign it to an attribute of "
                        "the model, or give it a name" % type(owner).__name__)
        if self.persistent.get(name) is owner:
            return self._tensors[name]
        tensor = self._argument(name, owner.role, owner.shape, owner.dtype,
                                owner.attributes())
        self.persistent[name] = owner
        return tensor

    def update(self, owner: Buffer, value: Any) -> None:
        """`owner` has `value` when the step is over."""
        tensor, old = as_tensor(value), self.of(owner)
        self._own(tensor)
        name = next(n for n, o in self.persistent.items() if o is owner)
        if name in self._updates:
            trace_error("%r is updated twice in a step" % name)
        if (tensor.shape, tensor.dtype) != (old.shape, old.dtype):
            trace_error("%r is %s, its update is %s" % (name, old, tensor))
        self._updates[name] = tensor

    def random_step(self) -> tuple[Tensor, int]:
        """A count of steps, and a seed that no other caller has."""
        if self._counter is None:
            self._counter = self._argument("rng_step", "state", (), "i64", {})
        self._num_seeds += 1
        return self._counter, (self.seed * 1000003 + self._num_seeds) % 2**63

    # Ops

    def _own(self, tensor: Tensor) -> int:
        if tensor._trace is not self:
            trace_error("%s is of another trace: a step reaches from its inputs to "
                        "its results, and nothing leaves it in between" % tensor)
        return tensor._id

    def _slot(self, operand: Any) -> Any:
        if operand is None:
            return None
        if isinstance(operand, (list, tuple)):
            return [self._own(as_tensor(value)) for value in operand]
        return self._own(as_tensor(operand))

    def emit(self, op: str, operands: Sequence[Any],
             attributes: Mapping[str, Any]) -> tuple[Tensor, ...]:
        slots = [self._slot(operand) for operand in operands]
        layer = self._layers[-1] if self._layers else ""
        results = self.module.emit(op, slots, dict(attributes), *user_line(), layer)
        for slot in slots:
            for number in slot if isinstance(slot, list) else [slot]:
                if number is not None:
                    self._labels.setdefault(number, len(self._labels))
        tensors = tuple(Tensor(self, number, tuple(shape), dtype)
                        for number, shape, dtype in results)
        for tensor in tensors:
            self._labels.setdefault(tensor._id, len(self._labels))
        flat = [n for slot in slots for n in (slot if isinstance(slot, list)
                                              else [slot]) if n is not None]
        self.nodes.append((op, flat, [tensor._id for tensor in tensors]))
        return tensors

    @contextlib.contextmanager
    def layer(self, path: str) -> Iterator[None]:
        """What is emitted inside belongs to the module of that path."""
        self._layers.append(path)
        try:
            yield
        finally:
            self._layers.pop()

    def dump(self) -> str:
        """The ops in trace order, values by label, in the seeds' form."""
        lines = ["values: %d, nodes: %d" % (len(self._labels), len(self.nodes))]
        for op, ins, outs in self.nodes:
            lines.append("%s(%s) -> %s" % (
                op.partition(".")[2], *(", ".join("v%03d" % self._labels[n]
                                                  for n in values)
                                        for values in (ins, outs))))
        return "\n".join(lines) + "\n"

    def vid(self, tensor: Tensor) -> int:
        """As aicf-number-values labels: in trace order, operands first."""
        label = self._labels.get(self._own(tensor))
        return -1 if label is None else label

    # The end

    def finish(self, outputs: Sequence[tuple[str, Tensor, bool]],
               attributes: Mapping[str, Any]) -> None:
        """`outputs`: name, value, whether it is the loss to minimize."""
        if self._counter is not None:
            after, = self.emit("aicf.step_inc", [self._counter, None], {})
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
        """This thread's trace is this one inside."""
        if _active.trace is not None:
            trace_error("a trace inside a trace")
        _active.trace = self
        try:
            yield
        finally:
            _active.trace = None

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """The whole of a trace; it is forgotten when an exception leaves it."""
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
    """MLIR's UnitAttr."""
    from . import _compiler
    return _compiler.AttributeText("unit")


def attribute_text(text: str) -> Any:
    from . import _compiler
    return _compiler.AttributeText(text)


def location_of(function: Callable[..., Any]) -> tuple[str, int]:
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)
