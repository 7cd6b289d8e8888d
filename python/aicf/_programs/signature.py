# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python knows about an entry: its inputs, and how its outputs go together.

A plan says most of this, too, so that a loaded program behaves as the traced one does.
Nothing here runs or compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._base.dtypes import DType, check_shape, dtype_name
from .._tracing.returned import PRINT

if TYPE_CHECKING:
    from .._tracing.trace import Persistent
    from ..errors import Diagnostic
    from ..nn import Module
    from ..optim import Schedule

#: The names of aicf::OutputForm.
UNKNOWN, TENSOR, TUPLE, DICT, TENSOR_AND_DICT = (
    "unknown", "tensor", "tuple", "dict", "tensor_and_dict")


@dataclass(frozen=True)
class Spec:
    """The shape and the element type of an input."""

    shape: tuple[int, ...]
    dtype: str = "f32"


def spec(shape: Any, dtype: DType = "f32") -> Spec:
    """Describes an input by its shape and its element type.

    Args:
        shape: an int or a sequence of ints, () for a scalar.
        dtype: an element type: its name ("f32"), or NumPy's or PyTorch's object or name.
    Returns: a Spec.
    Raises: TypeError, ValueError.
    """
    return Spec(check_shape(shape), dtype_name(dtype))


def spec_of(value: Any, name: str) -> Spec:
    """Returns the Spec for a Spec, (shape, dtype), a shape, or an array, whose shape and
    dtype count. Raises TypeError, ValueError."""
    try:
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return spec(tuple(value.shape), value.dtype)
        if isinstance(value, (tuple, list)) and len(value) == 2 \
                and isinstance(value[0], (tuple, list)):
            return spec(value[0], value[1])
        return spec(value)
    except (TypeError, ValueError) as error:
        raise type(error)("input %r: %s" % (name, error)) from None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def specs_of(inputs: Any) -> dict[str, Spec]:
    if not isinstance(inputs, Mapping):
        raise TypeError("inputs is a %s, expected a dict of name: aicf.spec(shape, "
                        "dtype)" % type(inputs).__name__)
    for name in inputs:
        if not isinstance(name, str) or not name or not _is_text(name):
            raise TypeError("the name of an input is %r, expected a str" % (name,))
    return {name: spec_of(value, name) for name, value in inputs.items()}


@dataclass
class Signature:
    """Describes an entry: its name and inputs, what it returns, whose values it uses."""

    name: str
    specs: dict[str, Spec] = field(default_factory=dict)
    #: How the outputs are put together, and the names of those that the function has.
    #: The compiler may add some.
    form: str = UNKNOWN
    outputs: tuple[str, ...] = ()
    accumulate: int = 1  # batches per update; 0: an old plan does not say how many
    #: The own name of every name of a parameter or buffer (a tied one has several), and
    #: the names of all of the model, of which the entry may use some.
    aliases: dict[str, str] = field(default_factory=dict)
    model_names: set[str] = field(default_factory=set)
    #: Values that only the front end knows: hypers, and tables of rates.
    values: dict[str, Any] = field(default_factory=dict)
    #: What stands before "lr" and "step", if the step's optimizer is not the first.
    optimizer_prefix: str = ""
    #: What computes the learning rate on the device, if it is not a number.
    schedule: Schedule | None = None
    persistent: dict[str, Persistent] = field(default_factory=dict)
    #: The ops that were traced, as aicf.seeds shows them.
    nodes: str = ""
    # What was traced. An entry of a plan from a file has none of it.
    source: Callable[..., Any] | None = None
    model: Module | None = None
    is_training: bool = False  # whether dropout drops
    #: Traces the function again, for other inputs, as an entry of another name.
    trace_again: Callable[[Mapping[str, Spec], str], Signature] | None = None
    #: Whether other batch sizes are errors, and do not become entries of their own.
    is_fixed: bool = False
    #: The class of the entry, if it is not Entry.
    entry_type: Any = None
    #: The rows of the data and of a batch, if the inputs are all of the data and the
    #: function takes its batches from them (aicf.data.Batches).
    resident: tuple[int, int] | None = None
    #: The modules whose forward() ran: path, class, shapes of the result.
    layers: list[tuple[str, str, str]] = field(default_factory=list)
    #: The inputs with which the model is called, by the names of forward's parameters, None
    #: for what is computed of them; and what is not a tensor.
    called: dict[str, str | None] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    #: What an import tells in Lowered.report().
    remarks: list[Diagnostic] = field(default_factory=list)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.specs)

    def pack(self, values: Sequence[Any], names: Sequence[str]) -> Any:
        """Returns what a call returns, made of all outputs in the plan's order. Outputs
        that the compiler added are in a dict after the function's own."""
        count = len(self.outputs) or len(values)
        own = values[:count]
        more = dict(zip(names[count:], values[count:]))
        if self.form == TENSOR_AND_DICT:
            return own[0], {**dict(zip(names[1:count], own[1:])), **more}
        if self.form == DICT:
            return {**dict(zip(names, own)), **more}
        result: Any = tuple(own)
        if self.form == TENSOR or self.form == UNKNOWN and count == 1:
            result = own[0]
        return (result, more) if len(names) > count else result


def returned(names: Sequence[str]) -> list[str]:
    """Returns the names of outputs that a call returns, without those that are printed."""
    return [name for name in names if not name.startswith(PRINT)]


def own_outputs(form: str, names: Sequence[str]) -> tuple[str, ...]:
    """Returns those outputs of a loaded plan that the traced function had. Elements of a
    tuple have the names that the trace gave them: "output0", "output1"."""
    names = returned(names)
    if form == TENSOR:
        return tuple(names[:1])
    if form == TUPLE:
        return tuple(n for i, n in enumerate(names) if n == "output%d" % i)
    return tuple(names)
