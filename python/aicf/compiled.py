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
from ._further import compile_into, entry_of_another_size, traced_of
from ._lowered import PRECISIONS, Lowered
from ._signature import Spec, spec
from ._traced import Traced
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
                 check_indices: bool = False, **options: Any) -> Entry:
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
        threads, tune, tuning_file, check_indices: see Lowered.compile.
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
                              tuning_file, check_indices, options)
    owner = _owner_of(program)
    known = entry_of_another_size(owner, loss, model, inputs, name)
    return known or owner.add_entry(
        traced_of(owner).add_step(model, loss, optimizer, inputs, name=name, seed=seed,
                                  shapes=shapes, outputs=outputs))


def compile(function: Callable[..., Any], inputs: Mapping[str, Any], *,
            program: Program | Entry | None = None, model: Module | None = None,
            name: str | None = None, training: bool = False, device: str = "cpu",
            precision: str = "f32", seed: int = 0, shapes: str = "batch",
            threads: int = 0, tune: str = "off", tuning_file: str = "",
            check_indices: bool = False, **options: Any) -> Entry:
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
    """A plan file as a program, without the compiler.

    Args:
        path: of a plan that save() or aicf-compile wrote; verified.
        device: default: the plan's.
        seed: of the initialisers.
        check_indices: see Lowered.compile.
        accumulate: of an entry that accumulates gradients, over how many batches;
            for plans before version 3.1, which do not say.
    Entries return their outputs as they did when they were compiled; those of a plan
    before version 3.2 as a tuple in the plan's order.
    Raises: InvalidPlanError, DeviceError.
    """
    plan = _runtime.Plan.load(os.fspath(path))
    program = Program(plan, open_device(device or plan.device, threads=threads,
                                        tune=tune, tuning_file=tuning_file),
                      seed=seed, check_indices=check_indices)
    for name, count in (accumulate or {}).items():
        if isinstance(count, bool) or not isinstance(count, int) \
                or not 2 <= count < 2**31:
            raise InvalidArgumentError("accumulate[%r] is %r, expected an int from 2 "
                                       "to 2^31 - 1" % (name, count))
        program[name].signature.accumulate = plan.batches_per_update(name, count)
    return program


