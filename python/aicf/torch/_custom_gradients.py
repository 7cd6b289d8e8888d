# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.autograd.Function in an exported graph, which has no place for a backward().

backward() is linear in the gradients that it gets. The linear function of the inputs whose
transpose it is says the same, and PyTorch makes it: it differentiates backward() once more.
aicf.straight_through gives the value of forward() and sends gradients through that
function, of which no element is computed.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch.autograd.function import FunctionCtx

from .. import ops
from .._tracing.tensor import Tensor
from ..errors import ModuleImportError
from ._derivatives import OPS as _OPS
from ._derivatives import derivative
from ._table import TABLE, Call, aten

_OPS.define("straight_through(Tensor value, Tensor way, bool saves) -> Tensor")
_OPS.define("cotangent(Tensor like, str function) -> Tensor")
_OPS.impl("straight_through", lambda value, way, saves: value.clone(),
          "CompositeExplicitAutograd")
_OPS.impl("cotangent", lambda like, function: torch.zeros_like(like),
          "CompositeExplicitAutograd")
torch.library.register_fake("aicf::straight_through",
                            lambda value, way, saves: torch.empty_like(value))
torch.library.register_fake("aicf::cotangent", lambda like, function: torch.empty_like(like))
torch.library.register_autograd("aicf::straight_through",
                                lambda context, gradient: (None, gradient, None))

#: The op that stands for the gradient which a backward() gets.
COTANGENT = "aicf.cotangent.default"


@aten("aicf.straight_through.default")
def _straight_through(call: Call, value: Any, way: Any, saves: bool) -> Tensor:
    return ops.straight_through(call.tensor(value), call.tensor(way))


class _Context(FunctionCtx):  # type: ignore[misc]
    """What forward() and backward() get as `ctx`."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.to_save: Sequence[Any] = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return tuple(_fixed(t) for t in self.to_save)


def _fixed(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def has_row(function: Any) -> bool:
    """Whether PyTorch made this Function for an op that has a row in the table."""
    name = function.__name__
    return name.startswith("GeneratedBackwardFor_") and any(
        name == "GeneratedBackwardFor_" + op.replace(".", "_") for op in TABLE)


#: Whether a backward() is being traced: PyTorch runs it without gradients, so that of a
#: Function inside of it forward() alone counts.
_in_backward = False


def apply(function: Any, args: Sequence[Any], kwargs: Any, place: tuple[str, int]) -> Any:
    """What function.apply(*args) gives, with gradients that an export keeps.

    Args:
        place: file and line of the call.
    Raises: ModuleImportError where backward() is not a linear function of its gradients
        that PyTorch can differentiate, and where forward() changes its inputs.
    """
    needed = tuple(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
    context = _Context(needed)
    if _in_backward:
        return _forward(function, context, args, kwargs)
    with torch.no_grad():
        outputs = _forward(function, context, [_fixed(a) for a in args],
                           {name: _fixed(value) for name, value in kwargs.items()})
    if getattr(context, "dirty_tensors", ()):
        raise ModuleImportError("%s changes its inputs (ctx.mark_dirty)"
                                % function.__qualname__, *place)
    if not isinstance(outputs, (torch.Tensor, tuple)):  # PyTorch gives no gradient to others
        return outputs
    results = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    if torch.is_grad_enabled() and any(needed):
        ways = _ways(function, context, args, results, place)
        saves = any(isinstance(v, torch.Tensor) for v in (
            *context.to_save, *vars(context).values()))
        results = [y if way is None else torch.ops.aicf.straight_through(y, way, saves)
                   for y, way in zip(results, ways)]
    return results[0] if isinstance(outputs, torch.Tensor) else tuple(results)


def _forward(function: Any, context: _Context, args: Sequence[Any], kwargs: Any) -> Any:
    if function.setup_context is torch.autograd.Function.setup_context:
        return function.forward(context, *args, **kwargs)
    outputs = function.forward(*args, **kwargs)
    function.setup_context(context, tuple(args), outputs)
    return outputs


def _ways(function: Any, context: _Context, args: Sequence[Any], results: Sequence[Any],
          place: tuple[str, int]) -> list[Any]:
    """For each result, the linear function of the inputs whose transpose backward() is; None
    where no gradient goes back."""
    name = function.__qualname__
    fixed = {id(t) for t in getattr(context, "non_differentiable", ())}
    gradients = [torch.ops.aicf.cotangent(y, name).requires_grad_()
                 if isinstance(y, torch.Tensor) and y.is_floating_point() else None
                 for y in results]
    # once_differentiable() only says that nobody differentiates twice, as is done here.
    given = _backward(function, context, gradients)
    given = given if isinstance(given, tuple) else (given,)
    pairs = []
    for of, into in zip(given, args):
        if not isinstance(of, torch.Tensor) or not getattr(into, "requires_grad", False):
            continue
        if not of.requires_grad:
            raise ModuleImportError(
                "the backward() of %s gives a gradient that PyTorch cannot differentiate by "
                "the gradients that it gets, as one that it computes under no_grad() or from "
                ".data: write it with ops that have a derivative, and None for no gradient"
                % name, *place)
        pairs.append((of.sum_to_size(into.shape).to(into.dtype), into))
    known = [i for i, (g, y) in enumerate(zip(gradients, results))
             if g is not None and id(y) not in fixed]
    found: list[Any] = [None] * len(results)
    if pairs and known:
        ways = derivative([of for of, _ in pairs], [gradients[i] for i in known],
                          [into for _, into in pairs])
        for i, way in zip(known, ways):
            found[i] = way
    return found


def _backward(function: Any, context: _Context, gradients: Sequence[Any]) -> Any:
    global _in_backward
    before, _in_backward = _in_backward, True
    try:
        return inspect.unwrap(function.backward)(context, *gradients)
    finally:
        _in_backward = before


def check_linear(graph: Any, place_of: Any) -> None:
    """Raises ModuleImportError: the gradient of a backward() depends on more than the
    direction of what it gets."""
    for node in graph.nodes:
        if str(node.target) == COTANGENT:
            raise ModuleImportError(
                "the backward() of %s, a torch.autograd.Function, is not linear in the gradient "
                "that it gets" % node.args[1], *place_of(node))
