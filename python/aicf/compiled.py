# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a function to a running step: trace, lower, compile, call.

    trace_step / trace  -> Traced    aicf IR, as the user wrote it
    Traced.lower        -> Lowered   every stage as text, the plan
    Lowered.compile     -> Program   an executor: Entry objects are called
    compile_step, compile            all three at once

Entries of one program share parameters, states and hypers by name. An entry that is
added later is compiled with the others into a new plan, which takes over all values.
"""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _runtime
from ._tracing import (DType, EntryTrace, Tensor, attribute_text, check_shape,
                       dtype_name, location_of)
from .errors import (AICFError, Diagnostic, DTypeMismatchError, FailedStateError,
                     InvalidArgumentError, InvalidFileError, NotInitializedError,
                     ShapeMismatchError, TraceError, read_diagnostics)
from .nn import Buffer, Module, Parameter
from .optim import Optimizer

if TYPE_CHECKING:
    from . import _compiler

__all__ = ["Entry", "Lowered", "Program", "Spec", "Traced", "compile", "compile_step",
           "load", "spec", "trace", "trace_step"]

PRECISIONS = ("f32", "tf32", "bf16", "f16")
_ACCUMULATE = _runtime.ACCUMULATE_SUFFIX


@dataclass(frozen=True)
class Spec:
    """Shape and element type of an input."""

    shape: tuple[int, ...]
    dtype: str = "f32"


def spec(shape: Any, dtype: DType = "f32") -> Spec:
    """An input of `shape`. Raises TypeError, ValueError."""
    return Spec(check_shape(shape), dtype_name(dtype))


def _spec_of(value: Any, name: str) -> Spec:
    """A Spec, (shape, dtype), a shape, or an array whose shape and dtype count."""
    if isinstance(value, Spec):
        return value
    try:
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return spec(tuple(value.shape), value.dtype)
        if isinstance(value, (tuple, list)) and len(value) == 2 \
                and isinstance(value[0], (tuple, list)):
            return spec(value[0], value[1])
        return spec(value)
    except (TypeError, ValueError) as error:
        raise type(error)("input %r: %s" % (name, error)) from None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _specs(inputs: Any) -> dict[str, Spec]:
    if not isinstance(inputs, Mapping):
        raise TypeError("inputs is a %s, expected a dict of name: aicf.spec(shape, "
                        "dtype)" % type(inputs).__name__)
    for name in inputs:
        if not isinstance(name, str) or not name or not _is_text(name):
            raise TypeError("the name of an input is %r, expected a str" % (name,))
    return {name: _spec_of(value, name) for name, value in inputs.items()}


@dataclass
class Signature:
    """What Python knows of an entry and the plan does not say."""

    name: str
    inputs: tuple[str, ...] = ()
    #: How outputs are put together: from the list of those that the function has.
    unpack: Callable[[Sequence[Any]], Any] | None = None
    num_outputs: int = 0  # that the function has; the compiler may add some
    is_step: bool = False
    accumulate: int = 1  # 0: it does, and an old plan does not say how many batches
    #: Other names of tied parameters, and parameters that the entry does not use.
    aliases: dict[str, str] = field(default_factory=dict)
    unused: set[str] = field(default_factory=set)
    hypers: dict[str, float] = field(default_factory=dict)
    #: What stands before "lr" and "step" of a step whose optimizer is not the first.
    optimizer_prefix: str = ""
    persistent: dict[str, Parameter | Buffer] = field(default_factory=dict)
    #: The ops that were traced, in the seeds' form.
    nodes: str = ""


def _flatten_outputs(result: Any, first: str) -> tuple[
        list[tuple[str, Tensor]], Callable[[Sequence[Any]], Any] | None]:
    """Named outputs of what a function returned, and the way back."""
    if isinstance(result, Tensor) or hasattr(result, "_tensor"):
        return [(first, result._tensor())], None
    if isinstance(result, Mapping):
        names = list(result)
        if not names or not all(isinstance(name, str) for name in names):
            raise TraceError("a function returned a dict whose keys are not names")
        return ([(n, _output(result[n], n)) for n in names],
                lambda values: dict(zip(names, values)))
    if isinstance(result, (tuple, list)) and result:
        named = [("%s%d" % (first, i), _output(value, i))
                 for i, value in enumerate(result)]
        return named, tuple
    raise TraceError("a traced function returned %r, expected a tensor, or a tuple or "
                     "dict of tensors" % (result,))


def _output(value: Any, which: Any) -> Tensor:
    if not hasattr(value, "_tensor"):
        raise TraceError("output %s of a traced function is %r, expected a tensor"
                         % (which, value))
    tensor: Tensor = value._tensor()
    return tensor


def _names_of(model: Module | None) -> dict[int, str]:
    if model is None:
        return {}
    if not isinstance(model, Module):
        raise TypeError("model is a %s, expected an aicf.nn.Module"
                        % type(model).__name__)
    return {id(owner): name for named in (model.named_parameters(),
                                          model.named_buffers())
            for name, owner in named}


class Traced:
    """aicf IR of one entry or more, as the functions were written."""

    def __init__(self) -> None:
        from . import _compiler
        self.module = _compiler.Module()
        self.signatures: dict[str, Signature] = {}
        #: Of each step, its optimizer; the first step is the module's first.
        self._optimizers: dict[str, Optimizer] = {}

    def as_text(self, locations: bool = False) -> str:
        """The module in MLIR's form, with the user's lines if `locations`."""
        return self.module.text(locations)

    def dump(self) -> str:
        """The ops in trace order, values by label, in the seeds' form."""
        return "\n".join(("// @%s\n" % s.name if len(self.signatures) > 1 else "")
                         + s.nodes for s in self.signatures.values())

    def dump_lowered(self) -> str:
        """The calls that these ops lower to, a line a primitive, in the same form."""
        return self.module.dump_calls()

    def lower(self, device: str = "cpu", precision: str = "f32",
              **options: Any) -> Lowered:
        """Checks, derives, lowers and plans.

        Args:
            device: "cpu" or "cuda".
            precision: "f32", "tf32" (products on tensor cores), "bf16" or "f16"
                (forward and backward in it, f32 masters; f16 with a loss scale).
            options: opt_level (0, 1, 2), streams, split_step, keep ("grad", "all"),
                require_inplace, max_groups, profile (the path of a file).
        Raises: CompileError with the user's line; ValueError, TypeError for options.
        """
        return Lowered(self, device, precision, options)

    # One entry more

    def add_step(self, model: Module, loss: Callable[..., Any],
                 optimizer: Optimizer | None, inputs: Mapping[str, Any], *,
                 name: str = "train_step", seed: int = 0) -> Signature:
        """Traces loss(model, **inputs), which returns the loss, or (loss, dict of
        further outputs).

        Steps with the same optimizer object share its learning rate and its count.
        Those of the first optimizer are called "lr" and "step", those of another
        one "<name>/lr" and "<name>/step", by the first step that uses it."""
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            raise TypeError("optimizer is a %s, expected one of aicf.optim"
                            % type(optimizer).__name__)
        attributes: dict[str, Any] = {}
        owner = self._owner_of(optimizer, name)
        prefix = "" if owner == next(iter(self._optimizers), owner) else owner + "/"
        if optimizer is not None:
            attributes["aicf.optimizer"] = attribute_text(
                optimizer.attribute(prefix + "lr"))
            if self._optimizers:  # of the first, the compiler says the same
                attributes["aicf.step_count"] = attribute_text(
                    '"%sstep"' % prefix)
        signature = self._trace(lambda **given: loss(model, **given), loss, model,
                                inputs, name, True, seed, attributes, is_step=True)
        if optimizer is not None:
            signature.accumulate = optimizer.accumulate
            signature.optimizer_prefix = prefix
            if isinstance(optimizer.lr, (int, float)):
                signature.hypers[prefix + "lr"] = float(optimizer.lr)
            self._optimizers[name] = optimizer
        return signature

    def _owner_of(self, optimizer: Optimizer | None, name: str) -> str:
        """The first step with this very optimizer object."""
        for owner, known in self._optimizers.items():
            if known is optimizer:
                return owner
        return name

    def add(self, function: Callable[..., Any], inputs: Mapping[str, Any], *,
            model: Module | None = None, name: str | None = None,
            training: bool = False, seed: int = 0) -> Signature:
        """Traces function(**inputs), which returns a tensor, or a tuple or dict of
        tensors. A Module is a function of its forward's arguments."""
        if model is None and isinstance(function, Module):
            model = function
        if not callable(function):
            raise TypeError("a %s is no function" % type(function).__name__)
        if name is None:
            name = getattr(function, "__name__", "predict")
            name = name if name.isidentifier() else "predict"
        return self._trace(function, function, model, inputs, name, training, seed,
                           {}, is_step=False)

    def _trace(self, call: Callable[..., Any], source: Callable[..., Any],
               model: Module | None, inputs: Mapping[str, Any], name: str,
               training: bool, seed: int, attributes: Mapping[str, Any],
               is_step: bool) -> Signature:
        specs, names = _specs(inputs), _names_of(model)
        if not isinstance(name, str) or not name:
            raise TypeError("the name of an entry is %r, expected a str" % (name,))
        if name.endswith(_ACCUMULATE):
            raise ValueError("an entry may not be called %r: that is how the compiler "
                             "calls one that adds up gradients" % name)
        _check_call(source, specs, is_step)
        entry = EntryTrace(self.module, name, names, training, int(seed))
        signature = Signature(name, tuple(specs))
        try:
            with entry.active():
                tensors = {n: entry.input(n, s.shape, s.dtype)
                           for n, s in specs.items()}
                result = call(**tensors)
                outputs = _step_outputs(result, signature) if is_step \
                    else _plain_outputs(result, signature)
                signature.num_outputs, signature.is_step = len(outputs), is_step
                entry.finish(outputs, attributes)
        except TraceError as error:
            if not error.filename:  # about what the function returned
                raise TraceError(error.message, *location_of(source)) from None
            raise
        if model is not None:
            signature.aliases = model._aliases()
            signature.unused = {name for name in names.values()
                                if name not in entry.persistent}
        self._add_signature(signature, entry)
        return signature

    def _add_signature(self, signature: Signature, entry: EntryTrace) -> None:
        for other in self.signatures.values():
            for name, owner in entry.persistent.items():
                known = other.persistent.get(name)
                if owner.name and known is not None and known is not owner:
                    self.module.erase_function(signature.name)
                    raise TraceError("%s and %s have two different tensors of the name "
                                     "%r: name= gives one another"
                                     % (other.name, signature.name, name))
        signature.persistent = entry.persistent
        signature.hypers.update(entry.hypers)
        signature.nodes = entry.dump()
        self.signatures[signature.name] = signature

    def forget(self, name: str) -> None:
        """Removes an entry, as if it had not been traced."""
        self.module.erase_function(name)
        self.signatures.pop(name, None)
        self._optimizers.pop(name, None)


def _check_call(function: Callable[..., Any], specs: Mapping[str, Spec],
                is_step: bool) -> None:
    """A function that cannot be called with these inputs is refused by its own
    signature, before anything is traced."""
    target = function.forward if isinstance(function, Module) else function
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*([None] if is_step else []), **dict.fromkeys(specs))
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError("%s%s cannot be called with %sthe inputs %s: %s" % (
            name, signature, "the model and " if is_step else "",
            ", ".join(specs) or "(none)", error)) from None


def _step_outputs(result: Any,
                  signature: Signature) -> list[tuple[str, Tensor, bool]]:
    more: Mapping[str, Any] = {}
    if isinstance(result, tuple) and len(result) == 2 \
            and isinstance(result[1], Mapping):
        result, more = result
    if not hasattr(result, "_tensor"):
        raise TraceError("a loss function returned %r, expected a 0-d tensor, or one "
                         "and a dict of further outputs" % (result,))
    loss: Tensor = result._tensor()
    if loss.shape:
        raise TraceError("the loss is %s, expected a 0-d tensor: take its mean()"
                         % loss)
    names = list(more)
    outputs = [("loss", loss, True)]
    outputs += [(name, _output(value, name), False) for name, value in more.items()]
    if names:
        signature.unpack = lambda values: (values[0], dict(zip(names, values[1:])))
    return outputs


def _plain_outputs(result: Any,
                   signature: Signature) -> list[tuple[str, Tensor, bool]]:
    outputs, signature.unpack = _flatten_outputs(result, "output")
    return [(name, value, False) for name, value in outputs]


#: What an option may be. The compiler's own parser says of a bad value on stderr
#: what it expects; a name that is not here is the compiler's to refuse.
_OPTION_VALUES: dict[str, tuple[Any, ...] | type] = {
    "opt_level": (0, 1, 2), "keep": ("none", "grad", "all"), "streams": int,
    "max_groups": int, "split_step": bool, "require_inplace": bool, "profile": str,
}


def _check_option(name: str, value: Any) -> None:
    legal = _OPTION_VALUES.get(name)
    if isinstance(legal, tuple):
        if isinstance(value, bool) or value not in legal:
            raise ValueError("option %s is %r, expected one of %s" % (
                name, value, ", ".join(map(repr, legal))))
    elif legal is not None and (not isinstance(value, legal)
                                or isinstance(value, bool) and legal is int):
        raise TypeError("option %s is %r, expected %s" % (name, value, {
            int: "an int", bool: "True or False", str: "a str"}[legal]))


def _option_text(name: str, value: Any) -> str:
    _check_option(name, value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text or any(c.isspace() or c in "{}'\"" for c in text):
        raise ValueError("option %s is %r, expected a text without blanks, quotes and "
                         "braces" % (name, value))
    return "%s=%s" % (name.replace("_", "-"), text)


class Lowered:
    """A traced module, compiled for a device."""

    def __init__(self, traced: Traced, device: str, precision: str,
                 options: Mapping[str, Any]) -> None:
        kind = device.partition(":")[0] if isinstance(device, str) else ""
        if kind not in ("cpu", "cuda"):
            raise ValueError("device is %r, expected \"cpu\", \"cuda\" or \"cuda:N\""
                             % (device,))
        if precision not in PRECISIONS:
            raise ValueError("precision is %r, expected one of %s"
                             % (precision, ", ".join(PRECISIONS)))
        self.traced, self.device, self.precision = traced, device, precision
        self._options = dict(options)
        given = {"target": kind, "streams": 2 if kind == "cuda" else 1, **options}
        if precision in ("bf16", "f16"):
            given["mixed_precision"] = precision
        self._text = " ".join(_option_text(n, v) for n, v in given.items())
        self._math = "tf32" if precision == "tf32" else ""
        module, notes = traced.module.lower(self._text, "plan", self._math)
        self._module: _compiler.Module = module
        #: What the compiler warned of.
        self.diagnostics: list[Diagnostic] = read_diagnostics(notes)
        self._plan: _runtime.Plan | None = None

    @property
    def plan(self) -> _runtime.Plan:
        """The verified plan."""
        if self._plan is None:
            self._plan = _runtime.Plan.parse(self._module.plan())
        return self._plan

    def as_text(self, stage: str = "plan") -> str:
        """The module after a phase: "aicf" (the whole step: gradients, updates),
        "aicf_rt" (its calls on tensors) or "plan" (calls on buffers)."""
        if stage == "plan":
            return self._module.text(False)
        if stage not in ("aicf", "aicf_rt"):
            raise ValueError("stage is %r, expected aicf, aicf_rt or plan" % (stage,))
        return self.traced.module.lower(self._text, stage, self._math)[0].text(False)

    def dump(self) -> str:
        """The calls, a line a primitive, with the labels of their values."""
        return self._module.dump_calls()

    def report(self) -> list[Diagnostic]:
        """What was fused, copied and chosen, and why; compiles once more."""
        notes = self.traced.module.lower(self._text, "plan", self._math,
                                         remarks=True)[1]
        return read_diagnostics(notes)

    def compile(self, *, seed: int = 0, threads: int = 0, tune: str = "off",
                tuning_file: str = "") -> Program:
        """A program on the device.

        Args:
            seed: of the initialisers.
            threads: of the CPU device; 0: all cores.
            tune, tuning_file: how CUDA's library algorithms are chosen.
        Raises: DeviceError, NotImplementedError (no GPU, no CUDA device).
        """
        device = open_device(self.device, threads=threads, tune=tune,
                             tuning_file=tuning_file)
        program = Program(self.plan, device, seed=seed, lowered=self)
        for signature in self.traced.signatures.values():
            program._start(program.executor, signature, program._initial)
        return program


_devices: dict[tuple[Any, ...], _runtime.Device] = {}


def open_device(name: str = "cpu", *, threads: int = 0, tune: str = "off",
                tuning_file: str = "") -> _runtime.Device:
    """"cpu", "cuda" or "cuda:N"; the same object for the same arguments."""
    if isinstance(threads, bool) or not isinstance(threads, int) \
            or not 0 <= threads < 2**31:
        raise InvalidArgumentError("threads is %r, expected an int from 0 (all cores) "
                                   "to 2^31 - 1" % (threads,))
    kind, _, number = str(name).partition(":")
    key = (kind, number or "0" if kind == "cuda" else number, threads, tune,
           tuning_file, os.getpid())
    if key in _devices:
        return _devices[key]
    if kind == "cpu" and not number:
        device = _runtime.Device.cpu(threads)
    elif kind == "cuda" and (not number or number.isdecimal()):
        from ._cuda import find_libraries
        find_libraries()
        device = _runtime.Device.cuda(int(number or 0), tune, tuning_file)
    else:
        raise InvalidArgumentError("device is %r, expected \"cpu\", \"cuda\" or "
                                   "\"cuda:N\"" % (name,))
    return _devices.setdefault(key, device)


_programs: weakref.WeakSet[Program] = weakref.WeakSet()


def _after_fork() -> None:
    """In a child every entry asks again whether it may run."""
    for program in list(_programs):
        for entry in program._entries.values():
            entry._runners = ()


os.register_at_fork(after_in_child=_after_fork)


class Program:
    """A plan on a device: its entries, and the values that they share.

    One thread at a time uses a program: a call while another thread is in one raises
    FailedStateError. Programs are independent of each other.
    """

    def __init__(self, plan: _runtime.Plan, device: _runtime.Device, *, seed: int = 0,
                 lowered: Lowered | None = None) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) \
                or not 0 <= seed < 2**64:
            raise ValueError("seed is %r, expected an int from 0 to 2^64 - 1"
                             % (seed,))
        self.device, self.seed, self.lowered = device, seed, lowered
        self._pid = os.getpid()
        self._entries: dict[str, Entry] = {}
        self._bound: dict[str, Any] = {}
        self._initial: dict[str, Any] = {}  # of what starts as an array
        self._set_plan(plan, _runtime.Executor.create(plan, device, seed=seed))
        _programs.add(self)

    def _set_plan(self, plan: _runtime.Plan, executor: _runtime.Executor) -> None:
        self.plan, self.executor = plan, executor
        signatures = self.lowered.traced.signatures if self.lowered else {}
        names = {t["name"] for t in plan.persistent()}
        for name in plan.entries:
            if name.endswith(_ACCUMULATE):
                continue
            own = name + "/"  # what an optimizer that is not the first one has
            signature = signatures.get(name) or Signature(
                name, tuple(t["name"] for t in plan.io(name) if t["role"] == "input"),
                accumulate=plan.batches_per_update(name),
                optimizer_prefix=own if {own + "lr", own + "step"} & names else "")
            entry = self._entries.get(name)
            if entry is None:
                self._entries[name] = Entry(self, signature)
            else:
                entry._runners = ()

    def _start(self, executor: _runtime.Executor, signature: Signature,
               already: Collection[str] = ()) -> None:
        """Writes values that an entry brings: hypers, and arrays of parameters; not
        those that are there `already`."""
        roles = {t["name"]: t["role"] for t in executor.plan.persistent()}
        for name, value in signature.hypers.items():
            if name in roles and name not in already:
                executor.write(name, value)
        for name, owner in signature.persistent.items():
            if owner.value is not None and name in roles and name not in already:
                executor.write(name, owner.value)
                self._initial[name] = executor.read(name)

    # Entries

    @property
    def entries(self) -> dict[str, Entry]:
        return dict(self._entries)

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            raise KeyError("no entry %r; the program has %s"
                           % (name, ", ".join(self._entries)))
        return self._entries[name]

    def _extend(self, traced: Traced, signature: Signature) -> Entry:
        """The program with the entry that was just traced: all of it, or nothing."""
        assert self.lowered is not None
        before = dict(self._initial)
        try:
            lowered = Lowered(traced, self.lowered.device, self.lowered.precision,
                              self.lowered._options)
            executor = _runtime.Executor.create(lowered.plan, self.device,
                                                seed=self.seed)
            for name, array in self._bound.items():
                executor.bind(name, array)
            for name, value in self._values().items():
                executor.write(name, value)
            self._start(executor, signature,
                        {t["name"] for t in self.plan.persistent()})
            executor.prepare()
        except BaseException:
            self._initial = before
            traced.forget(signature.name)
            raise
        self.lowered = lowered
        self._set_plan(lowered.plan, executor)
        return self._entries[signature.name]

    def _values(self) -> dict[str, Any]:
        """Every param, state, hyper and input that has a value of its own, not a
        caller's array's."""
        names = [t["name"] for t in self.plan.persistent() if not t["derived"]]
        names += ["%s/%s" % (entry, t["name"]) for entry in self.plan.entries
                  for t in self.plan.io(entry) if t["role"] == "input"]
        values = {}
        for name in names:
            if name not in self._bound:
                try:
                    values[name] = self.executor.read(name)
                except NotInitializedError:
                    continue
        return values

    # Values

    def _tensors(self, *roles: str) -> list[str]:
        return [t["name"] for t in self.plan.persistent()
                if t["role"] in roles and not t["derived"]]

    def _model_names(self) -> list[str]:
        """Parameters and buffers; of a loaded plan parameters alone."""
        owners: set[str] = set()
        for signature in self.lowered.traced.signatures.values() \
                if self.lowered else ():
            owners.update(signature.persistent)
        return [t["name"] for t in self.plan.persistent()
                if t["role"] == "param" or (t["role"] == "state" and not t["derived"]
                                            and t["name"] in owners)]

    def state_dict(self, optimizer: bool = False) -> dict[str, Any]:
        """Parameters and buffers as NumPy arrays, by PyTorch's names; with
        `optimizer` also moments, counts and the loss scale: all that a checkpoint
        has. Of a program from a plan file, buffers count as the optimizer's."""
        if optimizer:
            self._check_whole_updates()
        names = self._tensors("param", "state") if optimizer else self._model_names()
        return {name: self.executor.read(name).numpy() for name in names}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Writes what state_dict() gave, or PyTorch's. Nothing is written when
        anything is wrong.

        Args:
            state: arrays by name; a tied parameter under any of its names.
            strict: every parameter and buffer that the program uses is there, and no
                name is unknown to it and to its model; False: others are left out.
        Raises: KeyError (names), ShapeMismatchError, DTypeMismatchError.
        """
        if not isinstance(state, Mapping):
            raise TypeError("state is a %s, expected a dict of arrays by name"
                            % type(state).__name__)
        values, unknown = self._by_own_name(state)
        missing = [name for name in self._model_names() if name not in values]
        if strict and (unknown or missing):
            raise KeyError("; ".join(
                "%s: %s" % (what, ", ".join(map(str, names))) for what, names in (
                    ("the program does not have", unknown), ("missing", missing))
                if names))
        host = _runtime.Device.cpu(1)
        for name, value in values.items():  # all checked before any is written
            tensor = self.executor.find(name)
            try:
                array = value if isinstance(value, _runtime.Array) \
                    else _runtime.array(value, host)
            except AICFError as error:
                raise type(error)("\"%s\": %s" % (name, error)) from None
            if array.dtype != tensor["dtype"]:
                raise DTypeMismatchError("\"%s\" is %s, expected %s" % (
                    name, array.dtype, tensor["dtype"]))
            if array.shape != tensor["shape"]:
                raise ShapeMismatchError("\"%s\" has shape %s, expected %s" % (
                    name, array.shape, tensor["shape"]))
        for name, value in values.items():
            self.executor.write(name, value)

    def _by_own_name(self, state: Mapping[str, Any]) -> tuple[dict[str, Any],
                                                              list[str]]:
        """Values by the program's names, and the names that nobody knows."""
        aliases: dict[str, str] = {}
        unused: set[str] = set()
        for signature in self.lowered.traced.signatures.values() \
                if self.lowered else ():
            aliases.update(signature.aliases)
            unused |= signature.unused
        known = set(self._tensors("param", "state"))
        values: dict[str, Any] = {}
        unknown = []
        for name, value in state.items():
            own = aliases.get(name, name)
            if own in known:
                if own == name or own not in state:
                    values[own] = value
            elif own not in unused:
                unknown.append(name)
        return values, unknown

    def save_weights(self, path: str | os.PathLike[str],
                     optimizer: bool = False) -> None:
        """state_dict() as a safetensors file, which PyTorch reads too."""
        from safetensors.numpy import save_file
        save_file(self.state_dict(optimizer), os.fspath(path))

    def load_weights(self, path: str | os.PathLike[str], strict: bool = True) -> None:
        """load_state_dict() of a safetensors file. Raises InvalidFileError."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
        try:
            state = load_file(os.fspath(path))
        except SafetensorError as error:
            raise InvalidFileError(
                "%r is no safetensors file (%s); PyTorch writes one by "
                "safetensors.torch.save_file(model.state_dict(), path)"
                % (os.fspath(path), error)) from None
        self.load_state_dict(state, strict)

    def save_checkpoint(self, directory: str | os.PathLike[str]) -> None:
        """Params and states to DIR/state.safetensors, which aicf-run --resume reads;
        an older file stays whole until the new one is complete. Raises
        FailedStateError between the batches of an update: a checkpoint does not say
        how many are in."""
        self._check_whole_updates()
        self.executor.save_checkpoint(os.fspath(directory))

    def load_checkpoint(self, directory: str | os.PathLike[str]) -> None:
        """Reads one back, or aicf-run --save-checkpoint's; nothing is written when
        anything is wrong. Raises InvalidFileError, DeviceError."""
        self.executor.load_checkpoint(os.fspath(directory))
        for entry in self._entries.values():
            entry._batch = 0

    def _check_whole_updates(self) -> None:
        for entry in self._entries.values():
            if entry._batch:
                raise FailedStateError(
                    "%r is in the middle of an update: %d of %d batches are in" % (
                        entry.name, entry._batch, entry.signature.accumulate))

    def set(self, name: str, value: Any) -> None:
        """Writes a hyper, a parameter or a state."""
        self.executor.write(name, value)

    def get(self, name: str) -> _runtime.Array:
        """A copy of a tensor's value. Raises NotInitializedError."""
        return self.executor.read(name)

    def bind(self, name: str, array: Any) -> None:
        """Has a tensor live in the caller's array on the device, from now on; an
        input as "entry/name"."""
        head, _, tail = name.rpartition("/")
        if head in self._entries and tail in self._entries[head].signature.inputs:
            return self._entries[head].bind(**{tail: array})
        try:
            role = self.executor.find(name)["role"]
        except InvalidArgumentError:
            role = ""
        if role not in ("param", "state", "hyper"):
            raise InvalidArgumentError("\"%s\" is no param, state or hyper" % name)
        self.executor.bind(name, array)
        self._bound[name] = array

    def reset(self) -> None:
        """Parameters and states back to the values that they started with."""
        self.executor.reset_state()
        for name, value in self._initial.items():
            if name not in self._bound:
                self.executor.write(name, value)
        for entry in self._entries.values():
            entry._batch = 0

    # What it is

    def save(self, path: str | os.PathLike[str]) -> None:
        """The plan as a file, for aicf.load, aicf-run and C++; without values."""
        data = self.plan.serialize()
        target = os.fspath(path)
        part = "%s.part%d" % (target, os.getpid())
        try:
            with open(part, "wb") as file:
                file.write(data)
            os.replace(part, target)  # an older plan stays whole until then
        finally:
            if os.path.exists(part):
                os.remove(part)

    def as_text(self, stage: str = "plan") -> str:
        """Lowered.as_text; of a loaded plan its tables."""
        return self.lowered.as_text(stage) if self.lowered else self.plan.dump()

    def memory_analysis(self) -> dict[str, Any]:
        """Bytes on the device: persistent_bytes, and of each entry io_bytes,
        temp_bytes and temp_lower_bound_bytes (the most that live at once)."""
        return dict(self.plan.memory())

    def cost_analysis(self, entry: str | None = None) -> dict[str, Any]:
        """flops, bytes (read and written by calls) and calls of one run, in all and
        by call. A product counts 2·M·N·K, other primitives one an element."""
        calls = [c for c in self.plan.costs() if entry is None or c["entry"] == entry]
        return {"flops": sum(c["flops"] for c in calls),
                "bytes": sum(c["bytes"] for c in calls),
                "calls": len(calls), "by_call": calls}

    def sync(self) -> None:
        """Waits for everything; device errors surface here."""
        self.executor.sync()

    def _check_process(self) -> None:
        if os.getpid() != self._pid and self.device.kind != "cpu":
            raise FailedStateError("this program was made before a fork: a GPU does "
                                   "not survive one, compile in the child")

    def __reduce__(self) -> Any:
        raise TypeError("a program cannot be pickled: save() its plan and "
                        "save_checkpoint() its values")

    def __repr__(self) -> str:
        return "aicf.Program(%s on %s)" % (", ".join(self._entries), self.device.name)


class Entry:
    """One entry of a program: call it with its inputs.

    Attributes:
        program: what it shares values through.
        signature: its name and inputs.
    """

    def __init__(self, program: Program, signature: Signature) -> None:
        self.program, self.signature = program, signature
        self._runners: tuple[Any, ...] = ()
        self._is_packed = True  # the runner's outputs are not what a call returns
        self._batch = 0  # of an update

    @property
    def name(self) -> str:
        return self.signature.name

    def _prepare(self) -> tuple[Any, ...]:
        program = self.program
        program._check_process()
        names = [self.name]
        if self.name + _ACCUMULATE in program.plan.entries:
            if self.signature.accumulate < 2:
                raise FailedStateError(
                    "%r accumulates gradients, and a plan before version 3.1 does not "
                    "say over how many batches: aicf.load(path, accumulate={%r: K})"
                    % (self.name, self.name))
            names.append(self.name + _ACCUMULATE)
        self._runners = tuple(_runtime.Runner(program.executor, n) for n in names)
        self._is_packed = self.signature.unpack is not None or \
            self.signature.num_outputs not in (0, len(self._runners[0].outputs))
        order = tuple(self._runners[0].inputs)
        for name, array in program._bound.items():
            head, _, tail = name.partition("/")
            if head == self.name and tail in order:
                for runner in self._runners:
                    runner.bind(tail, array)
        return self._runners

    def _next(self) -> Any:
        """The runner of this call: all but the last batch of an update only add."""
        runners = self._runners or self._prepare()
        if len(runners) == 1:
            return runners[0]
        return runners[0 if self._batch == self.signature.accumulate - 1 else 1]

    def _unpack(self, values: Any) -> Any:
        given = values if isinstance(values, tuple) else (values,)
        signature, count = self.signature, self.signature.num_outputs
        if not count:  # of a plan file
            return values
        own = given[:count]
        result = own[0] if signature.unpack is None else signature.unpack(own)
        if len(given) == count:
            return result
        # What keep="grad" and the like have added.
        more = dict(zip(self._runners[0].outputs[count:], given[count:]))
        if signature.is_step and isinstance(result, tuple):
            return result[0], {**result[1], **more}
        return result, more

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the entry once. Inputs by position or name: NumPy, PyTorch, JAX, CuPy
        arrays of exactly the shape and dtype, copied; numbers for 0-d ones. Without
        any, with those that were written or bound. Returns after enqueue.

        Returns: the loss, or what the function returned, as aicf.Array; a step with
            further outputs (loss, dict).
        Raises: InvalidArgumentError (missing, extra, device, layout),
            ShapeMismatchError, DTypeMismatchError, FailedStateError (another
            thread), DeviceError. Nothing ran then.
        """
        runners = self._runners
        if len(runners) == 1:
            values = runners[0](*args, **kwargs)
        else:
            values = self._next()(*args, **kwargs)
            self._count()
        return self._unpack(values) if self._is_packed else values

    def _count(self) -> None:
        if len(self._runners) > 1:
            self._batch = (self._batch + 1) % self.signature.accumulate

    def run(self, n: int = 1, *, steps_per_launch: int = 1) -> Any:
        """`n` calls with the inputs that are written or bound, `steps_per_launch`
        of them one graph launch. Ctrl-C ends it after a step.

        Returns: what the last call gives.
        """
        for name, value, bits in (("n", n, 64),
                                  ("steps_per_launch", steps_per_launch, 32)):
            if isinstance(value, bool) or not isinstance(value, int) \
                    or not 1 <= value < 2**bits:
                raise InvalidArgumentError("%s is %r, expected an int from 1 to "
                                           "2^%d - 1" % (name, value, bits))
        self._next()
        if len(self._runners) == 1:
            return self._unpack(self._runners[0].run(n, steps_per_launch))
        if steps_per_launch > 1:
            raise InvalidArgumentError("a step that accumulates takes one step a "
                                       "launch: its batches are not all alike")
        for _ in range(n):
            values = self._next()()
            self._count()
        return self._unpack(values)

    def write(self, **inputs: Any) -> None:
        """Writes inputs, for run() and calls without arguments."""
        for name in inputs:
            self._check_input(name)
        for entry in self._entry_names():
            for name, value in inputs.items():
                self.program.executor.write("%s/%s" % (entry, name), value)

    def bind(self, **inputs: Any) -> None:
        """Uses the memory of arrays on the device for inputs, without a copy, until
        others are bound; the arrays are kept alive. Graphs are captured anew."""
        for name in inputs:
            self._check_input(name)
        self._runners or self._prepare()
        for name, array in inputs.items():
            for runner in self._runners:
                runner.bind(name, array)
            for entry in self._entry_names():
                self.program._bound["%s/%s" % (entry, name)] = array

    def _entry_names(self) -> list[str]:
        self._runners or self._prepare()
        return [self.name, self.name + _ACCUMULATE][:len(self._runners)]

    def _check_input(self, name: str) -> None:
        if name not in self.signature.inputs:
            raise InvalidArgumentError("there is no input \"%s\"; the inputs are %s"
                                       % (name, ", ".join(self.signature.inputs)
                                          or "none"))

    # The program's, for those who have one entry

    def state_dict(self, optimizer: bool = False) -> dict[str, Any]:
        """Program.state_dict."""
        return self.program.state_dict(optimizer)

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Program.load_state_dict."""
        self.program.load_state_dict(state, strict)

    def save_weights(self, path: str | os.PathLike[str],
                     optimizer: bool = False) -> None:
        """Program.save_weights."""
        self.program.save_weights(path, optimizer)

    def load_weights(self, path: str | os.PathLike[str], strict: bool = True) -> None:
        """Program.load_weights."""
        self.program.load_weights(path, strict)

    def save_checkpoint(self, directory: str | os.PathLike[str]) -> None:
        """Program.save_checkpoint."""
        self.program.save_checkpoint(directory)

    def load_checkpoint(self, directory: str | os.PathLike[str]) -> None:
        """Program.load_checkpoint."""
        self.program.load_checkpoint(directory)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Program.save."""
        self.program.save(path)

    def _own(self, name: str) -> str:
        """"lr" and "step" are those of this entry's optimizer."""
        prefix = self.signature.optimizer_prefix
        return prefix + name if name in ("lr", "step") else name

    def set(self, name: str, value: Any) -> None:
        """Program.set; "lr" is the learning rate of this entry's optimizer."""
        self.program.set(self._own(name), value)

    def get(self, name: str) -> _runtime.Array:
        """Program.get; "lr" and "step" are those of this entry's optimizer."""
        return self.program.get(self._own(name))

    def sync(self) -> None:
        """Program.sync."""
        self.program.sync()

    def as_text(self, stage: str = "plan") -> str:
        """Program.as_text."""
        return self.program.as_text(stage)

    def memory_analysis(self) -> dict[str, Any]:
        """Program.memory_analysis."""
        return self.program.memory_analysis()

    def cost_analysis(self) -> dict[str, Any]:
        """Program.cost_analysis of this entry."""
        return self.program.cost_analysis(self.name)

    def __reduce__(self) -> Any:
        raise TypeError("an entry cannot be pickled: save() its plan and "
                        "save_checkpoint() its values")

    def __repr__(self) -> str:
        return "aicf.Entry(%s(%s) on %s)" % (
            self.name, ", ".join(self.signature.inputs), self.program.device.name)


def trace_step(model: Module, loss: Callable[..., Any], optimizer: Optimizer | None,
               inputs: Mapping[str, Any], *, name: str = "train_step",
               seed: int = 0) -> Traced:
    """A training step as IR; see compile_step."""
    traced = Traced()
    traced.add_step(model, loss, optimizer, inputs, name=name, seed=seed)
    return traced


def trace(function: Callable[..., Any], inputs: Mapping[str, Any], *,
          model: Module | None = None, name: str | None = None,
          training: bool = False, seed: int = 0) -> Traced:
    """A function as IR; see compile."""
    traced = Traced()
    traced.add(function, inputs, model=model, name=name, training=training, seed=seed)
    return traced


def compile_step(model: Module, loss: Callable[..., Any], optimizer: Optimizer,
                 inputs: Mapping[str, Any], *, device: str = "cpu",
                 precision: str = "f32", name: str = "train_step", seed: int = 0,
                 threads: int = 0, tune: str = "off", tuning_file: str = "",
                 **options: Any) -> Entry:
    """A training step: forward, loss, backward, optimizer, as one plan.

    Args:
        model: an aicf.nn.Module.
        loss: called once, while tracing, as loss(model, **inputs); returns a 0-d
            tensor, or one and a dict of further outputs.
        optimizer: of aicf.optim.
        inputs: name: aicf.spec(shape, dtype), (shape, dtype), or an example array.
        device: "cpu", "cuda" or "cuda:N".
        precision: "f32", "tf32", "bf16" or "f16".
        name: of the entry.
        seed: of initialisers and of dropout.
        threads, tune, tuning_file: see Lowered.compile.
        options: of the compiler, see Traced.lower.
    Returns: an Entry: `loss = step(x, y)`.
    Raises: TraceError, CompileError with the user's line; DeviceError.
    """
    if options.get("split_step"):
        raise ValueError("split_step makes two entries of a step: trace_step(...)"
                         ".lower(split_step=True).compile() gives the program with "
                         "them")
    traced = trace_step(model, loss, optimizer, inputs, name=name, seed=seed)
    return _start_program(traced, name, device, precision, seed, threads, tune,
                          tuning_file, options)


def compile(function: Callable[..., Any], inputs: Mapping[str, Any], *,
            program: Program | Entry | None = None, model: Module | None = None,
            name: str | None = None, training: bool = False, device: str = "cpu",
            precision: str = "f32", seed: int = 0, threads: int = 0,
            tune: str = "off", tuning_file: str = "", **options: Any) -> Entry:
    """A function without an update: prediction, evaluation.

    Args:
        function: called once, while tracing, with the inputs by name; an
            aicf.nn.Module, or a function that uses one (then `model` says which).
        inputs: as compile_step's.
        program: whose parameters it shares, by name: a program or one of its
            entries. Device, precision and options are the program's then.
        model: whose parameters the function uses; default: the function itself.
        name: of the entry; default: the function's.
        training: whether dropout drops.
    Returns: an Entry.
    Raises: as compile_step.
    """
    if program is None:
        traced = trace(function, inputs, model=model, name=name, training=training,
                       seed=seed)
        return _start_program(traced, next(iter(traced.signatures)), device,
                              precision, seed, threads, tune, tuning_file, options)
    owner = program.program if isinstance(program, Entry) else program
    if not isinstance(owner, Program):
        raise TypeError("program is a %s, expected a Program or an Entry"
                        % type(program).__name__)
    if owner.lowered is None:
        raise FailedStateError("a program from a plan file takes no further entries: "
                               "its IR is not there")
    shared = owner.lowered.traced
    signature = shared.add(function, inputs, model=model, name=name,
                           training=training, seed=seed)
    return owner._extend(shared, signature)


def _start_program(traced: Traced, name: str, device: str, precision: str, seed: int,
                   threads: int, tune: str, tuning_file: str,
                   options: Mapping[str, Any]) -> Entry:
    lowered = traced.lower(device, precision, **options)
    program = lowered.compile(seed=seed, threads=threads, tune=tune,
                              tuning_file=tuning_file)
    return program[name]


def load(path: str | os.PathLike[str], *, device: str | None = None, seed: int = 0,
         threads: int = 0, tune: str = "off", tuning_file: str = "",
         accumulate: Mapping[str, int] | None = None) -> Program:
    """A plan file as a program, without the compiler.

    Args:
        path: of a plan that save() or aicf-compile wrote; verified.
        device: default: the plan's.
        seed: of the initialisers.
        accumulate: of an entry that accumulates gradients, over how many batches;
            for plans before version 3.1, which do not say.
    Entries return their outputs in the plan's order, as a tuple if there are several.
    Raises: InvalidPlanError, DeviceError.
    """
    plan = _runtime.Plan.load(os.fspath(path))
    program = Program(plan, open_device(device or plan.device, threads=threads,
                                        tune=tune, tuning_file=tuning_file),
                      seed=seed)
    for name, count in (accumulate or {}).items():
        if isinstance(count, bool) or not isinstance(count, int) \
                or not 2 <= count < 2**31:
            raise InvalidArgumentError("accumulate[%r] is %r, expected an int from 2 "
                                       "to 2^31 - 1" % (name, count))
        program[name].signature.accumulate = plan.batches_per_update(name, count)
    return program


