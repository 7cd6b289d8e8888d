# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One eager PyTorch step beside ours: the loss, all gradients, buffers that change.

Both run on copies, in f32, on the example inputs and on a batch of special values. Dropout
keeps everything, and draws are the same in both. A gradient may differ by 8 times what
PyTorch's own f32 differs from its f64, or what another rounding of the parameters makes of it.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .. import compiled
from .._importing.differences import MAGNIFIED, difference, excused, largest_of, special_values
from .._programs.signature import Spec
from ..errors import ModuleImportError, VerificationError
from ._capture import call
from ._export import is_random
from ._import import dtype_of, held
from ._model import Imported
from ._random_ops import spread
from ._state import tensors_of

#: Parts of the largest gradient of all, below which a difference is rounding: a gradient
#: that is 0 in theory is nothing else.
FLOOR = 2.0 ** -21
#: Where a part of the module computes in 16 bits.
FLOOR_OF_16_BITS = 2.0 ** -5


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
        if name in ("sort", "argsort") and len(args) < 4:  # of equal elements in their order
            kwargs |= dict(zip(("dim", "descending"), args[1:])) | {"stable": True}
            args = args[:1]
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


def _copy_of(module: Any, made: dict[int, Any] | None = None) -> Any:
    """A deep copy, whose parts are put into `made` by the id() of the originals. PyTorch
    refuses tensors that have a graph, which a call may have left in an attribute."""
    made = {} if made is None else made
    made.update((id(t), t.detach().clone()) for t in tensors_of(module).values()
                if t.grad_fn is not None)
    return copy.deepcopy(module, made)


def _beside(function: Any, copies: dict[int, Any]) -> Any:
    """The function as it is for a copy of the module: a penalty on parameters reads those of
    the copy. What it closes over and the globals that it names are looked at."""
    if not isinstance(function, types.FunctionType):
        return function
    cells = [types.CellType(_of_copies(cell.cell_contents, copies))
             for cell in function.__closure__ or ()]
    own = {name: _of_copies(value, copies) for name, value in function.__globals__.items()
           if isinstance(value, (torch.nn.Module, torch.Tensor, list, tuple, dict))}
    changed = {n: v for n, v in own.items() if v is not function.__globals__[n]}
    made = types.FunctionType(function.__code__, {**function.__globals__, **changed},
                              function.__name__, function.__defaults__, tuple(cells))
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _of_copies(value: Any, copies: dict[int, Any]) -> Any:
    """The copy of a module or tensor, if there is one; also in lists, tuples and dicts."""
    if id(value) in copies and isinstance(value, (torch.nn.Module, torch.Tensor)):
        return copies[id(value)]
    if type(value) in (list, tuple):
        found = [_of_copies(v, copies) for v in value]
        return type(value)(found) if any(a is not b for a, b in zip(found, value)) else value
    if type(value) is dict:
        pairs = {k: _of_copies(v, copies) for k, v in value.items()}
        return pairs if any(pairs[k] is not v for k, v in value.items()) else value
    return value


def _eager(module: Any, loss_fn: Any, inputs: Sequence[Any], targets: Sequence[Any],
           dtype: Any, shaken: bool = False, draws: bool = True,
           keywords: Sequence[str] = ()) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """Loss, gradients and what is kept, of a copy that has made one step; if `shaken`, from
    parameters that are another rounding."""
    copies: dict[int, Any] = {}
    own = _copy_of(module, copies).to(dtype)
    for i, parameter in enumerate(own.parameters() if shaken else ()):
        with torch.no_grad():
            signs = torch.arange(parameter.numel(), device=parameter.device) * 7919 + i
            parameter.mul_(1 + ((signs % 5) - 2).reshape(parameter.shape) * 2.0 ** -22)
    loss_of = _copy_of(loss_fn).to(dtype) if isinstance(loss_fn, torch.nn.Module) \
        else _beside(loss_fn, copies)

    place = next((t.device for t in (*own.parameters(), *own.buffers())), None)

    def of_type(values: Sequence[Any]) -> list[Any]:
        return [(v.to(dtype) if v.is_floating_point() else v.clone()).to(place)
                for v in values]
    with torch.enable_grad(), _Still(), _Spread() if draws else contextlib.nullcontext():
        result = loss_of(call(own, of_type(inputs), keywords), *of_type(targets))
        loss = result[0] if isinstance(result, tuple) else result
        loss.backward()
    gradients = {n: p.grad for n, p in own.named_parameters()}
    return float(loss.detach()), gradients, tensors_of(own)


class _Ours:
    """The step as this package computes it, without an optimizer. It uses the graph that is
    there; a module of 16 bits is exported once more, in f32."""

    def __init__(self, imported: Imported, inputs: Sequence[Any], trained: Sequence[str],
                 device: str) -> None:
        values = [v.float() if v.is_floating_point() else v for v in inputs]
        if all(t.dtype == torch.float32 or not t.is_floating_point()
               for _, t, _ in imported.named_tensors()) \
                and all(v.dtype == i.dtype for v, i in zip(values, inputs)):
            own = imported.without_draws(device)
        else:
            module, loss_fn = _copy_of(imported.module).float(), imported.loss_fn
            if isinstance(loss_fn, torch.nn.Module):
                loss_fn = _copy_of(loss_fn).float()
            owners = dict(module.named_parameters())
            own = Imported(module, loss_fn, imported.names, imported.num_inputs,
                           {id(owners[n]) for n in trained if n in owners}, device=device,
                           keywords=imported.keywords)
            own.keeps_all, own.examples = True, values
        specs = {n: Spec(tuple(v.shape), dtype_of(v.dtype)) for n, v in zip(own.names, values)}
        own.captured([(s.shape, s.dtype) for s in specs.values()], True)
        traced = compiled.trace_step(own.model, own.loss, None, specs)
        self._program = traced.lower(device).compile()

    def __call__(self, values: Sequence[Any]
                 ) -> tuple[float, dict[str, Any], dict[str, Any]]:
        """Loss, gradients and what is kept behind one step from the start."""
        self._program.reset()
        result = self._program["train_step"](*(v.cpu() for v in _single(values)))
        outputs = result[1] if isinstance(result, tuple) else {}
        loss = float(result[0] if isinstance(result, tuple) else result)
        gradients = {n.partition(":")[2]: torch.from_dlpack(g).clone()
                     for n, g in outputs.items() if n.startswith("grad:")}
        kept = {n: torch.from_numpy(v) for n, v in self._program.state_dict().items()}
        return loss, gradients, kept


def _single(values: Sequence[Any]) -> list[Any]:
    return [v.float() if v.is_floating_point() else held(v) for v in values]


class _Comparison:
    """Steps of one module in PyTorch and here."""

    def __init__(self, imported: Imported, device: str, trained: Sequence[str]) -> None:
        self.imported, self.trained = imported, trained
        nodes = [n for c in imported.captures() for n in c.graph.nodes]
        self._draws = any(map(is_random, nodes))
        has_16_bits = any(getattr(n.meta.get("val"), "dtype", None) in (
            torch.bfloat16, torch.float16) for n in nodes)
        self.floor = FLOOR_OF_16_BITS if has_16_bits else FLOOR
        self.ours = _Ours(imported, imported.examples, trained, device)

    def eager(self, values: Sequence[Any], dtype: Any, shaken: bool = False
              ) -> tuple[float, dict[str, Any], dict[str, Any]]:
        count = self.imported.num_inputs
        return _eager(self.imported.module, self.imported.loss_fn, values[:count],
                      values[count:], dtype, shaken, self._draws,
                      self.imported.keywords)

    def differences(self, values: Sequence[Any], single: Any, is_made_up: bool = False
                    ) -> list[str]:
        """In words: of a batch, of which PyTorch's step in f32 is known.

        Args:
            is_made_up: elements are equal there, or at a bound, so that roundings decide:
                however much parameters move it that are another rounding, it is right.
        """
        mine = self.ours(values)
        if not _found(self.floor, self.trained, mine, single, single):
            return []  # nearer than f64 could say
        try:
            double = self.eager(values, torch.float64)
        except RuntimeError:  # it has tensors of its own in f32: those are near enough
            double = single
        found = _found(self.floor, self.trained, mine, single, double)
        if found:
            shaken = self.eager(values, torch.float32, shaken=True)
            found = _found(self.floor, self.trained, mine, single, double, shaken,
                           math.inf if is_made_up else MAGNIFIED)
        if is_made_up and found and found[0].startswith("the loss"):
            # What is 0 but for roundings may be made large, as by a norm. Where inputs are
            # equal, gradients alone are in question, and roundings of inputs would hide them.
            shaken = self.eager(_noisy(values), torch.float32, shaken=True)
            found = _found(self.floor, self.trained, mine, single, double, shaken)
        return found


def verify(imported: Imported, device: str, trained: Sequence[str],
           special: bool = True) -> None:
    """Compares a step on the example batch, and one on a batch of special values.

    Args:
        trained: names of the parameters that the optimizer has.
        special: whether there is the second batch: zeros, equal elements, ends of the
            example's range. It is left out where PyTorch raises an error for it.
    Raises: VerificationError with the parameter that differs most; ModuleImportError: the
        module gives another loss when it runs again.
    """
    values = imported.examples
    comparison = _Comparison(imported, device, trained)
    with _generators_kept():
        single = comparison.eager(values, torch.float32)
        again = comparison.eager(values, torch.float32)[0]
        if single[0] != again and not math.isnan(again):
            raise ModuleImportError(
                "a second run of the module gives the loss %r, and the first one %r: it "
                "depends on what Python keeps, which a step would not change"
                % (again, single[0]), "", 0)
        found, where, way = comparison.differences(values, single), "", "verify=False"
        batch = _special_batch(values) if special and not found else None
        if batch is not None:
            with contextlib.suppress(Exception):  # the module may refuse such a batch
                single = comparison.eager(batch, torch.float32)
                found = comparison.differences(batch, single, is_made_up=True)
            where = " on a batch of zeros, equal elements and ends of the example's range"
            way = "verify=\"example\""
    if found:
        raise VerificationError(
            "the compiled step differs from one step of PyTorch%s (%s leaves this check out): "
            "%s" % (where, way, "; ".join(found[:4])))


def _noisy(values: Sequence[Any]) -> list[Any]:
    """Floats with another rounding."""
    made = []
    for value in values:
        if value.is_floating_point() and value.numel():
            signs = (torch.arange(value.numel(), device=value.device) * 7919 % 5 - 2) \
                .reshape(value.shape) * 2.0 ** -23
            value = value + signs * value.abs().max()
        made.append(value)
    return made


def _special_batch(values: Sequence[Any]) -> list[Any] | None:
    """The batch with special values in place of floats; None: there are none."""
    made, has_floats = [], False
    for value in values:
        own = value.detach()
        special = special_values(own.cpu().double().numpy()) if own.is_floating_point() else None
        has_floats |= special is not None
        made.append(own.clone() if special is None else torch.from_numpy(special).to(own))
    return made if has_floats else None


def _found(floor: float, trained: Sequence[str], ours: Any, single: Any, double: Any,
           shaken: Any = None, most: float = math.inf) -> list[str]:
    """Differences in words. `shaken` is a step in f32 from parameters that are rounded
    otherwise: what it moves is rounding, up to the part `most` of the largest number."""
    def slack(of: Any, other: Any) -> float:
        return 0.0 if shaken is None or other is None else excused(
            of, other, most * max(1.0, largest_of(np.asarray(of, "f8"))))
    loss, wide = single[0], double[0]
    found = _differences(floor, trained, single[1], double[1], ours[1],
                         None if shaken is None else shaken[1], most)
    if difference(np.asarray(ours[0]), np.asarray(loss), np.asarray(wide), max(
            floor * max(1.0, abs(wide)), slack(loss, None if shaken is None else shaken[0])),
            "PyTorch"):
        found.insert(0, "the loss is %.9g, in PyTorch %.9g" % (ours[0], wide))
    for name, value in single[2].items():
        if name in ours[2] and value.is_floating_point() and not torch.allclose(
                ours[2][name].double(), value.double().cpu(), rtol=max(1e-4, floor),
                atol=1e-5 + slack(_array(value), None if shaken is None else _array(
                    shaken[2][name])), equal_nan=True):
            found.append("the tensor %r becomes another" % name)
    return found


def _differences(floor: float, trained: Sequence[str], single: dict[str, Any],
                 double: dict[str, Any], ours: dict[str, Any],
                 shaken: dict[str, Any] | None, most: float) -> list[str]:
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
        moved = 0.0 if shaken is None or shaken[name] is None else \
            excused(_array(single[name]), _array(shaken[name]), most * largest)
        wrong = difference(_array(own), _array(single[name]), _array(expected),
                           max(floor * largest, moved), "PyTorch")
        if wrong:
            found.append((wrong[0], "the gradient of %r %s" % (name, wrong[1])))
    return [text for _, text in sorted(found, reverse=True)]


def _array(tensor: Any) -> Any:
    return tensor.detach().double().cpu().numpy()
