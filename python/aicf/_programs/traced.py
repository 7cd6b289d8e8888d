# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced holds functions as aicf IR, as the user wrote them. Nothing is compiled here."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import sizes as _sizes
from .._base.hints import no_module
from .._tracing.returned import PRINT
from .._tracing.tensor import Tensor
from .._tracing.trace import (EntryTrace, Operand, TraceAgain, as_tensor, attribute_text,
                              location_of)
from ..errors import TraceError, near_names
from ..nn import Module, aliases_of, settings_of
from ..optim import Custom, Optimizer, Schedule
from .entry import ACCUMULATE
from .further import entry_name
from .signature import DICT, TENSOR, TENSOR_AND_DICT, TUPLE, Signature, Spec, specs_of

if TYPE_CHECKING:
    from .lowered import Lowered

#: Before the path of a module in `outputs`.
LAYER = "layer:"
#: Before the name of an input or a parameter.
GRADIENT = "grad:"

Outputs = list[tuple[str, Tensor, bool]]  # name, value, whether it is minimized


def _outputs_of(result: Any, is_step: bool) -> tuple[str, Outputs]:
    """Returns the form and the named outputs of what a function returned."""
    if isinstance(result, tuple) and len(result) == 2 \
            and isinstance(result[1], Mapping) and isinstance(result[0], Operand):
        first = "output" if as_tensor(result[0]).shape else "loss"
        if first in result[1]:
            raise TraceError("%r is the name of the first result, so the dict after it "
                             "may not have that name" % first)
        return TENSOR_AND_DICT, [(first, as_tensor(result[0]), is_step),
                                 *_named(result[1])]
    if is_step:
        if not isinstance(result, Operand):
            raise TraceError("a loss function returned %r, expected a 0-d tensor, or a "
                             "0-d tensor and a dict of further outputs" % (result,))
        return TENSOR, [("loss", as_tensor(result), True)]
    if isinstance(result, Operand):
        return TENSOR, [("output", as_tensor(result), False)]
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
    if not isinstance(value, Operand):
        raise TraceError("output %s of a traced function is %r, expected a tensor"
                         % (which, value))
    return as_tensor(value)


def _persistent_of(model: Module | None) -> list[tuple[Any, str]]:
    """Returns parameters and buffers with their names."""
    if model is None:
        return []
    return [(owner, name) for named in (model.named_parameters(), model.named_buffers())
            for name, owner in named]


def _names_of(model: Module | None) -> dict[int, str]:
    if model is None:
        return {}
    if not isinstance(model, Module):
        no_module(model)
    return {id(owner): name for named in (model.named_parameters(),
                                          model.named_buffers(),
                                          model.named_modules())
            for name, owner in named}


@dataclass(frozen=True)
class _Behind:
    """What a step computes behind its loss: gradients of inputs that `outputs` names, and
    updates by an optimizer that is a function."""

    custom: Custom | None
    prefix: str
    outputs: tuple[str, ...]

    def __call__(self, entry: EntryTrace) -> None:
        for name in self.outputs:
            own = name.removeprefix(GRADIENT)
            if name.startswith(GRADIENT) and own in entry.inputs:
                entry.keep(name, entry.gradient_of(own))
        if self.custom is None:
            return
        trained = {name: owner for name, owner in entry.persistent.items()
                   if getattr(owner, "requires_grad", False)}
        if not trained:
            raise TraceError("there is no parameter to train: the loss uses none of the "
                             "model's, or all are frozen by requires_grad_(False)")
        gradients = {name: entry.gradient_of(name) for name in trained}
        wanted = [n for n in self.outputs if not n.startswith(LAYER)
                  and n.removeprefix(GRADIENT) not in entry.inputs]
        self.custom.build(entry, trained, gradients, self.prefix, wanted)


class Traced:
    """The aicf IR of one entry or several, as the functions were written."""

    def __init__(self) -> None:
        from .. import _compiler
        self.module = _compiler.Module()
        self.signatures: dict[str, Signature] = {}
        self._sized = ""  # the entry for another batch size that is being traced
        #: The optimizer of each step, in the order in which the steps were added.
        self._optimizers: dict[str, Optimizer] = {}

    def as_text(self, locations: bool = False) -> str:
        """Returns the module as MLIR text, with the user's lines if `locations`."""
        return self.module.text(locations)

    def dump(self) -> str:
        """Returns the ops in trace order as text, in which values have labels."""
        return "\n".join(("// @%s\n" % s.name if len(self.signatures) > 1 else "")
                         + s.nodes for s in self.signatures.values())

    def dump_lowered(self) -> str:
        """Returns the calls to which these ops lower, one primitive per line, in the form
        of dump()."""
        return self.module.dump_calls()

    def lower(self, device: str = "cpu", precision: str = "f32",
              **options: Any) -> Lowered:
        """Checks the functions, derives gradients, lowers to primitives and plans memory.

        Args:
            device: "cpu", "cuda" or "cuda:N".
            precision: "f32"; "tf32" for products on tensor cores; or "bf16" or "f16" for
                forward and backward in 16 bits with f32 parameters. f16 has a loss scale.
            options: options of the compiler:
                opt_level: 0, 1 or 2 (the default).
                streams: the most streams to use; the default is 2 on CUDA, else 1.
                split_step: True makes gradients and update two entries.
                keep: "grad" or "all" returns gradients or all values; "none" neither.
                require_inplace: True refuses an update that needs a copy.
                max_groups: the most parameters to update in one call.
                recompute_rate: the most bytes to move for each byte that the backward
                    pass computes again instead of keeping it. 0 (the default) computes
                    nothing again, 2 unary ops, 8 chains of them. See nn.Recompute for
                    parts of a model.
                costs: the profile by which the compiler decides what is faster, such as
                    "a100" for such a card; `aicf-plan costs` lists them. The default is
                    "h200" on CUDA.
                profile: a file of aicf-run --profile, to choose kernels by its times.
        Returns: a Lowered.
        Raises: CompileError with your line; ValueError, TypeError for options.
        """
        from .lowered import Lowered
        return Lowered(self, device, precision, options)

    # Adding entries

    def add_step(self, model: Module, loss: Callable[..., Any],
                 optimizer: Optimizer | None, inputs: Mapping[str, Any], *,
                 name: str = "train_step", seed: int = 0, shapes: str = "batch",
                 outputs: Sequence[str] = ()) -> Signature:
        """Traces loss(model, **inputs), which returns the loss, or (loss, dict of
        further outputs). aicf.compile_step describes the arguments.

        Steps with the same optimizer object share its learning rate and its count of
        steps. Those of the first optimizer are called "lr" and "step". Those of another
        one are called "<name>/lr" and "<name>/step", after the first step that uses it.
        """
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            raise TypeError("optimizer is a %s, expected one of aicf.optim"
                            % type(optimizer).__name__)
        is_fixed = _is_fixed(shapes)
        attributes: dict[str, Any] = {}
        values: dict[str, Any] = {}
        owner = self._owner_of(optimizer, name)
        prefix = "" if owner == next(iter(self._optimizers), owner) else owner + "/"
        custom = optimizer if isinstance(optimizer, Custom) else None
        if optimizer is not None:
            gradients = [n for n in _checked_names(outputs) if not n.startswith(LAYER)
                         and n.removeprefix(GRADIENT) not in inputs]
            attributes["aicf.step_count"] = attribute_text('"%sstep"' % prefix)
            values = optimizer.values(prefix)
            if custom is None:
                attributes["aicf.optimizer"] = attribute_text(
                    optimizer.attribute(prefix + "lr"))
            if custom is None and gradients:
                attributes["aicf.outputs"] = attribute_text(
                    "[%s]" % ", ".join('"%s"' % name for name in gradients))
        signature = self._trace(lambda **given: loss(model, **given), loss, model,
                                specs_of(inputs), name, True, seed, attributes,
                                is_step=True, layers=_layers_of(outputs),
                                behind=_Behind(custom, prefix, tuple(outputs)))
        signature.is_fixed = is_fixed
        signature.trace_again = self._as_now(model, lambda specs, sized: self.add_step(
            model, loss, optimizer, specs, name=sized, seed=seed, outputs=outputs))
        if optimizer is not None:
            signature.accumulate = optimizer.accumulate
            signature.optimizer_prefix = prefix
            signature.values.update(values)
            if isinstance(optimizer.lr, Schedule):
                signature.schedule = optimizer.lr
            self._optimizers[name] = optimizer
        return signature

    def _owner_of(self, optimizer: Optimizer | None, name: str) -> str:
        """Returns the name of the first step with this very optimizer object."""
        for owner, known in self._optimizers.items():
            if known is optimizer:
                return owner
        return name

    def add(self, function: Callable[..., Any], inputs: Mapping[str, Any], *,
            model: Module | None = None, name: str | None = None,
            training: bool = False, seed: int = 0,
            shapes: str = "batch") -> Signature:
        """Traces function(**inputs), which returns a tensor, a tuple or dict of tensors,
        or a tensor and a dict. aicf.compile describes the arguments.

        A Module is a function of the arguments of its forward(). A function that cannot
        be called with the inputs alone gets the model before them, as a step's loss
        function does.
        """
        is_fixed = _is_fixed(shapes)
        if model is None and isinstance(function, Module):
            model = function
        if hasattr(function, "forward") and not isinstance(function, Module):
            no_module(function)
        if not callable(function):
            raise TypeError("a %s is not a function" % type(function).__name__)
        name = entry_name(function) if name is None else name
        specs = specs_of(inputs)
        takes_model = _takes_model(function, model, specs)
        call = (lambda **given: function(model, **given)) if takes_model else function
        signature = self._trace(call, function, model, specs, name, training, seed,
                                {}, is_step=False, takes_model=takes_model)
        signature.is_fixed = is_fixed
        signature.trace_again = self._as_now(model, lambda specs, sized: self.add(
            function, specs, model=model, name=sized, training=training, seed=seed))
        return signature

    def _trace(self, call: Callable[..., Any], source: Callable[..., Any],
               model: Module | None, specs: Mapping[str, Spec], name: str,
               training: bool, seed: int, attributes: Mapping[str, Any],
               is_step: bool, takes_model: bool = False,
               layers: frozenset[str] = frozenset(),
               behind: _Behind | None = None) -> Signature:
        names = _names_of(model)
        self._check_name(name)
        if name in {persistent for _, persistent in _persistent_of(model)}:
            raise ValueError("an entry may not be called %r: a parameter or buffer of "
                             "the model has that name. Give another with name=..." % name)
        _check_call(source, specs, is_step or takes_model)
        entry = EntryTrace(self.module, name, names, training, int(seed), Tensor)
        entry.wanted_layers = layers
        signature = Signature(name, dict(specs), source=source, model=model,
                              is_training=training)
        try:
            with entry.active():
                tensors = {n: entry.input(n, s.shape, s.dtype)
                           for n, s in specs.items()}
                result = call(**tensors)
                made = _outputs_of(result, is_step)
                if behind is not None:
                    behind(entry)
                form, outputs = _with_kept(entry, *made, source is model)
                if is_step and outputs[0][1].shape:
                    raise TraceError("the loss is %s, expected a 0-d tensor: take its "
                                     "mean()" % outputs[0][1])
                signature.form = form
                signature.outputs = tuple(n for n, _, _ in outputs
                                          if not n.startswith(PRINT))
                signature.resident, signature.layers = entry.resident, entry.layers
                signature.called, signature.constants = entry.called or {}, entry.constants
                entry.finish(outputs, {**attributes, "aicf.output_form": form})
        except TraceAgain:
            return self._trace(call, source, model, specs, name, training, seed, attributes,
                               is_step, takes_model, layers, behind)
        except TraceError as error:
            if not error.filename:  # it is about what the function returned
                raise TraceError(error.message, *location_of(source)) from None
            raise
        if model is not None:
            signature.aliases = aliases_of(model)
            signature.model_names = {name for _, name in _persistent_of(model)}
        self._add_signature(signature, entry)
        return signature

    def _as_now(self, model: Module | None,
                trace: Callable[[Mapping[str, Spec], str], Signature]
                ) -> Callable[[Mapping[str, Spec], str], Signature]:
        """Returns a `trace` that uses the settings that the model has now. So another
        batch size does not train what this one does not."""
        settings = settings_of(model) if model is not None else None

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
            raise ValueError("an entry may not be called %r: the compiler gives that "
                             "name to an entry that adds up gradients" % name)
        root, rows = _sizes.split_name(name)
        if rows and name != self._sized:
            raise ValueError("an entry may not be called %r: that is the name of the "
                             "entry of %r for batches of %d rows" % (name, root, rows))

    def _add_signature(self, signature: Signature, entry: EntryTrace) -> None:
        for other in self.signatures.values():
            for name, owner in entry.persistent.items():
                known = other.persistent.get(name)
                if owner.name and known is not None and known is not owner:
                    self.module.erase_function(signature.name)
                    raise TraceError("%s and %s have two different tensors of the name "
                                     "%r: give one another name with name=..."
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


def _layers_of(names: Sequence[str]) -> frozenset[str]:
    return frozenset(n[len(LAYER):] for n in names if n.startswith(LAYER))


def _with_kept(entry: EntryTrace, form: str, outputs: Outputs,
               is_model: bool) -> tuple[str, Outputs]:
    """Adds what aicf.keep and `outputs` keep to what a function returned. A model that is
    an entry itself, such as the one that predicts, returns its own results only."""
    ran = {path for path, _, _ in entry.layers}
    for path in sorted(entry.wanted_layers - ran):
        raise TraceError("outputs has %r%s; the modules that run are %s" % (
            LAYER + path, near_names(path, ran), ", ".join(sorted(ran - {""})) or "none"))
    for name, _, _ in outputs:
        if name.startswith(PRINT):
            raise TraceError("a result is called %r, and what begins with %r is printed"
                             % (name, PRINT))
    printed = [(name, tensor, False) for name, tensor in entry.kept.items()
               if name.startswith(PRINT)]
    kept = [(name, tensor, False) for name, tensor in entry.kept.items()
            if not name.startswith(PRINT)]
    if not kept or is_model:
        return form, [*outputs, *printed]
    taken = {name for name, _, _ in outputs}
    for name, _, _ in kept:
        if name in taken:
            raise TraceError("aicf.keep(%r, ...): a result has that name already" % name)
    if form == TUPLE:
        raise TraceError("aicf.keep needs a function that returns a tensor, a dict, or a "
                         "tensor and a dict; this one returns a tuple")
    return (DICT if form == DICT else TENSOR_AND_DICT), [*outputs, *kept, *printed]


def _checked_names(names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str) or not all(
            isinstance(n, str) and n and n.isprintable() and '"' not in n
            and "\\" not in n for n in names):
        raise TypeError("outputs is %r, expected names such as (\"grad_norm\", "
                        "\"grad:fc.weight\")" % (names,))
    if len(set(names)) != len(names):
        raise ValueError("outputs is %r, which has a name twice" % (names,))
    return names


def _is_fixed(shapes: str) -> bool:
    if shapes not in ("batch", "fixed"):
        raise ValueError("shapes is %r, expected \"batch\" (another number of rows "
                         "gets its own entry) or \"fixed\"" % (shapes,))
    return shapes == "fixed"


def _takes_model(function: Callable[..., Any], model: Module | None,
                 specs: Mapping[str, Spec]) -> bool:
    """Whether the function needs the model before the inputs."""
    if model is None:
        return False
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    given = dict.fromkeys(specs)
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
    """Refuses a function whose signature does not take these inputs, before anything is
    traced. Raises TypeError."""
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
