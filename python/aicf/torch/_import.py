# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A captured graph as ops of a trace.

The graph is run once on traced tensors: the row of the table says what each call is
made of. Shapes and element types are compared with PyTorch's after every call, so that
nothing is trained which PyTorch does not mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .. import nn
from .._base.dtypes import NUMPY_TYPES
from .._tracing.exact import low_bits
from .._tracing.tensor import Operators
from .._tracing.trace import as_tensor, current_trace, trace_error
from ..errors import ModuleImportError, TraceError
from ._capture import Captured, is_unknown, refusal
from ._complex import Complex, call_complex, complex_constant, has_complex
from ._export import line_of, module_path_of, overload_of
from ._table import TABLE, Call, Row, Unsupported

_DTYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32",
           torch.float64: "f64", torch.int32: "i32", torch.int64: "i64", torch.bool: "i1"}


#: Integers of fewer bits: a tensor of i32 has the number, which wraps behind each op.
_NARROW = {torch.uint8: 8, torch.int8: 8, torch.int16: 16}


def dtype_of(dtype: Any) -> str:
    """The type of the tensor that holds one of PyTorch's. Raises TraceError: none does."""
    if dtype in _NARROW:
        return "i32"
    if dtype not in _DTYPES:
        trace_error("a tensor is %s, expected one of %s" % (
            str(dtype).removeprefix("torch."),
            ", ".join(str(d).removeprefix("torch.") for d in _DTYPES)))
    return _DTYPES[dtype]


def host_array(tensor: Any) -> Any:
    """NumPy's, of bf16 in f32, which NumPy has."""
    host = tensor.detach().cpu()
    return (host.float() if host.dtype == torch.bfloat16 else host).contiguous().numpy()


def held(value: Any) -> Any:
    """An input in the type of the tensor that holds it. Others, and those of another library,
    stay."""
    if isinstance(value, torch.Tensor) and value.dtype in _NARROW:
        return value.to(torch.int32)
    return value.astype("i4") if str(getattr(value, "dtype", "")) in (
        "uint8", "int8", "int16") and hasattr(value, "astype") else value


class ImportedModel(nn.Module):
    """The parameters and the buffers that change of a torch module, by its names.

    Attributes:
        owners: by the name in the module, the parameter or buffer; a tied one has
            several names.
    """

    def __init__(self, owners: Mapping[str, Any]) -> None:
        self.owners = dict(owners)

    def _members(self) -> Any:
        yield from self.owners.items()


class Importer:
    """Runs captured graphs in traces.

    Args:
        parameters: by id() of a torch parameter or buffer, ours.
        keeps_all: whether dropout keeps everything.
    """

    def __init__(self, owners: Mapping[int, Any], keeps_all: bool = False) -> None:
        self.owners, self.keeps_all = owners, keeps_all

    def run(self, captured: Captured, inputs: Sequence[Any]) -> list[Any]:
        """Traces a graph. Returns its results, flat."""
        self._check_states(captured)
        env: dict[Any, Any] = {}
        refused: list[tuple[Any, str]] = []  # all are found before one error says so
        trace = current_trace("an imported module")
        layers: dict[str, tuple[str, str]] = {}
        for node in captured.graph.nodes:
            if node.op == "placeholder":
                env[node] = self._argument(captured, node, inputs)
            elif node.op == "call_function" and node not in captured.constants:
                file, line, _ = line_of(node)
                with trace.at(file, line), trace.layer(module_path_of(node)):
                    try:
                        if is_unknown(captured, node):
                            raise Unsupported("")
                        if any(env.get(n) is _NOTHING for n in node.all_input_nodes):
                            env[node] = _stand_in(node.meta.get("val"))
                        else:
                            env[node] = self._call(captured, node, env)
                    except Unsupported as error:
                        refused.append((node, str(error)))
                        env[node] = _stand_in(node.meta.get("val"))
                    except TraceError:
                        if refused:  # what stands in for another op may have led here
                            raise refusal(refused) from None
                        raise
                self._note_layers(node, layers)
        if refused:
            raise refusal(refused)
        for name, node in captured.updates.items():
            owner = next(a.value for a in captured.arguments.values()
                         if a.kind == "buffer" and a.name == name)
            self.owners[id(owner)].update(_result(self._value(captured, node, env)))
        trace.layers.extend((path, kind, shape) for path, (kind, shape) in layers.items())
        return [_result(self._value(captured, n, env)) if isinstance(n, torch.fx.Node) else n
                for n in captured.results]

    def _check_states(self, captured: Captured) -> None:
        """Raises ModuleImportError: a buffer that changes has a type that no state has."""
        for argument in captured.arguments.values():
            if argument.kind == "buffer" and id(argument.value) not in self.owners:
                raise ModuleImportError(
                    "the buffer %s is %s and changes: a state is one of %s" % (
                        argument.name.removeprefix("module."),
                        str(argument.value.dtype).removeprefix("torch."),
                        ", ".join(_DTYPES.values())), "", 0)

    def _argument(self, captured: Captured, node: Any, inputs: Sequence[Any]) -> Any:
        argument = captured.arguments[node]
        if argument.kind == "input":
            return inputs[argument.index]
        if node in captured.constants or argument.kind == "constant" or not node.users:
            return None
        tensor = self.owners[id(argument.value)]._tensor()
        return tensor.astype(dtype_of(argument.value.dtype))

    def _value(self, captured: Captured, node: Any, env: Mapping[Any, Any],
               takes_numbers: bool = False) -> Any:
        if node not in captured.constants:
            return env[node]
        constant = captured.constants[node]
        if isinstance(constant, torch.Tensor):
            return _constant(constant, takes_numbers)
        return constant

    def _call(self, captured: Captured, node: Any, env: Mapping[Any, Any]) -> Any:
        if "getitem" in overload_of(node):
            source, index = node.args
            return env[source][index]
        name = overload_of(node)
        row = TABLE.get(name, _OF_COMPLEX)
        args, kwargs = torch.fx.node.map_arg(
            (node.args, node.kwargs),
            lambda n: self._value(captured, n, env, row.takes_numbers))
        call = _call_of(captured, node, self.keeps_all)
        if call.is_complex or row is _OF_COMPLEX or has_complex(*args):
            return _checked(call_complex(name, call, args, kwargs), node)
        return _checked(row.function(call, *args, **kwargs), node)

    @staticmethod
    def _note_layers(node: Any, layers: dict[str, tuple[str, str]]) -> None:
        """What the last op inside of each module gave."""
        value = node.meta.get("val")
        shape = "x".join(map(str, value.shape)) if isinstance(value, torch.Tensor) else ""
        for entry in (node.meta.get("nn_module_stack") or {}).values():
            path, kind = entry if isinstance(entry, tuple) else (str(entry), "")
            path = re.sub(r"^L\['self'\]\.?|^L__self___", "", path)
            path = path.removeprefix("module.")
            if path and path not in ("module", "loss"):
                name = kind if isinstance(kind, str) else kind.__name__
                layers.pop(path, None)
                layers[path] = (name.rpartition(".")[2], shape or "scalar")


#: Of an op that only complex numbers have.
_OF_COMPLEX = Row(call_complex)


def _constant(value: Any, takes_numbers: bool) -> Any:
    """A number, NumPy's array, or a tensor where NumPy has no such type."""
    if takes_numbers and value.dim() == 0:
        return value.item()
    if value.is_complex():
        value = value.resolve_conj()
        return complex_constant(host_array(value.real), host_array(value.imag))
    array = _of_one_number(held(value))
    dtype_of(value.dtype)
    if value.dtype == torch.bfloat16 and value.numel():
        return as_tensor(array).astype("bf16")
    return array


def _of_one_number(value: Any) -> Any:
    """Without writing out what is expanded from one number."""
    import numpy as np
    if value.numel() > 1 and not any(value.stride()):
        one = host_array(value.reshape(-1)[:1])
        return np.broadcast_to(one.reshape(()), tuple(value.shape))
    return host_array(value)


def _result(value: Any) -> Any:
    return as_tensor(value) if hasattr(value, "dtype") else value


#: Stands for a result of a type that no tensor has here.
_NOTHING = object()


def _stand_in(value: Any) -> Any:
    """Zeros in the place of a result, so that later ops are looked at."""
    import numpy as np
    if isinstance(value, (tuple, list)):
        return tuple(_stand_in(v) for v in value)
    if not isinstance(value, torch.Tensor) or value.dtype not in (_DTYPES | _NARROW):
        return _NOTHING
    dtype = dtype_of(value.dtype)
    zero = np.zeros((), NUMPY_TYPES[dtype])
    return as_tensor(np.broadcast_to(zero, tuple(value.shape))).astype(dtype)


def _first(value: Any) -> Any:
    return next((v for v in value if isinstance(v, torch.Tensor)), None) \
        if isinstance(value, (tuple, list)) else value


def _call_of(captured: Captured, node: Any, keeps_all: bool) -> Call:
    value = _first(node.meta.get("val"))
    operands = [a.meta.get("val") if isinstance(a, torch.fx.Node) else a
                for a in node.args[:2]]
    common = ""
    if len(operands) == 2 and all(isinstance(o, (torch.Tensor, bool, int, float))
                                  for o in operands) \
            and any(isinstance(o, torch.Tensor) for o in operands):
        common = {**_DTYPES, **dict.fromkeys(_NARROW, "i32")}.get(
            torch.result_type(*operands), "")
    is_complex = value.is_complex()
    dtype = dtype_of(value.dtype.to_real() if is_complex else value.dtype)
    layout = ((), 0, ())
    if operands and isinstance(operands[0], torch.Tensor):
        of = operands[0]
        layout = tuple(of.stride()), of.storage_offset(), tuple(of.shape)
    return Call(tuple(value.shape), dtype, common, node in captured.active, keeps_all,
                is_complex, layout)


def _checked(result: Any, node: Any) -> Any:
    """Of the type that PyTorch's has. Raises TraceError for another shape."""
    expected = node.meta.get("val")
    if isinstance(expected, (tuple, list)):
        return tuple(None if r is None or not isinstance(e, torch.Tensor)
                     else _checked_one(r, e, node) for r, e in zip(result, expected))
    return _checked_one(result, expected, node)


def _keeps_range(node: Any) -> bool:
    """Whether it moves numbers of the type that it gives."""
    row = TABLE.get(overload_of(node))
    return row is not None and row.is_linear and all(
        isinstance(n.meta.get("val"), torch.Tensor) and n.meta["val"].dtype in (
            node.meta["val"].dtype, torch.int32, torch.int64, torch.bool)
        for n in node.all_input_nodes) and "sum" not in overload_of(node)


def _checked_one(result: Any, expected: Any, node: Any) -> Any:
    if isinstance(result, Complex) and expected.is_complex():
        return Complex(*(_checked_one(own, expected.real, node)
                         for own in (result.real, result.imag)))
    if not isinstance(result, Operators):
        trace_error("%s gave a %s" % (node.target, type(result).__name__))
    if tuple(result.shape) != tuple(expected.shape):
        trace_error("%s gives %s here, and the shape %s in PyTorch: please report it"
                    % (node.target, result, tuple(expected.shape)))
    dtype = dtype_of(expected.dtype)
    if expected.dtype in _NARROW and not _keeps_range(node):
        return low_bits(as_tensor(result).astype(dtype), _NARROW[expected.dtype],
                        expected.dtype != torch.uint8)
    return result if result.dtype == dtype else as_tensor(result).astype(dtype)


