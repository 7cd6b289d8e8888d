# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a function to a running step: trace, lower, compile, call.

    trace_step / trace  -> Traced    aicf IR, as the user wrote it
    Traced.lower        -> Lowered   every stage as text, the plan
    Lowered.compile     -> Program   an executor: Entry objects are called
    compile_step, compile            all three at once
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _runtime
from ._programs.further import compile_into, entry_of_another_size, traced_of
from ._programs.lowered import PRECISIONS, Lowered
from ._programs.signature import Spec, spec
from ._programs.traced import Traced
from .errors import InvalidArgumentError
from .nn import Module
from .optim import Optimizer
from .program import Entry, Program, open_device

__all__ = ["PRECISIONS", "Entry", "Lowered", "Program", "Spec", "Traced", "compile",
           "compile_step", "load", "spec", "trace", "trace_step"]


def trace_step(model: Module, loss: Callable[..., Any], optimizer: Optimizer | None,
               inputs: Mapping[str, Any], *, name: str = "train_step",
               seed: int = 0, shapes: str = "batch",
               outputs: Sequence[str] = ()) -> Traced:
    """Traces a training step to IR. compile_step says what the arguments are."""
    traced = Traced()
    traced.add_step(model, loss, optimizer, inputs, name=name, seed=seed,
                    shapes=shapes, outputs=outputs)
    return traced


def trace(function: Callable[..., Any], inputs: Mapping[str, Any], *,
          model: Module | None = None, name: str | None = None,
          training: bool = False, seed: int = 0, shapes: str = "batch") -> Traced:
    """Traces a function to IR. compile says what the arguments are."""
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
                 check_indices: bool = False, **options: Any) -> Entry:
    """Compiles a training step: forward pass, loss, backward pass and optimizer become
    one plan.

    Args:
        model: an aicf.nn.Module.
        loss: a function that is called as loss(model, **inputs) while it is traced,
            once for each batch size. It returns a 0-d tensor, or a 0-d tensor and a
            dict of further outputs.
        optimizer: one of aicf.optim. Steps of one program that have the same optimizer
            object share its learning rate and its count of steps.
        inputs: a dict that says what each input is: aicf.spec(shape, dtype),
            (shape, dtype), or an example array.
        program: a program, or one of its entries. The step joins it and shares its
            parameters by name. It then has the program's device, precision and
            options.
        device: "cpu", "cuda" or "cuda:N".
        precision: "f32", "tf32", "bf16" or "f16".
        name: the name of the entry.
        seed: the seed of initial values and of dropout.
        shapes: "batch": a call with another number of rows compiles one more entry,
            once for each number. "fixed": such a call is an error.
        outputs: what the step returns beside the loss, in its dict. "grad_norm" is the
            norm of all gradients before clipping. "grad:fc.weight" is the gradient of
            that parameter as the optimizer reads it, and "grad:*" those of all: before
            clipping, with `accumulate` the sum over the batches, and in f16 with the loss
            scale. "grad:x" is the gradient of an input. A step that accumulates returns
            them with the last batch of an update. "layer:fc" is what the module of that path returned; aicf.keep returns any
            other value.
        threads, tune, tuning_file, check_indices: as in Lowered.compile.
        options: options of the compiler, as in Traced.lower.
    Returns: an Entry, which you call: `loss = step(x, y)`.
    Raises: TraceError or CompileError with your line; DeviceError.
    """
    if options.get("split_step"):
        raise ValueError("split_step makes two entries of a step: trace_step(...)"
                         ".lower(split_step=True).compile() gives the program with "
                         "them")
    if program is None:
        traced = trace_step(model, loss, optimizer, inputs, name=name, seed=seed,
                            shapes=shapes, outputs=outputs)
        return _start_program(traced, name, device, precision, seed, threads, tune,
                              tuning_file, check_indices, options)
    owner = _owner_of(program)
    with owner.compiling():
        known = entry_of_another_size(owner, loss, model, inputs, name)
        return known or owner.add_entry(
            traced_of(owner).add_step(model, loss, optimizer, inputs, name=name,
                                      seed=seed, shapes=shapes, outputs=outputs))


def compile(function: Callable[..., Any], inputs: Mapping[str, Any], *,
            program: Program | Entry | None = None, model: Module | None = None,
            name: str | None = None, training: bool = False, device: str = "cpu",
            precision: str = "f32", seed: int = 0, shapes: str = "batch",
            threads: int = 0, tune: str = "off", tuning_file: str = "",
            check_indices: bool = False, **options: Any) -> Entry:
    """Compiles a function that updates nothing, for prediction or evaluation.

    Args:
        function: an aicf.nn.Module, or a function that uses one (`model` says which).
            It is called with the inputs by name while it is traced, once for each
            batch size. You may give a step's loss function: it gets the model before
            the inputs.
        inputs: as in compile_step.
        program: as in compile_step. The same function for another batch size needs no
            other name.
        model: the module whose parameters the function uses; the default is the
            function itself.
        name: the name of the entry; the default is the function's name.
        training: whether dropout drops.
        device, precision, seed, shapes, threads, tune, tuning_file, check_indices,
            options: as in compile_step.
    Returns: an Entry, which you call.
    Raises: what compile_step raises.
    """
    if program is None:
        traced = trace(function, inputs, model=model, name=name, training=training,
                       seed=seed, shapes=shapes)
        return _start_program(traced, next(iter(traced.signatures)), device,
                              precision, seed, threads, tune, tuning_file,
                              check_indices, options)
    return compile_into(_owner_of(program), function, inputs, model=model, name=name,
                        training=training, seed=seed, shapes=shapes)


def _owner_of(program: Program | Entry) -> Program:
    owner = program.program if isinstance(program, Entry) else program
    if not isinstance(owner, Program):
        raise TypeError("program is a %s, expected a Program or an Entry"
                        % type(program).__name__)
    return owner


def _start_program(traced: Traced, name: str, device: str, precision: str, seed: int,
                   threads: int, tune: str, tuning_file: str, check_indices: bool,
                   options: Mapping[str, Any]) -> Entry:
    lowered = traced.lower(device, precision, **options)
    program = lowered.compile(seed=seed, threads=threads, tune=tune,
                              tuning_file=tuning_file, check_indices=check_indices)
    return program[name]


def load(path: str | os.PathLike[str], *, device: str | None = None, seed: int = 0,
         threads: int = 0, tune: str = "off", tuning_file: str = "",
         check_indices: bool = False,
         accumulate: Mapping[str, int] | None = None) -> Program:
    """Loads a plan file as a program. It needs no compiler.

    Entries return their outputs as they did when they were compiled. Entries of a plan
    before version 3.2 return a tuple in the plan's order.

    Args:
        path: the file that save() or aicf-compile wrote. The loader checks it.
        device: the device; the default is the plan's.
        seed: the seed of initial values.
        threads, tune, tuning_file, check_indices: as in Lowered.compile.
        accumulate: how many batches make an update, by entry. Only plans before
            version 3.1 need it, because they do not say it.
    Returns: a Program: `program["train_step"](x, y)`.
    Raises: InvalidPlanError, FileNotFoundError, FileError.
    """
    plan = _runtime.Plan.load(os.fspath(path))
    program = Program(plan, open_device(device or plan.device, threads=threads,
                                        tune=tune, tuning_file=tuning_file),
                      seed=seed, check_indices=check_indices)
    for name, count in (accumulate or {}).items():
        if not isinstance(count, int) or not 2 <= count < 2**31:
            raise InvalidArgumentError("accumulate[%r] is %r, expected an int from 2 "
                                       "to 2^31 - 1" % (name, count))
        program[name].signature.accumulate = plan.batches_per_update(name, count)
    return program


