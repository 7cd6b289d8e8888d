# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a function to a running step: trace, lower, compile, call.

    trace_step / trace  -> Traced    aicf IR, as the user wrote it
    Traced.lower        -> Lowered   every stage as text, the plan
    Lowered.compile     -> Program   an executor: Entry objects are called
    compile_step, compile            all three at once
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _runtime, _sizes
from ._hints import no_module
from ._signature import (DICT, TENSOR, TENSOR_AND_DICT, TUPLE, Signature, Spec, spec,
                         specs_of)
from ._tracing import EntryTrace, Tensor, attribute_text, location_of
from .errors import (Diagnostic, FailedStateError, InvalidArgumentError, TraceError,
                     near_names, read_diagnostics)
from .nn import Module
from .optim import Optimizer, Schedule
from .program import ACCUMULATE, Entry, Program, open_device

if TYPE_CHECKING:
    from . import _compiler

__all__ = ["Entry", "Lowered", "Program", "Spec", "Traced", "compile", "compile_step",
           "load", "spec", "trace", "trace_step"]

PRECISIONS = ("f32", "tf32", "bf16", "f16")


Outputs = list[tuple[str, Tensor, bool]]  # name, value, whether it is minimized


def _outputs_of(result: Any, is_step: bool) -> tuple[str, Outputs]:
    """The form and the named outputs of what a function returned."""
    if isinstance(result, tuple) and len(result) == 2 \
            and isinstance(result[1], Mapping) and hasattr(result[0], "_tensor"):
        first = "loss" if is_step or not result[0]._tensor().shape else "output"
        if first in result[1]:
            raise TraceError("%r is the name of the first result: the dict behind it "
                             "may not have it too" % first)
        return TENSOR_AND_DICT, [(first, result[0]._tensor(), is_step),
                                 *_named(result[1])]
    if is_step:
        if not hasattr(result, "_tensor"):
            raise TraceError("a loss function returned %r, expected a 0-d tensor, or "
                             "one and a dict of further outputs" % (result,))
        return TENSOR, [("loss", result._tensor(), True)]
    if hasattr(result, "_tensor"):
        return TENSOR, [("output", result._tensor(), False)]
    if isinstance(result, Mapping) and result:
        return DICT, _named(result)
    if isinstance(result, (tuple, list)) and result:
        return TUPLE, [("output%d" % i, _output(value, i), False)
                       for i, value in enumerate(result)]
    raise TraceError("a traced function returned %r, expected a tensor, a tuple or "
                     "dict of tensors, or a tensor and a dict" % (result,))


def _named(outputs: Mapping[Any, Any]) -> Outputs:
    if not all(isinstance(name, str) for name in outputs):
        raise TraceError("a function returned a dict whose keys are not names")
    return [(name, _output(value, name), False) for name, value in outputs.items()]


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
        no_module(model)
    return {id(owner): name for named in (model.named_parameters(),
                                          model.named_buffers(),
                                          model.named_modules())
            for name, owner in named}


class Traced:
    """aicf IR of one entry or more, as the functions were written."""

    def __init__(self) -> None:
        from . import _compiler
        self.module = _compiler.Module()
        self.signatures: dict[str, Signature] = {}
        self._sized = ""  # the entry for another batch size that is being traced
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
                 name: str = "train_step", seed: int = 0, shapes: str = "batch",
                 outputs: Sequence[str] = ()) -> Signature:
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
            if outputs:
                attributes["aicf.outputs"] = attribute_text(_names_text(outputs))
            if self._optimizers:  # of the first, the compiler says the same
                attributes["aicf.step_count"] = attribute_text(
                    '"%sstep"' % prefix)
        signature = self._trace(lambda **given: loss(model, **given), loss, model,
                                inputs, name, True, seed, attributes, is_step=True)
        signature.is_fixed = _is_fixed(shapes)
        signature.trace_again = self._as_now(model, lambda specs, sized: self.add_step(
            model, loss, optimizer, specs, name=sized, seed=seed, outputs=outputs))
        if optimizer is not None:
            signature.accumulate = optimizer.accumulate
            signature.optimizer_prefix = prefix
            if isinstance(optimizer.lr, Schedule):
                rates = optimizer.lr.rates()
                if rates is not None:
                    signature.values[prefix + "lr_table"] = rates
            else:
                signature.values[prefix + "lr"] = float(optimizer.lr)
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
            training: bool = False, seed: int = 0,
            shapes: str = "batch") -> Signature:
        """Traces function(**inputs), which returns a tensor, a tuple or dict of
        tensors, or a tensor and a dict. A Module is a function of its forward's
        arguments; a function that cannot be called with the inputs alone gets the
        model before them, as a step's loss function does."""
        if model is None and isinstance(function, Module):
            model = function
        if hasattr(function, "forward") and not isinstance(function, Module):
            no_module(function)
        if not callable(function):
            raise TypeError("a %s is not a function" % type(function).__name__)
        name = entry_name(function) if name is None else name
        takes_model = _takes_model(function, model, inputs)
        call = (lambda **given: function(model, **given)) if takes_model else function
        signature = self._trace(call, function, model, inputs, name, training, seed,
                                {}, is_step=False, takes_model=takes_model)
        signature.is_fixed = _is_fixed(shapes)
        signature.trace_again = self._as_now(model, lambda specs, sized: self.add(
            function, specs, model=model, name=sized, training=training, seed=seed))
        return signature

    def _trace(self, call: Callable[..., Any], source: Callable[..., Any],
               model: Module | None, inputs: Mapping[str, Any], name: str,
               training: bool, seed: int, attributes: Mapping[str, Any],
               is_step: bool, takes_model: bool = False) -> Signature:
        specs, names = specs_of(inputs), _names_of(model)
        self._check_name(name)
        _check_call(source, specs, is_step or takes_model)
        entry = EntryTrace(self.module, name, names, training, int(seed))
        signature = Signature(name, dict(specs), source=source, model=model,
                              is_training=training)
        try:
            with entry.active():
                tensors = {n: entry.input(n, s.shape, s.dtype)
                           for n, s in specs.items()}
                result = call(**tensors)
                form, outputs = _outputs_of(result, is_step)
                if is_step and outputs[0][1].shape:
                    raise TraceError("the loss is %s, expected a 0-d tensor: take its "
                                     "mean()" % outputs[0][1])
                signature.form = form
                signature.outputs = tuple(n for n, _, _ in outputs)
                signature.resident, signature.layers = entry.resident, entry.layers
                entry.finish(outputs, {**attributes, "aicf.output_form": form})
        except TraceError as error:
            if not error.filename:  # about what the function returned
                raise TraceError(error.message, *location_of(source)) from None
            raise
        if model is not None:
            signature.aliases = model._aliases()
            signature.unused = {
                name for named in (model.named_parameters(), model.named_buffers())
                for name, _ in named if name not in entry.persistent}
        self._add_signature(signature, entry)
        return signature

    def _as_now(self, model: Module | None,
                trace: Callable[[Mapping[str, Spec], str], Signature]
                ) -> Callable[[Mapping[str, Spec], str], Signature]:
        """`trace`, with the model frozen and in the mode that it is in by now: another
        batch size must not train what this one does not."""
        settings = model._settings() if model is not None else None

        def again(specs: Mapping[str, Spec], name: str) -> Signature:
            self._sized = name
            try:
                with settings.restored() if settings else contextlib.nullcontext():
                    return trace(specs, name)
            finally:
                self._sized = ""
        return again

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError("the name of an entry is %r, expected a str" % (name,))
        if name.endswith(ACCUMULATE):
            raise ValueError("an entry may not be called %r: that is how the compiler "
                             "calls one that adds up gradients" % name)
        root, rows = _sizes.split_name(name)
        if rows and name != self._sized:
            raise ValueError("an entry may not be called %r: that is how one of %r "
                             "for batches of %d rows is called" % (name, root, rows))

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
        signature.values.update(entry.hypers)
        signature.nodes = entry.dump()
        self.signatures[signature.name] = signature

    def forget(self, name: str) -> None:
        """Removes an entry, as if it had not been traced."""
        self.module.erase_function(name)
        self.signatures.pop(name, None)
        self._optimizers.pop(name, None)


def _names_text(names: Sequence[str]) -> str:
    """An array of names as MLIR writes it."""
    if isinstance(names, str) or not all(
            isinstance(n, str) and n and n.isprintable() and '"' not in n
            and "\\" not in n for n in names):
        raise TypeError("outputs is %r, expected names such as (\"grad_norm\", "
                        "\"grad:fc.weight\")" % (names,))
    if len(set(names)) != len(names):
        raise ValueError("outputs is %r, which has a name twice" % (names,))
    return "[%s]" % ", ".join('"%s"' % name for name in names)


def entry_name(function: Callable[..., Any]) -> str:
    """Of an entry whose user gave none."""
    name = getattr(function, "__name__", "predict")
    return name if name.isidentifier() else "predict"


def _is_fixed(shapes: str) -> bool:
    if shapes not in ("batch", "fixed"):
        raise ValueError("shapes is %r, expected \"batch\" (another number of rows "
                         "becomes an entry of its own) or \"fixed\"" % (shapes,))
    return shapes == "fixed"


def _takes_model(function: Callable[..., Any], model: Module | None,
                 inputs: Mapping[str, Any]) -> bool:
    """Whether the model comes before the inputs, because it does not go without."""
    if model is None or function is model or not isinstance(inputs, Mapping):
        return False
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    given = dict.fromkeys(name for name in inputs if isinstance(name, str))
    try:
        signature.bind(**given)
        return False
    except TypeError:
        pass
    try:
        signature.bind(model, **given)
    except TypeError:
        return False
    return True


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


#: What an option may be. The compiler's own parser says of a bad value on stderr
#: what it expects; that all options are here is tested.
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
    if name not in _OPTION_VALUES and name not in ("target", "mixed_precision"):
        raise TypeError("there is no option %r%s; options of the compiler are %s" % (
            name, near_names(name, _OPTION_VALUES), ", ".join(_OPTION_VALUES)))
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

    def again(self) -> Lowered:
        """Of what the trace has by now, with the same options."""
        return Lowered(self.traced, self.device, self.precision, self._options)

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
            program._start(signature, program._initial)
        return program


def trace_step(model: Module, loss: Callable[..., Any], optimizer: Optimizer | None,
               inputs: Mapping[str, Any], *, name: str = "train_step",
               seed: int = 0, shapes: str = "batch",
               outputs: Sequence[str] = ()) -> Traced:
    """A training step as IR; see compile_step."""
    traced = Traced()
    traced.add_step(model, loss, optimizer, inputs, name=name, seed=seed,
                    shapes=shapes, outputs=outputs)
    return traced


def trace(function: Callable[..., Any], inputs: Mapping[str, Any], *,
          model: Module | None = None, name: str | None = None,
          training: bool = False, seed: int = 0, shapes: str = "batch") -> Traced:
    """A function as IR; see compile."""
    traced = Traced()
    traced.add(function, inputs, model=model, name=name, training=training, seed=seed,
               shapes=shapes)
    return traced


def compile_step(model: Module, loss: Callable[..., Any], optimizer: Optimizer,
                 inputs: Mapping[str, Any], *,
                 program: Program | Entry | None = None, device: str = "cpu",
                 precision: str = "f32", name: str = "train_step", seed: int = 0,
                 shapes: str = "batch", outputs: Sequence[str] = (),
                 threads: int = 0, tune: str = "off", tuning_file: str = "",
                 **options: Any) -> Entry:
    """A training step: forward, loss, backward, optimizer, as one plan.

    Args:
        model: an aicf.nn.Module.
        loss: called once per batch size, while tracing, as loss(model, **inputs);
            returns a 0-d tensor, or one and a dict of further outputs.
        optimizer: of aicf.optim. Steps of one program with the same optimizer object
            share its learning rate and its count of steps.
        inputs: name: aicf.spec(shape, dtype), (shape, dtype), or an example array.
        program: whose parameters it shares, by name: a program or one of its
            entries. Device, precision and options are the program's then.
        device: "cpu", "cuda" or "cuda:N".
        precision: "f32", "tf32", "bf16" or "f16".
        name: of the entry.
        seed: of initialisers and of dropout.
        shapes: "batch": a call with another number of rows compiles one more entry,
            once; "fixed": it is an error.
        outputs: what the step returns beside the loss, in its dict: "grad_norm", the
            norm of all gradients before clipping, and "grad:fc.weight", the gradient
            of a parameter as the optimizer reads it (before clipping; with
            `accumulate` the sum over the batches, in f16 with the loss scale). A
            step that accumulates returns them with the last batch of an update.
        threads, tune, tuning_file: see Lowered.compile.
        options: of the compiler, see Traced.lower.
    Returns: an Entry: `loss = step(x, y)`.
    Raises: TraceError, CompileError with the user's line; DeviceError.
    """
    if options.get("split_step"):
        raise ValueError("split_step makes two entries of a step: trace_step(...)"
                         ".lower(split_step=True).compile() gives the program with "
                         "them")
    if program is None:
        traced = trace_step(model, loss, optimizer, inputs, name=name, seed=seed,
                            shapes=shapes, outputs=outputs)
        return _start_program(traced, name, device, precision, seed, threads, tune,
                              tuning_file, options)
    owner = _owner_of(program)
    return _entry_of_another_size(owner, loss, model, inputs, name) or owner._extend(
        _traced_of(owner).add_step(model, loss, optimizer, inputs, name=name, seed=seed,
                                   shapes=shapes, outputs=outputs))


def compile(function: Callable[..., Any], inputs: Mapping[str, Any], *,
            program: Program | Entry | None = None, model: Module | None = None,
            name: str | None = None, training: bool = False, device: str = "cpu",
            precision: str = "f32", seed: int = 0, shapes: str = "batch",
            threads: int = 0, tune: str = "off", tuning_file: str = "",
            **options: Any) -> Entry:
    """A function without an update: prediction, evaluation.

    Args:
        function: called once per batch size, while tracing, with the inputs by name;
            an aicf.nn.Module, or a function that uses one (then `model` says which).
            A step's loss function will do: it gets the model before the inputs.
        inputs: as compile_step's.
        program: whose parameters it shares, by name: a program or one of its
            entries. Device, precision and options are the program's then. The same
            function for another batch size needs no other name.
        model: whose parameters the function uses; default: the function itself.
        name: of the entry; default: the function's.
        training: whether dropout drops.
        shapes: as compile_step's.
    Returns: an Entry.
    Raises: as compile_step.
    """
    if program is None:
        traced = trace(function, inputs, model=model, name=name, training=training,
                       seed=seed, shapes=shapes)
        return _start_program(traced, next(iter(traced.signatures)), device,
                              precision, seed, threads, tune, tuning_file, options)
    owner = _owner_of(program)
    shared = _traced_of(owner)
    known = _entry_of_another_size(owner, function, model or function, inputs,
                                   name or entry_name(function))
    return known or owner._extend(
        shared.add(function, inputs, model=model, name=name, training=training,
                   seed=seed, shapes=shapes))


def _owner_of(program: Program | Entry) -> Program:
    owner = program.program if isinstance(program, Entry) else program
    if not isinstance(owner, Program):
        raise TypeError("program is a %s, expected a Program or an Entry"
                        % type(program).__name__)
    return owner


def _traced_of(program: Program) -> Traced:
    if program.lowered is None:
        raise FailedStateError("a program from a plan file takes no further entries: "
                               "its IR is not there")
    return program.lowered.traced


def _entry_of_another_size(program: Program, source: Any, model: Any,
                           inputs: Mapping[str, Any], name: str) -> Entry | None:
    """The entry of the same function for these inputs, if it is there already under
    this name, or can be made of it."""
    entry = program._entries.get(name)
    if entry is None or entry.signature.source != source \
            or (entry.signature.model or source) is not model:
        return None
    specs = specs_of(inputs)
    if specs == entry.signature.specs:
        return entry
    rows = _sizes.other_rows(entry.signature.specs, specs)
    again = entry.signature.trace_again
    if not rows or again is None:
        return None
    return entry._family.by_rows.get(rows) or program._extend(
        again(specs, _sizes.sized_name(name, rows)))


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
    Entries return their outputs as they did when they were compiled; those of a plan
    before version 3.2 as a tuple in the plan's order.
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


