# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.export of a module: what no graph shows is refused while it runs, and errors have
the user's line."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.utils.checkpoint

from ..errors import ModuleImportError
from ..torch import _custom_gradients, _derivatives
from ._table import COMPLEX, TABLE


def overload_of(node: Any) -> str:
    """"add.Tensor" of a call of aten.add.Tensor; the whole name of another op."""
    text = str(node.target)
    return text[5:] if text.startswith("aten.") else text


class _Detached(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
    """Export loses a no_grad() that stands inside of an autocast(): each result is detached
    there."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if torch.is_grad_enabled() or not (torch.is_autocast_enabled("cpu")
                                           or torch.is_autocast_enabled("cuda")):
            return result
        return torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda t: t.detach() if t.is_floating_point() and all(
                t is not a for a in args) else t, result)


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """While the module is exported: what no graph shows is refused, or replaced by what a
    graph has."""
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls.__name__ == "CheckpointFunction":  # (function, whether, *its arguments)
            result = args[0](*args[2:])
            args[0](*args[2:])  # as below
            return result
        if cls.__module__ == "torch.utils.checkpoint":  # its others compute nothing
            return original.__get__(None, cls)(*args, **kwargs)
        if _custom_gradients.has_row(cls):
            return original.__get__(None, cls)(*args, **kwargs)
        return _custom_gradients.apply(cls, args, kwargs, _user_frame())

    def register_hook(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise ModuleImportError("Tensor.register_hook: a gradient hook is not in the graph that "
                           "PyTorch exports", *_user_frame())

    def detach_(self: Any) -> Any:
        raise ModuleImportError("Tensor.detach_() is not in the graph that PyTorch exports: "
                                "write x = x.detach()", *_user_frame())

    def enter(self: Any) -> None:  # inference_mode is not in the graph, no_grad is
        self.as_no_grad = torch.no_grad() if self.mode else torch.enable_grad()
        self.as_no_grad.__enter__()

    def leave(self: Any, *error: Any) -> None:
        self.as_no_grad.__exit__(*error)

    def generator(*args: Any, **kwargs: Any) -> Iterator[None]:
        """Backward computes a checkpointed part again, and its batch norms move their
        statistics again. The rest of the second run is dropped."""
        given = without_reentrant.bind(*args, **kwargs).arguments
        yield
        next(iter(given.values()))(*given.get("args", ()), **given.get("kwargs", {}))

    checkpoint = torch.utils.checkpoint
    without_reentrant = inspect.signature(checkpoint._checkpoint_without_reentrant_generator)
    original = torch.autograd.Function.__dict__["apply"]  # not bound to a class
    places = [(torch.autograd.Function, "apply", original, classmethod(apply)),
              (torch.Tensor, "register_hook", torch.Tensor.register_hook, register_hook),
              (torch.Tensor, "detach_", torch.Tensor.detach_, detach_),
              (torch.inference_mode, "__enter__", torch.inference_mode.__enter__, enter),
              (checkpoint, "_checkpoint_without_reentrant_generator",
               checkpoint._checkpoint_without_reentrant_generator, generator),
              (torch.inference_mode, "__exit__", torch.inference_mode.__exit__, leave)]
    places += [(place, name, getattr(place, name), new)
               for place, name, new in _derivatives.REPLACED]
    for place, name, _, new in places:
        setattr(place, name, new)
    try:
        yield
    finally:
        for place, name, old, _ in places:
            setattr(place, name, old)


_PYTORCH, _OURS = (os.path.dirname(os.path.abspath(f)) + os.sep
                   for f in (torch.__file__, os.path.dirname(__file__)))


def is_users(filename: str) -> bool:
    """Whether a file is neither PyTorch's nor ours."""
    return not filename.startswith((_PYTORCH, _OURS)) and os.path.isabs(filename)


def _user_frame() -> tuple[str, int]:
    """The innermost line that is neither PyTorch's nor ours."""
    for frame in inspect.stack()[1:]:
        if is_users(frame.filename):
            return frame.filename, frame.lineno
    return "", 0


def _user_line(text: str) -> tuple[str, int, str]:
    """File, line and code of the innermost line of a stack trace that is not
    PyTorch's."""
    found = re.findall(r'File "([^"]+)", line (\d+), in [^\n]*\n?([^\n]*)', text or "")
    for name, line, code in reversed(found):
        if is_users(name):
            return name, int(line), code.strip()
    return ("", 0, "") if not found else (found[-1][0], int(found[-1][1]),
                                          found[-1][2].strip())


def line_of(node: Any) -> tuple[str, int, str]:
    return _user_line(node.meta.get("stack_trace", ""))


def module_path_of(node: Any) -> str:
    """"blocks.0.attn": where in the module the op is."""
    stack = node.meta.get("nn_module_stack") or {}
    path = ""
    for value in stack.values():
        path = value[0] if isinstance(value, tuple) else str(value)
    path = re.sub(r"^L\['self'\]\.?", "", path).replace("L__self___", "")
    return path.removeprefix("module").removeprefix(".") if path != "loss" else "loss"


@contextlib.contextmanager
def _without_pytorchs_warnings() -> Iterator[None]:
    """PyTorch warns of its own code that it will change."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"copyreg|torch\.")
        yield


def export(whole: Any, examples: Sequence[Any]) -> Any:
    with torch.enable_grad(), _watched(), _Detached(), _without_pytorchs_warnings():
        try:
            return torch.export.export(whole, tuple(examples), strict=False)
        except ModuleImportError:
            raise
        except Exception as error:
            raise _export_error(error) from error


def _export_error(error: Exception, what: str = "trace") -> ModuleImportError:
    """PyTorch's words, short, with the user's line."""
    text = str(error)
    name, line, _ = _user_line(text)
    if not name:
        trace = error.__traceback__
        while trace is not None:
            filename = trace.tb_frame.f_code.co_filename
            if is_users(filename):
                name, line = filename, trace.tb_lineno
            trace = trace.tb_next
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    if "data-dependent" in text or "GuardOnDataDependent" in type(error).__name__:
        first = "a branch, a size or a Python number depends on the values of a tensor"
    return ModuleImportError("torch.export cannot %s the module: %s" % (what, first), name,
                             line)


def mark_no_grad(module: Any) -> None:
    """Behind a no_grad region stands a detach: below, the region is inlined. Regions of
    autocast become casts there."""
    graph = module.graph
    for node in list(graph.nodes):
        target = str(node.target)
        if "wrap_with_autocast" in target:
            mark_no_grad(getattr(module, node.args[4].target))
        if "wrap_with_set_grad_enabled" not in target:
            continue
        enabled, body = node.args[0], getattr(module, node.args[1].target)
        if enabled:
            mark_no_grad(body)
            continue
        if any(_enables_grad(inner) for inner in body.modules()):
            raise ModuleImportError("regions of torch.no_grad and torch.enable_grad within "
                                    "each other", *line_of(node)[:2])
        for user in list(node.users):
            with graph.inserting_after(user):
                detached = graph.call_function(torch.ops.aten.detach.default, (user,))
            detached.meta.update({k: v for k, v in user.meta.items()
                                  if k in ("val", "stack_trace", "nn_module_stack")})
            user.replace_all_uses_with(detached,
                                       delete_user_cb=lambda u, d=detached: u is not d)
    module.recompile()


def _enables_grad(module: Any) -> bool:
    return isinstance(module, torch.fx.GraphModule) and any(
        "wrap_with_set_grad_enabled" in str(n.target) and n.args[0]
        for n in module.graph.nodes)


def is_random(node: Any) -> bool:
    tags = getattr(node.target, "tags", ())
    if "scaled_dot_product_attention" in str(node.target):
        return bool(node.args[4] if len(node.args) > 4 else node.kwargs.get("dropout_p", 0.0))
    return torch.Tag.nondeterministic_seeded in tags


@functools.cache
def _decompositions() -> dict[Any, Any]:
    """PyTorch's, of ops that the tables do not have. It takes PyTorch a while to list them."""
    return {op: rule for op, rule in torch.export.default_decompositions().items()
            if str(op).removeprefix("aten.") not in (TABLE | COMPLEX)}


def functional(program: Any) -> Any:
    table = _decompositions()
    try:
        with _without_pytorchs_warnings():
            made = program.run_decompositions(dict(table))
    except Exception as error:  # such as an einsum in a region of autocast
        raise _export_error(error, "take apart what it exported of") from error
    _derivatives.expand(made.graph_module, table, is_random, lambda n: line_of(n)[:2])
    return made
