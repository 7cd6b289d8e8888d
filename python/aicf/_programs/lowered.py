# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowered is a traced module that is compiled for a device. It has each stage as text."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _runtime
from ..errors import (Diagnostic, InvalidArgumentError, InvalidPlanError, near_names,
                      read_diagnostics)
from ..program import Program, open_device
from .view import view

if TYPE_CHECKING:
    from .. import _compiler
    from .traced import Traced

PRECISIONS = ("f32", "tf32", "bf16", "f16")

#: The values that an option may have. The compiler's own parser would report a bad value
#: on stderr. A test checks that all options are here.
_OPTION_VALUES: dict[str, tuple[Any, ...] | type] = {
    "opt_level": (0, 1, 2), "keep": ("none", "grad", "all"), "streams": int,
    "max_groups": int, "split_step": bool, "require_inplace": bool, "profile": str,
    "recompute_rate": float, "costs": str,
}

#: Arguments of compile_step and compile, which a misspelled option may have meant.
_ARGUMENTS = ("device", "precision", "program", "name", "seed", "shapes", "outputs",
              "threads", "tune", "tuning_file", "check_indices", "model", "training")


def _check_option(name: str, value: Any) -> None:
    legal = _OPTION_VALUES.get(name)
    if isinstance(legal, tuple):
        if isinstance(value, bool) or value not in legal:
            raise ValueError("option %s is %r, expected one of %s" % (
                name, value, ", ".join(map(repr, legal))))
    elif legal is not None and (
            not isinstance(value, (int, float) if legal is float else legal)
            or isinstance(value, bool) and legal is not bool):
        raise TypeError("option %s is %r, expected %s" % (name, value, {
            int: "an int", float: "a number", bool: "True or False",
            str: "a str"}[legal]))
    if legal is float and not 0 <= value < float("inf"):
        raise ValueError("option %s is %r, expected a number >= 0" % (name, value))


def _option_text(name: str, value: Any) -> str:
    if name not in _OPTION_VALUES and name not in ("target", "mixed_precision", "math"):
        raise TypeError("there is no option %r%s; the options of the compiler are %s" % (
            name, near_names(name, [*_OPTION_VALUES, *_ARGUMENTS]),
            ", ".join(_OPTION_VALUES)))
    _check_option(name, value)
    text = str(value)
    if not text or any(c.isspace() or c in "{}'\"" for c in text):
        raise ValueError("option %s is %r, expected a text without blanks, quotes and "
                         "braces" % (name, value))
    return "%s=%s" % (name.replace("_", "-"), text)


class Lowered:
    """A traced module that is compiled for a device.

    Attributes:
        traced, device, precision: what it was made of.
        diagnostics: the compiler's warnings, a list of Diagnostic.
    """

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
        if precision == "tf32":
            given["math"] = precision
        self._text = " ".join(_option_text(n, v) for n, v in given.items())
        #: The compiler's warnings.
        self.diagnostics: list[Diagnostic] = []
        self._plan: _runtime.Plan | None = None
        self._module: _compiler.Module | None = self._lower()

    def _lower(self) -> _compiler.Module:
        """Compiles what the trace has by now."""
        self._names = list(self.traced.signatures)
        module, notes = self.traced.module.lower(self._text, "plan")
        self.diagnostics += read_diagnostics(notes)
        return module

    @property
    def _whole(self) -> _compiler.Module:
        if self._module is None:  # entries were compiled alone
            self._module = self.traced.module.lower(self._text, "plan",
                                                    only=self._names)[0]
        return self._module

    @property
    def plan(self) -> _runtime.Plan:
        """The verified plan."""
        if self._plan is None:
            self._plan = _runtime.Plan.parse(self._whole.plan())
        return self._plan

    def again(self) -> Lowered:
        """Compiles what the trace has by now, with the same options."""
        return Lowered(self.traced, self.device, self.precision, self._options)

    def with_entry(self, name: str) -> Lowered:
        """Compiles one more entry of the trace alone, and puts it behind those that are
        there, which stay as they are. If it shares a tensor that it wants to be another,
        such as padded, everything is compiled again. The entry must say by
        `aicf.step_count` which count of steps it has, as those of the trace do: a second
        optimizer has its own."""
        more = copy.copy(self)
        more.diagnostics = list(self.diagnostics)
        more._module, more._names = None, [*self._names, name]
        module, notes = self.traced.module.lower(self._text, "plan", only=[name])
        more.diagnostics += read_diagnostics(notes)
        own = _runtime.Plan.parse(module.plan())
        try:
            more._plan = self.plan.append(own)
        except (InvalidArgumentError, InvalidPlanError):
            return self.again()
        return more

    def as_text(self, stage: str = "plan-ir") -> str:
        """Returns the IR of a stage, as `aicf-compile --emit` prints it.

        Args:
            stage: "aicf" is the whole step with gradients and updates, "aicf_rt" its
                calls on tensors, and "plan-ir" its calls on buffers.
        Raises: ValueError: another stage.
        """
        if stage == "plan-ir":
            return self._whole.text(False)
        if stage not in ("aicf", "aicf_rt"):
            raise ValueError("stage is %r, expected \"aicf\", \"aicf_rt\" or \"plan-ir\""
                             % (stage,))
        return self.traced.module.lower(self._text, stage)[0].text(False)

    def dump(self) -> str:
        """Returns the calls as text, one primitive per line, with labels for values."""
        return self._whole.dump_calls()

    view = view

    def report(self) -> list[Diagnostic]:
        """Returns what an import recognised (aicf.jax), and what the compiler fused, copied
        and chose, and why. It compiles once more."""
        notes = self.traced.module.lower(self._text, "plan", remarks=True)[1]
        return [remark for signature in self.traced.signatures.values()
                for remark in signature.remarks] + read_diagnostics(notes)

    def compile(self, *, seed: int = 0, threads: int = 0, tune: str = "off",
                tuning_file: str = "", check_indices: bool = False,
                bindings: Mapping[str, Any] | None = None) -> Program:
        """Makes a program on the device.

        Args:
            seed: the seed of initial values.
            threads: the number of threads of the CPU device; 0 takes all cores.
            tune: how algorithms of CUDA's library are chosen: "off" takes its first
                deterministic one, "fast" times the first few, and "full" times all.
            tuning_file: a JSON file that keeps the timed choices.
            check_indices: whether an index or a label that is out of range raises
                InvalidArgumentError. Calls then run one by one, which is slower.
            bindings: arrays on the device, by the name of the tensor that lives in each.
                The tensor starts with the value of the array.
        Raises: DeviceError, NotImplementedError (no GPU, no CUDA device).
        """
        device = open_device(self.device, threads=threads, tune=tune,
                             tuning_file=tuning_file)
        return Program(self.plan, device, seed=seed, lowered=self,
                       check_indices=check_indices, bindings=bindings)
