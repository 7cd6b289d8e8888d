# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.autograd.grad, torch.func.grad and jvp inside of a module or its loss.

While the module is exported they leave one node. Behind the export, PyTorch differentiates
the part of the graph that leads from the inputs to the outputs, and what it computes stands
in place of the node: ops like all others, through which gradients of parameters go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from ..errors import ModuleImportError

OPS = torch.library.Library("aicf", "DEF")
OPS.define("derivative(Tensor[] outputs, Tensor[] inputs, Tensor[] vectors, str kind) "
           "-> Tensor[]")
OPS.define("stop(Tensor x) -> Tensor")


def _like(outputs: Sequence[Any], inputs: Sequence[Any], vectors: Sequence[Any], kind: str
          ) -> list[Any]:
    return [torch.zeros_like(t) for t in (inputs if kind == "vjp" else outputs)]


OPS.impl("derivative", _like, "CompositeExplicitAutograd")
OPS.impl("stop", lambda x: x.clone(), "CompositeExplicitAutograd")
torch.library.register_fake("aicf::derivative", _like)
torch.library.register_fake("aicf::stop", torch.empty_like)

#: The op of a torch.autograd.Function.
THROUGH = "aicf.straight_through.default"
_NODE, _STOP = torch.ops.aicf.derivative.default, torch.ops.aicf.stop.default
_DETACH = torch.ops.aten.detach.default


class _Stop(torch.autograd.Function):  # type: ignore[misc]
    """A detach of the user's while PyTorch differentiates, whose own detaches are others."""

    @staticmethod
    def forward(x: Any) -> Any:
        return torch.ops.aicf.stop(x)

    @staticmethod
    def setup_context(context: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return None

    @staticmethod
    def jvp(context: Any, tangent: Any) -> Any:
        return torch.zeros_like(tangent)


class _Through(torch.autograd.Function):  # type: ignore[misc]
    """aicf.straight_through while PyTorch differentiates."""

    @staticmethod
    def setup_context(context: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def forward(value: Any, way: Any, saves: bool) -> Any:
        return torch.ops.aicf.straight_through(value, way, saves)

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return None, gradient, None

    @staticmethod
    def jvp(context: Any, of_value: Any, of_way: Any, saves: Any) -> Any:
        return of_way.clone()


def _stopped(x: Any) -> Any:
    return _Stop.apply(x)


def _sent_through(value: Any, way: Any, saves: bool) -> Any:
    return _Through.apply(value, way, saves)


# What stands for PyTorch's functions while a module is exported

def derivative(outputs: Sequence[Any], inputs: Sequence[Any], vectors: Sequence[Any],
               kind: str = "vjp") -> list[Any]:
    """vectors · d outputs / d inputs ("vjp"), or d outputs / d inputs · vectors ("jvp")."""
    if torch._C._functorch.peek_interpreter_stack() is not None:
        raise NotImplementedError("a derivative inside of torch.vmap: one of the sum over the "
                                  "batch is the same")
    once = list({id(x): x for x in inputs}.values())
    if len(once) < len(inputs) and kind == "jvp":
        raise NotImplementedError("torch.func.jvp by one tensor twice")
    found = torch.ops.aicf.derivative(list(outputs), once, list(vectors), kind)
    if torch.is_grad_enabled():
        found = [t.requires_grad_() for t in found]
    return [found[[x is y for y in once].index(True)] for x in inputs] \
        if kind == "vjp" else list(found)


def _apart(args: Sequence[Any]) -> Any:
    """Arguments as tensors of their own: a function is differentiated by them, and not by the
    same tensors where it has them from elsewhere."""
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.clone(), tuple(args))


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: Any = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: Any = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> tuple[Any, ...]:
    """torch.autograd.grad; what does not reach an input gives zeros."""
    if is_grads_batched:
        raise NotImplementedError("torch.autograd.grad with is_grads_batched")
    outs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    into = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    given = [grad_outputs] if isinstance(grad_outputs, torch.Tensor) \
        else list(grad_outputs or [None] * len(outs))
    vectors = [torch.ones_like(y) if v is None else v for v, y in zip(given, outs)]
    found = derivative(outs, into, vectors)
    return tuple(found if create_graph else [t.detach() for t in found])


def func_grad(function: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
              ) -> Callable[..., Any]:
    """torch.func.grad."""
    def gradient(*args: Any, **kwargs: Any) -> Any:
        result, value = func_grad_and_value(function, argnums, has_aux)(*args, **kwargs)
        return (result, value[1]) if has_aux else result
    return gradient


def func_grad_and_value(function: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
                        ) -> Callable[..., Any]:
    """torch.func.grad_and_value, of tensors as arguments."""
    def both(*args: Any, **kwargs: Any) -> Any:
        args = _apart(args)
        value = function(*args, **kwargs)
        loss = value[0] if has_aux else value
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)
        leaves, spec = torch.utils._pytree.tree_flatten([args[i] for i in numbers])
        found = torch.utils._pytree.tree_unflatten(
            derivative([loss], leaves, [torch.ones_like(loss)]), spec)
        return (tuple(found) if isinstance(argnums, tuple) else found[0]), value
    return both


def func_jvp(function: Callable[..., Any], primals: Any, tangents: Any, *,
             strict: bool = False, has_aux: bool = False) -> Any:
    """torch.func.jvp."""
    primals = _apart(primals)
    result = function(*primals)
    value, aux = result if has_aux else (result, None)
    tree = torch.utils._pytree
    outs, spec = tree.tree_flatten(value)
    found = derivative(outs, tree.tree_leaves(primals), tree.tree_leaves(tangents), "jvp")
    tangent = tree.tree_unflatten(found, spec)
    return (value, tangent, aux) if has_aux else (value, tangent)


def func_vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """torch.func.vjp."""
    tree = torch.utils._pytree
    own = _apart(primals)
    result = function(*own)
    value, aux = result if has_aux else (result, None)
    outs = tree.tree_leaves(value)
    leaves, spec = tree.tree_flatten(own)

    def pulled_back(cotangents: Any) -> Any:
        return tree.tree_unflatten(derivative(outs, leaves, tree.tree_leaves(cotangents)), spec)
    return (value, pulled_back, aux) if has_aux else (value, pulled_back)


#: Place, name and what stands there for it.
REPLACED = [(torch.autograd, "grad", grad), (torch.func, "grad", func_grad),
            (torch.func, "grad_and_value", func_grad_and_value), (torch.func, "jvp", func_jvp),
            (torch.func, "vjp", func_vjp)]


# Behind the export

def expand(module: Any, decompositions: Any, is_random: Callable[[Any], bool],
           place_of: Callable[[Any], tuple[str, int]]) -> None:
    """Puts what PyTorch computes in place of each derivative, in order: a later one sees
    what stands for those before it. Raises ModuleImportError: it goes through a draw."""
    for node in list(module.graph.nodes):
        if node.op != "call_function" or node.target != _NODE:
            continue
        outputs, inputs, vectors, kind = node.args
        between = _between(module.graph, inputs, outputs)
        for other in between:
            if str(other.target) == THROUGH and other.args[2]:
                raise ModuleImportError(
                    "a derivative of a torch.autograd.Function that saves tensors: its second "
                    "derivative is not known", *place_of(node))
            if is_random(other):
                raise ModuleImportError(
                    "a derivative of %s, which draws numbers" % other.target, *place_of(node))
        captures = list(dict.fromkeys(n for other in between for n in other.all_input_nodes
                                      if n not in between and n not in inputs))
        try:
            traced = _traced(list(between), inputs, outputs, vectors, captures, kind,
                             decompositions)
        except Exception as error:  # of PyTorch's
            text = str(error).strip() or type(error).__name__
            raise ModuleImportError("PyTorch cannot take the derivative apart: %s"
                                    % text.splitlines()[0], *place_of(node)) from error
        _inline(module, node, traced, [*inputs, *vectors, *captures])
    module.graph.eliminate_dead_code()


def _between(graph: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> dict[Any, None]:
    """Nodes on a way from the inputs to the outputs, in order."""
    behind = set(inputs)
    for node in graph.nodes:
        if node.op == "call_function" and any(n in behind for n in node.all_input_nodes):
            behind.add(node)
    needed, found = set(outputs), []
    for node in reversed(graph.nodes):
        if node in needed and node in behind and node not in inputs:
            found.append(node)
            needed.update(node.all_input_nodes)
    return dict.fromkeys(reversed(found))


def _traced(between: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any],
            vectors: Sequence[Any], captures: Sequence[Any], kind: str, decompositions: Any
            ) -> Any:
    """What PyTorch computes of inputs, vectors and captures, as a graph."""
    graph, env = torch.fx.Graph(), {}
    for node in [*inputs, *captures]:
        env[node] = graph.placeholder(node.name)
    for node in between:
        if str(node.target) == "aten.copy.default":  # PyTorch has no derivative of it
            value = node.meta["val"]
            source = graph.call_function(torch.ops.aten._to_copy.default, (env[node.args[1]],),
                                         {"dtype": value.dtype})
            env[node] = graph.call_function(torch.ops.aten.expand.default,
                                            (source, list(value.shape)))
            continue
        env[node] = graph.node_copy(node, lambda n: env[n])
        if node.target == _DETACH:
            env[node].target = _stopped
        if str(node.target) == THROUGH:
            env[node].target = _sent_through
    reached = [y for y in outputs if y in between or y in inputs]
    graph.output([env[y] for y in reached])
    part = torch.fx.GraphModule(torch.nn.Module(), graph)

    def function(own: list[Any], given: list[Any], others: list[Any]) -> list[Any]:
        def of_inputs(*x: Any) -> Any:
            return part(*x, *others)
        with torch.enable_grad():
            if kind == "jvp":
                return list(torch.func.jvp(of_inputs, tuple(own), tuple(given))[1])
            made, pulled_back = torch.func.vjp(of_inputs, *own)
            return list(pulled_back(type(made)(
                v for y, v in zip(outputs, given) if y in reached)))

    def values(nodes: Sequence[Any]) -> list[Any]:
        return [n.meta["val"].detach() for n in nodes]
    if not reached or kind == "jvp" and len(reached) < len(outputs):
        def function(own: list[Any], given: list[Any], others: list[Any]) -> list[Any]:
            if reached:
                raise NotImplementedError("torch.func.jvp of a result that is constant")
            return [torch.zeros_like(n.meta["val"]) for n in (
                inputs if kind == "vjp" else outputs)]
    examples = values(inputs), values(vectors), values(captures)
    # PyTorch's formulas write in place; what is traced once more does not.
    return make_fx(torch.func.functionalize(make_fx(function)(*examples)),
                   decomposition_table=decompositions)(*examples)


def _inline(module: Any, node: Any, traced: Any, operands: Sequence[Any]) -> None:
    given = iter(operands)
    env: dict[Any, Any] = {}
    for inner in traced.graph.nodes:
        if inner.op == "placeholder":
            env[inner] = next(given)
        elif inner.op == "get_attr":
            name = "derivative%d" % len(list(module.buffers()))
            module.register_buffer(name, getattr(traced, inner.target))
            with module.graph.inserting_before(node):
                env[inner] = module.graph.get_attr(name)
            env[inner].meta["val"] = getattr(traced, inner.target)
        elif inner.op == "output":
            results = [env[n] for n in inner.args[0]]
        elif inner.target == _DETACH:
            env[inner] = env[inner.args[0]]
        else:
            with module.graph.inserting_before(node):
                env[inner] = module.graph.node_copy(inner, lambda n: env[n])
            if inner.target == _STOP:
                env[inner].target = _DETACH
            env[inner].meta.update({key: node.meta[key] for key in (
                "stack_trace", "nn_module_stack") if key in node.meta})
    for user in list(node.users):  # the numbers of the results
        user.replace_all_uses_with(results[user.args[1]])
        module.graph.erase_node(user)
    module.graph.erase_node(node)
