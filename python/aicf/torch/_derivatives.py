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
torch.library.register_autograd("aicf::stop", lambda context, gradient: None)

_NODE, _STOP = torch.ops.aicf.derivative.default, torch.ops.aicf.stop.default
_DETACH = torch.ops.aten.detach.default


# What stands for PyTorch's functions while a module is exported

def derivative(outputs: Sequence[Any], inputs: Sequence[Any], vectors: Sequence[Any],
               kind: str = "vjp") -> list[Any]:
    """vectors · d outputs / d inputs ("vjp"), or d outputs / d inputs · vectors ("jvp")."""
    if torch._C._functorch.peek_interpreter_stack() is not None:
        raise NotImplementedError("a derivative inside of torch.vmap: one of the sum over the "
                                  "batch is the same")
    found = torch.ops.aicf.derivative(list(outputs), list(inputs), list(vectors), kind)
    return [t.requires_grad_() if torch.is_grad_enabled() else t for t in found]


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
    result = function(*primals)
    value, aux = result if has_aux else (result, None)
    tree = torch.utils._pytree
    outs, spec = tree.tree_flatten(value)
    found = derivative(outs, tree.tree_leaves(primals), tree.tree_leaves(tangents), "jvp")
    tangent = tree.tree_unflatten(found, spec)
    return (value, tangent, aux) if has_aux else (value, tangent)


#: Place, name and what stands there for it.
REPLACED = [(torch.autograd, "grad", grad), (torch.func, "grad", func_grad),
            (torch.func, "grad_and_value", func_grad_and_value), (torch.func, "jvp", func_jvp)]


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
            if is_random(other):
                raise ModuleImportError(
                    "a derivative of %s, which draws numbers" % other.target, *place_of(node))
        captures = list(dict.fromkeys(n for other in between for n in other.all_input_nodes
                                      if n not in between and n not in inputs))
        traced = _traced(list(between), inputs, outputs, vectors, captures, kind, decompositions)
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
        env[node] = graph.node_copy(node, lambda n: env[n])
        if node.target == _DETACH:  # of the user's; others are PyTorch's own
            env[node].target = _STOP
    reached = [y for y in outputs if y in between or y in inputs]
    graph.output([env[y] for y in reached])
    part = torch.fx.GraphModule(torch.nn.Module(), graph)

    def function(own: list[Any], given: list[Any], others: list[Any]) -> list[Any]:
        with torch.enable_grad():
            if kind == "jvp":
                return list(torch.func.jvp(lambda *x: part(*x, *others), tuple(own),
                                           tuple(given))[1])
            leaves = [x.detach().requires_grad_() for x in own]
            chosen = [v for y, v in zip(outputs, given) if y in reached]
            made = part(*leaves, *others)
            return list(torch.autograd.grad(made, leaves, chosen, allow_unused=True,
                                            materialize_grads=True))

    def values(nodes: Sequence[Any]) -> list[Any]:
        return [n.meta["val"].detach() for n in nodes]
    if not reached or kind == "jvp" and len(reached) < len(outputs):
        def function(own: list[Any], given: list[Any], others: list[Any]) -> list[Any]:
            if reached:
                raise NotImplementedError("torch.func.jvp of a result that is constant")
            return [torch.zeros_like(n.meta["val"]) for n in (
                inputs if kind == "vjp" else outputs)]
    return make_fx(function, decomposition_table=decompositions)(
        values(inputs), values(vectors), values(captures))


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
