# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles an unmodified torch.nn.Module with its loss and its optimizer to one step.

    step = aicf.torch.compile_step(model, F.cross_entropy, optimizer, [x], [labels])
    loss = step(x, labels)

torch.export exports the module, and each of its ops becomes ops of AICF. If some cannot be
translated, one error lists them all. PyTorch must be installed (2.13 is tested). Importing
this module does not import it.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import compiled
from .._base.hints import missing
from .._programs.sizes import note
from ..errors import InvalidArgumentError
from ..program import Entry
from ._step import Step, check_one_device

__all__ = ["Step", "compile_step", "predict"]

#: Releases of PyTorch whose graphs are known; another one is tried.
TESTED = ("2.13",)
#: The importer needs torch.export's training IR, which this one was the first to have.
LEAST = (2, 6)
#: verify=None checks a step on the CPU whose parameters take at most so many bytes.
VERIFIED_BYTES = 1 << 30
#: A line says what takes long after so many seconds.
PATIENCE = 2.0


def _require_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "aicf.torch needs PyTorch, which is not installed: pip install torch==%s.0 "
            "(%s)" % (TESTED[-1], error)) from None
    version = tuple(int("".join(filter(str.isdigit, part)) or 0)
                    for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < LEAST:
        raise ImportError("aicf.torch needs PyTorch %d.%d or later, this is %s"
                          % (*LEAST, torch.__version__))
    return torch


@contextlib.contextmanager
def _progress(what: str) -> Iterator[None]:
    """A line where it takes long."""
    timer = threading.Timer(PATIENCE, note, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tensors(values: Any, what: str) -> list[Any]:
    torch = _require_torch()
    found = [values] if isinstance(values, torch.Tensor) else values
    if isinstance(values, Mapping):
        found = list(values.values())
    if not isinstance(found, (list, tuple)) or not all(
            isinstance(v, torch.Tensor) for v in found):
        raise TypeError("%s is %.80r, expected a tensor, or a list, tuple or dict of tensors"
                        % (what, values))
    return list(found)


def _names(values: Any, count: int) -> list[str]:
    """The names that the user gave, or empty ones."""
    return list(map(str, values)) if isinstance(values, Mapping) else [""] * count


def compile_step(module: Any, loss_fn: Any, optimizer: Any, inputs: Any,
                 targets: Any = (), *, device: str = "cpu", precision: str = "f32",
                 clip_norm: float = 0.0, accumulate: int = 1,
                 verify: bool | str | None = None, name: str = "train_step",
                 seed: int | None = None,
                 shapes: str = "batch", outputs: Sequence[str] = (), threads: int = 0,
                 tune: str = "off", tuning_file: str = "", check_indices: bool = False,
                 branches: str = "refuse", **options: Any) -> Step:
    """Compiles a training step of a torch module: loss_fn(module(*inputs), *targets),
    the backward pass, and the optimizer's update become one plan.

    Args:
        module: a torch.nn.Module in the mode in which you want to train it. It is not
            changed. Its parameters are trained in their own memory if the device can
            use it (Step.shared).
        loss_fn: a function or module that gives a 0-d tensor, or one and a dict of further
            tensors, which the step returns beside the loss: (loss, {"accuracy": ...}).
        optimizer: a torch.optim.AdamW, Adam, SGD, RMSprop, Adagrad, Adadelta, Adamax, NAdam
            or RAdam over parameters of the module. The step reads lr, weight_decay, betas,
            momentum, eps and other numbers of its groups before each call. Parameters that the optimizer does not have are not trained.
        inputs, targets: example tensors. Their shapes and types are compiled into the
            step. `verify` uses their values. int64 labels and tokens may stay int64. A dict
            names them: inputs whose names are arguments of forward() are given by keyword,
            others in order, and batches may be dicts of these names then.
        device: "cpu", "cuda" or "cuda:N".
        precision: "f32", "tf32", "bf16" or "f16". The types of parameters stay.
        clip_norm: the norm that you would give to torch.nn.utils.clip_grad_norm_; 0
            clips nothing.
        accumulate: how many calls make an update, which uses the mean of their
            gradients. If your loop divides the loss by this number, leave the division
            out.
        verify: whether a step on the example batch is compared with PyTorch's, and one on
            a batch of special values: zeros, equal elements, ends of the example's range.
            "example" leaves the second one out. None compares on the CPU, up to 1 GB of
            parameters.
        seed: the seed of dropout and of random tensors. None takes the one that you gave
            to torch.manual_seed.
        branches: what becomes of branches and Python numbers that the values of a batch
            decide. "refuse" makes them an error. "check" compiles what the example
            decides, and an entry `<name>.branches` that computes in front of each call
            whether the batch decides the same: if not, the call raises
            BranchError, and nothing is changed. Each call waits for that.
        name, shapes, outputs, threads, tune, tuning_file, check_indices, options: as in
            aicf.compile_step.
    Returns: a Step, which you call: `loss = step(*inputs, *targets)`.
    Raises: TraceError with all operations that AICF cannot translate, at the first one's line;
        aicf.errors.VerificationError with the parameter that differs;
        InvalidArgumentError: an optimizer that is not known; ImportError: no PyTorch.
    """
    torch = _require_torch()
    if isinstance(verify, str) and verify != "example":
        raise ValueError("verify is %r, expected True, False, None or \"example\"" % verify)
    if branches not in ("refuse", "check"):
        raise ValueError("branches is %r, expected \"refuse\" or \"check\"" % (branches,))
    if seed is None:
        seed = int(torch.initial_seed()) % 2 ** 63
    from ._capture import check_loss, check_module
    from ._import import dtype_of
    from ._memory import check_no_overlap
    from ._model import Imported, input_names, keywords_of
    from ._update_rules import torch_optimizer
    given, wanted = _tensors(inputs, "inputs"), _tensors(targets, "targets")
    check_module(module, loss_fn)
    check_one_device(module)
    check_no_overlap([(n, p) for n, p in module.named_parameters() if p.requires_grad])
    owner = torch_optimizer(optimizer)
    names = input_names(module, loss_fn, len(given), len(wanted))
    for i, own in enumerate([*_names(inputs, len(given)), *_names(targets, len(wanted))]):
        names[i] = own or names[i]
    if len(set(names)) < len(names):
        raise InvalidArgumentError("inputs and targets have a name twice: %s"
                                   % ", ".join(names))
    keywords = keywords_of(module, list(inputs)) if isinstance(inputs, Mapping) else []
    imported = Imported(module, loss_fn, names, len(given), owner.ids, owner.group_of,
                        device, owner.lag_of, keywords)
    imported.examples, imported.may_guard = (*given, *wanted), branches == "check"
    specs = {n: compiled.Spec(tuple(v.shape), dtype_of(v.dtype))
             for n, v in zip(names, (*given, *wanted))}
    with _progress("importing %s: torch.export" % type(module).__name__):
        captured = imported.captured([(s.shape, s.dtype) for s in specs.values()], True)
    check_loss(captured)
    if captured.checks:
        note("the step leaves out what %s checks of values: %s" % (
            type(module).__name__, ", ".join(sorted(set(captured.checks)))))
    if verify is None:
        verify = device == "cpu" and _bytes_of(module) <= VERIFIED_BYTES
    if verify:
        from ._verify import verify as compare
        with _progress("comparing a step of %s with PyTorch's: verify=False leaves it out"
                       % type(module).__name__):
            compare(imported, device, [n for n, p in module.named_parameters()
                                       if id(p) in owner.ids],
                    verify != "example" and not captured.guards)
    with _progress("compiling the step of %s" % type(module).__name__):
        traced = compiled.Traced()
        signature = traced.add_step(imported.model, imported.loss,
                                    owner.description(clip_norm, accumulate), specs,
                                    name=name, seed=seed, shapes=shapes, outputs=outputs)
        signature.entry_type = Step
        if captured.guards:
            traced.add(imported.guards(), specs, model=imported.model, training=True,
                       name=name + ".branches", shapes=shapes)
        lowered = traced.lower(device, precision, **options)
        shared = imported.shareable(device, lowered.plan)
        step = lowered.compile(seed=seed, threads=threads, tune=tune,
                               tuning_file=tuning_file, check_indices=check_indices,
                               bindings=shared)[name]
    assert isinstance(step, Step)
    step._attach(imported, owner, frozenset(shared))
    return step


def _bytes_of(module: Any) -> int:
    return sum(p.numel() * p.element_size() for p in module.parameters())


def predict(module: Any, inputs: Any, *, device: str = "cpu", precision: str = "f32",
            program: Any = None, name: str = "predict", seed: int = 0,
            shapes: str = "batch", threads: int = 0, check_indices: bool = False,
            **options: Any) -> Entry:
    """Compiles the module as it is in eval(). The module keeps its mode.

    Args:
        module, inputs: as in compile_step.
        program: a Step of the module. The function shares its parameters. None makes a
            program with copies of the parameters as they are now.
        device, precision, name, seed, shapes, threads, check_indices, options: as in
            aicf.compile.
    Returns: an Entry, which returns what the module returns (a tensor, a tuple or a
        dict) with aicf.Array in place of tensors.
    """
    _require_torch()
    from ._import import dtype_of
    from ._model import Imported, input_names
    given = _tensors(inputs, "inputs")
    specs = None
    if program is not None:
        if not isinstance(program, Step) or program.module is not module:
            raise InvalidArgumentError("program is a %s, expected the Step of this module"
                                       % type(program).__name__)
        imported = program.imported
        names = imported.names[:imported.num_inputs]
    else:
        names = input_names(module, None, len(given), 0)
        imported = Imported(module, None, names, len(given), set(), {}, device)
    specs = {n: compiled.Spec(tuple(v.shape), dtype_of(v.dtype))
             for n, v in zip(names, given)}
    imported.examples = given
    imported.prepare_prediction([(s.shape, s.dtype) for s in specs.values()])
    return compiled.compile(imported.model, specs, program=program, name=name,
                            device=device, precision=precision, seed=seed, shapes=shapes,
                            threads=threads, check_indices=check_indices, **options)


def __getattr__(name: str) -> Any:
    raise missing("aicf.torch", name, sys.modules[__name__])
