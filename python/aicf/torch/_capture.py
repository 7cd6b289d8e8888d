# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an nn.Module to a functional graph of the ops that the table has.

    torch.export          the training IR, in the module's own mode
    no_grad, detach       a detach behind each no_grad region, which export inlines
    run_decompositions    functional: what changes a buffer gives its new value; an op
                          that has a row is kept whole, the others are taken apart
    fold                  what depends on constants alone is computed by PyTorch

Core ATen would be simpler, but drops detach and no_grad, and with them gradients.
Nothing of AICF's is traced here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ..errors import ModuleImportError
from ._custom_gradients import check_linear
from ._decisions import MARK, Decision
from ._export import (export, functional, is_random, is_users, line_of, mark_no_grad,
                      module_path_of, overload_of)
from ._state import Kept, State, is_check, kept_state
from ._table import COMPLEX, TABLE, fill_tables

fill_tables()

#: Ops that read no element of their operands, and those that make nothing of them.
_ONLY_SHAPES = frozenset({
    "full_like.default", "zeros_like.default", "ones_like.default", "new_full.default",
    "new_zeros.default", "new_ones.default"})
_NOTHING = frozenset({"_assert_tensor_metadata.default", "_assert_async.msg",
                      "_assert_scalar.default", "sym_constrain_range_for_size.default"})


@dataclass
class Argument:
    """What a placeholder of the graph stands for.

    Attributes:
        kind: "input", "param", "buffer" (it changes) or "constant".
        index: of an input, its number.
        name: of a parameter or buffer, the module's name for it.
        value: its tensor, of all but inputs.
    """

    kind: str
    index: int = -1
    name: str = ""
    value: Any = None


@dataclass
class Captured:
    """A graph, and what goes in and out of it.

    Attributes:
        graph: torch.fx; its nodes have "val" (shape, type), "nn_module_stack" and
            "stack_trace" in their meta.
        arguments: by placeholder.
        constants: tensors of nodes that PyTorch has computed.
        updates: by the name of a buffer, the node of its new value.
        results: nodes of what the function returned, flat.
        unflatten: puts values together as the function returned them.
        kept: what the module keeps from call to call in its attributes.
        checks: places of the user's checks of values, which are left out.
        guards: decisions that may be other ones in the next call.
        guarded: the graph of whether they are the same, in their order.
        trained: placeholders of parameters that have a gradient.
        active: nodes that a gradient goes through.
    """

    graph: Any
    arguments: dict[Any, Argument]
    constants: dict[Any, Any]
    updates: dict[str, Any]
    results: list[Any]
    unflatten: Callable[[list[Any]], Any]
    kept: Kept = field(default_factory=Kept)
    checks: list[str] = field(default_factory=list)
    guards: list[Decision] = field(default_factory=list)
    guarded: Captured | None = None
    trained: set[Any] = field(default_factory=set)
    active: set[Any] = field(default_factory=set)


def call(module: Any, inputs: Sequence[Any], keywords: Sequence[str]) -> Any:
    """module(*inputs), or with the inputs by keyword where `keywords` has their names."""
    return module(**dict(zip(keywords, inputs))) if keywords else module(*inputs)


class Whole(torch.nn.Module):  # type: ignore[misc]
    """loss(module(*inputs), *targets) as one module; module(*inputs) without a loss. The
    attributes of `kept` are its buffers, too."""

    def __init__(self, module: Any, loss_fn: Any, count: int,
                 keywords: Sequence[str] = ()) -> None:
        super().__init__()
        self.module, self.loss, self.count = module, loss_fn, count
        self.keywords = keywords
        self.kept = Kept()

    def keep(self, kept: Kept) -> None:
        self.kept = kept
        for i, (_, tensor, _) in enumerate(kept.of_attributes):
            self._buffers["kept%d" % i] = tensor

    def forward(self, *args: Any) -> Any:
        lent = self.kept.lend([self._buffers["kept%d" % i]
                               for i in range(len(self.kept.of_attributes))])
        result = call(self.module, args[:self.count], self.keywords)
        if self.loss is not None:
            result = self.loss(result, *args[self.count:])
        self.kept.take(lent)
        return result


# What export would pass over in silence

def check_module(module: Any, loss_fn: Any) -> None:
    """Refuses by name what no graph shows. Raises ModuleImportError, TypeError."""
    if not isinstance(module, torch.nn.Module):
        raise TypeError("module is a %s, expected a torch.nn.Module"
                        % type(module).__name__)
    if loss_fn is not None and not callable(loss_fn):
        raise TypeError("loss_fn is a %s, expected a function of the module's output and "
                        "the targets" % type(loss_fn).__name__)
    found = []
    owners = [module] + ([loss_fn] if isinstance(loss_fn, torch.nn.Module) else [])
    for owner in owners:
        for name, part in owner.named_modules():
            what = _wrapper(part)
            if what:
                found.append("%s is %s" % (_path(name), what))
            if part._backward_hooks or part._backward_pre_hooks:
                found.append("%s has a backward hook, which changes gradients"
                             % _path(name))
        for name, parameter in owner.named_parameters():
            if getattr(parameter, "_backward_hooks", None) \
                    or getattr(parameter, "_post_accumulate_grad_hooks", None):
                found.append("%s has a gradient hook" % name)
    if found:
        raise ModuleImportError("the module cannot be imported: %s" % "; ".join(found), "", 0)


def check_loss(captured: Captured) -> None:
    """Raises ModuleImportError: neither one number, nor one and a dict of tensors."""
    returned = captured.unflatten(list(captured.results))
    has_more = isinstance(returned, tuple) and len(returned) == 2 \
        and isinstance(returned[1], dict) and all(
            isinstance(key, str) and isinstance(getattr(value, "meta", {}).get("val"),
                                                torch.Tensor)
            for key, value in returned[1].items())
    result = returned[0] if has_more else \
        returned if isinstance(returned, torch.fx.Node) else None
    value = result.meta.get("val") if isinstance(result, torch.fx.Node) else None
    if isinstance(value, torch.Tensor) and value.dim() == 0 and value.is_floating_point():
        if result not in captured.active:
            raise ModuleImportError("no parameter that the optimizer has leads to the loss",
                                    *line_of(result)[:2])
        return
    shown = "%d results" % len(captured.results) if result is None else \
        "a tensor of shape %s" % (tuple(value.shape),) if isinstance(value, torch.Tensor) \
        else repr(result)
    raise ModuleImportError("loss_fn returns %s, expected a 0-d tensor of floats, or one and a dict of "
                            "further tensors: return loss, {\"accuracy\": accuracy}" % shown,
                            *(line_of(result)[:2] if isinstance(result, torch.fx.Node)
                              else ("", 0)))


def _path(name: str) -> str:
    return "module %r" % name if name else "the module"


def _wrapper(module: Any) -> str:
    kind = type(module)
    if kind.__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None):
        return "compiled by torch.compile: pass the module itself"
    if kind.__module__.startswith("torch.nn.parallel") or kind.__name__ in (
            "FullyShardedDataParallel", "FSDPModule"):
        return "a %s: pass the module in it" % kind.__name__
    if isinstance(module, torch.jit.ScriptModule):
        return "compiled by torch.jit: pass the module that it was made of"
    return ""


# From export to a graph

def capture(module: Any, loss_fn: Any, inputs: Sequence[Any], targets: Sequence[Any],
            frozen: Callable[[Any], bool],
            changes: Callable[[Any], bool] = lambda buffer: False,
            known: Sequence[State] = (), are_real: bool = False,
            may_guard: bool = False, keywords: Sequence[str] = ()) -> Captured:
    """The graph of loss_fn(module(*inputs), *targets), in the module's own mode.

    Args:
        loss_fn: None: the graph of module(*inputs).
        inputs, targets: example tensors, with which the module is run.
        frozen: whether a parameter has no gradient.
        changes: whether a buffer that this graph only reads is changed by another one.
        known: states that other graphs of the module have.
        are_real: whether the user gave the examples, and not their shapes alone.
        may_guard: whether decisions may be guards instead of errors.
        keywords: names of the inputs, if the module takes them by keyword.
    Raises: ModuleImportError with all that cannot be translated.
    """
    check_module(module, loss_fn)
    whole = Whole(module, loss_fn, len(inputs), keywords)
    examples = [*inputs, *targets]
    with kept_state(whole, examples, known, are_real) as kept:
        whole.keep(kept)
        with kept.decisions.repeated():
            program = export(whole, examples)
        mark_no_grad(program.graph_module)
        return _read(functional(program), whole, frozen, changes, lambda n: is_check(
            whole, examples, kept.decisions, n), may_guard)


def _read(program: Any, whole: Any, frozen: Callable[[Any], bool],
          changes: Callable[[Any], bool], is_a_check: Callable[[int], bool],
          may_guard: bool) -> Captured:
    from torch.export.graph_signature import InputKind, OutputKind
    signature, graph = program.graph_signature, program.graph_module.graph
    owned = {**dict(whole.named_parameters(remove_duplicate=False)),
             **dict(whole.named_buffers(remove_duplicate=False))}
    output = next(n for n in graph.nodes if n.op == "output")
    updates, results = {}, []
    for spec, node in zip(signature.output_specs, output.args[0]):
        if spec.kind == OutputKind.BUFFER_MUTATION:
            updates[spec.target] = node
        elif spec.kind == OutputKind.USER_OUTPUT:
            results.append(node)
        else:
            raise ModuleImportError("the module changes %s" % (spec.target or "an input"), "", 0)
    arguments, number = {}, 0
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    for spec, node in zip(signature.input_specs, placeholders):
        if spec.kind == InputKind.USER_INPUT:
            arguments[node] = Argument("input", number)
            number += 1
            continue
        value = owned.get(spec.target)
        if value is None:
            value = program.constants.get(spec.target)
        kind = "constant"
        if spec.kind == InputKind.PARAMETER:
            kind = "param"
        elif spec.target in updates or changes(value):
            kind = "buffer"
        arguments[node] = Argument(kind, -1, spec.target, value)
    found = Captured(graph, arguments, {}, updates, results, _unflatten_of(program),
                     whole.kept)
    _check_sizes(graph)
    _take_whole_rows(graph)
    _fold(found)
    _check_decisions(found, is_a_check, may_guard)
    for node in [n for n in graph.nodes if overload_of(n) in _NOTHING]:
        graph.erase_node(node)
    graph.eliminate_dead_code()
    check_linear(graph, lambda node: line_of(node)[:2])
    _check_starts(found)
    _find_active(found, frozen)
    return found


def _check_sizes(graph: Any) -> None:
    """Raises ModuleImportError: values decide how large a tensor is."""
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and not all(
                isinstance(size, int) for size in value.shape):
            raise ModuleImportError(
                "the size of a tensor depends on the values of another one (%s gives %s): "
                "compute all elements, and choose with torch.where" % (
                    overload_of(node), tuple(map(str, value.shape))), *line_of(node)[:2])


#: An index that is repeated along the other dimensions, and the op that takes it once.
_OF_ROWS = {"gather.default": torch.ops.aten.index_select.default,
            "scatter_add.default": torch.ops.aten.index_add.default}


def _take_whole_rows(graph: Any) -> None:
    """gather(x, dim, index.expand(..)) as index_select, and scatter_add as index_add:
    whole rows are moved by one number each."""
    for node in graph.nodes:
        if overload_of(node) not in _OF_ROWS:
            continue
        x, dim, index, *rest = node.args
        if not isinstance(index, torch.fx.Node) or overload_of(index) != "expand.default":
            continue
        base, shape = index.args[0].meta["val"], tuple(index.meta["val"].shape)
        dim = dim % len(shape) if shape else 0
        whole = (rest or [x])[0].meta["val"].shape
        if not shape or tuple(base.shape) != tuple(
                n if d == dim else 1 for d, n in enumerate(shape)) or any(
                m != n or m != x.meta["val"].shape[d] for d, (m, n) in
                enumerate(zip(whole, shape)) if d != dim):
            continue
        if rest and whole[dim] != shape[dim]:
            continue
        with graph.inserting_before(node):
            flat = graph.call_function(torch.ops.aten.reshape.default, (index.args[0], [-1]))
        flat.meta.update(index.args[0].meta, val=base.reshape(-1))
        node.target, node.args = _OF_ROWS[overload_of(node)], (x, dim, flat, *rest)
        node.kwargs = {}


def _check_decisions(found: Captured, is_check: Callable[[int], bool], may_guard: bool
                     ) -> None:
    """Raises ModuleImportError: a decision that may be another one in the next call."""
    guarded = []
    for node in found.graph.nodes:
        if overload_of(node) != "_assert_async.msg" or not node.args[1].startswith(MARK):
            continue
        number = int(node.args[1].removeprefix(MARK))
        decision = found.kept.decisions.made[number]
        value = found.constants.get(node.args[0])
        if value is None and is_check(number):
            found.checks.append(decision.place)
        elif value is None and may_guard and not _is_drawn(node.args[0]):
            found.guards.append(decision)
            guarded.append(node.args[0])
        elif value is None or not bool(value):
            file, line = (decision.filename, decision.line) \
                if is_users(decision.filename) else line_of(node.args[0])[:2]
            raise ModuleImportError(
                "a branch, a size or a Python number depends on the values of a tensor (%s "
                "gave %r), and the next call may have others" % (
                    decision.kind, decision.value),
                file, line)
    if guarded:
        found.guarded = _graph_of(found, guarded)


def _is_drawn(node: Any) -> bool:
    """Whether a value depends on random numbers, which nobody knows before the step."""
    seen, open_ = set(), [node]
    while open_:
        node = open_.pop()
        if node in seen:
            continue
        seen.add(node)
        if is_random(node):
            return True
        open_ += node.all_input_nodes
    return False


def _graph_of(found: Captured, results: Sequence[Any]) -> Captured:
    """What computes these nodes alone, and changes nothing."""
    graph = torch.fx.Graph()
    copies: dict[Any, Any] = {}
    for node in found.graph.nodes:
        if node.op != "output" and overload_of(node) not in _NOTHING:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    own = [copies[node] for node in results]
    graph.output(own)
    # What is drawn or checked for nothing goes, too: torch.fx would keep it as impure.
    graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    alive = set(graph.nodes)
    return Captured(
        graph, {copies[node]: argument for node, argument in found.arguments.items()},
        {copy: found.constants[node] for node, copy in copies.items()
         if node in found.constants and copy in alive}, {}, own, list, found.kept)


def _check_starts(found: Captured) -> None:
    """Raises ModuleImportError: the graph reads a state that has no value at first."""
    unknown = {id(tensor): name for name, tensor, is_known in found.kept.of_attributes
               if not is_known}
    names = [unknown[id(a.value)] for node, a in found.arguments.items()
             if id(a.value) in unknown and any(user.op != "output" for user in node.users)]
    if names:
        raise ModuleImportError(
            "%s is read before it is a tensor: give it one in __init__, of the shape that it "
            "has after a call, with the values of the first call" % ", ".join(names), "", 0)


def _unflatten_of(program: Any) -> Callable[[list[Any]], Any]:
    spec = program.call_spec.out_spec

    def unflatten(values: list[Any]) -> Any:
        return torch.utils._pytree.tree_unflatten(values, spec)
    return unflatten


def _nodes_in(args: Any) -> list[Any]:
    found: list[Any] = []
    torch.fx.node.map_arg(args, found.append)
    return found


def _fold(found: Captured) -> None:
    """Values of nodes that depend on constants alone."""
    values = found.constants
    for node in found.graph.nodes:
        if node.op == "placeholder":
            argument = found.arguments[node]
            if argument.kind == "constant" and isinstance(argument.value, torch.Tensor):
                values[node] = argument.value.detach()
            elif _is_empty(node):
                values[node] = argument.value
            continue
        if node.op == "get_attr":
            values[node] = node.meta["val"]
        if node.op != "call_function":
            continue
        if _is_empty(node):
            value = node.meta["val"]
            values[node] = torch.empty(value.shape, dtype=value.dtype)
            continue
        if is_random(node):
            continue
        if overload_of(node) in _ONLY_SHAPES:
            value = node.meta["val"]
            number = {"zeros": 0, "ones": 1}.get(
                re.sub(r"^new_|_like.*|\..*", "", overload_of(node)),
                node.args[-1] if "full" in overload_of(node) else 0)
            values[node] = torch.full((), number, dtype=value.dtype).expand(value.shape)
            continue
        if all(n in values for n in _nodes_in((node.args, node.kwargs))):
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs),
                                                 lambda n: values[n])
            with torch.no_grad():
                values[node] = node.target(*args, **kwargs)


def _is_empty(node: Any) -> bool:
    """Whether it is a tensor without elements, which is as good as a constant."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and 0 in value.shape


def _is_float(node: Any) -> bool:
    value = node.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else [value]
    return any(isinstance(v, torch.Tensor) and (v.is_floating_point() or v.is_complex())
               for v in values)


def _find_active(found: Captured, frozen: Callable[[Any], bool]) -> None:
    """What a gradient goes through, from the parameters that are trained to the first
    result. A parameter without such a way has no gradient, which is not one of zeros."""
    varied: set[Any] = set()
    for node in found.graph.nodes:
        if node.op == "placeholder":
            argument = found.arguments[node]
            if argument.kind == "param" and argument.value.requires_grad \
                    and not frozen(argument.value):
                varied.add(node)
        elif node.op == "call_function" and node not in found.constants \
                and "detach" not in overload_of(node) and _is_float(node) \
                and any(n in varied for n in _nodes_in((node.args, node.kwargs))):
            varied.add(node)
    useful = {n for n in found.results[:1] if n in varied}
    for node in reversed(found.graph.nodes):
        if node in useful:
            useful.update(n for n in _nodes_in((node.args, node.kwargs)) if n in varied)
    found.active = useful
    found.trained = {n for n in useful if n.op == "placeholder"}


def is_unknown(captured: Captured, node: Any) -> bool:
    """Whether an op that is computed in the step has no row."""
    return node.op == "call_function" and node not in captured.constants \
        and overload_of(node) != "<built-in function getitem>" \
        and overload_of(node) not in TABLE and overload_of(node) not in COMPLEX


def refusal(nodes: Sequence[tuple[Any, str]]) -> ModuleImportError:
    """One error for all ops that cannot be translated, with why, how often and where."""
    missing: dict[str, list[Any]] = {}
    for node, why in nodes:
        missing.setdefault(("%s %s" % (node.target, why)).strip(), []).append(node)
    lines = []
    for name, same in missing.items():
        file, line, code = line_of(same[0])
        lines.append("  %s, %d time%s, first in %s%s" % (
            name, len(same), "s" * (len(same) > 1), _path(module_path_of(same[0])),
            ", at %s:%d: %s" % (file, line, code) if file else ""))
    return ModuleImportError("the module has operations that AICF cannot translate yet:\n%s"
                             % "\n".join(lines), *line_of(nodes[0][0])[:2])
