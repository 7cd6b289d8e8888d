# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A torch module as a model of ours, and its loss and its predictions as functions.

Nothing of the module is changed or replaced: its tensors are where parameters and
buffers start. What is exported is kept by the shapes of the inputs.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from .. import nn
from .._base.dtypes import dtype_name
from .._tracing.constants import constant
from .._tracing.trace import trace_error
from ..errors import InvalidArgumentError, ModuleImportError
from ._capture import Captured, capture
from ._decisions import Decision
from ._import import _DTYPES, ImportedModel, Importer, dtype_of
from ._state import State

#: Bytes: what PyTorch's allocators give, and more than any kernel asks for.
ALIGNMENT = 64

_TORCH_TYPES = {name: dtype for dtype, name in _DTYPES.items()}


def names_of(function: Any, count: int, skipped: int, otherwise: str) -> list[str]:
    """Names for `count` arguments of a function, behind the first `skipped`."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters
             if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][skipped:]
    return [plain[i] if i < len(plain) else "%s%d" % (otherwise, i)
            for i in range(count)]


def input_names(module: Any, loss_fn: Any, num_inputs: int, num_targets: int) -> list[str]:
    """Names of a step's inputs: those of module.forward, then those of the loss."""
    function = loss_fn.forward if isinstance(loss_fn, torch.nn.Module) else loss_fn
    found: list[str] = []
    for name in (*names_of(module.forward, num_inputs, 0, "input"),
                 *names_of(function, num_targets, 1, "target")):
        own, number = name, 2
        while own in found:
            own, number = "%s_%d" % (name, number), number + 1
        found.append(own)
    return found


def keywords_of(module: Any, names: Sequence[str]) -> list[str]:
    """The names, if the module takes inputs of these names by keyword; none, if they are
    the user's own. Raises InvalidArgumentError: some are the module's, and some are not."""
    try:
        parameters = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        return []
    known = {p.name for p in parameters
             if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    own = [name for name in names if name in known]
    if not own and not takes_any:
        return []
    if len(own) < len(names) and not takes_any:
        raise InvalidArgumentError(
            "inputs has %s, and %s.forward takes %s: give all of them its names, or none"
            % (", ".join(names), type(module).__name__, ", ".join(known)))
    return list(names)


class Imported:
    """A torch module with its loss, to be traced.

    Attributes:
        module, loss_fn: the user's.
        model: what holds parameters and buffers, by the module's names.
        keywords: names of the inputs, if the module takes them by keyword.
        trained: id() of the parameters that the optimizer has.
        group_of: their groups' numbers.
        lag_of: how many updates fewer than others they have had.
        on_host: whether the step's device is the CPU.
    """

    def __init__(self, module: Any, loss_fn: Any, names: Sequence[str], num_inputs: int,
                 trained: set[int], group_of: dict[int, int] | None = None,
                 device: str = "cpu", lag_of: dict[int, int] | None = None,
                 keywords: Sequence[str] = ()) -> None:
        self.module, self.loss_fn, self.names = module, loss_fn, list(names)
        self.keywords = tuple(keywords)
        self.num_inputs, self.trained = num_inputs, trained
        self.group_of, self.lag_of = group_of or {}, lag_of or {}
        self.on_host = device == "cpu"
        self.keeps_all = False
        self.may_guard = False  # decisions of a step may be guards
        #: What a step is exported in, for another batch size, too.
        self._modes = [(part, part.training) for part in module.modules()]
        self._frozen = [p for p in module.parameters() if not p.requires_grad]
        self._captured: dict[Any, Captured] = {}
        #: The user's example inputs and targets, with which the module can be run.
        self.examples: Sequence[Any] = ()
        #: States that are attributes, by their names in the plan.
        self.states: dict[str, State] = {}
        #: Set by the step: an entry that comes later has what the first one has.
        self.check_memory: Callable[[], None] = lambda: None
        #: id() of buffers that one of the graphs changes; the others read the new value.
        self._changing: set[int] = set()
        self.owners: dict[int, Any] = {}
        self.tensors: dict[int, Any] = {}  # keeps what id() is of
        self.model = self._make_model()

    def without_draws(self, device: str) -> Imported:
        """The same module and graphs, to be traced with a dropout that keeps everything."""
        other = Imported(self.module, self.loss_fn, self.names, self.num_inputs, self.trained,
                         device=device, keywords=self.keywords)
        other.keeps_all, other.examples = True, self.examples
        other._captured, other._changing = self._captured, self._changing
        for captured in self._captured.values():
            other._add_states(captured)
        return other

    def captures(self) -> list[Captured]:
        """The graphs that there are."""
        return list(self._captured.values())

    # What persists

    def named_tensors(self) -> Iterator[tuple[str, Any, bool]]:
        """Name, tensor and whether it is a parameter, of the module and its loss; a
        tied one under each of its names."""
        taken = set()
        for prefix, owner in (("", self.module), ("loss.", self.loss_fn)):
            if not isinstance(owner, torch.nn.Module):
                continue
            for is_parameter, named in (
                    (True, owner.named_parameters(remove_duplicate=False)),
                    (False, owner.named_buffers(remove_duplicate=False))):
                for name, tensor in named:
                    whole = prefix + name
                    whole = "loss_fn." + name if whole in taken else whole
                    taken.add(whole)
                    yield whole, tensor, is_parameter
        for state in self.states.values():
            for name, tensor in zip(state.names, state.tensors):
                yield name, tensor, False

    def _make_model(self) -> ImportedModel:
        model = ImportedModel({})
        for name, tensor, is_parameter in self.named_tensors():
            self._add_to(model, name, tensor, is_parameter)
        object.__setattr__(model, "forward", self._forward_of(model))
        return model

    def _add_to(self, model: ImportedModel, name: str, tensor: Any,
                is_parameter: bool) -> None:
        if id(tensor) not in self.owners:
            made = self._owner(name, tensor, is_parameter)
            if made is None:
                return
            self.owners[id(tensor)], self.tensors[id(tensor)] = made, tensor
        model.owners[name] = self.owners[id(tensor)]

    def _add_states(self, captured: Captured) -> None:
        for state in captured.kept.states:
            if not state.is_buffer:
                self.states.setdefault(state.names[0], state)
                for name, tensor in zip(state.names, state.tensors):
                    self._add_to(self.model, name, tensor, False)

    def _owner(self, name: str, tensor: Any, is_parameter: bool) -> Any:
        try:
            dtype = dtype_name(tensor.dtype)
        except TypeError:
            if is_parameter:
                raise ModuleImportError(
                    "the parameter %s is %s, and a parameter here is one of f32, f64, bf16 and "
                    "f16" % (name, str(tensor.dtype).removeprefix("torch.")), "", 0) from None
            return None  # a buffer that a graph may not need
        if not tensor.numel():
            return None
        value = tensor.detach().contiguous()
        value = value.cpu() if self.on_host else value
        if not is_parameter:
            return nn.Buffer(tuple(tensor.shape), dtype, init=value)
        if id(tensor) in self.trained and dtype in ("bf16", "f16"):
            dtype, value = "f32", value.float()  # small updates would be lost in 16 bits
        parameter = nn.Parameter(tuple(tensor.shape), dtype, init=value)
        if id(tensor) in self.group_of:
            parameter.group = "group%d" % self.group_of[id(tensor)]
            parameter.step_lag = self.lag_of.get(id(tensor), 0)
        return parameter

    def shareable(self, device: str, plan: Any) -> dict[str, Any]:
        """Parameters and buffers that a device can use where they are: dense, and aligned
        for its kernels. Steps of one module share them."""
        kept = {t["name"]: t["dtype"] for t in plan.persistent()
                if t["role"] in ("param", "state")}
        kind = device.partition(":")[0]
        private = {name for state in self.states.values() for name in state.names}
        return {name: tensor.detach() for name, tensor, _ in self.named_tensors()
                if name in kept and name not in private
                and kept[name] == dtype_of(tensor.dtype)
                and tensor.device.type == kind and tensor.is_contiguous()
                and tensor.data_ptr() % ALIGNMENT == 0}

    # Graphs

    def captured(self, specs: Sequence[tuple[tuple[int, ...], str]],
                 is_step: bool) -> Captured:
        """The graph for inputs of these shapes and types; exported once."""
        key = (tuple(specs), is_step, self.module.training,
               0 if is_step else len(self._changing))
        if key not in self._captured:
            self.check_memory()
            count = self.num_inputs if is_step else len(specs)
            examples, are_real = self._examples(specs)
            self._captured[key] = capture(
                self.module, self.loss_fn if is_step else None, examples[:count],
                examples[count:], lambda p: id(p) not in self.trained,
                lambda b: id(b) in self._changing, list(self.states.values()), are_real,
                self.may_guard and is_step, self.keywords)
            self._add_states(self._captured[key])
            self._changing.update(id(a.value) for a in self._captured[key].arguments.values()
                                  if a.kind == "buffer")
        return self._captured[key]

    def _examples(self, specs: Sequence[tuple[tuple[int, ...], str]]
                  ) -> tuple[list[Any], bool]:
        """Inputs of these shapes and types, and whether they are the user's. His rows make
        another batch size; if nothing fits, they are zeros."""
        given = self.examples[:len(specs)]
        device = self._device()
        if [(tuple(v.shape), dtype_of(v.dtype)) for v in given] == list(specs):
            return [v.detach().to(device) for v in given], True
        if len(given) == len(specs) and all(
                v.dim() and v.numel() and tuple(v.shape[1:]) == shape[1:]
                and dtype_of(v.dtype) == dtype for v, (shape, dtype) in zip(given, specs)):
            return [v.detach()[torch.arange(shape[0]) % len(v)].to(device)
                    for v, (shape, _) in zip(given, specs)], False
        types = [v.dtype if dtype_of(v.dtype) == dtype else _TORCH_TYPES[dtype]
                 for v, (_, dtype) in zip(given, specs)]
        types += [_TORCH_TYPES[dtype] for _, dtype in specs[len(types):]]
        return [torch.zeros(shape, dtype=own, device=device)
                for own, (shape, _) in zip(types, specs)], False

    def _device(self) -> Any:
        for _, tensor, _ in self.named_tensors():
            return tensor.device
        return torch.device("cpu")

    def _of_step(self, inputs: Sequence[Any]) -> Captured:
        with in_modes(self._modes), frozen_alone(self.module, self._frozen):
            return self.captured([(x.shape, x.dtype) for x in inputs], True)

    def _run(self, inputs: Sequence[Any], is_step: bool) -> Any:
        specs = [(x.shape, x.dtype) for x in inputs]
        if is_step:
            captured = self._of_step(inputs)
            trained = {id(captured.arguments[n].value) for n in captured.trained}
            for key, owner in self.owners.items():
                if isinstance(owner, nn.Parameter):
                    owner.requires_grad = key in trained
        else:
            captured = self.captured(specs, False)
        values = Importer(self.owners, self.keeps_all).run(captured, inputs)
        return captured.unflatten(values)

    def _in_eval(self) -> contextlib.AbstractContextManager[None]:
        return in_modes([(part, False) for part in self.module.modules()])

    def prepare_prediction(self, specs: Sequence[tuple[tuple[int, ...], str]]) -> None:
        """Exports what predict() is going to trace: states are known then."""
        with self._in_eval():
            self.captured(specs, False)

    def loss(self, model: Any, **inputs: Any) -> Any:
        """What aicf.compile_step traces."""
        return self._run([inputs[name] for name in self.names], True)

    def guards_of(self, shapes: Sequence[tuple[int, ...]]) -> list[Decision]:
        """Those of the step for inputs of these shapes."""
        return next(captured.guards for key, captured in self._captured.items()
                    if key[1] and [shape for shape, _ in key[0]] == list(shapes))

    def guards(self) -> Callable[..., Any]:
        """A function of the inputs: whether each guard of the step holds."""
        def holds(**inputs: Any) -> Any:
            own = [inputs[name] for name in self.names]
            captured = self._of_step(own)
            if captured.guarded is None:  # a batch of another size asks nothing
                return (constant(np.ones((), bool)),)
            return tuple(Importer(self.owners).run(captured.guarded, own))
        holds.__signature__ = _signature_of(self.names)  # type: ignore[attr-defined]
        return holds

    def _forward_of(self, model: Any) -> Callable[..., Any]:
        names = self.names[:self.num_inputs]

        def forward(**inputs: Any) -> Any:
            with self._in_eval():
                value = self._run([inputs[name] for name in names], False)
            return _outputs(value)
        forward.__signature__ = _signature_of(names)  # type: ignore[attr-defined]
        return forward


def _signature_of(names: Sequence[str]) -> inspect.Signature:
    return inspect.Signature([inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def _outputs(value: Any) -> Any:
    """As a traced function returns it: a tensor, a tuple, or a dict."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return {k: v for k, v in value.items() if v is not None}
    if isinstance(value, (int, float, str)):
        trace_error("the module returns %r, expected tensors" % (value,))
    return value


@contextlib.contextmanager
def in_modes(modes: Sequence[tuple[Any, bool]]) -> Iterator[None]:
    """Parts of a module in training mode or not, and as they were afterwards."""
    before = [(part, part.training) for part, _ in modes]
    for part, mode in modes:
        part.training = mode
    try:
        yield
    finally:
        for part, mode in before:
            part.training = mode


@contextlib.contextmanager
def frozen_alone(module: Any, frozen: Sequence[Any]) -> Iterator[None]:
    """No other parameter of the module is frozen, and afterwards as before."""
    before = [(p, p.requires_grad) for p in module.parameters()]
    kept = {id(p) for p in frozen}
    for parameter, _ in before:
        parameter.requires_grad = id(parameter) not in kept
    try:
        yield
    finally:
        for parameter, required in before:
            parameter.requires_grad = required
