# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a JAX training step, with its value_and_grad and its optimizer, to one plan.

    step = aicf.jax.compile_step(train_step, (params, opt_state, x, y), (0, 1))
    loss = step(x, y)
    params, opt_state = step.state()

JAX traces the function, and each primitive of its jaxpr becomes ops of AICF. If some cannot
be translated, one error lists them all. JAX must be installed (0.10 or 0.11). Importing
this module does not import it.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .. import compiled
from .._base.hints import missing
from .._programs.further import traced_of
from ..errors import InvalidArgumentError
from ._step import Step

__all__ = ["Step", "compile", "compile_step"]

#: Releases of JAX whose primitives are known; another one is tried.
TESTED = ("0.10", "0.11")
#: The longest scan or loop that is unrolled, unless the caller says another one.
MAX_UNROLL = 64


def _require_jax() -> Any:
    try:
        import jax
        import jax.extend.core  # noqa: F401  (a submodule that jax does not import)
    except ImportError as error:
        raise ImportError("aicf.jax needs JAX, which is not installed: pip install jax (%s)"
                          % error) from None
    return jax


def compile_step(fn: Callable[..., Any], example_args: Sequence[Any],
                 donate_argnums: int | Sequence[int] = (), *, device: str = "cpu",
                 precision: str = "f32", verify: bool | str | None = None,
                 new_state: Callable[[Any], Sequence[Any]] | None = None,
                 max_unroll: int = MAX_UNROLL, max_while: int = 0, name: str = "train_step",
                 shapes: str = "batch", threads: int = 0, tune: str = "off",
                 tuning_file: str = "", check_indices: bool = False,
                 **options: Any) -> Step:
    """Compiles a pure JAX function, such as a whole training step.

    Args:
        fn: a function of pytrees of arrays. It is traced once for each batch size.
        example_args: its arguments. Shapes and types are compiled into the step. The
            values of donated ones are where the step starts; `verify` uses the others.
        donate_argnums: the arguments that become states of the step, as in jax.jit. Each
            must come back: a part of the result has its structure. Parts of the same
            structure are matched in order.
        device: "cpu", "cuda" or "cuda:N".
        precision: "f32" or "tf32".
        verify: whether one step is compared with JAX's, and one on special values: zeros,
            equal elements, ends of the example's range. "example" leaves the second one
            out. None compares on the CPU.
        new_state: where the donated trees are in the result, if its structure does not
            say it: lambda result: (result[0], result[1]), in the order of
            donate_argnums.
        max_unroll: the longest scan, fori_loop or while_loop that is unrolled, so that its
            steps are fused with each other. A longer one is a loop of the plan: its body
            is compiled once, and memory and compile time do not grow with its length.
        max_while: the most runs of a while_loop whose end depends on values. So many are
            computed, and those behind the end are not taken. If the loop would go on, its
            floats are NaN. 0 refuses such a loop.
        name, shapes, threads, tune, tuning_file, check_indices, options: as in
            aicf.compile.
    Returns: a Step, which you call with the arguments that are not donated. It returns
        what fn returns, without the donated trees.
    Raises: ModuleImportError with all that AICF cannot translate; InvalidArgumentError: a
        donated tree that does not come back; VerificationError; CompileError;
        ImportError: no JAX.
    """
    _require_jax()
    from ._model import Imported
    arguments = list(example_args) if isinstance(example_args, (tuple, list)) else None
    if arguments is None:
        raise TypeError("example_args is a %s, expected a tuple of the function's arguments"
                        % type(example_args).__name__)
    try:
        numbers = [operator.index(donate_argnums)]  # type: ignore[arg-type]
    except TypeError:
        numbers = [operator.index(n) for n in donate_argnums]  # type: ignore[union-attr]
    numbers = [n + len(arguments) if n < 0 else n for n in numbers]
    for number in numbers:
        if not 0 <= number < len(arguments) or numbers.count(number) > 1:
            raise InvalidArgumentError("donate_argnums is %r, expected numbers of the %d "
                                       "arguments" % (donate_argnums, len(arguments)))
    for what, number in (("max_unroll", max_unroll), ("max_while", max_while)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InvalidArgumentError("%s is %r, expected an int of 0 or more"
                                       % (what, number))
    if precision not in ("f32", "tf32"):
        raise ValueError("precision is %r, expected \"f32\" or \"tf32\": the function says "
                         "what it computes in 16 bits" % (precision,))
    if isinstance(verify, str) and verify != "example":
        raise ValueError("verify is %r, expected True, False, None or \"example\"" % verify)
    imported = Imported(fn, arguments, numbers, new_state, max_unroll, max_while,
                        device == "cpu")
    traced = compiled.Traced()
    signature = traced.add(imported.trace, imported.inputs, model=imported.model, name=name,
                           training=True, shapes=shapes)
    signature.entry_type, signature.remarks = Step, imported.remarks()
    program = traced.lower(device, precision, **options).compile(
        threads=threads, tune=tune, tuning_file=tuning_file, check_indices=check_indices)
    step = program[name]
    assert isinstance(step, Step)
    step._attach(imported)
    if verify if verify is not None else device == "cpu":
        from ._verify import verify as compare
        compare(step, arguments, verify != "example")
    return step


def compile(fn: Callable[..., Any], example_args: Sequence[Any], *, program: Step,
            name: str = "predict", shapes: str = "batch") -> Step:
    """Compiles another function of a step's donated trees, such as a prediction or a loss
    in evaluation mode. It reads the values that the step has at the time of the call.

    Args:
        fn: a pure function of the donated trees, in their order, and of further arguments.
        example_args: the further arguments.
        program: a Step. The function has its device and options.
        name: the name of the entry.
        shapes: as in aicf.compile.
    Returns: a Step, which you call with the further arguments: `predict(x)`. aicf.fit takes
        it as `evaluate`, if it returns a loss, or a loss and a dict.
    Raises: what compile_step raises.
    """
    _require_jax()
    from ._model import Imported
    if not isinstance(program, Step):
        raise TypeError("program is a %s, expected a Step of aicf.jax"
                        % type(program).__name__)
    if not isinstance(example_args, (tuple, list)):
        raise TypeError("example_args is a %s, expected a tuple of the function's further "
                        "arguments" % type(example_args).__name__)
    imported = Imported.beside(program.imported, fn, list(example_args))
    owner = program.program
    with owner.compiling():
        traced = traced_of(owner)
        signature = traced.add(imported.trace, imported.inputs, model=imported.model,
                               name=name, shapes=shapes)
        signature.entry_type, signature.remarks = Step, imported.remarks()
        step = owner.add_entry(signature)
    assert isinstance(step, Step)
    step._attach(imported)
    return step


def __getattr__(name: str) -> Any:
    raise missing("aicf.jax", name, sys.modules[__name__])
