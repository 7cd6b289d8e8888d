# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One eager PyTorch step beside ours: the loss, all gradients, buffers that change.

Both run on copies, in f32, on the example inputs. Dropout keeps everything, and draws
are the same in both. A gradient may differ by 8 times what PyTorch's own f32 differs from
its f64.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .. import compiled
from .._differences import difference, largest_of
from .._signature import Spec
from ..errors import ModuleImportError, VerificationError
from ._import import dtype_of
from ._model import Imported
from ._random_ops import spread
from ._state import tensors_of

#: Parts of the largest gradient of all, below which a difference is rounding: a gradient
#: that is 0 in theory is nothing else.
FLOOR = 2.0 ** -21


class _Still(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
    """Dropout keeps everything."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        kwargs, name = dict(kwargs or {}), getattr(function, "__name__", "")
        if name in ("dropout", "dropout_", "feature_dropout", "feature_dropout_",
                    "dropout1d", "dropout2d", "dropout3d"):
            return args[0] if args else kwargs["input"]
        if name == "multi_head_attention_forward":  # inside of it there is no mode
            bound = inspect.signature(function).bind(*args, **kwargs)
            bound.arguments["dropout_p"] = 0.0
            args, kwargs = bound.args, bound.kwargs
        if name in ("rrelu", "rrelu_"):  # draws nowhere that a mode sees
            kwargs["training"] = False
            args = args[:3]
        if name == "scaled_dot_product_attention":
            kwargs["dropout_p"] = 0.0
            args = args[:4] + args[5:] if len(args) <= 5 else (*args[:4], 0.0, *args[5:])
            if len(args) > 4:
                kwargs.pop("dropout_p")
        return function(*args, **kwargs)


class _Spread(TorchDispatchMode):  # type: ignore[misc]
    """What is drawn are the numbers of spread(), or what follows from them."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        if name not in _DRAWN:
            return result
        names = [argument.name for argument in function._schema.arguments]
        of = dict(zip(names, args)) | (kwargs or {})
        shape = of["self"].shape if name == "multinomial" and not of.get("replacement") \
            else result.shape
        drawn = _DRAWN[name](of, torch.from_numpy(spread(shape)).to(result.device))
        return result.copy_(drawn)


def _multinomial(of: Any, u: Any) -> Any:
    weights, count = of["self"].float(), of["num_samples"]
    if of.get("replacement"):
        sums = weights.cumsum(-1)
        return torch.searchsorted(sums, u * sums[..., -1:], right=True)
    keys = torch.where(weights > 0, weights / -(1 - u).log(), -1.0)
    return torch.sort(keys, dim=-1, descending=True, stable=True)[1][..., :count]


def _integer(of: Any, u: Any) -> Any:
    low = of.get("low", 0)
    return (u.double() * (of["high"] - low)).floor() + low


def _itself(of: Any, u: Any) -> Any:
    return u


#: By op of aten that draws, what it makes of numbers between 0 and 1, which also stand for
#: those of a normal distribution. _random_ops.py makes the same.
_DRAWN: dict[str, Any] = {
    "rand": _itself, "rand_like": _itself, "randn": _itself, "randn_like": _itself,
    "normal": _itself, "normal_": _itself,
    "log_normal_": lambda of, u: u.exp(),
    "uniform_": lambda of, u: u * (of.get("to", 1.0) - of.get("from", 0.0)) + of.get("from", 0.0),
    "exponential_": lambda of, u: -(1 - u).log() / of.get("lambd", 1.0),
    "geometric_": lambda of, u: ((1 - u).log() / math.log1p(-of["p"])).ceil().clamp_min(1),
    "cauchy_": lambda of, u: ((u - 0.5) * math.pi).tan() * of.get("sigma", 1.0)
    + of.get("median", 0.0),
    "bernoulli": lambda of, u: u < of.get("p", of["self"]),
    "bernoulli_": lambda of, u: u < of.get("p", 0.5),
    "randint": _integer, "randint_like": _integer,
    "randperm": lambda of, u: u.argsort(stable=True), "multinomial": _multinomial,
}


@contextlib.contextmanager
def _generators_kept() -> Iterator[None]:
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with torch.random.fork_rng(devices=list(devices)):
        yield


def _copy_of(module: Any) -> Any:
    """A deep copy. PyTorch refuses tensors that have a graph, which a call may have left in
    an attribute."""
    made = {id(t): t.detach().clone() for t in tensors_of(module).values()
            if t.grad_fn is not None}
    return copy.deepcopy(module, made)


def _eager(module: Any, loss_fn: Any, inputs: Sequence[Any], targets: Sequence[Any],
           dtype: Any) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """Loss, gradients and what is kept, of a copy that has made one step."""
    own = _copy_of(module).to(dtype)
    loss_of = _copy_of(loss_fn).to(dtype) if isinstance(loss_fn, torch.nn.Module) \
        else loss_fn

    place = next((t.device for t in (*own.parameters(), *own.buffers())), None)

    def of_type(values: Sequence[Any]) -> list[Any]:
        return [(v.to(dtype) if v.is_floating_point() else v.clone()).to(place)
                for v in values]
    with torch.enable_grad(), _Still(), _Spread():
        loss = loss_of(own(*of_type(inputs)), *of_type(targets))
        loss.backward()
    gradients = {n: p.grad for n, p in own.named_parameters()}
    return float(loss.detach()), gradients, tensors_of(own)


def _ours(module: Any, loss_fn: Any, names: Sequence[str], inputs: Sequence[Any],
          targets: Sequence[Any], device: str, trained: Sequence[str]
          ) -> tuple[float, dict[str, Any], dict[str, Any]]:
    own = _copy_of(module).float()
    loss_of = _copy_of(loss_fn).float() if isinstance(loss_fn, torch.nn.Module) \
        else loss_fn
    owners = dict(own.named_parameters())
    imported = Imported(own, loss_of, names, len(inputs),
                        {id(owners[n]) for n in trained if n in owners}, device=device)
    imported.keeps_all = True
    values = [v.float() if v.is_floating_point() else v for v in (*inputs, *targets)]
    specs = {n: Spec(tuple(v.shape), dtype_of(v.dtype)) for n, v in zip(names, values)}
    imported.examples = values
    imported.captured([(s.shape, s.dtype) for s in specs.values()], True)
    traced = compiled.trace_step(imported.model, imported.loss, None, specs)
    program = traced.lower(device).compile()
    entry = program["train_step"]
    result = entry(*(v.cpu() for v in values))
    outputs = result[1] if isinstance(result, tuple) else {}
    loss = float(result[0] if isinstance(result, tuple) else result)
    gradients = {n.partition(":")[2]: torch.from_dlpack(g).clone() for n, g in outputs.items()}
    buffers = {n: torch.from_numpy(v) for n, v in program.state_dict().items()}
    return loss, gradients, buffers


def verify(module: Any, loss_fn: Any, names: Sequence[str], inputs: Sequence[Any],
           targets: Sequence[Any], device: str, trained: Sequence[str]) -> None:
    """Raises VerificationError, with the parameter that differs most."""
    with _generators_kept():
        loss, single, buffers = _eager(module, loss_fn, inputs, targets, torch.float32)
        again, _, _ = _eager(module, loss_fn, inputs, targets, torch.float32)
        try:
            wide, double, _ = _eager(module, loss_fn, inputs, targets, torch.float64)
        except RuntimeError:  # it has tensors of its own in f32: those are near enough
            wide, double = loss, {n: g if g is None else g.double()
                                  for n, g in single.items()}
        if loss != again and not math.isnan(loss):
            raise ModuleImportError(
                "a second run of the module gives the loss %r, and the first one %r: it "
                "depends on what Python keeps, which a step would not change"
                % (again, loss), "", 0)
        ours, gradients, states = _ours(module, loss_fn, names, inputs, targets, device,
                                        trained)
    found = _differences(trained, single, double, gradients)
    if difference(np.asarray(ours), np.asarray(loss), np.asarray(wide),
                  FLOOR * max(1.0, abs(wide)), "PyTorch"):
        found.insert(0, "the loss is %.9g, in PyTorch %.9g" % (ours, wide))
    for name, value in buffers.items():
        if name in states and value.is_floating_point() and not torch.allclose(
                states[name].double(), value.double().cpu(), rtol=1e-4, atol=1e-5,
                equal_nan=True):
            found.append("the tensor %r becomes another" % name)
    if found:
        raise VerificationError(
            "the compiled step differs from one step of PyTorch (verify=False leaves this "
            "check out): %s" % "; ".join(found[:4]))


def _differences(trained: Sequence[str], single: dict[str, Any], double: dict[str, Any],
                 ours: dict[str, Any]) -> list[str]:
    largest = max((largest_of(_array(g)) for g in double.values() if g is not None),
                  default=0.0)
    found = []
    for name in trained:
        expected, own = double.get(name), ours.get(name)
        if expected is None or own is None:
            if (expected is None) != (own is None) and not (
                    expected is not None and expected.numel() == 0):
                found.append((math.inf, "%r has %s gradient in PyTorch" % (
                    name, "no" if expected is None else "a")))
            continue
        wrong = difference(_array(own), _array(single[name]), _array(expected),
                           FLOOR * largest, "PyTorch")
        if wrong:
            found.append((wrong[0], "the gradient of %r %s" % (name, wrong[1])))
    return [text for _, text in sorted(found, reverse=True)]


def _array(tensor: Any) -> Any:
    return tensor.detach().double().cpu().numpy()
