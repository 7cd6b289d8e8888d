# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What AICF raises. Every class is an AICFError.

The runtime's classes are named after its status codes (include/aicf/Status.h):
a plan, an array or a call was refused and nothing was changed. TraceError and
CompileError are about the user's program and show its line.
"""

from __future__ import annotations

import difflib
import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._hints import in_python_words

__all__ = [
    "AICFError", "BadAttrSizeError", "BadSchemaError", "CompileError",
    "DTypeMismatchError", "DeviceError", "Diagnostic", "FailedStateError",
    "InvalidArgumentError", "InvalidFileError", "InvalidPlanError",
    "MisalignedError", "ModuleImportError", "NotImplementedError_", "NotInitializedError",
    "ShapeMismatchError", "TraceError", "VerificationError",
]


class AICFError(Exception):
    """The base of all."""


class InvalidArgumentError(AICFError, ValueError):
    """An unknown name, a wrong count, a value out of range."""


class ShapeMismatchError(AICFError, ValueError):
    """An array, or an operand of op_call, has another shape than is asked for."""


class DTypeMismatchError(AICFError, TypeError):
    """An array has another element type, or is not an array."""


class BadSchemaError(AICFError, ValueError):
    """The attrs of an op_call are another op's."""


class BadAttrSizeError(AICFError, ValueError):
    """The attrs of an op_call have another size."""


class MisalignedError(AICFError, ValueError):
    """Memory below the alignment of its element type."""


class InvalidPlanError(AICFError, ValueError):
    """A plan file that failed verification: record and field are named."""


class InvalidFileError(AICFError, ValueError):
    """A weight or checkpoint file is malformed."""


class NotInitializedError(AICFError, RuntimeError):
    """An input, hyper or param was never written."""


class FailedStateError(AICFError, RuntimeError):
    """Not legal now: another thread is in the executor, a graph is missing."""


class DeviceError(AICFError, RuntimeError):
    """The device or the system failed: memory, files, no GPU."""


class NotImplementedError_(AICFError, NotImplementedError):
    """No kernel for this op, element type and device."""


# As the runtime looks it up: the status code's name with "Error" behind it.
NotImplementedError = NotImplementedError_  # noqa: A001


def near_names(name: object, known: Iterable[str]) -> str:
    """ (did you mean "x"?), or nothing where no name is near."""
    near = difflib.get_close_matches(str(name), list(known), n=2, cutoff=0.6)
    return " (did you mean %s?)" % " or ".join('"%s"' % n for n in near) if near else ""


def source_line(filename: str, lineno: int) -> str:
    """`  File "x.py", line 3` and the line itself, where it can be read."""
    text = '  File "%s", line %d' % (filename, lineno)
    code = linecache.getline(filename, lineno).strip()
    return text + ("\n    " + code if code else "")


class TraceError(AICFError, TypeError):
    """Something that a trace cannot do: branch on a value, read one, change a
    module, mix traces.

    Attributes:
        filename, lineno: the user's line.
    """

    def __init__(self, message: str, filename: str = "", lineno: int = 0) -> None:
        self.message, self.filename, self.lineno = message, filename, lineno
        shown = "\n" + source_line(filename, lineno) if filename else ""
        super().__init__(message + shown)

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.filename, self.lineno)


class ModuleImportError(TraceError):
    """A torch module that cannot be imported; the message has all reasons at once."""


class VerificationError(AICFError):
    """A compiled step of a torch module does not do what PyTorch does."""


@dataclass(frozen=True)
class Diagnostic:
    """What the compiler says of a line; `severity` is error, warning, remark or
    note."""

    severity: str
    message: str
    filename: str = ""
    lineno: int = 0
    notes: tuple[Diagnostic, ...] = field(default=())

    def __str__(self) -> str:
        text = "%s: %s" % (self.severity, self.message)
        if self.filename:
            text += "\n" + source_line(self.filename, self.lineno)
        return "\n".join([text, *map(str, self.notes)])


def read_diagnostics(raw: Sequence[Any]) -> list[Diagnostic]:
    """Diagnostics from the compiler's tuples."""
    return [d if isinstance(d, Diagnostic) else
            Diagnostic(d[0], in_python_words(d[1]), d[2], d[3],
                       tuple(read_diagnostics(d[4])))
            for d in raw]


class CompileError(AICFError, ValueError):
    """The compiler refuses the program.

    Attributes:
        diagnostics: all that it said.
        filename, lineno: the user's line that the first error is about; "" and 0
            if it is about none.
    """

    def __init__(self, diagnostics: Sequence[Any]) -> None:
        self.diagnostics = read_diagnostics(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        first = next((d for d in errors if d.filename), None)
        self.filename = first.filename if first else ""
        self.lineno = first.lineno if first else 0
        shown = errors or self.diagnostics
        super().__init__("\n".join(map(str, shown)) or "compilation failed")

    def __reduce__(self) -> Any:
        return CompileError, (self.diagnostics,)
