# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules: the parts of a model.

They work as PyTorch's torch.nn does: parameters are attributes, their names are those of
`named_parameters()`, and weights are [out, in]. A module holds no values. An initialiser
or an array says how a parameter starts, and the compiled step has the values
(`step.state_dict()`).
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import ops
from ._base.dtypes import DType, check_shape, dtype_name
from ._base.hints import missing, no_module
from ._tracing.tensor import Operators, Tensor
from ._tracing.trace import active_trace, as_tensor, current_trace, trace_error, unit
from .errors import AICFError

__all__ = [
    "ELU", "GELU", "GLU", "SELU", "BatchNorm1d", "Buffer", "Dropout", "Embedding",
    "Flatten", "GroupNorm", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity",
    "LayerNorm", "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax", "Mish", "Module",
    "ModuleList", "PReLU", "Parameter", "RMSNorm", "ReLU", "ReLU6", "Recompute",
    "Sequential", "SiLU", "Sigmoid", "Softmax", "Softplus", "Softsign", "Tanh",
]

_NAMED_INITS = ("zeros", "ones", "uniform_fan_in", "normal")


def _check_init(init: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Returns an initialiser as the dialect writes it, or an array of the shape. Raises
    ValueError, TypeError."""
    if isinstance(init, str):
        name, _, deviation = init.partition(":")
        try:
            legal = name in _NAMED_INITS and (
                not deviation or name == "normal" and float(deviation) > 0)
        except ValueError:
            legal = False
        if not legal:
            raise ValueError("init is %r, expected zeros, ones, uniform_fan_in, "
                             "normal, normal:0.02, a number or an array" % init)
        return init
    if isinstance(init, (int, float)) and not isinstance(init, bool):
        return float(init)
    given = getattr(init, "shape", None)
    if given is None:
        raise TypeError("init is a %s, expected a string, a number or an array"
                        % type(init).__name__)
    if tuple(given) != shape:
        raise ValueError("init has shape %s, expected %s" % (tuple(given), shape))
    if dtype_name(init.dtype) != dtype:
        raise TypeError("init is %s, expected %s" % (dtype_name(init.dtype), dtype))
    return init


class _Persistent(Operators):
    """A tensor that stays on the device from step to step."""

    role = ""

    def __init__(self, shape: Any, dtype: DType, init: Any, name: str) -> None:
        self.shape, self.dtype = check_shape(shape), dtype_name(dtype)
        self.init = _check_init(init, self.shape, self.dtype)
        self.name = name
        self.zero_row: int | None = None  # a row that starts with zeros
        self.is_models = True  # and not an optimizer's, or an average

    def _tensor(self) -> Tensor:
        return current_trace("a %s is used" % type(self).__name__.lower()).of(self)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def value(self) -> Any:
        """The array that the tensor starts with, or None if it has an initialiser."""
        return None if isinstance(self.init, (str, float)) else self.init

    def attributes(self) -> dict[str, Any]:
        return {} if self.value is not None else {"aicf.init": self.init}

    def __repr__(self) -> str:
        return "%s(%s, %s)" % (type(self).__name__, self.shape, self.dtype)


class Parameter(_Persistent):
    """A tensor that the optimizer trains.

    Args:
        shape: its shape, an int or a sequence of ints.
        dtype: a float type.
        init: the initial value. "zeros", "ones", "normal" (standard deviation 1),
            "normal:0.02" (standard deviation 0.02), "uniform_fan_in", a number, or an
            array of this shape and dtype. "uniform_fan_in" is U(-1/sqrt(k), 1/sqrt(k)),
            where k is the last of 2 dimensions or more, as in PyTorch's Linear.
        requires_grad: whether the parameter is trained. If not, it keeps its value.
        weight_decay: its own weight decay; the default is the optimizer's.
        lr_scale: a factor for the optimizer's learning rate.
        name: a name, if the parameter is not an attribute of a module.
    Raises: ValueError, TypeError: a shape, dtype or init that is not valid.
    """

    role = "param"

    def __init__(self, shape: Any, dtype: DType = "f32", *, init: Any = "zeros",
                 requires_grad: bool = True, weight_decay: float | None = None,
                 lr_scale: float | None = None, name: str = "") -> None:
        super().__init__(shape, dtype, init, name)
        self.requires_grad = requires_grad
        self.weight_decay, self.lr_scale = weight_decay, lr_scale
        #: The name of the hyper that holds the numbers of its group, if the optimizer
        #: was imported.
        self.group: str | None = None
        #: How many updates fewer than the step counts it has had, if it was imported.
        self.step_lag = 0

    def attributes(self) -> dict[str, Any]:
        attributes = super().attributes()
        if self.weight_decay is not None:
            attributes["aicf.weight_decay"] = float(self.weight_decay)
        if self.lr_scale is not None:
            attributes["aicf.lr_scale"] = float(self.lr_scale)
        attributes["aicf.group"] = self.group  # None leaves it out
        attributes["aicf.step_lag"] = self.step_lag or None
        if not self.requires_grad:
            attributes["aicf.frozen"] = unit()
        return attributes


class Buffer(_Persistent):
    """A tensor that is not trained and keeps its value from step to step: a count, a
    running mean, a table.

    It lives on the device. `update` gives it a new value for the next step. The arguments
    are as in Parameter, but dtype may be any element type.
    """

    role = "state"

    def __init__(self, shape: Any, dtype: DType = "f32", *, init: Any = "zeros",
                 name: str = "") -> None:
        super().__init__(shape, dtype, init, name)

    def update(self, value: Any) -> None:
        """Sets the value that the buffer has at the end of the step. Every read in the
        step sees the old value.

        Args:
            value: a tensor of the buffer's shape and dtype.
        Raises: TraceError: another shape or dtype, a second update in the step, or a
            call outside a trace.
        """
        current_trace("Buffer.update").update(self, value)


class Settings:
    """Keeps attributes of objects, and restores them while a function is traced again."""

    def __init__(self, owners: Iterable[tuple[Any, tuple[str, ...]]]) -> None:
        self._kept = [(owner, name, getattr(owner, name))
                      for owner, names in owners for name in names]

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        now = [(owner, name, getattr(owner, name)) for owner, name, _ in self._kept]
        try:
            for owner, name, value in self._kept:
                setattr(owner, name, value)
            yield
        finally:
            for owner, name, value in now:
                setattr(owner, name, value)


class Module:
    """The base class of modules. Define `forward`, and assign parameters, buffers and
    modules to attributes. They may be in lists, tuples and dicts."""

    _training: bool = True

    @property
    def training(self) -> bool:
        """Whether the module is in training mode. This is False while a prediction is
        traced, and after eval()."""
        trace = active_trace()
        return self._training and (trace is None or trace.training)

    def __new__(cls, *args: Any, **kwargs: Any) -> Module:
        self = super().__new__(cls)
        trace = active_trace()
        if trace is not None:
            trace.created.add(id(self))
        return self

    def __init__(self) -> None:
        pass  # refuses arguments; object's accepts them if there is a __new__

    def __setattr__(self, name: str, value: Any) -> None:
        trace = active_trace()
        if trace is not None and id(self) not in trace.created:
            trace_error("%s.%s is set inside a step: a module may not change while "
                        "it is traced, because the step would not repeat the change "
                        "(nn.Buffer.update keeps a value for the next step)"
                        % (type(self).__name__, name))
        super().__setattr__(name, value)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the result of the module. Subclasses define it."""
        raise NotImplementedError("%s has no forward()" % type(self).__name__)

    def __getattr__(self, name: str) -> Any:
        error = missing("aicf.nn.Module", name, type(self))
        raise AttributeError(str(error).replace(
            "aicf.nn.Module has", "%s has" % type(self).__name__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is None or (path := trace.names.get(id(self))) is None:
            return self.forward(*args, **kwargs)
        if not path:
            trace.note_call(self.forward, args, kwargs)
        with trace.layer(path):
            try:
                result = self.forward(*args, **kwargs)
            except AICFError as error:
                if not error.layer:
                    name = repr(self) if not any(self.named_children()) \
                        else type(self).__name__
                    error.layer = "layer %s, %s, called with %s" % (
                        path or "(the whole model)", name, shapes_text(args))
                raise
        trace.end_layer(path, type(self).__name__, result, shapes_text(result))
        return result

    # Names

    def _members(self) -> Iterator[tuple[str, Any]]:
        for name, value in vars(self).items():
            yield from _flatten(name, value)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yields the names and modules of the module's own attributes."""
        for name, value in self._members():
            if isinstance(value, Module):
                yield name, value

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Yields names and modules, each module once and this one first."""
        seen: set[int] = set()
        yield from self._named_modules(prefix, seen)

    def _named_modules(self, prefix: str,
                       seen: set[int]) -> Iterator[tuple[str, Module]]:
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, child in self.named_children():
            yield from child._named_modules(_join(prefix, name), seen)

    def _named(self, kind: type) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            for name, value in module._members():
                if isinstance(value, kind) and id(value) not in seen:
                    seen.add(id(value))
                    yield _join(prefix, name), value

    def _every_name(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Yields every path to a parameter or buffer. Tied ones have several."""
        for name, value in self._members():
            if isinstance(value, Module):
                yield from value._every_name(_join(prefix, name))
            elif isinstance(value, _Persistent):
                yield _join(prefix, name), value

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Yields names and parameters, each once. A tied parameter has its first name."""
        return self._named(Parameter)

    def named_buffers(self) -> Iterator[tuple[str, Buffer]]:
        """Yields names and buffers, each once."""
        return self._named(Buffer)

    def parameters(self) -> Iterator[Parameter]:
        """Yields the parameters, each once."""
        return (parameter for _, parameter in self.named_parameters())

    def buffers(self) -> Iterator[Buffer]:
        """Yields the buffers, each once."""
        return (buffer for _, buffer in self.named_buffers())

    def modules(self) -> Iterator[Module]:
        """Yields the modules, each once and this one first."""
        return (module for _, module in self.named_modules())

    def train(self, mode: bool = True) -> Module:
        """Sets the mode in which training steps are traced: whether dropout drops, and
        whether BatchNorm1d uses the batch. Functions of aicf.compile are in training mode
        only with training=True. Returns the module."""
        for module in list(self.modules()):
            module._training = bool(mode)
        return self

    def eval(self) -> Module:
        """Does the same as train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Freezes all parameters, or trains them again. Call it before you compile.
        Returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad = bool(requires_grad)
        return self

    def extra_repr(self) -> str:
        """Returns the text that repr() shows between the parentheses."""
        return ""

    def __repr__(self) -> str:
        lines = ["  (%s): %s" % (name, repr(child).replace("\n", "\n  "))
                 for name, child in self.named_children()]
        inside = "\n" + "\n".join(lines) + "\n" if lines else self.extra_repr()
        return "%s(%s)" % (type(self).__name__, inside)


def aliases_of(model: Module) -> dict[str, str]:
    """Maps every name of a parameter or buffer to its own name: a tied one has several.
    PyTorch's state_dict has all of these names."""
    own = {id(value): name for named in (model.named_parameters(),
                                         model.named_buffers())
           for name, value in named}
    return {name: own[id(value)] for name, value in model._every_name()}


def settings_of(model: Module) -> Settings:
    """Keeps the settings of modules and parameters that a trace reads."""
    return Settings([(module, ("_training",)) for module in model.modules()]
                    + [(parameter, ("requires_grad", "weight_decay", "lr_scale"))
                       for parameter in model.parameters()])


def shapes_text(result: Any) -> str:
    """Returns the shapes of what forward() returned: "64x10", "(64x10, 64x2)"."""
    if isinstance(result, dict):
        return "{%s}" % ", ".join("%s: %s" % (k, shapes_text(v))
                                  for k, v in result.items())
    if isinstance(result, (tuple, list)):
        return "(%s)" % ", ".join(map(shapes_text, result))
    return "x".join(map(str, getattr(result, "shape", ()))) or "scalar"


def _join(prefix: str, name: str) -> str:
    return prefix + "." + name if prefix else name


def _flatten(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from _flatten("%s.%d" % (name, i), each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _flatten("%s.%s" % (name, key), each)
    else:
        yield name, value


class ModuleList(Module):
    """A list of modules. Their names are their numbers: "0", "1"."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self._modules = [_check_module(m) for m in modules]

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from ((str(i), module) for i, module in enumerate(self._modules))
        for name, value in vars(self).items():
            if name != "_modules":
                yield from _flatten(name, value)

    def append(self, module: Module) -> ModuleList:
        self._modules = [*self._modules, _check_module(module)]
        return self

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: int) -> Module:
        return self._modules[index]


def _check_module(module: Any) -> Module:
    if not isinstance(module, Module):
        no_module(module)
    return module


class Sequential(ModuleList):
    """Applies modules one after the other: Sequential(Linear(64, 32), ReLU())."""

    def __init__(self, *modules: Module) -> None:
        super().__init__(modules)

    def forward(self, x: Any) -> Any:
        for module in self._modules:
            x = module(x)
        return x


class Recompute(Module):
    """Computes a module again in the backward pass, so that less of it is kept.

    Training keeps what the block reads and what it returns, and nothing that it computes
    on the way. This spares memory and costs a second forward pass of the block (Chen et
    al. 2016, "Training Deep Nets with Sublinear Memory Cost"; PyTorch's
    torch.utils.checkpoint). Values and gradients have the same bits as without it,
    dropout included. The names of parameters and buffers are those of the block's own.

    Inside another Recompute this one has no effect: the outer block is computed again as
    a whole.

    Args:
        block: the module, for example one layer of many.
    Raises: TypeError: `block` is not a Module.
    """

    def __init__(self, block: Module) -> None:
        self.block = _check_module(block)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with current_trace("nn.Recompute").recomputed():
            return self.block.forward(*args, **kwargs)

    def _named_modules(self, prefix: str,
                       seen: set[int]) -> Iterator[tuple[str, Module]]:
        if id(self) not in seen:
            seen.add(id(self))
            yield prefix, self
            yield from self.block._named_modules(prefix, seen)

    def _every_name(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        yield from self.block._every_name(prefix)


class Linear(Module):
    """y = x·Wᵀ + b.

    The weight starts with U(-1/sqrt(K), 1/sqrt(K)), as in PyTorch. The bias starts with
    zeros; in PyTorch it starts as the weight does.

    Args:
        in_features, out_features: K and N. The weight is [N, K], and the bias is [N].
        bias: whether there is a bias.
        dtype: a float type.
    Shape: [..., K] to [..., N]. The input has rank 2 or more.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True,
                 dtype: DType = "f32") -> None:
        self.weight = Parameter((out_features, in_features), dtype,
                                init="uniform_fan_in")
        self.bias = Parameter((out_features,), dtype) if bias else None

    def forward(self, x: Any) -> Tensor:
        return ops.linear(x, self.weight, self.bias)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        return "%d, %d, bias=%s" % (*reversed(self.weight.shape),
                                    self.bias is not None)


class Dropout(Module):
    """Zeroes elements with probability p and scales the others by 1/(1-p), in training
    steps (Srivastava et al. 2014).

    Philox4x32-10 draws the numbers from the seed, the step and the element. So a replayed
    graph draws new ones. Each use in a step has its own seed.

    Args:
        p: a number in [0, 1). Any other raises ValueError.
    """

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p < 1:
            raise ValueError("p is %r, expected [0, 1)" % (p,))
        self.p = float(p)

    def forward(self, x: Any) -> Tensor:
        if not self.training or self.p == 0:
            return as_tensor(x)
        step, seed = current_trace("Dropout").random_step()
        return ops.dropout(x, step, p=self.p, seed=seed)

    def extra_repr(self) -> str:
        return "p=%g" % self.p


class Flatten(Module):
    """Joins the dimensions `start` to `end` into one. The default joins all but the
    first."""

    def __init__(self, start: int = 1, end: int = -1) -> None:
        self.start, self.end = start, end

    def forward(self, x: Any) -> Tensor:
        return as_tensor(x).flatten(self.start, self.end)

    def extra_repr(self) -> str:
        return "%d, %d" % (self.start, self.end)


class _Pointwise(Module):
    function: Callable[[Any], Tensor]

    def forward(self, x: Any) -> Tensor:
        return type(self).function(x)


class _Activation(_Pointwise):
    """Takes PyTorch's `inplace`, which has no effect: the compiler decides where results
    lie."""

    def __init__(self, inplace: bool = False) -> None:
        if not isinstance(inplace, bool):
            raise TypeError("inplace is %r, expected True or False" % (inplace,))


class ReLU(_Activation):
    """max(x, 0)."""
    function = staticmethod(ops.relu)


class Tanh(_Pointwise):
    """tanh(x)."""
    function = staticmethod(ops.tanh)


class Sigmoid(_Pointwise):
    """1 / (1 + exp(-x))."""
    function = staticmethod(ops.sigmoid)


class SiLU(_Activation):
    """x · sigmoid(x)."""
    function = staticmethod(ops.silu)


class GELU(Module):
    """x · Phi(x), where Phi is the normal distribution function (Hendrycks, Gimpel 2016).

    Args:
        approximate: "none" computes it exactly, "tanh" by PyTorch's approximation.
    """

    def __init__(self, approximate: str = "none") -> None:
        if approximate not in ("none", "tanh"):
            raise ValueError("approximate is %r, expected none or tanh"
                             % (approximate,))
        self.approximate = approximate

    def forward(self, x: Any) -> Tensor:
        return ops.gelu(x, approximate=self.approximate == "tanh")

    def extra_repr(self) -> str:
        return "approximate=%r" % self.approximate


class Softsign(_Pointwise):
    """x / (1 + |x|)."""
    function = staticmethod(ops.softsign)


class Identity(Module):
    """Returns x. It takes any arguments and ignores them, as in PyTorch."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, x: Any) -> Tensor:
        return as_tensor(x)


# These use the classes above.
from . import functional  # noqa: E402, F401
from ._tracing.attention_layers import MultiheadAttention  # noqa: E402
from ._tracing.layers import (  # noqa: E402
    ELU, GLU, BatchNorm1d, Embedding, GroupNorm, Hardsigmoid, Hardswish, Hardtanh,
    LayerNorm, LeakyReLU, LogSigmoid, LogSoftmax, Mish, PReLU, ReLU6, RMSNorm, SELU,
    Softmax, Softplus)


def __getattr__(name: str) -> Any:
    raise missing("aicf.nn", name, sys.modules[__name__])
